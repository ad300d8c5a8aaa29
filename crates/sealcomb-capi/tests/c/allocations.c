/* Checks that a batch or a burst does not allocate, and uses no more stack than documented. The program replaces malloc and
 * related functions to count calls, and fills a thread's stack with a pattern to see how much was written. It
 * covers every backend and algorithm, batches below, at and above the flight size, and short, long and mixed
 * messages. */
#include "test.h"

#include <pthread.h>

#ifdef __cplusplus
#define EXTERN extern "C"
#define NOTHROW noexcept
#else
#define EXTERN
#define NOTHROW
#endif

/* Volatile, as compilers assume that malloc changes no variable of the program. */
static volatile size_t calls;

/* glibc's implementations, which it exports under these names for programs that replace malloc. */
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

enum { MAX_JOBS = 1000, BYTES = 2100, STACK = 512 << 10, MAX_STACK = 64 << 10, PAINT = 0xA7 };

static uint8_t data[MAX_JOBS][BYTES], results[MAX_JOBS][BYTES], tags[MAX_JOBS][16], nonces[MAX_JOBS][32];
static sealcomb_iovec parts[2];
static sealcomb_job jobs[MAX_JOBS];

/* The call that a thread with a painted stack makes, and its results. */
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

/* Runs the task; returns the number of stack bytes that it used. */
static size_t stack_of(task *t) {
    static uint8_t stack[STACK] __attribute__((aligned(4096)));
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, PAINT, sizeof stack);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, sizeof stack) == 0);
    CHECK(pthread_create(&thread, &attributes, run, t) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    size_t unused = 0;
    while (stack[unused] == PAINT) {
        unused++;
    }
    return sizeof stack - unused;
}

static sealcomb_status nothing(sealcomb_job *ignored, size_t count) {
    (void)ignored;
    (void)count;
    return SEALCOMB_OK;
}

/* The columns of the jobs, which are in place and under one key. */
static uint8_t *messages[MAX_JOBS];
static size_t message_bytes[MAX_JOBS], aad_bytes[MAX_JOBS];
static const uint8_t *aads[MAX_JOBS];
static sealcomb_status statuses[MAX_JOBS];
static sealcomb_burst burst;

static void make_burst(size_t count) {
    memset(&burst, 0, sizeof burst);
    for (size_t i = 0; i < count; i++) {
        messages[i] = jobs[i].output;
        message_bytes[i] = jobs[i].input_bytes;
        aads[i] = jobs[i].aad;
        aad_bytes[i] = jobs[i].aad_bytes;
    }
    burst.size = sizeof burst;
    burst.count = count;
    burst.key = jobs[0].key;
    burst.messages = messages;
    burst.message_bytes = message_bytes;
    burst.aads = aads;
    burst.aad_bytes = aad_bytes;
    burst.nonces = nonces[0];
    burst.nonce_bytes = jobs[0].nonce_bytes;
    burst.nonce_stride = sizeof nonces[0];
    burst.tags = tags[0];
    burst.tag_bytes = jobs[0].tag_bytes;
    burst.tag_stride = sizeof tags[0];
    burst.statuses = statuses;
}

static sealcomb_status seal_burst(sealcomb_job *ignored, size_t count) {
    (void)ignored;
    (void)count;
    return sealcomb_seal_burst(&burst);
}

static sealcomb_status open_burst(sealcomb_job *ignored, size_t count) {
    (void)ignored;
    (void)count;
    return sealcomb_open_burst(&burst);
}

static size_t max_stack, max_burst_stack, batches;

/* How the jobs of a batch are laid out. */
typedef struct {
    bool aad_in_parts, in_place;
    /* Returns the size of a job's message in bytes. */
    size_t (*bytes)(size_t index);
} shape;

static size_t short_sizes(size_t index) { return index % 41; }
static size_t long_sizes(size_t index) { return 2048 - index % 3; }
static size_t mixed_sizes(size_t index) { return index * index * 31 % 2049; }

static const shape shapes[] = {
    {false, true, short_sizes}, {true, true, short_sizes}, {false, false, long_sizes}, {true, false, mixed_sizes}, {false, true, mixed_sizes},
};

/* Modes that derive keys for each message allocate on the portable backends. */
static bool may_allocate(sealcomb_key *const *keys, size_t key_count) {
    if (strncmp(sealcomb_key_backend(keys[0]), "portable", 8) != 0) {
        return false;
    }
    for (size_t i = 0; i < key_count; i++) {
        const char *id = sealcomb_algorithm_id(sealcomb_key_algorithm(keys[i]));
        if (strstr(id, "-gcm-siv") != NULL || strcmp(id, "xaes256-gcm") == 0) {
            return true;
        }
    }
    return false;
}

static void check_burst(sealcomb_key *const *keys, size_t count, bool is_common, size_t base) {
    make_burst(count);
    for (int opens = 0; opens < 2; opens++) {
        task t = {count, opens ? open_burst : seal_burst, SEALCOMB_OK, 0};
        size_t stack = stack_of(&t) - base;
        EXPECT(SEALCOMB_OK, t.status);
        CHECK(t.calls == 0 || may_allocate(keys, 1));
        if (is_common) {
            CHECK(stack <= MAX_STACK);
            max_burst_stack = stack > max_burst_stack ? stack : max_burst_stack;
        }
    }
}

