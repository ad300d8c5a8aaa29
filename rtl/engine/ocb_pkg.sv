// OCB3's field (RFC 7253 section 2): a block is a polynomial over GF(2), its first bit (127) the highest
// power, modulo x^128 + x^7 + x^2 + x + 1.
package ocb_pkg;

    // value * x^n, n of 0 to 15: a shift, and what falls out comes back times x^7 + x^2 + x + 1.
    function automatic logic [127:0] times_power(input logic [127:0] value, input logic [3:0] n);
        logic [142:0] wide;
        logic [127:0] high;
        begin
            wide = {15'b0, value} << n;
            high = {113'b0, wide[142:128]};
            times_power = wide[127:0] ^ high ^ (high << 1) ^ (high << 2) ^ (high << 7);
        end
    endfunction

endpackage
