/* Compares pipelines of this provider with single messages of OpenSSL's default provider, with random counts, sizes,
 * additional data and layouts; forges messages; and makes invalid calls in every order.
 *
 * usage: pipelines [ROUNDS [SEED]] (OPENSSL_MODULES names the folder with the provider; requires OpenSSL 3.5)
 */
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 128, BYTES = 2100, AAD = 48, TAG = 16 };

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
    unsigned char key[32], iv[COUNT][16], aad[COUNT][AAD], plain[COUNT][BYTES], sealed[COUNT][BYTES], tag[COUNT][TAG];
    unsigned char in[COUNT][BYTES], out[COUNT][BYTES], computed[COUNT][TAG];
    size_t bytes[COUNT], aad_bytes[COUNT], written[COUNT], rooms[COUNT];
    const unsigned char *ivs[COUNT], *inputs[COUNT], *aads[COUNT];
    unsigned char *outputs[COUNT], *tags[COUNT], *computed_tags[COUNT];
} m;

typedef struct {
    const char *name;
    size_t key_bytes, iv_bytes, tag_bytes;
} mode;

static const mode MODES[] = {
    {"AES-128-GCM", 16, 12, 16},     {"AES-192-GCM", 24, 12, 16}, {"AES-256-GCM", 32, 16, 16},    {"AES-128-GCM", 16, 1, 16},
    {"AES-128-CCM", 16, 12, 16},     {"AES-256-CCM", 32, 13, 8},  {"AES-128-CCM", 16, 7, 4},      {"AES-128-OCB", 16, 12, 16},
    {"AES-256-OCB", 32, 15, 12},     {"AES-192-OCB", 24, 1, 8},   {"AES-128-GCM-SIV", 16, 12, 16}, {"AES-256-GCM-SIV", 32, 12, 16},
};

/* Returns a context in which the tag size is set, if the mode has several. */
static EVP_CIPHER_CTX *context(const mode *mode, const char *provider) {
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, mode->name, provider);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int number = EVP_CIPHER_get_mode(cipher);
    MUST(cipher != NULL && EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, 1, NULL));
    if (number == EVP_CIPH_CCM_MODE || number == EVP_CIPH_OCB_MODE)
        MUST(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)mode->tag_bytes, NULL));
    EVP_CIPHER_free(cipher);
    return ctx;
}

/* Seals message `i` with OpenSSL's default provider. Each message has its own context, because OpenSSL 4.0.3's
 * GCM-SIV adds the additional data of the previous messages of a context to the next one. */
static void seal_single(const mode *mode, size_t i) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=default");
    int written, last, number = EVP_CIPHER_CTX_get_mode(ctx), bytes = (int)m.bytes[i];
    if (number != EVP_CIPH_GCM_SIV_MODE) MUST(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)mode->iv_bytes, NULL));
    MUST(EVP_EncryptInit_ex2(ctx, NULL, m.key, m.iv[i], NULL));
    if (number == EVP_CIPH_CCM_MODE) MUST(EVP_EncryptUpdate(ctx, NULL, &written, NULL, bytes));
    if (m.aad_bytes[i] > 0) MUST(EVP_EncryptUpdate(ctx, NULL, &written, m.aad[i], (int)m.aad_bytes[i]));
    written = 0;
    if (bytes > 0 || number == EVP_CIPH_CCM_MODE) MUST(EVP_EncryptUpdate(ctx, m.sealed[i], &written, m.plain[i], bytes));
    MUST(EVP_EncryptFinal_ex(ctx, m.sealed[i] + written, &last) && written + last == bytes);
    MUST(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, (int)mode->tag_bytes, m.tag[i]));
    EVP_CIPHER_CTX_free(ctx);
}

/* Draws messages of up to `limit` bytes, and seals them one by one. */
static void draw(const mode *mode, size_t count, size_t limit) {
    fill(m.key, sizeof m.key);
    for (size_t i = 0; i < count; i++) {
        m.bytes[i] = below(5) == 0 ? 0 : below(limit + 1);
        m.aad_bytes[i] = below(4) == 0 ? 0 : below(AAD + 1);
        fill(m.iv[i], mode->iv_bytes);
        fill(m.aad[i], m.aad_bytes[i]);
        fill(m.plain[i], m.bytes[i]);
        m.ivs[i] = m.iv[i];
        m.aads[i] = m.aad[i];
        m.tags[i] = m.tag[i];
        m.computed_tags[i] = m.computed[i];
        m.rooms[i] = BYTES;
        seal_single(mode, i);
    }
}

