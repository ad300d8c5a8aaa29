// The user data of frames behind an engine: those that pass it by, as they are not encrypted, then those that it gives.
//
//   s_frame_*   a frame: whether it has beats beside the engine, and beats of the engine; at most FRAMES at a time
//   s_beside_*  beats beside the engine; last: of the frame's
//   s_engine_*  beats of the engine; last: of the frame's
//   m_*         the beats of each frame, the ones beside first; last: of the frame
module beside_engine
    import macsec_pkg::*;
#(
    parameter int FRAMES = 64
) (
    input logic clk,
    input logic rst,

    input logic s_frame_valid,
    input logic s_frame_beside,
    input logic s_frame_engine,

    input  logic              s_beside_valid,
    output logic              s_beside_ready,
    input  beat_t             s_beside,

    input  logic              s_engine_valid,
    output logic              s_engine_ready,
    input  beat_t             s_engine,

    output logic              m_valid,
    input  logic              m_ready,
    output beat_t             m_beat
);

    localparam int BEATS = 64;  // that wait beside the engine

    logic frame_valid;
    logic frame_beside;
    logic frame_engine;
    logic beside_valid;
    logic engine_valid;
    beat_t beside;
    beat_t engine;
    beat_t chosen;
    logic passed;  // the frame's beats beside the engine
    logic takes_beside;
    logic last;

    assign takes_beside = frame_beside && !passed;
    assign chosen = takes_beside ? beside : engine;
    assign last = chosen.last && !(takes_beside && frame_engine);
    assign m_valid = frame_valid && (takes_beside ? beside_valid : engine_valid);
    assign m_beat = {last, chosen.keep, chosen.data};

    always_ff @(posedge clk) begin
        if (rst) passed <= 1'b0;
        else if (m_valid && m_ready) passed <= !last && (passed || chosen.last);
    end

    stream_fifo #(
        .WIDTH(2),
        .DEPTH(FRAMES),
        .CREDITS(1)
    ) frames (
        .clk,
        .rst,
        .s_valid(s_frame_valid),
        .s_ready(),
        .s_data({s_frame_beside, s_frame_engine}),
        .m_valid(frame_valid),
        .m_ready(m_valid && m_ready && last),
        .m_data({frame_beside, frame_engine}),
        .space(),
        .popped()
    );

    stream_fifo #(
        .WIDTH($bits(beat_t)),
        .DEPTH(BEATS)
    ) besides (
        .clk,
        .rst,
        .s_valid(s_beside_valid),
        .s_ready(s_beside_ready),
        .s_data(s_beside),
        .m_valid(beside_valid),
        .m_ready(m_ready && frame_valid && takes_beside),
        .m_data(beside),
        .space(),
        .popped()
    );

    stream_fifo #(
        .WIDTH($bits(beat_t)),
        .DEPTH(4)
    ) engines (
        .clk,
        .rst,
        .s_valid(s_engine_valid),
        .s_ready(s_engine_ready),
        .s_data(s_engine),
        .m_valid(engine_valid),
        .m_ready(m_ready && frame_valid && !takes_beside),
        .m_data(engine),
        .space(),
        .popped()
    );

endmodule
