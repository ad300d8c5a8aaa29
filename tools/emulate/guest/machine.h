// The machine: memory map, ports and model-specific registers; and the functions shared by the files of
// the guest kernel. Everything runs at privilege level 0 with identity-mapped memory.
#ifndef MACHINE_H
#define MACHINE_H

#include <stddef.h>
#include <stdint.h>

#define PAGE 4096UL
#define SECTOR 512UL

// Memory map. The kernel itself is at 1 MiB (kernel.ld).
#define PARAMETERS 0x00180000UL       // struct parameters and its strings: disk sectors 0..1023
#define PARAMETERS_SIZE 0x00080000UL
#define PIE_BASE 0x00400000UL         // load address of position-independent programs
#define PROGRAM_END 0x10000000UL      // end of a program's segments
#define PAGE_TABLES 0x1e000000UL      // 512 page tables of 4 KiB pages for the first GiB
#define PAGE_TABLES_END 0x1e200000UL
#define IMAGE 0x20000000UL            // the ELF file as read from disk: sectors 1024..
#define STACK_TOP (IMAGE - PAGE)
#define STACK_SIZE 0x00800000UL
#define BRK_SIZE 0x04000000UL

// The block that emulate.py writes to the start of the disk, followed by the argument strings and the
// environment strings, each terminated by a zero byte.
#define PARAMETERS_MAGIC 0x31424d4f434c4145UL
struct parameters {
    uint64_t magic;
    uint64_t image_bytes;
    uint64_t memory_bytes;
    uint64_t argument_count;
    uint64_t environment_count;
    uint64_t saved; // mask for XCR0; 0 for a system without XSAVE
    char strings[];
};

static inline void out_byte(uint16_t port, uint8_t value) {
    __asm__ volatile("outb %0,%1" ::"a"(value), "Nd"(port));
}

static inline uint8_t in_byte(uint16_t port) {
    uint8_t value;
    __asm__ volatile("inb %1,%0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline void write_msr(uint32_t msr, uint64_t value) {
    __asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static inline uint64_t read_xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static inline void write_xcr0(uint64_t value) {
    __asm__ volatile("xsetbv" ::"c"(0), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static inline uint64_t read_tsc(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline uint64_t page_up(uint64_t address) { return (address + PAGE - 1) & ~(PAGE - 1); }

// cpuid.c
void limit_saved_state(uint64_t saved);

// console.c
void print(int descriptor, const void *bytes, size_t count);
void say(const char *text);
void say_hex(uint64_t value);
void __attribute__((noreturn)) leave(unsigned code);
void __attribute__((noreturn)) die(const char *what, uint64_t value);

// disk.c
void read_disk(uint32_t sector, uint64_t count, void *to);

// memory.c
void *memset(void *to, int byte, size_t count);
void *memcpy(void *to, const void *from, size_t count);
void start_paging(void);
void protect(uint64_t address, uint64_t bytes, uint64_t protection);
void give_pages(uint64_t low, uint64_t high);
uint64_t take_pages(uint64_t bytes);

// syscalls.c
void start_brk(uint64_t address);
uint8_t random_byte(void);

#endif
