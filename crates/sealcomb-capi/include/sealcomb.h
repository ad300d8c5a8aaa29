/**
 * @file
 * AES-based authenticated encryption of many messages at once.
 *
 * A program takes an algorithm by its id, expands a key once, and seals or opens batches of jobs under it. Lengths are in
 * bytes. NULL with a length or count of 0 is an empty buffer everywhere; NULL with any other is `SEALCOMB_ERROR_POINTER`, and
 * nothing is written. All functions may be
 * called from any thread at any time, and keys may be shared. None of them throws or ends the program.
 */

#ifndef SEALCOMB_H
#define SEALCOMB_H

/* Made by cbindgen from crates/sealcomb-capi/src: `./dev capi-header` renews it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a function whose result says whether something went wrong. */
#if defined(__GNUC__)
#define SEALCOMB_MUST_USE __attribute__((warn_unused_result))
#else
#define SEALCOMB_MUST_USE
#endif

/**
 * The version of this header.
 */
#define SEALCOMB_VERSION_MAJOR 0

/**
 * The version of this header.
 */
#define SEALCOMB_VERSION_MINOR 1

/**
 * The version of this header.
 */
#define SEALCOMB_VERSION_PATCH 0

/**
 * What an algorithm gives.
 */
typedef enum sealcomb_kind {
    /**
     * Secrecy and authenticity.
     */
    SEALCOMB_AEAD = 0,
    /**
     * Authenticity without secrecy: what is authenticated are the additional data, and there is no message to encrypt.
     */
    SEALCOMB_MAC = 1,
    /**
     * Secrecy without authenticity, in builds with the feature `hazmat`: has no tag.
     */
    SEALCOMB_CIPHER = 2,
} sealcomb_kind;

/**
 * What became of a call or of a job. Errors are mistakes of the caller, found before anything is written, unless it
 * says otherwise.
 */
typedef enum sealcomb_status {
    /**
     * All went well; what was opened is verified.
     */
    SEALCOMB_OK = 0,
    /**
     * A job that was not done, since another one of its batch had a mistake in it.
     */
    SEALCOMB_NOT_DONE = 1,
    /**
     * A job whose algorithm is a bare cipher: it was decrypted, and there was nothing to verify.
     */
    SEALCOMB_UNAUTHENTICATED = 2,
    /**
     * The message did not verify, and its output is zeroed. Why is not told: an attacker could learn from it.
     */
    SEALCOMB_FORGED = -1,
    /**
     * The size in a job's first field is none that this library knows, or differs within a batch; or a reserved
     * field is not 0.
     */
    SEALCOMB_ERROR_JOB_SIZE = -2,
    /**
     * A pointer is NULL although the length or count beside it is not 0, a length or the bytes of an array are over
     * `SIZE_MAX / 2`, or an array is not aligned for its elements.
     */
    SEALCOMB_ERROR_POINTER = -3,
    /**
     * What a job writes overlaps something else of it, other than by being in place: `output == input`.
     */
    SEALCOMB_ERROR_OVERLAP = -4,
    /**
     * The key has another length than the algorithm takes: `sealcomb_algorithm_key_bytes`.
     */
    SEALCOMB_ERROR_KEY_LENGTH = -5,
    /**
     * The algorithm takes no nonce of this length.
     */
    SEALCOMB_ERROR_NONCE_LENGTH = -6,
    /**
     * The key, or its algorithm, takes no tag of this length.
     */
    SEALCOMB_ERROR_TAG_LENGTH = -7,
    /**
     * The message is shorter than the mode takes, or not of whole blocks where it takes those only.
     */
    SEALCOMB_ERROR_MESSAGE_LENGTH = -8,
    /**
     * The message is longer than the mode's limit.
     */
    SEALCOMB_ERROR_MESSAGE_TOO_LONG = -9,
    /**
     * There are more additional data, or more strings of them, than the mode's limit; or so much in pieces that there
     * is no memory to join them.
     */
    SEALCOMB_ERROR_AAD_TOO_LONG = -10,
    /**
     * The output has less room than the result takes.
     */
    SEALCOMB_ERROR_OUTPUT_TOO_SHORT = -11,
    /**
     * The algorithm is a bare cipher and takes no additional data.
     */
    SEALCOMB_ERROR_TAKES_NO_AAD = -12,
    /**
     * The algorithm is a MAC: what it authenticates are the additional data, and there is nothing to encrypt.
     */
    SEALCOMB_ERROR_TAKES_NO_MESSAGE = -13,
    /**
     * No algorithm of this build has this id.
     */
    SEALCOMB_ERROR_UNKNOWN_ALGORITHM = -14,
    /**
     * No backend has this name.
     */
    SEALCOMB_ERROR_UNKNOWN_BACKEND = -15,
    /**
     * The backend exists, but this CPU, its operating system or this build lacks it.
     */
    SEALCOMB_ERROR_NO_BACKEND = -16,
    /**
     * A mistake of the library, which never comes knowingly: please report it. Outputs of what was to be opened are
     * zeroed, others hold nothing of use.
     */
    SEALCOMB_ERROR_INTERNAL = -100,
} sealcomb_status;

