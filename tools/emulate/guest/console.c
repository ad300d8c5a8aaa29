// Output through port 0xE9, which Bochs copies to its standard output. Control bytes precede the data:
// 0x1C for standard output, 0x1D for standard error, 0x1E for the exit code in three digits.
#include "machine.h"

static const uint16_t OUTPUT_PORT = 0xe9;
static const uint16_t POWER_PORT = 0x8900; // the word "Shutdown" ends Bochs
static uint8_t channel;

static void send(const void *bytes, size_t count) {
    __asm__ volatile("rep outsb" : "+S"(bytes), "+c"(count) : "d"(OUTPUT_PORT) : "memory");
}

void print(int descriptor, const void *bytes, size_t count) {
    uint8_t wanted = descriptor == 2 ? 0x1d : 0x1c;
    if (wanted != channel) {
        send(&wanted, 1);
        channel = wanted;
    }
    send(bytes, count);
}

void say(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    print(2, text, length);
}

void say_hex(uint64_t value) {
    char digits[16];
    for (int i = 15; i >= 0; i--, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
    print(2, digits, sizeof digits);
}

void leave(unsigned code) {
    uint8_t end[] = {0x1e, '0' + code / 100 % 10, '0' + code / 10 % 10, '0' + code % 10, '\n'};
    send(end, sizeof end);
    for (const char *c = "Shutdown"; *c; c++) out_byte(POWER_PORT, *c);
    for (;;) __asm__ volatile("cli; hlt");
}

void die(const char *what, uint64_t value) {
    say("emulate: ");
    say(what);
    say(" 0x");
    say_hex(value);
    say("\n");
    leave(125);
}
