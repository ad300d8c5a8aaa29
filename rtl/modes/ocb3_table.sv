// OCB3's multiples of L_* for each slot (RFC 7253, section 4.1): L_*, L_$, L_0, L_1 ... L_11, enough for messages and
// AD of 4095 whole blocks. A table of 16 slots occupies four block RAMs.
//
//   load, load_slot, load_l      loads L_* of a slot. The table is computed in ENTRIES clocks, one doubling in each.
//   loading                      a table is being computed
//   read, read_slot, read_index  reads an entry: 0 is L_*, 1 is L_$, 2 + j is L_j
//   l                            the entry, one clock after `read`; holds until the next read
module ocb3_table #(
    parameter int SLOTS = 16
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         load,
    input  logic [  3:0] load_slot,
    input  logic [127:0] load_l,
    output logic         loading,
    input  logic         read,
    input  logic [  3:0] read_slot,
    input  logic [  3:0] read_index,
    output logic [127:0] l
);

    localparam int ENTRIES = 14;
    localparam int ADDRESS = 4 + $clog2(SLOTS);

    logic [127:0] multiple;
    logic [3:0] slot;
    logic [3:0] index;
    logic [ADDRESS-1:0] write_at;
    logic [ADDRESS-1:0] read_at;

    assign write_at = ADDRESS'({slot, index});
    assign read_at  = ADDRESS'({read_slot, read_index});

    if (SLOTS == 1) begin : g_lut
        logic [127:0] entry;
        ram_lut #(
            .WIDTH(128),
            .DEPTH(16)
        ) ram (
            .clk,
            .write(loading),
            .write_at,
            .write_data(multiple),
            .read_at,
            .read_data(entry),
            .check(1'b0),
            .parity_error()
        );
        always_ff @(posedge clk) if (read) l <= entry;
    end else begin : g_block
        ram_1r1w #(
            .WIDTH(128),
            .DEPTH(16 * SLOTS)
        ) ram (
            .clk,
            .write(loading),
            .write_at,
            .write_data(multiple),
            .read,
            .read_at,
            .read_data(l),
            .parity_error()
        );
    end

    always_ff @(posedge clk) begin
        multiple <= load ? load_l : gf128_pkg::double_be(multiple);
        index <= load ? 4'd0 : index + 1'b1;
        if (load) slot <= load_slot;
        if (rst) loading <= 1'b0;
        else if (load) loading <= 1'b1;
        else if (index == 4'(ENTRIES - 1)) loading <= 1'b0;
    end

endmodule