/**
 * An algorithm: a mode of operation with a block cipher of one key size. It belongs to the library and is never freed.
 *
 * Where a function takes an algorithm, NULL gives 0 or NULL, unless it says otherwise.
 */
typedef struct sealcomb_algorithm sealcomb_algorithm;

/**
 * A key of one algorithm, expanded once. Nothing changes it, so any number of messages and threads may share it, until
 * `sealcomb_key_free`, which wipes it.
 */
typedef struct sealcomb_key sealcomb_key;

/**
 * A piece of memory that is read.
 */
typedef struct sealcomb_iovec {
    /**
     * Where it begins; may be NULL if it has no bytes.
     */
    const uint8_t *data;
    /**
     * Its bytes.
     */
    size_t bytes;
} sealcomb_iovec;

/**
 * A message to seal or to open: where it is, where the result goes, and what became of it.
 *
 * Set all of it to 0 first, `size` to `sizeof(sealcomb_job)`, and then what there is. A pointer may be NULL only where
 * the length or count beside it is 0: any other NULL, and any length over `SIZE_MAX / 2`, is `SEALCOMB_ERROR_POINTER`.
 *
 * If `output` is `input`, the work is done in place. Otherwise nothing that is written (the bytes of the result at
 * `output`; when sealing, `tag`) may overlap anything that is read of the same job (`nonce`, `aad`, `aad_parts` and
 * its pieces, `input`; when opening, `tag`), nor may `output` overlap `tag`: that is `SEALCOMB_ERROR_OVERLAP`. Buffers
 * of different jobs of a batch must not overlap either, where one of them is written, but this is not checked: what
 * then stands in those buffers, and whether they verify, is not defined, but no other memory is touched. Nor may what
 * is written overlap the jobs themselves.
 */
