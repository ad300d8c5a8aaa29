// Replaces ghash4 in proofs that depend on its handshakes only: powers are made in one clock, and a hash follows
// its packet's last beat by two clocks. Its value is arbitrary.
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

    logic [COUNT-1:0] after;  // the blocks of the packet behind the first one of the next beat
    logic [COUNT-1:0] here;
    logic last;
    logic unused;

    assign here = in_first ? in_after : after;
    assign out_hash = in_blocks[127:0];
    assign unused = ^{load_slot, load_key, in_slot, in_blocks[511:128], 1'(STAGES), 1'(BLOCK_RAM)};

    always_ff @(posedge clk) begin
        load_ready <= !load_valid;
        last <= in_valid && here < COUNT'(4) && !rst;
        out_valid <= last && !rst;
        if (in_valid) after <= here - COUNT'(4);
    end

endmodule
