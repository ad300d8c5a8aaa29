# A 64 KiB boot ROM that replaces the BIOS: enters 64-bit mode, enables the vector state, copies the guest
# kernel from the ROM to 1 MiB and jumps to it. It runs on any 64-bit CPU model: CR4, EFER and XCR0 get
# only the bits that CPUID reports.
    .section .text, "ax"
    .code16
start16:
    cli
    cld
    lgdtl %cs:(descriptor_pointer - start16)
    movl %cr0, %eax
    orl $1, %eax
    movl %eax, %cr0
    ljmpl $0x08, $(0xffff0000 + start32 - start16)

    .code32
start32:
    movw $0x10, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movl $0x8000, %esp
    # The first 4 GiB, identity-mapped in 2 MiB pages: PML4 at 0x1000, PDPT at 0x2000, page
    # directories at 0x3000..0x6fff.
    movl $0x1000, %edi
    xorl %eax, %eax
    movl $2048, %ecx
    rep stosl
    movl $0x2003, 0x1000
    movl $0x3003, 0x2000
    movl $0x4003, 0x2008
    movl $0x5003, 0x2010
    movl $0x6003, 0x2018
    movl $0x3000, %edi
    movl $0x83, %eax                    # present, writable, large
map_page:
    movl %eax, (%edi)
    movl $0, 4(%edi)
    addl $8, %edi
    addl $0x200000, %eax
    cmpl $0x7000, %edi
    jne map_page
    movl $0x1000, %eax
    movl %eax, %cr3

    # CR4, built in ESI: PAE, PGE, OSFXSR, OSXMMEXCPT; OSXSAVE and FSGSBASE if supported.
    movl $((1<<5)|(1<<7)|(1<<9)|(1<<10)), %esi
    movl $1, %eax
    cpuid
    movl %ecx, %ebp
    btl $26, %ebp                       # XSAVE; EBP is tested again below
    jnc no_xsave
    btsl $18, %esi
no_xsave:
    xorl %eax, %eax
    cpuid
    cmpl $7, %eax
    jb no_fsgsbase
    movl $7, %eax
    xorl %ecx, %ecx
    cpuid
    btl $0, %ebx                        # FSGSBASE
    jnc no_fsgsbase
    btsl $16, %esi
no_fsgsbase:
    movl %esi, %cr4

    # EFER: system calls, long mode, and no-execute if supported.
    movl $0x80000001, %eax
    cpuid
    movl %edx, %edi
    movl $0xc0000080, %ecx
    rdmsr
    orl $((1<<0)|(1<<8)), %eax
    btl $20, %edi
    jnc no_nx
    orl $(1<<11), %eax
no_nx:
    wrmsr
    movl $0x80010033, %eax              # CR0: PG, WP, NE, ET, MP, PE; EM and TS off
    movl %eax, %cr0

    # XCR0: the supported states among x87, SSE, AVX and the three of AVX-512.
    btl $26, %ebp
    jnc no_xcr0
    movl $0xd, %eax
    xorl %ecx, %ecx
    cpuid
    andl $0xe7, %eax
    xorl %ecx, %ecx
    xorl %edx, %edx
    xsetbv
no_xcr0:
    ljmpl $0x18, $(0xffff0000 + start64 - start16)

    .code64
start64:                                # copy the kernel to 1 MiB, zero from its end to 0x180000
    movl $0xffff0000 + 0x1000, %esi
    movl $0x100000, %edi
    movl $0xe000, %ecx
    rep movsb
    movl $0x180000, %ecx
    subl %edi, %ecx
    xorl %eax, %eax
    rep stosb
    movl $0x100000, %eax
    jmp *%rax

    .balign 16
descriptors:
    .quad 0
    .quad 0x00cf9b000000ffff            # 08: 32-bit code
    .quad 0x00cf93000000ffff            # 10: data
    .quad 0x00af9b000000ffff            # 18: 64-bit code
    .quad 0x00cf93000000ffff            # 20: data
descriptor_pointer:
    .word descriptor_pointer - descriptors - 1
    .long 0xffff0000 + descriptors - start16

    .org 0x1000
    .incbin "kernel.bin"
    .org 0xfff0                         # the reset vector
    .code16
    .byte 0xe9                          # jmp start16
    .word start16 - (. + 2)
    .org 0x10000
