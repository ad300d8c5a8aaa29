// MACsec's receiving side for a 512-bit stream: IEEE 802.1AE-2018, 10.6, with GCM-AES-128 and GCM-AES-XPN-128, or by
// SUITE with GCM-AES-256 and GCM-AES-XPN-256, or an engine that the standard does not know (macsec_engine).
//
//   a frame of another EtherType goes to the uncontrolled port, as it comes
//   each whole frame with a SecTAG:
//       receive_parse: its SecTAG, and its channel by SCI
//       receive_judge: its association, its number, and what becomes of it
//       receive_feed: to the engine as additional data DA ‖ SA ‖ SecTAG ‖ the offset's user data, as message the rest;
//           it compares the ICV
//       receive_release: give DA ‖ SA ‖ user data, if the ICV was right and the number is not below the lowest by now;
//           the lowest number goes up to this one + 1 - window
//
// Nothing leaves before it is verified. Numbers within the window may come twice, as the standard lets them (10.6.5); with
// a window of 0 none does but 2^64 - 1, as no lowest number is above it. Only where the port's validateFrames is not strict
// may frames leave that are not encrypted and whose ICV is wrong or not looked at, with the counters of 10.7.9.
//
// Of a frame without encryption (E = C = 0) all is additional data for the engine, and the user data wait in a FIFO beside
// it, as those of an offset do. Frames with E or C alone count as ones of bad SecTAGs. Where the port has VLAN tags in the
// clear, an 802.1Q tag before the SecTAG is taken out before all this and put in again at the end: the ICV does not cover it.
//
// Clocks for a frame of n bytes of user data behind the offset: 1 + ceil(n / 64), and 1 more if the last 64 of them, or
// fewer, are more than 48 (the engine's); with an offset of 30 2 + ceil(n / 64), with one of 50 3 + ceil(n / 64), as the
// addresses, and what passes the engine by, have clocks of their own; 3 at least, in which its number is judged again.
// Without encryption: at most a clock more than its beats. OCB3: 2 + ceil(n / 64), and 4 at least if n is no multiple of 16.
//
//   CHANNELS    channels, a power of two from 2 to 64, with four associations each
//   USER        bits of tuser that travel with a frame, at least 1
//   SUITE       the cipher suite, see macsec_engine
//   SBOX, SPLIT of AES, see gcm512: S-boxes of LUTs, block RAM or gates; two registers a round
//   DEPTH       beats of a frame store, a power of two from 32 to 512: the longest frame
//   PARITY      1: parity bits are stored with the frames of a frame store, the settings, numbers and counters of
//               channels and associations, and the keys. FIFOs have none
//
//   s_axis_*    the line, without FCS; tuser[0]: a bad frame of the MAC, at tlast; the other bits go with the frame
//   m_axis_*    the controlled port: tid is the channel, tuser what s_axis_tuser[USER:1] was
//   m_bypass_*  the uncontrolled port, with the line's tuser: take it at the line's rate, for it holds up what follows
//   s_key_*     keys, see macsec_keys; slot: 4 * channel + AN
//   port        how frames are validated, whether late ones pass, and whether VLAN tags are in the clear
//   set_channel whose frames a channel receives: its SCI as it is written, first byte highest, whether it is in use, and
//               whether frames that say no SCI are also its peer's, as on a link with two stations
//   set_sa      an association: in use, the lowest packet number, the window, extended or not, its confidentiality offset,
//               and the base of its nonces, first byte highest: SCI ‖ 0, or with extended numbers (SSCI ‖ 0) ⊕ salt. It
//               comes into use once with each key, and its counters begin at 0. set_ready: the settings of this clock are
//               taken; low also while a key for the slot is under way
//   read_*      an association's lowest number and counters, of the slot of the clock before
//   count_*     one clock for each frame
//   parity_error
//               with PARITY=1: what was read from a memory is damaged, and is used all the same
module macsec_receive
    import macsec_pkg::*;
