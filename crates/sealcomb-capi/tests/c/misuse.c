/* Checks that every invalid argument is detected before anything is written, and reported with the right status. */
#include "test.h"

/* A valid job with its buffers. */
typedef struct {
    sealcomb_job job;
    uint8_t nonce[12], aad[20], input[100], output[100], tag[16];
} filled;

static sealcomb_key *gcm, *cmac;

static void fill(filled *f) {
    memset(f, 0xA5, sizeof *f);
    f->job = empty_job();
    f->job.key = gcm;
    f->job.nonce = f->nonce;
    f->job.nonce_bytes = sizeof f->nonce;
    f->job.aad = f->aad;
    f->job.aad_bytes = sizeof f->aad;
    f->job.input = f->input;
    f->job.input_bytes = sizeof f->input;
    f->job.output = f->output;
    f->job.output_bytes = sizeof f->output;
    f->job.tag = f->tag;
    f->job.tag_bytes = sizeof f->tag;
}

static bool is_untouched(const filled *f) {
    return is_filled_with(f->nonce, 0xA5, sizeof f->nonce) && is_filled_with(f->aad, 0xA5, sizeof f->aad) &&
           is_filled_with(f->input, 0xA5, sizeof f->input) && is_filled_with(f->output, 0xA5, sizeof f->output) &&
           is_filled_with(f->tag, 0xA5, sizeof f->tag);
}

/* Makes a job invalid. */
typedef void mistake(filled *f);

/* An invalid job is found at any position in a batch, sealing and opening, and nothing is written. */
static void check_mistake(sealcomb_status expected, mistake *make) {
    enum { MAX_JOBS = 1000 };
    static filled all[MAX_JOBS];
    static sealcomb_job jobs[MAX_JOBS];
    /* Around 64 and 128, the numbers of jobs processed together, and their multiples. */
    static const size_t counts[] = {1, 3, 64, 65, 127, 128, 129, 257, MAX_JOBS};
    static const size_t places[] = {0, 1, 2, 63, 64, 126, 127, 128, 129, 255, 256, 639, 640, MAX_JOBS - 2, MAX_JOBS - 1};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            size_t at = places[p];
            for (int opens = 0; opens < 2 && at < counts[c]; opens++) {
                for (size_t i = 0; i < counts[c]; i++) {
                    fill(&all[i]);
                    if (i == at) {
                        make(&all[i]);
                    }
                    jobs[i] = all[i].job;
                    jobs[i].status = SEALCOMB_ERROR_INTERNAL;
                }
                EXPECT(expected, opens ? sealcomb_open_jobs(jobs, counts[c]) : sealcomb_seal_jobs(jobs, counts[c]));
                for (size_t i = 0; i < counts[c]; i++) {
                    CHECK(is_untouched(&all[i]));
                    if (expected != SEALCOMB_ERROR_STRUCT_SIZE) {
                        CHECK(jobs[i].status == (i == at ? expected : SEALCOMB_NOT_DONE) && jobs[i].written == 0);
                    }
                }
            }
        }
    }
}

