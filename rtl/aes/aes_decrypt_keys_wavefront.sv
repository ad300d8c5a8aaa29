// Round keys of a decryption pipe whose key changes while blocks are in flight ("wavefront", see
// aes_encrypt_keys_wavefront). The schedule runs backward from the last round key, and the middle round keys are
// transformed for the equivalent inverse cipher (FIPS 197 section 5.3.5).
//
//   in_new_key, in_key           round key ROUNDS, with the first block of the new key. Pulses are at least ROUNDS
//                                clocks apart.
//   round_keys[128r+127 : 128r]  r = ROUNDS and 0: round key r. r = ROUNDS - 1 to 1: InvMixColumns(round key r). For
//                                a block that entered in clock t it is valid in clock t + ROUNDS - r, or
//                                t + 2 (ROUNDS - r) with SPLIT = 1. Round key ROUNDS is in_key itself in clock t,
//                                unless AHEAD = 1.
//
//   AHEAD  1: in_new_key and in_key arrive one clock before the block, so in_key is registered first. All other
//          timing is unchanged.
//   SBOX   2: Boyar-Peralta circuits, otherwise tables
//   SPLIT  1: the pipe has two registers per round
module aes_decrypt_keys_wavefront #(
    parameter int ROUNDS = 10,
    parameter int AHEAD = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic                        in_new_key,
    input  logic [127:0]                in_key,
    output logic [128*(ROUNDS+1)-1:0]   round_keys
);
    localparam int VARIANT = SBOX == 2 ? 2 : 0;
    localparam int STEPS = SPLIT == 1 ? 2 * ROUNDS : ROUNDS;

    // The last round key is needed when the block enters.
    logic [127:0] last;
    logic [STEPS-1:0] wave;
    aes_wavefront_start #(
        .STEPS(STEPS),
        .AHEAD(AHEAD)
    ) start (
        .clk,
        .rst,
        .in_new_key,
        .in_key,
        .first_key(last),
        .wave
    );
    assign round_keys[128*ROUNDS+:128] = last;

    // The schedule unit computes round key ROUNDS - 1 - i at clock i. With SPLIT = 1 it may still contain the last
    // round key of the previous wave at clock 0, so a key that arrived ahead waits in `last` until then.
    localparam int EARLY = AHEAD == 1 && SPLIT == 0 ? 1 : 0;
    logic [127:0] walking, from, previous;
    logic [7:0] walking_constant, constant;
    logic [31:0] word_from, word;
    assign from = EARLY == 0 && wave[0] ? last : walking;
    assign constant = EARLY == 0 && wave[0] ? aes_pkg::round_constant(ROUNDS) : walking_constant;
    aes_sbox_word #(
        .VARIANT(VARIANT)
    ) sub_word (
        .in(aes_pkg::rot_word(word_from)),
        .out(word)
    );
    if (EARLY == 1) begin : g_sum
        // The S-box input, the XOR of the third and fourth word, is computed one clock earlier: it equals the XOR of
        // the second and fourth word of the following round key.
        always_ff @(posedge clk) begin
            word_from <= walking[95:64] ^ walking[31:0];
            if (in_new_key) word_from <= in_key[63:32] ^ in_key[31:0];
        end
    end else begin : g_plain
        assign word_from = from[63:32] ^ from[31:0];
    end
    assign previous = aes_pkg::previous_round_key(from, word, constant);
    always_ff @(posedge clk) begin
        walking <= previous;
        walking_constant <= aes_pkg::xtime_inverse(constant);
        if (EARLY == 1 && in_new_key) begin
            walking <= in_key;
            walking_constant <= aes_pkg::round_constant(ROUNDS);
        end
    end

    // InvMixColumns of the computed round key; with SPLIT = 1 one clock later. Without SPLIT, word 0 comes late from
    // the S-boxes, so its XOR follows InvMixColumns instead of preceding it.
    logic [127:0] plain, transformed;
    logic [31:0] late, early;
    assign plain = SPLIT == 1 ? walking : previous;
    for (genvar c = 0; c < 3; c = c + 1) begin : g_column
        aes_inverse_mix_column mix (
            .column(plain[32 * c +: 32]),
            .key(32'b0),
            .mixed(transformed[32 * c +: 32])
        );
    end
    if (SPLIT == 1) begin : g_word_0
        assign late = plain[127:96];
        assign early = 32'b0;
    end else begin : g_word_0_late
        assign late = word;
        aes_inverse_mix_column mix_early (
            .column(from[127:96] ^ {constant, 24'b0}),
            .key(32'b0),
            .mixed(early)
        );
    end
    aes_inverse_mix_column mix_late (
        .column(late),
        .key(early),
        .mixed(transformed[127:96])
    );

    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        logic [127:0] made, round_key;
        assign made = r == ROUNDS ? plain : transformed;
        if (SPLIT == 1 && r > 1) begin : g_waiting
            logic [127:0] waiting;
            always_ff @(posedge clk) begin
                if (wave[r]) waiting <= made;
                if (wave[2*r-1]) round_key <= waiting;
            end
        end else begin : g_direct
            always_ff @(posedge clk) begin
                if (wave[SPLIT+r-1]) round_key <= made;
            end
        end
        assign round_keys[128*(ROUNDS-r)+:128] = round_key;
    end
endmodule
