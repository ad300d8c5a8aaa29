// Properties of eme2_issue, with a static key (KEYS = 0), a key wavefront (1) and a key per block (2), in an
// environment that follows the handshakes:
//   - Each message enters the pipes exactly once per tweak block (once without a tweak), and per full and
//     partial block, each of which takes a place of the store; for mp, MP_AFTER clocks after the last; for
//     mm, MIXED clocks after mp, if there is a partial block; and for each further group, when mixing has its
//     start. Two entries never coincide.
//   - Messages do not mix, none is lost, and they are mixed in order.
//   - The pipes hold the key of each entry, as long as a reserved entry needs it.
//   - Progress: if the environment allows it, something eventually moves, unless further groups are still to
//     begin.
//
// Apart from kind, slot and key, the contents of the entries are left to the tests, as are the slots of mp,
// mm and the further groups.
module eme2_issue_properties (
    input logic clk,
    input logic rst,
    input logic [2:0] command_valid,
    input logic [2:0][3:0] command_slot,
    input logic [2:0][12:0] command_ad_blocks,
    input logic [2:0][12:0] command_message_blocks,
    input logic [2:0][4:0] command_last_message_bytes,
    input logic [2:0] command_error,
    input logic [2:0] block_valid,
    input logic [2:0] packet_room,
    input logic [2:0] loading,
    input logic [2:0][3:0] loading_slot,
    input logic [2:0] room,
    input logic [2:0] start_valid
);
    for (genvar i = 0; i < 3; i = i + 1) begin : g_keys
        eme2_issue_checks #(
            .KEYS(i)
        ) checks (
            .clk,
            .rst,
            .command_valid(command_valid[i]),
            .command_slot(command_slot[i]),
            .command_ad_blocks(command_ad_blocks[i]),
            .command_message_blocks(command_message_blocks[i]),
            .command_last_message_bytes(command_last_message_bytes[i]),
            .command_error(command_error[i]),
            .block_valid(block_valid[i]),
            .packet_room(packet_room[i]),
            .loading(loading[i]),
            .loading_slot(loading_slot[i]),
            .room(room[i]),
            .start_valid(start_valid[i])
        );
    end
endmodule

