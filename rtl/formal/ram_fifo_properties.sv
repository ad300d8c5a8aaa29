// ram_fifo, whose writer holds credits: any entry that goes in comes out once, unchanged and in its place; what is
// offered stays; the counts are right. One entry of the stream, any one, is followed by `chosen`.
module ram_fifo_properties (
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic [7:0] s_data,
    input logic m_ready,
    input logic choose
);
    localparam int DEPTH = 4;

    logic m_valid, popped;
    logic [7:0] m_data;
    logic [2:0] stored;

    ram_fifo #(
        .WIDTH(8),
        .DEPTH(DEPTH)
    ) fifo (
        .clk,
        .rst,
        .s_valid,
        .s_data,
        .m_valid,
        .m_ready,
        .m_data,
        .popped,
        .stored
    );

    logic begun = 1'b0;  // there has been a reset
    logic waiting = 1'b0;  // m_data was offered and not taken in the clock before
    logic [7:0] offered;
    logic [2:0] held = '0;  // entries in the FIFO, counted here
    logic chosen = 1'b0;  // the entry is in the FIFO
    logic [7:0] value;
    logic [2:0] ahead;  // entries that leave before it

    logic [2:0] in_memory;
    assign in_memory = fifo.write_at - fifo.read_at;

    logic pop;
    assign pop = m_valid && m_ready;

    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        waiting <= m_valid && !m_ready && !rst;
        offered <= m_data;
        if (rst) begin
            held   <= '0;
            chosen <= 1'b0;
        end else begin
            held <= held + 3'(s_valid) - 3'(pop);
            if (chosen && pop && ahead == '0) chosen <= 1'b0;
            if (pop) ahead <= ahead - 1'b1;
            if (s_valid && choose && !chosen) begin
                chosen <= 1'b1;
                value  <= s_data;
                ahead  <= held - 3'(pop);
            end
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // What the writer's credits see to.
            assume (!s_valid || held != DEPTH);
            assert (held <= DEPTH);
            assert (stored == held);
            assert (popped == pop);
            assert (!m_valid || held != '0);
            if (waiting) assert (m_valid && m_data == offered);
            if (chosen && ahead == '0 && m_valid) assert (m_data == value);
            if (chosen) assert (ahead < held);
            // For the induction: where things are.
            assert (in_memory + 3'(m_valid) == held);
            if (chosen && !(ahead == '0 && m_valid))
                assert (fifo.memory[2'(fifo.read_at+ahead-3'(m_valid))] == value);
            cover (chosen && ahead == 3'd3 && held == DEPTH);
        end
    end
endmodule
