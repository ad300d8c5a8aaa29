// GCM with AES-128, 12-byte nonces and 16-byte tags (NIST SP 800-38D), sealing and opening, one block per clock. One
// encryption pipe, followed by GHASH with interleaved powers of H.
//
// One step of a packet enters the pipe per clock (see gcm_sequence): each block of AD and message, and the tag with
// the call E(J0). The step's block bypasses the pipe. Both meet at its end, where GHASH begins.
//
// Throughput: ad + message + 1 clocks per packet (in blocks), sealing or opening.
// Latency in clocks, with PIPE = 11 (SPLIT = 1: 21):
//   s_cmd handshake to first beat in, idle core: 2
//   a block's beat on s_axis to its beat on m_axis: PIPE + 3
//   last message beat to tag, or received tag's beat to verdict and last plaintext beat: PIPE + STAGES + 8
//
//   SLOTS        key slots, a power of two from 1 to 16
//   KEYS         key schedule of the pipe, see aes_encrypt. 0: static; each key change drains the pipe. 1: wavefront;
//                at most one key change every ten clocks. 2: key per block, no waiting.
//   FIFO         beats in the output FIFO, a power of two
//   SBOX, SPLIT  see aes_encrypt
//   STAGES       registers of the GHASH multiplier, 1 to 4
//
// Ports: see rtl/README.md. Loading a slot takes about 60 clocks. Its packets wait meanwhile; packets of other slots
// proceed, with an idle clock between packets.
//
// Bytes: the first byte on the wire is in bits 7:0 of tdata. Inside, a block has its first byte highest.
//
//   tdata   127 ...       0
//   byte     15 ...       0
//   inside    0 ...      15
//
// **Beats of an opened packet before its verdict are unverified plaintext.**
module gcm #(
    parameter int SLOTS = 16,
    parameter int KEYS = 1,
    parameter int FIFO = 64,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int STAGES = 4
) (
    input logic clk,
    input logic rst,

    // A key for a slot.
    input  logic         s_key_tvalid,
    output logic         s_key_tready,
    input  logic [  3:0] s_key_slot,
    input  logic [127:0] s_key_key,

    // One command per packet.
    input  logic         s_cmd_tvalid,
    output logic         s_cmd_tready,
    input  logic         s_cmd_open,
    input  logic [  3:0] s_cmd_slot,
    input  logic [127:0] s_cmd_nonce,
    input  logic [ 15:0] s_cmd_ad_bytes,
    input  logic [ 15:0] s_cmd_message_bytes,
    input  logic         s_cmd_padded,

    // Packets: additional data (tuser 1), message (0), tag (2).
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [127:0] s_axis_tdata,
    input  logic [ 15:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    // Messages; tuser with tlast: discard the packet.
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [127:0] m_axis_tdata,
    output logic [ 15:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    // Tags and verdicts; tuser: 0 did not verify, 1 error.
    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (SLOTS < 1 || SLOTS > 16 || SLOTS != 2 ** $clog2(SLOTS)) begin : g_slots_refused
        slots_must_be_a_power_of_two_from_1_to_16 refused ();
    end
    if (KEYS < 0 || KEYS > 2) begin : g_keys_refused
        keys_must_be_0_1_or_2 refused ();
    end
    if (SBOX < 0 || SBOX > 2) begin : g_sbox_refused
        sbox_must_be_0_1_or_2 refused ();
    end
    if (FIFO < 2 || FIFO != 2 ** $clog2(FIFO)) begin : g_fifo_refused
        fifo_must_be_a_power_of_two_from_2 refused ();
    end
    if (SPLIT < 0 || SPLIT > 1) begin : g_split_refused
        split_must_be_0_or_1 refused ();
    end
    if (STAGES < 1 || STAGES > 4) begin : g_stages_refused
        stages_must_be_1_to_4 refused ();
    end

    localparam int ROUNDS = 10;
    localparam int PIPE = SPLIT == 1 ? 2 * ROUNDS + 1 : ROUNDS + 1;
    localparam int WAY = PIPE + 1;  // from a step to the pipe output
    localparam int HASH = STAGES + 4;  // from a packet's last block to its GHASH output
    localparam int PACKETS = 32;
    localparam int SLOT_BITS = SLOTS > 1 ? $clog2(SLOTS) : 1;

    localparam logic [1:0] AD = 2'd0;
    localparam logic [1:0] MESSAGE = 2'd1;
    localparam logic [1:0] TAG = 2'd2;
    localparam logic [1:0] ILLEGAL = 2'd3;

    // ---- Packets to blocks

    logic [SLOTS-1:0] slot_loaded;

    logic command_valid;
    logic command_ready;
    logic command_open;
    logic [3:0] command_slot;
    logic [127:0] command_nonce;
    logic [12:0] command_ad_blocks;
    logic [12:0] command_message_blocks;
    logic [4:0] command_last_ad_bytes;
    logic [4:0] command_last_message_bytes;
    logic command_error;
    logic block_valid;
    logic block_ready;
    logic [127:0] block;
    logic block_last;
    logic verdict_valid;
    logic verdict_ready;
    logic verdict_error;

    logic unused;
    assign unused = ^command_nonce[31:0];

    packet_front #(
        .SLOTS(SLOTS)
    ) front (
        .clk,
        .rst,
        .slot_loaded,
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce,
        .s_cmd_ad_bytes,
        .s_cmd_message_bytes,
        .s_cmd_padded,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_nonce,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_padded(),
        .command_error,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes(),
        .block_kind(),
        .block_last,
        .verdict_valid,
        .verdict_ready,
        .verdict_error
    );

    // ---- Key slots

    logic key_take;
    logic loading;
    logic [3:0] loading_slot;
    logic key_call;
    logic key_called;
    logic key_answer;
    logic powers_made;
    logic [3:0] encrypt_slot;
    logic [127:0] encrypt_key;
    logic [127:0] encrypted;

    gcm_slots #(
        .SLOTS(SLOTS)
    ) slots (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .key_take,
        .loaded(slot_loaded),
        .loading,
        .loading_slot,
        .call(key_call),
        .called(key_called),
        .answer_valid(key_answer),
        .powers_made,
        .encrypt_slot,
        .encrypt_key
    );

    // ---- Commands to steps

    logic usable;  // all values that the command needs are computed
    logic take;
    logic sequence_free;
    logic busy;

    logic step_valid;
    logic step_done;
    logic [1:0] step_kind;
    logic step_open;
    logic [3:0] step_slot;
    logic [4:0] step_bytes;
    logic step_first;
    logic step_last;
    logic step_barren;
    logic step_message;
    logic [127:0] step_counter;
    logic [31:0] step_size;

    // Except with KEYS = 2, a new key enters the pipe in a gap between packets. Computing its powers requires clocks
    // in which GHASH is idle.
    assign usable = !(loading && (command_slot == loading_slot || busy)) && !(KEYS != 2 && key_call);
    assign command_ready = sequence_free && (command_error || usable);
    assign take = command_valid && command_ready;

    gcm_sequence sequencer (
        .clk,
        .rst,
        .take,
        .free(sequence_free),
        .busy,
        .command_open,
        .command_slot,
        .command_nonce(command_nonce[127:32]),
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_error,
        .step_valid,
        .step_done,
        .step_kind,
        .step_open,
        .step_slot,
        .step_bytes,
        .step_first,
        .step_last,
        .step_barren,
        .step_message,
        .step_counter,
        .step_size
    );

    // ---- Pipe input: one step per clock, or the call for a new key

    logic step_takes_block;
    logic step_encrypts;
    logic step_ready;  // it waits only for its block, or without a block for its verdict
    logic credits;
    logic last_given;
    logic judged;  // the verdict of a packet without blocks arrives
    logic was_judged;  // it has arrived, and the step was not ready
    logic stream_error;
    logic beat_available;
    logic packet_available;

    logic encrypt_free;  // a step may enter the pipe
    logic encrypt_valid;
    logic encrypt_load;

    assign step_takes_block = step_kind == AD || step_kind == MESSAGE || (step_kind == TAG && step_open);
    assign step_encrypts = step_kind == MESSAGE || step_kind == TAG;
    assign credits = step_kind == MESSAGE ? beat_available : step_kind == AD || packet_available;
    assign step_ready = step_valid && credits && (!step_encrypts || encrypt_free);
    assign block_ready = step_ready && step_takes_block;
    assign step_done = step_ready
        && (step_takes_block ? block_valid : !step_barren || judged || was_judged);

    // The verdict on a packet's stream follows its last block and is used two clocks after the packet's last step was
    // done. A packet without blocks waits for its verdict, which may arrive before the step is ready.
    assign judged = verdict_valid && !last_given;
    assign verdict_ready = last_given || (step_valid && step_barren && !was_judged);
    always_ff @(posedge clk) begin
        if (rst) last_given <= 1'b0;
        else last_given <= block_valid && block_ready && block_last;
        was_judged <= step_valid && step_barren && (judged || was_judged) && !step_done && !rst;
        if (verdict_valid && verdict_ready) stream_error <= verdict_error;
    end

    // The slot to read does not depend on the arbitration: while a packet has steps, the call for a new key waits,
    // except with KEYS = 2.

    assign encrypt_slot = key_call && (KEYS == 2 || !busy) ? loading_slot : step_slot;

    encrypt_turns #(
        .KEYS(KEYS),
        .PIPE(WAY),
        .WAVE(ROUNDS)
    ) turns (
        .clk,
        .rst,
        .verify(1'b0),
        .verify_slot(4'd0),
        .verify_pending(1'b0),
        .busy,
        .key_call,
        .key_slot(loading_slot),
        .key_called,
        .nonce_call(1'b0),
        .nonce_slot(4'd0),
        .nonce_called(),
        .step_valid,
        .step_slot,
        .step_encrypts,
        .step_verifies(1'b0),
        .step_done,
        .step_free(encrypt_free),
        .step_holds(),
        .enter(encrypt_valid),
        .load(encrypt_load),
        .slot(),
        .forget(key_take),
        .forget_slot(s_key_slot)
    );

    // ---- The pipe after its input register, and the bypass of both

    logic enters;
    logic enters_for_key;
    logic [127:0] entering;

    always_ff @(posedge clk) begin
        enters <= encrypt_valid && !rst;
        enters_for_key <= key_called;
        entering <= key_called ? '0 : step_counter;
    end

    logic encrypted_valid;
    logic answer_key;
    logic [127:0] out_block;
    logic [1:0] out_kind;
    logic out_open;
    logic out_first;
    logic out_last;
    logic out_message;
    logic [3:0] out_slot;
    logic [4:0] out_bytes;
    logic [31:0] out_size;

    aes_encrypt #(
        .ROUNDS(ROUNDS),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .USER(1)
    ) encrypt (
        .clk,
        .rst,
        .in_valid(enters),
        .in_new_key(encrypt_load),
        .in_key(encrypt_key),
        .in_block(entering),
        .in_user(enters_for_key),
        .out_valid(encrypted_valid),
        .out_block(encrypted),
        .out_user(answer_key)
    );

    assign key_answer = encrypted_valid && answer_key;

    ring_delay #(
        .WIDTH (128),
        .CLOCKS(WAY)
    ) blocks (
        .clk,
        .rst,
        .in_data (block),
        .out_data(out_block)
    );

    ring_delay #(
        .WIDTH (47),
        .CLOCKS(WAY)
    ) steps (
        .clk,
        .rst,
        .in_data ({
            step_kind, step_open, step_first, step_last, step_message, step_slot, step_bytes, step_size
        }),
        .out_data({out_kind, out_open, out_first, out_last, out_message, out_slot, out_bytes, out_size})
    );

    logic [WAY:1] on_way;
    logic [WAY:3] error;
    logic out_valid;
    logic out_error;

    always_ff @(posedge clk) begin
        if (rst) on_way <= '0;
        else on_way <= {on_way[WAY-1:1], step_done};
        error <= {error[WAY-1:3], stream_error};
    end

    assign out_valid = on_way[WAY];
    assign out_error = error[WAY];

    // ---- Pipe output, and GHASH

    logic [127:0] out_data;
    logic [127:0] to_hash;
    logic hash_valid;
    logic [127:0] hash;

    assign out_data = (encrypted ^ out_block) & ragged_pkg::mask(out_bytes);

    always_comb begin
        to_hash = out_block;
        if (out_kind == MESSAGE && !out_open) to_hash = out_data;
        if (out_kind == TAG) to_hash = {45'd0, out_size[31:16], 3'd0, 45'd0, out_size[15:0], 3'd0};
    end
    assign hash_valid = out_valid && out_kind != ILLEGAL;

    ghash #(
        .SLOTS(SLOTS),
        .STAGES(STAGES),
        .LANES(1),
        .COUNT(14)
    ) hashing (
        .clk,
        .rst,
        .load_valid(key_answer),
        .load_ready(powers_made),
        .load_slot(loading_slot[SLOT_BITS-1:0]),
        .load_key(encrypted),
        .in_valid(hash_valid),
        .in_first(out_first),
        .in_after(out_size[13:0]),
        .in_slot(out_slot[SLOT_BITS-1:0]),
        .in_blocks(to_hash),
        .out_valid(),
        .out_hash(hash)
    );

    // ---- GHASH meets the packet's E(J0), to which the received tag was added when opening.

    logic [HASH:1] in_hash;
    logic [127:0] end_block;
    logic end_valid;
    logic end_open;
    logic end_message;
    logic end_error;
    logic [127:0] end_tag;
    // The comparison of an opened packet's tag takes one more clock.
    logic judge;
    logic forged;
    logic judge_error;
    logic judge_message;

    ring_delay #(
        .WIDTH (131),
        .CLOCKS(HASH)
    ) ends (
        .clk,
        .rst,
        .in_data ({
            out_open && out_kind == TAG, out_message, out_error, encrypted ^ (out_open ? out_block : '0)
        }),
        .out_data({end_open, end_message, end_error, end_block})
    );

    always_ff @(posedge clk) begin
        if (rst) in_hash <= '0;
        else in_hash <= {in_hash[HASH-1:1], out_valid && (out_kind == TAG || out_kind == ILLEGAL)};
    end
    assign end_valid = in_hash[HASH];
    assign end_tag = hash ^ end_block;

    always_ff @(posedge clk) begin
        judge <= end_valid && end_open && !rst;
        forged <= end_tag != '0 && !end_error;
        judge_error <= end_error;
        judge_message <= end_message;
    end

    packet_results #(
        .FIFO(FIFO),
        .PACKETS(PACKETS)
    ) results (
        .clk,
        .rst,
        .beat_take(step_done && step_kind == MESSAGE),
        .beat_available,
        .packet_take(step_done && (step_kind == TAG || step_kind == ILLEGAL)),
        .packet_available,
        .beat_push(out_valid && out_kind == MESSAGE),
        .beat_data(out_data),
        .beat_bytes(out_bytes),
        .beat_last(out_last),
        .beat_open(out_open),
        .beat_error(out_error),
        .result_push(end_valid),
        .result_tag(end_open || end_error ? '0 : end_tag),
        .result_open(end_open),
        .result_error(end_error),
        .verdict_push(judge),
        .verdict_forged(forged),
        .verdict_error(judge_error),
        .verdict_message(judge_message),
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

endmodule
