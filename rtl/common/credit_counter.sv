// Credit counter for a pipeline that never stalls. An item takes a credit when it enters the pipeline (`take`) and
// returns it when it leaves the FIFO after the pipeline (`give`). With CREDITS equal to the FIFO's DEPTH, the FIFO
// never overflows, whatever the latency of the pipeline. A throughput of one item per clock requires more CREDITS than
// clocks from `take` to `give`, which is the latency of the pipeline plus 3 with stream_fifo.
//
//   take        an item enters in this clock; allowed only if `available`
//   give        an item left in this clock
//   available   a credit is available (registered)
//   home        all credits are returned: the pipeline and the FIFO are empty (registered)
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

    // `take` arrives late in the clock, so it bypasses the carry chain.
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

`ifndef SYNTHESIS
    // Before the first reset, registers are arbitrary.
    logic was_reset;
    initial was_reset = 1'b0;
    always @(posedge clk) begin
        if (rst) was_reset <= 1'b1;
        if (take && !available && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: a credit was taken that is not there");
        if (give && count == BITS'(CREDITS) && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: a credit was given that nobody took");
    end
`endif

endmodule
