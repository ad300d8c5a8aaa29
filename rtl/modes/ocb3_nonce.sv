// Computes Offset_0 from a nonce (RFC 7253, section 4.2). The cipher output Ktop is cached for each slot: a packet
// whose nonce differs from that of the slot's latest Ktop only in the last six bits needs no call. The call for the
// next packet is made while the preceding packet is in progress.
//
//   coming, coming_*  a command will be presented from the next clock on: its slot, and its nonce without the last
//                     six bits
//   command_*         the presented command: its slot and its 12-byte nonce (byte 0 highest)
//   known             its Ktop is cached or was requested, so the command may be accepted when `free`; registered
//   take              the command is accepted
//   free              the latest accepted packet has its Offset_0; registered
//   call, called      requests the encryption of call_block under command_slot's key; the pipe accepts the call
//   answer_valid      the result of the call, once per call
//   start_valid       `start` is Offset_0 of the oldest accepted packet that has not used it; registered
//   start_used        the packet uses it
//   forget            forget_slot gets another key, so its Ktop becomes invalid
//
// Latency: a command presented and accepted in clock t has start_valid in t+2 if it needs no call; with a call made
// in t and answered in t+A, in t+A+2.
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

    // `ktop` is valid for nonces that begin with `top`. `kept`: slots with a Ktop that is cached or being computed.
    logic [89:0] top;
    logic [127:0] ktop;
    logic [SLOTS-1:0] kept;
    logic [15:0] all_kept;
    logic pending;  // a Ktop is being computed
    logic [3:0] pending_slot;

    logic awaiting;  // the latest accepted packet has no Offset_0 yet
    logic [3:0] slot;
    logic [5:0] bottom;
    logic capture;
    logic [127:0] offset;

    assign all_kept = 16'(kept);
    assign capture = awaiting && !pending && (!start_valid || start_used);
    assign free = !awaiting;
    // A Ktop may change only while no packet waits for it.
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
