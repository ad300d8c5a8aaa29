// InvMixColumns (FIPS 197 section 5.3.3) of one column, followed by AddRoundKey: mixed = InvMixColumns(column) + key.
// Combinational, three levels of LUT6.
//
// 14 = 2 + 4 + 8, 11 = 3 + 8, 13 = 1 + 4 + 8, 9 = 1 + 8. With s the sum of the four bytes, row i of the result is
//     2 (a[i] + a[i+1]) + a[i] + shared[i mod 2] + key[i],   shared[j] = 9 s + 4 (a[j] + a[j+2]).
// Two rows share each shared[j], the expensive part.
module aes_inverse_mix_column (
    input  logic [31:0] column,
    input  logic [31:0] key,
    output logic [31:0] mixed
);
    logic [15:0] shared;
    logic [3:0] top;

    aes_inverse_mix_shared common (
        .column,
        .shared,
        .top
    );

    for (genvar i = 0; i < 4; i = i + 1) begin : g_row
        logic [7:0] a;
        logic [6:0] b;
        assign a = column[31 - 8 * i -: 8];
        assign b = column[30 - 8 * ((i + 1) % 4) -: 7];
        assign mixed[31 - 8 * i -: 8] = {a[6:0] ^ b, 1'b0}
            ^ {3'b0, top[i], top[i], 1'b0, top[i], top[i]}
            ^ a ^ shared[8 * (i % 2) +: 8] ^ key[31 - 8 * i -: 8];
    end
endmodule