/* Puts messages into the buffers of the next update: in place, partly overlapping or separate. */
static void lay_out(unsigned char (*source)[BYTES], size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t layout = below(4);
        unsigned char *input = layout == 0 ? m.out[i] : layout == 1 ? m.out[i] + below(BYTES - m.bytes[i] + 1) : m.in[i];
        memset(m.out[i], 0x55, BYTES);
        memcpy(input, source[i], m.bytes[i]);
        m.inputs[i] = input;
        m.outputs[i] = m.out[i];
    }
}

static OSSL_PARAM *tag_param(unsigned char **array, size_t bytes) {
    static OSSL_PARAM params[2];
    static unsigned char **kept;
    kept = array;
    params[0] = OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_PIPELINE_AEAD_TAG, (void **)&kept, bytes);
    params[1] = OSSL_PARAM_construct_end();
    return params;
}

static int init(EVP_CIPHER_CTX *ctx, const mode *mode, int encrypts, size_t count) {
    return (encrypts ? EVP_CipherPipelineEncryptInit : EVP_CipherPipelineDecryptInit)(ctx, NULL, m.key, mode->key_bytes, count,
                                                                                      m.ivs, mode->iv_bytes);
}

/* Passes the additional data in up to three pieces. There are no outputs, which may have sizes or not. */
static void pass_aads(EVP_CIPHER_CTX *ctx, size_t count) {
    size_t pieces = below(3) + 1, part[COUNT], done[COUNT] = {0};
    const unsigned char *from[COUNT];
    for (size_t p = 0; p < pieces; p++) {
        for (size_t i = 0; i < count; i++) {
            part[i] = p + 1 == pieces ? m.aad_bytes[i] - done[i] : below(m.aad_bytes[i] - done[i] + 1);
            from[i] = part[i] == 0 && below(2) ? NULL : m.aad[i] + done[i];
            done[i] += part[i];
        }
        MUST(EVP_CipherPipelineUpdate(ctx, NULL, m.written, below(2) ? NULL : m.rooms, from, part));
        for (size_t i = 0; i < count; i++) MUST(m.written[i] == part[i]);
    }
}

static int update(EVP_CIPHER_CTX *ctx) {
    return EVP_CipherPipelineUpdate(ctx, m.outputs, m.written, m.rooms, m.inputs, m.bytes);
}

static int finish(EVP_CIPHER_CTX *ctx) { return EVP_CipherPipelineFinal(ctx, m.outputs, m.written, m.rooms); }

static int is_filled(const unsigned char *data, unsigned char value, size_t bytes) {
    while (bytes > 0 && *data == value) data++, bytes--;
    return bytes == 0;
}

static void a_pipeline_seals_what_single_calls_seal(EVP_CIPHER_CTX *ctx, const mode *mode, size_t count) {
    lay_out(m.plain, count);
    MUST(init(ctx, mode, 1, count));
    pass_aads(ctx, count);
    MUST(update(ctx));
    for (size_t i = 0; i < count; i++) {
        MUST(m.written[i] == m.bytes[i] && memcmp(m.out[i], m.sealed[i], m.bytes[i]) == 0);
        if (m.inputs[i] == m.out[i] || m.inputs[i] == m.in[i]) MUST(is_filled(m.out[i] + m.bytes[i], 0x55, BYTES - m.bytes[i]));
    }
    MUST(finish(ctx) && m.written[count - 1] == 0);
    MUST(EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes)));
    for (size_t i = 0; i < count; i++) MUST(memcmp(m.computed[i], m.tag[i], mode->tag_bytes) == 0);
    MUST(!update(ctx) && !finish(ctx)); /* The IVs are used. */
}

