// RAM with one write port and one read port whose output is a register: block RAM. Every such memory of the cores is an
// instance of this module, so another technology replaces this file: an ASIC by a generated macro, a vendor by its own
// primitive.
//
//   PARITY                        1: with every 32 bits of an entry a parity bit is stored, and checked
//   write, write_at, write_data   writes an entry at the end of the clock
//   read, read_at, read_data      reads an entry. It is there one clock later, and stays until the next read.
//   parity_error                  in the second clock after a read: an odd number of bits changed in 32 of the entry,
//                                 which must have been written. With PARITY=0 never
//
// No core uses what it reads from an entry that is written in the same clock; here that is the old entry.
module ram_1r1w #(
    parameter int WIDTH  = 128,
    parameter int DEPTH  = 64,
    parameter int PARITY = 0
) (
    input logic clk,

    input logic                     write,
    input logic [$clog2(DEPTH)-1:0] write_at,
    input logic [        WIDTH-1:0] write_data,

    input  logic                     read,
    input  logic [$clog2(DEPTH)-1:0] read_at,
    output logic [        WIDTH-1:0] read_data,

    output logic parity_error
);

    localparam int PARTS = (WIDTH + 31) / 32;
    localparam int STORED = WIDTH + (PARITY == 1 ? PARTS : 0);

    (* ram_style = "block", ramstyle = "M20K" *)
    logic [STORED-1:0] memory[0:DEPTH-1];

    logic [STORED-1:0] written;  // the parity bits are above the word
    logic [STORED-1:0] found;

    assign written[WIDTH-1:0] = write_data;
    assign read_data = found[WIDTH-1:0];

    always_ff @(posedge clk) begin
        if (write) memory[write_at] <= written;
        if (read) found <= memory[read_at];
    end

    if (PARITY == 1) begin : g_parity
        // The RAM's output is late, so the parts have a register each.
        logic was_read;
        logic [PARTS-1:0] differs;

        always_ff @(posedge clk) was_read <= read;
        for (genvar i = 0; i < PARTS; i = i + 1) begin : g_part
            localparam int BITS = i == PARTS - 1 ? WIDTH - 32 * i : 32;
            assign written[WIDTH+i] = ^write_data[32*i+:BITS];
            always_ff @(posedge clk) differs[i] <= was_read && ^{found[WIDTH+i], found[32*i+:BITS]};
        end
        assign parity_error = differs != '0;
    end else begin : g_no_parity
        assign parity_error = 1'b0;
    end

endmodule
