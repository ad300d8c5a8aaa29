// Properties of copa_issue, with a static key (KEYS = 0), a key wavefront (1) and a key per block (2), in an
// environment that follows the handshakes:
//   - Each packet enters the upper layer exactly once per AD block and per message block, at least one, each
//     of which takes a credit; once for V, V_AFTER clocks after the last AD block; and once for Sigma, after
//     the message when sealing and SIGMA_AFTER clocks after the tag when opening. Two entries never coincide.
//   - Packets do not mix. Loading a slot waits for a gap between packets, but no packet overtakes it.
//   - The pipes hold the key of each entry, as long as a reserved entry needs it.
//   - Progress: if the environment allows it, something eventually moves.
//
// Apart from kind, slot and key, the contents of the entries are left to the tests, as is the slot of V and
// of an opened packet's Sigma.
module copa_issue_properties (
    input logic clk,
    input logic rst,
    input logic [2:0] command_valid,
    input logic [2:0] command_open,
    input logic [2:0][3:0] command_slot,
    input logic [2:0][12:0] command_ad_blocks,
    input logic [2:0][12:0] command_message_blocks,
    input logic [2:0] command_error,
    input logic [2:0] block_valid,
    input logic [2:0] packet_room,
    input logic [2:0] loading,
    input logic [2:0][3:0] loading_slot,
    input logic [2:0] wanted,
    input logic [2:0] credit
);
    for (genvar i = 0; i < 3; i = i + 1) begin : g_keys
        copa_issue_checks #(
            .KEYS(i)
        ) checks (
            .clk,
            .rst,
            .command_valid(command_valid[i]),
            .command_open(command_open[i]),
            .command_slot(command_slot[i]),
            .command_ad_blocks(command_ad_blocks[i]),
            .command_message_blocks(command_message_blocks[i]),
            .command_error(command_error[i]),
            .block_valid(block_valid[i]),
            .packet_room(packet_room[i]),
            .loading(loading[i]),
            .loading_slot(loading_slot[i]),
            .wanted(wanted[i]),
            .credit(credit[i])
        );
    end
endmodule

