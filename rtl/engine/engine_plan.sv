// The plan of a packet: from its command, what its internal beats are, one after the other. All that depends on lengths
// is decided before a beat is there, so that the stream meets registers only.
//
//   command -> FIFO -> `next`, with its first beat worked out -> the beat that is offered, and the rest of its packet
//
// Internal beats of a packet, in order: ceil(ad / 64) of AD, ceil(message / 64) of the message, one for the tag when
// opening; a packet that has none of these, or whose command is illegal, gets one of kind NONE, which carries its end.
//
//   AD_SERIAL  1: an AD beat of n blocks is offered n times, `lane` saying whose turn it is
//   TAIL       1: a sealed packet whose message has a multiple of four blocks, or none, gets a beat of kind NONE too
//   COMMANDS   how many commands wait in the FIFO
//
// A command is offered as its first beat four clocks after it was taken at the earliest. Throughput: a beat a clock,
// packets of one beat included.
//
//   s_*         commands; s_illegal: its stream is swallowed
//   valid, take the beat that is offered is taken
//   bytes       bytes of the beat, 0 to 64
//   index       number of the beat in its part, from 0; first: it is 0
//   part_last   last beat of its part
//   step        the next beat is another beat (always 1 unless AD_SERIAL)
//   start, final  first, last beat of the packet
//   stream_last the beat is the stream's last one
//   reads       the beat is one of the stream: not of kind NONE
//   has_stream  the packet, were it legal, has beats on s_axis
//   ad_spare, message_spare   blocks by which the last AD, message beat is not full; 0 if there is none
//   hash_blocks GHASH's blocks: four for each AD beat, the message's, and one of lengths
module engine_plan #(
    parameter int SLOT_BITS = 4,
    parameter int AD_SERIAL = 0,
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
    output logic [           9:0] index,
    output logic                  first,
    output logic                  part_last,
    output logic [           1:0] lane,
    output logic                  step,
    output logic                  start,
    output logic                  final_beat,
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

    // A part from one of its beats on.
    typedef struct packed {
        logic [1:0] kind;
        logic [9:0] more;  // beats behind this one
        logic       one;  // none
        logic       two;  // one
        logic [6:0] bytes;  // of this beat
        logic [6:0] last_bytes;  // of the part's last beat
        logic [1:0] last_lane;
        logic       ends;  // the packet ends with this part
        logic       stream_ends;  // the stream does
    } part_t;

    // ---- Commands that wait ----

    command_t offered;
    command_t head;
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

    stream_fifo #(
        .WIDTH(38 + SLOT_BITS + NONCE_BITS),
        .DEPTH(COMMANDS)
    ) commands (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_data(offered),
        .m_valid(head_valid),
        .m_ready(head_take),
        .m_data(head),
        .space(unused_space),
        .popped(unused_popped)
    );

    // ---- The command behind the one whose beats are offered: its first part, and its message behind AD ----

    logic next_valid;
    logic next_take;
    command_t next;
    part_t next_part;
    part_t next_message;
    logic [13:0] next_ad_blocks;  // four for each beat, and two
    part_t head_part;
    part_t head_message;

    always_comb begin
        head_message.kind = engine_pkg::MESSAGE;
        head_message.more = head.message_end[15:6];
        head_message.one = head.one_message;
        head_message.two = head.message_end[15:6] == 10'd1;
        head_message.last_bytes = {1'b0, head.message_end[5:0]} + 7'd1;
        head_message.bytes = head.one_message ? head_message.last_bytes : 7'd64;
        head_message.last_lane = head.message_end[5:4];
        head_message.ends = !head.open && !(TAIL == 1 && head.message_end[5:4] == 2'd3);
        head_message.stream_ends = !head.open;

        head_part = head_message;
        if (head.illegal || !(head.has_ad || head.has_message)) begin
            head_part.kind = head.open && !head.illegal ? engine_pkg::TAG : engine_pkg::NONE;
            head_part.one = 1'b1;
            head_part.bytes = head.open && !head.illegal ? 7'd16 : '0;
            head_part.ends = 1'b1;
            head_part.stream_ends = 1'b1;
        end else if (head.has_ad) begin
            head_part.kind = engine_pkg::AD;
            head_part.more = head.ad_end[15:6];
            head_part.one = head.one_ad;
            head_part.two = head.ad_end[15:6] == 10'd1;
            head_part.last_bytes = {1'b0, head.ad_end[5:0]} + 7'd1;
            head_part.bytes = head.one_ad ? head_part.last_bytes : 7'd64;
            head_part.last_lane = head.ad_end[5:4];
            head_part.ends = !head.open && !head.has_message && TAIL == 0;
            head_part.stream_ends = !head.open && !head.has_message;
        end
    end

    assign head_take = !next_valid || next_take;

    always_ff @(posedge clk) begin
        if (head_take) begin
            next <= head;
            next_part <= head_part;
            next_message <= head_message;
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

    assign move = take || !valid;
    assign from_next = !valid || final_beat;
    assign next_take = move && from_next;

    always_comb begin
        part_then = part;
        lane_then = '0;
        if (from_next) begin
            part_then = next_part;
        end else if (!step) begin
            lane_then = lane + 2'd1;
        end else if (!part.one) begin
            part_then.more = part.more - 10'd1;
            part_then.one = part.two;
            part_then.two = part.more == 10'd2;
            part_then.bytes = part.two ? part.last_bytes : 7'd64;
        end else if (part.kind == engine_pkg::AD && packet.has_message) begin
            part_then = message;
        end else begin
            part_then.kind = packet.open ? engine_pkg::TAG : engine_pkg::NONE;
            part_then.one = 1'b1;
            part_then.bytes = packet.open ? 7'd16 : '0;
            part_then.ends = 1'b1;
            part_then.stream_ends = 1'b1;
        end
        step_then = AD_SERIAL == 0 || part_then.kind != engine_pkg::AD
            || lane_then == (part_then.one ? part_then.last_lane : 2'd3);
    end

    always_ff @(posedge clk) begin
        if (move) begin
            part <= part_then;
            lane <= lane_then;
            step <= step_then;
            start <= from_next;
            final_beat <= part_then.one && step_then && part_then.ends;
            stream_last <= part_then.one && step_then && part_then.stream_ends;
            reads <= part_then.kind != engine_pkg::NONE;
            if (from_next || (step && part.one)) index <= '0;
            else if (step) index <= index + 10'd1;
            first <= from_next || (step ? part.one : first);
        end
        if (next_take) begin
            packet <= next;
            message <= next_message;
            hash_blocks <= next_ad_blocks + {{2{!next.has_message}}, next.message_end[15:4]};
            has_stream <= next.open || next.has_ad || next.has_message;
        end
        if (rst) valid <= 1'b0;
        else if (move) valid <= !from_next || next_valid;
    end

    assign kind = part.kind;
    assign bytes = part.bytes;
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
