// A block comes out CLOCKS clocks after it went in: a ring in LUT RAM, which takes fewer LUTs than shift registers.
// rst puts the ring's place to its start, so that it is known; what comes out in the first CLOCKS clocks after is not.
module elmd_delay #(
    parameter int CLOCKS = 22
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [127:0] in,
    output logic [127:0] out
);

    localparam int BITS = $clog2(CLOCKS);

    (* ram_style = "distributed" *)
    logic [127:0] ring[0:2**BITS-1];
    logic [BITS-1:0] place;

    // The block read is the one written CLOCKS clocks ago at the same place.
    assign out = ring[place];

    always_ff @(posedge clk) begin
        ring[place] <= in;
        if (rst || place == BITS'(CLOCKS - 1)) place <= '0;
        else place <= place + 1'b1;
    end

endmodule
