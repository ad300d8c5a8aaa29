// What the parts of macsec100g know of IEEE 802.1AE-2018, clause 9. Byte 0, the first on the wire, is in bits 7:0.
package macsec_pkg;

    localparam logic [15:0] ETHER_TYPE = 16'he588;  // 88-E5, its first byte lowest

    localparam int SHORT_BYTES = 48;  // user data that are shorter have their length in the SecTAG

    // The bytes of a number, highest first, as they go over the wire.
    function automatic logic [31:0] swap32(input logic [31:0] x);
        swap32 = {x[7:0], x[15:8], x[23:16], x[31:24]};
    endfunction

    // The bytes of a nonce: `base` is given as it is written, first byte highest.
    function automatic logic [95:0] swap96(input logic [95:0] x);
        for (int i = 0; i < 12; i = i + 1) swap96[8*i+:8] = x[8*(11-i)+:8];
    endfunction

endpackage
