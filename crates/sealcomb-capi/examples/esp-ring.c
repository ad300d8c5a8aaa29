/* Seals and opens ESP packets (RFC 4303, AES-128-GCM of RFC 4106) as a data plane does: a ring of packet buffers, bursts
 * of 32 packets, a security association per flow, and every packet in place.
 *
 *     esp-ring [PACKETS]
 *
 * The program is both ends of a link that spoils every 1000th packet. It checks that exactly these packets are dropped
 * and that all others arrive as they were sent.
 */
#include <sealcomb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING = 256,
    BURST = 32,
    ASSOCIATIONS = 100,
    HEADROOM = 64,
    MAX_BYTES = 1500,
    ROOM = HEADROOM + MAX_BYTES + 64,
    KEY = 16,
    SALT = 4,
    IV = 8,
    HEADER = 8, /* SPI and sequence number */
    ICV = 16,
    IPV4 = 4
};

/* A packet buffer, with space around the packet for what encapsulation adds. */
typedef struct {
    uint16_t offset, bytes;
    uint8_t room[ROOM];
} buffer;

/* A security association. The two ends share the key; the sender counts, the receiver checks the count. */
typedef struct {
    sealcomb_key *key;
    uint8_t salt[SALT];
    uint32_t sent, received;
} association;

static association associations[ASSOCIATIONS];
static buffer ring[RING];

/* The columns of a burst, which are filled for each one. */
static const sealcomb_key *keys[BURST];
static uint8_t *messages[BURST];
static size_t message_bytes[BURST], aad_bytes[BURST];
static const uint8_t *aads[BURST];
static uint8_t nonces[BURST][SALT + IV];
static sealcomb_status statuses[BURST];

static void put(uint8_t *place, uint64_t number, int bytes) {
    for (; bytes-- > 0; number >>= 8) place[bytes] = (uint8_t)number;
}

static uint32_t get(const uint8_t *place) {
    return (uint32_t)place[0] << 24 | (uint32_t)place[1] << 16 | (uint32_t)place[2] << 8 | place[3];
}

static void make_associations(void) {
    static uint8_t secrets[ASSOCIATIONS][KEY]; /* A real program gets these from IKE. */
    static sealcomb_key *made[ASSOCIATIONS];
    for (int i = 0; i < ASSOCIATIONS; i++) {
        for (int byte = 0; byte < KEY; byte++) secrets[i][byte] = (uint8_t)(31 * i + 7 * byte);
        put(associations[i].salt, 0x5a170000u + (unsigned)i, SALT);
    }
    sealcomb_status status =
        sealcomb_key_new_many(sealcomb_algorithm_by_id("aes128-gcm"), secrets[0], KEY, ASSOCIATIONS, NULL, made);
    if (status != SEALCOMB_OK) {
        fprintf(stderr, "esp-ring: no keys: %s\n", sealcomb_status_text(status));
        exit(2);
    }
    for (int i = 0; i < ASSOCIATIONS; i++) associations[i].key = made[i];
}

/* Adds a packet, whose encrypted part begins after its header and IV, to the burst. */
static void add(size_t i, buffer *packet, const association *sa) {
    uint8_t *esp = packet->room + packet->offset;
    keys[i] = sa->key;
    messages[i] = esp + HEADER + IV;
    message_bytes[i] = (size_t)packet->bytes - HEADER - IV - ICV;
    aads[i] = esp;
    aad_bytes[i] = HEADER;
    memcpy(nonces[i], sa->salt, SALT);
    memcpy(nonces[i] + SALT, esp + HEADER, IV);
}

static sealcomb_burst columns(size_t count) {
    sealcomb_burst burst = {0};
    burst.size = sizeof burst;
    burst.count = count;
    burst.keys = keys;
    burst.messages = messages;
    burst.message_bytes = message_bytes;
    burst.aads = aads;
    burst.aad_bytes = aad_bytes;
    burst.nonces = nonces[0];
    burst.nonce_bytes = burst.nonce_stride = SALT + IV;
    burst.tag_bytes = ICV; /* The tags follow the messages, as ESP requires. */
    burst.statuses = statuses;
    return burst;
}

