// Startup: descriptor tables, then the program, loaded from disk as execve would.
#include "machine.h"

#include <elf.h>
#include <sys/mman.h>

enum { VECTORS = 32, CPUID_VECTOR = 32, STUB_BYTES = 16, INTERRUPT_GATE = 0x8e, CODE = 0x18, TASK = 0x28 };
enum { STAR = 0xc0000081, LSTAR = 0xc0000082, SYSCALL_MASK = 0xc0000084, MASKED_FLAGS = 0x700 };
enum { INVALID_OPCODE = 6 };

// entry.S
extern void system_call_entry(void);
extern void __attribute__((noreturn)) run(uint64_t instruction, uint64_t stack);
extern void cpuid_entry(void);
extern uint8_t exception_stubs[], exception_stack_top[];

struct gate {
    uint16_t offset_low, selector;
    uint8_t stack, type;
    uint16_t offset_middle;
    uint32_t offset_high, reserved;
};
struct table_pointer {
    uint16_t limit;
    uint64_t base;
} __attribute__((packed));

static struct gate gates[VECTORS + 1];
static uint64_t descriptors[7];
static uint32_t task_state[26];

struct trap { // in the order in which entry.S pushes it
    uint64_t r9, r8, rdi, rsi, rdx, rcx, rbx, rax, vector, error, rip, cs, rflags, rsp, ss;
};

void exception(const struct trap *t) {
    uint64_t address;
    __asm__ volatile("mov %%cr2,%0" : "=r"(address));
    const struct { const char *name; uint64_t value; } shown[] = {
        {"vector", t->vector}, {"error", t->error}, {"rip", t->rip}, {"rsp", t->rsp}, {"cr2", address},
        {"rax", t->rax},       {"rbx", t->rbx},     {"rcx", t->rcx}, {"rdx", t->rdx}, {"rsi", t->rsi},
        {"rdi", t->rdi},       {"r8", t->r8},       {"r9", t->r9},
    };
    say("emulate: exception:");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        say(" ");
        say(shown[i].name);
        say("=");
        say_hex(shown[i].value);
    }
    say("\n");
    leave(t->vector == INVALID_OPCODE ? 132 : 139);
}

static struct gate gate_to(uint64_t address) {
    return (struct gate){address, CODE, 1, INTERRUPT_GATE, address >> 16, address >> 32, 0};
}

static void load_descriptor_tables(void) {
    uint64_t state = (uint64_t)task_state, stack = (uint64_t)exception_stack_top & ~15UL;
    task_state[9] = stack; // interrupt stack 1
    task_state[10] = stack >> 32;
    task_state[25] = sizeof task_state << 16;
    descriptors[1] = descriptors[3] = 0x00af9b000000ffff; // 64-bit code
    descriptors[2] = descriptors[4] = 0x00cf93000000ffff; // data
    descriptors[5] = (sizeof task_state - 1) | (state & 0xffffff) << 16 | 0x89UL << 40 | (state >> 24 & 0xff) << 56;
    descriptors[6] = state >> 32;
    struct table_pointer pointer = {sizeof descriptors - 1, (uint64_t)descriptors};
    __asm__ volatile("lgdt %0; ltr %1" ::"m"(pointer), "r"((uint16_t)TASK));

    for (int i = 0; i < VECTORS; i++) gates[i] = gate_to((uint64_t)exception_stubs + STUB_BYTES * i);
    gates[CPUID_VECTOR] = gate_to((uint64_t)cpuid_entry);
    pointer = (struct table_pointer){sizeof gates - 1, (uint64_t)gates};
    __asm__ volatile("lidt %0" ::"m"(pointer));

    write_msr(STAR, (uint64_t)CODE << 32);
    write_msr(LSTAR, (uint64_t)system_call_entry);
    write_msr(SYSCALL_MASK, MASKED_FLAGS);
}

static const struct parameters *read_parameters(void) {
    struct parameters *parameters = (struct parameters *)PARAMETERS;
    read_disk(0, PARAMETERS_SIZE / SECTOR, parameters);
    if (parameters->magic != PARAMETERS_MAGIC) die("invalid magic number of the parameter block:", parameters->magic);
    read_disk(PARAMETERS_SIZE / SECTOR, (parameters->image_bytes + SECTOR - 1) / SECTOR, (void *)IMAGE);
    return parameters;
}

