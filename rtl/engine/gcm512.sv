// GCM (NIST SP 800-38D; 96-bit nonces, 128-bit tags) for 512-bit streams: four encryption lanes in counter
// mode and GHASH over four blocks a clock, one beat of four blocks a clock, any byte length, AD, every packet
// with its own key slot and nonce.
//
//   CIPHER     0 AES-128, 1 Serpent with 256-bit keys, 2 AES-256, 3 AES-128 or AES-256, as each key says: bit 256 of
//              s_key_key is set for a key of AES-128, which is in bits 127:0
//   DIRECTION  0 seals, 1 opens, 2 both: the data path is the same, the parameter saves a few multiplexers
//   SBOX       of AES: 0 tables in LUTs, 1 block RAM, 2 Boyar-Peralta circuits
//   SPLIT      of AES: 1: two registers a round, for a faster clock; 10 clocks more from a beat to its output,
//              with AES-256 14, also for keys of AES-128
//   STAGES     registers of GHASH's multipliers
//   TAG_BESIDE 0: a received tag is a beat of the stream; 1: it comes beside it and costs no clock
//   PARITY     1: keys are stored with parity, and a packet whose key is damaged is in error
//   SLOTS      key slots, a power of two of 2 or more
//
// No clock is lost between packets, whatever their slots: the round keys walk beside the blocks, GHASH reads
// its powers by slot. The block E(J_0) that covers the tag and the block of lengths go into places of the
// packet's last beat that its message leaves free. A packet costs the clocks of its beats on s_axis, and one without a
// tag's beat whose message has a multiple of four blocks (or none) one more for these two blocks.
// Loading a key takes one clock from the packets for H = E(0), and while GHASH makes its powers
// one in STAGES + 5, which is how long it takes for one of them.
//
// Ports: the modes' (s_key, s_cmd, s_axis, m_axis, m_tag) with 512-bit tdata. A packet: ceil(ad/64) AD beats,
// ceil(message/64) message beats, a tag beat of 16 bytes when opening, or with TAG_BESIDE a tag on s_tag, at the
// latest with the last of these beats, which waits for it; tkeep partial in a part's last beat only.
// s_cmd_nonce: the nonce is in its first twelve bytes (bits 95:0), the rest is ignored, as is s_cmd_padded. A
// command for a slot that is being loaded waits until it is; a key for a slot that packets in the engine
// use is refused (slot_loader).
//
// Bytes and lanes: the first byte on the wire is in bits 7:0 of tdata. Inside, block i of a beat goes through lane i, and
// has its first byte highest.
//
//   tdata   511     384 383     256 255     128 127       0
//   byte     63 ... 48   47 ... 32   31 ... 16   15 ...  0
//   lane         3           2           1           0
//   inside   48 ... 63   32 ... 47   16 ... 31    0 ... 15
module gcm512 #(
    parameter int CIPHER = 0,
    parameter int DIRECTION = 2,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int STAGES = 4,
    parameter int TAG_BESIDE = 0,
    parameter int PARITY = 0,
    parameter int SLOTS = 16,
    parameter int SLOT_BITS = $clog2(SLOTS),
    parameter int KEY_BITS = CIPHER == 0 ? 128 : CIPHER == 3 ? 257 : 256
) (
    input logic clk,
    input logic rst,

    // Keys, and how many were refused since reset.
    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,
    output logic                 s_key_refused,
    output logic [         31:0] s_key_refusals,

    // One command per packet.
    input  logic                 s_cmd_tvalid,
    output logic                 s_cmd_tready,
    input  logic                 s_cmd_open,
    input  logic [SLOT_BITS-1:0] s_cmd_slot,
    input  logic [        127:0] s_cmd_nonce,
    input  logic [         15:0] s_cmd_ad_bytes,
    input  logic [         15:0] s_cmd_message_bytes,
    input  logic                 s_cmd_padded,

    // Packets: additional data (tuser 1), message (0), tag (2).
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [ 63:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    // Received tags, with TAG_BESIDE.
    input  logic         s_tag_tvalid,
    output logic         s_tag_tready,
    input  logic [127:0] s_tag_tdata,

    // Messages; tuser with tlast: discard the packet.
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [ 63:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    // Tags and verdicts; tuser: 0 did not verify, 1 error.
    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (CIPHER < 0 || CIPHER > 3) begin : g_cipher_refused
        cipher_must_be_0_1_2_or_3 refused ();
    end
    if (DIRECTION < 0 || DIRECTION > 2) begin : g_direction_refused
        direction_must_be_0_1_or_2 refused ();
    end
    if (SBOX < 0 || SBOX > 2) begin : g_sbox_refused
        sbox_must_be_0_1_or_2 refused ();
    end
    if (SPLIT < 0 || SPLIT > 1) begin : g_split_refused
        split_must_be_0_or_1 refused ();
    end
    if (STAGES != 2 && STAGES != 4) begin : g_stages_refused
        stages_must_be_2_or_4 refused ();
    end
    if (TAG_BESIDE < 0 || TAG_BESIDE > 1) begin : g_tag_beside_refused
        tag_beside_must_be_0_or_1 refused ();
    end
    if (PARITY < 0 || PARITY > 1) begin : g_parity_refused
        parity_must_be_0_or_1 refused ();
    end
    if (SLOTS < 2 || SLOTS != 2 ** $clog2(SLOTS)) begin : g_slots_refused
        slots_must_be_a_power_of_two refused ();
    end

    localparam int ROUNDS = CIPHER == 1 ? 32 : CIPHER >= 2 ? 14 : 10;
    localparam int LATENCY = SPLIT == 1 && CIPHER != 1 ? 2 * ROUNDS + 1 : ROUNDS + 1;
    // Beats from the front to the FIFO, and while a verdict is made also those behind it.
    localparam int BEATS = CIPHER == 0 && SPLIT == 0 && DIRECTION == 0 ? 32 : 64;
    localparam int PACKETS = 64;

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
`else
    import engine_pkg::beat_t;
`endif

    // ---- Key slots: the key, and in GHASH the powers of H ----

    logic loading;
    logic [SLOT_BITS-1:0] loading_slot;
    logic [SLOTS-1:0] loaded;
    logic write_key;
    logic [KEY_BITS-1:0] new_key;
    logic done;  // a tag is made
    logic [SLOT_BITS-1:0] done_slot;
    logic make;
    logic make_ack;
    logic made;

    slot_loader #(
        .CIPHER(CIPHER),
        .SLOT_BITS(SLOT_BITS)
    ) loader (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .s_key_refused,
        .s_key_refusals,
        .begins(s_cmd_tvalid && s_cmd_tready),
        .begins_slot(s_cmd_slot),
        .ends(done),
        .ends_slot(done_slot),
        .loading,
        .loading_slot,
        .loaded,
        .write_key,
        .key(new_key),
        .write_last(),
        .last(),
        .make,
        .make_ack,
        .made
    );

    // ---- Begin: commands and beats ----

    logic packet_done;
    logic hold;
    logic credit_beat;
    logic credit_packet;
    logic emit_message;
    logic beat_valid;
    beat_t beat;
    logic [engine_pkg::PLACE_BITS-1:0] beat_place;
    logic [engine_pkg::SIZES_BITS-1:0] beat_sizes;
    logic [SLOT_BITS-1:0] beat_slot;
    logic [511:0] beat_data;
    logic beat_error;  // a clock later
    logic [95:0] beat_nonce;
    logic [127:0] beat_tag;

    // The open outputs are for OCB3, which prepares packets and addresses memories before the beat.
    engine_front #(
        .SLOT_BITS(SLOT_BITS),
        .DIRECTION(DIRECTION),
        .TAG_BESIDE(TAG_BESIDE),
        .TAIL(1),
        .COMMANDS(16)
    ) front (
        .clk,
        .rst,
        .loaded,
        .loading,
        .loading_slot,
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce(s_cmd_nonce[95:0]),
        .s_cmd_ad_bytes,
        .s_cmd_message_bytes,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .s_tag_tvalid,
        .s_tag_tready,
        .s_tag_tdata,
        .prepare_valid(),
        .prepare_ready(1'b1),
        .prepare_slot(),
        .prepare_nonce(),
        .prepare_illegal(),
        .packet_ready(1'b1),
        .packet_done,
        .hold,
        .credit_beat,
        .credit_packet,
        .emit(),
        .emit_message,
        .emit_ad(),
        .emit_partial(),
        .emit_slot(),
        .beat_valid,
        .beat,
        .beat_place,
        .beat_sizes,
        .beat_slot,
        .beat_data,
        .beat_error,
        .beat_nonce,
        .beat_tag
    );

    // ---- Counter ----

    logic hash_loading;
    logic counted_valid;
    logic counted_call;
    logic [engine_pkg::BEAT_BITS-1:0] counted_beat;
    logic [engine_pkg::HASH_BITS-1:0] counted_hash;
    logic [SLOT_BITS-1:0] counted_slot;
    logic [511:0] counted_data;
    logic [511:0] counters;

    gcm_counter #(
        .SLOT_BITS(SLOT_BITS),
        .STAGES(STAGES)
    ) counter (
        .clk,
        .rst,
        .beat_valid,
        .beat,
        .beat_place,
        .beat_sizes,
        .beat_slot,
        .beat_data,
        .beat_nonce,
        .make,
        .make_ack,
        .hash_loading,
        .hold,
        .out_valid(counted_valid),
        .out_call(counted_call),
        .out_beat(counted_beat),
        .out_hash(counted_hash),
        .out_slot(counted_slot),
        .out_data(counted_data),
        .out_counters(counters)
    );

    // ---- Lanes ----

    logic out_valid;
    logic out_call;
    beat_t out_beat;
    logic [engine_pkg::HASH_BITS-1:0] out_hash;
    logic [SLOT_BITS-1:0] out_slot;
    logic out_error;
    logic [511:0] out_data;
    logic [511:0] out_encrypted;

    gcm_lanes #(
        .CIPHER(CIPHER),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .SLOT_BITS(SLOT_BITS),
        .LATENCY(LATENCY),
        .PARITY(PARITY)
    ) lanes (
        .clk,
        .rst,
        .write(write_key),
        .write_slot(loading_slot),
        .write_key(new_key),
        .read_slot(beat_valid ? beat_slot : loading_slot),
        .in_valid(counted_valid),
        .in_call(counted_call),
        .in_beat(counted_beat),
        .in_hash(counted_hash),
        .in_slot(counted_slot),
        .in_error(beat_error),
        .in_data(counted_data),
        .in_counters(counters),
        .out_valid,
        .out_call,
        .out_beat,
        .out_hash,
        .out_slot,
        .out_error,
        .out_data,
        .out_encrypted
    );

    // ---- Hash ----

    logic [127:0] out_tag;
    received_tag #(
        .TAG_BESIDE(DIRECTION == 0 ? 0 : TAG_BESIDE),
        .PACKETS(PACKETS)
    ) received (
        .clk,
        .rst,
        .in_final(beat_valid && beat.final_beat),
        .in_tag(beat_tag),
        .out_final(out_valid && out_beat.final_beat),
        .out_kind(out_beat.kind),
        .out_block(out_data[255:128]),
        .out_tag
    );

    logic result_valid;
    logic [engine_pkg::RESULT_BITS-1:0] result;
    logic [engine_pkg::END_BITS-1:0] done_end;

    gcm_hash #(
        .SLOT_BITS(SLOT_BITS),
        .STAGES(STAGES),
        .PACKETS(PACKETS)
    ) hash (
        .clk,
        .rst,
        .in_valid(out_valid),
        .in_call(out_call),
        .in_beat(out_beat),
        .in_hash(out_hash),
        .in_slot(out_slot),
        .in_error(out_error),
        .in_data(out_data),
        .in_encrypted(out_encrypted),
        .in_tag(out_tag),
        .result_valid,
        .result,
        .loading_slot,
        .hash_loading,
        .made,
        .done,
        .done_slot,
        .done_end
    );

    // ---- Output ----

    engine_output #(
        .BEATS(BEATS),
        .PACKETS(PACKETS)
    ) out (
        .clk,
        .rst,
        .take_beat(emit_message),
        .credit_beat,
        .take_packet(packet_done),
        .credit_packet,
        .beat_valid(result_valid),
        .beat(result),
        .done_valid(done),
        .done(done_end),
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tuser,
        .m_tag_tvalid,
        .m_tag_tready,
        .m_tag_tdata,
        .m_tag_tuser
    );

    logic unused;
    assign unused = ^{s_cmd_padded, s_cmd_nonce[127:96]};

endmodule
