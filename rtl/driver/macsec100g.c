/* See macsec100g.h. A command: write its operands, then the command, then wait until the status is not busy. */
#include "macsec100g.h"

#include "macsec_registers.h"

#define MAGIC 0x4d414353u /* MACS */
#define DEFAULT_POLLS 1000000u
#define ANS 4u
#define BOTH_SIZES 5u /* the suite with keys of 16 and of 32 bytes */
#define LONGEST_EXTENDED_WINDOW ((1u << 30) - 1) /* IEEE 802.1AE-2018, 10.7.8 */

/* One association of one direction. */
struct place {
    bool receive;
    unsigned channel;
    unsigned an;
};

static unsigned slot_of(const struct place *place)
{
    return ANS * place->channel + place->an;
}

static uint32_t read_register(struct macsec100g *core, uint32_t address)
{
    return core->read(core->context, address);
}

static void write_register(struct macsec100g *core, uint32_t address, uint32_t value)
{
    core->write(core->context, address, value);
}

/* A value whose high half is at the lower address. */
static uint64_t read_long(struct macsec100g *core, uint32_t address)
{
    uint64_t high = read_register(core, address);
    return high << 32 | read_register(core, address + 4);
}

static void write_long(struct macsec100g *core, uint32_t address, uint64_t value)
{
    write_register(core, address, (uint32_t)(value >> 32));
    write_register(core, address + 4, (uint32_t)value);
}

static int wait_while(struct macsec100g *core, uint32_t bits)
{
    for (unsigned i = 0; i < core->polls; i++) {
        if (!(read_register(core, MACSEC_STATUS) & bits))
            return 0;
    }
    return MACSEC100G_TIMEOUT;
}

static int command(struct macsec100g *core, uint32_t bits)
{
    write_register(core, MACSEC_COMMAND, bits);
    return wait_while(core, MACSEC_STATUS_BUSY);
}

/* A command that is still in progress after its timeout reads its operands when it is carried out, so none of them may be
 * written before. */
static int select_place(struct macsec100g *core, const struct place *place)
{
    int error;

    if (place->channel >= core->channels || place->an >= ANS)
        return MACSEC100G_BAD_ARGUMENT;
    error = wait_while(core, MACSEC_STATUS_BUSY);
    if (error)
        return error;
    write_register(core, MACSEC_SELECT, slot_of(place) | (place->receive ? MACSEC_SELECT_RECEIVE : 0));
    return 0;
}

int macsec100g_open(struct macsec100g *core)
{
    uint32_t shape;
    uint32_t suite;

    if (read_register(core, MACSEC_IDENTITY) != MAGIC)
        return MACSEC100G_NO_CORE;
    shape = read_register(core, MACSEC_SHAPE);
    suite = (shape & MACSEC_SHAPE_SUITE) >> MACSEC_SHAPE_SUITE_SHIFT;
    if (suite > BOTH_SIZES)
        return MACSEC100G_NO_CORE;
    core->channels = (shape & MACSEC_SHAPE_CHANNELS) >> MACSEC_SHAPE_CHANNELS_SHIFT;
    core->min_key_bytes = suite >= 2 && suite != BOTH_SIZES ? 32 : 16;
    core->max_key_bytes = suite >= 2 ? 32 : 16;
    core->polls = DEFAULT_POLLS;
    return 0;
}

int macsec100g_set_port(struct macsec100g *core, const struct macsec100g_port *port)
{
    uint32_t value;

    if ((unsigned)port->validate > MACSEC100G_DISABLED)
        return MACSEC100G_BAD_ARGUMENT;
    value = (uint32_t)port->validate << MACSEC_PORT_VALIDATE_SHIFT;
    if (!port->replay_protect)
        value |= MACSEC_PORT_LATE_PASSES;
    if (port->vlan_in_clear)
        value |= MACSEC_PORT_VLAN_CLEAR;
    write_register(core, MACSEC_PORT, value);
    return 0;
}

static int set_channel(struct macsec100g *core, const struct place *place, uint64_t sci, uint32_t flags)
{
    int error = select_place(core, place);

    if (error)
        return error;
    write_register(core, MACSEC_FLAGS, flags);
    write_long(core, MACSEC_SCI_HIGH, sci);
    return command(core, MACSEC_COMMAND_SET_CHANNEL);
}

int macsec100g_set_tx_sc(struct macsec100g *core, unsigned channel, unsigned an, uint64_t sci, bool send_sci)
{
    const struct place place = {false, channel, an};
    return set_channel(core, &place, sci, send_sci ? 0 : MACSEC_FLAGS_NO_SCI);
}

