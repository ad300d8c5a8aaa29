// Properties of macsec_keys:
//   - No slot that is in use or has a frame in flight is overwritten.
//   - A key that is written was offered and not refused, and comes into use once.
//   - The use of a slot whose newest key was taken and never in use begins when it is set, unless the key is still
//     coming, or zeroization has come between.
//   - Zeroization (`zeroize`) ends all use at once, writes zeros to every slot, and waits until the engine is ready again
//     after the last of them, before it reports completion.
//
// One symbolic slot is tracked: `followed`.
module macsec_keys_properties (
    input logic clk,
    input logic rst,
    input logic s_key_tvalid,
    input logic [1:0] s_key_slot,
    input logic [127:0] s_key_key,
    input logic m_key_tready,
    input logic set,
    input logic [1:0] set_slot,
    input logic set_use,
    input logic zeroize,
    input logic began,
    input logic [1:0] began_slot,
    input logic ended,
    input logic [1:0] followed
);
    logic s_key_tready, m_key_tvalid, zeroizing, refused, begins, coming;
    logic [1:0] m_key_slot;
    logic [127:0] m_key_key;
    logic [3:0] in_use;

    macsec_keys #(
        .SLOT_BITS(2)
    ) keys (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .m_key_tvalid,
        .m_key_tready,
        .m_key_slot,
        .m_key_key,
        .set,
        .set_slot,
        .set_use,
        .begins,
        .coming,
        .in_use,
        .zeroize,
        .zeroizing,
        .began,
        .ended,
        .refused
    );

    localparam logic [2:0] SETTLE = 3'd1;
    localparam logic [2:0] SETTLED = 3'd2;
    localparam logic [2:0] WAIT = 3'd3;
    localparam logic [2:0] WRITE = 3'd4;
    localparam logic [2:0] DRAIN = 3'd5;

    logic begun = 1'b0;
    logic [1:0] followed_before;
    logic [7:0] flight = '0;  // frames in flight
    logic [7:0] behind = '0;  // of these, those up to the last of the tracked slot
    logic [127:0] offered;  // newest key of the tracked slot
    logic clean = 1'b0;  // zeros were written to the tracked slot since the last zeroization
    logic storing = 1'b0;  // the engine has taken a key, and was not ready since
    logic zeroized_before = 1'b0;
    logic zeroizing_before = 1'b0;
    logic [3:0] was_in_use = '0;
    logic [3:0] was_in_use_before = '0;
    logic had_use = 1'b0;  // its newest key has been in use
    logic fresh = 1'b0;  // it has a key that was taken, and neither in use nor zeroized since
    logic busy;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        followed_before <= followed;
        zeroized_before <= zeroize && !rst;
        zeroizing_before <= zeroizing && !rst;
        if (rst) begin
            flight <= '0;
            behind <= '0;
            clean  <= 1'b0;
            was_in_use <= '0;
            was_in_use_before <= '0;
            had_use <= 1'b0;
            fresh <= 1'b0;
            storing <= 1'b0;
        end else begin
            if (m_key_tready) storing <= m_key_tvalid;
            flight <= flight + 8'(began) - 8'(ended);
            if (began && began_slot == followed) behind <= flight + 8'd1 - 8'(ended);
            else if (ended && behind != '0) behind <= behind - 8'd1;
            if (s_key_tvalid && s_key_tready && !refused && s_key_slot == followed) fresh <= 1'b1;
            if (zeroize || (begins && set_slot == followed)) fresh <= 1'b0;
            was_in_use <= in_use;
            was_in_use_before <= was_in_use;
            if (in_use[followed]) had_use <= 1'b1;
            else if (m_key_tvalid && m_key_tready && m_key_slot == followed) had_use <= 1'b0;
            if (zeroize) clean <= 1'b0;
            else if (m_key_tvalid && m_key_tready && keys.overwriting && m_key_slot == followed)
                clean <= 1'b1;
        end
        if (s_key_tvalid && s_key_tready && !refused && s_key_slot == followed) offered <= s_key_key;
    end

    logic [2:0] state;
    assign state = keys.state;

    // The tracked slot is being written, or will be.
    assign busy = (state != 3'd0) && (keys.overwriting || m_key_slot == followed);

    always_comb begin
        if (!begun) assume (rst);
        if (begun) begin
            assume (followed == followed_before);
            // Environment assumptions: frames begin under slots in use, at most two clocks late, end only if
            // in flight, and are at most as many as the engine holds.
            assume (!began || ((in_use[began_slot] || was_in_use[began_slot] || was_in_use_before[began_slot])
                    && flight < 8'd100));
            assume (!ended || flight != '0);
        end
        if (begun && !rst) begin
            if (m_key_tvalid && m_key_slot == followed) assert (!in_use[followed] && behind == '0);
            if (m_key_tvalid && m_key_slot == followed && !keys.overwriting) assert (m_key_key == offered);
            if (in_use[followed] && !was_in_use[followed]) assert (!had_use);
            if (fresh && set && set_use && set_slot == followed) assert (begins || coming);
            if (zeroized_before) assert (in_use == '0);
            if (zeroizing_before && !zeroizing) assert (clean && !storing);
            if (s_key_tvalid && s_key_tready && in_use[s_key_slot]) assert (refused);
            // Inductive invariants: where the key is.
            assert (state <= DRAIN);
            if (state == DRAIN) assert (keys.overwriting && m_key_slot == '0 && (clean || keys.asked));
            assert (keys.in_flight == flight && behind <= flight && keys.ahead <= flight);
            assert (!in_use[followed] || !keys.keyed[followed]);
            if (keys.keyed[followed]) assert (!had_use);
            if (busy) assert (!keys.keyed[followed] && !in_use[followed] && behind <= keys.ahead);
            if (state == WRITE) assert (keys.ahead == '0);
            if (state != 3'd0) assert (keys.last_slot == (!keys.overwriting || m_key_slot == '1));
            if (keys.overwriting) begin
                assert (state != 3'd0);
                assert (keys.keyed == '0 && m_key_key == '0);
                if (state == SETTLE || state == SETTLED || state == WAIT) assert (m_key_slot == '0);
                if (m_key_slot > followed && !keys.asked) assert (clean);
            end
            if (state != 3'd0 && state != WRITE && !keys.overwriting && m_key_slot == followed) begin
                assert (m_key_key == offered);
            end
            if (fresh) assert (!keys.asked && !keys.overwriting);
            if (fresh) assert (keys.keyed[followed] || (state != 3'd0 && m_key_slot == followed));
            if (keys.asked) assert (in_use == '0 || state != 3'd0);
            cover (zeroizing_before && !zeroizing && flight == '0 && clean);
            cover (m_key_tvalid && m_key_slot == followed && flight != '0);
            cover (fresh && coming && set && set_use && set_slot == followed);
            cover (refused && behind != '0);
        end
    end

endmodule
