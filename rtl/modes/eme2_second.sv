// Second pass of EME2 ("pass 2" of the standard). The stored blocks with their masks (see eme2_mix) enter the second
// pipes, whose outputs get the masks 2^i K_ECB. Q has its entry among the blocks but bypasses the pipes.
//
// A message starts when its mask for G_0 is valid, the last of its values. Messages follow each other without a gap,
// one block per clock. With KEYS = 1 the first blocks of messages under different keys are at least ten clocks apart.
//
// Latency: 14 clocks from `read` to beat_*.
//
//   message_*               queues a message, in order: direction, slot, full blocks, bytes of Q
//   group_*, mask0_*        masks from eme2_mix
//   mm_*                    mm of a message with Q
//   forget, forget_slot     see pipe_key
//   credit, take            a credit is available; one is taken, for each output block
//   read, stored            reads the store; the block is valid one clock after `read`
//   mask_slot, second_mask  reads K_ECB of a slot, combinational
//   load_key, key_slot      one clock before a block enters the pipes: the pipes load another key; the slot of the
//                           block's key
//   pipe_*                  to the pipes, and their outputs
//   beat_*                  output blocks: block, its number of bytes, last of the message. Registered.
//
// QUEUE: more than the messages in flight and their later groups.
module eme2_second #(
    parameter int KEYS  = 1,
    parameter int QUEUE = 32
) (
    input logic clk,
    input logic rst,

    input logic        message_push,
    input logic        message_decrypt,
    input logic [ 3:0] message_slot,
    input logic [12:0] message_blocks,
    input logic [ 3:0] message_partial,

    input logic         group_valid,
    input logic [127:0] group_mask,
    input logic         mask0_valid,
    input logic [127:0] mask0,
    input logic         mm_valid,
    input logic [127:0] mm,

    input logic       forget,
    input logic [3:0] forget_slot,

    input  logic         credit,
    output logic         take,
    output logic         read,
    input  logic [127:0] stored,

    output logic [  3:0] mask_slot,
    input  logic [127:0] second_mask,

    output logic       load_key,
    output logic [3:0] key_slot,

    output logic         pipe_valid,
    output logic         pipe_decrypt,
    output logic [127:0] pipe_block,
    input  logic [127:0] pipe_encrypted,
    input  logic [127:0] pipe_decrypted,

    output logic         beat_valid,
    output logic [127:0] beat_block,
    output logic [  4:0] beat_bytes,
    output logic         beat_last
);

    localparam int PIPE = 11;

    // ---- Messages, their masks, and the number of ready messages

    logic head_valid;
    logic head_decrypt;
    logic [3:0] head_slot;
    logic [12:0] head_blocks;
    logic [3:0] head_partial;
    logic [127:0] head_group;
    logic [127:0] head_mask0;
    logic [127:0] head_mm;
    logic begins;
    logic [5:0] ready;

    // A FIFO with an output register, because the slot of its output decides whether a message begins.
    stream_fifo #(
        .WIDTH(22),
        .DEPTH(QUEUE),
        .CREDITS(1)
    ) messages (
        .clk,
        .rst,
        .s_valid(message_push),
        .s_ready(),
        .s_data({message_decrypt, message_slot, message_blocks, message_partial}),
        .m_valid(head_valid),
        .m_ready(begins),
        .m_data({head_decrypt, head_slot, head_blocks, head_partial}),
        .space(),
        .popped()
    );

    // ---- Reading of a message's blocks, then of Q

    logic reading;
    logic fresh;
    logic key_alone;  // static pipes: the key enters without a block
    logic decrypt;
    logic [3:0] slot;
    logic [12:0] blocks_left;
    logic [3:0] partial;
    logic [6:0] place;  // position of the block in its group
    logic first;
    logic at_partial;
    logic last;

    logic pipe_held;
    logic [3:0] pipe_slot;
    logic key_settled;
    logic pipe_may_load;
    logic key_held;
    logic loads_key;  // together with the block read in this clock

    assign at_partial = blocks_left == '0;
    assign last = at_partial || (blocks_left == 13'd1 && partial == '0);
    assign read = reading && credit && key_settled && !key_alone;
    assign take = read;
    assign loads_key = fresh && (read || key_alone);

    pipe_key #(
        .KEYS(KEYS),
        .PIPE(PIPE + 4),
        .WAVE(9)  // not 10, since the key is loaded at least one clock after the message began
    ) in_pipes (
        .clk,
        .rst,
        .held(pipe_held),
        .slot(pipe_slot),
        .settled(key_settled),
        .may_load(pipe_may_load),
        .enter(read),
        .load(loads_key),
        .load_slot(slot),
        .forget(forget),
        .forget_slot(forget_slot)
    );
    assign key_held = pipe_held && pipe_slot == head_slot;
    // While the key of a message must still be loaded, the key that the next message will find is undetermined.
    assign begins = head_valid && ready != '0 && (!reading || (read && last))
        && (KEYS == 2 || (!fresh && (key_held || (pipe_may_load && !(KEYS == 0 && reading)))));

    always_ff @(posedge clk) begin
        if (rst) begin
            reading <= 1'b0;
            fresh <= 1'b0;
            key_alone <= 1'b0;
            ready <= '0;
        end else begin
            if (mask0_valid && !begins) ready <= ready + 1'b1;
            if (begins && !mask0_valid) ready <= ready - 1'b1;
            reading <= begins || (reading && !(read && last));
            fresh <= begins ? KEYS != 2 && !key_held : fresh && !loads_key;
            key_alone <= begins && KEYS == 0 && !key_held;
        end
        if (read) begin
            blocks_left <= blocks_left - 1'b1;
            place <= place + 1'b1;
            first <= 1'b0;
        end
        if (begins) begin
            decrypt <= head_decrypt;
            slot <= head_slot;
            blocks_left <= head_blocks;
            partial <= head_partial;
            place <= '0;
            first <= 1'b1;
        end
    end

    // ---- The block arrives: its mask

    logic there;
    logic there_first;
    logic there_start;
    logic there_q;
    logic there_last;
    logic there_decrypt;
    logic [3:0] there_partial;
    always_ff @(posedge clk) begin
        there <= !rst && read;
        load_key <= !rst && loads_key;
        there_first <= first;
        there_start <= place == '0 && !first;
        there_q <= at_partial;
        there_last <= last;
        there_decrypt <= decrypt;
        key_slot <= slot;
        there_partial <= partial;
    end

    logic takes_group;
    logic [127:0] mm_cut;
    logic [127:0] chain;
    logic [127:0] chain_double;
    logic [127:0] mask;
    logic [127:0] there_padding;
    assign takes_group = there_first || (there_start && !there_q);
    assign mm_cut = head_mm & ragged_pkg::mask({1'b0, there_partial});
    assign there_padding = ragged_pkg::padding({1'b0, there_partial});
    assign chain_double = gf128_pkg::double_le_bytes(chain);

    // Q was stored with its padding, which is removed here.
    always_comb begin
        mask = chain_double;
        if (there_start) mask = head_group;
        if (there_first) mask = head_mask0 ^ mm_cut;
        if (there_q) mask = mm_cut ^ there_padding;
    end

    lut_queue #(
        .WIDTH(128),
        .DEPTH(QUEUE)
    ) group_masks (
        .clk,
        .rst,
        .push(group_valid),
        .in_data(group_mask),
        .valid(),
        .out_data(head_group),
        .pop(there && takes_group)
    );
    lut_queue #(
        .WIDTH(128),
        .DEPTH(QUEUE)
    ) first_masks (
        .clk,
        .rst,
        .push(mask0_valid),
        .in_data(mask0),
        .valid(),
        .out_data(head_mask0),
        .pop(there && there_first)
    );
    lut_queue #(
        .WIDTH(128),
        .DEPTH(QUEUE)
    ) mms (
        .clk,
        .rst,
        .push(mm_valid),
        .in_data(mm),
        .valid(),
        .out_data(head_mm),
        .pop(there && there_q)
    );

    logic entered;
    logic entered_q;
    logic entered_first;
    logic entered_last;
    logic [3:0] entered_partial;
    logic [3:0] entered_slot;
    always_ff @(posedge clk) begin
        if (there) chain <= takes_group ? head_group : chain_double;
        pipe_block <= stored ^ mask;
        pipe_decrypt <= there_decrypt;
        entered_slot <= key_slot;
        entered <= !rst && there;
        entered_q <= there_q;
        entered_first <= there_first;
        entered_last <= there_last;
        entered_partial <= there_partial;
    end
    assign pipe_valid = entered && !entered_q;

    // ---- Bypass of the pipes

    localparam int SIDE = 12;
    logic [PIPE-1:0] under_way;
    logic [127:0] q;
    logic [SIDE-1:0] side1;  // one clock before the output
    logic [SIDE-1:0] side0;
    always_ff @(posedge clk) begin
        if (rst) under_way <= '0;
        else under_way <= {under_way[PIPE-2:0], entered};
        side0 <= side1;
    end
    ring_delay #(
        .WIDTH(SIDE),
        .CLOCKS(PIPE - 1)
    ) side_delay (
        .clk,
        .rst,
        .in_data({entered_slot, pipe_decrypt, entered_q, entered_first, entered_last, entered_partial}),
        .out_data(side1)
    );
    ring_delay #(
        .WIDTH(128),
        .CLOCKS(PIPE)
    ) q_delay (
        .clk,
        .rst,
        .in_data(pipe_block),
        .out_data(q)
    );

    logic [127:0] out_mask;
    assign mask_slot = side1[11:8];
    always_ff @(posedge clk) begin
        if (under_way[PIPE-2]) out_mask <= side1[5] ? second_mask : gf128_pkg::double_le_bytes(out_mask);
    end

    always_ff @(posedge clk) begin
        beat_valid <= !rst && under_way[PIPE-1];
        beat_block <= side0[6] ? q : (side0[7] ? pipe_decrypted : pipe_encrypted) ^ out_mask;
        beat_bytes <= side0[6] ? {1'b0, side0[3:0]} : 5'd16;
        beat_last <= side0[4];
    end

    logic unused;
    assign unused = ^{side0[11:8], side0[5]};

endmodule
