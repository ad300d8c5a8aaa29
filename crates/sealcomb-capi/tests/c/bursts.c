/* Checks that a burst yields the results of jobs, that a forged message affects no other, and that every invalid
 * argument is detected before anything is written. */
#include "test.h"

enum { MAX = 300, ROOM = 2200, TAG = 16, AAD = 64 };

static const char *const ids[] = {"aes128-gcm", "aes256-ccm", "aes128-ocb3-t128", "aes256-gcm-siv", "aes128-siv", "aes128-cmac"};
enum { KEYS = sizeof ids / sizeof ids[0] };
static const size_t lengths[] = {0, 1, 15, 16, 64, 100, 255, 1400, 2048};

static sealcomb_key *keys[KEYS];
static uint8_t plain[MAX][ROOM], data[MAX][ROOM], expected[MAX][ROOM], aads[MAX][AAD], nonces[MAX][20], tags[MAX][24];
static uint8_t expected_tags[MAX][TAG], packed_nonces[MAX][12], packed_tags[MAX][TAG];
static sealcomb_status statuses[MAX];

/* The arrays of a burst. */
static uint8_t *messages[MAX];
static const uint8_t *aad_pointers[MAX];
static size_t message_bytes[MAX], aad_bytes[MAX];
static const sealcomb_key *key_pointers[MAX];

/* Where the nonces and tags are: in columns with gaps or without; or each tag follows its message. */
typedef enum { GAPS, PACKED, FOLLOWS } layout;

static sealcomb_burst empty_burst(void) {
    sealcomb_burst burst;
    memset(&burst, 0, sizeof burst);
    burst.size = sizeof burst;
    return burst;
}

/* Returns a burst in which every column is used. */
static sealcomb_burst make(size_t count, const sealcomb_key *key, layout where) {
    sealcomb_burst burst = empty_burst();
    burst.count = count;
    burst.key = key;
    if (key == NULL) burst.keys = key_pointers;
    burst.messages = messages;
    burst.message_bytes = message_bytes;
    burst.aads = aad_pointers;
    burst.aad_bytes = aad_bytes;
    burst.nonces = where == PACKED ? packed_nonces[0] : nonces[0];
    burst.nonce_bytes = 12;
    burst.nonce_stride = where == PACKED ? sizeof packed_nonces[0] : sizeof nonces[0];
    burst.tags = where == FOLLOWS ? NULL : where == PACKED ? packed_tags[0] : tags[0];
    burst.tag_bytes = TAG;
    /* Ignored if the tags follow. */
    burst.tag_stride = where == FOLLOWS ? SIZE_MAX : where == PACKED ? sizeof packed_tags[0] : sizeof tags[0];
    burst.statuses = statuses;
    return burst;
}

static uint8_t *tag_of(size_t i, layout where) {
    return where == FOLLOWS ? data[i] + message_bytes[i] : where == PACKED ? packed_tags[i] : tags[i];
}

/* Draws messages and seals them as jobs. With a header, its size is that of all additional data. */
static void draw(size_t count, const sealcomb_key *key, size_t header, uint64_t *random) {
    for (size_t i = 0; i < count; i++) {
        const sealcomb_key *own = key != NULL ? key : keys[random_number(random) % KEYS];
        /* Keys of MACs take no messages, and CMAC takes no nonce. */
        if (key == NULL && own == keys[KEYS - 1]) own = keys[0];
        bool is_mac = own == keys[KEYS - 1];
        key_pointers[i] = own;
        message_bytes[i] = is_mac ? 0 : lengths[random_number(random) % (sizeof lengths / sizeof lengths[0])];
        aad_bytes[i] = header > 0 ? header : random_number(random) % 4 == 0 ? 0 : random_number(random) % AAD;
        fill_randomly(random, plain[i], message_bytes[i]);
        fill_randomly(random, aads[i], AAD);
        fill_randomly(random, nonces[i], sizeof nonces[i]);
        memcpy(packed_nonces[i], nonces[i], sizeof packed_nonces[i]);
        messages[i] = data[i];
        aad_pointers[i] = aad_bytes[i] == 0 && random_number(random) % 2 ? NULL : aads[i];
        sealcomb_job job = empty_job();
        job.key = own;
        job.nonce = nonces[i];
        job.nonce_bytes = is_mac ? 0 : 12;
        job.aad = aads[i];
        job.aad_bytes = aad_bytes[i];
        job.input = plain[i];
        job.output = expected[i];
        job.input_bytes = job.output_bytes = message_bytes[i];
        job.tag = expected_tags[i];
        job.tag_bytes = TAG;
        EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&job, 1));
    }
}

