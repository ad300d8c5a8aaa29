// Store-and-forward buffer for the m_axis port of a core. A packet leaves only after its last beat has arrived with
// tuser low, which means that the packet verified. All other packets are dropped, so no unverified data leaves. m_tag
// bypasses this module: the packets that leave are, in order, those that verified and had at least one beat.
//
// The memory (block RAM) holds DEPTH beats, a power of two. For a throughput of one beat per clock, make it twice the
// longest packet. A packet of more than DEPTH beats is dropped, and `too_long` is high for one clock.
// The first beat of a packet is offered two clocks after its last beat was accepted.
//
//   s_axis_*   from the core's m_axis
//   m_axis_*   verified packets
//   too_long   a packet exceeded DEPTH beats and is being dropped, whatever its verdict
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

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (BYTES < 1) begin : g_bytes_refused
        bytes_must_be_1_or_more refused ();
    end
    if (DEPTH < 2 || DEPTH != 2 ** $clog2(DEPTH)) begin : g_depth_refused
        depth_must_be_a_power_of_two_from_2 refused ();
    end

    localparam int ADDRESS = $clog2(DEPTH);
    localparam logic [ADDRESS:0] FULL = {1'b1, {ADDRESS{1'b0}}};

    // Pointers have one bit more than addresses, which distinguishes a full memory from an empty one. Verified packets
    // are from read_at to release_at, and the packet that is still arriving is from release_at to write_at.
    logic [ADDRESS:0] read_at;
    logic [ADDRESS:0] release_at;
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] coming;
    logic [ADDRESS:0] stored;
    logic push;
    logic fetch;
    logic overflow;
    logic dropping;  // the arriving packet is too long and is not stored

    assign coming = write_at - release_at;
    assign stored = write_at - read_at;
    assign overflow = coming == FULL;
    assign s_axis_tready = stored != FULL;
    assign push = s_axis_tvalid && s_axis_tready;
    assign fetch = read_at != release_at && (!m_axis_tvalid || m_axis_tready);

    ram_1r1w #(
        .WIDTH(9 * BYTES + 1),
        .DEPTH(DEPTH)
    ) ram (
        .clk,
        .write(push),
        .write_at(write_at[ADDRESS-1:0]),
        .write_data({s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .read(fetch),
        .read_at(read_at[ADDRESS-1:0]),
        .read_data({m_axis_tlast, m_axis_tkeep, m_axis_tdata}),
        .parity_error()
    );

    always_ff @(posedge clk) begin
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
