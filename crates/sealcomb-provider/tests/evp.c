/* Runs OpenSSL's test vectors (the data files of its evp_test) with the provider: AES-GCM, -CCM, -OCB, -SIV,
 * -GCM-SIV, -XTS and CMAC, in one piece and, for GCM and OCB, in pieces of several sizes. Prints how many vectors
 * passed, were skipped, and failed.
 *
 * First compares long messages in pieces with OpenSSL's default provider.
 *
 * usage: evp [COUNT FILE...] (OPENSSL_MODULES names the folder with the provider; fails unless COUNT vectors pass)
 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned char *data;
    size_t bytes;
    int given;
} field;

static struct {
    char cipher[64], mac[16], result[64], operation[16];
    field key, iv, aad[8], tag, plain, sealed, input, output;
    int aads;
} vector;

static size_t passed, skipped, failed;

static void free_field(field *f) {
    free(f->data);
    memset(f, 0, sizeof *f);
}

static void clear(void) {
    field *all[] = {&vector.key, &vector.iv, &vector.tag, &vector.plain, &vector.sealed, &vector.input, &vector.output};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free_field(all[i]);
    for (int i = 0; i < 8; i++) free_field(&vector.aad[i]);
    memset(&vector, 0, sizeof vector);
}

static void set(field *f, const char *value) {
    size_t length = strlen(value);
    f->given = 1;
    f->data = malloc(length + 1);
    if (value[0] == '"') {
        f->bytes = length - 2;
        memcpy(f->data, value + 1, f->bytes);
        return;
    }
    f->bytes = length / 2;
    for (size_t i = 0; i < f->bytes; i++) {
        unsigned byte;
        sscanf(value + 2 * i, "%2x", &byte);
        f->data[i] = (unsigned char)byte;
    }
}

/* Seals or opens in pieces of at most `piece` bytes. Returns whether all calls succeed with the expected results. */
static int run_cipher(const EVP_CIPHER *cipher, int encrypts, size_t piece, int in_place) {
    const field *in = encrypts ? &vector.plain : &vector.sealed, *expected = encrypts ? &vector.sealed : &vector.plain;
    int mode = EVP_CIPHER_get_mode(cipher), written, good = 0;
    unsigned char *out = malloc(in->bytes + 32), tag[16];
    const unsigned char *from = in->data;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (in_place) {
        memcpy(out, in->data, in->bytes);
        from = out;
    }
    if (!EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, encrypts, NULL)) goto end;
    if (vector.iv.bytes > 0 && mode != EVP_CIPH_SIV_MODE && mode != EVP_CIPH_XTS_MODE &&
        !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)vector.iv.bytes, NULL)) goto end;
    if ((mode == EVP_CIPH_CCM_MODE || mode == EVP_CIPH_OCB_MODE) &&
        !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)vector.tag.bytes, NULL)) goto end;
    if (!encrypts && mode != EVP_CIPH_XTS_MODE &&
        !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)vector.tag.bytes, vector.tag.data)) goto end;
    if (!EVP_CipherInit_ex2(ctx, NULL, vector.key.data, vector.iv.data, encrypts, NULL)) goto end;
    if (mode == EVP_CIPH_CCM_MODE && !EVP_CipherUpdate(ctx, NULL, &written, NULL, (int)in->bytes)) goto end;
    for (int i = 0; i < vector.aads; i++) {
        if (!EVP_CipherUpdate(ctx, NULL, &written, vector.aad[i].data, (int)vector.aad[i].bytes)) goto end;
    }
    size_t done = 0;
    for (size_t at = 0; at < in->bytes || (at == 0 && mode == EVP_CIPH_CCM_MODE);) {
        size_t count = in->bytes - at < piece ? in->bytes - at : piece;
        if (!EVP_CipherUpdate(ctx, out + done, &written, from + at, (int)count)) goto end;
        at += count;
        done += (size_t)written;
        /* OCB returns whole blocks, the others as many bytes as they get. */
        if (done != (mode == EVP_CIPH_OCB_MODE ? at / 16 * 16 : at)) goto end;
        if (count == 0) break;
    }
    if (!EVP_CipherFinal_ex(ctx, out + done, &written) || done + (size_t)written != in->bytes) goto end;
    if (in->bytes > 0 && memcmp(out, expected->data, in->bytes) != 0) goto end;
    if (encrypts && mode != EVP_CIPH_XTS_MODE && (!EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, (int)vector.tag.bytes, tag) ||
                     memcmp(tag, vector.tag.data, vector.tag.bytes) != 0)) goto end;
    good = 1;
end:
    EVP_CIPHER_CTX_free(ctx);
    free(out);
    return good;
}

