// GCM (NIST SP 800-38D; 96-bit nonces, 128-bit tags) for 512-bit streams: four encryption lanes in counter
// mode and GHASH over four blocks a clock, one beat of four blocks a clock, any byte length, AD, every packet
// with its own key slot and nonce.
//
//   CIPHER     0 AES-128, 1 Serpent with 256-bit keys, 2 AES-256
//   DIRECTION  0 seals, 1 opens, 2 both: the data path is the same, the parameter saves a few multiplexers
//   SBOX       of AES: 0 tables in LUTs, 1 block RAM, 2 Boyar-Peralta circuits
//   SPLIT      of AES: 1: two registers a round, for a faster clock; 10 clocks more from a beat to its output,
//              with AES-256 14
//   STAGES     registers of GHASH's multipliers
//   TAG_BESIDE 0: a received tag is a beat of the stream; 1: it comes beside it and costs no clock
//   SLOTS      key slots, a power of two of 16 or more
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
module gcm512 #(
    parameter int CIPHER = 0,
    parameter int DIRECTION = 2,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int STAGES = 4,
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

    localparam int ROUNDS = CIPHER == 1 ? 32 : CIPHER == 2 ? 14 : 10;
    localparam int LATENCY = SPLIT == 1 && CIPHER != 1 ? 2 * ROUNDS + 1 : ROUNDS + 1;
    // Beats from the front to the FIFO, and while a verdict is made also those behind it.
    localparam int BEATS = CIPHER == 0 && SPLIT == 0 && DIRECTION == 0 ? 32 : 64;
    localparam int PACKETS = 64;
    localparam int COUNT = 14;  // bits of a packet's number of GHASH blocks

    logic unused;
    assign unused = ^{s_cmd_padded, s_cmd_nonce[127:96]};

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
    logic unused_write_last;
    logic [KEY_BITS-1:0] unused_last;

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
        .write_last(unused_write_last),
        .last(unused_last),
        .make,
        .make_ack,
        .made
    );

    // ---- Commands and beats ----

    logic packet_done;
    logic hold;
    logic credit_beat;
    logic credit_packet;
    logic emit_message;
    logic valid_0;
    logic [511:0] beat_data;
    logic [9:0] beat_index;
    logic [6:0] beat_bytes;
    logic [1:0] beat_kind;
    logic unused_first;
    logic beat_part_last;
    logic beat_start;
    logic beat_final;
    logic beat_open;
    logic beat_error;
    logic [SLOT_BITS-1:0] beat_slot;
    logic unused_has_message;
    logic [3:0] beat_partial;
    logic [3:0] unused_ones;
    logic [15:0] beat_ad_bytes;
    logic [15:0] beat_message_bytes;
    logic [3:0] beat_blocks;
    logic [1:0] beat_ad_spare;
    logic [1:0] beat_message_spare;
    logic [COUNT-1:0] beat_hash_blocks;
    logic [95:0] beat_nonce;
    logic [127:0] beat_tag;
    logic [2:0] unused_emit;
    logic [SLOT_BITS-1:0] unused_emit_slot;
    logic unused_prepare_valid;
    logic [SLOT_BITS-1:0] unused_prepare_slot;
    logic [95:0] unused_prepare_nonce;
    logic unused_prepare_illegal;
    logic [1:0] unused_lane;
    logic unused_step;

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
        .prepare_valid(unused_prepare_valid),
        .prepare_ready(1'b1),
        .prepare_slot(unused_prepare_slot),
        .prepare_nonce(unused_prepare_nonce),
        .prepare_illegal(unused_prepare_illegal),
        .packet_ready(1'b1),
        .packet_done,
        .hold,
        .credit_beat,
        .credit_packet,
        .emit(unused_emit[0]),
        .emit_message,
        .emit_ad(unused_emit[1]),
        .emit_partial(unused_emit[2]),
        .emit_slot(unused_emit_slot),
        .beat_valid(valid_0),
        .beat_data,
        .beat_bytes,
        .beat_partial,
        .beat_kind,
        .beat_index,
        .beat_ones(unused_ones),
        .beat_first(unused_first),
        .beat_part_last,
        .beat_lane(unused_lane),
        .beat_step(unused_step),
        .beat_start,
        .beat_final,
        .beat_open,
        .beat_slot,
        .beat_error,
        .beat_has_message(unused_has_message),
        .beat_ad_bytes,
        .beat_message_bytes,
        .beat_blocks,
        .beat_ad_spare,
        .beat_message_spare,
        .beat_hash_blocks,
        .beat_nonce,
        .beat_tag
    );

    // ---- Stage 1: counter blocks, and the order of GHASH's blocks ----
    //
    // GHASH wants one run of blocks. AD that does not fill its beats is moved to their ends, behind blocks of
    // zeros, which change nothing; the message begins a beat anyway; the lengths follow its last block.

    logic [383:0] ad_before;  // of the same packet, or zeros
    logic [895:0] ad_window;
    logic [511:0] ad_moved;
    logic [127:0] lengths;
    logic [3:0] lengths_at;  // which block they are

    assign ad_window = {beat_data, ad_before};
    always_comb begin
        // The window holds three blocks of the beat before, then this beat's four.
        case (beat_ad_spare)
            2'd0: ad_moved = ad_window[895:384];
            2'd1: ad_moved = ad_window[767:256];
            2'd2: ad_moved = ad_window[639:128];
            default: ad_moved = ad_window[511:0];
        endcase
    end
    assign lengths = {45'd0, beat_ad_bytes, 3'd0, 45'd0, beat_message_bytes, 3'd0};
    // A tag's beat has the lengths if they had no place in the message's last beat.
    always_comb begin
        case (beat_kind)
            engine_pkg::MESSAGE:
            lengths_at = {{3{beat_part_last}} & ~beat_blocks[3:1] & beat_blocks[2:0], 1'b0};
            engine_pkg::TAG: lengths_at = {3'd0, beat_message_spare == '0};
            engine_pkg::NONE: lengths_at = 4'd1;
            default: lengths_at = 4'd0;
        endcase
    end

    localparam int BESIDE = 23 + COUNT + SLOT_BITS;
    logic valid_1;
    logic [BESIDE-1:0] beside_1;
    logic [511:0] data_1;
    logic [511:0] counters_1;
    logic call_1;
    logic hashed_0;
    logic [COUNT-1:0] count_0;
    logic has_message_0;

    assign hashed_0 = beat_kind != engine_pkg::TAG || beat_message_spare == '0;
    assign count_0 = beat_kind == engine_pkg::NONE && beat_start ? COUNT'(1) : beat_hash_blocks;
    assign has_message_0 = beat_message_bytes != '0 && !(beat_kind == engine_pkg::NONE && beat_start);

    always_ff @(posedge clk) begin
        valid_1 <= valid_0 && !rst;
        call_1 <= make_ack && !rst;
        beside_1 <= {
            beat_slot, count_0, hashed_0, has_message_0, beat_open, beat_final, beat_start,
            beat_part_last, beat_kind, beat_blocks, beat_partial, beat_bytes
        };
        if (rst || (valid_0 && beat_part_last)) ad_before <= '0;
        else if (valid_0) ad_before <= beat_data[511:128];
        for (int i = 0; i < 4; i = i + 1) begin
            data_1[128*i+:128] <= beat_data[128*i+:128];
            if (beat_kind == engine_pkg::AD) data_1[128*i+:128] <= ad_moved[128*i+:128];
            else if (beat_kind == engine_pkg::TAG && i == 1) data_1[128*i+:128] <= beat_data[127:0];
            else if (lengths_at[i]) data_1[128*i+:128] <= lengths;
            counters_1[128*i+:128] <= {beat_nonce, 19'd0, {1'b0, beat_index, 2'd0} + 13'(i + 2)};
            if (i == 3 && beat_final) counters_1[128*i+:128] <= {beat_nonce, 32'd1};
            if (!valid_0) counters_1[128*i+:128] <= '0;
        end
    end

    // ---- The call for H goes through lane 0 in a clock without a beat ----

    // Clocks for one power: while GHASH makes them, one in so many is left to it.
    localparam int POWER = STAGES + 5;
    logic [$clog2(POWER)-1:0] spare;
    logic hash_loading;
    assign make_ack = make && !valid_0;
    always_ff @(posedge clk) begin
        hold <= (make && !make_ack) || (hash_loading && spare == '0);
        if (rst) spare <= '0;
        else spare <= spare == '0 ? ($clog2(POWER))'(POWER - 1) : spare - 1'b1;
    end

    // ---- Cipher, and what travels beside ----

    logic [KEY_BITS-1:0] key;
    logic [511:0] encrypted;
    logic [BESIDE-1:0] beside_out;
    logic out_error;
    logic [511:0] data_out;
    logic [LATENCY-1:0] valid_way;
    logic [LATENCY-1:0] call_way;

    slot_memory #(
        .WIDTH(KEY_BITS),
        .SLOT_BITS(SLOT_BITS)
    ) keys (
        .clk,
        .write(write_key),
        .write_slot(loading_slot),
        .write_data(new_key),
        .read_slot(valid_0 ? beat_slot : loading_slot),
        .read_data(key)
    );

    cipher_lanes #(
        .CIPHER(CIPHER),
        .SBOX(SBOX),
        .SPLIT(SPLIT)
    ) lanes (
        .clk,
        .in_key(key),
        .in_blocks(counters_1),
        .out_blocks(encrypted)
    );

    ring_delay #(
        .WIDTH(BESIDE + 1),
        .CLOCKS(LATENCY)
    ) beside_way (
        .clk,
        .rst,
        .in_data({beat_error, beside_1}),
        .out_data({out_error, beside_out})
    );

    ring_delay #(
        .WIDTH(512),
        .CLOCKS(LATENCY)
    ) data_way (
        .clk,
        .rst,
        .in_data(data_1),
        .out_data(data_out)
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            valid_way <= '0;
            call_way <= '0;
        end else begin
            valid_way <= {valid_way[LATENCY-2:0], valid_1};
            call_way <= {call_way[LATENCY-2:0], call_1};
        end
    end

    // ---- Behind the cipher ----

    logic [SLOT_BITS-1:0] out_slot;
    logic [COUNT-1:0] out_count;
    logic out_hashed;
    logic out_has_message;
    logic out_open;
    logic out_final;
    logic out_start;
    logic out_part_last;
    logic [1:0] out_kind;
    logic [3:0] out_blocks;  // that have a byte, and of these
    logic [3:0] out_partial;  // the one that is not full
    logic [6:0] out_bytes;

    assign {
        out_slot, out_count, out_hashed, out_has_message, out_open, out_final, out_start, out_part_last,
        out_kind, out_blocks, out_partial, out_bytes
    } = beside_out;

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
        .out_block(data_out[255:128]),
        .out_tag
    );

    // Key stream on the message's bytes; GHASH reads the ciphertext, which is the input when opening.
    logic [63:0] out_keep;
    logic [511:0] result;
    logic [511:0] hashed;
    always_comb begin
        for (int i = 0; i < 64; i = i + 1) begin
            out_keep[i] = out_blocks[i/16] && !(out_partial[i/16] && out_bytes[3:0] <= 4'(i % 16));
            result[128*(i/16)+8*(15-i%16)+:8] = out_keep[i]
                ? encrypted[128*(i/16)+8*(15-i%16)+:8] ^ data_out[128*(i/16)+8*(15-i%16)+:8] : 8'd0;
        end
        hashed = data_out;
        if (out_kind == engine_pkg::MESSAGE && !out_open) begin
            for (int i = 0; i < 4; i = i + 1) begin
                if (out_blocks[i]) hashed[128*i+:128] = result[128*i+:128];
            end
        end
    end

    logic result_valid;
    logic [511:0] result_1;
    logic [6:0] result_bytes;
    logic result_last;
    logic result_open;
    logic result_error;
    logic hash_valid;
    logic hash_first;
    logic [COUNT-1:0] hash_after;
    logic [SLOT_BITS-1:0] hash_slot;
    logic [511:0] hash_blocks;
    logic finish_valid;
    logic [127:0] finish_value;
    logic finish_has_message;
    logic call_done;
    logic [127:0] call_result;

    always_ff @(posedge clk) begin
        result_valid <= valid_way[LATENCY-1] && out_kind == engine_pkg::MESSAGE && !rst;
        result_1 <= result;
        result_bytes <= out_bytes;
        result_last <= out_part_last;
        result_open <= out_open;
        result_error <= out_error;
        hash_valid <= valid_way[LATENCY-1] && out_hashed && !rst;
        hash_first <= out_start;
        hash_after <= out_count - 1'b1;
        hash_slot <= out_slot;
        // GHASH has the first block highest.
        for (int i = 0; i < 4; i = i + 1) hash_blocks[128*(3-i)+:128] <= hashed[128*i+:128];
        // E(J_0), and the tag to compare with.
        finish_valid <= valid_way[LATENCY-1] && out_final && !rst;
        finish_value <= encrypted[511:384] ^ out_tag;
        finish_has_message <= out_has_message;
        call_done <= call_way[LATENCY-1] && !rst;
        call_result <= encrypted[127:0];
    end

    // The powers of H: the slot is loaded when GHASH has made them.
    logic hash_load_ready;
    always_ff @(posedge clk) begin
        if (rst) hash_loading <= 1'b0;
        else if (call_done) hash_loading <= 1'b1;
        else if (made) hash_loading <= 1'b0;
    end
    assign made = hash_loading && hash_load_ready;

    logic hash_done;
    logic [127:0] hash_result;
    ghash4 #(
        .SLOTS(SLOTS),
        .STAGES(STAGES),
        .COUNT(COUNT)
    ) ghash (
        .clk,
        .rst,
        .load_valid(call_done),
        .load_ready(hash_load_ready),
        .load_slot(loading_slot),
        .load_key(call_result),
        .in_valid(hash_valid),
        .in_first(hash_first),
        .in_after(hash_after),
        .in_slot(hash_slot),
        .in_blocks(hash_blocks),
        .out_valid(hash_done),
        .out_hash(hash_result)
    );

    // A hash may be there before the tag's beat is, or some clocks after it.
    logic hashes_valid;
    logic [127:0] hashes_value;
    logic ends_valid;
    logic [127:0] ends_value;
    logic ends_open;
    logic ends_error;
    logic ends_has_message;
    logic unused_ready;
    logic [1:0] unused_popped;
    logic [3:0] unused_hashes_space;
    logic [$clog2(PACKETS):0] unused_ends;

    stream_fifo #(
        .WIDTH(128),
        .DEPTH(8)
    ) hashes (
        .clk,
        .rst,
        .s_valid(hash_done),
        .s_ready(unused_ready),
        .s_data(hash_result),
        .m_valid(hashes_valid),
        .m_ready(done),
        .m_data(hashes_value),
        .space(unused_hashes_space),
        .popped(unused_popped[0])
    );

    ram_fifo #(
        .WIDTH(SLOT_BITS + 131),
        .DEPTH(PACKETS)
    ) ends (
        .clk,
        .rst,
        .s_valid(finish_valid),
        .s_data({hash_slot, finish_has_message, result_open, result_error, finish_value}),
        .m_valid(ends_valid),
        .m_ready(done),
        .m_data({done_slot, ends_has_message, ends_open, ends_error, ends_value}),
        .popped(unused_popped[1]),
        .stored(unused_ends)
    );

    assign done = hashes_valid && ends_valid;

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
        .beat_data(result_1),
        .beat_bytes(result_bytes),
        .beat_last(result_last),
        .beat_open(result_open),
        .beat_error(result_error),
        .done_valid(done),
        .done_value(hashes_value ^ ends_value),
        .done_open(ends_open),
        .done_error(ends_error),
        .done_has_message(ends_has_message),
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
        unused_write_last, unused_last, unused_emit, unused_emit_slot, unused_prepare_valid,
        unused_prepare_slot, unused_prepare_nonce, unused_prepare_illegal, unused_lane,
        unused_step, unused_has_message, unused_ones, unused_first,
        unused_ready, unused_popped,
        unused_hashes_space, unused_ends
    };

endmodule
