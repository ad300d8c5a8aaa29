// The plan of a packet: from its command, what its internal beats are, one after the other. All that depends on lengths
// is decided before a beat is there, so that the stream meets registers only.
//
//   command -> register -> FIFO -> `next`, with its first beat worked out -> the beat that is offered, and the rest of its
//   packet
//
// Internal beats of a packet, in order: ceil(ad / 64) of AD, ceil(message / 64) of the message, one for the tag when
// opening, unless it comes beside the stream; a packet that has none of these, or whose command is illegal, gets one of kind
// NONE, which carries its end.
//
//   AD_SERIAL  1: an AD beat of n blocks is offered n times, `lane` saying whose turn it is
//   TAG_BESIDE 1: no packet has a beat for the tag
//   TAIL       1: a packet without such a beat whose message has a multiple of four blocks, or none, gets one of kind NONE too
//   COMMANDS   how many commands wait in the FIFO
//
// A command is offered as its first beat five clocks after it was taken at the earliest. Throughput: a beat a clock,
// packets of one beat included.
//
//   s_*                          commands
//   valid, take                  a beat is offered, and is taken
//   beat, place, sizes, stream   records of engine_pkg about it and its packet; slot, nonce: of the packet
module engine_plan #(
    parameter int SLOT_BITS = 4,
    parameter int AD_SERIAL = 0,
    parameter int TAG_BESIDE = 0,
    parameter int TAIL = 0,
    parameter int COMMANDS = 64,
    parameter int NONCE_BITS = 96
) (
    input logic clk,
    input logic rst,

    // Commands.
    input  logic                            s_valid,
    output logic                            s_ready,
    input  logic [engine_pkg::JOB_BITS-1:0] s_job,
    input  logic [           SLOT_BITS-1:0] s_slot,
    input  logic [          NONCE_BITS-1:0] s_nonce,

    // The beat that is offered.
    output logic                               valid,
    input  logic                               take,
    output logic [  engine_pkg::BEAT_BITS-1:0] beat,
    output logic [ engine_pkg::PLACE_BITS-1:0] place,
    output logic [ engine_pkg::SIZES_BITS-1:0] sizes,
    output logic [engine_pkg::STREAM_BITS-1:0] stream,
    output logic [              SLOT_BITS-1:0] slot,
    output logic [             NONCE_BITS-1:0] nonce
);

`ifdef YOSYS
    typedef engine_pkg::job_t job_t;
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::place_t place_t;
    typedef engine_pkg::sizes_t sizes_t;
    typedef engine_pkg::stream_t stream_t;
`else
    import engine_pkg::job_t;
    import engine_pkg::beat_t;
    import engine_pkg::place_t;
    import engine_pkg::sizes_t;
    import engine_pkg::stream_t;
