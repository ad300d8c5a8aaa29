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
//   SLOTS      key slots, a power of two of 16 or more
//   TAG_BESIDE 0: a received tag is a beat of the stream; 1: it comes beside it and costs no clock
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
module ocb512 #(
    parameter int CIPHER = 0,
    parameter int DIRECTION = 2,
    parameter int AUX = 1,
    parameter int SBOX = 0,
    parameter int TAG_BESIDE = 0,
    parameter int SLOTS = 16,
    parameter int SLOT_BITS = $clog2(SLOTS),
    parameter int KEY_BITS = CIPHER == 0 ? 128 : 256
) (
    input logic clk,
    input logic rst,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,
    output logic                 s_key_refused,
    output logic [         31:0] s_key_refusals,

    input  logic                 s_cmd_tvalid,
    output logic                 s_cmd_tready,
    input  logic                 s_cmd_open,
    input  logic [SLOT_BITS-1:0] s_cmd_slot,
    input  logic [        127:0] s_cmd_nonce,
    input  logic [         15:0] s_cmd_ad_bytes,
    input  logic [         15:0] s_cmd_message_bytes,
    input  logic                 s_cmd_padded,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [ 63:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    input  logic         s_tag_tvalid,
    output logic         s_tag_tready,
    input  logic [127:0] s_tag_tdata,

    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [ 63:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

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

    logic unused;
    assign unused = ^{s_cmd_padded, s_cmd_nonce[127:96]};

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

    // ---- Commands and beats ----

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
    logic [511:0] beat_data;
    logic [9:0] unused_index;
    logic [3:0] beat_ones;
    logic [3:0] beat_partial;
    logic [1:0] beat_lane;
    logic beat_step;
    logic [6:0] beat_bytes;
    logic [1:0] beat_kind;
    logic beat_first;
    logic beat_part_last;
    logic beat_start;
    logic beat_final;
    logic beat_open;
    logic beat_error;
    logic [SLOT_BITS-1:0] beat_slot;
    logic beat_has_message;
    logic [15:0] unused_ad_bytes;
    logic [15:0] unused_message_bytes;
    logic [3:0] beat_blocks;
    logic [3:0] unused_spare;
    logic [13:0] unused_hash_blocks;
    logic unused_nonce;
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
        .beat_data,
        .beat_bytes,
        .beat_partial,
        .beat_kind,
        .beat_index(unused_index),
        .beat_ones,
        .beat_first,
        .beat_part_last,
        .beat_lane,
        .beat_step,
        .beat_start,
        .beat_final,
        .beat_open,
        .beat_slot,
        .beat_error,
        .beat_has_message,
        .beat_ad_bytes(unused_ad_bytes),
        .beat_message_bytes(unused_message_bytes),
        .beat_blocks,
        .beat_ad_spare(unused_spare[1:0]),
        .beat_message_spare(unused_spare[3:2]),
        .beat_hash_blocks(unused_hash_blocks),
        .beat_nonce(unused_nonce),
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
        .read_data(l_star)
    );

    always_ff @(posedge clk) offset_0 <= offset_now;

    // ---- Masks ----

    logic [511:0] blocks;
    logic [511:0] post;
    logic [127:0] single;
    logic [127:0] checksum;
    logic [127:0] last_offset;

    ocb_masks masks (
        .clk,
        .beat_valid(valid_0),
        .beat_data,
        .beat_bytes,
        .beat_partial,
        .beat_kind,
        .beat_ones,
        .beat_first,
        .beat_lane,
        .beat_step,
        .beat_start,
        .l_star,
        .offset_0,
        .out_blocks(blocks),
        .out_post(post),
        .out_single(single),
        .out_checksum(checksum),
        .out_last_offset(last_offset)
    );

    // What travels beside, the slot on top. The error is known a clock later than the rest.
    localparam int FINAL = 20;
    localparam int OPEN = 21;
    localparam int ERROR = 22;
    localparam int SLOT = 24;
    localparam int BESIDE = SLOT + SLOT_BITS;
    logic [BESIDE-1:0] beside_0;
    logic [BESIDE-1:0] beside_1;
    logic [BESIDE-1:0] beside_2;
    logic [BESIDE-1:0] beside_3;
    logic [SLOT_BITS-1:0] slot_2;
    logic [SLOT_BITS-1:0] slot_3;
    logic final_3;
    logic open_3;

    assign beside_0 = {
        beat_slot, beat_has_message, 1'b0, beat_open, beat_final, beat_start, beat_part_last,
        beat_first, beat_kind, beat_blocks, beat_partial, beat_bytes
    };
    assign slot_2 = beside_2[SLOT+:SLOT_BITS];
    assign slot_3 = beside_3[SLOT+:SLOT_BITS];
    assign final_3 = beside_3[FINAL];
    assign open_3 = beside_3[OPEN];

    // Beats that need the core that the calls go through.
    localparam int SHARED = AUX == 0 || DIRECTION == 1 ? 1 : 0;
    logic uses_now;
    logic [3:0] uses;  // of stage i
    assign uses_now = SHARED == 1 && (emit_ad || (DIRECTION == 1 ? emit_partial : emit_message));

    always_ff @(posedge clk) begin
        beside_1 <= beside_0;
        beside_2 <= beside_1;
        beside_2[ERROR] <= beat_error && !rst;  // no shift register, for which it would come too late
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

    // ---- Ciphers ----

    logic [511:0] encrypted;
    logic [511:0] decrypted;
    logic [127:0] called;

    if (DIRECTION != 1) begin : g_encrypt
        logic [KEY_BITS-1:0] key;
        logic [511:0] in;
        if (AUX == 0) begin : g_with_calls
            assign in = {blocks[511:128], uses[3] ? blocks[127:0] : call_block};
            assign called = encrypted[127:0];
        end else begin : g_beats_only
            assign in = blocks;
        end
        slot_memory #(
            .WIDTH(KEY_BITS),
            .SLOT_BITS(SLOT_BITS)
        ) keys (
            .clk,
            .write(write_key),
            .write_slot(loading_slot),
            .write_data(new_key),
            .read_slot(AUX == 0 && !uses[2] ? call_slot : slot_2),
            .read_data(key)
        );
        cipher_lanes #(
            .CIPHER(CIPHER),
            .SBOX(SBOX)
        ) lanes (
            .clk,
            .in_key(key),
            .in_blocks(in),
            .out_blocks(encrypted)
        );
    end else begin : g_no_encrypt
        assign encrypted = '0;
    end

    if (AUX == 1) begin : g_aux
        logic [KEY_BITS-1:0] key;
        logic [127:0] in;
        assign in = DIRECTION == 1 && uses[3] ? single : call_block;
        slot_memory #(
            .WIDTH(KEY_BITS),
            .SLOT_BITS(SLOT_BITS)
        ) keys (
            .clk,
            .write(write_key),
            .write_slot(loading_slot),
            .write_data(new_key),
            .read_slot(DIRECTION == 1 && uses[2] ? slot_2 : call_slot),
            .read_data(key)
        );
        cipher_lanes #(
            .CIPHER(CIPHER),
            .LANES(1),
            .SBOX(SBOX)
        ) lane (
            .clk,
            .in_key(key),
            .in_blocks(in),
            .out_blocks(called)
        );
    end

    if (DIRECTION != 0) begin : g_decrypt
        logic [KEY_BITS-1:0] key;  // a clock before its blocks
        slot_memory #(
            .WIDTH(KEY_BITS),
            .SLOT_BITS(SLOT_BITS)
        ) keys (
            .clk,
            .write(write_last),
            .write_slot(loading_slot),
            .write_data(new_last),
            .read_slot(beside_1[SLOT+:SLOT_BITS]),
            .read_data(key)
        );
        cipher_lanes #(
            .CIPHER(CIPHER),
            .INVERSE(1),
            .SBOX(SBOX)
        ) lanes (
            .clk,
            .in_key(key),
            .in_blocks(blocks),
            .out_blocks(decrypted)
        );
    end else begin : g_no_decrypt
        assign decrypted = '0;
        logic unused_last;
        assign unused_last = ^{write_last, new_last, open_3};
    end

    // ---- Beside the ciphers ----

    logic [3*LATENCY-1:0] call_way;
    logic [LATENCY-1:0] valid_way;
    logic [BESIDE-1:0] beside_out;
    logic [511:0] post_out;
    logic [127:0] checksum_out;
    logic [127:0] input_3;

    assign input_3 = last_offset ^ (DIRECTION == 1 || (DIRECTION == 2 && open_3) ? '0 : checksum);

    always_ff @(posedge clk) begin
        call_result <= called;
        if (rst) begin
            call_way <= '0;
            valid_way <= '0;
            call_done <= '0;
        end else begin
            call_way <= {call_way[3*LATENCY-4:0], call};
            valid_way <= {valid_way[LATENCY-2:0], valid_3};
            call_done <= call_way[3*LATENCY-1-:3];
        end
    end

    assign made = call_done[CONSTANT];
    assign ktop_made = call_done[KTOP];

    ring_delay #(
        .WIDTH(BESIDE),
        .CLOCKS(LATENCY)
    ) beside_way (
        .clk,
        .rst,
        .in_data(beside_3),
        .out_data(beside_out)
    );

    ring_delay #(
        .WIDTH(512),
        .CLOCKS(LATENCY)
    ) post_way (
        .clk,
        .rst,
        .in_data(post),
        .out_data(post_out)
    );

    if (DIRECTION != 0) begin : g_checksum_way
        ring_delay #(
            .WIDTH(128),
            .CLOCKS(LATENCY)
        ) checksum_way (
            .clk,
            .rst,
            .in_data(input_3),
            .out_data(checksum_out)
        );
    end else begin : g_no_checksum_way
        assign checksum_out = '0;
    end

    // ---- Behind the ciphers ----

    logic [6:0] out_bytes;
    logic [3:0] out_blocks;  // that have a byte, and of these
    logic [3:0] out_partial;  // the one that is not full
    logic [1:0] out_kind;
    logic out_first;
    logic out_part_last;
    logic out_start;
    logic out_final;
    logic out_open;
    logic out_error;
    logic out_has_message;
    logic [SLOT_BITS-1:0] out_slot;
    logic [511:0] lane_blocks;
    logic [127:0] ad_sum;

    assign {
        out_slot, out_has_message, out_error, out_open, out_final, out_start, out_part_last, out_first,
        out_kind, out_blocks, out_partial, out_bytes
    } = beside_out;

    always_comb begin
        ad_sum = '0;
        for (int i = 0; i < 4; i = i + 1) begin
            lane_blocks[128*i+:128] = encrypted[128*i+:128];
            if (DIRECTION == 1) begin
                lane_blocks[128*i+:128] = out_partial[i] ? called : decrypted[128*i+:128];
            end else if (DIRECTION == 2 && out_open && !out_partial[i]) begin
                lane_blocks[128*i+:128] = decrypted[128*i+:128];
            end
            if (out_blocks[i]) ad_sum = ad_sum ^ encrypted[128*i+:128];
        end
        if (DIRECTION == 1) ad_sum = called;
    end

    logic beat_out_valid;
    logic [511:0] beat_out_data;
    logic [6:0] beat_out_bytes;
    logic beat_out_last;
    logic beat_out_open;
    logic beat_out_error;
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
        .in_final(valid_0 && beat_final),
        .in_tag(beat_tag),
        .out_final(valid_way[LATENCY-1] && out_final),
        .out_kind,
        .out_block(post_out[127:0]),
        .out_tag
    );

    ocb_collect collect (
        .clk,
        .rst,
        .in_valid(valid_way[LATENCY-1]),
        .lane_blocks,
        .post(post_out),
        .in_ad(ad_sum),
        .in_checksum(checksum_out),
        .in_tag(out_tag),
        .in_bytes(out_bytes),
        .in_blocks(out_blocks),
        .in_partial(out_partial),
        .in_kind(out_kind),
        .in_first(out_first),
        .in_part_last(out_part_last),
        .in_start(out_start),
        .in_final(out_final),
        .in_open(out_open),
        .in_error(out_error),
        .beat_valid(beat_out_valid),
        .beat_data(beat_out_data),
        .beat_bytes(beat_out_bytes),
        .beat_last(beat_out_last),
        .beat_open(beat_out_open),
        .beat_error(beat_out_error),
        .finish_valid(gathered),
        .finish_hash(gathered_hash),
        .finish_input(gathered_input),
        .finish_open(gathered_open),
        .finish_error(gathered_error)
    );

    // The tag's call: sealing knows its input with the last beat, opening only when the plaintext is there.
    // An engine for both asks behind the ciphers, so that tags stay in order.
    logic has_message_1;
    logic has_message_2;
    logic [SLOT_BITS-1:0] slot_out_1;
    logic [SLOT_BITS-1:0] slot_out_2;
    logic finish_ask;
    logic [SLOT_BITS-1:0] ask_slot;
    logic [127:0] ask_block;

    always_ff @(posedge clk) begin
        has_message_1 <= out_has_message && out_kind != engine_pkg::NONE;
        has_message_2 <= has_message_1;
        slot_out_1 <= out_slot;
        slot_out_2 <= slot_out_1;
    end

    if (DIRECTION == 0) begin : g_ask_early
        assign finish_ask = valid_3 && final_3;
        assign ask_slot = slot_3;
        assign ask_block = input_3;
        logic unused_late;
        assign unused_late = ^gathered_input;
    end else begin : g_ask_late
        assign finish_ask = gathered;
        assign ask_slot = slot_out_2;
        assign ask_block = gathered_input;
        logic unused_early;
        assign unused_early = ^{slot_3, final_3, valid_3};
    end

    logic unused_finish_popped;

    ram_fifo #(
        .WIDTH(SLOT_BITS + 128),
        .DEPTH(PACKETS)
    ) finish_calls (
        .clk,
        .rst,
        .s_valid(finish_ask),
        .s_data({ask_slot, ask_block}),
        .m_valid(finish_valid),
        .m_ready(finish_ack),
        .m_data({finish_slot, finish_block}),
        .popped(unused_finish_popped),
        .stored(finish_calls_stored)
    );

    // A tag's call never answers before the packet's hash is offered here: both went the same way, the call
    // later.
    logic done_open;
    logic done_error;
    logic done_has_message;
    logic [127:0] done_hash;
    logic unused_done_valid;
    logic unused_done_popped;
    logic [$clog2(PACKETS):0] unused_done_stored;

    ram_fifo #(
        .WIDTH(SLOT_BITS + 131),
        .DEPTH(PACKETS)
    ) hashes (
        .clk,
        .rst,
        .s_valid(gathered),
        .s_data({slot_out_2, has_message_2, gathered_open, gathered_error, gathered_hash}),
        .m_valid(unused_done_valid),
        .m_ready(call_done[FINISH]),
        .m_data({done_slot, done_has_message, done_open, done_error, done_hash}),
        .popped(unused_done_popped),
        .stored(unused_done_stored)
    );

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
        .beat_valid(beat_out_valid),
        .beat_data(beat_out_data),
        .beat_bytes(beat_out_bytes),
        .beat_last(beat_out_last),
        .beat_open(beat_out_open),
        .beat_error(beat_out_error),
        .done_valid(call_done[FINISH]),
        .done_value(call_result ^ done_hash),
        .done_open,
        .done_error,
        .done_has_message,
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

    logic unused_wires;
    assign unused_wires = ^{
        emit, single, uses[3], unused_index, unused_ad_bytes, unused_message_bytes,
        unused_spare, unused_hash_blocks, unused_nonce, unused_finish_popped,
        unused_done_valid, unused_done_popped, unused_done_stored
    };

endmodule
