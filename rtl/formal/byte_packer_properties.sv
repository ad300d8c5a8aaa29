// byte_packer, with four bytes a beat: every byte that goes in comes out, at its place in its frame, and nothing else;
// beats are full but for a frame's last; a frame's last beat says what its last piece said; what is offered stays.
//
// Any byte of any piece is followed, from the clock of `choose` on.
module byte_packer_properties (
    input logic clk,
    input logic rst,
    input logic in_valid,
    input logic [31:0] in_data,
    input logic [2:0] in_bytes,
    input logic in_last,
    input logic in_bad,
    input logic [1:0] in_user,
    input logic m_axis_tready,
    input logic choose,
    input logic [1:0] lane
);
    logic in_ready, m_axis_tvalid, m_axis_tlast, m_axis_tbad;
    logic [31:0] m_axis_tdata;
    logic [3:0] m_axis_tkeep;
    logic [1:0] m_axis_tuser;

    byte_packer #(
        .BYTES(4),
        .USER(2)
    ) packer (
        .clk,
        .rst,
        .in_valid,
        .in_ready,
        .in_data,
        .in_bytes,
        .in_last,
        .in_bad,
        .in_user,
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tbad,
        .m_axis_tuser
    );

    logic begun = 1'b0;
    logic waiting = 1'b0;
    logic [39:0] offered;
    logic take, give;
    logic [3:0] held;  // bytes that went in and have not come out
    logic [2:0] out_bytes;
    logic chosen = 1'b0;
    logic [3:0] ahead;  // held bytes before the followed one
    logic [7:0] value;
    logic ends;  // the followed byte is of a frame's last piece, and its last
    logic bad;
    logic [1:0] user;

    assign take = in_valid && in_ready;
    assign give = m_axis_tvalid && m_axis_tready;
    always_comb begin
        case (m_axis_tkeep)
            4'b0001: out_bytes = 3'd1;
            4'b0011: out_bytes = 3'd2;
            4'b0111: out_bytes = 3'd3;
            default: out_bytes = 3'd4;
        endcase
    end

    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        waiting <= m_axis_tvalid && !m_axis_tready && !rst;
        offered <= {m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tbad, m_axis_tuser};
        if (rst) begin
            held   <= '0;
            chosen <= 1'b0;
        end else begin
            held <= held + (take ? 4'(in_bytes) : 4'd0) - (give ? 4'(out_bytes) : 4'd0);
            if (chosen && give) begin
                if (ahead < 4'(out_bytes)) chosen <= 1'b0;
                else ahead <= ahead - 4'(out_bytes);
            end
            if (choose && take && !chosen) begin
                chosen <= 1'b1;
                ahead <= held - (give ? 4'(out_bytes) : 4'd0) + 4'(lane);
                value <= in_data[8*lane+:8];
                ends <= in_last && 3'(lane) + 3'd1 == in_bytes;
                bad <= in_bad;
                user <= in_user;
            end
        end
    end

    // Where the followed byte is: in the output, or in the residue.
    logic [3:0] in_output;
    logic in_residue;
    logic [3:0] place;
    logic follows;
    assign in_output = m_axis_tvalid ? 4'(out_bytes) : 4'd0;
    assign in_residue = chosen && ahead >= in_output;
    assign place = ahead - in_output;
    assign follows = chosen && m_axis_tvalid && ahead < 4'(out_bytes);

    always_comb begin
        if (!begun) assume (rst);
        assume (in_bytes != '0 && in_bytes <= 3'd4);
        assume (3'(lane) < in_bytes);
        for (int i = 0; i < 4; i = i + 1) if (3'(i) >= in_bytes) assume (in_data[8*i+:8] == '0);
        if (begun && !rst) begin
            if (waiting) begin
                assert (m_axis_tvalid);
                assert ({m_axis_tdata, m_axis_tkeep, m_axis_tlast, m_axis_tbad, m_axis_tuser} == offered);
            end
            if (m_axis_tvalid) begin
                assert (m_axis_tkeep == 4'b1111 || m_axis_tlast);
                assert (m_axis_tkeep == 4'b0001 || m_axis_tkeep == 4'b0011 || m_axis_tkeep == 4'b0111
                        || m_axis_tkeep == 4'b1111);
            end
            if (follows) begin
                assert (m_axis_tdata[8*ahead[1:0]+:8] == value);
                // The end of a frame is the last byte of its last beat.
                assert (ends == (m_axis_tlast && ahead + 4'd1 == 4'(out_bytes)));
                if (ends) assert (m_axis_tbad == bad && m_axis_tuser == user);
            end
            // For the induction: where things are.
            assert (packer.count < 3'd4);
            assert (held == in_output + 4'(packer.count));
            if (packer.rest) assert (packer.count != '0 && m_axis_tvalid && !m_axis_tlast);
            if (chosen) assert (ahead < held);
            if (in_residue) begin
                assert (packer.residue[8*place[1:0]+:8] == value);
                assert (ends == (packer.rest && place + 4'd1 == 4'(packer.count)));
                if (ends) assert (packer.rest_bad == bad && packer.rest_user == user);
            end
            for (int i = 0; i < 4; i = i + 1) begin
                if (3'(i) >= packer.count) assert (packer.residue[8*i+:8] == '0);
            end
            cover (packer.rest && take);
            cover (follows && ends && m_axis_tkeep == 4'b0111);
            cover (chosen && in_residue && waiting);
        end
    end

endmodule
