// Properties of packet_release: either all beats of a packet leave, unchanged, once and in order, or none.
// None leaves of a packet that is marked bad or did not fit, and none before the packet's last beat has
// arrived. An offered output is stable until taken.
//
// One symbolic beat is tracked, from `choose` on, with the number of beats ahead of it.
module packet_release_properties (
    input logic clk,
    input logic rst,
    input logic s_axis_tvalid,
    input logic [7:0] s_axis_tdata,
    input logic s_axis_tkeep,
    input logic s_axis_tlast,
    input logic s_axis_tuser,
    input logic m_axis_tready,
    input logic choose
);
    localparam int DEPTH = 4;

    logic s_axis_tready, m_axis_tvalid, m_axis_tkeep, m_axis_tlast, too_long;
    logic [7:0] m_axis_tdata;

    packet_release #(
        .BYTES(1),
        .DEPTH(DEPTH)
    ) release_stage (
        .clk,
        .rst,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .too_long
    );

    logic begun = 1'b0;
    logic waiting = 1'b0;  // a beat was offered and not taken in the previous clock
    logic [9:0] offered;
    logic [9:0] in, out;
    logic push, pop;

    // Model: beats that may leave, beats of the incoming packet, and whether that is too long.
    logic [3:0] released = '0;
    logic [2:0] coming = '0;
    logic spilt = 1'b0;
    logic full_once;

    // The tracked beat: beats ahead of it, and whether its packet is still incoming.
    logic chosen = 1'b0;
    logic pending;
    logic [9:0] value;
    logic [3:0] ahead;

    assign in = {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
    assign out = {m_axis_tlast, m_axis_tkeep, m_axis_tdata};
    assign push = s_axis_tvalid && s_axis_tready;
    assign pop = m_axis_tvalid && m_axis_tready;
    assign full_once = coming == DEPTH;

    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        waiting <= m_axis_tvalid && !m_axis_tready && !rst;
        offered <= out;
        if (rst) begin
            released <= '0;
            coming   <= '0;
            spilt    <= 1'b0;
            chosen   <= 1'b0;
        end else begin
            released <= released - 4'(pop);
            if (pop) ahead <= ahead - 1'b1;
            if (chosen && !pending && pop && ahead == '0) chosen <= 1'b0;
            if (full_once) begin
                // The packet does not fit: all of it is dropped.
                coming <= '0;
                spilt  <= 1'b1;
                if (pending) chosen <= 1'b0;
            end else if (push) begin
                if (!spilt) coming <= coming + 1'b1;
                if (choose && !chosen && !spilt) begin
                    chosen  <= 1'b1;
                    pending <= !s_axis_tlast;
                    value   <= in;
                    ahead   <= released - 4'(pop) + 4'(coming);
                end
                if (s_axis_tlast) begin
                    coming <= '0;
                    spilt  <= 1'b0;
                    if (!spilt && !s_axis_tuser) begin
                        released <= released - 4'(pop) + 4'(coming) + 1'b1;
                        pending  <= 1'b0;
                    end else if (pending || (choose && !chosen)) begin
                        chosen <= 1'b0;
                    end
                end
            end
        end
    end

    // too_long is high once per packet, in the clock after detection.
    logic spilt_before = 1'b0;
    always_ff @(posedge clk) spilt_before <= full_once && !rst;

    logic [2:0] stored;
    logic [2:0] in_memory;  // released beats
    logic [2:0] place;
    assign stored = release_stage.write_at - release_stage.read_at;
    assign in_memory = release_stage.release_at - release_stage.read_at;
    assign place = release_stage.read_at + 3'(ahead) - 3'(m_axis_tvalid);

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            if (waiting) assert (m_axis_tvalid && out == offered);
            if (m_axis_tvalid) assert (released != '0);
            if (chosen && !pending && ahead == '0 && m_axis_tvalid) assert (out == value);
            if (chosen && !pending) assert (ahead < released);
            if (chosen && pending) assert (ahead >= released && ahead < released + 4'(coming));
            // Progress: neither a receiver that is always ready nor the sender gets stuck.
            if (!s_axis_tready && !full_once) assert (released != '0);
            assert (too_long == (release_stage.dropping && spilt_before));
            // Inductive invariants: where the beats are.
            assert (release_stage.dropping == spilt);
            assert (!spilt || (coming == '0 && in_memory == '0));
            assert (stored <= DEPTH && coming <= DEPTH && in_memory <= DEPTH);
            assert (stored == in_memory + coming);
            assert (released == 4'(in_memory) + 4'(m_axis_tvalid));
            if (chosen && !(ahead == '0 && m_axis_tvalid))
                assert (release_stage.ram.memory[place[1:0]] == value);
            cover (chosen && !pending && ahead == 4'd2);
            cover (too_long);
            cover (pop && spilt);
        end
    end

endmodule
