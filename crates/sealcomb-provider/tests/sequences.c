/* Differential test of the provider against OpenSSL's default provider: makes random sequences of calls to both,
 * and compares return values, the error queue, output bytes and lengths, IVs and tags after each call.
 *
 * DIFFERENCES lists all permitted differences. Each has a name, is permitted only in the state that the name
 * describes, and is counted. In all but the last two, this provider rejects a call that OpenSSL accepts. After a
 * difference, both sides start with new contexts.
 *
 * Monitors fail if an IV (set, counted or random) encrypts twice under a key, and if a message opens with a wrong
 * tag.
 *
 * usage: sequences COUNT [NUMBER]
 *
 * Runs COUNT sequences; with NUMBER, only that one, printing all of its calls. SEALCOMB_SEED is the seed, by
 * default 1.
 */
/* Required for EVP_CIPHER_CTX_iv. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THEIRS, OURS, MAX_BYTES = 20000, BUFFER = MAX_BYTES + 64, CALLS = 24 };

/* The permitted differences. */
#define DIFFERENCES(X) \
    X(KEY_WITHIN, "rejected: continuing a message after a key change (OpenSSL continues with a counter or offset of zeros)") \
    X(DIRECTION_WITHIN, "rejected: continuing a message in the other direction") \
    X(AFTER_FORGED, "rejected: continuing a message after a failed verification") \
    X(STALE_TAG, "rejected: using the tag of another message, or none") \
    X(HELD_BYTES, "OCB, rejected: continuing after an init within a block (OpenSSL discards the partial block)") \
    X(IV_USED, "GCM, rejected: generating an IV that has encrypted a message, as it was set (OpenSSL encrypts another message under it)") \
    X(TAG_LENGTH_WITHIN, "OCB, rejected: changing the tag size within a message") \
    X(CCM_LENGTHS, "CCM, rejected: IV or tag size changed after setting the key (OpenSSL uses the old sizes and truncates the IV)") \
    X(CCM_AAD, "CCM, rejected: additional data in pieces (OpenSSL authenticates only the last one)") \
    X(CCM_USED_IV, "CCM, rejected: a second message under an IV") \
    X(SIV_LATE, "SIV, rejected: associated data after the message") \
    X(SIV_IV, "SIV, rejected: an IV length (OpenSSL ignores it, and the IV)") \
    X(XTS_EQUAL, "XTS, rejected: decrypting under a key with equal halves") \
    X(XTS_DIRECTION, "XTS, rejected: a new direction without a key (OpenSSL continues in the previous one)") \
    X(CBC_DIRECTION, "CBC, rejected: a new direction without a key (OpenSSL uses the key as expanded for the other one)") \
    X(PLAIN_NUMBER, "CBC and CTR, rejected: a position within a block (early OpenSSL 3.0 uses keystream that need not exist)") \
    X(MAC_ENDED, "CMAC, rejected: continuing a message that has ended") \
    X(SIV_ENDED, "SIV, accepted: the end of a message after a parameter was set (OpenSSL 3.0 fails, though the message is whole)") \
    X(EMPTY, "CCM and SIV, accepted: an empty message without any piece") \
    X(DUPLICATE, "SIV and CMAC, accepted: copying a context without a key")

enum difference {
#define NAME(name, text) name,
    DIFFERENCES(NAME)
#undef NAME
    NONE
};

static const char *const texts[] = {
#define TEXT(name, text) text,
    DIFFERENCES(TEXT)
#undef TEXT
};

static unsigned long long differed[NONE], operations, messages, opened, forged, random_ivs, counted_ivs, records, errors;

/* ---- Random numbers. */

static uint64_t state;

static uint64_t draw(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int below(int count) { return (int)(draw() % (uint64_t)count); }

static void fill(unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)draw();
}

/* Returns a random size in bytes: mostly small, often at a boundary of blocks or chunks, rarely large. */
static int size(void) {
    static const int boundaries[] = {0, 1, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 129, 255, 256, 512, 1024, 8191, 8192, 8208};
    switch (below(12)) {
    case 0: return below(3000);
    case 1: case 2: case 3: case 4: return boundaries[below(below(4) ? 14 : 20)];
    case 5: return below(24) ? below(300) : below(MAX_BYTES);
    default: return below(80);
    }
}

/* ---- The journal of calls, printed after a failure. */

static char journal[1 << 16];
static size_t written;
static unsigned long long number;
static uint64_t seed;
static int loud;

static void note(const char *format, ...) {
    va_list arguments;
    if (written + 400 > sizeof journal) return;
    va_start(arguments, format);
    int bytes = vsnprintf(journal + written, 400, format, arguments);
    va_end(arguments);
    if (loud) fputs(journal + written, stdout);
    written += (size_t)(bytes < 400 ? bytes : 399);
}

static void fail(const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s", journal);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nto reproduce: SEALCOMB_SEED=%llu sequences 0 %llu\n", (unsigned long long)seed, number);
    exit(1);
}

/* ---- The error queue. */

/* The errors of the last call to each provider, by library and reason. */
static struct { unsigned long codes[8]; int count; } queues[2];

/* Moves the error queue to that of a provider, and returns the value of the call before. */
static int keep(int p, int value) {
    unsigned long code;
    queues[p].count = 0;
    while ((code = ERR_get_error()) != 0) {
        if (queues[p].count < 8) queues[p].codes[queues[p].count++] = code;
    }
    return value;
}

/* Fails if the last calls to the two providers did not add the same errors. */
static void compare_queues(const char *what) {
    int same = queues[0].count == queues[1].count;
    for (int i = 0; same && i < queues[0].count; i++) same = queues[0].codes[i] == queues[1].codes[i];
    if (!same) {
        for (int p = 0; p < 2; p++) {
            for (int i = 0; i < queues[p].count; i++) {
                char text[200];
                ERR_error_string_n(queues[p].codes[i], text, sizeof text);
                fprintf(stderr, "%s adds %s\n", p == OURS ? "sealcomb" : "OpenSSL", text);
            }
        }
        fail("%s: the errors differ", what);
    }
    errors += (unsigned long long)queues[0].count;
    queues[0].count = queues[1].count = 0;
}

/* ---- Ciphers. */

enum mode { GCM, CCM, OCB, SIV };

/* The IV state of a context in OpenSSL's default provider. */
enum phase { UNSET, BUFFERED, RUNNING, FINISHED };

static struct {
    EVP_CIPHER *cipher[2];
    EVP_CIPHER_CTX *ctx[2];
    enum mode mode;
    int key_bytes, encrypts, has_key, iv_bytes, tag_bytes;
    enum phase phase;
    /* Why this provider may reject the next piece or the end; NONE if it may not. */
    enum difference broken;
    /* A tag was set for the next end; the last message's tag was computed; SET_TAG has overwritten OpenSSL's
     * computed tag. */
    int expects_tag, has_tag, spoiled_tag;
    /* Leading bytes of the IV buffer that are equal on both sides: 0 after a random IV. */
    int same_iv_bytes;
    int counts, drawn, tls, ended, sized, failed, monitored;
    /* GCM: whether a message has used the current IV, and no other one was generated or set since. */
    int used_iv;
    /* OCB: buffered bytes of the message and of the additional data. */
    int held, held_aad;
    /* CCM: whether the message length was set, the length, whether IV or tag size changed since the key was set,
     * whether there is additional data, whether a message was encrypted. */
    int has_length, length, stale_lengths, has_aad, sealed;
    /* The message so far, to open it with another context. */
    unsigned char message[MAX_BYTES], sealed_message[MAX_BYTES], aad[MAX_BYTES];
    int message_bytes, aad_bytes, complete;
} it;

static unsigned char keys[3][64], key_now[64], iv_now[128];

/* The IVs that have encrypted, with their keys. */
static struct { unsigned char key[64], iv[128]; int iv_bytes; } used[256];
static int used_count;

static const char *const names[4][3] = {{"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"}, {"AES-128-CCM", "AES-192-CCM", "AES-256-CCM"},
                                        {"AES-128-OCB", "AES-192-OCB", "AES-256-OCB"}, {"AES-128-SIV", "AES-192-SIV", "AES-256-SIV"}};
static EVP_CIPHER *fetched[4][3][2];

static void clear_message(void) {
    it.message_bytes = it.aad_bytes = 0;
    it.complete = 1;
}

/* Replaces both contexts by new ones. */
static void restart(int encrypts) {
    ERR_clear_error();
    note("  new contexts, %s\n", encrypts ? "encrypting" : "decrypting");
    for (int p = 0; p < 2; p++) {
        EVP_CIPHER_CTX_free(it.ctx[p]);
        it.ctx[p] = EVP_CIPHER_CTX_new();
        if (!EVP_CipherInit_ex2(it.ctx[p], it.cipher[p], NULL, NULL, encrypts, NULL)) fail("cannot create a context");
    }
    it.encrypts = encrypts;
    it.used_iv = 0;
    it.has_key = it.expects_tag = it.has_tag = it.spoiled_tag = it.counts = it.drawn = it.tls = it.ended = it.sized = 0;
    it.held = it.held_aad = it.stale_lengths = it.has_aad = it.sealed = it.has_length = it.failed = it.monitored = 0;
    it.phase = UNSET;
    it.broken = NONE;
    it.iv_bytes = it.mode == CCM ? 7 : it.mode == SIV ? 0 : 12;
    it.tag_bytes = it.mode == CCM ? 12 : 16;
    it.same_iv_bytes = 128;
    clear_message();
}