/* Forges message `forged`, unless it is `count`. */
static void a_forged_message_is_zeroed_and_the_others_are_opened(EVP_CIPHER_CTX *ctx, const mode *mode, size_t count, size_t forged) {
    unsigned char verdicts[COUNT], *spoiled = NULL, bit = (unsigned char)(1 << below(8));
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string("sealcomb-pipeline-verdicts", verdicts, sizeof verdicts), OSSL_PARAM_construct_end()};
    if (forged < count) {
        size_t what = below(3);
        spoiled = what == 0 && m.bytes[forged] > 0       ? &m.sealed[forged][below(m.bytes[forged])]
                  : what == 1 && m.aad_bytes[forged] > 0 ? &m.aad[forged][below(m.aad_bytes[forged])]
                                                         : &m.tag[forged][below(mode->tag_bytes)];
        *spoiled ^= bit;
    }
    lay_out(m.sealed, count);
    MUST(init(ctx, mode, 0, count));
    MUST(EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, mode->tag_bytes)));
    pass_aads(ctx, count);
    int whole = below(8) > 0;
    for (size_t i = 0; i < count; i++) whole |= m.bytes[i] > 0;
    if (whole) MUST(update(ctx)); /* Without it, the end verifies empty messages. */
    for (size_t i = 0; whole && i < count; i++) {
        MUST(m.written[i] == (i == forged ? 0 : m.bytes[i]));
        if (i == forged) MUST(is_filled(m.out[i], 0, m.bytes[i]));
        else MUST(memcmp(m.out[i], m.plain[i], m.bytes[i]) == 0);
    }
    MUST(finish(ctx) == (forged == count));
    MUST(EVP_CIPHER_CTX_get_params(ctx, params) && params[0].return_size == count);
    for (size_t i = 0; i < count; i++) MUST(verdicts[i] == (i != forged));
    MUST(!EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes)));
    MUST(!update(ctx) && !finish(ctx));
    if (spoiled != NULL) *spoiled ^= bit;
}

static void calls_out_of_order_fail(const mode *mode) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb");
    draw(mode, 3, 100);
    lay_out(m.plain, 3);
    MUST(!update(ctx) && !finish(ctx));
    MUST(!EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes)));
    MUST(!EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, mode->tag_bytes)));
    MUST(init(ctx, mode, 1, 3));
    MUST(!EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes))); /* Before the message. */
    MUST(!EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, mode->tag_bytes)));          /* When encrypting. */
    pass_aads(ctx, 3);
    MUST(update(ctx));
    MUST(!EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes))); /* Before the end. */
    MUST(!update(ctx));                                                                 /* A second piece. */
    MUST(!EVP_CipherPipelineUpdate(ctx, NULL, m.written, m.rooms, m.aads, m.aad_bytes)); /* Too late. */
    MUST(finish(ctx) && !finish(ctx));
    MUST(!EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes + 1)));
    MUST(!EVP_CIPHER_CTX_get_params(ctx, tag_param(NULL, mode->tag_bytes)));
    MUST(EVP_CIPHER_CTX_get_params(ctx, tag_param(m.computed_tags, mode->tag_bytes)));

    lay_out(m.sealed, 3);
    MUST(init(ctx, mode, 0, 3) && !update(ctx) && !finish(ctx)); /* Without tags. */
    MUST(is_filled(m.out[0] + m.bytes[0], 0x55, 1) || m.inputs[0] != m.out[0]);
    MUST(!EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, 0)));
    MUST(!EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, 17)));
    MUST(!EVP_CIPHER_CTX_set_params(ctx, tag_param(NULL, mode->tag_bytes)));
    EVP_CIPHER_CTX_free(ctx);
}

static void invalid_sizes_fail_and_write_nothing(const mode *mode) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb");
    draw(mode, 4, 100);
    m.bytes[2] = 50;
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 0, m.ivs, mode->iv_bytes));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, EVP_MAX_PIPES + 1, m.ivs, mode->iv_bytes));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes - 1, 4, m.ivs, mode->iv_bytes));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 4, m.ivs, 0));
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 4, m.ivs, 17));
    MUST(!update(ctx));
    MUST(init(ctx, mode, 1, 4));
    for (int i = 0; i < 4; i++) m.inputs[i] = m.plain[i], m.outputs[i] = m.out[i];
    memset(m.out, 0x55, sizeof m.out);
    m.rooms[2] = 49;
    MUST(!update(ctx) && is_filled(m.out[0], 0x55, sizeof m.out));
    m.rooms[2] = 50;
    m.inputs[2] = NULL;
    MUST(!update(ctx) && is_filled(m.out[0], 0x55, sizeof m.out));
    m.inputs[2] = m.plain[2];
    m.outputs[2] = NULL;
    MUST(!update(ctx) && is_filled(m.out[0], 0x55, sizeof m.out));
    m.outputs[2] = m.out[2];
    MUST(update(ctx) && finish(ctx)); /* After these errors, the call can be repeated. */
    m.ivs[1] = NULL;
    MUST(!init(ctx, mode, 1, 4) && !update(ctx));
    m.ivs[1] = m.iv[1];
    EVP_CIPHER_CTX_free(ctx);
}