typedef struct sealcomb_job {
    /**
     * `sizeof(sealcomb_job)`, of the header that the program was compiled with: the same in all jobs of a batch.
     */
    size_t size;
    /**
     * The key; several jobs may have the same one.
     */
    const struct sealcomb_key *key;
    /**
     * The nonce: `sealcomb_algorithm_note` says what it must be.
     */
    const uint8_t *nonce;
    /**
     * Bytes of the nonce; 0 for algorithms without one.
     */
    size_t nonce_bytes;
    /**
     * What is authenticated and not encrypted; for a MAC all of its message; for a cipher with a tweak, that.
     */
    const uint8_t *aad;
    /**
     * Bytes of `aad`.
     */
    size_t aad_bytes;
    /**
     * Additional data in several pieces, authenticated as if they were one, or NULL. With pieces, `aad_bytes` must be
     * 0. To AES-SIV each piece is a string of its own, at most 126 with the nonce, and no piece at all is not the same
     * as one empty piece (RFC 5297, section 2.4); `aad` is one string.
     */
    const struct sealcomb_iovec *aad_parts;
    /**
     * How many pieces there are; 0 where `aad_parts` is NULL.
     */
    size_t aad_part_count;
    /**
     * The message, or the ciphertext without its tag.
     */
    const uint8_t *input;
    /**
     * Bytes of the input.
     */
    size_t input_bytes;
    /**
     * Where the ciphertext goes, or the message.
     */
    uint8_t *output;
    /**
     * Bytes that may be written there: at least `sealcomb_algorithm_ciphertext_bytes` when sealing,
     * `sealcomb_algorithm_max_message_bytes` when opening (in place also `input_bytes`); those beyond stay as they
     * are. Where `sealcomb_algorithm_needs_message_bytes`, exactly the bytes of the message when opening.
     */
    size_t output_bytes;
    /**
     * Where sealing puts the tag; where opening finds it, and only reads.
     */
    uint8_t *tag;
    /**
     * Bytes of the tag: `sealcomb_key_tag_bytes`.
     */
    size_t tag_bytes;
    /**
     * Set by the call: bytes of the result at `output`; 0 if there is none.
     */
    size_t written;
    /**
     * Set by the call: what became of the job.
     */
    enum sealcomb_status status;
    /**
     * For what may come; must be 0. More comes behind it: later versions have larger jobs, and take these as well.
     */
    uint32_t reserved;
} sealcomb_job;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that runs: `"0.1.0"`.
 */
const char *sealcomb_version(void);

/**
 * How many algorithms this build has.
 */
size_t sealcomb_algorithm_count(void);

/**
 * The algorithm of this number, counted from 0; NULL beyond the last.
 */
const struct sealcomb_algorithm *sealcomb_algorithm_at(size_t number);

/**
 * The algorithm of this id, such as `"aes128-gcm"`, as `sealcomb list` prints them; NULL if this build has none.
 */
const struct sealcomb_algorithm *sealcomb_algorithm_by_id(const char *id);

/**
 * The name by which files and commands call it: `"aes128-gcm"`.
 */
const char *sealcomb_algorithm_id(const struct sealcomb_algorithm *algorithm);

/**
 * The name by which people call it: `"AES-128-GCM"`.
 */
const char *sealcomb_algorithm_name(const struct sealcomb_algorithm *algorithm);

/**
 * What its user must know, above all about nonces.
 */
const char *sealcomb_algorithm_note(const struct sealcomb_algorithm *algorithm);

/**
 * What it gives; of NULL `SEALCOMB_CIPHER`, which promises least.
 */
enum sealcomb_kind sealcomb_algorithm_kind(const struct sealcomb_algorithm *algorithm);

/**
 * Bytes of a key.
 */
size_t sealcomb_algorithm_key_bytes(const struct sealcomb_algorithm *algorithm);

/**
 * Bytes that a nonce usually has; 0 if there is none.
 */
size_t sealcomb_algorithm_nonce_bytes(const struct sealcomb_algorithm *algorithm);

/**
 * Bytes that a nonce must have at least.
 */
size_t sealcomb_algorithm_nonce_bytes_min(const struct sealcomb_algorithm *algorithm);

/**
 * Bytes that a nonce may have at most.
 */
size_t sealcomb_algorithm_nonce_bytes_max(const struct sealcomb_algorithm *algorithm);

/**
 * Bytes that a tag has unless the key says otherwise; 0 for a bare cipher.
 */
size_t sealcomb_algorithm_tag_bytes(const struct sealcomb_algorithm *algorithm);

/**
 * Whether keys can be made for tags of so many bytes.
 */
bool sealcomb_algorithm_takes_tag_bytes(const struct sealcomb_algorithm *algorithm, size_t tag_bytes);

/**
 * Bytes of the ciphertext of a message of so many bytes, without its tag: the room that sealing needs. Nearly all
 * ciphertexts are as long as their messages.
 */
size_t sealcomb_algorithm_ciphertext_bytes(const struct sealcomb_algorithm *algorithm,
                                           size_t message_bytes);

