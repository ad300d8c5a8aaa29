// Gives the engine the beats of the frames to send: additional data, which begin with the addresses and the SecTAG, then
// the user data to encrypt.
//
//   head     DA ‖ SA ‖ SecTAG, and without encryption or with an offset the user data that follow
//   second   what the offset has beyond 64 bytes
//   body     the user data to encrypt, from where the offset ends; without encryption the rest of the additional data
//
// Additional data that have user data leave beside the engine.
//
//   s_job_*      frames in order, of transmit_judge
//   s_axis_*     their beats
//   m_axis_*     beats of the engine; m_axis_ad: additional data
//   m_beside_*   additional data that have user data; last: of the frame
//   m_header_*   in the clock of the head: the frame; beside: its header leaves beside the engine; header: DA ‖ SA ‖ SecTAG
module transmit_feed
    import macsec_pkg::*;
#(
    parameter int SIDE = 8,
    parameter int SLOT_BITS = 4
) (
    input logic clk,
    input logic rst,

    input  logic                      s_job_valid,
    output logic                      s_job_ready,
    input  transmit_job_t             s_job,
    input  logic [     SLOT_BITS-1:0] s_job_slot,
    input  logic [          SIDE-1:0] s_job_side,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic         s_axis_tlast,

    output logic              m_axis_valid,
    input  logic              m_axis_ready,
    output beat_t             m_axis,
    output logic              m_axis_ad,

    output logic              m_beside_valid,
    input  logic              m_beside_ready,
    output beat_t             m_beside,

    output logic                 m_header_valid,
    input  logic                 m_header_ready,
    output logic [     SIDE-1:0] m_header_side,
    output logic [SLOT_BITS-1:0] m_header_slot,
    output logic [         15:0] m_header_bytes,
    output logic                 m_header_beside,
    output logic                 m_header_plain,
    output logic                 m_header_no_sci,
    output logic [        223:0] m_header
);

    transmit_job_t job;
    beat_t given;
    logic feed_valid;
    logic feed_ready;
    logic feed_last;
    logic feeds;
    logic in_second;
    logic in_body;
    logic needs_beat;
    logic [63:0] last_keep;
    logic [415:0] held;  // of the beat before, without the addresses
    logic head;
    logic next;  // one that is not the head
    logic drops;
    logic beside;  // additional data leave beside the engine
    logic is_ad;
    logic ad_last;
    logic settled;  // last_keep is of this job
    logic may_feed;
    logic [63:0] head_keep;
    logic [63:0] second_keep;
    logic [6:0] ad_bytes;

    assign job = s_job;
    assign beside = job.plain || job.offset != macsec_pkg::OFFSET_0;
    assign is_ad = job.plain || !in_body;
    assign may_feed = !(beside && is_ad) || (m_beside_ready && (settled || !job.plain));
    assign head = s_job_valid && !job.drop && !in_body && !in_second && s_axis_tvalid && m_header_ready
        && may_feed;
    assign next = (in_body || in_second) && (!needs_beat || s_axis_tvalid) && may_feed;
    assign feed_valid = head || next;
    assign feeds = feed_valid && feed_ready;
    assign drops = s_job_valid && job.drop;
    assign s_axis_tready = drops || (feed_ready && may_feed && (in_body || in_second ? needs_beat : head));
    assign s_job_ready = drops ? s_axis_tvalid && s_axis_tlast : feed_last && feeds;

    assign ad_bytes = macsec_pkg::bytes_before(job.no_sci, job.offset);
    assign head_keep = job.plan.second || job.plain ? '1 : macsec_pkg::keep_of(ad_bytes);
    assign second_keep = job.no_sci ? 64'h3f : 64'h3fff;  // 50 bytes, without the 44 or 36 of the head
    assign ad_last = job.plain ? feed_last : in_second || !job.plan.second;

    always_comb begin
        given.last = feed_last;
        if (job.plain) given.keep = feed_last ? last_keep : '1;
        else if (in_second) given.keep = second_keep;
        else if (in_body) given.keep = feed_last ? last_keep : '1;
        else given.keep = head_keep;
        if (in_body && !job.plain) begin
            case (job.offset)
                macsec_pkg::OFFSET_30: given.data = {s_axis_tdata[335:0], held[415:240]};
                macsec_pkg::OFFSET_50: given.data = {s_axis_tdata[495:0], held[415:400]};
                default: given.data = {s_axis_tdata[95:0], held};
            endcase
        end else if (in_body || in_second) begin
            // The user data follow the SecTAG, which moves them by 16 bytes, or 8 without SCI.
            if (job.no_sci) given.data = {s_axis_tdata[447:0], held[415:352]};
            else given.data = {s_axis_tdata[383:0], held[415:288]};
        end else begin
            if (job.no_sci) given.data = {s_axis_tdata[447:96], job.tag[63:0], s_axis_tdata[95:0]};
            else given.data = {s_axis_tdata[383:96], job.tag, s_axis_tdata[95:0]};
        end
    end

    body_beats beats (
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
        settled <= s_job_valid && !s_job_ready && !rst;
        if (s_axis_tvalid && s_axis_tready) held <= s_axis_tdata[511:96];
    end

    assign m_beside_valid = feeds && beside && is_ad;
    assign m_beside = {ad_last, given.keep, given.data};
    assign m_header_valid = head && feed_ready;
    assign m_header_side = s_job_side;
    assign m_header_slot = s_job_slot;
    assign m_header_bytes = job.bytes;
    assign m_header_beside = beside;
    assign m_header_plain = job.plain;
    assign m_header_no_sci = job.no_sci;
    assign m_header = {job.tag, s_axis_tdata[95:0]};

    stream_fifo #(
        .WIDTH(1 + $bits(beat_t)),
        .DEPTH(4)
    ) beats_fed (
        .clk,
        .rst,
        .s_valid(feed_valid),
        .s_ready(feed_ready),
        .s_data({is_ad, given}),
        .m_valid(m_axis_valid),
        .m_ready(m_axis_ready),
        .m_data({m_axis_ad, m_axis}),
        .space(),
        .popped()
    );

endmodule
