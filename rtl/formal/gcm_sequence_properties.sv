// Properties of gcm_sequence: each packet outputs its steps, each once and in order, and there are no other
// steps. Each step has the counter block, bytes and sizes of its position. An offered step is stable until
// taken. The first step of the next packet directly follows the last step of the current one.
module gcm_sequence_properties (
    input logic clk,
    input logic rst,
    input logic take,
    input logic command_open,
    input logic [3:0] command_slot,
    input logic [95:0] command_nonce,
    input logic [15:0] ad_bytes,
    input logic [15:0] message_bytes,
    input logic command_error,
    input logic step_done
);
    localparam logic [1:0] AD = 2'd0;
    localparam logic [1:0] MESSAGE = 2'd1;
    localparam logic [1:0] TAG = 2'd2;
    localparam logic [1:0] ILLEGAL = 2'd3;

    logic free, busy, step_valid, step_open, step_first, step_last, step_barren, step_message;
    logic [1:0] step_kind;
    logic [3:0] step_slot;
    logic [4:0] step_bytes;
    logic [127:0] step_counter;
    logic [31:0] step_size;

    function automatic logic [12:0] blocks_of(input logic [15:0] length);
        blocks_of = 13'((17'(length) + 17'd15) / 17'd16);
    endfunction
    function automatic logic [4:0] last_of(input logic [15:0] length);
        last_of = length == '0 ? 5'd0 : 5'(1 + (length - 1) % 16);
    endfunction

    gcm_sequence sequencer (
        .clk,
        .rst,
        .take,
        .free,
        .busy,
        .command_open,
        .command_slot,
        .command_nonce,
        .command_ad_blocks(blocks_of(ad_bytes)),
        .command_message_blocks(blocks_of(message_bytes)),
        .command_last_ad_bytes(last_of(ad_bytes)),
        .command_last_message_bytes(last_of(message_bytes)),
        .command_error,
        .step_valid,
        .step_done,
        .step_kind,
        .step_open,
        .step_slot,
        .step_bytes,
        .step_first,
        .step_last,
        .step_barren,
        .step_message,
        .step_counter,
        .step_size
    );

    // ---- The current packet, and its next step.

    logic begun = 1'b0;
    logic left = 1'b0;  // steps are to come
    logic open, refused;
    logic [3:0] slot;
    logic [95:0] nonce;
    logic [15:0] ad, message;
    logic [13:0] at;
    logic [13:0] ad_end, message_end;
    assign ad_end = refused ? 14'd0 : 14'(blocks_of(ad));
    assign message_end = refused ? 14'd0 : ad_end + 14'(blocks_of(message));

    logic [1:0] kind;
    logic [4:0] bytes;
    always_comb begin
        kind  = refused ? ILLEGAL : at < ad_end ? AD : at < message_end ? MESSAGE : TAG;
        bytes = 5'd16;
        if (at + 1'b1 == ad_end && at < ad_end) bytes = last_of(ad);
        if (at >= ad_end && at + 1'b1 == message_end) bytes = last_of(message);
    end

    logic was_step = 1'b0;
    logic [175:0] step_before, step_now;
    assign step_now = {
        step_kind,
        step_open,
        step_slot,
        step_bytes,
        step_first,
        step_last,
        step_barren,
        step_message,
        step_counter,
        step_size
    };

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_step <= step_valid && !step_done && !rst;
        step_before <= step_now;
        if (step_done) at <= at + 1'b1;
        if (rst) left <= 1'b0;
        else if (take) left <= 1'b1;
        else if (step_done && at == message_end) left <= 1'b0;
        if (take) begin
            open <= command_open;
            refused <= command_error;
            slot <= command_slot;
            nonce <= command_nonce;
            ad <= ad_bytes;
            message <= message_bytes;
            at <= '0;
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            assume (!take || free);
            assume (!step_done || step_valid);

            assert (step_valid == left && busy == left);
            assert (free == (!left || (step_done && at == message_end)));
            if (was_step) assert (step_valid && step_now == step_before);
            if (left) begin
                assert (at <= message_end);
                assert (step_kind == kind && step_bytes == bytes);
                assert (step_open == open && step_slot == slot && step_first == (at == '0));
                assert (step_last == (kind == MESSAGE && at + 1'b1 == message_end));
                assert (step_barren == (refused || (!open && ad == '0 && message == '0)));
                assert (step_message == (!refused && message != '0));
                if (kind == MESSAGE) assert (step_counter == {nonce, 18'd0, at - ad_end + 14'd2});
                if (kind == TAG) assert (step_counter == {nonce, 32'd1});
                if (kind == TAG) assert (step_size == {ad, message});
                if (kind == AD || kind == MESSAGE) assert (step_size == 32'(message_end));
                if (step_first && !refused) assert (step_size == 32'(message_end));
                // Inductive invariants.
                if (at < message_end) begin
                    assert (sequencer.left == 13'((at < ad_end ? ad_end : message_end) - at));
                    assert (sequencer.part_last == (sequencer.left == 13'd1));
                end
                assert (sequencer.counter == 13'(at < ad_end ? 14'd2 : at - ad_end + 14'd2) || refused);
                assert (sequencer.nonce == nonce);
                if (!refused) begin
                    assert (sequencer.message_blocks == blocks_of(message));
                    assert (sequencer.ad_bytes == last_of(ad) && sequencer.message_bytes == last_of(message));
                    assert (sequencer.ad_length == ad && sequencer.message_length == message);
                    assert (sequencer.blocks == message_end);
                end
            end
            cover (left && kind == MESSAGE && bytes == 5'd7 && at == 14'd4 && open);
            cover (take && step_done && refused);
        end
    end
endmodule
