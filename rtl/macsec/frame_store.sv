// Stores frames, and offers those that are whole: their lengths first, which the commands of an engine want.
//
// A frame whose last beat has s_axis_tuser is dropped, as is one of more than DEPTH beats or 65535 bytes, with one
// clock of `too_long`. One beat a clock in and out; a frame's length is offered four clocks after its last beat was
// taken, its first beat after three.
//
// Whether there is room, and whether there is anything to read, is known a clock ahead, and what the RAM gives goes into
// a register of its own first, as in ram_fifo.
//
//   s_axis_side   what travels with a frame: taken with its first beat, given with its length
//   m_frame_*     a frame: its bytes, and what travels with it
//   m_axis_*      the beats of the frames, in the same order
//   PARITY, parity_error
//                 see macsec_transmit
module frame_store #(
    parameter int SIDE = 8,
    parameter int DEPTH = 256,
    parameter int PARITY = 0
) (
    input logic clk,
    input logic rst,

    input  logic            s_axis_tvalid,
    output logic            s_axis_tready,
    input  logic [   511:0] s_axis_tdata,
    input  logic [    63:0] s_axis_tkeep,
    input  logic            s_axis_tlast,
    input  logic            s_axis_tuser,
    input  logic [SIDE-1:0] s_axis_side,

    output logic            m_frame_tvalid,
    input  logic            m_frame_tready,
    output logic [    15:0] m_frame_bytes,
    output logic [SIDE-1:0] m_frame_side,

    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [ 63:0] m_axis_tkeep,
    output logic         m_axis_tlast,

    output logic too_long,
    output logic parity_error
);

    localparam int ADDRESS = $clog2(DEPTH);
    localparam int FRAMES = 64;
    localparam int LONGEST = DEPTH < 1023 ? DEPTH : 1023;  // beats

    // As in packet_release: from read_at to release_at lie whole frames, from there to write_at the one that comes in.
    // Pointers have one bit more than the address, so that a full memory differs from an empty one.
    logic [ADDRESS:0] read_at;
    logic [ADDRESS:0] read_next;
    logic [ADDRESS:0] release_at;
    logic [ADDRESS-1:0] write_at;
    logic [ADDRESS:0] write_next;
    logic full;
    logic last_place;  // the next beat fills the memory
    logic some;  // whole frames to read
    logic overflow;  // the frame has as many beats as it may, and none of them was its last
    logic dropping;
    logic first;
    logic [9:0] beats;  // of the frame before this beat
    logic frames_ready;
    logic push;
    logic keeps;
    logic whole;
    logic fetch;
    logic fetched;
    logic move;
    logic [576:0] fetched_beat;

    assign s_axis_tready = !full && !overflow && frames_ready;
    assign push = s_axis_tvalid && s_axis_tready;
    assign keeps = push && !dropping && !(s_axis_tlast && s_axis_tuser);
    assign whole = keeps && s_axis_tlast;
    assign last_place = write_next == {!read_at[ADDRESS], read_at[ADDRESS-1:0]};
    assign move = !m_axis_tvalid || m_axis_tready;
    assign fetch = some && (!fetched || move);

    ram_1r1w #(
        .WIDTH(577),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) ram (
        .clk,
        .write(push),
        .write_at(write_at),
        .write_data({s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
        .read(fetch),
        .read_at(read_at[ADDRESS-1:0]),
        .read_data(fetched_beat),
        .parity_error
    );

    always_ff @(posedge clk) begin
        if (move) {m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= fetched_beat;
        if (rst) begin
            read_at <= '0;
            read_next <= (ADDRESS + 1)'(1);
            release_at <= '0;
            write_at <= '0;
            write_next <= (ADDRESS + 1)'(1);
            full <= 1'b0;
            some <= 1'b0;
            fetched <= 1'b0;
            m_axis_tvalid <= 1'b0;
            dropping <= 1'b0;
            overflow <= 1'b0;
            first <= 1'b1;
            beats <= '0;
            too_long <= 1'b0;
        end else begin
            if (fetch) begin
                read_at   <= read_next;
                read_next <= read_next + 1'b1;
            end
            some <= whole || (fetch ? read_next != release_at : some);
            fetched <= fetch || (fetched && !move);
            if (move) m_axis_tvalid <= fetched;

            full <= (keeps ? last_place : full && !overflow) && !fetch;
            if (push) first <= s_axis_tlast;
            overflow <= keeps && !s_axis_tlast && beats == 10'(LONGEST - 1);
            too_long <= overflow;
            if (overflow) dropping <= 1'b1;
            else if (push && s_axis_tlast) dropping <= 1'b0;
            if (overflow || (push && s_axis_tlast)) beats <= '0;
            else if (keeps) beats <= beats + 10'd1;
            if (keeps) begin
                write_at   <= write_next[ADDRESS-1:0];
                write_next <= write_next + 1'b1;
            end else if (overflow || (push && s_axis_tlast)) begin
                write_at   <= release_at[ADDRESS-1:0];
                write_next <= release_at + 1'b1;
            end
            if (whole) release_at <= write_next;
        end
    end

    // ---- A frame's length, when it is whole ----

    logic told;
    logic [9:0] told_beats;  // but the last
    logic [63:0] told_keep;
    logic counted;
    logic [9:0] counted_beats;
    logic [6:0] counted_bytes;  // of the last one
    logic [SIDE-1:0] side;
    logic [SIDE-1:0] told_side;
    logic [SIDE-1:0] counted_side;
    logic [$clog2(FRAMES):0] space;

    always_ff @(posedge clk) begin
        frames_ready <= space > 4;  // three may be on their way
        told <= whole && !rst;
        told_beats <= beats;
        told_keep <= s_axis_tkeep;
        told_side <= first ? s_axis_side : side;
        if (push && first) side <= s_axis_side;
        counted <= told && !rst;
        counted_beats <= told_beats;
        counted_bytes <= macsec_pkg::kept_bytes(told_keep);
        counted_side <= told_side;
    end

    stream_fifo #(
        .WIDTH(16 + SIDE),
        .DEPTH(FRAMES),
        .CREDITS(1)
    ) frames (
        .clk,
        .rst,
        .s_valid(counted),
        .s_ready(),
        .s_data({counted_side, {counted_beats, 6'd0} + {9'd0, counted_bytes}}),
        .m_valid(m_frame_tvalid),
        .m_ready(m_frame_tready),
        .m_data({m_frame_side, m_frame_bytes}),
        .space,
        .popped()
    );

endmodule