static void differs(enum difference which) {
    note("  permitted difference: %s\n", texts[which]);
    differed[which]++;
    restart(below(2));
}

/* Records that an IV encrypts with this provider and, if `theirs`, with OpenSSL's. Fails if it already did and
 * OpenSSL would not. */
static void monitor(const unsigned char *iv, int bytes, int theirs) {
    for (int i = 0; i < used_count; i++) {
        if (used[i].iv_bytes == bytes && memcmp(used[i].iv, iv, (size_t)bytes) == 0 && memcmp(used[i].key, key_now, sizeof key_now) == 0) {
            if (!theirs) fail("an IV encrypts a second time under its key; OpenSSL would reject it");
            return;
        }
    }
    if (used_count == 256) return;
    memcpy(used[used_count].key, key_now, sizeof key_now);
    memcpy(used[used_count].iv, iv, (size_t)bytes);
    used[used_count++].iv_bytes = bytes;
}

static int read_iv(int p, unsigned char *iv) {
    return EVP_CIPHER_CTX_get_updated_iv(it.ctx[p], iv, (size_t)it.iv_bytes);
}

static void set_length(int count);

/* Updates the state for a new IV. */
static void new_iv(void) {
    it.phase = BUFFERED;
    if (it.same_iv_bytes < it.iv_bytes) it.same_iv_bytes = it.iv_bytes;
    it.broken = NONE;
    it.drawn = it.held = it.held_aad = it.ended = it.failed = it.has_aad = it.sealed = it.has_tag = it.monitored = 0;
    it.used_iv = 0;
    clear_message();
}

/* Compares return values. Returns the common value, or -1 if this provider rejects what OpenSSL accepts and
 * `refused` permits that. */
static int outcome(const char *what, int theirs, int ours, enum difference refused) {
    if (theirs == ours) {
        /* Otherwise, OpenSSL refuses for another reason than this provider. */
        if (theirs > 0 || refused == NONE) compare_queues(what);
        return theirs;
    }
    if (theirs > 0 && ours <= 0 && refused != NONE) {
        differs(refused);
        return -1;
    }
    fail("%s: OpenSSL returns %d, sealcomb %d", what, theirs, ours);
    return -1;
}

static void init(int with_key, int with_iv, int encrypts) {
    unsigned char iv[128];
    int r[2], turns = encrypts != it.encrypts;
    const unsigned char *key = keys[below(3)];
    fill(iv, sizeof iv);
    /* Sometimes one of three IVs, so that some repeat. */
    if (below(4) == 0) memset(iv, below(3), sizeof iv);
    /* OpenSSL's OCB and CCM set the direction only with the key. */
    if (turns && (it.mode == OCB || it.mode == CCM)) with_key = 1;
    note("  init %s%s%s\n", encrypts ? "encrypt" : "decrypt", with_key ? ", key" : "", with_iv ? ", IV" : "");
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherInit_ex2(it.ctx[p], NULL, with_key ? key : NULL, with_iv ? iv : NULL, encrypts, NULL));
    if (outcome("init", r[0], r[1], NONE) <= 0) return restart(encrypts);
    if (it.mode == OCB && it.phase == RUNNING && (it.held || it.held_aad)) it.broken = HELD_BYTES;
    if (turns) {
        if (it.mode == SIV ? it.ended : it.phase == RUNNING || it.sealed) it.broken = DIRECTION_WITHIN;
        it.expects_tag = it.has_tag = it.spoiled_tag = 0;
        it.encrypts = encrypts;
    }
    if (with_iv && it.mode != SIV) {
        new_iv();
        memcpy(iv_now, iv, sizeof iv_now);
    }
    if (with_key) {
        memset(key_now, 0, sizeof key_now);
        memcpy(key_now, key, (size_t)it.key_bytes);
        if (it.mode != SIV && (it.phase == RUNNING || it.sealed)) it.broken = KEY_WITHIN;
        it.has_key = 1;
        it.has_tag = it.stale_lengths = 0;
        if (it.mode == SIV) new_iv();
    }
    /* OpenSSL's CCM would use the previous message's nonce and length. */
    if (it.mode == CCM && with_iv && it.has_length && it.has_key) set_length(size());
}

/* Returns why this provider may reject a piece or the end of a message; NONE if it may not. */
static enum difference refusal(void) {
    if (it.broken != NONE) return it.broken;
    if (it.mode == CCM && it.stale_lengths) return CCM_LENGTHS;
    if (it.mode == CCM && it.sealed) return CCM_USED_IV;
    return NONE;
}

/* Begins a message, unless one is in progress. */
static void start(void) {
    if (it.phase == UNSET && it.mode == GCM) {
        unsigned char iv[2][128], zero[128] = {0};
        if (!read_iv(THEIRS, iv[0]) || !read_iv(OURS, iv[1])) fail("cannot read the random IV");
        if (memcmp(iv[1], zero, (size_t)it.iv_bytes) == 0 || memcmp(iv[0], iv[1], (size_t)it.iv_bytes) == 0) fail("the IV is not random");
        memcpy(iv_now, iv[1], sizeof iv_now);
        new_iv();
        it.drawn = 1;
        it.same_iv_bytes = 0;
        random_ivs++;
    }
    if (it.phase == BUFFERED) {
        it.phase = RUNNING;
        it.used_iv = 1;
    }
}

/* Records that the current IV has encrypted data or computed a tag. */
static void record_encryption(int theirs) {
    if (!it.encrypts || it.monitored || it.mode == SIV) return;
    monitor(iv_now, it.iv_bytes, theirs);
    it.monitored = 1;
}

static void add_aad(void) {
    static unsigned char bytes[MAX_BYTES];
    int count = size(), r[2], n[2] = {-7, -7}, cipher = (it.mode == GCM || it.mode == CCM) && below(6) == 0;
    if (it.mode == SIV && !it.has_key) return;
    fill(bytes, (size_t)count);
    note("  aad %d%s\n", count, cipher ? " by EVP_Cipher" : "");
    for (int p = 0; p < 2; p++) {
        r[p] = keep(p, cipher ? EVP_Cipher(it.ctx[p], NULL, bytes, (unsigned)count) : EVP_CipherUpdate(it.ctx[p], NULL, &n[p], bytes, count));
    }
    enum difference refused = refusal();
    if (it.mode == SIV && it.ended) refused = SIV_LATE;
    if (refused == NONE && it.mode == CCM && it.has_aad && count > 0) refused = CCM_AAD;
    if (cipher && r[0] != r[1] && (r[0] < 0) == (r[1] < 0)) fail("aad: EVP_Cipher returns %d and %d", r[0], r[1]);
    int both = outcome("aad", cipher ? r[0] >= 0 : r[0], cipher ? r[1] >= 0 : r[1], refused);
    if (both <= 0) return;
    if (!cipher && n[0] != n[1]) fail("aad: OpenSSL writes %d, sealcomb %d bytes", n[0], n[1]);
    if (count == 0 && !cipher && it.mode == GCM) return;
    if (it.mode == GCM || it.mode == OCB) start();
    if (it.mode == OCB) it.held_aad = (it.held_aad + count) % 16;
    it.has_aad |= count > 0;
    if (it.aad_bytes + count > MAX_BYTES) it.complete = 0;
    else {
        memcpy(it.aad + it.aad_bytes, bytes, (size_t)count);
        it.aad_bytes += count;
    }
}

static void set_length(int count) {
    int r[2], n[2];
    note("  length %d\n", count);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherUpdate(it.ctx[p], NULL, &n[p], NULL, count));
    if (outcome("length", r[0], r[1], refusal()) <= 0) return;
    it.length = count;
    it.has_length = 1;
    it.has_aad = 0;
    it.phase = RUNNING;
}

