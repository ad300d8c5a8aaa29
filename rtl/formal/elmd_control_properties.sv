// Properties of elmd_control, with one static key (KEYS = 0), a key wavefront and six rounds (1), and a key
// per block (2), in an environment that follows the handshakes:
//   - Each packet enters the encryption pipe exactly once, in this order: nonce, AD blocks, message blocks
//     (at least one), tag. A refused packet enters only its tag. Stream blocks, credits and verdicts are
//     consumed exactly then.
//   - A loaded key gets its single entry (two with six rounds) in a gap between packets. Packets of other
//     slots proceed until the entry is requested; then none overtakes it. Packets of the loaded slot wait for
//     it.
//   - A key enters the pipes no earlier than they allow, and stays as long as packets need it.
//   - Progress: if the environment allows it, something eventually moves.
module elmd_control_properties (
    input logic clk,
    input logic rst,
    input logic [2:0] s_key_tvalid,
    input logic [2:0][3:0] s_key_slot,
    input logic [2:0] l_made,
    input logic [2:0] command_valid,
    input logic [2:0] command_open,
    input logic [2:0][3:0] command_slot,
    input logic [2:0][12:0] command_ad_blocks,
    input logic [2:0][12:0] command_message_blocks,
    input logic [2:0] command_error,
    input logic [2:0] held,
    input logic [2:0][1:0] held_kind,
    input logic [2:0] held_last,
    input logic [2:0] verdict_valid,
    input logic [2:0] credit
);
    for (genvar i = 0; i < 3; i = i + 1) begin : g_keys
        elmd_control_checks #(
            .ROUNDS(i == 1 ? 6 : 10),
            .KEYS(i)
        ) checks (
            .clk,
            .rst,
            .s_key_tvalid(s_key_tvalid[i]),
            .s_key_slot(s_key_slot[i]),
            .l_made(l_made[i]),
            .command_valid(command_valid[i]),
            .command_open(command_open[i]),
            .command_slot(command_slot[i]),
            .command_ad_blocks(command_ad_blocks[i]),
            .command_message_blocks(command_message_blocks[i]),
            .command_error(command_error[i]),
            .held(held[i]),
            .held_kind(held_kind[i]),
            .held_last(held_last[i]),
            .verdict_valid(verdict_valid[i]),
            .credit(credit[i])
        );
    end
endmodule

