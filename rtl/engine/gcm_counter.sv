// GCM's stage before the lanes: counter blocks, and the order of GHASH's blocks. Also the call for H, which goes through
// lane 0 in a clock without a beat.
//
// GHASH wants one run of blocks. AD that does not fill its beats is moved to their ends, behind blocks of zeros, which
// change nothing; the message begins a beat anyway; the lengths follow its last block. The block E(J_0) goes into lane 3
// of the packet's last beat, and the lengths into the first block that the message leaves free there.
//
//   beat_*         from engine_front
//   make           H of a slot is wanted, until `make_ack`; hash_loading: GHASH makes the slot's powers
//   hold           no beat in the next clock: a call waits, or GHASH gets one clock in STAGES + 5
//   out_valid, out_beat, out_hash, out_slot   the beat, a clock later; out_call: the call for H instead
//   out_data       what GHASH or the key stream needs: the blocks, AD moved, with the lengths; a tag in block 1
//   out_counters   inputs of the lanes; of a call: zero
module gcm_counter #(
    parameter int SLOT_BITS = 4,
    parameter int STAGES = 4
) (
    input logic clk,
    input logic rst,

    // Beats.
    input logic                              beat_valid,
    input logic [ engine_pkg::BEAT_BITS-1:0] beat,
    input logic [engine_pkg::PLACE_BITS-1:0] beat_place,
    input logic [engine_pkg::SIZES_BITS-1:0] beat_sizes,
    input logic [             SLOT_BITS-1:0] beat_slot,
    input logic [                     511:0] beat_data,
    input logic [                      95:0] beat_nonce,

    // The call for H.
    input  logic make,
    output logic make_ack,
    input  logic hash_loading,
    output logic hold,

    // To the lanes.
    output logic                             out_valid,
    output logic                             out_call,
    output logic [engine_pkg::BEAT_BITS-1:0] out_beat,
    output logic [engine_pkg::HASH_BITS-1:0] out_hash,
    output logic [            SLOT_BITS-1:0] out_slot,
    output logic [                    511:0] out_data,
    output logic [                    511:0] out_counters
);

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::place_t place_t;
    typedef engine_pkg::sizes_t sizes_t;
    typedef engine_pkg::hash_t hash_t;
`else
    import engine_pkg::beat_t;
    import engine_pkg::place_t;
    import engine_pkg::sizes_t;
    import engine_pkg::hash_t;
`endif

    beat_t now;
    place_t place;
    sizes_t sizes;
    hash_t hash;
    logic [383:0] ad_before;  // of the same packet, or zeros
    logic [895:0] ad_window;
    logic [511:0] ad_moved;
    logic [127:0] lengths;
    logic [3:0] lengths_at;  // which block they are
    logic ends_empty;  // a packet without beats of its own

    assign now = beat;
    assign place = beat_place;
    assign sizes = beat_sizes;

    assign ad_window = {beat_data, ad_before};
    always_comb begin
        // The window holds three blocks of the beat before, then this beat's four.
        case (sizes.ad_spare)
            2'd0: ad_moved = ad_window[895:384];
            2'd1: ad_moved = ad_window[767:256];
            2'd2: ad_moved = ad_window[639:128];
            default: ad_moved = ad_window[511:0];
        endcase
    end
    assign lengths = {45'd0, sizes.ad_bytes, 3'd0, 45'd0, sizes.message_bytes, 3'd0};
    // A tag's beat has the lengths if they had no place in the message's last beat.
    always_comb begin
        case (now.kind)
            engine_pkg::MESSAGE:
            lengths_at = {{3{now.part_last}} & ~now.blocks[3:1] & now.blocks[2:0], 1'b0};
            engine_pkg::TAG: lengths_at = {3'd0, sizes.message_spare == '0};
            engine_pkg::NONE: lengths_at = 4'd1;
            default: lengths_at = 4'd0;
        endcase
    end

    assign ends_empty = now.kind == engine_pkg::NONE && now.start;
    assign hash.count = ends_empty ? 14'd1 : sizes.hash_blocks;
    assign hash.hashed = now.kind != engine_pkg::TAG || sizes.message_spare == '0;
    assign hash.has_message = sizes.message_bytes != '0 && !ends_empty;

    always_ff @(posedge clk) begin
        out_valid <= beat_valid && !rst;
        out_beat <= now;
        out_hash <= hash;
        out_slot <= beat_slot;
        if (rst || (beat_valid && now.part_last)) ad_before <= '0;
        else if (beat_valid) ad_before <= beat_data[511:128];
        for (int i = 0; i < 4; i = i + 1) begin
            out_data[128*i+:128] <= beat_data[128*i+:128];
            if (now.kind == engine_pkg::AD) out_data[128*i+:128] <= ad_moved[128*i+:128];
            else if (now.kind == engine_pkg::TAG && i == 1) out_data[128*i+:128] <= beat_data[127:0];
            else if (lengths_at[i]) out_data[128*i+:128] <= lengths;
            out_counters[128*i+:128] <= {beat_nonce, 19'd0, {1'b0, place.index, 2'd0} + 13'(i + 2)};
            if (i == 3 && now.final_beat) out_counters[128*i+:128] <= {beat_nonce, 32'd1};
            if (!beat_valid) out_counters[128*i+:128] <= '0;
        end
    end

    // Clocks for one power: while GHASH makes them, one in so many is left to it.
    localparam int POWER = STAGES + 5;
    logic [$clog2(POWER)-1:0] spare;
    assign make_ack = make && !beat_valid;
    always_ff @(posedge clk) begin
        out_call <= make_ack && !rst;
        hold <= (make && !make_ack) || (hash_loading && spare == '0);
        if (rst) spare <= '0;
        else spare <= spare == '0 ? ($clog2(POWER))'(POWER - 1) : spare - 1'b1;
    end

    logic unused;
    assign unused = ^{place, sizes};

endmodule
