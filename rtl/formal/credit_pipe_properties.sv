// Properties of the combination that every core uses: a fixed-latency pipeline that never stalls, between a
// credit_counter and a stream_fifo. The FIFO never refuses an output of the pipeline, and credits are conserved.
module credit_pipe_properties (
    input logic clk,
    input logic rst,
    input logic enter,
    input logic m_ready
);
    localparam int DEPTH = 4;
    localparam int LATENCY = 3;

    logic take, available, home, s_ready, m_valid, m_data, popped;
    logic [2:0] space;
    logic [LATENCY-1:0] pipe = '0;

    assign take = enter && available;

    credit_counter #(
        .CREDITS(DEPTH)
    ) credits (
        .clk,
        .rst,
        .take,
        .give(popped),
        .available,
        .home
    );

    stream_fifo #(
        .WIDTH(1),
        .DEPTH(DEPTH)
    ) fifo (
        .clk,
        .rst,
        .s_valid(pipe[LATENCY-1]),
        .s_ready,
        .s_data (1'b0),
        .m_valid,
        .m_ready,
        .m_data,
        .space,
        .popped
    );

    logic begun = 1'b0;
    logic [4:0] under_way;

    assign under_way = 5'(pipe[0]) + 5'(pipe[1]) + 5'(pipe[2]);

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        pipe  <= rst ? '0 : {pipe[LATENCY-2:0], take};
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            assert (!pipe[LATENCY-1] || s_ready);
            assert (5'(credits.count) + under_way + (5'(DEPTH) - 5'(space)) == DEPTH);
            assert (home == (under_way == '0 && space == DEPTH));
            // Inductive invariants.
            assert (available == (credits.count != '0));
            assert (s_ready == (space != '0));
            assert (under_way <= 5'(space));
            assert (space <= DEPTH && s_ready == (space != '0));
            assert (fifo.stored <= DEPTH);
            assert (fifo.stored + 3'(m_valid) == 3'(DEPTH) - space);
            cover (space == '0 && popped);
        end
    end
endmodule
