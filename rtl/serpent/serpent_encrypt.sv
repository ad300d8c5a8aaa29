// Serpent encryption pipeline: one block per clock, no flow control, 32 rounds in 33 stages.
// Latency: LATENCY = 33 clocks from in_valid to out_valid.
//
//   KEYS        0 static, 1 wavefront (pulses of in_new_key at least 33 clocks apart), 2 one key per block; see
//               serpent_round_keys
//   in_key      words w[-8] .. w[-1] of the padded key, w[-8] in bits 31:0; that is, byte 0 of the key in bits 7:0
//   in_block    byte 0 in bits 127:120
//   in_user     side-band data of the block
module serpent_encrypt #(
    parameter int KEYS = 1,
    parameter int USER = 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    input  logic            in_new_key,
    input  logic [   255:0] in_key,
    input  logic [   127:0] in_block,
    input  logic [USER-1:0] in_user,
    output logic            out_valid,
    output logic [   127:0] out_block,
    output logic [USER-1:0] out_user
);

    localparam int LATENCY = 33;

    logic [33*128-1:0] keys;
    logic [LATENCY-1:0] valid;
    logic [LATENCY*USER-1:0] user;

    serpent_round_keys #(
        .INVERSE(0),
        .KEYS(KEYS)
    ) round_keys (
        .clk,
        .rst,
        .in_new_key,
        .in_key,
        .keys
    );

    serpent_encrypt_lane lane (
        .clk,
        .keys,
        .in_block,
        .out_block
    );

    always_ff @(posedge clk) begin
        user <= {user[(LATENCY-1)*USER-1:0], in_user};
        if (rst) valid <= '0;
        else valid <= {valid[LATENCY-2:0], in_valid};
    end

    assign out_valid = valid[LATENCY-1];
    assign out_user  = user[LATENCY*USER-1-:USER];

endmodule