static void add_data(void) {
    static unsigned char in[BUFFER], out[BUFFER], arena[3 * BUFFER];
    int count = it.mode == CCM && it.has_length && below(8) ? it.length : size(), r[2], n[2] = {-7, -7};
    int place = below(4), cipher = (it.mode == GCM || it.mode == CCM) && below(6) == 0;
    if (it.mode == SIV && !it.has_key) return;
    /* After an empty piece by EVP_Cipher, OpenSSL's GCM pads the additional data and then accepts more. */
    if (count == 0) cipher = 0;
    unsigned char *from = arena + BUFFER, *to = from;
    if (place == 0) to = from - BUFFER;
    if (place == 1) to = from + 1 + below(40);
    if (place == 2) to = from - 1 - below(40);
    fill(in, (size_t)count);
    memcpy(from, in, (size_t)count);
    note("  data %d, to %+ld%s\n", count, (long)(to - from), cipher ? " by EVP_Cipher" : "");
    if (cipher) {
        r[THEIRS] = keep(THEIRS, EVP_Cipher(it.ctx[THEIRS], out, in, (unsigned)count));
        r[OURS] = keep(OURS, EVP_Cipher(it.ctx[OURS], to, from, (unsigned)count));
        if (r[0] != r[1] && (r[0] < 0) == (r[1] < 0)) fail("data: EVP_Cipher returns %d and %d", r[0], r[1]);
        n[0] = n[1] = count;
    } else {
        r[THEIRS] = keep(THEIRS, EVP_CipherUpdate(it.ctx[THEIRS], out, &n[THEIRS], in, count));
        r[OURS] = keep(OURS, EVP_CipherUpdate(it.ctx[OURS], to, &n[OURS], from, count));
    }
    enum difference refused = refusal();
    if (refused == NONE && (it.mode == CCM || it.mode == SIV) && !it.encrypts && !it.expects_tag) refused = STALE_TAG;
    int both = outcome("data", cipher ? r[0] >= 0 : r[0], cipher ? r[1] >= 0 : r[1], refused);
    if (both < 0) return;
    if (it.mode == SIV && count > 0 && it.has_key) {
        if (!it.ended) it.failed = !both;
        if (!it.encrypts) it.expects_tag = 0;
        it.ended = 1;
    }
    if (!both) {
        /* OpenSSL's context is unusable after a wrong length or a failed verification. */
        if (it.mode == CCM && it.has_key && (it.phase == RUNNING || it.phase == BUFFERED)) restart(below(2));
        return;
    }
    if (n[0] != n[1]) fail("data: OpenSSL writes %d, sealcomb %d bytes", n[0], n[1]);
    if (count == 0 && it.mode != OCB && !cipher && it.mode != CCM) return;
    if (it.mode != SIV) start();
    if (count > 0 || it.mode == CCM) record_encryption(1);
    if (!it.drawn && memcmp(out, to, (size_t)n[0]) != 0) fail("data: the outputs differ");
    if (it.mode == OCB) it.held = (it.held + count) % 16;
    if (it.mode == CCM || (it.mode == SIV && count > 0)) {
        it.ended = 1;
        it.sealed = it.encrypts;
        it.has_tag = it.has_length = it.encrypts;
        if (!it.encrypts) {
            opened++;
            it.expects_tag = it.has_length = 0;
            it.phase = FINISHED;
        }
        messages++;
    }
    if (it.message_bytes + count > MAX_BYTES) it.complete = 0;
    else {
        memcpy(it.message + it.message_bytes, in, (size_t)count);
        memcpy(it.sealed_message + it.message_bytes, to, (size_t)count);
        it.message_bytes += count;
    }
}

/* Checks that a message under a random IV opens with the IV that this provider returns. */
static void check_drawn(void) {
    static unsigned char plain[MAX_BYTES], tag[16];
    int n;
    if (!it.complete || !EVP_CIPHER_CTX_ctrl(it.ctx[OURS], EVP_CTRL_AEAD_GET_TAG, 16, tag)) return;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int good = EVP_DecryptInit_ex2(ctx, it.cipher[THEIRS], NULL, NULL, NULL) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, it.iv_bytes, NULL) && EVP_DecryptInit_ex2(ctx, NULL, key_now, iv_now, NULL) &&
               EVP_DecryptUpdate(ctx, NULL, &n, it.aad, it.aad_bytes) &&
               EVP_DecryptUpdate(ctx, plain, &n, it.sealed_message, it.message_bytes) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, 16, tag) &&
               EVP_DecryptFinal_ex(ctx, plain, &n) && memcmp(plain, it.message, (size_t)it.message_bytes) == 0;
    EVP_CIPHER_CTX_free(ctx);
    if (!good) fail("a message under a random IV does not open with the IV returned");
}

static void get_tag(int bytes) {
    unsigned char tag[2][16];
    int r[2];
    note("  get the tag, %d bytes\n", bytes);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_GET_TAG, bytes, tag[p]));
    if (outcome("get tag", r[0], r[1], it.has_tag ? NONE : STALE_TAG) <= 0) return;
    if (!it.drawn && !it.spoiled_tag && memcmp(tag[0], tag[1], (size_t)bytes) != 0) fail("the tags differ");
    if (it.mode == CCM) {
        it.has_tag = it.sealed = it.has_length = 0;
        it.phase = FINISHED;
    }
}

static void finish(void) {
    static unsigned char out[2][BUFFER];
    int r[2], n[2] = {-7, -7}, cipher = (it.mode == GCM || it.mode == CCM) && below(6) == 0;
    if (it.mode == SIV && !it.has_key) return;
    note("  final%s\n", cipher ? " by EVP_Cipher" : "");
    if (cipher) {
        /* Without an output, early versions of OpenSSL's CCM take the call as the message length. */
        for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_Cipher(it.ctx[p], it.mode == CCM ? out[p] : NULL, NULL, 0) >= 0);
        n[0] = n[1] = 0;
    } else {
        for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherFinal_ex(it.ctx[p], out[p], &n[p]));
    }
    enum difference refused = refusal();
    /* OpenSSL 3.0's CCM does not verify at the end, and its SIV does not support empty messages. */
    if (it.mode == CCM) {
        if (r[1] && !it.ended) return differs(EMPTY);
        if (r[0] && !r[1]) return differs(refused == NONE ? STALE_TAG : refused);
        outcome("final", r[0], r[1], NONE);
        /* This provider has tried to open an empty message. It depends on its version whether OpenSSL has, too. */
        if (!it.ended) restart(below(2));
        return;
    }
    if (it.mode == SIV) {
        if (r[1] && !r[0] && !it.ended) return differs(EMPTY);
        if (r[1] && !r[0] && it.sized && !it.failed) return differs(SIV_ENDED);
        if (outcome("final", r[0], r[1], refused) < 0) return;
        if (r[1] && it.failed) fail("the end succeeds after a failed verification");
        /* This provider has tried to open the message; OpenSSL has not. */
        if (!it.ended && !r[0]) restart(below(2));
        return;
    }
    if (refused == NONE && !it.encrypts && !it.expects_tag) refused = STALE_TAG;
    int both = outcome("final", r[0], r[1], refused);
    if (both < 0) return;
    if (!both) {
        if (it.has_key && (it.phase == RUNNING || it.phase == BUFFERED) && it.broken == NONE) {
            forged += it.expects_tag;
            start();
            it.broken = AFTER_FORGED;
            it.expects_tag = 0;
            it.held = 0;
        }
        return;
    }
    start();
    record_encryption(1);
    if (n[0] != n[1] || (!it.drawn && memcmp(out[0], out[1], (size_t)n[0]) != 0)) fail("final: the outputs differ");
    it.phase = FINISHED;
    it.held = it.held_aad = 0;
    messages++;
    opened += !it.encrypts;
    it.expects_tag = it.spoiled_tag = 0;
    it.has_tag = it.encrypts;
    if (it.drawn) check_drawn();
    if (it.encrypts && below(2)) get_tag(it.mode == OCB ? it.tag_bytes : 16);
}

/* Computes the right tag of the GCM message in progress by encrypting the decrypted plaintext again. Returns 0 if
 * that is impossible. */
static int right_tag(unsigned char *tag) {
    static unsigned char out[BUFFER];
    int n;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int good = it.complete && it.mode == GCM && it.phase == RUNNING && !it.tls && it.broken == NONE &&
               EVP_EncryptInit_ex2(ctx, it.cipher[THEIRS], NULL, NULL, NULL) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, it.iv_bytes, NULL) && EVP_EncryptInit_ex2(ctx, NULL, key_now, iv_now, NULL) &&
               EVP_EncryptUpdate(ctx, NULL, &n, it.aad, it.aad_bytes) &&
               EVP_EncryptUpdate(ctx, out, &n, it.sealed_message, it.message_bytes) && EVP_EncryptFinal_ex(ctx, out, &n) &&
               EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag);
    EVP_CIPHER_CTX_free(ctx);
    return good;
}

static void set_tag(void) {
    unsigned char tag[20];
    int bytes = below(3) ? (it.mode == OCB || it.mode == CCM ? it.tag_bytes : 16) : below(18), r[2];
    int with_data = it.mode == SIV || !(it.mode == OCB || it.mode == CCM) || below(2) ? 1 : 0;
    if (it.mode == GCM && below(8) == 0) with_data = 0;
    fill(tag, sizeof tag);
    int right = with_data && below(2) && right_tag(tag);
    note("  set %s, %d bytes\n", right ? "the right tag" : with_data ? "a tag" : "the tag size", bytes);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_SET_TAG, bytes, with_data ? tag : NULL));
    int changes = !with_data && bytes != it.tag_bytes;
    if (it.mode == GCM && it.encrypts && with_data && bytes <= 16) it.spoiled_tag = 1;
    if (outcome("set tag", r[0], r[1], it.mode == OCB && it.phase == RUNNING && changes ? TAG_LENGTH_WITHIN : NONE) <= 0) return;
    if (it.mode == SIV && it.encrypts) return;
    if (it.mode == OCB && changes) it.has_tag = 0;
    if (it.mode == CCM && bytes != it.tag_bytes) it.stale_lengths = 1;
    if (it.mode != SIV) it.tag_bytes = bytes;
    it.expects_tag |= with_data;
}

