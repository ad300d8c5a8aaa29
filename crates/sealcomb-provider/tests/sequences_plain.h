/* Sequences of calls for CBC and CTR, and TLS records with CBC. Included by sequences.c. */

static const char *const plain_names[2][3] = {{"AES-128-CBC", "AES-192-CBC", "AES-256-CBC"}, {"AES-128-CTR", "AES-192-CTR", "AES-256-CTR"}};
static EVP_CIPHER *plain[2][3][2];

static struct {
    EVP_CIPHER *const *cipher;
    EVP_CIPHER_CTX *ctx[2];
    int is_ctr, encrypts, has_key;
    /* Why this provider may reject the next piece or the end; NONE if it may not. */
    enum difference refused;
} run;

static void plain_fetch(void) {
    for (int mode = 0; mode < 2; mode++) {
        for (int n = 0; n < 3; n++) {
            plain[mode][n][THEIRS] = EVP_CIPHER_fetch(NULL, plain_names[mode][n], "provider=default");
            plain[mode][n][OURS] = EVP_CIPHER_fetch(NULL, plain_names[mode][n], "provider=sealcomb");
            if (plain[mode][n][0] == NULL || plain[mode][n][1] == NULL) fail("cannot fetch %s", plain_names[mode][n]);
        }
    }
}

static void plain_restart(int encrypts) {
    note("  new contexts, %s\n", encrypts ? "encrypting" : "decrypting");
    for (int p = 0; p < 2; p++) {
        EVP_CIPHER_CTX_free(run.ctx[p]);
        run.ctx[p] = EVP_CIPHER_CTX_new();
        if (!EVP_CipherInit_ex2(run.ctx[p], run.cipher[p], NULL, NULL, encrypts, NULL)) fail("cannot create a context");
    }
    run.encrypts = encrypts;
    run.has_key = 0;
    run.refused = NONE;
}

/* Compares return values like `outcome`, with new contexts after a permitted difference. */
static int plain_outcome(const char *what, const int r[2], enum difference refused) {
    if (r[0] && !r[1] && refused != NONE) {
        note("  permitted difference: %s\n", texts[refused]);
        differed[refused]++;
        plain_restart(below(2));
        return -1;
    }
    return outcome(what, r[0], r[1], refused);
}

static void plain_init(int first) {
    unsigned char key[32], iv[16];
    int r[2], with_key = first || below(3) == 0, with_iv = first ? below(8) > 0 : below(2), turns = below(4) == 0;
    fill(key, sizeof key);
    fill(iv, sizeof iv);
    /* Counters that overflow. */
    if (below(4) == 0) memset(iv + below(16), 0xff, (size_t)(16 - below(4)));
    iv[15] = below(3) ? iv[15] : (unsigned char)(0xff - below(4));
    run.encrypts ^= turns;
    note("  init %s%s%s\n", run.encrypts ? "encrypt" : "decrypt", with_key ? ", key" : "", with_iv ? ", IV" : "");
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherInit_ex2(run.ctx[p], NULL, with_key ? key : NULL, with_iv ? iv : NULL, run.encrypts, NULL));
    (void)outcome("init", r[0], r[1], NONE);
    if (with_key) run.refused = NONE;
    else if (turns && run.has_key && !run.is_ctr) run.refused = CBC_DIRECTION;
    run.has_key |= with_key;
}

