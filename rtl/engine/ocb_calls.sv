// Calls of the block cipher beside the beats, one a clock, into the places that no beat needs: first a slot's constant, which
// is rare, then Ktop, without which no packet goes on, then a packet's tag.
//
//   SHARED     1: the core is one that beats need too
//   TAGS_HOLD  0: beats are not held for a tag's call before it has waited eight clocks. For an engine that opens, which asks
//              behind the cipher: what is held back for its calls would not have come before a whole latency is over
//   uses       a beat needs the core: bit 0 the one that is given in this clock, bit i the one of stage i - 1; a call
//              takes the place of stage 2
//   make, ktop_valid, finish_valid    a call is wanted, until its *_ack
//   call       the call that enters in this clock, one bit for each kind: CONSTANT, KTOP, FINISH; call_block: its block.
//              call_slot: its slot, a clock before
//   hold       no new beat may be given in this clock: in the clock before more calls waited than places were free on the
//              way here
module ocb_calls #(
    parameter int SHARED = 0,
    parameter int TAGS_HOLD = 1,
    parameter int SLOT_BITS = 4,
    parameter int PACKETS = 64
) (
    input logic clk,
    input logic rst,

    input logic [3:0] uses,

    input  logic                     make,
    input  logic [    SLOT_BITS-1:0] make_slot,
    output logic                     make_ack,
    input  logic                     ktop_valid,
    input  logic [    SLOT_BITS-1:0] ktop_slot,
    input  logic [            127:0] ktop_block,
    output logic                     ktop_ack,
    input  logic                     finish_valid,
    input  logic [    SLOT_BITS-1:0] finish_slot,
    input  logic [            127:0] finish_block,
    input  logic [$clog2(PACKETS):0] finish_stored,  // how many wait
    output logic                     finish_ack,

    output logic [          2:0] call,
    output logic [SLOT_BITS-1:0] call_slot,
    output logic [        127:0] call_block,
    output logic                 hold
);

    assign make_ack = make && !uses[3];
    assign ktop_ack = ktop_valid && !make && !uses[3];
    assign finish_ack = finish_valid && !make && !ktop_valid && !uses[3];
    assign call_slot = make ? make_slot : ktop_valid ? ktop_slot : finish_slot;

    always_ff @(posedge clk) begin
        call_block <= make ? '0 : ktop_valid ? ktop_block : finish_block;
        if (rst) call <= '0;
        else call <= {finish_ack, ktop_ack, make_ack};
    end

`ifndef SYNTHESIS
    // Before the first reset, registers are arbitrary.
    logic was_reset;
    initial was_reset = 1'b0;
    always @(posedge clk) begin
        if (rst) was_reset <= 1'b1;
        if ((call & (call - 3'd1)) != '0 && was_reset && !rst)
            assert (1'b0)
            else $fatal(1, "%m: two calls in one clock");
    end
`endif

    if (SHARED == 1) begin : g_hold
        logic many;  // more tags' calls than places there can be
        logic [3:0] waited;  // clocks that the first of them did not enter in, up to eight
        logic [2:0] few;  // or as many as these
        logic [2:0] left;  // places that the other calls leave to these, and two
        always_comb begin
            many = TAGS_HOLD == 1 && finish_stored[$clog2(PACKETS):3] != '0;
            few = TAGS_HOLD == 1 ? finish_stored[2:0] : {2'b00, waited[3]};
            left = {2'b0, !uses[1]} + {2'b0, !uses[2]} + {2'b0, !uses[3]} + {2'b0, !make}
                + {2'b0, !ktop_valid};
        end
        always_ff @(posedge clk) begin
            if (rst || finish_ack) waited <= '0;
            else if (finish_valid && !waited[3]) waited <= waited + 4'd1;
        end
        // Of the beat that is given in this clock it is known last whether it needs the core.
        always_ff @(posedge clk) begin
            if (rst) hold <= 1'b0;
            else begin
                hold <= many || (uses[0] ? {1'b0, few} + 4'd2 > {1'b0, left}
                    : {1'b0, few} + 4'd1 > {1'b0, left});
            end
        end
    end else begin : g_no_hold
        logic unused;
        assign unused = ^{uses[2:0], finish_stored};
        assign hold = 1'b0;
    end

endmodule
