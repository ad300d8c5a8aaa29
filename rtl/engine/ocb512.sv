// OCB3 (RFC 7253; 96-bit nonces, 128-bit tags) for 512-bit streams: four block cipher lanes, one beat of four
// blocks a clock, any byte length, AD, every packet with its own key slot and nonce. The architecture is that
// of Muehlberghuber et al. ("100 Gbit/s Authenticated Encryption Based on Quantum Key Distribution", figure
// 4), with the ragged blocks, AD, key slots and changes of key that it leaves out.
//
//   CIPHER     0 AES-128, 1 Serpent with 256-bit keys, 2 AES-256
//   DIRECTION  0 seals, 1 opens, 2 both. Sealing takes four encryption lanes, opening four decryption lanes
//              and an encryption core of its own (AUX); an engine that only opens sends AD through that core,
//              one block a clock, and the last partial block's key stream.
//   AUX        1: a fifth encryption core makes Ktop, tags and slots' constants beside the lanes.
//              0: these calls go through lane 0, each in place of a beat. Not for DIRECTION 1.
//   SBOX       of AES: 0 tables in LUTs, 1 block RAM, 2 Boyar-Peralta circuits
//   SLOTS      key slots, a power of two of 2 or more
//   TAG_BESIDE 0: a received tag is a beat of the stream; 1: it comes beside it and costs no clock
//   PARITY     1: keys are stored with parity, and a packet whose key is damaged is in error
//
// No clock is lost between packets, whatever their slots: the round keys walk beside the blocks. Sealing a
// packet costs ceil(ad/64) + ceil(message/64) clocks, at least 1, if calls to the fifth core (one for the
// tag, one for Ktop unless the nonce differs from the one before in the low six bits only) do not take
// longer; without a fifth core they add up. Opening costs one clock more, if the tag has a beat. In an engine that only
// opens a packet costs as many clocks at least as there are calls: one for each block of AD, for a partial block, for the
// tag, and for Ktop.
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
module ocb512 #(
    parameter int CIPHER = 0,
    parameter int DIRECTION = 2,
    parameter int AUX = 1,
    parameter int SBOX = 0,
    parameter int TAG_BESIDE = 0,
    parameter int PARITY = 0,
    parameter int SLOTS = 16,
    parameter int SLOT_BITS = $clog2(SLOTS),
    parameter int KEY_BITS = CIPHER == 0 ? 128 : 256
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
    if (CIPHER < 0 || CIPHER > 2) begin : g_cipher_refused
        cipher_must_be_0_1_or_2 refused ();
    end
    if (DIRECTION < 0 || DIRECTION > 2) begin : g_direction_refused
        direction_must_be_0_1_or_2 refused ();
    end
    if (AUX < 0 || AUX > 1 || (AUX == 0 && DIRECTION == 1)) begin : g_aux_refused
        aux_must_be_0_or_1_and_1_if_direction_is_1 refused ();
    end
    if (SBOX < 0 || SBOX > 2) begin : g_sbox_refused
        sbox_must_be_0_1_or_2 refused ();
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

    localparam int ROUNDS = CIPHER == 1 ? 32 : CIPHER == 2 ? 14 : 10;
    localparam int LATENCY = ROUNDS + 1;
    // Beats from the front to the FIFO, and while a verdict is made also those behind it.
    localparam int BEATS = (CIPHER == 0 ? 32 : 64) * (DIRECTION == 0 ? 1 : 2);
    // Packets from the front to their tags, one a clock: a tag takes two passes through the cipher when opening.
    localparam int PACKETS = CIPHER != 0 && DIRECTION != 0 ? 128 : 64;
    localparam int COMMANDS = 64;

    // Calls beside the beats: what for.
    localparam int CONSTANT = 0;
    localparam int KTOP = 1;
    localparam int FINISH = 2;

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::sizes_t sizes_t;
`else
    import engine_pkg::beat_t;
    import engine_pkg::sizes_t;
`endif

    // ---- Key slots ----

    logic loading;
    logic [SLOT_BITS-1:0] loading_slot;
    logic [SLOTS-1:0] loaded;
    logic write_key;
    logic write_last;
    logic [KEY_BITS-1:0] new_key;
    logic [KEY_BITS-1:0] new_last;
    logic [2:0] call_done;
    logic [SLOT_BITS-1:0] done_slot;  // with a tag
    logic make;
    logic make_ack;
    logic made;

    slot_loader #(
        .CIPHER(CIPHER),
        .OPEN(DIRECTION == 0 ? 0 : 1),
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
        .ends(call_done[FINISH]),
        .ends_slot(done_slot),
        .loading,
        .loading_slot,
        .loaded,
        .write_key,
        .key(new_key),
        .write_last,
        .last(new_last),
        .make,
        .make_ack,
        .made
    );

    // ---- Begin: commands and beats ----

    logic prepare_valid;
    logic prepare_ready;
    logic [SLOT_BITS-1:0] prepare_slot;
    logic [95:0] prepare_nonce;
    logic prepare_illegal;
    logic offset_valid;
    logic [127:0] offset_now;
    logic packet_done;
    logic hold;
    logic credit_beat;
    logic credit_packet;
    logic emit;
    logic emit_message;
    logic emit_ad;
    logic emit_partial;
    logic [SLOT_BITS-1:0] emit_slot;

    // Stages 0 to 2 are the masks' pipeline, stage 3 is the lanes' input.
    logic valid_0;
    logic valid_1;
    logic valid_2;
    logic valid_3;
    beat_t beat;
    logic [engine_pkg::PLACE_BITS-1:0] beat_place;
    sizes_t beat_sizes;
    logic [SLOT_BITS-1:0] beat_slot;
    logic [511:0] beat_data;
    logic beat_error;  // a clock later
    logic [127:0] beat_tag;

    engine_front #(
        .SLOT_BITS(SLOT_BITS),
        .DIRECTION(DIRECTION),
        .AD_SERIAL(DIRECTION == 1 ? 1 : 0),
        .TAG_BESIDE(TAG_BESIDE),
        .COMMANDS(COMMANDS),
        .NONCE_BITS(1)
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
        .prepare_valid,
        .prepare_ready,
        .prepare_slot,
        .prepare_nonce,
        .prepare_illegal,
        .packet_ready(offset_valid),
        .packet_done,
        .hold,
        .credit_beat,
        .credit_packet,
        .emit,
        .emit_message,
        .emit_ad,
        .emit_partial,
        .emit_slot,
        .beat_valid(valid_0),
        .beat,
        .beat_place,
        .beat_sizes,
        .beat_slot,
        .beat_data,
        .beat_error,
        .beat_nonce(),
        .beat_tag
    );

    logic ktop_valid;
    logic ktop_ack;
    logic [SLOT_BITS-1:0] ktop_slot;
    logic [127:0] ktop_block;
    logic ktop_made;
    logic [127:0] call_result;

    ocb_nonce #(
        .SLOT_BITS(SLOT_BITS),
        .PACKETS(COMMANDS)
    ) nonce (
        .clk,
        .rst,
        .s_valid(prepare_valid),
        .s_ready(prepare_ready),
        .s_slot(prepare_slot),
        .s_nonce(prepare_nonce),
        .s_illegal(prepare_illegal),
        .forget(write_key),
        .forget_slot(loading_slot),
        .ask_valid(ktop_valid),
        .ask_ready(ktop_ack),
        .ask_slot(ktop_slot),
        .ask_block(ktop_block),
        .answer_valid(ktop_made),
        .answer_block(call_result),
        .offset_valid,
        .offset_take(packet_done),
        .offset(offset_now)
    );

    logic [127:0] l_star;
    logic [127:0] offset_0;

    slot_memory #(
        .WIDTH(128),
        .SLOT_BITS(SLOT_BITS)
    ) constants (
        .clk,
        .write(made),
        .write_slot(loading_slot),
        .write_data(call_result),
        .read_slot(emit_slot),
        .read_data(l_star),
        .bad()
    );

    always_ff @(posedge clk) offset_0 <= offset_now;

    // ---- Tweak ----

    logic [511:0] blocks;
    logic [511:0] post;
    logic [127:0] single;
    logic [127:0] checksum;
    logic [127:0] last_offset;

    ocb_masks masks (
        .clk,
        .beat_valid(valid_0),
        .beat_data,
        .beat,
        .beat_place,
        .l_star,
        .offset_0,
        .out_blocks(blocks),
        .out_post(post),
        .out_single(single),
        .out_checksum(checksum),
        .out_last_offset(last_offset)
    );

    // What travels beside. The error is known a clock later than the rest.
    typedef struct packed {
        logic [SLOT_BITS-1:0] slot;
        logic has_message;
        logic error;
        beat_t beat;
    } beside_t;
    beside_t beside_0;
    beside_t beside_1;
    beside_t beside_2;
    beside_t beside_3;
    beat_t beat_3;

    assign beside_0.slot = beat_slot;
    assign beside_0.has_message = beat_sizes.has_message;
    assign beside_0.error = 1'b0;
    assign beside_0.beat = beat;
    assign beat_3 = beside_3.beat;

    // Beats that need the core that the calls go through.
    localparam int SHARED = AUX == 0 || DIRECTION == 1 ? 1 : 0;
    logic uses_now;
    logic [3:0] uses;  // of stage i
    assign uses_now = SHARED == 1 && (emit_ad || (DIRECTION == 1 ? emit_partial : emit_message));

    always_ff @(posedge clk) begin
        beside_1 <= beside_0;
        beside_2 <= beside_1;
        beside_2.error <= beat_error && !rst;  // no shift register, for which it would come too late
        beside_3 <= beside_2;
        if (rst) begin
            valid_1 <= 1'b0;
            valid_2 <= 1'b0;
            valid_3 <= 1'b0;
            uses <= '0;
        end else begin
            valid_1 <= valid_0;
            valid_2 <= valid_1;
            valid_3 <= valid_2;
            uses <= {uses[2:0], uses_now};
        end
    end

    // ---- Calls ----

    logic finish_valid;
    logic finish_ack;
    logic [SLOT_BITS-1:0] finish_slot;
    logic [127:0] finish_block;
    logic [$clog2(PACKETS):0] finish_calls_stored;
    logic [2:0] call;
    logic [SLOT_BITS-1:0] call_slot;
    logic [127:0] call_block;

    ocb_calls #(
        .SHARED(SHARED),
        .TAGS_HOLD(DIRECTION == 1 ? 0 : 1),
        .SLOT_BITS(SLOT_BITS),
        .PACKETS(PACKETS)
    ) calls (
        .clk,
        .rst,
        .uses({uses[2:0], uses_now}),
        .make,
        .make_slot(loading_slot),
        .make_ack,
        .ktop_valid,
        .ktop_slot,
        .ktop_block,
        .ktop_ack,
        .finish_valid,
        .finish_slot,
        .finish_block,
        .finish_stored(finish_calls_stored),
        .finish_ack,
        .call,
        .call_slot,
        .call_block,
        .hold
    );

    // ---- Lanes ----

    logic [127:0] input_3;
    logic out_valid;
    beat_t out_beat;
    logic out_has_message;
    logic out_error;
    logic [SLOT_BITS-1:0] out_slot;
    logic [511:0] out_blocks;
    logic [127:0] out_ad;
    logic [511:0] out_post;
    logic [127:0] out_sum;

    assign input_3 = last_offset ^ (DIRECTION == 1 || (DIRECTION == 2 && beat_3.open) ? '0 : checksum);

    ocb_lanes #(
        .CIPHER(CIPHER),
        .DIRECTION(DIRECTION),
        .AUX(AUX),
        .SBOX(SBOX),
        .SLOT_BITS(SLOT_BITS),
        .LATENCY(LATENCY),
        .PARITY(PARITY)
    ) lanes (
        .clk,
        .rst,
        .write_key,
        .write_last,
        .write_slot(loading_slot),
        .new_key,
        .new_last,
        .key_slot(beside_2.slot),
        .key_slot_early(beside_1.slot),
        .beat_uses(uses[3]),
        .beat_uses_next(uses[2]),
        .call_slot,
        .in_call(call),
        .call_block,
        .out_call(call_done),
        .call_result,
        .in_valid(valid_3),
        .in_beat(beat_3),
        .in_has_message(beside_3.has_message),
        .in_error(beside_3.error),
        .in_slot(beside_3.slot),
        .in_blocks(blocks),
        .in_single(single),
        .in_post(post),
        .in_sum(input_3),
        .out_valid,
        .out_beat,
        .out_has_message,
        .out_error,
        .out_slot,
        .out_blocks,
        .out_ad,
        .out_post,
        .out_sum
    );

    assign made = call_done[CONSTANT];
    assign ktop_made = call_done[KTOP];

    // ---- Checksum ----

    logic result_valid;
    logic [engine_pkg::RESULT_BITS-1:0] result;
    logic gathered;
    logic [127:0] gathered_hash;
    logic [127:0] gathered_input;
    logic gathered_open;
    logic gathered_error;

    logic [127:0] out_tag;
    received_tag #(
        .TAG_BESIDE(DIRECTION == 0 ? 0 : TAG_BESIDE),
        .PACKETS(PACKETS)
    ) received (
        .clk,
        .rst,
        .in_final(valid_0 && beat.final_beat),
        .in_tag(beat_tag),
        .out_final(out_valid && out_beat.final_beat),
        .out_kind(out_beat.kind),
        .out_block(out_post[127:0]),
        .out_tag
    );

    ocb_collect collect (
        .clk,
        .rst,
        .in_valid(out_valid),
        .in_beat(out_beat),
        .in_error(out_error),
        .lane_blocks(out_blocks),
        .post(out_post),
        .in_ad(out_ad),
        .in_checksum(out_sum),
        .in_tag(out_tag),
        .result_valid,
        .result,
        .finish_valid(gathered),
        .finish_hash(gathered_hash),
        .finish_input(gathered_input),
        .finish_open(gathered_open),
        .finish_error(gathered_error)
    );

    logic [engine_pkg::END_BITS-1:0] done_end;

    ocb_tags #(
        .DIRECTION(DIRECTION),
        .SLOT_BITS(SLOT_BITS),
        .PACKETS(PACKETS)
    ) tags (
        .clk,
        .rst,
        .early_valid(valid_3 && beat_3.final_beat),
        .early_slot(beside_3.slot),
        .early_input(input_3),
        .in_has_message(out_has_message && out_beat.kind != engine_pkg::NONE),
        .in_slot(out_slot),
        .gathered,
        .gathered_hash,
        .gathered_input,
        .gathered_open,
        .gathered_error,
        .call_valid(finish_valid),
        .call_ack(finish_ack),
        .call_slot(finish_slot),
        .call_block(finish_block),
        .calls_stored(finish_calls_stored),
        .called(call_done[FINISH]),
        .call_result,
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
        .done_valid(call_done[FINISH]),
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
    assign unused = ^{s_cmd_padded, s_cmd_nonce[127:96], emit, beat_sizes};

endmodule
