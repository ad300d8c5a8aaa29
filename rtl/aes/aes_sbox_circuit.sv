// SubBytes of one byte as the Boyar-Peralta circuit (see aes_inversion_core): 115 gates. Combinational. `x` and `s`
// are numbered as in the paper: x[0] is the highest bit of the byte.
module aes_sbox_circuit (
    input  logic [7:0] in,
    output logic [7:0] out
);
    logic [7:0] numbered, result;
    logic [21:0] linear;
    logic [17:0] products;
    for (genvar i = 0; i < 8; i = i + 1) begin : g_number
        assign numbered[i] = in[7 - i];
        assign out[7 - i] = result[i];
    end

    // The linear forms of the byte.
    function automatic logic [21:0] forms(input logic [7:0] x);
        logic x12, x4y12;
        logic [21:0] y;
        x12 = x[1] ^ x[2];
        y[14] = x[3] ^ x[5];
        y[13] = x[0] ^ x[6];
        y[12] = y[13] ^ y[14];
        y[9] = x[0] ^ x[3];
        y[8] = x[0] ^ x[5];
        y[0] = x[7];
        y[1] = x12 ^ x[7];
        y[2] = y[1] ^ x[0];
        y[4] = y[1] ^ x[3];
        y[5] = y[1] ^ x[6];
        y[3] = y[5] ^ y[8];
        x4y12 = x[4] ^ y[12];
        y[15] = x4y12 ^ x[5];
        y[20] = x4y12 ^ x[1];
        y[6] = y[15] ^ x[7];
        y[10] = y[15] ^ x12;
        y[11] = y[20] ^ y[9];
        y[7] = x[7] ^ y[11];
        y[17] = y[10] ^ y[11];
        y[19] = y[10] ^ y[8];
        y[16] = x12 ^ y[11];
        y[21] = y[13] ^ y[16];
        y[18] = x[0] ^ y[16];
        forms = y;
    endfunction
    assign linear = forms(numbered);

    aes_inversion_core core (
        .y(linear),
        .z(products)
    );

    // The byte from the products, including the affine map of SubBytes.
    function automatic logic [7:0] from_products(input logic [17:0] z);
        logic [67:46] t;
        logic [7:0] s;
        t[46] = z[15] ^ z[16];
        t[47] = z[10] ^ z[11];
        t[48] = z[5] ^ z[13];
        t[49] = z[9] ^ z[10];
        t[50] = z[2] ^ z[12];
        t[51] = z[2] ^ z[5];
        t[52] = z[7] ^ z[8];
        t[53] = z[0] ^ z[3];
        t[54] = z[6] ^ z[7];
        t[55] = z[16] ^ z[17];
        t[56] = z[12] ^ t[48];
        t[57] = t[50] ^ t[53];
        t[58] = z[4] ^ t[46];
        t[59] = z[3] ^ t[54];
        t[60] = t[46] ^ t[57];
        t[61] = z[14] ^ t[57];
        t[62] = t[52] ^ t[58];
        t[63] = t[49] ^ t[58];
        t[64] = z[4] ^ t[59];
        t[65] = t[61] ^ t[62];
        t[66] = z[1] ^ t[63];
        t[67] = t[64] ^ t[65];
        s[0] = t[59] ^ t[63];
        s[3] = t[53] ^ t[66];
        s[1] = ~(t[64] ^ s[3]);
        s[4] = t[51] ^ t[66];
        s[5] = t[47] ^ t[65];
        s[2] = ~(t[55] ^ t[67]);
        s[6] = ~(t[56] ^ t[62]);
        s[7] = ~(t[48] ^ t[60]);
        from_products = s;
    endfunction
    assign result = from_products(products);
endmodule