static void set_iv_length(void) {
    int bytes = it.mode == GCM ? (below(2) ? 12 : below(5) ? 1 + below(20) : below(140)) : below(3) ? 7 + below(7) : below(18), r[2];
    note("  IVs of %d bytes\n", bytes);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_SET_IVLEN, bytes, NULL));
    if (outcome("IV length", r[0], r[1], it.mode == SIV && bytes > 0 ? SIV_IV : NONE) <= 0) return;
    it.sized = it.ended;
    if (bytes == it.iv_bytes) return;
    it.iv_bytes = bytes;
    if (it.mode == CCM) {
        /* OpenSSL 3.0 keeps the IV although its length is now wrong; later versions do not. */
        restart(it.encrypts);
        it.iv_bytes = bytes;
        for (int p = 0; p < 2; p++) EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_SET_IVLEN, bytes, NULL);
        return;
    }
    it.broken = NONE;
    it.held = it.held_aad = 0;
    if (it.phase != UNSET) it.phase = it.mode == GCM ? FINISHED : UNSET;
}

static void compare_iv(void) {
    unsigned char iv[2][128];
    const unsigned char *inside[2];
    int r[2], original = below(2);
    if (it.mode == SIV) return;
    note("  get the IV\n");
    memset(iv, 0, sizeof iv);
    for (int p = 0; p < 2; p++) {
        r[p] = keep(p, original ? EVP_CIPHER_CTX_get_original_iv(it.ctx[p], iv[p], (size_t)it.iv_bytes) : read_iv(p, iv[p]));
    }
    if (outcome("get the IV", r[0], r[1], NONE) <= 0) return;
    /* The end of a random IV stays in the buffer after a shorter one is set, and reappears with a greater length. */
    if (!it.drawn && it.phase != UNSET && it.iv_bytes <= it.same_iv_bytes && memcmp(iv[0], iv[1], (size_t)it.iv_bytes) != 0) fail("the IVs differ");
    if (it.iv_bytes > 16 || it.mode == CCM) return;
    for (int p = 0; p < 2; p++) inside[p] = EVP_CIPHER_CTX_iv(it.ctx[p]);
    if (inside[1] == NULL || memcmp(inside[1], iv[1], (size_t)it.iv_bytes) != 0) fail("EVP_CIPHER_CTX_iv returns another IV");
}

/* Sets the same IV on both sides, after random bytes made them differ. */
static void restore_iv(const unsigned char *iv) {
    int r[2];
    note("  restore an IV\n");
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_SET_IV_FIXED, -1, (void *)(uintptr_t)iv));
    if (outcome("restore an IV", r[0], r[1], NONE) <= 0) return;
    new_iv();
    memcpy(iv_now, iv, sizeof iv_now);
    it.counts = 1;
}

static void fix_iv(void) {
    unsigned char fixed[128], iv[2][128] = {{0}, {0}};
    int bytes = below(3) ? 4 : below(it.iv_bytes + 1), r[2];
    fill(fixed, sizeof fixed);
    if (below(3) == 0) return restore_iv(fixed);
    /* OpenSSL 3.0 accepts a fixed part longer than the IV. */
    if (bytes > it.iv_bytes) return;
    note("  fix %d bytes of the IV\n", bytes);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_SET_IV_FIXED, bytes, fixed));
    if (outcome("fix the IV", r[0], r[1], NONE) <= 0) return;
    for (int p = 0; p < 2; p++) {
        if (!read_iv(p, iv[p]) || memcmp(iv[p], fixed, (size_t)bytes) != 0) fail("the IV lacks its fixed part");
    }
    if (it.encrypts && memcmp(iv[0] + bytes, iv[1] + bytes, (size_t)(it.iv_bytes - bytes)) == 0) fail("the rest of the IV is not random");
    restore_iv(iv[OURS]);
}

static void generate_iv(void) {
    static const int wanted[] = {8, 8, 8, 1, 4, 12, 16, 0, -1, 128};
    unsigned char part[2][128] = {{0}, {0}}, iv[128];
    int bytes = wanted[below(10)], r[2];
    /* With an IV of under 8 bytes, OpenSSL would increment bytes before it. */
    if (it.iv_bytes < 8 || it.iv_bytes > it.same_iv_bytes) return;
    note("  generate an IV, %d bytes\n", bytes);
    int known = read_iv(OURS, iv);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_GCM_IV_GEN, bytes, part[p]));
    if (outcome("generate an IV", r[0], r[1], it.encrypts && it.used_iv ? IV_USED : NONE) <= 0) return;
    if (it.encrypts && it.used_iv) fail("an IV that has encrypted a message is generated");
    if (memcmp(part[0], part[1], sizeof part[0]) != 0 || !known) fail("the generated IVs differ");
    new_iv();
    it.phase = RUNNING;
    memcpy(iv_now, iv, sizeof iv_now);
    counted_ivs++;
}

static void set_counter(void) {
    unsigned char part[128];
    int bytes = below(2) && it.iv_bytes >= 8 ? 8 : below(it.iv_bytes + 1), r[2];
    if (it.iv_bytes > it.same_iv_bytes) return;
    fill(part, sizeof part);
    note("  set the counter, %d bytes\n", bytes);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_GCM_SET_IV_INV, bytes, part));
    if (outcome("set the counter", r[0], r[1], NONE) <= 0) return;
    new_iv();
    start();
    memset(iv_now, 0, sizeof iv_now);
    if (!read_iv(OURS, iv_now)) fail("cannot read the IV");
}

/* Processes a TLS record: sets its header, then encrypts or decrypts it in place. */
static void record(void) {
    static unsigned char buffer[2][BUFFER];
    unsigned char header[13], explicit_iv[8];
    int tag_bytes = it.mode == GCM ? 16 : it.tag_bytes, text = size(), r[2], n[2] = {-7, -7};
    if (it.mode == CCM && (it.stale_lengths || it.iv_bytes != 12)) return;
    if (it.mode == GCM && (it.iv_bytes < 12 || it.iv_bytes > it.same_iv_bytes)) return;
    int count = 8 + text + tag_bytes;
    if (count > MAX_BYTES) return;
    fill(header, sizeof header);
    int length = below(10) ? 8 + text + (it.encrypts ? 0 : tag_bytes) : below(30);
    header[11] = (unsigned char)(length >> 8);
    header[12] = (unsigned char)length;
    if (it.mode == CCM) {
        unsigned char fixed[4] = {1, 2, 3, 4};
        for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_SET_IV_FIXED, 4, fixed));
        if (outcome("the fixed IV", r[0], r[1], NONE) <= 0) return;
    }
    note("  record of %d bytes, header length %d\n", text, length);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_ctrl(it.ctx[p], EVP_CTRL_AEAD_TLS1_AAD, 13, header));
    if (outcome("header", r[0], r[1], NONE) <= 0 && below(2)) return restart(below(2));
    fill(buffer[0], (size_t)count);
    memcpy(buffer[1], buffer[0], (size_t)count);
    int known = it.mode == GCM && read_iv(OURS, iv_now);
    if (below(12) == 0) {
        static unsigned char other[BUFFER];
        for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherUpdate(it.ctx[p], other, &n[p], buffer[p], count));
        note("  not in place\n");
    } else {
        for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherUpdate(it.ctx[p], buffer[p], &n[p], buffer[p], count));
    }
    int reuses = it.mode == GCM && it.encrypts && it.used_iv, both = outcome("record", r[0], r[1], reuses ? IV_USED : NONE);
    if (both < 0) return;
    if (both > 0 && reuses) fail("a record has an IV that has encrypted a message");
    if (both > 0) {
        if (n[0] != n[1] || memcmp(buffer[0] + (it.encrypts ? 0 : 8), buffer[1] + (it.encrypts ? 0 : 8), (size_t)n[0]) != 0) {
            fail("record: the outputs differ");
        }
        if (it.encrypts && known) {
            memcpy(explicit_iv, buffer[1], 8);
            memcpy(iv_now + it.iv_bytes - 8, explicit_iv, 8);
            monitor(iv_now, it.iv_bytes, 1);
        }
        records++;
        if (!it.encrypts) fail("a random record opens");
        /* The record must open again, unless a bit is flipped. */
        if (it.mode == GCM && length == 8 + text) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            int change = below(2), got;
            header[11] = (unsigned char)(count >> 8);
            header[12] = (unsigned char)count;
            if (change) buffer[1][below(count)] ^= (unsigned char)(1 << below(8));
            EVP_DecryptInit_ex2(ctx, it.cipher[OURS], NULL, NULL, NULL);
            EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, it.iv_bytes, NULL);
            EVP_DecryptInit_ex2(ctx, NULL, key_now, NULL, NULL);
            EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IV_FIXED, -1, iv_now);
            EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_TLS1_AAD, 13, header);
            if (EVP_DecryptUpdate(ctx, buffer[1], &got, buffer[1], count) != !change) fail("%s", change ? "a modified record opens" : "a record does not open");
            EVP_CIPHER_CTX_free(ctx);
        }
    }
    if (it.mode == GCM) {
        it.phase = FINISHED;
        it.broken = NONE;
        it.has_tag = it.expects_tag = 0;
    } else {
        /* OpenSSL's CCM treats all following data as records with this header. */
        restart(it.encrypts);
    }
}