/* A message under an IV of 13 bytes has less than 2^16 bytes. */
static void messages_beyond_the_limit_of_ccm_fail_and_write_nothing(void) {
    static unsigned char input[1 << 16], output[1 << 16];
    const mode *ccm = &MODES[5];
    EVP_CIPHER_CTX *ctx = context(ccm, "provider=sealcomb");
    MUST(EVP_CIPHER_CTX_get_mode(ctx) == EVP_CIPH_CCM_MODE && ccm->iv_bytes == 13);
    for (int encrypts = 1; encrypts >= 0; encrypts--) {
        draw(ccm, 2, 100);
        m.bytes[0] = 50;
        m.inputs[0] = m.plain[0];
        m.outputs[0] = m.out[0];
        m.bytes[1] = m.rooms[1] = sizeof input;
        m.inputs[1] = input;
        m.outputs[1] = output;
        memset(m.out, 0x55, sizeof m.out);
        memset(output, 0x55, sizeof output);
        MUST(init(ctx, ccm, encrypts, 2));
        if (!encrypts) MUST(EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, ccm->tag_bytes)));
        MUST(!update(ctx) && is_filled(m.out[0], 0x55, sizeof m.out) && is_filled(output, 0x55, sizeof output));
        m.bytes[1]--;
        MUST(update(ctx) && finish(ctx) == encrypts); /* The longest message, which is forged when decrypting. */
    }
    EVP_CIPHER_CTX_free(ctx);
}

static void a_context_is_reused_with_its_key_and_copied(const mode *mode) {
    EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb"), *copy = EVP_CIPHER_CTX_new();
    draw(mode, 5, 300);
    MUST(!EVP_CipherPipelineEncryptInit(ctx, NULL, NULL, 0, 5, m.ivs, mode->iv_bytes)); /* There is no key. */
    MUST(EVP_CipherPipelineEncryptInit(ctx, NULL, m.key, mode->key_bytes, 5, NULL, 0));
    lay_out(m.plain, 5);
    MUST(!update(ctx)); /* There are no IVs. */
    for (int encrypts = 1; encrypts >= 0; encrypts--) {
        MUST((encrypts ? EVP_CipherPipelineEncryptInit : EVP_CipherPipelineDecryptInit)(ctx, NULL, NULL, 0, 5, m.ivs, mode->iv_bytes));
        if (!encrypts) MUST(EVP_CIPHER_CTX_set_params(ctx, tag_param(m.tags, mode->tag_bytes)));
        pass_aads(ctx, 5);
        MUST(EVP_CIPHER_CTX_copy(copy, ctx));
        EVP_CIPHER_CTX *both[] = {ctx, copy};
        for (int i = 0; i < 2; i++) {
            lay_out(encrypts ? m.plain : m.sealed, 5);
            MUST(update(both[i]));
            MUST(memcmp(m.out[4], encrypts ? m.sealed[4] : m.plain[4], m.bytes[4]) == 0);
            MUST(finish(both[i]));
        }
    }
    /* Single messages do not disturb the pipeline, and have no IV from it. */
    int written;
    MUST(EVP_CipherPipelineEncryptInit(ctx, NULL, NULL, 0, 5, m.ivs, mode->iv_bytes));
    MUST(!EVP_CipherUpdate(ctx, m.in[0], &written, m.plain[0], 16));
    pass_aads(ctx, 5);
    lay_out(m.plain, 5);
    MUST(update(ctx) && memcmp(m.out[4], m.sealed[4], m.bytes[4]) == 0);
    EVP_CIPHER_CTX_free(copy);
    EVP_CIPHER_CTX_free(ctx);
}

/* Returns a function of AES-128-GCM from the loaded provider's table. */
static void *function(int number) {
    typedef int provider_init(const OSSL_CORE_HANDLE *, const OSSL_DISPATCH *, const OSSL_DISPATCH **, void **);
    char path[4096];
    snprintf(path, sizeof path, "%s/sealcomb.so", getenv("OPENSSL_MODULES"));
    void *library = dlopen(path, RTLD_NOW), *provider;
    provider_init *start = library == NULL ? NULL : (provider_init *)dlsym(library, "OSSL_provider_init");
    const OSSL_DISPATCH *table;
    int no_cache;
    MUST(start != NULL && start(NULL, NULL, &table, &provider));
    while (table->function_id != OSSL_FUNC_PROVIDER_QUERY_OPERATION) table++;
    const OSSL_ALGORITHM *algorithm = OSSL_FUNC_provider_query_operation(table)(provider, OSSL_OP_CIPHER, &no_cache);
    while (strncmp(algorithm->algorithm_names, "AES-128-GCM:", 12) != 0) algorithm++;
    for (table = algorithm->implementation; table->function_id != number; table++) MUST(table->function_id != 0);
    return (void *)table->function;
}

