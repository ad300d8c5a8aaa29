/* Streams: pieces of all sizes give what single calls give; wrong tags, wrong orders of calls and wrong arguments are
 * rejected and change nothing. */
#include "test.h"

enum { MESSAGE = 300, AAD = 50 };

static const char *const ids[] = {"aes128-gcm", "aes256-gcm", "aes128-ocb3-t128", "aes192-ocb3-t96", "aes128-gmac", "aes256-cmac"};
static const uint8_t nonce[12] = {1, 2, 3};

typedef struct {
    const char *id;
    sealcomb_key *key;
    size_t nonce_bytes, message_bytes, aad_bytes, tag_bytes, block;
    uint8_t message[MESSAGE], aad[AAD], sealed[MESSAGE + 16];
} example;

static example *new_example(const char *id, size_t message_bytes, size_t aad_bytes) {
    example *e = (example *)calloc(1, sizeof *e);
    uint64_t state = 7;
    size_t written = 0;
    CHECK(e != NULL);
    e->id = id;
    e->key = new_key(id);
    e->nonce_bytes = sealcomb_algorithm_nonce_bytes_max(algorithm(id)) == 0 ? 0 : sizeof nonce;
    e->message_bytes = sealcomb_algorithm_kind(algorithm(id)) == SEALCOMB_KIND_MAC ? 0 : message_bytes;
    e->aad_bytes = aad_bytes;
    e->tag_bytes = sealcomb_key_tag_bytes(e->key);
    e->block = strstr(id, "ocb3") != NULL ? 16 : 1;
    fill_randomly(&state, e->message, sizeof e->message);
    fill_randomly(&state, e->aad, sizeof e->aad);
    EXPECT(SEALCOMB_OK, sealcomb_seal(e->key, nonce, e->nonce_bytes, e->aad, e->aad_bytes, e->message, e->message_bytes, e->sealed,
                                      sizeof e->sealed, &written));
    CHECK(written == e->message_bytes + e->tag_bytes);
    return e;
}

static void free_example(example *e) {
    sealcomb_key_free(e->key);
    free(e);
}

static void begin(sealcomb_stream *stream, const example *e, bool seals) {
    EXPECT(SEALCOMB_OK, seals ? sealcomb_stream_begin_seal(stream, nonce, e->nonce_bytes)
                              : sealcomb_stream_begin_open(stream, nonce, e->nonce_bytes));
}

/* Passes the additional data and `from` in random pieces, in place or not, each in memory of its own. */
static void pass(sealcomb_stream *stream, const example *e, const uint8_t *from, uint8_t *to, uint64_t *state) {
    for (size_t at = 0; at < e->aad_bytes;) {
        size_t piece = 1 + random_number(state) % (e->aad_bytes - at);
        uint8_t *copy = copy_of(e->aad + at, piece);
        EXPECT(SEALCOMB_OK, sealcomb_stream_aad(stream, copy, piece));
        free(copy);
        at += piece;
    }
    for (size_t at = 0; at < e->message_bytes;) {
        size_t left = e->message_bytes - at, piece = random_number(state) % (left + 1);
        if (piece < left) piece -= piece % e->block;
        uint8_t *input = copy_of(from + at, piece), *output = random_number(state) % 2 ? input : memory(piece);
        EXPECT(SEALCOMB_OK, sealcomb_stream_update(stream, input, piece, output, piece));
        if (piece > 0) memcpy(to + at, output, piece);
        if (output != input) free(output);
        free(input);
        at += piece;
    }
}

static void pieces_give_what_single_calls_give(const example *e, uint64_t *state) {
    uint8_t result[MESSAGE], tag[16];
    sealcomb_stream *stream = NULL;
    EXPECT(SEALCOMB_OK, sealcomb_stream_new(e->key, &stream));
    for (int round = 0; round < 20; round++) {
        begin(stream, e, true);
        pass(stream, e, e->message, result, state);
        EXPECT(SEALCOMB_OK, sealcomb_stream_finish(stream, tag, e->tag_bytes));
        CHECK(equal(result, e->sealed, e->message_bytes) && equal(tag, e->sealed + e->message_bytes, e->tag_bytes));
        begin(stream, e, false);
        pass(stream, e, e->sealed, result, state);
        EXPECT(SEALCOMB_OK, sealcomb_stream_verify(stream, tag, e->tag_bytes));
        CHECK(equal(result, e->message, e->message_bytes));
        /* A wrong bit of the tag. */
        tag[random_number(state) % e->tag_bytes] ^= (uint8_t)(1U << random_number(state) % 8);
        begin(stream, e, false);
        pass(stream, e, e->sealed, result, state);
        EXPECT(SEALCOMB_FORGED, sealcomb_stream_verify(stream, tag, e->tag_bytes));
        EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_verify(stream, tag, e->tag_bytes));
    }
    sealcomb_stream_free(stream);
}

