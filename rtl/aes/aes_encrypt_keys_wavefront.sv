// Round keys of an encryption pipe whose key changes while blocks are in flight ("wavefront").
//
// in_new_key and in_key arrive with the first block of the new key. One schedule unit then moves down the pipe just
// ahead of that block and rewrites each round key one clock before the block uses it. Blocks of the old key have
// already passed that stage. Pulses of in_new_key are at least ROUNDS clocks apart.
//
//   round_keys[128r+127 : 128r]  round key r. For a block that entered in clock t it is valid in clock t + r, or t +
//                                2r with SPLIT = 1. Round key 0 is in_key itself in clock t, unless AHEAD = 1.
//
//   AHEAD  1: in_new_key and in_key arrive one clock before the block. All other timing is unchanged.
//   SBOX   2: Boyar-Peralta circuits, otherwise tables
//   SPLIT  1: the pipe has two registers per round. The schedule unit still computes one round key per clock, and
//          each waits in a second register for the block. Pulses may therefore still be ROUNDS clocks apart.
module aes_encrypt_keys_wavefront #(
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
    // FIRST: clocks from the first block's entry until round key 1 is computed. STEPS: length of the wave in clocks.
    localparam int FIRST = SPLIT == 1 ? 1 : 0;
    localparam int STEPS = SPLIT == 1 ? 2 * ROUNDS : ROUNDS;

    // Round key 0 is needed when the block enters.
    logic [127:0] first;
    logic [STEPS-1:0] wave;
    aes_wavefront_start #(
        .STEPS(STEPS),
        .AHEAD(AHEAD)
    ) start (
        .clk,
        .rst,
        .in_new_key,
        .in_key,
        .first_key(first),
        .wave
    );
    assign round_keys[127:0] = first;

    // The schedule unit. It computes round key 1 at clock FIRST. Without AHEAD and SPLIT that is clock 0, from in_key
    // itself.
    logic [127:0] walking, from, next;
    logic [7:0] walking_constant, constant;
    logic [31:0] word;
    assign from = SPLIT == 0 && AHEAD == 0 && wave[0] ? first : walking;
    assign constant = wave[FIRST] ? 8'h01 : walking_constant;
    aes_sbox_word #(
        .VARIANT(VARIANT)
    ) sub_word (
        .in(aes_pkg::rot_word(from[31:0])),
        .out(word)
    );
    if (SPLIT == 0 && AHEAD == 1) begin : g_sum
        // The last word of the next round key is the XOR of all four words, `word` and the constant. It is the next
        // S-box input, so the XOR of the four words is computed one clock earlier: it equals the XOR of the second
        // and fourth word of the preceding round key.
        logic [31:0] sum;
        logic [127:0] stepped;
        logic unused;
        always_ff @(posedge clk) begin
            sum <= walking[95:64] ^ walking[31:0];
            if (in_new_key) sum <= in_key[127:96] ^ in_key[95:64] ^ in_key[63:32] ^ in_key[31:0];
        end
        assign stepped = aes_pkg::next_round_key(from, word, constant);
        assign next = {stepped[127:32], sum ^ word ^ {constant, 24'b0}};
        assign unused = &stepped[31:0];
    end else begin : g_plain
        assign next = aes_pkg::next_round_key(from, word, constant);
    end
    always_ff @(posedge clk) begin
        walking <= next;
        if (SPLIT == 1 && wave[0]) walking <= first;
        if (SPLIT == 0 && AHEAD == 1 && in_new_key) walking <= in_key;
        walking_constant <= aes_pkg::xtime(constant);
    end

    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        logic [127:0] round_key;
        if (SPLIT == 1 && r > 1) begin : g_waiting
            logic [127:0] waiting;
            always_ff @(posedge clk) begin
                if (wave[r]) waiting <= next;
                if (wave[2*r-1]) round_key <= waiting;
            end
        end else begin : g_direct
            always_ff @(posedge clk) begin
                if (wave[FIRST+r-1]) round_key <= next;
            end
        end
        assign round_keys[128*r+:128] = round_key;
    end
endmodule
