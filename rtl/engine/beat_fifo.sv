// FIFO for wide beats in block RAM: as stream_fifo (which is for LUT RAM), for entries of 512 bits and more.
// One entry a clock in and out; an entry taken in clock t is offered in clock t+2 at the earliest; it has
// room for DEPTH entries (a power of two). There is no s_ready: the writer holds credits for DEPTH entries,
// and `popped` gives them back.
module beat_fifo #(
    parameter int WIDTH = 512,
    parameter int DEPTH = 64
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             s_valid,
    input  logic [WIDTH-1:0] s_data,
    output logic             m_valid,
    input  logic             m_ready,
    output logic [WIDTH-1:0] m_data,
    output logic             popped
);

    localparam int ADDRESS = $clog2(DEPTH);

    (* ram_style = "block" *)
    logic [WIDTH-1:0] memory[0:DEPTH-1];
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] read_at;
    logic fetch;

    assign fetch  = write_at != read_at && (!m_valid || m_ready);
    assign popped = m_valid && m_ready;

    always_ff @(posedge clk) begin
        if (s_valid) memory[write_at[ADDRESS-1:0]] <= s_data;
        if (fetch) m_data <= memory[read_at[ADDRESS-1:0]];
        if (rst) begin
            write_at <= '0;
            read_at  <= '0;
            m_valid  <= 1'b0;
        end else begin
            if (s_valid) write_at <= write_at + 1'b1;
            if (fetch) read_at <= read_at + 1'b1;
            m_valid <= fetch || (m_valid && !m_ready);
        end
    end

endmodule