/* OpenSSL 4.0 passes at most 32 messages, and the count of the last init even if it has failed. */
static void the_provider_takes_128_messages_and_no_other_count_than_that_of_the_ivs(void) {
    const mode *gcm = &MODES[0];
    void *ctx = ((OSSL_FUNC_cipher_newctx_fn *)function(OSSL_FUNC_CIPHER_NEWCTX))(NULL);
    OSSL_FUNC_cipher_pipeline_encrypt_init_fn *begin =
        (OSSL_FUNC_cipher_pipeline_encrypt_init_fn *)function(OSSL_FUNC_CIPHER_PIPELINE_ENCRYPT_INIT);
    OSSL_FUNC_cipher_pipeline_update_fn *pass = (OSSL_FUNC_cipher_pipeline_update_fn *)function(OSSL_FUNC_CIPHER_PIPELINE_UPDATE);
    OSSL_FUNC_cipher_pipeline_final_fn *end = (OSSL_FUNC_cipher_pipeline_final_fn *)function(OSSL_FUNC_CIPHER_PIPELINE_FINAL);
    draw(gcm, COUNT, BYTES);
    lay_out(m.plain, COUNT);
    MUST(!begin(ctx, m.key, 16, COUNT + 1, m.ivs, 12, NULL));
    MUST(!begin(ctx, m.key, 16, SIZE_MAX, m.ivs, 12, NULL));
    MUST(begin(ctx, m.key, 16, COUNT, m.ivs, 12, NULL));
    MUST(!pass(ctx, COUNT - 1, m.outputs, m.written, m.rooms, m.inputs, m.bytes) && !end(ctx, COUNT - 1, m.outputs, m.written, m.rooms));
    MUST(!pass(ctx, COUNT + 1, NULL, m.written, m.rooms, m.aads, m.aad_bytes));
    MUST(pass(ctx, COUNT, NULL, m.written, m.rooms, m.aads, m.aad_bytes));
    MUST(pass(ctx, COUNT, m.outputs, m.written, m.rooms, m.inputs, m.bytes));
    for (size_t i = 0; i < COUNT; i++) MUST(m.written[i] == m.bytes[i] && memcmp(m.out[i], m.sealed[i], m.bytes[i]) == 0);
    MUST(end(ctx, COUNT, m.outputs, m.written, m.rooms));
    ((OSSL_FUNC_cipher_freectx_fn *)function(OSSL_FUNC_CIPHER_FREECTX))(ctx);
}

static void other_ciphers_have_no_pipelines(void) {
    EVP_CIPHER *xts = EVP_CIPHER_fetch(NULL, "AES-128-XTS", "provider=sealcomb");
    EVP_CIPHER *gcm = EVP_CIPHER_fetch(NULL, "AES-128-GCM", "provider=sealcomb");
    MUST(!EVP_CIPHER_can_pipeline(xts, 1) && EVP_CIPHER_can_pipeline(gcm, 0) && EVP_CIPHER_can_pipeline(gcm, 1));
    EVP_CIPHER_free(xts);
    EVP_CIPHER_free(gcm);
}

int main(int argc, char **argv) {
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : (unsigned long long)time(NULL);
    printf("OpenSSL %s; seed %llu\n", OpenSSL_version(OPENSSL_VERSION_STRING), state);
    MUST(OSSL_PROVIDER_load(NULL, "sealcomb") != NULL && OSSL_PROVIDER_load(NULL, "default") != NULL);
    other_ciphers_have_no_pipelines();
    the_provider_takes_128_messages_and_no_other_count_than_that_of_the_ivs();
    messages_beyond_the_limit_of_ccm_fail_and_write_nothing();
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        const mode *mode = &MODES[i];
        EVP_CIPHER_CTX *ctx = context(mode, "provider=sealcomb");
        calls_out_of_order_fail(mode);
        invalid_sizes_fail_and_write_nothing(mode);
        a_context_is_reused_with_its_key_and_copied(mode);
        for (size_t round = 0; round < rounds; round++) {
            size_t count = below(EVP_MAX_PIPES) + 1;
            draw(mode, count, below(2) ? 80 : BYTES);
            a_pipeline_seals_what_single_calls_seal(ctx, mode, count);
            a_forged_message_is_zeroed_and_the_others_are_opened(ctx, mode, count, below(count + 1));
        }
        EVP_CIPHER_CTX_free(ctx);
    }
    printf("pipelines: %zu rounds for each of %zu modes passed\n", rounds, sizeof MODES / sizeof MODES[0]);
    return 0;
}
