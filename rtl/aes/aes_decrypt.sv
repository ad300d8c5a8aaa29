// AES-128 decryption, unrolled: one block per clock. It is the equivalent inverse cipher (FIPS 197 section 5.3.5).
// There is no backpressure.
//
// Ports, parameters and latency are those of aes_encrypt, but in_key is the LAST round key (round key ROUNDS),
// because the key schedule runs backward. aes_last_round_key computes it. With KEYS = 2, AddRoundKey precedes
// InvMixColumns (FIPS 197 section 5.3), which saves InvMixColumns of each block's round keys.
//
// ROUNDS = 6 is the exact inverse of the six-round cipher. The last round of that cipher has MixColumns, so
// decryption starts with AddRoundKey and InvMixColumns.
module aes_decrypt #(
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
        aes_decrypt_keys_static #(
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
        aes_decrypt_keys_wavefront #(
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
        aes_decrypt_keys_per_block #(
            .ROUNDS(ROUNDS),
            .SBOX(SBOX),
            .SPLIT(SPLIT)
        ) keys (
            .clk,
            .in_key(block_key),
            .round_keys
        );
    end

    // The first AddRoundKey. For six rounds it is followed by InvMixColumns, which inverts the last round's
    // MixColumns. A static round key is already transformed, which saves an XOR.
    logic [127:0] first_keyed;
    if (ROUNDS == 6) begin : g_first_mix
        for (genvar c = 0; c < 4; c = c + 1) begin : g_column
            logic [31:0] block, key;
            assign block = in_block[32 * c +: 32];
            assign key = round_keys[128 * ROUNDS + 32 * c +: 32];
            aes_inverse_mix_column mix (
                .column(KEYS == 0 ? block : block ^ key),
                .key(KEYS == 0 ? key : 32'b0),
                .mixed(first_keyed[32 * c +: 32])
            );
        end
    end else begin : g_first_key
        assign first_keyed = in_block ^ round_keys[128*ROUNDS+:128];
    end

    // states[128r+127 : 128r]: the state after the round that adds round key r.
    logic [128*(ROUNDS+1)-1:0] states;
    if (STATE_IN_RAM == 1) begin : g_first_wires
        assign states[128*ROUNDS+:128] = first_keyed;
    end else begin : g_first_register
        logic [127:0] first;
        always_ff @(posedge clk) first <= first_keyed;
        assign states[128*ROUNDS+:128] = first;
    end
    for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_round
        aes_decrypt_round #(
            .SBOX(SBOX),
            .MIX(r > 0 ? 1 : 0),
            .PLAIN(KEYS == 2 ? 1 : 0),
            .INSIDE(SBOX == 1 || SPLIT == 1 ? 1 : 0),
            .AFTER(STATE_IN_RAM == 1 && r > 0 ? 0 : 1)
        ) step (
            .clk,
            .in(states[128 * (r + 1) +: 128]),
            .key(round_keys[128 * r +: 128]),
            .out(states[128 * r +: 128])
        );
    end
    assign out_block = states[127:0];

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