static void no_key(filled *f) { f->job.key = NULL; }
static void no_nonce(filled *f) { f->job.nonce = NULL; }
static void no_aad(filled *f) { f->job.aad = NULL; }
static void no_input(filled *f) { f->job.input = NULL; }
static void no_output(filled *f) { f->job.output = NULL; }
static void no_tag(filled *f) { f->job.tag = NULL; }
static void huge_aad(filled *f) { f->job.aad_bytes = SIZE_MAX / 2 + 1; f->job.aad = (const uint8_t *)1; }
static void huge_output(filled *f) { f->job.output_bytes = SIZE_MAX / 2 + 1; }
static void no_parts(filled *f) {
    f->job.aad = NULL;
    f->job.aad_bytes = 0;
    f->job.aad_part_count = 3;
}
static void no_parts_with_aad(filled *f) { f->job.aad_part_count = 3; }
static void short_nonce(filled *f) { f->job.nonce_bytes = 0; }
static void short_tag(filled *f) { f->job.tag_bytes = 15; }
static void short_output(filled *f) { f->job.output_bytes = sizeof f->output - 1; }
static void message_for_a_mac(filled *f) { f->job.key = cmac; f->job.nonce_bytes = 0; }
static void unknown_flag(filled *f) { f->job.flags = 2 * SEALCOMB_AAD_STRINGS; }
static void strings_for_gcm(filled *f) {
    f->job.flags = SEALCOMB_AAD_STRINGS;
    f->job.aad_bytes = 0;
}
static void strings_with_aad(filled *f) { f->job.flags = SEALCOMB_AAD_STRINGS; }
static void smaller(filled *f) { f->job.size -= sizeof(size_t); }
static void no_size(filled *f) { f->job.size = 0; }
static void late_output(filled *f) { f->job.input_bytes -= 1; f->job.output = f->input + 1; }
static void early_output(filled *f) { f->job.input_bytes -= 1; f->job.input = f->input + 1; f->job.output = f->input; }
static void tag_in_output(filled *f) { f->job.tag = f->output + 90; f->job.tag_bytes = 16; f->job.output_bytes = 100; }
static void nonce_in_output(filled *f) { f->job.nonce = f->output + 99 - 11; }
static void aad_in_output(filled *f) { f->job.aad = f->output; }
static void part_in_output(filled *f) {
    static sealcomb_iovec part;
    part.data = f->output + 99;
    part.bytes = 1;
    f->job.aad = NULL;
    f->job.aad_bytes = 0;
    f->job.aad_parts = &part;
    f->job.aad_part_count = 1;
}
static void part_of_nothing(filled *f) {
    static sealcomb_iovec part = {NULL, 1};
    f->job.aad = NULL;
    f->job.aad_bytes = 0;
    f->job.aad_parts = &part;
    f->job.aad_part_count = 1;
}
static void both_aads(filled *f) {
    static sealcomb_iovec part = {NULL, 0};
    f->job.aad_parts = &part;
    f->job.aad_part_count = 1;
}

static void check_jobs(void) {
    check_mistake(SEALCOMB_ERROR_POINTER, no_key);
    check_mistake(SEALCOMB_ERROR_POINTER, no_nonce);
    check_mistake(SEALCOMB_ERROR_POINTER, no_aad);
    check_mistake(SEALCOMB_ERROR_POINTER, no_input);
    check_mistake(SEALCOMB_ERROR_POINTER, no_output);
    check_mistake(SEALCOMB_ERROR_POINTER, no_tag);
    check_mistake(SEALCOMB_ERROR_POINTER, huge_aad);
    check_mistake(SEALCOMB_ERROR_POINTER, huge_output);
    check_mistake(SEALCOMB_ERROR_POINTER, no_parts);
    check_mistake(SEALCOMB_ERROR_POINTER, no_parts_with_aad);
    check_mistake(SEALCOMB_ERROR_POINTER, part_of_nothing);
    check_mistake(SEALCOMB_ERROR_POINTER, both_aads);
    check_mistake(SEALCOMB_ERROR_NONCE_LENGTH, short_nonce);
    check_mistake(SEALCOMB_ERROR_TAG_LENGTH, short_tag);
    check_mistake(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, short_output);
    check_mistake(SEALCOMB_ERROR_TAKES_NO_MESSAGE, message_for_a_mac);
    check_mistake(SEALCOMB_ERROR_STRUCT_SIZE, unknown_flag);
    check_mistake(SEALCOMB_ERROR_TAKES_NO_STRINGS, strings_for_gcm);
    check_mistake(SEALCOMB_ERROR_POINTER, strings_with_aad);
    check_mistake(SEALCOMB_ERROR_STRUCT_SIZE, smaller);
    check_mistake(SEALCOMB_ERROR_STRUCT_SIZE, no_size);
    check_mistake(SEALCOMB_ERROR_OVERLAP, late_output);
    check_mistake(SEALCOMB_ERROR_OVERLAP, early_output);
    check_mistake(SEALCOMB_ERROR_OVERLAP, tag_in_output);
    check_mistake(SEALCOMB_ERROR_OVERLAP, nonce_in_output);
    check_mistake(SEALCOMB_ERROR_OVERLAP, aad_in_output);
    check_mistake(SEALCOMB_ERROR_OVERLAP, part_in_output);
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_seal_jobs(NULL, 1));
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(NULL, 0));
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(NULL, 0));
}

