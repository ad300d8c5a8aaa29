// RAM with one write port and one read port whose output is a register: block RAM. Every such memory of the cores is an
// instance of this module, so another technology replaces this file: an ASIC by a generated macro, a vendor by its own
// primitive.
//
//   write, write_at, write_data   writes an entry at the end of the clock
//   read, read_at, read_data      reads an entry. It is there one clock later, and stays until the next read.
//
// No core uses what it reads from an entry that is written in the same clock; here that is the old entry.
module ram_1r1w #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 64
) (
    input logic clk,

    input logic                     write,
    input logic [$clog2(DEPTH)-1:0] write_at,
    input logic [        WIDTH-1:0] write_data,

    input  logic                     read,
    input  logic [$clog2(DEPTH)-1:0] read_at,
    output logic [        WIDTH-1:0] read_data
);

    (* ram_style = "block", ramstyle = "M20K" *)
    logic [WIDTH-1:0] memory[0:DEPTH-1];

    always_ff @(posedge clk) begin
        if (write) memory[write_at] <= write_data;
        if (read) read_data <= memory[read_at];
    end

endmodule
