// InvSubBytes of one byte, with the inversion of Boyar and Peralta (see aes_inversion_core): 29 + 63 + 35 gates.
// Combinational.
//
// InvSubBytes(v) is the inverse of A^-1 (v + 63), where A is the matrix of SubBytes. Therefore, with u = v + 63, the
// linear forms of the core are those of SubBytes after A^-1, and its outputs are those of SubBytes mapped back
// through A. A greedy search found the pairs that each linear map shares.
module aes_inverse_sbox_circuit (
    input  logic [7:0] in,
    output logic [7:0] out
);
    logic [21:0] linear;
    logic [17:0] products;

    function automatic logic [21:0] forms(input logic [7:0] u);
        logic [28:0] f;
        f[0] = u[4] ^ u[6];
        f[1] = u[0] ^ u[1];
        f[2] = u[3] ^ u[4];
        f[3] = u[3] ^ u[6];
        f[4] = f[0] ^ f[1];
        f[5] = u[2] ^ u[7];
        f[6] = u[6] ^ u[7];
        f[7] = u[5] ^ f[0];
        f[8] = f[1] ^ f[3];
        f[9] = u[7] ^ f[0];
        f[10] = u[1] ^ f[3];
        f[11] = u[7] ^ f[3];
        f[12] = u[3] ^ f[9];
        f[13] = u[5] ^ f[4];
        f[14] = u[5] ^ f[2];
        f[15] = u[0] ^ f[7];
        f[16] = u[5] ^ f[10];
        f[17] = f[1] ^ f[6];
        f[18] = u[0] ^ u[3];
        f[19] = u[1] ^ f[2];
        f[20] = u[2] ^ f[19];
        f[21] = u[0] ^ f[11];
        f[22] = u[5] ^ f[5];
        f[23] = f[5] ^ f[8];
        f[24] = u[0] ^ f[2];
        f[25] = u[4] ^ u[7];
        f[26] = f[4] ^ f[5];
        f[27] = f[1] ^ f[2];
        f[28] = u[2] ^ f[7];
        forms[0] = f[22];
        forms[1] = f[24];
        forms[2] = f[8];
        forms[3] = f[25];
        forms[4] = f[4];
        forms[5] = f[0];
        forms[6] = f[9];
        forms[7] = f[13];
        forms[8] = f[6];
        forms[9] = f[2];
        forms[10] = f[21];
        forms[11] = f[26];
        forms[12] = f[17];
        forms[13] = f[27];
        forms[14] = f[12];
        forms[15] = f[28];
        forms[16] = f[16];
        forms[17] = f[20];
        forms[18] = f[14];
        forms[19] = f[18];
        forms[20] = f[23];
        forms[21] = f[15];
    endfunction
    assign linear = forms(in ^ 8'h63);

    aes_inversion_core core (
        .y(linear),
        .z(products)
    );

    function automatic logic [7:0] from_products(input logic [17:0] z);
        logic [34:0] g;
        g[0] = z[6] ^ z[15];
        g[1] = z[13] ^ g[0];
        g[2] = z[12] ^ g[1];
        g[3] = z[16] ^ g[2];
        g[4] = z[2] ^ z[10];
        g[5] = z[3] ^ z[4];
        g[6] = z[8] ^ g[3];
        g[7] = g[4] ^ g[5];
        g[8] = z[0] ^ g[6];
        g[9] = z[4] ^ z[5];
        g[10] = z[8] ^ z[14];
        g[11] = z[11] ^ z[17];
        g[12] = g[7] ^ g[10];
        g[13] = z[1] ^ g[12];
        g[14] = z[12] ^ g[13];
        g[15] = z[0] ^ g[2];
        g[16] = z[7] ^ g[9];
        g[17] = g[1] ^ g[13];
        g[18] = z[16] ^ g[14];
        g[19] = z[7] ^ g[5];
        g[20] = z[15] ^ g[11];
        g[21] = g[3] ^ g[19];
        g[22] = g[8] ^ g[9];
        g[23] = z[11] ^ g[18];
        g[24] = g[4] ^ g[16];
        g[25] = z[2] ^ g[8];
        g[26] = g[11] ^ g[15];
        g[27] = z[9] ^ g[17];
        g[28] = z[3] ^ g[6];
        g[29] = z[9] ^ g[20];
        g[30] = z[5] ^ g[28];
        g[31] = g[24] ^ g[26];
        g[32] = g[0] ^ g[23];
        g[33] = z[17] ^ g[27];
        g[34] = z[1] ^ g[22];
        from_products[0] = g[29];
        from_products[1] = g[21];
        from_products[2] = g[34];
        from_products[3] = g[31];
        from_products[4] = g[25];
        from_products[5] = g[32];
        from_products[6] = g[33];
        from_products[7] = g[30];
    endfunction
    assign out = from_products(products);
endmodule
