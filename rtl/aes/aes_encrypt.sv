// AES-128 encryption (FIPS 197 section 5.1), unrolled: one block per clock. There is no backpressure.
//
// Latency: ROUNDS + 1 clocks; 2 ROUNDS + 1 with SPLIT = 1. out_block and out_user are registered. in_block passes an
// XOR before its first register. in_key is registered first with KEYS = 0 or AHEAD = 1; otherwise it passes that XOR
// and the key schedule's first step.
//
//   in_valid, in_block, in_user     a block, and USER bits that stay with it
//   in_new_key, in_key              a key, see KEYS
//   out_valid, out_block, out_user  the encrypted block and its in_user. rst clears out_valid of all blocks in
//                                   flight.
//
//   ROUNDS  10: AES. 6: the cipher of ELmD(6,6), which uses the first seven round keys and has MixColumns in its last
//           round.
//   KEYS    0: static. in_new_key loads in_key while no block is in flight. The first block may enter ROUNDS + 1
//           clocks later.
//           1: wavefront. in_new_key is high with the first block of the new key, or without a block (in_valid = 0).
//              Pulses are at least ROUNDS clocks apart. No idle clock is needed.
//           2: key per block. in_key is the key of the block that enters; in_new_key is ignored.
//   AHEAD   1: in_new_key and in_key precede their block by one clock (KEYS = 1 or 2).
//   SBOX    0: tables in LUTs. 1: block RAM; without SPLIT its output register is the state register.
//           2: Boyar-Peralta circuits. The key schedules use circuits with SBOX = 2, block RAM with SBOX = 1 and
//           KEYS = 2, and tables otherwise.
//   SPLIT   1: two registers per round, after SubBytes and after AddRoundKey.
//   USER    width of in_user
module aes_encrypt #(
    parameter int ROUNDS = 10,
    parameter int KEYS = 1,
    parameter int AHEAD = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int USER = 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    input  logic            in_new_key,
    input  logic [127:0]    in_key,
    input  logic [127:0]    in_block,
    input  logic [USER-1:0] in_user,
    output logic            out_valid,
    output logic [127:0]    out_block,
    output logic [USER-1:0] out_user
);
    localparam int LATENCY = (SPLIT == 1 ? 2 : 1) * ROUNDS + 1;
    // The output register of block RAM holds the state, unless each round has two registers.
    localparam int STATE_IN_RAM = SBOX == 1 && SPLIT == 0 ? 1 : 0;

    aes_check_parameters #(
        .ROUNDS(ROUNDS),
        .KEYS(KEYS),
        .SBOX(SBOX),
        .SPLIT(SPLIT)
    ) check ();

    logic [128*(ROUNDS+1)-1:0] round_keys;
    if (KEYS == 0) begin : g_static
        aes_encrypt_keys_static #(
            .ROUNDS(ROUNDS),
            .SBOX(SBOX)
        ) keys (
            .clk,
            .rst,
            .in_new_key,
            .in_key,
            .round_keys
        );
    end else if (KEYS == 1) begin : g_wavefront
        aes_encrypt_keys_wavefront #(
            .ROUNDS(ROUNDS),
            .AHEAD(AHEAD),
            .SBOX(SBOX),
            .SPLIT(SPLIT)
        ) keys (
            .clk,
            .rst,
            .in_new_key,
            .in_key,
            .round_keys
        );
    end else begin : g_per_block
        logic unused;
        logic [127:0] block_key;
        assign unused = in_new_key;
        if (AHEAD == 1) begin : g_ahead
            always_ff @(posedge clk) block_key <= in_key;
        end else begin : g_with_block
            assign block_key = in_key;
        end
        aes_encrypt_keys_per_block #(
            .ROUNDS(ROUNDS),
            .SBOX(SBOX),
            .SPLIT(SPLIT)
        ) keys (
            .clk,
            .in_key(block_key),
            .round_keys
        );
    end

    // states[128r+127 : 128r]: the state after round r. Round 0 is the first AddRoundKey.
    logic [128*(ROUNDS+1)-1:0] states;
    if (STATE_IN_RAM == 1) begin : g_first_wires
        assign states[127:0] = in_block ^ round_keys[127:0];
    end else begin : g_first_register
        logic [127:0] first;
        always_ff @(posedge clk) first <= in_block ^ round_keys[127:0];
        assign states[127:0] = first;
    end
    for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_round
        aes_encrypt_round #(
            .SBOX(SBOX),
            .MIX(r < ROUNDS || ROUNDS == 6 ? 1 : 0),
            .INSIDE(SBOX == 1 || SPLIT == 1 ? 1 : 0),
            .AFTER(STATE_IN_RAM == 1 && r < ROUNDS ? 0 : 1)
        ) step (
            .clk,
            .skip(1'b0),
            .in(states[128 * (r - 1) +: 128]),
            .key(round_keys[128 * r +: 128]),
            .out(states[128 * r +: 128])
        );
    end
    assign out_block = states[128*ROUNDS+:128];

    aes_pipe_user #(
        .LATENCY(LATENCY),
        .USER(USER)
    ) beside (
        .clk,
        .rst,
        .in_valid,
        .in_user,
        .out_valid,
        .out_user
    );
endmodule