static void check(sealcomb_key *const *keys, size_t key_count, size_t count, const shape *s, bool is_common, size_t base) {
    for (size_t i = 0; i < count; i++) {
        const sealcomb_key *key = keys[i % key_count];
        const sealcomb_algorithm *alg = sealcomb_key_algorithm(key);
        jobs[i] = empty_job();
        jobs[i].key = key;
        jobs[i].nonce = nonces[i];
        jobs[i].nonce_bytes = sealcomb_algorithm_nonce_bytes(alg);
        if (s->aad_in_parts) {
            jobs[i].aad_parts = parts;
            jobs[i].aad_part_count = 2;
        } else {
            jobs[i].aad = nonces[0];
            jobs[i].aad_bytes = 16;
        }
        if (sealcomb_algorithm_kind(alg) != SEALCOMB_KIND_MAC) {
            jobs[i].input = data[i];
            jobs[i].output = s->in_place ? data[i] : results[i];
            jobs[i].input_bytes = s->bytes(i);
            jobs[i].output_bytes = BYTES;
        }
        jobs[i].tag = tags[i];
        jobs[i].tag_bytes = sealcomb_key_tag_bytes(key);
    }
    CHECK(jobs[0].nonce_bytes <= sizeof nonces[0]);
    if (key_count == 1 && s->in_place && !s->aad_in_parts) check_burst(keys, count, is_common, base);
    for (int opens = 0; opens < 2; opens++) {
        task t = {count, opens ? sealcomb_open_jobs : sealcomb_seal_jobs, SEALCOMB_OK, 0};
        size_t stack = stack_of(&t) - base;
        EXPECT(SEALCOMB_OK, t.status);
        CHECK(t.calls == 0 || may_allocate(keys, key_count));
        if (is_common) {
            CHECK(stack <= MAX_STACK);
            max_stack = stack > max_stack ? stack : max_stack;
        }
        batches++;
        for (size_t i = 0; i < count; i++) {
            uint8_t *from = jobs[i].output;
            jobs[i].input_bytes = jobs[i].written;
            if (!s->in_place && from != NULL) {
                jobs[i].input = from;
                jobs[i].output = data[i];
            }
        }
    }
}

/* Algorithms of builds without optional features; others may use more stack. */
static bool is_in_every_build(const char *id) {
    static const char *const modes[] = {"-gcm", "-gcm-siv", "-siv", "-ccm", "-eax", "-cmac", "-gmac", "-colm0"};
    static const char *const other[] = {"aegis128l", "aegis256", "xaes256-gcm"};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        if (strcmp(id, other[i]) == 0) {
            return true;
        }
    }
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

static void check_backend(const char *backend, size_t base) {
    static const size_t counts[] = {1, 2, 64, 128, 129, MAX_JOBS};
    enum { SHAPES = sizeof shapes / sizeof shapes[0] };
    uint8_t bytes[128];
    sealcomb_key *keys[256], *common[256];
    size_t key_count = 0, common_count = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    const sealcomb_algorithm *alg;
    for (size_t i = 0; (alg = algorithm_number(i)) != NULL; i++) {
        bool is_common = is_in_every_build(sealcomb_algorithm_id(alg));
        /* Others may want whole blocks, or be told lengths: they are the other tests' subject. */
        if (!is_common && (sealcomb_algorithm_kind(alg) != SEALCOMB_KIND_AEAD || sealcomb_algorithm_needs_message_bytes(alg) ||
                                sealcomb_algorithm_ciphertext_bytes(alg, 1) != 1)) {
            continue;
        }
        CHECK(key_count < 256);
        sealcomb_key_options options = empty_options();
        options.backend = backend;
        EXPECT(SEALCOMB_OK, sealcomb_key_new_with(alg, bytes, sealcomb_algorithm_key_bytes(alg), &options, &keys[key_count]));
        if (is_common) {
            common[common_count++] = keys[key_count];
        }
        key_count++;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t k = 0; k < key_count; k++) {
            bool is_common = is_in_every_build(sealcomb_algorithm_id(sealcomb_key_algorithm(keys[k])));
            /* Algorithms of the features get one shape per batch size, to save time. */
            for (size_t s = is_common ? 0 : i % SHAPES, end = is_common ? (size_t)SHAPES : s + 1; s < end; s++) {
                check(&keys[k], 1, counts[i], &shapes[s], is_common, base);
            }
        }
        for (size_t s = 0; s < SHAPES; s++) {
            check(common, common_count, counts[i], &shapes[s], true, base);
        }
    }
    for (size_t k = 0; k < key_count; k++) {
        sealcomb_key_free(keys[k]);
    }
}

int main(void) {
    size_t before = calls;
    /* The replaced malloc must be in use. */
    void *volatile memory = malloc(1);
    free(memory);
    CHECK(calls > before);
    task idle = {0, nothing, SEALCOMB_OK, 0};
    size_t base = stack_of(&idle);

    parts[0].data = nonces[0];
    parts[0].bytes = 12;
    parts[1].data = nonces[1];
    parts[1].bytes = 20;
    const char *backend;
    for (size_t i = 0; (backend = sealcomb_backend_at(i)) != NULL; i++) {
        if (sealcomb_backend_check(backend) == SEALCOMB_OK) {
            check_backend(backend, base);
        }
    }
    printf("%zu batches of up to %d jobs without allocation, with at most %zu bytes of stack, %zu for bursts\n", batches, (int)MAX_JOBS,
           max_stack, max_burst_stack);
    return 0;
}
