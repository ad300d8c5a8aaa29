// What becomes of a received frame: its association, its packet number, whether it is dropped, opened, or given without
// validation (IEEE 802.1AE-2018, 10.6); and with these the engine's command and a job for receive_feed.
//
//   a bad SecTAG                       drop                                 count_bad_tag
//   no channel, or one without this association:
//       strict or encrypted            drop                                 count_no_sci, count_no_sa
//       otherwise                      give without validation              count_unknown_sci, count_unused_sa
//   below the lowest number            drop, unless late frames pass        late
//   disabled and not encrypted         give without validation
//   otherwise                          open, and give it if the ICV is right, or if it is not encrypted and not strict
//
// Four stages, which move together, with those of receive_parse.
//
//   move         the stages move
//   s_*          a frame, see receive_parse
//   PARITY, parity_error, port, set_*, count_*
//                see macsec_receive; set: the association's use begins
//   in_use       see macsec_keys
//   lowest_*     what is written to an association's lowest number: in the clock of lowest_write, and kept after it
//   number_*     another reader of the lowest numbers; number_read: number_slot is that of a frame
//   began        a frame of an association goes on
//   late         a frame was dropped that came too late; late_slot: of this association
//   m_cmd_*      commands of the engine; nonce: first byte highest
//   m_job_*      the frames in order, those to drop too
module receive_judge
    import macsec_pkg::*;
