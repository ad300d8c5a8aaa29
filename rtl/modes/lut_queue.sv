// A queue of at most DEPTH entries in LUT RAM (DEPTH a power of two), for what travels beside a pipeline:
// whoever fills it sees to it that it never overflows. An entry pushed in clock t can be read from clock t+1
// on.
//
//   push, in_data    an entry in
//   valid, out_data  the oldest entry, if there is one
//   pop              the oldest entry goes (only when valid)
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

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [WIDTH-1:0] memory[0:DEPTH-1];

    // One bit more than the address, so that a full queue differs from an empty one.
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] read_at;

    assign valid = write_at != read_at;
    assign out_data = memory[read_at[ADDRESS-1:0]];

    always_ff @(posedge clk) begin
        if (push) memory[write_at[ADDRESS-1:0]] <= in_data;
        if (rst) begin
            write_at <= '0;
            read_at  <= '0;
        end else begin
            if (push) write_at <= write_at + 1'b1;
            if (pop) read_at <= read_at + 1'b1;
        end
    end

endmodule
