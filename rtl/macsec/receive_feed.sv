// Gives the engine the beats of received frames: additional data, which are the frame up to where the encrypted user data
// begin, then those; and beside them the ICV.
//
//   head     DA ‖ SA ‖ SecTAG, and with an offset the user data that follow; without encryption only the beat that is held
//   second   what the offset has beyond 64 bytes
//   body     the encrypted user data; without encryption all of the frame up to the ICV, a clock later: while one beat is
//            given, the next one is read, for the ICV may begin there
//   tail     one more beat of the frame, which has an end of the ICV
//
// User data that are not encrypted leave beside the engine. A frame that is not validated leaves only there.
//
//   s_job_*      frames in order, of receive_judge
//   s_axis_*     their beats
//   m_axis_*     beats of the engine; m_axis_ad: additional data
//   m_icv_*      ICVs
//   m_beside_*   user data that are not encrypted; last: of these in the frame
//   m_header_*   in the clock of the head: the frame; beside, engine: which way its user data leave
module receive_feed
    import macsec_pkg::*;
#(
    parameter int SIDE = 8,
    parameter int SLOT_BITS = 4
) (
    input logic clk,
    input logic rst,

    input  logic                     s_job_valid,
    output logic                     s_job_ready,
    input  receive_job_t             s_job,
    input  logic [    SLOT_BITS-1:0] s_job_slot,
    input  logic [         SIDE-1:0] s_job_side,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic         s_axis_tlast,

    output logic              m_axis_valid,
    input  logic              m_axis_ready,
    output beat_t             m_axis,
    output logic              m_axis_ad,

    output logic         m_icv_valid,
    input  logic         m_icv_ready,
    output logic [127:0] m_icv,

    output logic              m_beside_valid,
    input  logic              m_beside_ready,
    output beat_t             m_beside,

    output logic                     m_header_valid,
    input  logic                     m_header_ready,
    output verdict_job_t             m_header_verdict,
    output logic [    SLOT_BITS-1:0] m_header_slot,
    output logic [         SIDE-1:0] m_header_side,
    output logic                     m_header_beside,
    output logic                     m_header_engine,
    output logic [             95:0] m_header_addresses
);

    receive_job_t job;
    beat_t given;
    logic feed_valid;
    logic feed_ready;
    logic feed_last;
    logic feeds;
    logic in_second;
    logic in_body;
    logic in_tail;
    logic needs_beat;
    logic [63:0] last_keep;
    logic [511:0] held;  // the beat before
    logic head;
    logic drops;
    logic ends_tail;
    logic beside;  // user data leave beside the engine
    logic is_ad;
    logic passes_by;  // this beat has such user data
    logic may_feed;
    logic icv_room;
    logic starts_body;  // the next beat is the first of the body
    logic [6:0] ad_bytes;
    logic [63:0] head_keep;
    logic [63:0] second_keep;

    assign job = s_job;
    assign beside = job.plain || job.offset != macsec_pkg::OFFSET_0;
    assign is_ad = job.plain || !in_body;
    assign passes_by = beside && (job.plain ? in_body : !in_body);
    assign may_feed = !passes_by || m_beside_ready;
    assign drops = s_job_valid && job.drop;
    assign head = s_job_valid && !job.drop && !in_body && !in_second && !in_tail && s_axis_tvalid
        && m_header_ready && icv_room && may_feed;
    assign feed_valid = head || ((in_body || in_second) && (!needs_beat || s_axis_tvalid) && may_feed);
    assign feeds = feed_valid && feed_ready;
    assign ends_tail = in_tail && s_axis_tvalid;
    assign s_axis_tready = drops || in_tail
        || (feed_ready && (in_body || in_second ? needs_beat && may_feed : head));
    always_comb begin
        if (drops) s_job_ready = s_axis_tvalid && s_axis_tlast;
        else s_job_ready = job.tail ? ends_tail : feeds && feed_last;
    end

    assign ad_bytes = macsec_pkg::bytes_before(job.short_tag, job.offset);
    assign head_keep = job.plan.second ? '1 : macsec_pkg::keep_of(ad_bytes);
    assign second_keep = job.short_tag ? 64'h3f : 64'h3fff;  // 50 bytes, without the 44 or 36 of the head

    // The encrypted user data, moved by what is before them.
    logic [511:0] moved;

    always_comb begin
        case ({
            job.short_tag, job.offset
        })
            {1'b0, macsec_pkg::OFFSET_30} : moved = {s_axis_tdata[463:0], held[511:464]};
            {1'b1, macsec_pkg::OFFSET_30} : moved = {s_axis_tdata[399:0], held[511:400]};
            {1'b0, macsec_pkg::OFFSET_50} : moved = {s_axis_tdata[111:0], held[511:112]};
            {1'b1, macsec_pkg::OFFSET_50} : moved = {s_axis_tdata[47:0], held[511:48]};
            default: begin
                if (job.short_tag) moved = {s_axis_tdata[159:0], held[511:160]};
                else moved = {s_axis_tdata[223:0], held[511:224]};
            end
        endcase
        if (job.plain) moved = held;
    end

    always_comb begin
        given.last = feed_last;
        given.data = in_body ? moved : s_axis_tdata;
        if (in_body) given.keep = feed_last ? last_keep : '1;
        else given.keep = in_second ? second_keep : head_keep;
    end

    body_beats #(
        .SECOND_NEEDS(1)
    ) beats (
        .clk,
        .rst,
        .plan(job.plan),
        .gives(feeds),
        .in_second,
        .in_body,
        .last(feed_last),
        .last_keep,
        .needs_beat
    );

    always_ff @(posedge clk) begin
        if (rst) in_tail <= 1'b0;
        else in_tail <= in_tail ? !s_axis_tvalid : feeds && feed_last && job.tail;
        if (feeds) starts_body <= !in_body;
        if (s_axis_tvalid && s_axis_tready) held <= s_axis_tdata;
    end

    // ---- User data beside the engine: without the header before them ----

    logic cuts;  // the header is in this beat

    assign cuts = job.plain ? starts_body : !in_second;
    assign m_beside_valid = feeds && passes_by;
    always_comb begin
        m_beside.last = job.plain ? feed_last : in_second || !job.plan.second;
        m_beside.keep = given.keep;
        m_beside.data = given.data;
        if (cuts) begin
            m_beside.keep = job.short_tag ? given.keep >> 20 : given.keep >> 28;
            m_beside.data = job.short_tag ? given.data >> 160 : given.data >> 224;
        end
    end

    assign m_header_valid = head && feed_ready;
    assign m_header_verdict = job.verdict;
    assign m_header_slot = s_job_slot;
    assign m_header_side = s_job_side;
    assign m_header_beside = beside;
    assign m_header_engine = !job.plain;
    assign m_header_addresses = s_axis_tdata[95:0];

    // ---- The ICV, in the clock after the last beat: behind the bytes of that ----

    logic icv_follows;
    logic icv_opens;  // of the frame before: job.verdict.opens
    logic icv_plain;
    logic icv_short;
    logic icv_tail;
    logic [1:0] icv_offset;
    logic [3:0] icv_space;
    logic [511:0] prior;  // the last beat, and what follows it there
    logic [111:0] earlier;  // the last bytes of the beat before the held one
    logic [6:0] last_bytes;
    logic [191:0] rest;  // behind `prior`
    logic [703:0] behind;
    logic [8:0] icv_eight;  // the eight bytes that the ICV begins in, one of them
    logic [2:0] icv_turn;  // and the byte of these
    logic [191:0] icv_words;  // these eight, and what follows

    always_comb begin
        case ({
            icv_short, icv_offset
        })
            {
                1'b0, macsec_pkg::OFFSET_30
            } : begin
                rest = icv_tail ? {held[143:0], earlier[111:64]} : {144'd0, held[511:464]};
            end
            {
                1'b1, macsec_pkg::OFFSET_30
            } : begin
                rest = icv_tail ? {held[79:0], earlier} : {80'd0, held[511:400]};
            end
            {1'b0, macsec_pkg::OFFSET_50} : rest = held[303:112];
            {1'b1, macsec_pkg::OFFSET_50} : rest = held[239:48];
            default: rest = icv_short ? held[351:160] : held[415:224];
        endcase
        if (icv_plain) rest = held[191:0];
    end

    assign behind = {rest, prior};
    assign last_bytes = {job.plan.last_bytes == '0, job.plan.last_bytes};
    always_comb begin
        icv_words = '0;
        for (int i = 0; i <= 8; i = i + 1) begin
            icv_words = icv_words | (behind[64*i+:192] & {192{icv_eight[i]}});
        end
    end

    always_ff @(posedge clk) begin
        icv_follows <= !rst && (job.tail ? ends_tail : feeds && feed_last);
        icv_opens <= job.verdict.opens;
        icv_plain <= job.plain;
        icv_short <= job.short_tag;
        icv_tail <= job.tail;
        icv_offset <= job.offset;
        // One more may be on its way, and one may have come since.
        icv_room <= icv_space > 4'd2;
        if (feeds && in_body) prior <= moved;
        if (s_axis_tvalid && s_axis_tready) earlier <= held[511:400];
        icv_turn <= last_bytes[2:0];
        for (int i = 0; i <= 8; i = i + 1) icv_eight[i] <= last_bytes[6:3] == 4'(i);
    end

    logic [2:0] given_turn;  // the bytes before the ICV
    logic [191:0] given_words;

    stream_fifo #(
        .WIDTH(195),
        .DEPTH(8),
        .CREDITS(1)
    ) icvs (
        .clk,
        .rst,
        .s_valid(icv_follows && icv_opens),
        .s_ready(),
        .s_data({icv_turn, icv_words}),
        .m_valid(m_icv_valid),
        .m_ready(m_icv_ready),
        .m_data({given_turn, given_words}),
        .space(icv_space),
        .popped()
    );

    always_comb begin
        m_icv = given_words[127:0];
        for (int i = 1; i < 8; i = i + 1) if (given_turn == 3'(i)) m_icv = given_words[8*i+:128];
    end

    stream_fifo #(
        .WIDTH(1 + $bits(beat_t)),
        .DEPTH(4)
    ) beats_fed (
        .clk,
        .rst,
        .s_valid(feed_valid && job.verdict.opens && (in_body || !job.plain)),
        .s_ready(feed_ready),
        .s_data({is_ad, given}),
        .m_valid(m_axis_valid),
        .m_ready(m_axis_ready),
        .m_data({m_axis_ad, m_axis}),
        .space(),
        .popped()
    );

endmodule