/* Seals and opens `count` messages; every `forge`th is modified; 0: none. */
static void check(size_t count, const sealcomb_key *key, layout where, size_t forge, uint64_t *random) {
    draw(count, key, 0, random);
    bool is_mac = key == keys[KEYS - 1];
    if (is_mac && where == FOLLOWS) where = GAPS;
    sealcomb_burst burst = make(count, key, where);
    if (is_mac) {
        burst.messages = NULL;
        burst.message_bytes = NULL;
        burst.nonces = NULL;
        burst.nonce_bytes = 0;
    }
    memset(data, 0xA5, sizeof data);
    memset(tags, 0xA5, sizeof tags);
    for (size_t i = 0; i < count; i++) memcpy(data[i], plain[i], message_bytes[i]);
    if (random_number(random) % 2) burst.statuses = NULL; /* Optional when sealing. */
    EXPECT(SEALCOMB_OK, sealcomb_seal_burst(&burst));
    burst.statuses = statuses;
    for (size_t i = 0; i < count; i++) {
        uint8_t *tag = tag_of(i, where), *end = where == FOLLOWS ? tag + TAG : data[i] + message_bytes[i];
        CHECK(equal(data[i], expected[i], message_bytes[i]) && equal(tag, expected_tags[i], TAG));
        CHECK(is_filled_with(end, 0xA5, (size_t)(data[i] + ROOM - end)) && is_filled_with(tags[i] + TAG, 0xA5, 8));
        if (forge > 0 && i % forge == 0) {
            uint8_t *changed = message_bytes[i] > 0 && random_number(random) % 2 ? data[i] : tag;
            changed[random_number(random) % (changed == tag ? (size_t)TAG : message_bytes[i])] ^= 0x10;
        }
    }
    EXPECT(forge > 0 ? SEALCOMB_FORGED : SEALCOMB_OK, sealcomb_open_burst(&burst));
    for (size_t i = 0; i < count; i++) {
        bool forged = forge > 0 && i % forge == 0;
        CHECK(statuses[i] == (forged ? SEALCOMB_FORGED : SEALCOMB_OK));
        CHECK(forged ? is_filled_with(data[i], 0, message_bytes[i]) : equal(data[i], plain[i], message_bytes[i]));
    }
}

