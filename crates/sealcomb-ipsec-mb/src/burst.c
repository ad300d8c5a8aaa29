/* Processes bursts of messages with Intel's library. Each mode uses the interface that is fastest for it:
 *
 *   GCM             one call per message, with an expanded key
 *   CBC, CTR        synchronous cipher bursts
 *   ECB, CMAC, CCM  job bursts, flushed until all jobs are complete
 */
#include <intel-ipsec-mb.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum mode { ECB_MODE, CBC_MODE, CTR_MODE, CMAC_MODE, CCM_MODE, GCM_MODE };

struct message {
    const uint8_t *nonce;
    size_t nonce_bytes;
    uint8_t *data;
    size_t data_bytes;
    uint8_t *tag; /* 16 bytes */
};

struct peer {
    struct gcm_key_data gcm;
    DECLARE_ALIGNED(uint32_t encrypting[15 * 4], 16);
    DECLARE_ALIGNED(uint32_t decrypting[15 * 4], 16);
    DECLARE_ALIGNED(uint32_t subkeys[2][4], 16);
    IMB_MGR *manager;
    enum mode mode;
    size_t key_bytes;
};

void sealcomb_imb_rekey(struct peer *peer, const uint8_t *key) {
    IMB_MGR *manager = peer->manager;
    if (peer->key_bytes == 16) {
        if (peer->mode == GCM_MODE) {
            IMB_AES128_GCM_PRE(manager, key, &peer->gcm);
            return;
        }
        IMB_AES_KEYEXP_128(manager, key, peer->encrypting, peer->decrypting);
        if (peer->mode == CMAC_MODE)
            IMB_AES_CMAC_SUBKEY_GEN_128(manager, peer->encrypting, peer->subkeys[0], peer->subkeys[1]);
    } else {
        if (peer->mode == GCM_MODE) {
            IMB_AES256_GCM_PRE(manager, key, &peer->gcm);
            return;
        }
        IMB_AES_KEYEXP_256(manager, key, peer->encrypting, peer->decrypting);
        if (peer->mode == CMAC_MODE)
            IMB_AES_CMAC_SUBKEY_GEN_256(manager, peer->encrypting, peer->subkeys[0], peer->subkeys[1]);
    }
}

struct peer *sealcomb_imb_new(int mode, const uint8_t *key, size_t key_bytes) {
    struct peer *peer = aligned_alloc(64, (sizeof *peer + 63) / 64 * 64);
    if (peer == NULL)
        return NULL;
    memset(peer, 0, sizeof *peer);
    peer->manager = alloc_mb_mgr(0);
    if (peer->manager == NULL) {
        free(peer);
        return NULL;
    }
    init_mb_mgr_auto(peer->manager, NULL);
    peer->mode = mode;
    peer->key_bytes = key_bytes;
    sealcomb_imb_rekey(peer, key);
    return peer;
}

void sealcomb_imb_free(struct peer *peer) {
    free_mb_mgr(peer->manager);
    free(peer);
}

static void gcm(struct peer *peer, struct message *messages, size_t count, int opens) {
    IMB_MGR *manager = peer->manager;
    for (size_t i = 0; i < count; i++) {
        struct message *m = &messages[i];
        struct gcm_context_data context;
        if (peer->key_bytes == 16 && !opens)
            IMB_AES128_GCM_ENC(manager, &peer->gcm, &context, m->data, m->data, m->data_bytes, m->nonce, NULL, 0,
                               m->tag, 16);
        else if (peer->key_bytes == 16)
            IMB_AES128_GCM_DEC(manager, &peer->gcm, &context, m->data, m->data, m->data_bytes, m->nonce, NULL, 0,
                               m->tag, 16);
        else if (!opens)
            IMB_AES256_GCM_ENC(manager, &peer->gcm, &context, m->data, m->data, m->data_bytes, m->nonce, NULL, 0,
                               m->tag, 16);
        else
            IMB_AES256_GCM_DEC(manager, &peer->gcm, &context, m->data, m->data, m->data_bytes, m->nonce, NULL, 0,
                               m->tag, 16);
    }
}

