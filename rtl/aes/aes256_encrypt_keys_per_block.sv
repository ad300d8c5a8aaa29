// Round keys of an AES-256 encryption pipe in which each block has its own key: as aes_encrypt_keys_per_block, for 14
// rounds. FIPS 197 section 5.2:
//
//   round keys 0 and 1 are the key
//   round key r = next_round_key(round key r-2, SubWord of the last word of round key r-1, rotated if r is even)
//
// Two round keys therefore move down the pipe with each block.
//
// With BOTH = 1 each block may instead have an AES-128 key. The pipe skips its rounds 1 to 4 for such a block, so that
// both sizes end together, and round key r + 4 is AES-128's round key r:
//
//   round keys 0 to 4 are the key
//   round key r = next_round_key(round key r-1, SubWord of the last word of round key r-1, rotated)
//
//   in_key                       key of the block that enters in this clock, byte 0 in bits 255:248
//   in_short                     BOTH = 1: it is an AES-128 key, in bits 255:128
//   round_keys[128r+127 : 128r]  round key r of the block that entered r clocks ago (SPLIT = 1: 2r clocks ago). Round
//                                key 0 is part of in_key; the others are registered.
//   short_keys[r]                BOTH = 1: in_short of the same block
//
//   SBOX   0: tables, 2: Boyar-Peralta circuits, 1: block RAM, which with SPLIT = 0 takes its address one clock early,
//          from the input of the preceding round key's register
//   SPLIT  1: the pipe has two registers per round. The schedule then also has a register after SubWord.
module aes256_encrypt_keys_per_block #(
    parameter int SBOX  = 0,
    parameter int SPLIT = 0,
    parameter int BOTH  = 0
) (
    input  logic              clk,
    input  logic [     255:0] in_key,
    input  logic              in_short,
    output logic [128*15-1:0] round_keys,
    output logic [      14:0] short_keys
);

    logic [128*15-1:0] preceding;  // the round key before each of round_keys, at the same time
    logic [128*15-1:0] next_keys;  // inputs of the round key registers
    assign round_keys[127:0] = in_key[255:128];
    // Before round key 0 stands what becomes round key 1 unchanged.
    assign preceding[127:0] = in_key[127:0];
    assign next_keys[127:0] = '0;
    assign short_keys[0] = BOTH == 1 && in_short;

    for (genvar r = 1; r <= 14; r = r + 1) begin : g_round
        logic [127:0] newer, older, passing, held, key, round_key, passed;
        logic is_short;  // with passing and held
        assign newer = round_keys[128*(r-1)+:128];
        assign older = preceding[128*(r-1)+:128];

        if (SPLIT == 1) begin : g_register
            always_ff @(posedge clk) begin
                held    <= older;
                passing <= newer;
            end
        end else begin : g_wires
            assign held    = older;
            assign passing = newer;
        end

        if (BOTH == 0) begin : g_one_size
            assign is_short = 1'b0;
            assign short_keys[r] = 1'b0;
        end else begin : g_both_sizes
            logic short_key;
            if (SPLIT == 1) begin : g_short_register
                logic middle;
                always_ff @(posedge clk) middle <= short_keys[r-1];
                assign is_short = middle;
            end else begin : g_short_wires
                assign is_short = short_keys[r-1];
            end
            always_ff @(posedge clk) short_key <= is_short;
            assign short_keys[r] = short_key;
        end
        assign key = is_short ? passing : held;

        if (r == 1) begin : g_key
            assign next_keys[128*r+:128] = key;
        end else begin : g_step
            logic [31:0] word;
            logic [31:0] last;  // the last word of the round key before this one
            logic [31:0] turned;
            logic [7:0] constant;
            logic last_short;  // with last
            logic [127:0] stepped;
            if (SBOX == 1 && SPLIT == 0) begin : g_early
                assign last = next_keys[128*(r-1)+:32];
                assign last_short = short_keys[r-2];
            end else begin : g_beside
                assign last = newer[31:0];
                assign last_short = short_keys[r-1];
            end
            assign turned = r % 2 == 0 || last_short ? aes_pkg::rot_word(last) : last;
            if (r > 4) begin : g_either
                assign constant = is_short ? aes_pkg::round_constant(r - 4)
                    : r % 2 == 0 ? aes_pkg::round_constant(r / 2) : 8'd0;
                assign next_keys[128*r+:128] = stepped;
            end else begin : g_skipped
                assign constant = r % 2 == 0 ? aes_pkg::round_constant(r / 2) : 8'd0;
                assign next_keys[128*r+:128] = is_short ? passing : stepped;
            end
            if (SBOX == 1) begin : g_ram
                aes_sbox_word_ram sub_word (
                    .clk,
                    .in(turned),
                    .out(word)
                );
            end else begin : g_logic
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
            assign stepped = aes_pkg::next_round_key(key, word, constant);
        end

        always_ff @(posedge clk) begin
            round_key <= next_keys[128*r+:128];
            passed <= passing;
        end
        assign round_keys[128*r+:128] = round_key;
        assign preceding[128*r+:128] = passed;
    end

    logic unused;
    assign unused = ^{next_keys[127:0], preceding[128*14+:128], in_short};

endmodule