/* Does the same with packets: each consists of a header, the message and the tag. */
static void check_packets(size_t count, const sealcomb_key *key, size_t header, size_t forge, uint64_t *random) {
    draw(count, key, header, random);
    sealcomb_burst burst = make(count, key, FOLLOWS);
    burst.aads = NULL;
    burst.aad_bytes = NULL;
    burst.header_bytes = header;
    if (key == keys[KEYS - 1]) burst.nonces = NULL, burst.nonce_bytes = 0;
    memset(data, 0xA5, sizeof data);
    for (size_t i = 0; i < count; i++) {
        memcpy(data[i], aads[i], header);
        memcpy(data[i] + header, plain[i], message_bytes[i]);
        message_bytes[i] += header;
    }
    EXPECT(SEALCOMB_OK, sealcomb_seal_burst(&burst));
    for (size_t i = 0; i < count; i++) {
        uint8_t *tag = data[i] + message_bytes[i];
        CHECK(equal(data[i], aads[i], header) && equal(data[i] + header, expected[i], message_bytes[i] - header));
        CHECK(equal(tag, expected_tags[i], TAG) && is_filled_with(tag + TAG, 0xA5, (size_t)(data[i] + ROOM - tag - TAG)));
        if (forge > 0 && i % forge == 0) data[i][random_number(random) % (message_bytes[i] + TAG)] ^= 0x10;
    }
    EXPECT(forge > 0 ? SEALCOMB_FORGED : SEALCOMB_OK, sealcomb_open_burst(&burst));
    for (size_t i = 0; i < count; i++) {
        bool forged = forge > 0 && i % forge == 0;
        uint8_t *message = data[i] + header;
        CHECK(statuses[i] == (forged ? SEALCOMB_FORGED : SEALCOMB_OK));
        CHECK(forged ? is_filled_with(message, 0, message_bytes[i] - header) : equal(message, plain[i], message_bytes[i] - header));
        CHECK(forged || equal(data[i], aads[i], header));
    }
}

static void check_results(void) {
    static const size_t counts[] = {1, 2, 32, 63, 64, 65, 128, MAX};
    uint64_t random = 42;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t k = 0; k <= KEYS; k++) {
            const sealcomb_key *key = k < KEYS ? keys[k] : NULL;
            for (int where = GAPS; where <= FOLLOWS; where++) {
                check(counts[c], key, (layout)where, 0, &random);
                check(counts[c], key, (layout)where, 3, &random);
                check(counts[c], key, (layout)where, 1, &random);
            }
            for (size_t header = 1; header < AAD; header = 3 * header + 5) {
                check_packets(counts[c], key, header, 0, &random);
                check_packets(counts[c], key, header, 3, &random);
            }
        }
    }
}

/* Makes a burst, or its message `at`, invalid. */
typedef void mistake(sealcomb_burst *burst, size_t at);

static void no_message(sealcomb_burst *b, size_t at) { (void)b; messages[at] = NULL; }
static void no_aad(sealcomb_burst *b, size_t at) { (void)b; aad_pointers[at] = NULL; }
static void no_own_key(sealcomb_burst *b, size_t at) { b->key = NULL; b->keys = key_pointers; key_pointers[at] = NULL; }
static void own_mac(sealcomb_burst *b, size_t at) { b->key = NULL; b->keys = key_pointers; key_pointers[at] = keys[KEYS - 1]; }
static void huge_message(sealcomb_burst *b, size_t at) { (void)b; message_bytes[at] = SIZE_MAX / 2 + 1; }
static void huge_aad(sealcomb_burst *b, size_t at) { (void)b; aad_bytes[at] = SIZE_MAX; }
static void aad_in_message(sealcomb_burst *b, size_t at) { (void)b; aad_pointers[at] = data[at] + 99; }
static void aad_in_tag(sealcomb_burst *b, size_t at) { (void)b; aad_pointers[at] = data[at] + 100 + TAG - 1; }
static void message_in_tags(sealcomb_burst *b, size_t at) {
    b->tags = data[at] + 99 - at * sizeof tags[0];
    b->tag_stride = sizeof tags[0];
}
static void message_in_nonces(sealcomb_burst *b, size_t at) { b->nonces = data[at] - at * b->nonce_stride; }

