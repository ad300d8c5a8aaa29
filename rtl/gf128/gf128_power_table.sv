// Table of powers of the hash keys: DEPTH blocks, one write port, and one read port with a registered output (latency
// one clock; a simultaneous write to the same entry is not visible). BLOCK_RAM = 0: LUT RAM, 1: block RAM.
module gf128_power_table #(
    parameter int DEPTH = 64,
    parameter int BLOCK_RAM = 0
) (
    input  logic                     clk,
    input  logic                     write,
    input  logic [$clog2(DEPTH)-1:0] write_address,
    input  logic [127:0]             write_block,
    input  logic [$clog2(DEPTH)-1:0] read_address,
    output logic [127:0]             read_block
);
    if (BLOCK_RAM == 1) begin : g_block
        ram_1r1w #(
            .WIDTH(128),
            .DEPTH(DEPTH)
        ) ram (
            .clk,
            .write,
            .write_at(write_address),
            .write_data(write_block),
            .read(1'b1),
            .read_at(read_address),
            .read_data(read_block),
            .parity_error()
        );
    end else begin : g_distributed
        logic [127:0] entry;
        ram_lut #(
            .WIDTH(128),
            .DEPTH(DEPTH)
        ) ram (
            .clk,
            .write,
            .write_at(write_address),
            .write_data(write_block),
            .read_at(read_address),
            .read_data(entry),
            .check(1'b0),
            .parity_error()
        );
        always_ff @(posedge clk) read_block <= entry;
    end
endmodule
