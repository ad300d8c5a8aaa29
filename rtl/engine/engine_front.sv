// The front of the 512-bit engines: it takes commands ahead of their packets, checks the stream against them
// and gives the mode internal beats that always fit the command.
//
// Commands are taken up to COMMANDS packets before their beats, and each is announced to the mode at once
// (prepare_*), so that a nonce's block cipher call is done long before its packet comes. A command for a slot
// whose key is being loaded waits.
//
// Internal beats of a packet, in order: ceil(ad / 64) of AD, ceil(message / 64) of the message, one for the
// tag when opening; a packet that has none of these, or whose command is illegal, gets one of kind 3 (none),
// which carries its end.
//
// Illegal command: slot never loaded, or the other direction than DIRECTION. Its beats are swallowed up to
// tlast. Stream that does not fit: tlast too early (the missing beats are made up, zero), too late (what is
// too much is swallowed), wrong tuser, wrong tkeep.
//
//   DIRECTION  0 seals, 1 opens, 2 both
//   AD_SERIAL  1: an AD beat of n blocks is given n times, `beat_lane` saying whose turn it is
//   TAIL       1: a sealed packet whose message has a multiple of four blocks, or none, gets a beat of kind 3
//              too
//   COMMANDS   how many commands are taken ahead
//
// Latency: s_axis to beat one clock. Throughput: one beat a clock, packets of one beat included.
//
//   packet_ready   what the oldest announced packet needs is there
//   packet_done    its last internal beat is given in this clock
//   hold           no beat in this clock (the mode wants the place)
//   credit_*       there is room for a message beat, for a packet
//   emit_*         the clock before beat_*: an internal beat is formed, of this slot (to address memories)
//   beat_data      four blocks, the first in bits 127:0, byte 0 of each highest; bytes beyond beat_bytes zero
//   beat_bytes     bytes of the beat, 0 to 64
//   beat_kind      0 message, 1 AD, 2 tag, 3 none
//   beat_index     number of the beat in its part, from 0; beat_first: it is 0
//   beat_part_last last beat of its part
//   beat_step      the next internal beat is another beat (always 1 unless AD_SERIAL)
//   beat_start, beat_final   first, last internal beat of the packet
//   beat_error     the command was illegal or the stream did not fit, as far as known: complete with
//                  beat_final
//   beat_nonce     the first NONCE_BITS bits of the nonce
module engine_front #(
    parameter int SLOT_BITS = 4,
    parameter int DIRECTION = 0,
    parameter int AD_SERIAL = 0,
    parameter int TAIL = 0,
    parameter int COMMANDS = 64,
    parameter int NONCE_BITS = 96
) (
    input logic clk,
    input logic rst,

    input logic [2**SLOT_BITS-1:0] loaded,
    input logic                    loading,
    input logic [   SLOT_BITS-1:0] loading_slot,

    input  logic                 s_cmd_tvalid,
    output logic                 s_cmd_tready,
    input  logic                 s_cmd_open,
    input  logic [SLOT_BITS-1:0] s_cmd_slot,
    input  logic [         95:0] s_cmd_nonce,
    input  logic [         15:0] s_cmd_ad_bytes,
    input  logic [         15:0] s_cmd_message_bytes,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [ 63:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    output logic                 prepare_valid,
    input  logic                 prepare_ready,
    output logic [SLOT_BITS-1:0] prepare_slot,
    output logic [         95:0] prepare_nonce,
    output logic                 prepare_illegal,

    input  logic                 packet_ready,
    output logic                 packet_done,
    input  logic                 hold,
    input  logic                 credit_beat,
    input  logic                 credit_packet,
    output logic                 emit,
    output logic                 emit_message,
    output logic [SLOT_BITS-1:0] emit_slot,

    output logic                  beat_valid,
    output logic [         511:0] beat_data,
    output logic [           6:0] beat_bytes,
    output logic [           1:0] beat_kind,
    output logic [           9:0] beat_index,
    output logic                  beat_first,
    output logic                  beat_part_last,
    output logic [           1:0] beat_lane,
    output logic                  beat_step,
    output logic                  beat_start,
    output logic                  beat_final,
    output logic                  beat_open,
    output logic [ SLOT_BITS-1:0] beat_slot,
    output logic                  beat_error,
    output logic [          15:0] beat_ad_bytes,
    output logic [          15:0] beat_message_bytes,
    output logic [NONCE_BITS-1:0] beat_nonce
);

    localparam int MESSAGE = 0;
    localparam int AD = 1;
    localparam int TAG = 2;
    localparam int NONE = 3;
    localparam int WIDTH = 34 + SLOT_BITS + NONCE_BITS;

    // Commands.
    logic [95:0] nonce;  // byte 0 highest
    logic illegal;
    logic may_take;
    logic fifo_ready;

    always_comb begin
        for (int i = 0; i < 12; i = i + 1) nonce[8*i+:8] = s_cmd_nonce[8*(11-i)+:8];
    end

    assign illegal = !loaded[s_cmd_slot]
        || (DIRECTION == 0 && s_cmd_open) || (DIRECTION == 1 && !s_cmd_open);
    assign may_take = fifo_ready && !(loading && s_cmd_tvalid && loading_slot == s_cmd_slot);
    assign s_cmd_tready = may_take && prepare_ready;
    assign prepare_valid = may_take && s_cmd_tvalid;
    assign prepare_slot = s_cmd_slot;
    assign prepare_nonce = nonce;
    assign prepare_illegal = illegal;

    logic head_valid;
    logic head_illegal;
    logic head_open;
    logic [SLOT_BITS-1:0] head_slot;
    logic [15:0] head_ad;
    logic [15:0] head_message;
    logic [NONCE_BITS-1:0] head_nonce;
    logic unused_popped;
    logic [$clog2(COMMANDS):0] unused_space;

    stream_fifo #(
        .WIDTH(WIDTH),
        .DEPTH(COMMANDS)
    ) commands (
        .clk,
        .rst,
        .s_valid(s_cmd_tvalid && s_cmd_tready),
        .s_ready(fifo_ready),
        .s_data({
            illegal, s_cmd_open, s_cmd_slot, s_cmd_ad_bytes, s_cmd_message_bytes, nonce[95-:NONCE_BITS]
        }),
        .m_valid(head_valid),
        .m_ready(packet_done),
        .m_data({head_illegal, head_open, head_slot, head_ad, head_message, head_nonce}),
        .space(unused_space),
        .popped(unused_popped)
    );

    // Where in the packet the next internal beat stands.
    logic started;
    logic [1:0] phase;
    logic [9:0] index;
    logic [1:0] lane;
    logic bad;  // some beat of the packet did not fit
    logic fill;  // tlast came too early
    logic swallow;  // tlast has not come yet

    logic [1:0] kind;
    logic [1:0] kind_after;
    logic none_after;
    logic [15:0] part_end;  // bytes of the part, less one
    logic part_last;
    logic lane_last;
    logic final_now;
    logic input_last;  // the stream's last beat: all but a beat of kind 3 that ends the packet
    logic [6:0] bytes;
    logic wants_input;
    logic go;
    logic consume;
    logic misfit;
    logic [63:0] keep;

    always_comb begin
        if (started) kind = phase;
        else if (head_illegal) kind = 2'(NONE);
        else if (head_ad != '0) kind = 2'(AD);
        else if (head_message != '0) kind = 2'(MESSAGE);
        else if (head_open) kind = 2'(TAG);
        else kind = 2'(NONE);

        part_end = 16'd15;
        if (kind == 2'(AD)) part_end = head_ad - 16'd1;
        if (kind == 2'(MESSAGE)) part_end = head_message - 16'd1;

        kind_after = 2'(TAG);
        none_after = !head_open;
        if (kind == 2'(AD) && head_message != '0) begin
            kind_after = 2'(MESSAGE);
            none_after = 1'b0;
        end
        if (TAIL == 1 && !head_open && (kind == 2'(MESSAGE) || head_message == '0)) begin
            kind_after = 2'(NONE);
            none_after = kind == 2'(MESSAGE) && part_end[5:4] != 2'd3;
        end
        if (kind == 2'(TAG) || kind == 2'(NONE)) none_after = 1'b1;

        part_last = kind == 2'(NONE) || index == part_end[15:6];
        bytes = part_last ? {1'b0, part_end[5:0]} + 7'd1 : 7'd64;
        if (kind == 2'(NONE)) bytes = '0;

        keep = ~(~64'd0 << bytes);
        lane_last = AD_SERIAL == 0 || kind != 2'(AD) || lane == (part_last ? part_end[5:4] : 2'd3);
    end

    assign final_now = part_last && lane_last && none_after;
    assign input_last = part_last && lane_last
        && (kind == 2'(TAG) || (!head_open && (kind == 2'(MESSAGE) || head_message == '0)));
    assign wants_input = kind != 2'(NONE) && !fill;
    assign go = head_valid && packet_ready && !swallow && !hold && credit_beat && credit_packet;
    assign emit = go && (!wants_input || s_axis_tvalid);
    assign emit_message = emit && kind == 2'(MESSAGE);
    assign emit_slot = head_slot;
    assign packet_done = emit && final_now;
    assign s_axis_tready = swallow || (go && wants_input && lane_last);
    assign consume = s_axis_tvalid && go && wants_input && lane_last;
    assign misfit = consume && (s_axis_tuser != kind || s_axis_tkeep != keep || s_axis_tlast != input_last);

    always_ff @(posedge clk) begin
        if (rst) begin
            started <= 1'b0;
            index <= '0;
            lane <= '0;
            bad <= 1'b0;
            fill <= 1'b0;
            swallow <= 1'b0;
        end else if (swallow) begin
            swallow <= !(s_axis_tvalid && s_axis_tlast);
        end else if (emit) begin
            started <= !final_now;
            lane <= lane_last ? '0 : lane + 2'd1;
            if (lane_last) index <= part_last ? '0 : index + 10'd1;
            bad <= !final_now && (bad || misfit);
            fill <= !final_now && (fill || (consume && s_axis_tlast && !input_last));
            if (final_now && head_illegal) begin
                swallow <= head_open || head_ad != '0 || head_message != '0;
            end else begin
                swallow <= consume && input_last && !s_axis_tlast;
            end
        end
        if (emit) phase <= part_last && lane_last ? kind_after : kind;
    end

    // The internal beat.
    always_ff @(posedge clk) begin
        beat_valid <= emit && !rst;
        beat_bytes <= bytes;
        beat_kind <= kind;
        beat_index <= index;
        beat_first <= index == '0;
        beat_part_last <= part_last;
        beat_lane <= lane;
        beat_step <= lane_last;
        beat_start <= !started;
        beat_final <= final_now;
        beat_open <= head_open;
        beat_slot <= head_slot;
        beat_error <= head_illegal || bad || misfit;
        beat_ad_bytes <= head_ad;
        beat_message_bytes <= head_message;
        beat_nonce <= head_nonce;
        for (int i = 0; i < 64; i = i + 1) begin
            beat_data[128*(i/16)+8*(15-i%16)+:8] <= keep[i] && !fill ? s_axis_tdata[8*i+:8] : 8'd0;
        end
    end

endmodule
