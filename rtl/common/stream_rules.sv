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
    logic waits;
    logic [WIDTH-1:0] offered;  // in the clock before

    always_ff @(posedge clk) begin
        waits <= valid && !ready && !rst;
        offered <= data;
    end

    always @(posedge clk) begin
        // An `if` passes over unknown values, which an assertion would refuse.
        if (waits && !rst && !valid)
            assert (1'b0)
            else $fatal(1, "%m: an offer was withdrawn");
        if (waits && !rst && data != offered)
            assert (1'b0)
            else $fatal(1, "%m: an offer changed");
    end
`endif

endmodule
