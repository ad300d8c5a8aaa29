// GHASH for a 512-bit engine: four blocks per clock with four multipliers and feedback by H^(4 STAGES); see ghash.
module ghash4 #(
    parameter int SLOTS = 16,
    parameter int STAGES = 4,
    parameter int COUNT = 16,
    parameter int BLOCK_RAM = 1,
    parameter int SLOT_BITS = SLOTS > 1 ? $clog2(SLOTS) : 1
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic                 load_valid,
    output logic                 load_ready,
    input  logic [SLOT_BITS-1:0] load_slot,
    input  logic [127:0]         load_key,
    input  logic                 in_valid,
    input  logic                 in_first,
    input  logic [COUNT-1:0]     in_after,
    input  logic [SLOT_BITS-1:0] in_slot,
    input  logic [511:0]         in_blocks,
    output logic                 out_valid,
    output logic [127:0]         out_hash
);

    ghash #(
        .SLOTS(SLOTS),
        .STAGES(STAGES),
        .LANES(4),
        .COUNT(COUNT),
        .BLOCK_RAM(BLOCK_RAM),
        .SLOT_BITS(SLOT_BITS)
    ) four (
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
endmodule
