// ELmD v2.0 with fixed tags and no intermediate tags, sealing and opening, one block per clock. The algorithm is from
// Datta and Nandi, ELmD v2.0 (CAESAR, second round), the architecture from Bossuet, Datta, Mancillas-Lopez, Nandi,
// "Hardware Performance of ELmD and ELmD(6,6)" (DIAC 2015), section IV.
//
//   block ^ mask --> AES-enc --> rho, W --> AES-dec --> ^ mask --> FIFO --> m_axis, m_tag
//
// One encryption and one decryption pipe serve sealing and opening. Opening only exchanges the masks and inverts rho.
// See rtl/docs/elmd.md.
//
// Throughput: d + l + 2 clocks per packet of d AD blocks and l message blocks; the nonce and the tag take one clock
// each.
// Latency: 2 * pipe + 6 + d clocks from s_cmd to the first beat on m_axis in an idle core, where pipe = ROUNDS + 1,
// or 2 * ROUNDS + 1 with SPLIT = 1: 28 + d for ten rounds, 20 + d for six.
//
//   ROUNDS       10: ELmD, 6: ELmD(6,6), which has attacks; do not deploy it
//   SLOTS        key slots, a power of two from 1 to 16
//   KEYS         0: static, one key schedule for both pipes as in the paper. A key is accepted while the pipes are
//                empty. Only with SLOTS = 1, SBOX = 0, SPLIT = 0. 1: wavefront; key changes are at least ROUNDS
//                clocks apart, so packets of at least ROUNDS blocks with different keys follow each other without a
//                gap. 2: key per block, no waiting.
//   SBOX, SPLIT  of the pipes, see aes_encrypt
//   FIFO         entries of the output FIFO, a power of two. One block per clock requires more than the latency of
//                both pipes plus 4.
//   NONCE_BYTES  8: the first AD block is the first 8 bytes of the nonce || PARAM. 16: it is the whole nonce.
//   PARAM        the 8 bytes of the parameter set
//
// Ports: see rtl/README.md.
//   Sealing: s_cmd_message_bytes is arbitrary. m_axis outputs whole blocks, and m_tag_tuser[2] is high if the last
//   one was padded.
//   Opening: s_cmd_message_bytes is 16 l, l > 0, and s_cmd_padded is that flag. m_axis_tkeep of the last beat marks
//   the remaining message bytes. m_axis_tuser at m_axis_tlast and m_tag_tuser[0]: the tag or the padding is wrong.
//   m_tag_tuser[1]: error in command or stream.
//
// Bytes: the first byte on the wire is in bits 7:0 of tdata. Inside, a block has its first byte highest.
//
//   tdata   127 ...       0
//   byte     15 ...       0
//   inside    0 ...      15
//
// **Beats of an opened packet before its verdict are unverified plaintext.**
module elmd #(
    parameter int ROUNDS = 10,
    parameter int SLOTS = 16,
    parameter int KEYS = 1,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int FIFO = SPLIT == 0 ? 32 : 64,
    parameter int NONCE_BYTES = 8,
    parameter logic [63:0] PARAM = ROUNDS == 6 ? 64'h0600000080000000 : 64'h0a00000080000000
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
    if (ROUNDS != 6 && ROUNDS != 10) begin : g_rounds_refused
        rounds_must_be_6_or_10 refused ();
    end
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
    if (NONCE_BYTES != 8 && NONCE_BYTES != 16) begin : g_nonce_bytes_refused
        nonce_bytes_must_be_8_or_16 refused ();
    end

    localparam int PIPE = (SPLIT == 1 ? 2 : 1) * ROUNDS + 1;

    // Width of the side band of the encryption pipe and of the decryption pipe.
    localparam int UPPER_USER = 7;
    localparam int LOWER_USER = 6;

    // ---- Commands and blocks

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
    logic command_padded;
    logic command_error;
    logic block_valid;
    logic block_ready;
    logic [127:0] block;
    logic [4:0] block_bytes;
    logic [1:0] block_kind;
    logic block_last;
    logic verdict_valid;
    logic verdict_ready;
    logic verdict_error;

    packet_front #(
        .SLOTS(SLOTS),
        .OPEN_LEAST(16),
        .OPEN_WHOLE(1)
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
        .command_padded,
        .command_error,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes,
        .block_kind,
        .block_last,
        .verdict_valid,
        .verdict_ready,
        .verdict_error
    );

    logic held;
    logic [127:0] held_block;
    logic [1:0] held_kind;
    logic held_last;
    logic take;

    elmd_intake intake (
        .clk,
        .rst,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes,
        .block_kind,
        .block_last,
        .take,
        .held,
        .held_block,
        .held_kind,
        .held_last
    );

    // Only whether the last block of a part is whole matters here.
    logic unused_bytes;
    assign unused_bytes = ^{command_last_ad_bytes[3:0], command_last_message_bytes[3:0]};

    // ---- Control

    logic load;
    logic [3:0] making_slot;
    logic l_made;
    logic credit;
    logic credit_take;
    logic enter;
    logic enter_new_key;
    logic [3:0] enter_slot;
    logic [1:0] enter_kind;
    logic enter_open;
    logic enter_first;
    logic enter_last;
    logic enter_partial;
    logic enter_error;
    logic use_block;
    logic use_sum;
    logic sum_empty;
    logic sum_load;
    logic sum_step;
    logic mask_step;
    logic mask_clear;
    logic mask_load;
    logic mask_load_three;
    logic mask_seven;
    logic mask_opening;
    logic [3:0] l_slot;

    elmd_control #(
        .ROUNDS(ROUNDS),
        .SLOTS(SLOTS),
        .KEYS(KEYS),
        .IN_FLIGHT(2 * PIPE)
    ) control (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .load,
        .making_slot,
        .l_made,
        .slot_loaded,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_ad_blocks,
        .command_message_blocks,
        .command_ad_whole(command_last_ad_bytes[4]),
        .command_message_whole(command_last_message_bytes[4]),
        .command_padded,
        .command_error,
        .held,
        .held_kind,
        .held_last,
        .take,
        .verdict_valid,
        .verdict_ready,
        .verdict_error,
        .credit,
        .credit_take,
        .enter,
        .enter_new_key,
        .enter_slot,
        .enter_kind,
        .enter_open,
        .enter_first,
        .enter_last,
        .enter_partial,
        .enter_error,
        .use_block,
        .use_sum,
        .sum_empty,
        .sum_load,
        .sum_step,
        .mask_step,
        .mask_clear,
        .mask_load,
        .mask_load_three,
        .mask_seven,
        .mask_opening,
        .l_slot
    );

    // ---- Pipes

    logic upper_valid;
    logic [1:0] upper_kind;
    logic upper_open;
    logic upper_first;
    logic upper_last;
    logic upper_partial;
    logic upper_error;
    logic [127:0] upper_block;
    logic from_ad;
    logic from_tag;
    logic from_key;
    logic lower_valid;
    logic lower_tag;
    logic lower_open;
    logic lower_first;
    logic lower_last;
    logic lower_partial;
    logic lower_error;
    logic [127:0] lower_block;
    logic [127:0] enter_block;
    logic [127:0] mixed_block;

    assign from_ad  = upper_kind == 2'd1;
    assign from_tag = upper_kind[1];  // or the block for L, which does not enter the lower layer
    assign from_key = upper_kind == 2'd3;
    assign l_made   = upper_valid && from_key;

    // The lower layer loads a new key when the packet's first AD block has left the upper layer. By then the
    // preceding packet has entered the lower layer completely.
    elmd_pipes #(
        .ROUNDS(ROUNDS),
        .SLOTS(SLOTS),
        .KEYS(KEYS),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .UPPER_USER(UPPER_USER),
        .LOWER_USER(LOWER_USER)
    ) pipes (
        .clk,
        .rst,
        .load,
        .load_slot(s_key_slot),
        .load_key(bytes_pkg::swap128(s_key_key)),
        .making_slot,
        .upper_in_valid(enter),
        .upper_in_new_key(enter_new_key),
        .upper_in_passes_key(enter_new_key && enter_kind == 2'd1),
        .upper_in_slot(enter_slot),
        .upper_in_block(enter_block),
        .upper_in_user({enter_kind, enter_open, enter_first, enter_last, enter_partial, enter_error}),
        .upper_out_valid(upper_valid),
        .upper_out_block(upper_block),
        .upper_out_user({upper_kind, upper_open, upper_first, upper_last, upper_partial, upper_error}),
        .lower_in_valid(upper_valid && !from_ad && !from_key),
        .lower_in_block(mixed_block),
        .lower_in_user({from_tag, upper_open, upper_first, upper_last, upper_partial, upper_error}),
        .lower_out_valid(lower_valid),
        .lower_out_block(lower_block),
        .lower_out_user({lower_tag, lower_open, lower_first, lower_last, lower_partial, lower_error})
    );

    // ---- Input of the encryption pipe

    logic [127:0] l;
    logic [127:0] first_block;
    logic [127:0] sum;
    logic [127:0] enter_mask;
    logic [127:0] leave_mask;

    slot_words #(
        .SLOTS(SLOTS)
    ) ls (
        .clk,
        .write(l_made),
        .write_slot(making_slot),
        .in(upper_block),
        .read_slot(l_slot),
        .out(l)
    );

    generate
        if (NONCE_BYTES == 16) begin : g_whole_nonce
            assign first_block = command_nonce;
        end else begin : g_nonce_and_param
            logic unused;
            assign unused = ^command_nonce[63:0];
            assign first_block = {command_nonce[127:64], PARAM};
        end
    endgenerate

    elmd_checksum checksum (
        .clk,
        .empty(sum_empty),
        .load (sum_load),
        .value(first_block),
        .step (sum_step),
        .first(enter_first),
        .block(held_block),
        .sum
    );

    elmd_mask masks (
        .clk,
        .step(mask_step),
        .clear(mask_clear),
        .load(mask_load),
        .load_three(mask_load_three),
        .l,
        .seven(mask_seven),
        .opening(mask_opening),
        .enter(enter_mask),
        .leave(leave_mask)
    );

    assign enter_block = enter_mask ^ (held_block & {128{use_block}}) ^ (sum & {128{use_sum}});

    // ---- Between the pipes

    elmd_rho rho (
        .clk,
        .step(upper_valid && !from_key),
        .first(from_ad && upper_first),
        .opening(upper_open && !from_ad),
        .tag(from_tag),
        .block(upper_block),
        .mixed(mixed_block)
    );

    // ---- Output of the decryption pipe

    logic [127:0] lower_mask;

    ring_delay #(
        .CLOCKS(2 * PIPE)
    ) delay (
        .clk,
        .rst,
        .in_data (leave_mask),
        .out_data(lower_mask)
    );

    elmd_output #(
        .FIFO(FIFO)
    ) out (
        .clk,
        .rst,
        .take(credit_take),
        .available(credit),
        .valid(lower_valid),
        .block(lower_block),
        .mask(lower_mask),
        .tag(lower_tag),
        .first(lower_first),
        .last(lower_last),
        .open(lower_open),
        .partial(lower_partial),
        .error(lower_error),
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
