/* A batch takes nothing from the heap, and no more stack than is promised: this program has the heap's functions itself, and
 * looks how much of a thread's stack was written. */
#include "test.h"

#include <pthread.h>

#ifdef __cplusplus
#define EXTERN extern "C"
#define NOTHROW noexcept
#else
#define EXTERN
#define NOTHROW
#endif

/* The compiler takes it that malloc changes no variable of the program. */
static volatile size_t calls;

/* glibc's own, which it offers under these names for who replaces the others. */
EXTERN void *__libc_malloc(size_t bytes);
EXTERN void *__libc_calloc(size_t count, size_t bytes);
EXTERN void *__libc_realloc(void *memory, size_t bytes);
EXTERN void *__libc_memalign(size_t alignment, size_t bytes);

EXTERN void *malloc(size_t bytes) NOTHROW {
    calls++;
    return __libc_malloc(bytes);
}
EXTERN void *calloc(size_t count, size_t bytes) NOTHROW {
    calls++;
    return __libc_calloc(count, bytes);
}
EXTERN void *realloc(void *memory, size_t bytes) NOTHROW {
    calls++;
    return __libc_realloc(memory, bytes);
}
EXTERN void *aligned_alloc(size_t alignment, size_t bytes) NOTHROW {
    calls++;
    return __libc_memalign(alignment, bytes);
}
EXTERN int posix_memalign(void **memory, size_t alignment, size_t bytes) NOTHROW {
    calls++;
    *memory = __libc_memalign(alignment, bytes);
    return 0;
}

enum { MOST = 1000, BYTES = 96, STACK = 512 << 10, PROMISED = 64 << 10, PAINT = 0xA7 };

static uint8_t data[MOST][BYTES], tags[MOST][16], nonces[MOST][16];
static sealcomb_iovec parts[2];
static sealcomb_job jobs[MOST];

/* What a thread with a painted stack does. */
typedef struct {
    size_t count;
    sealcomb_status (*call)(sealcomb_job *, size_t);
    sealcomb_status status;
    size_t calls;
} task;

static void *run(void *argument) {
    task *t = (task *)argument;
    size_t before = calls;
    t->status = t->call(jobs, t->count);
    t->calls = calls - before;
    return NULL;
}

/* Bytes of stack that the task wrote to. */
static size_t stack_of(task *t) {
    static uint8_t stack[STACK] __attribute__((aligned(4096)));
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, PAINT, sizeof stack);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, sizeof stack) == 0);
    CHECK(pthread_create(&thread, &attributes, run, t) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    size_t fresh = 0;
    while (stack[fresh] == PAINT) {
        fresh++;
    }
    return sizeof stack - fresh;
}

static sealcomb_status nothing(sealcomb_job *unused, size_t count) {
    (void)unused;
    (void)count;
    return SEALCOMB_OK;
}

static size_t most_stack;

static void check(sealcomb_key *const *keys, size_t key_count, size_t count, bool in_parts, size_t base) {
    for (size_t i = 0; i < count; i++) {
        const sealcomb_key *key = keys[i % key_count];
        const sealcomb_algorithm *alg = sealcomb_key_algorithm(key);
        jobs[i] = empty_job();
        jobs[i].key = key;
        jobs[i].nonce = nonces[i];
        jobs[i].nonce_bytes = sealcomb_algorithm_nonce_bytes(alg);
        if (in_parts) {
            jobs[i].aad_parts = parts;
            jobs[i].aad_part_count = 2;
        } else {
            jobs[i].aad = nonces[0];
            jobs[i].aad_bytes = 16;
        }
        if (sealcomb_algorithm_kind(alg) != SEALCOMB_MAC) {
            jobs[i].input = data[i];
            jobs[i].output = data[i];
            jobs[i].input_bytes = i % 41;
            jobs[i].output_bytes = BYTES;
        }
        jobs[i].tag = tags[i];
        jobs[i].tag_bytes = sealcomb_key_tag_bytes(key);
    }
    for (int opens = 0; opens < 2; opens++) {
        task t = {count, opens ? sealcomb_open_batch : sealcomb_seal_batch, SEALCOMB_OK, 0};
        size_t stack = stack_of(&t) - base;
        EXPECT(SEALCOMB_OK, t.status);
        CHECK(t.calls == 0);
        CHECK(stack <= PROMISED);
        most_stack = stack > most_stack ? stack : most_stack;
        for (size_t i = 0; i < count; i++) {
            jobs[i].input_bytes = jobs[i].written;
        }
    }
}

/* What is there without further features; the others may take more. */
static bool is_in_every_build(const char *id) {
    static const char *const modes[] = {"-gcm", "-gcm-siv", "-siv", "-ccm", "-eax", "-cmac", "-gmac", "-colm0"};
    const char *mode = strchr(id, '-');
    if (mode == NULL || strncmp(id, "aes", 3) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(mode, modes[i]) == 0) {
            return true;
        }
    }
    return strncmp(mode, "-ocb3-", 6) == 0;
}

int main(void) {
    size_t before = calls;
    void *volatile noticed = malloc(1);
    free(noticed);
    CHECK(calls > before);
    task idle = {0, nothing, SEALCOMB_OK, 0};
    size_t base = stack_of(&idle);

    parts[0].data = nonces[0];
    parts[0].bytes = 12;
    parts[1].data = nonces[1];
    parts[1].bytes = 20;
    sealcomb_key *keys[200];
    size_t key_count = 0;
    for (size_t i = 0; i < sealcomb_algorithm_count(); i++) {
        const sealcomb_algorithm *alg = sealcomb_algorithm_at(i);
        if (is_in_every_build(sealcomb_algorithm_id(alg))) {
            keys[key_count++] = new_key(sealcomb_algorithm_id(alg));
        }
    }
    static const size_t counts[] = {1, 2, 64, 128, 129, MOST};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int in_parts = 0; in_parts < 2; in_parts++) {
            for (size_t k = 0; k < key_count; k++) {
                check(&keys[k], 1, counts[i], in_parts != 0, base);
            }
            check(keys, key_count, counts[i], in_parts != 0, base);
        }
    }
    for (size_t k = 0; k < key_count; k++) {
        sealcomb_key_free(keys[k]);
    }
    printf("no allocation in batches of up to %d jobs, at most %zu bytes of stack\n", (int)MOST, most_stack);
    return 0;
}
