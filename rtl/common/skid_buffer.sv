// Cuts a valid/ready stream in two: all outputs come from registers, one entry a clock, latency one clock. Before
// packet_front it cuts the path from the mode's block_ready to s_axis_tready.
//
//   s_valid, s_ready, s_data   entries in
//   m_valid, m_ready, m_data   entries out, in order
module skid_buffer #(
    parameter int WIDTH = 128
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             s_valid,
    output logic             s_ready,
    input  logic [WIDTH-1:0] s_data,
    output logic             m_valid,
    input  logic             m_ready,
    output logic [WIDTH-1:0] m_data
);

    // What came in while m_data was not taken; there is something here whenever s_ready is low.
    logic [WIDTH-1:0] spare;

    always_ff @(posedge clk) begin
        if (s_ready) spare <= s_data;
        if (!m_valid || m_ready) m_data <= s_ready ? s_data : spare;
        if (rst) begin
            s_ready <= 1'b1;
            m_valid <= 1'b0;
        end else if (!m_valid || m_ready) begin
            s_ready <= 1'b1;
            m_valid <= s_valid || !s_ready;
        end else if (s_valid) begin
            s_ready <= 1'b0;
        end
    end

endmodule
