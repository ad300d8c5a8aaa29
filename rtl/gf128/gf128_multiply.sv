// Product in GF(2^128) in GCM's bit order (NIST SP 800-38D section 6.3): bit 127 of a block, the first bit of
// byte 0, is the coefficient of x^0. Four steps of Karatsuba down to 81 products of 8 by 8 bits.
//
// Latency: STAGES clocks, a product every clock. Registers, in this order as STAGES grows from 1 to 4:
// at the end; after the small products; after the sums of operand bytes; after the three 64-bit products.
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

    // Polynomials with bit i = x^i.
    logic [127:0] p, q;
    for (genvar i = 0; i < 128; i = i + 1) begin : g_reverse
        assign p[i] = a[127 - i];
        assign q[i] = b[127 - i];
    end

    // Small product n has four digits in base 3, one for each step of Karatsuba, the 64-bit step first: 0
    // takes the low half of an operand, 1 the high half, 2 the sum of both.
    logic [81*8-1:0] p_sums, q_sums, p_operands, q_operands;
    logic [81*15-1:0] products8, factors8;
    for (genvar n = 0; n < 81; n = n + 1) begin : g_product
        logic [7:0] p_sum, q_sum;
        always_comb begin
            p_sum = '0;
            q_sum = '0;
            for (int i = 0; i < 16; i = i + 1) begin
                // Byte i of an operand belongs to the sum when at every step the half in which it lies is
                // taken.
                if (((n / 27) % 3 == 2 || (n / 27) % 3 == (i / 8) % 2)
                        && ((n / 9) % 3 == 2 || (n / 9) % 3 == (i / 4) % 2)
                        && ((n / 3) % 3 == 2 || (n / 3) % 3 == (i / 2) % 2)
                        && (n % 3 == 2 || n % 3 == i % 2)) begin
                    p_sum = p_sum ^ p[8 * i +: 8];
                    q_sum = q_sum ^ q[8 * i +: 8];
                end
            end
        end
        assign p_sums[8 * n +: 8] = p_sum;
        assign q_sums[8 * n +: 8] = q_sum;

        gf2_multiply8 multiply_bytes (
            .a(p_operands[8 * n +: 8]),
            .b(q_operands[8 * n +: 8]),
            .product(products8[15 * n +: 15])
        );
    end
    gf128_stage #(.WIDTH(2 * 81 * 8), .REGISTER(STAGES >= 3 ? 1 : 0)) after_sums (
        .clk, .in({p_sums, q_sums}), .out({p_operands, q_operands})
    );
    gf128_stage #(.WIDTH(81 * 15), .REGISTER(STAGES >= 2 ? 1 : 0)) after_products (
        .clk, .in(products8), .out(factors8)
    );

    // Products of 16, 32, 64 and 128 bits.
    logic [27*31-1:0] products16;
    logic [9*63-1:0] products32;
    logic [3*127-1:0] products64, factors64;
    logic [254:0] whole;
    for (genvar n = 0; n < 27; n = n + 1) begin : g_join16
        gf2_karatsuba_join #(.HALF(8)) join_bytes (
            .low(factors8[45 * n +: 15]),
            .high(factors8[45 * n + 15 +: 15]),
            .both(factors8[45 * n + 30 +: 15]),
            .product(products16[31 * n +: 31])
        );
    end
    for (genvar n = 0; n < 9; n = n + 1) begin : g_join32
        gf2_karatsuba_join #(.HALF(16)) join_halves (
            .low(products16[93 * n +: 31]),
            .high(products16[93 * n + 31 +: 31]),
            .both(products16[93 * n + 62 +: 31]),
            .product(products32[63 * n +: 63])
        );
    end
    for (genvar n = 0; n < 3; n = n + 1) begin : g_join64
        gf2_karatsuba_join #(.HALF(32)) join_words (
            .low(products32[189 * n +: 63]),
            .high(products32[189 * n + 63 +: 63]),
            .both(products32[189 * n + 126 +: 63]),
            .product(products64[127 * n +: 127])
        );
    end
    gf128_stage #(.WIDTH(3 * 127), .REGISTER(STAGES >= 4 ? 1 : 0)) after_words (
        .clk, .in(products64), .out(factors64)
    );
    gf2_karatsuba_join #(.HALF(64)) join_all (
        .low(factors64[126:0]),
        .high(factors64[253:127]),
        .both(factors64[380:254]),
        .product(whole)
    );

    // x^128 = x^7 + x^2 + x + 1, applied to the high half, and once more to what this pushes over the top.
    logic [127:0] low, high, reduced, reversed;
    logic [6:0] over;
    assign low = whole[127:0];
    assign high = {1'b0, whole[254:128]};
    assign over = high[127:121] ^ {5'b0, high[127:126]} ^ {6'b0, high[127]};
    assign reduced = low ^ high ^ {high[126:0], 1'b0} ^ {high[125:0], 2'b0} ^ {high[120:0], 7'b0}
        ^ {121'b0, over} ^ {120'b0, over, 1'b0} ^ {119'b0, over, 2'b0} ^ {114'b0, over, 7'b0};
    for (genvar i = 0; i < 128; i = i + 1) begin : g_reverse_product
        assign reversed[127 - i] = reduced[i];
    end
    gf128_stage #(.WIDTH(128), .REGISTER(1)) at_end (.clk, .in(reversed), .out(product));
endmodule
