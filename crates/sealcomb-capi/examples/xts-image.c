/* Seals or opens a disk image in place with AES-256-XTS, in bursts of 32 sectors.
 *
 *     xts-image seal KEYFILE IMAGE
 *     xts-image open KEYFILE IMAGE
 *
 * The key file has 64 bytes. A sector has 4096 bytes, and its tweak is its number, as in dm-crypt with the cipher
 * `aes-xts-plain64` and the option `--sector-size 4096 --iv-large-sectors`. XTS does not authenticate: it hides the
 * contents of a lost disk, and detects no changes.
 *
 * The library must be built with the feature `hazmat`.
 */
#define _POSIX_C_SOURCE 200809L
#include <sealcomb.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY = 64, SECTOR = 4096, TWEAK = 16, BURST = 32 };

static uint8_t sectors[BURST][SECTOR], tweaks[BURST][TWEAK];

static void fail(const char *what, const char *why) {
    fprintf(stderr, "xts-image: %s: %s\n", what, why);
    exit(1);
}

/* Reads or writes exactly `bytes` bytes. */
static void transfer(int file, bool writes, uint8_t *data, size_t bytes, off_t at, const char *name) {
    while (bytes > 0) {
        ssize_t done = writes ? pwrite(file, data, bytes, at) : pread(file, data, bytes, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail(name, done < 0 ? strerror(errno) : "the file has become shorter");
        data += done;
        bytes -= (size_t)done;
        at += done;
    }
}

static sealcomb_key *read_key(const char *name) {
    uint8_t secret[KEY + 1];
    sealcomb_key *key = NULL;
    const sealcomb_algorithm *xts = sealcomb_hazmat_algorithm_by_id("aes256-xts");
    if (xts == NULL) fail("aes256-xts", "the library was built without the feature hazmat");
    int file = open(name, O_RDONLY);
    if (file < 0) fail(name, strerror(errno));
    ssize_t bytes = read(file, secret, sizeof secret);
    close(file);
    if (bytes != KEY) fail(name, "a key file has 64 bytes");
    sealcomb_status status = sealcomb_key_new(xts, secret, KEY, &key);
    /* Volatile, so that the compiler does not omit the stores. */
    for (volatile uint8_t *byte = secret; byte < secret + sizeof secret; byte++) *byte = 0;
    if (status != SEALCOMB_OK) fail(name, sealcomb_status_text(status));
    return key;
}

/* Seals or opens `count` sectors, of which the first has this number. */
static sealcomb_status process(const sealcomb_key *key, bool seals, uint64_t first, size_t count) {
    static uint8_t *messages[BURST];
    static size_t message_bytes[BURST];
    static sealcomb_status statuses[BURST];
    sealcomb_burst burst = {0};
    for (size_t i = 0; i < count; i++) {
        messages[i] = sectors[i];
        message_bytes[i] = SECTOR;
        memset(tweaks[i], 0, TWEAK);
        for (int byte = 0; byte < 8; byte++) tweaks[i][byte] = (uint8_t)((first + i) >> 8 * byte);
    }
    burst.size = sizeof burst;
    burst.count = count;
    burst.key = key;
    burst.messages = messages;
    burst.message_bytes = message_bytes;
    burst.nonces = tweaks[0];
    burst.nonce_bytes = burst.nonce_stride = TWEAK;
    burst.statuses = statuses;
    return seals ? sealcomb_seal_burst(&burst) : sealcomb_open_burst(&burst);
}

int main(int argc, char **argv) {
    struct stat information;
    bool seals = argc == 4 && strcmp(argv[1], "seal") == 0;
    if (argc != 4 || (!seals && strcmp(argv[1], "open") != 0)) {
        fprintf(stderr, "usage: xts-image seal|open KEYFILE IMAGE\n");
        return 2;
    }
    sealcomb_key *key = read_key(argv[2]);
    int image = open(argv[3], O_RDWR);
    if (image < 0 || fstat(image, &information) != 0) fail(argv[3], strerror(errno));
    if (information.st_size % SECTOR != 0) fail(argv[3], "the size is not a multiple of 4096 bytes");
    uint64_t total = (uint64_t)information.st_size / SECTOR;
    for (uint64_t first = 0; first < total; first += BURST) {
        size_t count = total - first < BURST ? (size_t)(total - first) : BURST;
        off_t at = (off_t)(first * SECTOR);
        transfer(image, false, sectors[0], count * SECTOR, at, argv[3]);
        sealcomb_status status = process(key, seals, first, count);
        /* XTS has no tags, so that decryption verifies nothing. */
        if (status != (seals ? SEALCOMB_OK : SEALCOMB_UNAUTHENTICATED)) fail(argv[3], sealcomb_status_text(status));
        transfer(image, true, sectors[0], count * SECTOR, at, argv[3]);
    }
    sealcomb_key_free(key);
    if (close(image) != 0) fail(argv[3], strerror(errno));
    printf("%llu sectors\n", (unsigned long long)total);
    return 0;
}