/**
 * Puts into `message_bytes` the most bytes that a message with a ciphertext of so many bytes, without its tag, can
 * have: the room that opening needs.
 *
 * @return `SEALCOMB_FORGED` where no message has a ciphertext of this length, `SEALCOMB_ERROR_POINTER` for NULL
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_algorithm_max_message_bytes(const struct sealcomb_algorithm *algorithm,
                                                              size_t ciphertext_bytes,
                                                              size_t *message_bytes);

/**
 * Whether who opens must be told how long the message is, by the job's `output_bytes`.
 */
bool sealcomb_algorithm_needs_message_bytes(const struct sealcomb_algorithm *algorithm);

/**
 * The name of the backend of this number, counted from 0, slow to fast, whether this CPU has it or not; NULL beyond
 * the last.
 */
const char *sealcomb_backend_at(size_t number);

/**
 * Whether the backend of this name can be had; NULL asks for that of new keys.
 *
 * @return `SEALCOMB_OK`, `SEALCOMB_ERROR_UNKNOWN_BACKEND`, or `SEALCOMB_ERROR_NO_BACKEND` where this CPU, its
 * operating system or this build lacks it
 */
SEALCOMB_MUST_USE enum sealcomb_status sealcomb_backend_check(const char *name);

/**
 * Puts into `name` the name of the backend that new keys use: that in the environment variable `SEALCOMB_BACKEND`,
 * which is read once, else the fastest that this CPU has.
 *
 * @return as `sealcomb_backend_check`, of what the variable says
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_backend_selected(const char **name);

/**
 * Seals every job of a batch. Jobs may differ in key, algorithm and length. Each gets its `status` and `written`.
 *
 * Where the jobs of each algorithm have one key, the call takes no memory from the heap, however many jobs there are
 * and however long; what does take some are several keys of an algorithm, a job whose `aad_parts` have more than 4096
 * bytes together, and GCM-SIV on the backend `portable`. It takes at most 64 KiB of stack with the algorithms of a
 * build without further features.
 *
 * @return `SEALCOMB_OK`, or what is wrong with the first job that has a mistake in it, whose `status` says the same.
 * Nothing was written then, to no job's output, and the others are `SEALCOMB_NOT_DONE`; only where sizes of jobs are
 * wrong is nothing written to the jobs themselves.
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_seal_batch(struct sealcomb_job *jobs,
                                         size_t count);

/**
 * Opens every job of a batch. Each gets its `status`: `SEALCOMB_OK` where it verified, `SEALCOMB_UNAUTHENTICATED`
 * where its algorithm is a bare cipher, `SEALCOMB_FORGED` where it did not verify; then its output is zeroed. A forged
 * job changes nothing of others.
 *
 * Memory and stack as for `sealcomb_seal_batch`.
 *
 * @return `SEALCOMB_OK` if no job was forged, `SEALCOMB_FORGED` if one was or several; or as `sealcomb_seal_batch`,
 * what is wrong with the first job that has a mistake in it
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_open_batch(struct sealcomb_job *jobs,
                                         size_t count);

/**
 * Expands a key of `sealcomb_algorithm_key_bytes` bytes, for tags of the usual length and the backend of
 * `sealcomb_backend_selected`. The key's bytes are not needed afterwards: wipe them.
 *
 * @param key where the new key's address is put; NULL if there is none
 * @return `SEALCOMB_OK`; `SEALCOMB_ERROR_UNKNOWN_ALGORITHM` where `algorithm` is NULL; `SEALCOMB_ERROR_KEY_LENGTH`,
 * `SEALCOMB_ERROR_POINTER`, or what `sealcomb_backend_selected` returns
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_key_new(const struct sealcomb_algorithm *algorithm,
                                      const uint8_t *bytes,
                                      size_t count,
                                      struct sealcomb_key **key);

/**
 * As `sealcomb_key_new`, for tags of another length and a given backend. Every message's tag must have that length, so
 * that nobody can pass off a short one.
 *
 * @param tag_bytes bytes of every tag; 0 for the usual length
 * @param backend a backend's name; NULL for that of `sealcomb_backend_selected`
 * @return also `SEALCOMB_ERROR_TAG_LENGTH`, and what `sealcomb_backend_check` returns
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_key_new_with(const struct sealcomb_algorithm *algorithm,
                                           const uint8_t *bytes,
                                           size_t count,
                                           size_t tag_bytes,
                                           const char *backend,
                                           struct sealcomb_key **key);

/**
 * Wipes a key and frees it. NULL is fine. No call that uses the key may still be running, in any thread.
 */