struct program {
    uint64_t base, entry, headers, header_size, header_count, end;
};

static struct program load_segments(const Elf64_Ehdr *file) {
    if (*(const uint32_t *)file->e_ident != 0x464c457f) die("not an ELF file; magic number", *(const uint32_t *)file->e_ident);
    struct program program = {.base = file->e_type == ET_DYN ? PIE_BASE : 0};
    program.entry = program.base + file->e_entry;
    program.header_size = file->e_phentsize;
    program.header_count = file->e_phnum;
    const Elf64_Phdr *headers = (const Elf64_Phdr *)(IMAGE + file->e_phoff);
    for (int i = 0; i < file->e_phnum; i++) {
        const Elf64_Phdr *header = &headers[i];
        if (header->p_type == PT_INTERP) die("program is dynamically linked: build it with +crt-static; segment", i);
        if (header->p_type != PT_LOAD) continue;
        uint64_t start = header->p_vaddr + program.base, end = start + header->p_memsz;
        if (start < PARAMETERS + PARAMETERS_SIZE || end > PROGRAM_END) die("segment outside of the program's memory at", start);
        memcpy((void *)start, (const void *)(IMAGE + header->p_offset), header->p_filesz);
        memset((void *)(start + header->p_filesz), 0, header->p_memsz - header->p_filesz);
        if (end > program.end) program.end = end;
        if (header->p_offset == 0) program.headers = start + file->e_phoff;
    }
    for (int i = 0; i < file->e_phnum; i++) {
        const Elf64_Phdr *header = &headers[i];
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        uint64_t start = (header->p_vaddr + program.base) & ~(PAGE - 1);
        uint64_t end = (header->p_vaddr + program.base + header->p_memsz) & ~(PAGE - 1);
        protect(start, end - start, PROT_READ);
    }
    return program;
}

static void free_memory(const struct parameters *parameters, const struct program *program) {
    uint64_t brk = page_up(program->end), image_end = page_up(IMAGE + parameters->image_bytes);
    start_brk(brk);
    give_pages(PAGE_TABLES_END, STACK_TOP - STACK_SIZE - PAGE);
    protect(STACK_TOP - STACK_SIZE - PAGE, PAGE, PROT_NONE);
    give_pages(brk + BRK_SIZE, PAGE_TABLES);
    if (parameters->memory_bytes > image_end) give_pages(image_end, parameters->memory_bytes);
}

static uint64_t *push_strings(uint64_t *at, const char **strings, uint64_t count) {
    for (; count; count--) {
        *at++ = (uint64_t)*strings;
        while (*(*strings)++) {}
    }
    *at++ = 0;
    return at;
}

// Builds the initial stack of the ABI: argument count, arguments, environment and auxiliary vector.
static uint64_t build_stack(const struct parameters *parameters, const struct program *program) {
    static uint8_t random[16];
    for (size_t i = 0; i < sizeof random; i++) random[i] = random_byte();
    const uint64_t auxiliary[] = {
        AT_PHDR,  program->headers,     AT_PHENT, program->header_size, AT_PHNUM,  program->header_count,
        AT_PAGESZ, PAGE,                AT_ENTRY, program->entry,       AT_CLKTCK, 100,
        AT_UID,   0,                    AT_EUID,  0,                    AT_GID,    0,
        AT_EGID,  0,                    AT_SECURE, 0,                   AT_RANDOM, (uint64_t)random,
        AT_EXECFN, (uint64_t)parameters->strings, AT_NULL, 0,
    };
    uint64_t *const stack = (uint64_t *)(STACK_TOP - 0x10000);
    const char *strings = parameters->strings;
    uint64_t *at = stack;
    *at++ = parameters->argument_count;
    at = push_strings(at, &strings, parameters->argument_count);
    at = push_strings(at, &strings, parameters->environment_count);
    memcpy(at, auxiliary, sizeof auxiliary);
    return (uint64_t)stack;
}

void kernel(void) {
    const uint32_t default_mxcsr = 0x1f80;
    __asm__ volatile("ldmxcsr %0" ::"m"(default_mxcsr));
    load_descriptor_tables();
    print(1, "", 0);
    start_paging();
    const struct parameters *parameters = read_parameters();
    limit_saved_state(parameters->saved);
    struct program program = load_segments((const Elf64_Ehdr *)IMAGE);
    free_memory(parameters, &program);
    run(program.entry, build_stack(parameters, &program));
}
