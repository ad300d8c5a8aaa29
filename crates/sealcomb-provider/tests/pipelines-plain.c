/* Compares pipelines of CBC and CTR with single messages of OpenSSL's default provider: random counts, sizes, pieces and
 * layouts, with and without padding; and makes invalid calls.
 *
 * usage: pipelines-plain [ROUNDS [SEED]] (OPENSSL_MODULES names the folder with the provider; requires OpenSSL 3.5)
 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = EVP_MAX_PIPES, BYTES = 2200, PIECES = 4 };

#define MUST(condition)                                                          \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

static unsigned long long state;

/* Returns a random number below `limit`. */
static size_t below(size_t limit) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (size_t)(state >> 33) % limit;
}

static void fill(unsigned char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)below(256);
}

/* The messages of a pipeline, and the arrays that describe them to OpenSSL. */
static struct {
    unsigned char key[32], iv[COUNT][16], plain[COUNT][BYTES], sealed[COUNT][BYTES];
    unsigned char in[COUNT][BYTES], out[COUNT][BYTES];
    size_t bytes[COUNT], sealed_bytes[COUNT], taken[COUNT], given[COUNT], part[COUNT], written[COUNT], rooms[COUNT];
    const unsigned char *ivs[COUNT], *inputs[COUNT];
    unsigned char *outputs[COUNT];
} m;

static const struct mode { const char *name; size_t key_bytes; int is_ctr; } MODES[] = {
    {"AES-128-CBC", 16, 0}, {"AES-192-CBC", 24, 0}, {"AES-256-CBC", 32, 0},
    {"AES-128-CTR", 16, 1}, {"AES-192-CTR", 24, 1}, {"AES-256-CTR", 32, 1},
};

static EVP_CIPHER_CTX *context(const struct mode *mode, const char *provider) {
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, mode->name, provider);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    MUST(cipher != NULL && EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, 1, NULL));
    EVP_CIPHER_free(cipher);
    return ctx;
}

/* Draws messages, and encrypts them one by one with OpenSSL's default provider. */
static void draw(const struct mode *mode, size_t count, size_t limit, int pads) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=default");
    fill(m.key, sizeof m.key);
    for (size_t i = 0; i < count; i++) {
        int written, last;
        m.bytes[i] = below(5) == 0 ? 0 : below(limit + 1);
        if (!pads && !mode->is_ctr) m.bytes[i] -= m.bytes[i] % 16;
        fill(m.iv[i], 16);
        if (below(3) == 0) memset(m.iv[i] + 8, 0xff, 8); /* Counters that overflow. */
        fill(m.plain[i], m.bytes[i]);
        m.ivs[i] = m.iv[i];
        MUST(EVP_EncryptInit_ex2(ctx, NULL, m.key, m.iv[i], NULL) && EVP_CIPHER_CTX_set_padding(ctx, pads));
        MUST(EVP_EncryptUpdate(ctx, m.sealed[i], &written, m.plain[i], (int)m.bytes[i]));
        MUST(EVP_EncryptFinal_ex(ctx, m.sealed[i] + written, &last));
        m.sealed_bytes[i] = (size_t)(written + last);
    }
    EVP_CIPHER_CTX_free(ctx);
}

static int begin(EVP_CIPHER_CTX *ctx, const struct mode *mode, int encrypts, size_t count, int with_key) {
    memset(m.taken, 0, sizeof m.taken);
    memset(m.given, 0, sizeof m.given);
    memset(m.out, 0x55, sizeof m.out);
    return (encrypts ? EVP_CipherPipelineEncryptInit : EVP_CipherPipelineDecryptInit)(
        ctx, NULL, with_key ? m.key : NULL, with_key ? mode->key_bytes : 0, count, m.ivs, 16);
}

/* Describes the next outputs: each message's results follow each other. */
static void next_outputs(size_t count) {
    for (size_t i = 0; i < count; i++) {
        m.outputs[i] = m.out[i] + m.given[i];
        m.rooms[i] = BYTES - m.given[i];
    }
}

static void add_written(size_t count) {
    for (size_t i = 0; i < count; i++) m.given[i] += m.written[i];
}

