/* Measures the cost of a message through EVP, with this provider and with OpenSSL's: a new IV, 12 bytes of
 * additional data, the message in one call, the end and the tag, under one key. Reports the minimum of 91 short,
 * interleaved rounds, so that other processes disturb few of them.
 *
 * `openssl speed` instead passes many pieces of one endless message, which few programs do.
 */
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 91, MAX_BYTES = 16384 };

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
    static unsigned char key[32], iv[12];
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, provider);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    must(cipher != NULL && EVP_EncryptInit_ex2(ctx, cipher, NULL, NULL, NULL));
    must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL));
    if (EVP_CIPHER_get_mode(cipher) != EVP_CIPH_GCM_MODE) must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, NULL));
    must(EVP_EncryptInit_ex2(ctx, NULL, key, iv, NULL));
    EVP_CIPHER_free(cipher);
    return ctx;
}

/* Returns the nanoseconds per message. */
static double round_of(EVP_CIPHER_CTX *ctx, int bytes) {
    static unsigned char data[MAX_BYTES + 16], iv[12], tag[16];
    int written, last, messages = 50 + 50000 / bytes, ccm = EVP_CIPHER_CTX_get_mode(ctx) == EVP_CIPH_CCM_MODE;
    double start = now();
    for (int i = 0; i < messages; i++) {
        iv[i % 8]++;
        must(EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL));
        if (ccm) must(EVP_EncryptUpdate(ctx, NULL, &written, NULL, bytes));
        must(EVP_EncryptUpdate(ctx, NULL, &written, iv, 12) && EVP_EncryptUpdate(ctx, data, &written, data, bytes));
        must(EVP_EncryptFinal_ex(ctx, data + written, &last) && written + last == bytes);
        must(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag));
    }
    return (now() - start) / messages;
}

int main(void) {
    static const char *const names[] = {"AES-128-GCM", "AES-128-CCM", "AES-128-OCB"};
    static const int sizes[] = {16, 64, 256, 1024, 8192, MAX_BYTES};
    must(OSSL_PROVIDER_load(NULL, "sealcomb") != NULL && OSSL_PROVIDER_load(NULL, "default") != NULL);
    printf("nanoseconds per message, OpenSSL %s\n%12s %6s %9s %9s\n", OpenSSL_version(OPENSSL_VERSION_STRING), "", "bytes", "sealcomb",
           "OpenSSL");
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        EVP_CIPHER_CTX *ours = context(names[n], "provider=sealcomb"), *theirs = context(names[n], "provider=default");
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            double best[2] = {1e18, 1e18};
            for (int round = 0; round < 2 * ROUNDS; round++) {
                double took = round_of(round % 2 ? theirs : ours, sizes[s]);
                if (took < best[round % 2]) best[round % 2] = took;
            }
            printf("%12s %6d %9.0f %9.0f\n", names[n], sizes[s], best[0], best[1]);
        }
        EVP_CIPHER_CTX_free(ours);
        EVP_CIPHER_CTX_free(theirs);
    }
    return 0;
}