#(
    parameter int CHANNELS = 4,
    parameter int USER = 1,
    parameter int SUITE = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int DEPTH = 256,
    parameter int PARITY = 0,
    parameter int CHANNEL_BITS = $clog2(CHANNELS),
    parameter int SLOT_BITS = CHANNEL_BITS + 2,
    parameter int KEY_BITS = SUITE == 5 ? 257 : SUITE >= 2 ? 256 : 128
) (
    input logic clk,
    input logic rst,

    // The line.
    input  logic            s_axis_tvalid,
    output logic            s_axis_tready,
    input  logic [   511:0] s_axis_tdata,
    input  logic [    63:0] s_axis_tkeep,
    input  logic            s_axis_tlast,
    input  logic [ USER:0] s_axis_tuser,

    // The controlled port.
    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic [           511:0] m_axis_tdata,
    output logic [            63:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic [CHANNEL_BITS-1:0] m_axis_tid,
    output logic [        USER-1:0] m_axis_tuser,

    // The uncontrolled port.
    output logic            m_bypass_tvalid,
    input  logic            m_bypass_tready,
    output logic [   511:0] m_bypass_tdata,
    output logic [    63:0] m_bypass_tkeep,
    output logic            m_bypass_tlast,
    output logic [USER:0] m_bypass_tuser,

    // Keys.
    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,

    // Settings.
    input  port_t                   port,
    input  logic                    set_channel,
    input  logic                    set_sa,
    output logic                    set_ready,
    input  logic [   SLOT_BITS-1:0] set_slot,
    input  logic                    set_use,
    input  logic                    set_extended,
    input  logic                    set_no_sci,
    input  logic [             1:0] set_offset,
    input  logic [            63:0] set_sci,
    input  logic [            63:0] set_pn,
    input  logic [            31:0] set_window,
    input  logic [            95:0] set_base,

    // What an association has counted.
    input  logic [   SLOT_BITS-1:0] read_slot,
    output logic [            63:0] read_pn,
    output logic [            63:0] read_frames,     // InPktsOK
    output logic [            63:0] read_octets,     // InOctetsDecrypted
    output logic [            63:0] read_validated,  // InOctetsValidated
    output logic [            63:0] read_not_valid,  // InPktsNotValid
    output logic [            63:0] read_late,       // InPktsLate
    output logic [            63:0] read_unchecked,  // InPktsUnchecked
    output logic [            63:0] read_invalid,    // InPktsInvalid
    output logic [            63:0] read_delayed,    // InPktsDelayed
    output logic [2**SLOT_BITS-1:0] in_use,

    // Zeroization.
    input  logic zeroize,
    output logic zeroizing,

    // Events.
    output logic count_untagged,     // InPktsUntagged
    output logic count_bad_tag,      // InPktsBadTag
    output logic count_no_sci,       // InPktsNoSCI
    output logic count_no_sa,        // InPktsNotUsingSA
    output logic count_unknown_sci,  // InPktsUnknownSCI
    output logic count_unused_sa,    // InPktsUnusedSA
    output logic count_overrun,      // InPktsOverrun: for the frame stores
    output logic count_key_refused,

    output logic parity_error
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (CHANNELS < 2 || CHANNELS > 64 || CHANNELS != 2 ** $clog2(CHANNELS)) begin : g_channels_refused
        channels_must_be_a_power_of_two_from_2_to_64 refused ();
    end
    if (USER < 1) begin : g_user_refused
        user_must_be_1_or_more refused ();
    end
    if (SUITE < 0 || SUITE > 5) begin : g_suite_refused
        suite_must_be_0_to_5 refused ();
    end
    if (SBOX < 0 || SBOX > 2) begin : g_sbox_refused
        sbox_must_be_0_1_or_2 refused ();
    end
    if (SPLIT < 0 || SPLIT > 1) begin : g_split_refused
        split_must_be_0_or_1 refused ();
    end
    if (DEPTH < 32 || DEPTH > 512 || DEPTH != 2 ** $clog2(DEPTH)) begin : g_depth_refused
        depth_must_be_a_power_of_two_from_32_to_512 refused ();
    end
    if (PARITY < 0 || PARITY > 1) begin : g_parity_refused
        parity_must_be_0_or_1 refused ();
    end

    // Which memories differ from what was written to them: parity.
    logic [12:0] differ;
    assign parity_error = differ != '0;

    // ---- Which port ----

    logic arrived_first;
    logic was_secure;
    logic secure;
    logic has_vlan;  // before the SecTAG
    logic line_valid;
    logic line_ready;
    logic line_secure;
    logic line_vlan;
    logic [USER:0] line_user;
    beat_t line_beat;
    logic bare_ready;

    // A frame of 12 bytes or fewer has no EtherType.
    assign has_vlan = port.vlan_clear && s_axis_tkeep[17] && s_axis_tdata[143:128] == macsec_pkg::ETHER_TYPE
        && (s_axis_tdata[111:96] == macsec_pkg::CUSTOMER_TAG
            || s_axis_tdata[111:96] == macsec_pkg::PROVIDER_TAG);
    assign secure = arrived_first
        ? has_vlan || (s_axis_tdata[111:96] == macsec_pkg::ETHER_TYPE && s_axis_tkeep[13]) : was_secure;

    always_ff @(posedge clk) begin
        if (rst) arrived_first <= 1'b1;
        else if (s_axis_tvalid && s_axis_tready) arrived_first <= s_axis_tlast;
        if (s_axis_tvalid && s_axis_tready) was_secure <= secure;
    end

    stream_fifo #(
        .WIDTH(USER + 3 + $bits(beat_t)),
        .DEPTH(4)
    ) line (
        .clk,
        .rst,
        .s_valid(s_axis_tvalid),
        .s_ready(s_axis_tready),
        .s_data({secure, has_vlan, s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .m_valid(line_valid),
        .m_ready(line_ready),
        .m_data({line_secure, line_vlan, line_user, line_beat}),
        .space(),
        .popped()
    );

    assign line_ready = line_secure ? bare_ready : m_bypass_tready;
    assign m_bypass_tvalid = line_valid && !line_secure;
    assign m_bypass_tdata = line_beat.data;
    assign m_bypass_tkeep = line_beat.keep;
    assign m_bypass_tlast = line_beat.last;
    assign m_bypass_tuser = line_user;
    assign count_untagged = m_bypass_tvalid && m_bypass_tready && line_beat.last && !line_user[0];

    // ---- Frames without the tag that stays in the clear, whole ----

    localparam int SIDE = USER + $bits(vlan_t);
    localparam int HEAD = 176;  // source address and SecTAG: bytes 6 to 27

    logic bare_valid;
    logic store_ready;
    beat_t bare;
    vlan_t bare_vlan;
    logic [USER-1:0] bare_user;
    logic bare_bad;
    logic frame_valid;
    logic frame_ready;
    logic [15:0] frame_bytes;
    logic [SIDE-1:0] frame_side;
    logic [HEAD-1:0] frame_head;
    logic beat_valid;
    logic beat_ready;
    logic [511:0] beat_data;
    logic beat_last;
    logic line_overrun;

    vlan_remove #(
        .USER(USER)
    ) remove (
        .clk,
        .rst,
        .s_valid(line_valid && line_secure),
        .s_ready(bare_ready),
        .s_beat(line_beat),
        .s_remove(line_vlan),
        .s_user(line_user[USER:1]),
        .s_bad(line_user[0]),
        .m_valid(bare_valid),
        .m_ready(store_ready),
        .m_beat(bare),
        .m_vlan(bare_vlan),
        .m_user(bare_user),
        .m_bad(bare_bad)
    );

    frame_store #(
        .SIDE (SIDE + HEAD),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) store (
        .clk,
        .rst,
        .s_axis_tvalid(bare_valid),
        .s_axis_tready(store_ready),
        .s_axis_tdata(bare.data),
        .s_axis_tkeep(bare.keep),
        .s_axis_tlast(bare.last),
        .s_axis_tuser(bare_bad),
        .s_axis_side({bare_vlan, bare_user, bare.data[223:48]}),
        .m_frame_tvalid(frame_valid),
        .m_frame_tready(frame_ready),
        .m_frame_bytes(frame_bytes),
        .m_frame_side({frame_side, frame_head}),
        .m_axis_tvalid(beat_valid),
        .m_axis_tready(beat_ready),
        .m_axis_tdata(beat_data),
        .m_axis_tkeep(),
        .m_axis_tlast(beat_last),
        .too_long(line_overrun),
        .parity_error(differ[0])
    );

    // ---- Channel, association, number: command and job ----

    logic move;
    logic parsed_valid;
    parsed_t parsed;
    logic [SIDE-1:0] parsed_side;
    logic parsed_found;
    logic [CHANNEL_BITS-1:0] parsed_channel;

    receive_parse #(
        .CHANNELS(CHANNELS),
        .SIDE(SIDE)
    ) parse (
        .clk,
        .rst,
        .move,
        .s_frame_valid(frame_valid),
        .s_frame_ready(frame_ready),
        .s_frame_bytes(frame_bytes),
        .s_frame_head(frame_head),
        .s_frame_side(frame_side),
        .set_channel(set_channel && set_ready),
        .set_number(set_slot[SLOT_BITS-1:2]),
        .set_use,
        .set_no_sci,
        .set_sci,
        .m_valid(parsed_valid),
        .m_parsed(parsed),
        .m_side(parsed_side),
        .m_found(parsed_found),
        .m_channel(parsed_channel)
    );

    logic begins;  // the use of an association
    logic coming;  // its key
    logic began;
    logic late;
    logic [SLOT_BITS-1:0] late_slot;
    logic lowest_write;
    logic [SLOT_BITS-1:0] lowest_slot;
    logic [63:0] lowest_value;
    logic number_read;
    logic [SLOT_BITS-1:0] number_slot;
    logic [63:0] number_value;
    logic command_valid;
    logic command_ready;
    logic [SLOT_BITS-1:0] command_slot;
    logic [95:0] command_nonce;
    logic [15:0] command_ad_bytes;
    logic [15:0] command_message_bytes;
    logic job_valid;
    logic job_ready;
    receive_job_t job;
    logic [SLOT_BITS-1:0] job_slot;
    logic [SIDE-1:0] job_side;

    receive_judge #(
        .SIDE(SIDE),
        .CHANNEL_BITS(CHANNEL_BITS),
        .PARITY(PARITY)
    ) judge (
        .clk,
        .rst,
        .move,
        .s_valid(parsed_valid),
        .s_parsed(parsed),
        .s_side(parsed_side),
        .s_found(parsed_found),
        .s_channel(parsed_channel),
        .port,
        .set(begins),
        .set_slot,
        .set_extended,
        .set_offset,
        .set_window,
        .set_base,
        .in_use,
        .lowest_write,
        .lowest_slot,
        .lowest_value,
        .number_read,
        .number_slot,
        .number_value,
        .read_slot,
        .read_pn,
        .began,
        .late,
        .late_slot,
        .count_bad_tag,
        .count_no_sci,
        .count_no_sa,
        .count_unknown_sci,
        .count_unused_sa,
        .parity_error(differ[1]),
        .m_cmd_valid(command_valid),
        .m_cmd_ready(command_ready),
        .m_cmd_slot(command_slot),
        .m_cmd_nonce(command_nonce),
        .m_cmd_ad_bytes(command_ad_bytes),
        .m_cmd_message_bytes(command_message_bytes),
        .m_job_valid(job_valid),
        .m_job_ready(job_ready),
        .m_job(job),
        .m_job_slot(job_slot),
        .m_job_side(job_side)
    );

    // ---- Beats to the engine and beside it ----

    logic fed_valid;
    logic fed_ready;
    beat_t fed;
    logic fed_ad;
    logic icv_valid;
    logic icv_ready;
    logic [127:0] icv;
    logic beside_valid;
    logic beside_ready;
    beat_t beside;
    logic header_valid;
    logic header_ready;
    verdict_job_t header_verdict;
    logic [SLOT_BITS-1:0] header_slot;
    logic [SIDE-1:0] header_side;
    logic header_beside;
    logic header_engine;
    logic [95:0] header_addresses;

    receive_feed #(
        .SIDE(SIDE),
        .SLOT_BITS(SLOT_BITS)
    ) feed (
        .clk,
        .rst,
        .s_job_valid(job_valid),
        .s_job_ready(job_ready),
        .s_job(job),
        .s_job_slot(job_slot),
        .s_job_side(job_side),
        .s_axis_tvalid(beat_valid),
        .s_axis_tready(beat_ready),
        .s_axis_tdata(beat_data),
        .s_axis_tlast(beat_last),
        .m_axis_valid(fed_valid),
        .m_axis_ready(fed_ready),
        .m_axis(fed),
        .m_axis_ad(fed_ad),
        .m_icv_valid(icv_valid),
        .m_icv_ready(icv_ready),
        .m_icv(icv),
        .m_beside_valid(beside_valid),
        .m_beside_ready(beside_ready),
        .m_beside(beside),
        .m_header_valid(header_valid),
        .m_header_ready(header_ready),
        .m_header_verdict(header_verdict),
        .m_header_slot(header_slot),
        .m_header_side(header_side),
        .m_header_beside(header_beside),
        .m_header_engine(header_engine),
        .m_header_addresses(header_addresses)
    );

    logic engine_valid;
    logic engine_ready;
    beat_t engine_beat;
    logic verdict_valid;
    logic verdict_ready;
    logic verdict_bad;
    logic ends;
    result_t result;
    logic counts;  // for its association

    assign counts = ends && result.known;

    macsec_engine #(
        .OPEN(1),
        .SUITE(SUITE),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .PARITY(PARITY),
        .SLOT_BITS(SLOT_BITS)
    ) engine (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .set(set_sa && set_ready),
        .set_slot,
        .set_use,
        .begins,
        .coming,
        .in_use,
        .zeroize,
        .zeroizing,
        .began,
        .ended(counts),
        .refused(count_key_refused),
        .s_cmd_tvalid(command_valid),
        .s_cmd_tready(command_ready),
        .s_cmd_slot(command_slot),
        .s_cmd_nonce(command_nonce),
        .s_cmd_ad_bytes(command_ad_bytes),
        .s_cmd_message_bytes(command_message_bytes),
        .s_axis_tvalid(fed_valid),
        .s_axis_tready(fed_ready),
        .s_axis_tdata(fed.data),
        .s_axis_tkeep(fed.keep),
        .s_axis_tlast(fed.last),
        .s_axis_tuser({1'b0, fed_ad}),
        .s_tag_tvalid(icv_valid),
        .s_tag_tready(icv_ready),
        .s_tag_tdata(icv),
        .m_axis_tvalid(engine_valid),
        .m_axis_tready(engine_ready),
        .m_axis_tdata(engine_beat.data),
        .m_axis_tkeep(engine_beat.keep),
        .m_axis_tlast(engine_beat.last),
        .m_tag_tvalid(verdict_valid),
        .m_tag_tready(verdict_ready),
        .m_tag_tdata(),
        .m_tag_tbad(verdict_bad),
        .parity_error(differ[2])
    );

    // ---- Frames to the controlled port ----

    logic raises;
    logic [63:0] raised;
    logic opened_valid;
    logic opened_ready;
    beat_t opened;
    vlan_t opened_vlan;
    logic [CHANNEL_BITS-1:0] opened_channel;
    logic [USER-1:0] opened_user;
    logic release_overrun;

    receive_release #(
        .SIDE(CHANNEL_BITS + SIDE),
        .SLOT_BITS(SLOT_BITS),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) release_frames (
        .clk,
        .rst,
        .s_header_valid(header_valid),
        .s_header_ready(header_ready),
        .s_header_verdict(header_verdict),
        .s_header_slot(header_slot),
        .s_header_side({header_slot[SLOT_BITS-1:2], header_side}),
        .s_header_beside(header_beside),
        .s_header_engine(header_engine),
        .s_header_addresses(header_addresses),
        .s_beside_valid(beside_valid),
        .s_beside_ready(beside_ready),
        .s_beside(beside),
        .s_engine_valid(engine_valid),
        .s_engine_ready(engine_ready),
        .s_engine(engine_beat),
        .s_verdict_valid(verdict_valid),
        .s_verdict_ready(verdict_ready),
        .s_verdict_bad(verdict_bad),
        .number_read,
        .number_slot,
        .number_value,
        .ends,
        .result,
        .raises,
        .raised,
        .m_valid(opened_valid),
        .m_ready(opened_ready),
        .m_beat(opened),
        .m_side({opened_channel, opened_vlan, opened_user}),
        .overrun(release_overrun),
        .parity_error(differ[3])
    );

    vlan_insert #(
        .USER(CHANNEL_BITS + USER)
    ) insert (
        .clk,
        .rst,
        .s_valid(opened_valid),
        .s_ready(opened_ready),
        .s_beat(opened),
        .s_vlan(opened_vlan),
        .s_user({opened_channel, opened_user}),
        .m_valid(m_axis_tvalid),
        .m_ready(m_axis_tready),
        .m_beat({m_axis_tlast, m_axis_tkeep, m_axis_tdata}),
        .m_user({m_axis_tid, m_axis_tuser})
    );

    stream_rules #(
        .WIDTH(CHANNEL_BITS + USER + $bits(beat_t))
    ) rules (
        .clk,
        .rst,
        .valid(m_axis_tvalid),
        .ready(m_axis_tready),
        .data({m_axis_tid, m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata})
    );

    assign count_overrun = line_overrun || release_overrun;

    // ---- The lowest numbers: one write port ----

    assign set_ready = !ends && !coming;

    always_ff @(posedge clk) begin
        lowest_write <= ((ends && raises) || begins) && !rst;
        lowest_slot  <= ends ? number_slot : set_slot;
        lowest_value <= ends ? raised : set_pn;
    end

    // ---- Counters ----

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_good (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.good && !result.delayed),
        .add_slot(number_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_frames),
        .parity_error(differ[4])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) octets_decrypted (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.good && !result.clear),
        .add_slot(number_slot),
        .add_value(result.bytes),
        .read_slot,
        .read_value(read_octets),
        .parity_error(differ[5])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) octets_validated (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.good && result.clear),
        .add_slot(number_slot),
        .add_value(result.bytes),
        .read_slot,
        .read_value(read_validated),
        .parity_error(differ[6])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_not_valid (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.not_valid),
        .add_slot(number_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_not_valid),
        .parity_error(differ[7])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_unchecked (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.unchecked),
        .add_slot(number_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_unchecked),
        .parity_error(differ[8])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_invalid (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.invalid),
        .add_slot(number_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_invalid),
        .parity_error(differ[9])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_delayed (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.delayed),
        .add_slot(number_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_delayed),
        .parity_error(differ[10])
    );

    // Late frames are found at two places, so at the same time.
    logic [63:0] read_late_before;
    logic [63:0] read_late_behind;
    assign read_late = read_late_before + read_late_behind;

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_late_before (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(late),
        .add_slot(late_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_late_before),
        .parity_error(differ[11])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_late_behind (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(counts && result.late),
        .add_slot(number_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_late_behind),
        .parity_error(differ[12])
    );

endmodule
