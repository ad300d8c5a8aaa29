// Packs the frames that leave: DA ‖ SA ‖ SecTAG ‖ user data ‖ ICV. Bytes are counted, then the ICV is put behind them, and then
// all is packed: registers between.
//
//   s_header_*   frames in order, of transmit_feed
//   s_beside_*   additional data that have user data, with the header before them
//   s_engine_*   encrypted user data
//   s_icv_*      ICVs
//   m_*          frames; m_side: what travels with them
module transmit_release
    import macsec_pkg::*;
#(
    parameter int SIDE = 8
) (
    input logic clk,
    input logic rst,

    input  logic            s_header_valid,
    output logic            s_header_ready,
    input  logic [SIDE-1:0] s_header_side,
    input  logic            s_header_beside,
    input  logic            s_header_plain,
    input  logic            s_header_no_sci,
    input  logic [   223:0] s_header,

    input  logic              s_beside_valid,
    output logic              s_beside_ready,
    input  beat_t             s_beside,

    input  logic              s_engine_valid,
    output logic              s_engine_ready,
    input  beat_t             s_engine,

    input  logic         s_icv_valid,
    output logic         s_icv_ready,
    input  logic [127:0] s_icv,

    output logic              m_valid,
    input  logic              m_ready,
    output beat_t             m_beat,
    output logic [  SIDE-1:0] m_side
);

    // ---- Headers, and the user data of both ways ----

    logic header_valid;
    logic header_done;
    logic header_beside;
    logic header_no_sci;
    logic [223:0] header;
    logic [SIDE-1:0] header_side;
    logic taken_valid;
    logic taken_ready;
    beat_t taken;

    stream_fifo #(
        .WIDTH(SIDE + 226),
        .DEPTH(64)
    ) headers (
        .clk,
        .rst,
        .s_valid(s_header_valid),
        .s_ready(s_header_ready),
        .s_data({s_header_side, s_header_beside, s_header_no_sci, s_header}),
        .m_valid(header_valid),
        .m_ready(header_done),
        .m_data({header_side, header_beside, header_no_sci, header}),
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
        .s_frame_engine(!s_header_plain),
        .s_beside_valid,
        .s_beside_ready,
        .s_beside,
        .s_engine_valid,
        .s_engine_ready,
        .s_engine,
        .m_valid(taken_valid),
        .m_ready(taken_ready),
        .m_beat(taken)
    );

    logic data_valid;
    logic data_ready;
    logic data_last;
    logic with_icv;  // the ICV has room in the last beat
    logic [6:0] data_count;
    logic [511:0] data;

    logic [63:0] taken_keep;
    logic [511:0] taken_data;
    assign taken_keep  = taken.keep;
    assign taken_data  = taken.data;
    assign taken_ready = !data_valid || data_ready;
    always_ff @(posedge clk) begin
        if (rst) data_valid <= 1'b0;
        else if (taken_ready) data_valid <= taken_valid;
        if (taken_ready) begin
            data_last  <= taken.last;
            with_icv   <= taken.last && !taken.keep[48];
            data_count <= macsec_pkg::kept_bytes(taken.keep);
            for (int i = 0; i < 64; i = i + 1) begin
                data[8*i+:8] <= taken_keep[i] ? taken_data[8*i+:8] : 8'd0;
            end
        end
    end

    // ---- Pieces: the header, if it does not come with the user data, those, and the ICV, if it has no room there ----

    logic in_data;  // the header is given, or comes with the user data
    logic begun_data;
    logic in_icv;  // so are the user data
    logic piece_valid;
    logic piece_ready;
    logic piece_last;
    logic piece_takes_icv;

    assign in_data = begun_data || (header_valid && header_beside);
    assign piece_takes_icv = in_icv || (in_data && with_icv);
    assign piece_last = piece_takes_icv;
    always_comb begin
        if (in_icv) piece_valid = s_icv_valid;
        else if (in_data) piece_valid = data_valid && (!with_icv || s_icv_valid);
        else piece_valid = header_valid;
    end
    assign header_done = piece_last && piece_valid && piece_ready;
    assign s_icv_ready = piece_takes_icv && piece_ready && (in_icv || data_valid);
    assign data_ready  = in_data && !in_icv && piece_ready && (!with_icv || s_icv_valid);

    always_ff @(posedge clk) begin
        if (rst) begin
            begun_data <= 1'b0;
            in_icv <= 1'b0;
        end else if (piece_valid && piece_ready) begin
            begun_data <= !piece_last;
            in_icv <= in_data && !in_icv && data_last && !with_icv;
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
                icv_moved <= {32'd0, s_icv};
            end else if (in_data) begin
                joined_bytes <= with_icv ? data_count + 7'd16 : data_count;
                joined_data  <= data;
                if (with_icv) icv_moved <= {32'd0, s_icv} << {data_count[1:0], 3'd0};
            end else begin
                joined_bytes <= header_no_sci ? 7'(macsec_pkg::SHORT_HEADER) : 7'(macsec_pkg::HEADER);
                joined_data  <= {288'd0, header};
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
        .space(),
        .popped()
    );

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
        .m_axis_tvalid(m_valid),
        .m_axis_tready(m_ready),
        .m_axis_tdata(m_beat.data),
        .m_axis_tkeep(m_beat.keep),
        .m_axis_tlast(m_beat.last),
        .m_axis_tbad(),
        .m_axis_tuser(m_side)
    );

endmodule