static void duplicate(void) {
    EVP_CIPHER_CTX *copy[2] = {EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_new()};
    int r[2], swap = below(2);
    note("  copy, and continue with the %s\n", swap ? "copy" : "original");
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_copy(copy[p], it.ctx[p]));
    if (r[0] && swap) {
        for (int p = 0; p < 2; p++) {
            EVP_CIPHER_CTX *before = it.ctx[p];
            it.ctx[p] = copy[p];
            copy[p] = before;
        }
    }
    for (int p = 0; p < 2; p++) EVP_CIPHER_CTX_free(copy[p]);
    if (r[1] && !r[0] && it.mode == SIV && !it.has_key) return differs(DUPLICATE);
    (void)outcome("copy", r[0], r[1], NONE);
}

/* Seals a message with OpenSSL and opens it with both providers, in pieces. It must open, unless a bit of the tag,
 * the ciphertext or the additional data is flipped. */
static void open_sealed(void) {
    static unsigned char plain[BUFFER], sealed[BUFFER], aad[300], out[2][BUFFER], tag[16];
    unsigned char iv[128];
    int count = size(), aad_count = below(sizeof aad), iv_bytes = it.mode == CCM ? 7 + below(7) : it.mode == OCB ? 1 + below(15) : 1 + below(20);
    int tag_bytes = it.mode == CCM ? 4 + 2 * below(7) : it.mode == OCB ? 1 + below(16) : 16, n, last, good = 1;
    int in_pieces = it.mode == GCM || it.mode == OCB, change = below(4), whole = it.mode == CCM || it.mode == SIV;
    if (it.mode == SIV && count == 0) count = 1;
    /* Longer tags, so that no modified message opens by chance. */
    if (change == 0 && tag_bytes < 8) tag_bytes = 8;
    memcpy(key_now, keys[below(3)], sizeof key_now);
    fill(iv, sizeof iv);
    fill(plain, (size_t)count);
    fill(aad, sizeof aad);
    note("  open %d bytes with %d of aad, IV of %d, tag of %d%s\n", count, aad_count, iv_bytes, tag_bytes, change ? "" : ", modified");
    for (int encrypts = 1; encrypts >= 0; encrypts--) {
        for (int p = 0; p < (encrypts ? 1 : 2); p++) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            good = EVP_CipherInit_ex2(ctx, it.cipher[p], NULL, NULL, encrypts, NULL);
            if (it.mode != SIV) good &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, iv_bytes, NULL);
            if (it.mode == CCM || it.mode == OCB) good &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_bytes, NULL);
            if (!encrypts) good &= EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag);
            good &= EVP_CipherInit_ex2(ctx, NULL, key_now, iv, encrypts, NULL);
            if (it.mode == CCM) good &= EVP_CipherUpdate(ctx, NULL, &n, NULL, count);
            if (!good) fail("cannot set up a message to open");
            for (int at = 0; at < aad_count;) {
                int piece = in_pieces && below(3) ? below(aad_count - at + 1) : aad_count - at;
                if (!EVP_CipherUpdate(ctx, NULL, &n, aad + at, piece)) fail("additional data is rejected");
                at += piece;
            }
            int done = 0;
            for (int at = 0; at < count || (count == 0 && whole && at == 0);) {
                int piece = in_pieces && below(3) ? below(count - at + 1) : count - at;
                good &= EVP_CipherUpdate(ctx, out[p] + done, &n, (encrypts ? plain : sealed) + at, piece);
                done += n;
                at += piece;
                if (below(5) == 0) {
                    EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();
                    if (!EVP_CIPHER_CTX_copy(copy, ctx)) fail("cannot copy a context within a message");
                    EVP_CIPHER_CTX_free(ctx);
                    ctx = copy;
                }
                if (count == 0) break;
            }
            last = 0;
            /* OpenSSL 3.0's CCM always returns 1 at the end. */
            int verdict = EVP_CipherFinal_ex(ctx, out[p] + done, &last);
            if (p == OURS && verdict > 0 && !good) fail("the end succeeds after a failed piece");
            good &= verdict;
            done += last;
            if (encrypts) {
                if (!good || done != count || !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag)) fail("OpenSSL cannot seal");
                memcpy(sealed, out[p], (size_t)count);
                if (change == 0) {
                    int bit = below(8 * (tag_bytes + count + aad_count));
                    if (bit < 8 * tag_bytes) tag[bit / 8] ^= (unsigned char)(1 << bit % 8);
                    else if (bit < 8 * (tag_bytes + count)) sealed[bit / 8 - tag_bytes] ^= (unsigned char)(1 << bit % 8);
                    else aad[bit / 8 - tag_bytes - count] ^= (unsigned char)(1 << bit % 8);
                }
            } else if (good != (change != 0)) {
                fail("%s: a message %s", p == OURS ? "sealcomb" : "OpenSSL", good ? "opens although it was modified" : "does not open");
            } else if (good && (done != count || memcmp(out[p], plain, (size_t)count) != 0)) {
                fail("%s returns another message", p == OURS ? "sealcomb" : "OpenSSL");
            }
            EVP_CIPHER_CTX_free(ctx);
        }
    }
    if (change) opened++;
    else forged++;
    restart(below(2));
}

static void compare_lengths(void) {
    int bytes[2], length = below(2) ? it.key_bytes : 8 * below(9);
    for (int p = 0; p < 2; p++) bytes[p] = keep(p, EVP_CIPHER_CTX_set_key_length(it.ctx[p], length)) > 0;
    if (bytes[0] != bytes[1]) fail("set the key length to %d: %d and %d", length, bytes[0], bytes[1]);
    compare_queues("set the key length");
    for (int p = 0; p < 2; p++) bytes[p] = EVP_CIPHER_CTX_get_iv_length(it.ctx[p]);
    if (bytes[0] != bytes[1]) fail("IV lengths: %d and %d", bytes[0], bytes[1]);
    for (int p = 0; p < 2; p++) bytes[p] = EVP_CIPHER_CTX_get_tag_length(it.ctx[p]);
    if (bytes[0] != bytes[1]) fail("tag lengths: %d and %d", bytes[0], bytes[1]);
    for (int p = 0; p < 2; p++) bytes[p] = EVP_CIPHER_CTX_get_key_length(it.ctx[p]);
    if (bytes[0] != bytes[1]) fail("key lengths: %d and %d", bytes[0], bytes[1]);
}

/* Returns whether a parameter belongs to pipelines, which OpenSSL's default provider lacks. */
static int is_of_pipelines(const char *name) {
    return strstr(name, "pipeline-") != NULL;
}

/* Gets or sets a parameter with some type and size. The contexts are of no use afterwards. */
static void odd_parameter(EVP_CIPHER *const *cipher, EVP_CIPHER_CTX *const *ctx, int iv_bytes) {
    const OSSL_PARAM *list = below(2) ? EVP_CIPHER_gettable_ctx_params(cipher[OURS]) : EVP_CIPHER_settable_ctx_params(cipher[OURS]);
    int sets = list == EVP_CIPHER_settable_ctx_params(cipher[OURS]), count = 0, r[2];
    while (list[count].key != NULL && !is_of_pipelines(list[count].key)) count++;
    const char *name = list[below(count)].key;
    unsigned kind = (unsigned)(below(3) ? OSSL_PARAM_OCTET_STRING : 1 + below(7));
    size_t bytes = (size_t)below(sets && strcmp(name, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED) == 0 ? iv_bytes + 1 : 20);
    unsigned char value[160], data[2][160];
    /* No real numbers, which OpenSSL takes for integers. */
    if (kind == OSSL_PARAM_REAL) kind = OSSL_PARAM_UTF8_STRING;
    /* OpenSSL reads before an integer without bytes. */
    if (bytes == 0 && kind <= OSSL_PARAM_UNSIGNED_INTEGER) bytes = 1;
    fill(value, sizeof value);
    if (below(2)) memset(value + 1, 0, sizeof value - 1);
    if (below(2)) value[0] &= 15;
    note("  %s %s of kind %u with %zu bytes\n", sets ? "set" : "get", name, kind, bytes);
    for (int p = 0; p < 2; p++) {
        OSSL_PARAM params[] = {{name, kind, memcpy(data[p], value, sizeof value), bytes, 0}, OSSL_PARAM_construct_end()};
        r[p] = keep(p, sets ? EVP_CIPHER_CTX_set_params(ctx[p], params) : EVP_CIPHER_CTX_get_params(ctx[p], params));
    }
    /* This provider refuses the counters of IVs that CCM lacks, which OpenSSL ignores, and positions within a block. */
    int lacks = strncmp(name, "tlsiv", 5) == 0 || strcmp(name, OSSL_CIPHER_PARAM_NUM) == 0;
    if (lacks && r[THEIRS] > r[OURS]) return;
    int is_stale = strcmp(name, OSSL_CIPHER_PARAM_AEAD_TAG) == 0 && !sets && !it.has_tag;
    (void)outcome("parameter", r[0], r[1], is_stale ? STALE_TAG : NONE);
}