/* The first of several invalid jobs must be reported, whatever the mistakes are. */
static void check_first_mistakes(void) {
    enum { MAX_JOBS = 300 };
    static const struct {
        mistake *make;
        sealcomb_status status;
    } mistakes[] = {
        {no_tag, SEALCOMB_ERROR_POINTER},
        {short_nonce, SEALCOMB_ERROR_NONCE_LENGTH},
        {short_tag, SEALCOMB_ERROR_TAG_LENGTH},
        {tag_in_output, SEALCOMB_ERROR_OVERLAP},
        {short_output, SEALCOMB_ERROR_OUTPUT_TOO_SHORT},
        {message_for_a_mac, SEALCOMB_ERROR_TAKES_NO_MESSAGE},
    };
    enum { MISTAKES = sizeof mistakes / sizeof mistakes[0] };
    static const size_t counts[] = {2, 128, 129, MAX_JOBS}, seconds[] = {1, 127, 128, MAX_JOBS - 1};
    static filled all[MAX_JOBS];
    static sealcomb_job jobs[MAX_JOBS];
    for (size_t n = 0; n < sizeof counts / sizeof counts[0] * 4 * MISTAKES * MISTAKES * 2; n++) {
        size_t count = counts[n % 4], second = seconds[n / 4 % 4], a = n / 16 % MISTAKES, b = n / 16 / MISTAKES % MISTAKES;
        bool opens = n / 16 / MISTAKES / MISTAKES == 1;
        if (second >= count) continue;
        for (size_t i = 0; i < count; i++) {
            fill(&all[i]);
            if (i == 0) mistakes[a].make(&all[i]);
            if (i == second) mistakes[b].make(&all[i]);
            jobs[i] = all[i].job;
        }
        EXPECT(mistakes[a].status, opens ? sealcomb_open_jobs(jobs, count) : sealcomb_seal_jobs(jobs, count));
        for (size_t i = 0; i < count; i++) {
            CHECK(is_untouched(&all[i]) && jobs[i].status == (i == 0 ? mistakes[a].status : SEALCOMB_NOT_DONE));
        }
    }
}

/* Adjacent buffers are accepted; a tag within another buffer only if both are read. */
static void check_adjacent_buffers(void) {
    filled f;
    fill(&f);
    uint8_t packet[12 + 100 + 16];
    memset(packet, 0xA5, sizeof packet);
    f.job.nonce = packet;
    f.job.aad = packet;
    f.job.aad_bytes = 12;
    f.job.input = packet + 12;
    f.job.output = packet + 12;
    f.job.tag = packet + 112;
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&f.job, 1));
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(&f.job, 1));
    CHECK(is_filled_with(packet, 0xA5, 112));
    /* The output may be larger than the result, with the tag in its unused part. */
    f.job.output_bytes = 116;
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&f.job, 1));
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(&f.job, 1));
    CHECK(is_filled_with(packet, 0xA5, 112));
    /* A tag that is only read may overlap the input; one that is written may not. */
    fill(&f);
    f.job.tag = f.input + 84;
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_seal_jobs(&f.job, 1));
    CHECK(is_untouched(&f));
    EXPECT(SEALCOMB_FORGED, sealcomb_open_jobs(&f.job, 1));
}

