// Properties of ocb_nonce, for every sequence of a bounded number of clocks from a reset:
//   - Each announced packet gets one offset, in order: the one that RFC 7253 makes of its nonce's low six bits and of
//     Ktop, the answer to a call for the rest of its nonce under the key of its slot. The bound is too
//     low for a second key of a slot to reach an offset; ocb_ktop_properties and the tests in simulation cover that.
//   - A call that is offered stays until it is taken.
//
// Tracked are one symbolic slot and top of a nonce, `slot` and `top`: `key` selects the cipher's answer to a call for them
// under the slot's current key, and may change with each key. Every answer is one of two constants, ANSWERS, and an
// answer to any other call is either. Each packet with this slot and top is followed from its announcement, if `choose`,
// to its offset. Nonces differ in their last byte only: the low six bits, and two of the top.
module ocb_nonce_properties (
    input logic clk,
    input logic rst,
    input logic s_valid,
    input logic s_slot,
    input logic [7:0] nonce_end,
    input logic s_illegal,
    input logic forget,
    input logic forget_slot,
    input logic ask_ready,
    input logic answer_valid,
    input logic answer,
    input logic offset_take,
    input logic slot,
    input logic [1:0] top,
    input logic key,
    input logic choose
);
    localparam int PACKETS = 2;
    localparam logic [255:0] ANSWERS = {
        128'h3925841d02dc09fbdc118597196a0b32, 128'h69c4e0d86a7b0430d8cdb78070b4c55a
    };

    logic s_ready, ask_valid, ask_slot, offset_valid;
    logic [127:0] ask_block, offset;

    ocb_nonce #(
        .SLOT_BITS(1),
        .PACKETS(PACKETS)
    ) nonce (
        .clk,
        .rst,
        .s_valid,
        .s_ready,
        .s_slot,
        .s_nonce({88'd0, nonce_end}),
        .s_illegal,
        .forget,
        .forget_slot,
        .ask_valid,
        .ask_ready,
        .ask_slot,
        .ask_block,
        .answer_valid,
        .answer_block(ANSWERS[128*answer+:128]),
        .offset_valid,
        .offset_take,
        .offset
    );

    logic begun = 1'b0;
    logic announced;
    logic announced_of_slot;
    logic takes;
    logic [3:0] held = '0;  // packets announced whose offsets have not left
    logic [3:0] held_of_slot = '0;  // of these, packets that use the tracked slot
    logic [7:0] of_slot = '0;  // which of them do, the oldest lowest
    logic [3:0] under_way = '0;  // calls that are not answered
    logic [7:0] for_top = '0;  // which of them are for the tracked slot and top, the oldest lowest
    logic chosen = 1'b0;
    logic [3:0] ahead;  // packets whose offsets leave before the chosen one's
    logic [5:0] bottom;
    logic slot_before;
    logic [1:0] top_before;
    logic key_before;
    logic forgets_before = 1'b0;
    logic waiting = 1'b0;  // a call was offered and not taken in the clock before
    logic [128:0] waiting_call;
    logic asked;
    logic asked_for_top;
    logic [127:0] ktop;
    logic [191:0] stretch;
    logic [191:0] shifted;

    assign announced = s_valid && s_ready;
    assign takes = offset_valid && offset_take;
    assign announced_of_slot = announced && !s_illegal && s_slot == slot;
    assign asked = ask_valid && ask_ready;
    assign asked_for_top = ask_slot == slot && ask_block == {32'd1, 88'd0, top, 6'd0};
    assign ktop = ANSWERS[128*key+:128];
    assign stretch = {ktop, ktop[127:64] ^ ktop[119:56]};
    assign shifted = stretch << bottom;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        slot_before <= slot;
        top_before <= top;
        key_before <= key;
        forgets_before <= forget && forget_slot == slot && !rst;
        waiting <= ask_valid && !ask_ready && !rst;
        waiting_call <= {ask_slot, ask_block};
        if (rst) begin
            held <= '0;
            held_of_slot <= '0;
            under_way <= '0;
            chosen <= 1'b0;
        end else begin
            held <= held + 4'(announced) - 4'(takes);
            held_of_slot <= held_of_slot + 4'(announced_of_slot) - 4'(takes && of_slot[0]);
            if (takes) of_slot <= of_slot >> 1;
            if (announced) of_slot[3'(held-4'(takes))] <= announced_of_slot;
            under_way <= under_way + 4'(asked) - 4'(answer_valid);
            if (answer_valid) for_top <= for_top >> 1;
            if (asked) for_top[3'(under_way-4'(answer_valid))] <= asked_for_top;
            if (chosen && takes) begin
                ahead <= ahead - 4'd1;
                if (ahead == '0) chosen <= 1'b0;
            end
            if (announced_of_slot && choose && !chosen && nonce_end[7:6] == top) begin
                chosen <= 1'b1;
                ahead  <= held - 4'(takes);
                bottom <= nonce_end[5:0];
            end
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun) assume (slot == slot_before && top == top_before);
        if (begun && !forgets_before) assume (key == key_before);
        if (begun && !rst) begin
            // Environment assumptions: the answers are the cipher's, in order. Proved for the engines: no packet of a
            // slot is in the engine when its key is written, and no command for it is taken in that clock.
            assume (!answer_valid || under_way != '0);
            if (answer_valid && for_top[0]) assume (answer == key);
            if (forget && forget_slot == slot) assume (held_of_slot == '0 && !(s_valid && s_slot == slot));
            assume (!offset_take || offset_valid);
            assume (held < 4'd8);

            assert (!offset_valid || held != '0);
            if (chosen && ahead == '0 && offset_valid) assert (offset == shifted[191:64]);
            if (waiting) assert (ask_valid && {ask_slot, ask_block} == waiting_call);
            assert (under_way <= PACKETS);
            cover (chosen && ahead == 4'd2 && offset_valid);
            cover (chosen && ahead == '0 && offset_valid && under_way == '0 && held == 4'd2);
        end
    end
endmodule
