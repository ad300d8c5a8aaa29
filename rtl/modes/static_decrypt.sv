// Decryption pipe with static, transformed round keys from static_keys: aes_decrypt without its key schedule, S-boxes
// as tables in LUTs, one register per round. One block per clock. Latency: ROUNDS + 1 clocks. Other ports: see
// aes_decrypt.
module static_decrypt #(
    parameter int ROUNDS = 10,
    parameter int USER = 1
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic [128*(ROUNDS+1)-1:0] round_keys,
    input  logic                      in_valid,
    input  logic [127:0]              in_block,
    input  logic [USER-1:0]           in_user,
    output logic                      out_valid,
    output logic [127:0]              out_block,
    output logic [USER-1:0]           out_user
);

    // states[128r+127 : 128r]: the state after the round that adds round key r.
    logic [128*(ROUNDS+1)-1:0] states;
    logic [127:0] first_keyed;
    logic [127:0] first;

    always_ff @(posedge clk) first <= first_keyed;
    assign states[128*ROUNDS+:128] = first;
    assign out_block = states[127:0];

    generate
        if (ROUNDS == 6) begin : g_first_mix
            // The last of six rounds has MixColumns, and static_keys has already transformed its round key.
            for (genvar c = 0; c < 4; c = c + 1) begin : g_column
                aes_inverse_mix_column mix (
                    .column(in_block[32*c+:32]),
                    .key(round_keys[128*ROUNDS+32*c+:32]),
                    .mixed(first_keyed[32*c+:32])
                );
            end
        end else begin : g_first_key
            assign first_keyed = in_block ^ round_keys[128*ROUNDS+:128];
        end

        for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_round
            aes_decrypt_round #(
                .MIX(r > 0 ? 1 : 0)
            ) step (
                .clk,
                .in (states[128*(r+1)+:128]),
                .key(round_keys[128*r+:128]),
                .out(states[128*r+:128])
            );
        end
    endgenerate

    aes_pipe_user #(
        .LATENCY(ROUNDS + 1),
        .USER(USER)
    ) beside (
        .clk,
        .rst,
        .in_valid,
        .in_user,
        .out_valid,
        .out_user
    );

endmodule
