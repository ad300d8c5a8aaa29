// The data path of AES encryption: one round a stage, a block in every clock. Round keys come from outside, so that
// lanes side by side can share one schedule. Latency: ROUNDS + 1 clocks, with SPLIT 2 ROUNDS + 1.
//   ROUNDS      10 for AES-128, 14 for AES-256
//   BOTH        1: with 14 rounds, blocks with short_keys skip rounds 1 to 4 and are encrypted by AES-128
//   round_keys  round key r in bits 128r+127 : 128r, for the block that entered r clocks ago, with SPLIT 2r
//   short_keys  bit r comes with round key r
//   SBOX        as in aes_encrypt: 0 tables in LUTs, 1 block RAM, 2 Boyar-Peralta circuits
//   SPLIT       1: two registers a round, the other one behind SubBytes
module aes_encrypt_lane #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int BOTH = 0
) (
    input  logic            clk,
    input  logic [128*(ROUNDS+1)-1:0] round_keys,
    input  logic [  ROUNDS:0] short_keys,
    input  logic [   127:0] in_block,
    output logic [   127:0] out_block
);

    logic [128*(ROUNDS+1)-1:0] states;

    // The register of a table in block RAM takes the place of one, if there is one only.
    localparam int LATE = SBOX == 1 && SPLIT == 0 ? 1 : 0;

    if (LATE == 1) begin : g_first_wires
        assign states[127:0] = in_block ^ round_keys[127:0];
    end else begin : g_first_register
        logic [127:0] first;
        always_ff @(posedge clk) first <= in_block ^ round_keys[127:0];
        assign states[127:0] = first;
    end

    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        aes_encrypt_round #(
            .SBOX(SBOX),
            .MIX(r < ROUNDS ? 1 : 0),
            .INSIDE(SBOX == 1 || SPLIT == 1 ? 1 : 0),
            .AFTER(LATE == 1 && r < ROUNDS ? 0 : 1),
            .SKIP(BOTH == 1 && r <= 4 ? 1 : 0)
        ) step (
            .clk,
            .skip(short_keys[r]),
            .in(states[128*(r-1)+:128]),
            .key(round_keys[128*r+:128]),
            .out(states[128*r+:128])
        );
    end

    assign out_block = states[128*ROUNDS+:128];

    logic unused;
    assign unused = short_keys[0];

endmodule