/* Encapsulates and seals a burst. Packets are assigned to associations by their first bytes. */
static void seal(buffer *packets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        buffer *packet = &packets[i];
        uint32_t spi = get(packet->room + packet->offset) % ASSOCIATIONS;
        uint8_t *end = packet->room + packet->offset + packet->bytes;
        unsigned padding = (unsigned)(-(packet->bytes + 2)) & 3;
        for (unsigned byte = 1; byte <= padding; byte++) *end++ = (uint8_t)byte;
        *end++ = (uint8_t)padding;
        *end++ = IPV4;
        packet->offset = (uint16_t)(packet->offset - HEADER - IV);
        packet->bytes = (uint16_t)(packet->bytes + HEADER + IV + padding + 2 + ICV);
        uint8_t *esp = packet->room + packet->offset;
        put(esp, spi, 4);
        put(esp + 4, ++associations[spi].sent, 4);
        put(esp + HEADER, associations[spi].sent, IV); /* Unique under the key. */
        add(i, packet, &associations[spi]);
    }
    sealcomb_burst burst = columns(count);
    sealcomb_status status = sealcomb_seal_burst(&burst);
    if (status != SEALCOMB_OK) {
        fprintf(stderr, "esp-ring: %s\n", sealcomb_status_text(status));
        exit(2);
    }
}

/* Opens and decapsulates a burst. Packets to drop get a size of 0. */
static void open_packets(buffer *packets, size_t count) {
    size_t known = 0;
    buffer *of[BURST];
    for (size_t i = 0; i < count; i++) {
        uint32_t spi = get(packets[i].room + packets[i].offset);
        if (spi < ASSOCIATIONS && packets[i].bytes >= HEADER + IV + 4 + ICV) {
            of[known] = &packets[i];
            add(known++, &packets[i], &associations[spi]);
        } else {
            packets[i].bytes = 0;
        }
    }
    sealcomb_burst burst = columns(known);
    sealcomb_status status = sealcomb_open_burst(&burst);
    if (status != SEALCOMB_OK && status != SEALCOMB_FORGED) {
        fprintf(stderr, "esp-ring: %s\n", sealcomb_status_text(status));
        exit(2);
    }
    for (size_t i = 0; i < known; i++) {
        association *sa = &associations[get(aads[i])];
        uint32_t sequence = get(aads[i] + 4);
        unsigned padding = messages[i][message_bytes[i] - 2];
        /* The link keeps the order, so that a higher number suffices; others need a window (RFC 4303, 3.4.3). */
        bool is_good = statuses[i] == SEALCOMB_OK && sequence > sa->received && padding + 2 <= message_bytes[i];
        if (is_good) sa->received = sequence;
        of[i]->offset = (uint16_t)(of[i]->offset + HEADER + IV);
        of[i]->bytes = is_good ? (uint16_t)(message_bytes[i] - padding - 2) : 0;
    }
}

/* Packet `number` has a size and bytes that depend on its number. */
static size_t packet(uint8_t *place, size_t number) {
    size_t bytes = number % 3 == 0 ? MAX_BYTES : 20 + number * 37 % 600;
    put(place, number * 2654435761u, 4);
    for (size_t i = 4; i < bytes; i++) place[i] = (uint8_t)(number + i);
    return bytes;
}

int main(int argc, char **argv) {
    size_t total = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000, sealed = 0, dropped = 0, wrong = 0;
    uint8_t expected[MAX_BYTES];
    make_associations();
    while (sealed < total) {
        buffer *burst = &ring[sealed % RING];
        size_t count = total - sealed < BURST ? total - sealed : BURST;
        for (size_t i = 0; i < count; i++) {
            burst[i].offset = HEADROOM;
            burst[i].bytes = (uint16_t)packet(burst[i].room + HEADROOM, sealed + i);
        }
        seal(burst, count);
        for (size_t i = 0; i < count; i++) {
            if ((sealed + i) % 1000 == 999) burst[i].room[burst[i].offset + burst[i].bytes / 2] ^= 1; /* The link. */
        }
        open_packets(burst, count);
        for (size_t i = 0; i < count; i++) {
            size_t bytes = packet(expected, sealed + i);
            bool is_spoiled = (sealed + i) % 1000 == 999;
            dropped += burst[i].bytes == 0;
            wrong += is_spoiled ? burst[i].bytes != 0
                                : burst[i].bytes != bytes || memcmp(burst[i].room + burst[i].offset, expected, bytes) != 0;
        }
        sealed += count;
    }
    printf("%zu packets under %d associations, %zu dropped, %zu wrong\n", sealed, ASSOCIATIONS, dropped, wrong);
    for (int i = 0; i < ASSOCIATIONS; i++) sealcomb_key_free(associations[i].key);
    return wrong == 0 ? 0 : 1;
}