module eme2_issue_checks #(
    parameter int KEYS = 1
) (
    input logic clk,
    input logic rst,
    input logic command_valid,
    input logic [3:0] command_slot,
    input logic [12:0] command_ad_blocks,
    input logic [12:0] command_message_blocks,
    input logic [4:0] command_last_message_bytes,
    input logic command_error,
    input logic block_valid,
    input logic packet_room,
    input logic loading,
    input logic [3:0] loading_slot,
    input logic room,
    input logic start_valid
);
    localparam int MP_AFTER = eme2_pkg::MP_AFTER;
    localparam int MIXED = eme2_pkg::MIXED;
    localparam int MIXED_PARTIAL = eme2_pkg::MIXED_PARTIAL;
    localparam int MIXING = eme2_pkg::MIXING;
    localparam int PIPE = eme2_pkg::OUT + 2;
    localparam int WAVE = 9;

    logic command_ready, block_ready, packet_valid, packet_barren, second_valid, second_decrypt, take;
    logic load_key, upper_valid;
    logic [3:0] key_slot;
    logic [3:0] second_slot, second_partial, tweak_slot, first_mask_slot;
    logic [12:0] second_blocks;
    logic [127:0] upper_block, upper_beside;
    logic [eme2_pkg::SIDE-1:0] upper_side;

    logic [MIXED-1:0] mm_due = '0;  // bit i: mm is issued in i clocks
    logic [4:0] groups_left = '0;  // further groups that have not begun
    logic [MIXING-1:0] start_mixing;
    assign start_mixing = MIXING'({groups_left - 5'd1, 8'd0});

    eme2_issue #(
        .KEYS(KEYS)
    ) schedule (
        .clk,
        .rst,
        .command_valid,
        .command_ready,
        .command_open(1'b0),
        .command_slot,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes(5'd16),
        .command_last_message_bytes,
        .command_error,
        .block_valid,
        .block_ready,
        .block(128'd0),
        .packet_room,
        .packet_valid,
        .packet_barren,
        .second_valid,
        .second_decrypt,
        .second_slot,
        .second_blocks,
        .second_partial,
        .loading,
        .loading_slot,
        .tweak_slot,
        .tweak_mask(128'd0),
        .first_mask_slot,
        .first_mask(128'd0),
        .room,
        .take,
        .sum(128'd0),
        .mixing_mm(mm_due[0]),
        .mm(128'd0),
        .mm_beside(128'd0),
        .mm_mixing('0),
        .start_valid,
        .start(128'd0),
        .start_mixing,
        .load_key,
        .key_slot,
        .upper_valid,
        .upper_block,
        .upper_beside,
        .upper_side
    );

    localparam logic [2:0] IDLE = 3'd0;
    localparam logic [2:0] NEW_KEY = 3'd1;
    localparam logic [2:0] IN_TWEAK = 3'd2;
    localparam logic [2:0] IN_MESSAGE = 3'd3;
    localparam logic [2:0] IN_PARTIAL = 3'd4;

    logic enters;  // a legal command
    logic begins;
    logic give;
    logic new_key, key_now;
    logic [3:0] slot;
    logic [2:0] kind;
    assign enters = command_valid && command_ready && !command_error;
    assign begins = second_valid;
    assign give = block_valid && block_ready;
    assign new_key = upper_side[eme2_pkg::SIDE-1];
    assign kind = upper_side[eme2_pkg::SIDE-2-:3];
    assign slot = upper_side[MIXING-1-:4];
    assign key_now = upper_valid && new_key;

    // ---- The next message, and the current one: entries to come.

    logic begun = 1'b0;
    logic next = 1'b0;
    logic [3:0] next_slot;
    logic [12:0] next_tweaks, next_blocks;
    logic [3:0] next_partial;

    logic [3:0] packet_slot;
    logic hollow = 1'b0;  // the tweak block does not come from the stream
    logic hollow_left = 1'b0;  // and has not entered yet
    logic [12:0] tweaks_left = '0;
    logic [12:0] blocks_left = '0;
    logic [4:0] groups;
    logic partial = 1'b0;  // the message has a partial block
    logic partial_left = 1'b0;
    logic in_tweak, in_message, in_partial, ended;
    assign in_tweak = tweaks_left != '0;
    assign in_message = !in_tweak && blocks_left != '0;
    assign in_partial = !in_tweak && !in_message && partial_left;
    assign ended = give && (in_partial || (in_message && blocks_left == 13'd1 && !partial));

    // ---- Entries due in the pipes in this clock, one clock after their issue.

    logic due_tweak = 1'b0, due_message = 1'b0, due_partial = 1'b0, due_mp = 1'b0, due_mm = 1'b0;
    logic due_start = 1'b0;
    logic hollow_now;
    logic [3:0] due_slot;
    logic [MP_AFTER-1:0] mp_due = '0;
    assign hollow_now = upper_valid && kind == eme2_pkg::TWEAK && !due_tweak;

    // ---- Mixing: clocks until the preceding messages are mixed, and since the end of the last one.

    logic [6:0] until_mixed = '0;
    logic [5:0] since_end = '1;
    logic end_partial;  // that one had a partial block
    logic [3:0] sum_time;
    assign sum_time = schedule.sum_time;

    // ---- Key of the pipes.

    logic known;
    logic [3:0] owner;
    logic [5:0] since_enter, since_load;

    followed_key #(
        .KEYS(KEYS),
        .PIPE(PIPE),
        .WAVE(WAVE)
    ) key (
        .clk,
        .rst,
        .begun,
        .enter(upper_valid),
        .load(key_now),
        .slot,
        .forget(loading),
        .forget_slot(loading_slot),
        .known,
        .owner,
        .since_enter,
        .since_load,
        .held(schedule.pipe_held),
        .held_slot(schedule.pipe_slot),
        .may_load(schedule.in_pipes.may_load),
        .left(6'(schedule.in_pipes.left)),
        .loading(schedule.in_pipes.loading)
    );

    // ---- Values of the previous clock.

    logic load_before = 1'b0;
    logic [3:0] key_slot_before;
    logic was_command = 1'b0, was_stuck = 1'b0;
    logic [35:0] command_before, command_now;
    logic [15:0] distance_before, distance;
    logic can_go, goes;
    assign command_now = {
        command_error, command_slot, command_ad_blocks, command_message_blocks, command_last_message_bytes
    };

    // Progress is possible except for reserved entries, the mixing order and the key.
    always_comb begin
        can_go = next;
        if (hollow_left && !hollow_now) can_go = 1'b1;
        else if (in_tweak) can_go = block_valid;
        else if (in_message || in_partial) can_go = block_valid && room;
        if (groups_left != '0) can_go = 1'b0;
        goes = begins || give || schedule.issue;
    end

    logic [4:0] last_mp, last_mm;
    always_comb begin
        last_mp = '0;
        last_mm = '0;
        for (int i = 0; i < MP_AFTER; i = i + 1) if (mp_due[i]) last_mp = 5'(i + 1);
        for (int i = 0; i < MIXED; i = i + 1) if (mm_due[i]) last_mm = 5'(i + 1);
        distance = {9'(last_mp) + 9'(last_mm) + 9'(until_mixed), 7'd0} + (upper_valid ? 16'd64 : 16'd0) +
            (schedule.in_pipes.may_load ? 16'd0 : 16'(schedule.in_pipes.left)) +
            16'(schedule.in_pipes.loading);
    end

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_command <= command_valid && !command_ready && !rst;
        command_before <= command_now;
        was_stuck <= can_go && !goes && !rst;
        distance_before <= distance;
        due_slot <= packet_slot;
        load_before <= load_key && !rst;
        key_slot_before <= key_slot;
        if (ended) end_partial <= partial;

        if (enters) begin
            next_slot <= command_slot;
            next_tweaks <= command_ad_blocks;
            next_blocks <= command_message_blocks - 13'(command_last_message_bytes != 5'd16);
            next_partial <= command_last_message_bytes == 5'd16 ? 4'd0 : 4'(command_last_message_bytes);
        end
        if (begins) begin
            packet_slot <= next_slot;
            groups <= 5'((next_blocks - 13'd1) / 13'd128);
        end

        if (rst) begin
            next <= 1'b0;
            hollow <= 1'b0;
            hollow_left <= 1'b0;
            tweaks_left <= '0;
            blocks_left <= '0;
            partial <= 1'b0;
            partial_left <= 1'b0;
            due_tweak <= 1'b0;
            due_message <= 1'b0;
            due_partial <= 1'b0;
            due_mp <= 1'b0;
            due_mm <= 1'b0;
            due_start <= 1'b0;
            mp_due <= '0;
            mm_due <= '0;
            groups_left <= '0;
            until_mixed <= '0;
            since_end <= '1;
        end else begin
            next <= enters || (next && !begins);
            if (hollow_now) hollow_left <= 1'b0;
            if (give && in_tweak) tweaks_left <= tweaks_left - 1'b1;
            if (give && in_message) blocks_left <= blocks_left - 1'b1;
            if (give && in_partial) partial_left <= 1'b0;
            if (begins) begin
                hollow <= next_tweaks == '0;
                hollow_left <= next_tweaks == '0;
                tweaks_left <= next_tweaks;
                blocks_left <= next_blocks;
                partial <= next_partial != '0;
                partial_left <= next_partial != '0;
            end
            due_tweak <= give && in_tweak;
            due_message <= give && in_message;
            due_partial <= give && in_partial;
            due_mp <= mp_due[0];
            due_mm <= mm_due[0];
            due_start <= start_valid;
            mp_due <= {ended, mp_due[MP_AFTER-1:1]};
            mm_due <= {ended && partial, mm_due[MIXED-1:1]};
            if (ended) groups_left <= groups;
            else if (start_valid) groups_left <= groups_left - 1'b1;
            if (ended) until_mixed <= 7'(partial ? MIXED_PARTIAL : MIXED) + 7'(sum_time);
            else if (until_mixed != '0) until_mixed <= until_mixed - 1'b1;
            since_end <= ended ? 6'd1 : since_end == '1 ? '1 : since_end + 1'b1;
        end
    end

    logic at_hand;  // a message has blocks to come
    logic reserved;
    assign at_hand  = in_tweak || in_message || in_partial;
    assign reserved = mp_due != '0 || mm_due != '0 || groups_left != '0;

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions. A slot in use is not loaded.
            if (was_command) assume (command_valid && command_now == command_before);
            assume (command_last_message_bytes != '0 && command_last_message_bytes <= 5'd16);
            assume (command_message_blocks > 13'(command_last_message_bytes != 5'd16));
            assume (command_message_blocks <= 13'd4096);
            if (loading && next) assume (loading_slot != next_slot);
            if (loading && (at_hand || reserved)) assume (loading_slot != packet_slot);
            if (loading && schedule.state != IDLE) assume (loading_slot != packet_slot);
            // A further group begins once the message is mixed.
            if (start_valid) assume (groups_left != '0 && since_end >= (end_partial ? MIXED_PARTIAL : MIXED));

            // Each entry exactly once, and no others.
            assert ($onehot0({due_tweak, due_message, due_partial, due_mp, due_mm, due_start}));
            assert (upper_valid || !(due_tweak || due_message || due_partial || due_mp || due_mm ||
                    due_start));
            if (upper_valid) begin
                if (due_tweak) assert (kind == eme2_pkg::TWEAK);
                assert (due_message == (kind == eme2_pkg::MESSAGE));
                assert (due_partial == (kind == eme2_pkg::PARTIAL));
                assert (due_mp == (kind == eme2_pkg::MP));
                assert (due_mm == (kind == eme2_pkg::MM));
                assert (due_start == (kind == eme2_pkg::START));
                if (kind == eme2_pkg::KEY) assert (KEYS == 0 && new_key);
                if (hollow_now) assert (hollow && hollow_left && slot == packet_slot);
                if (due_tweak || due_message || due_partial) assert (slot == due_slot);
            end

            // Messages follow each other, each with its number of blocks and places in the store.
            if (give) assert (at_hand);
            if (give && !in_tweak) assert (!hollow_left || hollow_now);
            assert (take == (give && !in_tweak));
            if (take) assert (room);
            if (begins) assert (next && (!at_hand || ended) && second_slot == next_slot);
            if (begins) assert (second_blocks == next_blocks && second_partial == next_partial);
            assert (packet_valid == (command_valid && command_ready));
            if (packet_valid) assert (packet_room && !next && packet_barren == command_error);
            if (command_valid && packet_room && !next && !loading) assert (packet_valid);

            // Order of mixing: this message after the preceding ones.
            if (ended) assert (until_mixed < (partial ? MIXED_PARTIAL : MIXED) && groups_left == '0);

            // The key of each entry, which the pipes receive a clock earlier, for as long as it is needed.
            assert (load_before == key_now);
            if (upper_valid) assert (slot == key_slot_before);
            if (KEYS != 2) begin
                if (due_tweak || due_message || due_partial || hollow_now)
                    assert (new_key || (known && owner == slot));
                if (key_now) assert (!reserved && !due_mp && !due_mm && !due_start);
            end
            if (KEYS == 0 && key_now) assert (kind == eme2_pkg::KEY);

            // Bounded progress: the distance to the next step decreases in every clock.
            if (can_go && !goes) assert (distance != '0);
            if (was_stuck && can_go && !goes) assert (distance < distance_before);

            // Inductive invariants: the messages in the schedule.
            assert (schedule.state <= IN_PARTIAL && (KEYS == 0 || schedule.state != NEW_KEY));
            assert (schedule.none_reserved == (schedule.mp_places == '0 && schedule.mm_places == '0 &&
                    !schedule.starting));
            assert (schedule.mp_places == mp_due && schedule.mm_places == mm_due);
            assert (schedule.starting == (groups_left != '0));
            assert (schedule.mixing == until_mixed);
            assert (schedule.next_valid == next);
            if (next) begin
                assert (schedule.next_slot == next_slot && schedule.next_ad_blocks == next_tweaks);
                assert (schedule.next_blocks == next_blocks && schedule.next_partial == next_partial);
                assert (next_blocks != '0 && next_blocks <= 13'd4096);
            end
            assert (at_hand == (schedule.state != IDLE));
            if (schedule.state == NEW_KEY) assert (hollow ? hollow_left && !hollow_now : in_tweak);
            if (schedule.state == IN_TWEAK) assert (hollow ? hollow_left && !hollow_now : in_tweak);
            if (schedule.state == IN_MESSAGE) assert (in_message);
            if (schedule.state == IN_PARTIAL) assert (in_partial);
            if (schedule.state != IDLE) begin
                assert (schedule.slot == packet_slot && schedule.hollow == hollow);
                assert ((schedule.partial != '0) == partial && partial_left == partial);
                assert (schedule.groups == groups);
                if (schedule.state != IN_PARTIAL)
                    assert (blocks_left != '0 && schedule.blocks_left == blocks_left);
                if (schedule.state != IN_PARTIAL) assert (schedule.last_block == (blocks_left == 13'd1));
                if (in_tweak) assert (schedule.tweak_left == tweaks_left && !hollow);
                if (in_tweak) assert (schedule.last_tweak == (tweaks_left == 13'd1));
                if (hollow_left && !hollow_now) assert (schedule.last_tweak);
                if (schedule.state == IN_MESSAGE || schedule.state == IN_PARTIAL)
                    assert (schedule.in_order == (schedule.m1_time > schedule.mixing));
                if (schedule.state != NEW_KEY && schedule.state != IN_TWEAK)
                    assert (!hollow_left || hollow_now);
            end
            if (hollow_left) assert (hollow && !in_tweak);
            if (hollow_left && !hollow_now) assert (schedule.state == NEW_KEY || schedule.state == IN_TWEAK);
            assert ((mp_due & mm_due[MP_AFTER-1:0]) == '0);
            for (int i = 0; i < MIXED; i = i + 1) begin
                if (mm_due[i]) assert (since_end + i < MIXED + (end_partial ? 1 : 0));
            end
            for (int i = 0; i < MP_AFTER; i = i + 1) begin
                if (mp_due[i]) assert (since_end <= MP_AFTER - i);
            end
            // Inductive invariants: the key of the pipes.
            if (schedule.fresh) assert (schedule.state == NEW_KEY || schedule.state == IN_TWEAK);
            if (schedule.fresh) assert (!reserved && !due_tweak && !due_message && !due_partial && !key_now);
            if (schedule.fresh) assert (KEYS != 2 && since_load >= WAVE);
            if (KEYS != 2) begin
                if (schedule.state != IDLE && !schedule.fresh)
                    assert (schedule.pipe_held && schedule.pipe_slot == packet_slot);
            end
            if (KEYS == 0) begin
                assert ((schedule.state == NEW_KEY) == schedule.fresh);
                assert (!schedule.fresh || (!upper_valid && since_enter >= PIPE));
                if (key_now || since_load <= PIPE) assert (schedule.state == IN_TWEAK && !reserved);
            end
        end
    end

    if (KEYS == 0) begin : g_static_covers
        always_comb if (begun && !rst) cover (due_tweak && known);
    end else begin : g_covers
        always_comb begin
            if (begun && !rst) begin
                cover (due_mm && at_hand);
                cover (due_mp && key_now == 1'b0 && hollow_left);
                cover (ended && begins && until_mixed != '0);
            end
        end
    end
endmodule
