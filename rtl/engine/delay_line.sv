// What goes in comes out DELAY clocks later: a ring of DELAY - 1 places in RAM and the output register.
// The contents are not reset; who needs valid bits keeps them elsewhere. DELAY is at least 3.
module delay_line #(
    parameter int WIDTH = 128,
    parameter int DELAY = 11
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);

    localparam int PLACES = DELAY - 1;
    localparam int ADDRESS = $clog2(PLACES);

    (* ram_style = "distributed" *)
    logic [WIDTH-1:0] memory[0:PLACES-1];
    logic [ADDRESS-1:0] at;

    // The place that is read holds what was written one turn ago.
    always_ff @(posedge clk) begin
        out <= memory[at];
        memory[at] <= in;
        if (rst || at == ADDRESS'(PLACES - 1)) at <= '0;
        else at <= at + 1'b1;
    end

endmodule