static void cipher_sequence(void) {
    int n = below(3);
    it.mode = (enum mode)(below(8) < 4 ? GCM : 1 + below(3));
    for (int p = 0; p < 2; p++) it.cipher[p] = fetched[it.mode][n][p];
    it.key_bytes = EVP_CIPHER_get_key_length(it.cipher[0]);
    for (int i = 0; i < 3; i++) fill(keys[i], sizeof keys[i]);
    used_count = 0;
    note("%s\n", names[it.mode][n]);
    restart(below(2));
    if (below(8)) init(1, below(8) > 0, it.encrypts);
    for (int i = 0, calls = 1 + below(CALLS); i < calls; i++) {
        operations++;
        ERR_clear_error();
        switch (below(30)) {
        case 0: init(1, 1, below(2)); break;
        case 1: init(1, 1, it.encrypts); break;
        case 2: init(0, 1, it.encrypts); break;
        case 3: init(1, 0, below(4) ? it.encrypts : !it.encrypts); break;
        case 4: init(0, 0, below(4) ? it.encrypts : !it.encrypts); break;
        case 5: init(0, 1, below(2)); break;
        case 6: case 7: case 8: add_aad(); break;
        case 9: case 10: case 11: case 12: case 13: add_data(); break;
        case 14: case 15: case 16: finish(); break;
        case 17: set_tag(); break;
        case 18: it.encrypts ? get_tag(below(4) ? (it.mode == OCB || it.mode == CCM ? it.tag_bytes : 16) : 1 + below(16)) : set_tag(); break;
        case 19: set_iv_length(); break;
        case 20: compare_iv(); break;
        case 21: duplicate(); break;
        case 22: if (it.mode == GCM) fix_iv(); break;
        case 23: if (it.mode == GCM) generate_iv(); break;
        case 24: if (it.mode == GCM) it.encrypts ? generate_iv() : set_counter(); break;
        case 25: if (it.mode == GCM || it.mode == CCM) record(); break;
        case 26: compare_lengths(); break;
        case 27: open_sealed(); break;
        case 28:
            odd_parameter(it.cipher, it.ctx, it.iv_bytes);
            restart(below(2));
            break;
        default: if (it.mode == CCM && it.has_key) set_length(size()); else add_data(); break;
        }
    }
}

/* ---- XTS, in which each piece is a data unit, and all pieces until the next IV have the same tweak. */

static EVP_CIPHER *xts[2][2];
static EVP_CIPHER_CTX *xts_ctx[2];

/* Creates new contexts for AES with the first or second key size. */
static void xts_restart(int which, int encrypts) {
    note("  new contexts, %s\n", encrypts ? "encrypting" : "decrypting");
    for (int p = 0; p < 2; p++) {
        EVP_CIPHER_CTX_free(xts_ctx[p]);
        xts_ctx[p] = EVP_CIPHER_CTX_new();
        if (!EVP_CipherInit_ex2(xts_ctx[p], xts[which][p], NULL, NULL, encrypts, NULL)) fail("cannot create a context");
    }
}

/* Encrypts or decrypts a data unit. Returns whether both sides succeed, or -1 after a permitted difference. */
static int xts_data_unit(enum difference refused) {
    static unsigned char in[MAX_BYTES], out[2][BUFFER];
    int count = size(), in_place = below(3) == 0, cipher = below(4) == 0, r[2], n[2] = {-7, -7};
    fill(in, (size_t)count);
    note("  data %d%s%s\n", count, in_place ? " in place" : "", cipher ? " by EVP_Cipher" : "");
    for (int p = 0; p < 2; p++) {
        const unsigned char *from = in;
        memset(out[p], 0x5a, (size_t)count + 16);
        if (in_place) from = memcpy(out[p], in, (size_t)count);
        r[p] = keep(p, cipher ? EVP_Cipher(xts_ctx[p], out[p], from, (unsigned)count) >= 0 : EVP_CipherUpdate(xts_ctx[p], out[p], &n[p], from, count));
    }
    if (r[0] && !r[1] && refused != NONE) {
        differed[refused]++;
        return -1;
    }
    if (outcome("data", r[0], r[1], refused) > 0) messages++;
    if (r[0] && n[0] != n[1]) fail("data: OpenSSL writes %d, sealcomb %d bytes", n[0], n[1]);
    if (memcmp(out[0], out[1], (size_t)count + 16) != 0) fail("data: the outputs differ");
    return r[0];
}

static void xts_copy(void) {
    note("  copy\n");
    for (int p = 0; p < 2; p++) {
        EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new();
        if (!EVP_CIPHER_CTX_copy(copy, xts_ctx[p])) fail("cannot copy a context");
        EVP_CIPHER_CTX_free(xts_ctx[p]);
        xts_ctx[p] = copy;
    }
}

static void xts_compare(void) {
    unsigned char iv[2][16];
    int n[2], r[2];
    for (int p = 0; p < 2; p++) n[p] = EVP_CIPHER_CTX_get_iv_length(xts_ctx[p]);
    if (n[0] != n[1]) fail("IV lengths: %d and %d", n[0], n[1]);
    for (int p = 0; p < 2; p++) n[p] = EVP_CIPHER_CTX_get_key_length(xts_ctx[p]);
    if (n[0] != n[1]) fail("key lengths: %d and %d", n[0], n[1]);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_get_updated_iv(xts_ctx[p], iv[p], sizeof iv[p]));
    if (r[0] != r[1] || memcmp(iv[0], iv[1], sizeof iv[0]) != 0) fail("the IVs differ");
}

static void xts_sequence(void) {
    int which = below(2), key_bytes = which ? 64 : 32, encrypts = below(2), has_key = 0;
    enum difference refused = NONE;
    note("AES-%d-XTS\n", which ? 256 : 128);
    xts_restart(which, encrypts);
    for (int i = 0, calls = 1 + below(CALLS); i < calls; i++) {
        unsigned char key[64], iv[16];
        int r[2], n[2], with_key = i == 0 || below(3) == 0, with_iv = i == 0 ? below(8) > 0 : below(2), equal, turns;
        unsigned char out[2][16];
        operations++;
        ERR_clear_error();
        switch (below(12)) {
        case 0: case 1: case 2: case 3:
            fill(key, sizeof key);
            fill(iv, sizeof iv);
            equal = with_key && below(8) == 0;
            if (equal) memcpy(key + key_bytes / 2, key, (size_t)key_bytes / 2);
            turns = below(4) == 0;
            encrypts ^= turns;
            note("  init %s%s%s%s\n", encrypts ? "encrypt" : "decrypt", with_key ? ", key" : "", equal ? " with equal halves" : "", with_iv ? ", IV" : "");
            for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherInit_ex2(xts_ctx[p], NULL, with_key ? key : NULL, with_iv ? iv : NULL, encrypts, NULL));
            if (equal) {
                if (r[1] || r[0] == encrypts) fail("equal halves: OpenSSL returns %d, sealcomb %d", r[0], r[1]);
                if (encrypts) compare_queues("equal halves");
                else differed[XTS_EQUAL]++;
                refused = NONE;
                encrypts = below(2);
                xts_restart(which, encrypts);
                has_key = 0;
                break;
            }
            (void)outcome("init", r[0], r[1], NONE);
            has_key |= with_key;
            if (with_key) refused = NONE;
            else if (turns) refused = XTS_DIRECTION;
            break;
        case 4:
            note("  final\n");
            for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherFinal_ex(xts_ctx[p], out[p], &n[p]));
            if (outcome("final", r[0], r[1], NONE) > 0 && n[0] != n[1]) fail("final: OpenSSL writes %d, sealcomb %d bytes", n[0], n[1]);
            break;
        /* OpenSSL 3.0 crashes if a context without a key was copied, and then encrypts. */
        case 5: if (has_key) xts_copy(); break;
        case 6: xts_compare(); break;
        case 7:
            odd_parameter(xts[which], xts_ctx, 16);
            xts_restart(which, encrypts);
            has_key = 0;
            refused = NONE;
            break;
        default:
            if (xts_data_unit(refused) < 0) {
                refused = NONE;
                xts_restart(which, encrypts);
                has_key = 0;
            }
        }
    }
}

#include "sequences_plain.h"

/* ---- MACs: CMAC, and OpenSSL's GMAC with either provider's GCM. */

