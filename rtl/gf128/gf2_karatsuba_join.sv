// Final part of a Karatsuba step for polynomials over GF(2), where bit i is the coefficient of x^i. The operands are
// split into halves of HALF bits; this module computes their product from low * low, high * high and
// (low + high) * (low + high). Combinational, one level of LUT6.
module gf2_karatsuba_join #(
    parameter int HALF = 8
) (
    input  logic [2*HALF-2:0] low,
    input  logic [2*HALF-2:0] high,
    input  logic [2*HALF-2:0] both,
    output logic [4*HALF-2:0] product
);
    assign product = {high, 1'b0, low} ^ ({{(2 * HALF) {1'b0}}, low ^ high ^ both} << HALF);
endmodule
