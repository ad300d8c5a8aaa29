// MixColumns (FIPS 197 section 5.1.3) of one column, and AddRoundKey. Combinational, two levels of LUT6.
//
// With s the sum of the four bytes, row i of the result is
//     2 (a[i] + a[i+1]) + a[i] + s + key[i].
// Multiplication by 2 is a shift, and for three of the eight bits the top bit `top` is added. Where s and the
// top bits are made first, every bit of the result is one function of six inputs: 32 + 3 + 4 LUTs.
module aes_mix_column (
    input  logic [31:0] column,
    input  logic [31:0] key,
    output logic [31:0] mixed
);
    logic [7:0] a [0:3];
    logic [7:0] sum;

    for (genvar i = 0; i < 4; i = i + 1) begin : g_byte
        assign a[i] = column[31 - 8 * i -: 8];
    end
    assign sum = a[0] ^ a[1] ^ a[2] ^ a[3];

    for (genvar i = 0; i < 4; i = i + 1) begin : g_row
        logic top;
        assign top = a[i][7] ^ a[(i + 1) % 4][7];
        assign mixed[31 - 8 * i -: 8] = {a[i][6:0] ^ a[(i + 1) % 4][6:0], 1'b0}
            ^ {3'b0, top, top, 1'b0, top, top}
            ^ a[i] ^ sum ^ key[31 - 8 * i -: 8];
    end
endmodule
