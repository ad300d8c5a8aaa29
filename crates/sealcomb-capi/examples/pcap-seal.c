/* Seals the packets of a capture file, or opens them again, in bursts of 64 with AES-256-GCM-SIV.
 *
 *     pcap-seal new-key KEYFILE
 *     pcap-seal seal KEYFILE IN.pcap OUT.pcap
 *     pcap-seal open KEYFILE IN.pcap OUT.pcap
 *
 * A sealed packet consists of its nonce (12 bytes), the ciphertext and the tag (16 bytes). Its timestamp, length
 * on the wire and link type stay readable and are authenticated. The nonce is 8 random bytes per capture and the
 * packet's number, so that captures under one key do not share nonces; GCM-SIV tolerates a repetition.
 *
 * Opening omits forged packets, prints their number and exits with status 1. Other errors exit with status 2. IN
 * may also be pcapng: libpcap reads and writes the captures.
 */
#define _DEFAULT_SOURCE 1
#include <sealcomb.h>

#include <pcap/pcap.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALGORITHM "aes256-gcm-siv"

enum { KEY_BYTES = 32, NONCE_BYTES = 12, TAG_BYTES = 16, AAD_BYTES = 20, BURST = 64 };

/* The longest packet that libpcap reads. A sealed packet must not be longer either. */
enum { MAX_BYTES = 262144 };

/* A packet of the burst. `data` has the layout of a sealed packet: nonce, packet, tag. */
typedef struct {
    struct pcap_pkthdr header;
    uint8_t aad[AAD_BYTES];
    uint8_t *data;
} packet;

static packet burst[BURST];
static sealcomb_job jobs[BURST];

static void end(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("pcap-seal: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static void put_number(uint8_t *place, uint32_t number) {
    for (int i = 3; i >= 0; i--, number >>= 8) {
        place[i] = (uint8_t)number;
    }
}

/* The additional data: everything of a packet that stays readable. */
static void put_aad(packet *p, int link) {
    /* libpcap writes 32 bits of the seconds, and reads them with a sign or without, depending on its version. */
    put_number(p->aad, 0);
    put_number(p->aad + 4, (uint32_t)p->header.ts.tv_sec);
    put_number(p->aad + 8, (uint32_t)p->header.ts.tv_usec);
    put_number(p->aad + 12, p->header.len);
    put_number(p->aad + 16, (uint32_t)link);
}

static void new_key(const char *name) {
    uint8_t bytes[KEY_BYTES];
    if (getentropy(bytes, sizeof bytes) != 0) {
        end("cannot get random bytes from the operating system");
    }
    umask(077);
    FILE *file = fopen(name, "wbx");
    if (file == NULL || fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes || fclose(file) != 0) {
        end("%s: cannot be written, or already exists", name);
    }
    memset(bytes, 0, sizeof bytes);
}

static sealcomb_key *read_key(const char *name) {
    uint8_t bytes[KEY_BYTES + 1];
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        end("%s: cannot be read", name);
    }
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    sealcomb_key *key = NULL;
    sealcomb_status status = sealcomb_key_new(sealcomb_algorithm_by_id(ALGORITHM), bytes, count, &key);
    memset(bytes, 0, sizeof bytes);
    if (status != SEALCOMB_OK) {
        end("%s: %s", name, sealcomb_status_text(status));
    }
    return key;
}

/* Sets up the in-place job of a packet of `bytes` bytes, without nonce and tag. */
static void set_job(sealcomb_job *job, const sealcomb_key *key, packet *p, size_t bytes) {
    memset(job, 0, sizeof *job);
    job->size = sizeof *job;
    job->key = key;
    job->nonce = p->data;
    job->nonce_bytes = NONCE_BYTES;
    job->aad = p->aad;
    job->aad_bytes = AAD_BYTES;
    job->input = p->data + NONCE_BYTES;
    job->input_bytes = bytes;
    job->output = p->data + NONCE_BYTES;
    job->output_bytes = bytes;
    job->tag = p->data + NONCE_BYTES + bytes;
    job->tag_bytes = TAG_BYTES;
}

static void seal_burst(size_t count, pcap_dumper_t *out) {
    sealcomb_status status = sealcomb_seal_jobs(jobs, count);
    if (status != SEALCOMB_OK) {
        end("%s", sealcomb_status_text(status));
    }
    for (size_t i = 0; i < count; i++) {
        struct pcap_pkthdr header = burst[i].header;
        header.caplen += NONCE_BYTES + TAG_BYTES;
        /* header.len, the length on the wire, stays that of the original packet. */
        pcap_dump((u_char *)out, &header, burst[i].data);
    }
}

/* Returns the number of forged packets. */
static size_t open_burst(size_t count, pcap_dumper_t *out) {
    sealcomb_status status = sealcomb_open_jobs(jobs, count);
    if (status != SEALCOMB_OK && status != SEALCOMB_FORGED) {
        end("%s", sealcomb_status_text(status));
    }
    size_t forged = 0;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].status != SEALCOMB_OK) {
            forged++;
            continue;
        }
        struct pcap_pkthdr header = burst[i].header;
        header.caplen = (bpf_u_int32)jobs[i].written;
        pcap_dump((u_char *)out, &header, burst[i].data + NONCE_BYTES);
    }
    return forged;
}

