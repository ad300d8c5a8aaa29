// Product of two polynomials over GF(2) with eight coefficients each; bit i is the coefficient of x^i. Combinational.
module gf2_multiply8 (
    input  logic [7:0]  a,
    input  logic [7:0]  b,
    output logic [14:0] product
);
    assign product = {7'b0, a & {8{b[0]}}}
        ^ {6'b0, a & {8{b[1]}}, 1'b0}
        ^ {5'b0, a & {8{b[2]}}, 2'b0}
        ^ {4'b0, a & {8{b[3]}}, 3'b0}
        ^ {3'b0, a & {8{b[4]}}, 4'b0}
        ^ {2'b0, a & {8{b[5]}}, 5'b0}
        ^ {1'b0, a & {8{b[6]}}, 6'b0}
        ^ {a & {8{b[7]}}, 7'b0};
endmodule