`endif

    // A command as it waits: of each part its last byte's number, and whether it has one beat, or any.
    typedef struct packed {
        logic                  illegal;
        logic                  open;
        logic [SLOT_BITS-1:0]  slot;
        logic                  has_ad;
        logic                  one_ad;
        logic [15:0]           ad_end;
        logic                  has_message;
        logic                  one_message;
        logic [15:0]           message_end;
        logic [NONCE_BITS-1:0] nonce;
    } command_t;

    // How much of a beat there is: {partial, full, bytes}, so that nothing is compared where the beat is.
    localparam logic [14:0] ALL = {4'b0000, 4'b1111, 7'd64};
    localparam logic [14:0] ONE_BLOCK = {4'b0000, 4'b0001, 7'd16};

    // A beat up to the byte of this number.
    function automatic logic [14:0] up_to(input logic [5:0] last_byte);
        // Its number plus one, without a carry.
        logic carry;
        carry = 1'b1;
        for (int i = 0; i < 6; i = i + 1) begin
            up_to[i] = last_byte[i] ^ carry;
            carry = carry & last_byte[i];
        end
        up_to[6] = carry;
        for (int i = 0; i < 4; i = i + 1) begin
            up_to[7+i]  = last_byte >= 6'(16 * i + 15);
            up_to[11+i] = last_byte[5:4] == 2'(i) && last_byte[3:0] != 4'd15;
        end
    endfunction

    // A part from one of its beats on.
    typedef struct packed {
        logic [1:0] kind;
        logic [9:0] more;  // beats behind this one
        logic one;  // none
        logic two;  // one
        logic [14:0] fill;  // of this beat
        logic [14:0] last_fill;  // of the part's last beat
        logic [1:0] last_lane;
        logic       ends;  // the packet ends with this part
        logic       stream_ends;  // the stream does
    } part_t;

    // ---- Commands that wait ----

    command_t offered;
    command_t entered;
    logic entered_valid;
    logic fifo_ready;
    logic [1:0] entered_first;  // kind of its first beat
    command_t head;
    logic [1:0] head_first;
    logic head_valid;
    logic head_take;
    job_t job;

    assign job = s_job;
    assign offered.illegal = job.illegal;
    assign offered.open = job.open;
    assign offered.slot = s_slot;
    assign offered.has_ad = job.ad_bytes != '0;
    assign offered.one_ad = job.ad_bytes[15:6] == '0 || job.ad_bytes == 16'd64;
    assign offered.ad_end = job.ad_bytes - 16'd1;
    assign offered.has_message = job.message_bytes != '0;
    assign offered.one_message = job.message_bytes[15:6] == '0 || job.message_bytes == 16'd64;
    assign offered.message_end = job.message_bytes - 16'd1;
    assign offered.nonce = s_nonce;

    assign s_ready = !entered_valid || fifo_ready;

    always_ff @(posedge clk) begin
        if (s_ready) entered <= offered;
        if (rst) entered_valid <= 1'b0;
        else if (s_ready) entered_valid <= s_valid;
    end

    always_comb begin
        if (entered.illegal) entered_first = engine_pkg::NONE;
        else if (entered.has_ad) entered_first = engine_pkg::AD;
        else if (entered.has_message) entered_first = engine_pkg::MESSAGE;
        else if (entered.open && TAG_BESIDE == 0) entered_first = engine_pkg::TAG;
        else entered_first = engine_pkg::NONE;
    end

    stream_fifo #(
        .WIDTH(2 + $bits(command_t'('0))),
        .DEPTH(COMMANDS)
    ) commands (
        .clk,
        .rst,
        .s_valid(entered_valid),
        .s_ready(fifo_ready),
        .s_data({entered_first, entered}),
        .m_valid(head_valid),
        .m_ready(head_take),
        .m_data({head_first, head}),
        .space(),
        .popped()
    );

    // ---- The command behind the one whose beats are offered: its first part, and its message behind AD ----

    logic next_valid;
    logic next_take;
    command_t next;
    part_t next_part;
    logic next_step;  // its first beat is offered once
    logic next_stream;  // it has beats on s_axis
    logic next_tag;  // it has a tag beside them
    part_t next_message;
    logic [13:0] next_ad_blocks;  // four for each beat, and two
    part_t head_part;
    part_t head_message;
    logic [14:0] head_ad_last;
    logic head_no_part;  // no part of bytes
    logic head_tag;  // a beat of its own for the tag
    part_t end_part;  // the tag, or nothing

    // What is zero or one is made by AND and OR: a choice of a constant would become a reset of its register, and that
    // would come too late.
    always_comb begin
        head_message.kind = engine_pkg::MESSAGE;
        head_message.more = head.message_end[15:6];
        head_message.one = head.one_message;
        head_message.two = head.message_end[15:6] == 10'd1;
        head_message.last_fill = up_to(head.message_end[5:0]);
        head_message.fill = head.one_message ? head_message.last_fill : ALL;
        head_message.last_lane = head.message_end[5:4];
        head_tag = head.open && TAG_BESIDE == 0;
        head_message.ends = !head_tag && !(TAIL == 1 && head.message_end[5:4] == 2'd3);
        head_message.stream_ends = !head_tag;

        head_part = head_message;
        head_part.kind = head_first;
        head_ad_last = up_to(head.ad_end[5:0]);
        head_no_part = head_first == engine_pkg::TAG || head_first == engine_pkg::NONE;
        if (head_first == engine_pkg::AD) begin
            head_part.more = head.ad_end[15:6];
            head_part.one = head.one_ad;
            head_part.two = head.ad_end[15:6] == 10'd1;
            head_part.last_fill = head_ad_last;
            head_part.fill = head.one_ad ? head_ad_last : ALL;
            head_part.last_lane = head.ad_end[5:4];
            head_part.ends = !head_tag && !head.has_message && TAIL == 0;
            head_part.stream_ends = !head_tag && !head.has_message;
        end
        head_part.one = head_part.one | head_no_part;
        head_part.fill = (head_part.fill & {15{!head_no_part}})
            | (ONE_BLOCK & {15{head_first == engine_pkg::TAG}});
        head_part.ends = head_part.ends | head_no_part;
        head_part.stream_ends = head_part.stream_ends | head_no_part;
    end

    assign head_take = !next_valid || next_take;

    always_ff @(posedge clk) begin
        if (head_take) begin
            next <= head;
            next_part <= head_part;
            next_step <= AD_SERIAL == 0 || head_first != engine_pkg::AD
                || (head.one_ad && head.ad_end[5:4] == '0);
            next_message <= head_message;
            next_stream <= head_tag || head.has_ad || head.has_message;
            next_tag <= TAG_BESIDE == 1 && head.open && !head.illegal;
            // Of a part that is not there the end is -1.
            next_ad_blocks <= {{2{!head.has_ad}}, head.ad_end[15:6], 2'd0} + 14'd6;
        end
        if (rst) next_valid <= 1'b0;
        else if (head_take) next_valid <= head_valid;
    end

    // ---- The beat that is offered, and its packet ----

    logic [9:0] index;
    logic first;
    logic [1:0] lane;
    logic step;
    logic start;
    logic final_beat;
    logic wants_tag;
    logic stream_last;
    logic reads;
    logic has_stream;
    logic [13:0] hash_blocks;
    command_t packet;
    part_t part;
    part_t message;
    part_t part_then;
    logic [1:0] lane_then;
    logic step_then;
    logic move;
    logic from_next;
    logic packet_tag;  // as head_tag
    logic has_tag;  // as next_tag

    assign move = take || !valid;
    assign from_next = !valid || final_beat;
    assign next_take = move && from_next;
    assign packet_tag = packet.open && TAG_BESIDE == 0;

    always_comb begin
        end_part = part;
        end_part.kind = {1'b1, !packet_tag};  // TAG, NONE
        end_part.one = 1'b1;
        end_part.fill = ONE_BLOCK & {15{packet_tag}};
        end_part.ends = 1'b1;
        end_part.stream_ends = 1'b1;

        part_then = part;
        lane_then = (lane + 2'd1) & {2{!from_next && !step}};
        step_then = 1'b1;
        if (from_next) begin
            part_then = next_part;
            step_then = next_step;
        end else if (!step) begin
            step_then = lane + 2'd1 == (part.one ? part.last_lane : 2'd3);
        end else if (!part.one) begin
            step_then = AD_SERIAL == 0 || part.kind != engine_pkg::AD
                || (part.two && part.last_lane == '0);
            part_then.more = part.more - 10'd1;
            part_then.one = part.two;
            part_then.two = part.more == 10'd2;
            part_then.fill = part.two ? part.last_fill : ALL;
        end else if (part.kind == engine_pkg::AD && packet.has_message) begin
            part_then = message;
        end else begin
            part_then = end_part;
        end
    end

    always_ff @(posedge clk) begin
        if (move) begin
            part <= part_then;
            lane <= lane_then;
            step <= step_then;
            start <= from_next;
            final_beat <= part_then.one && step_then && part_then.ends;
            wants_tag <= part_then.one && step_then && part_then.ends && (from_next ? next_tag : has_tag);
            stream_last <= part_then.one && step_then && part_then.stream_ends;
            reads <= part_then.kind != engine_pkg::NONE;
            index <= (index + {9'd0, step}) & {10{!(from_next || (step && part.one))}};
            first <= from_next || (step ? part.one : first);
        end
        if (next_take) begin
            packet <= next;
            message <= next_message;
            hash_blocks <= next_ad_blocks + {{2{!next.has_message}}, next.message_end[15:4]};
            has_stream <= next_stream;
            has_tag <= next_tag;
        end
        if (rst) valid <= 1'b0;
        else if (move) valid <= !from_next || next_valid;
    end

    // ---- As records ----

    logic [3:0] full;
    logic [3:0] partial;
    beat_t offered_beat;
    place_t offered_place;
    sizes_t offered_sizes;
    stream_t offered_stream;

    assign {partial, full, offered_beat.bytes} = part.fill;
    assign offered_beat.open = packet.open;
    assign offered_beat.final_beat = final_beat;
    assign offered_beat.start = start;
    assign offered_beat.part_last = part.one;
    assign offered_beat.first = first;
    assign offered_beat.kind = part.kind;
    assign offered_beat.blocks = full | partial;
    assign offered_beat.partial = partial;

    assign offered_place.index = index;
    assign offered_place.ones = engine_pkg::trailing_ones(index);
    assign offered_place.lane = lane;
    assign offered_place.step = step;

    assign offered_sizes.has_message = packet.has_message;
    assign offered_sizes.ad_bytes = packet.ad_end + 16'd1;
    assign offered_sizes.message_bytes = packet.message_end + 16'd1;
    assign offered_sizes.ad_spare = ~packet.ad_end[5:4];
    assign offered_sizes.message_spare = ~packet.message_end[5:4];
    assign offered_sizes.hash_blocks = hash_blocks;

    assign offered_stream.illegal = packet.illegal;
    assign offered_stream.any = has_stream;
    assign offered_stream.reads = reads;
    assign offered_stream.last = stream_last;
    assign offered_stream.wants_tag = wants_tag;
    assign offered_stream.full = full;

    assign beat = offered_beat;
    assign place = offered_place;
    assign sizes = offered_sizes;
    assign stream = offered_stream;
    assign slot = packet.slot;
    assign nonce = packet.nonce;

    logic unused;
    assign unused = ^{packet.has_ad, packet.one_ad, packet.one_message, message.kind};

endmodule
