// Round keys of an encryption pipe whose key changes only while the pipe is empty. One schedule step computes one
// round key per clock.
//
//   in_new_key, in_key           loads a key. Round key 0 is valid 2 clocks later, all round keys ROUNDS + 1 clocks
//                                later.
//   round_keys[128r+127 : 128r]  round key r, registered; holds until the next load
//
//   SBOX   2: Boyar-Peralta circuits, otherwise tables
module aes_encrypt_keys_static #(
    parameter int ROUNDS = 10,
    parameter int SBOX = 0
) (
    input  logic                        clk,
    input  logic                        rst,
    input  logic                        in_new_key,
    input  logic [127:0]                in_key,
    output logic [128*(ROUNDS+1)-1:0]   round_keys
);
    // made[r]: `walking` contains round key r. Round key ROUNDS stays there.
    logic [ROUNDS-1:0] made;
    logic [127:0] walking;
    logic [7:0] constant;
    logic [31:0] word;

    aes_sbox_word #(
        .VARIANT(SBOX == 2 ? 2 : 0)
    ) sub_word (
        .in(aes_pkg::rot_word(walking[31:0])),
        .out(word)
    );

    always_ff @(posedge clk) begin
        if (rst) made <= '0;
        else made <= {made[ROUNDS-2:0], in_new_key};
        if (in_new_key) begin
            walking <= in_key;
            constant <= 8'h01;
        end else if (|made) begin
            walking <= aes_pkg::next_round_key(walking, word, constant);
            constant <= aes_pkg::xtime(constant);
        end
    end

    for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_round
        logic [127:0] round_key;
        always_ff @(posedge clk) begin
            if (made[r]) round_key <= walking;
        end
        assign round_keys[128*r+:128] = round_key;
    end
    assign round_keys[128*ROUNDS+:128] = walking;
endmodule
