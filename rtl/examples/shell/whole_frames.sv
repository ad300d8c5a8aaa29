// Store-and-forward FIFO: each frame leaves without internal pauses. A frame is dropped if its last beat has s_axis_tbad,
// or if it has more than DEPTH beats; `too_long` is then high for one clock. tuser is sampled with the first beat.
module whole_frames #(
    parameter int USER  = 1,
    parameter int DEPTH = 256
) (
    input logic clk,
    input logic rst,

    input  logic            s_axis_tvalid,
    output logic            s_axis_tready,
    input  logic [   511:0] s_axis_tdata,
    input  logic [    63:0] s_axis_tkeep,
    input  logic            s_axis_tlast,
    input  logic            s_axis_tbad,
    input  logic [USER-1:0] s_axis_tuser,

    output logic            m_axis_tvalid,
    input  logic            m_axis_tready,
    output logic [   511:0] m_axis_tdata,
    output logic [    63:0] m_axis_tkeep,
    output logic            m_axis_tlast,
    output logic [USER-1:0] m_axis_tuser,

    output logic too_long
);

    logic frame_valid;
    logic beat_valid;

    assign m_axis_tvalid = frame_valid && beat_valid;

    frame_store #(
        .SIDE (USER),
        .DEPTH(DEPTH)
    ) store (
        .clk,
        .rst,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser(s_axis_tbad),
        .s_axis_side(s_axis_tuser),
        .m_frame_tvalid(frame_valid),
        .m_frame_tready(m_axis_tvalid && m_axis_tready && m_axis_tlast),
        .m_frame_bytes(),
        .m_frame_side(m_axis_tuser),
        .m_axis_tvalid(beat_valid),
        .m_axis_tready(m_axis_tready && frame_valid),
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .too_long,
        .parity_error()
    );

endmodule
