// Properties of engine_front for four configurations: OCB that seals (0), OCB that opens (1), GCM that does
// both (2), and TAG_BESIDE with everything that either of them needs to open (3). For every input:
//   - Each command is taken once, announced in that clock, and not while its key is being loaded.
//   - Its internal beats are output once, complete and in order, with the bytes of the stream (a symbolic
//     byte, selected by `byte_at`), and with zeros after a stream that ended too early. Their error flag is
//     correct.
//   - Exactly the beats up to tlast are consumed, so the next packet starts with its own first beat.
//   - Internal beats are output in every clock in which they can be, and in no other: not without what the
//     packet needs, including a tag on s_tag, not while held, not without credits.
//
// Lengths and widths are those of the engines, but there are only two slots, and the FIFO, proved separately,
// holds two commands. One more command precedes it and two follow it: the next one, and the one that outputs
// its beats.
//
// ONLY keeps only that configuration in the model.
module engine_front_properties #(
    parameter int ONLY = -1
) (
    input logic clk,
    input logic rst,
    input logic [3:0][1:0] loaded,
    input logic [3:0] loading,
    input logic [3:0] loading_slot,
    input logic [3:0] s_cmd_tvalid,
    input logic [3:0] s_cmd_open,
    input logic [3:0] s_cmd_slot,
    input logic [3:0][95:0] s_cmd_nonce,
    input logic [3:0][15:0] s_cmd_ad_bytes,
    input logic [3:0][15:0] s_cmd_message_bytes,
    input logic [3:0] s_axis_tvalid,
    input logic [3:0][511:0] s_axis_tdata,
    input logic [3:0][63:0] s_axis_tkeep,
    input logic [3:0] s_axis_tlast,
    input logic [3:0][1:0] s_axis_tuser,
    input logic [3:0] s_tag_tvalid,
    input logic [3:0][127:0] s_tag_tdata,
    input logic [3:0] prepare_ready,
    input logic [3:0] packet_ready,
    input logic [3:0] hold,
    input logic [3:0] credit_beat,
    input logic [3:0] credit_packet,
    input logic [3:0][5:0] byte_at
);
    for (genvar i = 0; i < 4; i = i + 1) begin : g_instance
        if (ONLY == -1 || ONLY == i) begin : g_engine
            engine_front_checks #(
                .DIRECTION(i == 3 ? 1 : i),
                .AD_SERIAL(i == 1 || i == 3 ? 1 : 0),
                .TAG_BESIDE(i == 3 ? 1 : 0),
                .TAIL(i >= 2 ? 1 : 0),
                .NONCE_BITS(i == 2 ? 96 : 1)
            ) checks (
                .clk,
                .rst,
                .loaded(loaded[i]),
                .loading(loading[i]),
                .loading_slot(loading_slot[i]),
                .s_cmd_tvalid(s_cmd_tvalid[i]),
                .s_cmd_open(s_cmd_open[i]),
                .s_cmd_slot(s_cmd_slot[i]),
                .s_cmd_nonce(s_cmd_nonce[i]),
                .s_cmd_ad_bytes(s_cmd_ad_bytes[i]),
                .s_cmd_message_bytes(s_cmd_message_bytes[i]),
                .s_axis_tvalid(s_axis_tvalid[i]),
                .s_axis_tdata(s_axis_tdata[i]),
                .s_axis_tkeep(s_axis_tkeep[i]),
                .s_axis_tlast(s_axis_tlast[i]),
                .s_axis_tuser(s_axis_tuser[i]),
                .s_tag_tvalid(s_tag_tvalid[i]),
                .s_tag_tdata(s_tag_tdata[i]),
                .prepare_ready(prepare_ready[i]),
                .packet_ready(packet_ready[i]),
                .hold(hold[i]),
                .credit_beat(credit_beat[i]),
                .credit_packet(credit_packet[i]),
                .byte_at(byte_at[i])
            );
        end
    end
endmodule

