// From a nonce to Offset_0 (RFC 7253 section 4.2). The cipher's answer Ktop is kept for each slot: a packet
// whose nonce differs in the last six bits only from that of the slot's last packet needs no call. The call
// for the next packet is made while the one before is under way.
//
//   coming_*        a command will be presented from the next clock on: its slot, and its nonce but the last six bits
//   command_valid   a command is presented: its slot and its 12-byte nonce (byte 0 highest)
//   known           its Ktop was asked for; the command may be taken when `free` (from a register)
//   take            the command is taken
//   free            the packet taken last has its Offset_0 (from a register)
//   call            the cipher shall encrypt call_block under command_slot's key; `called` when it does
//   answer_valid    its answer comes, once for each call
//   start_valid     Offset_0 of the oldest packet that was taken and did not use it yet
//   start_used      the packet uses it
//   forget          the key of forget_slot changes
//
// Latency: a command presented in clock t that needs no call, and is taken in t, has start_valid in t+2; with
// a call that is made in t and answered in t+A, in t+A+2.
module ocb3_nonce #(
    parameter int SLOTS = 16
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         coming,
    input  logic [  3:0] coming_slot,
    input  logic [ 89:0] coming_top,
    input  logic         command_valid,
    input  logic [  3:0] command_slot,
    input  logic [ 95:0] command_nonce,
    output logic         known,
    input  logic         take,
    output logic         free,
    output logic         call,
    output logic [127:0] call_block,
    input  logic         called,
    input  logic         answer_valid,
    input  logic [127:0] answer,
    output logic         start_valid,
    output logic [127:0] start,
    input  logic         start_used,
    input  logic         forget,
    input  logic [  3:0] forget_slot
);

    // Ktop of each slot and the part of the nonces that it is for; `kept` when it is there, or on its way.
    logic [89:0] top;
    logic [127:0] ktop;
    logic [SLOTS-1:0] kept;
    logic [15:0] all_kept;
    logic pending;  // one is on its way
    logic [3:0] pending_slot;

    logic awaiting;  // the packet taken last has no Offset_0 yet
    logic [3:0] slot;
    logic [5:0] bottom;
    logic capture;
    logic [127:0] offset;

    assign all_kept = 16'(kept);
    assign capture = awaiting && !pending && (!start_valid || start_used);
    assign free = !awaiting;
    // A Ktop may change only when nobody waits for it.
    assign call = command_valid && !known && !pending && !awaiting;
    assign call_block = {32'd1, command_nonce[95:6], 6'd0};

    slot_words #(
        .SLOTS(SLOTS),
        .WIDTH(90)
    ) tops (
        .clk,
        .write(called),
        .write_slot(command_slot),
        .in(command_nonce[95:6]),
        .read_slot(coming_slot),
        .out(top)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) ktops (
        .clk,
        .write(answer_valid),
        .write_slot(pending_slot),
        .in(answer),
        .read_slot(slot),
        .out(ktop)
    );

    ocb3_stretch stretch (
        .ktop,
        .bottom,
        .offset
    );

    always_ff @(posedge clk) begin
        if (called) pending_slot <= command_slot;
        if (take) slot <= command_slot;
        if (take) bottom <= command_nonce[5:0];
        if (capture) start <= offset;

        if (rst) begin
            known <= 1'b0;
            kept <= '0;
            pending <= 1'b0;
            awaiting <= 1'b0;
            start_valid <= 1'b0;
        end else begin
            if (coming) known <= all_kept[coming_slot] && top == coming_top;
            if (forget && forget_slot == (coming ? coming_slot : command_slot)) known <= 1'b0;
            if (called) known <= 1'b1;
            kept <= (kept & ~(forget ? SLOTS'(16'd1 << forget_slot) : '0))
                | (called ? SLOTS'(16'd1 << command_slot) : '0);
            if (called) pending <= 1'b1;
            else if (answer_valid) pending <= 1'b0;
            if (take) awaiting <= 1'b1;
            else if (capture) awaiting <= 1'b0;
            start_valid <= capture || (start_valid && !start_used);
        end
    end

endmodule
