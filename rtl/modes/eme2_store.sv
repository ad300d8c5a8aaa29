// Blocks of messages between the two passes: a ring of BLOCKS blocks (a power of two) in block RAM, written and read
// in order. There is no flow control: the user never writes without room, nor reads a block before it is written.
//
//   write, in_block  writes a block
//   read, out_block  reads the oldest block; it is valid one clock later
module eme2_store #(
    parameter int BLOCKS = 512
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         write,
    input  logic [127:0] in_block,
    input  logic         read,
    output logic [127:0] out_block
);

    localparam int ADDRESS = $clog2(BLOCKS);

    logic [ADDRESS-1:0] write_at;
    logic [ADDRESS-1:0] read_at;

    ram_1r1w #(
        .WIDTH(128),
        .DEPTH(BLOCKS)
    ) ram (
        .clk,
        .write,
        .write_at,
        .write_data(in_block),
        .read,
        .read_at,
        .read_data(out_block),
        .parity_error()
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            write_at <= '0;
            read_at  <= '0;
        end else begin
            if (write) write_at <= write_at + 1'b1;
            if (read) read_at <= read_at + 1'b1;
        end
    end

endmodule
