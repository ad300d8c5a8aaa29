// Puts an 802.1Q tag into frames, behind their addresses: what follows it moves by four bytes, and those that no longer fit
// into the last beat leave in one of their own.
//
//   s_vlan  with all beats of a frame: the tag to put in
//   s_user  travels with a frame's beats
module vlan_insert
    import macsec_pkg::*;
#(
    parameter int USER = 1
) (
    input logic clk,
    input logic rst,

    input  logic              s_valid,
    output logic              s_ready,
    input  beat_t             s_beat,
    input  vlan_t             s_vlan,
    input  logic [USER-1:0]   s_user,

    output logic              m_valid,
    input  logic              m_ready,
    output beat_t             m_beat,
    output logic [USER-1:0]   m_user
);

    logic first;
    logic [31:0] carried;  // the last four bytes of the beat before
    logic rest;  // they are a beat of their own
    logic [3:0] rest_keep;
    logic move;
    logic overflows;

    assign move = !m_valid || m_ready;
    assign s_ready = move && !rest;
    assign overflows = s_vlan.present && s_beat.last && s_beat.keep[60];

    always_ff @(posedge clk) begin
        if (rst) begin
            first <= 1'b1;
            rest <= 1'b0;
            m_valid <= 1'b0;
        end else if (move) begin
            m_valid <= s_valid || rest;
            rest <= !rest && s_valid && overflows;
            if (s_ready && s_valid) first <= s_beat.last;
        end
        if (s_ready && s_valid) begin
            carried   <= s_beat.data[511:480];
            rest_keep <= s_beat.keep[63:60];
            m_user    <= s_user;
        end
        if (move) begin
            if (rest) begin
                m_beat <= {1'b1, 60'd0, rest_keep, 480'd0, carried};
            end else begin
                m_beat <= s_beat;
                if (s_vlan.present) begin
                    m_beat.last <= s_beat.last && !overflows;
                    m_beat.keep <= {s_beat.keep[59:0], 4'hf};
                    if (first) m_beat.data <= {s_beat.data[479:96], s_vlan.tag, s_beat.data[95:0]};
                    else m_beat.data <= {s_beat.data[479:0], carried};
                end
            end
        end
    end

endmodule
