// A delay of CLOCKS clocks (3 or more) for WIDTH bits, never stalled: a ring of LUT RAM with a running
// address, which takes two thirds of the LUTs of shift registers. What comes out in the first CLOCKS clocks
// after rst is undefined.
module ring_delay #(
    parameter int WIDTH  = 128,
    parameter int CLOCKS = 11
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] in_data,
    output logic [WIDTH-1:0] out_data
);

    // An entry written in clock t is read in clock t + CLOCKS - 1 into the output register, one clock before
    // the address comes round to it again.
    localparam int ADDRESS = $clog2(CLOCKS);
    localparam logic [ADDRESS-1:0] LAST = ADDRESS'(CLOCKS - 1);

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [WIDTH-1:0] memory[0:(1<<ADDRESS)-1];
    logic [ADDRESS-1:0] at;
    logic [ADDRESS-1:0] next;  // the place behind it

    always_ff @(posedge clk) begin
        memory[at] <= in_data;
        out_data <= memory[next];
        if (rst) begin
            at   <= '0;
            next <= ADDRESS'(1);
        end else begin
            at   <= next;
            next <= next == LAST ? '0 : next + 1'b1;
        end
    end

endmodule
