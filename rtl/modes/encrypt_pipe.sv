// Encryption pipe of a mode. SHARED = 0: aes_encrypt with its own key schedule. SHARED = 1: static_encrypt with
// round_keys from a shared schedule (static_keys), ignoring in_new_key and in_key. Other parameters and ports: see
// aes_encrypt.
module encrypt_pipe #(
    parameter int SHARED = 0,
    parameter int KEYS = 1,
    parameter int AHEAD = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int USER = 1
) (
    input  logic              clk,
    input  logic              rst,
    input  logic [128*11-1:0] round_keys,
    input  logic              in_valid,
    input  logic              in_new_key,
    input  logic [127:0]      in_key,
    input  logic [127:0]      in_block,
    input  logic [USER-1:0]   in_user,
    output logic              out_valid,
    output logic [127:0]      out_block,
    output logic [USER-1:0]   out_user
);

    if (SHARED == 1) begin : g_shared
        logic unused;
        assign unused = ^{in_new_key, in_key};
        static_encrypt #(
            .ROUNDS(10),
            .USER(USER)
        ) pipe (
            .clk,
            .rst,
            .round_keys,
            .in_valid,
            .in_block,
            .in_user,
            .out_valid,
            .out_block,
            .out_user
        );
    end else begin : g_own
        logic unused;
        assign unused = ^round_keys;
        aes_encrypt #(
            .ROUNDS(10),
            .KEYS(KEYS),
            .AHEAD(AHEAD),
            .SBOX(SBOX),
            .SPLIT(SPLIT),
            .USER(USER)
        ) pipe (
            .clk,
            .rst,
            .in_valid,
            .in_new_key,
            .in_key,
            .in_block,
            .in_user,
            .out_valid,
            .out_block,
            .out_user
        );
    end

endmodule
