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
//   s_*         commands; s_illegal: its stream is swallowed
//   valid, take the beat that is offered is taken
//   bytes       bytes of the beat, 0 to 64
//   full, partial   which of the beat's blocks are full, and which one is not, but not empty either
//   index       number of the beat in its part, from 0; first: it is 0
//   part_last   last beat of its part
//   step        the next beat is another beat (always 1 unless AD_SERIAL)
//   start, final  first, last beat of the packet; wants_tag: a last beat, whose packet has a tag beside the stream
//   stream_last the beat is the stream's last one
//   reads       the beat is one of the stream: not of kind NONE
//   has_stream  the packet, were it legal, has beats on s_axis
//   ad_spare, message_spare   blocks by which the last AD, message beat is not full; 0 if there is none
//   hash_blocks GHASH's blocks: four for each AD beat, the message's, and one of lengths
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

    input  logic                  s_valid,
    output logic                  s_ready,
    input  logic                  s_illegal,
    input  logic                  s_open,
    input  logic [ SLOT_BITS-1:0] s_slot,
    input  logic [          15:0] s_ad_bytes,
    input  logic [          15:0] s_message_bytes,
    input  logic [NONCE_BITS-1:0] s_nonce,

    output logic                  valid,
    input  logic                  take,
    output logic [           1:0] kind,
    output logic [           6:0] bytes,
    output logic [           3:0] full,
    output logic [           3:0] partial,
    output logic [           9:0] index,
    output logic                  first,
    output logic                  part_last,
    output logic [           1:0] lane,
    output logic                  step,
    output logic                  start,
    output logic                  final_beat,
    output logic                  wants_tag,
    output logic                  stream_last,
    output logic                  reads,
    output logic                  has_stream,
    output logic                  illegal,
    output logic                  open,
    output logic [ SLOT_BITS-1:0] slot,
    output logic                  has_message,
    output logic [          15:0] ad_bytes,
    output logic [          15:0] message_bytes,
    output logic [           1:0] ad_spare,
    output logic [           1:0] message_spare,
    output logic [          13:0] hash_blocks,
    output logic [NONCE_BITS-1:0] nonce
);

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
    logic unused_popped;
    logic [$clog2(COMMANDS):0] unused_space;

    assign offered.illegal = s_illegal;
    assign offered.open = s_open;
    assign offered.slot = s_slot;
    assign offered.has_ad = s_ad_bytes != '0;
    assign offered.one_ad = s_ad_bytes[15:6] == '0 || s_ad_bytes == 16'd64;
    assign offered.ad_end = s_ad_bytes - 16'd1;
    assign offered.has_message = s_message_bytes != '0;
    assign offered.one_message = s_message_bytes[15:6] == '0 || s_message_bytes == 16'd64;
    assign offered.message_end = s_message_bytes - 16'd1;
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
        .WIDTH(40 + SLOT_BITS + NONCE_BITS),
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
        .space(unused_space),
        .popped(unused_popped)
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

    assign kind = part.kind;
    assign {partial, full, bytes} = part.fill;
    assign part_last = part.one;
    assign illegal = packet.illegal;
    assign open = packet.open;
    assign slot = packet.slot;
    assign has_message = packet.has_message;
    assign ad_bytes = packet.ad_end + 16'd1;
    assign message_bytes = packet.message_end + 16'd1;
    assign ad_spare = ~packet.ad_end[5:4];
    assign message_spare = ~packet.message_end[5:4];
    assign nonce = packet.nonce;

    logic unused;
    assign unused = ^{
        unused_popped, unused_space, packet.has_ad, packet.one_ad, packet.one_message, message.kind
    };

endmodule
