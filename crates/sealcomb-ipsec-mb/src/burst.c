/* Processes bursts of messages with Intel's library. Each mode uses the interface that is fastest for it:
 *
 *   GCM             one call per message, with an expanded key
 *   CBC, CTR, CFB   synchronous cipher bursts
 *   ECB, CMAC, CCM  job bursts, flushed until all jobs are complete; since version 2.0 synchronous bursts
 *
 * A session is a job with the fields that all messages of a direction share. Jobs are copies of it.
 */
#include <intel-ipsec-mb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Since this version, jobs have session ids, and synchronous bursts exist for all modes but GCM. */
#define SINCE_2_0 (IMB_VERSION_NUM >= IMB_VERSION(2, 0, 0))

enum mode { ECB_MODE, CBC_MODE, CFB_MODE, CTR_MODE, CMAC_MODE, CCM_MODE, GCM_MODE };

struct message {
    const uint8_t *nonce;
    size_t nonce_bytes;
    uint8_t *data;
    size_t data_bytes;
    uint8_t *tag; /* 16 bytes; NULL in modes without tags */
};

struct peer {
    struct gcm_key_data gcm;
    DECLARE_ALIGNED(uint32_t encrypting[15 * 4], 16);
    DECLARE_ALIGNED(uint32_t decrypting[15 * 4], 16);
    DECLARE_ALIGNED(uint32_t subkeys[2][4], 16);
    IMB_MGR *manager;
    enum mode mode;
    size_t key_bytes;
    IMB_JOB sessions[2]; /* to seal, to open */
    IMB_JOB jobs[IMB_MAX_BURST_SIZE];
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

static void set_session(struct peer *peer, int opens) {
    IMB_JOB *job = &peer->sessions[opens];
    job->enc_keys = peer->encrypting;
    job->dec_keys = peer->decrypting;
    job->key_len_in_bytes = peer->key_bytes;
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
#if SINCE_2_0
    case CFB_MODE:
        job->cipher_mode = IMB_CIPHER_CFB;
        job->dec_keys = peer->encrypting;
        break;
#endif
    case CTR_MODE:
        job->cipher_mode = IMB_CIPHER_CNTR;
        break;
    case CCM_MODE:
        job->cipher_mode = IMB_CIPHER_CCM;
        job->hash_alg = IMB_AUTH_AES_CCM;
        job->chain_order = opens ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
        break;
    case CMAC_MODE:
        job->cipher_mode = IMB_CIPHER_NULL;
        job->hash_alg = peer->key_bytes == 16 ? IMB_AUTH_AES_CMAC : IMB_AUTH_AES_CMAC_256;
        job->u.CMAC._key_expanded = peer->encrypting;
        job->u.CMAC._skey1 = peer->subkeys[0];
        job->u.CMAC._skey2 = peer->subkeys[1];
        break;
    default: /* GCM has no jobs. */
        return;
    }
#if SINCE_2_0
    imb_set_session(peer->manager, job);
#endif
}

/* Returns NULL if the library does not support the mode, or cannot allocate memory. */
struct peer *sealcomb_imb_new(int mode, const uint8_t *key, size_t key_bytes) {
    if (mode == CFB_MODE && !SINCE_2_0)
        return NULL;
    if (imb_get_version() != IMB_VERSION_NUM) {
        fprintf(stderr, "ipsec-mb %s was loaded; the header is of %s\n", imb_get_version_str(), IMB_VERSION_STR);
        abort();
    }
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
    set_session(peer, 0);
    set_session(peer, 1);
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

static void fill(IMB_JOB *job, const IMB_JOB *session, const struct message *m) {
#if SINCE_2_0
    /* The library does not modify the fields of a session. */
    if (job->session_id != session->session_id)
#endif
        *job = *session;
    job->src = m->data;
    job->dst = m->data;
    job->msg_len_to_cipher_in_bytes = m->data_bytes;
    job->msg_len_to_hash_in_bytes = m->data_bytes;
    job->iv = m->nonce;
    job->iv_len_in_bytes = m->nonce_bytes;
    job->auth_tag_output = m->tag;
}

static uint32_t submit(struct peer *peer, const IMB_JOB *session, uint32_t n) {
    IMB_CIPHER_MODE mode = session->cipher_mode;
#if SINCE_2_0
    if (peer->mode == CMAC_MODE)
        return IMB_SUBMIT_HASH_BURST_NOCHECK(peer->manager, peer->jobs, n, session->hash_alg);
    if (peer->mode == CCM_MODE)
        return IMB_SUBMIT_AEAD_BURST_NOCHECK(
            peer->manager, peer->jobs, n, mode, session->cipher_direction, peer->key_bytes);
#endif
    return IMB_SUBMIT_CIPHER_BURST_NOCHECK(
        peer->manager, peer->jobs, n, mode, session->cipher_direction, peer->key_bytes);
}

static size_t synchronous_burst(struct peer *peer, struct message *messages, size_t count, int opens) {
    const IMB_JOB *session = &peer->sessions[opens];
    size_t done = 0;
    for (size_t at = 0; at < count; at += IMB_MAX_BURST_SIZE) {
        uint32_t n = count - at < IMB_MAX_BURST_SIZE ? (uint32_t)(count - at) : IMB_MAX_BURST_SIZE;
        for (uint32_t i = 0; i < n; i++)
            fill(&peer->jobs[i], session, &messages[at + i]);
        done += submit(peer, session, n);
    }
    return done;
}

static size_t job_burst(struct peer *peer, struct message *messages, size_t count, int opens) {
    const IMB_JOB *session = &peer->sessions[opens];
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    size_t done = 0, at = 0;
    while (at < count) {
        uint32_t wanted = count - at < IMB_MAX_BURST_SIZE ? (uint32_t)(count - at) : IMB_MAX_BURST_SIZE;
        uint32_t n = IMB_GET_NEXT_BURST(peer->manager, wanted, jobs);
        for (uint32_t i = 0; i < n; i++)
            fill(jobs[i], session, &messages[at + i]);
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
    case ECB_MODE:
    case CMAC_MODE:
    case CCM_MODE:
        if (!SINCE_2_0)
            return job_burst(peer, messages, count, opens);
        /* fall through */
    default:
        return synchronous_burst(peer, messages, count, opens);
    }
}

const char *sealcomb_imb_version(void) { return imb_get_version_str(); }