/* Passes a random or the last piece of each message, separate or partly overlapping. */
static int piece(EVP_CIPHER_CTX *ctx, unsigned char (*source)[BYTES], const size_t *bytes, size_t count, int is_last) {
    next_outputs(count);
    for (size_t i = 0; i < count; i++) {
        size_t left = bytes[i] - m.taken[i];
        m.part[i] = is_last ? left : below(left + 1);
        size_t gap = m.rooms[i] - m.part[i];
        unsigned char *input = below(3) == 0 ? m.outputs[i] + below(gap + 1) : m.in[i];
        memcpy(input, source[i] + m.taken[i], m.part[i]);
        m.inputs[i] = m.part[i] == 0 && below(2) ? NULL : input;
        m.taken[i] += m.part[i];
    }
    int done = EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.part);
    if (done) add_written(count);
    return done;
}

static int finish(EVP_CIPHER_CTX *ctx, size_t count) {
    next_outputs(count);
    int done = EVP_CipherPipelineFinal(ctx, m.outputs, m.written, m.rooms);
    add_written(count);
    return done;
}

static void pass(EVP_CIPHER_CTX *ctx, unsigned char (*source)[BYTES], const size_t *bytes, size_t count) {
    size_t pieces = 1 + below(PIECES);
    for (size_t p = 1; p <= pieces; p++) MUST(piece(ctx, source, bytes, count, p == pieces));
}

static void a_pipeline_encrypts_and_decrypts_like_single_calls(EVP_CIPHER_CTX *ctx, const struct mode *mode, size_t count, int pads) {
    MUST(EVP_CIPHER_CTX_set_padding(ctx, pads));
    MUST(begin(ctx, mode, 1, count, 1));
    pass(ctx, m.plain, m.bytes, count);
    MUST(finish(ctx, count));
    for (size_t i = 0; i < count; i++) MUST(m.given[i] == m.sealed_bytes[i] && memcmp(m.out[i], m.sealed[i], m.given[i]) == 0);
    MUST(!finish(ctx, count));
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.part));

    MUST(begin(ctx, mode, 0, count, below(2) == 0));
    pass(ctx, m.sealed, m.sealed_bytes, count);
    MUST(finish(ctx, count));
    for (size_t i = 0; i < count; i++) MUST(m.given[i] == m.bytes[i] && memcmp(m.out[i], m.plain[i], m.given[i]) == 0);
}

static void wrong_padding_fails_and_the_other_messages_are_decrypted(const struct mode *mode) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb");
    draw(mode, 3, 200, 1);
    /* A block of zeros has no padding. */
    EVP_CIPHER_CTX *single = context(mode, "provider=default");
    unsigned char zeros[16] = {0};
    int written;
    MUST(EVP_EncryptInit_ex2(single, NULL, m.key, m.iv[1], NULL) && EVP_CIPHER_CTX_set_padding(single, 0));
    MUST(EVP_EncryptUpdate(single, m.sealed[1], &written, zeros, 16));
    EVP_CIPHER_CTX_free(single);
    m.sealed_bytes[1] = 16;
    MUST(begin(ctx, mode, 0, 3, 1));
    pass(ctx, m.sealed, m.sealed_bytes, 3);
    MUST(!finish(ctx, 3) && m.written[1] == 0);
    for (size_t i = 0; i < 3; i += 2) MUST(m.given[i] == m.bytes[i] && memcmp(m.out[i], m.plain[i], m.given[i]) == 0);
    /* Without a whole last block, nothing is decrypted. */
    m.sealed_bytes[1] = 15;
    MUST(begin(ctx, mode, 0, 3, 1));
    pass(ctx, m.sealed, m.sealed_bytes, 3);
    MUST(!finish(ctx, 3));
    MUST(EVP_CIPHER_CTX_set_padding(ctx, 0));
    m.bytes[1] = 15;
    m.bytes[0] = m.bytes[2] = 16;
    MUST(begin(ctx, mode, 1, 3, 1));
    pass(ctx, m.plain, m.bytes, 3);
    MUST(!finish(ctx, 3));
    EVP_CIPHER_CTX_free(ctx);
}

