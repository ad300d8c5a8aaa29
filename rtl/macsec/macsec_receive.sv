// MACsec's receiving side for a 512-bit stream: IEEE 802.1AE-2018, 10.6, with GCM-AES-128 and GCM-AES-XPN-128, or by
// SUITE with an engine that the standard does not know (macsec_engine).
//
//   a frame of another EtherType goes to the uncontrolled port, as it comes
//   each whole frame with a SecTAG:
//       drop what is no valid SecTAG, of no channel, of no association in use, below the lowest number
//       engine: additional data DA ‖ SA ‖ SecTAG, message: user data; it compares the ICV
//       give DA ‖ SA ‖ user data, if the ICV was right and the number is not below the lowest by now;
//       the lowest number goes up to this one + 1 - window
//
// Nothing leaves before it is verified. Numbers within the window may come twice, as the standard lets them (10.6.5); with
// a window of 0 none does. Frames without encryption (E = 0) count as ones of bad SecTAGs: this core does not open them.
//
// Clocks for a frame of n bytes of user data: 2 + ceil(n / 64) (the engine's); OCB3: 3 + ceil(n / 64).
//
//   s_axis_*    the line, without FCS; tuser[0]: a bad frame of the MAC, at tlast; the other bits go with the frame
//   m_axis_*    the controlled port: tid is the channel, tuser what s_axis_tuser[USER:1] was
//   m_bypass_*  the uncontrolled port, with the line's tuser: take it at the line's rate, for it holds up what follows
//   s_key_*     keys, see macsec_keys; slot: 4 * channel + AN
//   set_channel whose frames a channel receives: its SCI as it is written, first byte highest, and whether it is in use
//   set_sa      an association: in use, the lowest packet number, the window, extended or not, and the base of its nonces,
//               first byte highest: SCI ‖ 0, or with extended numbers (SSCI ‖ 0) ⊕ salt. it comes into
//               use once with each key, and its counters begin at 0. set_ready: the settings of this clock are taken
//   read_*      an association's lowest number and counters, of the slot of the clock before
//   count_*     one clock for each frame
module macsec_receive #(
    parameter int CHANNELS = 4,
    parameter int USER = 1,
    parameter int SUITE = 0,
    parameter int SBOX = 0,
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
    input  logic [            63:0] set_sci,
    input  logic [            63:0] set_pn,
    input  logic [            31:0] set_window,
    input  logic [            95:0] set_base,

    input  logic [   SLOT_BITS-1:0] read_slot,
    output logic [            63:0] read_pn,
    output logic [            63:0] read_frames,     // InPktsOK
    output logic [            63:0] read_octets,     // InOctetsDecrypted
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

    // ---- Which port ----

    logic first;
    logic was_secure;
    logic secure;
    logic store_ready;

    // A frame of 12 bytes or fewer has no EtherType.
    assign secure = first ? s_axis_tdata[111:96] == macsec_pkg::ETHER_TYPE && s_axis_tkeep[13] : was_secure;
    assign s_axis_tready = secure ? store_ready : m_bypass_tready;
    assign m_bypass_tvalid = s_axis_tvalid && !secure;
    assign m_bypass_tdata = s_axis_tdata;
    assign m_bypass_tkeep = s_axis_tkeep;
    assign m_bypass_tlast = s_axis_tlast;
    assign m_bypass_tuser = s_axis_tuser;
    assign count_untagged = m_bypass_tvalid && m_bypass_tready && s_axis_tlast;

    always_ff @(posedge clk) begin
        if (rst) first <= 1'b1;
        else if (s_axis_tvalid && s_axis_tready) first <= s_axis_tlast;
        if (s_axis_tvalid && s_axis_tready) was_secure <= secure;
    end

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
        .s_axis_tvalid(s_axis_tvalid && secure),
        .s_axis_tready(store_ready),
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser(s_axis_tuser[0]),
        .s_axis_side({s_axis_tuser[USER:1], s_axis_tdata[223:48]}),
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

    // ---- Stage A: the SecTAG ----

    // Bits of TCI and AN.
    localparam int VERSION = 7;
    localparam int ES = 6;
    localparam int SC = 5;
    localparam int SCB = 4;
    localparam int E = 3;
    localparam int C = 2;
    localparam int SHORTEST_FRAME_BYTES = 60;  // to which a MAC fills shorter ones

    logic [7:0] tci;
    logic [7:0] short_bytes;
    logic explicit_sci;
    logic [15:0] data_at;
    logic [15:0] least;  // bytes before and behind the user data
    logic [15:0] room;
    logic lengths_good;
    logic bits_good;

    assign tci = frame_head[71:64];
    assign short_bytes = frame_head[79:72];
    assign explicit_sci = tci[SC];
    assign data_at = explicit_sci ? 16'd28 : 16'd20;
    assign least = explicit_sci ? 16'd44 : 16'd36;
    assign room = frame_bytes - least;
    // Version 0; SC excludes ES and SCB; encrypted, E and C.
    assign bits_good = !tci[VERSION] && tci[E] && tci[C]
        && !(explicit_sci && (tci[ES] || tci[SCB]));
    always_comb begin
        if (frame_bytes < least) lengths_good = 1'b0;
        else if (short_bytes == '0) lengths_good = room >= 16'(macsec_pkg::SHORT_BYTES);
        else if (short_bytes >= 8'(macsec_pkg::SHORT_BYTES)) lengths_good = 1'b0;
        else if (room == {8'd0, short_bytes}) lengths_good = 1'b1;
        else begin
            lengths_good = room > {8'd0, short_bytes} && frame_bytes <= 16'(SHORTEST_FRAME_BYTES);
        end
    end

    logic a_valid;
    logic a_ready;
    logic a_good;
    logic a_names;  // the frame says whose it is
    logic [15:0] a_data_bytes;
    logic [15:0] a_data_at;
    logic [USER-1:0] a_side;
    logic [63:0] a_sci;
    logic [31:0] a_sent;
    logic [1:0] a_an;

    assign frame_ready = !a_valid || a_ready;
    always_ff @(posedge clk) begin
        if (rst) a_valid <= 1'b0;
        else if (frame_ready) a_valid <= frame_valid;
        if (frame_ready) begin
            a_good <= bits_good && lengths_good;
            a_names <= explicit_sci || tci[ES] || tci[SCB];
            a_data_bytes <= short_bytes == '0 ? room : {8'd0, short_bytes};
            a_data_at <= data_at;
            a_side <= frame_side;
            a_an <= tci[1:0];
            a_sent <= macsec_pkg::swap32(frame_head[111:80]);
            if (explicit_sci) begin
                a_sci <= {macsec_pkg::swap32(frame_head[143:112]), macsec_pkg::swap32(frame_head[175:144])};
            end else begin
                // The source address, and port 1, or 0 of a single copy broadcast.
                a_sci <= {
                    macsec_pkg::swap32(frame_head[31:0]),
                    frame_head[39:32],
                    frame_head[47:40],
                    15'd0,
                    !tci[SCB]
                };
            end
        end
    end

    // ---- Stage B: the channel ----

    logic [64*CHANNELS-1:0] scis;
    logic [CHANNELS-1:0] channels;  // in use
    logic found;
    logic [CHANNEL_BITS-1:0] channel;

    always_comb begin
        found   = 1'b0;
        channel = '0;
        for (int i = 0; i < CHANNELS; i = i + 1) begin
            if (channels[i] && scis[64*i+:64] == a_sci) begin
                found   = a_names;
                channel = CHANNEL_BITS'(i);
            end
        end
    end

    logic b_valid;
    logic b_ready;
    logic b_good;
    logic b_found;
    logic [15:0] b_data_bytes;
    logic [15:0] b_data_at;
    logic [USER-1:0] b_side;
    logic [31:0] b_sent;
    logic [SLOT_BITS-1:0] b_slot;

    assign a_ready = !b_valid || b_ready;
    always_ff @(posedge clk) begin
        if (set_channel && set_ready) scis[64*set_slot[SLOT_BITS-1:2]+:64] <= set_sci;
        if (rst) begin
            channels <= '0;
            b_valid  <= 1'b0;
        end else begin
            if (set_channel && set_ready) channels[set_slot[SLOT_BITS-1:2]] <= set_use;
            if (a_ready) b_valid <= a_valid;
        end
        if (a_ready) begin
            b_good <= a_good;
            b_found <= found;
            b_data_bytes <= a_data_bytes;
            b_data_at <= a_data_at;
            b_side <= a_side;
            b_sent <= a_sent;
            b_slot <= {channel, a_an};
        end
    end

    // ---- Stage C: the association and the whole number ----

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [63:0] lowests[0:2**SLOT_BITS-1];
    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [128:0] associations[0:2**SLOT_BITS-1];

    logic c_valid;
    logic c_ready;
    logic c_drop;
    logic c_late;
    logic [15:0] c_data_bytes;
    logic [15:0] c_data_at;
    logic [USER-1:0] c_side;
    logic [63:0] c_pn;
    logic [95:0] c_base;
    logic [SLOT_BITS-1:0] c_slot;
    logic [31:0] c_window;

    logic begins;  // the use of an association
    logic written;
    logic [SLOT_BITS-1:0] written_slot;
    logic [63:0] written_lowest;
    logic step;
    logic [63:0] lowest;
    logic [31:0] high;
    logic [63:0] pn;
    logic [31:0] window;
    logic [95:0] base;
    logic extended;
    logic has_sa;
    logic late;
    logic is_number;
    logic good;

    // What was written last is not in the memory yet.
    assign lowest = written && written_slot == b_slot ? written_lowest : lowests[b_slot];
    assign {window, extended, base} = associations[b_slot];
    // 10.6.2: if the lowest number's low half has reached 2^31 and the one that came has not, the high half went up.
    assign high = lowest[63:32] + {31'd0, lowest[31] && !b_sent[31]};
    assign pn = {extended ? high : 32'd0, b_sent};
    assign has_sa = in_use[b_slot];
    assign is_number = b_good && pn != '0;
    assign late = pn < lowest;
    assign good = b_found && has_sa && is_number && !late;
    assign b_ready = !c_valid || c_ready;
    assign step = b_valid && b_ready;
    assign count_bad_tag = step && (!b_good || (b_found && has_sa && !is_number));
    assign count_no_sci = step && b_good && !b_found;
    assign count_no_sa = step && b_good && b_found && !has_sa;

    always_ff @(posedge clk) begin
        if (rst) c_valid <= 1'b0;
        else if (b_ready) c_valid <= b_valid;
        // For one clock: what waits here might be counted when its association has another key already.
        c_late <= step && b_found && has_sa && is_number && late && !rst;
        if (b_ready) begin
            c_drop <= !good;
            c_data_bytes <= b_data_bytes;
            c_data_at <= b_data_at;
            c_side <= b_side;
            c_pn <= pn;
            c_base <= base;
            c_slot <= b_slot;
            c_window <= window;
        end
    end

    // ---- Stage D: the command, and what the stream wants to know ----

    logic command_valid;
    logic command_ready;
    logic job_ready;
    logic [95:0] nonce;

    assign nonce = c_base ^ {32'd0, c_pn};
    assign command_valid = c_valid && !c_drop && job_ready;
    assign c_ready = job_ready && (c_drop || command_ready);

    localparam int JOB = 1 + 16 + 1 + USER + 64 + 32 + SLOT_BITS;
    logic job_valid;
    logic job_done;
    logic job_drop;
    logic [15:0] job_bytes;
    logic job_short;  // without SCI
    logic [USER-1:0] job_side;
    logic [63:0] job_pn;
    logic [31:0] job_window;
    logic [SLOT_BITS-1:0] job_slot;
    logic [4:0] unused_jobs;
    logic [3:0] unused_popped;

    stream_fifo #(
        .WIDTH(JOB),
        .DEPTH(16)
    ) jobs (
        .clk,
        .rst,
        .s_valid(c_valid && c_ready),
        .s_ready(job_ready),
        .s_data({c_drop, c_data_bytes, c_data_at == 16'd20, c_side, c_pn, c_window, c_slot}),
        .m_valid(job_valid),
        .m_ready(job_done),
        .m_data({job_drop, job_bytes, job_short, job_side, job_pn, job_window, job_slot}),
        .space(unused_jobs),
        .popped(unused_popped[0])
    );

    // ---- The frame's beats to the engine's: additional data, user data moved by 20 or 28 bytes, the ICV ----

    logic in_body;
    logic in_icv;
    logic engine_valid;
    logic engine_ready;
    logic [511:0] engine_data;
    logic [63:0] engine_keep;
    logic [1:0] engine_user;
    logic header_ready;
    logic head;
    logic [15:0] left;  // bytes of user data
    logic [351:0] held;  // of the beat before, from byte 20
    logic [511:0] moved;
    logic [511:0] prior;  // of the user data's last beat, and what follows them there
    logic [6:0] icv_at;
    logic [1023:0] behind;
    logic needs_beat;
    logic body_last;

    assign head = !in_body && !in_icv && job_valid && !job_drop && beat_valid && header_ready;
    // What is left, ICV included, is more than `held` has.
    assign needs_beat = left > (job_short ? 16'd28 : 16'd20);
    assign body_last = left <= 16'd64;
    assign moved = job_short ? {beat_data[159:0], held} : {beat_data[223:0], held[351:64]};
    assign behind = {moved, prior} >> {icv_at, 3'd0};

    always_comb begin
        engine_valid = head;
        engine_user  = 2'd1;
        engine_data  = beat_data;
        engine_keep  = job_short ? 64'hf_ffff : 64'hfff_ffff;
        if (in_body) begin
            engine_valid = !needs_beat || beat_valid;
            engine_user  = 2'd0;
            engine_data  = moved;
            engine_keep  = body_last && left != 16'd64 ? ~(~64'd0 << left[5:0]) : '1;
        end else if (in_icv) begin
            engine_valid = 1'b1;
            engine_user  = 2'd2;
            engine_data  = {384'd0, behind[127:0]};
            engine_keep  = 64'hffff;
        end
    end

    logic drops;
    assign drops = job_valid && job_drop;
    assign beat_ready = drops || (engine_ready && (in_body ? needs_beat : head));
    assign job_done = drops ? beat_valid && beat_last : in_icv && engine_ready;

    always_ff @(posedge clk) begin
        if (rst) begin
            in_body <= 1'b0;
            in_icv  <= 1'b0;
        end else if (engine_valid && engine_ready) begin
            in_body <= head || (in_body && !body_last);
            in_icv  <= in_body && body_last;
        end
        if (engine_valid && engine_ready) begin
            left <= in_body ? left - 16'd64 : job_bytes;
            if (in_body) begin
                prior  <= moved;
                icv_at <= left[6:0];
            end
        end
        if (beat_valid && beat_ready) held <= beat_data[511:160];
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
        .in_use,
        .zeroise,
        .zeroising,
        .began(step && good),
        .refused(count_key_refused),
        .s_cmd_tvalid(command_valid),
        .s_cmd_tready(command_ready),
        .s_cmd_slot(c_slot),
        .s_cmd_nonce(nonce),
        .s_cmd_ad_bytes(c_data_at),
        .s_cmd_message_bytes(c_data_bytes),
        .s_axis_tvalid(engine_valid),
        .s_axis_tready(engine_ready),
        .s_axis_tdata(engine_data),
        .s_axis_tkeep(engine_keep),
        .s_axis_tlast(in_icv),
        .s_axis_tuser(engine_user),
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

    localparam int HEADER = SLOT_BITS + USER + 64 + 32 + 16 + 96;
    logic header_valid;
    logic [SLOT_BITS-1:0] header_slot;
    logic [USER-1:0] header_side;
    logic [63:0] header_pn;
    logic [31:0] header_window;
    logic [15:0] header_bytes;
    logic [95:0] header_addresses;
    logic [6:0] unused_headers;

    logic in_data;
    logic piece_valid;
    logic piece_ready;
    logic [511:0] piece;
    logic [6:0] piece_bytes;
    logic piece_last;
    logic piece_bad;
    logic ends;

    stream_fifo #(
        .WIDTH(HEADER),
        .DEPTH(64)
    ) headers (
        .clk,
        .rst,
        .s_valid(head && engine_ready),
        .s_ready(header_ready),
        .s_data({job_slot, job_side, job_pn, job_window, job_bytes, beat_data[95:0]}),
        .m_valid(header_valid),
        .m_ready(ends),
        .m_data({header_slot, header_side, header_pn, header_window, header_bytes, header_addresses}),
        .space(unused_headers),
        .popped(unused_popped[1])
    );

    // The number was not too low when the frame came. Is it now, that the frames before it are verified?
    logic late_by_now;
    logic accepted;
    logic [63:0] next_pn;
    logic [63:0] raised;
    logic [63:0] lowest_now;

    assign lowest_now = written && written_slot == header_slot ? written_lowest : lowests[header_slot];
    assign late_by_now = header_pn < lowest_now;
    assign next_pn = header_pn == '1 ? header_pn : header_pn + 64'd1;
    assign raised = next_pn > {32'd0, header_window} ? next_pn - {32'd0, header_window} : 64'd0;

    logic [6:0] out_bytes;
    logic [511:0] out_masked;
    logic data_valid;
    logic data_ready;
    logic data_last;
    logic [6:0] data_count;
    logic [511:0] data;
    logic [2:0] unused_data;

    always_comb begin
        out_bytes = '0;
        for (int i = 0; i < 64; i = i + 1) begin
            out_masked[8*i+:8] = out_keep[i] ? out_data[8*i+:8] : 8'd0;
            if (out_keep[i]) out_bytes = 7'(i + 1);
        end
    end

    // Bytes are counted, the verdict is looked at, and all is packed in three clocks: registers between.
    stream_fifo #(
        .WIDTH(520),
        .DEPTH(4)
    ) outs (
        .clk,
        .rst,
        .s_valid(out_valid),
        .s_ready(out_ready),
        .s_data({out_last, out_bytes, out_masked}),
        .m_valid(data_valid),
        .m_ready(data_ready),
        .m_data({data_last, data_count, data}),
        .space(unused_data),
        .popped(unused_popped[2])
    );

    assign piece = in_data ? data : {416'd0, header_addresses};
    assign piece_bytes = in_data ? data_count : 7'd12;
    assign piece_valid = in_data ? data_valid && (!data_last || verdict_valid) : header_valid;
    assign piece_last = in_data && data_last;
    assign piece_bad = not_valid || late_by_now;
    assign ends = piece_last && piece_valid && piece_ready;
    assign data_ready = in_data && piece_ready && (!data_last || verdict_valid);
    assign verdict_ready = piece_last && piece_ready && data_valid;
    assign accepted = ends && !piece_bad;
    assign set_ready = !ends;  // one write port

    always_ff @(posedge clk) begin
        if (rst) in_data <= 1'b0;
        else if (piece_valid && piece_ready) in_data <= !piece_last;
        written <= ((accepted && raised > lowest_now) || begins) && !rst;
        written_slot <= ends ? header_slot : set_slot;
        written_lowest <= ends ? raised : set_pn;
        if (written) lowests[written_slot] <= written_lowest;
        if (begins) associations[set_slot] <= {set_window, set_extended, set_base};
        read_pn <= lowests[read_slot];
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
        .s_valid(piece_valid),
        .s_ready(piece_ready),
        .s_data({header_slot[SLOT_BITS-1:2], header_side, piece_bad, piece_last, piece_bytes, piece}),
        .m_valid(packing_valid),
        .m_ready(packing_ready),
        .m_data({packing_side, packing_bad, packing_last, packing_bytes, packing_data}),
        .space(unused_pieces),
        .popped(unused_popped[3])
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
        .add(accepted),
        .add_slot(header_slot),
        .add_value(header_bytes),
        .read_slot,
        .read_value(read_octets)
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
        .add(c_late),
        .add_slot(c_slot),
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
        unused_keep, unused_jobs, unused_popped, unused_tag, unused_headers,
        unused_bytes, frame_head[63:48], unused_data, unused_pieces,
        behind[1023:128]
    };

endmodule
