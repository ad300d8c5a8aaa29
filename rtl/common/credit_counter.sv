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

    // `take` comes late in its clock: it does not go through the carries.
    always_ff @(posedge clk) begin
        if (rst) begin
            count     <= BITS'(CREDITS);
            available <= 1'b1;
            home      <= 1'b1;
        end else begin
            if (take != give) count <= give ? count + 1'b1 : count - 1'b1;
            available <= give || (take ? count > BITS'(1) : count != '0);
            home <= !take && (give ? count == BITS'(CREDITS - 1) : count == BITS'(CREDITS));
        end
    end

endmodule