static void invalid_calls_fail_and_write_nothing(const struct mode *mode) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb");
    draw(mode, 4, 100, 1);
    m.bytes[2] = 48;
    MUST(!begin(ctx, mode, 1, 4, 0)); /* There is no key. */
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 0, m.ivs, 16));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, COUNT + 1, m.ivs, 16));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes - 1, 4, m.ivs, 16));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 4, m.ivs, 12));
    for (int i = 0; i < 4; i++) m.inputs[i] = m.plain[i];
    next_outputs(4);
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    MUST(EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 4, NULL, 0));
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes)); /* There are no IVs. */
    MUST(begin(ctx, mode, 1, 4, 0));
    m.rooms[2] = 47;
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    m.rooms[2] = BYTES;
    m.inputs[2] = NULL;
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    m.inputs[2] = m.plain[2];
    m.outputs[2] = NULL;
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    MUST(!EVP_CipherPipelineUpdate(ctx, NULL, m.written, m.rooms, m.inputs, m.bytes)); /* There is no additional data. */
    for (size_t i = 0; i < sizeof m.out; i++) MUST(((unsigned char *)m.out)[i] == 0x55);
    next_outputs(4);
    MUST(EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    add_written(4);
    next_outputs(4);
    if (!mode->is_ctr) {
        m.rooms[1] = 15;
        MUST(!EVP_CipherPipelineFinal(ctx, m.outputs, m.written, m.rooms));
    }
    MUST(finish(ctx, 4)); /* After these errors, the call can be repeated. */
    MUST(memcmp(m.out[3], m.sealed[3], m.sealed_bytes[3]) == 0);
    m.ivs[1] = NULL;
    MUST(!begin(ctx, mode, 1, 4, 1));
    MUST(!EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    EVP_CIPHER_CTX_free(ctx);
}

static void a_copied_context_continues_the_messages(const struct mode *mode) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb"), *copy = EVP_CIPHER_CTX_new();
    draw(mode, 5, 300, 1);
    MUST(begin(ctx, mode, 1, 5, 1));
    MUST(piece(ctx, m.plain, m.bytes, 5, 0));
    MUST(EVP_CIPHER_CTX_copy(copy, ctx));
    EVP_CIPHER_CTX *both[] = {ctx, copy};
    size_t taken[COUNT], given[COUNT];
    memcpy(taken, m.taken, sizeof taken);
    memcpy(given, m.given, sizeof given);
    for (int c = 0; c < 2; c++) {
        memcpy(m.taken, taken, sizeof taken);
        memcpy(m.given, given, sizeof given);
        MUST(piece(both[c], m.plain, m.bytes, 5, 1) && finish(both[c], 5));
        for (int i = 0; i < 5; i++) MUST(m.given[i] == m.sealed_bytes[i] && memcmp(m.out[i], m.sealed[i], m.given[i]) == 0);
    }
    EVP_CIPHER_CTX_free(copy);
    EVP_CIPHER_CTX_free(ctx);
}

int main(int argc, char **argv) {
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : (unsigned long long)time(NULL);
    printf("OpenSSL %s; seed %llu\n", OpenSSL_version(OPENSSL_VERSION_STRING), state);
    MUST(OSSL_PROVIDER_load(NULL, "sealcomb") != NULL && OSSL_PROVIDER_load(NULL, "default") != NULL);
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        const struct mode *mode = &MODES[i];
        EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb");
        invalid_calls_fail_and_write_nothing(mode);
        a_copied_context_continues_the_messages(mode);
        if (!mode->is_ctr) wrong_padding_fails_and_the_other_messages_are_decrypted(mode);
        for (size_t round = 0; round < rounds; round++) {
            size_t count = below(COUNT) + 1;
            int pads = below(3) > 0;
            draw(mode, count, below(2) ? 80 : BYTES - 100, pads);
            a_pipeline_encrypts_and_decrypts_like_single_calls(ctx, mode, count, pads);
        }
        EVP_CIPHER_CTX_free(ctx);
    }
    printf("pipelines of CBC and CTR: %zu rounds for each of %zu modes passed\n", rounds, sizeof MODES / sizeof MODES[0]);
    return 0;
}