module copa_issue_checks #(
    parameter int KEYS = 1
) (
    input logic clk,
    input logic rst,
    input logic command_valid,
    input logic command_open,
    input logic [3:0] command_slot,
    input logic [12:0] command_ad_blocks,
    input logic [12:0] command_message_blocks,
    input logic command_error,
    input logic block_valid,
    input logic packet_room,
    input logic loading,
    input logic [3:0] loading_slot,
    input logic wanted,
    input logic credit
);
    localparam int V_AFTER = copa_pkg::V_AFTER;
    localparam int SIGMA_AFTER = copa_pkg::SIGMA_AFTER;
    localparam int PIPE = copa_pkg::LOWER_OUT + 2;
    localparam int WAVE = 9;

    logic command_ready, block_ready, packet_valid, packet_open, packet_barren, packet_padded;
    logic granted, take, load_key, upper_valid, expected_valid;
    logic [3:0] key_slot;
    logic [127:0] upper_block, expected;
    logic [copa_pkg::SIDE-1:0] upper_side;

    copa_issue #(
        .KEYS(KEYS)
    ) schedule (
        .clk,
        .rst,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_nonce(128'd0),
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes(5'd16),
        .command_last_message_bytes(5'd16),
        .command_padded(1'b0),
        .command_error,
        .command_l(128'd0),
        .block_valid,
        .block_ready,
        .block(128'd0),
        .packet_room,
        .packet_valid,
        .packet_open,
        .packet_barren,
        .packet_padded,
        .loading,
        .loading_slot,
        .wanted,
        .granted,
        .credit,
        .take,
        .ad_sum(128'd0),
        .sigma(128'd0),
        .sigma_slot(4'd0),
        .sigma_malformed(1'b0),
        .load_key,
        .key_slot,
        .upper_valid,
        .upper_block,
        .upper_side,
        .expected_valid,
        .expected
    );

    logic begins;  // a packet with blocks
    logic give;
    logic new_key;
    logic [3:0] slot;
    logic [2:0] kind;
    assign begins = command_valid && command_ready && !command_error;
    assign give   = block_valid && block_ready;
    assign {new_key, slot, kind} = upper_side[11:4];

    localparam logic [2:0] IDLE = 3'd0;
    localparam logic [2:0] NEW_KEY = 3'd1;
    localparam logic [2:0] LOAD = 3'd2;
    localparam logic [2:0] IN_AD = 3'd3;
    localparam logic [2:0] IN_MESSAGE = 3'd4;
    localparam logic [2:0] IN_SIGMA = 3'd5;
    localparam logic [2:0] IN_TAG = 3'd6;
    logic keyed_first;  // a packet whose key enters in this clock
    assign keyed_first = schedule.state == NEW_KEY && !schedule.is_load;

    // ---- The current packet: entries to come.

    logic begun = 1'b0;
    logic open;
    logic has_ad;
    logic [3:0] packet_slot;
    logic [12:0] ad_left = '0;
    logic [12:0] message_left = '0;
    logic message_begun;
    logic hollow = 1'b0;  // the message block does not come from the stream
    logic tag_left = 1'b0;
    logic sigma_left = 1'b0;  // sealing
    logic load_left = 1'b0;  // load of a slot
    logic tag_read;
    assign tag_read = give && ad_left == '0 && message_left == '0;

    // ---- Entries due in the upper layer in this clock, one clock after their issue.

    logic due_ad = 1'b0, due_message = 1'b0, due_sigma = 1'b0;
    logic due_last_sigma = 1'b0;  // of a packet that another one already follows
    logic due_ad_end;  // V is timed from this entry
    logic [3:0] due_slot;
    logic [V_AFTER-1:0] v_due = '0;  // bit i: V is due in i clocks
    logic [SIGMA_AFTER-1:0] sigma_due = '0;  // bit i: Sigma of an opened packet is issued in i clocks

    logic sigma_now, zero_now;
    assign sigma_now = upper_valid && kind == copa_pkg::SIGMA && !due_sigma && !due_last_sigma;
    assign zero_now  = upper_valid && kind == copa_pkg::ZERO;

    // ---- Key of the pipes.

    logic known;
    logic [3:0] owner;
    logic [5:0] since_enter, since_load;
    logic key_now;
    assign key_now = upper_valid && new_key;

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
        .forget(wanted),
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
    logic was_wanted = 1'b0, was_command = 1'b0, was_stuck = 1'b0;
    logic [3:0] wanted_before;
    logic [31:0] command_before, command_now;
    logic [13:0] distance_before, distance;
    logic can_go, goes;
    assign command_now = {
        command_open, command_error, command_slot, command_ad_blocks, command_message_blocks
    };

    // The environment allows progress.
    always_comb begin
        can_go = wanted || (command_valid && packet_room && !(loading && command_slot == loading_slot));
        if (ad_left != '0 || tag_left) can_go = block_valid;
        if (ad_left == '0 && message_left != '0) can_go = credit && (block_valid || hollow);
        if (sigma_left && message_left == '0 && !sigma_now) can_go = 1'b1;
        if (load_left && !zero_now) can_go = 1'b1;
        goes = granted || (command_valid && command_ready) || give || take || schedule.issue;
    end

    // Distance of the last reserved entry, and then how long the key of the pipes must stay.
    logic [5:0] last_v, last_sigma;
    always_comb begin
        last_v = '0;
        last_sigma = '0;
        for (int i = 0; i < V_AFTER; i = i + 1) if (schedule.v_places[i]) last_v = 6'(i + 1);
        for (int i = 0; i < SIGMA_AFTER; i = i + 1) if (schedule.sigma_places[i]) last_sigma = 6'(i + 1);
        distance = {({1'b0, last_v} + {1'b0, last_sigma}), 7'd0} + (upper_valid ? 14'd64 : 14'd0)
            + (schedule.in_pipes.may_load ? 14'd0 : 14'(schedule.in_pipes.left))
            + 14'(schedule.in_pipes.loading);
    end

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_wanted <= wanted && !granted && !rst;
        wanted_before <= loading_slot;
        load_before <= load_key && !rst;
        key_slot_before <= key_slot;
        was_command <= command_valid && !command_ready && !rst;
        command_before <= command_now;
        was_stuck <= can_go && !goes && !rst;
        distance_before <= distance;

        due_slot <= packet_slot;
        due_ad_end <= ad_left == 13'd1 || (ad_left == '0 && !has_ad && !message_begun);

        if (rst) begin
            ad_left <= '0;
            message_left <= '0;
            hollow <= 1'b0;
            tag_left <= 1'b0;
            sigma_left <= 1'b0;
            load_left <= 1'b0;
            due_ad <= 1'b0;
            due_message <= 1'b0;
            due_sigma <= 1'b0;
            due_last_sigma <= 1'b0;
            v_due <= '0;
            sigma_due <= '0;
        end else begin
            if (give && ad_left != '0) ad_left <= ad_left - 1'b1;
            if (take) message_left <= message_left - 1'b1;
            if (tag_read) tag_left <= 1'b0;
            if (sigma_now) sigma_left <= 1'b0;
            if (zero_now) load_left <= 1'b0;
            due_ad <= give && ad_left != '0;
            due_message <= take;
            due_sigma <= sigma_due[0];
            due_last_sigma <= (begins || granted) && sigma_left && !sigma_now;
            v_due <= {(due_ad || due_message) && due_ad_end, v_due[V_AFTER-1:1]};
            sigma_due <= {tag_read, sigma_due[SIGMA_AFTER-1:1]};
            if (begins) begin
                ad_left <= command_ad_blocks;
                message_left <= command_message_blocks == '0 ? 13'd1 : command_message_blocks;
                hollow <= command_message_blocks == '0;
                tag_left <= command_open;
                sigma_left <= !command_open;
            end
            if (granted) load_left <= 1'b1;
            if (granted) sigma_left <= 1'b0;
        end
        if (take) message_begun <= 1'b1;
        if (begins) begin
            open <= command_open;
            has_ad <= command_ad_blocks != '0;
            message_begun <= 1'b0;
            packet_slot <= command_slot;
        end
        if (granted) packet_slot <= loading_slot;
    end

    logic under_way;  // a packet has entries to come
    assign under_way = ad_left != '0 || message_left != '0 || tag_left || sigma_left || v_due != '0
        || sigma_due != '0 || due_ad || due_message || due_sigma;

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions. A slot in use is not loaded, and loads do not overlap.
            if (was_wanted) assume (wanted && loading_slot == wanted_before);
            if (wanted) assume (loading && !load_left && !(under_way && packet_slot == loading_slot));
            if (was_command) assume (command_valid && command_now == command_before);
            if (command_open) assume (command_message_blocks != '0);

            // Each entry exactly once, and no others.
            assert (upper_valid || !(due_ad || due_message || due_sigma || due_last_sigma || v_due[0]));
            assert ($onehot0({due_ad, due_message, due_sigma, due_last_sigma, v_due[0]}));
            if (upper_valid) begin
                assert (due_ad == (kind == copa_pkg::AD));
                assert (due_message == (kind == copa_pkg::MESSAGE));
                assert (v_due[0] == (kind == copa_pkg::V));
                if (kind == copa_pkg::SIGMA) assert (due_sigma || due_last_sigma || sigma_left);
                if (kind == copa_pkg::SIGMA && !due_sigma)
                    assert (due_last_sigma || (ad_left == '0 && message_left == '0));
                if (kind == copa_pkg::ZERO) assert (load_left && slot == packet_slot);
                if (kind == copa_pkg::KEY) assert (KEYS == 0 && new_key);
                assert (kind <= copa_pkg::SIGMA);
                if (due_ad || due_message) assert (slot == due_slot);
                if (due_last_sigma) assert (kind == copa_pkg::SIGMA && slot == due_slot);
            end

            // Packets follow each other, each with its number of blocks and credits.
            if (give) assert (ad_left != '0 || message_left != '0 || tag_left);
            if (take) assert (ad_left == '0 && message_left != '0 && credit && give == !hollow);
            if (give && ad_left == '0 && message_left != '0) assert (take);
            if (begins || granted)
                assert (ad_left == '0 && message_left == '0 && !tag_left && (!load_left || zero_now));
            assert (packet_valid == (command_valid && command_ready));
            if (packet_valid) assert (packet_room && packet_barren == command_error);
            // A waiting load is not overtaken.
            assert (!granted || (wanted && !packet_valid));
            assert (!wanted || !packet_valid);

            // The key of each entry, which the pipes receive a clock earlier, for as long as it is needed.
            assert (load_before == key_now);
            if (upper_valid) assert (slot == key_slot_before);
            if (KEYS != 2) begin
                if (upper_valid && kind != copa_pkg::SIGMA && kind != copa_pkg::V)
                    assert (new_key || (known && owner == slot));
                if (key_now) assert (v_due == '0 && sigma_due == '0 && !due_sigma);
            end
            if (KEYS == 0 && key_now) assert (kind == copa_pkg::KEY);

            // Bounded progress: the distance to the next step decreases in every clock.
            if (can_go && !goes) assert (distance != '0);
            if (was_stuck && can_go && !goes) assert (distance < distance_before);

            // Inductive invariants: the packet in the schedule.
            assert (schedule.state <= IN_TAG && (KEYS == 0 || schedule.state != NEW_KEY));
            assert (schedule.v_places == {(due_ad || due_message) && due_ad_end, v_due[V_AFTER-1:1]});
            assert (schedule.sigma_places == sigma_due);
            assert (schedule.place_free == (!schedule.v_places[0] && !schedule.sigma_places[0]));
            assert (schedule.none_reserved == (schedule.v_places == '0 && schedule.sigma_places == '0));
            if (sigma_now || zero_now) assert (schedule.state == IDLE);
            assert ((schedule.v_places & schedule.sigma_places[V_AFTER-1:0]) == '0);
            assert (load_left == (schedule.state == LOAD || (schedule.state == NEW_KEY &&
                    schedule.is_load) || zero_now));
            assert ((ad_left != '0) == (schedule.state == IN_AD || (keyed_first && has_ad)));
            assert ((message_left != '0) == (keyed_first || schedule.state == IN_AD ||
                    schedule.state == IN_MESSAGE));
            assert (tag_left == (schedule.state == IN_TAG || (message_left != '0 && schedule.open)));
            assert (sigma_left == (schedule.state == IN_SIGMA || sigma_now || (message_left != '0 &&
                    !schedule.open)));
            if (schedule.state != IDLE) assert (schedule.slot == packet_slot);
            if (message_left != '0) begin
                assert (schedule.message_left == message_left && schedule.hollow == hollow);
                assert (schedule.last_message == (message_left == 13'd1));
                assert (schedule.has_ad == has_ad && (!hollow || message_left == 13'd1));
                if (ad_left == '0 || schedule.state == NEW_KEY) assert (schedule.first == !message_begun);
                if (ad_left != '0) assert (schedule.ad_left == ad_left && !message_begun);
                if (ad_left != '0) assert (schedule.last_ad == (ad_left == 13'd1));
            end
            // Inductive invariants: the key of the pipes.
            if (schedule.fresh)
                assert (schedule.state != IDLE && schedule.state != IN_SIGMA && schedule.state != IN_TAG);
            if (schedule.fresh) assert (v_due >> 1 == '0 && sigma_due == '0 && !due_ad && !due_message);
            if (KEYS == 2) assert (!schedule.fresh);
            if (schedule.fresh) assert (!upper_valid || KEYS == 1);
            if (schedule.fresh) assert (!key_now && since_load >= WAVE && (KEYS == 1 || since_enter >= PIPE));
            if (KEYS == 0) begin
                if (schedule.state == IN_SIGMA) assert (upper_valid);
                if (sigma_now) assert (since_enter == 6'd1);
                for (int i = 0; i < V_AFTER; i = i + 1) if (v_due[i]) assert (since_enter <= V_AFTER - i);
            end
            if (KEYS != 2) begin
                if (schedule.state != IDLE && !schedule.fresh)
                    assert (schedule.pipe_held && schedule.pipe_slot == packet_slot);
            end
            if (KEYS == 0) begin
                if (key_now || since_load <= PIPE) begin
                    assert (schedule.state == LOAD || schedule.state == IN_AD ||
                            schedule.state == IN_MESSAGE);
                    assert (v_due == '0 && sigma_due == '0 && !due_ad && !due_message && !due_sigma);
                end
                assert ((schedule.state == NEW_KEY) == schedule.fresh);
            end
        end
    end

    if (KEYS == 0) begin : g_static_covers
        always_comb if (begun && !rst) cover (due_ad && known && slot == owner);
    end else begin : g_covers
        always_comb begin
            if (begun && !rst) begin
                cover (v_due[0] && (KEYS == 2 ? load_left : message_begun));
                cover (due_sigma && (message_left != '0 || KEYS == 1));
                cover (due_last_sigma);
            end
        end
    end
endmodule
