/* Helpers of the tests. The code is valid as both C99 and C++17, as the tests are compiled as both. */
#ifndef TEST_H
#define TEST_H

#include <sealcomb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exits with the location and the condition if it is false. */
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition);   \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

/* Exits with the call and its status unless that is the expected one. */
#define EXPECT(expected, call)                                                                             \
    do {                                                                                                   \
        sealcomb_status expect_status = (call);                                                            \
        if (expect_status != (expected)) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, sealcomb_status_text(expect_status)); \
            exit(1);                                                                                       \
        }                                                                                                  \
    } while (0)

/* Allocates exactly `bytes` bytes, so that sanitizers detect out-of-bounds accesses; returns NULL for 0. */
static inline uint8_t *memory(size_t bytes) {
    uint8_t *memory = NULL;
    if (bytes > 0) {
        memory = (uint8_t *)malloc(bytes);
        CHECK(memory != NULL);
    }
    return memory;
}

static inline uint8_t *copy_of(const uint8_t *data, size_t bytes) {
    uint8_t *copy = memory(bytes);
    if (bytes > 0) {
        memcpy(copy, data, bytes);
    }
    return copy;
}

static inline bool equal(const uint8_t *a, const uint8_t *b, size_t bytes) {
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static inline bool is_filled_with(const uint8_t *data, uint8_t byte, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] != byte) {
            return false;
        }
    }
    return true;
}

/* Deterministic pseudorandom numbers (xorshift64*). */
static inline uint64_t random_number(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static inline void fill_randomly(uint64_t *state, uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(random_number(state) >> 56);
    }
}

static inline sealcomb_job empty_job(void) {
    sealcomb_job job;
    memset(&job, 0, sizeof job);
    job.size = sizeof job;
    return job;
}

static inline const sealcomb_algorithm *algorithm(const char *id) {
    const sealcomb_algorithm *found = sealcomb_hazmat_algorithm_by_id(id);
    CHECK(found != NULL);
    return found;
}

/* Returns the algorithms of the build, one after the other, then NULL. */
static inline const sealcomb_algorithm *algorithm_number(size_t n) {
    size_t count = sealcomb_algorithm_count();
    return n < count ? sealcomb_algorithm_at(n) : sealcomb_hazmat_algorithm_at(n - count);
}

static inline sealcomb_key_options empty_options(void) {
    sealcomb_key_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/* Returns a key with the bytes 0, 1, 2, ... and nonces of this size; 0: without nonces. */
static inline sealcomb_key *new_key_for(const char *id, size_t nonce_bytes) {
    uint8_t bytes[128];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    sealcomb_key *key = NULL;
    sealcomb_key_options options = empty_options();
    options.nonce_bytes = nonce_bytes == 0 ? SEALCOMB_NO_NONCE : nonce_bytes;
    EXPECT(SEALCOMB_OK,
           sealcomb_key_new_with(algorithm(id), bytes, sealcomb_algorithm_key_bytes(algorithm(id)), &options, &key));
    CHECK(sealcomb_key_nonce_bytes(key) == nonce_bytes);
    return key;
}

/* Returns a key with the bytes 0, 1, 2, ... */
static inline sealcomb_key *new_key(const char *id) {
    uint8_t bytes[128];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    sealcomb_key *key = NULL;
    EXPECT(SEALCOMB_OK, sealcomb_key_new(algorithm(id), bytes, sealcomb_algorithm_key_bytes(algorithm(id)), &key));
    return key;
}

#endif
