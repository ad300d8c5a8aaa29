// Delays WIDTH bits by CLOCKS clocks (at least 3) without stalls: a ring buffer in LUT RAM, which needs two thirds of
// the LUTs of shift registers. The output is undefined in the first CLOCKS clocks after rst.
module ring_delay #(
    parameter int WIDTH  = 128,
    parameter int CLOCKS = 11
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] in_data,
    output logic [WIDTH-1:0] out_data
);

    // An entry written in clock t is read into the output register in clock t + CLOCKS - 1, one clock before it is
    // overwritten.
    localparam int ADDRESS = $clog2(CLOCKS);
    localparam logic [ADDRESS-1:0] LAST = ADDRESS'(CLOCKS - 1);

    logic [WIDTH-1:0] oldest;
    logic [ADDRESS-1:0] at;
    logic [ADDRESS-1:0] next;  // the following address

    ram_lut #(
        .WIDTH(WIDTH),
        .DEPTH(1 << ADDRESS)
    ) ram (
        .clk,
        .write(1'b1),
        .write_at(at),
        .write_data(in_data),
        .read_at(next),
        .read_data(oldest),
        .check(1'b0),
        .parity_error()
    );

    always_ff @(posedge clk) begin
        out_data <= oldest;
        if (rst) begin
            at   <= '0;
            next <= ADDRESS'(1);
        end else begin
            at   <= next;
            next <= next == LAST ? '0 : next + 1'b1;
        end
    end

endmodule
