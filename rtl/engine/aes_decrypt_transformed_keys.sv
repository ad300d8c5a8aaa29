// Round keys of decryption lanes in which every block brings its own last round key: aes_decrypt_keys_per_block, and
// InvMixColumns of what it gives (equivalent inverse cipher, FIPS 197 section 5.3.5), in a clock of its own. Several
// lanes share it, so that this costs less than a level of logic in each of them.
//   in_key                       round key 10 of the block that enters in the next clock
//   round_keys[128r+127 : 128r]  round key r, transformed unless r is 0 or 10, for the block that entered 10 - r clocks
//                                ago
module aes_decrypt_transformed_keys #(
    parameter int SBOX = 0
) (
    input  logic                clk,
    input  logic [     127:0]   in_key,
    output logic [128*11-1:0]   round_keys
);

    logic [128*11-1:0] plain;

    aes_decrypt_keys_per_block #(
        .SBOX(SBOX)
    ) schedule (
        .clk,
        .in_key,
        .round_keys(plain)
    );

    for (genvar r = 0; r <= 10; r = r + 1) begin : g_round
        logic [127:0] transformed;
        logic [127:0] round_key;
        if (r == 0 || r == 10) begin : g_outer
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