static void calls_in_the_wrong_order_are_rejected(const example *e) {
    uint8_t tag[16], bytes[16];
    sealcomb_stream *stream = NULL;
    bool is_mac = e->message_bytes == 0;
    memset(bytes, 0, sizeof bytes);
    EXPECT(SEALCOMB_OK, sealcomb_stream_new(e->key, &stream));
    for (int ended = 0; ended < 2; ended++) {
        EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_aad(stream, bytes, 1));
        EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_update(stream, bytes, 1, bytes, 1));
        EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_finish(stream, tag, e->tag_bytes));
        EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_verify(stream, tag, e->tag_bytes));
        CHECK(is_filled_with(bytes, 0, sizeof bytes));
        begin(stream, e, true);
        EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_verify(stream, tag, e->tag_bytes));
        EXPECT(SEALCOMB_OK, sealcomb_stream_finish(stream, tag, e->tag_bytes));
    }
    begin(stream, e, false);
    EXPECT(SEALCOMB_ERROR_STREAM_ORDER, sealcomb_stream_finish(stream, bytes, e->tag_bytes));
    CHECK(is_filled_with(bytes, 0, sizeof bytes)); /* The tag of a message to open is not disclosed. */
    if (is_mac) {
        EXPECT(SEALCOMB_ERROR_TAKES_NO_MESSAGE, sealcomb_stream_update(stream, bytes, 1, bytes, 1));
        EXPECT(SEALCOMB_OK, sealcomb_stream_update(stream, NULL, 0, NULL, 0));
    } else {
        EXPECT(SEALCOMB_OK, sealcomb_stream_update(stream, bytes, 1, bytes, 1));
        bytes[0] = 0;
        sealcomb_status late = sealcomb_stream_aad(stream, bytes, 1);
        CHECK(late == (e->block == 1 ? SEALCOMB_ERROR_STREAM_ORDER : SEALCOMB_OK));
        CHECK(late == sealcomb_stream_aad(stream, NULL, 0));
        if (e->block > 1) {
            EXPECT(SEALCOMB_ERROR_MESSAGE_LENGTH, sealcomb_stream_update(stream, bytes, 1, bytes, 1));
            CHECK(is_filled_with(bytes, 0, sizeof bytes));
        }
    }
    sealcomb_stream_free(stream);
}

static void invalid_arguments_are_rejected_and_change_nothing(const example *e) {
    uint8_t tag[16], bytes[32];
    sealcomb_stream *stream = NULL;
    memset(bytes, 0, sizeof bytes);
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_new(e->key, NULL));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_new(NULL, &stream));
    CHECK(stream == NULL);
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_begin_seal(NULL, nonce, e->nonce_bytes));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_begin_open(NULL, nonce, e->nonce_bytes));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_aad(NULL, bytes, 1));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_update(NULL, bytes, 1, bytes, 1));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_finish(NULL, tag, e->tag_bytes));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_verify(NULL, tag, e->tag_bytes));
    sealcomb_stream_free(NULL);
    EXPECT(SEALCOMB_OK, sealcomb_stream_new(e->key, &stream));
    begin(stream, e, true);
    EXPECT(SEALCOMB_OK, sealcomb_stream_aad(stream, e->aad, e->aad_bytes));
    EXPECT(SEALCOMB_ERROR_NONCE_LENGTH, sealcomb_stream_begin_open(stream, bytes, e->nonce_bytes == 0 ? 1 : 0));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_begin_seal(stream, NULL, 12));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_aad(stream, NULL, 1));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_aad(stream, bytes, SIZE_MAX));
    EXPECT(SEALCOMB_OK, sealcomb_stream_aad(stream, NULL, 0));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_update(stream, NULL, 1, bytes, 1));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_update(stream, bytes, 1, NULL, 1));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_update(stream, bytes, SIZE_MAX, bytes, SIZE_MAX));
    EXPECT(SEALCOMB_ERROR_OUTPUT_TOO_SHORT, sealcomb_stream_update(stream, bytes, 16, bytes + 16, 15));
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_stream_update(stream, bytes, 16, bytes + 15, 16));
    EXPECT(SEALCOMB_ERROR_OVERLAP, sealcomb_stream_update(stream, bytes + 15, 16, bytes, 16));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_finish(stream, NULL, e->tag_bytes));
    EXPECT(SEALCOMB_ERROR_TAG_LENGTH, sealcomb_stream_finish(stream, bytes, e->tag_bytes - 1));
    CHECK(is_filled_with(bytes, 0, sizeof bytes));
    /* After all of these, the message is what it would have been. */
    if (e->message_bytes > 0) {
        uint8_t result[MESSAGE];
        EXPECT(SEALCOMB_OK, sealcomb_stream_update(stream, e->message, e->message_bytes, result, sizeof result));
        CHECK(equal(result, e->sealed, e->message_bytes));
        EXPECT(SEALCOMB_OK, sealcomb_stream_update(stream, NULL, 0, NULL, 0));
    }
    EXPECT(SEALCOMB_OK, sealcomb_stream_finish(stream, tag, e->tag_bytes));
    CHECK(equal(tag, e->sealed + e->message_bytes, e->tag_bytes));
    sealcomb_stream_free(stream);
}

