// Starts the key wave of an AES pipe. A wave replaces the pipe's round keys one stage at a time, in step with the
// first block of a new key.
//
//   STEPS      length of the wave in clocks, at least 2
//   AHEAD      0: in_new_key and in_key arrive with the first block of the new key. 1: they arrive one clock before.
//   first_key  the round key that the pipe adds to a block when it enters
//   wave[i]    the first block of a new key entered i clocks ago
module aes_wavefront_start #(
    parameter int STEPS = 10,
    parameter int AHEAD = 0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_new_key,
    input  logic [    127:0] in_key,
    output logic [    127:0] first_key,
    output logic [STEPS-1:0] wave
);
    logic starts;
    logic [127:0] kept;
    always_ff @(posedge clk) begin
        if (in_new_key) kept <= in_key;
    end
    if (AHEAD == 1) begin : g_ahead
        always_ff @(posedge clk) starts <= in_new_key && !rst;
        assign first_key = kept;
    end else begin : g_with_block
        assign starts = in_new_key;
        assign first_key = in_new_key ? in_key : kept;
    end

    logic [STEPS-2:0] passed;
    always_ff @(posedge clk) begin
        if (rst) passed <= '0;
        else passed <= wave[STEPS-2:0];
    end
    assign wave = {passed, starts};
endmodule
