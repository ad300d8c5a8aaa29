// Nonlinear part of the S-box circuits of Boyar and Peralta ("A new combinational logic minimization technique with
// applications to cryptology", SEA 2010): inversion in GF(2^8) through GF(2^4) and GF(2^2). 32 AND gates.
// Combinational.
//
// `y` contains 22 linear forms of the element to invert (y[0] is the paper's x7). The inverse is a linear form of the
// 18 products `z`. The linear maps before and after are in aes_sbox_circuit and aes_inverse_sbox_circuit.
module aes_inversion_core (
    input  logic [21:0] y,
    output logic [17:0] z
);
    // Norm to GF(2^4).
    logic shared_low, shared_high, shared_mixed, n0, n1, n2, n3;
    assign shared_low = y[12] & y[15];
    assign shared_high = y[13] & y[16];
    assign shared_mixed = y[9] & y[11];
    assign n0 = (y[3] & y[6]) ^ shared_low ^ (y[14] & y[17]) ^ shared_mixed ^ y[20];
    assign n1 = (y[4] & y[0]) ^ shared_low ^ (y[8] & y[10]) ^ shared_mixed ^ y[19];
    assign n2 = (y[5] & y[1]) ^ shared_high ^ (y[14] & y[17]) ^ shared_mixed ^ y[21];
    assign n3 = (y[2] & y[7]) ^ shared_high ^ (y[8] & y[10]) ^ shared_mixed ^ y[18];

    // Inversion in GF(2^4): {n0, n1, n2, n3} becomes {i3, i2, i1, i0}.
    logic n01, n02, below, above, i0, i1, i2, i3;
    assign n01 = n0 ^ n1;
    assign n02 = n0 & n2;
    assign below = n3 ^ n02;
    assign i0 = (n01 & below) ^ n1;
    assign i1 = ((n1 ^ n02) & (n2 ^ n3)) ^ n3;
    assign above = n3 & (below ^ i1);
    assign i2 = n01 ^ (i0 & (below ^ above));
    assign i3 = above ^ n2 ^ i1;

    // Multiplication with both halves of the element.
    logic i01, i02, i13, i23, i0123;
    assign i01 = i0 ^ i1;
    assign i02 = i0 ^ i2;
    assign i13 = i1 ^ i3;
    assign i23 = i2 ^ i3;
    assign i0123 = i01 ^ i23;
    assign z = {
        i23 & y[8], i0123 & y[14], i01 & y[9], i0 & y[2], i2 & y[5], i02 & y[13],
        i1 & y[4], i3 & y[3], i13 & y[12], i23 & y[10], i0123 & y[17], i01 & y[11],
        i0 & y[7], i2 & y[1], i02 & y[16], i1 & y[0], i3 & y[6], i13 & y[15]
    };
endmodule
