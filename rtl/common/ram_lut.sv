// RAM with one write port and one read port without a register: LUT RAM. Every such memory of the cores is an instance of
// this module, so another technology replaces this file, for example by a register file.
//
//   PARITY                        1: with every 32 bits of an entry a parity bit is stored, and checked
//   write, write_at, write_data   writes an entry at the end of the clock
//   read_at, read_data            reads an entry in the same clock
//   check                         for PARITY: read_data is used in this clock, and the entry was written
//   parity_error                  in the clock after check: an odd number of bits changed in 32 of the entry. With
//                                 PARITY=0 never
module ram_lut #(
    parameter int WIDTH  = 128,
    parameter int DEPTH  = 16,
    parameter int PARITY = 0
) (
    input logic clk,

    input logic                     write,
    input logic [$clog2(DEPTH)-1:0] write_at,
    input logic [        WIDTH-1:0] write_data,

    input  logic [$clog2(DEPTH)-1:0] read_at,
    output logic [        WIDTH-1:0] read_data,

    input  logic check,
    output logic parity_error
);

    localparam int PARTS = (WIDTH + 31) / 32;
    localparam int STORED = WIDTH + (PARITY == 1 ? PARTS : 0);

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [STORED-1:0] memory[0:DEPTH-1];

    logic [STORED-1:0] written;  // the parity bits are above the word
    logic [STORED-1:0] found;

    assign written[WIDTH-1:0] = write_data;
    assign found = memory[read_at];
    assign read_data = found[WIDTH-1:0];

    always_ff @(posedge clk) if (write) memory[write_at] <= written;

    if (PARITY == 1) begin : g_parity
        logic [PARTS-1:0] differs;

        for (genvar i = 0; i < PARTS; i = i + 1) begin : g_part
            localparam int BITS = i == PARTS - 1 ? WIDTH - 32 * i : 32;
            assign written[WIDTH+i] = ^write_data[32*i+:BITS];
            always_ff @(posedge clk) differs[i] <= check && ^{found[WIDTH+i], found[32*i+:BITS]};
        end
        assign parity_error = differs != '0;
    end else begin : g_no_parity
        logic unused;
        assign unused = check;
        assign parity_error = 1'b0;
    end

endmodule
