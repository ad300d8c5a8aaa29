// What becomes of a frame to send: its channel by number, its association by the channel's AN, its packet number from the
// association (IEEE 802.1AE-2018, 10.5); and with these the engine's command and a job for transmit_feed.
//
//   s_frame_*  a whole frame: its bytes, its channel, and what travels with it
//   PARITY, parity_error, set_*, read_*, threshold, reached, count_*
//              see macsec_transmit
//   begins, coming, in_use
//              see macsec_keys
//   begun      a frame has its number, and goes to the engine
//   m_cmd_*    commands of the engine; nonce: first byte highest
//   m_job_*    the frames in order, those to drop too
module transmit_judge
    import macsec_pkg::*;
#(
    parameter int CHANNELS = 4,
    parameter int SIDE = 8,
    parameter int PARITY = 0,
    parameter int CHANNEL_BITS = $clog2(CHANNELS),
    parameter int SLOT_BITS = CHANNEL_BITS + 2
) (
    input logic clk,
    input logic rst,

    input  logic                    s_frame_valid,
    output logic                    s_frame_ready,
    input  logic [            15:0] s_frame_bytes,
    input  logic [CHANNEL_BITS-1:0] s_frame_channel,
    input  logic [        SIDE-1:0] s_frame_side,

    input  logic                    set_channel,
    output logic                    set_ready,
    input  logic [   SLOT_BITS-1:0] set_slot,
    input  logic                    set_extended,
    input  logic                    set_no_sci,
    input  logic                    set_clear,
    input  logic [             1:0] set_offset,
    input  logic [            63:0] set_sci,
    input  logic [            63:0] set_pn,
    input  logic [            95:0] set_base,
    input  logic                    begins,
    input  logic                    coming,
    input  logic [2**SLOT_BITS-1:0] in_use,

    input  logic [SLOT_BITS-1:0] read_slot,
    output logic [         63:0] read_pn,

    input  logic [         63:0] threshold,
    output logic                 reached,
    output logic [SLOT_BITS-1:0] reached_slot,

    output logic begun,
    output logic count_no_sa,
    output logic count_no_pn,
    output logic parity_error,

    output logic                 m_cmd_valid,
    input  logic                 m_cmd_ready,
    output logic [SLOT_BITS-1:0] m_cmd_slot,
    output logic [         95:0] m_cmd_nonce,
    output logic [         15:0] m_cmd_ad_bytes,
    output logic [         15:0] m_cmd_message_bytes,

    output logic                      m_job_valid,
    input  logic                      m_job_ready,
    output transmit_job_t             m_job,
    output logic [     SLOT_BITS-1:0] m_job_slot,
    output logic [          SIDE-1:0] m_job_side
);

    // What a channel sends with, but its AN.
    typedef struct packed {
        logic no_sci;
        logic [63:0] sci;
    } channel_t;

    typedef struct packed {
        logic [1:0] offset;
        logic clear;
        logic extended;
        logic [95:0] base;
    } association_t;

    typedef struct packed {
        logic spent;  // no number is left
        logic [63:0] pn;  // the next one
    } number_t;

    // ---- Stage A: the channel ----

    channel_t channel;
    logic [CHANNELS-1:0] named;  // channels that were set
    logic [2:0] differ;  // in a memory: parity
    logic [2*CHANNELS-1:0] ans;

    logic a_valid;
    logic a_ready;
    logic a_is_frame;  // with the header of Ethernet's
    logic [15:0] a_bytes;  // of user data
    logic [SIDE-1:0] a_side;
    channel_t a_channel;
    logic [SLOT_BITS-1:0] a_slot;

    assign s_frame_ready = !a_valid || a_ready;
    assign parity_error  = differ != '0;

    ram_lut #(
        .WIDTH($bits(channel_t)),
        .DEPTH(CHANNELS),
        .PARITY(PARITY)
    ) channels (
        .clk,
        .write(set_channel && set_ready),
        .write_at(set_slot[SLOT_BITS-1:2]),
        .write_data({set_no_sci, set_sci}),
        .read_at(s_frame_channel),
        .read_data(channel),
        .check(s_frame_valid && s_frame_ready && named[s_frame_channel]),
        .parity_error(differ[0])
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            ans <= '0;
            named <= '0;
            a_valid <= 1'b0;
        end else begin
            for (int i = 0; i < CHANNELS; i = i + 1) begin
                if (set_channel && set_ready && set_slot[SLOT_BITS-1:2] == CHANNEL_BITS'(i)) begin
                    ans[2*i+:2] <= set_slot[1:0];
                    named[i] <= 1'b1;
                end
            end
            if (s_frame_ready) a_valid <= s_frame_valid;
        end
        if (s_frame_ready) begin
            a_is_frame <= s_frame_bytes >= 16'd14;
            a_bytes <= s_frame_bytes - 16'd12;
            a_side <= s_frame_side;
            a_channel <= channel;
            a_slot <= {s_frame_channel, ans[2*s_frame_channel+:2]};
        end
    end

    // ---- Stage B: the association and its next number are read, and then it is decided: two clocks for a frame ----

    logic [1:0] offset;  // 3 is reserved
    assign offset = set_offset == 2'd3 ? macsec_pkg::OFFSET_0 : set_offset;

    number_t number;
    number_t asked;
    association_t association;
    logic takes;  // a frame of an association in use
    logic b_valid;
    logic b_is_frame;
    logic b_used;  // the association, in the clock before
    logic [15:0] b_bytes;
    logic [15:0] b_end;  // the number of their last one
    logic [SIDE-1:0] b_side;
    channel_t b_channel;
    number_t b_number;
    association_t b_association;
    logic [SLOT_BITS-1:0] b_slot;
    logic b_up_to_30;  // bytes of user data
    logic b_up_to_50;
    logic b_plain;
    logic [15:0] b_offset;

    logic written;
    logic [SLOT_BITS-1:0] written_slot;
    number_t written_number;
    logic c_valid;
    logic c_ready;
    logic step;
    logic has_sa;
    logic good;
    logic above;  // the threshold: the number's high half
    logic at_half;
    logic not_below;
    logic heeded;
    logic [SLOT_BITS-1:0] begun_slot;

    assign takes = a_valid && a_ready && in_use[a_slot];

    ram_lut_readers #(
        .WIDTH($bits(number_t)),
        .DEPTH(2 ** SLOT_BITS),
        .PARITY(PARITY)
    ) numbers (
        .clk,
        .write(written),
        .write_at(written_slot),
        .write_data(written_number),
        .read_at({read_slot, a_slot}),
        .read_data({asked, number}),
        .check({in_use[read_slot], takes}),
        .parity_error(differ[1])
    );

    ram_lut #(
        .WIDTH($bits(association_t)),
        .DEPTH(2 ** SLOT_BITS),
        .PARITY(PARITY)
    ) associations (
        .clk,
        .write(begins),
        .write_at(set_slot),
        .write_data({offset, set_clear, set_extended, set_base}),
        .read_at(a_slot),
        .read_data(association),
        .check(takes),
        .parity_error(differ[2])
    );

    assign a_ready = !b_valid;
    assign has_sa = b_used && b_is_frame;
    assign good = has_sa && !b_number.spent;
    assign step = b_valid && (!c_valid || c_ready);
    assign set_ready = !(step && good) && !coming;  // one write port
    assign count_no_sa = step && !has_sa;
    assign count_no_pn = step && has_sa && b_number.spent;
    assign reached = begun && heeded && (above || (at_half && not_below));
    assign reached_slot = begun_slot;
    assign b_offset = {10'd0, macsec_pkg::bytes_of_offset(b_association.offset)};
    always_comb begin
        b_plain = b_association.clear;
        if (b_association.offset == macsec_pkg::OFFSET_30 && b_up_to_30) b_plain = 1'b1;
        if (b_association.offset == macsec_pkg::OFFSET_50 && b_up_to_50) b_plain = 1'b1;
    end

    always_ff @(posedge clk) begin
        if (rst) b_valid <= 1'b0;
        else if (!b_valid) b_valid <= a_valid;
        else if (step) b_valid <= 1'b0;
        b_used <= b_valid ? b_used && in_use[b_slot] : in_use[a_slot];
        if (!b_valid) begin
            b_is_frame <= a_is_frame;
            b_bytes <= a_bytes;
            b_end <= a_bytes - 16'd1;
            b_up_to_30 <= a_bytes <= 16'd30;
            b_up_to_50 <= a_bytes <= 16'd50;
            b_side <= a_side;
            b_channel <= a_channel;
            b_slot <= a_slot;
            // What was written last is not in the memory yet.
            b_number <= written && written_slot == a_slot ? written_number : number;
            b_association <= association;
        end

        written <= ((step && good) || begins) && !rst;
        if (step && good) begin
            written_slot <= b_slot;
            written_number.spent <= b_number.pn[31:0] == '1
                && (!b_association.extended || b_number.pn[63:32] == '1);
            written_number.pn[31:0] <= b_number.pn[31:0] + 32'd1;
            written_number.pn[63:32] <= b_number.pn[31:0] == '1
                ? b_number.pn[63:32] + 32'd1 : b_number.pn[63:32];
        end else begin
            written_slot <= set_slot;
            written_number.spent <= set_pn == '0 || (!set_extended && set_pn[63:32] != '0);
            written_number.pn <= set_pn;
        end
        read_pn <= asked.pn;

        begun <= step && good && !rst;
        heeded <= threshold != '0;
        begun_slot <= b_slot;
        above <= b_number.pn[63:32] > threshold[63:32];
        at_half <= b_number.pn[63:32] == threshold[63:32];
        not_below <= b_number.pn[31:0] >= threshold[31:0];
    end

    // ---- Stage C: the command, and what the feed wants to know ----

    logic c_drop;
    logic [15:0] c_bytes;
    logic [15:0] c_encrypted;  // of these
    logic [15:0] c_end;  // the number of the last one
    logic [15:0] c_total;  // bytes with the header
    logic [15:0] c_total_end;
    logic [SIDE-1:0] c_side;
    channel_t c_channel;
    association_t c_association;
    logic [63:0] c_pn;
    logic [SLOT_BITS-1:0] c_slot;
    logic c_plain;
    logic c_short;
    logic [15:0] c_header;
    logic command_ready;
    logic job_ready;
    logic [7:0] tci;
    logic [63:0] sent_sci;
    plan_t plan;
    transmit_job_t job;

    always_ff @(posedge clk) begin
        if (rst) c_valid <= 1'b0;
        else if (step) c_valid <= 1'b1;
        else if (c_ready) c_valid <= 1'b0;
        if (step) begin
            c_drop <= !good;
            c_bytes <= b_bytes;
            c_encrypted <= b_bytes - b_offset;
            c_end <= b_end - b_offset;
            c_side <= b_side;
            c_channel <= b_channel;
            c_association <= b_association;
            c_pn <= b_number.pn;
            c_slot <= b_slot;
            c_plain <= b_plain;
            c_header <= b_channel.no_sci ? 16'(macsec_pkg::SHORT_HEADER) : 16'(macsec_pkg::HEADER);
            c_total <= b_bytes
                + (b_channel.no_sci ? 16'(macsec_pkg::SHORT_HEADER) : 16'(macsec_pkg::HEADER));
            c_total_end <= b_end
                + (b_channel.no_sci ? 16'(macsec_pkg::SHORT_HEADER) : 16'(macsec_pkg::HEADER));
            c_short <= b_bytes < 16'(macsec_pkg::SHORT_BYTES);
        end
    end

    assign c_ready = job_ready && command_ready;
    assign sent_sci = c_channel.no_sci ? '0 : c_channel.sci;
    assign tci = {
        1'b0, 1'b0, !c_channel.no_sci, 1'b0, !c_association.clear, !c_association.clear, c_slot[1:0]
    };  // SC, E, C

    // Where the encrypted user data begin in a beat of the frame, and how many of its bytes are before them.
    logic [9:0] more;
    logic plain_none;
    logic plain_spills;
    logic spills;

    assign plain_none = c_total_end[15:6] == '0;
    assign more = c_plain ? c_total_end[15:6] - 10'd1 : c_end[15:6];
    assign plain_spills = c_total_end[5:0] >= (c_channel.no_sci ? 6'd8 : 6'd16);
    always_comb begin
        case (c_association.offset)
            macsec_pkg::OFFSET_30: spills = c_end[5:0] >= 6'd22;
            macsec_pkg::OFFSET_50: spills = c_end[5:0] >= 6'd2;
            default: spills = c_end[5:0] >= 6'd52;
        endcase
    end

    assign job.drop = c_drop;
    assign job.no_sci = c_channel.no_sci;
    assign job.plain = c_plain;
    assign job.offset = c_association.offset;
    assign job.bytes = c_bytes;
    assign job.plan = plan;
    assign plan.last_bytes = c_plain ? c_total[5:0] : c_encrypted[5:0];
    assign plan.more = more;
    assign plan.none = c_plain && plain_none;
    assign plan.one = more == '0;
    assign plan.two = more == 10'd1;
    assign plan.second = !c_plain && c_association.offset == macsec_pkg::OFFSET_50;
    assign plan.spills = c_plain ? plain_spills : spills;
    assign job.tag = {
        macsec_pkg::swap32(sent_sci[31:0]),
        macsec_pkg::swap32(sent_sci[63:32]),
        macsec_pkg::swap32(c_pn[31:0]),
        c_short ? c_bytes[7:0] : 8'd0,
        tci,
        macsec_pkg::ETHER_TYPE
    };

    logic [15:0] ad_bytes;

    assign ad_bytes = c_plain ? c_total : c_header + {10'd0, macsec_pkg::bytes_of_offset(
        c_association.offset
    )};

    // Whether the engine can take one hangs on the key that it may be loading: too late for what hangs on it here.
    stream_fifo #(
        .WIDTH(SLOT_BITS + 128),
        .DEPTH(4)
    ) commands (
        .clk,
        .rst,
        .s_valid(c_valid && c_ready && !c_drop),
        .s_ready(command_ready),
        .s_data({c_slot, ad_bytes, c_plain ? 16'd0 : c_encrypted, c_association.base ^ {32'd0, c_pn}}),
        .m_valid(m_cmd_valid),
        .m_ready(m_cmd_ready),
        .m_data({m_cmd_slot, m_cmd_ad_bytes, m_cmd_message_bytes, m_cmd_nonce}),
        .space(),
        .popped()
    );

    stream_fifo #(
        .WIDTH(SLOT_BITS + SIDE + $bits(transmit_job_t)),
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
    assign unused = ^{c_association.extended, asked.spent};

endmodule
