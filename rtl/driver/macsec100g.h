/* Driver for macsec100g over its registers (docs/macsec.md), for what Linux's `struct macsec_ops` asks of a device.
 *
 *   mdo_add_secy, mdo_upd_secy       macsec100g_set_port, macsec100g_set_tx_sc
 *   mdo_del_secy, mdo_dev_stop       macsec100g_del_tx_sa and macsec100g_set_rx_sc for each, or macsec100g_zeroize
 *   mdo_add_rxsc, mdo_upd_rxsc       macsec100g_set_rx_sc
 *   mdo_del_rxsc                     macsec100g_set_rx_sc with `active` false
 *   mdo_add_txsa, mdo_add_rxsa       macsec100g_add_tx_sa, macsec100g_add_rx_sa
 *   mdo_upd_txsa, mdo_upd_rxsa       inactive: macsec100g_del_tx_sa, macsec100g_del_rx_sa; the numbers of a key in use
 *                                    cannot be set: MACSEC100G_IN_USE
 *   mdo_del_txsa, mdo_del_rxsa       macsec100g_del_tx_sa, macsec100g_del_rx_sa
 *   mdo_get_dev_stats                macsec100g_read_port
 *   mdo_get_tx_sa_stats, _tx_sc_     macsec100g_read_tx_sa
 *   mdo_get_rx_sa_stats, _rx_sc_     macsec100g_read_rx_sa
 *
 * The driver allocates nothing, keeps no key, and has no state but `struct macsec100g`. Calls for one core must not overlap.
 * Functions return 0, or one of `enum macsec100g_error`. A channel is a secure channel of one direction, from 0; an AN is
 * from 0 to 3. SCIs and salts are as they are written, first byte highest or first.
 */
#ifndef SEALCOMB_MACSEC100G_H
#define SEALCOMB_MACSEC100G_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum macsec100g_error {
    MACSEC100G_NO_CORE = -1,      /* there is no macsec100g at these addresses, or one of a suite not known here */
    MACSEC100G_BAD_ARGUMENT = -2, /* a channel, an AN, a packet number or a setting is out of range */
    MACSEC100G_IN_USE = -3,       /* the association is in use: end its use before it gets another key */
    MACSEC100G_NO_KEY = -4,       /* the association did not come into use: its key was not taken */
    MACSEC100G_TIMEOUT = -5,      /* the core did not finish a command within `polls` reads of its status, see below */
    MACSEC100G_KEY_PORT = -6      /* load_key has failed */
};

/* A command that timed out is not canceled: the core carries it out as soon as it can, for example when the frames that a
 * new key waits for have left. Until then all calls that select an association or a channel wait likewise, and return
 * MACSEC100G_TIMEOUT without effect. */

/* A core. Fill in the first four; macsec100g_open fills in the others. */
struct macsec100g {
    void *context; /* for the three functions */
    uint32_t (*read)(void *context, uint32_t address);
    void (*write)(void *context, uint32_t address, uint32_t value);
    /* Loads a key through the core's key port, which has no registers, and returns 0 when it is taken. slot:
     * 4 * channel + AN. */
    int (*load_key)(void *context, bool receive, unsigned slot, const uint8_t *key, size_t key_bytes);
    unsigned polls; /* reads of the status that a command may take */
    unsigned channels;
    size_t min_key_bytes, max_key_bytes; /* 16 or 32, by the suite */
};

enum macsec100g_validate { MACSEC100G_STRICT, MACSEC100G_CHECK, MACSEC100G_DISABLED };

/* What a port does with all its frames. */
struct macsec100g_port {
    enum macsec100g_validate validate;
    bool replay_protect;
    bool vlan_in_clear; /* an 802.1Q tag stays before the SecTAG, where nothing protects it */
};

/* Confidentiality offsets: bytes of user data that stay unencrypted. */
enum macsec100g_offset { MACSEC100G_OFFSET_0, MACSEC100G_OFFSET_30, MACSEC100G_OFFSET_50 };

/* An association. */
struct macsec100g_sa {
    const uint8_t *key;
    size_t key_bytes; /* min_key_bytes or max_key_bytes of the core */
    uint64_t sci;
    uint64_t pn;       /* the next number, or the lowest acceptable one: at least 1, below 2^32 unless extended */
    bool extended;     /* GCM-AES-XPN: with ssci and salt */
    uint32_t ssci;
    uint8_t salt[12];
    bool encrypt;      /* sending */
    enum macsec100g_offset offset;
    uint32_t window;   /* receiving: by how many numbers a frame may be late; below 2^30 if extended */
};

