// One word for every key slot: one write port, one read port. Latency of a read: one clock.
//
//   PARITY  1: with every byte of a word, and with the bits that are left, a parity bit is stored, which is 1 if they have
//           an odd number of ones
//   bad     with read_data: the word is not what was written, of which an odd number of bits in one byte changed; with
//           PARITY=0 never
module slot_memory #(
    parameter int WIDTH = 128,
    parameter int SLOT_BITS = 4,
    parameter int PARITY = 0
) (
    input  logic                 clk,
    input  logic                 write,
    input  logic [SLOT_BITS-1:0] write_slot,
    input  logic [    WIDTH-1:0] write_data,
    input  logic [SLOT_BITS-1:0] read_slot,
    output logic [    WIDTH-1:0] read_data,
    output logic                 bad
);

    localparam int BYTES = (WIDTH + 7) / 8;
    localparam int STORED = WIDTH + (PARITY == 1 ? BYTES : 0);

    logic [WIDTH+BYTES-1:0] entry;  // the word, and its parity above
    logic [STORED-1:0] stored;

    assign entry[WIDTH-1:0] = write_data;
    for (genvar i = 0; i < BYTES; i = i + 1) begin : g_byte
        localparam int BITS = i == BYTES - 1 ? WIDTH - 8 * i : 8;
        assign entry[WIDTH+i] = ^write_data[8*i+:BITS];
    end

    ram_lut #(
        .WIDTH(STORED),
        .DEPTH(2 ** SLOT_BITS)
    ) ram (
        .clk,
        .write,
        .write_at(write_slot),
        .write_data(entry[STORED-1:0]),
        .read_at(read_slot),
        .read_data(stored),
        .check(1'b0),
        .parity_error()
    );

    always_ff @(posedge clk) read_data <= stored[WIDTH-1:0];

    if (PARITY == 1) begin : g_parity
        logic [BYTES-1:0] parity;
        logic [BYTES-1:0] differs;
        always_ff @(posedge clk) parity <= stored[WIDTH+:BYTES];
        for (genvar i = 0; i < BYTES; i = i + 1) begin : g_check
            localparam int BITS = i == BYTES - 1 ? WIDTH - 8 * i : 8;
            assign differs[i] = ^read_data[8*i+:BITS] ^ parity[i];
        end
        assign bad = differs != '0;
    end else begin : g_no_parity
        logic unused;
        assign unused = ^entry[WIDTH+:BYTES];
        assign bad = 1'b0;
    end

endmodule
