// Properties of ocb_nonce, by induction: which Ktop each packet gets.
//   - A packet gets the Ktop of the packet before it only if both have the same slot and the same nonce without its
//     low six bits, and the slot has got no new key since that Ktop was called for.
//   - Every other packet that is not illegal makes one call, with its own slot and nonce (RFC 7253 section 4.2), in
//     order.
//   - A call that is offered stays until it is taken.
//
// The decision is made when a packet leaves the stage that compares it; the queues behind it, which have proofs of
// their own, take answers and decisions in this order. ocb_nonce_properties covers the offsets.
module ocb_ktop_properties (
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic s_slot,
    input logic [95:0] s_nonce,
    input logic s_illegal,
    input logic forget,
    input logic forget_slot,
    input logic ask_ready,
    input logic answer_valid,
    input logic [127:0] answer_block,
    input logic offset_take
);
    logic s_ready, ask_valid, ask_slot, offset_valid;
    logic [127:0] ask_block, offset;

    ocb_nonce #(
        .SLOT_BITS(1),
        .PACKETS(2)
    ) nonce (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_slot,
        .s_nonce,
        .s_illegal,
        .forget,
        .forget_slot,
        .ask_valid,
        .ask_ready,
        .ask_slot,
        .ask_block,
        .answer_valid,
        .answer_block,
        .offset_valid,
        .offset_take,
        .offset
    );

    logic begun = 1'b0;
    logic waiting = 1'b0;  // a call was offered and not taken in the previous clock
    logic [128:0] waiting_call;
    logic announced;
    logic pushes, asked;
    logic compared = 1'b0;  // a packet is in the stage that compares it
    logic illegal;
    logic [95:0] nonce_there;
    logic slot_there;
    logic [90:0] there;
    logic has_ktop = 1'b0;  // the last call was made under its slot's current key
    logic [90:0] ktop_of;  // the slot and the nonce of the last call
    logic [1:0] owed = '0;  // calls that are not taken, the older one first
    logic [90:0] owed_0;
    logic [90:0] owed_1;

    assign announced = s_valid && s_ready;
    assign asked = ask_valid && ask_ready;
    assign there = {slot_there, nonce_there[95:6]};
    assign pushes = nonce.take && !nonce.again;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        waiting <= ask_valid && !ask_ready && !rst;
        waiting_call <= {ask_slot, ask_block};
        if (rst) begin
            compared <= 1'b0;
            has_ktop <= 1'b0;
            owed <= '0;
        end else begin
            if (s_ready) compared <= s_valid;
            if (announced) {illegal, slot_there, nonce_there} <= {s_illegal, s_slot, s_nonce};
            if (pushes) ktop_of <= there;
            if (forget && forget_slot == (pushes ? slot_there : ktop_of[90])) has_ktop <= 1'b0;
            else if (pushes) has_ktop <= 1'b1;
            owed <= owed + 2'(pushes) - 2'(asked);
            if (asked) owed_0 <= owed_1;
            if (pushes && owed == 2'(asked)) owed_0 <= there;
            else if (pushes) owed_1 <= there;
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Proved for the engines: no packet of a slot is in the engine when its key is written, and no command
            // for it is taken in that clock.
            if (forget) assume (!(announced && s_slot == forget_slot));
            if (forget && compared) assume (slot_there != forget_slot);

            if (nonce.take) assert (compared);
            if (nonce.take && nonce.again && !illegal) assert (has_ktop && there == ktop_of);
            if (pushes) assert (!illegal);
            assert (ask_valid == (owed != '0));
            if (ask_valid) assert ({ask_slot, ask_block} == {owed_0[90], 32'd1, owed_0[89:0], 6'd0});
            if (waiting) assert (ask_valid && {ask_slot, ask_block} == waiting_call);
            // Inductive invariants: the compared packet, and the calls.
            assert (nonce.packet_valid == compared);
            if (compared) assert (nonce.packet_illegal == illegal && nonce.packet_bottom == nonce_there[5:0]);
            if (compared && !illegal) assert (nonce.packet == there);
            if (nonce.known && !(compared && !illegal && nonce.differs != '0)) begin
                assert (has_ktop && nonce.packet == ktop_of);
            end
            assert (owed <= 2'd2 && nonce.second_valid == (owed == 2'd2));
            if (nonce.second_valid) assert (nonce.second == owed_1);
            cover (nonce.take && nonce.again && !illegal && nonce_there[5:0] == 6'd1);
            cover (pushes && !has_ktop && there == ktop_of);
            cover (owed == 2'd2 && waiting);
        end
    end
endmodule
