// The part of InvMixColumns that two rows share, and the top bits of the multiplications by 2 (see
// aes_inverse_mix_column). Combinational, two levels of LUT6. A module of its own, so that a mapper to LUTs
// leaves this structure alone.
//   shared[8j+7 : 8j] = 9 s + 4 (a[j] + a[j+2])   with s the sum of the column's four bytes
//   top[i]            = bit 7 of a[i] + a[i+1]
module aes_inverse_mix_shared (
    input  logic [31:0] column,
    output logic [15:0] shared,
    output logic [3:0]  top
);
    logic [7:0] a [0:3];
    logic [7:0] sum;

    for (genvar i = 0; i < 4; i = i + 1) begin : g_byte
        assign a[i] = column[31 - 8 * i -: 8];
        assign top[i] = column[31 - 8 * i] ^ column[31 - 8 * ((i + 1) % 4)];
    end
    assign sum = a[0] ^ a[1] ^ a[2] ^ a[3];

    for (genvar j = 0; j < 2; j = j + 1) begin : g_pair
        assign shared[8 * j +: 8] = sum
            ^ aes_pkg::xtime(aes_pkg::xtime(aes_pkg::xtime(sum) ^ a[j] ^ a[j + 2]));
    end
endmodule
