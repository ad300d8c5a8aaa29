// Optional pipeline register of WIDTH bits: REGISTER = 1 adds a latency of one clock, 0 is a wire.
module gf128_stage #(
    parameter int WIDTH = 128,
    parameter int REGISTER = 1
) (
    input  logic             clk,
    input  logic [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);
    if (REGISTER == 1) begin : g_register
        always_ff @(posedge clk) out <= in;
    end else begin : g_wires
        logic unused;
        assign unused = clk;
        assign out = in;
    end
endmodule