static int check_cipher(void) {
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, vector.cipher, "provider=sealcomb");
    int mode = cipher == NULL ? 0 : EVP_CIPHER_get_mode(cipher), good = 1;
    if (cipher == NULL || (!vector.tag.given && mode != EVP_CIPH_XTS_MODE)) {
        EVP_CIPHER_free(cipher);
        return -1;
    }
    /* This provider refuses equal halves of a key for XTS in both directions, like OpenSSL's FIPS provider. */
    int equal = mode == EVP_CIPH_XTS_MODE && memcmp(vector.key.data, vector.key.data + vector.key.bytes / 2, vector.key.bytes / 2) == 0;
    int fails = vector.result[0] != '\0' || equal;
    int in_pieces = mode == EVP_CIPH_GCM_MODE || mode == EVP_CIPH_OCB_MODE;
    static const size_t pieces[] = {1 << 30, 1, 5, 16, 33};
    for (size_t i = 0; good == 1 && i < (in_pieces ? 5 : 1); i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            if (strcmp(vector.operation, "DECRYPT") != 0 && equal) good &= !run_cipher(cipher, 1, pieces[i], in_place);
            if (strcmp(vector.operation, "DECRYPT") != 0 && !fails) good &= run_cipher(cipher, 1, pieces[i], in_place);
            if (strcmp(vector.operation, "ENCRYPT") != 0) good &= run_cipher(cipher, 0, pieces[i], in_place) != fails;
        }
    }
    EVP_CIPHER_free(cipher);
    return good;
}

/* Compares a long message in random pieces, with additional data in between and copied contexts, with OpenSSL's
 * default provider. */
static int agrees(const char *name, int encrypts, size_t tag_bytes, unsigned *seed) {
    static unsigned char in[9000], out[2][9000 + 32], tag[2][16], key[32], iv[12];
    unsigned start = *seed;
    size_t bytes = 0;
    for (int ours = 0; ours < 2; ours++) {
        EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, ours ? "provider=sealcomb" : "provider=default");
        EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new(), *copy = EVP_CIPHER_CTX_new();
        int written, ocb = EVP_CIPHER_get_mode(cipher) == EVP_CIPH_OCB_MODE;
        size_t done = 0;
        unsigned number = start;
        for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(number += i * i);
        if (!EVP_CipherInit_ex2(ctx, cipher, NULL, NULL, encrypts, NULL)) return 0;
        if (ocb && !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, NULL)) return 0;
        if (!EVP_CipherInit_ex2(ctx, NULL, key, iv, encrypts, NULL)) return 0;
        if (!EVP_CipherUpdate(ctx, NULL, &written, in, (int)(start % 50))) return 0;
        for (size_t at = 0; at < sizeof in;) {
            number = number * 1103515245 + 12345;
            size_t count = number >> 8 & (number >> 30 ? 63 : 4095);
            if (count > sizeof in - at) count = sizeof in - at;
            if (!EVP_CipherUpdate(ctx, out[ours] + done, &written, in + at, (int)count)) return 0;
            at += count;
            done += (size_t)written;
            if (ocb && number >> 28 == 3 && !EVP_CipherUpdate(ctx, NULL, &written, in, 7)) return 0;
            if (number >> 28 == 5) {
                if (!EVP_CIPHER_CTX_copy(copy, ctx)) return 0;
                EVP_CIPHER_CTX *other = ctx;
                ctx = copy;
                copy = other;
                EVP_CIPHER_CTX_reset(copy);
            }
        }
        if (encrypts) {
            if (!EVP_CipherFinal_ex(ctx, out[ours] + done, &written)) return 0;
            if (!EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, (int)tag_bytes, tag[ours])) return 0;
        } else {
            /* An arbitrary tag, which must not verify. */
            EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)tag_bytes, in);
            if (EVP_CipherFinal_ex(ctx, out[ours] + done, &written)) return 0;
            written = 0;
        }
        done += (size_t)written;
        if (ours && done != bytes) return 0;
        bytes = done;
        *seed = number;
        EVP_CIPHER_CTX_free(ctx);
        EVP_CIPHER_CTX_free(copy);
        EVP_CIPHER_free(cipher);
    }
    return memcmp(out[0], out[1], bytes) == 0 && memcmp(tag[0], tag[1], tag_bytes) == 0;
}

/* Additional data after the start of the message is rejected, as the tag would not cover it. */
static int rejects_late_data(const char *name) {
    static unsigned char key[32], iv[12], data[16];
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, "provider=sealcomb");
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int written;
    int good = EVP_CipherInit_ex2(ctx, cipher, key, iv, 1, NULL) && EVP_CipherUpdate(ctx, data, &written, data, 16) &&
               !EVP_CipherUpdate(ctx, NULL, &written, data, 16);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return good;
}

