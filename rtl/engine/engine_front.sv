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
//   beat, beat_place, beat_sizes   records of engine_pkg about the beat and its packet
//   beat_data      four blocks, the first in bits 127:0, byte 0 of each highest; bytes beyond the beat's are zero
//   beat_error     a clock after the others: the command was illegal or the stream did not fit, as far as known:
//                  complete with the packet's last beat
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

    // Key slots.
    input logic [2**SLOT_BITS-1:0] loaded,
    input logic                    loading,
    input logic [   SLOT_BITS-1:0] loading_slot,

    // Commands, streams and tags.
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

    // Packets, as they are announced.
    output logic                 prepare_valid,
    input  logic                 prepare_ready,
    output logic [SLOT_BITS-1:0] prepare_slot,
    output logic [         95:0] prepare_nonce,
    output logic                 prepare_illegal,

    // Permission for beats, and beats a clock ahead.
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

    // Beats.
    output logic                              beat_valid,
    output logic [ engine_pkg::BEAT_BITS-1:0] beat,
    output logic [engine_pkg::PLACE_BITS-1:0] beat_place,
    output logic [engine_pkg::SIZES_BITS-1:0] beat_sizes,
    output logic [             SLOT_BITS-1:0] beat_slot,
    output logic [                     511:0] beat_data,
    output logic                              beat_error,
    output logic [            NONCE_BITS-1:0] beat_nonce,
    output logic [                     127:0] beat_tag
);

`ifdef YOSYS
    typedef engine_pkg::job_t job_t;
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::place_t place_t;
    typedef engine_pkg::stream_t stream_t;
`else
    import engine_pkg::job_t;
    import engine_pkg::beat_t;
    import engine_pkg::place_t;
    import engine_pkg::stream_t;
`endif

    // Commands.
    job_t job;
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
    assign job.illegal = illegal;
    assign job.open = s_cmd_open;
    assign job.ad_bytes = s_cmd_ad_bytes;
    assign job.message_bytes = s_cmd_message_bytes;

    // The next internal beat.
    logic plan_valid;
    beat_t planned;
    place_t planned_place;
    stream_t stream;
    logic [engine_pkg::SIZES_BITS-1:0] planned_sizes;
    logic [SLOT_BITS-1:0] planned_slot;
    logic [NONCE_BITS-1:0] planned_nonce;

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
        .s_job(job),
        .s_slot(s_cmd_slot),
        .s_nonce(nonce[95-:NONCE_BITS]),
        .valid(plan_valid),
        .take(emit),
        .beat(planned),
        .place(planned_place),
        .sizes(planned_sizes),
        .stream,
        .slot(planned_slot),
        .nonce(planned_nonce)
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
    beat_t given;  // the internal beat

    assign wants_input = stream.reads && !fill;
    assign has_input = !wants_input || s_axis_tvalid;
    assign may_go = plan_valid && packet_ready && !swallow && !swallow_tag
        && !hold && credit_beat && credit_packet;
    assign go = may_go && (!stream.wants_tag || s_tag_tvalid);
    assign emit = go && has_input;
    assign emit_message = emit && planned.kind == engine_pkg::MESSAGE;
    assign emit_ad = emit && planned.kind == engine_pkg::AD;
    assign emit_partial = emit && planned.partial != '0;
    assign emit_slot = planned_slot;
    assign packet_done = emit && planned.final_beat;
    assign s_axis_tready = swallow || (go && wants_input && planned_place.step);
    assign s_tag_tready = swallow_tag || (may_go && stream.wants_tag && has_input);
    assign consume = s_axis_tvalid && go && wants_input && planned_place.step;

    always_ff @(posedge clk) begin
        if (rst) swallow_tag <= 1'b0;
        else if (swallow_tag) swallow_tag <= !s_tag_tvalid;
        else if (emit) swallow_tag <= TAG_BESIDE == 1 && planned.open && stream.illegal;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            fill <= 1'b0;
            swallow <= 1'b0;
        end else if (swallow) begin
            swallow <= !(s_axis_tvalid && s_axis_tlast);
        end else if (emit) begin
            fill <= !planned.final_beat && (fill || (consume && s_axis_tlast && !stream.last));
            swallow <= stream.illegal ? stream.any : consume && stream.last && !s_axis_tlast;
        end
    end

    // That the stream fits is seen in two clocks: three bits of tkeep together first.
    logic [ 3:0] full;
    logic [ 3:0] partial;
    logic [63:0] keep;
    logic [22:0] differs;
    logic beat_consumed;
    logic beat_illegal;
    logic misfit;
    logic bad;  // some beat of the packet before this one did not fit

    assign full = stream.full;
    assign partial = planned.partial;
    always_comb begin
        for (int i = 0; i < 64; i = i + 1)
        keep[i] = full[i/16] || (partial[i/16] && planned.bytes[3:0] > 4'(i % 16));
    end
    assign beat = given;
    assign misfit = beat_consumed && differs != '0;

    always_ff @(posedge clk) begin
        beat_valid <= emit && !rst;
        given <= planned;
        beat_place <= planned_place;
        beat_sizes <= planned_sizes;
        beat_slot <= planned_slot;
        beat_nonce <= planned_nonce;
        beat_tag <= TAG_BESIDE == 1 && planned.open ? tag : '0;
        beat_consumed <= consume;
        beat_illegal <= stream.illegal;
        for (int i = 0; i < 64; i = i + 1) begin
            beat_data[128*(i/16)+8*(15-i%16)+:8] <= keep[i] && !fill ? s_axis_tdata[8*i+:8] : 8'd0;
        end
        for (int i = 0; i < 21; i = i + 1) differs[i] <= s_axis_tkeep[3*i+:3] != keep[3*i+:3];
        differs[21] <= s_axis_tkeep[63] != keep[63];
        differs[22] <= s_axis_tuser != planned.kind || s_axis_tlast != stream.last;

        beat_error <= beat_illegal || bad || misfit;
        if (rst) bad <= 1'b0;
        else if (beat_valid) bad <= !given.final_beat && (bad || misfit);
    end

endmodule
