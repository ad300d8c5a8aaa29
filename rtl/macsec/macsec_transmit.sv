// MACsec's sending side for a 512-bit stream: IEEE 802.1AE-2018, 10.5, with GCM-AES-128 and GCM-AES-XPN-128, or by
// SUITE with an engine that the standard does not know (macsec_engine).
//
//   for each whole frame of the controlled port:
//       channel by tid, association by the channel's AN, packet number from the association
//       engine: additional data DA ‖ SA ‖ SecTAG, message: the rest of the frame
//       give DA ‖ SA ‖ SecTAG ‖ ciphertext ‖ ICV
//   frames of the uncontrolled port go in between as they are
//
// A frame whose channel has no association in use, or one without numbers, is dropped and counted. User data are always
// encrypted, and the SCI is always in the SecTAG.
//
// Clocks for a frame of n bytes of user data: 1 + ceil(n / 64), and 1 more if its last 64 bytes are more than 48, since
// engine and ICV want a place of their own then.
//
//   s_axis_*    the controlled port; tid is the channel, the same in all beats of a frame
//   s_bypass_*  the uncontrolled port
//   m_axis_*    the line; tid and tuser are those that the frame came with; without FCS
//   s_key_*     keys, see macsec_keys; slot: 4 * channel + AN
//   set_channel what a channel sends with: its AN, and its SCI as it is written, first byte highest
//   set_sa      an association: in use, its next packet number, and the base of its nonces, first byte highest:
//               SCI ‖ 0, or with extended numbers (SSCI ‖ 0) ⊕ salt. it comes into use once
//               with each key, and its counters begin at 0. set_ready: the settings of this clock are taken
//   read_*      an association's next packet number and counters, of the slot of the clock before
//   threshold   reached: one clock for each frame with this number or a higher one, of reached_slot; never if it is 0
//   count_*     one clock for each frame: dropped because there is no association, or no number left
module macsec_transmit #(
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

    localparam int SIDE = CHANNEL_BITS + USER;
    localparam int HEADER = 28;  // bytes before the ciphertext

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
    logic [63:0] scis[0:CHANNELS-1];
    logic [2*CHANNELS-1:0] ans;

    logic a_valid;
    logic a_ready;
    logic [15:0] a_bytes;
    logic [SIDE-1:0] a_side;
    logic [63:0] a_sci;
    logic [SLOT_BITS-1:0] a_slot;
    logic [CHANNEL_BITS-1:0] frame_channel;

    assign frame_channel = frame_side[SIDE-1-:CHANNEL_BITS];
    assign frame_ready = !a_valid || a_ready;

    always_ff @(posedge clk) begin
        if (set_channel && set_ready) scis[set_slot[SLOT_BITS-1:2]] <= set_sci;
        if (rst) begin
            ans <= '0;
            a_valid <= 1'b0;
        end else begin
            if (set_channel && set_ready) ans[2*set_slot[SLOT_BITS-1:2]+:2] <= set_slot[1:0];
            if (frame_ready) a_valid <= frame_valid;
        end
        if (frame_ready) begin
            a_bytes <= frame_bytes;
            a_side <= frame_side;
            a_sci <= scis[frame_channel];
            a_slot <= {frame_channel, ans[2*frame_channel+:2]};
        end
    end

    // ---- Stage B: the association, and its next number ----

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [63:0] pns[0:2**SLOT_BITS-1];
    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [96:0] associations[0:2**SLOT_BITS-1];

    logic b_valid;
    logic b_ready;
    logic b_drop;
    logic [15:0] b_bytes;
    logic [SIDE-1:0] b_side;
    logic [63:0] b_sci;
    logic [63:0] b_pn;
    logic [95:0] b_base;
    logic [SLOT_BITS-1:0] b_slot;

    logic begins;  // the use of an association
    logic written;
    logic [SLOT_BITS-1:0] written_slot;
    logic [63:0] written_pn;
    logic step;
    logic [63:0] pn;
    logic [95:0] base;
    logic extended;
    logic has_sa;
    logic has_pn;
    logic good;

    // What was written last is not in the memory yet.
    assign pn = written && written_slot == a_slot ? written_pn : pns[a_slot];
    assign {extended, base} = associations[a_slot];
    // A frame that is shorter than an Ethernet header is no frame.
    assign has_sa = in_use[a_slot] && a_bytes >= 16'd14;
    assign has_pn = pn != '0 && (extended || pn[63:32] == '0);
    assign good = has_sa && has_pn;
    assign a_ready = !b_valid || b_ready;
    assign step = a_valid && a_ready;
    assign set_ready = !(step && good);  // one write port
    assign count_no_sa = step && !has_sa;
    assign count_no_pn = step && has_sa && !has_pn;

    always_ff @(posedge clk) begin
        written <= ((step && good) || begins) && !rst;
        written_slot <= step && good ? a_slot : set_slot;
        written_pn <= step && good ? pn + 64'd1 : set_pn;
        if (written) pns[written_slot] <= written_pn;
        if (begins) associations[set_slot] <= {set_extended, set_base};
        read_pn <= pns[read_slot];
        reached <= step && good && threshold != '0 && pn >= threshold && !rst;
        reached_slot <= a_slot;
        if (rst) b_valid <= 1'b0;
        else if (a_ready) b_valid <= a_valid;
        if (a_ready) begin
            b_drop <= !good;
            b_bytes <= a_bytes;
            b_side <= a_side;
            b_sci <= a_sci;
            b_pn <= pn;
            b_base <= base;
            b_slot <= a_slot;
        end
    end

    // ---- Stage C: the command, and what the stream wants to know ----

    logic command_valid;
    logic command_ready;
    logic job_ready;
    logic [15:0] data_bytes;
    logic [95:0] nonce;
    logic [127:0] tag;  // SecTAG
    logic [7:0] tci;
    logic [7:0] short_bytes;

    assign data_bytes = b_bytes - 16'd12;
    assign nonce = b_base ^ {32'd0, b_pn};
    assign tci = {1'b0, 1'b0, 1'b1, 1'b0, 1'b1, 1'b1, b_slot[1:0]};  // SC, E, C
    assign short_bytes = data_bytes < 16'(macsec_pkg::SHORT_BYTES) ? data_bytes[7:0] : 8'd0;
    assign tag = {
        macsec_pkg::swap32(b_sci[31:0]),
        macsec_pkg::swap32(b_sci[63:32]),
        macsec_pkg::swap32(b_pn[31:0]),
        short_bytes,
        tci,
        macsec_pkg::ETHER_TYPE
    };
    assign command_valid = b_valid && !b_drop && job_ready;
    assign b_ready = job_ready && (b_drop || command_ready);

    logic job_valid;
    logic job_done;
    logic job_drop;
    logic [15:0] job_bytes;
    logic [SIDE-1:0] job_side;
    logic [SLOT_BITS-1:0] job_slot;
    logic [127:0] job_tag;
    logic [4:0] unused_jobs;
    logic [3:0] unused_popped;

    stream_fifo #(
        .WIDTH(1 + 16 + SIDE + SLOT_BITS + 128),
        .DEPTH(16)
    ) jobs (
        .clk,
        .rst,
        .s_valid(b_valid && b_ready),
        .s_ready(job_ready),
        .s_data({b_drop, data_bytes, b_side, b_slot, tag}),
        .m_valid(job_valid),
        .m_ready(job_done),
        .m_data({job_drop, job_bytes, job_side, job_slot, job_tag}),
        .space(unused_jobs),
        .popped(unused_popped[0])
    );

    // ---- The frame's beats to the engine's: a beat of additional data, then the user data, moved by 12 bytes ----

    logic engine_valid;
    logic engine_ready;
    logic [511:0] engine_data;
    logic [63:0] engine_keep;
    logic engine_last;
    logic [1:0] engine_user;
    logic header_ready;
    logic in_body;
    logic [15:0] left;  // bytes of user data
    logic [415:0] held;  // of the beat before
    logic needs_beat;
    logic head;
    logic body;

    assign head = job_valid && !job_drop && !in_body && beat_valid && header_ready;
    assign needs_beat = left > 16'd52;
    assign body = in_body && (!needs_beat || beat_valid);
    assign engine_valid = head || body;
    assign engine_user = in_body ? 2'd0 : 2'd1;
    assign engine_last = in_body && left <= 16'd64;
    assign engine_data = in_body ? {beat_data[95:0], held} : {288'd0, job_tag, beat_data[95:0]};
    always_comb begin
        engine_keep = '1;
        if (!in_body) engine_keep = ~(~64'd0 << HEADER);
        else if (left < 16'd64) engine_keep = ~(~64'd0 << left[5:0]);
    end

    logic drops;
    assign drops = job_valid && job_drop;
    assign beat_ready = drops || (engine_ready && (in_body ? needs_beat : head));
    assign job_done = in_body ? body && engine_ready && engine_last : drops && beat_valid && beat_last;

    always_ff @(posedge clk) begin
        if (rst) begin
            in_body <= 1'b0;
        end else begin
            if (head && engine_ready) in_body <= 1'b1;
            else if (job_done) in_body <= 1'b0;
        end
        if (engine_valid && engine_ready) left <= in_body ? left - 16'd64 : job_bytes;
        if (beat_valid && beat_ready) held <= beat_data[511:96];
    end

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

    macsec_engine #(
        .OPEN(0),
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
        .s_cmd_slot(b_slot),
        .s_cmd_nonce(nonce),
        .s_cmd_ad_bytes(16'(HEADER)),
        .s_cmd_message_bytes(data_bytes),
        .s_axis_tvalid(engine_valid),
        .s_axis_tready(engine_ready),
        .s_axis_tdata(engine_data),
        .s_axis_tkeep(engine_keep),
        .s_axis_tlast(engine_last),
        .s_axis_tuser(engine_user),
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
    logic [223:0] header;
    logic [SIDE-1:0] header_side;
    logic [6:0] unused_headers;

    stream_fifo #(
        .WIDTH(SIDE + 224),
        .DEPTH(64)
    ) headers (
        .clk,
        .rst,
        .s_valid(head && engine_ready),
        .s_ready(header_ready),
        .s_data({job_side, job_tag, beat_data[95:0]}),
        .m_valid(header_valid),
        .m_ready(header_done),
        .m_data({header_side, header}),
        .space(unused_headers),
        .popped(unused_popped[1])
    );

    logic in_data;  // the header is given
    logic in_icv;  // so are the user data
    logic piece_valid;
    logic piece_ready;
    logic [511:0] piece;
    logic [6:0] piece_bytes;
    logic piece_last;
    logic with_icv;  // the ICV has room in the last beat
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

    // Bytes are counted, the ICV is put behind them, and all is packed in three clocks: registers between.
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

    assign with_icv = data_last && data_count <= 7'd48;
    always_comb begin
        piece = {288'd0, header};
        piece_bytes = 7'(HEADER);
        piece_valid = header_valid;
        if (in_icv) begin
            piece = {384'd0, icv};
            piece_bytes = 7'd16;
            piece_valid = icv_valid;
        end else if (in_data) begin
            piece = data;
            piece_bytes = data_count;
            piece_valid = data_valid;
            if (with_icv) begin
                piece = data | ({384'd0, icv} << {data_count[5:0], 3'd0});
                piece_bytes = data_count + 7'd16;
                piece_valid = data_valid && icv_valid;
            end
        end
    end
    assign piece_last = in_icv || (in_data && with_icv);
    assign header_done = piece_last && piece_valid && piece_ready;
    assign icv_ready = piece_last && piece_ready && (in_icv || data_valid);
    assign data_ready = in_data && !in_icv && piece_ready && (!with_icv || icv_valid);

    always_ff @(posedge clk) begin
        if (rst) begin
            in_data <= 1'b0;
            in_icv  <= 1'b0;
        end else if (piece_valid && piece_ready) begin
            in_data <= !piece_last;
            in_icv  <= in_data && !in_icv && data_last && !with_icv;
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
        .s_valid(piece_valid),
        .s_ready(piece_ready),
        .s_data({header_side, piece_last, piece_bytes, piece}),
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
        .add(head && engine_ready),
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
        .add(head && engine_ready),
        .add_slot(job_slot),
        .add_value(job_bytes),
        .read_slot,
        .read_value(read_octets)
    );

    logic unused;
    assign unused = ^{
        unused_keep, unused_jobs, unused_popped, unused_verdict, unused_headers, unused_data,
        unused_pieces, unused_packed_bad
    };

endmodule
