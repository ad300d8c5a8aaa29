// GCM's stage behind the lanes: the key stream goes onto the message, GHASH reads the ciphertext, and its result meets
// E(J_0) at the packet's end.
//
//   in_*          from gcm_lanes; in_tag: the received tag of the packet whose last beat this is, or zero
//   result_*      message beats of the output (result_t), a clock later
//   loading_slot  slot whose H is the result of a call; hash_loading: its powers are being made; made: they are there
//   done          a packet ends: done_slot, done_end (end_t): the tag, or its difference from the received one
module gcm_hash #(
    parameter int SLOT_BITS = 4,
    parameter int STAGES = 4,
    parameter int PACKETS = 64
) (
    input logic clk,
    input logic rst,

    // Beats and calls that leave the lanes.
    input logic                             in_valid,
    input logic                             in_call,
    input logic [engine_pkg::BEAT_BITS-1:0] in_beat,
    input logic [engine_pkg::HASH_BITS-1:0] in_hash,
    input logic [            SLOT_BITS-1:0] in_slot,
    input logic                             in_error,
    input logic [                    511:0] in_data,
    input logic [                    511:0] in_encrypted,
    input logic [                    127:0] in_tag,

    // Message beats.
    output logic                               result_valid,
    output logic [engine_pkg::RESULT_BITS-1:0] result,

    // Powers of H.
    input  logic [SLOT_BITS-1:0] loading_slot,
    output logic                 hash_loading,
    output logic                 made,

    // Ends of packets.
    output logic                            done,
    output logic [           SLOT_BITS-1:0] done_slot,
    output logic [engine_pkg::END_BITS-1:0] done_end
);

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::hash_t hash_t;
    typedef engine_pkg::result_t result_t;
    typedef engine_pkg::end_t end_t;
`else
    import engine_pkg::beat_t;
    import engine_pkg::hash_t;
    import engine_pkg::result_t;
    import engine_pkg::end_t;
`endif

    // A packet whose last beat has left the lanes.
    typedef struct packed {
        logic [SLOT_BITS-1:0] slot;
        end_t packet;
    } slot_end_t;

    beat_t now;
    hash_t now_hash;
    logic [3:0] blocks;
    logic [3:0] partial;
    logic [63:0] keep;
    logic [511:0] outcome;
    logic [511:0] hashed;

    assign now = in_beat;
    assign now_hash = in_hash;
    assign blocks = now.blocks;
    assign partial = now.partial;

    // Key stream on the message's bytes; GHASH reads the ciphertext, which is the input when opening.
    always_comb begin
        for (int i = 0; i < 64; i = i + 1) begin
            keep[i] = blocks[i/16] && !(partial[i/16] && now.bytes[3:0] <= 4'(i % 16));
            outcome[128*(i/16)+8*(15-i%16)+:8] = keep[i]
                ? in_encrypted[128*(i/16)+8*(15-i%16)+:8] ^ in_data[128*(i/16)+8*(15-i%16)+:8] : 8'd0;
        end
        hashed = in_data;
        if (now.kind == engine_pkg::MESSAGE && !now.open) begin
            for (int i = 0; i < 4; i = i + 1) begin
                if (blocks[i]) hashed[128*i+:128] = outcome[128*i+:128];
            end
        end
    end

    result_t given;
    logic hash_valid;
    logic hash_first;
    logic [13:0] hash_after;
    logic [SLOT_BITS-1:0] hash_slot;
    logic [511:0] hash_blocks;
    logic finish_valid;
    slot_end_t finish;
    logic call_done;
    logic [127:0] call_result;

    assign result = given;

    always_ff @(posedge clk) begin
        result_valid <= in_valid && now.kind == engine_pkg::MESSAGE && !rst;
        given.last <= now.part_last;
        given.open <= now.open;
        given.error <= in_error;
        given.bytes <= now.bytes;
        given.data <= outcome;
        hash_valid <= in_valid && now_hash.hashed && !rst;
        hash_first <= now.start;
        hash_after <= now_hash.count - 1'b1;
        hash_slot <= in_slot;
        // GHASH has the first block highest.
        for (int i = 0; i < 4; i = i + 1) hash_blocks[128*(3-i)+:128] <= hashed[128*i+:128];
        call_done <= in_call && !rst;
        call_result <= in_encrypted[127:0];
    end

    // The end: E(J_0), and the tag to compare with.
    logic finish_has_message;
    logic [127:0] finish_value;
    always_ff @(posedge clk) begin
        finish_valid <= in_valid && now.final_beat && !rst;
        finish_has_message <= now_hash.has_message;
        finish_value <= in_encrypted[511:384] ^ in_tag;
    end
    assign finish.slot = hash_slot;
    assign finish.packet = {finish_has_message, given.open, given.error, finish_value};

    // The powers of H: the slot is loaded when GHASH has made them.
    logic hash_load_ready;
    always_ff @(posedge clk) begin
        if (rst) hash_loading <= 1'b0;
        else if (call_done) hash_loading <= 1'b1;
        else if (made) hash_loading <= 1'b0;
    end
    assign made = hash_loading && hash_load_ready;

    logic hash_done;
    logic [127:0] hash_result;
    ghash4 #(
        .SLOTS(2 ** SLOT_BITS),
        .STAGES(STAGES),
        .COUNT(14)
    ) ghash (
        .clk,
        .rst,
        .load_valid(call_done),
        .load_ready(hash_load_ready),
        .load_slot(loading_slot),
        .load_key(call_result),
        .in_valid(hash_valid),
        .in_first(hash_first),
        .in_after(hash_after),
        .in_slot(hash_slot),
        .in_blocks(hash_blocks),
        .out_valid(hash_done),
        .out_hash(hash_result)
    );

    // A hash may be there before the tag's beat is, or some clocks after it.
    logic hashes_valid;
    logic [127:0] hashes_value;
    logic ends_valid;
    slot_end_t ends_head;
    end_t packet_end;

    stream_fifo #(
        .WIDTH(128),
        .DEPTH(8),
        .CREDITS(1)
    ) hashes (
        .clk,
        .rst,
        .s_valid(hash_done),
        .s_ready(),
        .s_data(hash_result),
        .m_valid(hashes_valid),
        .m_ready(done),
        .m_data(hashes_value),
        .space(),
        .popped()
    );

    ram_fifo #(
        .WIDTH($bits(slot_end_t'('0))),
        .DEPTH(PACKETS)
    ) ends (
        .clk,
        .rst,
        .s_valid(finish_valid),
        .s_data(finish),
        .m_valid(ends_valid),
        .m_ready(done),
        .m_data(ends_head),
        .popped(),
        .stored()
    );

    assign done = hashes_valid && ends_valid;
    assign done_slot = ends_head.slot;
    always_comb begin
        packet_end = ends_head.packet;
        packet_end.value = packet_end.value ^ hashes_value;
    end
    assign done_end = packet_end;

    logic unused;
    assign unused = now.first;

endmodule
