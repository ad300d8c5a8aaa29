// Round keys of a decryption pipe whose key changes only while the pipe is empty. One schedule step computes one
// round key per clock, backward from in_key, and transforms it for the equivalent inverse cipher (FIPS 197 section
// 5.3.5).
//
//   in_new_key, in_key           loads round key ROUNDS. All round keys are valid ROUNDS + 1 clocks later.
//   round_keys[128r+127 : 128r]  registered; holds until the next load.
//                                r = 0: round key 0.
//                                r = 1 to ROUNDS - 1: InvMixColumns(round key r).
//                                r = ROUNDS: round key 10 of AES, or InvMixColumns(round key 6) of the six-round
//                                cipher, because its last round also has MixColumns.
//
//   SBOX   2: Boyar-Peralta circuits, otherwise tables
module aes_decrypt_keys_static #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic                        in_new_key,
    input  logic [127:0]                in_key,
    output logic [128*(ROUNDS+1)-1:0]   round_keys
);
    // made[i]: `walking` contains round key ROUNDS - i. Round key 0 stays there.
    logic [ROUNDS-1:0] made;
    logic [127:0] walking, transformed;
    logic [7:0] constant;
    logic [31:0] word;

    aes_sbox_word #(
        .VARIANT(SBOX == 2 ? 2 : 0)
    ) sub_word (
        .in(aes_pkg::rot_word(walking[31:0] ^ walking[63:32])),
        .out(word)
    );

    always_ff @(posedge clk) begin
        if (rst) made <= '0;
        else made <= {made[ROUNDS-2:0], in_new_key};
        if (in_new_key) begin
            walking <= in_key;
            constant <= aes_pkg::round_constant(ROUNDS);
        end else if (|made) begin
            walking <= aes_pkg::previous_round_key(walking, word, constant);
            constant <= aes_pkg::xtime_inverse(constant);
        end
    end

    for (genvar c = 0; c < 4; c = c + 1) begin : g_column
        aes_inverse_mix_column mix (
            .column(walking[32 * c +: 32]),
            .key(32'b0),
            .mixed(transformed[32 * c +: 32])
        );
    end

    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        logic [127:0] round_key;
        always_ff @(posedge clk) begin
            if (made[ROUNDS-r]) round_key <= r == 10 ? walking : transformed;
        end
        assign round_keys[128*r+:128] = round_key;
    end
    assign round_keys[127:0] = walking;
endmodule
