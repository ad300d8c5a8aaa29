/* Checks batch equivalence: each job of a batch yields the result of a single call, and a forged job affects no
 * other. */
#include "test.h"

enum { MAX_JOBS = 300, LENGTHS = 12 };

static const size_t lengths[LENGTHS] = {0, 1, 15, 16, 17, 64, 100, 255, 256, 1400, 2048, 4097};
static const char *const ids[] = {"aes128-gcm", "aes256-ccm",  "aes128-ocb3-t128", "aes256-gcm-siv",
                                  "aes128-siv", "aes192-gcm", "aes128-cmac",      "aes256-eax"};
enum { KEYS = sizeof ids / sizeof ids[0] };

/* A message with its buffers; `single` and `tag_single` hold the results of a single call. */
typedef struct {
    uint8_t nonce[16], aad[64], tag[16], tag_single[16];
    size_t aad_bytes, bytes;
    uint8_t *plain, *sealed, *single, *opened;
    sealcomb_iovec parts[3];
} message;

static sealcomb_key *keys[KEYS];
static message messages[MAX_JOBS];

static void make_messages(size_t count, uint64_t *random) {
    for (size_t i = 0; i < count; i++) {
        message *m = &messages[i];
        fill_randomly(random, m->nonce, sizeof m->nonce);
        fill_randomly(random, m->aad, sizeof m->aad);
        m->aad_bytes = (size_t)(random_number(random) % (sizeof m->aad + 1));
        m->bytes = lengths[random_number(random) % LENGTHS];
        m->plain = memory(m->bytes);
        m->sealed = memory(m->bytes);
        m->single = memory(m->bytes);
        m->opened = memory(m->bytes);
        fill_randomly(random, m->plain, m->bytes);
    }
}

static void free_messages(size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(messages[i].plain);
        free(messages[i].sealed);
        free(messages[i].single);
        free(messages[i].opened);
    }
}

static sealcomb_job job_of(message *m, const sealcomb_key *key, const uint8_t *input, uint8_t *output, uint8_t *tag) {
    sealcomb_job job = empty_job();
    bool is_mac = sealcomb_algorithm_kind(sealcomb_key_algorithm(key)) == SEALCOMB_KIND_MAC;
    job.key = key;
    job.nonce = m->nonce;
    job.nonce_bytes = sealcomb_algorithm_nonce_bytes(sealcomb_key_algorithm(key));
    job.aad = m->aad;
    job.aad_bytes = m->aad_bytes;
    job.input = is_mac ? NULL : input;
    job.output = is_mac ? NULL : output;
    job.input_bytes = job.output_bytes = is_mac ? 0 : m->bytes;
    job.tag = tag;
    job.tag_bytes = sealcomb_key_tag_bytes(key);
    return job;
}

/* Seals and opens `count` messages with keys of `kinds` algorithms. Every `forge`th message or tag is modified; 0:
 * none. */
static void check_batch(size_t count, size_t kinds, size_t forge, bool in_place, uint64_t seed) {
    static sealcomb_job jobs[MAX_JOBS];
    uint64_t random = seed;
    make_messages(count, &random);
    for (size_t i = 0; i < count; i++) {
        message *m = &messages[i];
        const sealcomb_key *key = keys[i % kinds];
        sealcomb_job single = job_of(m, key, m->plain, m->single, m->tag_single);
        EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&single, 1));
        CHECK(single.status == SEALCOMB_OK && single.written == single.input_bytes);

        uint8_t *input = in_place ? m->sealed : m->plain;
        if (in_place && m->bytes > 0) {
            memcpy(m->sealed, m->plain, m->bytes);
        }
        jobs[i] = job_of(m, key, input, m->sealed, m->tag);
    }
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(jobs, count));
    size_t forged = 0;
    for (size_t i = 0; i < count; i++) {
        message *m = &messages[i];
        CHECK(jobs[i].status == SEALCOMB_OK && jobs[i].written == jobs[i].input_bytes);
        CHECK(equal(m->sealed, m->single, jobs[i].written));
        CHECK(equal(m->tag, m->tag_single, jobs[i].tag_bytes));

        uint8_t *output = in_place ? m->sealed : m->opened;
        jobs[i] = job_of(m, keys[i % kinds], m->sealed, output, m->tag);
        if (forge > 0 && i % forge == 0) {
            forged++;
            if (i % 2 == 0 || jobs[i].input_bytes == 0) {
                m->tag[i % 16] ^= 0x80;
            } else {
                m->sealed[i % m->bytes] ^= 1;
            }
        }
    }
    EXPECT(forged > 0 ? SEALCOMB_FORGED : SEALCOMB_OK, sealcomb_open_jobs(jobs, count));
    for (size_t i = 0; i < count; i++) {
        if (forge > 0 && i % forge == 0) {
            CHECK(jobs[i].status == SEALCOMB_FORGED && jobs[i].written == 0);
            CHECK(is_filled_with(jobs[i].output, 0, jobs[i].output_bytes));
        } else {
            CHECK(jobs[i].status == SEALCOMB_OK && jobs[i].written == jobs[i].input_bytes);
            CHECK(equal(jobs[i].output, messages[i].plain, jobs[i].written));
        }
    }
    free_messages(count);
}

