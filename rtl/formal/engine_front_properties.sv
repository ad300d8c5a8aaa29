// engine_front for OCB that seals (0) or opens (1), and for GCM that does both (2). Whatever comes in, each command is
// taken once, announced in that clock, and not while its key is being loaded. It gives its internal beats once, in order
// and complete, with the stream's bytes (any one, which `byte_at` says), and zeros once the stream has ended too early;
// they say rightly whether command or stream was wrong. The beats up to tlast, no more and no fewer, are used up for it,
// so that the next packet starts with its own first beat. Internal beats come in every clock in which they can, and in no
// other: not without what the packet needs, not while held, not without credits.
//
// Lengths and widths are those of the engines, but there are only two slots, and the FIFO, which has a proof of its own,
// holds two commands.
module engine_front_properties (
    input logic clk,
    input logic rst,
    input logic [2:0][1:0] loaded,
    input logic [2:0] loading,
    input logic [2:0] loading_slot,
    input logic [2:0] s_cmd_tvalid,
    input logic [2:0] s_cmd_open,
    input logic [2:0] s_cmd_slot,
    input logic [2:0][95:0] s_cmd_nonce,
    input logic [2:0][15:0] s_cmd_ad_bytes,
    input logic [2:0][15:0] s_cmd_message_bytes,
    input logic [2:0] s_axis_tvalid,
    input logic [2:0][511:0] s_axis_tdata,
    input logic [2:0][63:0] s_axis_tkeep,
    input logic [2:0] s_axis_tlast,
    input logic [2:0][1:0] s_axis_tuser,
    input logic [2:0] prepare_ready,
    input logic [2:0] packet_ready,
    input logic [2:0] hold,
    input logic [2:0] credit_beat,
    input logic [2:0] credit_packet,
    input logic [2:0][5:0] byte_at
);
    for (genvar i = 0; i < 3; i = i + 1) begin : g_engine
        engine_front_checks #(
            .DIRECTION(i),
            .AD_SERIAL(i == 1 ? 1 : 0),
            .TAIL(i == 2 ? 1 : 0),
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
            .prepare_ready(prepare_ready[i]),
            .packet_ready(packet_ready[i]),
            .hold(hold[i]),
            .credit_beat(credit_beat[i]),
            .credit_packet(credit_packet[i]),
            .byte_at(byte_at[i])
        );
    end
endmodule

