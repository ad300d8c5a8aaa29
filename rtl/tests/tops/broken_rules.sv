// Uses FIFOs, credits and a stream correctly, and breaks one rule after 20 clocks, which the assertion about it must notice.
// Otherwise the simulation ends with "no rule was broken".
//
//   BROKEN  0 none; 1 an offer is withdrawn, 2 it changes; 3 stream_fifo, 4 ram_fifo, 5 lut_queue gets an entry without
//           room; 6 lut_queue gives an entry that it does not have; 7 a credit is taken that is not there, 8 given that
//           nobody took
module broken_rules #(
    parameter int BROKEN = 0
);
    logic clk = 1'b0;
    logic rst = 1'b1;
    logic [5:0] clocks = '0;
    logic late;  // a rule may be broken

    always #1 clk = !clk;

    always_ff @(posedge clk) begin
        rst <= clocks < 6'd4;
        clocks <= clocks + 1'b1;
    end

    always @(posedge clk) begin
        if (clocks == 6'd40) begin
            $display("no rule was broken");
            $finish;
        end
    end
    assign late = clocks >= 6'd20;

    stream_rules #(
        .WIDTH(8)
    ) stream (
        .clk,
        .rst,
        .valid(!(BROKEN == 1 && late)),
        .ready(1'b0),
        .data({7'd0, BROKEN == 2 && late})
    );

    // Four entries fill each FIFO. The first of them leaves at the end.
    logic fill;
    assign fill = !rst && clocks < 6'd9;

    stream_fifo #(
        .WIDTH(8),
        .DEPTH(4),
        .CREDITS(1)
    ) fifo (
        .clk,
        .rst,
        .s_valid(fill || (BROKEN == 3 && late)),
        .s_ready(),
        .s_data({2'd0, clocks}),
        .m_valid(),
        .m_ready(clocks == 6'd30),
        .m_data(),
        .space(),
        .popped()
    );

    ram_fifo #(
        .WIDTH(8),
        .DEPTH(4)
    ) wide_fifo (
        .clk,
        .rst,
        .s_valid(fill || (BROKEN == 4 && late)),
        .s_data({2'd0, clocks}),
        .m_valid(),
        .m_ready(clocks == 6'd30),
        .m_data(),
        .popped(),
        .stored()
    );

    lut_queue #(
        .WIDTH(8),
        .DEPTH(4)
    ) queue (
        .clk,
        .rst,
        .push(fill || (BROKEN == 5 && late)),
        .in_data({2'd0, clocks}),
        .valid(),
        .out_data(),
        .pop(BROKEN == 6 && late)
    );

    credit_counter #(
        .CREDITS(4)
    ) credits (
        .clk,
        .rst,
        .take(fill || (BROKEN == 7 && late)),
        .give((clocks >= 6'd10 && clocks < 6'd14 && BROKEN != 7) || (BROKEN == 8 && late)),
        .available(),
        .home()
    );
endmodule