/* Additional data in pieces, including empty and NULL ones, yields the result of their concatenation. */
static void check_parts(size_t count, const char *id) {
    static sealcomb_job jobs[MAX_JOBS];
    sealcomb_key *key = new_key(id);
    uint64_t random = 7;
    make_messages(count, &random);
    for (size_t i = 0; i < count; i++) {
        message *m = &messages[i];
        sealcomb_job single = job_of(m, key, m->plain, m->single, m->tag_single);
        EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&single, 1));

        size_t first = m->aad_bytes / 3;
        m->parts[0].data = m->aad;
        m->parts[0].bytes = first;
        m->parts[1].data = NULL;
        m->parts[1].bytes = 0;
        m->parts[2].data = m->aad + first;
        m->parts[2].bytes = m->aad_bytes - first;
        jobs[i] = job_of(m, key, m->plain, m->sealed, m->tag);
        if (i % 3 != 0) {
            jobs[i].aad = NULL;
            jobs[i].aad_bytes = 0;
            jobs[i].aad_parts = m->parts;
            jobs[i].aad_part_count = 3;
        }
    }
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(jobs, count));
    for (size_t i = 0; i < count; i++) {
        message *m = &messages[i];
        CHECK(jobs[i].status == SEALCOMB_OK && equal(m->sealed, m->single, m->bytes));
        CHECK(equal(m->tag, m->tag_single, 16));
        jobs[i].input = m->sealed;
        jobs[i].output = m->opened;
    }
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(jobs, count));
    for (size_t i = 0; i < count; i++) {
        CHECK(jobs[i].status == SEALCOMB_OK && equal(messages[i].opened, messages[i].plain, messages[i].bytes));
    }
    free_messages(count);
    sealcomb_key_free(key);
}

/* Batches whose pieces exceed the space of a flight: many jobs that each need much of it, and one that needs more
 * than all of it. */
static void check_long_parts(void) {
    enum { JOBS = 20, LONG = 10000 };
    static uint8_t aad[LONG], tags[JOBS][16], expected[JOBS][16];
    sealcomb_iovec parts[JOBS][2];
    sealcomb_job jobs[JOBS];
    sealcomb_key *key = new_key("aes128-gmac");
    uint64_t random = 9;
    fill_randomly(&random, aad, sizeof aad);
    for (size_t i = 0; i < JOBS; i++) {
        size_t bytes = i == 11 ? (size_t)LONG : 900 + i, first = 13 * i;
        EXPECT(SEALCOMB_OK, sealcomb_mac(key, aad, 12, aad, bytes, expected[i], 16));
        parts[i][0].data = aad;
        parts[i][0].bytes = first;
        parts[i][1].data = aad + first;
        parts[i][1].bytes = bytes - first;
        jobs[i] = empty_job();
        jobs[i].key = key;
        jobs[i].nonce = aad;
        jobs[i].nonce_bytes = 12;
        jobs[i].aad_parts = parts[i];
        jobs[i].aad_part_count = 2;
        jobs[i].tag = tags[i];
        jobs[i].tag_bytes = 16;
    }
    /* An invalid last job is found before the first flight is processed. */
    jobs[JOBS - 1].tag_bytes = 3;
    EXPECT(SEALCOMB_ERROR_TAG_LENGTH, sealcomb_seal_jobs(jobs, JOBS));
    CHECK(is_filled_with(tags[0], 0, sizeof tags));
    jobs[JOBS - 1].tag_bytes = 16;
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(jobs, JOBS));
    CHECK(memcmp(tags, expected, sizeof tags) == 0);
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(jobs, JOBS));
    sealcomb_key_free(key);
}

