// Output stage of a mode whose pipes never stall: output FIFOs, the credits that keep them from overflowing, and
// verdicts. The last beat and the m_tag beat of an opened packet wait for its verdict, and so do all later packets.
// The verdict of a sealed packet arrives with its last beat and its result.
//
// Latency: two clocks from beat_push to m_axis, and from result_push (opening: verdict_push) to m_tag. One beat per
// clock.
//
//   beat_take, packet_take  a block, or a packet, enters the pipes in this clock; only while beat_available or
//                           packet_available is high. Credits: FIFO blocks and PACKETS packets.
//   beat_*                  a block of the message leaves the pipes: beat_bytes 1 to 16, beat_last the packet's last
//                           one, beat_open it is being opened. beat_error, with beat_last of a sealed packet: the
//                           packet must be discarded.
//   result_*                the packet's tag leaves (zero when opening or after an error), in packet order.
//                           result_error: error in a sealed packet, or an illegal command (with result_open = 0).
//   verdict_*               the verdict of an opened packet, in packet order, no earlier than its result.
//                           verdict_forged: the tag is wrong. verdict_error: the stream mismatched its command.
//                           verdict_message: the packet has beats.
module packet_results #(
    parameter int FIFO = 64,
    parameter int PACKETS = 32
) (
    input logic clk,
    input logic rst,

    input  logic beat_take,
    output logic beat_available,
    input  logic packet_take,
    output logic packet_available,

    input logic         beat_push,
    input logic [127:0] beat_data,
    input logic [  4:0] beat_bytes,
    input logic         beat_last,
    input logic         beat_open,
    input logic         beat_error,

    input logic         result_push,
    input logic [127:0] result_tag,
    input logic         result_open,
    input logic         result_error,

    input logic verdict_push,
    input logic verdict_forged,
    input logic verdict_error,
    input logic verdict_message,

    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [127:0] m_axis_tdata,
    output logic [ 15:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // ---- Credits: the FIFOs have room for all blocks and packets in the pipes.

    logic beat_popped;
    logic packet_popped;

    credit_counter #(
        .CREDITS(FIFO)
    ) beat_credits (
        .clk,
        .rst,
        .take(beat_take),
        .give(beat_popped),
        .available(beat_available),
        .home()
    );

    credit_counter #(
        .CREDITS(PACKETS)
    ) packet_credits (
        .clk,
        .rst,
        .take(packet_take),
        .give(packet_popped),
        .available(packet_available),
        .home()
    );

    // ---- Beats. Each opened packet with a message has an entry in `holds` for its last beat.

    logic beat_valid;
    logic beat_ready;
    logic [127:0] data;
    logic [3:0] bytes;  // 0 means 16
    logic last;
    logic open;
    logic error;

    logic hold_valid;
    logic hold_refused;
    logic waits;

    logic unused;
    assign unused = beat_bytes[4];

    stream_fifo #(
        .WIDTH(135),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) beats (
        .clk,
        .rst,
        .s_valid(beat_push),
        .s_ready(),
        .s_data({beat_data, beat_bytes[3:0], beat_last, beat_open, beat_error}),
        .m_valid(beat_valid),
        .m_ready(beat_ready),
        .m_data({data, bytes, last, open, error}),
        .space(),
        .popped(beat_popped)
    );

    stream_fifo #(
        .WIDTH(1),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) holds (
        .clk,
        .rst,
        .s_valid(verdict_push && verdict_message),
        .s_ready(),
        .s_data(verdict_forged || verdict_error),
        .m_valid(hold_valid),
        .m_ready(m_axis_tvalid && m_axis_tready && last && open),
        .m_data(hold_refused),
        .space(),
        .popped()
    );

    assign waits = last && open && !hold_valid;
    assign m_axis_tvalid = beat_valid && !waits;
    assign beat_ready = m_axis_tready && !waits;
    assign m_axis_tdata = bytes_pkg::swap128(data);
    assign m_axis_tlast = last;
    assign m_axis_tuser = last && (open ? hold_refused : error);
    always_comb begin
        for (int i = 0; i < 16; i = i + 1) m_axis_tkeep[i] = bytes == 4'd0 || 4'(i) < bytes;
    end

    // ---- Tags. Each opened packet has an entry in `verdicts`.

    logic tag_valid;
    logic tag_ready;
    logic [127:0] tag;
    logic tag_open;
    logic tag_error;

    logic verdict_valid;
    logic forged;
    logic refused;

    stream_fifo #(
        .WIDTH(130),
        .DEPTH(PACKETS),
        .CREDITS(1)
    ) tags (
        .clk,
        .rst,
        .s_valid(result_push),
        .s_ready(),
        .s_data({result_tag, result_open, result_error}),
        .m_valid(tag_valid),
        .m_ready(tag_ready),
        .m_data({tag, tag_open, tag_error}),
        .space(),
        .popped(packet_popped)
    );

    stream_fifo #(
        .WIDTH(2),
        .DEPTH(PACKETS),
        .CREDITS(1)
    ) verdicts (
        .clk,
        .rst,
        .s_valid(verdict_push),
        .s_ready(),
        .s_data({verdict_forged, verdict_error}),
        .m_valid(verdict_valid),
        .m_ready(m_tag_tvalid && m_tag_tready && tag_open),
        .m_data({forged, refused}),
        .space(),
        .popped()
    );

    assign m_tag_tvalid = tag_valid && (!tag_open || verdict_valid);
    assign tag_ready = m_tag_tready && (!tag_open || verdict_valid);
    assign m_tag_tdata = bytes_pkg::swap128(tag);
    assign m_tag_tuser = tag_open ? {1'b0, refused, forged} : {1'b0, tag_error, 1'b0};

endmodule
