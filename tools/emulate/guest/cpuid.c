// Restricts the vector state that the operating system enables, and hides AVX-512 from CPUID.
#include "machine.h"

enum { OSXSAVE = 1 << 18 }; // of CR4
enum { ZMM_STATE = 0xe0 };  // of XCR0

// AVX-512's feature bits in leaf 7.
enum { LEAF7_EBX = (int)0xdc230000, LEAF7_ECX = 0x5842, LEAF7_EDX = 0x0080010c, LEAF7_1_EAX = 0x20 };

struct registers { // in the order in which entry.S pushes them
    uint64_t r11, r10, r9, r8, rdi, rsi, rbx, rdx, rcx, rax;
};

void limit_saved_state(uint64_t saved) {
    uint64_t cr4;
    __asm__ volatile("mov %%cr4,%0" : "=r"(cr4));
    if (!(cr4 & OSXSAVE)) return;
    if (saved) write_xcr0(read_xcr0() & saved);
    else __asm__ volatile("mov %0,%%cr4" ::"r"(cr4 & ~(uint64_t)OSXSAVE));
}

void cpuid_without_avx512(struct registers *r) {
    uint32_t leaf = r->rax, subleaf = r->rcx, eax, ebx, ecx, edx;
    __asm__ volatile("cpuid" : "=a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx) : "a"(leaf), "c"(subleaf));
    if (leaf == 7 && subleaf == 0) {
        ebx &= ~LEAF7_EBX;
        ecx &= ~LEAF7_ECX;
        edx &= ~LEAF7_EDX;
    } else if (leaf == 7 && subleaf == 1) {
        eax &= ~LEAF7_1_EAX;
    } else if (leaf == 0xd && subleaf == 0) {
        eax &= ~ZMM_STATE;
    } else if (leaf == 0xd && subleaf < 32 && 1u << subleaf & ZMM_STATE) {
        eax = ebx = ecx = edx = 0;
    }
    r->rax = eax;
    r->rbx = ebx;
    r->rcx = ecx;
    r->rdx = edx;
}
