// The front end of every mode. It reads commands and the packet stream, checks each packet against its command, and
// gives the mode a regular stream that always matches the command, whatever arrived.
//
// For each command, in order:
//   1. The command is presented (command_valid) and the mode accepts it (command_ready), possibly while blocks of the
//      previous command are still being transferred: blocks belong to the oldest accepted command that has blocks left.
//      The mode may delay command_ready without limit, for example until its pipelines are ready for another key.
//   2. Its blocks follow: command_ad_blocks of kind 1, command_message_blocks of kind 0 and, when opening, one of kind
//      2 (the tag; none with TAG = 0). A command with command_error has no blocks.
//   3. Its verdict follows, at the earliest in the clock after the last block was accepted or, for a command without
//      blocks, two clocks after the command was accepted. verdict_error: the command was illegal, or its stream did not
//      match it.
//
// Illegal commands: a slot that was never loaded, a message to seal shorter than LEAST or to open shorter than
// OPEN_LEAST, a message longer than MOST or not of whole blocks (OPEN_WHOLE = 1 when opening, SEAL_WHOLE = 1 when
// sealing), more AD than AD_MOST (0: no AD allowed). The beats of an illegal command are discarded up to tlast; if its
// lengths and direction imply no beats, nothing is discarded. slot_loaded is sampled in the clock of the s_cmd
// handshake. A mode therefore sets it in the clock after the s_key handshake at the latest, and holds command_ready low
// until that slot's constants are ready.
//
// Mismatched streams: tlast too early (missing blocks are replaced by zeros), tlast too late (surplus beats are
// discarded), wrong tuser, wrong tkeep. A stream sent for a command without beats is indistinguishable from that of
// the next packet.
//
// Latency: none from s_axis to block (s_axis_tready follows block_ready, and block_valid follows s_axis_tvalid, in the
// same clock); one clock from s_cmd to the command; one clock from an accepted command to its first block.
// Throughput: one block per clock. The first block of a packet can follow the last block of the previous packet in the
// next clock if its command was accepted by then and the previous packet had at least two beats, because commands are
// presented at most every second clock. A command without blocks costs one clock; an illegal one also costs its beats.
//
// Requirements for the mode: block_ready and verdict_ready must not depend on block_valid or block, which follow s_axis
// and verdict_ready in the same clock. All other outputs to the mode are registered, and its inputs here may depend on
// them in the same clock. command_ready may depend on anything. A verdict that the mode does not accept stalls only the
// last block of the next packet.
//
// Ports (byte 0 of the nonce and of blocks is the highest byte here, and the lowest in s_cmd_nonce and s_axis_tdata):
//   command_last_ad_bytes, command_last_message_bytes   bytes in the last block of the part, 1 to 16; 0 if it is empty
//   block          data; bytes not in tkeep are zero
//   block_bytes    number of valid bytes: 16, or fewer in the last block of a part
//   block_kind     0 message, 1 AD, 2 tag (16 bytes)
//   block_last     last block of the packet
module packet_front #(
    parameter int SLOTS = 16,
    parameter int LEAST = 0,
    parameter int OPEN_LEAST = LEAST,
    parameter int MOST = 65535,
    parameter int SEAL_WHOLE = 0,
    parameter int OPEN_WHOLE = 0,
    parameter int AD_MOST = 65535,
    parameter int TAG = 1
) (
    input logic clk,
    input logic rst,

    input logic [SLOTS-1:0] slot_loaded,

    input  logic         s_cmd_tvalid,
    output logic         s_cmd_tready,
    input  logic         s_cmd_open,
    input  logic [  3:0] s_cmd_slot,
    input  logic [127:0] s_cmd_nonce,
    input  logic [ 15:0] s_cmd_ad_bytes,
    input  logic [ 15:0] s_cmd_message_bytes,
    input  logic         s_cmd_padded,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [127:0] s_axis_tdata,
    input  logic [ 15:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    output logic         command_valid,
    input  logic         command_ready,
    output logic         command_open,
    output logic [  3:0] command_slot,
    output logic [127:0] command_nonce,
    output logic [ 12:0] command_ad_blocks,
    output logic [ 12:0] command_message_blocks,
    output logic [  4:0] command_last_ad_bytes,
    output logic [  4:0] command_last_message_bytes,
    output logic         command_padded,
    output logic         command_error,

    output logic         block_valid,
    input  logic         block_ready,
    output logic [127:0] block,
    output logic [  4:0] block_bytes,
    output logic [  1:0] block_kind,
    output logic         block_last,

    output logic verdict_valid,
    input  logic verdict_ready,
    output logic verdict_error
);

    localparam logic [1:0] MESSAGE = 2'd0;
    localparam logic [1:0] AD = 2'd1;
    localparam logic [1:0] TAG_BLOCK = 2'd2;

    // ---- Command: held from the s_cmd handshake until its blocks can start.

    logic held;  // a command is held
    logic taken;  // the mode has accepted the held command
    logic start;  // the packet half below starts the held command in this clock
    // Lengths extended by a zero or a one bit: comparisons with 0 or 65535 would otherwise be constant.
    logic [16:0] ad_bytes;
    logic [16:0] message_bytes;
    logic [16:0] message_from_one;
    logic ragged;
    logic [15:0] known_slots;
    logic bad_length;
    logic command_take;

    assign s_cmd_tready = !held;
    assign command_valid = held && !taken;
    assign command_take = command_valid && command_ready;
    assign ad_bytes = {1'b0, s_cmd_ad_bytes};
    assign message_bytes = {1'b0, s_cmd_message_bytes};
    assign message_from_one = {1'b1, s_cmd_message_bytes};
    assign ragged = s_cmd_message_bytes[3:0] != 4'd0;
    assign known_slots = 16'(slot_loaded);

    // The number of blocks in a part of this length, and the number of bytes in its last block.
    function automatic logic [12:0] count_blocks(input logic [15:0] bytes);
        count_blocks = {1'b0, bytes[15:4]} + {12'd0, bytes[3:0] != 4'd0};
    endfunction

    function automatic logic [4:0] last_bytes(input logic [15:0] bytes);
        last_bytes = {bytes[3:0] == 4'd0 && bytes != 16'd0, bytes[3:0]};
    endfunction

    always_comb begin
        bad_length = message_bytes > 17'(MOST) || ad_bytes > 17'(AD_MOST);
        if (s_cmd_open) begin
            if (message_from_one < 17'(65536 + OPEN_LEAST) || (OPEN_WHOLE != 0 && ragged)) bad_length = 1'b1;
        end else begin
            if (message_from_one < 17'(65536 + LEAST) || (SEAL_WHOLE != 0 && ragged)) bad_length = 1'b1;
        end
    end

    always_ff @(posedge clk) begin
        if (s_cmd_tvalid && s_cmd_tready) begin
            command_open <= s_cmd_open;
            command_slot <= s_cmd_slot;
            command_nonce <= bytes_pkg::swap128(s_cmd_nonce);
            command_ad_blocks <= count_blocks(s_cmd_ad_bytes);
            command_message_blocks <= count_blocks(s_cmd_message_bytes);
            command_last_ad_bytes <= last_bytes(s_cmd_ad_bytes);
            command_last_message_bytes <= last_bytes(s_cmd_message_bytes);
            command_padded <= s_cmd_padded;
            command_error <= bad_length || !known_slots[s_cmd_slot];
        end
        if (rst) begin
            held  <= 1'b0;
            taken <= 1'b0;
        end else begin
            held  <= held ? !start : s_cmd_tvalid;
            taken <= !start && (taken || command_take);
        end
    end

    // ---- Packet: its blocks, then surplus beats, then the verdict.

    logic active;  // blocks are left to transfer
    logic barren;  // a command without blocks: only its verdict is left
    logic swallow;  // discards beats up to tlast: surplus ones, or those of an illegal command
    logic early;  // tlast has arrived: missing blocks are replaced by zeros
    logic misfit;  // an earlier beat did not match the command

    logic [12:0] ad_left;  // blocks left, including the current one
    logic [12:0] message_left;
    logic [4:0] last_ad;  // bytes in the last block of a part
    logic [4:0] last_message;
    logic message_follows;  // the packet has message blocks
    logic tag_follows;
    logic part_last;  // the current block is the last of its part

    logic new_tag;
    logic new_blocks;  // the held command has beats
    assign new_tag = TAG != 0 && command_open;
    assign new_blocks = command_ad_blocks != '0 || command_message_blocks != '0 || new_tag;

    logic give;  // a block is transferred in this clock
    logic [15:0] keep;
    logic fits;
    logic verdict_free;
    logic drop;
    logic finish;

    // Descriptions of the held command's first block, and of the block after the current one. They are registered
    // below, so the description of a block is valid before the block itself.
    logic [1:0] first_kind;
    logic first_part_last;
    logic [4:0] first_bytes;
    logic [1:0] next_kind;
    logic next_part_last;
    logic [4:0] next_bytes;

    // Set if the current part is the last one of the packet.
    function automatic logic closes(input logic [1:0] kind, input logic message, input logic tag);
        closes = kind == TAG_BLOCK || (!tag && (kind == MESSAGE || !message));
    endfunction

    always_comb begin
        first_kind = TAG_BLOCK;
        first_part_last = 1'b1;
        first_bytes = 5'd16;
        if (command_ad_blocks != '0) begin
            first_kind = AD;
            first_part_last = command_ad_blocks == 13'd1;
            if (first_part_last) first_bytes = command_last_ad_bytes;
        end else if (command_message_blocks != '0) begin
            first_kind = MESSAGE;
            first_part_last = command_message_blocks == 13'd1;
            if (first_part_last) first_bytes = command_last_message_bytes;
        end

        next_kind = TAG_BLOCK;
        next_part_last = 1'b1;
        next_bytes = 5'd16;
        if (block_kind == AD && !part_last) begin
            next_kind = AD;
            next_part_last = ad_left == 13'd2;
            if (next_part_last) next_bytes = last_ad;
        end else if (block_kind == AD ? message_follows : !part_last) begin
            next_kind = MESSAGE;
            next_part_last = message_left == (block_kind == AD ? 13'd1 : 13'd2);
            if (next_part_last) next_bytes = last_message;
        end
    end

    always_comb begin
        for (int i = 0; i < 16; i = i + 1) begin
            keep[i] = 5'(i) < block_bytes;
            block[8*(15-i)+:8] = s_axis_tdata[8*i+:8] & {8{keep[i] && !early}};
        end
    end

    assign fits = early || (s_axis_tuser == block_kind && s_axis_tkeep == keep && s_axis_tlast == block_last);
    assign verdict_free = !verdict_valid || verdict_ready;
    assign block_valid = active && (early || s_axis_tvalid) && (!block_last || verdict_free);
    assign give = block_valid && block_ready;
    assign s_axis_tready = swallow || (active && !early && block_ready && (!block_last || verdict_free));
    assign drop = swallow && s_axis_tvalid && s_axis_tlast;

    // No part of the packet is left after this clock.
    always_comb begin
        finish = !active && !barren && !swallow;
        if (active) finish = give && block_last && (early || s_axis_tlast);
        if (barren) finish = verdict_free && (!swallow || drop);
        if (!active && !barren && swallow) finish = drop;
    end
    assign start = finish && held && (taken || command_ready);

    always_ff @(posedge clk) begin
        if (give) begin
            if (block_kind == AD) ad_left <= ad_left - 1'b1;
            if (block_kind == MESSAGE) message_left <= message_left - 1'b1;
            block_kind <= next_kind;
            part_last <= next_part_last;
            block_last <= next_part_last && closes(next_kind, message_follows, tag_follows);
            block_bytes <= next_bytes;
            misfit <= misfit || !fits;
            if (s_axis_tlast && !early) early <= 1'b1;
        end
        if (start) begin
            ad_left <= command_ad_blocks;
            message_left <= command_message_blocks;
            last_ad <= command_last_ad_bytes;
            last_message <= command_last_message_bytes;
            message_follows <= command_message_blocks != '0;
            tag_follows <= new_tag;
            block_kind <= first_kind;
            part_last <= first_part_last;
            block_last <= first_part_last && closes(first_kind, command_message_blocks != '0, new_tag);
            block_bytes <= first_bytes;
            misfit <= command_error;
            early <= 1'b0;
        end

        if (rst) begin
            active  <= 1'b0;
            barren  <= 1'b0;
            swallow <= 1'b0;
        end else begin
            if (give && block_last) active <= 1'b0;
            if (barren && verdict_free) barren <= 1'b0;
            if (give && block_last && !early && !s_axis_tlast) swallow <= 1'b1;
            if (drop) swallow <= 1'b0;
            if (start) begin
                active  <= new_blocks && !command_error;
                barren  <= !new_blocks || command_error;
                swallow <= new_blocks && command_error;
            end
        end

        if (verdict_free) verdict_error <= misfit || (active && !fits);
        if (rst) verdict_valid <= 1'b0;
        else if ((give && block_last) || (barren && verdict_free)) verdict_valid <= 1'b1;
        else if (verdict_ready) verdict_valid <= 1'b0;
    end

endmodule
