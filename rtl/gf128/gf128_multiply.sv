// Multiplier in GF(2^128) in GCM's bit order (NIST SP 800-38D, section 6.3): bit 127 of a block, the first bit of byte
// 0, is the coefficient of x^0. Four Karatsuba steps reduce it to 81 products of 8 by 8 bits.
//
// Latency: STAGES clocks. Throughput: one product per clock. As STAGES grows from 1 to 4, registers are added in this
// order: at the output; after the 8-bit products; after the sums of operand bytes; after the three 64-bit products.
module gf128_multiply #(
    parameter int STAGES = 4
) (
    input  logic         clk,
    input  logic [127:0] a,
    input  logic [127:0] b,
    output logic [127:0] product
);
    localparam int LATENCY = STAGES;
    if (LATENCY < 1 || LATENCY > 4) begin : g_refused
        this_number_of_stages_is_not_supported refused ();
    end

    // Operands as polynomials: bit i is the coefficient of x^i.
    logic [127:0] p, q;
    for (genvar i = 0; i < 128; i = i + 1) begin : g_reverse
        assign p[i] = a[127 - i];
        assign q[i] = b[127 - i];
    end

    // Operands of 64, 32, 16 and 8 bits. Operand n of one size yields operands 3n, 3n + 1 and 3n + 2 of the next: its
    // low half, its high half, and their sum.
    logic [3*64-1:0] p64, q64;
    logic [9*32-1:0] p32, q32;
    logic [27*16-1:0] p16, q16;
    logic [81*8-1:0] p8, q8, p8_operands, q8_operands;
    assign p64 = {p[127:64] ^ p[63:0], p};
    assign q64 = {q[127:64] ^ q[63:0], q};
    for (genvar n = 0; n < 3; n = n + 1) begin : g_split64
        assign p32[96 * n +: 96] = {p64[64 * n + 32 +: 32] ^ p64[64 * n +: 32], p64[64 * n +: 64]};
        assign q32[96 * n +: 96] = {q64[64 * n + 32 +: 32] ^ q64[64 * n +: 32], q64[64 * n +: 64]};
    end
    for (genvar n = 0; n < 9; n = n + 1) begin : g_split32
        assign p16[48 * n +: 48] = {p32[32 * n + 16 +: 16] ^ p32[32 * n +: 16], p32[32 * n +: 32]};
        assign q16[48 * n +: 48] = {q32[32 * n + 16 +: 16] ^ q32[32 * n +: 16], q32[32 * n +: 32]};
    end
    for (genvar n = 0; n < 27; n = n + 1) begin : g_split16
        assign p8[24 * n +: 24] = {p16[16 * n + 8 +: 8] ^ p16[16 * n +: 8], p16[16 * n +: 16]};
        assign q8[24 * n +: 24] = {q16[16 * n + 8 +: 8] ^ q16[16 * n +: 8], q16[16 * n +: 16]};
    end

    // The 81 products of 8 by 8 bits.
    logic [81*15-1:0] products8, factors8;
    for (genvar n = 0; n < 81; n = n + 1) begin : g_product
        gf2_multiply8 multiply_bytes (
            .a(p8_operands[8 * n +: 8]),
            .b(q8_operands[8 * n +: 8]),
            .product(products8[15 * n +: 15])
        );
    end
    gf128_stage #(
        .WIDTH(2 * 81 * 8),
        .REGISTER(STAGES >= 3 ? 1 : 0)
    ) after_sums (
        .clk,
        .in({p8, q8}),
        .out({p8_operands, q8_operands})
    );
    gf128_stage #(
        .WIDTH(81 * 15),
        .REGISTER(STAGES >= 2 ? 1 : 0)
    ) after_products (
        .clk,
        .in(products8),
        .out(factors8)
    );

    // Joins these to products of 16, 32, 64 and 128 bits.
    logic [27*31-1:0] products16;
    logic [9*63-1:0] products32;
    logic [3*127-1:0] products64, factors64;
    logic [254:0] whole;
    for (genvar n = 0; n < 27; n = n + 1) begin : g_join16
        gf2_karatsuba_join #(
            .HALF(8)
        ) join_bytes (
            .low(factors8[45 * n +: 15]),
            .high(factors8[45 * n + 15 +: 15]),
            .both(factors8[45 * n + 30 +: 15]),
            .product(products16[31 * n +: 31])
        );
    end
    for (genvar n = 0; n < 9; n = n + 1) begin : g_join32
        gf2_karatsuba_join #(
            .HALF(16)
        ) join_halves (
            .low(products16[93 * n +: 31]),
            .high(products16[93 * n + 31 +: 31]),
            .both(products16[93 * n + 62 +: 31]),
            .product(products32[63 * n +: 63])
        );
    end
    for (genvar n = 0; n < 3; n = n + 1) begin : g_join64
        gf2_karatsuba_join #(
            .HALF(32)
        ) join_words (
            .low(products32[189 * n +: 63]),
            .high(products32[189 * n + 63 +: 63]),
            .both(products32[189 * n + 126 +: 63]),
            .product(products64[127 * n +: 127])
        );
    end
    gf128_stage #(
        .WIDTH(3 * 127),
        .REGISTER(STAGES >= 4 ? 1 : 0)
    ) after_words (
        .clk,
        .in(products64),
        .out(factors64)
    );
    gf2_karatsuba_join #(
        .HALF(64)
    ) join_all (
        .low(factors64[126:0]),
        .high(factors64[253:127]),
        .both(factors64[380:254]),
        .product(whole)
    );

    // Reduction: x^128 = x^7 + x^2 + x + 1, applied to the high half, and again to its overflow.
    logic [127:0] low, high, reduced, reversed;
    logic [6:0] over;
    assign low = whole[127:0];
    assign high = {1'b0, whole[254:128]};
    assign over = high[127:121] ^ {5'b0, high[127:126]} ^ {6'b0, high[127]};
    assign reduced = low ^ high ^ {high[126:0], 1'b0} ^ {high[125:0], 2'b0} ^ {high[120:0], 7'b0}
        ^ {121'b0, over} ^ {120'b0, over, 1'b0} ^ {119'b0, over, 2'b0} ^ {114'b0, over, 7'b0};
    for (genvar i = 0; i < 128; i = i + 1) begin : g_reverse_product
        assign reversed[127-i] = reduced[i];
    end
    gf128_stage #(
        .WIDTH(128),
        .REGISTER(1)
    ) at_end (
        .clk,
        .in(reversed),
        .out(product)
    );
endmodule