static void a_stream_outlives_its_key(void) {
    uint8_t tag[2][16];
    sealcomb_key *key = new_key("aes128-cmac");
    sealcomb_stream *streams[2] = {NULL, NULL};
    EXPECT(SEALCOMB_OK, sealcomb_mac(key, NULL, 0, nonce, sizeof nonce, tag[0], 16));
    for (int i = 0; i < 2; i++) EXPECT(SEALCOMB_OK, sealcomb_stream_new(key, &streams[i]));
    sealcomb_key_free(key);
    for (int i = 0; i < 2; i++) {
        EXPECT(SEALCOMB_OK, sealcomb_stream_begin_seal(streams[i], NULL, 0));
        EXPECT(SEALCOMB_OK, sealcomb_stream_aad(streams[i], nonce, sizeof nonce));
        EXPECT(SEALCOMB_OK, sealcomb_stream_finish(streams[i], tag[1], 16));
        CHECK(equal(tag[0], tag[1], 16));
        sealcomb_stream_free(streams[i]);
    }
}

static void only_gcm_gmac_ocb3_and_cmac_of_aes_have_streams(void) {
    for (size_t n = 0; algorithm_number(n) != NULL; n++) {
        const char *id = sealcomb_algorithm_id(algorithm_number(n));
        sealcomb_key *key = new_key(id);
        sealcomb_stream *stream = NULL;
        sealcomb_status status = sealcomb_stream_new(key, &stream);
        bool has_streams = strncmp(id, "aes", 3) == 0 && strstr(id, "-siv") == NULL &&
                           (strstr(id, "-gcm") != NULL || strstr(id, "gmac") != NULL || strstr(id, "ocb3") != NULL || strstr(id, "cmac") != NULL);
        if (sealcomb_hazmat_algorithm_by_id("aes128-ctr") == NULL) has_streams = false;
        CHECK(status == (has_streams ? SEALCOMB_OK : SEALCOMB_ERROR_NO_STREAMS) && has_streams == (stream != NULL));
        sealcomb_stream_free(stream);
        sealcomb_key_free(key);
    }
}

/* Without the feature hazmat, which also adds CTR, there are no streams. */
static bool check_that_streams_are_built(void) {
    if (sealcomb_hazmat_algorithm_by_id("aes128-ctr") != NULL) return true;
    sealcomb_key *key = new_key("aes128-gcm");
    sealcomb_stream *stream = NULL;
    EXPECT(SEALCOMB_ERROR_NO_STREAMS, sealcomb_stream_new(key, &stream));
    EXPECT(SEALCOMB_ERROR_POINTER, sealcomb_stream_aad(NULL, nonce, 1));
    sealcomb_key_free(key);
    return false;
}

int main(void) {
    uint64_t state = 1;
    only_gcm_gmac_ocb3_and_cmac_of_aes_have_streams();
    if (!check_that_streams_are_built()) {
        printf("streams: not in this build, which has no hazmat\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        for (size_t bytes = 0; bytes <= MESSAGE; bytes += bytes < 40 ? 1 : 65) {
            example *e = new_example(ids[i], bytes, bytes % AAD);
            pieces_give_what_single_calls_give(e, &state);
            free_example(e);
        }
        example *e = new_example(ids[i], MESSAGE, AAD);
        calls_in_the_wrong_order_are_rejected(e);
        invalid_arguments_are_rejected_and_change_nothing(e);
        free_example(e);
    }
    a_stream_outlives_its_key();
    printf("streams: passed\n");
    return 0;
}