/* Programs compiled with a later header may pass larger jobs if all later fields are 0. */
static void check_larger_jobs(void) {
    typedef struct {
        sealcomb_job job;
        uint8_t later[24];
    } larger;
    larger jobs[3];
    filled f[3];
    memset(jobs, 0, sizeof jobs);
    for (size_t i = 0; i < 3; i++) {
        fill(&f[i]);
        jobs[i].job = f[i].job;
        jobs[i].job.size = sizeof(larger);
    }
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&jobs[0].job, 3));
    CHECK(memcmp(f[0].tag, f[2].tag, 16) == 0 && !is_untouched(&f[2]));
    jobs[1].later[23] = 1;
    EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_seal_jobs(&jobs[0].job, 3));
    /* Sizes that no version has, such as those of jobs that were not initialized. */
    static const size_t sizes[] = {0, sizeof(sealcomb_job) + 1, SIZE_MAX / 3 * 2, SIZE_MAX / 2 + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        f[0].job.size = sizes[i];
        EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_seal_jobs(&f[0].job, 1));
        EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_open_jobs(&f[0].job, 1));
    }
}

static void check_nothing(void) {
    /* NULL is an empty buffer everywhere. */
    uint8_t nonce[12] = {0}, tag[16], again[16];
    size_t written = 9;
    EXPECT(SEALCOMB_OK, sealcomb_seal(gcm, nonce, 12, NULL, 0, NULL, 0, tag, 16, &written));
    CHECK(written == 16);
    EXPECT(SEALCOMB_OK, sealcomb_open(gcm, nonce, 12, NULL, 0, tag, 16, NULL, 0, &written));
    CHECK(written == 0);
    EXPECT(SEALCOMB_OK, sealcomb_mac(cmac, NULL, 0, NULL, 0, tag, 16));
    EXPECT(SEALCOMB_OK, sealcomb_mac_verify(cmac, NULL, 0, NULL, 0, tag, 16));
    EXPECT(SEALCOMB_OK, sealcomb_mac(cmac, NULL, 0, nonce, 0, again, 16));
    CHECK(memcmp(tag, again, 16) == 0);
    tag[15] ^= 1;
    EXPECT(SEALCOMB_FORGED, sealcomb_mac_verify(cmac, NULL, 0, NULL, 0, tag, 16));
    /* A cipher, which a library with the feature hazmat has, has no tag to verify. */
    if (sealcomb_hazmat_algorithm_by_id("aes128-ctr") != NULL) {
        sealcomb_key *ctr = new_key("aes128-ctr");
        uint8_t counter[16] = {0};
        EXPECT(SEALCOMB_UNAUTHENTICATED, sealcomb_mac_verify(ctr, counter, 16, NULL, 0, NULL, 0));
        /* No batch with its messages is a success, unless nothing was opened. */
        filled f[3];
        sealcomb_job jobs[3];
        for (size_t i = 0; i < 3; i++) {
            fill(&f[i]);
            EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&f[i].job, 1));
            jobs[i] = f[i].job;
            jobs[i].input = jobs[i].output;
        }
        jobs[1].key = ctr;
        jobs[1].nonce = counter;
        jobs[1].nonce_bytes = 16;
        jobs[1].aad_bytes = jobs[1].tag_bytes = 0;
        EXPECT(SEALCOMB_UNAUTHENTICATED, sealcomb_open_jobs(jobs, 3));
        CHECK(jobs[0].status == SEALCOMB_OK && jobs[1].status == SEALCOMB_UNAUTHENTICATED);
        EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&jobs[1], 1));
        /* All are opened now, so that opening them again finds forgeries before and after the cipher's. */
        EXPECT(SEALCOMB_FORGED, sealcomb_open_jobs(jobs, 2));
        EXPECT(SEALCOMB_FORGED, sealcomb_open_jobs(&jobs[1], 2));
        sealcomb_key_free(ctr);
    }
}

