// EME2-AES (IEEE Std 1619.2-2010), encrypting and decrypting: a length-preserving tweakable cipher for messages of at
// least 16 bytes. **It detects no changes:** a modified ciphertext decrypts to garbage.
//
// It makes two passes over a message, each with its own encryption and decryption pipe, with a store between them.
// While a message is in the second pass, the next ones proceed through the first, so back-to-back messages sustain
// one block per clock.
//
//     s_cmd, s_axis -> packet_front -> eme2_issue -> E | D -> eme2_mix -> eme2_store -> eme2_second -> E | D
//                                                     -> stream_fifo -> packet_finish -> m_axis, m_tag
//
// Throughput: one block per clock in both passes. eme2_issue lists the clocks between messages.
// Latency, from a message's last beat in to its first beat out: 44 clocks, + 12 with a partial block, + 13 for each
// later group of 128 blocks, + the latency of eme2_geometric for the last group less one (1 to 13 clocks). See
// rtl/docs/eme2.md.
//
//   SLOTS  key slots, a power of two from 1 to 16
//   KEYS   0: static; the pipes drain before a key change. 1: wavefront; a key change waits until the preceding
//          message is mixed (about 14 clocks after its last block). 2: key per block, no waiting.
//   SBOX   0: tables in LUTs, 1: block RAM, 2: Boyar-Peralta circuits
//   STORE  blocks between the passes, a power of two from 64 to 4096, and the maximum message length. Messages
//          overlap only as far as they fit into the store together.
//   FIFO   output beats, a power of two
//
// Ports: s_key of eme2_slots (K_AD, K_ECB, K_AES), s_cmd and s_axis of packet_front, m_axis and m_tag of
// packet_finish. The tweak is the AD; s_cmd_open decrypts; s_cmd_nonce and s_cmd_padded are ignored. There is no tag
// beat on s_axis. m_tag outputs one beat per message when its last beat is ready: an error or none, with m_tag_tdata
// zero.
//
// Bytes: the first byte on the wire is in bits 7:0 of tdata. Inside, a block has its first byte highest.
//
//   tdata   127 ...       0
//   byte     15 ...       0
//   inside    0 ...      15
module eme2 #(
    parameter int SLOTS = 16,
    parameter int KEYS  = 1,
    parameter int SBOX  = 0,
    parameter int STORE = 512,
    parameter int FIFO  = 32
) (
    input logic clk,
    input logic rst,

    // The keys of a slot: K_AD, K_ECB, K_AES.
    input  logic         s_key_tvalid,
    output logic         s_key_tready,
    input  logic [  3:0] s_key_slot,
    input  logic [383:0] s_key_key,

    // One command per message.
    input  logic         s_cmd_tvalid,
    output logic         s_cmd_tready,
    input  logic         s_cmd_open,
    input  logic [  3:0] s_cmd_slot,
    input  logic [127:0] s_cmd_nonce,
    input  logic [ 15:0] s_cmd_ad_bytes,
    input  logic [ 15:0] s_cmd_message_bytes,
    input  logic         s_cmd_padded,

    // Messages: the tweak (tuser 1), the message (0).
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [127:0] s_axis_tdata,
    input  logic [ 15:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    // Messages; tuser with tlast: discard the message.
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [127:0] m_axis_tdata,
    output logic [ 15:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    // Ends of messages; tuser: 1 error.
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
    if (STORE < 64 || STORE > 4096 || STORE != 2 ** $clog2(STORE)) begin : g_store_refused
        store_must_be_a_power_of_two_from_64_to_4096 refused ();
    end
    if (FIFO < 2 || FIFO != 2 ** $clog2(FIFO)) begin : g_fifo_refused
        fifo_must_be_a_power_of_two_from_2 refused ();
    end

    // Maximum number of messages in flight.
    localparam int PACKETS = 16;
    localparam int MOST = 16 * STORE > 65535 ? 65535 : 16 * STORE;
    localparam int SIDE = eme2_pkg::SIDE;
    localparam int MIXING = eme2_pkg::MIXING;

    // ---- Commands and blocks

    logic [SLOTS-1:0] loaded;
    logic command_valid;
    logic command_ready;
    logic command_open;
    logic [3:0] command_slot;
    logic [12:0] command_ad_blocks;
    logic [12:0] command_message_blocks;
    logic [4:0] command_last_ad_bytes;
    logic [4:0] command_last_message_bytes;
    logic command_error;
    logic block_valid;
    logic block_ready;
    logic [127:0] block;
    logic verdict_valid;
    logic verdict_error;

    // The command already determines kind and length of each block.
    packet_front #(
        .SLOTS(SLOTS),
        .LEAST(16),
        .MOST(MOST),
        .TAG(0)
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
        .command_nonce(),
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
        .block_last(),
        .verdict_valid,
        .verdict_ready(1'b1),
        .verdict_error
    );

    // ---- First pass

    logic packet_room;
    logic new_packet;
    logic new_packet_barren;
    logic second_valid;
    logic second_decrypt;
    logic [3:0] second_slot;
    logic [12:0] second_blocks;
    logic [3:0] second_partial;
    logic loading;
    logic [3:0] loading_slot;
    logic [3:0] tweak_slot;
    logic [127:0] tweak_mask;
    logic [3:0] first_mask_slot;
    logic [127:0] first_mask;
    logic room;
    logic room_take;
    logic [127:0] sum;
    logic mixing_mm;
    logic [127:0] mm;
    logic [127:0] mm_beside;
    logic [MIXING-1:0] mm_mixing;
    logic start_valid;
    logic [127:0] start;
    logic [MIXING-1:0] start_mixing;
    logic first_load_key;
    logic [3:0] first_key_slot;
    logic upper_valid;
    logic [127:0] upper_block;
    logic [127:0] upper_beside;
    logic [SIDE-1:0] upper_side;

    eme2_issue #(
        .KEYS(KEYS)
    ) schedule (
        .clk,
        .rst,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_error,
        .block_valid,
        .block_ready,
        .block,
        .packet_room,
        .packet_valid(new_packet),
        .packet_barren(new_packet_barren),
        .second_valid,
        .second_decrypt,
        .second_slot,
        .second_blocks,
        .second_partial,
        .loading,
        .loading_slot,
        .tweak_slot,
        .tweak_mask,
        .first_mask_slot,
        .first_mask,
        .room,
        .take(room_take),
        .sum,
        .mixing_mm,
        .mm,
        .mm_beside,
        .mm_mixing,
        .start_valid,
        .start,
        .start_mixing,
        .load_key(first_load_key),
        .key_slot(first_key_slot),
        .upper_valid,
        .upper_block,
        .upper_beside,
        .upper_side
    );

    logic upper_tweak;
    logic [127:0] first_key;
    logic [127:0] first_last;
    logic upper_out_valid;
    logic [SIDE-1:0] upper_out_side;
    logic [127:0] upper_encrypted;
    logic [127:0] upper_decrypted;
    logic [127:0] upper_out_beside;

    assign upper_tweak = upper_side[MIXING+3:MIXING+1] == eme2_pkg::TWEAK;
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

    // The side band always passes through the encryption pipe, which also encrypts the blocks to decrypt; those
    // results are not used.
    encrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX),
        .USER(SIDE)
    ) first_encrypt (
        .clk,
        .rst,
        .round_keys(encrypt_keys),
        .in_valid(upper_valid),
        .in_new_key(first_load_key),
        .in_key(first_key),
        .in_block(upper_block),
        .in_user(upper_side),
        .out_valid(upper_out_valid),
        .out_block(upper_encrypted),
        .out_user(upper_out_side)
    );
    decrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX)
    ) first_decrypt (
        .clk,
        .rst,
        .round_keys(decrypt_keys),
        .in_valid(upper_valid && !upper_tweak),
        .in_new_key(first_load_key),
        .in_key(first_last),
        .in_block(upper_block),
        .in_user(1'b0),
        .out_valid(),
        .out_block(upper_decrypted),
        .out_user()
    );
    ring_delay #(
        .WIDTH(128),
        .CLOCKS(eme2_pkg::OUT - 1)
    ) beside (
        .clk,
        .rst,
        .in_data(upper_beside),
        .out_data(upper_out_beside)
    );

    // ---- Between the passes

    logic store_valid;
    logic [127:0] store_block;
    logic store_read;
    logic [127:0] stored;
    logic group_valid;
    logic [127:0] group_mask;
    logic mask0_valid;
    logic [127:0] mask0;

    eme2_mix #(
        .STARTS(STORE > 256 ? STORE / 128 : 2)
    ) mix (
        .clk,
        .rst,
        .upper_valid(upper_out_valid),
        .upper_side(upper_out_side),
        .upper_encrypted,
        .upper_decrypted,
        .upper_beside(upper_out_beside),
        .store_valid,
        .store_block,
        .sum,
        .mixing_mm,
        .mm,
        .mm_beside,
        .mm_mixing,
        .start_valid,
        .start,
        .start_mixing,
        .group_valid,
        .group_mask,
        .mask0_valid,
        .mask0
    );

    eme2_store #(
        .BLOCKS(STORE)
    ) store (
        .clk,
        .rst,
        .write(store_valid),
        .in_block(store_block),
        .read(store_read),
        .out_block(stored)
    );

    credit_counter #(
        .CREDITS(STORE)
    ) store_credits (
        .clk,
        .rst,
        .take(room_take),
        .give(store_read),
        .available(room),
        .home()
    );

    // ---- Second pass

    logic [127:0] second_key;
    logic [127:0] second_last;
    logic second_load_key;
    logic [3:0] second_key_slot;
    logic [3:0] second_mask_slot;
    logic [127:0] second_mask;
    logic credit;
    logic credit_take;
    logic credit_give;
    logic pipe_valid;
    logic pipe_decrypt;
    logic [127:0] pipe_block;
    logic [127:0] pipe_encrypted;
    logic [127:0] pipe_decrypted;
    logic beat_valid;
    logic [127:0] beat_block;
    logic [4:0] beat_bytes;
    logic beat_last;

    eme2_second #(
        .KEYS(KEYS),
        .QUEUE(STORE > 2048 ? 64 : 32)
    ) second (
        .clk,
        .rst,
        .message_push(second_valid),
        .message_decrypt(second_decrypt),
        .message_slot(second_slot),
        .message_blocks(second_blocks),
        .message_partial(second_partial),
        .group_valid,
        .group_mask,
        .mask0_valid,
        .mask0,
        .mm_valid(mixing_mm),
        .mm,
        .forget(loading),
        .forget_slot(loading_slot),
        .credit,
        .take(credit_take),
        .read(store_read),
        .stored,
        .mask_slot(second_mask_slot),
        .second_mask,
        .load_key(second_load_key),
        .key_slot(second_key_slot),
        .pipe_valid,
        .pipe_decrypt,
        .pipe_block,
        .pipe_encrypted,
        .pipe_decrypted,
        .beat_valid,
        .beat_block,
        .beat_bytes,
        .beat_last
    );

    encrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX)
    ) second_encrypt (
        .clk,
        .rst,
        .round_keys(encrypt_keys),
        .in_valid(pipe_valid && !pipe_decrypt),
        .in_new_key(second_load_key),
        .in_key(second_key),
        .in_block(pipe_block),
        .in_user(1'b0),
        .out_valid(),
        .out_block(pipe_encrypted),
        .out_user()
    );
    decrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .AHEAD(1),
        .SBOX(SBOX)
    ) second_decrypt_pipe (
        .clk,
        .rst,
        .round_keys(decrypt_keys),
        .in_valid(pipe_valid && pipe_decrypt),
        .in_new_key(second_load_key),
        .in_key(second_last),
        .in_block(pipe_block),
        .in_user(1'b0),
        .out_valid(),
        .out_block(pipe_decrypted),
        .out_user()
    );

    eme2_slots #(
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
        .first_key_slot,
        .first_key,
        .first_last,
        .second_key_slot,
        .second_key,
        .second_last,
        .tweak_slot,
        .tweak_mask,
        .first_mask_slot,
        .first_mask,
        .second_mask_slot,
        .second_mask
    );

    // ---- Join of beats, packets and verdicts

    logic head_valid;
    logic head_barren;
    logic packet_pop;
    logic head_verdict_valid;
    logic head_verdict_error;
    logic message_done;
    logic head_done;
    logic done_pop;
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
        .WIDTH(1),
        .DEPTH(PACKETS),
        .CREDITS(1)
    ) packets (
        .clk,
        .rst,
        .s_valid(new_packet),
        .s_ready(),
        .s_data(new_packet_barren),
        .m_valid(head_valid),
        .m_ready(packet_pop),
        .m_data(head_barren),
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

    // A message is done, and its slot may get another key, when its last beat is ready.
    always_ff @(posedge clk) begin
        message_done <= !rst && beat_valid && beat_last;
    end
    lut_queue #(
        .WIDTH(1),
        .DEPTH(PACKETS)
    ) done (
        .clk,
        .rst,
        .push(message_done),
        .in_data(1'b0),
        .valid(head_done),
        .out_data(),
        .pop(done_pop)
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

    packet_finish finish (
        .clk,
        .rst,
        .packet_valid(head_valid),
        .packet_barren(head_barren),
        .packet_padded(1'b0),
        .verdict_valid(head_verdict_valid),
        .verdict_error(head_verdict_error),
        .packet_pop,
        .result_valid(head_done),
        .result_failed(1'b0),
        .result_tag(128'd0),
        .result_pop(done_pop),
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
