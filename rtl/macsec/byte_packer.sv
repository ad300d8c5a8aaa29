// Packs pieces of 1 to BYTES bytes into beats of BYTES, a power of two:
//
//   residue = residue ‖ piece; while it has BYTES bytes, or is the end of a frame: give its first BYTES
//
// A piece is taken in each clock. A frame's last piece that does not fit leaves a rest, which is given in the next
// clock, while the next frame's first piece is taken if it has fewer than BYTES bytes and is not its last.
//
//   in_bad   with in_last: m_axis_tbad of the frame's last beat
//   in_user  travels with the frame's beats
module byte_packer #(
    parameter int BYTES = 64,
    parameter int USER  = 8
) (
    input logic clk,
    input logic rst,

    input  logic            in_valid,
    output logic            in_ready,
    input  logic [ 8*BYTES-1:0] in_data,   // zero beyond its bytes
    input  logic [$clog2(BYTES):0] in_bytes,
    input  logic            in_last,
    input  logic            in_bad,
    input  logic [USER-1:0] in_user,

    output logic            m_axis_tvalid,
    input  logic            m_axis_tready,
    output logic [ 8*BYTES-1:0] m_axis_tdata,
    output logic [   BYTES-1:0] m_axis_tkeep,
    output logic            m_axis_tlast,
    output logic            m_axis_tbad,
    output logic [USER-1:0] m_axis_tuser
);

    localparam int BITS = $clog2(BYTES);
    localparam logic [BITS:0] FULL = {1'b1, {BITS{1'b0}}};

    logic [8*BYTES-1:0] residue;
    logic [BITS:0] count;  // 0 to BYTES - 1
    logic rest;  // the residue is the end of a frame
    logic rest_bad;
    logic [USER-1:0] rest_user;

    logic room;
    logic take;
    logic fits;
    logic gives;
    logic [BITS+1:0] total;
    logic [16*BYTES-1:0] joined;
    logic [BITS:0] out_bytes;

    assign room = !m_axis_tvalid || m_axis_tready;
    assign in_ready = room && (!rest || (!in_last && in_bytes < FULL));
    assign take = in_valid && in_ready;
    assign total = {1'b0, count} + {1'b0, in_bytes};
    assign joined = {{8 * BYTES{1'b0}}, residue} | ({{8 * BYTES{1'b0}}, in_data} << {count[BITS-1:0], 3'd0});
    assign fits = total <= {1'b0, FULL};
    assign gives = room && (rest || (take && (in_last || total >= {1'b0, FULL})));
    assign out_bytes = rest ? count : (total >= {1'b0, FULL} ? FULL : total[BITS:0]);

    always_ff @(posedge clk) begin
        if (rst) begin
            m_axis_tvalid <= 1'b0;
            count <= '0;
            residue <= '0;
            rest <= 1'b0;
        end else begin
            if (room) m_axis_tvalid <= gives;
            if (rest) begin
                if (room) begin
                    rest <= 1'b0;
                    residue <= take ? in_data : '0;
                    count <= take ? in_bytes : '0;
                end
            end else if (take) begin
                rest <= in_last && !fits;
                if (total >= {1'b0, FULL}) begin
                    residue <= joined[16*BYTES-1:8*BYTES];
                    count <= in_last && fits ? '0 : total[BITS:0] - FULL;
                end else begin
                    residue <= in_last ? '0 : joined[8*BYTES-1:0];
                    count <= in_last ? '0 : total[BITS:0];
                end
            end
        end
        if (take && !rest) begin
            rest_bad <= in_bad;
            rest_user <= in_user;
        end
        if (gives) begin
            m_axis_tdata <= rest ? residue : joined[8*BYTES-1:0];
            m_axis_tkeep <= ~({BYTES{1'b1}} << out_bytes);
            m_axis_tlast <= rest || (in_last && fits);
            m_axis_tbad <= rest ? rest_bad : in_bad;
            m_axis_tuser <= rest ? rest_user : in_user;
        end
    end

endmodule
