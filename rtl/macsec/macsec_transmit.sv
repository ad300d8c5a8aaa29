// MACsec's sending side for a 512-bit stream: IEEE 802.1AE-2018, 10.5, with GCM-AES-128 and GCM-AES-XPN-128, or by
// SUITE with GCM-AES-256 and GCM-AES-XPN-256, or an engine that the standard does not know (macsec_engine).
//
//   for each whole frame of the controlled port:
//       transmit_judge: channel by tid, association by the channel's AN, packet number from the association
//       transmit_feed: to the engine as additional data DA ‖ SA ‖ SecTAG ‖ the offset's user data, as message the rest
//       transmit_release: give DA ‖ SA ‖ SecTAG ‖ user data ‖ ICV
//   frames of the uncontrolled port go in between as they are
//
// An association without encryption (E = C = 0) gives its engine all the user data as additional data. Additional data that
// have user data leave through a FIFO beside the engine. Where the port has VLAN tags in the clear, a frame's 802.1Q tag is
// taken out before all this and put in again behind the addresses at the end: the ICV does not cover it.
//
// A frame whose channel has no association in use, or one without numbers, is dropped and counted. The SCI is in the SecTAG
// unless the channel omits it.
//
// Clocks for an encrypted frame of n bytes of user data behind the offset: 1 + ceil(n / 64), and 1 more if its last 64 bytes
// are more than 48, since engine and ICV want a place of their own then. With an offset of 50 1 more, and another one if the
// frame's last piece leaves a rest: the next frame, which begins with 64 bytes at once, waits for it. For a frame without
// encryption: at most a clock more than its beats.
//
//   CHANNELS    channels, a power of two from 2 to 64, with four associations each
//   USER        bits of tuser that travel with a frame, at least 1
//   SUITE       the cipher suite, see macsec_engine
//   SBOX, SPLIT of AES, see gcm512: S-boxes of LUTs, block RAM or gates; two registers a round
//   DEPTH       beats of a frame store, a power of two from 32 to 512: the longest frame
//   PARITY      1: parity bits are stored with the frames of a frame store, the settings, numbers and counters of
//               channels and associations, and the keys. FIFOs have none
//
//   s_axis_*    the controlled port; tid is the channel, the same in all beats of a frame
//   s_bypass_*  the uncontrolled port
//   m_axis_*    the line; tid and tuser are those that the frame came with; without FCS
//   s_key_*     keys, see macsec_keys; slot: 4 * channel + AN
//   port        of port_t: vlan_clear
//   set_channel what a channel sends with: its AN, its SCI as it is written, first byte highest, and whether SecTAGs
//               omit it, as they may on a link with two stations
//   set_sa      an association: in use, without encryption or not (set_clear), its confidentiality offset, its next packet
//               number, and the base of its nonces, first byte highest: SCI ‖ 0, or with extended numbers
//               (SSCI ‖ 0) ⊕ salt. It comes into use once with each key, and its counters begin at 0. set_ready: the
//               settings of this clock are taken; low also while a key for the slot is under way
//   read_*      an association's next packet number and counters, of the slot of the clock before
//   threshold   reached: one clock for each frame with this number or a higher one, of reached_slot; never if it is 0
//   count_*     one clock for each frame: dropped because there is no association, or no number left
//   parity_error
//               with PARITY=1: what was read from a memory is damaged, and is used all the same
module macsec_transmit
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

    // The controlled port.
    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [           511:0] s_axis_tdata,
    input  logic [            63:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [CHANNEL_BITS-1:0] s_axis_tid,
    input  logic [        USER-1:0] s_axis_tuser,

    // The uncontrolled port.
    input  logic                    s_bypass_tvalid,
    output logic                    s_bypass_tready,
    input  logic [           511:0] s_bypass_tdata,
    input  logic [            63:0] s_bypass_tkeep,
    input  logic                    s_bypass_tlast,
    input  logic [CHANNEL_BITS-1:0] s_bypass_tid,
    input  logic [        USER-1:0] s_bypass_tuser,

    // The line.
    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic [           511:0] m_axis_tdata,
    output logic [            63:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic [CHANNEL_BITS-1:0] m_axis_tid,
    output logic [        USER-1:0] m_axis_tuser,

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
    input  logic [   SLOT_BITS-1:0] set_slot,  // of a channel: its number and AN
    input  logic                    set_use,
    input  logic                    set_extended,
    input  logic                    set_no_sci,
    input  logic                    set_clear,
    input  logic [             1:0] set_offset,
    input  logic [            63:0] set_sci,
    input  logic [            63:0] set_pn,
    input  logic [            95:0] set_base,

    // What an association has counted.
    input  logic [   SLOT_BITS-1:0] read_slot,
    output logic [            63:0] read_pn,
    output logic [            63:0] read_frames,  // OutPktsEncrypted
    output logic [            63:0] read_octets,  // OutOctetsEncrypted
    output logic [2**SLOT_BITS-1:0] in_use,

    // Zeroization.
    input  logic zeroize,
    output logic zeroizing,

    // Numbers that run out.
    input  logic [         63:0] threshold,
    output logic                 reached,
    output logic [SLOT_BITS-1:0] reached_slot,

    // Events.
    output logic count_no_sa,
    output logic count_no_pn,
    output logic count_too_long,  // OutPktsTooLong: for the frame store
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
    logic [4:0] differ;
    assign parity_error = differ != '0;

    localparam int SIDE = CHANNEL_BITS + USER;
    localparam int FRAME_SIDE = SIDE + $bits(vlan_t);

    // ---- Frames without the tag that stays in the clear, whole ----

    logic has_vlan;
    logic untagged_valid;
    logic untagged_ready;
    beat_t untagged;
    vlan_t untagged_vlan;
    logic [SIDE-1:0] untagged_side;

    assign has_vlan = port.vlan_clear && s_axis_tkeep[17]
        && (s_axis_tdata[111:96] == macsec_pkg::CUSTOMER_TAG
            || s_axis_tdata[111:96] == macsec_pkg::PROVIDER_TAG);

    vlan_remove #(
        .USER(SIDE)
    ) remove (
        .clk,
        .rst,
        .s_valid(s_axis_tvalid),
        .s_ready(s_axis_tready),
        .s_beat({s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .s_remove(has_vlan),
        .s_user({s_axis_tid, s_axis_tuser}),
        .s_bad(1'b0),
        .m_valid(untagged_valid),
        .m_ready(untagged_ready),
        .m_beat(untagged),
        .m_vlan(untagged_vlan),
        .m_user(untagged_side),
        .m_bad()
    );

    logic frame_valid;
    logic frame_ready;
    logic [15:0] frame_bytes;
    logic [FRAME_SIDE-1:0] frame_side;
    logic beat_valid;
    logic beat_ready;
    logic [511:0] beat_data;
    logic beat_last;

    frame_store #(
        .SIDE (FRAME_SIDE),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) store (
        .clk,
        .rst,
        .s_axis_tvalid(untagged_valid),
        .s_axis_tready(untagged_ready),
        .s_axis_tdata(untagged.data),
        .s_axis_tkeep(untagged.keep),
        .s_axis_tlast(untagged.last),
        .s_axis_tuser(1'b0),
        .s_axis_side({untagged_vlan, untagged_side}),
        .m_frame_tvalid(frame_valid),
        .m_frame_tready(frame_ready),
        .m_frame_bytes(frame_bytes),
        .m_frame_side(frame_side),
        .m_axis_tvalid(beat_valid),
        .m_axis_tready(beat_ready),
        .m_axis_tdata(beat_data),
        .m_axis_tkeep(),
        .m_axis_tlast(beat_last),
        .too_long(count_too_long),
        .parity_error(differ[0])
    );

    // ---- Number, command and job ----

    logic begins;  // the use of an association
    logic coming;  // its key
    logic begun;
    logic command_valid;
    logic command_ready;
    logic [SLOT_BITS-1:0] command_slot;
    logic [95:0] command_nonce;
    logic [15:0] command_ad_bytes;
    logic [15:0] command_message_bytes;
    logic job_valid;
    logic job_ready;
    transmit_job_t job;
    logic [SLOT_BITS-1:0] job_slot;
    logic [FRAME_SIDE-1:0] job_side;

    transmit_judge #(
        .CHANNELS(CHANNELS),
        .SIDE(FRAME_SIDE),
        .PARITY(PARITY)
    ) judge (
        .clk,
        .rst,
        .s_frame_valid(frame_valid),
        .s_frame_ready(frame_ready),
        .s_frame_bytes(frame_bytes),
        .s_frame_channel(frame_side[SIDE-1-:CHANNEL_BITS]),
        .s_frame_side(frame_side),
        .set_channel,
        .set_ready,
        .set_slot,
        .set_extended,
        .set_no_sci,
        .set_clear,
        .set_offset,
        .set_sci,
        .set_pn,
        .set_base,
        .begins,
        .coming,
        .in_use,
        .read_slot,
        .read_pn,
        .threshold,
        .reached,
        .reached_slot,
        .begun,
        .count_no_sa,
        .count_no_pn,
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
    logic beside_valid;
    logic beside_ready;
    beat_t beside;
    logic header_valid;
    logic header_ready;
    logic [FRAME_SIDE-1:0] header_side;
    logic [SLOT_BITS-1:0] header_slot;
    logic [15:0] header_bytes;
    logic header_beside;
    logic header_plain;
    logic header_no_sci;
    logic [223:0] header;

    transmit_feed #(
        .SIDE(FRAME_SIDE),
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
        .m_beside_valid(beside_valid),
        .m_beside_ready(beside_ready),
        .m_beside(beside),
        .m_header_valid(header_valid),
        .m_header_ready(header_ready),
        .m_header_side(header_side),
        .m_header_slot(header_slot),
        .m_header_bytes(header_bytes),
        .m_header_beside(header_beside),
        .m_header_plain(header_plain),
        .m_header_no_sci(header_no_sci),
        .m_header(header)
    );

    logic engine_valid;
    logic engine_ready;
    beat_t engine_beat;
    logic icv_valid;
    logic icv_ready;
    logic [127:0] icv;

    macsec_engine #(
        .OPEN(0),
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
        .began(begun),
        .ended(icv_valid && icv_ready),
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
        .s_tag_tvalid(1'b0),
        .s_tag_tready(),
        .s_tag_tdata('0),
        .m_axis_tvalid(engine_valid),
        .m_axis_tready(engine_ready),
        .m_axis_tdata(engine_beat.data),
        .m_axis_tkeep(engine_beat.keep),
        .m_axis_tlast(engine_beat.last),
        .m_tag_tvalid(icv_valid),
        .m_tag_tready(icv_ready),
        .m_tag_tdata(icv),
        .m_tag_tbad(),
        .parity_error(differ[2])
    );

    // ---- Frames to the line ----

    logic packed_valid;
    logic packed_ready;
    beat_t packed_beat;
    vlan_t packed_vlan;
    logic [SIDE-1:0] packed_side;
    logic sealed_valid;
    logic sealed_ready;
    beat_t sealed;
    logic [SIDE-1:0] sealed_side;

    transmit_release #(
        .SIDE(FRAME_SIDE)
    ) release_frames (
        .clk,
        .rst,
        .s_header_valid(header_valid),
        .s_header_ready(header_ready),
        .s_header_side(header_side),
        .s_header_beside(header_beside),
        .s_header_plain(header_plain),
        .s_header_no_sci(header_no_sci),
        .s_header(header),
        .s_beside_valid(beside_valid),
        .s_beside_ready(beside_ready),
        .s_beside(beside),
        .s_engine_valid(engine_valid),
        .s_engine_ready(engine_ready),
        .s_engine(engine_beat),
        .s_icv_valid(icv_valid),
        .s_icv_ready(icv_ready),
        .s_icv(icv),
        .m_valid(packed_valid),
        .m_ready(packed_ready),
        .m_beat(packed_beat),
        .m_side({packed_vlan, packed_side})
    );

    vlan_insert #(
        .USER(SIDE)
    ) insert (
        .clk,
        .rst,
        .s_valid(packed_valid),
        .s_ready(packed_ready),
        .s_beat(packed_beat),
        .s_vlan(packed_vlan),
        .s_user(packed_side),
        .m_valid(sealed_valid),
        .m_ready(sealed_ready),
        .m_beat(sealed),
        .m_user(sealed_side)
    );

    frame_merge #(
        .USER(SIDE)
    ) merge (
        .clk,
        .rst,
        .s_axis_tvalid({s_bypass_tvalid, sealed_valid}),
        .s_axis_tready({s_bypass_tready, sealed_ready}),
        .s_axis_tdata({s_bypass_tdata, sealed.data}),
        .s_axis_tkeep({s_bypass_tkeep, sealed.keep}),
        .s_axis_tlast({s_bypass_tlast, sealed.last}),
        .s_axis_tuser({s_bypass_tid, s_bypass_tuser, sealed_side}),
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tuser({m_axis_tid, m_axis_tuser})
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

    // ---- Counters ----

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) frames_sealed (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(header_valid),
        .add_slot(header_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_frames),
        .parity_error(differ[3])
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) octets_sealed (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(header_valid),
        .add_slot(header_slot),
        .add_value(header_bytes),
        .read_slot,
        .read_value(read_octets),
        .parity_error(differ[4])
    );

    logic unused;
    assign unused = ^{port.late_passes, port.validate};

endmodule