static void plain_data(void) {
    static unsigned char in[BUFFER], out[BUFFER], arena[3 * BUFFER];
    int count = size(), place = below(4), cipher = below(6) == 0, r[2], n[2] = {-7, -7};
    unsigned char *from = arena + BUFFER, *to = from;
    /* EVP_Cipher with a partial block writes beyond it with OpenSSL's CBC. */
    if (cipher && !run.is_ctr) count -= count % 16;
    if (place == 0) to = from - BUFFER;
    if (place == 1) to = from + 1 + below(40);
    if (place == 2) to = from - 1 - below(40);
    fill(in, (size_t)count);
    memset(arena, 0x5a, sizeof arena);
    memcpy(from, in, (size_t)count);
    note("  data %d, to %+ld%s\n", count, (long)(to - from), cipher ? " by EVP_Cipher" : "");
    if (cipher) {
        r[THEIRS] = keep(THEIRS, EVP_Cipher(run.ctx[THEIRS], out, in, (unsigned)count) >= 0);
        r[OURS] = keep(OURS, EVP_Cipher(run.ctx[OURS], to, from, (unsigned)count) >= 0);
        n[0] = n[1] = count;
    } else {
        const int nothing = count == 0 && below(2);
        r[THEIRS] = keep(THEIRS, EVP_CipherUpdate(run.ctx[THEIRS], out, &n[THEIRS], nothing ? NULL : in, count));
        r[OURS] = keep(OURS, EVP_CipherUpdate(run.ctx[OURS], to, &n[OURS], nothing ? NULL : from, count));
    }
    if (plain_outcome("data", r, run.refused) <= 0) return;
    if (n[0] != n[1]) fail("data: OpenSSL writes %d, sealcomb %d bytes", n[0], n[1]);
    if (memcmp(out, to, (size_t)n[0]) != 0) fail("data: the outputs differ");
    if (place == 0 && to[n[0]] != 0x5a) fail("data: more bytes are written than returned");
    messages++;
}

static void plain_finish(void) {
    unsigned char out[2][32];
    int r[2], n[2] = {-7, -7};
    note("  final\n");
    memset(out, 0x5a, sizeof out);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherFinal_ex(run.ctx[p], out[p], &n[p]));
    if (plain_outcome("final", r, run.refused) <= 0) return;
    if (n[0] != n[1]) fail("final: OpenSSL writes %d, sealcomb %d bytes", n[0], n[1]);
    if (memcmp(out[0], out[1], (size_t)n[0]) != 0) fail("final: the outputs differ");
    if (out[1][n[1]] != 0x5a) fail("final: more bytes are written than returned");
}

static void plain_copy(void) {
    int swap = below(2);
    note("  copy, and continue with the %s\n", swap ? "copy" : "original");
    for (int p = 0; p < 2; p++) {
        EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new(), *before = run.ctx[p];
        if (!EVP_CIPHER_CTX_copy(copy, before)) fail("cannot copy a context");
        run.ctx[p] = swap ? copy : before;
        EVP_CIPHER_CTX_free(swap ? before : copy);
    }
}

static void plain_padding(void) {
    int pads = below(2), r[2];
    note("  padding %s\n", pads ? "on" : "off");
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_set_padding(run.ctx[p], pads));
    (void)outcome("padding", r[0], r[1], NONE);
}

static void plain_number(void) {
    int number = below(2) ? 0 : below(20), r[2];
    note("  set num to %d\n", number);
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CIPHER_CTX_set_num(run.ctx[p], number));
    /* OpenSSL 3.0 takes any number, and uses the rest of a block of keystream that need not exist. */
    (void)plain_outcome("num", r, number >= (run.is_ctr ? 1 : 16) ? PLAIN_NUMBER : NONE);
}

/* Overwrites the stack of calls that have returned. */
static void overwrite_stack(void) {
    volatile unsigned char bytes[1 << 14];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0xa5;
}

