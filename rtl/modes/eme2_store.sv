// The blocks of the messages between the two passes: a ring of BLOCKS blocks in block RAM, written and read
// in order. Whoever writes sees to it that there is room, whoever reads that the block is there.
//
//   write, in_block   a block in
//   read, out_block   the oldest block, one clock later
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

    (* ram_style = "block", ramstyle = "M20K" *)
    logic [127:0] memory[0:BLOCKS-1];
    logic [ADDRESS-1:0] write_at;
    logic [ADDRESS-1:0] read_at;

    always_ff @(posedge clk) begin
        if (write) memory[write_at] <= in_block;
    end
    always_ff @(posedge clk) begin
        if (read) out_block <= memory[read_at];
    end
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
