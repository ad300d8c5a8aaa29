/* Checks that threads can share keys, and can race for the library's lazy initialization. */
#include "test.h"

#include <pthread.h>

enum { THREADS = 4, KEYS = 3, ROUNDS = 40, JOBS = 70 };

static const char *const ids[KEYS] = {"aes128-gcm", "aes256-ccm", "aes128-siv"};
static const sealcomb_key *shared[KEYS];
static uint8_t expected[JOBS][16];
static pthread_barrier_t barrier;

/* Seals the same batch in every thread. */
static void seal(const sealcomb_key *const keys[KEYS], uint8_t tags[JOBS][16]) {
    static const uint8_t nonce[16] = {0}, message[700] = {0};
    sealcomb_job jobs[JOBS];
    uint8_t *sealed = memory(sizeof message * JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        const sealcomb_key *key = keys[i % KEYS];
        jobs[i] = empty_job();
        jobs[i].key = key;
        jobs[i].nonce = nonce;
        jobs[i].nonce_bytes = sealcomb_algorithm_nonce_bytes(sealcomb_key_algorithm(key));
        jobs[i].input = message;
        jobs[i].output = sealed + i * sizeof message;
        jobs[i].input_bytes = jobs[i].output_bytes = 10 * i;
        jobs[i].tag = tags[i];
        jobs[i].tag_bytes = 16;
    }
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(jobs, JOBS));
    free(sealed);
}

static void *work(void *unused) {
    static const char *const all[] = {"aes128-gcm", "aes192-gcm", "aes128-eax"};
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < 3; i++) {
        sealcomb_key_free(new_key(all[i]));
    }
    pthread_barrier_wait(&barrier);
    /* The main thread creates the shared keys between these two barriers. */
    pthread_barrier_wait(&barrier);
    for (size_t round = 0; round < ROUNDS; round++) {
        uint8_t tags[JOBS][16];
        seal(shared, tags);
        CHECK(memcmp(tags, expected, sizeof tags) == 0);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    sealcomb_key *keys[KEYS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < KEYS; i++) {
        shared[i] = keys[i] = new_key(ids[i]);
    }
    seal(shared, expected);
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    for (size_t i = 0; i < KEYS; i++) {
        sealcomb_key_free(keys[i]);
    }
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    puts("threads can share keys");
    return 0;
}
