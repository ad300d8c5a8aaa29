// LUT RAM with one write port and READERS read ports: an instance of ram_lut for each reader, all with the same
// contents.
//
//   read_at, read_data, check   as in ram_lut, the first reader's lowest. A word that is written in this clock is not
//                               checked: what is read then is not used, or was right before
//   parity_error                of any reader
module ram_lut_readers #(
    parameter int WIDTH   = 64,
    parameter int DEPTH   = 16,
    parameter int READERS = 2,
    parameter int PARITY  = 0
) (
    input logic clk,

    input logic                     write,
    input logic [$clog2(DEPTH)-1:0] write_at,
    input logic [        WIDTH-1:0] write_data,

    input  logic [READERS*$clog2(DEPTH)-1:0] read_at,
    output logic [        READERS*WIDTH-1:0] read_data,

    input  logic [READERS-1:0] check,
    output logic               parity_error
);

    localparam int ADDRESS = $clog2(DEPTH);

    logic [READERS-1:0] differ;
    assign parity_error = differ != '0;

    for (genvar i = 0; i < READERS; i = i + 1) begin : g_reader
        logic [ADDRESS-1:0] at;
        assign at = read_at[ADDRESS*i+:ADDRESS];

        ram_lut #(
            .WIDTH(WIDTH),
            .DEPTH(DEPTH),
            .PARITY(PARITY)
        ) ram (
            .clk,
            .write,
            .write_at,
            .write_data,
            .read_at(at),
            .read_data(read_data[WIDTH*i+:WIDTH]),
            .check(check[i] && !(write && write_at == at)),
            .parity_error(differ[i])
        );
    end

endmodule