/* OCB's tag size cannot change after the start of the message. */
static int rejects_new_tag_size(void) {
    static unsigned char key[16], iv[12], data[32];
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-OCB", "provider=sealcomb");
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int written;
    int good = EVP_CipherInit_ex2(ctx, cipher, key, iv, 0, NULL) && EVP_CipherUpdate(ctx, data, &written, data, 3) &&
               !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 12, data) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, data);
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return good;
}

/* GCM-SIV, which OpenSSL has since version 3.2: after a failed verification all calls fail until the next IV, and
 * no IV seals twice. */
static int keeps_states_of_gcm_siv(void) {
    static unsigned char key[16], iv[12], plain[40], sealed[40], out[40], tag[16], wrong[16];
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-GCM-SIV", "provider=sealcomb");
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n, good = 1;
    for (int bytes = 0; bytes <= 40; bytes += 40) {
        good = good && EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL) && EVP_EncryptUpdate(ctx, sealed, &n, plain, bytes) &&
               EVP_EncryptFinal_ex(ctx, out, &n) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag);
        /* Neither a second message under the IV, nor the previous tag for a message to open. */
        good = good && EVP_EncryptInit_ex2(ctx, NULL, key, NULL, NULL) && !EVP_EncryptUpdate(ctx, out, &n, plain, 40) &&
               !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, out);
        good = good && EVP_DecryptInit_ex2(ctx, NULL, NULL, iv, NULL) && EVP_DecryptUpdate(ctx, out, &n, sealed, bytes) == (bytes == 0) &&
               !EVP_DecryptFinal_ex(ctx, out, &n);
        /* The right tag after a failed verification. */
        good = good && EVP_DecryptInit_ex2(ctx, NULL, NULL, iv, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, wrong) &&
               EVP_DecryptUpdate(ctx, out, &n, sealed, bytes) == (bytes == 0) && !EVP_DecryptFinal_ex(ctx, out, &n) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) && !EVP_DecryptUpdate(ctx, out, &n, sealed, 40) &&
               !EVP_DecryptFinal_ex(ctx, out, &n);
        good = good && EVP_DecryptInit_ex2(ctx, NULL, NULL, iv, NULL) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) &&
               EVP_DecryptUpdate(ctx, out, &n, sealed, bytes) && EVP_DecryptFinal_ex(ctx, out + n, &n) && memcmp(out, plain, (size_t)bytes) == 0;
    }
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return good;
}

/* XTS: a data unit has at most 2^20 blocks, with either provider, and a longer one leaves the output unchanged. */
static int limits_data_units(const char *properties) {
    static unsigned char key[64], iv[16], data[(1 << 24) + 1];
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-XTS", properties);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n;
    key[0] = 1;
    memset(data, 0, sizeof data);
    int good = EVP_CipherInit_ex2(ctx, cipher, key, iv, 1, NULL) && !EVP_CipherUpdate(ctx, data, &n, data, sizeof data) &&
               data[0] == 0 && memcmp(data, data + 1, sizeof data - 1) == 0 &&
               EVP_CipherUpdate(ctx, data, &n, data, sizeof data - 1) && n == sizeof data - 1 && data[sizeof data - 1] == 0;
    good = good && EVP_CipherInit_ex2(ctx, NULL, key, NULL, 0, NULL) && EVP_CipherUpdate(ctx, data, &n, data, sizeof data - 1) &&
           data[0] == 0 && memcmp(data, data + 1, sizeof data - 1) == 0;
    EVP_CIPHER_CTX_free(ctx);
    EVP_CIPHER_free(cipher);
    return good;
}

static size_t check_pieces(void) {
    unsigned seed = 1;
    size_t count = 0;
    static const char *const names[] = {"AES-128-OCB", "AES-256-OCB", "AES-128-GCM", "AES-256-GCM"};
    for (int i = 0; i < 160; i++) {
        const char *name = names[i % 4];
        size_t tag_bytes = strstr(name, "OCB") == NULL || i % 8 < 4 ? 16 : 1 + (size_t)i / 8 % 16;
        if (!agrees(name, i % 3 > 0, tag_bytes, &seed)) {
            fprintf(stderr, "%s: message %d in pieces differs from OpenSSL\n", name, i);
            exit(1);
        }
        count++;
    }
    if (!rejects_late_data("AES-128-GCM") || !rejects_late_data("AES-128-GCM-SIV") || !rejects_late_data("AES-128-CCM")) {
        fprintf(stderr, "additional data after the start of the message is accepted\n");
        exit(1);
    }
    if (!keeps_states_of_gcm_siv()) {
        fprintf(stderr, "GCM-SIV continues after a failed verification or a used IV\n");
        exit(1);
    }
    if (!limits_data_units("provider=sealcomb") || !limits_data_units("provider=default")) {
        fprintf(stderr, "XTS: a data unit of over 2^20 blocks is accepted, or a shorter one rejected\n");
        exit(1);
    }
    if (!rejects_new_tag_size()) {
        fprintf(stderr, "OCB accepts another tag size within a message\n");
        exit(1);
    }
    return count;
}

