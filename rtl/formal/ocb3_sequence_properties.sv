// Properties of ocb3_sequence: each packet outputs its steps, each once and in order, and there are no other
// steps. Each step has the bytes of its position, and reads the multiple of L for its number. An offered step
// is stable until taken. Each legal packet uses Offset_0 once. If the environment allows it, there is one
// step per clock.
//
// One symbolic packet is tracked, from `choose` on, with a count of the steps ahead of it.
module ocb3_sequence_properties (
    input logic clk,
    input logic rst,
    input logic take,
    input logic command_open,
    input logic [3:0] command_slot,
    input logic [12:0] command_ad_blocks,
    input logic [12:0] command_message_blocks,
    input logic [4:0] command_last_ad_bytes,
    input logic [4:0] command_last_message_bytes,
    input logic command_error,
    input logic start_valid,
    input logic step_done,
    input logic choose
);
    localparam logic [2:0] AD = 3'd0;
    localparam logic [2:0] FULL = 3'd1;
    localparam logic [2:0] RAGGED = 3'd2;
    localparam logic [2:0] TAG = 3'd3;
    localparam logic [2:0] ILLEGAL = 3'd4;

    logic free, busy, start_used, table_read, step_valid, step_open, step_last, step_barren, step_message;
    logic [3:0] table_slot, table_index, step_slot;
    logic [2:0] step_kind;
    logic [4:0] step_bytes;
    logic [127:0] step_offset;

    ocb3_sequence sequencer (
        .clk,
        .rst,
        .take,
        .free,
        .busy,
        .command_open,
        .command_slot,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_error,
        .start_valid,
        .start(128'd0),
        .start_used,
        .table_read,
        .table_slot,
        .table_index,
        .table_l(128'd0),
        .step_valid,
        .step_done,
        .step_kind,
        .step_open,
        .step_slot,
        .step_bytes,
        .step_last,
        .step_barren,
        .step_message,
        .step_offset
    );

    // ---- All packets: steps to come, and packets that have not used their Offset_0.

    logic begun = 1'b0;
    logic [14:0] steps_left = '0;
    logic [2:0] starts_left = '0;
    logic [13:0] command_steps;
    assign command_steps =
        command_error ? 14'd1 : 14'(command_ad_blocks) + 14'(command_message_blocks) + 14'd1;

    // ---- The tracked packet: what is ahead of it, and its progress.

    logic chosen = 1'b0;
    logic [1:0] ahead;
    logic open, refused;
    logic [3:0] slot;
    logic [12:0] ad_blocks, message_blocks;
    logic [4:0] last_ad, last_message;
    logic [13:0] at;  // its step at the output
    logic [13:0] ad_end, message_end;
    assign ad_end = refused ? 14'd0 : 14'(ad_blocks);
    assign message_end = refused ? 14'd0 : ad_end + 14'(message_blocks);

    // Expected step of this number: {kind, bytes, last}.
    function automatic logic [8:0] expected(input logic [13:0] number);
        expected = {TAG, 5'd16, 1'b0};
        if (refused) expected = {ILLEGAL, 5'd16, 1'b0};
        else if (number < ad_end) expected = {AD, number + 14'd1 == ad_end ? last_ad : 5'd16, 1'b0};
        else if (number + 14'd1 == message_end)
            expected = {last_message == 5'd16 ? FULL : RAGGED, last_message, 1'b1};
        else if (number < message_end) expected = {FULL, 5'd16, 1'b0};
    endfunction

    // Position of its steps: the next one in the first stage, and whether the second and third hold one of them.
    logic in_front = 1'b0, in_next = 1'b0, in_step = 1'b0;
    logic [13:0] front_at;
    logic [13:0] part_at;  // within its part, from 1
    logic front_moves;
    assign front_moves = sequencer.advance && in_front;
    assign part_at = front_at < ad_end ? front_at + 14'd1 : front_at - ad_end + 14'd1;

    logic was_step = 1'b0, was_start = 1'b0;
    logic [143:0] step_before, step_now;
    assign step_now = {
        step_kind, step_open, step_slot, step_bytes, step_last, step_barren, step_message, step_offset
    };

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_step <= step_valid && !step_done && !rst;
        was_start <= start_valid && !start_used && !rst;
        step_before <= step_now;
        if (rst) begin
            steps_left <= '0;
            starts_left <= '0;
            chosen <= 1'b0;
            in_front <= 1'b0;
            in_next <= 1'b0;
            in_step <= 1'b0;
        end else begin
            steps_left <= steps_left + (take ? 15'(command_steps) : 15'd0) - 15'(step_done);
            starts_left <= starts_left + 3'(take && !command_error) - 3'(start_used);
            if (sequencer.advance) begin
                in_next <= in_front;
                in_step <= in_next;
            end else if (step_done) begin
                in_step <= 1'b0;
            end
            if (front_moves) front_at <= front_at + 1'b1;
            if (front_moves && front_at == message_end) in_front <= 1'b0;
            if (chosen && step_done) begin
                if (ahead != '0) ahead <= ahead - 1'b1;
                else begin
                    at <= at + 1'b1;
                    if (at == message_end) chosen <= 1'b0;
                end
            end
            if (take && choose && !chosen) begin
                chosen <= 1'b1;
                ahead <= 2'(steps_left - 15'(step_done));
                open <= command_open;
                refused <= command_error;
                slot <= command_slot;
                ad_blocks <= command_ad_blocks;
                message_blocks <= command_message_blocks;
                last_ad <= command_last_ad_bytes;
                last_message <= command_last_message_bytes;
                at <= '0;
                in_front <= 1'b1;
                front_at <= '0;
            end
        end
    end

    logic [14:0] front_steps;  // steps that the first stage still outputs
    assign front_steps = !sequencer.active ? 15'd0 : sequencer.illegal ? 15'd1 :
        15'(sequencer.ad_left) + 15'(sequencer.message_left) + 15'd1;

    logic front_needs_start;
    assign front_needs_start = sequencer.active && !sequencer.illegal && (sequencer.in_ad || sequencer.first);

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            assume (!take || free);
            assume (!step_done || step_valid);
            assume (!start_valid || starts_left != '0);
            if (was_start) assume (start_valid);
            assume (command_ad_blocks <= 13'd4096 && command_message_blocks <= 13'd4096);
            assume (command_last_ad_bytes <= 5'd16 && command_last_message_bytes <= 5'd16);
            if (command_ad_blocks == 13'd4096) assume (command_last_ad_bytes != 5'd16);
            if (command_message_blocks == 13'd4096) assume (command_last_message_bytes != 5'd16);
            if (command_ad_blocks != '0) assume (command_last_ad_bytes != '0);
            if (command_message_blocks != '0) assume (command_last_message_bytes != '0);

            assert (busy == (steps_left != '0));
            if (was_step) assert (step_valid && step_now == step_before);
            if (start_used) assert (start_valid);
            // One step per clock, unless Offset_0 is missing.
            if ((step_done || !step_valid) && (start_valid || starts_left == '0)) assert (sequencer.advance);

            if (chosen && ahead == '0 && step_valid) begin
                assert (at <= message_end);
                assert ({step_kind, step_bytes, step_last} == expected(at));
                assert (step_open == open && step_slot == slot);
                assert (step_barren == (refused || (!open && message_end == '0)));
                assert (step_message == (!refused && message_blocks != '0));
            end
            // Index 0 is L_* for a partial block, 1 is L_$ for the tag, 2 and up are L_ntz for whole blocks.
            if (in_front && sequencer.advance && !refused) begin
                assert (table_read && table_slot == slot);
                if (front_at == message_end)
                    assert (table_index == 4'd1);
                    else if (!expected(front_at) [5])
                        assert (table_index == 4'd0);
                        else begin
                            for (int i = 0; i < 12; i = i + 1) begin
                                if (part_at[i] && (part_at & ((14'd1 << i) - 14'd1)) == '0)
                                    assert (table_index == 4'(i + 2));
                            end
                        end
            end

            // Inductive invariants.
            assert (steps_left == front_steps + 15'(sequencer.next_valid) + 15'(step_valid));
            if (sequencer.active) begin
                assert (sequencer.ad_left <= 13'd4096 && sequencer.message_left <= 13'd4096);
                assert (sequencer.in_ad == (sequencer.ad_left != '0));
                assert (sequencer.message_there == (sequencer.message_left != '0));
                if (sequencer.in_ad) assert (sequencer.ad_last == (sequencer.ad_left == 13'd1));
                if (sequencer.message_there)
                    assert (sequencer.message_last == (sequencer.message_left == 13'd1));
            end
            assert (starts_left == 3'(front_needs_start) + 3'(sequencer.next_valid && sequencer.from_start));
            if (in_front || in_next || in_step) assert (chosen);
            if (chosen) begin
                assert (in_front || in_next || in_step);
                assert (at <= message_end && front_at == at + 14'(in_step) + 14'(in_next));
                assert (in_front ? front_at <= message_end : front_at == message_end + 14'd1);
                assert (ahead == (in_step ? 2'd0 : 2'(step_valid) + 2'(sequencer.next_valid && !in_next)));
                assert (ad_blocks <= 13'd4096 && message_blocks <= 13'd4096);
                assert (last_ad <= 5'd16 && last_message <= 5'd16);
            end
            if (in_front) begin
                assert (sequencer.active && sequencer.illegal == refused);
                assert (sequencer.open == open && sequencer.slot == slot);
                assert (sequencer.ad_left == 13'(front_at < ad_end ? ad_end - front_at : 14'd0));
                assert (sequencer.message_left ==
                        13'(front_at < ad_end ? message_end - ad_end : message_end - front_at));
                assert (sequencer.ad_bytes == last_ad && sequencer.message_bytes == last_message);
                assert (sequencer.number == 12'(part_at) || refused);
                assert (sequencer.first == (front_at == '0 || front_at == ad_end));
                assert (sequencer.barren == (refused || (!open && message_end == '0)));
                assert (sequencer.message == (!refused && message_blocks != '0));
            end
            if (in_next) begin
                assert (sequencer.next_valid && sequencer.next_open == open && sequencer.next_slot == slot);
                assert ({sequencer.next_kind, sequencer.next_bytes, sequencer.next_last} == expected(
                    at + 14'(in_step)
                ));
                assert (sequencer.next_barren == (refused || (!open && message_end == '0)));
                assert (sequencer.next_message == (!refused && message_blocks != '0));
            end
            if (in_step) assert (step_valid && (in_next || !in_front));

            cover (chosen && ahead == '0 && step_valid && step_kind == RAGGED && at == 14'd3);
            cover (chosen && refused && ahead == 2'd2 && starts_left == 3'd1);
            cover (in_step && step_kind == TAG && sequencer.next_valid && step_done);
        end
    end
endmodule
