// Properties of packet_front, for every input:
//   - Each command is presented once, and outputs its number of blocks, of the right kinds, in the right
//     order and with the bytes of the stream. It gets one verdict, which is an error exactly if the command
//     or its stream was wrong.
//   - Exactly the beats up to tlast are consumed, so the next packet starts with its own first beat.
//   - If the environment allows it, there is always progress.
//
// One symbolic command is tracked, from `choose` on, with a count of what is ahead of it.
module packet_front_properties (
    input logic clk,
    input logic rst,
    input logic [1:0] slot_loaded,
    input logic s_cmd_tvalid,
    input logic s_cmd_open,
    input logic [3:0] s_cmd_slot,
    input logic [15:0] s_cmd_ad_bytes,
    input logic [15:0] s_cmd_message_bytes,
    input logic s_axis_tvalid,
    input logic [127:0] s_axis_tdata,
    input logic [15:0] s_axis_tkeep,
    input logic s_axis_tlast,
    input logic [1:0] s_axis_tuser,
    input logic command_ready,
    input logic block_ready,
    input logic verdict_ready,
    input logic choose
);
    localparam int LEAST = 1;
    localparam int AD_MOST = 33;

    logic s_cmd_tready, s_axis_tready, command_valid, command_open, command_padded, command_error;
    logic [3:0] command_slot;
    logic [127:0] command_nonce, block;
    logic [12:0] command_ad_blocks, command_message_blocks;
    logic [4:0] command_last_ad_bytes, command_last_message_bytes, block_bytes;
    logic [1:0] block_kind;
    logic block_valid, block_last, verdict_valid, verdict_error;

    packet_front #(
        .SLOTS(2),
        .LEAST(LEAST),
        .OPEN_LEAST(0),
        .OPEN_WHOLE(1),
        .AD_MOST(AD_MOST)
    ) front (
        .clk,
        .rst,
        .slot_loaded,
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce (128'd0),
        .s_cmd_ad_bytes,
        .s_cmd_message_bytes,
        .s_cmd_padded(1'b0),
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_nonce,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_padded,
        .command_error,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes,
        .block_kind,
        .block_last,
        .verdict_valid,
        .verdict_ready,
        .verdict_error
    );

    // ---- Transfers of this clock.

    logic enter, take, beat, give, judge;
    assign enter = s_cmd_tvalid && s_cmd_tready;
    assign take  = command_valid && command_ready;
    assign beat  = s_axis_tvalid && s_axis_tready;
    assign give  = block_valid && block_ready;
    assign judge = verdict_valid && verdict_ready;

    // ---- Meaning of the command taken, formulated differently than in packet_front.

    logic known, legal, has_beats;
    assign known = s_cmd_slot == 4'd0 ? slot_loaded[0] : s_cmd_slot == 4'd1 ? slot_loaded[1] : 1'b0;
    assign legal = known && s_cmd_ad_bytes <= AD_MOST &&
        (s_cmd_open ? s_cmd_message_bytes % 16 == 0 : s_cmd_message_bytes >= LEAST);
    assign has_beats = s_cmd_open || s_cmd_ad_bytes != '0 || s_cmd_message_bytes != '0;

    // ---- Commands, last blocks, verdicts and ends of streams to come.

    logic [2:0] untaken = '0;
    logic [2:0] unfinished = '0;
    logic [2:0] unjudged = '0;
    logic [2:0] unread = '0;

    // ---- The tracked command: its lengths, what is ahead of it, and its progress.

    logic chosen = 1'b0;
    logic is_legal, is_open, has_blocks;
    logic [15:0] ad, message;
    logic [2:0] takes_before, ends_before, verdicts_before, streams_before;
    logic is_taken, is_given, is_judged, is_read;
    logic is_started;  // it has left the first half of packet_front
    logic misfit;
    logic [13:0] given;  // its blocks so far
    logic [13:0] ad_end, message_end, total;
    logic [4:0] last_ad, last_message;

    assign ad_end = 14'((17'(ad) + 17'd15) / 17'd16);
    assign message_end = ad_end + 14'((17'(message) + 17'd15) / 17'd16);
    assign last_ad = ad == '0 ? 5'd0 : 5'(1 + (ad - 1) % 16);
    assign last_message = message == '0 ? 5'd0 : 5'(1 + (message - 1) % 16);
    assign total = message_end + 14'(is_open);

    // Expected next block, and whether the current beat matches.
    logic mine, reading, fits, last;
    logic [1:0] kind;
    logic [4:0] bytes;
    logic [15:0] keep;
    logic [127:0] expected;
    assign mine = chosen && has_blocks && !is_given && ends_before == '0;
    assign reading = chosen && has_blocks && !is_read && streams_before == '0;
    assign kind = given < ad_end ? 2'd1 : given < message_end ? 2'd0 : 2'd2;
    assign last = given + 1'b1 == total;
    always_comb begin
        bytes = 5'd16;
        if (given + 1'b1 == ad_end && ad % 16 != 0) bytes = 5'(ad % 16);
        if (given >= ad_end && given + 1'b1 == message_end && message % 16 != 0) bytes = 5'(message % 16);
        keep = 16'((17'd1 << bytes) - 17'd1);
        for (int i = 0; i < 16; i = i + 1) begin
            expected[8*(15-i)+:8] = keep[i] && !is_read ? s_axis_tdata[8*i+:8] : 8'd0;
        end
    end
    assign fits = s_axis_tuser == kind && s_axis_tkeep == keep && s_axis_tlast == last;

    // ---- Values of the previous clock.

    logic begun = 1'b0;
    logic was_command = 1'b0, was_block = 1'b0, was_verdict = 1'b0, was_beat = 1'b0;
    logic [42:0] command_before, command_now;
    logic [135:0] block_before, block_now;
    logic error_before;
    logic [146:0] beat_before, beat_now;
    logic [2:0] still = '0;  // clocks without a transfer, although the environment allows one
    assign command_now = {command_open, command_slot, command_ad_blocks, command_message_blocks,
                          command_last_ad_bytes, command_last_message_bytes, command_padded, command_error};
    assign block_now = {block_last, block_kind, block_bytes, block};
    assign beat_now = {s_axis_tlast, s_axis_tuser, s_axis_tkeep, s_axis_tdata};

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_command <= command_valid && !command_ready && !rst;
        was_block <= block_valid && !block_ready && !rst;
        was_verdict <= verdict_valid && !verdict_ready && !rst;
        was_beat <= s_axis_tvalid && !s_axis_tready && !rst;
        command_before <= command_now;
        block_before <= block_now;
        error_before <= verdict_error;
        beat_before <= beat_now;
        if (rst || enter || take || beat || give || judge ||
            !(s_cmd_tvalid && s_axis_tvalid && command_ready && block_ready && verdict_ready))
            still <= '0;
        else still <= still + 1'b1;

        if (rst) begin
            untaken <= '0;
            unfinished <= '0;
            unjudged <= '0;
            unread <= '0;
            chosen <= 1'b0;
        end else begin
            untaken <= untaken + 3'(enter) - 3'(take);
            unfinished <= unfinished + 3'(enter && legal && has_beats) - 3'(give && block_last);
            unjudged <= unjudged + 3'(enter) - 3'(judge);
            unread <= unread + 3'(enter && has_beats) - 3'(beat && s_axis_tlast);

            if (chosen) begin
                if (take) begin
                    if (takes_before == '0) is_taken <= 1'b1;
                    else takes_before <= takes_before - 1'b1;
                end
                if (give && block_last && !is_given) begin
                    if (ends_before == '0) is_given <= 1'b1;
                    else ends_before <= ends_before - 1'b1;
                end
                if (judge && !is_judged) begin
                    if (verdicts_before == '0) is_judged <= 1'b1;
                    else verdicts_before <= verdicts_before - 1'b1;
                end
                if (beat && s_axis_tlast && !is_read) begin
                    if (streams_before == '0) is_read <= 1'b1;
                    else streams_before <= streams_before - 1'b1;
                end
                if (mine && give) begin
                    given <= given + 1'b1;
                    if (!is_read && !fits) misfit <= 1'b1;
                end
                if (front.start) is_started <= 1'b1;
                if (is_taken && is_given && is_judged && is_read) chosen <= 1'b0;
            end else if (enter && choose) begin
                chosen <= 1'b1;
                is_legal <= legal;
                is_open <= s_cmd_open;
                has_blocks <= legal && has_beats;
                ad <= s_cmd_ad_bytes;
                message <= s_cmd_message_bytes;
                takes_before <= untaken - 3'(take);
                ends_before <= unfinished - 3'(give && block_last);
                verdicts_before <= unjudged - 3'(judge);
                streams_before <= unread - 3'(beat && s_axis_tlast);
                is_taken <= 1'b0;
                is_started <= 1'b0;
                is_given <= !(legal && has_beats);
                is_judged <= 1'b0;
                is_read <= !has_beats;
                misfit <= 1'b0;
                given <= '0;
            end
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        // Environment assumptions: parts of up to four blocks. Longer ones only count further.
        assume (s_cmd_ad_bytes < 16'd64 && s_cmd_message_bytes < 16'd64);
        if (was_beat) assume (s_axis_tvalid && beat_now == beat_before);
        if (begun && !rst) begin
            if (was_command) assert (command_valid && command_now == command_before);
            if (was_block) assert (block_valid && block_now == block_before);
            if (was_verdict) assert (verdict_valid && verdict_error == error_before);
            assert (still <= 3'd3);

            // No output without a cause.
            if (take) assert (untaken != '0);
            if (give) assert (unfinished != '0);
            if (judge) assert (unjudged != '0);
            if (beat) assert (unread != '0);

            if (chosen) begin
                if (take && takes_before == '0 && !is_taken) begin
                    assert (command_error == !is_legal && command_open == is_open);
                    assert (command_ad_blocks == 13'(ad_end));
                    assert (command_message_blocks == 13'(message_end - ad_end));
                end
                if (mine && give) begin
                    assert (is_taken);
                    assert (given < total);
                    assert (block_kind == kind && block_last == last && block_bytes == bytes);
                    assert (block == expected);
                    // Blocks and beats correspond, until tlast has come too early.
                    if (!is_read) assert (beat && streams_before == '0);
                end
                // A beat without a block is an excess one, or its command was refused.
                if (reading && beat) assert ((mine && give) || is_given);
                if (judge && verdicts_before == '0 && !is_judged) begin
                    assert (is_taken && is_given);
                    assert (verdict_error == (!is_legal || misfit));
                end
            end

            // Inductive invariants: where the commands are.
            assert (!front.taken || front.held);
            assert (!(front.active && (front.barren || front.swallow)));
            if (front.active) begin
                assert (front.ad_left != '0 || front.message_left != '0 || front.tag_follows);
                assert (block_kind == (front.ad_left != '0 ? 2'd1 : front.message_left != '0 ? 2'd0 : 2'd2));
                assert (front.part_last == (block_kind == 2'd1 ? front.ad_left == 13'd1 :
                        block_kind == 2'd2 || front.message_left == 13'd1));
                if (block_kind == 2'd1) assert (front.message_follows == (front.message_left != '0));
                assert (block_last == (front.part_last && (block_kind == 2'd2 || !front.tag_follows) &&
                        !(block_kind == 2'd1 && front.message_follows)));
                assert (block_bytes == (!front.part_last || block_kind == 2'd2 ? 5'd16 :
                        block_kind == 2'd1 ? front.last_ad : front.last_message));
            end
            assert (untaken == 3'(front.held && !front.taken));
            assert (unfinished == 3'(front.active) + 3'(front.held && !command_error && front.new_blocks));
            assert (unjudged == 3'(front.held) + 3'(front.active || front.barren) + 3'(verdict_valid));
            assert (unread == 3'(front.held && front.new_blocks) + 3'(front.active && !front.early) +
                    3'(front.swallow));
            if (chosen) begin
                assert (ad < 16'd64 && message < 16'd64 && takes_before == '0 && given <= total);
                assert (has_blocks == (is_legal && total != '0));
                assert (is_given || has_blocks);
                assert (is_taken || !is_started);
                if (!is_started) begin
                    assert (front.held && front.taken == is_taken);
                    assert (command_error == !is_legal && command_open == is_open);
                    assert (command_ad_blocks == 13'(ad_end));
                    assert (command_message_blocks == 13'(message_end - ad_end));
                    assert (command_last_ad_bytes == last_ad);
                    assert (command_last_message_bytes == last_message);
                    if (has_blocks) assert (ends_before == 3'(front.active));
                    assert (verdicts_before == 3'(front.active || front.barren) + 3'(verdict_valid));
                    if (!is_read)
                        assert (streams_before == 3'(front.active && !front.early) + 3'(front.swallow));
                    assert (!is_judged && is_given == !has_blocks && is_read == (total == '0));
                    assert (given == '0 && !misfit);
                end else if (!is_judged && !(verdict_valid && verdicts_before == '0)) begin
                    // The command outputs blocks, or its verdict still has to wait.
                    assert (verdicts_before == 3'(verdict_valid));
                    assert (streams_before == '0 || (is_read && !has_blocks));
                    assert (has_blocks ? front.active : front.barren);
                    assert (is_given == !has_blocks);
                    if (has_blocks) begin
                        assert (ends_before == '0 && given < total);
                        assert (front.ad_left == (given < ad_end ? 13'(ad_end - given) : 13'd0));
                        assert (front.message_left == (given < ad_end ? 13'(message_end - ad_end) :
                                given < message_end ? 13'(message_end - given) : 13'd0));
                        assert (front.tag_follows == is_open);
                        assert (front.last_ad == last_ad && front.last_message == last_message);
                        assert (front.early == is_read && front.misfit == misfit);
                    end else begin
                        assert (front.misfit == !is_legal && front.swallow == !is_read && !misfit);
                    end
                end else begin
                    assert (is_given);
                    if (!is_judged) assert (verdict_error == (!is_legal || misfit));
                    if (!is_read)
                        assert (front.swallow && !front.active && !front.barren && streams_before == '0);
                end
            end

            cover (chosen && is_legal && is_open && ad > 16 && message > 16 && judge &&
                   verdicts_before == '0 && !is_judged && !verdict_error);
            cover (chosen && is_legal && misfit && is_judged && is_read && unjudged == 3'd0);
            cover (chosen && !is_legal && ad > 16 && is_judged && is_read);
            cover (mine && give && is_read);
        end
    end
endmodule