static int check_mac(void) {
    if (strncmp(vector.cipher, "AES", 3) != 0 || vector.result[0] != '\0') return -1;
    EVP_MAC *mac = EVP_MAC_fetch(NULL, vector.mac, "provider=sealcomb");
    if (mac == NULL) return -1;
    int good = 1;
    for (size_t piece = 1; piece < 50 && good; piece += 7) {
        EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
        unsigned char tag[16];
        size_t written = 0;
        OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, vector.cipher, 0), OSSL_PARAM_construct_end()};
        good = EVP_MAC_init(ctx, vector.key.data, vector.key.bytes, params);
        for (size_t at = 0; at < vector.input.bytes; at += piece) {
            size_t count = vector.input.bytes - at < piece ? vector.input.bytes - at : piece;
            good = good && EVP_MAC_update(ctx, vector.input.data + at, count);
        }
        good = good && EVP_MAC_final(ctx, tag, &written, sizeof tag) && written == vector.output.bytes &&
               memcmp(tag, vector.output.data, written) == 0;
        EVP_MAC_CTX_free(ctx);
    }
    EVP_MAC_free(mac);
    return good;
}

static void check(const char *file, int line) {
    int result = -1;
    if (strcmp(vector.mac, "CMAC") == 0) result = check_mac();
    else if (vector.mac[0] == '\0' && vector.cipher[0] != '\0') result = check_cipher();
    if (result == 0) fprintf(stderr, "%s, before line %d: %s failed\n", file, line, vector.cipher);
    passed += result == 1;
    failed += result == 0;
    skipped += result == -1 && (vector.tag.given || strcmp(vector.mac, "CMAC") == 0);
    clear();
}

int main(int count, char **names) {
    static char text[1 << 20];
    if (OSSL_PROVIDER_load(NULL, "sealcomb") == NULL || OSSL_PROVIDER_load(NULL, "default") == NULL) {
        fprintf(stderr, "cannot load the providers; OPENSSL_MODULES must name the folder with sealcomb.so\n");
        return 1;
    }
    printf("%zu long messages in pieces agree with OpenSSL\n", check_pieces());
    for (int i = 2; i < count; i++) {
        FILE *file = fopen(names[i], "r");
        if (file == NULL) {
            perror(names[i]);
            return 1;
        }
        for (int line = 1; fgets(text, sizeof text, file) != NULL; line++) {
            char *end = text + strlen(text), *value = strchr(text, '=');
            while (end > text && isspace((unsigned char)end[-1])) *--end = '\0';
            if (text[0] == '\0') check(names[i], line);
            if (text[0] == '#' || value == NULL) continue;
            for (end = value; end > text && isspace((unsigned char)end[-1]);) *--end = '\0';
            *value++ = '\0';
            while (isspace((unsigned char)*value)) value++;
            if (strcmp(text, "Cipher") == 0) snprintf(vector.cipher, sizeof vector.cipher, "%.63s", value);
            else if (strcmp(text, "Algorithm") == 0) snprintf(vector.cipher, sizeof vector.cipher, "%.63s", value);
            else if (strcmp(text, "MAC") == 0) snprintf(vector.mac, sizeof vector.mac, "%.15s", value);
            else if (strcmp(text, "Result") == 0) snprintf(vector.result, sizeof vector.result, "%.63s", value);
            else if (strcmp(text, "Operation") == 0) snprintf(vector.operation, sizeof vector.operation, "%.15s", value);
            else if (strcmp(text, "Key") == 0) set(&vector.key, value);
            else if (strcmp(text, "IV") == 0) set(&vector.iv, value);
            else if (strcmp(text, "AAD") == 0 && vector.aads < 8) set(&vector.aad[vector.aads++], value);
            else if (strcmp(text, "Tag") == 0) set(&vector.tag, value);
            else if (strcmp(text, "Plaintext") == 0) set(&vector.plain, value);
            else if (strcmp(text, "Ciphertext") == 0) set(&vector.sealed, value);
            else if (strcmp(text, "Input") == 0) set(&vector.input, value);
            else if (strcmp(text, "Output") == 0) set(&vector.output, value);
        }
        check(names[i], -1);
        fclose(file);
    }
    printf("%zu vectors passed, %zu skipped, %zu failed\n", passed, skipped, failed);
    return failed > 0 || (count > 1 && passed < strtoul(names[1], NULL, 10));
}
