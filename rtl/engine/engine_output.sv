// The end of the 512-bit engines: FIFOs for message beats and for tags, the comparison of tags, and the
// credits for both FIFOs. The last message beat of an opened packet waits here for its verdict; the beats
// before it leave as they come, so what leaves before tlast is not verified yet. Of a sealed packet nothing
// waits.
//
//   take_beat, take_packet      a message beat, the last beat of a packet enters the engine
//   credit_beat, credit_packet  there is room for another one
//   beat_*     message beats (result_t), blocks as in engine_front; `error` with the packet's last one
//   done_*     packets (end_t), in order. value: the tag when sealing, when opening the difference of the computed and the
//              received tag
//   m_axis, m_tag   as the modes' ports; tuser of m_tag: 0 did not verify, 1 error, 2 unused
module engine_output #(
    parameter int BEATS = 64,
    parameter int PACKETS = 64
) (
    input logic clk,
    input logic rst,

    // Credits.
    input  logic take_beat,
    output logic credit_beat,
    input  logic take_packet,
    output logic credit_packet,

    // Message beats and ends of packets.
    input logic                               beat_valid,
    input logic [engine_pkg::RESULT_BITS-1:0] beat,
    input logic                               done_valid,
    input logic [   engine_pkg::END_BITS-1:0] done,

    // Messages; tags and verdicts.
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

`ifdef YOSYS
    typedef engine_pkg::result_t result_t;
    typedef engine_pkg::end_t end_t;
`else
    import engine_pkg::result_t;
    import engine_pkg::end_t;
`endif

    // What leaves gives its credit back in the clock after.
    logic beat_given;
    logic packet_given;
    logic beat_popped;
    logic tag_popped;

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
        .home()
    );

    credit_counter #(
        .CREDITS(PACKETS)
    ) packet_credits (
        .clk,
        .rst,
        .take(take_packet),
        .give(packet_given),
        .available(credit_packet),
        .home()
    );

    // The verdict, in two clocks: eight comparisons of two bytes each first.
    logic compared_valid;
    end_t ended;
    end_t compared;
    logic [127:0] value;
    logic [7:0] differs;
    logic failed;

    always_ff @(posedge clk) begin
        compared_valid <= done_valid && !rst;
        compared <= ended;
        for (int i = 0; i < 8; i = i + 1) differs[i] <= value[16*i+:16] != '0;
    end

    assign ended = done;
    assign value = ended.value;
    assign failed = compared.open && !compared.error && differs != '0;

    logic [127:0] tag;

    assign tag = compared.open || compared.error ? '0 : bytes_pkg::swap128(compared.value);

    ram_fifo #(
        .WIDTH(130),
        .DEPTH(PACKETS)
    ) tags (
        .clk,
        .rst,
        .s_valid(compared_valid),
        .s_data({compared.error, failed, tag}),
        .m_valid(m_tag_tvalid),
        .m_ready(m_tag_tready),
        .m_data({m_tag_tuser[1:0], m_tag_tdata}),
        .popped(tag_popped),
        .stored()
    );

    assign m_tag_tuser[2] = 1'b0;

    // Verdicts that the last message beats wait for. A packet's place among the tags is given back when its
    // tag is taken, maybe long before its verdict here, so there is room for as many as there are beats.
    logic verdict_valid;
    logic verdict_take;
    logic verdict;

    stream_fifo #(
        .WIDTH(1),
        .DEPTH(BEATS),
        .CREDITS(1)
    ) verdicts (
        .clk,
        .rst,
        .s_valid(compared_valid && compared.open && compared.has_message),
        .s_ready(),
        .s_data(failed || compared.error),
        .m_valid(verdict_valid),
        .m_ready(verdict_take),
        .m_data(verdict),
        .space(),
        .popped()
    );

    logic head_valid;
    result_t head;
    result_t entering;
    logic [511:0] head_data;
    logic waits;  // for the verdict

    // Of a beat that is not its packet's last one, `open` and `error` do not matter.
    always_comb begin
        entering = beat;
        entering.open = entering.last && entering.open;
        entering.error = entering.last && !entering.open && entering.error;
    end
    assign waits = head.open;
    assign head_data = head.data;

    ram_fifo #(
        .WIDTH(engine_pkg::RESULT_BITS),
        .DEPTH(BEATS)
    ) beats (
        .clk,
        .rst,
        .s_valid(beat_valid),
        .s_data(entering),
        .m_valid(head_valid),
        .m_ready(m_axis_tready && !(waits && !verdict_valid)),
        .m_data(head),
        .popped(beat_popped),
        .stored()
    );

    assign verdict_take = beat_popped && waits;
    assign m_axis_tvalid = head_valid && !(waits && !verdict_valid);
    assign m_axis_tlast = head.last;
    assign m_axis_tuser = waits ? verdict : head.error;

    assign m_axis_tkeep = ~(~64'd0 << head.bytes);
    always_comb begin
        for (int i = 0; i < 64; i = i + 1) begin
            m_axis_tdata[8*i+:8] = head_data[128*(i/16)+8*(15-i%16)+:8];
        end
    end

    stream_rules #(
        .WIDTH(578)
    ) rules (
        .clk,
        .rst,
        .valid(m_axis_tvalid),
        .ready(m_axis_tready),
        .data({m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata})
    );

endmodule
