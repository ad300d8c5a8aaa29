// Reads the primary ATA disk by programmed I/O with 28-bit sector numbers.
#include "machine.h"

enum { DATA = 0x1f0, COUNT = 0x1f2, LOW = 0x1f3, MIDDLE = 0x1f4, HIGH = 0x1f5, DRIVE = 0x1f6, COMMAND = 0x1f7 };
enum { READ_SECTORS = 0x20, MASTER_LBA = 0xe0 };
enum { BUSY = 0x80, DATA_READY = 0x08, ERROR = 0x01 };

static uint8_t wait_for(uint8_t flags) {
    uint8_t status;
    do status = in_byte(COMMAND);
    while (status & BUSY || (flags && !(status & flags)));
    return status;
}

void read_disk(uint32_t sector, uint64_t count, void *to) {
    while (count) {
        uint32_t run = count > 256 ? 256 : count; // 256 is written as 0
        wait_for(0);
        out_byte(DRIVE, MASTER_LBA | sector >> 24);
        out_byte(COUNT, run);
        out_byte(LOW, sector);
        out_byte(MIDDLE, sector >> 8);
        out_byte(HIGH, sector >> 16);
        out_byte(COMMAND, READ_SECTORS);
        count -= run;
        sector += run;
        for (; run; run--) {
            uint8_t status = wait_for(DATA_READY | ERROR);
            if (status & ERROR) die("disk error", status);
            uint64_t words = SECTOR / 4;
            __asm__ volatile("rep insl" : "+D"(to), "+c"(words) : "d"((uint16_t)DATA) : "memory");
        }
    }
}
