// Credits of a pipeline that never stalls: an item enters the pipeline only with a credit (`take`), and the credit
// comes back (`give`) when the item has left the FIFO behind the pipeline. With CREDITS = the FIFO's DEPTH the FIFO
// never overflows, whatever the pipeline's latency. To sustain one item a clock CREDITS must exceed the clocks
// from `take` to `give` (the pipeline's latency + 3 with stream_fifo).
//
//   take        an item enters in this clock; only when `available`
//   give        an item has left in this clock
//   available   there is a credit (from a register)
//   home        all credits are back: nothing is under way (from a register)
module credit_counter #(
    parameter int CREDITS = 64
) (
    input  logic clk,
    input  logic rst,
    input  logic take,
    input  logic give,
    output logic available,
    output logic home
);

    localparam int BITS = $clog2(CREDITS + 1);

    logic [BITS-1:0] count;
    logic [BITS-1:0] count_next;

    always_comb begin
        count_next = count;
        if (give && !take) count_next = count + 1'b1;
        if (take && !give) count_next = count - 1'b1;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            count     <= BITS'(CREDITS);
            available <= 1'b1;
            home      <= 1'b1;
        end else begin
            count     <= count_next;
            available <= count_next != '0;
            home      <= count_next == BITS'(CREDITS);
        end
    end

endmodule
