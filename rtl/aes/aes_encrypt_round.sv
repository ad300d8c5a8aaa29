// One round of AES encryption (FIPS 197 section 5.1): SubBytes, ShiftRows, MixColumns, AddRoundKey.
// Latency: INSIDE + AFTER clocks. `key` is used in the last of them.
//
//   SBOX    S-boxes, see aes_sbox_layer
//   MIX     0: without MixColumns, as in the last round of AES
//   INSIDE  1: register after SubBytes. Required with SBOX = 1.
//   AFTER   1: register after AddRoundKey
//   SKIP    1: `skip`, which comes with `key`, turns the round into a delay: `out` is what `in` was
module aes_encrypt_round #(
    parameter int SBOX = 0,
    parameter int MIX = 1,
    parameter int INSIDE = 0,
    parameter int AFTER = 1,
    parameter int SKIP = 0
) (
    input  logic         clk,
    input  logic         skip,
    input  logic [127:0] in,
    input  logic [127:0] key,
    output logic [127:0] out
);
    logic [127:0] substituted, shifted, keyed, result;

    aes_sbox_layer #(
        .INVERSE(0),
        .SBOX(SBOX),
        .REGISTERED(INSIDE)
    ) layer (
        .clk,
        .in,
        .out(substituted)
    );
    assign shifted = aes_pkg::shift_rows(substituted);

    if (MIX == 1) begin : g_mix
        for (genvar c = 0; c < 4; c = c + 1) begin : g_column
            aes_mix_column mix (
                .column(shifted[32 * c +: 32]),
                .key(key[32 * c +: 32]),
                .mixed(keyed[32 * c +: 32])
            );
        end
    end else begin : g_last
        assign keyed = shifted ^ key;
    end

    if (SKIP == 1) begin : g_skip
        logic [127:0] unchanged;
        if (INSIDE == 1) begin : g_unchanged_register
            always_ff @(posedge clk) unchanged <= in;
        end else begin : g_unchanged_wires
            assign unchanged = in;
        end
        assign result = skip ? unchanged : keyed;
    end else begin : g_always
        logic unused;
        assign unused = skip;
        assign result = keyed;
    end

    if (AFTER == 1) begin : g_register
        always_ff @(posedge clk) out <= result;
    end else begin : g_wires
        assign out = result;
    end
endmodule