static void no_key(sealcomb_burst *b, size_t at) { (void)at; b->key = NULL; }
static void two_keys(sealcomb_burst *b, size_t at) { (void)at; b->keys = key_pointers; }
static void no_messages(sealcomb_burst *b, size_t at) { (void)at; b->messages = NULL; }
static void no_place_for_tags(sealcomb_burst *b, size_t at) { (void)at; b->messages = NULL; b->message_bytes = NULL; }
static void no_message_bytes(sealcomb_burst *b, size_t at) { (void)at; b->message_bytes = NULL; }
static void no_aad_bytes(sealcomb_burst *b, size_t at) { (void)at; b->aad_bytes = NULL; }
static void no_nonces(sealcomb_burst *b, size_t at) { (void)at; b->nonces = NULL; }
static void close_nonces(sealcomb_burst *b, size_t at) { (void)at; b->nonce_stride = 11; }
static void close_tags(sealcomb_burst *b, size_t at) { (void)at; b->tags = tags[0]; b->tag_stride = TAG - 1; }
static void far_nonces(sealcomb_burst *b, size_t at) { (void)at; b->nonce_stride = SIZE_MAX / 2 + 1; }
static void huge_count(sealcomb_burst *b, size_t at) { (void)at; b->count = SIZE_MAX / 4; }
static void misaligned(sealcomb_burst *b, size_t at) { (void)at; b->message_bytes = (const size_t *)((const char *)message_bytes + 1); }
static void wrong_size(sealcomb_burst *b, size_t at) { (void)at; b->size -= sizeof(size_t); }
static void is_reserved(sealcomb_burst *b, size_t at) { (void)at; b->reserved = 1; }
static void short_tags(sealcomb_burst *b, size_t at) { (void)at; b->tag_bytes = TAG - 1; }
static void two_aads(sealcomb_burst *b, size_t at) { (void)at; b->header_bytes = 8; }
static void headers(sealcomb_burst *b) { b->header_bytes = 101; b->aads = NULL; b->aad_bytes = NULL; }
static void shorter_than_header(sealcomb_burst *b, size_t at) {
    headers(b);
    for (size_t i = 0; i < b->count; i++) message_bytes[i] = i == at ? 100 : 101;
}
static void no_message_for_header(sealcomb_burst *b, size_t at) {
    headers(b);
    for (size_t i = 0; i < b->count; i++) message_bytes[i] = 101;
    messages[at] = NULL;
}
static void no_nonce(sealcomb_burst *b, size_t at) { (void)at; b->nonce_bytes = 0; }

/* The message that a mistake makes invalid: none, if the burst itself is invalid; the one at the mistake's place; or
 * the first, if all are invalid. */
typedef enum { NO_MESSAGE, ONE_MESSAGE, ALL_MESSAGES } invalid;

static void check_mistake(sealcomb_status status, mistake *make_mistake, invalid which) {
    static const size_t counts[] = {1, 64, 65, MAX}, places[] = {0, 1, 63, 64, MAX - 1};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t p = 0; p < sizeof places / sizeof places[0] && places[p] < counts[c]; p++) {
            for (int opens = 0; opens < 2; opens++) {
                /* With the tags after the messages, the tags cannot overlap them. */
                sealcomb_burst burst = make(counts[c], keys[0], FOLLOWS);
                for (size_t i = 0; i < counts[c]; i++) {
                    messages[i] = data[i];
                    message_bytes[i] = 100;
                    aad_pointers[i] = aads[i];
                    aad_bytes[i] = 20;
                    key_pointers[i] = keys[0];
                    statuses[i] = SEALCOMB_ERROR_INTERNAL;
                }
                memset(data, 0xA5, sizeof data);
                memset(tags, 0xA5, sizeof tags);
                make_mistake(&burst, places[p]);
                /* A tag that is only read may overlap additional data. */
                if (opens && make_mistake == aad_in_tag) continue;
                EXPECT(status, opens ? sealcomb_open_burst(&burst) : sealcomb_seal_burst(&burst));
                CHECK(is_filled_with(data[0], 0xA5, sizeof data) && is_filled_with(tags[0], 0xA5, sizeof tags));
                size_t first = which == ONE_MESSAGE ? places[p] : 0;
                for (size_t i = 0; which != NO_MESSAGE && i < counts[c]; i++) {
                    CHECK(statuses[i] == (i == first ? status : SEALCOMB_NOT_DONE));
                }
            }
        }
    }
}