struct macsec100g_tx_stats {
    uint64_t next_pn;
    uint64_t frames; /* OutPktsEncrypted, or OutPktsProtected without encryption */
    uint64_t octets; /* OutOctetsEncrypted, or OutOctetsProtected without encryption */
};

struct macsec100g_rx_stats {
    uint64_t lowest_pn;
    uint64_t ok;               /* InPktsOK */
    uint64_t octets_decrypted; /* InOctetsDecrypted */
    uint64_t octets_validated; /* InOctetsValidated */
    uint64_t not_valid;        /* InPktsNotValid */
    uint64_t late;             /* InPktsLate */
    uint64_t unchecked;        /* InPktsUnchecked */
    uint64_t invalid;          /* InPktsInvalid */
    uint64_t delayed;          /* InPktsDelayed */
};

/* Counters of the port, which wrap at 2^32. */
struct macsec100g_port_stats {
    uint32_t out_no_sa;    /* frames to send without an association in use */
    uint32_t out_no_pn;    /* frames to send with no packet number left */
    uint32_t out_too_long; /* OutPktsTooLong */
    uint32_t in_untagged;  /* InPktsNoTag, or InPktsUntagged if not strict */
    uint32_t in_bad_tag;   /* InPktsBadTag */
    uint32_t in_no_sci;    /* InPktsNoSCI */
    uint32_t in_unknown_sci; /* InPktsUnknownSCI */
    uint32_t in_no_sa;     /* InPktsNotUsingSA */
    uint32_t in_unused_sa; /* InPktsUnusedSA */
    uint32_t in_overrun;   /* InPktsOverrun */
    uint32_t keys_refused; /* keys for associations in use, both directions */
};

/* Finds the core, and reads how many channels it has and how long its keys are. */
int macsec100g_open(struct macsec100g *core);

int macsec100g_set_port(struct macsec100g *core, const struct macsec100g_port *port);

/* Sets what a sending channel sends with: its AN, its SCI, and whether SecTAGs contain that. */
int macsec100g_set_tx_sc(struct macsec100g *core, unsigned channel, unsigned an, uint64_t sci, bool send_sci);

/* Sets whose frames a receiving channel receives, and with `only_peer` also those that say no SCI. */
int macsec100g_set_rx_sc(struct macsec100g *core, unsigned channel, uint64_t sci, bool active, bool only_peer);

/* Loads the key and puts the association into use, with its counters at 0. */
int macsec100g_add_tx_sa(struct macsec100g *core, unsigned channel, unsigned an, const struct macsec100g_sa *sa);
int macsec100g_add_rx_sa(struct macsec100g *core, unsigned channel, unsigned an, const struct macsec100g_sa *sa);

/* Ends the use of an association. Its counters stay until it gets another key. */
int macsec100g_del_tx_sa(struct macsec100g *core, unsigned channel, unsigned an);
int macsec100g_del_rx_sa(struct macsec100g *core, unsigned channel, unsigned an);

int macsec100g_read_tx_sa(
    struct macsec100g *core, unsigned channel, unsigned an, struct macsec100g_tx_stats *stats);
int macsec100g_read_rx_sa(
    struct macsec100g *core, unsigned channel, unsigned an, struct macsec100g_rx_stats *stats);
int macsec100g_read_port(struct macsec100g *core, struct macsec100g_port_stats *stats);

/* Ends the use of all associations and overwrites all keys, and returns when that is done. Keys are overwritten after the
 * frames in flight have left, so a MAC that takes no frames prevents it: after MACSEC100G_TIMEOUT no association is in use,
 * but the keys stay in the core until these frames have left. A call again waits further. */
int macsec100g_zeroize(struct macsec100g *core);

/* Sets the packet number at which a sending association raises the interrupt; 0: never. */
int macsec100g_set_threshold(struct macsec100g *core, uint64_t pn);

/* To call on an interrupt. Returns whether an association has reached the threshold, and which; lowers the interrupt. A
 * sending association above the threshold raises it again with its next frame: add its successor first. With PARITY=1
 * the core also interrupts for damaged memories: call macsec100g_damaged, too. */
int macsec100g_interrupt(struct macsec100g *core, bool *reached, unsigned *channel, unsigned *an);

/* Returns whether the core has read a damaged memory (with PARITY=1), and lowers that interrupt. Which memory is not
 * known: reset the core, and load new keys. */
int macsec100g_damaged(struct macsec100g *core, bool *damaged);

#endif