/* ---- Link types. A sealed capture has one of the user-defined link types, which encodes the original one. It is
 * authenticated with each packet. */

static const int links[] = {DLT_EN10MB, DLT_RAW, DLT_LINUX_SLL, DLT_NULL, DLT_IEEE802_11_RADIO, DLT_LINUX_SLL2};

enum { LINKS = sizeof links / sizeof links[0] };

static bool is_sealed(int link) {
    for (size_t i = 0; i < LINKS; i++) {
        if (links[i] == link) {
            return false;
        }
    }
    return true;
}

static int sealed_link(int link) {
    int i = 0;
    while (links[i] != link) {
        i++;
    }
    return DLT_USER0 + i;
}

static int plain_link(int link) {
    if (link < DLT_USER0 || link >= DLT_USER0 + LINKS) {
        end("not a capture sealed by pcap-seal: link type %d", link);
    }
    return links[link - DLT_USER0];
}

static size_t convert(bool seals, int link, const sealcomb_key *key, pcap_t *in, pcap_dumper_t *out, size_t *packets) {
    uint8_t prefix[8];
    if (getentropy(prefix, sizeof prefix) != 0) {
        end("cannot get random bytes from the operating system");
    }
    size_t forged = 0, filled = 0;
    struct pcap_pkthdr *header;
    const u_char *data;
    int found;
    while ((found = pcap_next_ex(in, &header, &data)) == 1) {
        packet *p = &burst[filled];
        size_t extra = NONCE_BYTES + TAG_BYTES, bytes = header->caplen;
        size_t max_bytes = seals ? MAX_BYTES - extra : MAX_BYTES;
        if (bytes > max_bytes || *packets > UINT32_MAX) {
            end("packet of %zu bytes, the maximum is %zu; or more than 2^32 packets", bytes, max_bytes);
        }
        p->header = *header;
        put_aad(p, link);
        (*packets)++;
        if (seals) {
            memcpy(p->data, prefix, sizeof prefix);
            put_number(p->data + sizeof prefix, (uint32_t)(*packets - 1));
            memcpy(p->data + NONCE_BYTES, data, bytes);
            set_job(&jobs[filled++], key, p, bytes);
        } else if (bytes < extra) {
            forged++;
        } else {
            memcpy(p->data, data, bytes);
            set_job(&jobs[filled++], key, p, bytes - extra);
        }
        if (filled == BURST) {
            if (seals) {
                seal_burst(filled, out);
            } else {
                forged += open_burst(filled, out);
            }
            filled = 0;
        }
    }
    if (found == PCAP_ERROR) {
        end("%s", pcap_geterr(in));
    }
    if (seals) {
        seal_burst(filled, out);
    } else {
        forged += open_burst(filled, out);
    }
    return forged;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "new-key") == 0) {
        new_key(arguments[2]);
        return 0;
    }
    bool seals = count == 5 && strcmp(arguments[1], "seal") == 0;
    if (!seals && (count != 5 || strcmp(arguments[1], "open") != 0)) {
        end("usage: pcap-seal new-key KEYFILE | pcap-seal seal|open KEYFILE IN.pcap OUT.pcap");
    }
    sealcomb_key *key = read_key(arguments[2]);
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *in = pcap_open_offline(arguments[3], error);
    if (in == NULL) {
        end("%s", error);
    }
    int link = pcap_datalink(in);
    if (seals == is_sealed(link)) {
        end("%s: %s", arguments[3], seals ? "already sealed, or of an unsupported link type" : "not a sealed capture");
    }
    pcap_t *kind = pcap_open_dead(seals ? sealed_link(link) : plain_link(link), MAX_BYTES);
    pcap_dumper_t *out = kind == NULL ? NULL : pcap_dump_open(kind, arguments[4]);
    if (out == NULL) {
        end("%s: cannot be written", arguments[4]);
    }
    for (size_t i = 0; i < BURST; i++) {
        burst[i].data = malloc(MAX_BYTES);
        if (burst[i].data == NULL) {
            end("out of memory");
        }
    }
    size_t packets = 0, forged = convert(seals, seals ? sealed_link(link) : link, key, in, out, &packets);
    for (size_t i = 0; i < BURST; i++) {
        free(burst[i].data);
    }
    bool written = pcap_dump_flush(out) == 0;
    pcap_dump_close(out);
    pcap_close(kind);
    pcap_close(in);
    sealcomb_key_free(key);
    if (!written) {
        end("%s: cannot be written", arguments[4]);
    }
    if (seals) {
        printf("%zu packets sealed\n", packets);
    } else {
        printf("%zu of %zu packets opened, %zu forged\n", packets - forged, packets, forged);
    }
    return forged > 0;
}
