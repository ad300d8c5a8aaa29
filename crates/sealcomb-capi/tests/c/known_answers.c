/* Known-answer tests: seals and opens the vectors of every file whose algorithm this build has, one by one and as
 * one batch per file, and opens them with one bit of the tag flipped. A file without an algorithm has messages of any
 * algorithm, each with its tag in one buffer.
 *
 * usage: known_answers FILE.json...
 */
#include "test.h"

#include <ctype.h>

/* ---- Parsing: a file is one JSON object whose "tests" is an array of flat objects. */

typedef struct {
    const char *at;
} reader;

static void skip_space(reader *json) {
    while (isspace((unsigned char)*json->at) || *json->at == ',' || *json->at == ':') {
        json->at++;
    }
}

/* Consumes the next character if it is the expected one; returns whether it is. */
static bool take(reader *json, char expected) {
    skip_space(json);
    if (*json->at != expected) {
        return false;
    }
    json->at++;
    return true;
}

/* Consumes a value: a string without its quotes, a number, or a list as text. Escapes are not decoded; the fields
 * used have none. */
static char *take_value(reader *json) {
    skip_space(json);
    const char *from = json->at, *to;
    if (*from == '[') {
        to = strchr(from, ']');
        CHECK(to != NULL);
        json->at = to + 1;
    } else if (*from == '"') {
        to = ++from;
        while (*to != '"') {
            CHECK(*to != '\0');
            to += *to == '\\' ? 2 : 1;
        }
        json->at = to + 1;
    } else {
        to = from;
        while (isalnum((unsigned char)*to) || *to == '-' || *to == '.') {
            to++;
        }
        CHECK(to > from);
        json->at = to;
    }
    char *value = (char *)malloc((size_t)(to - from) + 1);
    CHECK(value != NULL);
    memcpy(value, from, (size_t)(to - from));
    value[to - from] = '\0';
    return value;
}

typedef struct {
    uint8_t *data;
    size_t bytes;
} buffer;

