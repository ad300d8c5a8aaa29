# Entry points of the guest kernel: start, system calls, exceptions. The kernel is compiled with
# -mgeneral-regs-only, so it never changes the program's vector and mask registers.

    .section .text.start, "ax"
    .globl start
start:                                  # from rom.S, in 64-bit mode
    movw $0x20, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    leaq kernel_stack_top(%rip), %rsp
    fninit
    call kernel

# void run(uint64_t instruction, uint64_t stack): starts the program with cleared registers
    .globl run
run:
    movq %rsi, %rsp
    movq %rdi, %rcx
    xorl %eax, %eax
    xorl %ebx, %ebx
    xorl %edx, %edx
    xorl %esi, %esi
    xorl %edi, %edi
    xorl %ebp, %ebp
    jmp *%rcx

# SYSCALL leaves the return address in RCX and the flags in R11. The program runs at privilege
# level 0 like the kernel, so a plain jump returns to it.
    .globl system_call_entry
system_call_entry:
    movq %rsp, program_stack(%rip)
    leaq kernel_stack_top(%rip), %rsp
    cld
    pushq %r11
    pushq %rcx
    pushq %r15
    pushq %r14
    pushq %r13
    pushq %r12
    pushq %rbp
    pushq %rbx
    pushq %r9
    pushq %r8
    pushq %r10
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %rax
    subq $8, %rsp
    leaq 8(%rsp), %rdi
    call system_call
    addq $8, %rsp
    popq %rax
    popq %rdi
    popq %rsi
    popq %rdx
    popq %r10
    popq %r8
    popq %r9
    popq %rbx
    popq %rbp
    popq %r12
    popq %r13
    popq %r14
    popq %r15
    popq %rcx
    popfq
    movq program_stack(%rip), %rsp
    jmp *%rcx

# The interrupt by which emulate.py replaces the program's CPUID instructions to hide AVX-512.
    .globl cpuid_entry
cpuid_entry:
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rbx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    movq %rsp, %rdi
    subq $8, %rsp
    cld
    call cpuid_without_avx512
    addq $8, %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rbx
    popq %rdx
    popq %rcx
    popq %rax
    iretq

# Exceptions, all fatal, on a separate stack. Each stub is 16 bytes and makes the frame uniform:
# vector, error code (0 if the CPU pushes none), then the CPU's frame.
    .macro stub vector, has_error
    .balign 16
    .if \has_error == 0
    pushq $0
    .endif
    pushq $\vector
    jmp exception_entry
    .endm

    .balign 16
    .globl exception_stubs
exception_stubs:
    .irp vector, 0,1,2,3,4,5,6,7
    stub \vector, 0
    .endr
    stub 8, 1
    stub 9, 0
    .irp vector, 10,11,12,13,14
    stub \vector, 1
    .endr
    stub 15, 0
    stub 16, 0
    stub 17, 1
    .irp vector, 18,19,20
    stub \vector, 0
    .endr
    stub 21, 1
    .irp vector, 22,23,24,25,26,27,28,29,30,31
    stub \vector, 0
    .endr

exception_entry:
    pushq %rax
    pushq %rbx
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    movq %rsp, %rdi
    andq $-16, %rsp
    cld
    call exception

    .bss
    .balign 64
    .skip 65536
kernel_stack_top:
    .skip 16384
    .globl exception_stack_top
exception_stack_top:
program_stack:
    .skip 8

    .section .note.GNU-stack, "", @progbits
