// AES-COPA v2 (Andreeva, Bogdanov, Luykx, Mennink, Tischhauser, Yasuda; CAESAR round 2), sealing and opening, one
// block per clock.
//
// Blocks pass an upper and a lower AES layer. Both layers encrypt when sealing and decrypt when opening, so the core
// has two encryption and two decryption pipes, like the COPA core in the ELmD hardware paper.
//
//     s_cmd, s_axis -> packet_front -> copa_issue -> upper E | D -> copa_mix -> lower E | D -> copa_unmask
//                                                     -> stream_fifo -> packet_finish -> m_axis, m_tag
//
// Throughput: one block per clock within a packet. copa_issue lists the clocks between packets.
// Latency, in clocks between transfers in an idle core with d AD beats:
//   first beat of AD (d = 0: of the message) to first ciphertext or plaintext beat: 41 + d. A first plaintext beat
//   that is also the last one waits for its verdict.
//   last message beat to tag: 41
//   tag beat to verdict and last plaintext beat: 79
// See rtl/docs/copa.md.
//
//   SLOTS  key slots, a power of two from 1 to 16
//   KEYS   0: static; the pipes drain before a key change. 1: wavefront; a key change waits until the preceding
//          packet has issued its last encryption (13 clocks after its AD; when opening, 39 clocks after its tag).
//          2: key per block, no waiting.
//   SBOX   0: tables in LUTs, 1: block RAM, 2: Boyar-Peralta circuits
//   FIFO   output beats, a power of two. 128 sustain one block per clock across opened packets, because their last
//          beat waits for the verdict.
//
// Ports: s_key of copa_slots, s_cmd and s_axis of packet_front, m_axis and m_tag of packet_finish. Sealed packets
// consist of whole blocks, at least one. The flag P of COPA is s_cmd_padded of a packet to open and m_tag_tuser[2] of
// a sealed packet.
//
// Bytes: the first byte on the wire is in bits 7:0 of tdata. Inside, a block has its first byte highest.
//
//   tdata   127 ...       0
//   byte     15 ...       0
//   inside    0 ...      15
//
// **Beats of an opened packet before its verdict are unverified plaintext.**
module copa #(
    parameter int SLOTS = 16,
    parameter int KEYS  = 1,
    parameter int SBOX  = 0,
    parameter int FIFO  = 128
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

    // Tags and verdicts; tuser: 0 did not verify, 1 error, 2 padded (sealing).
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

    // Maximum number of packets in flight.
    localparam int PACKETS = 32;
    localparam int SIDE = copa_pkg::SIDE;

    // ---- Commands and blocks

    logic [SLOTS-1:0] loaded;
    logic command_valid;
    logic command_ready;
    logic command_open;
    logic [3:0] command_slot;
    logic [127:0] command_nonce;
    logic [12:0] command_ad_blocks;
    logic [12:0] command_message_blocks;
    logic [4:0] command_last_ad_bytes;
    logic [4:0] command_last_message_bytes;
    logic command_padded;
    logic command_error;
    logic [127:0] command_l;
    logic block_valid;
    logic block_ready;
    logic [127:0] block;
    logic verdict_valid;
    logic verdict_error;

    // The command already determines kind and length of each block.
    packet_front #(
        .SLOTS(SLOTS),
        .OPEN_LEAST(16),
        .OPEN_WHOLE(1)
    ) front (
        .clk,
        .rst,
        .slot_loaded(loaded),
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
        .command_padded,
        .command_error,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes(),
        .block_kind(),
        .block_last(),
        .verdict_valid,
        .verdict_ready(1'b1),
        .verdict_error
    );

    // ---- Schedule

    logic packet_room;
    logic new_packet;
    logic new_packet_open;
    logic new_packet_barren;
    logic new_packet_padded;
    logic loading;
    logic [3:0] loading_slot;
    logic load_wanted;
    logic load_granted;
    logic credit;
    logic credit_take;
    logic credit_give;
    logic [127:0] ad_sum;
    logic [127:0] sigma;
    logic [3:0] sigma_slot;
    logic sigma_malformed;
    logic upper_load_key;
    logic [3:0] upper_key_slot;
    logic upper_valid;
    logic [127:0] upper_block;
    logic [SIDE-1:0] upper_side;
    logic expected_valid;
    logic [127:0] expected;

    copa_issue #(
        .KEYS(KEYS)
    ) schedule (
        .clk,
        .rst,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_nonce,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_padded,
        .command_error,
        .command_l,
        .block_valid,
        .block_ready,
        .block,
        .packet_room,
        .packet_valid(new_packet),
        .packet_open(new_packet_open),
        .packet_barren(new_packet_barren),
        .packet_padded(new_packet_padded),
        .loading,
        .loading_slot,
        .wanted(load_wanted),
        .granted(load_granted),
        .credit,
        .take(credit_take),
        .ad_sum,
        .sigma,
        .sigma_slot,
        .sigma_malformed,
        .load_key(upper_load_key),
        .key_slot(upper_key_slot),
        .upper_valid,
        .upper_block,
        .upper_side,
        .expected_valid,
        .expected
    );

    // ---- Pipes

    logic [127:0] upper_key;
    logic [127:0] upper_last;
    logic upper_opens;
    logic upper_out_valid;
    logic [SIDE-1:0] upper_out_side;
    logic [127:0] upper_encrypted;
    logic [127:0] upper_decrypted;

    // With one slot and a static key, one key schedule serves all pipes. It runs when the key is loaded.
    localparam int SHARED = KEYS == 0 && SLOTS == 1 && SBOX == 0 ? 1 : 0;
    logic key_take;
    logic [127:0] new_key;
    logic [128*11-1:0] encrypt_keys;
    logic [128*11-1:0] decrypt_keys;

    shared_keys #(
        .SHARED(SHARED)
    ) keys (
        .clk,
        .rst,
        .load(key_take),
        .key(new_key),
        .encrypt_keys,
        .decrypt_keys
    );

    // Only ciphertext of opened packets is decrypted. The side band always passes through the encryption pipe, which
    // encrypts that ciphertext too; the result is not used.
    encrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX),
        .USER(SIDE)
    ) upper_encrypt (
        .clk,
        .rst,
        .round_keys(encrypt_keys),
        .in_valid(upper_valid),
        .in_new_key(upper_load_key),
        .in_key(upper_key),
        .in_block(upper_block),
        .in_user(upper_side),
        .out_valid(upper_out_valid),
        .out_block(upper_encrypted),
        .out_user(upper_out_side)
    );

    assign upper_opens = upper_side[3] && upper_side[6:4] == copa_pkg::MESSAGE;
    decrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX)
    ) upper_decrypt (
        .clk,
        .rst,
        .round_keys(decrypt_keys),
        .in_valid(upper_valid && upper_opens),
        .in_new_key(upper_load_key),
        .in_key(upper_last),
        .in_block(upper_block),
        .in_user(1'b0),
        .out_valid(),
        .out_block(upper_decrypted),
        .out_user()
    );

    logic [3:0] v_l_slot;
    logic [127:0] v_l;
    logic zero_valid;
    logic [127:0] zero_block;
    logic lower_load_key;
    logic [3:0] lower_key_slot;
    logic lower_block_valid;
    logic [127:0] lower_block;
    logic [SIDE-1:0] lower_side;

    copa_mix #(
        .QUEUE(PACKETS)
    ) mix (
        .clk,
        .rst,
        .upper_valid(upper_out_valid),
        .upper_side(upper_out_side),
        .upper_encrypted,
        .upper_decrypted,
        .v_l_slot,
        .v_l,
        .ad_sum,
        .zero_valid,
        .zero_block,
        .load_key(lower_load_key),
        .key_slot(lower_key_slot),
        .lower_block_valid,
        .lower_block,
        .lower_side
    );

    logic [127:0] lower_key;
    logic [127:0] lower_last;
    logic lower_opens;
    logic [127:0] lower_encrypted;
    logic [127:0] lower_decrypted;

    assign lower_opens = lower_side[3] && lower_side[6:4] == copa_pkg::MESSAGE;
    encrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX)
    ) lower_encrypt (
        .clk,
        .rst,
        .round_keys(encrypt_keys),
        .in_valid(lower_block_valid && !lower_opens),
        .in_new_key(lower_load_key),
        .in_key(lower_key),
        .in_block(lower_block),
        .in_user(1'b0),
        .out_valid(),
        .out_block(lower_encrypted),
        .out_user()
    );

    decrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX)
    ) lower_decrypt (
        .clk,
        .rst,
        .round_keys(decrypt_keys),
        .in_valid(lower_block_valid && lower_opens),
        .in_new_key(lower_load_key),
        .in_key(lower_last),
        .in_block(lower_block),
        .in_user(1'b0),
        .out_valid(),
        .out_block(lower_decrypted),
        .out_user()
    );

    logic [3:0] lower_l_slot;
    logic [127:0] lower_l;
    logic beat_valid;
    logic [127:0] beat_block;
    logic [4:0] beat_bytes;
    logic beat_last;
    logic tag_valid;
    logic [127:0] tag;
    logic checked;
    logic failed;

    copa_unmask #(
        .QUEUE(PACKETS)
    ) unmask (
        .clk,
        .rst,
        .lower_valid(lower_block_valid),
        .lower_side,
        .lower_encrypted,
        .lower_decrypted,
        .l_slot(lower_l_slot),
        .l(lower_l),
        .expected_valid,
        .expected,
        .beat_valid,
        .beat_block,
        .beat_bytes,
        .beat_last,
        .sigma,
        .sigma_slot,
        .sigma_malformed,
        .tag_valid,
        .tag,
        .checked,
        .failed
    );

    copa_slots #(
        .SLOTS(SLOTS)
    ) slots (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .loaded,
        .take(key_take),
        .new_key,
        .loading,
        .loading_slot,
        .wanted(load_wanted),
        .granted(load_granted),
        .zero_valid,
        .zero_block,
        .upper_key_slot,
        .upper_key,
        .upper_last,
        .lower_key_slot,
        .lower_key,
        .lower_last,
        .upper_l_slot(command_slot),
        .upper_l(command_l),
        .v_l_slot,
        .v_l,
        .lower_l_slot,
        .lower_l
    );

    // ---- Join of beats, packets, verdicts and tags

    logic head_valid;
    logic head_open;
    logic head_barren;
    logic head_padded;
    logic packet_pop;
    logic head_verdict_valid;
    logic head_verdict_error;
    logic head_tag_valid;
    logic [127:0] head_tag;
    logic head_checked;
    logic head_failed;
    logic result_valid;
    logic result_pop;
    logic out_valid;
    logic out_ready;
    logic [127:0] out_block;
    logic [4:0] out_bytes;
    logic out_last;

    credit_counter #(
        .CREDITS(PACKETS)
    ) packet_credits (
        .clk,
        .rst,
        .take(new_packet),
        .give(packet_pop),
        .available(packet_room),
        .home()
    );

    // A FIFO with an output register, because its output selects among the other queues.
    stream_fifo #(
        .WIDTH(3),
        .DEPTH(PACKETS),
        .CREDITS(1)
    ) packets (
        .clk,
        .rst,
        .s_valid(new_packet),
        .s_ready(),
        .s_data({new_packet_open, new_packet_barren, new_packet_padded}),
        .m_valid(head_valid),
        .m_ready(packet_pop),
        .m_data({head_open, head_barren, head_padded}),
        .space(),
        .popped()
    );

    lut_queue #(
        .WIDTH(1),
        .DEPTH(PACKETS)
    ) verdicts (
        .clk,
        .rst,
        .push(verdict_valid),
        .in_data(verdict_error),
        .valid(head_verdict_valid),
        .out_data(head_verdict_error),
        .pop(packet_pop)
    );

    // Tags of sealed packets overtake verdicts of opened packets, so each has its own queue.
    lut_queue #(
        .WIDTH(128),
        .DEPTH(PACKETS)
    ) tags (
        .clk,
        .rst,
        .push(tag_valid),
        .in_data(tag),
        .valid(head_tag_valid),
        .out_data(head_tag),
        .pop(result_pop && !head_open)
    );

    lut_queue #(
        .WIDTH(1),
        .DEPTH(PACKETS)
    ) checks (
        .clk,
        .rst,
        .push(checked),
        .in_data(failed),
        .valid(head_checked),
        .out_data(head_failed),
        .pop(result_pop && head_open)
    );

    credit_counter #(
        .CREDITS(FIFO)
    ) beat_credits (
        .clk,
        .rst,
        .take(credit_take),
        .give(credit_give),
        .available(credit),
        .home()
    );

    stream_fifo #(
        .WIDTH(128 + 6),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) fifo (
        .clk,
        .rst,
        .s_valid(beat_valid),
        .s_ready(),
        .s_data({beat_block, beat_bytes, beat_last}),
        .m_valid(out_valid),
        .m_ready(out_ready),
        .m_data({out_block, out_bytes, out_last}),
        .space(),
        .popped(credit_give)
    );

    assign result_valid = head_open ? head_checked : head_tag_valid;
    packet_finish finish (
        .clk,
        .rst,
        .packet_valid(head_valid),
        .packet_barren(head_barren),
        .packet_padded(head_padded),
        .verdict_valid(head_verdict_valid),
        .verdict_error(head_verdict_error),
        .packet_pop,
        .result_valid,
        .result_failed(head_open && head_failed),
        .result_tag(head_open ? '0 : head_tag),
        .result_pop,
        .beat_valid(out_valid),
        .beat_ready(out_ready),
        .beat_block(out_block),
        .beat_bytes(out_bytes),
        .beat_last(out_last),
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