#(
    parameter int SIDE = 8,
    parameter int PARITY = 0,
    parameter int CHANNEL_BITS = 2,
    parameter int SLOT_BITS = CHANNEL_BITS + 2
) (
    input  logic clk,
    input  logic rst,
    output logic move,

    input logic                    s_valid,
    input parsed_t                 s_parsed,
    input logic [        SIDE-1:0] s_side,
    input logic                    s_found,
    input logic [CHANNEL_BITS-1:0] s_channel,

    input port_t                   port,
    input logic                    set,
    input logic [   SLOT_BITS-1:0] set_slot,
    input logic                    set_extended,
    input logic [             1:0] set_offset,
    input logic [            31:0] set_window,
    input logic [            95:0] set_base,
    input logic [2**SLOT_BITS-1:0] in_use,

    input  logic                 lowest_write,
    input  logic [SLOT_BITS-1:0] lowest_slot,
    input  logic [         63:0] lowest_value,
    input  logic                 number_read,
    input  logic [SLOT_BITS-1:0] number_slot,
    output logic [         63:0] number_value,
    input  logic [SLOT_BITS-1:0] read_slot,
    output logic [         63:0] read_pn,

    output logic                 began,
    output logic                 late,
    output logic [SLOT_BITS-1:0] late_slot,
    output logic                 count_bad_tag,
    output logic                 count_no_sci,
    output logic                 count_no_sa,
    output logic                 count_unknown_sci,
    output logic                 count_unused_sa,
    output logic                 parity_error,

    output logic                 m_cmd_valid,
    input  logic                 m_cmd_ready,
    output logic [SLOT_BITS-1:0] m_cmd_slot,
    output logic [         95:0] m_cmd_nonce,
    output logic [         15:0] m_cmd_ad_bytes,
    output logic [         15:0] m_cmd_message_bytes,

    output logic                     m_job_valid,
    input  logic                     m_job_ready,
    output receive_job_t             m_job,
    output logic [    SLOT_BITS-1:0] m_job_slot,
    output logic [         SIDE-1:0] m_job_side
);

    // ---- 1: the association is read ----

    typedef struct packed {
        logic [1:0] offset;
        logic [31:0] window;
        logic extended;
        logic [95:0] base;
    } association_t;

    logic [1:0] offset;  // 3 is reserved
    assign offset = set_offset == 2'd3 ? macsec_pkg::OFFSET_0 : set_offset;

    logic [63:0] old_lowest;
    logic [63:0] old_number;
    logic [63:0] asked_pn;
    association_t association;
    logic takes;  // a frame of an association in use
    logic [1:0] differ;  // in a memory: parity
    logic [SLOT_BITS-1:0] s_slot;
    logic read_valid;
    parsed_t read;
    logic [SIDE-1:0] read_side;
    logic read_found;
    logic [SLOT_BITS-1:0] read_by;  // the slot
    logic read_used;  // in the clock before
    logic [63:0] lowest;
    association_t read_association;

    assign s_slot = {s_channel, s_parsed.an};
    assign takes = move && s_valid && s_found && in_use[s_slot];
    assign parity_error = differ != '0;

    ram_lut_readers #(
        .WIDTH(64),
        .DEPTH(2 ** SLOT_BITS),
        .READERS(3),
        .PARITY(PARITY)
    ) lowests (
        .clk,
        .write(lowest_write),
        .write_at(lowest_slot),
        .write_data(lowest_value),
        .read_at({read_slot, number_slot, s_slot}),
        .read_data({asked_pn, old_number, old_lowest}),
        .check({in_use[read_slot], number_read && in_use[number_slot], takes}),
        .parity_error(differ[0])
    );

    ram_lut #(
        .WIDTH($bits(association_t)),
        .DEPTH(2 ** SLOT_BITS),
        .PARITY(PARITY)
    ) associations (
        .clk,
        .write(set),
        .write_at(set_slot),
        .write_data({offset, set_window, set_extended, set_base}),
        .read_at(s_slot),
        .read_data(association),
        .check(takes),
        .parity_error(differ[1])
    );

    always_ff @(posedge clk) begin
        read_pn <= asked_pn;
        number_value <= lowest_write && lowest_slot == number_slot ? lowest_value : old_number;

        if (rst) read_valid <= 1'b0;
        else if (move) read_valid <= s_valid;
        // An association that comes into use by now is for frames behind this one.
        read_used <= move ? in_use[s_slot] : read_used && in_use[read_by];
        if (move) begin
            read <= s_parsed;
            read_side <= s_side;
            read_found <= s_found;
            read_by <= s_slot;
            // What was written last is not in the memory yet.
            lowest <= lowest_write && lowest_slot == s_slot ? lowest_value : old_lowest;
            read_association <= association;
        end
    end

    // ---- 2: the whole number ----
    //
    // 10.6.2: if the lowest number's low half has reached 2^31 and the one that came has not, the high half went up.

    logic whole_valid;
    parsed_t whole;
    logic [SIDE-1:0] whole_side;
    logic whole_found;
    logic whole_used;
    logic [SLOT_BITS-1:0] whole_slot;
    logic [63:0] whole_pn;
    logic [31:0] whole_back;  // window - 1
    logic no_window;  // the window is 0
    association_t whole_association;
    logic whole_up_to_30;  // bytes of user data
    logic whole_up_to_50;
    logic went_up;
    logic below;
    logic whole_late;

    assign went_up = lowest[31] && !read.sent[31];
    assign below = read.sent < lowest[31:0];

    always_ff @(posedge clk) begin
        if (rst) whole_valid <= 1'b0;
        else if (move) whole_valid <= read_valid;
        whole_used <= move ? read_used && in_use[read_by] : whole_used && in_use[whole_slot];
        if (move) begin
            whole <= read;
            whole_side <= read_side;
            whole_found <= read_found;
            whole_slot <= read_by;
            whole_pn <= {
                read_association.extended ? lowest[63:32] + {31'd0, went_up} : 32'd0, read.sent
            };
            whole_back <= read_association.window - 32'd1;
            no_window <= read_association.window == '0;
            whole_association <= read_association;
            whole_up_to_30 <= read.bytes <= 16'd30;
            whole_up_to_50 <= read.bytes <= 16'd50;
            if (!read_association.extended) whole_late <= lowest[63:32] != '0 || below;
            else whole_late <= went_up ? lowest[63:32] == '1 : below;
        end
    end

    // ---- 3: what becomes of it, and what the lowest number would be behind it ----

    logic judged_valid;
    parsed_t judged;
    logic [SIDE-1:0] judged_side;
    logic judged_drop;
    logic judged_known;
    logic judged_opens;
    logic judged_lenient;
    logic judged_late_passes;
    logic judged_plain;
    logic [15:0] judged_encrypted;  // bytes behind the offset
    logic [SLOT_BITS-1:0] judged_slot;
    logic [63:0] judged_pn;
    logic [95:0] judged_base;
    logic [1:0] judged_offset;
    logic judged_no_window;
    logic borrow;
    logic [31:0] raised_low;
    logic step;
    logic known;
    logic is_number;
    logic lenient;  // the frame may leave without a right ICV
    logic is_late;
    logic good;  // of a known association
    logic anyhow;  // of none
    logic [15:0] offset_bytes;
    logic plain;

    assign step = whole_valid && move;
    assign known = whole_found && whole_used;
    assign is_number = whole_pn != '0;
    // The reserved setting is as strict as the first.
    assign lenient = whole.clear
        && (port.validate == macsec_pkg::CHECK || port.validate == macsec_pkg::DISABLED);
    assign is_late = whole_late && !port.late_passes;
    assign good = known && !whole.bad_tag && is_number && !is_late;
    assign anyhow = !known && !whole.bad_tag && lenient;
    assign count_bad_tag = step && (whole.bad_tag || (known && !is_number));
    assign count_no_sci = step && !whole.bad_tag && !whole_found && !lenient;
    assign count_no_sa = step && !whole.bad_tag && whole_found && !whole_used && !lenient;
    assign count_unknown_sci = step && !whole_found && anyhow;
    assign count_unused_sa = step && whole_found && anyhow;
    assign late_slot = judged_slot;
    assign offset_bytes = {10'd0, macsec_pkg::bytes_of_offset(whole_association.offset)};

    always_comb begin
        plain = whole.clear;
        if (whole_association.offset == macsec_pkg::OFFSET_30 && whole_up_to_30) plain = 1'b1;
        if (whole_association.offset == macsec_pkg::OFFSET_50 && whole_up_to_50) plain = 1'b1;
    end

    always_ff @(posedge clk) begin
        if (rst) judged_valid <= 1'b0;
        else if (move) judged_valid <= whole_valid;
        // For one clock: what waits here might be counted when its association has another key already.
        late  <= step && known && !whole.bad_tag && is_number && is_late && !rst;
        began <= step && good && !rst;
        if (move) begin
            judged <= whole;
            judged_side <= whole_side;
            judged_drop <= !good && !anyhow;
            judged_known <= known;
            judged_opens <= good && !(lenient && port.validate == macsec_pkg::DISABLED);
            judged_lenient <= lenient;
            judged_late_passes <= port.late_passes;
            judged_plain <= plain;
            judged_encrypted <= whole.bytes - offset_bytes;
            judged_slot <= whole_slot;
            judged_pn <= whole_pn;
            judged_base <= whole_association.base;
            judged_offset <= whole_association.offset;
            judged_no_window <= no_window;
            {borrow, raised_low} <= {1'b0, whole_pn[31:0]} - {1'b0, whole_back};
        end
    end

    // The lowest number behind it: the number - (window - 1), but not below 0, nor above the last one. Without a window
    // 2^32 - 1 was taken from the low half instead of -1.
    logic [63:0] raised;

    always_comb begin
        raised[31:0]  = raised_low;
        raised[63:32] = judged_pn[63:32] + (judged_no_window ? {31'd0, !borrow} : {32{borrow}});
        if (judged_no_window && judged_pn == '1) raised = '1;
        if (!judged_no_window && borrow && judged_pn[63:32] == '0) raised = '0;
    end

    // ---- 4: the command, and what the feed wants to know ----

    logic c_valid;
    logic c_ready;
    logic c_drop;
    logic c_short;
    logic c_plain;
    logic [1:0] c_offset;
    verdict_job_t c_verdict;
    logic [15:0] c_encrypted;
    logic [15:0] c_end;
    logic [15:0] c_total;  // bytes of header and user data
    logic [15:0] c_total_end;
    logic [SIDE-1:0] c_side;
    logic [SLOT_BITS-1:0] c_slot;
    logic [95:0] c_nonce;
    logic command_ready;
    logic job_ready;

    assign move = !c_valid || c_ready;
    assign c_ready = job_ready && command_ready;

    always_ff @(posedge clk) begin
        if (rst) c_valid <= 1'b0;
        else if (move) c_valid <= judged_valid;
        if (move) begin
            c_drop <= judged_drop;
            c_short <= judged.short_tag;
            c_plain <= judged_plain;
            c_offset <= judged_offset;
            c_encrypted <= judged_encrypted;
            c_end <= judged_encrypted - 16'd1;
            c_total <= judged.bytes
                + (judged.short_tag ? 16'(macsec_pkg::SHORT_HEADER) : 16'(macsec_pkg::HEADER));
            c_total_end <= judged.bytes
                + (judged.short_tag ? 16'(macsec_pkg::SHORT_HEADER - 1) : 16'(macsec_pkg::HEADER - 1));
            c_side <= judged_side;
            c_slot <= judged_slot;
            c_nonce <= judged_base ^ {32'd0, judged_pn};
            c_verdict.known <= judged_known;
            c_verdict.opens <= judged_opens;
            c_verdict.lenient <= judged_lenient;
            c_verdict.late_passes <= judged_late_passes;
            c_verdict.clear <= judged.clear;
            c_verdict.bytes <= judged.bytes;
            c_verdict.pn <= judged_pn;
            c_verdict.raised <= raised;
        end
    end

    // Whether the last beat and the ICV have more bytes than are held of the beat before: by the bytes before the encrypted
    // user data in a beat, 28 and 58, 20 and 50 without SCI, and 14 and 6 of the second beat.
    logic spills;
    logic tail;

    always_comb begin
        tail = 1'b0;
        case (c_offset)
            macsec_pkg::OFFSET_30: begin
                spills = 1'b1;
                tail = c_end[5:0] >= (c_short ? 6'd62 : 6'd54);
            end
            macsec_pkg::OFFSET_50: spills = c_end[5:0] >= (c_short ? 6'd42 : 6'd34);
            default: spills = c_end[5:0] >= (c_short ? 6'd28 : 6'd20);
        endcase
        if (c_plain) begin
            spills = c_total_end[5:0] >= 6'd48;
            tail   = 1'b0;
        end
    end

    logic [9:0] more;
    plan_t plan;
    receive_job_t job;
    assign more = c_plain ? c_total_end[15:6] : c_end[15:6];
    assign job.drop = c_drop;
    assign job.short_tag = c_short;
    assign job.plain = c_plain;
    assign job.offset = c_offset;
    assign job.tail = tail;
    assign job.plan = plan;
    assign plan.last_bytes = c_plain ? c_total[5:0] : c_encrypted[5:0];
    assign plan.more = more;
    assign plan.none = 1'b0;
    assign plan.one = more == '0;
    assign plan.two = more == 10'd1;
    assign plan.second = !c_plain && c_offset == macsec_pkg::OFFSET_50;
    assign plan.spills = spills;
    assign job.verdict = c_verdict;

    logic [15:0] ad_bytes;

    assign ad_bytes = c_plain ? c_total : {9'd0, macsec_pkg::bytes_before(c_short, c_offset)};

    // Whether the engine can take one hangs on the key that it may be loading: too late for what hangs on it here.
    stream_fifo #(
        .WIDTH(SLOT_BITS + 128),
        .DEPTH(4)
    ) commands (
        .clk,
        .rst,
        .s_valid(c_valid && c_ready && c_verdict.opens),
        .s_ready(command_ready),
        .s_data({c_slot, ad_bytes, c_plain ? 16'd0 : c_encrypted, c_nonce}),
        .m_valid(m_cmd_valid),
        .m_ready(m_cmd_ready),
        .m_data({m_cmd_slot, m_cmd_ad_bytes, m_cmd_message_bytes, m_cmd_nonce}),
        .space(),
        .popped()
    );

    stream_fifo #(
        .WIDTH(SLOT_BITS + SIDE + $bits(receive_job_t)),
        .DEPTH(16)
    ) jobs (
        .clk,
        .rst,
        .s_valid(c_valid && c_ready),
        .s_ready(job_ready),
        .s_data({c_slot, c_side, job}),
        .m_valid(m_job_valid),
        .m_ready(m_job_ready),
        .m_data({m_job_slot, m_job_side, m_job}),
        .space(),
        .popped()
    );

    logic unused;
    assign unused = ^{
        port.vlan_clear, whole_association.window, whole_association.extended, judged.bad_tag, judged.an,
        judged.sent
    };

endmodule
