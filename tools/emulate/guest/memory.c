// Memory: 4 KiB pages for the first GiB, so that PROT_NONE, read-only data, the stack's guard page and
// null pointers fault as under Linux; and a first-fit list of free page ranges.
#include "machine.h"

#include <sys/mman.h>

enum { PRESENT = 1, WRITABLE = 2 };
enum { RANGES = 4096 };

static uint64_t *const page_tables = (uint64_t *)PAGE_TABLES;
static uint64_t *const first_directory = (uint64_t *)0x3000; // set up by rom.S
static struct { uint64_t low, high; } ranges[RANGES];
static int range_count;

void *memset(void *to, int byte, size_t count) {
    void *at = to;
    uint64_t words = count / 8, rest = count % 8, pattern = 0x0101010101010101UL * (uint8_t)byte;
    __asm__ volatile("rep stosq" : "+D"(at), "+c"(words) : "a"(pattern) : "memory");
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(rest) : "a"(pattern) : "memory");
    return to;
}

void *memcpy(void *to, const void *from, size_t count) {
    void *at = to;
    uint64_t words = count / 8, rest = count % 8;
    __asm__ volatile("rep movsq" : "+D"(at), "+S"(from), "+c"(words)::"memory");
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(rest)::"memory");
    return to;
}

void start_paging(void) {
    for (uint64_t i = 0; i < 512 * 512; i++) page_tables[i] = i * PAGE | PRESENT | WRITABLE;
    for (uint64_t i = 0; i < 512; i++) first_directory[i] = (uint64_t)(page_tables + 512 * i) | PRESENT | WRITABLE;
    page_tables[0] = 0;
    __asm__ volatile("mov %%cr3,%%rax; mov %%rax,%%cr3" ::: "rax", "memory");
}

void protect(uint64_t address, uint64_t bytes, uint64_t protection) {
    uint64_t flags = protection & PROT_WRITE ? PRESENT | WRITABLE : protection & (PROT_READ | PROT_EXEC) ? PRESENT : 0;
    for (uint64_t end = address + bytes; address < end && address < 1UL << 30; address += PAGE) {
        page_tables[address / PAGE] = address | flags;
        __asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
    }
}

void give_pages(uint64_t low, uint64_t high) {
    for (int i = 0; i < range_count; i++) {
        if (ranges[i].high == low) {
            ranges[i].high = high;
            return;
        }
        if (ranges[i].low == high) {
            ranges[i].low = low;
            return;
        }
    }
    if (range_count < RANGES) {
        ranges[range_count].low = low;
        ranges[range_count++].high = high;
    }
}

// Allocates zeroed, writable pages; returns 0 if there is no range large enough.
uint64_t take_pages(uint64_t bytes) {
    for (int i = 0; i < range_count; i++) {
        if (ranges[i].high - ranges[i].low < bytes) continue;
        uint64_t address = ranges[i].high -= bytes;
        if (ranges[i].low == ranges[i].high) ranges[i] = ranges[--range_count];
        protect(address, bytes, PROT_READ | PROT_WRITE);
        memset((void *)address, 0, bytes);
        return address;
    }
    return 0;
}