module engine_front_checks #(
    parameter int DIRECTION = 0,
    parameter int AD_SERIAL = 0,
    parameter int TAG_BESIDE = 0,
    parameter int TAIL = 0,
    parameter int NONCE_BITS = 96
) (
    input logic clk,
    input logic rst,
    input logic [1:0] loaded,
    input logic loading,
    input logic loading_slot,
    input logic s_cmd_tvalid,
    input logic s_cmd_open,
    input logic s_cmd_slot,
    input logic [95:0] s_cmd_nonce,
    input logic [15:0] s_cmd_ad_bytes,
    input logic [15:0] s_cmd_message_bytes,
    input logic s_axis_tvalid,
    input logic [511:0] s_axis_tdata,
    input logic [63:0] s_axis_tkeep,
    input logic s_axis_tlast,
    input logic [1:0] s_axis_tuser,
    input logic s_tag_tvalid,
    input logic [127:0] s_tag_tdata,
    input logic prepare_ready,
    input logic packet_ready,
    input logic hold,
    input logic credit_beat,
    input logic credit_packet,
    input logic [5:0] byte_at
);
    localparam int COMMANDS = 2;
    localparam int WIDTH = 35 + NONCE_BITS;
    localparam logic [1:0] MESSAGE = 2'd0;
    localparam logic [1:0] AD = 2'd1;
    localparam logic [1:0] TAG = 2'd2;
    localparam logic [1:0] NONE = 2'd3;

    logic
        s_cmd_tready, s_axis_tready, s_tag_tready, prepare_valid, prepare_slot, prepare_illegal, packet_done;
    logic emit, emit_message, emit_ad, emit_partial, emit_slot;
    logic beat_valid, beat_slot, beat_error;
    engine_pkg::beat_t given;
    engine_pkg::place_t given_place;
    engine_pkg::sizes_t given_sizes;
    logic [95:0] prepare_nonce;
    logic [511:0] beat_data;
    logic [NONCE_BITS-1:0] beat_nonce;
    logic [127:0] beat_tag;

    engine_front #(
        .SLOT_BITS(1),
        .DIRECTION(DIRECTION),
        .AD_SERIAL(AD_SERIAL),
        .TAG_BESIDE(TAG_BESIDE),
        .TAIL(TAIL),
        .COMMANDS(COMMANDS),
        .NONCE_BITS(NONCE_BITS)
    ) front (
        .clk,
        .rst,
        .loaded,
        .loading,
        .loading_slot,
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce,
        .s_cmd_ad_bytes,
        .s_cmd_message_bytes,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .s_tag_tvalid,
        .s_tag_tready,
        .s_tag_tdata,
        .prepare_valid,
        .prepare_ready,
        .prepare_slot,
        .prepare_nonce,
        .prepare_illegal,
        .packet_ready,
        .packet_done,
        .hold,
        .credit_beat,
        .credit_packet,
        .emit,
        .emit_message,
        .emit_ad,
        .emit_partial,
        .emit_slot,
        .beat_valid,
        .beat(given),
        .beat_place(given_place),
        .beat_sizes(given_sizes),
        .beat_slot,
        .beat_data,
        .beat_error,
        .beat_nonce,
        .beat_tag
    );

    // ---- The offered command.

    logic enter, refused, waits_for_key;
    logic [95:0] nonce_in_order;
    logic [31:0] unused;
    logic [WIDTH-1:0] command;
    assign enter = s_cmd_tvalid && s_cmd_tready;
    assign refused = !loaded[s_cmd_slot] || (s_cmd_open ? DIRECTION == 0 : DIRECTION == 1);
    assign waits_for_key = loading && loading_slot == s_cmd_slot;
    assign {unused, nonce_in_order} = bytes_pkg::swap128({s_cmd_nonce, 32'd0});
    assign command = {
        refused, s_cmd_open, s_cmd_slot, s_cmd_ad_bytes, s_cmd_message_bytes,
        nonce_in_order[95-:NONCE_BITS]
    };

    // ---- Commands taken whose beats are to come, in order.

    logic begun = 1'b0;
    logic [2:0] packets = '0;
    logic step_in;  // the FIFO takes a command in this clock
    assign step_in = front.plan.commands.push;
    logic [2:0] stepped = '0;  // whether the FIFO took one in each of the last three clocks
    logic [WIDTH-1:0] queue[0:4];
    logic [WIDTH-1:0] oldest;
    assign oldest = queue[0];

    // ---- The oldest command: beats to come.

    logic illegal, open, slot;
    logic [15:0] ad, message;
    logic [NONCE_BITS-1:0] nonce;
    logic [3:0] parts;  // parts with beats to come: AD, message, tag, none
    logic [9:0] index = '0;  // of the next beat within its part
    logic [1:0] lane = '0;
    logic started = 1'b0;  // an internal beat was output
    logic misfit = 1'b0;
    logic is_read = 1'b0;  // its tlast was received
    logic over = 1'b0;  // the preceding command has output all its beats, but its tlast was not received
    logic owed = 1'b0;  // the tag for the packet of an illegal command was not received
    logic has_stream;
    assign {illegal, open, slot, ad, message, nonce} = oldest;
    assign has_stream = (open && TAG_BESIDE == 0) || ad != '0 || message != '0;

    // A part and those following it.
    function automatic logic [3:0] parts_from(input logic [1:0] part);
        parts_from = part == AD ? 4'b1111 : part == MESSAGE ? 4'b0111 : part == TAG ? 4'b0011 : 4'b0001;
    endfunction

    // Number of GHASH blocks.
    function automatic logic [13:0] blocks_of(input logic [15:0] ad_bytes, input logic [15:0] message_bytes);
        blocks_of = 14'((17'(ad_bytes) + 17'd63) / 64 * 4 + (17'(message_bytes) + 17'd15) / 16 + 17'd1);
    endfunction

    // Commands in the plan, as bit vectors.
    logic [WIDTH+3:0] plan_entered, plan_head, plan_next, plan_packet;
    assign plan_entered = front.plan.entered;
    assign plan_head   = front.plan.head;
    assign plan_next   = front.plan.next;
    assign plan_packet = front.plan.packet;

    // Encoding of a command that waits in the plan.
    function automatic logic [WIDTH+3:0] waiting(input logic [WIDTH-1:0] entered_command);
        logic [15:0] ad_bytes, message_bytes;
        {ad_bytes, message_bytes} = entered_command[NONCE_BITS+:32];
        waiting = {
            entered_command[WIDTH-1-:3],
            ad_bytes != '0,
            ad_bytes <= 16'd64,
            ad_bytes - 16'd1,
            message_bytes != '0,
            message_bytes <= 16'd64,
            message_bytes - 16'd1,
            entered_command[NONCE_BITS-1:0]
        };
    endfunction

    // Encoding of a waiting command together with the kind of its first beat.
    function automatic logic [WIDTH+5:0] first_and(input logic [WIDTH-1:0] entered_command);
        logic [3:0] parts_here;
        parts_here = parts_of(entered_command);
        first_and[WIDTH+3:0] = waiting(entered_command);
        first_and[WIDTH+5:WIDTH+4] = NONE;
        if (parts_here[1]) first_and[WIDTH+5:WIDTH+4] = TAG;
        if (parts_here[2]) first_and[WIDTH+5:WIDTH+4] = MESSAGE;
        if (parts_here[3]) first_and[WIDTH+5:WIDTH+4] = AD;
    endfunction

    // Encoding of a beat's fill level in the plan, for this number of bytes.
    function automatic logic [14:0] fill_of(input logic [6:0] count);
        fill_of[6:0] = count;
        for (int i = 0; i < 4; i = i + 1) begin
            fill_of[7+i]  = count >= 7'(16 * i + 16);
            fill_of[11+i] = count / 16 == 7'(i) && count % 16 != '0;
        end
    endfunction

    // Parts of a command.
    function automatic logic [3:0] parts_of(input logic [WIDTH-1:0] entered_command);
        logic has_tag, tail;
        logic [15:0] ad_bytes, message_bytes;
        {has_tag, ad_bytes, message_bytes} = '0;
        if (!entered_command[WIDTH-1]) begin
            has_tag = entered_command[WIDTH-2] && TAG_BESIDE == 0;
            {ad_bytes, message_bytes} = entered_command[NONCE_BITS+:32];
        end
        tail = TAIL == 1 && !has_tag && (17'(message_bytes) + 17'd15) / 16 % 4 == '0;
        parts_of = {ad_bytes != '0, message_bytes != '0, has_tag, tail};
        if (parts_of == '0) parts_of = 4'b0001;
    endfunction

    // ---- The command's next internal beat, and the parts after it.

    logic [1:0] kind;
    logic [15:0] part_end;  // last byte of the part
    logic [6:0] bytes;
    logic [63:0] keep;
    logic [3:0] parts_after;
    logic part_last, step, stream_last, last;
    always_comb begin
        kind = parts[3] ? AD : parts[2] ? MESSAGE : parts[1] ? TAG : NONE;
        part_end = (kind == AD ? ad : kind == MESSAGE ? message : 16'd16) - 16'd1;
        part_last = kind == NONE || index == 10'(part_end / 64);
        bytes = kind == NONE ? '0 : part_last ? 7'(part_end % 64 + 1) : 7'd64;
        step = AD_SERIAL == 0 || kind != AD || lane == (part_last ? 2'(part_end % 64 / 16) : 2'd3);
        parts_after = parts;
        if (step && part_last) parts_after = parts & (parts_from(kind) >> 1);
        stream_last = kind != NONE && parts_after[3:1] == '0;
        last = parts_after == '0;
        for (int i = 0; i < 64; i = i + 1) keep[i] = i < bytes;
    end

    // ---- Transfers of this clock, and the expected ones.

    logic surplus;  // the stream has excess beats, or those of a refused command
    logic wants, wants_tag, may, goes, beat, wrong, plan_valid;
    assign plan_valid = front.plan.valid;
    assign surplus = over || (packets != '0 && started && kind == NONE && !is_read);
    assign wants = kind != NONE && !is_read;
    assign wants_tag = TAG_BESIDE == 1 && open && !illegal && last;
    assign may = plan_valid && !surplus && !owed && packet_ready && !hold && credit_beat && credit_packet;
    assign goes = may && (!wants_tag || s_tag_tvalid);
    assign beat = s_axis_tvalid && s_axis_tready;
    assign wrong = beat && (s_axis_tuser != kind || s_axis_tkeep != keep || s_axis_tlast != stream_last);

    // ---- Values of the previous clock.

    logic was_emit = 1'b0, was_prepare = 1'b0, was_command = 1'b0;
    logic [96:0] prepare_before;
    logic [129:0] command_before, command_now;
    logic [WIDTH+25:0] beat_before;
    logic was_emit_2 = 1'b0, error_before, error_before_2;
    logic [127:0] tag_before;
    logic [7:0] data_before;  // the symbolic byte
    logic [5:0] place_before;  // its position in beat_data
    assign command_now = {s_cmd_open, s_cmd_slot, s_cmd_nonce, s_cmd_ad_bytes, s_cmd_message_bytes};

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_emit <= emit && !rst;
        was_prepare <= prepare_valid && !prepare_ready && !rst;
        was_command <= s_cmd_tvalid && !s_cmd_tready && !rst;
        prepare_before <= {prepare_slot, prepare_nonce};
        command_before <= command_now;
        beat_before <= {
            kind, index, index == '0, part_last, lane, step, !started, last, bytes,
            message != '0, open, slot, ad, message, nonce
        };
        was_emit_2 <= was_emit && !rst;
        error_before <= illegal || misfit || wrong;
        error_before_2 <= error_before;
        tag_before <= TAG_BESIDE == 1 && open ? bytes_pkg::swap128(s_tag_tdata) : '0;
        data_before <= byte_at < bytes && !is_read ? s_axis_tdata[8*byte_at+:8] : 8'd0;
        place_before <= {byte_at[5:4], ~byte_at[3:0]};
        if (rst) begin
            packets <= '0;
            stepped <= '0;
            started <= 1'b0;
            index <= '0;
            lane <= '0;
            misfit <= 1'b0;
            is_read <= 1'b0;
            over <= 1'b0;
            owed <= 1'b0;
        end else begin
            if (owed) owed <= !s_tag_tvalid;
            if (emit && illegal) owed <= open && TAG_BESIDE == 1;
            stepped <= {stepped[1:0], step_in};
            packets <= packets + 3'(enter) - 3'(emit && last);
            if (beat && s_axis_tlast) begin
                if (over) over <= 1'b0;
                else is_read <= 1'b1;
            end
            if (emit) begin
                started <= 1'b1;
                lane <= step ? '0 : lane + 1'b1;
                if (step) index <= part_last ? '0 : index + 1'b1;
                misfit <= misfit || wrong;
                if (last) begin
                    started <= 1'b0;
                    misfit <= 1'b0;
                    is_read <= 1'b0;
                    over <= has_stream && !is_read && !(beat && s_axis_tlast);
                end
            end
        end
        if (emit) parts <= parts_after;
        if (emit && last) begin
            for (int i = 0; i < 4; i = i + 1) queue[i] <= queue[i+1];
            parts <= parts_of(queue[1]);
        end
        if (enter) queue[packets-3'(emit&&last)] <= command;
        if (enter && packets == 3'(emit && last)) parts <= parts_of(command);
    end

    // ---- Where the commands are: in the plan, after it, at the FIFO's output, in its memory, or before it.

    logic next_valid, head_valid, entered_valid;
    logic [2:0]
        second_at,
        head_at,
        memory_at,
        entered_at;  // queue index of the first command in each of these places
    logic [1:0] stored;
    logic [WIDTH-1:0] second;
    logic [3:0] second_parts;
    logic second_tag;  // the tag takes a beat
    logic [1:0] second_kind;
    logic [15:0] second_end, second_message;
    assign next_valid = front.plan.next_valid;
    assign head_valid = front.plan.head_valid;
    assign stored = front.plan.commands.write_at - front.plan.commands.read_at;
    assign second_at = 3'(plan_valid);
    assign head_at = second_at + 3'(next_valid);
    assign memory_at = head_at + 3'(head_valid);
    assign entered_at = memory_at + 3'(stored);
    assign entered_valid = front.plan.entered_valid;
    assign second = queue[second_at];
    assign second_tag = front.plan.next.open && TAG_BESIDE == 0;
    assign second_parts = parts_of(second);
    assign second_kind = second_parts[3] ? AD : second_parts[2] ? MESSAGE : second_parts[1] ? TAG : NONE;
    assign second_message = second[NONCE_BITS+:16] - 16'd1;
    assign second_end = second_kind == AD ? second[NONCE_BITS+16+:16] - 16'd1 : second_message;

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            if (was_command) assume (s_cmd_tvalid && command_now == command_before);

            // Commands.
            assert (prepare_valid == (s_cmd_tvalid && front.plan.s_ready && !waits_for_key));
            assert (enter == (prepare_valid && prepare_ready));
            if (prepare_valid)
                assert ({prepare_slot, prepare_nonce, prepare_illegal} ==
                        {s_cmd_slot, nonce_in_order, refused});
            if (was_prepare && !waits_for_key)
                assert (prepare_valid && {prepare_slot, prepare_nonce} == prepare_before);

            // Stream beats and internal beats.
            assert (emit == (goes && (!wants || s_axis_tvalid)));
            assert (s_axis_tready == (surplus || (goes && wants && step)));
            assert (s_tag_tready == (owed || (may && wants_tag && (!wants || s_axis_tvalid))));
            assert (TAG_BESIDE == 1 || !s_tag_tready);
            if (beat) assert (over || (packets != '0 && has_stream && !is_read));
            assert (emit_message == (emit && kind == MESSAGE));
            assert (emit_ad == (emit && kind == AD));
            assert (emit_partial == (emit && kind != TAG && bytes % 16 != '0));
            assert (packet_done == (emit && last));
            if (emit) assert (emit_slot == slot);
            assert (beat_valid == was_emit);
            if (was_emit) begin
                assert ({
                    given.kind, given_place.index, given.first, given.part_last, given_place.lane,
                    given_place.step, given.start, given.final_beat, given.bytes, given_sizes.has_message,
                    given.open, beat_slot, given_sizes.ad_bytes, given_sizes.message_bytes, beat_nonce
                } == beat_before);
                assert (beat_data[8*place_before+:8] == data_before);
                assert (beat_tag == tag_before);
                for (int i = 0; i < 4; i = i + 1) begin
                    assert (given.partial[i] ==
                            (given.kind != TAG && given.bytes / 16 == 7'(i) && given.bytes % 16 != '0));
                end
                for (int i = 0; i < 4; i = i + 1) assert (given.blocks[i] == (given.bytes > 7'(16 * i)));
                assert (given_sizes.ad_spare == 2'(4 - (17'(given_sizes.ad_bytes) + 17'd15) / 16 % 4));
                assert (given_sizes.message_spare ==
                        2'(4 - (17'(given_sizes.message_bytes) + 17'd15) / 16 % 4));
                assert (given_sizes.hash_blocks == blocks_of(
                    given_sizes.ad_bytes, given_sizes.message_bytes
                ));
                assert (given_place.ones == 4'd10 || !given_place.index[given_place.ones]);
                assert (given_place.index % 11'(1 << given_place.ones) == 10'((1 << given_place.ones) - 1));
            end
            if (was_emit_2) assert (beat_error == error_before_2);
            // A command enters the FIFO in the clock after it was taken, or once the FIFO has room; its beats
            // may follow four clocks later.
            assert (plan_valid || entered_at <= 3'(stepped[0]) + 3'(stepped[1]) + 3'(stepped[2]));
            assert (step_in == (entered_valid && front.plan.commands.space != '0));

            // Inductive invariants: where the commands are.
            assert (front.plan.commands.space == 2'(COMMANDS) - stored - 2'(head_valid));
            assert (front.plan.commands.s_ready == (front.plan.commands.space != '0));
            assert (stored <= COMMANDS - 2'(head_valid) && packets == entered_at + 3'(entered_valid));
            assert (next_valid || entered_at - second_at <= 3'(stepped[0]) + 3'(stepped[1]));
            assert (head_valid || entered_at - head_at <= 3'(stepped[0]));
            if (entered_valid) assert (plan_entered == waiting(queue[entered_at]));
            if (head_valid) assert ({front.plan.head_first, plan_head} == first_and(queue[head_at]));
            for (int i = 0; i < 2; i = i + 1) begin
                if (stored > 2'(i))
                    assert (front.plan.commands.ram.memory[1'(front.plan.commands.read_at+2'(i))] ==
                            first_and(
                        queue[memory_at+3'(i)]
                    ));
            end
            if (next_valid) begin
                assert (plan_next == waiting(second));
                assert (front.plan.next_stream == (second_tag || front.plan.next.has_ad ||
                        front.plan.next.has_message));
                assert (front.plan.next_tag == (TAG_BESIDE == 1 && front.plan.next.open && !second[WIDTH-1]));
                assert (front.plan.next_ad_blocks == blocks_of(second[NONCE_BITS+16+:16], '0) + 14'd1);
                assert (front.plan.next_message.kind == MESSAGE);
                assert (front.plan.next_message.more == second_message[15:6]);
                assert (front.plan.next_message.one ==
                        (!front.plan.next.has_message || second_message < 16'd64));
                assert (front.plan.next_message.two == (second_message[15:6] == 10'd1));
                assert (front.plan.next_message.last_fill == fill_of(7'(second_message % 64 + 1)));
                assert (front.plan.next_message.fill == fill_of(
                    front.plan.next.one_message ? 7'(second_message % 64 + 1) : 7'd64
                ));
                assert (front.plan.next_message.last_lane == second_message[5:4]);
                assert (front.plan.next_message.ends ==
                        (!second_tag && !(TAIL == 1 && second_message[5:4] == 2'd3)));
                assert (front.plan.next_message.stream_ends == !second_tag);
                assert (front.plan.next_part.kind == second_kind);
                assert (front.plan.next_step == (AD_SERIAL == 0 || second_kind != AD ||
                        (second_end < 16'd64 && second_end[5:4] == '0)));
                assert (front.plan.next_part.ends == ((second_parts & (parts_from(second_kind) >> 1)) == '0));
                if (second_kind == AD || second_kind == MESSAGE) begin
                    assert (front.plan.next_part.more == second_end[15:6]);
                    assert (front.plan.next_part.one == (second_end < 16'd64));
                    assert (front.plan.next_part.two == (second_end[15:6] == 10'd1));
                    assert (front.plan.next_part.last_fill == fill_of(7'(second_end % 64 + 1)));
                    assert (front.plan.next_part.last_lane == second_end[5:4]);
                    assert (front.plan.next_part.fill == fill_of(
                        second_end < 16'd64 ? 7'(second_end % 64 + 1) : 7'd64
                    ));
                    assert (front.plan.next_part.stream_ends == ((second_parts & (parts_from(
                        second_kind
                    ) >> 1) & 4'b1110) == '0));
                end else begin
                    assert (front.plan.next_part.one && front.plan.next_part.stream_ends);
                    assert (front.plan.next_part.fill == fill_of(second_kind == TAG ? 7'd16 : '0));
                end
            end
            if (plan_valid) begin
                assert (packets != '0 && plan_packet == waiting(oldest));
                assert (front.plan.has_stream == has_stream);
                assert (front.plan.has_tag == (TAG_BESIDE == 1 && open && !illegal));
                assert (front.plan.wants_tag == wants_tag);
                assert (front.plan.hash_blocks == blocks_of(ad, message));
                assert (front.planned.kind == kind && front.plan.part.fill == fill_of(
                    bytes
                ) && front.plan.index == index);
                assert (front.plan.first == (index == '0) && front.planned.part_last == part_last);
                assert (front.plan.lane == lane && front.plan.step == step && front.plan.start == !started);
                assert (front.plan.final_beat == last && front.plan.reads == (kind != NONE));
                if (kind != NONE) assert (front.plan.stream_last == stream_last);
                assert (front.plan.part.ends == ((parts & (parts_from(kind) >> 1)) == '0));
                if (kind == AD || kind == MESSAGE) begin
                    assert (front.plan.part.more == part_end[15:6] - index);
                    assert (front.plan.part.two == (part_end[15:6] - index == 10'd1));
                    assert (front.plan.part.last_fill == fill_of(7'(part_end % 64 + 1)));
                    assert (front.plan.part.last_lane == part_end[5:4]);
                    assert (front.plan.part.stream_ends == ((parts & (parts_from(
                        kind
                    ) >> 1) & 4'b1110) == '0));
                end
                if (kind == AD && message != '0) begin
                    assert (front.plan.message.more == 10'((message - 16'd1) / 64));
                    assert (front.plan.message.kind == MESSAGE);
                    assert (front.plan.message.one == (message <= 16'd64));
                    assert (front.plan.message.two == ((message - 16'd1) / 64 == 16'd1));
                    assert (front.plan.message.last_fill == fill_of(7'((message - 16'd1) % 64 + 1)));
                    assert (front.plan.message.fill == fill_of(message <= 16'd64 ? 7'(message) : 7'd64));
                    assert (front.plan.message.last_lane == 2'((message - 16'd1) % 64 / 16));
                    assert (front.plan.message.ends == !(parts[1] || parts[0]));
                    assert (front.plan.message.stream_ends == !parts[1]);
                end
            end
            assert (front.swallow == surplus && (!over || !started));
            assert (front.swallow_tag == owed && (!owed || !started));
            assert (misfit == ((front.bad || (front.beat_valid && front.misfit)) &&
                    !(beat_valid && given.final_beat)));
            if (was_emit) assert ((front.beat_illegal || front.bad || front.misfit) == error_before);
            if (started) begin
                assert (plan_valid && has_stream && !illegal);
                assert (parts != '0 && parts == (parts_of(oldest) & parts_from(kind)));
                if (kind != NONE) assert (front.fill == is_read && index <= 10'(part_end / 64));
                if (kind == TAG || kind == NONE) assert (index == '0);
                if (kind != AD || AD_SERIAL == 0) assert (lane == '0);
            end else begin
                assert (!front.fill && index == '0 && lane == '0 && !misfit && !is_read);
                if (packets != '0) assert (parts == parts_of(oldest));
            end

            cover (beat_valid && given.final_beat && !beat_error && given_sizes.ad_bytes > 16'd16 &&
                   given_sizes.message_bytes != '0);
            cover (over && packets == 3'd4);
            cover (TAG_BESIDE == 0 || (over && owed && packets != '0));
            cover (emit && wants != (kind != NONE));
        end
    end
endmodule