int macsec100g_set_rx_sc(struct macsec100g *core, unsigned channel, uint64_t sci, bool active, bool only_peer)
{
    const struct place place = {true, channel, 0};
    uint32_t flags = (active ? MACSEC_FLAGS_USE : 0) | (only_peer ? MACSEC_FLAGS_NO_SCI : 0);
    return set_channel(core, &place, sci, flags);
}

static uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The nonce base: SCI, 0; or with extended numbers (SSCI, 0) xor salt. */
static void write_base(struct macsec100g *core, const struct macsec100g_sa *sa)
{
    uint32_t base[3] = {(uint32_t)(sa->sci >> 32), (uint32_t)sa->sci, 0};

    if (sa->extended) {
        for (unsigned i = 0; i < 3; i++)
            base[i] = word_at(sa->salt + 4 * i);
        base[0] ^= sa->ssci;
    }
    write_register(core, MACSEC_BASE_0, base[0]);
    write_register(core, MACSEC_BASE_1, base[1]);
    write_register(core, MACSEC_BASE_2, base[2]);
}

static int add_sa(struct macsec100g *core, const struct place *place, const struct macsec100g_sa *sa)
{
    uint32_t flags = MACSEC_FLAGS_USE | (uint32_t)sa->offset << MACSEC_FLAGS_OFFSET_SHIFT;
    uint32_t status;
    int error;

    if (sa->pn == 0 || (!sa->extended && sa->pn >> 32) || (unsigned)sa->offset > MACSEC100G_OFFSET_50)
        return MACSEC100G_BAD_ARGUMENT;
    if (sa->key_bytes != core->min_key_bytes && sa->key_bytes != core->max_key_bytes)
        return MACSEC100G_BAD_ARGUMENT;
    if (place->receive && sa->extended && sa->window > LONGEST_EXTENDED_WINDOW)
        return MACSEC100G_BAD_ARGUMENT;
    error = select_place(core, place);
    if (error)
        return error;
    if (read_register(core, MACSEC_STATUS) & MACSEC_STATUS_IN_USE)
        return MACSEC100G_IN_USE;
    if (core->load_key(core->context, place->receive, slot_of(place), sa->key, sa->key_bytes))
        return MACSEC100G_KEY_PORT;
    if (sa->extended)
        flags |= MACSEC_FLAGS_EXTENDED;
    if (!sa->encrypt)
        flags |= MACSEC_FLAGS_CLEAR;
    write_register(core, MACSEC_FLAGS, flags);
    write_long(core, MACSEC_PN_HIGH, sa->pn);
    write_register(core, MACSEC_WINDOW, sa->window);
    write_base(core, sa);
    error = command(core, MACSEC_COMMAND_SET_SA);
    if (error)
        return error;
    status = read_register(core, MACSEC_STATUS);
    return status & MACSEC_STATUS_IN_USE ? 0 : MACSEC100G_NO_KEY;
}

static int del_sa(struct macsec100g *core, const struct place *place)
{
    int error = select_place(core, place);

    if (error)
        return error;
    write_register(core, MACSEC_FLAGS, 0);
    return command(core, MACSEC_COMMAND_SET_SA);
}

int macsec100g_add_tx_sa(struct macsec100g *core, unsigned channel, unsigned an, const struct macsec100g_sa *sa)
{
    const struct place place = {false, channel, an};
    return add_sa(core, &place, sa);
}

int macsec100g_add_rx_sa(struct macsec100g *core, unsigned channel, unsigned an, const struct macsec100g_sa *sa)
{
    const struct place place = {true, channel, an};
    return add_sa(core, &place, sa);
}

int macsec100g_del_tx_sa(struct macsec100g *core, unsigned channel, unsigned an)
{
    const struct place place = {false, channel, an};
    return del_sa(core, &place);
}

int macsec100g_del_rx_sa(struct macsec100g *core, unsigned channel, unsigned an)
{
    const struct place place = {true, channel, an};
    return del_sa(core, &place);
}

static int copy_counters(struct macsec100g *core, const struct place *place)
{
    int error = select_place(core, place);
    return error ? error : command(core, MACSEC_COMMAND_READ);
}

int macsec100g_read_tx_sa(
    struct macsec100g *core, unsigned channel, unsigned an, struct macsec100g_tx_stats *stats)
{
    const struct place place = {false, channel, an};
    int error = copy_counters(core, &place);

