// Constant multiples in GF(2^128) with x^128 = x^7 + x^2 + x + 1. Byte 0 of a block is in bits 127:120.
//
// Functions ending in _be read a block big-endian, as CMAC, OCB3, COPA and ELmD do: bit 127 is the coefficient of
// x^127. double_le_bytes reads it as XTS and EME2 do: byte 0 is the least significant byte. gf128_multiply has GCM's
// order, in which bit 127 is the coefficient of x^0.
package gf128_pkg;
    // 2 v
    function automatic logic [127:0] double_be(input logic [127:0] v);
        double_be = {v[126:0], 1'b0} ^ {120'b0, v[127] ? 8'h87 : 8'h00};
    endfunction

    // v / 2
    function automatic logic [127:0] halve_be(input logic [127:0] v);
        halve_be = {1'b0, v[127:1]} ^ {v[0], 120'b0, v[0] ? 7'h43 : 7'h00};
    endfunction

    // 3 v = 2 v + v
    function automatic logic [127:0] triple_be(input logic [127:0] v);
        triple_be = double_be(v) ^ v;
    endfunction

    // 7 v = 4 v + 2 v + v
    function automatic logic [127:0] septuple_be(input logic [127:0] v);
        septuple_be = double_be(double_be(v)) ^ double_be(v) ^ v;
    endfunction

    // 2 v for little-endian bytes: the top bit of each byte carries into the next byte.
    function automatic logic [127:0] double_le_bytes(input logic [127:0] v);
        for (int i = 0; i < 16; i = i + 1) begin
            double_le_bytes[127-8*i-:8] = {v[126-8*i-:7], i > 0 ? v[(135-8*i)%128] : 1'b0};
        end
        double_le_bytes[127:120] = double_le_bytes[127:120] ^ (v[7] ? 8'h87 : 8'h00);
    endfunction
endpackage
