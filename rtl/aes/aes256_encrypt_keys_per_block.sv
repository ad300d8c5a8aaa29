// Round keys of an AES-256 encryption pipe in which each block has its own key: as aes_encrypt_keys_per_block, for 14
// rounds. FIPS 197 section 5.2:
//
//   round keys 0 and 1 are the key
//   round key r = next_round_key(round key r-2, SubWord of the last word of round key r-1, rotated if r is even)
//
// Two round keys therefore move down the pipe with each block.
//
//   in_key                       key of the block that enters in this clock, byte 0 in bits 255:248
//   round_keys[128r+127 : 128r]  round key r of the block that entered r clocks ago (SPLIT = 1: 2r clocks ago). Round
//                                key 0 is part of in_key; the others are registered.
//
//   SBOX   0: tables, 2: Boyar-Peralta circuits, 1: block RAM, which with SPLIT = 0 takes its address one clock early,
//          from the input of the preceding round key's register
//   SPLIT  1: the pipe has two registers per round. The schedule then also has a register after SubWord.
module aes256_encrypt_keys_per_block #(
    parameter int SBOX  = 0,
    parameter int SPLIT = 0
) (
    input  logic              clk,
    input  logic [     255:0] in_key,
    output logic [128*15-1:0] round_keys
);

    logic [128*15-1:0] preceding;  // the round key before each of round_keys, at the same time
    logic [128*15-1:0] next_keys;  // inputs of the round key registers
    assign round_keys[127:0] = in_key[255:128];
    // Before round key 0 stands what becomes round key 1 unchanged.
    assign preceding[127:0] = in_key[127:0];
    assign next_keys[127:0] = '0;

    for (genvar r = 1; r <= 14; r = r + 1) begin : g_round
        logic [127:0] newer, older, passing, key, round_key, passed;
        assign newer = round_keys[128*(r-1)+:128];
        assign older = preceding[128*(r-1)+:128];

        if (SPLIT == 1) begin : g_register
            always_ff @(posedge clk) begin
                key <= older;
                passing <= newer;
            end
        end else begin : g_wires
            assign key = older;
            assign passing = newer;
        end

        if (r == 1) begin : g_key
            assign next_keys[128*r+:128] = key;
        end else begin : g_step
            logic [31:0] word;
            logic [31:0] last;  // the last word of the round key before this one
            logic [31:0] turned;
            logic [7:0] constant;
            if (r % 2 == 0) begin : g_even
                assign turned   = aes_pkg::rot_word(last);
                assign constant = aes_pkg::round_constant(r / 2);
            end else begin : g_odd
                assign turned   = last;
                assign constant = 8'd0;
            end
            if (SBOX == 1) begin : g_ram
                assign last = SPLIT == 1 ? newer[31:0] : next_keys[128*(r-1)+:32];
                aes_sbox_word_ram sub_word (
                    .clk,
                    .in(turned),
                    .out(word)
                );
            end else begin : g_logic
                assign last = newer[31:0];
                logic [31:0] substituted;
                aes_sbox_word #(
                    .VARIANT(SBOX)
                ) sub_word (
                    .in(turned),
                    .out(substituted)
                );
                if (SPLIT == 1) begin : g_word_register
                    always_ff @(posedge clk) word <= substituted;
                end else begin : g_word_wires
                    assign word = substituted;
                end
            end
            assign next_keys[128*r+:128] = aes_pkg::next_round_key(key, word, constant);
        end

        always_ff @(posedge clk) begin
            round_key <= next_keys[128*r+:128];
            passed <= passing;
        end
        assign round_keys[128*r+:128] = round_key;
        assign preceding[128*r+:128] = passed;
    end

    logic unused;
    assign unused = ^{next_keys[127:0], preceding[128*14+:128]};

endmodule
