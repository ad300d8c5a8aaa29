// MACsec's receiving side for a 512-bit stream: IEEE 802.1AE-2018, 10.6, with GCM-AES-128 and GCM-AES-XPN-128, or by
// SUITE with GCM-AES-256 and GCM-AES-XPN-256, or an engine that the standard does not know (macsec_engine).
//
//   a frame of another EtherType goes to the uncontrolled port, as it comes
//   each whole frame with a SecTAG:
//       drop what is no valid SecTAG, of no channel, of no association in use, below the lowest number
//       engine: additional data DA ‖ SA ‖ SecTAG, message: user data; it compares the ICV
//       give DA ‖ SA ‖ user data, if the ICV was right and the number is not below the lowest by now;
//       the lowest number goes up to this one + 1 - window
//
// Nothing leaves before it is verified. Numbers within the window may come twice, as the standard lets them (10.6.5); with
// a window of 0 none does.
//
// Of a frame without encryption (E = C = 0) all is additional data for the engine, and the user data wait in a FIFO beside
// it. Frames with E or C alone count as ones of bad SecTAGs.
//
// Clocks for a frame of n bytes of user data: 1 + ceil(n / 64), and 1 more if the last 64 of them, or fewer, are more than 48
// (the engine's); 3 at least, in which its number is judged again. OCB3: 2 + ceil(n / 64), and 4 at least if n is no
// multiple of 16.
//
//   CHANNELS    channels, a power of two from 2 to 64, with four associations each
//   USER        bits of tuser that travel with a frame, at least 1
//   SUITE       the cipher suite, see macsec_engine
//   SBOX, SPLIT of AES, see gcm512: S-boxes of LUTs, block RAM or gates; two registers a round
//   DEPTH       beats of a frame store, a power of two from 32 to 512: the longest frame
//
//   s_axis_*    the line, without FCS; tuser[0]: a bad frame of the MAC, at tlast; the other bits go with the frame
//   m_axis_*    the controlled port: tid is the channel, tuser what s_axis_tuser[USER:1] was
//   m_bypass_*  the uncontrolled port, with the line's tuser: take it at the line's rate, for it holds up what follows
//   s_key_*     keys, see macsec_keys; slot: 4 * channel + AN
//   set_channel whose frames a channel receives: its SCI as it is written, first byte highest, whether it is in use, and
//               whether frames that say no SCI are also its peer's, as on a link with two stations
//   set_sa      an association: in use, the lowest packet number, the window, extended or not, and the base of its nonces,
//               first byte highest: SCI ‖ 0, or with extended numbers (SSCI ‖ 0) ⊕ salt. it comes into
//               use once with each key, and its counters begin at 0. set_ready: the settings of this clock are taken;
//               low also while a key for the slot is under way
//   read_*      an association's lowest number and counters, of the slot of the clock before
//   count_*     one clock for each frame
module macsec_receive #(
    parameter int CHANNELS = 4,
    parameter int USER = 1,
    parameter int SUITE = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int DEPTH = 256,
    parameter int CHANNEL_BITS = $clog2(CHANNELS),
    parameter int SLOT_BITS = CHANNEL_BITS + 2,
    parameter int KEY_BITS = SUITE >= 2 ? 256 : 128
) (
    input logic clk,
    input logic rst,

    input  logic            s_axis_tvalid,
    output logic            s_axis_tready,
    input  logic [   511:0] s_axis_tdata,
    input  logic [    63:0] s_axis_tkeep,
    input  logic            s_axis_tlast,
    input  logic [ USER:0] s_axis_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic [           511:0] m_axis_tdata,
    output logic [            63:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic [CHANNEL_BITS-1:0] m_axis_tid,
    output logic [        USER-1:0] m_axis_tuser,

    output logic            m_bypass_tvalid,
    input  logic            m_bypass_tready,
    output logic [   511:0] m_bypass_tdata,
    output logic [    63:0] m_bypass_tkeep,
    output logic            m_bypass_tlast,
    output logic [USER:0] m_bypass_tuser,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,

    input  logic                    set_channel,
    input  logic                    set_sa,
    output logic                    set_ready,
    input  logic [   SLOT_BITS-1:0] set_slot,
    input  logic                    set_use,
    input  logic                    set_extended,
    input  logic                    set_no_sci,
    input  logic [            63:0] set_sci,
    input  logic [            63:0] set_pn,
    input  logic [            31:0] set_window,
    input  logic [            95:0] set_base,

    input  logic [   SLOT_BITS-1:0] read_slot,
    output logic [            63:0] read_pn,
    output logic [            63:0] read_frames,     // InPktsOK
    output logic [            63:0] read_octets,     // InOctetsDecrypted
    output logic [            63:0] read_validated,  // InOctetsValidated
    output logic [            63:0] read_not_valid,  // InPktsNotValid
    output logic [            63:0] read_late,       // InPktsLate
    output logic [2**SLOT_BITS-1:0] in_use,

    input  logic zeroise,
    output logic zeroising,

    output logic count_untagged,     // InPktsUntagged
    output logic count_bad_tag,      // InPktsBadTag
    output logic count_no_sci,       // InPktsNoSCI
    output logic count_no_sa,        // InPktsNotUsingSA
    output logic count_overrun,      // InPktsOverrun: for the frame stores
    output logic count_key_refused
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (CHANNELS < 2 || CHANNELS > 64 || CHANNELS != 2 ** $clog2(CHANNELS)) begin : g_channels_refused
        channels_must_be_a_power_of_two_from_2_to_64 refused ();
    end
    if (USER < 1) begin : g_user_refused
        user_must_be_1_or_more refused ();
    end
    if (SUITE < 0 || SUITE > 4) begin : g_suite_refused
        suite_must_be_0_to_4 refused ();
    end
    if (SBOX < 0 || SBOX > 2) begin : g_sbox_refused
        sbox_must_be_0_1_or_2 refused ();
    end
    if (SPLIT < 0 || SPLIT > 1) begin : g_split_refused
        split_must_be_0_or_1 refused ();
    end
    if (DEPTH < 32 || DEPTH > 512 || DEPTH != 2 ** $clog2(DEPTH)) begin : g_depth_refused
        depth_must_be_a_power_of_two_from_32_to_512 refused ();
    end

    // ---- Which port ----

    logic arrived_first;
    logic was_secure;
    logic secure;
    logic line_valid;
    logic line_ready;
    logic line_secure;
    logic line_last;
    logic [USER:0] line_user;
    logic [63:0] line_keep;
    logic [511:0] line_data;
    logic store_ready;
    logic [2:0] unused_line;
    logic [6:0] unused_popped;

    // A frame of 12 bytes or fewer has no EtherType.
    assign secure = arrived_first
        ? s_axis_tdata[111:96] == macsec_pkg::ETHER_TYPE && s_axis_tkeep[13] : was_secure;

    always_ff @(posedge clk) begin
        if (rst) arrived_first <= 1'b1;
        else if (s_axis_tvalid && s_axis_tready) arrived_first <= s_axis_tlast;
        if (s_axis_tvalid && s_axis_tready) was_secure <= secure;
    end

    stream_fifo #(
        .WIDTH(579 + USER),
        .DEPTH(4)
    ) line (
        .clk,
        .rst,
        .s_valid(s_axis_tvalid),
        .s_ready(s_axis_tready),
        .s_data({secure, s_axis_tlast, s_axis_tuser, s_axis_tkeep, s_axis_tdata}),
        .m_valid(line_valid),
        .m_ready(line_ready),
        .m_data({line_secure, line_last, line_user, line_keep, line_data}),
        .space(unused_line),
        .popped(unused_popped[4])
    );

    assign line_ready = line_secure ? store_ready : m_bypass_tready;
    assign m_bypass_tvalid = line_valid && !line_secure;
    assign m_bypass_tdata = line_data;
    assign m_bypass_tkeep = line_keep;
    assign m_bypass_tlast = line_last;
    assign m_bypass_tuser = line_user;
    assign count_untagged = m_bypass_tvalid && m_bypass_tready && line_last;

    // ---- Whole frames ----

    localparam int SIDE = USER + 176;  // source address and SecTAG: bytes 6 to 27

    logic frame_valid;
    logic frame_ready;
    logic [15:0] frame_bytes;
    logic [USER-1:0] frame_side;
    logic [175:0] frame_head;
    logic beat_valid;
    logic beat_ready;
    logic [511:0] beat_data;
    logic [63:0] unused_keep;
    logic beat_last;
    logic line_overrun;

    frame_store #(
        .SIDE (SIDE),
        .DEPTH(DEPTH)
    ) store (
        .clk,
        .rst,
        .s_axis_tvalid(line_valid && line_secure),
        .s_axis_tready(store_ready),
        .s_axis_tdata(line_data),
        .s_axis_tkeep(line_keep),
        .s_axis_tlast(line_last),
        .s_axis_tuser(line_user[0]),
        .s_axis_side({line_user[USER:1], line_data[223:48]}),
        .m_frame_tvalid(frame_valid),
        .m_frame_tready(frame_ready),
        .m_frame_bytes(frame_bytes),
        .m_frame_side({frame_side, frame_head}),
        .m_axis_tvalid(beat_valid),
        .m_axis_tready(beat_ready),
        .m_axis_tdata(beat_data),
        .m_axis_tkeep(unused_keep),
        .m_axis_tlast(beat_last),
        .too_long(line_overrun)
    );

    // ---- What becomes of a frame: seven stages, which move together, and a frame in two of their clocks ----

    // What a frame has with it through all of them.
    typedef struct packed {
        logic valid;
        logic bad_tag;
        logic short_tag;  // without SCI
        logic clear;  // without encryption
        logic [15:0] bytes;  // of user data
        logic [USER-1:0] side;
        logic [1:0] an;
        logic [31:0] sent;  // of the packet number
    } frame_t;

    logic move;
    logic admitted;  // in the clock before
    assign frame_ready = move && !admitted;
    always_ff @(posedge clk) begin
        if (rst) admitted <= 1'b0;
        else if (move) admitted <= frame_valid && frame_ready;
    end

    // ---- 1: what the SecTAG says ----

    // Bits of TCI and AN.
    localparam int VERSION = 7;
    localparam int ES = 6;
    localparam int SC = 5;
    localparam int SCB = 4;
    localparam int E = 3;
    localparam int C = 2;
    localparam int SHORTEST_FRAME_BYTES = 60;  // to which a MAC fills shorter ones

    frame_t parsed;  // its bytes are not known yet
    logic [7:0] tci;
    logic explicit_sci;
    logic [7:0] short_bytes;
    logic [15:0] room;  // between what is before and behind the user data
    logic enough;
    logic filled;  // the frame may be longer than it says
    logic names;  // it says whose it is
    logic [63:0] sci;

    assign tci = frame_head[71:64];
    assign explicit_sci = tci[SC];

    always_ff @(posedge clk) begin
        if (rst) parsed.valid <= 1'b0;
        else if (move) parsed.valid <= frame_valid && frame_ready;
        if (move) begin
            // Version 0; SC excludes ES and SCB; E and C, or neither.
            parsed.bytes <= '0;
            parsed.bad_tag <= tci[VERSION] || tci[E] != tci[C] || (explicit_sci && (tci[ES] || tci[SCB]));
            parsed.clear <= !tci[E];
            parsed.short_tag <= !explicit_sci;
            parsed.side <= frame_side;
            parsed.an <= tci[1:0];
            parsed.sent <= macsec_pkg::swap32(frame_head[111:80]);
            short_bytes <= frame_head[79:72];
            room <= frame_bytes - (explicit_sci ? 16'd44 : 16'd36);
            enough <= frame_bytes >= (explicit_sci ? 16'd44 : 16'd36);
            filled <= frame_bytes <= 16'(SHORTEST_FRAME_BYTES);
            names <= explicit_sci || tci[ES] || tci[SCB];
            if (explicit_sci) begin
                sci <= {macsec_pkg::swap32(frame_head[143:112]), macsec_pkg::swap32(frame_head[175:144])};
            end else begin
                // The source address, and port 1, or 0 of a single copy broadcast.
                sci <= {
                    macsec_pkg::swap32(frame_head[31:0]),
                    frame_head[39:32],
                    frame_head[47:40],
                    15'd0,
                    !tci[SCB]
                };
            end
        end
    end

    // ---- 2: whether its lengths are right, and whose it is ----

    logic [64*CHANNELS-1:0] scis;
    logic [CHANNELS-1:0] channels;  // in use
    logic [CHANNELS-1:0] implied;  // also for frames that say no SCI
    logic lengths_good;
    frame_t checked;
    logic [CHANNELS-1:0] hits;

    for (genvar i = 0; i < CHANNELS; i = i + 1) begin : g_channel
        logic sets;
        assign sets = set_channel && set_ready && set_slot[SLOT_BITS-1:2] == CHANNEL_BITS'(i);
        always_ff @(posedge clk) begin
            if (sets) scis[64*i+:64] <= set_sci;
            if (sets) implied[i] <= set_no_sci;
            if (rst) channels[i] <= 1'b0;
            else if (sets) channels[i] <= set_use;
        end
    end

    always_comb begin
        if (!enough) lengths_good = 1'b0;
        else if (short_bytes == '0) lengths_good = room >= 16'(macsec_pkg::SHORT_BYTES);
        else if (short_bytes >= 8'(macsec_pkg::SHORT_BYTES)) lengths_good = 1'b0;
        else lengths_good = room == {8'd0, short_bytes} || (room > {8'd0, short_bytes} && filled);
    end

    always_ff @(posedge clk) begin
        if (rst) checked.valid <= 1'b0;
        else if (move) checked.valid <= parsed.valid;
        if (move) begin
            checked.bad_tag <= parsed.bad_tag || !lengths_good;
            checked.short_tag <= parsed.short_tag;
            checked.clear <= parsed.clear;
            checked.bytes <= short_bytes == '0 ? room : {8'd0, short_bytes};
            checked.side <= parsed.side;
            checked.an <= parsed.an;
            checked.sent <= parsed.sent;
            for (int i = 0; i < CHANNELS; i = i + 1) begin
                hits[i] <= channels[i] && (names ? scis[64*i+:64] == sci : implied[i]);
            end
        end
    end

    // ---- 3: the channel ----

    frame_t known;
    logic known_found;
    logic [CHANNEL_BITS-1:0] known_channel;
    logic [CHANNEL_BITS-1:0] channel;
    logic [SLOT_BITS-1:0] known_slot;

    always_comb begin
        channel = '0;
        for (int i = 0; i < CHANNELS; i = i + 1) if (hits[i]) channel = CHANNEL_BITS'(i);
    end

    always_ff @(posedge clk) begin
        if (rst) known.valid <= 1'b0;
        else if (move) known <= checked;
        if (move) begin
            known_found   <= hits != '0;
            known_channel <= channel;
        end
    end
    assign known_slot = {known_channel, known.an};

    // ---- 4: the association is read ----

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [63:0] lowests[0:2**SLOT_BITS-1];
    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [128:0] associations[0:2**SLOT_BITS-1];

    logic begins;  // the use of an association
    logic coming;  // its key
    logic written;
    logic [SLOT_BITS-1:0] written_slot;
    logic [63:0] written_lowest;

    frame_t read;
    logic read_found;
    logic [SLOT_BITS-1:0] read_by;  // the slot
    logic read_used;  // in the clock before
    logic [63:0] lowest;
    logic [31:0] read_window;
    logic read_extended;
    logic [95:0] read_base;

    always_ff @(posedge clk) begin
        if (rst) read.valid <= 1'b0;
        else if (move) read <= known;
        // An association that comes into use by now is for frames behind this one.
        read_used <= move ? in_use[known_slot] : read_used && in_use[read_by];
        if (move) begin
            read_found <= known_found;
            read_by <= known_slot;
            // What was written last is not in the memory yet.
            lowest <= written && written_slot == known_slot ? written_lowest : lowests[known_slot];
            {read_window, read_extended, read_base} <= associations[known_slot];
        end
    end

    // ---- 5: the whole number ----
    //
    // 10.6.2: if the lowest number's low half has reached 2^31 and the one that came has not, the high half went up.

    frame_t whole;
    logic whole_found;
    logic whole_used;
    logic [SLOT_BITS-1:0] whole_slot;
    logic [63:0] whole_pn;
    logic [31:0] whole_back;  // window - 1
    logic no_window;  // the window is 0
    logic [95:0] whole_base;
    logic went_up;
    logic below;
    logic whole_late;

    assign went_up = lowest[31] && !read.sent[31];
    assign below = read.sent < lowest[31:0];

    always_ff @(posedge clk) begin
        if (rst) whole.valid <= 1'b0;
        else if (move) whole <= read;
        whole_used <= move ? read_used && in_use[read_by] : whole_used && in_use[whole_slot];
        if (move) begin
            whole_found <= read_found;
            whole_slot <= read_by;
            whole_pn <= {read_extended ? lowest[63:32] + {31'd0, went_up} : 32'd0, read.sent};
            whole_back <= read_window - 32'd1;
            no_window <= read_window == '0;
            whole_base <= read_base;
            if (!read_extended) whole_late <= lowest[63:32] != '0 || below;
            else whole_late <= went_up ? lowest[63:32] == '1 : below;
        end
    end

    // ---- 6: whether it is opened, and what the lowest number would be behind it ----

    frame_t judged;
    logic judged_drop;
    logic judged_late;
    logic judged_good;
    logic [SLOT_BITS-1:0] judged_slot;
    logic [63:0] judged_pn;
    logic [95:0] judged_base;
    logic judged_no_window;
    logic borrow;
    logic [31:0] raised_low;
    logic step;
    logic is_number;
    logic good;

    assign step = whole.valid && move;
    assign is_number = whole_pn != '0;
    assign good = whole_found && whole_used && !whole.bad_tag && is_number && !whole_late;
    assign count_bad_tag = step && (whole.bad_tag || (whole_found && whole_used && !is_number));
    assign count_no_sci = step && !whole.bad_tag && !whole_found;
    assign count_no_sa = step && !whole.bad_tag && whole_found && !whole_used;

    always_ff @(posedge clk) begin
        if (rst) judged.valid <= 1'b0;
        else if (move) judged <= whole;
        // For one clock: what waits here might be counted when its association has another key already.
        judged_late <= step && !whole.bad_tag && whole_found && whole_used && is_number && whole_late && !rst;
        judged_good <= step && good && !rst;
        if (move) begin
            judged_drop <= !good;
            judged_slot <= whole_slot;
            judged_pn <= whole_pn;
            judged_base <= whole_base;
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

    // ---- 7: the command, and what the stream wants to know ----

    logic c_valid;
    logic c_drop;
    logic c_short;
    logic c_clear;
    logic [15:0] c_bytes;
    logic [15:0] c_end;
    logic [15:0] c_header;
    logic [15:0] c_total;  // bytes of header and user data
    logic [15:0] c_total_end;
    logic [9:0] c_more;  // beats that the engine gets, behind the first
    logic c_long;
    logic [USER-1:0] c_side;
    logic [SLOT_BITS-1:0] c_slot;
    logic [63:0] c_pn;
    logic [63:0] c_raised;
    logic [95:0] c_nonce;
    logic c_ready;
    logic command_ready;
    logic command_valid;
    logic engine_command_ready;
    logic [SLOT_BITS-1:0] command_slot;
    logic [15:0] command_ad_bytes;
    logic [15:0] command_bytes;
    logic [95:0] command_nonce;
    logic [2:0] unused_commands;
    logic job_ready;

    assign move = !c_valid || c_ready;
    assign c_ready = job_ready && command_ready;
    assign c_header = c_short ? 16'd20 : 16'd28;
    assign c_more = c_clear ? c_total_end[15:6] : c_end[15:6];
    always_comb begin
        if (c_clear) c_long = c_total_end[5:0] >= 6'd48;
        else c_long = c_end[5:0] >= (c_short ? 6'd28 : 6'd20);
    end

    always_ff @(posedge clk) begin
        if (rst) c_valid <= 1'b0;
        else if (move) c_valid <= judged.valid;
        if (move) begin
            c_drop <= judged_drop;
            c_short <= judged.short_tag;
            c_clear <= judged.clear;
            c_bytes <= judged.bytes;
            c_end <= judged.bytes - 16'd1;
            c_total <= judged.bytes + (judged.short_tag ? 16'd20 : 16'd28);
            c_total_end <= judged.bytes + (judged.short_tag ? 16'd19 : 16'd27);
            c_side <= judged.side;
            c_slot <= judged_slot;
            c_pn <= judged_pn;
            c_raised <= raised;
            c_nonce <= judged_base ^ {32'd0, judged_pn};
        end
    end

    // Whether the engine can take one hangs on the key that it may be loading: too late for what hangs on it here.
    stream_fifo #(
        .WIDTH(SLOT_BITS + 128),
        .DEPTH(4)
    ) commands (
        .clk,
        .rst,
        .s_valid(c_valid && c_ready && !c_drop),
        .s_ready(command_ready),
        .s_data({c_slot, c_clear ? c_total : c_header, c_clear ? 16'd0 : c_bytes, c_nonce}),
        .m_valid(command_valid),
        .m_ready(engine_command_ready),
        .m_data({command_slot, command_ad_bytes, command_bytes, command_nonce}),
        .space(unused_commands),
        .popped(unused_popped[6])
    );

    localparam int JOB = 1 + 16 + 6 + 13 + 2 + USER + 128 + SLOT_BITS;
    logic job_valid;
    logic job_done;
    logic job_drop;
    logic [15:0] job_bytes;
    logic [9:0] job_more;  // beats of user data behind the first
    logic job_one;
    logic job_two;
    logic job_long;  // the last one and the ICV have more bytes than are held of the beat before
    logic job_short;  // without SCI
    logic job_clear;  // without encryption
    logic [5:0] job_last;  // bytes of the last beat, modulo 64
    logic [USER-1:0] job_side;
    logic [63:0] job_pn;
    logic [63:0] job_raised;
    logic [SLOT_BITS-1:0] job_slot;
    logic [4:0] unused_jobs;

    stream_fifo #(
        .WIDTH(JOB),
        .DEPTH(16)
    ) jobs (
        .clk,
        .rst,
        .s_valid(c_valid && c_ready),
        .s_ready(job_ready),
        .s_data({
            c_drop,
            c_bytes,
            c_clear ? c_total[5:0] : c_bytes[5:0],
            c_more,
            c_more == 10'd0,
            c_more == 10'd1,
            c_long,
            c_short,
            c_clear,
            c_side,
            c_pn,
            c_raised,
            c_slot
        }),
        .m_valid(job_valid),
        .m_ready(job_done),
        .m_data({
            job_drop,
            job_bytes,
            job_last,
            job_more,
            job_one,
            job_two,
            job_long,
            job_short,
            job_clear,
            job_side,
            job_pn,
            job_raised,
            job_slot
        }),
        .space(unused_jobs),
        .popped(unused_popped[0])
    );

    // ---- The frame's beats to the engine's: additional data, user data moved by 20 or 28 bytes; beside them the ICV ----
    //
    // Of a frame without encryption the engine gets the beats as they are, a clock later: while one is given, the next one
    // is read, for the ICV may begin there.

    logic in_body;
    logic icv_follows;  // the user data's last beat was given in the clock before
    logic icv_short;  // of that frame: job_short, job_clear
    logic icv_clear;
    logic icv_room;
    logic [3:0] icv_space;
    logic feed_valid;
    logic feed_ready;
    logic [511:0] feed_data;
    logic [63:0] feed_keep;
    logic feed_last;
    logic header_ready;
    logic head;
    logic needs_beat;
    logic [511:0] held;  // the beat before
    logic clears_ready;
    logic may_feed;
    logic [511:0] moved;
    logic [511:0] prior;  // the user data's last beat, and what follows them there
    logic [6:0] last_bytes;
    logic [63:0] last_keep;
    logic [191:0] rest;  // behind `prior`
    logic [703:0] behind;
    logic [8:0] icv_eight;  // the eight bytes that the ICV begins in, one of them
    logic [2:0] icv_turn;  // and the byte of these
    logic [191:0] icv_words;  // these eight, and what follows
    logic feeds;

    assign may_feed = !job_clear || clears_ready;
    assign head = !in_body && job_valid && !job_drop && beat_valid && header_ready && icv_room;
    always_comb begin
        if (icv_clear) rest = held[191:0];
        else rest = icv_short ? held[351:160] : held[415:224];
        if (job_clear) moved = held;
        else moved = job_short ? {beat_data[159:0], held[511:160]} : {beat_data[223:0], held[511:224]};
    end
    assign behind = {rest, prior};
    assign last_bytes = {job_last == '0, job_last};
    always_comb begin
        icv_words = '0;
        for (int i = 0; i <= 8; i = i + 1) begin
            icv_words = icv_words | (behind[64*i+:192] & {192{icv_eight[i]}});
        end
    end

    always_comb begin
        feed_valid = head;
        feed_data  = beat_data;
        feed_keep  = job_short ? 64'hf_ffff : 64'hfff_ffff;
        if (in_body) begin
            feed_valid = (!needs_beat || beat_valid) && may_feed;
            feed_data  = moved;
            feed_keep  = feed_last ? last_keep : '1;
        end
    end

    logic drops;
    assign feeds = feed_valid && feed_ready;
    assign drops = job_valid && job_drop;
    assign beat_ready = drops || (feed_ready && (in_body ? needs_beat && may_feed : head));
    assign job_done = drops ? beat_valid && beat_last : feeds && feed_last;

    body_beats beats (
        .clk,
        .rst,
        .job_bytes(job_last),
        .job_more,
        .job_none(1'b0),
        .job_one,
        .job_two,
        .job_long,
        .gives(feeds),
        .in_body,
        .last(feed_last),
        .last_keep,
        .needs_beat
    );

    always_ff @(posedge clk) begin
        icv_follows <= feeds && feed_last && !rst;
        icv_short <= job_short;
        icv_clear <= job_clear;
        // One more may be on its way, and one may have come since.
        icv_room <= icv_space > 4'd2;
        if (feeds && in_body) prior <= moved;
        icv_turn <= last_bytes[2:0];
        for (int i = 0; i <= 8; i = i + 1) icv_eight[i] <= last_bytes[6:3] == 4'(i);
        if (beat_valid && beat_ready) held <= beat_data;
    end

    logic engine_valid;
    logic engine_ready;
    logic engine_last;
    logic engine_body;
    logic [63:0] engine_keep;
    logic [511:0] engine_data;
    logic [2:0] unused_feed;

    stream_fifo #(
        .WIDTH(578),
        .DEPTH(4)
    ) feed (
        .clk,
        .rst,
        .s_valid(feed_valid && (in_body || !job_clear)),
        .s_ready(feed_ready),
        .s_data({in_body && !job_clear, feed_last, feed_keep, feed_data}),
        .m_valid(engine_valid),
        .m_ready(engine_ready),
        .m_data({engine_body, engine_last, engine_keep, engine_data}),
        .space(unused_feed),
        .popped(unused_popped[3])
    );

    logic icv_valid;
    logic icv_ready;
    logic unused_icv_ready;
    logic unused_icv_popped;
    logic [2:0] engine_turn;  // the bytes before the ICV
    logic [191:0] engine_words;
    logic [127:0] engine_icv;

    stream_fifo #(
        .WIDTH(195),
        .DEPTH(8)
    ) icvs (
        .clk,
        .rst,
        .s_valid(icv_follows),
        .s_ready(unused_icv_ready),
        .s_data({icv_turn, icv_words}),
        .m_valid(icv_valid),
        .m_ready(icv_ready),
        .m_data({engine_turn, engine_words}),
        .space(icv_space),
        .popped(unused_icv_popped)
    );

    always_comb begin
        engine_icv = engine_words[127:0];
        for (int i = 1; i < 8; i = i + 1) if (engine_turn == 3'(i)) engine_icv = engine_words[8*i+:128];
    end

    // ---- The engine ----

    logic out_valid;
    logic out_ready;
    logic [511:0] out_data;
    logic [63:0] out_keep;
    logic out_last;
    logic verdict_valid;
    logic verdict_ready;
    logic [127:0] unused_tag;
    logic not_valid;

    macsec_engine #(
        .OPEN(1),
        .SUITE(SUITE),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .SLOT_BITS(SLOT_BITS)
    ) engine (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .set(set_sa && set_ready),
        .set_slot,
        .set_use,
        .begins,
        .coming,
        .in_use,
        .zeroise,
        .zeroising,
        .began(judged_good),
        .refused(count_key_refused),
        .s_cmd_tvalid(command_valid),
        .s_cmd_tready(engine_command_ready),
        .s_cmd_slot(command_slot),
        .s_cmd_nonce(command_nonce),
        .s_cmd_ad_bytes(command_ad_bytes),
        .s_cmd_message_bytes(command_bytes),
        .s_axis_tvalid(engine_valid),
        .s_axis_tready(engine_ready),
        .s_axis_tdata(engine_data),
        .s_axis_tkeep(engine_keep),
        .s_axis_tlast(engine_last),
        .s_axis_tuser({1'b0, !engine_body}),
        .s_tag_tvalid(icv_valid),
        .s_tag_tready(icv_ready),
        .s_tag_tdata(engine_icv),
        .m_axis_tvalid(out_valid),
        .m_axis_tready(out_ready),
        .m_axis_tdata(out_data),
        .m_axis_tkeep(out_keep),
        .m_axis_tlast(out_last),
        .m_tag_tvalid(verdict_valid),
        .m_tag_tready(verdict_ready),
        .m_tag_tdata(unused_tag),
        .m_tag_tbad(not_valid)
    );

    // ---- Addresses and user data, packed into one frame, with the verdict ----

    localparam int HEADER = 1 + SLOT_BITS + USER + 128 + 16 + 96;
    logic header_valid;
    logic [SLOT_BITS-1:0] header_slot;
    logic [USER-1:0] header_side;
    logic [63:0] header_pn;
    logic [63:0] header_raised;
    logic header_clear;
    logic [15:0] header_bytes;
    logic [95:0] header_addresses;
    logic [6:0] unused_headers;
    logic ends;

    stream_fifo #(
        .WIDTH(HEADER),
        .DEPTH(64)
    ) headers (
        .clk,
        .rst,
        .s_valid(head && feed_ready),
        .s_ready(header_ready),
        .s_data({job_clear, job_slot, job_side, job_pn, job_raised, job_bytes, beat_data[95:0]}),
        .m_valid(header_valid),
        .m_ready(ends),
        .m_data({
            header_clear, header_slot, header_side, header_pn, header_raised, header_bytes, header_addresses
        }),
        .space(unused_headers),
        .popped(unused_popped[1])
    );

    // The number was not too low when the frame came. Is it now, that the frames before it are verified? The lowest
    // number is read in the first clock of a frame, compared in the second, and the frame may end in the third.
    logic [1:0] asked;  // read, compared
    logic [63:0] lowest_now;
    logic below_high;
    logic same_high;
    logic below_low;
    logic raises_high;
    logic same_raised;
    logic raises_low;
    logic late_by_now;
    logic raises;
    logic accepted;

    assign late_by_now = below_high || (same_high && below_low);
    assign raises = raises_high || (same_raised && raises_low);

    always_ff @(posedge clk) begin
        if (rst || ends) asked <= '0;
        else asked <= {asked[0], header_valid};
        lowest_now <= written && written_slot == header_slot ? written_lowest : lowests[header_slot];
        below_high <= header_pn[63:32] < lowest_now[63:32];
        same_high <= header_pn[63:32] == lowest_now[63:32];
        below_low <= header_pn[31:0] < lowest_now[31:0];
        raises_high <= header_raised[63:32] > lowest_now[63:32];
        same_raised <= header_raised[63:32] == lowest_now[63:32];
        raises_low <= header_raised[31:0] > lowest_now[31:0];
    end

    // The user data come from the engine, or if they are not encrypted from `clears`, without the header before them.
    // `kinds` says in the order of frames which, until the last beat is taken.
    logic data_valid;
    logic data_ready;
    logic data_last;
    logic [63:0] data_keep;
    logic [511:0] data;
    logic [2:0] unused_data;
    logic clear_first;  // the next beat that is given has the header
    logic [63:0] clear_keep_in;
    logic [511:0] clear_data_in;
    logic kind_valid;
    logic kind_clear;
    logic clear_valid;
    logic clear_last;
    logic [63:0] clear_keep;
    logic [511:0] clear_data;
    logic outs_valid;
    logic outs_last;
    logic [63:0] outs_keep;
    logic [511:0] outs_data;
    logic unused_kinds_ready;
    logic [1:0] unused_clears_popped;
    logic [13:0] unused_clears_space;

    always_comb begin
        clear_keep_in = feed_keep;
        clear_data_in = feed_data;
        if (clear_first) begin
            clear_keep_in = job_short ? feed_keep >> 20 : feed_keep >> 28;
            clear_data_in = job_short ? feed_data >> 160 : feed_data >> 224;
        end
    end
    always_ff @(posedge clk) if (feeds) clear_first <= !in_body;

    stream_fifo #(
        .WIDTH(577),
        .DEPTH(64)
    ) clears (
        .clk,
        .rst,
        .s_valid(feeds && in_body && job_clear),
        .s_ready(clears_ready),
        .s_data({feed_last, clear_keep_in, clear_data_in}),
        .m_valid(clear_valid),
        .m_ready(data_ready && kind_valid && kind_clear),
        .m_data({clear_last, clear_keep, clear_data}),
        .space(unused_clears_space[6:0]),
        .popped(unused_clears_popped[0])
    );

    // It has at most as many entries as `headers`.
    stream_fifo #(
        .WIDTH(1),
        .DEPTH(64)
    ) kinds (
        .clk,
        .rst,
        .s_valid(head && feed_ready),
        .s_ready(unused_kinds_ready),
        .s_data(job_clear),
        .m_valid(kind_valid),
        .m_ready(ends),
        .m_data(kind_clear),
        .space(unused_clears_space[13:7]),
        .popped(unused_clears_popped[1])
    );

    assign data_valid = kind_valid && (kind_clear ? clear_valid : outs_valid);
    assign data_last = kind_clear ? clear_last : outs_last;
    assign data_keep = kind_clear ? clear_keep : outs_keep;
    assign data = kind_clear ? clear_data : outs_data;

    stream_fifo #(
        .WIDTH(577),
        .DEPTH(4)
    ) outs (
        .clk,
        .rst,
        .s_valid(out_valid),
        .s_ready(out_ready),
        .s_data({out_last, out_keep, out_data}),
        .m_valid(outs_valid),
        .m_ready(data_ready && kind_valid && !kind_clear),
        .m_data({outs_last, outs_keep, outs_data}),
        .space(unused_data),
        .popped(unused_popped[2])
    );

    logic in_data;
    logic piece_valid;
    logic piece_ready;
    logic piece_last;
    logic piece_bad;

    assign piece_valid = in_data ? data_valid && (!data_last || (verdict_valid && asked[1])) : header_valid;
    assign piece_last = in_data && data_last;
    assign piece_bad = not_valid || late_by_now;
    assign ends = piece_last && piece_valid && piece_ready;
    assign data_ready = in_data && piece_ready && (!data_last || (verdict_valid && asked[1]));
    assign verdict_ready = piece_last && piece_ready && data_valid && asked[1];
    assign accepted = ends && !piece_bad;
    assign set_ready = !ends && !coming;  // one write port

    always_ff @(posedge clk) begin
        if (rst) in_data <= 1'b0;
        else if (piece_valid && piece_ready) in_data <= !piece_last;
        written <= ((accepted && raises) || begins) && !rst;
        written_slot <= ends ? header_slot : set_slot;
        written_lowest <= ends ? header_raised : set_pn;
        if (written) lowests[written_slot] <= written_lowest;
        if (begins) associations[set_slot] <= {set_window, set_extended, set_base};
        read_pn <= lowests[read_slot];
    end

    logic counted_valid;
    logic counted_ready;
    logic counted_bad;
    logic counted_last;
    logic [6:0] counted_bytes;
    logic [511:0] counted_data;
    logic [CHANNEL_BITS+USER-1:0] counted_side;

    assign piece_ready = !counted_valid || counted_ready;
    always_ff @(posedge clk) begin
        if (rst) counted_valid <= 1'b0;
        else if (piece_ready) counted_valid <= piece_valid;
        if (piece_ready) begin
            counted_bad <= piece_bad;
            counted_last <= piece_last;
            counted_side <= {header_slot[SLOT_BITS-1:2], header_side};
            counted_bytes <= in_data ? macsec_pkg::kept_bytes(data_keep) : 7'd12;
            for (int i = 0; i < 64; i = i + 1) counted_data[8*i+:8] <= data_keep[i] ? data[8*i+:8] : 8'd0;
            if (!in_data) counted_data <= {416'd0, header_addresses};
        end
    end

    logic packing_valid;
    logic packing_ready;
    logic packing_bad;
    logic packing_last;
    logic [6:0] packing_bytes;
    logic [511:0] packing_data;
    logic [CHANNEL_BITS+USER-1:0] packing_side;
    logic [2:0] unused_pieces;

    stream_fifo #(
        .WIDTH(CHANNEL_BITS + USER + 521),
        .DEPTH(4)
    ) pieces (
        .clk,
        .rst,
        .s_valid(counted_valid),
        .s_ready(counted_ready),
        .s_data({counted_side, counted_bad, counted_last, counted_bytes, counted_data}),
        .m_valid(packing_valid),
        .m_ready(packing_ready),
        .m_data({packing_side, packing_bad, packing_last, packing_bytes, packing_data}),
        .space(unused_pieces),
        .popped(unused_popped[5])
    );

    logic packed_valid;
    logic packed_ready;
    logic [511:0] packed_data;
    logic [63:0] packed_keep;
    logic packed_last;
    logic packed_bad;
    logic [CHANNEL_BITS+USER-1:0] packed_side;

    byte_packer #(
        .USER(CHANNEL_BITS + USER)
    ) packer (
        .clk,
        .rst,
        .in_valid(packing_valid),
        .in_ready(packing_ready),
        .in_data(packing_data),
        .in_bytes(packing_bytes),
        .in_last(packing_last),
        .in_bad(packing_bad),
        .in_user(packing_side),
        .m_axis_tvalid(packed_valid),
        .m_axis_tready(packed_ready),
        .m_axis_tdata(packed_data),
        .m_axis_tkeep(packed_keep),
        .m_axis_tlast(packed_last),
        .m_axis_tbad(packed_bad),
        .m_axis_tuser(packed_side)
    );

    // ---- What is verified leaves ----

    logic released_valid;
    logic released_beat;
    logic [15:0] unused_bytes;
    logic release_overrun;

    frame_store #(
        .SIDE (CHANNEL_BITS + USER),
        .DEPTH(DEPTH)
    ) verified (
        .clk,
        .rst,
        .s_axis_tvalid(packed_valid),
        .s_axis_tready(packed_ready),
        .s_axis_tdata(packed_data),
        .s_axis_tkeep(packed_keep),
        .s_axis_tlast(packed_last),
        .s_axis_tuser(packed_bad),
        .s_axis_side(packed_side),
        .m_frame_tvalid(released_valid),
        .m_frame_tready(m_axis_tvalid && m_axis_tready && m_axis_tlast),
        .m_frame_bytes(unused_bytes),
        .m_frame_side({m_axis_tid, m_axis_tuser}),
        .m_axis_tvalid(released_beat),
        .m_axis_tready(m_axis_tready && released_valid),
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .too_long(release_overrun)
    );

    assign m_axis_tvalid = released_valid && released_beat;
    assign count_overrun = line_overrun || release_overrun;

    // ---- Counters ----

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) frames_good (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(accepted),
        .add_slot(header_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_frames)
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) octets_decrypted (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(accepted && !header_clear),
        .add_slot(header_slot),
        .add_value(header_bytes),
        .read_slot,
        .read_value(read_octets)
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) octets_validated (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(accepted && header_clear),
        .add_slot(header_slot),
        .add_value(header_bytes),
        .read_slot,
        .read_value(read_validated)
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) frames_not_valid (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(ends && not_valid),
        .add_slot(header_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_not_valid)
    );

    // Late frames are found at two places, so at the same time.
    logic [63:0] read_late_before;
    logic [63:0] read_late_behind;
    assign read_late = read_late_before + read_late_behind;

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) frames_late_before (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(judged_late),
        .add_slot(judged_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_late_before)
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) frames_late_behind (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(ends && !not_valid && late_by_now),
        .add_slot(header_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_late_behind)
    );

    logic unused;
    assign unused = ^{
        unused_line, unused_keep, unused_jobs, unused_popped, unused_tag, unused_headers, unused_feed,
        unused_icv_ready, unused_icv_popped, unused_kinds_ready, unused_clears_popped, unused_clears_space,
        unused_commands,
        unused_bytes, frame_head[63:48], unused_data, unused_pieces, parsed.bytes, judged.bad_tag, judged.an,
        judged.sent
    };

endmodule