    if (error)
        return error;
    stats->next_pn = read_long(core, MACSEC_READ_PN_HIGH);
    stats->frames = read_long(core, MACSEC_READ_FRAMES_HIGH);
    stats->octets = read_long(core, MACSEC_READ_OCTETS_HIGH);
    return 0;
}

int macsec100g_read_rx_sa(
    struct macsec100g *core, unsigned channel, unsigned an, struct macsec100g_rx_stats *stats)
{
    const struct place place = {true, channel, an};
    int error = copy_counters(core, &place);

    if (error)
        return error;
    stats->lowest_pn = read_long(core, MACSEC_READ_PN_HIGH);
    stats->ok = read_long(core, MACSEC_READ_FRAMES_HIGH);
    stats->octets_decrypted = read_long(core, MACSEC_READ_OCTETS_HIGH);
    stats->octets_validated = read_long(core, MACSEC_READ_VALIDATED_HIGH);
    stats->not_valid = read_long(core, MACSEC_READ_NOT_VALID_HIGH);
    stats->late = read_long(core, MACSEC_READ_LATE_HIGH);
    stats->unchecked = read_long(core, MACSEC_READ_UNCHECKED_HIGH);
    stats->invalid = read_long(core, MACSEC_READ_INVALID_HIGH);
    stats->delayed = read_long(core, MACSEC_READ_DELAYED_HIGH);
    return 0;
}

int macsec100g_read_port(struct macsec100g *core, struct macsec100g_port_stats *stats)
{
    stats->out_no_sa = read_register(core, MACSEC_OUT_NO_SA);
    stats->out_no_pn = read_register(core, MACSEC_OUT_NO_PN);
    stats->out_too_long = read_register(core, MACSEC_OUT_TOO_LONG);
    stats->in_untagged = read_register(core, MACSEC_IN_UNTAGGED);
    stats->in_bad_tag = read_register(core, MACSEC_IN_BAD_TAG);
    stats->in_no_sci = read_register(core, MACSEC_IN_NO_SCI);
    stats->in_unknown_sci = read_register(core, MACSEC_IN_UNKNOWN_SCI);
    stats->in_no_sa = read_register(core, MACSEC_IN_NO_SA);
    stats->in_unused_sa = read_register(core, MACSEC_IN_UNUSED_SA);
    stats->in_overrun = read_register(core, MACSEC_IN_OVERRUN);
    stats->keys_refused =
        read_register(core, MACSEC_OUT_KEY_REFUSED) + read_register(core, MACSEC_IN_KEY_REFUSED);
    return 0;
}

int macsec100g_zeroize(struct macsec100g *core)
{
    int error = command(core, MACSEC_COMMAND_ZEROIZE);
    return error ? error : wait_while(core, MACSEC_STATUS_ZEROIZING);
}

int macsec100g_set_threshold(struct macsec100g *core, uint64_t pn)
{
    /* The core compares all the time. Only the last 2^32 numbers reach what is in between. */
    write_register(core, MACSEC_THRESHOLD_HIGH, UINT32_MAX);
    write_register(core, MACSEC_THRESHOLD_LOW, (uint32_t)pn);
    write_register(core, MACSEC_THRESHOLD_HIGH, (uint32_t)(pn >> 32));
    return 0;
}

/* The core lowers its interrupt at once, even if another command waits. A reading after the write lets it arrive first,
 * where writes are posted. */
static void lower(struct macsec100g *core, uint32_t bit)
{
    write_register(core, MACSEC_COMMAND, bit);
    (void)read_register(core, MACSEC_STATUS);
}

int macsec100g_interrupt(struct macsec100g *core, bool *reached, unsigned *channel, unsigned *an)
{
    uint32_t value = read_register(core, MACSEC_REACHED);
    uint32_t slot = (value & MACSEC_REACHED_SLOT) >> MACSEC_REACHED_SLOT_SHIFT;

    *reached = value & MACSEC_REACHED_VALID;
    *channel = slot / ANS;
    *an = slot % ANS;
    if (*reached)
        lower(core, MACSEC_COMMAND_CLEAR_REACHED);
    return 0;
}

int macsec100g_damaged(struct macsec100g *core, bool *damaged)
{
    *damaged = read_register(core, MACSEC_STATUS) & MACSEC_STATUS_DAMAGED;
    if (*damaged)
        lower(core, MACSEC_COMMAND_CLEAR_DAMAGED);
    return 0;
}