void sealcomb_key_free(struct sealcomb_key *key);

/**
 * The key's algorithm; NULL of NULL.
 */
const struct sealcomb_algorithm *sealcomb_key_algorithm(const struct sealcomb_key *key);

/**
 * The name of the backend that the key was expanded for; NULL of NULL.
 */
const char *sealcomb_key_backend(const struct sealcomb_key *key);

/**
 * Bytes of every tag under this key; 0 of NULL.
 */
size_t sealcomb_key_tag_bytes(const struct sealcomb_key *key);

/**
 * Seals one message: the ciphertext, with its tag behind it. `sealed` may be `message`. `sealed` may have more room
 * than that takes.
 *
 * @param written where the bytes of both together are put, 0 where something is wrong; may be NULL
 * @return `SEALCOMB_OK`, or what is wrong, and nothing was written to `sealed`
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_seal(const struct sealcomb_key *key,
                                   const uint8_t *nonce,
                                   size_t nonce_bytes,
                                   const uint8_t *aad,
                                   size_t aad_bytes,
                                   const uint8_t *message,
                                   size_t message_bytes,
                                   uint8_t *sealed,
                                   size_t sealed_bytes,
                                   size_t *written);

/**
 * Opens one message: a ciphertext with its tag behind it. `message` may be `sealed`. Where who opens must be told the
 * length of the message, `message_bytes` tells it.
 *
 * @param message_bytes room at `message`: at least `sealcomb_algorithm_max_message_bytes` of the ciphertext, in
 * place also the bytes of the ciphertext
 * @param written where the bytes of the message are put, 0 unless it was opened; may be NULL
 * @return `SEALCOMB_OK`; `SEALCOMB_FORGED` where it did not verify, or is shorter than a tag: then `message` is zeroed as
 * far as it would have been written; `SEALCOMB_UNAUTHENTICATED` for a bare cipher; or what is wrong, and nothing was
 * written
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_open(const struct sealcomb_key *key,
                                   const uint8_t *nonce,
                                   size_t nonce_bytes,
                                   const uint8_t *aad,
                                   size_t aad_bytes,
                                   const uint8_t *sealed,
                                   size_t sealed_bytes,
                                   uint8_t *message,
                                   size_t message_bytes,
                                   size_t *written);

/**
 * Computes the tag of one message, for an algorithm that is a MAC.
 *
 * @param tag `sealcomb_key_tag_bytes` bytes
 * @return `SEALCOMB_OK`, or what is wrong
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_mac(const struct sealcomb_key *key,
                                  const uint8_t *nonce,
                                  size_t nonce_bytes,
                                  const uint8_t *message,
                                  size_t message_bytes,
                                  uint8_t *tag,
                                  size_t tag_bytes);

/**
 * Verifies the tag of one message, for an algorithm that is a MAC, in constant time.
 *
 * @return `SEALCOMB_OK`, `SEALCOMB_FORGED`, or what is wrong
 */
SEALCOMB_MUST_USE
enum sealcomb_status sealcomb_mac_verify(const struct sealcomb_key *key,
                                         const uint8_t *nonce,
                                         size_t nonce_bytes,
                                         const uint8_t *message,
                                         size_t message_bytes,
                                         const uint8_t *tag,
                                         size_t tag_bytes);

/**
 * A status as people read it, without a full stop, in memory that stays. Takes any number.
 */
const char *sealcomb_status_text(int32_t status);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALCOMB_H */
