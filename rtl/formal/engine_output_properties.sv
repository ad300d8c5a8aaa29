// Properties of engine_output with an engine that respects its credits: no FIFO overflows, including that of the
// verdicts; credits are conserved; an offered output is stable until taken.
module engine_output_properties (
    input logic clk,
    input logic rst,
    input logic take_beat,
    input logic take_packet,
    input logic beat_valid,
    input logic [511:0] beat_data,
    input logic [6:0] beat_bytes,
    input logic beat_last,
    input logic beat_open,
    input logic beat_error,
    input logic done_valid,
    input logic [127:0] done_value,
    input logic done_open,
    input logic done_error,
    input logic done_has_message,
    input logic m_axis_tready,
    input logic m_tag_tready
);
    localparam int DEPTH = 2;  // of all FIFOs

    logic credit_beat, credit_packet, m_axis_tvalid, m_axis_tlast, m_axis_tuser, m_tag_tvalid;
    logic [511:0] m_axis_tdata;
    logic [127:0] m_tag_tdata;
    logic [63:0] m_axis_tkeep;
    logic [2:0] m_tag_tuser;

    engine_output #(
        .BEATS  (DEPTH),
        .PACKETS(DEPTH)
    ) out (
        .clk,
        .rst,
        .take_beat,
        .credit_beat,
        .take_packet,
        .credit_packet,
        .beat_valid,
        .beat({beat_last, beat_open, beat_error, beat_bytes, beat_data}),
        .done_valid,
        .done({done_has_message, done_open, done_error, done_value}),
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

    // ---- Model of the engine.

    logic begun = 1'b0;
    logic [2:0] beats_away = '0;  // taken and not yet output
    logic [2:0] packets_away = '0;
    logic [2:0] ends = '0;  // last beats of opened packets that were output, before the end of their packet
    logic end_given, end_done;
    assign end_given = beat_valid && beat_last && beat_open;
    assign end_done  = done_valid && done_open && done_has_message;

    logic was_axis = 1'b0, was_tag = 1'b0;
    logic [577:0] axis_before, axis_now;
    logic [130:0] tag_before, tag_now;
    assign axis_now = {m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata};
    assign tag_now  = {m_tag_tuser, m_tag_tdata};

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_axis <= m_axis_tvalid && !m_axis_tready && !rst;
        was_tag <= m_tag_tvalid && !m_tag_tready && !rst;
        axis_before <= axis_now;
        tag_before <= tag_now;
        if (rst) begin
            beats_away <= '0;
            packets_away <= '0;
            ends <= '0;
        end else begin
            beats_away <= beats_away + 3'(take_beat) - 3'(beat_valid);
            packets_away <= packets_away + 3'(take_packet) - 3'(done_valid);
            ends <= ends + 3'(end_given) - 3'(end_done);
        end
    end

    // ---- Last beats of opened packets in the FIFO: in its memory, and at its output.

    logic [2:0] ends_inside, beats_inside, tags_inside;
    logic [1:0] end_at;  // memory entries that are one
    logic end_fetched;  // the output register of the memory holds one
    logic first, second;  // memory entries that are valid
    logic [1:0] in_memory, tags_in_memory;
    for (genvar i = 0; i < DEPTH; i = i + 1) begin : g_place
        assign end_at[i] = out.beats.ram.memory[i][520];
    end
    assign in_memory = out.beats.write_at - out.beats.read_at;
    assign tags_in_memory = out.tags.write_at - out.tags.read_at;
    assign first = in_memory != '0;
    assign second = in_memory == DEPTH;
    assign end_fetched = out.beats.fetched && out.beats.fetched_data[520];
    assign beats_inside = 3'(in_memory) + 3'(out.beats.fetched) + 3'(out.head_valid);
    assign tags_inside = 3'(out.compared_valid) + 3'(out.tags.stored);
    assign ends_inside = 3'(out.head_valid && out.waits) + 3'(end_fetched) +
        3'(first && end_at[out.beats.read_at[0]]) +
        3'(second && end_at[!out.beats.read_at[0]]);

    logic verdict_push;  // one clock after the end of the packet
    assign verdict_push = out.compared_valid && out.compared.open && out.compared.has_message;

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions.
            assume (!take_beat || credit_beat);
            assume (!take_packet || credit_packet);
            assume (!beat_valid || beats_away != '0);
            assume (!done_valid || packets_away != '0);
            assume (!end_done || ends != '0 || end_given);

            assert (!beat_valid || beats_inside < DEPTH);
            assert (!out.compared_valid || out.tags.stored < DEPTH);
            assert (!verdict_push || out.verdicts.s_ready);
            assert (3'(out.beat_credits.count) + 3'(out.beat_given) + beats_away + beats_inside == DEPTH);
            assert (3'(out.packet_credits.count) + 3'(out.packet_given) + packets_away + tags_inside
                == DEPTH);
            if (was_axis) assert (m_axis_tvalid && axis_now == axis_before);
            if (was_tag) assert (m_tag_tvalid && tag_now == tag_before);
            if (m_axis_tvalid && out.waits) assert (out.verdicts.m_valid);
            // Inductive invariants: where the beats are.
            assert (credit_beat == (out.beat_credits.count != '0));
            assert (credit_packet == (out.packet_credits.count != '0));
            assert (beats_away <= DEPTH && packets_away <= DEPTH && ends <= DEPTH);
            assert (in_memory <= DEPTH && tags_in_memory <= DEPTH);
            assert (3'(out.beats.stored) == beats_inside);
            assert (out.beats.waiting == in_memory && out.beats.some == (in_memory != '0));
            assert (out.tags.waiting == tags_in_memory && out.tags.some == (tags_in_memory != '0));
            assert (out.verdicts.s_ready == (out.verdicts.space != '0));
            assert (3'(out.tags.stored) == 3'(tags_in_memory) + 3'(out.tags.fetched) + 3'(m_tag_tvalid));
            assert (out.verdicts.space <= DEPTH && out.verdicts.stored <= DEPTH);
            assert (3'(out.verdicts.stored) + 3'(out.verdicts.m_valid) == 3'(DEPTH) - 3'(out.verdicts.space));
            assert (ends + 3'(verdict_push) + 3'(DEPTH) - 3'(out.verdicts.space) == ends_inside);
            cover (ends == 3'd2 && !credit_beat && m_tag_tvalid && m_tag_tuser != '0);
            cover (out.verdicts.space == '0 && m_axis_tvalid && m_axis_tuser);
            cover (out.tags.stored == DEPTH && packets_away == '0);
        end
    end
endmodule
