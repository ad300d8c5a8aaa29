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
        (* ram_style = "block", ramstyle = "M20K" *)
        logic [127:0] memory[0:DEPTH-1];
        always_ff @(posedge clk) begin
            if (write) memory[write_address] <= write_block;
            read_block <= memory[read_address];
        end
    end else begin : g_distributed
        (* ram_style = "distributed", ramstyle = "MLAB" *)
        logic [127:0] memory[0:DEPTH-1];
        always_ff @(posedge clk) begin
            if (write) memory[write_address] <= write_block;
            read_block <= memory[read_address];
        end
    end
endmodule
