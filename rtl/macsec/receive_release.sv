// Packs DA ‖ SA ‖ user data of the frames that are opened, and gives those that may leave, when they are whole.
//
//   each frame, in order:
//       drop it if its ICV is wrong, unless it may leave so, or if its number is below the lowest by now and late frames do
//       not pass
//       if its ICV is right the lowest number goes up to this one + 1 - window
//
// Three clocks at least for a frame, in which its number is judged again.
//
//   s_header_*   frames in order, of receive_feed
//   s_beside_*   user data that are not encrypted
//   s_engine_*   the others
//   s_verdict_*  of the engine; bad: the ICV is wrong
//   number_*     the lowest number of an association: of number_slot in the clock before; number_read: of a frame
//   ends         a frame is counted, and leaves or is dropped; ended: of result
//   m_*          frames that leave; m_side: what travels with them
//   overrun      a frame was too long for the store
//   PARITY, parity_error
//                see macsec_receive
module receive_release
    import macsec_pkg::*;
#(
    parameter int SIDE = 8,
    parameter int SLOT_BITS = 4,
    parameter int DEPTH = 256,
    parameter int PARITY = 0
) (
    input logic clk,
    input logic rst,

    input  logic                     s_header_valid,
    output logic                     s_header_ready,
    input  verdict_job_t             s_header_verdict,
    input  logic [    SLOT_BITS-1:0] s_header_slot,
    input  logic [         SIDE-1:0] s_header_side,
    input  logic                     s_header_beside,
    input  logic                     s_header_engine,
    input  logic [             95:0] s_header_addresses,

    input  logic              s_beside_valid,
    output logic              s_beside_ready,
    input  beat_t             s_beside,

    input  logic              s_engine_valid,
    output logic              s_engine_ready,
    input  beat_t             s_engine,

    input  logic s_verdict_valid,
    output logic s_verdict_ready,
    input  logic s_verdict_bad,

    output logic                 number_read,
    output logic [SLOT_BITS-1:0] number_slot,
    input  logic [         63:0] number_value,

    output logic                ends,
    output result_t             result,
    output logic                raises,
    output logic [        63:0] raised,

    output logic              m_valid,
    input  logic              m_ready,
    output beat_t             m_beat,
    output logic [  SIDE-1:0] m_side,

    output logic overrun,
    output logic parity_error
);

    // ---- Headers, and the user data of both ways ----

    logic header_valid;
    verdict_job_t header;
    logic [SLOT_BITS-1:0] header_slot;
    logic [SIDE-1:0] header_side;
    logic [95:0] header_addresses;
    logic data_valid;
    logic data_ready;
    beat_t data;

    stream_fifo #(
        .WIDTH(SLOT_BITS + SIDE + 96 + $bits(verdict_job_t)),
        .DEPTH(64)
    ) headers (
        .clk,
        .rst,
        .s_valid(s_header_valid),
        .s_ready(s_header_ready),
        .s_data({s_header_slot, s_header_side, s_header_addresses, s_header_verdict}),
        .m_valid(header_valid),
        .m_ready(ends),
        .m_data({header_slot, header_side, header_addresses, header}),
        .space(),
        .popped()
    );

    beside_engine #(
        .FRAMES(64)
    ) user_data (
        .clk,
        .rst,
        .s_frame_valid(s_header_valid),
        .s_frame_beside(s_header_beside),
        .s_frame_engine(s_header_engine),
        .s_beside_valid,
        .s_beside_ready,
        .s_beside,
        .s_engine_valid,
        .s_engine_ready,
        .s_engine,
        .m_valid(data_valid),
        .m_ready(data_ready),
        .m_beat(data)
    );

    // ---- The verdict ----
    //
    // The number was not too low when the frame came. Is it now, that the frames before it are verified? The lowest number is
    // read in the first clock of a frame, compared in the second, and the frame may end in the third.

    logic [1:0] asked;  // read, compared
    logic below_high;
    logic same_high;
    logic below_low;
    logic raises_high;
    logic same_raised;
    logic raises_low;
    logic late;
    logic wrong;  // the ICV
    logic drops_wrong;
    logic drops_late;

    assign number_read = header_valid;
    assign number_slot = header_slot;
    assign late = header.known && (below_high || (same_high && below_low));
    assign wrong = header.opens && s_verdict_bad;
    assign drops_wrong = wrong && !header.lenient;
    assign drops_late = !drops_wrong && late && !header.late_passes;

    always_ff @(posedge clk) begin
        if (rst || ends) asked <= '0;
        else asked <= {asked[0], header_valid};
        below_high <= header.pn[63:32] < number_value[63:32];
        same_high <= header.pn[63:32] == number_value[63:32];
        below_low <= header.pn[31:0] < number_value[31:0];
        raises_high <= header.raised[63:32] > number_value[63:32];
        same_raised <= header.raised[63:32] == number_value[63:32];
        raises_low <= header.raised[31:0] > number_value[31:0];
    end

    assign result.known = header.known;
    assign result.clear = header.clear;
    assign result.bytes = header.bytes;
    assign result.not_valid = drops_wrong;
    assign result.late = drops_late;
    assign result.invalid = !drops_wrong && !drops_late && wrong;
    assign result.unchecked = !drops_late && !header.opens && !late;
    assign result.delayed = !drops_late && !wrong && late;
    assign result.good = header.opens && !wrong && !drops_late;
    assign raises = result.good && (raises_high || (same_raised && raises_low));
    assign raised = header.raised;

    // ---- Pieces: the addresses, then the user data ----

    logic in_data;
    logic piece_valid;
    logic piece_ready;
    logic piece_last;
    logic may_end;

    assign may_end = asked[1] && (s_verdict_valid || !header.opens);
    assign piece_valid = in_data ? data_valid && (!data.last || may_end) : header_valid;
    assign piece_last = in_data && data.last;
    assign ends = piece_last && piece_valid && piece_ready;
    assign data_ready = in_data && piece_ready && (!data.last || may_end);
    assign s_verdict_ready = piece_last && piece_ready && data_valid && asked[1] && header.opens;

    always_ff @(posedge clk) begin
        if (rst) in_data <= 1'b0;
        else if (piece_valid && piece_ready) in_data <= !piece_last;
    end

    logic counted_valid;
    logic counted_ready;
    logic counted_bad;
    logic counted_last;
    logic [6:0] counted_bytes;
    logic [511:0] counted_data;
    logic [SIDE-1:0] counted_side;

    logic [63:0] data_keep;
    logic [511:0] data_bytes;
    assign data_keep   = data.keep;
    assign data_bytes  = data.data;
    assign piece_ready = !counted_valid || counted_ready;
    always_ff @(posedge clk) begin
        if (rst) counted_valid <= 1'b0;
        else if (piece_ready) counted_valid <= piece_valid;
        if (piece_ready) begin
            counted_bad   <= drops_wrong || drops_late;
            counted_last  <= piece_last;
            counted_side  <= header_side;
            counted_bytes <= in_data ? macsec_pkg::kept_bytes(data.keep) : 7'd12;
            for (int i = 0; i < 64; i = i + 1) begin
                counted_data[8*i+:8] <= data_keep[i] ? data_bytes[8*i+:8] : 8'd0;
            end
            if (!in_data) counted_data <= {416'd0, header_addresses};
        end
    end

    logic packing_valid;
    logic packing_ready;
    logic packing_bad;
    logic packing_last;
    logic [6:0] packing_bytes;
    logic [511:0] packing_data;
    logic [SIDE-1:0] packing_side;

    stream_fifo #(
        .WIDTH(SIDE + 521),
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
        .space(),
        .popped()
    );

    logic packed_valid;
    logic packed_ready;
    beat_t packed_beat;
    logic packed_bad;
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
        .in_bad(packing_bad),
        .in_user(packing_side),
        .m_axis_tvalid(packed_valid),
        .m_axis_tready(packed_ready),
        .m_axis_tdata(packed_beat.data),
        .m_axis_tkeep(packed_beat.keep),
        .m_axis_tlast(packed_beat.last),
        .m_axis_tbad(packed_bad),
        .m_axis_tuser(packed_side)
    );

    // ---- What may leave leaves ----

    logic whole_valid;
    logic beat_valid;

    frame_store #(
        .SIDE (SIDE),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) verified (
        .clk,
        .rst,
        .s_axis_tvalid(packed_valid),
        .s_axis_tready(packed_ready),
        .s_axis_tdata(packed_beat.data),
        .s_axis_tkeep(packed_beat.keep),
        .s_axis_tlast(packed_beat.last),
        .s_axis_tuser(packed_bad),
        .s_axis_side(packed_side),
        .m_frame_tvalid(whole_valid),
        .m_frame_tready(m_valid && m_ready && m_beat.last),
        .m_frame_bytes(),
        .m_frame_side(m_side),
        .m_axis_tvalid(beat_valid),
        .m_axis_tready(m_ready && whole_valid),
        .m_axis_tdata(m_beat.data),
        .m_axis_tkeep(m_beat.keep),
        .m_axis_tlast(m_beat.last),
        .too_long(overrun),
        .parity_error
    );

    assign m_valid = whole_valid && beat_valid;

endmodule
