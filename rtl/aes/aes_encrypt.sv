// AES-128 encryption, one block a clock, unrolled (FIPS 197 section 5.1). No flow control: what enters leaves
// LATENCY clocks later.
//
//   in_valid, in_block, in_user  a block and whatever shall travel with it
//   in_new_key, in_key           see KEYS
//
//   ROUNDS  10: AES. 6: the cipher of ELmD(6,6): the first seven round keys, and the last round keeps
//           MixColumns.
//   KEYS    0: static. in_new_key loads in_key; no block may be in flight, and the first block may enter
//              ROUNDS + 1 clocks later.
//           1: wavefront. in_new_key comes with the first block of the new key (or with no block, in_valid =
//              0), in pulses at least ROUNDS clocks apart. No idle clock.
//           2: in_key belongs to each block; in_new_key is ignored.
//   AHEAD   1: in_new_key and in_key come one clock before the block to which they belong, so that the key's
//           way into the pipe begins with a register.
//   SBOX    0: tables in LUTs. 1: block RAM, whose output register is the state register. 2: Boyar-Peralta
//           circuits. Key schedules have tables; circuits with 2; block RAM with 1 and KEYS = 2.
//   SPLIT   1: two registers a round, after SubBytes and after AddRoundKey.
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
    // Block RAM holds the state itself unless there are two registers a round.
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

    // states[128r+127 : 128r]: the state after round r; round 0 is the first AddRoundKey.
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
