// Properties of ocb_calls, with a pipeline of beats that respects `hold`, two requesters with one call at a
// time, and the FIFO of the tags' calls:
//   - Two calls never coincide. Every requested call enters once, with its own block, and no other call
//     enters.
//   - No call is overtaken by one of lower priority.
//   - While calls wait for which beats are held, one enters within four clocks. Without TAGS_HOLD a tag's
//     call is one of these after waiting eight clocks.
//   - Beats are held only if, in the previous clock, more of these calls waited than entries were free in the
//     pipeline.
module ocb_calls_properties (
    input logic clk,
    input logic rst,
    input logic [1:0] beat,
    input logic [1:0] make,
    input logic [1:0] [1:0] make_slot,
    input logic [1:0] ktop_valid,
    input logic [1:0] [1:0] ktop_slot,
    input logic [1:0] [127:0] ktop_block,
    input logic [1:0] finish_ask,
    input logic [1:0] [1:0] ask_slot,
    input logic [1:0] [127:0] ask_block
);
    for (genvar i = 0; i < 2; i = i + 1) begin : g_calls
        ocb_calls_checks #(
            .TAGS_HOLD(i)
        ) checks (
            .clk,
            .rst,
            .beat(beat[i]),
            .make(make[i]),
            .make_slot(make_slot[i]),
            .ktop_valid(ktop_valid[i]),
            .ktop_slot(ktop_slot[i]),
            .ktop_block(ktop_block[i]),
            .finish_ask(finish_ask[i]),
            .ask_slot(ask_slot[i]),
            .ask_block(ask_block[i])
        );
    end
endmodule

module ocb_calls_checks #(
    parameter int TAGS_HOLD = 1
) (
    input logic clk,
    input logic rst,
    input logic beat,
    input logic make,
    input logic [1:0] make_slot,
    input logic ktop_valid,
    input logic [1:0] ktop_slot,
    input logic [127:0] ktop_block,
    input logic finish_ask,
    input logic [1:0] ask_slot,
    input logic [127:0] ask_block
);
    localparam int DEPTH = 8;

    logic make_ack, ktop_ack, finish_valid, finish_ack, hold;
    logic [1:0] finish_slot, call_slot;
    logic [127:0] finish_block, call_block;
    logic [3:0] finish_stored;
    logic [2:0] call;
    logic [3:1] uses = '0;
    logic given;  // a beat in this clock
    assign given = beat && !hold;

    ocb_calls #(
        .SHARED(1),
        .TAGS_HOLD(TAGS_HOLD),
        .SLOT_BITS(2),
        .PACKETS(DEPTH)
    ) calls (
        .clk,
        .rst,
        .uses({uses, given}),
        .make,
        .make_slot,
        .make_ack,
        .ktop_valid,
        .ktop_slot,
        .ktop_block,
        .ktop_ack,
        .finish_valid,
        .finish_slot,
        .finish_block,
        .finish_stored,
        .finish_ack,
        .call,
        .call_slot,
        .call_block,
        .hold
    );

    ram_fifo #(
        .WIDTH(130),
        .DEPTH(DEPTH)
    ) finish_calls (
        .clk,
        .rst,
        .s_valid(finish_ask),
        .s_data({ask_slot, ask_block}),
        .m_valid(finish_valid),
        .m_ready(finish_ack),
        .m_data({finish_slot, finish_block}),
        .popped(),
        .stored(finish_stored)
    );

    // ---- Values of the previous clock.

    logic begun = 1'b0;
    logic was_make = 1'b0, was_ktop = 1'b0, was_finish = 1'b0;  // requested and not granted
    logic [3:0] waited = '0;  // clocks that a tag's call has waited, up to eight
    logic hasty;  // calls wait for which beats are held
    logic none_entered = 1'b0;  // although there were such calls
    logic [1:0] make_before;
    logic [129:0] ktop_before, finish_before;
    logic [2:0] acks_before;
    logic [127:0] block_before;
    logic entered_before = 1'b0;  // `call` of this clock is that of the previous clock
    logic [2:0] distance, distance_before;  // to the next entry that no beat uses
    logic too_many = 1'b0;  // more calls than entries in the pipeline, in the previous clock
    logic [3:0] places;
    logic [3:0] waiting;
    logic [3:0] in_memory;
    assign in_memory = finish_calls.write_at - finish_calls.read_at;
    assign hasty = make || ktop_valid || (TAGS_HOLD == 1 ? finish_valid : waited == 4'd8);
    assign waiting = (TAGS_HOLD == 1 ? finish_stored : 4'(waited == 4'd8)) + 4'(make) + 4'(ktop_valid);
    assign places = 4'(!uses[3]) + 4'(!uses[2]) + 4'(!uses[1]) + 4'(!given);
    assign distance = !uses[3] ? 3'd0 : !uses[2] ? 3'd1 : !uses[1] ? 3'd2 : !given ? 3'd3 : 3'd4;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        uses <= rst ? '0 : {uses[2:1], given};
        if (rst || finish_ack) waited <= '0;
        else if (finish_valid && waited != 4'd8) waited <= waited + 4'd1;
        was_make <= make && !make_ack && !rst;
        was_ktop <= ktop_valid && !ktop_ack && !rst;
        was_finish <= finish_valid && !finish_ack && !rst;
        none_entered <= hasty && !(make_ack || ktop_ack || finish_ack) && !rst;
        make_before <= make_slot;
        ktop_before <= {ktop_slot, ktop_block};
        finish_before <= {finish_slot, finish_block};
        entered_before <= !rst;
        acks_before <= {finish_ack, ktop_ack, make_ack};
        block_before <= make_ack ? '0 : ktop_ack ? ktop_block : finish_block;
        distance_before <= distance;
        too_many <= waiting > places && !rst;
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions: requests are stable, and the tags' calls have credits.
            if (was_make) assume (make && make_slot == make_before);
            if (was_ktop) assume (ktop_valid && {ktop_slot, ktop_block} == ktop_before);
            assume (!finish_ask || finish_stored != DEPTH);

            assert ($onehot0({uses[3], finish_ack, ktop_ack, make_ack}));
            assert ((make || !make_ack) && (ktop_valid || !ktop_ack) && (finish_valid || !finish_ack));
            if (make_ack) assert (call_slot == make_slot);
            if (ktop_ack) assert (call_slot == ktop_slot);
            if (finish_ack) assert (call_slot == finish_slot);
            if (entered_before) assert (call == acks_before);
            if (entered_before && call != '0) assert (call_block == block_before);
            if (make) assert (!ktop_ack && !finish_ack);
            if (ktop_valid) assert (!finish_ack);
            if (was_finish) assert (finish_valid && {finish_slot, finish_block} == finish_before);
            // A free entry is used, and the distance to one decreases in every clock.
            if (make || ktop_valid || finish_valid) begin
                if (distance == '0) assert (make_ack || ktop_ack || finish_ack);
            end
            if (none_entered) assert (distance < distance_before);
            if (hold) assert (too_many);
            // Inductive invariants.
            assert (calls.g_hold.waited == waited && waited <= 4'd8 && (finish_valid || waited == '0));
            assert (in_memory <= DEPTH && finish_stored <= DEPTH);
            assert (finish_calls.waiting == in_memory && finish_calls.some == (in_memory != '0));
            assert (finish_stored == in_memory + 4'(finish_calls.fetched) + 4'(finish_valid));
            if (none_entered) assert (distance_before != '0);
            cover (was_make && was_ktop && was_finish && finish_stored == DEPTH && hold);
            cover (finish_ack && uses[2:1] == 2'b11);
        end
    end
endmodule
