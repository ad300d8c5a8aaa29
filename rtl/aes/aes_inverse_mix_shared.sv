// The terms of InvMixColumns that two rows share, and the top bits for its multiplications by 2 (see
// aes_inverse_mix_column). Combinational, two levels of LUT6, 36 LUTs. This is a separate module so that technology
// mapping preserves its structure.
//   shared[8j+7 : 8j] = 9 s + 4 p,  s the sum of the column's four bytes, p = a[j] + a[j+2]
//   top[i]            = bit 7 of a[i] + a[i+1]
//
// With q the sum of the other two bytes, s = p + q. Where a bit of 9 s + 4 p contains s + p, q replaces it. Each bit
// then has at most six inputs.
module aes_inverse_mix_shared (
    input  logic [31:0] column,
    output logic [15:0] shared,
    output logic [3:0]  top
);
    logic [7:0] s;
    logic [3:0] pair [0:1];

    aes_inverse_mix_sums sums (
        .column,
        .sum(s),
        .pair_0(pair[0]),
        .pair_1(pair[1]),
        .top
    );

    for (genvar j = 0; j < 2; j = j + 1) begin : g_pair
        logic [7:0] p;
        logic q7, q6;
        assign {p[7:6], p[2:1]} = pair[j];
        assign {q7, q6} = pair[1 - j][3:2];
        assign {p[5:3], p[0]} = {column[29 - 8 * j -: 3], column[24 - 8 * j]}
            ^ {column[13 - 8 * j -: 3], column[8 - 8 * j]};
        assign shared[8 * j +: 8] = {
            s[7] ^ s[4] ^ p[5],
            s[6] ^ s[3] ^ s[7] ^ p[4],
            s[5] ^ s[2] ^ s[6] ^ q7 ^ p[3],
            s[4] ^ s[1] ^ s[5] ^ q6 ^ p[7] ^ p[2],
            s[3] ^ s[0] ^ s[5] ^ s[7] ^ p[1] ^ p[6],
            s[2] ^ s[6] ^ q7 ^ p[0],
            s[1] ^ s[5] ^ q6 ^ p[7],
            s[0] ^ s[5] ^ p[6]
        };
    end
endmodule

// First sums of InvMixColumns (see aes_inverse_mix_shared). Combinational, one level of LUT6: 8 + 8 + 4 LUTs. This is
// a separate module so that technology mapping preserves its structure.
//   sum     = the sum s of the column's four bytes
//   pair_j  = bits 7, 6, 2 and 1 of a[j] + a[j+2], j = 0 and 1
//   top[i]  = bit 7 of a[i] + a[i+1]
module aes_inverse_mix_sums (
    input  logic [31:0] column,
    output logic [7:0]  sum,
    output logic [3:0]  pair_0,
    output logic [3:0]  pair_1,
    output logic [3:0]  top
);
    logic [7:0] a, b, c, d;
    assign {a, b, c, d} = column;
    assign sum = a ^ b ^ c ^ d;
    assign pair_0 = {a[7:6] ^ c[7:6], a[2:1] ^ c[2:1]};
    assign pair_1 = {b[7:6] ^ d[7:6], b[2:1] ^ d[2:1]};
    assign top = {d[7] ^ a[7], c[7] ^ d[7], b[7] ^ c[7], a[7] ^ b[7]};
endmodule
