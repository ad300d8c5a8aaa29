// Takes an 802.1Q tag out of frames, from behind their addresses: what follows it moves by four bytes, and a last beat of
// four bytes or fewer comes to an end with the beat before.
//
//   s_remove  with a frame's first beat, which has more than 16 bytes then: it has a tag to take out
//   s_user    travels with a frame's beats
//   s_bad     with a frame's last beat
//   m_vlan    with all of its beats: what was taken out
module vlan_remove
    import macsec_pkg::*;
#(
    parameter int USER = 1
) (
    input logic clk,
    input logic rst,

    input  logic              s_valid,
    output logic              s_ready,
    input  beat_t             s_beat,
    input  logic              s_remove,
    input  logic [USER-1:0]   s_user,
    input  logic              s_bad,

    output logic              m_valid,
    input  logic              m_ready,
    output beat_t             m_beat,
    output vlan_t             m_vlan,
    output logic [USER-1:0]   m_user,
    output logic              m_bad
);

    logic first;  // the next beat that is taken is a frame's first
    logic held_valid;
    beat_t held;  // without the tag: 60 bytes then
    logic held_bad;
    logic ends;  // the beat that comes has four bytes at most, and is the last
    logic removes;  // of the frame whose beat comes

    assign removes = first ? s_remove : m_vlan.present;
    assign ends = m_vlan.present && !held.last && s_beat.last && !s_beat.keep[4];
    assign s_ready = !held_valid || m_ready;
    assign m_valid = held_valid && (held.last || !m_vlan.present || s_valid);
    assign m_bad = ends ? s_bad : held_bad;

    always_comb begin
        m_beat = held;
        if (m_vlan.present && !held.last) begin
            m_beat.keep[63:60]   = s_beat.keep[3:0];
            m_beat.data[511:480] = s_beat.data[31:0];
            m_beat.last = ends;
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            first <= 1'b1;
            held_valid <= 1'b0;
            m_vlan.present <= 1'b0;
        end else if (s_ready) begin
            // A beat with a tag taken out waits for the next one.
            if (s_valid || m_valid) held_valid <= s_valid && !(held_valid && ends);
            if (s_valid) first <= s_beat.last;
            if (s_valid && first) m_vlan.present <= s_remove;
        end
        if (s_ready && s_valid && first) m_vlan.tag <= s_beat.data[127:96];
        if (s_ready && s_valid) begin
            held <= s_beat;
            m_user <= s_user;
            held_bad <= s_bad;
            if (removes) begin
                held.keep <= s_beat.keep >> 4;
                held.data <= s_beat.data >> 32;
                if (first) held.data[95:0] <= s_beat.data[95:0];
            end
        end
    end

endmodule