/* With the flag, each piece is a separate string, and no string differs from one empty string. */
static void check_strings(void) {
    sealcomb_key *key = new_key_for("aes256-siv", 0);
    uint8_t ab[2] = {'a', 'b'}, plain[5] = {1, 2, 3, 4, 5}, tags[4][16], sealed[4][5];
    sealcomb_iovec parts[127];
    for (size_t i = 0; i < 127; i++) {
        parts[i].data = ab;
        parts[i].bytes = 1;
    }
    parts[1].data = ab + 1;
    sealcomb_job jobs[4];
    for (size_t i = 0; i < 4; i++) {
        jobs[i] = empty_job();
        jobs[i].key = key;
        jobs[i].input = plain;
        jobs[i].output = sealed[i];
        jobs[i].input_bytes = jobs[i].output_bytes = sizeof plain;
        jobs[i].tag = tags[i];
        jobs[i].tag_bytes = 16;
    }
    /* "a" and "b"; "ab"; one empty string; no string. */
    jobs[0].aad_parts = parts;
    jobs[0].aad_part_count = 2;
    jobs[0].flags = jobs[3].flags = SEALCOMB_AAD_STRINGS;
    jobs[1].aad = ab;
    jobs[1].aad_bytes = 2;
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(jobs, 4));
    /* Without the flag, the pieces are joined. */
    sealcomb_job joined = jobs[0];
    uint8_t text[5], tag[16];
    joined.flags = 0;
    joined.output = text;
    joined.tag = tag;
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&joined, 1));
    CHECK(memcmp(tag, tags[1], 16) == 0 && memcmp(text, sealed[1], 5) == 0);
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++) {
            CHECK(memcmp(tags[i], tags[j], 16) != 0);
        }
        jobs[i].input = jobs[i].output;
    }
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(jobs, 4));
    for (size_t i = 0; i < 4; i++) {
        CHECK(equal(sealed[i], plain, sizeof plain));
    }
    jobs[0].aad_part_count = 126;
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(jobs, 1));
    jobs[0].aad_part_count = 127;
    EXPECT(SEALCOMB_ERROR_AAD_TOO_LONG, sealcomb_seal_jobs(jobs, 1));
    sealcomb_key_free(key);
}

/* Output sizes and bytes written, in place and with separate buffers, for algorithms whose ciphertexts may be
 * longer than the messages. */
static void check_room(const char *id) {
    const sealcomb_algorithm *alg = algorithm(id);
    sealcomb_key *key = new_key(id);
    size_t nonce_bytes = sealcomb_algorithm_nonce_bytes(alg);
    uint8_t nonce[16] = {0}, plain[40], sealed[200], opened[200];
    uint64_t random = 3;
    fill_randomly(&random, plain, sizeof plain);
    for (size_t bytes = 0; bytes <= sizeof plain; bytes++) {
        size_t needed = sealcomb_algorithm_ciphertext_bytes(alg, bytes) + 16, written = 1, max = 0;
        CHECK(needed >= bytes + 16);
        EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT,
               sealcomb_seal(key, nonce, nonce_bytes, NULL, 0, plain, bytes, sealed, needed - 1, &written));
        EXPECT(SEALCOMB_OK, sealcomb_seal(key, nonce, nonce_bytes, NULL, 0, plain, bytes, sealed, sizeof sealed, &written));
        CHECK(written == needed);
        memcpy(opened, plain, bytes);
        EXPECT(SEALCOMB_OK, sealcomb_seal(key, nonce, nonce_bytes, NULL, 0, opened, bytes, opened, needed, &written));
        CHECK(written == needed && memcmp(opened, sealed, needed) == 0);
        EXPECT(SEALCOMB_OK, sealcomb_algorithm_max_message_bytes(alg, needed - 16, &max));
        CHECK(max >= bytes);
        EXPECT(SEALCOMB_OK, sealcomb_open(key, nonce, nonce_bytes, NULL, 0, sealed, needed, opened, max, &written));
        CHECK(written == bytes && memcmp(opened, plain, bytes) == 0);
        EXPECT(SEALCOMB_OK, sealcomb_open(key, nonce, nonce_bytes, NULL, 0, sealed, needed, sealed, needed, NULL));
        CHECK(memcmp(sealed, plain, bytes) == 0);
    }
    sealcomb_key_free(key);
}

int main(void) {
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = new_key(ids[i]);
    }
    static const size_t counts[] = {0, 1, 2, 17, 127, 128, 129, 257, MAX_JOBS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (size_t kinds = 1; kinds <= KEYS; kinds += KEYS - 1) {
            for (size_t forge = 0; forge <= 3; forge++) {
                check_batch(counts[i], kinds, forge, forge % 2 == 0, 1 + i + 100 * kinds + 1000 * forge);
            }
        }
    }
    check_parts(MAX_JOBS, "aes128-gcm");
    check_parts(MAX_JOBS, "aes128-ccm");
    check_long_parts();
    check_strings();
    check_room("aes128-gcm");
    check_room("aes256-siv");
    /* Algorithms with longer ciphertexts require the feature `research`. */
    if (sealcomb_hazmat_algorithm_by_id("aes128-copa") != NULL) {
        check_room("aes128-copa");
        check_room("aes128-elmd");
    }
    for (size_t i = 0; i < KEYS; i++) {
        sealcomb_key_free(keys[i]);
    }
    puts("batches yield the results of single calls");
    return 0;
}
