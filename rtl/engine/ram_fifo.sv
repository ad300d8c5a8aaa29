// FIFO in block RAM: as stream_fifo (which is for LUT RAM), for wide entries or many of them. One entry a clock in
// and out; it has room for DEPTH entries (a power of two). There is no s_ready: the writer holds credits, and `popped`
// gives them back. What the RAM gives is late in its clock, so it goes into a register of its own first: an entry taken
// in clock t is offered in clock t+3 at the earliest.
//   stored     entries in it, those included that are not offered yet
module ram_fifo #(
    parameter int WIDTH = 512,
    parameter int DEPTH = 64
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   s_valid,
    input  logic [      WIDTH-1:0] s_data,
    output logic                   m_valid,
    input  logic                   m_ready,
    output logic [      WIDTH-1:0] m_data,
    output logic                   popped,
    output logic [$clog2(DEPTH):0] stored
);

    localparam int ADDRESS = $clog2(DEPTH);

    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] read_at;
    logic [ADDRESS:0] waiting;  // entries in the memory
    logic some;  // one or more
    logic [WIDTH-1:0] fetched_data;
    logic fetched;
    logic fetch;
    logic move;

    assign move   = !m_valid || m_ready;
    assign fetch  = some && (!fetched || move);
    assign popped = m_valid && m_ready;

    ram_1r1w #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH)
    ) ram (
        .clk,
        .write(s_valid),
        .write_at(write_at[ADDRESS-1:0]),
        .write_data(s_data),
        .read(fetch),
        .read_at(read_at[ADDRESS-1:0]),
        .read_data(fetched_data),
        .parity_error()
    );

    always_ff @(posedge clk) begin
        if (move) m_data <= fetched_data;
        if (rst) begin
            write_at <= '0;
            read_at  <= '0;
            waiting  <= '0;
            some     <= 1'b0;
            fetched  <= 1'b0;
            m_valid  <= 1'b0;
            stored   <= '0;
        end else begin
            if (s_valid) write_at <= write_at + 1'b1;
            if (fetch) read_at <= read_at + 1'b1;
            if (s_valid != fetch) waiting <= s_valid ? waiting + 1'b1 : waiting - 1'b1;
            some <= s_valid || (fetch ? waiting != (ADDRESS + 1)'(1) : some);
            fetched <= fetch || (fetched && !move);
            if (move) m_valid <= fetched;
            if (s_valid != popped) stored <= s_valid ? stored + 1'b1 : stored - 1'b1;
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
        if (s_valid && stored == (ADDRESS + 1)'(DEPTH) && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: an entry came without room");
    end
`endif

endmodule
