// A counter of 64 bits for each slot, any slot at a time: one addition a clock, read in one, added in the next, and written
// in the third. Reading takes a clock, and sees an addition three clocks after it. `clear` makes a counter 0, with what is
// under way to it; reset makes all of them 0.
//
//   PARITY, parity_error   see macsec_transmit
module slot_counter #(
    parameter int SLOT_BITS = 4,
    parameter int PARITY = 0
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 clear,
    input  logic [SLOT_BITS-1:0] clear_slot,
    input  logic                 add,
    input  logic [SLOT_BITS-1:0] add_slot,
    input  logic [         15:0] add_value,
    input  logic [SLOT_BITS-1:0] read_slot,
    output logic [         63:0] read_value,
    output logic                 parity_error
);

    logic [2**SLOT_BITS-1:0] counted;  // others are 0, whatever the memories hold

    logic adding;
    logic [SLOT_BITS-1:0] adding_slot;
    logic [15:0] value;
    logic [63:0] count;
    logic [63:0] added;
    logic adds_again;  // to the slot of the clock before
    logic summed;
    logic [SLOT_BITS-1:0] summed_slot;
    logic [63:0] sum;
    logic [63:0] old;  // of the slot to add to
    logic [63:0] asked;  // of the slot to read

    assign added = count + {48'd0, value};
    assign adds_again = adding && adding_slot == add_slot;

    ram_lut_readers #(
        .WIDTH(64),
        .DEPTH(2 ** SLOT_BITS),
        .PARITY(PARITY)
    ) sums (
        .clk,
        .write(summed),
        .write_at(summed_slot),
        .write_data(sum),
        .read_at({read_slot, add_slot}),
        .read_data({asked, old}),
        .check({counted[read_slot], add && counted[add_slot] && !adds_again}),
        .parity_error
    );

    always_ff @(posedge clk) begin
        adding_slot <= add_slot;
        value <= add_value;
        // The last two sums are not in the memory yet.
        if (adds_again) count <= added;
        else if (summed && summed_slot == add_slot) count <= sum;
        else count <= counted[add_slot] ? old : 64'd0;
        summed_slot <= adding_slot;
        sum <= added;
        read_value <= counted[read_slot] ? asked : 64'd0;
        if (rst) begin
            adding  <= 1'b0;
            summed  <= 1'b0;
            counted <= '0;
        end else begin
            adding <= add && !(clear && clear_slot == add_slot);
            summed <= adding && !(clear && clear_slot == adding_slot);
            for (int i = 0; i < 2 ** SLOT_BITS; i = i + 1) begin
                if (clear && clear_slot == SLOT_BITS'(i)) counted[i] <= 1'b0;
                else if (summed && summed_slot == SLOT_BITS'(i)) counted[i] <= 1'b1;
            end
        end
    end

endmodule
