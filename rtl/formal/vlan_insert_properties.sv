// Properties of vlan_insert:
//   - Every byte of every frame is output once and in order. A frame with a tag has it behind byte 11, once.
//   - Beats are full except for a frame's last one. A frame ends with its last byte, so its last beat becomes two if
//     the tag makes it longer than 64 bytes, and only then.
//   - All beats of a frame have its `user`.
//   - An offered beat is stable until taken, and a frame leaves without another one behind it.
//
// One symbolic byte, of a frame or of its tag, is tracked from the clock of `choose` on.
module vlan_insert_properties
    import macsec_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic [511:0] s_data,
    input logic [6:0] s_bytes,
    input logic s_last,
    input vlan_t s_vlan,
    input logic [1:0] s_user,
    input logic m_ready,
    input logic choose,
    input logic [6:0] lane  // of the tracked byte in its beat, where a frame's first beat has its tag
);
    logic s_ready, m_valid;
    logic [63:0] s_keep;
    beat_t m_beat;
    logic [1:0] m_user;

    always_comb for (int i = 0; i < 64; i = i + 1) s_keep[i] = 7'(i) < s_bytes;

    vlan_insert #(
        .USER(2)
    ) insert (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_beat({s_last, s_keep, s_data}),
        .s_vlan,
        .s_user,
        .m_valid,
        .m_ready,
        .m_beat,
        .m_user
    );

    logic begun = 1'b0;
    logic waiting = 1'b0;  // a beat was offered and not taken in the previous clock
    logic blocked = 1'b0;  // a beat was taken and none accepted in the previous clock
    logic [578:0] offered;
    logic take, give;
    logic under_way = 1'b0;  // a frame has begun, and its last beat has not come
    vlan_t frame_vlan;
    logic [1:0] frame_user;
    logic tags;  // the beat that comes gets the tag
    logic [543:0] in_data;  // with the tag
    logic [6:0] in_bytes;
    logic [6:0] out_bytes;
    logic [7:0] held = '0;  // bytes accepted and not yet output
    logic chosen = 1'b0;
    logic [7:0] ahead;  // held bytes that precede the tracked one
    logic [7:0] value;
    logic ends;  // the tracked byte is a frame's last one
    logic [1:0] user;

    assign take = s_valid && s_ready;
    assign give = m_valid && m_ready;
    assign tags = !under_way && s_vlan.present;
    assign in_data = tags ? {s_data[511:96], s_vlan.tag, s_data[95:0]} : {32'd0, s_data};
    assign in_bytes = s_bytes + (tags ? 7'd4 : 7'd0);
    always_comb begin
        out_bytes = '0;
        for (int i = 0; i < 64; i = i + 1) if (m_beat.keep[i]) out_bytes = 7'(i) + 7'd1;
    end

    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        waiting <= m_valid && !m_ready && !rst;
        blocked <= !s_ready && m_ready && !rst;
        offered <= {m_beat, m_user};
        if (rst) begin
            under_way <= 1'b0;
            held   <= '0;
            chosen <= 1'b0;
        end else begin
            if (take) begin
                under_way     <= !s_last;
                frame_vlan <= s_vlan;
                frame_user <= s_user;
            end
            held <= held + (take ? 8'(in_bytes) : 8'd0) - (give ? 8'(out_bytes) : 8'd0);
            if (chosen && give) begin
                if (ahead < 8'(out_bytes)) chosen <= 1'b0;
                else ahead <= ahead - 8'(out_bytes);
            end
            if (choose && take && !chosen) begin
                chosen <= 1'b1;
                ahead  <= held - (give ? 8'(out_bytes) : 8'd0) + 8'(lane);
                value  <= in_data[8*lane+:8];
                ends   <= s_last && lane + 7'd1 == in_bytes;
                user   <= s_user;
            end
        end
    end

    // Held bytes that are not in the output: those of a frame's last beat, or of a beat before it.
    logic follows;
    logic [7:0] in_output;
    logic [7:0] carried_bytes;
    logic [7:0] place;
    assign follows = chosen && m_valid && ahead < 8'(out_bytes);
    assign in_output = m_valid ? 8'(out_bytes) : 8'd0;
    assign carried_bytes = insert.rest ? 8'($countones(insert.rest_keep))
        : under_way && frame_vlan.present ? 8'd4 : 8'd0;
    assign place = ahead - in_output;

    always_comb begin
        if (!begun) assume (rst);
        // Environment assumptions. A frame with a tag has its addresses in the first beat.
        assume (s_bytes != '0 && s_bytes <= 7'd64);
        assume (s_bytes == 7'd64 || s_last);
        if (tags) assume (s_bytes >= 7'd12);
        if (under_way) assume (s_vlan == frame_vlan && s_user == frame_user);
        assume (lane < in_bytes);
        if (begun && !rst) begin
            if (waiting) assert (m_valid && {m_beat, m_user} == offered);
            // Progress: a frame whose last beat has come is output, and the next one waits for at most one clock.
            if (!under_way && held != '0) assert (m_valid);
            if (blocked && m_ready) assert (s_ready);
            if (m_valid) begin
                assert (m_beat.keep == '1 || m_beat.last);
                for (int i = 0; i < 64; i = i + 1) assert (m_beat.keep[i] == (7'(i) < out_bytes));
                assert (out_bytes != '0 && 8'(out_bytes) <= held);
            end
            if (follows) begin
                assert (m_beat.data[8*ahead[5:0]+:8] == value);
                assert (m_user == user);
                assert (ends == (m_beat.last && ahead + 8'd1 == 8'(out_bytes)));
            end
            // Inductive invariants: where the bytes are.
            assert (insert.first == !under_way);
            assert (held == in_output + carried_bytes);
            if (insert.rest) assert (!under_way && m_valid && !m_beat.last);
            if (insert.rest) begin
                assert (insert.rest_keep == 4'h1 || insert.rest_keep == 4'h3 || insert.rest_keep == 4'h7
                    || insert.rest_keep == 4'hf);
            end
            if (m_valid) assert (m_beat.last == (!under_way && !insert.rest));
            if (m_valid && under_way) assert (m_user == frame_user);
            if (chosen) assert (ahead < held);
            if (chosen && !follows) begin
                assert (insert.carried[8*place[1:0]+:8] == value);
                assert (ends == (insert.rest && place + 8'd1 == carried_bytes));
                assert ((insert.rest ? m_user : frame_user) == user);
            end
            // The borders: the tag makes a beat full, or leaves one byte or four for another beat.
            cover (follows && ends && frame_vlan.present && out_bytes == 7'd64);
            cover (follows && ends && frame_vlan.present && out_bytes == 7'd1);
            cover (follows && ends && frame_vlan.present && out_bytes == 7'd4 && waiting);
            cover (follows && !frame_vlan.present && under_way && ahead == 8'd63);
        end
    end

endmodule
