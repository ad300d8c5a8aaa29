// Two streams of frames into one, frame by frame, in turn if both have one.
module frame_merge #(
    parameter int USER = 8
) (
    input logic clk,
    input logic rst,

    input  logic [       1:0] s_axis_tvalid,
    output logic [       1:0] s_axis_tready,
    input  logic [    1023:0] s_axis_tdata,
    input  logic [     127:0] s_axis_tkeep,
    input  logic [       1:0] s_axis_tlast,
    input  logic [2*USER-1:0] s_axis_tuser,

    output logic            m_axis_tvalid,
    input  logic            m_axis_tready,
    output logic [   511:0] m_axis_tdata,
    output logic [    63:0] m_axis_tkeep,
    output logic            m_axis_tlast,
    output logic [USER-1:0] m_axis_tuser
);

    logic started;  // a frame
    logic held;  // whose
    logic other;  // who has had the last frame
    logic who;
    logic room;
    logic take;

    assign who = started ? held : (other ? !s_axis_tvalid[0] : s_axis_tvalid[1]);
    assign room = !m_axis_tvalid || m_axis_tready;
    assign take = room && s_axis_tvalid[who];
    assign s_axis_tready[0] = room && !who;
    assign s_axis_tready[1] = room && who;

    always_ff @(posedge clk) begin
        if (rst) begin
            m_axis_tvalid <= 1'b0;
            started <= 1'b0;
            other <= 1'b0;
        end else begin
            if (room) m_axis_tvalid <= take;
            if (take) begin
                started <= !s_axis_tlast[who];
                other  <= who;
            end
        end
        if (take) begin
            held <= who;
            m_axis_tdata <= who ? s_axis_tdata[1023:512] : s_axis_tdata[511:0];
            m_axis_tkeep <= who ? s_axis_tkeep[127:64] : s_axis_tkeep[63:0];
            m_axis_tlast <= s_axis_tlast[who];
            m_axis_tuser <= who ? s_axis_tuser[2*USER-1:USER] : s_axis_tuser[USER-1:0];
        end
    end

endmodule