static void mac_sequence(void) {
    static const char *const ciphers[2][3] = {{"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"}, {"AES-128-GCM", "AES-192-GCM", "AES-256-GCM"}};
    /* Other names, which OpenSSL accepts as well. */
    static const char *const aliases[2][3] = {{"aes128", "2.16.840.1.101.3.4.1.22", "2.16.840.1.101.3.4.1.42"}, {"2.16.840.1.101.3.4.1.6", "id-aes192-GCM", "aes-256-gcm"}};
    static unsigned char data[MAX_BYTES];
    int gmac = below(2), n = below(3), has_key = 0, ended = 0, ready = 0;
    const char *name = below(4) ? ciphers[gmac][n] : aliases[gmac][n];
    static EVP_MAC *macs[2][2];
    static char ours[] = "provider=sealcomb", theirs[] = "provider=default";
    EVP_MAC_CTX *ctx[2];
    for (int p = 0; p < 2; p++) {
        if (macs[gmac][p] == NULL) {
            macs[gmac][p] = EVP_MAC_fetch(NULL, gmac ? "GMAC" : "CMAC", p == OURS && !gmac ? "provider=sealcomb" : "provider=default");
        }
        ctx[p] = EVP_MAC_CTX_new(macs[gmac][p]);
    }
    note("%s with %s\n", gmac ? "GMAC" : "CMAC", name);
    for (int i = 0, calls = 2 + below(CALLS); i < calls; i++) {
        unsigned char key[32], iv[16], tag[2][16];
        size_t bytes[2] = {77, 77}, count;
        int r[2], operation = i == 0 ? below(2) : below(12);
        operations++;
        ERR_clear_error();
        fill(key, sizeof key);
        fill(iv, sizeof iv);
        switch (operation) {
        case 0: case 1: {
            count = (size_t)(below(8) ? 16 + 8 * n : below(33));
            size_t iv_count = (size_t)(below(2) ? 12 : 1 + below(16)), with_nul = (size_t)below(2);
            note("  init, key of %zu bytes%s\n", count, with_nul ? ", name with NUL" : "");
            for (int p = 0; p < 2; p++) {
                OSSL_PARAM params[5], *param = params;
                *param++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)(uintptr_t)name, strlen(name) + with_nul);
                if (gmac) *param++ = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, iv, iv_count);
                if (gmac) *param++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_PROPERTIES, p == OURS ? ours : theirs, 0);
                *param = OSSL_PARAM_construct_end();
                r[p] = keep(p, EVP_MAC_init(ctx[p], key, count, params));
            }
            has_key = outcome("MAC init", r[0], r[1], NONE);
            ended = 0;
            ready = has_key;
            if (!has_key) goto end;
            break;
        }
        case 2:
            if (gmac) break;
            note("  init again\n");
            for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_MAC_init(ctx[p], NULL, 0, NULL));
            (void)outcome("MAC init again", r[0], r[1], NONE);
            ended = 0;
            break;
        case 3: case 4: case 5: case 6: case 7:
            count = (size_t)size();
            if (gmac && !has_key) break;
            fill(data, count);
            note("  update %zu\n", count);
            for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_MAC_update(ctx[p], data, count));
            if (r[0] && !r[1] && ended && !gmac) {
                differed[MAC_ENDED]++;
                goto end;
            }
            (void)outcome("MAC update", r[0], r[1], NONE);
            break;
        case 8: case 9:
            if (!has_key) break;
            note("  final\n");
            for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_MAC_final(ctx[p], tag[p], &bytes[p], sizeof tag[p]));
            if (r[0] && !r[1] && ended && !gmac) {
                differed[MAC_ENDED]++;
                goto end;
            }
            if (outcome("MAC final", r[0], r[1], NONE) > 0) {
                if (bytes[0] != bytes[1] || memcmp(tag[0], tag[1], bytes[0]) != 0) fail("the MACs differ");
                messages++;
            }
            ended = 1;
            break;
        case 10: {
            EVP_MAC_CTX *copy[2];
            if (gmac && !ready) break;
            note("  copy\n");
            for (int p = 0; p < 2; p++) copy[p] = EVP_MAC_CTX_dup(ctx[p]);
            if (!has_key && !gmac) {
                differed[DUPLICATE]++;
                for (int p = 0; p < 2; p++) EVP_MAC_CTX_free(copy[p]);
                break;
            }
            if (copy[0] == NULL || copy[1] == NULL) fail("copies: %p and %p", (void *)copy[0], (void *)copy[1]);
            if (below(2)) {
                for (int p = 0; p < 2; p++) {
                    EVP_MAC_CTX *before = ctx[p];
                    ctx[p] = copy[p];
                    copy[p] = before;
                }
            }
            for (int p = 0; p < 2; p++) EVP_MAC_CTX_free(copy[p]);
            break;
        }
        default:
            for (int p = 0; p < 2; p++) bytes[p] = EVP_MAC_CTX_get_mac_size(ctx[p]);
            if (bytes[0] != bytes[1]) fail("MAC sizes: %zu and %zu", bytes[0], bytes[1]);
        }
    }
end:
    for (int p = 0; p < 2; p++) EVP_MAC_CTX_free(ctx[p]);
}

/* ---- Checks that are the same in each run. */

/* Parameters are integers of any size, and octet strings whose size can be queried. */
static void compare_parameters(void) {
    static const struct { const char *cipher, *iv_length; } cases[] = {{"AES-128-GCM", "12"}, {"AES-256-OCB", "12"}, {"AES-192-CBC", NULL}, {"AES-256-CTR", NULL}, {"AES-128-XTS", NULL}};
    static const char *const numbers[] = {OSSL_CIPHER_PARAM_KEYLEN, OSSL_CIPHER_PARAM_IVLEN, OSSL_CIPHER_PARAM_AEAD_TAGLEN};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EVP_CIPHER_CTX *ctx[2];
        for (int p = 0; p < 2; p++) {
            EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, cases[i].cipher, p == OURS ? "provider=sealcomb" : "provider=default");
            ctx[p] = EVP_CIPHER_CTX_new();
            if (!EVP_CipherInit_ex2(ctx[p], cipher, keys[0], keys[1], 1, NULL)) fail("cannot create a context");
            EVP_CIPHER_free(cipher);
        }
        note("%s\n", cases[i].cipher);
        for (unsigned kind = OSSL_PARAM_INTEGER; kind <= OSSL_PARAM_UNSIGNED_INTEGER; kind++) {
            for (size_t bytes = 1; bytes <= 20; bytes++) {
                for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
                    unsigned char value[2][24];
                    int r[2];
                    note("  get %s as an integer of kind %u and %zu bytes\n", numbers[n], kind, bytes);
                    memset(value, 0x5a, sizeof value);
                    for (int p = 0; p < 2; p++) {
                        OSSL_PARAM params[] = {{numbers[n], kind, value[p], bytes, 0}, OSSL_PARAM_construct_end()};
                        r[p] = keep(p, EVP_CIPHER_CTX_get_params(ctx[p], params));
                    }
                    (void)outcome("get an integer", r[0], r[1], NONE);
                    if (memcmp(value[0], value[1], sizeof value[0]) != 0) fail("the values differ");
                }
                for (int length = 0; length < 4 && cases[i].iv_length != NULL; length++) {
                    unsigned char value[24];
                    int r[2], n[2];
                    note("  set the IV length as an integer of kind %u and %zu bytes\n", kind, bytes);
                    memset(value, length == 3 ? 0xff : 0, sizeof value);
                    value[0] = (unsigned char)(length == 3 ? 0xff : 12 + length);
                    if (length == 2 && bytes > 1) value[bytes - 1] = 1;
                    for (int p = 0; p < 2; p++) {
                        OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_IVLEN, kind, value, bytes, 0}, OSSL_PARAM_construct_end()};
                        r[p] = keep(p, EVP_CIPHER_CTX_set_params(ctx[p], params));
                        n[p] = EVP_CIPHER_CTX_get_iv_length(ctx[p]);
                    }
                    (void)outcome("set an integer", r[0], r[1], NONE);
                    if (n[0] != n[1]) fail("IV lengths: %d and %d", n[0], n[1]);
                }
            }
        }
        for (int p = 0; p < 2; p++) {
            OSSL_PARAM params[] = {{OSSL_CIPHER_PARAM_IV, OSSL_PARAM_OCTET_STRING, NULL, 0, 0}, OSSL_PARAM_construct_end()};
            /* OpenSSL's AEADs do not return the size. */
            int r = EVP_CIPHER_CTX_get_params(ctx[p], params);
            ERR_clear_error();
            if ((p == OURS || cases[i].iv_length == NULL) && (!r || params[0].return_size != (size_t)EVP_CIPHER_CTX_get_iv_length(ctx[p]))) {
                fail("%s: no size of the IV", cases[i].cipher);
            }
            EVP_CIPHER_CTX_free(ctx[p]);
        }
    }
}

/* Fails if this provider lists a parameter that OpenSSL's does not: it would have no effect. Those of pipelines are its
 * own. */
static void compare_list(const char *what, const OSSL_PARAM *theirs, const OSSL_PARAM *ours) {
    for (; ours != NULL && ours->key != NULL; ours++) {
        if (is_of_pipelines(ours->key)) continue;
        if (OSSL_PARAM_locate_const(theirs, ours->key) == NULL) fail("OpenSSL does not list %s as %s", ours->key, what);
    }
}

