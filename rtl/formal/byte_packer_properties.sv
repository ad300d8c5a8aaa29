// Properties of byte_packer, with four bytes per beat:
//   - Every input byte is output once, at its position in its frame, and nothing else is.
//   - Beats are full except for a frame's last one, which carries the flags of the frame's last piece.
//   - An offered output is stable until taken.
//
// One symbolic byte is tracked, from the clock of `choose` on.
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
    logic [4:0] held;  // bytes accepted and not yet output
    logic [2:0] out_bytes;
    logic chosen = 1'b0;
    logic [4:0] ahead;  // held bytes that precede the tracked one
    logic [7:0] value;
    logic ends;  // the tracked byte is the last one of a frame's last piece
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
            held <= held + (take ? 5'(in_bytes) : 5'd0) - (give ? 5'(out_bytes) : 5'd0);
            if (chosen && give) begin
                if (ahead < 5'(out_bytes)) chosen <= 1'b0;
                else ahead <= ahead - 5'(out_bytes);
            end
            if (choose && take && !chosen) begin
                chosen <= 1'b1;
                ahead <= held - (give ? 5'(out_bytes) : 5'd0) + 5'(lane);
                value <= in_data[8*lane+:8];
                ends <= in_last && 3'(lane) + 3'd1 == in_bytes;
                bad <= in_bad;
                user <= in_user;
            end
        end
    end

    // Model of pieces and residue: bytes in the residue, and in the planned and the turned piece.
    logic [2:0] residue_bytes;
    logic [2:0] planned_bytes;
    logic [2:0] turned_bytes;
    logic planned_last;
    logic turned_last;

    // Bytes in the residue after a piece of this size, and whether they end a frame.
    function automatic logic [2:0] behind(input logic [2:0] residue, input logic rest, input logic taken,
                                          input logic [2:0] bytes, input logic last);
        logic [3:0] total;
        total = {1'b0, rest ? 3'd0 : residue} + (taken ? {1'b0, bytes} : 5'd0);
        if (!taken) behind = total[2:0];
        else if (!rest && total >= 4'd4) behind = 3'(total - 4'd4);
        else behind = last ? 3'd0 : total[2:0];
    endfunction
    function automatic logic overflows(input logic [2:0] residue, input logic rest, input logic taken,
                                       input logic [2:0] bytes, input logic last);
        overflows = taken && !rest && last && {1'b0, residue} + {1'b0, bytes} > 4'd4;
    endfunction

    logic [2:0] residue_then;  // once the turned piece is placed
    logic [2:0] residue_last;  // once the planned piece is placed, too
    logic rest_then;
    logic rest_last;
    assign residue_then = behind(
        residue_bytes, packer.turned.rest, packer.turned.take, turned_bytes, turned_last
    );
    assign rest_then = overflows(
        residue_bytes, packer.turned.rest, packer.turned.take, turned_bytes, turned_last
    );
    assign residue_last = behind(
        residue_then, packer.planned.rest, packer.planned.take, planned_bytes, planned_last
    );
    assign rest_last = overflows(
        residue_then, packer.planned.rest, packer.planned.take, planned_bytes, planned_last
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            residue_bytes <= '0;
        end else if (packer.move) begin
            residue_bytes <= residue_then;
        end
        if (packer.move) begin
            planned_bytes <= in_bytes;
            planned_last  <= in_last;
            turned_bytes  <= planned_bytes;
            turned_last   <= planned_last;
        end
    end

    // Position of the tracked byte: in the output, the residue, the turned piece or the planned piece.
    logic [4:0] in_output;
    logic [4:0] in_turned;
    logic [4:0] in_planned;
    logic [4:0] place;
    logic [4:0] turned_place;
    logic [4:0] planned_place;
    logic [1:0] turned_at;
    logic follows;
    assign in_output = m_axis_tvalid ? 5'(out_bytes) : 5'd0;
    assign in_turned = packer.turned.take ? 5'(turned_bytes) : 5'd0;
    assign in_planned = packer.planned.take ? 5'(planned_bytes) : 5'd0;
    assign place = ahead - in_output;
    assign turned_place = place - 5'(residue_bytes);
    assign planned_place = turned_place - in_turned;
    assign turned_at = turned_place[1:0] + {packer.turned.turn[1], 1'b0};
    assign follows = chosen && m_axis_tvalid && ahead < 5'(out_bytes);

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
                // A frame ends with the last byte of its last beat.
                assert (ends == (m_axis_tlast && ahead + 5'd1 == 5'(out_bytes)));
                if (ends) assert (m_axis_tbad == bad && m_axis_tuser == user);
            end
            // Inductive invariants: where the bytes are.
            assert (residue_bytes < 3'd4 && {1'b0, packer.count} == residue_last);
            assert (packer.turned.rest || residue_bytes == '0 || !packer.turned.take || turned_bytes != '0);
            assert (held == in_output + 5'(residue_bytes) + in_turned + in_planned);
            if (packer.planned.take) assert (planned_bytes != '0 && planned_bytes <= 3'd4);
            if (packer.turned.take) assert (turned_bytes != '0 && turned_bytes <= 3'd4);
            // The end of a frame that did not fit into a beat is output directly after that beat.
            assert (packer.planned.rest == rest_then && packer.rest == rest_last);
            if (packer.turned.rest) assert (residue_bytes != '0 && m_axis_tvalid && !m_axis_tlast);
            if (packer.planned.rest && packer.planned.take) assert (!planned_last && planned_bytes < 3'd4);
            if (packer.turned.rest && packer.turned.take) assert (!turned_last && turned_bytes < 3'd4);
            if (packer.planned.take || packer.planned.rest) begin
                assert ({1'b0, packer.planned.turn} == (packer.planned.rest ? 3'd0 : residue_then));
            end
            if (packer.turned.take || packer.turned.rest) begin
                assert ({1'b0, packer.turned.turn} == (packer.turned.rest ? 3'd0 : residue_bytes));
            end
            if (packer.planned.take && !packer.planned.rest) begin
                assert (packer.planned.wraps == (4'(residue_then) + 4'(planned_bytes) >= 4'd4));
                assert (packer.planned.last == planned_last);
            end
            if (packer.turned.take && !packer.turned.rest) begin
                assert (packer.turned.wraps == (4'(residue_bytes) + 4'(turned_bytes) >= 4'd4));
                assert (packer.turned.last == turned_last);
            end
            assert (packer.planned.gives == (packer.planned.rest
                || (packer.planned.take && (packer.planned.wraps || packer.planned.last))));
            assert (packer.turned.gives == (packer.turned.rest
                || (packer.turned.take && (packer.turned.wraps || packer.turned.last))));
            if (packer.planned.rest)
                assert (packer.planned.bytes == residue_then && packer.planned.beat_last);
                else if (packer.planned.gives) begin
                    assert (packer.planned.beat_last == (planned_last && !rest_last));
                    assert (packer.planned.bytes
                        == (packer.planned.wraps ? 3'd4 : residue_then + planned_bytes));
                end
            if (packer.turned.rest)
                assert (packer.turned.bytes == residue_bytes && packer.turned.beat_last);
                else if (packer.turned.gives) begin
                    assert (packer.turned.beat_last == (turned_last && !rest_then));
                    assert (packer.turned.bytes
                        == (packer.turned.wraps ? 3'd4 : residue_bytes + turned_bytes));
                end
            if (packer.turned.gives) begin
                for (int i = 0; i < 4; i = i + 1) assert (packer.keep[i] == (3'(i) < packer.turned.bytes));
            end
            if (chosen) assert (ahead < held);
            if (chosen && ahead >= in_output) begin
                if (place < 5'(residue_bytes)) begin
                    assert (packer.residue[8*place[1:0]+:8] == value);
                    assert (ends == (packer.turned.rest && place + 5'd1 == 5'(residue_bytes)));
                    if (ends) assert (packer.turned.beat_bad == bad && packer.turned.beat_user == user);
                end else if (turned_place < in_turned) begin
                    assert (packer.turned_data[8*turned_at+:8] == value);
                    assert (ends == (turned_last && turned_place + 5'd1 == in_turned));
                    if (ends && !rest_then) begin
                        assert (packer.turned.beat_bad == bad && packer.turned.beat_user == user);
                    end
                    if (ends && rest_then) begin
                        assert (packer.planned.beat_bad == bad && packer.planned.beat_user == user);
                    end
                end else begin
                    assert (packer.planned_data[8*planned_place[1:0]+:8] == value);
                    assert (ends == (planned_last && planned_place + 5'd1 == in_planned));
                    if (ends && !rest_last) begin
                        assert (packer.planned.beat_bad == bad && packer.planned.beat_user == user);
                    end
                    if (ends && rest_last) assert (packer.rest_bad == bad && packer.rest_user == user);
                end
            end
            for (int i = 0; i < 4; i = i + 1) begin
                if (3'(i) >= residue_bytes) assert (packer.residue[8*i+:8] == '0);
                if (packer.planned.take && 3'(i) >= planned_bytes) assert (packer.planned_data[8*i+:8] == '0);
                if (packer.turned.take && {1'b0, 2'(i) - {packer.turned.turn[1], 1'b0}} >= turned_bytes) begin
                    assert (packer.turned_data[8*i+:8] == '0);
                end
                if (packer.turned.take || packer.turned.rest)
                    assert (packer.taken[i] == (2'(i) < packer.turned.turn));
            end
            cover (packer.rest && take);
            cover (follows && ends && m_axis_tkeep == 4'b0111);
            cover (chosen && ahead >= in_output && waiting);
        end
    end

endmodule
