// Product of two polynomials over GF(2) of eight coefficients each, bit i = x^i. Combinational.
module gf2_multiply8 (
    input  logic [7:0]  a,
    input  logic [7:0]  b,
    output logic [14:0] product
);
    always_comb begin
        product = '0;
        for (int i = 0; i < 8; i = i + 1) begin
            product = product ^ ({7'b0, a & {8{b[i]}}} << i);
        end
    end
endmodule
