// Properties of stream_fifo: those of every queue (followed_entry), and correct counts.
module stream_fifo_properties (
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic [7:0] s_data,
    input logic m_ready,
    input logic choose
);
    localparam int DEPTH = 4;

    logic s_ready, m_valid, popped;
    logic [7:0] m_data;
    logic [2:0] space;

    stream_fifo #(
        .WIDTH(8),
        .DEPTH(DEPTH)
    ) fifo (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_data,
        .m_valid,
        .m_ready,
        .m_data,
        .space,
        .popped
    );

    logic push, pop;
    assign push = s_valid && s_ready;
    assign pop  = m_valid && m_ready;

    logic begun, chosen;
    logic [2:0] held, ahead;
    logic [7:0] value;

    followed_entry #(
        .DEPTH(DEPTH)
    ) entry (
        .clk,
        .rst,
        .push,
        .in_data(s_data),
        .valid(m_valid),
        .pop,
        .out_data(m_data),
        .choose,
        .begun,
        .held,
        .chosen,
        .value,
        .ahead
    );

    always_comb begin
        if (begun && !rst) begin
            assert (space == 3'(DEPTH) - held);
            assert (s_ready == (held != DEPTH));
            assert (popped == pop);
            // Inductive invariants: where the entries are.
            assert (fifo.stored + 3'(m_valid) == held);
            if (chosen && !(ahead == '0 && m_valid))
                assert (fifo.ram.memory[2'(fifo.read_at+ahead-3'(m_valid))] == value);
        end
    end
endmodule
