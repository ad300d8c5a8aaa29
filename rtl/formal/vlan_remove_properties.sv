// Properties of vlan_remove:
//   - Every byte of every frame is output once and in order, except for bytes 12 to 15 of a frame whose tag must be
//     removed. These are in m_vlan with all of its beats.
//   - Beats are full except for a frame's last one, which is the beat before if the tag's bytes leave nothing for
//     another one, and only then. A frame ends with its last byte, with the `bad` of its last beat.
//   - All beats of a frame have its `user`.
//   - An offered beat is stable until taken, and a frame leaves without another one behind it.
//
// One symbolic byte is tracked from the clock of `choose` on, in which it may leave already.
module vlan_remove_properties
    import macsec_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic [511:0] s_data,
    input logic [6:0] s_bytes,
    input logic s_last,
    input logic s_remove,
    input logic [1:0] s_user,
    input logic s_bad,
    input logic m_ready,
    input logic choose,
    input logic [5:0] lane  // of the tracked byte in its beat, without the tag
);
    logic s_ready, m_valid, m_bad;
    logic [63:0] s_keep;
    beat_t m_beat;
    vlan_t m_vlan;
    logic [1:0] m_user;

    always_comb for (int i = 0; i < 64; i = i + 1) s_keep[i] = 7'(i) < s_bytes;

    vlan_remove #(
        .USER(2)
    ) remove (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_beat({s_last, s_keep, s_data}),
        .s_remove,
        .s_user,
        .s_bad,
        .m_valid,
        .m_ready,
        .m_beat,
        .m_vlan,
        .m_user,
        .m_bad
    );

    logic begun = 1'b0;
    logic waiting = 1'b0;  // a beat was offered and not taken in the previous clock
    logic [612:0] offered;
    logic s_waiting = 1'b0;
    logic [523:0] s_offered;
    logic take, give;
    logic under_way = 1'b0;  // a frame has begun, and its last beat has not come
    vlan_t frame_vlan;  // of the frame whose beat came last
    logic [1:0] frame_user;
    logic untags;  // the tag is in the beat that comes
    vlan_t in_vlan;
    logic [511:0] in_data;  // without the tag
    logic [6:0] in_bytes;
    logic [6:0] out_bytes;
    logic [7:0] held = '0;  // bytes accepted and not yet output
    logic chosen = 1'b0;
    logic [7:0] ahead;  // held bytes that precede the tracked one
    logic [7:0] value;
    logic ends;  // the tracked byte is a frame's last one
    logic bad;
    logic [1:0] user;
    vlan_t vlan;

    assign take = s_valid && s_ready;
    assign give = m_valid && m_ready;
    assign untags = !under_way && s_remove;
    always_comb begin
        in_vlan = frame_vlan;
        if (!under_way) in_vlan = {s_remove, s_remove ? s_data[127:96] : 32'd0};
    end
    assign in_data = untags ? {32'd0, s_data[511:128], s_data[95:0]} : s_data;
    assign in_bytes = s_bytes - (untags ? 7'd4 : 7'd0);
    always_comb begin
        out_bytes = '0;
        for (int i = 0; i < 64; i = i + 1) if (m_beat.keep[i]) out_bytes = 7'(i) + 7'd1;
    end

    // The tracked byte in this clock, also if it only comes.
    logic follows;
    logic now_ends;
    logic now_bad;
    logic [7:0] now_ahead;
    logic [7:0] now_value;
    logic [1:0] now_user;
    vlan_t now_vlan;
    assign now_ahead = chosen ? ahead : held + 8'(lane);
    assign now_value = chosen ? value : in_data[8*lane+:8];
    assign now_ends = chosen ? ends : s_last && 7'(lane) + 7'd1 == in_bytes;
    assign now_bad = chosen ? bad : s_bad;
    assign now_user = chosen ? user : s_user;
    assign now_vlan = chosen ? vlan : in_vlan;
    assign follows = (chosen || (choose && take)) && m_valid && now_ahead < 8'(out_bytes);

    always_ff @(posedge clk) begin
        begun     <= 1'b1;
        waiting   <= m_valid && !m_ready && !rst;
        offered   <= {m_beat, m_vlan, m_user, m_bad};
        s_waiting <= s_valid && !s_ready && !rst;
        s_offered <= {s_data, s_bytes, s_last, s_remove, s_user, s_bad};
        if (rst) begin
            under_way <= 1'b0;
            held   <= '0;
            chosen <= 1'b0;
        end else begin
            if (take) begin
                under_way     <= !s_last;
                frame_vlan <= in_vlan;
                frame_user <= s_user;
            end
            held <= held + (take ? 8'(in_bytes) : 8'd0) - (give ? 8'(out_bytes) : 8'd0);
            if (chosen || (choose && take)) begin
                chosen <= !(follows && give);
                ahead  <= now_ahead - (give ? 8'(out_bytes) : 8'd0);
                value  <= now_value;
                ends   <= now_ends;
                bad    <= now_bad;
                user   <= now_user;
                vlan   <= now_vlan;
            end
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        // Environment assumptions. A tag is removed only if it does not end the frame's first beat.
        assume (s_bytes != '0 && s_bytes <= 7'd64);
        assume (s_bytes == 7'd64 || s_last);
        if (untags) assume (s_bytes > 7'd16);
        if (under_way) assume (s_user == frame_user);
        if (s_waiting) assume (s_valid && {s_data, s_bytes, s_last, s_remove, s_user, s_bad} == s_offered);
        assume (7'(lane) < in_bytes);
        if (begun && !rst) begin
            if (waiting) assert (m_valid && {m_beat, m_vlan, m_user, m_bad} == offered);
            // Progress: a frame whose last beat has come is output, and nothing but the output blocks the input.
            if (!under_way && held != '0) assert (m_valid);
            if (m_ready) assert (s_ready);
            if (m_valid) begin
                assert (m_beat.keep == '1 || m_beat.last);
                for (int i = 0; i < 64; i = i + 1) assert (m_beat.keep[i] == (7'(i) < out_bytes));
                assert (out_bytes != '0 && 8'(out_bytes) <= held + (s_valid ? 8'(in_bytes) : 8'd0));
            end
            if (follows) begin
                assert (m_beat.data[8*now_ahead[5:0]+:8] == now_value);
                assert (m_user == now_user);
                assert (m_vlan.present == now_vlan.present);
                if (m_vlan.present) assert (m_vlan.tag == now_vlan.tag);
                assert (now_ends == (m_beat.last && now_ahead + 8'd1 == 8'(out_bytes)));
                if (now_ends) assert (m_bad == now_bad);
            end
            // Inductive invariants: where the bytes are.
            assert (remove.first == !under_way);
            assert (held <= 8'd64 && remove.held_valid == (held != '0));
            if (held != '0) begin
                for (int i = 0; i < 64; i = i + 1) assert (remove.held.keep[i] == (8'(i) < held));
                assert (remove.held.last == !under_way);
                assert (m_user == frame_user);
            end
            if (under_way && frame_vlan.present) assert (held == 8'd60);
            if (under_way && !frame_vlan.present) assert (held == '0 || held == 8'd64);
            if (under_way || held != '0) begin
                assert (m_vlan.present == frame_vlan.present);
                if (frame_vlan.present) assert (m_vlan.tag == frame_vlan.tag);
            end
            if (chosen) begin
                assert (ahead < held);
                assert (remove.held.data[8*ahead[5:0]+:8] == value);
                assert (ends == (!under_way && ahead + 8'd1 == held));
                if (ends) assert (remove.held_bad == bad);
                assert (user == frame_user && vlan == frame_vlan);
            end
            // The borders: a last beat of four bytes ends with the one before, one of five bytes leaves a byte.
            cover (follows && now_ends && m_vlan.present && out_bytes == 7'd64 && !chosen);
            cover (follows && now_ends && m_vlan.present && out_bytes == 7'd61);
            cover (follows && now_ends && m_vlan.present && out_bytes == 7'd1);
            cover (follows && now_ends && m_vlan.present && out_bytes == 7'd13 && waiting);
            cover (follows && !m_vlan.present && under_way && now_ahead == 8'd63);
        end
    end

endmodule
