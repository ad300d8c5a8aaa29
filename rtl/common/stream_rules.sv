// The rules of a valid/ready stream, for simulations and proofs: what is offered stays, unchanged, until it is taken.
// Synthesis leaves this module empty.
module stream_rules #(
    parameter int WIDTH = 1
) (
    input logic             clk,
    input logic             rst,
    input logic             valid,
    input logic             ready,
    input logic [WIDTH-1:0] data
);

`ifndef SYNTHESIS
    // Before the first reset, registers are arbitrary.
    logic was_reset;
    initial was_reset = 1'b0;
    logic waits;
    logic [WIDTH-1:0] offered;  // in the clock before

    always_ff @(posedge clk) begin
        waits <= valid && !ready && !rst;
        offered <= data;
    end

    always @(posedge clk) begin
        if (rst) was_reset <= 1'b1;
        // An `if` passes over unknown values, which an assertion would refuse.
        if (waits && !valid && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: an offer was withdrawn");
        if (waits && data != offered && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: an offer changed");
    end
`endif

endmodule
