// Round keys of an encryption pipe in which each block has its own key. Each round has one step of the key schedule,
// and the round key moves down the pipe with its block. One key per clock.
//
//   in_key                       key of the block that enters in this clock
//   round_keys[128r+127 : 128r]  round key r of the block that entered r clocks ago (SPLIT = 1: 2r clocks ago). Round
//                                key 0 is in_key itself; the others are registered.
//
//   SBOX   0: tables, 2: Boyar-Peralta circuits, 1: block RAM. Block RAM takes its address one clock early, from the
//          input of the preceding round key's register. With SPLIT = 0 the first step has no such clock and uses
//          tables.
//   SPLIT  1: the pipe has two registers per round. The schedule then also has a register after SubWord.
module aes_encrypt_keys_per_block #(
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
    assign round_keys[127:0] = in_key;

    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        logic [127:0] earlier, key, round_key;
        logic [31:0] word;
        assign earlier = round_keys[128*(r-1)+:128];

        if (SPLIT == 1) begin : g_register
            always_ff @(posedge clk) key <= earlier;
        end else begin : g_wires
            assign key = earlier;
        end

        if (SBOX == 1 && SPLIT == 1) begin : g_ram
            aes_sbox_word_ram sub_word (
                .clk,
                .in(aes_pkg::rot_word(earlier[31:0])),
                .out(word)
            );
        end else if (SBOX == 1 && r > 1) begin : g_early_ram
            aes_sbox_word_ram sub_word (
                .clk,
                .in(aes_pkg::rot_word(next_keys[128*(r-2)+:32])),
                .out(word)
            );
        end else begin : g_logic
            logic [31:0] substituted;
            aes_sbox_word #(
                .VARIANT(SBOX == 2 ? 2 : 0)
            ) sub_word (
                .in(aes_pkg::rot_word(earlier[31:0])),
                .out(substituted)
            );
            if (SPLIT == 1) begin : g_word_register
                always_ff @(posedge clk) word <= substituted;
            end else begin : g_word_wires
                assign word = substituted;
            end
        end

        assign next_keys[128*(r-1)+:128] = aes_pkg::next_round_key(key, word, aes_pkg::round_constant(r));
        always_ff @(posedge clk) round_key <= next_keys[128*(r-1)+:128];
        assign round_keys[128*r+:128] = round_key;
    end
endmodule
