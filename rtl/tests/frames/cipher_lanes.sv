// Model of engine/cipher_lanes.sv for clock counts: same ports and latency, no cipher. An engine's clock
// counts do not depend on the values in its lanes, and this model simulates a hundred times as fast.
module cipher_lanes #(
    parameter int CIPHER = 0,
    parameter int INVERSE = 0,
    parameter int LANES = 4,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int KEY_BITS = CIPHER == 0 ? 128 : CIPHER == 3 ? 257 : 256
) (
    input  logic                 clk,
    input  logic [ KEY_BITS-1:0] in_key,
    input  logic [128*LANES-1:0] in_blocks,
    output logic [128*LANES-1:0] out_blocks
);

    localparam int ROUNDS = CIPHER == 1 ? 32 : CIPHER >= 2 ? 14 : 10;
    localparam int LATENCY = SPLIT == 1 && CIPHER != 1 ? 2 * ROUNDS + 1 : ROUNDS + 1;

    logic unused;
    assign unused = 1'(SBOX) ^ 1'(INVERSE);

    logic [128*LANES-1:0] stage[0:LATENCY-1];
    always_ff @(posedge clk) begin
        stage[0] <= in_blocks ^ {LANES{in_key[127:0]}};
        for (int i = 1; i < LATENCY; i = i + 1) stage[i] <= stage[i-1];
    end
    assign out_blocks = stage[LATENCY-1];

endmodule
