// Round keys of an encryption pipe in which every block brings its own key: a step of the schedule in every
// round, and the round key travels beside the block.
//   in_key                       the key of the block that enters in this clock
//   round_keys[128r+127 : 128r]  the key of round r for the block that entered r clocks ago (SPLIT = 0)
//                                or 2r clocks ago (SPLIT = 1)
//   SBOX   2: Boyar-Peralta circuits, otherwise tables
//   SPLIT  1: two registers a round; the schedule's step has one after SubWord too
module aes_encrypt_keys_per_block #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0,
    parameter int SPLIT = 0
) (
    input  logic                        clk,
    input  logic [127:0]                in_key,
    output logic [128*(ROUNDS+1)-1:0]   round_keys
);
    assign round_keys[127:0] = in_key;

    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        logic [127:0] earlier, key, round_key;
        logic [31:0] substituted, word;
        assign earlier = round_keys[128*(r-1)+:128];

        aes_sbox_word #(
            .VARIANT(SBOX == 2 ? 2 : 0)
        ) sub_word (
            .in(aes_pkg::rot_word(earlier[31:0])),
            .out(substituted)
        );
        if (SPLIT == 1) begin : g_register
            always_ff @(posedge clk) begin
                key <= earlier;
                word <= substituted;
            end
        end else begin : g_wires
            assign key = earlier;
            assign word = substituted;
        end
        always_ff @(posedge clk) begin
            round_key <= aes_pkg::next_round_key(key, word, aes_pkg::round_constant(r));
        end
        assign round_keys[128*r+:128] = round_key;
    end
endmodule