static int digit(char c) {
    CHECK(isxdigit((unsigned char)c));
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static buffer from_hex(const char *hex) {
    buffer result;
    result.bytes = strlen(hex) / 2;
    CHECK(strlen(hex) % 2 == 0);
    result.data = memory(result.bytes);
    for (size_t i = 0; i < result.bytes; i++) {
        result.data[i] = (uint8_t)(16 * digit(hex[2 * i]) + digit(hex[2 * i + 1]));
    }
    return result;
}

typedef struct {
    char *algorithm; /* NULL if the file names it. */
    buffer key, nonce, aad, msg, ct, tag, sealed;
    sealcomb_key *ready;
} answer;

static void set(buffer *field, const char *hex) {
    CHECK(field->data == NULL && field->bytes == 0);
    *field = from_hex(hex);
}

static answer take_answer(reader *json) {
    answer result;
    memset(&result, 0, sizeof result);
    CHECK(take(json, '{'));
    while (!take(json, '}')) {
        char *name = take_value(json), *value = take_value(json);
        if (strcmp(name, "key") == 0) {
            set(&result.key, value);
        } else if (strcmp(name, "nonce") == 0) {
            set(&result.nonce, value);
        } else if (strcmp(name, "aad") == 0 || strcmp(name, "tweak") == 0) {
            set(&result.aad, value);
        } else if (strcmp(name, "msg") == 0) {
            set(&result.msg, value);
        } else if (strcmp(name, "ct") == 0) {
            set(&result.ct, value);
        } else if (strcmp(name, "tag") == 0) {
            set(&result.tag, value);
        } else if (strcmp(name, "sealed") == 0) {
            set(&result.sealed, value);
        } else if (strcmp(name, "algorithm") == 0) {
            result.algorithm = value;
            value = NULL;
        }
        free(name);
        free(value);
    }
    return result;
}

typedef struct {
    char *algorithm;
    answer *answers;
    size_t count;
} file;

static file take_file(reader *json) {
    file result = {NULL, NULL, 0};
    CHECK(take(json, '{'));
    while (!take(json, '}')) {
        char *name = take_value(json);
        if (strcmp(name, "tests") == 0) {
            CHECK(take(json, '['));
            while (!take(json, ']')) {
                result.answers = (answer *)realloc(result.answers, (result.count + 1) * sizeof(answer));
                CHECK(result.answers != NULL);
                result.answers[result.count++] = take_answer(json);
            }
        } else {
            char *value = take_value(json);
            if (strcmp(name, "algorithm") == 0) {
                result.algorithm = value;
                value = NULL;
            }
            free(value);
        }
        free(name);
    }
    CHECK(result.count > 0 && (result.algorithm == NULL) == (result.answers[0].algorithm != NULL));
    return result;
}

static char *read_file(const char *name) {
    FILE *stream = fopen(name, "rb");
    CHECK(stream != NULL);
    CHECK(fseek(stream, 0, SEEK_END) == 0);
    long bytes = ftell(stream);
    CHECK(bytes > 0);
    rewind(stream);
    char *text = (char *)malloc((size_t)bytes + 1);
    CHECK(text != NULL && fread(text, 1, (size_t)bytes, stream) == (size_t)bytes);
    text[bytes] = '\0';
    fclose(stream);
    return text;
}

/* ---- Checking. */

/* Returns a job for an answer. `input` is one of the answer's buffers; the output and tag are allocated. */
static sealcomb_job job_of(const answer *a, sealcomb_kind kind, const buffer *input, size_t output_bytes) {
    sealcomb_job job = empty_job();
    job.key = a->ready;
    job.nonce = a->nonce.data;
    job.nonce_bytes = a->nonce.bytes;
    const buffer *aad = kind == SEALCOMB_KIND_MAC ? &a->msg : &a->aad;
    job.aad = aad->data;
    job.aad_bytes = aad->bytes;
    if (kind != SEALCOMB_KIND_MAC) {
        job.input = input->data;
        job.input_bytes = input->bytes;
        job.output = memory(output_bytes);
        job.output_bytes = output_bytes;
    }
    job.tag = copy_of(a->tag.data, a->tag.bytes);
    job.tag_bytes = a->tag.bytes;
    return job;
}

static void free_job(sealcomb_job *job) {
    free(job->output);
    free(job->tag);
}

static void check_sealed(const sealcomb_job *job, const answer *a) {
    CHECK(job->status == SEALCOMB_OK && job->written == a->ct.bytes);
    CHECK(equal(job->output, a->ct.data, a->ct.bytes));
    CHECK(equal(job->tag, a->tag.data, a->tag.bytes));
}

/* Returns the output space that opening needs: more than the message size if ciphertexts are longer than messages. */
static size_t room_to_open(const sealcomb_algorithm *alg, const answer *a) {
    size_t room = a->msg.bytes;
    if (!sealcomb_algorithm_needs_message_bytes(alg)) {
        EXPECT(SEALCOMB_OK, sealcomb_algorithm_max_message_bytes(alg, a->ct.bytes, &room));
    }
    return room;
}

static void check_opened(const sealcomb_job *job, const answer *a, sealcomb_kind kind) {
    CHECK(job->status == (kind == SEALCOMB_KIND_CIPHER ? SEALCOMB_UNAUTHENTICATED : SEALCOMB_OK));
    CHECK(job->written == (kind == SEALCOMB_KIND_MAC ? 0 : a->msg.bytes));
    CHECK(equal(job->output, a->msg.data, job->written));
}

static size_t check_file(const file *f) {
    const sealcomb_algorithm *alg = sealcomb_hazmat_algorithm_by_id(f->algorithm);
    if (alg == NULL) {
        return 0;
    }
    sealcomb_kind kind = sealcomb_algorithm_kind(alg);
    sealcomb_status opened = kind == SEALCOMB_KIND_CIPHER ? SEALCOMB_UNAUTHENTICATED : SEALCOMB_OK;
    sealcomb_job *seal = (sealcomb_job *)calloc(f->count, sizeof(sealcomb_job));
    sealcomb_job *open = (sealcomb_job *)calloc(f->count, sizeof(sealcomb_job));
    sealcomb_job *forged = (sealcomb_job *)calloc(f->count, sizeof(sealcomb_job));
    CHECK(seal != NULL && open != NULL && forged != NULL);
    size_t used = 0;
    for (size_t i = 0; i < f->count; i++) {
        answer *a = &f->answers[i];
        /* Short tags require the feature `hazmat`. */
        if (a->tag.bytes > 0 && !sealcomb_hazmat_algorithm_takes_tag_bytes(alg, a->tag.bytes)) {
            continue;
        }
        sealcomb_key_options options = empty_options();
        options.short_tag_bytes = a->tag.bytes;
        options.nonce_bytes = a->nonce.bytes == 0 ? SEALCOMB_NO_NONCE : a->nonce.bytes;
        EXPECT(SEALCOMB_OK,
               sealcomb_key_new_with(alg, a->key.data, a->key.bytes, &options, &a->ready));
        CHECK(sealcomb_key_algorithm(a->ready) == alg);
        seal[used] = job_of(a, kind, &a->msg, a->ct.bytes);
        memset(seal[used].tag == NULL ? (void *)&seal[used].written : seal[used].tag, 0, a->tag.bytes);
        EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(&seal[used], 1));
        check_sealed(&seal[used], a);

        open[used] = job_of(a, kind, &a->ct, room_to_open(alg, a));
        EXPECT(opened, sealcomb_open_jobs(&open[used], 1));
        check_opened(&open[used], a, kind);

        forged[used] = job_of(a, kind, &a->ct, room_to_open(alg, a));
        if (kind != SEALCOMB_KIND_CIPHER) {
            forged[used].tag[i % a->tag.bytes] ^= (uint8_t)(1 << i % 8);
            EXPECT(SEALCOMB_FORGED, sealcomb_open_jobs(&forged[used], 1));
            CHECK(forged[used].status == SEALCOMB_FORGED && forged[used].written == 0);
            CHECK(is_filled_with(forged[used].output, 0, forged[used].output_bytes));
        }
        /* Clear the outputs for the batch. */
        memset(seal[used].output == NULL ? (void *)&seal[used].written : seal[used].output, 0, seal[used].output_bytes);
        memset(open[used].output == NULL ? (void *)&open[used].written : open[used].output, 0, open[used].output_bytes);
        used++;
    }
    EXPECT(SEALCOMB_OK, sealcomb_seal_jobs(seal, used));
    EXPECT(used > 0 ? opened : SEALCOMB_OK, sealcomb_open_jobs(open, used));
    if (kind != SEALCOMB_KIND_CIPHER && used > 0) {
        EXPECT(SEALCOMB_FORGED, sealcomb_open_jobs(forged, used));
    }
    for (size_t i = 0, at = 0; i < f->count; i++) {
        if (f->answers[i].ready == NULL) {
            continue;
        }
        check_sealed(&seal[at], &f->answers[i]);
        check_opened(&open[at], &f->answers[i], kind);
        CHECK(kind == SEALCOMB_KIND_CIPHER || forged[at].status == SEALCOMB_FORGED);
        at++;
    }
    for (size_t i = 0; i < used; i++) {
        free_job(&seal[i]);
        free_job(&open[i]);
        free_job(&forged[i]);
    }
    free(seal);
    free(open);
    free(forged);
    return used;
}

