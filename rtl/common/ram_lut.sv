// RAM with one write port and one read port without a register: LUT RAM. Every such memory of the cores is an instance of
// this module, so another technology replaces this file, for example by a register file.
//
//   write, write_at, write_data   writes an entry at the end of the clock
//   read_at, read_data            reads an entry in the same clock
module ram_lut #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 16
) (
    input logic clk,

    input logic                     write,
    input logic [$clog2(DEPTH)-1:0] write_at,
    input logic [        WIDTH-1:0] write_data,

    input  logic [$clog2(DEPTH)-1:0] read_at,
    output logic [        WIDTH-1:0] read_data
);

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [WIDTH-1:0] memory[0:DEPTH-1];

    always_ff @(posedge clk) if (write) memory[write_at] <= write_data;
    assign read_data = memory[read_at];

endmodule
