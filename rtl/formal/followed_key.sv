// Slot of the key in the pipes after a mode's issue stage, derived from what enters: with one static key
// (KEYS = 0) and with a key wavefront (1). A key comes no earlier than the pipes allow, and the issue stage's
// record agrees.
module followed_key #(
    parameter int KEYS = 1,
    parameter int PIPE = 11,
    parameter int WAVE = 9
) (
    input logic clk,
    input logic rst,
    input logic begun,
    input logic enter,
    input logic load,  // a new key, together with the entry
    input logic [3:0] slot,
    input logic forget,
    input logic [3:0] forget_slot,
    output logic known,  // as of before this clock
    output logic [3:0] owner,
    output logic [5:0] since_enter,
    output logic [5:0] since_load,
    // The issue stage's record: pipe_key, and the clocks it counts.
    input logic held,
    input logic [3:0] held_slot,
    input logic may_load,
    input logic [5:0] left,
    input logic loading
);
    initial begin
        known = 1'b0;
        since_enter = '1;
        since_load = '1;
    end

    always_ff @(posedge clk) begin
        if (load) owner <= slot;
        if (rst) begin
            known <= 1'b0;
            since_enter <= '1;
            since_load <= '1;
        end else begin
            if (load) known <= 1'b1;
            else if (forget && forget_slot == owner) known <= 1'b0;
            since_enter <= enter ? 6'd1 : since_enter == '1 ? '1 : since_enter + 1'b1;
            since_load <= load ? 6'd1 : since_load == '1 ? '1 : since_load + 1'b1;
        end
    end

    logic [5:0] stays;  // remaining clocks of the minimum distance
    always_comb begin
        stays = '0;
        if (KEYS == 0 && since_enter < PIPE) stays = 6'(PIPE) - since_enter;
        if (KEYS == 1 && since_load < WAVE - 1) stays = 6'(WAVE - 1) - since_load;
        if (load) stays = KEYS == 0 ? 6'(PIPE - 1) : 6'(WAVE - 1);
    end

    always_comb begin
        if (begun && !rst && KEYS != 2) begin
            if (load) assert (enter && since_load > WAVE);
            assert (since_load != '0 && since_enter != '0 && since_enter <= since_load);
            assert (may_load == (stays == '0));
            if (!may_load) assert (left == stays);
            assert (held == (load || known));
            if (load || known) assert (held_slot == (load ? slot : owner));
        end
        if (begun && !rst && KEYS == 0) begin
            if (load) assert (since_enter > PIPE);
            if (enter && !load) assert (since_load > PIPE);
            assert (loading == (load || since_load <= PIPE));
            if (since_load <= PIPE) assert (since_enter == since_load);
        end
    end
endmodule
