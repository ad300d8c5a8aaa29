// Store-and-forward behind a core's m_axis: a packet leaves only when its last beat has come and said that the packet may
// be used (tuser low at tlast). Any other packet is dropped, so that nothing unverified goes on. m_tag passes by on its own:
// the packets that leave are, in order, those whose verdict was good and which had a beat.
//
// The memory (block RAM) holds DEPTH beats, a power of two: make it twice the longest packet to take and give a beat
// a clock. A packet of more than DEPTH beats is dropped as a whole, with one clock of `too_long`.
// A packet's first beat is offered two clocks after its last one was taken.
//
//   s_axis_*   a core's m_axis
//   m_axis_*   the packets that may be used
//   too_long   a packet did not fit and is being dropped, whatever its verdict is
module packet_release #(
    parameter int BYTES = 16,
    parameter int DEPTH = 1024
) (
    input logic clk,
    input logic rst,

    input  logic               s_axis_tvalid,
    output logic               s_axis_tready,
    input  logic [8*BYTES-1:0] s_axis_tdata,
    input  logic [  BYTES-1:0] s_axis_tkeep,
    input  logic               s_axis_tlast,
    input  logic               s_axis_tuser,

    output logic               m_axis_tvalid,
    input  logic               m_axis_tready,
    output logic [8*BYTES-1:0] m_axis_tdata,
    output logic [  BYTES-1:0] m_axis_tkeep,
    output logic               m_axis_tlast,

    output logic too_long
);

    localparam int ADDRESS = $clog2(DEPTH);
    localparam logic [ADDRESS:0] FULL = {1'b1, {ADDRESS{1'b0}}};

    (* ram_style = "block", ramstyle = "M20K" *)
    logic [9*BYTES:0] memory[0:DEPTH-1];

    // Pointers with one bit more than the address, so that a full memory differs from an empty one. From read_at to
    // release_at lie packets that may leave, from there to write_at the packet that is still coming in.
    logic [ADDRESS:0] read_at;
    logic [ADDRESS:0] release_at;
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] coming;
    logic [ADDRESS:0] stored;
    logic push;
    logic fetch;
    logic overflow;
    logic dropping;  // the packet that comes in did not fit, and nothing is stored

    assign coming = write_at - release_at;
    assign stored = write_at - read_at;
    assign overflow = coming == FULL;
    assign s_axis_tready = stored != FULL;
    assign push = s_axis_tvalid && s_axis_tready;
    assign fetch = read_at != release_at && (!m_axis_tvalid || m_axis_tready);

    always_ff @(posedge clk) begin
        if (push) memory[write_at[ADDRESS-1:0]] <= {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
        if (fetch) {m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= memory[read_at[ADDRESS-1:0]];
        if (rst) begin
            read_at <= '0;
            release_at <= '0;
            write_at <= '0;
            m_axis_tvalid <= 1'b0;
            dropping <= 1'b0;
            too_long <= 1'b0;
        end else begin
            if (fetch) read_at <= read_at + 1'b1;
            m_axis_tvalid <= fetch || (m_axis_tvalid && !m_axis_tready);

            too_long <= overflow;
            if (overflow) begin
                dropping <= 1'b1;
                write_at <= release_at;
            end else if (push && s_axis_tlast) begin
                dropping <= 1'b0;
                if (dropping || s_axis_tuser) begin
                    write_at <= release_at;
                end else begin
                    write_at   <= write_at + 1'b1;
                    release_at <= write_at + 1'b1;
                end
            end else if (push && !dropping) begin
                write_at <= write_at + 1'b1;
            end
        end
    end

endmodule
