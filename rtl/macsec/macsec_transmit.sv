// MACsec's sending side for a 512-bit stream: IEEE 802.1AE-2018, 10.5, with GCM-AES-128 and GCM-AES-XPN-128, or by
// SUITE with GCM-AES-256 and GCM-AES-XPN-256, or an engine that the standard does not know (macsec_engine).
//
//   for each whole frame of the controlled port:
//       channel by tid, association by the channel's AN, packet number from the association
//       engine: additional data DA ‖ SA ‖ SecTAG, message: the rest of the frame
//       give DA ‖ SA ‖ SecTAG ‖ ciphertext ‖ ICV
//   frames of the uncontrolled port go in between as they are
//
// An association without encryption (E = C = 0) gives its engine the user data as additional data, which leave through a
// FIFO beside it: DA ‖ SA ‖ SecTAG ‖ user data ‖ ICV. A frame then takes a clock more than its beats.
//
// A frame whose channel has no association in use, or one without numbers, is dropped and counted. The SCI is in the SecTAG unless the channel omits it.
//
// Clocks for an encrypted frame of n bytes of user data: 1 + ceil(n / 64), and 1 more if its last 64 bytes are more than 48, since
// engine and ICV want a place of their own then.
//
//   CHANNELS    channels, a power of two from 2 to 64, with four associations each
//   USER        bits of tuser that travel with a frame, at least 1
//   SUITE       the cipher suite, see macsec_engine
//   SBOX, SPLIT of AES, see gcm512: S-boxes of LUTs, block RAM or gates; two registers a round
//   DEPTH       beats of a frame store, a power of two from 32 to 512: the longest frame
//
//   s_axis_*    the controlled port; tid is the channel, the same in all beats of a frame
//   s_bypass_*  the uncontrolled port
//   m_axis_*    the line; tid and tuser are those that the frame came with; without FCS
//   s_key_*     keys, see macsec_keys; slot: 4 * channel + AN
//   set_channel what a channel sends with: its AN, its SCI as it is written, first byte highest, and whether SecTAGs
//               omit it, as they may on a link with two stations
//   set_sa      an association: in use, without encryption or not (set_clear), its next packet number, and the base of its nonces, first byte highest:
//               SCI ‖ 0, or with extended numbers (SSCI ‖ 0) ⊕ salt. it comes into use once
//               with each key, and its counters begin at 0. set_ready: the settings of this clock are taken; low
//               also while a key for the slot is under way
//   read_*      an association's next packet number and counters, of the slot of the clock before
//   threshold   reached: one clock for each frame with this number or a higher one, of reached_slot; never if it is 0
//   count_*     one clock for each frame: dropped because there is no association, or no number left
module macsec_transmit #(
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

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [           511:0] s_axis_tdata,
    input  logic [            63:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [CHANNEL_BITS-1:0] s_axis_tid,
    input  logic [        USER-1:0] s_axis_tuser,

    input  logic                    s_bypass_tvalid,
    output logic                    s_bypass_tready,
    input  logic [           511:0] s_bypass_tdata,
    input  logic [            63:0] s_bypass_tkeep,
    input  logic                    s_bypass_tlast,
    input  logic [CHANNEL_BITS-1:0] s_bypass_tid,
    input  logic [        USER-1:0] s_bypass_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic [           511:0] m_axis_tdata,
    output logic [            63:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic [CHANNEL_BITS-1:0] m_axis_tid,
    output logic [        USER-1:0] m_axis_tuser,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,

    input  logic                    set_channel,
    input  logic                    set_sa,
    output logic                    set_ready,
    input  logic [   SLOT_BITS-1:0] set_slot,  // of a channel: its number and AN
    input  logic                    set_use,
    input  logic                    set_extended,
    input  logic                    set_no_sci,
    input  logic                    set_clear,
    input  logic [            63:0] set_sci,
    input  logic [            63:0] set_pn,
    input  logic [            95:0] set_base,

    input  logic [   SLOT_BITS-1:0] read_slot,
    output logic [            63:0] read_pn,
    output logic [            63:0] read_frames,  // OutPktsEncrypted
    output logic [            63:0] read_octets,  // OutOctetsEncrypted
    output logic [2**SLOT_BITS-1:0] in_use,

    input  logic zeroise,
    output logic zeroising,

    input  logic [         63:0] threshold,
    output logic                 reached,
    output logic [SLOT_BITS-1:0] reached_slot,

    output logic count_no_sa,
    output logic count_no_pn,
    output logic count_too_long,  // OutPktsTooLong: for the frame store
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

    localparam int SIDE = CHANNEL_BITS + USER;
    localparam int HEADER = 28;  // bytes before the ciphertext
    localparam int SHORT_HEADER = 20;  // without SCI

    // ---- Whole frames ----

    logic frame_valid;
    logic frame_ready;
    logic [15:0] frame_bytes;
    logic [SIDE-1:0] frame_side;
    logic beat_valid;
    logic beat_ready;
    logic [511:0] beat_data;
    logic [63:0] unused_keep;
    logic beat_last;

    frame_store #(
        .SIDE (SIDE),
        .DEPTH(DEPTH)
    ) store (
        .clk,
        .rst,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser(1'b0),
        .s_axis_side({s_axis_tid, s_axis_tuser}),
        .m_frame_tvalid(frame_valid),
        .m_frame_tready(frame_ready),
        .m_frame_bytes(frame_bytes),
        .m_frame_side(frame_side),
        .m_axis_tvalid(beat_valid),
        .m_axis_tready(beat_ready),
        .m_axis_tdata(beat_data),
        .m_axis_tkeep(unused_keep),
        .m_axis_tlast(beat_last),
        .too_long(count_too_long)
    );

    // ---- Stage A: the channel ----

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [64:0] scis[0:CHANNELS-1];  // whether it is omitted; the SCI
    logic [2*CHANNELS-1:0] ans;

    logic a_valid;
    logic a_ready;
    logic a_is_frame;  // with the header of Ethernet's
    logic [15:0] a_bytes;  // of user data
    logic [SIDE-1:0] a_side;
    logic a_no_sci;
    logic [63:0] a_sci;
    logic [SLOT_BITS-1:0] a_slot;
    logic [CHANNEL_BITS-1:0] frame_channel;

    assign frame_channel = frame_side[SIDE-1-:CHANNEL_BITS];
    assign frame_ready = !a_valid || a_ready;

    always_ff @(posedge clk) begin
        if (set_channel && set_ready) scis[set_slot[SLOT_BITS-1:2]] <= {set_no_sci, set_sci};
        if (rst) begin
            ans <= '0;
            a_valid <= 1'b0;
        end else begin
            for (int i = 0; i < CHANNELS; i = i + 1) begin
                if (set_channel && set_ready && set_slot[SLOT_BITS-1:2] == CHANNEL_BITS'(i)) begin
                    ans[2*i+:2] <= set_slot[1:0];
                end
            end
            if (frame_ready) a_valid <= frame_valid;
        end
        if (frame_ready) begin
            a_is_frame <= frame_bytes >= 16'd14;
            a_bytes <= frame_bytes - 16'd12;
            a_side <= frame_side;
            {a_no_sci, a_sci} <= scis[frame_channel];
            a_slot <= {frame_channel, ans[2*frame_channel+:2]};
        end
    end

    // ---- Stage B: the association and its next number are read, and then it is decided: two clocks for a frame ----

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [64:0] pns[0:2**SLOT_BITS-1];  // none is left; the next one
    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [97:0] associations[0:2**SLOT_BITS-1];

    logic b_valid;
    logic b_is_frame;
    logic b_used;  // the association, in the clock before
    logic [15:0] b_bytes;
    logic [15:0] b_end;  // the number of their last one
    logic [SIDE-1:0] b_side;
    logic b_no_sci;
    logic [63:0] b_sci;
    logic b_spent;
    logic [63:0] b_pn;
    logic b_extended;
    logic b_clear;
    logic [95:0] b_base;
    logic [SLOT_BITS-1:0] b_slot;

    logic begins;  // the use of an association
    logic coming;  // its key
    logic written;
    logic [SLOT_BITS-1:0] written_slot;
    logic written_spent;
    logic [63:0] written_pn;
    logic c_valid;
    logic c_ready;
    logic step;
    logic has_sa;
    logic good;
    logic above;  // the threshold: the number's high half
    logic at_half;
    logic not_below;
    logic begun;
    logic heeded;
    logic [SLOT_BITS-1:0] begun_slot;

    assign a_ready = !b_valid;
    assign has_sa = b_used && b_is_frame;
    assign good = has_sa && !b_spent;
    assign step = b_valid && (!c_valid || c_ready);
    assign set_ready = !(step && good) && !coming;  // one write port
    assign count_no_sa = step && !has_sa;
    assign count_no_pn = step && has_sa && b_spent;
    assign reached = begun && heeded && (above || (at_half && not_below));
    assign reached_slot = begun_slot;

    always_ff @(posedge clk) begin
        if (rst) b_valid <= 1'b0;
        else if (!b_valid) b_valid <= a_valid;
        else if (step) b_valid <= 1'b0;
        b_used <= b_valid ? b_used && in_use[b_slot] : in_use[a_slot];
        if (!b_valid) begin
            b_is_frame <= a_is_frame;
            b_bytes <= a_bytes;
            b_end <= a_bytes - 16'd1;
            b_side <= a_side;
            b_no_sci <= a_no_sci;
            b_sci <= a_sci;
            b_slot <= a_slot;
            // What was written last is not in the memory yet.
            {b_spent, b_pn} <= written && written_slot == a_slot ? {written_spent, written_pn} : pns[a_slot];
            {b_clear, b_extended, b_base} <= associations[a_slot];
        end

        written <= ((step && good) || begins) && !rst;
        if (step && good) begin
            written_slot <= b_slot;
            written_spent <= b_pn[31:0] == '1 && (!b_extended || b_pn[63:32] == '1);
            written_pn[31:0] <= b_pn[31:0] + 32'd1;
            written_pn[63:32] <= b_pn[31:0] == '1 ? b_pn[63:32] + 32'd1 : b_pn[63:32];
        end else begin
            written_slot <= set_slot;
            written_spent <= set_pn == '0 || (!set_extended && set_pn[63:32] != '0);
            written_pn <= set_pn;
        end
        if (written) pns[written_slot] <= {written_spent, written_pn};
        if (begins) associations[set_slot] <= {set_clear, set_extended, set_base};
        read_pn <= pns[read_slot][63:0];

        begun <= step && good && !rst;
        heeded <= threshold != '0;
        begun_slot <= b_slot;
        above <= b_pn[63:32] > threshold[63:32];
        at_half <= b_pn[63:32] == threshold[63:32];
        not_below <= b_pn[31:0] >= threshold[31:0];
    end

    // ---- Stage C: the command, and what the stream wants to know ----

    logic [5:0] unused_popped;
    logic c_drop;
    logic [15:0] c_bytes;
    logic [SIDE-1:0] c_side;
    logic c_no_sci;
    logic [63:0] c_sci;
    logic [63:0] c_pn;
    logic [95:0] c_base;
    logic [SLOT_BITS-1:0] c_slot;
    logic c_clear;
    logic [15:0] c_total;  // with the header
    logic [15:0] c_total_end;
    logic [9:0] c_more;  // beats of user data behind the first
    logic c_none;
    logic c_one;
    logic c_two;
    logic [15:0] c_end;
    logic c_long;  // the last one has more bytes than are held of the beat before
    logic c_short;
    logic command_ready;
    logic command_valid;
    logic engine_command_ready;
    logic [SLOT_BITS-1:0] command_slot;
    logic [15:0] command_ad;
    logic [15:0] command_ad_bytes;
    logic [15:0] command_bytes;
    logic [95:0] command_nonce;
    logic [2:0] unused_commands;
    logic job_ready;
    logic [95:0] nonce;
    logic [127:0] tag;  // SecTAG
    logic [7:0] tci;

    always_ff @(posedge clk) begin
        if (rst) c_valid <= 1'b0;
        else if (step) c_valid <= 1'b1;
        else if (c_ready) c_valid <= 1'b0;
        if (step) begin
            c_drop <= !good;
            c_bytes <= b_bytes;
            c_side <= b_side;
            c_no_sci <= b_no_sci;
            c_sci <= b_no_sci ? '0 : b_sci;
            c_pn <= b_pn;
            c_base <= b_base;
            c_slot <= b_slot;
            c_clear <= b_clear;
            c_total <= b_bytes + (b_no_sci ? 16'(SHORT_HEADER) : 16'(HEADER));
            c_total_end <= b_end + (b_no_sci ? 16'(SHORT_HEADER) : 16'(HEADER));
            c_end <= b_end;
            c_short <= b_bytes < 16'(macsec_pkg::SHORT_BYTES);
        end
    end

    assign nonce = c_base ^ {32'd0, c_pn};
    assign tci = {1'b0, 1'b0, !c_no_sci, 1'b0, !c_clear, !c_clear, c_slot[1:0]};  // SC, E, C
    assign tag = {
        macsec_pkg::swap32(c_sci[31:0]),
        macsec_pkg::swap32(c_sci[63:32]),
        macsec_pkg::swap32(c_pn[31:0]),
        c_short ? c_bytes[7:0] : 8'd0,
        tci,
        macsec_pkg::ETHER_TYPE
    };
    assign c_ready = job_ready && command_ready;
    // Without encryption the header's beat has user data, too, and all of it if they are few.
    always_comb begin
        c_none = c_clear && c_total_end[15:6] == '0;
        c_more = c_clear ? c_total_end[15:6] - 10'd1 : c_end[15:6];
        c_one = c_more == '0;
        c_two = c_more == 10'd1;
        c_long = c_end[5:0] >= 6'd52;
        command_ad = c_no_sci ? 16'(SHORT_HEADER) : 16'(HEADER);
        if (c_clear) command_ad = c_total;
        if (c_clear) c_long = c_total_end[5:0] >= (c_no_sci ? 6'd8 : 6'd16);
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
        .s_data({c_slot, command_ad, c_clear ? 16'd0 : c_bytes, nonce}),
        .m_valid(command_valid),
        .m_ready(engine_command_ready),
        .m_data({command_slot, command_ad_bytes, command_bytes, command_nonce}),
        .space(unused_commands),
        .popped(unused_popped[5])
    );

    logic job_valid;
    logic job_done;
    logic job_drop;
    logic [15:0] job_bytes;
    logic [9:0] job_more;
    logic job_none;
    logic job_one;
    logic job_two;
    logic job_long;
    logic job_no_sci;
    logic job_clear;
    logic [5:0] job_last;  // bytes of the last beat, modulo 64
    logic [SIDE-1:0] job_side;
    logic [SLOT_BITS-1:0] job_slot;
    logic [127:0] job_tag;
    logic [4:0] unused_jobs;
    stream_fifo #(
        .WIDTH(39 + SIDE + SLOT_BITS + 128),
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
            c_none,
            c_one,
            c_two,
            c_long,
            c_no_sci,
            c_clear,
            c_side,
            c_slot,
            tag
        }),
        .m_valid(job_valid),
        .m_ready(job_done),
        .m_data({
            job_drop,
            job_bytes,
            job_last,
            job_more,
            job_none,
            job_one,
            job_two,
            job_long,
            job_no_sci,
            job_clear,
            job_side,
            job_slot,
            job_tag
        }),
        .space(unused_jobs),
        .popped(unused_popped[0])
    );

    // ---- The frame's beats to the engine's: a beat of additional data, then the user data, moved by 12 bytes ----
    //
    // Without encryption the user data follow the SecTAG, which moves them by 16 bytes, or 8 without SCI.

    logic feed_valid;
    logic feed_ready;
    logic [511:0] feed_data;
    logic [63:0] feed_keep;
    logic feed_last;
    logic header_ready;
    logic in_body;
    logic needs_beat;
    logic [63:0] last_keep;
    logic [415:0] held;  // of the beat before
    logic head;
    logic body;
    logic drops;
    logic feeds;

    logic settled;  // last_keep is of this job
    logic clears_ready;
    logic may_feed;
    assign may_feed = !job_clear || (clears_ready && settled);
    assign head = job_valid && !job_drop && !in_body && beat_valid && header_ready && may_feed;
    assign body = in_body && (!needs_beat || beat_valid) && may_feed;
    assign feed_valid = head || body;
    always_comb begin
        if (!in_body) begin
            if (!job_clear) feed_data = {288'd0, job_tag, beat_data[95:0]};
            else if (job_no_sci) feed_data = {beat_data[447:96], job_tag[63:0], beat_data[95:0]};
            else feed_data = {beat_data[383:96], job_tag, beat_data[95:0]};
        end else begin
            if (!job_clear) feed_data = {beat_data[95:0], held};
            else if (job_no_sci) feed_data = {beat_data[447:0], held[415:352]};
            else feed_data = {beat_data[383:0], held[415:288]};
        end
        feed_keep = '1;
        if (!in_body && !job_clear) feed_keep = job_no_sci ? ~(~64'd0 << SHORT_HEADER) : ~(~64'd0 << HEADER);
        else if (feed_last) feed_keep = last_keep;
    end

    assign feeds = feed_valid && feed_ready;
    assign drops = job_valid && job_drop;
    assign beat_ready = drops || (feed_ready && may_feed && (in_body ? needs_beat : head));
    assign job_done = drops ? beat_valid && beat_last : feed_last && feeds;

    body_beats beats (
        .clk,
        .rst,
        .job_bytes(job_last),
        .job_more,
        .job_none,
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
        settled <= job_valid && !job_done && !rst;
        if (beat_valid && beat_ready) held <= beat_data[511:96];
    end

    logic engine_valid;
    logic engine_ready;
    logic [511:0] engine_data;
    logic [63:0] engine_keep;
    logic engine_last;
    logic engine_ad;
    logic [2:0] unused_feed;

    stream_fifo #(
        .WIDTH(578),
        .DEPTH(4)
    ) feed (
        .clk,
        .rst,
        .s_valid(feed_valid),
        .s_ready(feed_ready),
        .s_data({!in_body || job_clear, feed_last, feed_keep, feed_data}),
        .m_valid(engine_valid),
        .m_ready(engine_ready),
        .m_data({engine_ad, engine_last, engine_keep, engine_data}),
        .space(unused_feed),
        .popped(unused_popped[4])
    );

    // ---- The engine ----

    logic out_valid;
    logic out_ready;
    logic [511:0] out_data;
    logic [63:0] out_keep;
    logic out_last;
    logic icv_valid;
    logic icv_ready;
    logic [127:0] icv;
    logic unused_verdict;
    logic unused_tag;

    macsec_engine #(
        .OPEN(0),
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
        .began(begun),
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
        .s_axis_tuser({1'b0, engine_ad}),
        .s_tag_tvalid(1'b0),
        .s_tag_tready(unused_tag),
        .s_tag_tdata('0),
        .m_axis_tvalid(out_valid),
        .m_axis_tready(out_ready),
        .m_axis_tdata(out_data),
        .m_axis_tkeep(out_keep),
        .m_axis_tlast(out_last),
        .m_tag_tvalid(icv_valid),
        .m_tag_tready(icv_ready),
        .m_tag_tdata(icv),
        .m_tag_tbad(unused_verdict)
    );

    // ---- Header, ciphertext and ICV, packed into one frame ----

    logic header_valid;
    logic header_done;
    logic header_clear;
    logic header_no_sci;
    logic [223:0] header;
    logic [SIDE-1:0] header_side;
    logic [6:0] unused_headers;

    stream_fifo #(
        .WIDTH(SIDE + 226),
        .DEPTH(64)
    ) headers (
        .clk,
        .rst,
        .s_valid(head && feed_ready),
        .s_ready(header_ready),
        .s_data({job_side, job_clear, job_no_sci, job_tag, beat_data[95:0]}),
        .m_valid(header_valid),
        .m_ready(header_done),
        .m_data({header_side, header_clear, header_no_sci, header}),
        .space(unused_headers),
        .popped(unused_popped[1])
    );

    // The user data of a frame come from the engine, or if they are not encrypted, with its header, from `clears`.
    // `kinds` says in their order which, until the last beat is taken.
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

    logic taken_valid;
    logic taken_ready;
    logic taken_last;
    logic [63:0] taken_keep;
    logic [511:0] taken;
    logic [2:0] unused_taken;

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
        .m_ready(taken_ready && kind_valid && !kind_clear),
        .m_data({outs_last, outs_keep, outs_data}),
        .space(unused_taken),
        .popped(unused_popped[2])
    );

    stream_fifo #(
        .WIDTH(577),
        .DEPTH(64)
    ) clears (
        .clk,
        .rst,
        .s_valid(feeds && job_clear),
        .s_ready(clears_ready),
        .s_data({feed_last, feed_keep, feed_data}),
        .m_valid(clear_valid),
        .m_ready(taken_ready && kind_valid && kind_clear),
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
        .m_ready(taken_valid && taken_ready && taken_last),
        .m_data(kind_clear),
        .space(unused_clears_space[13:7]),
        .popped(unused_clears_popped[1])
    );

    assign taken_valid = kind_valid && (kind_clear ? clear_valid : outs_valid);
    assign taken_last = kind_clear ? clear_last : outs_last;
    assign taken_keep = kind_clear ? clear_keep : outs_keep;
    assign taken = kind_clear ? clear_data : outs_data;

    // Bytes are counted, then the ICV is put behind them, and then all is packed: registers between.
    logic data_valid;
    logic data_ready;
    logic data_last;
    logic with_icv;  // the ICV has room in the last beat
    logic [6:0] data_count;
    logic [511:0] data;

    assign taken_ready = !data_valid || data_ready;
    always_ff @(posedge clk) begin
        if (rst) data_valid <= 1'b0;
        else if (taken_ready) data_valid <= taken_valid;
        if (taken_ready) begin
            data_last  <= taken_last;
            with_icv   <= taken_last && !taken_keep[48];
            data_count <= macsec_pkg::kept_bytes(taken_keep);
            for (int i = 0; i < 64; i = i + 1) data[8*i+:8] <= taken_keep[i] ? taken[8*i+:8] : 8'd0;
        end
    end

    logic in_data;  // the header is given, or comes with the user data
    logic begun_data;
    logic in_icv;  // so are the user data
    logic piece_valid;
    logic piece_ready;
    logic piece_last;
    logic piece_takes_icv;

    assign in_data = begun_data || (header_valid && header_clear);
    assign piece_takes_icv = in_icv || (in_data && with_icv);
    assign piece_last = piece_takes_icv;
    always_comb begin
        if (in_icv) piece_valid = icv_valid;
        else if (in_data) piece_valid = data_valid && (!with_icv || icv_valid);
        else piece_valid = header_valid;
    end
    assign header_done = piece_last && piece_valid && piece_ready;
    assign icv_ready = piece_takes_icv && piece_ready && (in_icv || data_valid);
    assign data_ready = in_data && !in_icv && piece_ready && (!with_icv || icv_valid);

    always_ff @(posedge clk) begin
        if (rst) begin
            begun_data <= 1'b0;
            in_icv <= 1'b0;
        end else if (piece_valid && piece_ready) begin
            begun_data <= !piece_last;
            in_icv  <= in_data && !in_icv && data_last && !with_icv;
        end
    end

    // A piece, and the ICV that is to go behind its bytes: moved by up to 3 bytes here, by words in the next clock.
    logic joined_valid;
    logic joined_ready;
    logic joined_last;
    logic [SIDE-1:0] joined_side;
    logic [6:0] joined_bytes;
    logic [511:0] joined_data;
    logic [3:0] icv_at;  // in words
    logic [159:0] icv_moved;
    logic [511:0] joined;

    assign piece_ready = !joined_valid || joined_ready;
    always_ff @(posedge clk) begin
        if (rst) joined_valid <= 1'b0;
        else if (piece_ready) joined_valid <= piece_valid;
        if (piece_ready) begin
            joined_last <= piece_last;
            joined_side <= header_side;
            icv_at <= in_icv ? '0 : data_count[5:2];
            icv_moved <= '0;
            if (in_icv) begin
                joined_bytes <= 7'd16;
                joined_data <= '0;
                icv_moved <= {32'd0, icv};
            end else if (in_data) begin
                joined_bytes <= with_icv ? data_count + 7'd16 : data_count;
                joined_data <= data;
                if (with_icv) icv_moved <= {32'd0, icv} << {data_count[1:0], 3'd0};
            end else begin
                joined_bytes <= header_no_sci ? 7'(SHORT_HEADER) : 7'(HEADER);
                joined_data <= {288'd0, header};
            end
        end
    end

    always_comb begin
        joined = joined_data;
        for (int i = 0; i < 16; i = i + 1) begin
            for (int k = 0; k < 5; k = k + 1) begin
                if (i >= k && icv_at == 4'(i - k))
                    joined[32*i+:32] = joined_data[32*i+:32] | icv_moved[32*k+:32];
            end
        end
    end

    logic packing_valid;
    logic packing_ready;
    logic packing_last;
    logic [6:0] packing_bytes;
    logic [511:0] packing_data;
    logic [SIDE-1:0] packing_side;
    logic [2:0] unused_pieces;

    stream_fifo #(
        .WIDTH(SIDE + 520),
        .DEPTH(4)
    ) pieces (
        .clk,
        .rst,
        .s_valid(joined_valid),
        .s_ready(joined_ready),
        .s_data({joined_side, joined_last, joined_bytes, joined}),
        .m_valid(packing_valid),
        .m_ready(packing_ready),
        .m_data({packing_side, packing_last, packing_bytes, packing_data}),
        .space(unused_pieces),
        .popped(unused_popped[3])
    );

    logic packed_valid;
    logic packed_ready;
    logic [511:0] packed_data;
    logic [63:0] packed_keep;
    logic packed_last;
    logic unused_packed_bad;
    logic [SIDE-1:0] packed_side;

    byte_packer #(
        .USER(SIDE)
    ) packer (
        .clk,
        .rst,
        .in_valid(packing_valid),
        .in_ready(packing_ready),
        .in_data(packing_data),
        .in_bytes(packing_bytes),
        .in_last(packing_last),
        .in_bad(1'b0),
        .in_user(packing_side),
        .m_axis_tvalid(packed_valid),
        .m_axis_tready(packed_ready),
        .m_axis_tdata(packed_data),
        .m_axis_tkeep(packed_keep),
        .m_axis_tlast(packed_last),
        .m_axis_tbad(unused_packed_bad),
        .m_axis_tuser(packed_side)
    );

    frame_merge #(
        .USER(SIDE)
    ) merge (
        .clk,
        .rst,
        .s_axis_tvalid({s_bypass_tvalid, packed_valid}),
        .s_axis_tready({s_bypass_tready, packed_ready}),
        .s_axis_tdata({s_bypass_tdata, packed_data}),
        .s_axis_tkeep({s_bypass_tkeep, packed_keep}),
        .s_axis_tlast({s_bypass_tlast, packed_last}),
        .s_axis_tuser({s_bypass_tid, s_bypass_tuser, packed_side}),
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tuser({m_axis_tid, m_axis_tuser})
    );

    // ---- Counters ----

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) frames_encrypted (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(head && feed_ready),
        .add_slot(job_slot),
        .add_value(16'd1),
        .read_slot,
        .read_value(read_frames)
    );

    slot_counter #(
        .SLOT_BITS(SLOT_BITS)
    ) octets_encrypted (
        .clk,
        .rst,
        .clear(begins),
        .clear_slot(set_slot),
        .add(head && feed_ready),
        .add_slot(job_slot),
        .add_value(job_bytes),
        .read_slot,
        .read_value(read_octets)
    );

    logic unused;
    assign unused = ^{
        unused_keep, unused_jobs, unused_popped, unused_verdict, unused_tag,
        unused_headers, unused_feed, unused_taken,
        unused_kinds_ready, unused_clears_popped, unused_clears_space,
        unused_commands,
        unused_pieces, unused_packed_bad
    };

endmodule