static void check_single(void) {
    uint8_t nonce[12] = {0}, text[32], sealed[48], out[48];
    size_t written = 9;
    memset(text, 1, sizeof text);
    memset(out, 0xA5, sizeof out);
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_seal(NULL, nonce, 12, NULL, 0, text, 32, sealed, 48, &written));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_seal(gcm, nonce, 12, NULL, 0, text, 32, NULL, 48, &written));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_seal(gcm, nonce, 12, NULL, 0, NULL, 32, sealed, 48, &written));
    EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, sealcomb_seal(gcm, nonce, 12, NULL, 0, text, 32, sealed, 47, &written));
    CHECK(written == 0);
    EXPECT(SEALCOMB_ERROR_POINTER,
           sealcomb_seal(gcm, nonce, 12, NULL, 0, text, SIZE_MAX, sealed, SIZE_MAX - 1, &written));
    EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT,
           sealcomb_seal(gcm, nonce, 12, NULL, 0, text, SIZE_MAX / 2, sealed, SIZE_MAX / 2, &written));
    EXPECT(SEALCOMB_OK, sealcomb_seal(gcm, nonce, 12, NULL, 0, text, 32, sealed, 48, NULL));
    EXPECT(SEALCOMB_OK, sealcomb_seal(gcm, nonce, 12, NULL, 0, text, 32, sealed, 48, &written));
    CHECK(written == 48);
    EXPECT(SEALCOMB_FORGED, sealcomb_open(gcm, nonce, 12, NULL, 0, sealed, 15, out, 48, &written));
    CHECK(written == 0);
    EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, sealcomb_open(gcm, nonce, 12, NULL, 0, sealed, 48, out, 31, &written));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_open(gcm, nonce, 12, NULL, 0, NULL, 48, out, 48, &written));
    CHECK(is_filled_with(out, 0xA5, sizeof out));
    EXPECT(SEALCOMB_OK, sealcomb_open(gcm, nonce, 12, NULL, 0, sealed, 48, out, 48, &written));
    CHECK(written == 32 && memcmp(out, text, 32) == 0 && is_filled_with(out + 32, 0xA5, 16));
    sealed[0] ^= 1;
    EXPECT(SEALCOMB_FORGED, sealcomb_open(gcm, nonce, 12, NULL, 0, sealed, 48, out, 48, &written));
    CHECK(written == 0 && is_filled_with(out, 0, 32) && is_filled_with(out + 32, 0xA5, 16));
}

/* The tag of AES-SIV comes first, so that in place the message moves. */
static void check_tag_first(void) {
    sealcomb_key *siv = new_key("aes128-siv");
    uint8_t text[32], sealed[48], buffer[64], before[64];
    size_t written = 9;
    CHECK(sealcomb_algorithm_tag_first(algorithm("aes128-siv")) && !sealcomb_algorithm_tag_first(algorithm("aes128-gcm")));
    CHECK(!sealcomb_algorithm_tag_first(NULL));
    memset(text, 1, sizeof text);
    EXPECT(SEALCOMB_OK, sealcomb_seal(siv, text, 16, text, 5, text, 32, sealed, 48, &written));
    CHECK(written == 48);
    sealcomb_job job = empty_job();
    job.key = siv;
    job.nonce = text;
    job.nonce_bytes = 16;
    job.aad = text;
    job.aad_bytes = 5;
    job.input = sealed + 16;
    job.output = buffer;
    job.input_bytes = job.output_bytes = 32;
    job.tag = sealed;
    job.tag_bytes = 16;
    EXPECT(SEALCOMB_OK, sealcomb_open_jobs(&job, 1));
    CHECK(memcmp(buffer, text, 32) == 0);

    memset(buffer, 0xA5, sizeof buffer);
    memcpy(buffer, text, 32);
    memcpy(before, buffer, sizeof buffer);
    EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, sealcomb_seal(siv, text, 16, text, 5, buffer, 32, buffer, 47, &written));
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_seal(siv, text, 16, buffer + 44, 5, buffer, 32, buffer, 48, &written));
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_seal(siv, text, 16, buffer, 5, buffer, 32, buffer, 48, &written));
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_seal(siv, text, 16, text, 5, buffer + 1, 32, buffer, 48, &written));
    CHECK(memcmp(buffer, before, sizeof buffer) == 0 && written == 0);
    EXPECT(SEALCOMB_OK, sealcomb_seal(siv, text, 16, text, 5, buffer, 32, buffer, 48, &written));
    CHECK(written == 48 && memcmp(buffer, sealed, 48) == 0 && is_filled_with(buffer + 48, 0xA5, 16));

    memcpy(before, buffer, sizeof buffer);
    EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, sealcomb_open(siv, text, 16, text, 5, buffer, 48, buffer, 31, &written));
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_open(siv, text, 16, buffer + 31, 5, buffer, 48, buffer, 32, &written));
    CHECK(memcmp(buffer, before, sizeof buffer) == 0 && written == 0);
    EXPECT(SEALCOMB_OK, sealcomb_open(siv, text, 16, text, 5, buffer, 48, buffer, 32, &written));
    CHECK(written == 32 && memcmp(buffer, text, 32) == 0 && memcmp(buffer + 32, sealed + 32, 16) == 0);
    memcpy(buffer, sealed, 48);
    EXPECT(SEALCOMB_FORGED, sealcomb_open(siv, text, 16, text, 4, buffer, 48, buffer, 32, &written));
    CHECK(written == 0 && is_filled_with(buffer, 0, 32));
    sealcomb_key_free(siv);
}

