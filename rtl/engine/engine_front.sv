// The front of the 512-bit engines: it takes commands ahead of their packets, checks the stream against them
// and gives the mode internal beats that always fit the command.
//
// Commands are taken up to COMMANDS packets before their beats, and each is announced to the mode at once
// (prepare_*), so that a nonce's block cipher call is done long before its packet comes. A command for a slot
// whose key is being loaded waits. What a packet's internal beats are is in engine_plan.
//
// Illegal command: slot never loaded, or the other direction than DIRECTION. Its beats are swallowed up to
// tlast. Stream that does not fit: tlast too early (the missing beats are made up, zero), too late (what is
// too much is swallowed), wrong tuser, wrong tkeep. With TAG_BESIDE each command that opens has a tag on s_tag, in order;
// a packet's last beat waits for it.
//
//   DIRECTION  0 seals, 1 opens, 2 both
//   AD_SERIAL, TAG_BESIDE, TAIL, COMMANDS   as in engine_plan
//
// Latency: s_axis to beat one clock. Throughput: one beat a clock, packets of one beat included.
//
//   packet_ready   what the oldest announced packet needs is there
//   packet_done    its last internal beat is given in this clock
//   hold           no beat in this clock (the mode wants the place)
//   credit_*       there is room for a message beat, for a packet
//   emit_*         the clock before beat_*: an internal beat is formed, of this slot (to address memories); one with
//                  a partial block of AD or message
//   beat_data      four blocks, the first in bits 127:0, byte 0 of each highest; bytes beyond beat_bytes zero
//   beat_*         as in engine_plan
//   beat_partial   which of the beat's blocks is partial, if one is; of a tag none is
//   beat_ones      trailing ones of beat_index
//   beat_blocks    which of the beat's blocks have a byte
//   beat_error     a clock after the others: the command was illegal or the stream did not fit, as far as known:
//                  complete with beat_final
//   beat_nonce     the first NONCE_BITS bits of the nonce
//   beat_tag       with TAG_BESIDE and a packet's last beat: the tag that came, byte 0 highest; of a sealed packet zero
module engine_front #(
    parameter int SLOT_BITS = 4,
    parameter int DIRECTION = 0,
    parameter int AD_SERIAL = 0,
    parameter int TAG_BESIDE = 0,
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

    input  logic         s_tag_tvalid,
    output logic         s_tag_tready,
    input  logic [127:0] s_tag_tdata,

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
    output logic                 emit_ad,
    output logic                 emit_partial,
    output logic [SLOT_BITS-1:0] emit_slot,

    output logic                  beat_valid,
    output logic [         511:0] beat_data,
    output logic [           6:0] beat_bytes,
    output logic [           3:0] beat_partial,
    output logic [           1:0] beat_kind,
    output logic [           9:0] beat_index,
    output logic [           3:0] beat_ones,
    output logic                  beat_first,
    output logic                  beat_part_last,
    output logic [           1:0] beat_lane,
    output logic                  beat_step,
    output logic                  beat_start,
    output logic                  beat_final,
    output logic                  beat_open,
    output logic [ SLOT_BITS-1:0] beat_slot,
    output logic                  beat_error,
    output logic                  beat_has_message,
    output logic [          15:0] beat_ad_bytes,
    output logic [          15:0] beat_message_bytes,
    output logic [           3:0] beat_blocks,
    output logic [           1:0] beat_ad_spare,
    output logic [           1:0] beat_message_spare,
    output logic [          13:0] beat_hash_blocks,
    output logic [NONCE_BITS-1:0] beat_nonce,
    output logic [         127:0] beat_tag
);

    // Commands.
    logic [95:0] nonce;  // byte 0 highest
    logic [127:0] tag;  // likewise
    logic illegal;
    logic may_take;
    logic fifo_ready;

    always_comb begin
        for (int i = 0; i < 12; i = i + 1) nonce[8*i+:8] = s_cmd_nonce[8*(11-i)+:8];
    end
    assign tag = bytes_pkg::swap128(s_tag_tdata);

    assign illegal = !loaded[s_cmd_slot]
        || (DIRECTION == 0 && s_cmd_open) || (DIRECTION == 1 && !s_cmd_open);
    assign may_take = fifo_ready && !(loading && s_cmd_tvalid && loading_slot == s_cmd_slot);
    assign s_cmd_tready = may_take && prepare_ready;
    assign prepare_valid = may_take && s_cmd_tvalid;
    assign prepare_slot = s_cmd_slot;
    assign prepare_nonce = nonce;
    assign prepare_illegal = illegal;

    // The next internal beat.
    logic plan_valid;
    logic [1:0] kind;
    logic [6:0] bytes;
    logic [3:0] full;
    logic [3:0] partial;
    logic [9:0] index;
    logic first;
    logic part_last;
    logic [1:0] lane;
    logic step;
    logic start;
    logic final_beat;
    logic wants_tag;
    logic stream_last;
    logic reads;
    logic has_stream;
    logic packet_illegal;
    logic open;
    logic [SLOT_BITS-1:0] slot;
    logic has_message;
    logic [15:0] ad_bytes;
    logic [15:0] message_bytes;
    logic [1:0] ad_spare;
    logic [1:0] message_spare;
    logic [13:0] hash_blocks;
    logic [NONCE_BITS-1:0] packet_nonce;

    engine_plan #(
        .SLOT_BITS(SLOT_BITS),
        .AD_SERIAL(AD_SERIAL),
        .TAG_BESIDE(TAG_BESIDE),
        .TAIL(TAIL),
        .COMMANDS(COMMANDS),
        .NONCE_BITS(NONCE_BITS)
    ) plan (
        .clk,
        .rst,
        .s_valid(s_cmd_tvalid && s_cmd_tready),
        .s_ready(fifo_ready),
        .s_illegal(illegal),
        .s_open(s_cmd_open),
        .s_slot(s_cmd_slot),
        .s_ad_bytes(s_cmd_ad_bytes),
        .s_message_bytes(s_cmd_message_bytes),
        .s_nonce(nonce[95-:NONCE_BITS]),
        .valid(plan_valid),
        .take(emit),
        .kind,
        .bytes,
        .full,
        .partial,
        .index,
        .first,
        .part_last,
        .lane,
        .step,
        .start,
        .final_beat,
        .wants_tag,
        .stream_last,
        .reads,
        .has_stream,
        .illegal(packet_illegal),
        .open,
        .slot,
        .has_message,
        .ad_bytes,
        .message_bytes,
        .ad_spare,
        .message_spare,
        .hash_blocks,
        .nonce(packet_nonce)
    );

    // The stream beside it, and the tag.
    logic fill;  // tlast came too early
    logic swallow;  // tlast has not come yet
    logic swallow_tag;  // of an illegal command's packet, whose stream may have to go first
    logic may_go;
    logic go;
    logic wants_input;
    logic has_input;
    logic consume;

    assign wants_input = reads && !fill;
    assign has_input = !wants_input || s_axis_tvalid;
    assign may_go = plan_valid && packet_ready && !swallow && !swallow_tag
        && !hold && credit_beat && credit_packet;
    assign go = may_go && (!wants_tag || s_tag_tvalid);
    assign emit = go && has_input;
    assign emit_message = emit && kind == engine_pkg::MESSAGE;
    assign emit_ad = emit && kind == engine_pkg::AD;
    assign emit_partial = emit && partial != '0;
    assign emit_slot = slot;
    assign packet_done = emit && final_beat;
    assign s_axis_tready = swallow || (go && wants_input && step);
    assign s_tag_tready = swallow_tag || (may_go && wants_tag && has_input);
    assign consume = s_axis_tvalid && go && wants_input && step;

    always_ff @(posedge clk) begin
        if (rst) swallow_tag <= 1'b0;
        else if (swallow_tag) swallow_tag <= !s_tag_tvalid;
        else if (emit) swallow_tag <= TAG_BESIDE == 1 && open && packet_illegal;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            fill <= 1'b0;
            swallow <= 1'b0;
        end else if (swallow) begin
            swallow <= !(s_axis_tvalid && s_axis_tlast);
        end else if (emit) begin
            fill <= !final_beat && (fill || (consume && s_axis_tlast && !stream_last));
            swallow <= packet_illegal ? has_stream : consume && stream_last && !s_axis_tlast;
        end
    end

    // The internal beat. That the stream fits is seen in two clocks: three bits of tkeep together first.
    logic [63:0] keep;
    logic [22:0] differs;
    logic beat_consumed;
    logic beat_illegal;
    logic misfit;
    logic bad;  // some beat of the packet before this one did not fit

    always_comb begin
        for (int i = 0; i < 64; i = i + 1) keep[i] = full[i/16] || (partial[i/16] && bytes[3:0] > 4'(i % 16));
    end
    assign misfit = beat_consumed && differs != '0;

    always_ff @(posedge clk) begin
        beat_valid <= emit && !rst;
        beat_bytes <= bytes;
        beat_kind <= kind;
        beat_index <= index;
        beat_ones <= engine_pkg::trailing_ones(index);
        beat_partial <= partial;
        beat_first <= first;
        beat_part_last <= part_last;
        beat_lane <= lane;
        beat_step <= step;
        beat_start <= start;
        beat_final <= final_beat;
        beat_open <= open;
        beat_slot <= slot;
        beat_has_message <= has_message;
        beat_ad_bytes <= ad_bytes;
        beat_message_bytes <= message_bytes;
        beat_blocks <= full | partial;
        beat_ad_spare <= ad_spare;
        beat_message_spare <= message_spare;
        beat_hash_blocks <= hash_blocks;
        beat_nonce <= packet_nonce;
        beat_tag <= TAG_BESIDE == 1 && open ? tag : '0;
        beat_consumed <= consume;
        beat_illegal <= packet_illegal;
        for (int i = 0; i < 64; i = i + 1) begin
            beat_data[128*(i/16)+8*(15-i%16)+:8] <= keep[i] && !fill ? s_axis_tdata[8*i+:8] : 8'd0;
        end
        for (int i = 0; i < 21; i = i + 1) differs[i] <= s_axis_tkeep[3*i+:3] != keep[3*i+:3];
        differs[21] <= s_axis_tkeep[63] != keep[63];
        differs[22] <= s_axis_tuser != kind || s_axis_tlast != stream_last;

        beat_error <= beat_illegal || bad || misfit;
        if (rst) bad <= 1'b0;
        else if (beat_valid) bad <= !beat_final && (bad || misfit);
    end

endmodule
