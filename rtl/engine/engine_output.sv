// The end of the 512-bit engines: FIFOs for message beats and for tags, the comparison of tags, and the
// credits for both FIFOs. The last message beat of an opened packet waits here for its verdict; the beats
// before it leave as they come, so what leaves before tlast is not verified yet. Of a sealed packet nothing
// waits.
//
//   take_beat, take_packet      a message beat, the last beat of a packet enters the engine
//   credit_beat, credit_packet  there is room for another one
//   beat_*     message beats, blocks as in engine_front; beat_last: the packet's last one; beat_error with it
//   done_*     packets, in order: the tag when sealing; when opening the difference of the computed and
//   received tag m_axis, m_tag   as the modes' ports; tuser of m_tag: 0 did not verify, 1 error, 2 unused
module engine_output #(
    parameter int BEATS = 64,
    parameter int PACKETS = 64
) (
    input logic clk,
    input logic rst,

    input  logic take_beat,
    output logic credit_beat,
    input  logic take_packet,
    output logic credit_packet,

    input logic         beat_valid,
    input logic [511:0] beat_data,
    input logic [  6:0] beat_bytes,
    input logic         beat_last,
    input logic         beat_open,
    input logic         beat_error,

    input logic         done_valid,
    input logic [127:0] done_value,
    input logic         done_open,
    input logic         done_error,
    input logic         done_has_message,

    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [ 63:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // What leaves gives its credit back in the clock after.
    logic beat_given;
    logic packet_given;
    logic beat_popped;
    logic tag_popped;
    logic [1:0] unused_home;

    always_ff @(posedge clk) begin
        beat_given   <= beat_popped && !rst;
        packet_given <= tag_popped && !rst;
    end

    credit_counter #(
        .CREDITS(BEATS)
    ) beat_credits (
        .clk,
        .rst,
        .take(take_beat),
        .give(beat_given),
        .available(credit_beat),
        .home(unused_home[0])
    );

    credit_counter #(
        .CREDITS(PACKETS)
    ) packet_credits (
        .clk,
        .rst,
        .take(take_packet),
        .give(packet_given),
        .available(credit_packet),
        .home(unused_home[1])
    );

    // The verdict, in two clocks: eight comparisons of two bytes each first.
    logic compared_valid;
    logic compared_open;
    logic compared_error;
    logic compared_has_message;
    logic [127:0] compared_value;
    logic [7:0] differs;
    logic failed;

    always_ff @(posedge clk) begin
        compared_valid <= done_valid && !rst;
        compared_open <= done_open;
        compared_error <= done_error;
        compared_has_message <= done_has_message;
        compared_value <= done_value;
        for (int i = 0; i < 8; i = i + 1) differs[i] <= done_value[16*i+:16] != '0;
    end

    assign failed = compared_open && !compared_error && differs != '0;

    logic [127:0] tag;
    logic unused_ready;
    logic [$clog2(PACKETS):0] unused_tags;
    logic [$clog2(BEATS):0] unused_beats;
    logic [$clog2(BEATS):0] unused_verdict_space;
    logic unused_popped;

    assign tag = compared_open || compared_error ? '0 : bytes_pkg::swap128(compared_value);

    ram_fifo #(
        .WIDTH(130),
        .DEPTH(PACKETS)
    ) tags (
        .clk,
        .rst,
        .s_valid(compared_valid),
        .s_data({compared_error, failed, tag}),
        .m_valid(m_tag_tvalid),
        .m_ready(m_tag_tready),
        .m_data({m_tag_tuser[1:0], m_tag_tdata}),
        .popped(tag_popped),
        .stored(unused_tags)
    );

    assign m_tag_tuser[2] = 1'b0;

    // Verdicts that the last message beats wait for. A packet's place among the tags is given back when its
    // tag is taken, maybe long before its verdict here, so there is room for as many as there are beats.
    logic verdict_valid;
    logic verdict_take;
    logic verdict;

    stream_fifo #(
        .WIDTH(1),
        .DEPTH(BEATS)
    ) verdicts (
        .clk,
        .rst,
        .s_valid(compared_valid && compared_open && compared_has_message),
        .s_ready(unused_ready),
        .s_data(failed || compared_error),
        .m_valid(verdict_valid),
        .m_ready(verdict_take),
        .m_data(verdict),
        .space(unused_verdict_space),
        .popped(unused_popped)
    );

    logic head_valid;
    logic head_last;
    logic head_error;
    logic [6:0] head_bytes;
    logic [511:0] head_data;
    logic waits;  // for the verdict

    ram_fifo #(
        .WIDTH(522),
        .DEPTH(BEATS)
    ) beats (
        .clk,
        .rst,
        .s_valid(beat_valid),
        .s_data({
            beat_last, beat_last && beat_open, beat_last && !beat_open && beat_error, beat_bytes, beat_data
        }),
        .m_valid(head_valid),
        .m_ready(m_axis_tready && !(waits && !verdict_valid)),
        .m_data({head_last, waits, head_error, head_bytes, head_data}),
        .popped(beat_popped),
        .stored(unused_beats)
    );

    assign verdict_take = beat_popped && waits;
    assign m_axis_tvalid = head_valid && !(waits && !verdict_valid);
    assign m_axis_tlast = head_last;
    assign m_axis_tuser = waits ? verdict : head_error;

    assign m_axis_tkeep = ~(~64'd0 << head_bytes);
    always_comb begin
        for (int i = 0; i < 64; i = i + 1) begin
            m_axis_tdata[8*i+:8] = head_data[128*(i/16)+8*(15-i%16)+:8];
        end
    end

    logic unused;
    assign unused = ^{
        unused_home, unused_ready, unused_tags, unused_beats, unused_verdict_space, unused_popped
    };

endmodule