static void check_mistakes(void) {
    check_mistake(SEALCOMB_ERROR_POINTER, no_message, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_aad, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_own_key, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_NONCE_LENGTH, own_mac, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, huge_message, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, huge_aad, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_OVERLAP, aad_in_message, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_OVERLAP, aad_in_tag, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_OVERLAP, message_in_tags, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_OVERLAP, message_in_nonces, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_key, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, two_keys, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_messages, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_place_for_tags, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_message_bytes, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_aad_bytes, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_nonces, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, close_nonces, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, close_tags, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, far_nonces, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, huge_count, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, misaligned, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, two_aads, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, shorter_than_header, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_POINTER, no_message_for_header, ONE_MESSAGE);
    check_mistake(SEALCOMB_ERROR_STRUCT_SIZE, wrong_size, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_STRUCT_SIZE, is_reserved, NO_MESSAGE);
    check_mistake(SEALCOMB_ERROR_TAG_LENGTH, short_tags, ALL_MESSAGES);
    check_mistake(SEALCOMB_ERROR_NONCE_LENGTH, no_nonce, ALL_MESSAGES);

    sealcomb_burst burst = empty_burst();
    EXPECT(SEALCOMB_OK, sealcomb_seal_burst(&burst));
    EXPECT(SEALCOMB_OK, sealcomb_open_burst(&burst));
    /* Arrays without elements are NULL in many programs, while the sizes are constant. */
    burst.key = keys[0];
    burst.nonce_bytes = burst.nonce_stride = 12;
    burst.tag_bytes = TAG;
    EXPECT(SEALCOMB_OK, sealcomb_seal_burst(&burst));
    EXPECT(SEALCOMB_OK, sealcomb_open_burst(&burst));
    burst.reserved = 1;
    EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_seal_burst(&burst));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_seal_burst(NULL));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_open_burst(NULL));
    /* Opening requires a place for the statuses. */
    burst = make(1, keys[0], FOLLOWS);
    burst.statuses = NULL;
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_open_burst(&burst));
    /* Algorithms whose ciphertexts are longer than their messages; a build without optional features has none. */
    for (size_t n = 0; algorithm_number(n) != NULL; n++) {
        if (sealcomb_algorithm_ciphertext_bytes(algorithm_number(n), 1) <= 1) continue;
        sealcomb_key *key = new_key(sealcomb_algorithm_id(algorithm_number(n)));
        for (size_t count = 1; count < 100; count += 64) {
            burst = make(count, key, FOLLOWS);
            for (int opens = 0; opens < 2; opens++) {
                for (size_t i = 0; i < count; i++) statuses[i] = SEALCOMB_ERROR_INTERNAL;
                EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, opens ? sealcomb_open_burst(&burst) : sealcomb_seal_burst(&burst));
                CHECK(statuses[0] == SEALCOMB_ERROR_OUTPUT_TOO_SHORT && statuses[count - 1] == (count > 1 ? SEALCOMB_NOT_DONE : statuses[0]));
            }
        }
        sealcomb_key_free(key);
    }
}

/* The first of several invalid messages must be reported, whatever the mistakes are. */
static void check_first_mistakes(void) {
    static const size_t counts[] = {2, 64, 65, MAX};
    for (size_t c = 0; c < 4; c++) {
        for (int opens = 0; opens < 2; opens++) {
            for (int many = 0; many < 2; many++) {
                sealcomb_burst burst = make(counts[c], many ? NULL : keys[KEYS - 1], GAPS);
                burst.nonces = NULL;
                burst.nonce_bytes = 0;
                for (size_t i = 0; i < counts[c]; i++) {
                    key_pointers[i] = keys[KEYS - 1];
                    messages[i] = data[i];
                    message_bytes[i] = 0;
                    aad_pointers[i] = aads[i];
                    aad_bytes[i] = 20;
                }
                /* The library finds the first mistake, and this interface the second. */
                message_bytes[0] = 1;
                aad_pointers[counts[c] - 1] = NULL;
                EXPECT(SEALCOMB_ERROR_TAKES_NO_MESSAGE, opens ? sealcomb_open_burst(&burst) : sealcomb_seal_burst(&burst));
                for (size_t i = 0; i < counts[c]; i++) {
                    CHECK(statuses[i] == (i == 0 ? SEALCOMB_ERROR_TAKES_NO_MESSAGE : SEALCOMB_NOT_DONE));
                }
            }
        }
    }
}

