// Model of gf128/gf128_multiply.sv for clock counts: same ports and latency, no product.
module gf128_multiply #(
    parameter int STAGES = 4
) (
    input  logic         clk,
    input  logic [127:0] a,
    input  logic [127:0] b,
    output logic [127:0] product
);

    logic [127:0] stage[0:STAGES-1];
    always_ff @(posedge clk) begin
        stage[0] <= a ^ b;
        for (int i = 1; i < STAGES; i = i + 1) stage[i] <= stage[i-1];
    end
    assign product = stage[STAGES-1];

endmodule
