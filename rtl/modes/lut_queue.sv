// Queue in LUT RAM without an output register, for side-band data of a pipeline. DEPTH is a power of two. There is no
// flow control: the user never pushes into a full queue. An entry pushed in clock t can be read from clock t+1 on.
//
//   push, in_data    adds an entry
//   valid, out_data  the oldest entry
//   pop              removes the oldest entry; only while valid
module lut_queue #(
    parameter int WIDTH = 1,
    parameter int DEPTH = 32
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             push,
    input  logic [WIDTH-1:0] in_data,
    output logic             valid,
    output logic [WIDTH-1:0] out_data,
    input  logic             pop
);

    localparam int ADDRESS = $clog2(DEPTH);

    // One bit more than the address, to tell a full queue from an empty one.
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] read_at;

    assign valid = write_at != read_at;

    ram_lut #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH)
    ) ram (
        .clk,
        .write(push),
        .write_at(write_at[ADDRESS-1:0]),
        .write_data(in_data),
        .read_at(read_at[ADDRESS-1:0]),
        .read_data(out_data),
        .check(1'b0),
        .parity_error()
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            write_at <= '0;
            read_at  <= '0;
        end else begin
            if (push) write_at <= write_at + 1'b1;
            if (pop) read_at <= read_at + 1'b1;
        end
    end

`ifndef SYNTHESIS
    // Before the first reset, registers are arbitrary.
    logic was_reset;
    initial was_reset = 1'b0;
    logic [ADDRESS:0] stored;
    assign stored = write_at - read_at;
    always @(posedge clk) begin
        if (rst) was_reset <= 1'b1;
        if (push && stored == (ADDRESS + 1)'(DEPTH) && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: an entry came without room");
        if (pop && !valid && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: an entry was taken that is not there");
    end
`endif

endmodule
