// Round keys of a decryption pipe in which each block has its own key. Each round has one step of the key schedule,
// backward from the last round key, and the round key moves down the pipe with its block. One key per clock. No round
// key is transformed.
//
//   in_key                       round key ROUNDS of the block that enters in this clock
//   round_keys[128r+127 : 128r]  round key r of the block that entered ROUNDS - r clocks ago (SPLIT = 1: 2 (ROUNDS -
//                                r) clocks ago). Round key ROUNDS is in_key itself; the others are registered.
//
// SBOX and SPLIT are those of aes_encrypt_keys_per_block.
module aes_decrypt_keys_per_block #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0,
    parameter int SPLIT = 0
) (
    input  logic                        clk,
    input  logic [127:0]                in_key,
    output logic [128*(ROUNDS+1)-1:0]   round_keys
);
    // Inputs of the round key registers.
    logic [128*ROUNDS-1:0] next_keys;
    assign round_keys[128*ROUNDS+:128] = in_key;

    for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_round
        logic [127:0] after, key, round_key;
        logic [31:0] word;
        assign after = round_keys[128*(r+1)+:128];

        if (SPLIT == 1) begin : g_register
            always_ff @(posedge clk) key <= after;
        end else begin : g_wires
            assign key = after;
        end

        if (SBOX == 1 && SPLIT == 1) begin : g_ram
            aes_sbox_word_ram sub_word (
                .clk,
                .in(aes_pkg::rot_word(after[31:0] ^ after[63:32])),
                .out(word)
            );
        end else if (SBOX == 1 && r < ROUNDS - 1) begin : g_early_ram
            aes_sbox_word_ram sub_word (
                .clk,
                .in(aes_pkg::rot_word(next_keys[128*(r+1)+:32] ^ next_keys[128*(r+1)+32+:32])),
                .out(word)
            );
        end else begin : g_logic
            logic [31:0] substituted;
            aes_sbox_word #(
                .VARIANT(SBOX == 2 ? 2 : 0)
            ) sub_word (
                .in(aes_pkg::rot_word(after[31:0] ^ after[63:32])),
                .out(substituted)
            );
            if (SPLIT == 1) begin : g_word_register
                always_ff @(posedge clk) word <= substituted;
            end else begin : g_word_wires
                assign word = substituted;
            end
        end

        assign next_keys[128*r+:128] = aes_pkg::previous_round_key(key, word, aes_pkg::round_constant(r + 1));
        always_ff @(posedge clk) round_key <= next_keys[128*r+:128];
        assign round_keys[128*r+:128] = round_key;
    end
endmodule
