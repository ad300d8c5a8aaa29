// Properties of packet_finish, between queues: every packet outputs one beat on m_tag, and its last beat, if
// it has one, leaves exactly once with the same verdict. An offered output is stable until taken. With ready
// receivers there is always progress.
module packet_finish_properties (
    input logic clk,
    input logic rst,
    input logic packet_valid,
    input logic packet_barren,
    input logic packet_padded,
    input logic verdict_valid,
    input logic verdict_error,
    input logic result_valid,
    input logic result_failed,
    input logic [127:0] result_tag,
    input logic beat_valid,
    input logic [127:0] beat_block,
    input logic [4:0] beat_bytes,
    input logic beat_last,
    input logic m_axis_tready,
    input logic m_tag_tready
);
    logic packet_pop, result_pop, beat_ready;
    logic m_axis_tvalid, m_axis_tlast, m_axis_tuser, m_tag_tvalid;
    logic [127:0] m_axis_tdata, m_tag_tdata;
    logic [15:0] m_axis_tkeep;
    logic [2:0] m_tag_tuser;

    packet_finish finish (
        .clk,
        .rst,
        .packet_valid,
        .packet_barren,
        .packet_padded,
        .verdict_valid,
        .verdict_error,
        .packet_pop,
        .result_valid,
        .result_failed,
        .result_tag,
        .result_pop,
        .beat_valid,
        .beat_ready,
        .beat_block,
        .beat_bytes,
        .beat_last,
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tuser,
        .m_tag_tvalid,
        .m_tag_tready,
        .m_tag_tdata,
        .m_tag_tuser
    );

    // ---- Values of the previous clock. What a queue offers is stable until taken, and so must be the outputs.

    logic begun = 1'b0;
    logic was_packet = 1'b0, was_verdict = 1'b0, was_result = 1'b0, was_beat = 1'b0;
    logic was_axis = 1'b0, was_tag = 1'b0;
    logic [1:0] packet_before;
    logic verdict_before;
    logic [128:0] result_before;
    logic [133:0] beat_before;
    logic [145:0] axis_before, axis_now;
    logic [130:0] tag_before, tag_now;
    assign axis_now = {m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata};
    assign tag_now  = {m_tag_tuser, m_tag_tdata};

    // ---- Outputs of the oldest packet so far.

    logic last_out = 1'b0;  // its last beat was consumed
    logic tag_out = 1'b0;  // its m_tag beat was taken
    logic end_user;  // verdict of the last beat
    logic end_shown = 1'b0;  // the last beat was output and not empty
    logic ends, tags;  // in this clock
    assign ends = beat_valid && beat_ready && beat_last;
    assign tags = m_tag_tvalid && m_tag_tready;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_packet <= packet_valid && !packet_pop && !rst;
        was_verdict <= verdict_valid && !packet_pop && !rst;
        was_result <= result_valid && !result_pop && !rst;
        was_beat <= beat_valid && !beat_ready && !rst;
        was_axis <= m_axis_tvalid && !m_axis_tready && !rst;
        was_tag <= m_tag_tvalid && !m_tag_tready && !rst;
        packet_before <= {packet_barren, packet_padded};
        verdict_before <= verdict_error;
        result_before <= {result_failed, result_tag};
        beat_before <= {beat_last, beat_bytes, beat_block};
        axis_before <= axis_now;
        tag_before <= tag_now;
        if (rst || packet_pop) begin
            last_out  <= 1'b0;
            tag_out   <= 1'b0;
            end_shown <= 1'b0;
        end else begin
            if (ends) last_out <= 1'b1;
            if (tags) tag_out <= 1'b1;
            if (m_axis_tvalid && m_axis_tready && m_axis_tlast) begin
                end_shown <= 1'b1;
                end_user  <= m_axis_tuser;
            end
        end
    end

    logic bad;  // verdict of the oldest packet on m_tag
    logic judged;  // verdict and result of the oldest packet are available
    logic all_there;  // its last beat, too
    assign bad = m_tag_tuser[1:0] != '0;
    assign judged = packet_valid && verdict_valid && (packet_barren || result_valid);
    assign all_there = judged && (packet_barren || (beat_valid && beat_last));

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions: queues keep what they offer.
            if (was_packet) assume (packet_valid && packet_before == {packet_barren, packet_padded});
            if (was_verdict) assume (verdict_valid && verdict_before == verdict_error);
            if (was_result) assume (result_valid && result_before == {result_failed, result_tag});
            if (was_beat) assume (beat_valid && beat_before == {beat_last, beat_bytes, beat_block});
            assume (beat_last || beat_bytes == 5'd16);

            if (was_axis) assert (m_axis_tvalid && axis_now == axis_before);
            if (was_tag) assert (m_tag_tvalid && tag_now == tag_before);
            // Each output once, and nothing remains of a packet that leaves.
            if (ends) assert (packet_valid && !packet_barren && !last_out);
            if (tags) assert (packet_valid && verdict_valid && !tag_out);
            if (packet_pop) begin
                assert (packet_valid && verdict_valid);
                assert (tag_out || tags);
                assert (packet_barren || last_out || ends);
            end
            assert (result_pop == (packet_pop && !packet_barren));
            if (result_pop) assert (result_valid);
            // Both ports have the same verdict, and no tag with an error.
            if (m_axis_tvalid && m_axis_tlast) assert (m_axis_tuser == bad);
            if (m_axis_tvalid && !m_axis_tlast) assert (!m_axis_tuser);
            if (end_shown && m_tag_tvalid) assert (end_user == bad);
            if (m_tag_tvalid && m_tag_tuser[1]) assert (m_tag_tdata == '0 && m_tag_tuser == 3'b010);
            if (m_axis_tvalid) assert (m_axis_tkeep != '0 && (m_axis_tlast || m_axis_tkeep == '1));
            // With all its inputs available, the oldest packet leaves.
            if (all_there && m_axis_tready && m_tag_tready && !last_out) assert (packet_pop);
            // Inductive invariants.
            assert (finish.last_gone == last_out && finish.tag_gone == tag_out);
            if (last_out) assert (judged && !packet_barren && !tag_out);
            if (tag_out) assert (judged && !last_out);
            if (last_out || tag_out) assert (was_packet && was_verdict);
            if (end_shown) begin
                assert (last_out);
                assert (end_user == ((!packet_barren && result_failed && !verdict_error) || verdict_error));
            end
            cover (packet_pop && tag_out && !packet_barren);
            cover (packet_pop && last_out && bad);
            cover (packet_pop && packet_barren);
        end
    end
endmodule
