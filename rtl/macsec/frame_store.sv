// Stores frames, and offers those that are whole: their lengths first, which the commands of an engine want.
//
// A frame whose last beat has s_axis_tuser is dropped, as is one of more than DEPTH beats or 65535 bytes, with one
// clock of `too_long`. One beat a clock in and out; a frame's length is offered two clocks after its last beat was taken,
// its first beat with it or a clock later.
//
//   s_axis_side   what travels with a frame: taken with its first beat, given with its length
//   m_frame_*     a frame: its bytes, and what travels with it
//   m_axis_*      the beats of the frames, in the same order
module frame_store #(
    parameter int SIDE  = 8,
    parameter int DEPTH = 256
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

    output logic too_long
);

    localparam int ADDRESS = $clog2(DEPTH);
    localparam int FRAMES = 64;
    localparam logic [ADDRESS:0] FULL = {1'b1, {ADDRESS{1'b0}}};

    (* ram_style = "block", ramstyle = "M20K" *)
    logic [576:0] memory[0:DEPTH-1];

    // As in packet_release: from read_at to release_at lie whole frames, from there to write_at the one that comes in.
    logic [ADDRESS:0] read_at;
    logic [ADDRESS:0] release_at;
    logic [ADDRESS:0] write_at;
    logic [ADDRESS:0] coming;
    logic [ADDRESS:0] stored;
    logic push;
    logic fetch;
    logic overflow;
    logic dropping;
    logic first;
    logic [10:0] beats;  // of the frame before this beat
    logic [SIDE-1:0] side;
    logic [6:0] bytes;
    logic frames_ready;
    logic whole;
    logic [$clog2(FRAMES):0] unused_space;
    logic unused_popped;

    always_comb begin
        bytes = '0;
        for (int i = 0; i < 64; i = i + 1) if (s_axis_tkeep[i]) bytes = 7'(i + 1);
    end

    assign coming = write_at - release_at;
    assign stored = write_at - read_at;
    assign overflow = coming == FULL || beats >= 11'd1023;
    assign s_axis_tready = stored != FULL && frames_ready && !overflow;
    assign push = s_axis_tvalid && s_axis_tready;
    assign whole = push && s_axis_tlast && !dropping && !s_axis_tuser;
    assign fetch = read_at != release_at && (!m_axis_tvalid || m_axis_tready);

    always_ff @(posedge clk) begin
        if (push) memory[write_at[ADDRESS-1:0]] <= {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
        if (fetch) {m_axis_tlast, m_axis_tkeep, m_axis_tdata} <= memory[read_at[ADDRESS-1:0]];
        if (push && first) side <= s_axis_side;
        if (rst) begin
            read_at <= '0;
            release_at <= '0;
            write_at <= '0;
            m_axis_tvalid <= 1'b0;
            dropping <= 1'b0;
            first <= 1'b1;
            beats <= '0;
            too_long <= 1'b0;
        end else begin
            if (fetch) read_at <= read_at + 1'b1;
            m_axis_tvalid <= fetch || (m_axis_tvalid && !m_axis_tready);
            if (push) first <= s_axis_tlast;
            too_long <= overflow;
            if (overflow) begin
                dropping <= 1'b1;
                write_at <= release_at;
                beats <= '0;
            end else if (push && s_axis_tlast) begin
                dropping <= 1'b0;
                beats <= '0;
                write_at <= whole ? write_at + 1'b1 : release_at;
                if (whole) release_at <= write_at + 1'b1;
            end else if (push && !dropping) begin
                write_at <= write_at + 1'b1;
                beats <= beats + 11'd1;
            end
        end
    end

    stream_fifo #(
        .WIDTH(16 + SIDE),
        .DEPTH(FRAMES)
    ) frames (
        .clk,
        .rst,
        .s_valid(whole),
        .s_ready(frames_ready),
        .s_data({first ? s_axis_side : side, beats[9:0], 6'd0} + {{SIDE{1'b0}}, 9'd0, bytes}),
        .m_valid(m_frame_tvalid),
        .m_ready(m_frame_tready),
        .m_data({m_frame_side, m_frame_bytes}),
        .space(unused_space),
        .popped(unused_popped)
    );

    logic unused;
    assign unused = ^{unused_space, unused_popped, beats[10]};

endmodule
