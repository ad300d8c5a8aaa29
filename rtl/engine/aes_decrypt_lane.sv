// The data path of AES decryption: one round a stage, a block in every clock. Round keys come from outside, transformed
// (equivalent inverse cipher, FIPS 197 section 5.3.5), so that lanes side by side can share one schedule. Latency:
// ROUNDS + 1 clocks.
//   ROUNDS      10 for AES-128, 14 for AES-256
//   round_keys  round key r in bits 128r+127 : 128r, for the block that entered ROUNDS - r clocks ago
//   SBOX        as in aes_decrypt: 0 tables in LUTs, 1 block RAM, 2 Boyar-Peralta circuits
module aes_decrypt_lane #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0
) (
    input  logic            clk,
    input  logic [128*(ROUNDS+1)-1:0] round_keys,
    input  logic [   127:0] in_block,
    output logic [   127:0] out_block
);

    logic [128*(ROUNDS+1)-1:0] states;

    if (SBOX == 1) begin : g_first_wires
        assign states[128*ROUNDS+:128] = in_block ^ round_keys[128*ROUNDS+:128];
    end else begin : g_first_register
        logic [127:0] first;
        always_ff @(posedge clk) first <= in_block ^ round_keys[128*ROUNDS+:128];
        assign states[128*ROUNDS+:128] = first;
    end

    for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_round
        aes_decrypt_round #(
            .SBOX(SBOX),
            .MIX(r > 0 ? 1 : 0),
            .INSIDE(SBOX == 1 ? 1 : 0),
            .AFTER(SBOX == 1 && r > 0 ? 0 : 1)
        ) step (
            .clk,
            .in(states[128*(r+1)+:128]),
            .key(round_keys[128*r+:128]),
            .out(states[128*r+:128])
        );
    end

    assign out_block = states[127:0];

endmodule
