// skid_buffer: any entry that goes in comes out once, unchanged and in its place; what is offered stays.
module skid_buffer_properties (
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic [7:0] s_data,
    input logic m_ready,
    input logic choose
);
    logic s_ready, m_valid;
    logic [7:0] m_data;

    skid_buffer #(
        .WIDTH(8)
    ) skid (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_data,
        .m_valid,
        .m_ready,
        .m_data
    );

    logic begun = 1'b0;
    logic waiting = 1'b0;  // m_data was offered and not taken in the clock before
    logic [7:0] offered;
    logic [1:0] held = '0;  // entries inside, counted here
    logic chosen = 1'b0;  // the entry that is followed is inside
    logic [7:0] value;
    logic ahead;  // another one leaves before it

    logic push, pop;
    assign push = s_valid && s_ready;
    assign pop  = m_valid && m_ready;

    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        waiting <= m_valid && !m_ready && !rst;
        offered <= m_data;
        if (rst) begin
            held   <= '0;
            chosen <= 1'b0;
        end else begin
            held <= held + 2'(push) - 2'(pop);
            if (chosen && pop && !ahead) chosen <= 1'b0;
            if (pop) ahead <= 1'b0;
            if (push && choose && !chosen) begin
                chosen <= 1'b1;
                value  <= s_data;
                ahead  <= held == 2'd1 && !pop;
            end
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            assert (held <= 2'd2);
            assert (m_valid == (held != '0));
            assert (s_ready == (held != 2'd2));
            if (waiting) assert (m_valid && m_data == offered);
            if (chosen) assert (held > 2'(ahead));
            if (chosen && !ahead) assert (m_data == value);
            if (chosen && ahead) assert (skid.spare == value);
            cover (chosen && ahead);
            cover (pop && !s_ready && begun);
        end
    end
endmodule
