/* Measures the cost of a message in pipelines of this provider, compared with a loop of single messages with
 * OpenSSL's default provider: new IVs, 12 bytes of additional data, the message in place, the end and the tag, under one key;
 * for CBC and CTR, the message and the end. Reports the minimum of 41 short, interleaved rounds, so that other processes disturb few of them. Fails if a
 * pipeline of GCM is less than 2.5 times as fast at 64 bytes, or 1.4 times at 1400 bytes.
 *
 * usage: pipeline-speed (OPENSSL_MODULES names the folder with the provider; requires OpenSSL 3.5)
 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 41, COUNT = 32, POOL = 64 * COUNT, MAX_BYTES = 16384, AAD = 12, TAG = 16, IV = 12 };

static unsigned char key[32], pool[POOL][16], (*ivs)[16] = pool, aads[COUNT][AAD], data[COUNT][MAX_BYTES + 64], tags[COUNT][TAG];

static EVP_CIPHER *gcm_siv;

static int is_aead(EVP_CIPHER_CTX *ctx) {
    return (EVP_CIPHER_get_flags(EVP_CIPHER_CTX_get0_cipher(ctx)) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void must(int succeeded) {
    if (!succeeded) {
        fprintf(stderr, "an EVP call failed\n");
        exit(1);
    }
}

static EVP_CIPHER_CTX *context(const char *name, const char *provider) {
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, provider);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    must(cipher != NULL && EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL));
    int mode = EVP_CIPHER_get_mode(cipher);
    if (is_aead(ctx) && mode != EVP_CIPH_GCM_SIV_MODE) must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, IV, NULL));
    if (mode == EVP_CIPH_CCM_MODE || mode == EVP_CIPH_OCB_MODE) must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, NULL));
    EVP_CIPHER_free(cipher);
    return ctx;
}

/* Takes the next IVs of a pool. */
static void renew(void) { ivs = ivs + COUNT < pool + POOL ? ivs + COUNT : pool; }

static void single(EVP_CIPHER_CTX *ctx, size_t bytes) {
    int written, last, mode = EVP_CIPHER_CTX_get_mode(ctx), seals = is_aead(ctx);
    for (size_t i = 0; i < COUNT; i++) {
        /* OpenSSL 4.0.3's GCM-SIV keeps the additional data of previous messages unless the context is reset. */
        if (mode == EVP_CIPH_GCM_SIV_MODE) must(EVP_EncryptInit_ex2(ctx, gcm_siv, key, ivs[i], NULL));
        else must(EVP_EncryptInit_ex2(ctx, NULL, NULL, ivs[i], NULL));
        if (mode == EVP_CIPH_CCM_MODE) must(EVP_EncryptUpdate(ctx, NULL, &written, NULL, (int)bytes));
        if (seals) must(EVP_EncryptUpdate(ctx, NULL, &written, aads[i], AAD));
        must(EVP_EncryptUpdate(ctx, data[i], &written, data[i], (int)bytes) && EVP_EncryptFinal_ex(ctx, data[i] + written, &last));
        must((size_t)(written + last) >= bytes);
        if (seals) must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, tags[i]));
    }
}

static void pipeline(EVP_CIPHER_CTX *ctx, size_t bytes, size_t count) {
    const unsigned char *iv[COUNT], *aad[COUNT], *in[COUNT];
    unsigned char *out[COUNT], *tag[COUNT], **array = tag;
    size_t sizes[COUNT], rooms[COUNT], aad_sizes[COUNT], written[COUNT], seals = (size_t)is_aead(ctx);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_PIPELINE_AEAD_TAG, (void **)&array, TAG),
                           OSSL_PARAM_construct_end()};
    for (size_t at = 0; at < COUNT; at += count) {
        for (size_t i = 0; i < count; i++) {
            iv[i] = ivs[at + i];
            aad[i] = aads[at + i];
            in[i] = out[i] = data[at + i];
            tag[i] = tags[at + i];
            sizes[i] = bytes;
            rooms[i] = bytes;
            aad_sizes[i] = AAD;
        }
        must(EVP_CipherPipelineEncryptInit(ctx, NULL, NULL, 0, count, iv, seals ? IV : 16));
        if (seals) must(EVP_CipherPipelineUpdate(ctx, NULL, written, rooms, aad, aad_sizes));
        must(EVP_CipherPipelineUpdate(ctx, out, written, rooms, in, sizes));
        for (size_t i = 0; !seals && i < count; i++) {
            /* The padding. */
            out[i] += written[i];
            rooms[i] = 16;
        }
        must(EVP_CipherPipelineFinal(ctx, out, written, rooms));
        if (seals) must(EVP_CIPHER_CTX_get_params(ctx, params));
    }
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const char *const names[] = {"AES-128-GCM", "AES-256-GCM", "AES-128-CCM", "AES-128-OCB", "AES-128-GCM-SIV",
                                        "AES-128-CBC", "AES-128-CTR"};
    static const size_t sizes[] = {64, 256, 1400, 4096, MAX_BYTES}, counts[] = {8, 32};
    int slow = 0;
    must(OSSL_PROVIDER_load(NULL, "sealcomb") != NULL && OSSL_PROVIDER_load(NULL, "default") != NULL);
    gcm_siv = EVP_CIPHER_fetch(NULL, "AES-128-GCM-SIV", "provider=default");
    for (size_t i = 0; i < POOL; i++) memcpy(pool[i], &i, sizeof i);
    printf("nanoseconds per message, OpenSSL %s\n%16s %6s %9s %9s %9s %6s\n", OpenSSL_version(OPENSSL_VERSION_STRING), "", "bytes",
           "OpenSSL", "8 a call", "32 a call", "ratio");
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        EVP_CIPHER_CTX *ours = context(names[n], "provider=sealcomb"), *theirs = context(names[n], "provider=default");
        must(EVP_EncryptInit_ex2(theirs, NULL, key, ivs[0], NULL));
        must(EVP_CipherPipelineEncryptInit(ours, NULL, key, (size_t)EVP_CIPHER_CTX_get_key_length(ours), 1, NULL, 0));
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            double best[3] = {1e18, 1e18, 1e18};
            for (int round = 0; round < 3 * ROUNDS; round++) {
                size_t bytes = sizes[s], repeat = 4 + 4000 / bytes;
                double start = now();
                for (size_t i = 0; i < repeat; i++) {
                    renew();
                    if (round % 3 == 0) single(theirs, bytes);
                    else pipeline(ours, bytes, counts[round % 3 - 1]);
                }
                double took = (now() - start) / (double)(repeat * COUNT);
                if (took < best[round % 3]) best[round % 3] = took;
            }
            double ratio = best[0] / best[2];
            printf("%16s %6zu %9.0f %9.0f %9.0f %6.1f\n", names[n], sizes[s], best[0], best[1], best[2], ratio);
            if (n < 2) slow |= (sizes[s] == 64 && ratio < 2.5) || (sizes[s] == 1400 && ratio < 1.4);
        }
        EVP_CIPHER_CTX_free(ours);
        EVP_CIPHER_CTX_free(theirs);
    }
    EVP_CIPHER_free(gcm_siv);
    if (slow) printf("GCM is slower than required: 2.5 times as fast as OpenSSL at 64 bytes, 1.4 times at 1400\n");
    return slow;
}
