/* What the tests share. Written in what C99 and C++17 have in common, since they are compiled as both. */
#ifndef TEST_H
#define TEST_H

#include <sealcomb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the place of the first thing that does not hold. */
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

/* Ends the program with what a call returned, unless that was expected. */
#define EXPECT(expected, call)                                                                             \
    do {                                                                                                   \
        sealcomb_status expect_status = (call);                                                            \
        if (expect_status != (expected)) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, sealcomb_status_text(expect_status)); \
            exit(1);                                                                                       \
        }                                                                                                  \
    } while (0)

/* Memory of exactly so many bytes, so that sanitizers see what goes beyond; NULL for none. */
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

/* Numbers that look random and are the same in every run (xorshift64*). */
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
    const sealcomb_algorithm *found = sealcomb_algorithm_by_id(id);
    CHECK(found != NULL);
    return found;
}

/* A key whose bytes are 0, 1, 2 and so on. */
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
