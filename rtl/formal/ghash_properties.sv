// Properties of key loading in ghash, with four lanes as in the engines: at the end of a load, every power of
// the slot has been rewritten in each lane's table, from the key that was offered, and no other slot has been
// written. Loading a key of zeros therefore leaves nothing of the previous key.
//
// One symbolic power of one symbolic slot is tracked.
module ghash_properties (
    input logic clk,
    input logic rst,
    input logic load_valid,
    input logic [1:0] load_slot,
    input logic [127:0] load_key,
    input logic in_valid,
    input logic in_first,
    input logic [13:0] in_after,
    input logic [1:0] in_slot,
    input logic [511:0] in_blocks,
    input logic [1:0] slot,
    input logic [3:0] followed
);
    localparam int LANES = 4;
    localparam int STAGES = 4;

    logic load_ready, out_valid;
    logic [127:0] out_hash;

    ghash #(
        .SLOTS(4),
        .STAGES(STAGES),
        .LANES(LANES),
        .COUNT(14),
        .BLOCK_RAM(1)
    ) hash (
        .clk,
        .rst,
        .load_valid,
        .load_ready,
        .load_slot,
        .load_key,
        .in_valid,
        .in_first,
        .in_after,
        .in_slot,
        .in_blocks,
        .out_valid,
        .out_hash
    );

    logic begun = 1'b0;
    logic [1:0] slot_before;
    logic [3:0] followed_before;
    logic loads = 1'b0;  // a load is in progress,
    logic [1:0] of_slot;  // of this slot,
    logic [127:0] key;  // with this key
    logic [LANES-1:0] written = '0;  // per lane: the tracked power was written in the last load of its slot
    logic take;
    logic makes;  // the product of the newest power and H is in flight
    logic [3:0] which;
    logic last_power;
    assign last_power = which == hash.TOP_POWER;
    assign take = load_valid && load_ready;
    assign makes = hash.one_load || hash.two_load || hash.go_load || hash.passing_load != '0;
    assign which = hash.which;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        slot_before <= slot;
        followed_before <= followed;
        if (rst) loads <= 1'b0;
        else if (take) loads <= 1'b1;
        else if (hash.store && last_power) loads <= 1'b0;
        if (take) begin
            of_slot <= load_slot;
            key <= load_key;
        end
    end

    for (genvar l = 0; l < LANES; l = l + 1) begin : g_lane
        logic writes;
        logic [5:0] at;
        assign writes = hash.g_power[l].powers.write;
        assign at = hash.g_power[l].powers.write_address;

        always_ff @(posedge clk) begin
            if (take && load_slot == slot) written[l] <= 1'b0;
            else if (writes && at == {slot, followed}) written[l] <= 1'b1;
        end

        always_comb begin
            if (begun && !rst) begin
                assert (!writes || (loads && at[5:4] == of_slot));
                if (writes && at[3:0] == '0) assert (hash.g_power[l].powers.write_block == key);
                if (loads && of_slot == slot) begin
                    // Powers are written in order, the newest in this clock or earlier.
                    assert (written[l] == (followed < which || (followed == which && !hash.store)));
                end
            end
        end
    end

    logic ended = 1'b0;  // a load of the slot has ended since reset
    always_ff @(posedge clk) begin
        if (rst || (take && load_slot == slot)) ended <= 1'b0;
        else if (loads && of_slot == slot && hash.store && last_power) ended <= 1'b1;
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun) assume (slot == slot_before && followed == followed_before && followed <= hash.TOP_POWER);
        if (begun && !rst) begin
            assert (load_ready == !loads);
            if (ended) assert (written == '1);
            // Inductive invariants: the newest power is being stored, waits, or is being multiplied.
            if (loads) begin
                assert (hash.loading_slot == of_slot);
                assert ($onehot(
                    {hash.store, hash.wanted, hash.one_load, hash.two_load, hash.go_load, hash.passing_load}
                ));
                if (which == '0 && hash.store) assert (hash.power == key);
            end else begin
                assert (!hash.store && !hash.wanted && !makes);
            end
            if (last_power) assert (!loads || hash.store);
            cover (ended && followed == hash.TOP_POWER);
        end
    end
endmodule

// Unconstrained multiplier: the proof does not depend on products.
module gf128_multiply #(
    parameter int STAGES = 4
) (
    input logic clk,
    input logic [127:0] a,
    input logic [127:0] b,
    output logic [127:0] product
);
    always_ff @(posedge clk) product <= 128'(STAGES) ^ a ^ b;
endmodule