static void fill(const struct peer *peer, IMB_JOB *job, struct message *m, int opens) {
    job->enc_keys = peer->encrypting;
    job->dec_keys = peer->decrypting;
    job->key_len_in_bytes = peer->key_bytes;
    job->src = m->data;
    job->dst = m->data;
    job->cipher_start_src_offset_in_bytes = 0;
    job->msg_len_to_cipher_in_bytes = m->data_bytes;
    job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_hash_in_bytes = m->data_bytes;
    job->iv = m->nonce;
    job->iv_len_in_bytes = m->nonce_bytes;
    job->auth_tag_output = m->tag;
    job->auth_tag_output_len_in_bytes = 16;
    job->cipher_direction = opens ? IMB_DIR_DECRYPT : IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_CIPHER_HASH;
    job->hash_alg = IMB_AUTH_NULL;
    switch (peer->mode) {
    case ECB_MODE:
        job->cipher_mode = IMB_CIPHER_ECB;
        break;
    case CBC_MODE:
        job->cipher_mode = IMB_CIPHER_CBC;
        break;
    case CTR_MODE:
        job->cipher_mode = IMB_CIPHER_CNTR;
        break;
    case CCM_MODE:
        job->cipher_mode = IMB_CIPHER_CCM;
        job->hash_alg = IMB_AUTH_AES_CCM;
        job->chain_order = opens ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
        job->u.CCM.aad = NULL;
        job->u.CCM.aad_len_in_bytes = 0;
        break;
    default:
        job->cipher_mode = IMB_CIPHER_NULL;
        job->hash_alg = peer->key_bytes == 16 ? IMB_AUTH_AES_CMAC : IMB_AUTH_AES_CMAC_256;
        job->u.CMAC._key_expanded = peer->encrypting;
        job->u.CMAC._skey1 = peer->subkeys[0];
        job->u.CMAC._skey2 = peer->subkeys[1];
    }
}

static size_t cipher_burst(struct peer *peer, struct message *messages, size_t count, int opens) {
    IMB_JOB jobs[IMB_MAX_BURST_SIZE];
    size_t done = 0;
    for (size_t at = 0; at < count; at += IMB_MAX_BURST_SIZE) {
        uint32_t n = count - at < IMB_MAX_BURST_SIZE ? (uint32_t)(count - at) : IMB_MAX_BURST_SIZE;
        for (uint32_t i = 0; i < n; i++)
            fill(peer, &jobs[i], &messages[at + i], opens);
        done += IMB_SUBMIT_CIPHER_BURST_NOCHECK(
            peer->manager, jobs, n, jobs[0].cipher_mode, jobs[0].cipher_direction, peer->key_bytes);
    }
    return done;
}

static size_t job_burst(struct peer *peer, struct message *messages, size_t count, int opens) {
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    size_t done = 0, at = 0;
    while (at < count) {
        uint32_t wanted = count - at < IMB_MAX_BURST_SIZE ? (uint32_t)(count - at) : IMB_MAX_BURST_SIZE;
        uint32_t n = IMB_GET_NEXT_BURST(peer->manager, wanted, jobs);
        for (uint32_t i = 0; i < n; i++)
            fill(peer, jobs[i], &messages[at + i], opens);
        at += n;
        done += IMB_SUBMIT_BURST_NOCHECK(peer->manager, n, jobs);
        if (n < wanted)
            done += IMB_FLUSH_BURST(peer->manager, IMB_MAX_BURST_SIZE, jobs);
    }
    for (uint32_t n = 1; done < count && n != 0; done += n)
        n = IMB_FLUSH_BURST(peer->manager, IMB_MAX_BURST_SIZE, jobs);
    return done;
}

/* Returns the number of messages processed. */
size_t sealcomb_imb_run(struct peer *peer, struct message *messages, size_t count, int opens) {
    switch (peer->mode) {
    case GCM_MODE:
        gcm(peer, messages, count, opens);
        return count;
    case CBC_MODE:
    case CTR_MODE:
        return cipher_burst(peer, messages, count, opens);
    default:
        return job_burst(peer, messages, count, opens);
    }
}

const char *sealcomb_imb_version(void) { return IMB_VERSION_STR; }