static size_t check_sealed_messages(const file *f) {
    size_t used = 0;
    for (size_t i = 0; i < f->count; i++) {
        answer *a = &f->answers[i];
        const sealcomb_algorithm *alg = sealcomb_hazmat_algorithm_by_id(a->algorithm);
        if (alg == NULL) {
            continue;
        }
        sealcomb_key_options options = empty_options();
        options.nonce_bytes = a->nonce.bytes == 0 ? SEALCOMB_NO_NONCE : a->nonce.bytes;
        EXPECT(SEALCOMB_OK, sealcomb_key_new_with(alg, a->key.data, a->key.bytes, &options, &a->ready));
        size_t sealed_bytes = a->sealed.bytes, room, written;
        uint8_t *sealed = memory(sealed_bytes);
        EXPECT(SEALCOMB_OK, sealcomb_seal(a->ready, a->nonce.data, a->nonce.bytes, a->aad.data, a->aad.bytes,
                                          a->msg.data, a->msg.bytes, sealed, sealed_bytes, &written));
        CHECK(written == sealed_bytes && equal(sealed, a->sealed.data, sealed_bytes));
        EXPECT(SEALCOMB_OK, sealcomb_algorithm_max_message_bytes(
                                alg, sealed_bytes - sealcomb_key_tag_bytes(a->ready), &room));
        uint8_t *opened = memory(room);
        EXPECT(SEALCOMB_OK, sealcomb_open(a->ready, a->nonce.data, a->nonce.bytes, a->aad.data, a->aad.bytes, sealed,
                                          sealed_bytes, opened, room, &written));
        CHECK(written == a->msg.bytes && equal(opened, a->msg.data, written));
        sealed[i % sealed_bytes] ^= (uint8_t)(1 << i % 8);
        EXPECT(SEALCOMB_FORGED, sealcomb_open(a->ready, a->nonce.data, a->nonce.bytes, a->aad.data, a->aad.bytes,
                                              sealed, sealed_bytes, opened, room, &written));
        CHECK(written == 0 && is_filled_with(opened, 0, room));
        free(opened);
        free(sealed);
        used++;
    }
    /* Every build has so many. */
    CHECK(used >= 46);
    return used;
}

static void free_file(file *f) {
    for (size_t i = 0; i < f->count; i++) {
        answer *a = &f->answers[i];
        free(a->key.data);
        free(a->nonce.data);
        free(a->aad.data);
        free(a->msg.data);
        free(a->ct.data);
        free(a->tag.data);
        free(a->sealed.data);
        free(a->algorithm);
        sealcomb_key_free(a->ready);
    }
    free(f->answers);
    free(f->algorithm);
}

int main(int count, char **names) {
    size_t answers = 0, files = 0;
    for (int i = 1; i < count; i++) {
        char *text = read_file(names[i]);
        reader json = {text};
        /* Files of block ciphers have no matching algorithm and are skipped. */
        file f = take_file(&json);
        size_t used = f.algorithm == NULL ? check_sealed_messages(&f) : check_file(&f);
        answers += used;
        files += used > 0;
        free_file(&f);
        free(text);
    }
    printf("%zu known answers from %zu of %d files\n", answers, files, count - 1);
    CHECK(answers > 1000);
    return 0;
}
