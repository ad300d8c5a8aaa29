// GHASH (NIST SP 800-38D, section 6.4) with LANES blocks per clock, for back-to-back packets of any length, with one
// hash key for each of SLOTS slots.
//
// The multiplier has STAGES pipeline registers, so a product arrives too late for the next beat. Therefore STAGES
// partial hashes run concurrently: beat i is added to the product of beat i - STAGES and multiplied by
// H^(LANES * STAGES). A block that is the r-th last of its packet, with r at most LANES * STAGES, is multiplied by H^r
// instead, and the products of these last blocks are summed:
//     GHASH = sum over i = 1 .. n of X[i] H^(n - i + 1).
//
// A packet is a sequence of beats, with any number of idle clocks between them.
//   in_valid   a beat is valid
//   in_first   the beat is the first of its packet
//   in_after   with in_first: n - 1, the number of blocks after the packet's first block, including its length block.
//              The packet has n blocks in ceil(n / LANES) beats.
//   in_slot    with every beat: the slot of the hash key
//   in_blocks  LANES blocks, the first in the highest bits, byte 0 of each in its highest bits. Blocks after the n-th
//              one in the last beat are ignored. A packet may begin with blocks of zeros, which do not change the hash.
//   out_valid  high for one clock per packet, in order, STAGES + 4 + BLOCK_RAM clocks after its last beat
//   out_hash   GHASH of the packet's n blocks
//
// Loading a key:
//   load_valid, load_ready, load_slot, load_key   loads the hash key H = E(0) of a slot. load_ready is low while its
//              LANES * STAGES powers are computed; the slot is usable once load_ready is high again. This takes about
//              LANES * STAGES * (STAGES + 4 + BLOCK_RAM) clocks, of which LANES * STAGES - 1 must be without in_valid.
//              Other slots are not affected.
//
// BLOCK_RAM = 0: powers in LUT RAM, 1: in block RAM (LANES tables of SLOTS * LANES * STAGES blocks).
module ghash #(
    parameter int SLOTS = 16,
    parameter int STAGES = 4,
    parameter int LANES = 1,
    parameter int COUNT = 16,
    parameter int BLOCK_RAM = 0,
    parameter int SLOT_BITS = SLOTS > 1 ? $clog2(SLOTS) : 1
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   load_valid,
    output logic                   load_ready,
    input  logic [SLOT_BITS-1:0]   load_slot,
    input  logic [127:0]           load_key,
    input  logic                   in_valid,
    input  logic                   in_first,
    input  logic [COUNT-1:0]       in_after,
    input  logic [SLOT_BITS-1:0]   in_slot,
    input  logic [128*LANES-1:0]   in_blocks,
    output logic                   out_valid,
    output logic [127:0]           out_hash
);
    // The number of powers of a hash key, and the width of their index.
    localparam int POWERS = LANES * STAGES;
    localparam int POWER_BITS = POWERS > 1 ? $clog2(POWERS) : 1;
    localparam int DEPTH = 1 << (SLOT_BITS + POWER_BITS);
    localparam int TURN_BITS = STAGES > 1 ? $clog2(STAGES) : 1;
    localparam logic [POWER_BITS-1:0] TOP_POWER = POWER_BITS'(POWERS - 1);

    // Loading: `power` is the latest power, H^(which + 1). It is stored, then multiplied by H in an idle clock.
    logic loading, store, wanted, issue, made;
    logic [SLOT_BITS-1:0] loading_slot;
    logic [POWER_BITS-1:0] which;
    logic [127:0] power;
    logic [128*LANES-1:0] products;
    assign load_ready = !loading;
    assign issue = wanted && !in_valid;
    always_ff @(posedge clk) begin
        if (rst) begin
            loading <= 1'b0;
            store <= 1'b0;
            wanted <= 1'b0;
        end else begin
            store <= (load_valid && load_ready) || made;
            if (load_valid && load_ready) loading <= 1'b1;
            else if (store && which == TOP_POWER) loading <= 1'b0;
            if (store) wanted <= which != TOP_POWER;
            else if (issue) wanted <= 1'b0;
        end
        if (load_valid && load_ready) begin
            loading_slot <= load_slot;
            which <= '0;
            power <= load_key;
        end else if (made) begin
            which <= which + 1'b1;
            power <= products[128*LANES-1 -: 128];
        end
    end

    // First clock: the number of blocks after this beat's first block selects the power of each lane, which is read in
    // the second clock. A block with POWERS or more blocks after it uses the highest power.
    logic [COUNT:0] after, here;  // `after` is negative after the last beat of a packet
    logic [TURN_BITS-1:0] turn;
    logic [TURN_BITS:0] age, age_here;
    assign here = in_first ? {1'b0, in_after} : after;
    assign age_here = in_first ? '0 : age;
    always_ff @(posedge clk) begin
        if (rst) turn <= '0;
        else if (in_valid) turn <= turn == TURN_BITS'(STAGES - 1) ? '0 : turn + 1'b1;
        if (in_valid) begin
            after <= here - (COUNT + 1)'(LANES);
            age <= age_here == (TURN_BITS + 1)'(STAGES) ? age_here : age_here + 1'b1;
        end
    end

    // The power of each lane, and whether its product belongs to the packet's last ones. Both are computed for the two
    // possible values of `here` before the right one is known, from a table of the low bits and a flag for higher bits.
    // Comparisons would add carry chains to the critical path.
    localparam int LOW = $clog2(2 * POWERS);
    logic [1:0] beyond;
    logic [2*LANES-1:0] finals;
    logic [2*POWER_BITS*LANES-1:0] exponents;
    for (genvar s = 0; s < 2; s = s + 1) begin : g_count
        logic [COUNT-1:0] count;
        assign count = s == 1 ? in_after : after[COUNT-1:0];
        assign beyond[s] = count[COUNT-1:LOW] != '0;
        for (genvar l = 0; l < LANES; l = l + 1) begin : g_place
            logic last;
            logic [POWER_BITS-1:0] exponent;
            always_comb begin
                last = 1'b0;
                exponent = TOP_POWER;
                for (int n = l; n < POWERS + l; n = n + 1) begin
                    if (count[LOW-1:0] == LOW'(n)) begin
                        last = 1'b1;
                        exponent = POWER_BITS'(n - l);
                    end
                end
            end
            assign finals[LANES*s+l] = last && !beyond[s];
            assign exponents[POWER_BITS*(LANES*s+l)+:POWER_BITS] = beyond[s] ? TOP_POWER : exponent;
        end
    end

    logic one_valid, one_load, one_fed;
    logic [SLOT_BITS-1:0] one_slot;
    logic [TURN_BITS-1:0] one_turn;
    logic [LANES-1:0] one_final;
    logic [POWER_BITS*LANES-1:0] one_exponents;
    logic [128*LANES-1:0] one_blocks;
    always_ff @(posedge clk) begin
        one_valid <= in_valid && !rst;
        one_load <= issue && !rst;
        one_fed <= age_here == (TURN_BITS + 1)'(STAGES) && in_valid;
        one_slot <= in_valid ? in_slot : loading_slot;
        one_turn <= turn;
        one_final <= in_first ? finals[LANES+:LANES] : finals[0+:LANES];
        one_exponents <= in_first ? exponents[POWER_BITS*LANES+:POWER_BITS*LANES]
            : exponents[0+:POWER_BITS*LANES];
        if (issue) one_exponents <= '0;
        one_blocks <= in_blocks;
        one_blocks[128*LANES-1 -: 128] <= in_valid ? in_blocks[128*LANES-1 -: 128] : power;
    end

    // Second clock.
    logic two_valid, two_load, two_fed, two_last;
    logic [TURN_BITS-1:0] two_turn;
    logic [LANES-1:0] two_final;
    logic [128*LANES-1:0] two_blocks, two_powers;
    for (genvar l = 0; l < LANES; l = l + 1) begin : g_power
        gf128_power_table #(
            .DEPTH(DEPTH),
            .BLOCK_RAM(BLOCK_RAM)
        ) powers (
            .clk,
            .write(store),
            .write_address({loading_slot, which}),
            .write_block(power),
            .read_address({one_slot, one_exponents[POWER_BITS*l+:POWER_BITS]}),
            .read_block(two_powers[128 * (LANES - 1 - l) +: 128])
        );
    end
    always_ff @(posedge clk) begin
        two_valid <= one_valid && !rst;
        two_load <= one_load && !rst;
        two_fed <= one_fed;
        two_last <= after[COUNT];
        two_turn <= one_turn;
        two_final <= one_final;
        two_blocks <= one_blocks;
    end

    // The multipliers add the product of STAGES beats ago, which arrives in this clock or waits in `behind`.
    logic go_valid, go_load, go_last;
    logic [TURN_BITS-1:0] go_turn;
    logic [LANES-1:0] go_final;
    logic [128*LANES-1:0] go_powers;
    logic [STAGES-1:0] passing_valid, passing_load, passing_last;
    logic [STAGES*TURN_BITS-1:0] passing_turn;
    logic [STAGES*LANES-1:0] passing_final;
    logic out_of_valid, out_of_last, just_now;
    logic [TURN_BITS-1:0] out_of_turn;
    logic [LANES-1:0] out_of_final;
    // rst clears all of them, because synthesis would otherwise map them to LUT shift registers, which are slow.
    if (STAGES == 1) begin : g_one_stage
        always_ff @(posedge clk) begin
            passing_valid <= go_valid && !rst;
            passing_load <= go_load && !rst;
            passing_last <= go_last && !rst;
            passing_turn <= rst ? '0 : go_turn;
            passing_final <= rst ? '0 : go_final;
        end
    end else begin : g_stages
        always_ff @(posedge clk) begin
            passing_valid <= rst ? '0 : {passing_valid[STAGES-2:0], go_valid};
            passing_load <= rst ? '0 : {passing_load[STAGES-2:0], go_load};
            passing_last <= rst ? '0 : {passing_last[STAGES-2:0], go_last};
            passing_turn <= rst ? '0 : {passing_turn[(STAGES-1)*TURN_BITS-1:0], go_turn};
            passing_final <= rst ? '0 : {passing_final[(STAGES-1)*LANES-1:0], go_final};
        end
    end
    assign out_of_valid = passing_valid[STAGES-1];
    assign made = passing_load[STAGES-1];
    assign out_of_last = passing_last[STAGES-1];
    assign out_of_turn = passing_turn[STAGES*TURN_BITS-1 -: TURN_BITS];
    assign out_of_final = passing_final[STAGES*LANES-1 -: LANES];
    assign just_now = out_of_valid && out_of_turn == two_turn;

    logic [128*LANES-1:0] left_behind, operands;
    ram_lut #(
        .WIDTH(128 * LANES),
        .DEPTH(1 << TURN_BITS)
    ) behind (
        .clk,
        .write(out_of_valid),
        .write_at(out_of_turn),
        .write_data(products),
        .read_at(two_turn),
        .read_data(left_behind),
        .check(1'b0),
        .parity_error()
    );

    if (BLOCK_RAM == 0) begin : g_at_once
        assign go_valid = two_valid;
        assign go_load = two_load;
        assign go_last = two_last;
        assign go_turn = two_turn;
        assign go_final = two_final;
        assign go_powers = two_powers;
        assign operands = two_blocks ^ (!two_fed ? '0 : just_now ? products : left_behind);
    end else begin : g_third_clock
        // The output of block RAM is late, so it is registered first. The earlier product is added in that clock, or in
        // the next one if it arrives only then.
        logic comes, three_valid, three_load, three_last, three_fed;
        logic [TURN_BITS-1:0] three_turn;
        logic [LANES-1:0] three_final;
        logic [128*LANES-1:0] three_blocks, three_powers;
        if (STAGES == 1) begin : g_comes
            assign comes = three_valid && three_turn == two_turn;
        end else begin : g_comes
            assign comes = passing_valid[STAGES-2]
                && passing_turn[(STAGES-1)*TURN_BITS-1 -: TURN_BITS] == two_turn;
        end
        always_ff @(posedge clk) begin
            three_valid <= two_valid && !rst;
            three_load <= two_load && !rst;
            three_last <= two_last && !rst;
            three_turn <= rst ? '0 : two_turn;
            three_final <= rst ? '0 : two_final;
            three_powers <= two_powers;
            three_fed <= two_fed && comes;
            three_blocks <= two_blocks ^ (!two_fed || comes ? '0 : just_now ? products : left_behind);
        end
        assign go_valid = three_valid;
        assign go_load = three_load;
        assign go_last = three_last;
        assign go_turn = three_turn;
        assign go_final = three_final;
        assign go_powers = three_powers;
        assign operands = three_blocks ^ (three_fed ? products : '0);
    end

    for (genvar l = 0; l < LANES; l = l + 1) begin : g_multiply
        gf128_multiply #(
            .STAGES(STAGES)
        ) multiply (
            .clk,
            .a(operands[128 * l +: 128]),
            .b(go_powers[128 * l +: 128]),
            .product(products[128 * l +: 128])
        );
    end

    // The sum of a packet's last products.
    logic [127:0] sum_of_lanes, lanes, hash;
    logic lanes_last, begun;
    always_comb begin
        sum_of_lanes = '0;
        for (int l = 0; l < LANES; l = l + 1) begin
            if (out_of_final[l]) sum_of_lanes = sum_of_lanes ^ products[128*(LANES-1-l)+:128];
        end
    end
    always_ff @(posedge clk) begin
        // rst clears it, because a product of that clock would otherwise remain in the first hash after reset.
        lanes <= out_of_valid && !rst ? sum_of_lanes : '0;
        lanes_last <= out_of_valid && out_of_last && !rst;
        hash <= begun ? hash ^ lanes : lanes;
        begun <= !lanes_last && !rst;
        out_valid <= lanes_last && !rst;
    end
    assign out_hash = hash;
endmodule
