// Properties of ram_fifo, with a writer that holds credits: those of every queue (followed_entry), and
// correct counts.
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

    logic [2:0] in_memory;
    assign in_memory = fifo.write_at - fifo.read_at;

    logic [2:0] outside;  // entries outside the memory
    assign outside = 3'(fifo.fetched) + 3'(m_valid);

    logic pop;
    assign pop = m_valid && m_ready;

    logic begun, chosen;
    logic [2:0] held, ahead;
    logic [7:0] value;

    followed_entry #(
        .DEPTH(DEPTH)
    ) entry (
        .clk,
        .rst,
        .push(s_valid),
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
            // Environment assumptions: the writer's credits.
            assume (!s_valid || held != DEPTH);
            assert (stored == held);
            assert (popped == pop);
            // Inductive invariants: where the entries are.
            assert (in_memory <= DEPTH && fifo.waiting == in_memory && fifo.some == (in_memory != '0));
            assert (in_memory + 3'(fifo.fetched) + 3'(m_valid) == held);
            if (chosen && ahead >= outside) assert (fifo.ram.memory[2'(fifo.read_at+ahead-outside)] == value);
            if (chosen && ahead == 3'(m_valid) && fifo.fetched) assert (fifo.fetched_data == value);
        end
    end
endmodule