static void plain_compare(void) {
    unsigned char iv[2][2][16];
    long values[2][6] = {{0}, {0}};
    note("  compare parameters\n");
    for (int p = 0; p < 2; p++) {
        values[p][0] = EVP_CIPHER_CTX_get_iv_length(run.ctx[p]);
        values[p][1] = EVP_CIPHER_CTX_get_key_length(run.ctx[p]);
        values[p][2] = EVP_CIPHER_CTX_get_num(run.ctx[p]);
        values[p][3] = EVP_CIPHER_CTX_get_block_size(run.ctx[p]);
        values[p][4] = (long)EVP_CIPHER_get_flags(EVP_CIPHER_CTX_get0_cipher(run.ctx[p]));
        values[p][5] = keep(p, EVP_CIPHER_CTX_set_key_length(run.ctx[p], 16 + 8 * below(2)));
        if (!EVP_CIPHER_CTX_get_updated_iv(run.ctx[p], iv[p][0], 16) || !EVP_CIPHER_CTX_get_original_iv(run.ctx[p], iv[p][1], 16)) {
            fail("cannot read the IVs");
        }
        const unsigned char *updated = EVP_CIPHER_CTX_iv(run.ctx[p]), *original = EVP_CIPHER_CTX_original_iv(run.ctx[p]);
        overwrite_stack();
        if (updated == NULL || memcmp(updated, iv[p][0], 16) != 0) fail("EVP_CIPHER_CTX_iv returns another IV");
        if (original == NULL || memcmp(original, iv[p][1], 16) != 0) fail("EVP_CIPHER_CTX_original_iv returns another IV");
        if (p == 0) state -= 0x9e3779b97f4a7c15; /* Both get this key length. */
    }
    for (int i = 0; i < 6; i++) {
        if (values[0][i] != values[1][i]) fail("parameter %d: %ld and %ld", i, values[0][i], values[1][i]);
    }
    compare_queues("set the key length");
    if (memcmp(iv[0], iv[1], sizeof iv[0]) != 0) fail("the IVs differ");
}

static void plain_sequence(void) {
    int n = below(3);
    run.is_ctr = below(2);
    run.cipher = plain[run.is_ctr][n];
    note("%s\n", plain_names[run.is_ctr][n]);
    plain_restart(below(2));
    for (int i = 0, calls = 2 + below(CALLS); i < calls; i++) {
        operations++;
        ERR_clear_error();
        switch (i == 0 && below(8) ? 0 : below(16)) {
        case 0: case 1: plain_init(i == 0); break;
        case 2: case 3: plain_finish(); break;
        /* OpenSSL 3.0 crashes if a context without a key was copied, and then encrypts. */
        case 4: if (run.has_key) plain_copy(); break;
        case 5: plain_padding(); break;
        case 6: plain_number(); break;
        case 7:
            odd_parameter(run.cipher, run.ctx, 16);
            plain_restart(below(2));
            break;
        case 8: plain_compare(); break;
        default: plain_data(); break;
        }
    }
}

/* ---- TLS records with CBC. */

static int record_params(EVP_CIPHER_CTX *ctx, unsigned version, size_t mac_bytes) {
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_CIPHER_PARAM_TLS_VERSION, &version),
                           OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_TLS_MAC_SIZE, &mac_bytes), OSSL_PARAM_construct_end()};
    return EVP_CIPHER_CTX_set_params(ctx, params);
}

/* Encrypts or decrypts a record of `count` bytes in place with both providers. Compares the results, and writes the
 * first `*written` bytes to the record. Returns whether both succeed. */