static void compare_lists(EVP_CIPHER *const *cipher) {
    note("%s\n", EVP_CIPHER_get0_name(cipher[OURS]));
    compare_list("a property", EVP_CIPHER_gettable_params(cipher[THEIRS]), EVP_CIPHER_gettable_params(cipher[OURS]));
    compare_list("gettable", EVP_CIPHER_gettable_ctx_params(cipher[THEIRS]), EVP_CIPHER_gettable_ctx_params(cipher[OURS]));
    compare_list("settable", EVP_CIPHER_settable_ctx_params(cipher[THEIRS]), EVP_CIPHER_settable_ctx_params(cipher[OURS]));
}

/* EVP_Cipher returns as many bytes as it writes. (OpenSSL's OCB encrypts without the IV.) */
static void check_ocb_by_cipher(void) {
    unsigned char in[50], out[2][80], tag[2][16];
    fill(in, sizeof in);
    for (int count = 0; count <= 50; count++) {
        int done[2] = {0, 0}, n, last;
        for (int p = 0; p < 2; p++) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            int good = EVP_CipherInit_ex2(ctx, fetched[OCB][0][p], keys[0], keys[1], 1, NULL);
            if (p == THEIRS) {
                good = good && EVP_CipherUpdate(ctx, out[p], &n, in, count) && EVP_CipherFinal_ex(ctx, out[p] + n, &last);
            } else {
                n = EVP_Cipher(ctx, out[p], in, (unsigned)count);
                last = n < 0 ? n : EVP_Cipher(ctx, out[p] + n, NULL, 0);
                good = good && last >= 0;
            }
            if (!good || !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, tag[p])) fail("OCB rejects %d bytes by EVP_Cipher", count);
            done[p] = n + last;
            EVP_CIPHER_CTX_free(ctx);
        }
        if (done[0] != count || done[1] != count || memcmp(out[0], out[1], (size_t)count) != 0 || memcmp(tag[0], tag[1], 16) != 0) {
            fail("OCB returns another ciphertext of %d bytes by EVP_Cipher", count);
        }
    }
}

/* CCM takes the length of the message by EVP_Cipher, too. (Late versions of OpenSSL take such a call as the end.) */
static void check_ccm_by_cipher(void) {
    unsigned char in[50], out[2][50], tag[2][12];
    fill(in, sizeof in);
    for (int count = 1; count <= 50; count++) {
        for (int p = 0; p < 2; p++) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            int good = EVP_CipherInit_ex2(ctx, fetched[CCM][0][p], keys[0], keys[1], 1, NULL), n;
            if (p == THEIRS) {
                good = good && EVP_CipherUpdate(ctx, NULL, &n, NULL, count) && EVP_CipherUpdate(ctx, NULL, &n, keys[2], 20) &&
                       EVP_CipherUpdate(ctx, out[p], &n, in, count);
            } else {
                good = good && EVP_Cipher(ctx, NULL, NULL, (unsigned)count) == count && EVP_Cipher(ctx, NULL, keys[2], 20) == 20 &&
                       EVP_Cipher(ctx, out[p], in, (unsigned)count) == count && EVP_Cipher(ctx, NULL, NULL, 0) == 0;
            }
            if (!good || !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 12, tag[p])) fail("CCM rejects %d bytes by EVP_Cipher", count);
            EVP_CIPHER_CTX_free(ctx);
        }
        if (memcmp(out[0], out[1], (size_t)count) != 0 || memcmp(tag[0], tag[1], 12) != 0) {
            fail("CCM returns another ciphertext of %d bytes by EVP_Cipher", count);
        }
    }
}

/* A data unit of XTS has at most 2^20 blocks. */
static void check_xts_limit(void) {
    const int limit = 16 << 20;
    unsigned char *data = calloc(1, (size_t)limit + 1);
    note("data units of 2^24 bytes\n");
    for (int call = 0; call < 4; call++) {
        const int count = limit + (call & 1);
        int r[2], n;
        for (int p = 0; p < 2; p++) {
            EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
            if (!EVP_CipherInit_ex2(ctx, xts[0][p], keys[0], keys[1], 1, NULL)) fail("cannot create a context");
            r[p] = keep(p, call < 2 ? EVP_CipherUpdate(ctx, data, &n, data, count) : EVP_Cipher(ctx, data, data, (unsigned)count) >= 0);
            EVP_CIPHER_CTX_free(ctx);
        }
        if (outcome("a long data unit", r[0], r[1], NONE) != !(call & 1)) fail("%d bytes of XTS", count);
    }
    free(data);
}

/* CMAC with an unknown cipher, with keys of wrong sizes, and without a cipher or a key. */
static void check_mac_errors(void) {
    static const char *const ciphers[] = {"AES-128-CBC", "no-such-cipher", NULL};
    note("errors of CMAC\n");
    for (size_t which = 0; which < 3; which++) {
        for (size_t bytes = 0; bytes <= 33; bytes++) {
            int r[2];
            for (int p = 0; p < 2; p++) {
                EVP_MAC *mac = EVP_MAC_fetch(NULL, "CMAC", p == OURS ? "provider=sealcomb" : "provider=default");
                EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
                char *name = (char *)(uintptr_t)ciphers[which];
                OSSL_PARAM params[2] = {OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
                if (name != NULL) params[0] = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, name, 0);
                r[p] = keep(p, EVP_MAC_init(ctx, bytes == 33 ? NULL : keys[0], bytes, params));
                EVP_MAC_CTX_free(ctx);
                EVP_MAC_free(mac);
            }
            (void)outcome("MAC init", r[0], r[1], NONE);
        }
    }
}

static void sequence(void) {
    /* Errors of the preceding sequence whose call was not compared. */
    ERR_clear_error();
    written = 0;
    journal[0] = '\0';
    state = seed * 0x2545f4914f6cdd1d + number * 0x9e3779b97f4a7c15;
    note("sequence %llu of seed %llu: ", number, (unsigned long long)seed);
    int kind = below(20);
    if (kind < 2) mac_sequence();
    else if (kind == 2) xts_sequence();
    else if (kind < 6) plain_sequence();
    else if (kind == 6) record_sequence();
    else cipher_sequence();
}

int main(int count, char **arguments) {
    const char *text = getenv("SEALCOMB_SEED");
    unsigned long long sequences = count > 1 ? strtoull(arguments[1], NULL, 10) : 1000;
    seed = text != NULL ? strtoull(text, NULL, 10) : 1;
    if (OSSL_PROVIDER_load(NULL, "sealcomb") == NULL || OSSL_PROVIDER_load(NULL, "default") == NULL) {
        fprintf(stderr, "cannot load the providers; OPENSSL_MODULES must name the folder with sealcomb.so\n");
        return 1;
    }
    for (int mode = 0; mode < 4; mode++) {
        for (int n = 0; n < 3; n++) {
            fetched[mode][n][THEIRS] = EVP_CIPHER_fetch(NULL, names[mode][n], "provider=default");
            fetched[mode][n][OURS] = EVP_CIPHER_fetch(NULL, names[mode][n], "provider=sealcomb");
        }
    }
    for (int n = 0; n < 2; n++) {
        xts[n][THEIRS] = EVP_CIPHER_fetch(NULL, n ? "AES-256-XTS" : "AES-128-XTS", "provider=default");
        /* By OpenSSL's object identifiers, which are names as well. */
        xts[n][OURS] = EVP_CIPHER_fetch(NULL, n ? "1.3.111.2.1619.0.1.2" : "1.3.111.2.1619.0.1.1", "provider=sealcomb");
        if (xts[n][THEIRS] == NULL || xts[n][OURS] == NULL) fail("cannot fetch XTS");
    }
    plain_fetch();
    for (int i = 0; i < 3; i++) fill(keys[i], sizeof keys[i]);
    compare_parameters();
    for (int n = 0; n < 3; n++) {
        for (int mode = 0; mode < 4; mode++) compare_lists(fetched[mode][n]);
        for (int mode = 0; mode < 2; mode++) compare_lists(plain[mode][n]);
    }
    for (int n = 0; n < 2; n++) compare_lists(xts[n]);
    check_ocb_by_cipher();
    check_ccm_by_cipher();
    check_xts_limit();
    check_mac_errors();
    if (count > 2) {
        loud = 1;
        number = strtoull(arguments[2], NULL, 10);
        sequence();
    } else {
        for (number = 0; number < sequences; number++) sequence();
    }
    printf("%llu sequences with %llu calls, seed %llu, compared with OpenSSL %s:\n", sequences, operations, (unsigned long long)seed,
           OpenSSL_version(OPENSSL_VERSION_STRING));
    printf("  %llu messages and %llu errors agree; %llu opened, %llu forged; %llu records; %llu random and %llu counted IVs\n", messages,
           errors, opened, forged, records, random_ivs, counted_ivs);
    for (int i = 0; i < NONE; i++) printf("  %8llu times %s\n", differed[i], texts[i]);
    return 0;
}
