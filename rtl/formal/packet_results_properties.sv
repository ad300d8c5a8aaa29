// Properties of packet_results with any mode that respects its credits: no FIFO overflows, including those of the
// verdicts; credits are conserved; an offered output is stable until taken.
module packet_results_properties (
    input logic clk,
    input logic rst,
    input logic beat_take,
    input logic packet_take,
    input logic beat_push,
    input logic [127:0] beat_data,
    input logic [4:0] beat_bytes,
    input logic beat_last,
    input logic beat_open,
    input logic beat_error,
    input logic result_push,
    input logic [127:0] result_tag,
    input logic result_open,
    input logic result_error,
    input logic verdict_push,
    input logic verdict_forged,
    input logic verdict_error,
    input logic verdict_message,
    input logic m_axis_tready,
    input logic m_tag_tready
);
    localparam int DEPTH = 2;  // of all FIFOs

    logic beat_available, packet_available, m_axis_tvalid, m_axis_tlast, m_axis_tuser, m_tag_tvalid;
    logic [127:0] m_axis_tdata, m_tag_tdata;
    logic [15:0] m_axis_tkeep;
    logic [2:0] m_tag_tuser;

    packet_results #(
        .FIFO(DEPTH),
        .PACKETS(DEPTH)
    ) results (
        .clk,
        .rst,
        .beat_take,
        .beat_available,
        .packet_take,
        .packet_available,
        .beat_push,
        .beat_data,
        .beat_bytes,
        .beat_last,
        .beat_open,
        .beat_error,
        .result_push,
        .result_tag,
        .result_open,
        .result_error,
        .verdict_push,
        .verdict_forged,
        .verdict_error,
        .verdict_message,
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

    // ---- Model of the mode.

    logic begun = 1'b0;
    logic [2:0] beats_away = '0;  // taken and not yet pushed
    logic [2:0] packets_away = '0;
    logic [2:0] ends = '0;  // last beats of opened packets that were pushed before their verdict
    logic [2:0] opens = '0;  // results of opened packets that were pushed before their verdict
    logic end_push, open_push;
    assign end_push  = beat_push && beat_last && beat_open;
    assign open_push = result_push && result_open;

    logic was_axis = 1'b0, was_tag = 1'b0;
    logic [145:0] axis_before, axis_now;
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
            opens <= '0;
        end else begin
            beats_away <= beats_away + 3'(beat_take) - 3'(beat_push);
            packets_away <= packets_away + 3'(packet_take) - 3'(result_push);
            ends <= ends + 3'(end_push) - 3'(verdict_push && verdict_message);
            opens <= opens + 3'(open_push) - 3'(verdict_push);
        end
    end

    // ---- Contents of the FIFOs. For two of them, entries of opened packets in memory and at the output.

    logic [2:0] beats_inside, tags_inside, holds_inside, verdicts_inside, ends_inside, opens_inside;
    logic [1:0] end_at, open_at;  // memory entries that belong to one
    logic beat_at, tag_at;  // read addresses of the memories
    for (genvar i = 0; i < DEPTH; i = i + 1) begin : g_place
        assign end_at[i]  = results.beats.ram.memory[i][2:1] == 2'b11;
        assign open_at[i] = results.tags.ram.memory[i][1];
    end
    assign beat_at = results.beats.read_at[0];
    assign tag_at = results.tags.read_at[0];
    assign beats_inside = 3'(DEPTH) - 3'(results.beats.space);
    assign tags_inside = 3'(DEPTH) - 3'(results.tags.space);
    assign holds_inside = 3'(DEPTH) - 3'(results.holds.space);
    assign verdicts_inside = 3'(DEPTH) - 3'(results.verdicts.space);
    assign ends_inside = 3'(results.beats.m_valid && results.last && results.open) +
        3'(results.beats.stored != '0 && end_at[beat_at]) +
        3'(results.beats.stored == DEPTH && end_at[!beat_at]);
    assign opens_inside = 3'(results.tags.m_valid && results.tag_open) +
        3'(results.tags.stored != '0 && open_at[tag_at]) +
        3'(results.tags.stored == DEPTH && open_at[!tag_at]);

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions.
            assume (!beat_take || beat_available);
            assume (!packet_take || packet_available);
            assume (!beat_push || beats_away != '0);
            assume (!result_push || packets_away != '0);
            assume (!verdict_push || opens != '0 || open_push);
            assume (!(verdict_push && verdict_message) || ends != '0 || end_push);

            assert (!beat_push || results.beats.s_ready);
            assert (!result_push || results.tags.s_ready);
            assert (!(verdict_push && verdict_message) || results.holds.s_ready);
            assert (!verdict_push || results.verdicts.s_ready);
            assert (3'(results.beat_credits.count) + beats_away + beats_inside == DEPTH);
            assert (3'(results.packet_credits.count) + packets_away + tags_inside == DEPTH);
            if (was_axis) assert (m_axis_tvalid && axis_now == axis_before);
            if (was_tag) assert (m_tag_tvalid && tag_now == tag_before);
            // A verdict is available for each opened packet at the outputs.
            if (m_axis_tvalid && m_axis_tlast && results.open) assert (results.holds.m_valid);
            if (m_tag_tvalid && results.tag_open) assert (results.verdicts.m_valid);
            // Inductive invariants: where the entries are.
            assert (beat_available == (results.beat_credits.count != '0));
            assert (packet_available == (results.packet_credits.count != '0));
            assert (beats_away <= DEPTH && packets_away <= DEPTH && ends <= DEPTH && opens <= DEPTH);
            assert (results.beats.s_ready == (results.beats.space != '0));
            assert (results.tags.s_ready == (results.tags.space != '0));
            assert (results.holds.s_ready == (results.holds.space != '0));
            assert (results.verdicts.s_ready == (results.verdicts.space != '0));
            assert (beats_inside <= DEPTH && results.beats.stored <= DEPTH);
            assert (tags_inside <= DEPTH && results.tags.stored <= DEPTH);
            assert (holds_inside <= DEPTH && results.holds.stored <= DEPTH);
            assert (verdicts_inside <= DEPTH && results.verdicts.stored <= DEPTH);
            assert (3'(results.beats.stored) + 3'(results.beats.m_valid) == beats_inside);
            assert (3'(results.tags.stored) + 3'(results.tags.m_valid) == tags_inside);
            assert (3'(results.holds.stored) + 3'(results.holds.m_valid) == holds_inside);
            assert (3'(results.verdicts.stored) + 3'(results.verdicts.m_valid) == verdicts_inside);
            assert (ends + holds_inside == ends_inside);
            assert (opens + verdicts_inside == opens_inside);
            cover (ends == 3'd2 && !beat_available && m_tag_tvalid && m_tag_tuser != '0);
            cover (holds_inside == DEPTH && m_axis_tvalid && m_axis_tuser);
            cover (verdicts_inside == DEPTH && tags_inside == DEPTH);
        end
    end
endmodule
