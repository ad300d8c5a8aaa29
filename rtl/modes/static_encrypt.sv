// Encryption pipe with static round keys from static_keys: aes_encrypt without its key schedule, S-boxes as tables in
// LUTs, one register per round. One block per clock. Latency: ROUNDS + 1 clocks. Other ports: see aes_encrypt.
module static_encrypt #(
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

    // states[128r+127 : 128r]: the state after round r. Round 0 is the first AddRoundKey.
    logic [128*(ROUNDS+1)-1:0] states;
    logic [127:0] first;

    always_ff @(posedge clk) first <= in_block ^ round_keys[127:0];
    assign states[127:0] = first;
    assign out_block = states[128*ROUNDS+:128];

    generate
        for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
            aes_encrypt_round #(
                .MIX(r < ROUNDS || ROUNDS == 6 ? 1 : 0)
            ) step (
                .clk,
                .skip(1'b0),
                .in (states[128*(r-1)+:128]),
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
