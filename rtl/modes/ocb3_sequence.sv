// Steps of an OCB3 packet, with the offset of each (RFC 7253, sections 4.1 to 4.3). It runs ahead of the blocks: the
// first step is valid three clocks after `take`. One step per clock, also across packets.
//
//   step_kind:
//     0 AD       a block of AD, E(block ^ offset); the last one may be partial
//     1 FULL     a whole block of the message
//     2 RAGGED   the last block of the message, if it is partial
//     3 TAG      the tag; its offset is Offset ^ L_$
//     4 ILLEGAL  the only step of an illegal command
//
//   take, command_*  accepts the next packet, only when `free`
//   start_*          Offset_0 of the packet, see ocb3_nonce
//   table_*          read port of ocb3_table
//   step_*           the step, valid until step_done; registered
//   step_bytes       bytes of the step's block
//   step_last        last block of the message
//   step_barren      the packet has no block on s_axis
//   step_message     the packet has a message
//   busy             the last step of an accepted packet is not done
module ocb3_sequence (
    input  logic         clk,
    input  logic         rst,
    input  logic         take,
    output logic         free,
    output logic         busy,
    input  logic         command_open,
    input  logic [  3:0] command_slot,
    input  logic [ 12:0] command_ad_blocks,
    input  logic [ 12:0] command_message_blocks,
    input  logic [  4:0] command_last_ad_bytes,
    input  logic [  4:0] command_last_message_bytes,
    input  logic         command_error,
    input  logic         start_valid,
    input  logic [127:0] start,
    output logic         start_used,
    output logic         table_read,
    output logic [  3:0] table_slot,
    output logic [  3:0] table_index,
    input  logic [127:0] table_l,
    output logic         step_valid,
    input  logic         step_done,
    output logic [  2:0] step_kind,
    output logic         step_open,
    output logic [  3:0] step_slot,
    output logic [  4:0] step_bytes,
    output logic         step_last,
    output logic         step_barren,
    output logic         step_message,
    output logic [127:0] step_offset
);

    localparam logic [2:0] AD = 3'd0;
    localparam logic [2:0] FULL = 3'd1;
    localparam logic [2:0] RAGGED = 3'd2;
    localparam logic [2:0] TAG = 3'd3;
    localparam logic [2:0] ILLEGAL = 3'd4;

    // ---- First clock: the next step, and the index of its multiple of L

    logic active;
    logic open;
    logic [3:0] slot;
    logic [12:0] ad_left;
    logic [12:0] message_left;
    // Registered comparisons of the two counters.
    logic in_ad;
    logic ad_last;
    logic message_there;
    logic message_last;
    logic [4:0] ad_bytes;
    logic [4:0] message_bytes;
    logic illegal;
    logic barren;
    logic message;
    logic [11:0] number;  // number of the block in its part, from 1
    logic first;  // first step of the AD, or of the steps that follow it

    logic in_message;
    logic part_last;
    logic [2:0] kind;
    logic [4:0] bytes;
    logic [3:0] zeros;  // trailing zeros of `number`
    logic advance;
    logic finish;

    always_comb begin
        in_message = !in_ad && message_there;
        part_last = in_ad ? ad_last : message_last;

        bytes = 5'd16;
        if (in_ad && part_last) bytes = ad_bytes;
        if (in_message && part_last) bytes = message_bytes;

        kind = TAG;
        if (in_ad) kind = AD;
        if (in_message) kind = bytes[4] ? FULL : RAGGED;
        if (illegal) kind = ILLEGAL;

        zeros = 4'd11;
        for (int i = 10; i >= 0; i = i - 1) begin
            if (number[i]) zeros = 4'(i);
        end

        table_index = 4'd1;
        if (in_ad || in_message) table_index = bytes[4] ? zeros + 4'd2 : 4'd0;
    end

    assign table_read = advance;
    assign table_slot = slot;
    assign finish = advance && (kind == TAG || kind == ILLEGAL);
    assign free = !active || finish;

    always_ff @(posedge clk) begin
        if (take) begin
            open <= command_open;
            slot <= command_slot;
            ad_left <= command_error ? '0 : command_ad_blocks;
            message_left <= command_error ? '0 : command_message_blocks;
            in_ad <= !command_error && command_ad_blocks != '0;
            ad_last <= command_ad_blocks == 13'd1;
            message_there <= !command_error && command_message_blocks != '0;
            message_last <= command_message_blocks == 13'd1;
            ad_bytes <= command_last_ad_bytes;
            message_bytes <= command_last_message_bytes;
            illegal <= command_error;
            barren <= command_error
                || (command_ad_blocks == '0 && command_message_blocks == '0 && !command_open);
            message <= !command_error && command_message_blocks != '0;
            number <= 12'd1;
            first <= 1'b1;
        end else if (advance) begin
            if (in_ad) begin
                ad_left <= ad_left - 1'b1;
                in_ad   <= !ad_last;
                ad_last <= ad_left == 13'd2;
            end
            if (in_message) begin
                message_left <= message_left - 1'b1;
                message_there <= !message_last;
                message_last <= message_left == 13'd2;
            end
            number <= in_ad && part_last ? 12'd1 : number + 1'b1;
            first  <= in_ad && part_last;
        end
        if (rst) active <= 1'b0;
        else active <= take || (active && !finish);
    end

    // ---- Second clock: the multiple of L arrives

    logic next_valid;
    logic [2:0] next_kind;
    logic next_open;
    logic [3:0] next_slot;
    logic [4:0] next_bytes;
    logic next_last;
    logic next_barren;
    logic next_message;
    logic next_first;
    logic from_start;

    // After the AD the offset restarts from Offset_0.
    assign from_start = next_first && (next_kind == FULL || next_kind == RAGGED || next_kind == TAG);
    assign advance = (!step_valid || step_done) && !(next_valid && from_start && !start_valid);
    assign start_used = advance && next_valid && from_start;

    always_ff @(posedge clk) begin
        if (advance) begin
            next_kind <= kind;
            next_open <= open;
            next_slot <= slot;
            next_bytes <= bytes;
            next_last <= in_message && part_last;
            next_barren <= barren;
            next_message <= message;
            next_first <= first;
        end
        if (rst) next_valid <= 1'b0;
        else if (advance) next_valid <= active;
    end

    // ---- Third clock: the step with its offset

    always_ff @(posedge clk) begin
        if (advance) begin
            step_kind <= next_kind;
            step_open <= next_open;
            step_slot <= next_slot;
            step_bytes <= next_bytes;
            step_last <= next_last;
            step_barren <= next_barren;
            step_message <= next_message;
            step_offset <= (next_first ? (from_start ? start : '0) : step_offset) ^ table_l;
        end
        if (rst) step_valid <= 1'b0;
        else step_valid <= advance ? next_valid : step_valid && !step_done;
    end

    assign busy = active || next_valid || step_valid;

endmodule
