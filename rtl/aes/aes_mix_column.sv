// MixColumns (FIPS 197 section 5.1.3) of one column, followed by AddRoundKey. Combinational, two levels of LUT6.
//
// With s the sum of the four bytes, row i of the result is
//     2 (a[i] + a[i+1]) + a[i] + s + key[i].
// Multiplication by 2 is a shift; the top bit is also added to bits 4, 3 and 1. If these three bits of s and the top
// bits are computed first, each bit of the result is a function of six inputs: 32 + 3 + 4 LUTs. aes_mix_sums is a
// separate module so that technology mapping preserves this structure.
module aes_mix_column (
    input  logic [31:0] column,
    input  logic [31:0] key,
    output logic [31:0] mixed
);
    logic [2:0] sum;
    logic [3:0] top;

    aes_mix_sums sums (
        .column,
        .sum,
        .top
    );

    for (genvar i = 0; i < 4; i = i + 1) begin : g_row
        for (genvar k = 0; k < 8; k = k + 1) begin : g_bit
            // Bit k of a[i] and of the next three bytes.
            localparam int A = 8 * (3 - i) + k;
            localparam int B = 8 * ((6 - i) % 4) + k;
            localparam int C = 8 * ((5 - i) % 4) + k;
            localparam int D = 8 * ((4 - i) % 4) + k;
            if (k == 0) begin : g_lowest
                assign mixed[A] = top[i] ^ column[B] ^ column[C] ^ column[D] ^ key[A];
            end else if (k == 4 || k == 3 || k == 1) begin : g_reduced
                assign mixed[A] = column[A-1] ^ column[B-1] ^ top[i] ^ column[A] ^ sum[k/2] ^ key[A];
            end else begin : g_shifted
                assign mixed[A] = column[A-1] ^ column[B-1] ^ column[B] ^ column[C] ^ column[D] ^ key[A];
            end
        end
    end
endmodule

// Sums shared by the rows of MixColumns (see aes_mix_column). Combinational, one level of LUT6: 3 + 4 LUTs.
//   sum = bits 4, 3 and 1 of the sum of the column's four bytes
//   top[i] = bit 7 of a[i] + a[i+1]
module aes_mix_sums (
    input  logic [31:0] column,
    output logic [2:0]  sum,
    output logic [3:0]  top
);
    logic [7:0] whole;
    logic unused;
    assign whole = column[31:24] ^ column[23:16] ^ column[15:8] ^ column[7:0];
    assign sum = {whole[4:3], whole[1]};
    assign unused = ^{whole[7:5], whole[2], whole[0]};
    for (genvar i = 0; i < 4; i = i + 1) begin : g_top
        assign top[i] = column[31-8*i] ^ column[31-8*((i+1)%4)];
    end
endmodule
