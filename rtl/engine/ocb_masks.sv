// OCB3's way from beats to block cipher inputs (RFC 7253 sections 4.1 and 4.2), four blocks a clock,
// pipelined.
//
// The offsets of blocks 4k+1 .. 4k+4 are those of block 4k plus L_0, L_0 + L_1, L_1, and L_1 + L_ntz(4k+4):
// sums of the L table that do not depend on the offset and are made a clock ahead, so that the loop from one
// beat's offset to the next is one XOR. The L table is L_* times powers of x. AD runs through the same loop
// from offset zero. Also made here: the checksum of the beats (for sealing) and the last offset + L_$.
//
// Latency: 3 clocks from beat_* to out_*. A beat in any clock.
//
//   beat_*          from engine_front; l_star and offset_0 belong to the beat's slot and packet
//   out_blocks      inputs of the four lanes: block + offset, or the offset alone for a partial message block
//   out_post        to be added to the lanes' outputs: the offset, or the data of a partial message block;
//                   for a tag the tag itself in lane 0
//   out_single      of out_blocks the one of the partial message block, or of the AD block in turn (AD_SERIAL)
//   out_checksum    of the message up to this beat; out_last_offset: last offset + L_$, with the packet's
//                   last beat
module ocb_masks (
    input logic clk,

    input logic         beat_valid,
    input logic [511:0] beat_data,
    input logic [ engine_pkg::BEAT_BITS-1:0] beat,
    input logic [engine_pkg::PLACE_BITS-1:0] beat_place,
    input logic [127:0] l_star,
    input logic [127:0] offset_0,

    output logic [511:0] out_blocks,
    output logic [511:0] out_post,
    output logic [127:0] out_single,
    output logic [127:0] out_checksum,
    output logic [127:0] out_last_offset
);

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::place_t place_t;
`else
    import engine_pkg::beat_t;
    import engine_pkg::place_t;
`endif

    beat_t now;
    place_t place;
    logic [6:0] bytes;
    logic [3:0] partial;
    logic [3:0] ones;

    assign now = beat;
    assign place = beat_place;
    assign bytes = now.bytes;
    assign partial = now.partial;
    assign ones = place.ones;

    // Clock 1: L table, padding, the sums of the L table.
    logic [127:0] l_0;
    logic [127:0] l_1;
    logic [511:0] sums;  // from the offset of the block before the beat to that of each block, without L_ntz
    logic [511:0] sums_before;
    logic [ 63:0] pad;

    assign l_0 = ocb_pkg::times_power(l_star, 4'd2);
    assign l_1 = ocb_pkg::times_power(l_star, 4'd3);
    assign sums = {l_1, l_1, l_0 ^ l_1, l_0};
    assign sums_before = {l_1, l_0 ^ l_1, l_0, 128'd0};

    always_comb begin
        for (int i = 0; i < 64; i = i + 1) begin
            pad[i] = partial[i/16] && bytes[3:0] == 4'(i % 16);
        end
    end

    logic valid_1;
    logic [511:0] data_1;
    logic [511:0] sums_1;
    logic [127:0] l_ntz_1;  // times x^(4 ntz_more_1), which it still lacks
    logic [1:0] ntz_more_1;
    logic [127:0] l_dollar_1;
    logic [127:0] step_1;
    logic [127:0] offset_0_1;
    logic [3:0] partial_1;
    logic [1:0] last_lane_1;
    logic [1:0] lane_1;
    logic [1:0] kind_1;
    logic first_1;
    logic advance_1;
    logic start_1;

    always_ff @(posedge clk) begin
        valid_1 <= beat_valid;
        kind_1 <= now.kind;
        first_1 <= now.first;
        start_1 <= now.start;
        advance_1 <= place.step;
        partial_1 <= partial;
        offset_0_1 <= offset_0;
        step_1 <= l_1;
        l_dollar_1 <= ocb_pkg::times_power(l_star, 4'd1);
        l_ntz_1 <= ocb_pkg::times_power(l_star, {2'd1, ones[1:0]});
        ntz_more_1 <= ones[3:2];
        last_lane_1 <= 2'((bytes - 7'd1) >> 4);
        lane_1 <= now.kind == engine_pkg::MESSAGE ? bytes[5:4] : place.lane;
        for (int i = 0; i < 4; i = i + 1) begin
            sums_1[128*i+:128] <= partial[i] ? sums_before[128*i+:128] ^ l_star : sums[128*i+:128];
        end
        for (int i = 0; i < 64; i = i + 1) begin
            data_1[128*(i/16)+8*(15-i%16)+:8] <= beat_data[128*(i/16)+8*(15-i%16)+:8] | {pad[i], 7'd0};
        end
    end

    // Clock 2: the offsets.
    logic [127:0] running;  // offset of the last block of the beat before
    logic [127:0] base;
    logic [127:0] base_step;
    logic [127:0] l_ntz;

    logic [511:0] data_2;
    logic [511:0] offsets_2;
    logic [127:0] l_dollar_2;
    logic [127:0] offset_0_2;
    logic [3:0] partial_2;
    logic [1:0] last_lane_2;
    logic [1:0] lane_2;
    logic [1:0] kind_2;
    logic valid_2;
    logic first_2;
    logic start_2;

    assign l_ntz = ocb_pkg::times_power(l_ntz_1, {ntz_more_1, 2'd0});

    always_comb begin
        base = running;
        if (first_1) base = kind_1 == engine_pkg::MESSAGE ? offset_0_1 : '0;
        base_step = base ^ step_1 ^ l_ntz;
    end

    always_ff @(posedge clk) begin
        valid_2 <= valid_1;
        kind_2 <= kind_1;
        first_2 <= first_1;
        start_2 <= start_1;
        partial_2 <= partial_1;
        last_lane_2 <= last_lane_1;
        lane_2 <= lane_1;
        data_2 <= data_1;
        l_dollar_2 <= l_dollar_1;
        offset_0_2 <= offset_0_1;
        for (int i = 0; i < 3; i = i + 1) offsets_2[128*i+:128] <= base ^ sums_1[128*i+:128];
        offsets_2[511:384] <= base ^ sums_1[511:384] ^ (partial_1[3] ? '0 : l_ntz);
        if (valid_1 && advance_1) running <= base_step;
    end

    // Clock 3: masking, checksum.
    always_ff @(posedge clk) begin
        for (int i = 0; i < 4; i = i + 1) begin
            if (partial_2[i] && kind_2 == engine_pkg::MESSAGE) begin
                out_blocks[128*i+:128] <= offsets_2[128*i+:128];
            end else begin
                out_blocks[128*i+:128] <= data_2[128*i+:128] ^ offsets_2[128*i+:128];
            end
            if (partial_2[i] || kind_2 == engine_pkg::TAG) out_post[128*i+:128] <= data_2[128*i+:128];
            else out_post[128*i+:128] <= offsets_2[128*i+:128];
        end
        out_single <= offsets_2[128*lane_2+:128]
            ^ (kind_2 == engine_pkg::MESSAGE ? '0 : data_2[128*lane_2+:128]);
        if (valid_2 && kind_2 == engine_pkg::MESSAGE) begin
            out_checksum <= (first_2 ? '0 : out_checksum)
                ^ data_2[127:0] ^ data_2[255:128] ^ data_2[383:256] ^ data_2[511:384];
            out_last_offset <= offsets_2[128*last_lane_2+:128] ^ l_dollar_2;
        end else if (valid_2 && start_2) begin
            out_checksum <= '0;
            out_last_offset <= offset_0_2 ^ l_dollar_2;
        end
    end

    logic unused;
    assign unused = ^{now, place};

endmodule
