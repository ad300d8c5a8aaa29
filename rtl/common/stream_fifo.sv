// FIFO between two valid/ready streams, in LUT RAM, with a registered output.
//
// Throughput: one entry per clock if DEPTH is at least 4. DEPTH is a power of two, at least 2, and includes the output
// register. Latency: an entry accepted in clock t is offered in clock t+2 at the earliest.
//
//   CREDITS                    1: the writer holds credits, and ignores s_ready; simulations and proofs check it
//   s_valid, s_ready, s_data   input
//   m_valid, m_ready, m_data   output, in order
//   space                      number of free entries; s_ready is high if it is not zero (both registered)
//   popped                     an entry leaves in this clock: `give` of a credit_counter with DEPTH credits
module stream_fifo #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 64,
    parameter int CREDITS = 0
) (
    input  logic                     clk,
    input  logic                     rst,
    input  logic                     s_valid,
    output logic                     s_ready,
    input  logic [        WIDTH-1:0] s_data,
    output logic                     m_valid,
    input  logic                     m_ready,
    output logic [        WIDTH-1:0] m_data,
    output logic [$clog2(DEPTH):0]   space,
    output logic                     popped
);

    localparam int ADDRESS = $clog2(DEPTH);
    localparam logic [ADDRESS:0] FULL = {1'b1, {ADDRESS{1'b0}}};

    // Pointers have one bit more than addresses, which distinguishes a full memory from an empty one.
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] read_at;
    logic push;
    logic fetch;
    logic [WIDTH-1:0] oldest;  // entry in the memory

    assign popped  = m_valid && m_ready;
    assign push    = s_valid && s_ready;
    assign fetch   = write_at != read_at && (!m_valid || m_ready);

    ram_lut #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH)
    ) ram (
        .clk,
        .write(push),
        .write_at(write_at[ADDRESS-1:0]),
        .write_data(s_data),
        .read_at(read_at[ADDRESS-1:0]),
        .read_data(oldest),
        .check(1'b0),
        .parity_error()
    );

    always_ff @(posedge clk) begin
        if (fetch) m_data <= oldest;
        if (rst) begin
            write_at <= '0;
            read_at  <= '0;
            m_valid  <= 1'b0;
            s_ready  <= 1'b1;
            space    <= FULL;
        end else begin
            if (push) write_at <= write_at + 1'b1;
            if (fetch) read_at <= read_at + 1'b1;
            m_valid <= fetch || (m_valid && !m_ready);
            s_ready <= popped || (push ? space != (ADDRESS + 1)'(1) : s_ready);
            if (push != popped) space <= popped ? space + 1'b1 : space - 1'b1;
        end
    end

    stream_rules #(
        .WIDTH(WIDTH)
    ) rules (
        .clk,
        .rst,
        .valid(m_valid),
        .ready(m_ready),
        .data(m_data)
    );

`ifndef SYNTHESIS
    // Before the first reset, registers are arbitrary.
    logic was_reset;
    initial was_reset = 1'b0;
    always @(posedge clk) begin
        if (rst) was_reset <= 1'b1;
        if (CREDITS == 1 && s_valid && !s_ready && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: an entry came without room");
    end
`endif

    logic [ADDRESS:0] stored;  // number of entries in the memory, for proofs
    logic unused;
    assign stored = write_at - read_at;
    assign unused = ^stored;

endmodule
