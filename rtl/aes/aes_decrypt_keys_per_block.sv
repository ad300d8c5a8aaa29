// Round keys of a decryption pipe in which every block brings its own last round key: as
// aes_encrypt_keys_per_block with the schedule run backwards. No key is transformed.
//   in_key                       round key ROUNDS of the block that enters in this clock
//   round_keys[128r+127 : 128r]  round key r for the block that entered ROUNDS - r clocks ago (SPLIT = 0)
//                                or 2 (ROUNDS - r) clocks ago (SPLIT = 1)
module aes_decrypt_keys_per_block #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0,
    parameter int SPLIT = 0
) (
    input  logic                        clk,
    input  logic [127:0]                in_key,
    output logic [128*(ROUNDS+1)-1:0]   round_keys
);
    assign round_keys[128*ROUNDS+:128] = in_key;

    for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_round
        logic [127:0] after, key, round_key;
        logic [31:0] substituted, word;
        assign after = round_keys[128*(r+1)+:128];

        aes_sbox_word #(
            .VARIANT(SBOX == 2 ? 2 : 0)
        ) sub_word (
            .in(aes_pkg::rot_word(after[31:0] ^ after[63:32])),
            .out(substituted)
        );
        if (SPLIT == 1) begin : g_register
            always_ff @(posedge clk) begin
                key <= after;
                word <= substituted;
            end
        end else begin : g_wires
            assign key = after;
            assign word = substituted;
        end
        always_ff @(posedge clk) begin
            round_key <= aes_pkg::previous_round_key(key, word, aes_pkg::round_constant(r + 1));
        end
        assign round_keys[128*r+:128] = round_key;
    end
endmodule