module elmd_control_checks #(
    parameter int ROUNDS = 10,
    parameter int KEYS = 1
) (
    input logic clk,
    input logic rst,
    input logic s_key_tvalid,
    input logic [3:0] s_key_slot,
    input logic l_made,
    input logic command_valid,
    input logic command_open,
    input logic [3:0] command_slot,
    input logic [12:0] command_ad_blocks,
    input logic [12:0] command_message_blocks,
    input logic command_error,
    input logic held,
    input logic [1:0] held_kind,
    input logic held_last,
    input logic verdict_valid,
    input logic credit
);
    localparam int SLOTS = KEYS == 0 ? 1 : 2;
    localparam int IN_FLIGHT = 6;

    localparam logic [1:0] MESSAGE_BLOCK = 2'd0;
    localparam logic [1:0] AD_BLOCK = 2'd1;
    localparam logic [1:0] TAG_BLOCK = 2'd2;
    localparam logic [1:0] KEY_BLOCK = 2'd3;

    localparam logic [2:0] IDLE = 3'd0;
    localparam logic [2:0] NONCE = 3'd1;
    localparam logic [2:0] BODY = 3'd2;
    localparam logic [2:0] EMPTY = 3'd3;
    localparam logic [2:0] TAG = 3'd4;
    localparam logic [2:0] KEY_MASK = 3'd5;
    localparam logic [2:0] KEY = 3'd6;

    logic s_key_tready, load, command_ready, take, verdict_ready, credit_take, enter, enter_new_key;
    logic enter_open, enter_first, enter_last, enter_partial, enter_error, use_block, use_sum, sum_empty;
    logic sum_load, sum_step, mask_step, mask_clear, mask_load, mask_load_three, mask_seven, mask_opening;
    logic [3:0] making_slot, enter_slot, l_slot;
    logic [1:0] enter_kind;
    logic [SLOTS-1:0] slot_loaded;

    elmd_control #(
        .ROUNDS(ROUNDS),
        .SLOTS(SLOTS),
        .KEYS(KEYS),
        .IN_FLIGHT(IN_FLIGHT)
    ) control (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .load,
        .making_slot,
        .l_made,
        .slot_loaded,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot,
        .command_ad_blocks,
        .command_message_blocks,
        .command_ad_whole(1'b1),
        .command_message_whole(1'b1),
        .command_padded(1'b0),
        .command_error,
        .held,
        .held_kind,
        .held_last,
        .take,
        .verdict_valid,
        .verdict_ready,
        .verdict_error(1'b0),
        .credit,
        .credit_take,
        .enter,
        .enter_new_key,
        .enter_slot,
        .enter_kind,
        .enter_open,
        .enter_first,
        .enter_last,
        .enter_partial,
        .enter_error,
        .use_block,
        .use_sum,
        .sum_empty,
        .sum_load,
        .sum_step,
        .mask_step,
        .mask_clear,
        .mask_load,
        .mask_load_three,
        .mask_seven,
        .mask_opening,
        .l_slot
    );

    // ---- The current packet: entries to come.

    logic begun = 1'b0;
    logic open;
    logic [3:0] packet_slot;
    logic nonce_left = 1'b0;
    logic [12:0] ad_left = '0;
    logic [12:0] message_left = '0;
    logic empty = 1'b0;  // the message block does not come from the stream
    logic tag_left = 1'b0;
    logic refused;
    logic accept;
    logic is_nonce, is_ad, is_message, is_tag, is_key;  // what enters
    assign accept = command_valid && command_ready;
    assign is_nonce = enter && enter_kind == AD_BLOCK && !take;
    assign is_ad = enter && enter_kind == AD_BLOCK && take;
    assign is_message = enter && enter_kind == MESSAGE_BLOCK;
    assign is_tag = enter && enter_kind == TAG_BLOCK;
    assign is_key = enter && enter_kind == KEY_BLOCK;

    // ---- The current load.

    logic loading = 1'b0;
    logic [3:0] loading_slot;
    logic key_wanted = 1'b0;  // its entry is to come
    logic key_out = 1'b0;  // its result is in flight
    logic again;  // six rounds: this was the second entry

    // ---- Key in the pipes.

    logic known = 1'b0;
    logic stale;  // its slot has been reloaded
    logic [3:0] owner;
    logic [4:0] since_enter = '1;
    logic [4:0] since_new_key = '1;
    logic [4:0] since_load = '1;

    // ---- Values of the previous clock.

    logic was_key = 1'b0, was_command = 1'b0, was_held = 1'b0, was_verdict = 1'b0, was_stuck = 1'b0;
    logic [3:0] key_before;
    logic [31:0] command_before, command_now;
    logic [2:0] held_before;
    logic [4:0] wait_before;
    logic can_go, goes;
    assign command_now = {command_open, command_error, command_slot, command_ad_blocks,
                          command_message_blocks};
    assign goes = enter || accept || load || control.state == KEY_MASK ||
        (control.state == IDLE && key_wanted);
    always_comb begin
        can_go = s_key_tvalid && !loading;
        if (command_valid && !(loading && (command_slot == loading_slot || KEYS == 0)) && !s_key_tvalid)
            can_go = 1'b1;
        if (tag_left) can_go = credit && verdict_valid && (held || !open || refused);
        if (message_left != '0) can_go = credit && (held || empty);
        if (ad_left != '0) can_go = held;
        if (nonce_left || (key_wanted && !tag_left)) can_go = 1'b1;
    end

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_key <= s_key_tvalid && !s_key_tready && !rst;
        key_before <= s_key_slot;
        was_command <= command_valid && !command_ready && !rst;
        command_before <= command_now;
        was_held <= held && !take && !rst;
        held_before <= {held_kind, held_last};
        was_verdict <= verdict_valid && !verdict_ready && !rst;
        was_stuck <= can_go && !goes && !rst;
        wait_before <= 5'(control.wait_clocks);
        if (accept) open <= command_open;
        if (accept) refused <= command_error;
        if (accept) packet_slot <= command_slot;
        if (load) loading_slot <= s_key_slot;
        if (enter_new_key) owner <= enter_slot;

        if (rst) begin
            nonce_left <= 1'b0;
            ad_left <= '0;
            message_left <= '0;
            empty <= 1'b0;
            tag_left <= 1'b0;
            loading <= 1'b0;
            key_wanted <= 1'b0;
            key_out <= 1'b0;
            again <= 1'b0;
            known <= 1'b0;
            stale <= 1'b0;
            since_enter <= '1;
            since_new_key <= '1;
            since_load <= '1;
        end else begin
            if (is_nonce) nonce_left <= 1'b0;
            if (is_ad) ad_left <= ad_left - 1'b1;
            if (is_message) message_left <= message_left - 1'b1;
            if (is_tag) tag_left <= 1'b0;
            if (accept) begin
                nonce_left <= !command_error;
                ad_left <= command_error ? '0 : command_ad_blocks;
                message_left <= command_error ? '0 :
                    command_message_blocks == '0 ? 13'd1 : command_message_blocks;
                empty <= command_message_blocks == '0;
                tag_left <= 1'b1;
            end
            if (load) begin
                loading <= 1'b1;
                key_wanted <= 1'b1;
                again <= 1'b0;
            end
            if (is_key) begin
                key_wanted <= 1'b0;
                key_out <= 1'b1;
            end
            if (l_made) begin
                key_out <= 1'b0;
                again <= 1'b1;
                if (ROUNDS == 6 && !again) key_wanted <= 1'b1;
                else loading <= 1'b0;
            end
            if (enter_new_key) known <= !is_key;
            if (enter_new_key) stale <= 1'b0;
            else if (load && s_key_slot == owner) stale <= 1'b1;
            since_enter <= enter ? 5'd1 : since_enter == '1 ? '1 : since_enter + 1'b1;
            since_new_key <= enter_new_key ? 5'd1 : since_new_key == '1 ? '1 : since_new_key + 1'b1;
            since_load <= load ? 5'd1 : since_load == '1 ? '1 : since_load + 1'b1;
        end
    end

    logic body_left;  // stream blocks of the packet
    assign body_left = ad_left != '0 || (message_left != '0 ? !empty : tag_left && open && !refused);

    // Event from which the next load or key must keep its distance, and for how long.
    logic [4:0] last, key_stays;
    assign last = KEYS != 0 ? since_new_key : since_enter < since_load ? since_enter : since_load;
    always_comb begin
        key_stays = '0;
        if (KEYS == 0 && last <= IN_FLIGHT) key_stays = 5'(IN_FLIGHT + 1) - last;
        if (KEYS != 0 && last < ROUNDS) key_stays = 5'(ROUNDS) - last;
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions.
            if (was_key) assume (s_key_tvalid && s_key_slot == key_before);
            if (was_command) assume (command_valid && command_now == command_before);
            if (was_held) assume (held && {held_kind, held_last} == held_before);
            if (was_verdict) assume (verdict_valid);
            assume (!l_made || key_out);
            assume (s_key_slot < SLOTS);
            if (!command_error) assume (command_slot < SLOTS);
            if (command_open) assume (command_message_blocks != '0);
            // The held block is the packet's next.
            if (held && body_left) begin
                assume (held_kind == (ad_left != '0 ? AD_BLOCK :
                        message_left != '0 ? MESSAGE_BLOCK : TAG_BLOCK));
                assume (held_last == (ad_left != '0 ? ad_left == 13'd1 : message_left <= 13'd1));
            end
            // A slot in use is not loaded.
            if (load) assume (!tag_left || refused || packet_slot != s_key_slot);
            if (load && accept) assume (command_error || command_slot != s_key_slot);

            // Each entry exactly once, in order.
            if (is_nonce) assert (nonce_left);
            if (is_ad) assert (!nonce_left && ad_left != '0);
            if (is_message) assert (!nonce_left && ad_left == '0 && message_left != '0 && take == !empty);
            if (is_tag) assert (!nonce_left && ad_left == '0 && message_left == '0 && tag_left);
            if (is_key) assert (key_wanted && !tag_left && enter_slot == loading_slot);
            if (enter && !is_key) assert (enter_slot == packet_slot);
            if (accept || is_key)
                assert (!nonce_left && ad_left == '0 && message_left == '0 && (!tag_left || is_tag));

            // Mask of the entry.
            if (is_key) assert (!mask_opening && !mask_seven);
            if (enter && !is_key && !refused) assert (mask_opening == (open && (is_message || is_tag)));

            // What entries consume.
            if (take) assert (enter && held && body_left);
            assert (credit_take == (is_message || is_tag));
            if (credit_take) assert (credit);
            assert ((verdict_valid && verdict_ready) == is_tag);

            // Loads.
            if (load) assert (s_key_tvalid && s_key_tready && !loading);
            if (key_wanted && control.state != KEY_MASK && control.state != KEY) assert (!accept);
            if (loading && command_slot == loading_slot) assert (!accept);
            if (KEYS == 0) assert (!(accept && (loading || s_key_tvalid)));

            // Key of the entry.
            if (KEYS == 1) begin
                if (enter && !is_key && !refused) assert (enter_new_key || (known && owner == enter_slot));
                if (is_nonce) assert (enter_new_key || !stale);
                if (is_key) assert (enter_new_key);
                if (enter_new_key) assert (since_new_key >= ROUNDS && (is_nonce || is_key));
            end
            if (KEYS == 0) begin
                if (load) assert (since_enter > IN_FLIGHT && !enter && !tag_left);
                if (enter) assert (since_load > IN_FLIGHT);
            end

            // Bounded progress: the wait decreases in every clock.
            if (can_go && !goes) assert (control.wait_clocks != '0);
            if (was_stuck && can_go && !goes) assert (5'(control.wait_clocks) < wait_before);

            // Inductive invariants: the packet in the control.
            assert (control.state <= KEY);
            assert (nonce_left == (control.state == NONCE));
            assert ((control.state == BODY) == (!nonce_left && body_left));
            assert ((control.state == EMPTY) ==
                    (!nonce_left && ad_left == '0 && message_left != '0 && empty));
            assert ((control.state == TAG) == (tag_left && message_left == '0 && (!open || refused)));
            assert (tag_left == (control.state inside {NONCE, BODY, EMPTY, TAG}));
            if (ad_left != '0 || nonce_left) assert (message_left != '0);
            if (message_left != '0) assert (tag_left && !refused);
            if (message_left != '0 && empty) assert (message_left == 13'd1 && !open);
            if (tag_left) assert (control.open == open && control.slot == packet_slot);
            if (tag_left && !refused) assert (control.message_empty == empty);
            if (nonce_left) assert (control.ad_empty == (ad_left == '0));
            if (tag_left && !refused) assert (control.in_message == (!nonce_left && ad_left == '0));
            // Inductive invariants: the load.
            assert (control.making == loading);
            assert (loading == (key_wanted || key_out) && !(key_wanted && key_out));
            assert (key_wanted == (control.wanted || control.state == KEY));
            if (control.wanted) assert (control.state != KEY);
            if (control.state == KEY_MASK) assert (key_wanted);
            if (loading) assert (making_slot == loading_slot && control.second == again);
            if (control.state == KEY || control.state == KEY_MASK) assert (control.slot == loading_slot);
            if (loading && tag_left) assert (KEYS != 0 && (packet_slot != loading_slot || refused));
            // Inductive invariants: the key of the pipes.
            assert (5'(control.wait_clocks) == key_stays);
            assert (control.settled == (control.wait_clocks == '0));
            assert (since_enter != '0 && since_new_key != '0 && since_load != '0);
            if (KEYS == 1) begin
                assert (control.wave_known == known);
                if (known) assert (control.wave_slot == owner);
                if (tag_left && !nonce_left && !refused) assert (known && owner == packet_slot);
                if (known && stale) assert (key_wanted && loading_slot == owner);
            end
            if (KEYS == 0) assert (since_load > IN_FLIGHT || (key_wanted && !enter));

            cover (is_tag && accept && open && !refused && s_key_tvalid == (KEYS != 0));
            cover (is_message && empty && loading == (KEYS != 0));
            cover (is_key && again == (ROUNDS == 6) && (KEYS == 0 || since_enter <= since_load));
        end
    end
endmodule
