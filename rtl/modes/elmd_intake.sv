// Register between packet_front and ELmD, which pads the short last block of a part with 10*. Latency: one clock. One
// block per clock.
//
//   block_*    from packet_front. While the packet has blocks left, block_kind is valid before its block arrives.
//   take       the held block is used in this clock
//   held       the register contains a block: held_block, held_kind
//   held_last  the last AD block, or the last message block, of this packet; depends on block_kind in the same clock
module elmd_intake (
    input  logic         clk,
    input  logic         rst,
    input  logic         block_valid,
    output logic         block_ready,
    input  logic [127:0] block,
    input  logic [  4:0] block_bytes,
    input  logic [  1:0] block_kind,
    input  logic         block_last,
    input  logic         take,
    output logic         held,
    output logic [127:0] held_block,
    output logic [  1:0] held_kind,
    output logic         held_last
);

    logic [127:0] padding;
    logic packet_last;

    always_comb begin
        for (int i = 0; i < 16; i = i + 1) padding[8*(15-i)+:8] = {block_bytes == 5'(i), 7'd0};
    end

    // While a packet has blocks left, packet_front outputs the kind of the next block before it arrives.
    assign held_last   = packet_last || block_kind != held_kind;
    assign block_ready = !held || take;

    always_ff @(posedge clk) begin
        if (rst) held <= 1'b0;
        else if (block_ready) held <= block_valid;
        if (block_ready) begin
            held_block  <= block | padding;
            held_kind   <= block_kind;
            packet_last <= block_last;
        end
    end

endmodule
