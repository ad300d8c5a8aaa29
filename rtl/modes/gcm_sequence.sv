// Steps of a GCM packet, with the counter block of each (NIST SP 800-38D, sections 7.1 and 7.2). The first step is
// valid in the clock after `take`. One step per clock, also across packets.
//
//   step_kind:
//     0 AD       a block of AD, for GHASH only
//     1 MESSAGE  a block of the message
//     2 TAG      E(J0), and GHASH's length block
//     3 ILLEGAL  the only step of an illegal command
//
//   take, command_*  accepts the next packet, only when `free`. command_nonce: 12 bytes, byte 0 highest.
//   busy             a step is valid
//   step_*           the step, valid until step_done; registered, except for step_bytes, step_last, step_counter and
//                    step_size
//   step_bytes       bytes of the step's block
//   step_first       first step of the packet
//   step_last        last block of the message
//   step_barren      the packet has no block on s_axis
//   step_message     the packet has a message
//   step_counter     counter block to encrypt
//   step_size        with TAG the bytes of AD and of message; with other steps the number of blocks of AD and
//                    message. In the first step of a packet of any kind, this is the number of blocks that GHASH
//                    receives after this one.
module gcm_sequence (
    input  logic         clk,
    input  logic         rst,
    input  logic         take,
    output logic         free,
    output logic         busy,
    input  logic         command_open,
    input  logic [  3:0] command_slot,
    input  logic [ 95:0] command_nonce,
    input  logic [ 12:0] command_ad_blocks,
    input  logic [ 12:0] command_message_blocks,
    input  logic [  4:0] command_last_ad_bytes,
    input  logic [  4:0] command_last_message_bytes,
    input  logic         command_error,
    output logic         step_valid,
    input  logic         step_done,
    output logic [  1:0] step_kind,
    output logic         step_open,
    output logic [  3:0] step_slot,
    output logic [  4:0] step_bytes,
    output logic         step_first,
    output logic         step_last,
    output logic         step_barren,
    output logic         step_message,
    output logic [127:0] step_counter,
    output logic [ 31:0] step_size
);

    localparam logic [1:0] AD = 2'd0;
    localparam logic [1:0] MESSAGE = 2'd1;
    localparam logic [1:0] TAG = 2'd2;
    localparam logic [1:0] ILLEGAL = 2'd3;

    logic [95:0] nonce;
    logic [12:0] counter;
    logic [12:0] left;  // blocks of the current part (AD or message), including this step's
    logic part_last;  // `left` is 1
    logic [12:0] message_blocks;
    logic [4:0] ad_bytes;
    logic [4:0] message_bytes;
    logic [15:0] ad_length;
    logic [15:0] message_length;
    logic [13:0] blocks;
    logic finish;

    // Returns the bytes of a part, from its number of blocks (modulo 4096) and the bytes in the last one (modulo 16).
    function automatic logic [15:0] length(input logic [11:0] count, input logic [3:0] last);
        length = {count - {11'd0, last != 4'd0}, last};
    endfunction

    // The kind of the step and the end of its part are registered, because they decide what enters the pipe.
    always_comb begin
        step_bytes = 5'd16;
        if (step_kind == AD && part_last) step_bytes = ad_bytes;
        if (step_kind == MESSAGE && part_last) step_bytes = message_bytes;
        step_last = step_kind == MESSAGE && part_last;
        step_counter = {nonce, 19'd0, step_kind == TAG ? 13'd1 : counter};
        step_size = step_kind == TAG ? {ad_length, message_length} : {18'd0, blocks};
    end

    assign finish = step_done && (step_kind == TAG || step_kind == ILLEGAL);
    assign free = !step_valid || finish;
    assign busy = step_valid;

    always_ff @(posedge clk) begin
        if (take) begin
            step_open <= command_open;
            step_slot <= command_slot;
            nonce <= command_nonce;
            counter <= 13'd2;
            if (command_error) step_kind <= ILLEGAL;
            else if (command_ad_blocks != '0) step_kind <= AD;
            else if (command_message_blocks != '0) step_kind <= MESSAGE;
            else step_kind <= TAG;
            left <= command_ad_blocks != '0 ? command_ad_blocks : command_message_blocks;
            part_last <= command_ad_blocks == 13'd1
                || (command_ad_blocks == '0 && command_message_blocks == 13'd1);
            message_blocks <= command_message_blocks;
            ad_bytes <= command_last_ad_bytes;
            message_bytes <= command_last_message_bytes;
            ad_length <= length(command_ad_blocks[11:0], command_last_ad_bytes[3:0]);
            message_length <= length(command_message_blocks[11:0], command_last_message_bytes[3:0]);
            blocks <= {1'b0, command_ad_blocks} + {1'b0, command_message_blocks};
            step_first <= 1'b1;
            step_barren <= command_error
                || (command_ad_blocks == '0 && command_message_blocks == '0 && !command_open);
            step_message <= !command_error && command_message_blocks != '0;
        end else if (step_done) begin
            step_first <= 1'b0;
            left <= left - 1'b1;
            part_last <= left == 13'd2;
            if (step_kind == MESSAGE) counter <= counter + 1'b1;
            if (part_last && (step_kind == MESSAGE || !step_message)) step_kind <= TAG;
            if (part_last && step_kind == AD && step_message) begin
                step_kind <= MESSAGE;
                left <= message_blocks;
                part_last <= message_blocks == 13'd1;
            end
        end
        if (rst) step_valid <= 1'b0;
        else step_valid <= take || (step_valid && !finish);
    end

endmodule
