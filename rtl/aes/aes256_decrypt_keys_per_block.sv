// Round keys of an AES-256 decryption pipe in which each block has its own key: as aes_decrypt_keys_per_block, for 14
// rounds, backward from the last two round keys. Two round keys move down the pipe with each block. No round key is
// transformed.
//
//   in_key                       round keys 13 (bits 255:128) and 14 of the block that enters in this clock
//   round_keys[128r+127 : 128r]  round key r of the block that entered 14 - r clocks ago. Round key 14 is part of
//                                in_key; the others are registered.
//
//   SBOX   0: tables, 2: Boyar-Peralta circuits, 1: block RAM, which takes its address one clock early, from the input
//          of the register of the round key after
module aes256_decrypt_keys_per_block #(
    parameter int SBOX = 0
) (
    input  logic              clk,
    input  logic [     255:0] in_key,
    output logic [128*15-1:0] round_keys
);

    logic [128*15-1:0] behind;  // the round key after each of round_keys, at the same time
    logic [128*15-1:0] next_keys;  // inputs of the round key registers
    assign round_keys[128*14+:128] = in_key[127:0];
    // After round key 14 stands what becomes round key 13 unchanged.
    assign behind[128*14+:128] = in_key[255:128];
    assign next_keys[128*14+:128] = '0;

    for (genvar r = 0; r < 14; r = r + 1) begin : g_round
        logic [127:0] after, key, round_key, passed;
        assign after = round_keys[128*(r+1)+:128];
        assign key   = behind[128*(r+1)+:128];

        if (r == 13) begin : g_key
            assign next_keys[128*r+:128] = key;
        end else begin : g_step
            logic [31:0] word;
            logic [31:0] last;  // the last word of the round key after this one
            logic [31:0] turned;
            logic [7:0] constant;
            if (r % 2 == 0) begin : g_even
                assign turned   = aes_pkg::rot_word(last);
                assign constant = aes_pkg::round_constant(r / 2 + 1);
            end else begin : g_odd
                assign turned   = last;
                assign constant = 8'd0;
            end
            if (SBOX == 1) begin : g_ram
                assign last = next_keys[128*(r+1)+:32];
                aes_sbox_word_ram sub_word (
                    .clk,
                    .in(turned),
                    .out(word)
                );
            end else begin : g_logic
                assign last = after[31:0];
                aes_sbox_word #(
                    .VARIANT(SBOX)
                ) sub_word (
                    .in(turned),
                    .out(word)
                );
            end
            assign next_keys[128*r+:128] = aes_pkg::previous_round_key(key, word, constant);
        end

        always_ff @(posedge clk) begin
            round_key <= next_keys[128*r+:128];
            passed <= after;
        end
        assign round_keys[128*r+:128] = round_key;
        assign behind[128*r+:128] = passed;
    end

    logic unused;
    assign unused = ^{next_keys[128*14+:128], behind[127:0]};

endmodule
