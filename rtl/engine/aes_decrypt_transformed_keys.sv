// Round keys of decryption lanes in which every block brings its own last round key, or with AES-256 its last two:
// aes_decrypt_keys_per_block or aes256_decrypt_keys_per_block, and InvMixColumns of what it gives (equivalent inverse cipher, FIPS 197 section 5.3.5), in a clock of its own. Several
// lanes share it, so that this costs less than a level of logic in each of them.
//   in_key                       the last round key of the block that enters in the next clock; AES-256: the last two
//   round_keys[128r+127 : 128r]  round key r, transformed unless r is 0 or ROUNDS, for the block that entered ROUNDS - r clocks
//                                ago
module aes_decrypt_transformed_keys #(
    parameter int KEY_BITS = 128,
    parameter int SBOX = 0,
    parameter int ROUNDS = KEY_BITS == 256 ? 14 : 10
) (
    input  logic                      clk,
    input  logic [      KEY_BITS-1:0] in_key,
    output logic [128*(ROUNDS+1)-1:0] round_keys
);

    logic [128*(ROUNDS+1)-1:0] plain;

    if (KEY_BITS == 256) begin : g_256
        aes256_decrypt_keys_per_block #(
            .SBOX(SBOX)
        ) schedule (
            .clk,
            .in_key,
            .round_keys(plain)
        );
    end else begin : g_128
        aes_decrypt_keys_per_block #(
            .SBOX(SBOX)
        ) schedule (
            .clk,
            .in_key,
            .round_keys(plain)
        );
    end

    for (genvar r = 0; r <= ROUNDS; r = r + 1) begin : g_round
        logic [127:0] transformed;
        logic [127:0] round_key;
        if (r == 0 || r == ROUNDS) begin : g_outer
            assign transformed = plain[128*r+:128];
        end else begin : g_inner
            for (genvar c = 0; c < 4; c = c + 1) begin : g_column
                aes_inverse_mix_column mix (
                    .column(plain[128*r+32*c+:32]),
                    .key(32'd0),
                    .mixed(transformed[32*c+:32])
                );
            end
        end
        always_ff @(posedge clk) round_key <= transformed;
        assign round_keys[128*r+:128] = round_key;
    end

endmodule
