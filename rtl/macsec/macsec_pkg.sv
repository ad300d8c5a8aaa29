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

    // How many bytes a beat has. Its tkeep is contiguous, so bit k of their number is the parity of those bits of tkeep
    // that stand before a multiple of 2^k: three LUTs deep, where counting one after the other takes eight.
    function automatic logic [6:0] kept_bytes(input logic [63:0] keep);
        kept_bytes = '0;
        for (int i = 0; i < 64; i = i + 1) begin
            for (int k = 0; k < 7; k = k + 1) begin
                if ((i + 1) % (1 << k) == 0) kept_bytes[k] = kept_bytes[k] ^ keep[i];
            end
        end
    endfunction

    // A tkeep of so many bytes: eights and ones apart, for a chain of comparisons would be slow.
    function automatic logic [63:0] keep_of(input logic [6:0] bytes);
        for (int i = 0; i < 64; i = i + 1) begin
            keep_of[i] = 4'(i / 8) < bytes[6:3] || (4'(i / 8) == bytes[6:3] && 3'(i % 8) < bytes[2:0]);
        end
    endfunction

endpackage
