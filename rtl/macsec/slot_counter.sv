// A counter of 64 bits for each slot: one addition a clock, any slot. Reading takes a clock. `clear` makes one of them 0,
// to which nothing is added in that clock; reset makes all of them 0.
module slot_counter #(
    parameter int SLOT_BITS = 4
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 clear,
    input  logic [SLOT_BITS-1:0] clear_slot,
    input  logic                 add,
    input  logic [SLOT_BITS-1:0] add_slot,
    input  logic [         15:0] add_value,
    input  logic [SLOT_BITS-1:0] read_slot,
    output logic [         63:0] read_value
);

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [63:0] memory[0:2**SLOT_BITS-1];
    logic [2**SLOT_BITS-1:0] counted;  // others are 0, whatever the memory holds
    logic [63:0] sum;

    assign sum = (counted[add_slot] ? memory[add_slot] : 64'd0) + {48'd0, add_value};

    always_ff @(posedge clk) begin
        if (add) memory[add_slot] <= sum;
        read_value <= counted[read_slot] ? memory[read_slot] : 64'd0;
        if (rst) begin
            counted <= '0;
        end else begin
            if (add) counted[add_slot] <= 1'b1;
            if (clear) counted[clear_slot] <= 1'b0;
        end
    end

endmodule