module engine_front_checks #(
    parameter int DIRECTION = 0,
    parameter int AD_SERIAL = 0,
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

    logic s_cmd_tready, s_axis_tready, prepare_valid, prepare_slot, prepare_illegal, packet_done;
    logic emit, emit_message, emit_slot, beat_valid, beat_first, beat_part_last, beat_step, beat_start;
    logic beat_final, beat_open, beat_slot, beat_error;
    logic [95:0] prepare_nonce;
    logic [511:0] beat_data;
    logic [6:0] beat_bytes;
    logic [1:0] beat_kind, beat_lane;
    logic [9:0] beat_index;
    logic [15:0] beat_ad_bytes, beat_message_bytes;
    logic [NONCE_BITS-1:0] beat_nonce;

    engine_front #(
        .SLOT_BITS(1),
        .DIRECTION(DIRECTION),
        .AD_SERIAL(AD_SERIAL),
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
        .emit_slot,
        .beat_valid,
        .beat_data,
        .beat_bytes,
        .beat_kind,
        .beat_index,
        .beat_first,
        .beat_part_last,
        .beat_lane,
        .beat_step,
        .beat_start,
        .beat_final,
        .beat_open,
        .beat_slot,
        .beat_error,
        .beat_ad_bytes,
        .beat_message_bytes,
        .beat_nonce
    );

    // ---- The command that is offered.

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

    // ---- Commands that entered and have beats to come, in order.

    logic begun = 1'b0;
    logic [1:0] packets = '0;
    logic entered = 1'b0;  // the last of them in the clock before
    logic [WIDTH-1:0] oldest, second;

    // ---- The oldest one: what it still has to give.

    logic illegal, open, slot;
    logic [15:0] ad, message;
    logic [NONCE_BITS-1:0] nonce;
    logic [3:0] parts;  // which still have beats: AD, message, tag, none
    logic [9:0] index = '0;  // of the next beat in its part
    logic [1:0] lane = '0;
    logic started = 1'b0;  // some internal beat of it was given
    logic misfit = 1'b0;
    logic is_read = 1'b0;  // its tlast came
    logic over = 1'b0;  // the one before has given all its beats, but its tlast has not come
    logic has_stream;
    assign {illegal, open, slot, ad, message, nonce} = oldest;
    assign has_stream = open || ad != '0 || message != '0;

    // A part and those behind it.
    function automatic logic [3:0] parts_from(input logic [1:0] part);
        parts_from = part == AD ? 4'b1111 : part == MESSAGE ? 4'b0111 : part == TAG ? 4'b0011 : 4'b0001;
    endfunction

    // A command's parts.
    function automatic logic [3:0] parts_of(input logic [WIDTH-1:0] entered_command);
        logic has_tag, tail;
        logic [15:0] ad_bytes, message_bytes;
        {has_tag, ad_bytes, message_bytes} = '0;
        if (!entered_command[WIDTH-1]) begin
            has_tag = entered_command[WIDTH-2];
            {ad_bytes, message_bytes} = entered_command[NONCE_BITS+:32];
        end
        tail = TAIL == 1 && !has_tag && (17'(message_bytes) + 17'd15) / 16 % 4 == '0;
        parts_of = {ad_bytes != '0, message_bytes != '0, has_tag, tail};
        if (parts_of == '0) parts_of = 4'b0001;
    endfunction

    // ---- Its next internal beat, and what is left behind it.

    logic [1:0] kind;
    logic [15:0] part_end;  // its part's last byte
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

    // ---- What moves in this clock, and what should.

    logic surplus;  // beats come that are too many, or a refused command's
    logic wants, may, beat, wrong;
    assign surplus = over || (packets != '0 && started && kind == NONE && !is_read);
    assign wants = kind != NONE && !is_read;
    assign may = packets > 2'(entered) && !surplus && packet_ready && !hold && credit_beat && credit_packet;
    assign beat = s_axis_tvalid && s_axis_tready;
    assign wrong = beat && (s_axis_tuser != kind || s_axis_tkeep != keep || s_axis_tlast != stream_last);

    // ---- The clock before.

    logic was_emit = 1'b0, was_prepare = 1'b0, was_command = 1'b0;
    logic [96:0] prepare_before;
    logic [129:0] command_before, command_now;
    logic [WIDTH+25:0] beat_before;
    logic [7:0] data_before;  // of the byte, which is any one
    logic [5:0] place_before;  // where it is among the bytes of beat_data
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
            illegal || misfit || wrong, open, slot, ad, message, nonce
        };
        data_before <= byte_at < bytes && !is_read ? s_axis_tdata[8*byte_at+:8] : 8'd0;
        place_before <= {byte_at[5:4], ~byte_at[3:0]};
        if (rst) begin
            packets <= '0;
            entered <= 1'b0;
            started <= 1'b0;
            index <= '0;
            lane <= '0;
            misfit <= 1'b0;
            is_read <= 1'b0;
            over <= 1'b0;
        end else begin
            entered <= enter;
            packets <= packets + 2'(enter) - 2'(emit && last);
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
            oldest <= second;
            parts  <= parts_of(second);
        end
        if (enter) second <= command;
        if (enter && packets == 2'(emit && last)) begin
            oldest <= command;
            parts  <= parts_of(command);
        end
    end

    logic [1:0] stored;  // in the FIFO's memory
    assign stored = front.commands.write_at - front.commands.read_at;

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            if (was_command) assume (s_cmd_tvalid && command_now == command_before);

            // Commands.
            assert (prepare_valid == (s_cmd_tvalid && packets != COMMANDS && !waits_for_key));
            assert (enter == (prepare_valid && prepare_ready));
            if (prepare_valid)
                assert ({prepare_slot, prepare_nonce, prepare_illegal} ==
                        {s_cmd_slot, nonce_in_order, refused});
            if (was_prepare && !waits_for_key)
                assert (prepare_valid && {prepare_slot, prepare_nonce} == prepare_before);

            // Beats in, and internal beats.
            assert (emit == (may && (!wants || s_axis_tvalid)));
            assert (s_axis_tready == (surplus || (may && wants && step)));
            if (beat) assert (over || (packets != '0 && has_stream && !is_read));
            assert (emit_message == (emit && kind == MESSAGE));
            assert (packet_done == (emit && last));
            if (emit) assert (emit_slot == slot);
            assert (beat_valid == was_emit);
            if (was_emit) begin
                assert ({
                    beat_kind, beat_index, beat_first, beat_part_last, beat_lane, beat_step, beat_start,
                    beat_final, beat_bytes, beat_error, beat_open, beat_slot, beat_ad_bytes,
                    beat_message_bytes, beat_nonce
                } == beat_before);
                assert (beat_data[8*place_before+:8] == data_before);
            end

            // For the induction: where things are.
            assert (front.commands.space == 2'(COMMANDS) - packets);
            assert (packets == stored + 2'(front.head_valid) && stored <= 2'd1);
            assert (front.head_valid == (packets > 2'(entered)) && (packets != '0 || !entered));
            if (front.head_valid) assert (front.commands.m_data == oldest);
            if (stored == 2'd1)
                assert (front.commands.memory[front.commands.read_at[0]] ==
                        (front.head_valid ? second : oldest));
            assert (front.swallow == surplus && (!over || !started));
            assert (front.started == started && front.bad == misfit);
            assert (front.index == index && front.lane == lane);
            if (started) begin
                assert (packets > 2'(entered) && has_stream && !illegal);
                assert (front.phase == kind && parts != '0);
                assert (parts == (parts_of(oldest) & parts_from(front.phase)));
                if (kind != NONE) assert (front.fill == is_read && front.index <= 10'(part_end / 64));
                if (kind == TAG || kind == NONE) assert (front.index == '0);
                if (kind != AD || AD_SERIAL == 0) assert (front.lane == '0);
            end else begin
                assert (!front.fill && front.index == '0 && front.lane == '0 && !misfit && !is_read);
                if (packets != '0) assert (parts == parts_of(oldest));
            end

            cover (beat_valid && beat_final && !beat_error && beat_ad_bytes > 16'd16 &&
                   beat_message_bytes != '0);
            cover (over && packets == COMMANDS);
            cover (emit && wants != (kind != NONE));
        end
    end
endmodule