static int crypt_record(EVP_CIPHER *const *cipher, int encrypts, unsigned version, size_t mac_bytes, const unsigned char *key,
                        const unsigned char *iv, unsigned char *record, int count, int *written) {
    static unsigned char data[2][BUFFER];
    unsigned char *macs[2] = {NULL, NULL}, last[2][16];
    int r[2], n[2] = {-7, -7}, other = below(12) == 0, unpadded = below(12) == 0, end;
    EVP_CIPHER_CTX *ctx[2];
    for (int p = 0; p < 2; p++) {
        ctx[p] = EVP_CIPHER_CTX_new();
        memcpy(data[p], record, (size_t)count);
        if (!EVP_CipherInit_ex2(ctx[p], cipher[p], key, iv, encrypts, NULL) || !record_params(ctx[p], version, mac_bytes)) fail("cannot set up records");
        if (unpadded) EVP_CIPHER_CTX_set_padding(ctx[p], 0);
        r[p] = keep(p, EVP_CipherUpdate(ctx[p], data[p] + (other ? 16 : 0), &n[p], data[p], count));
    }
    note("  record of %d bytes, MAC of %zu, version %x%s%s\n", count, mac_bytes, version, other ? ", not in place" : "", unpadded ? ", without padding" : "");
    int both = outcome("record", r[0], r[1], NONE);
    if (both) {
        if (n[0] != n[1]) fail("record: OpenSSL returns %d, sealcomb %d bytes", n[0], n[1]);
        *written = n[0];
        if (memcmp(data[0], data[1], (size_t)(encrypts ? n[0] : count)) != 0) fail("record: the outputs differ");
        memcpy(record, data[1], (size_t)(encrypts ? n[0] : count));
        records++;
    }
    for (int p = 0; p < 2; p++) {
        OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_ptr(OSSL_CIPHER_PARAM_TLS_MAC, (void **)&macs[p], mac_bytes), OSSL_PARAM_construct_end()};
        r[p] = keep(p, EVP_CIPHER_CTX_get_params(ctx[p], params));
        if (both && (!r[p] || (macs[p] != NULL) != (!encrypts && mac_bytes > 0))) fail("cannot read the MAC, or that there is none");
    }
    if (both && !encrypts && mac_bytes > 0) {
        int whole = count - (version == 0x301 ? 0 : 16) - (int)mac_bytes;
        int same = memcmp(macs[0], macs[1], mac_bytes) == 0;
        if (same != (n[0] < whole)) fail("the MACs %s", same ? "are equal after wrong padding" : "differ");
        if (same && memcmp(macs[1], record + (version == 0x301 ? 0 : 16) + n[1], mac_bytes) != 0) fail("the MAC is not that of the record");
        if (!same && memcmp(macs[1], record + count - mac_bytes, mac_bytes) == 0) fail("the MAC is not random after wrong padding");
    }
    for (int p = 0; p < 2; p++) r[p] = keep(p, EVP_CipherFinal_ex(ctx[p], last[p], &end));
    if (r[0] || r[1]) fail("a record has an end: %d and %d", r[0], r[1]);
    for (int p = 0; p < 2; p++) EVP_CIPHER_CTX_free(ctx[p]);
    return both;
}

/* Encrypts a record without its padding, which is then `padding` bytes of this value and one more. */
static int seal_padded(EVP_CIPHER *cipher, const unsigned char *key, const unsigned char *iv, unsigned char *record, int count, int padding) {
    int n, good;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    memset(record + count, padding, (size_t)padding + 1);
    good = EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL) && EVP_CIPHER_CTX_set_padding(ctx, 0) &&
           EVP_EncryptUpdate(ctx, record, &n, record, count + padding + 1) && n == count + padding + 1;
    EVP_CIPHER_CTX_free(ctx);
    if (!good) fail("OpenSSL cannot encrypt a record");
    return n;
}

static void record_sequence(void) {
    static const unsigned versions[] = {0x301, 0x302, 0x303, 0xfeff, 0xfefd};
    static const size_t mac_sizes[] = {0, 20, 32, 48};
    static unsigned char record[BUFFER];
    unsigned char key[32], iv[16];
    int n = below(3), count = size(), written;
    EVP_CIPHER *const *cipher = plain[0][n];
    unsigned version = versions[below(5)];
    size_t mac_bytes = mac_sizes[below(4)];
    if (count > MAX_BYTES - 400) count = MAX_BYTES - 400;
    operations += 2;
    note("records with %s\n", plain_names[0][n]);
    fill(key, sizeof key);
    fill(iv, sizeof iv);
    fill(record, (size_t)count);
    if (below(2)) {
        if (!crypt_record(cipher, 1, version, mac_bytes, key, iv, record, count, &written)) return;
    } else {
        int padding = 15 - count % 16 + 16 * below(16);
        written = seal_padded(cipher[THEIRS], key, iv, record, count, padding);
    }
    if (below(3) == 0) record[written - 1 - below(written < 300 ? written : 300)] ^= (unsigned char)(1 << below(8));
    if (below(20) == 0) written -= 1 + below(15);
    if (version != 0x301 && written < 16) return; /* OpenSSL reads before the record. */
    (void)crypt_record(cipher, 0, version, mac_bytes, key, iv, record, written, &written);
}