static void check_many_keys(void) {
    enum { COUNT = 100, STRIDE = 40 };
    static uint8_t secrets[COUNT * STRIDE];
    sealcomb_key *many[COUNT], *single;
    uint64_t random = 7;
    uint8_t tag_many[16 + TAG], tag_single[16 + TAG];
    size_t written;
    fill_randomly(&random, secrets, sizeof secrets);
    EXPECT(SEALCOMB_OK, sealcomb_key_new_many(algorithm("aes256-gcm"), secrets, STRIDE, COUNT, NULL, many));
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT(SEALCOMB_OK, sealcomb_key_new(algorithm("aes256-gcm"), secrets + i * STRIDE, 32, &single));
        EXPECT(SEALCOMB_OK, sealcomb_seal(single, nonces[0], 12, NULL, 0, plain[0], 16, tag_single, sizeof tag_single, &written));
        EXPECT(SEALCOMB_OK, sealcomb_seal(many[i], nonces[0], 12, NULL, 0, plain[0], 16, tag_many, sizeof tag_many, &written));
        CHECK(equal(tag_single, tag_many, sizeof tag_many));
        sealcomb_key_free(single);
        sealcomb_key_free(many[i]);
    }
    EXPECT(SEALCOMB_OK, sealcomb_key_new_many(algorithm("aes256-gcm"), NULL, 0, 0, NULL, NULL));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_key_new_many(algorithm("aes256-gcm"), secrets, STRIDE, 2, NULL, NULL));
    EXPECT(SEALCOMB_ERROR_KEY_LENGTH, sealcomb_key_new_many(algorithm("aes256-gcm"), secrets, 31, 2, NULL, many));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_key_new_many(algorithm("aes256-gcm"), NULL, STRIDE, 2, NULL, many));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_key_new_many(algorithm("aes256-gcm"), secrets, SIZE_MAX, 2, NULL, many));
    EXPECT(SEALCOMB_ERROR_UNKNOWN_ALGORITHM, sealcomb_key_new_many(NULL, secrets, STRIDE, 2, NULL, many));
    CHECK(many[0] == NULL && many[1] == NULL);
    sealcomb_key_options options = empty_options();
    options.tag_bytes = 12;
    options.nonce_bytes = 16;
    options.backend = "portable";
    EXPECT(SEALCOMB_OK, sealcomb_key_new_many(algorithm("aes256-gcm"), secrets, STRIDE, 2, &options, many));
    for (size_t i = 0; i < 2; i++) {
        CHECK(sealcomb_key_tag_bytes(many[i]) == 12 && sealcomb_key_nonce_bytes(many[i]) == 16);
        CHECK(strcmp(sealcomb_key_backend(many[i]), "portable") == 0);
        sealcomb_key_free(many[i]);
    }
    options.size++;
    EXPECT(SEALCOMB_ERROR_STRUCT_SIZE, sealcomb_key_new_many(algorithm("aes256-gcm"), secrets, STRIDE, 2, &options, many));
    CHECK(many[0] == NULL && many[1] == NULL);
}

int main(void) {
    for (size_t k = 0; k < KEYS; k++) keys[k] = new_key_for(ids[k], k == KEYS - 1 ? 0 : 12);
    check_results();
    check_mistakes();
    check_first_mistakes();
    check_many_keys();
    for (size_t k = 0; k < KEYS; k++) sealcomb_key_free(keys[k]);
    printf("bursts: passed\n");
    return 0;
}
