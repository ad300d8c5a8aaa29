// Computes the last round key of AES-128 (ROUNDS = 10) or of the six-round cipher (ROUNDS = 6), which aes_decrypt
// takes as its key. One round key per clock.
//
//   start, key  starts with a key. A start during a computation replaces that key, which gets no `done`.
//   done        high for one clock, ROUNDS + 1 clocks after `start`
//   last        the last round key, from `done` until the next start; an intermediate round key before `done`
module aes_last_round_key #(
    parameter int ROUNDS = 10
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [127:0] key,
    output logic         done,
    output logic [127:0] last
);
    logic [ROUNDS-1:0] made;
    logic [127:0] walking;
    logic [7:0] constant;
    logic [31:0] word;
    logic busy;

    aes_sbox_word sub_word (
        .in(aes_pkg::rot_word(walking[31:0])),
        .out(word)
    );

    // made[i]: `walking` contains round key i.
    assign busy = |made;
    always_ff @(posedge clk) begin
        if (rst) begin
            made <= '0;
            done <= 1'b0;
        end else begin
            made <= start ? {{(ROUNDS - 1){1'b0}}, 1'b1} : {made[ROUNDS-2:0], 1'b0};
            done <= made[ROUNDS-1] && !start;
        end
        if (start) begin
            walking <= key;
            constant <= 8'h01;
        end else if (busy) begin
            walking <= aes_pkg::next_round_key(walking, word, constant);
            constant <= aes_pkg::xtime(constant);
        end
    end
    assign last = walking;
endmodule
