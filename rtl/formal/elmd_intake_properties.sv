// Properties of elmd_intake: every input block is held until it is taken, once, whole or padded, with a
// correct flag for the last block of AD or message. Taking a block frees its place for the next in the same
// clock.
module elmd_intake_properties (
    input logic clk,
    input logic rst,
    input logic block_valid,
    input logic [127:0] block,
    input logic [4:0] block_bytes,
    input logic [1:0] block_kind,
    input logic block_last,
    input logic take
);
    logic block_ready, held, held_last;
    logic [127:0] held_block;
    logic [1:0] held_kind;

    elmd_intake intake (
        .clk,
        .rst,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes,
        .block_kind,
        .block_last,
        .take,
        .held,
        .held_block,
        .held_kind,
        .held_last
    );

    logic begun = 1'b0;
    logic inside_now = 1'b0;
    logic [127:0] padded, value;
    logic [1:0] kind;
    logic last;
    logic enter;
    assign enter = block_valid && block_ready;
    always_comb begin
        for (int i = 0; i < 16; i = i + 1) begin
            padded[8*(15-i)+:8] = i < block_bytes ? block[8*(15-i)+:8] : i == block_bytes ? 8'h80 : 8'h00;
        end
    end

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        if (rst) inside_now <= 1'b0;
        else inside_now <= enter || (inside_now && !take);
        if (enter) begin
            value <= padded;
            kind  <= block_kind;
            last  <= block_last;
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            assume (!take || held);
            // Bytes beyond the block's end are 0, as packet_front outputs them.
            if (block_valid) assume (block_bytes != '0 && block_bytes <= 5'd16);
            for (int i = 0; i < 16; i = i + 1) if (i >= block_bytes) assume (block[8*(15-i)+:8] == '0);

            assert (held == inside_now);
            assert (block_ready == (!held || take));
            if (held) assert (held_block == value && held_kind == kind);
            if (held) assert (held_last == (last || block_kind != kind));
            // Inductive invariants.
            if (held) assert (intake.packet_last == last);
            cover (held && take && enter && held_last);
        end
    end
endmodule
