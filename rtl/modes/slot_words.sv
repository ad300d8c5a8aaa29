// One word per key slot, in LUT RAM, or in a register if there is only one slot. Written at the end of the clock,
// read combinationally.
module slot_words #(
    parameter int SLOTS = 16,
    parameter int WIDTH = 128
) (
    input  logic             clk,
    input  logic             write,
    input  logic [      3:0] write_slot,
    input  logic [WIDTH-1:0] in,
    input  logic [      3:0] read_slot,
    output logic [WIDTH-1:0] out
);

    generate
        if (SLOTS == 1) begin : g_register
            logic unused;
            assign unused = ^{write_slot, read_slot};
            always_ff @(posedge clk) if (write) out <= in;
        end else begin : g_memory
            localparam int BITS = $clog2(SLOTS);
            ram_lut #(
                .WIDTH(WIDTH),
                .DEPTH(2 ** BITS)
            ) ram (
                .clk,
                .write,
                .write_at(write_slot[BITS-1:0]),
                .write_data(in),
                .read_at(read_slot[BITS-1:0]),
                .read_data(out),
                .check(1'b0),
                .parity_error()
            );
        end
    endgenerate

endmodule