static void check_keys(void) {
    uint8_t bytes[32] = {0};
    sealcomb_key *key = gcm;
    const sealcomb_algorithm *alg = algorithm("aes256-gcm");
    EXPECT(SEALCOMB_ERROR_KEY_LENGTH, sealcomb_key_new(alg, bytes, 31, &key));
    CHECK(key == NULL);
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_key_new(alg, NULL, 32, &key));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_key_new(alg, bytes, 32, NULL));
    EXPECT(SEALCOMB_ERROR_UNKNOWN_ALGORITHM, sealcomb_key_new(NULL, bytes, 32, &key));
    sealcomb_key_options options = empty_options();
    options.tag_bytes = 17;
    EXPECT(SEALCOMB_ERROR_TAG_LENGTH, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    /* Short tags have their own field, which requires the feature `hazmat`. */
    options.tag_bytes = 4;
    EXPECT(SEALCOMB_ERROR_TAG_LENGTH, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    options.tag_bytes = 12;
    options.short_tag_bytes = 5;
    EXPECT(SEALCOMB_ERROR_TAG_LENGTH, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    options.short_tag_bytes = 4;
    bool has_short_tags = sealcomb_hazmat_algorithm_by_id("aes128-ctr") != NULL;
    EXPECT(has_short_tags ? SEALCOMB_OK : SEALCOMB_ERROR_TAG_LENGTH, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    CHECK(sealcomb_key_tag_bytes(key) == (has_short_tags ? 4 : 0));
    sealcomb_key_free(key);
    options.short_tag_bytes = 0;
    options.backend = "fastest";
    EXPECT(SEALCOMB_ERROR_UNKNOWN_BACKEND, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    options.backend = "\xff";
    EXPECT(SEALCOMB_ERROR_UNKNOWN_BACKEND, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    options.backend = "portable";
    options.nonce_bytes = SEALCOMB_NO_NONCE;
    EXPECT(SEALCOMB_ERROR_NONCE_LENGTH, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    CHECK(key == NULL);
    options.nonce_bytes = 8;
    EXPECT(SEALCOMB_OK, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    CHECK(sealcomb_key_tag_bytes(key) == 12 && strcmp(sealcomb_key_backend(key), "portable") == 0);
    CHECK(sealcomb_key_nonce_bytes(key) == 8 && sealcomb_key_nonce_bytes(gcm) == 12 && sealcomb_key_nonce_bytes(NULL) == 0);
    /* A header in the place of the nonce is refused. */
    uint8_t sealed[28];
    size_t written;
    EXPECT(SEALCOMB_OK, sealcomb_seal(key, bytes, 8, bytes, 20, bytes, 16, sealed, 28, &written));
    EXPECT(SEALCOMB_ERROR_NONCE_LENGTH, sealcomb_seal(key, bytes, 20, bytes, 8, bytes, 16, sealed, 28, &written));
    /* Each reference is freed on its own. */
    sealcomb_key *shared = sealcomb_key_share(key);
    CHECK(shared == key && sealcomb_key_share(NULL) == NULL);
    sealcomb_key_free(key);
    EXPECT(SEALCOMB_OK, sealcomb_open(shared, bytes, 8, bytes, 20, sealed, 28, sealed, 28, &written));
    CHECK(written == 16);
    sealcomb_key_free(shared);
    /* Structures of other versions. */
    struct {
        sealcomb_key_options options;
        uint8_t later[8];
    } later;
    memset(&later, 0, sizeof later);
    later.options.size = sizeof later;
    EXPECT(SEALCOMB_OK, sealcomb_key_new_with(alg, bytes, 32, &later.options, &key));
    sealcomb_key_free(key);
    later.later[7] = 1;
    EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_key_new_with(alg, bytes, 32, &later.options, &key));
    static const size_t sizes[] = {0, sizeof(sealcomb_key_options) - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        options.size = sizes[i];
        EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_key_new_with(alg, bytes, 32, &options, &key));
    }
    sealcomb_key_free(NULL);
    CHECK(sealcomb_key_algorithm(NULL) == NULL && sealcomb_key_backend(NULL) == NULL && sealcomb_key_tag_bytes(NULL) == 0);
}

/* XTS requires the feature `hazmat`, which the default build does not have. */
static void check_equal_key_halves(void) {
    static const char *const ids[] = {"aes128-xts", "aes256-xts"};
    for (size_t i = 0; i < 2; i++) {
        const sealcomb_algorithm *alg = sealcomb_hazmat_algorithm_by_id(ids[i]);
        if (alg == NULL) {
            continue;
        }
        uint8_t bytes[64];
        size_t count = sealcomb_algorithm_key_bytes(alg);
        memset(bytes, 7, sizeof bytes);
        sealcomb_key *key = gcm;
        EXPECT(SEALCOMB_ERROR_EQUAL_KEY_HALVES, sealcomb_key_new(alg, bytes, count, &key));
        CHECK(key == NULL);
        bytes[count - 1] ^= 1;
        EXPECT(SEALCOMB_OK, sealcomb_key_new(alg, bytes, count, &key));
        sealcomb_key_free(key);
    }
}

static void check_lists(void) {
    CHECK(sealcomb_algorithm_count() > 20);
    const sealcomb_algorithm *alg;
    for (size_t i = 0; (alg = algorithm_number(i)) != NULL; i++) {
        bool is_common = i < sealcomb_algorithm_count();
        CHECK(sealcomb_hazmat_algorithm_by_id(sealcomb_algorithm_id(alg)) == alg);
        CHECK(sealcomb_algorithm_by_id(sealcomb_algorithm_id(alg)) == (is_common ? alg : NULL));
        CHECK(!is_common || (sealcomb_algorithm_kind(alg) != SEALCOMB_KIND_CIPHER && sealcomb_algorithm_trust(alg) >= SEALCOMB_TRUST_PORTFOLIO));
        CHECK(strlen(sealcomb_algorithm_name(alg)) > 0 && sealcomb_algorithm_note(alg) != NULL);
        CHECK(sealcomb_algorithm_key_bytes(alg) >= 16 && sealcomb_algorithm_key_bytes(alg) <= 128);
        CHECK(sealcomb_algorithm_nonce_bytes_min(alg) <= sealcomb_algorithm_nonce_bytes(alg));
        CHECK(sealcomb_algorithm_nonce_bytes(alg) <= sealcomb_algorithm_nonce_bytes_max(alg));
        CHECK(sealcomb_algorithm_takes_tag_bytes(alg, sealcomb_algorithm_tag_bytes(alg)));
        for (size_t bytes = 0; bytes <= 17; bytes++) {
            CHECK(!sealcomb_algorithm_takes_tag_bytes(alg, bytes) || sealcomb_hazmat_algorithm_takes_tag_bytes(alg, bytes));
        }
        CHECK((sealcomb_algorithm_kind(alg) == SEALCOMB_KIND_CIPHER) == (sealcomb_algorithm_tag_bytes(alg) == 0));
        size_t empty = sealcomb_algorithm_ciphertext_bytes(alg, 0), max = 1;
        EXPECT(SEALCOMB_OK, sealcomb_algorithm_max_message_bytes(alg, empty, &max));
        bool takes_one = empty == 1 || sealcomb_algorithm_ciphertext_bytes(alg, 1) == 1;
        EXPECT(takes_one ? SEALCOMB_OK : SEALCOMB_FORGED, sealcomb_algorithm_max_message_bytes(alg, 1, &max));
    }
    size_t max;
    CHECK(sealcomb_algorithm_at(sealcomb_algorithm_count()) == NULL);
    CHECK(sealcomb_hazmat_algorithm_at(sealcomb_hazmat_algorithm_count()) == NULL);
    CHECK(!sealcomb_algorithm_takes_tag_bytes(algorithm("aes128-gcm"), 4));
    CHECK(sealcomb_hazmat_algorithm_takes_tag_bytes(algorithm("aes128-gcm"), 4) == (sealcomb_hazmat_algorithm_count() > 0));
    CHECK(sealcomb_hazmat_algorithm_by_id("rot13") == NULL && sealcomb_hazmat_algorithm_by_id(NULL) == NULL);
    CHECK(sealcomb_algorithm_by_id("rot13") == NULL && sealcomb_algorithm_by_id(NULL) == NULL);
    CHECK(sealcomb_algorithm_id(NULL) == NULL && sealcomb_algorithm_key_bytes(NULL) == 0);
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_algorithm_max_message_bytes(NULL, 16, &max));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_algorithm_max_message_bytes(algorithm("aes128-gcm"), 16, NULL));

    CHECK(sizeof(sealcomb_status) == 4 && sizeof(sealcomb_kind) == 4 && sizeof(sealcomb_trust) == 4);
    CHECK(sealcomb_algorithm_trust(algorithm("aes128-gcm")) == SEALCOMB_TRUST_STANDARD);
    CHECK(sealcomb_algorithm_trust(algorithm("aes128-colm0")) == SEALCOMB_TRUST_PORTFOLIO);
    CHECK(sealcomb_algorithm_trust(NULL) == SEALCOMB_TRUST_BROKEN);
    size_t available = 0;
    const char *name, *selected = NULL;
    CHECK(sealcomb_backend_count() >= 2 && sealcomb_backend_at(sealcomb_backend_count()) == NULL);
    for (size_t i = 0; i < sealcomb_backend_count(); i++) {
        name = sealcomb_backend_at(i);
        sealcomb_status status = sealcomb_backend_check(name);
        CHECK(status == SEALCOMB_OK || status == SEALCOMB_ERROR_NO_BACKEND);
        available += status == SEALCOMB_OK;
    }
    CHECK(available >= 1);
    EXPECT(SEALCOMB_ERROR_UNKNOWN_BACKEND, sealcomb_backend_check(""));
    EXPECT(SEALCOMB_OK, sealcomb_backend_check(NULL));
    EXPECT(SEALCOMB_OK, sealcomb_backend_selected(&selected));
    EXPECT(SEALCOMB_OK, sealcomb_backend_check(selected));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_backend_selected(NULL));
    CHECK(strcmp(sealcomb_key_backend(gcm), selected) == 0);
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", SEALCOMB_VERSION_MAJOR, SEALCOMB_VERSION_MINOR, SEALCOMB_VERSION_PATCH);
    CHECK(strcmp(version, sealcomb_version()) == 0 && sealcomb_version_number() == SEALCOMB_VERSION);
    CHECK(strcmp(sealcomb_status_text(-12345), sealcomb_status_text(12345)) == 0);
    printf("backend %s, %zu available\n", selected, available);
}

int main(void) {
    gcm = new_key("aes128-gcm");
    cmac = new_key("aes128-cmac");
    check_jobs();
    check_first_mistakes();
    check_adjacent_buffers();
    check_larger_jobs();
    check_nothing();
    check_single();
    check_tag_first();
    check_keys();
    check_equal_key_halves();
    check_lists();
    sealcomb_key_free(gcm);
    sealcomb_key_free(cmac);
    puts("invalid arguments are rejected");
    return 0;
}
