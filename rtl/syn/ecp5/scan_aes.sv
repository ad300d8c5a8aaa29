// An AES pipe between two shift registers, so that it needs five pins: for place and route alone. Every clock moves
// scan_in one further through the pipe's inputs, so these change in every clock. scan_out is the pipe's output,
// taken in a clock with `capture` and moved out in the clocks without.
//
//   DECRYPT   0: aes_encrypt, 1: aes_decrypt; the other parameters are theirs
module scan_aes #(
    parameter int DECRYPT = 0,
    parameter int ROUNDS = 10,
    parameter int KEYS = 1,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int USER = 1
) (
    input  logic clk,
    input  logic rst,
    input  logic scan_in,
    input  logic capture,
    output logic scan_out
);
    logic [USER+257:0] inputs;
    logic [USER+128:0] outputs;
    logic [USER-1:0] out_user;
    logic [127:0] out_block;
    logic out_valid;

    if (DECRYPT == 1) begin : g_decrypt
        aes_decrypt #(
            .ROUNDS(ROUNDS),
            .KEYS(KEYS),
            .SBOX(SBOX),
            .SPLIT(SPLIT),
            .USER(USER)
        ) pipe (
            .clk,
            .rst,
            .in_valid(inputs[0]),
            .in_new_key(inputs[1]),
            .in_key(inputs[129:2]),
            .in_block(inputs[257:130]),
            .in_user(inputs[USER+257:258]),
            .out_valid,
            .out_block,
            .out_user
        );
    end else begin : g_encrypt
        aes_encrypt #(
            .ROUNDS(ROUNDS),
            .KEYS(KEYS),
            .SBOX(SBOX),
            .SPLIT(SPLIT),
            .USER(USER)
        ) pipe (
            .clk,
            .rst,
            .in_valid(inputs[0]),
            .in_new_key(inputs[1]),
            .in_key(inputs[129:2]),
            .in_block(inputs[257:130]),
            .in_user(inputs[USER+257:258]),
            .out_valid,
            .out_block,
            .out_user
        );
    end

    assign scan_out = outputs[0];

    always_ff @(posedge clk) begin
        inputs <= {scan_in, inputs[USER+257:1]};
        outputs <= capture ? {out_user, out_block, out_valid} : {1'b0, outputs[USER+128:1]};
    end
endmodule
