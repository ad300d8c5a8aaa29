// Serpent (Anderson, Biham, Knudsen, 1998), bit-sliced on four 32-bit words: functions for both pipelines and the key
// schedule. A state is {x3, x2, x1, x0} with x0 in bits 31:0. The words are little-endian in the bytes of a block, so a
// state is a block with its bytes reversed (bytes_pkg::swap128). This form needs no initial and final permutation.
//
// The S-boxes are one formula per output bit on whole words a = x0, b = x1, c = x2, d = x3: the smallest formulas found
// by a search over all functions of four bits. Synthesis maps each to one 4-input LUT.
// Prekeys are the words w[i] of the key schedule, stored in windows of eight with the oldest in bits 31:0.
package serpent_pkg;

    function automatic logic [127:0] sbox0(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox0[31:0] = ~((~b & (a | c)) ^ (d & ~(c & (a ^ b))));
            sbox0[63:32] = ~((b & (c | d)) ^ (a & ~(c & ~(b ^ d))));
            sbox0[95:64] = a ^ (b ^ (~(b & ~c) & (d ^ (a & ~c))));
            sbox0[127:96] = b ^ (c ^ (a | d));
        end
    endfunction

    function automatic logic [127:0] sbox1(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox1[31:0] = ~(a ^ (b ^ ((a | c) & (d | (b & c)))));
            sbox1[63:32] = ~(a ^ (d ^ ((b & (a | d)) | (c & ~(a & ~d)))));
            sbox1[95:64] = ~(c ^ (d ^ (b & ~a)));
            sbox1[127:96] = ~(a ^ (d ^ ((b ^ (a & ~c)) & ~(d & (a ^ c)))));
        end
    endfunction

    function automatic logic [127:0] sbox2(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox2[31:0] = b ^ (d ^ (c & ~a));
            sbox2[63:32] = a ^ (b ^ ((c ^ (d & ~b)) & ~(~a & (b ^ d))));
            sbox2[95:64] = a ^ (d ^ ((b ^ c) & (b ^ (d & ~a))));
            sbox2[127:96] = ~(a ^ (c ^ (b & ~(d ^ (a & c)))));
        end
    endfunction

    function automatic logic [127:0] sbox3(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox3[31:0] = (b & ~(c & ~d)) ^ (a | (d & ~c));
            sbox3[63:32] = a ^ ((c & (a | d)) ^ (b | (a & d)));
            sbox3[95:64] = a ^ (c ^ (~(b & ~a) & (d ^ (b & ~c))));
            sbox3[127:96] = a ^ ((b & ~(a & ~c)) ^ (d | (c & ~a)));
        end
    endfunction

    function automatic logic [127:0] sbox4(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox4[31:0] = ~(a ^ (c ^ ((b ^ d) | (a ^ d))));
            sbox4[63:32] = a ^ (c ^ ((c | d) & ~(b ^ (a & ~d))));
            sbox4[95:64] = a ^ (b ^ ((c | (b & ~a)) & ~(d & ~(a & b))));
            sbox4[127:96] = a ^ (d ^ (b | (c ^ (d & ~a))));
        end
    endfunction

    function automatic logic [127:0] sbox5(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox5[31:0] = ~(a ^ (c ^ ((b ^ d) | (a ^ d))));
            sbox5[63:32] = ~(a ^ (b ^ (d | (c ^ (b & ~a)))));
            sbox5[95:64] = ~(a ^ (d ^ ((b ^ (a & ~c)) | (d & (a ^ c)))));
            sbox5[127:96] = ~(b ^ (c ^ ((a & ~c) | (d ^ (a & ~b)))));
        end
    endfunction

    function automatic logic [127:0] sbox6(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox6[31:0] = ~(a ^ (b ^ ((d ^ (c & ~a)) & ~(b & (a ^ c)))));
            sbox6[63:32] = ~(b ^ (c ^ (a & d)));
            sbox6[95:64] = ~(a ^ (b ^ ((c | (b & ~a)) & ~(d & ~(a & b)))));
            sbox6[127:96] = a ^ (c ^ (~(c & ~b) & (d ^ (a | b))));
        end
    endfunction

    function automatic logic [127:0] sbox7(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            sbox7[31:0] = ~(c ^ (d ^ (~(a ^ b) & (a ^ (d & ~c)))));
            sbox7[63:32] = a ^ (d ^ ((b ^ c) | (b ^ (a & ~d))));
            sbox7[95:64] = a ^ (b ^ ((c ^ (d & ~a)) & ~(b & (a ^ d))));
            sbox7[127:96] = b ^ (c ^ (a & ~(d ^ (c & ~b))));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox0(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox0[31:0] = ~(a ^ (d ^ ((d | (a ^ c)) & ~(b ^ (a & c)))));
            inverse_sbox0[63:32] = a ^ (b ^ ((b | c) & (d | (c & ~a))));
            inverse_sbox0[95:64] = ~(c ^ (d ^ (a | b)));
            inverse_sbox0[127:96] = ~(a ^ (d ^ ((b | (d & ~a)) & (c | (a & d)))));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox1(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox1[31:0] = ~((a & ~(c & d)) ^ (b & ~(~c & (a ^ d))));
            inverse_sbox1[63:32] = (a | (c & ~b)) ^ (d | (~c & (a ^ b)));
            inverse_sbox1[95:64] = ~(a ^ (b ^ ((a & c) | (d ^ (b & c)))));
            inverse_sbox1[127:96] = a ^ (c ^ (d & ~b));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox2(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox2[31:0] = a ^ (c ^ (b & ~(c ^ d)));
            inverse_sbox2[63:32] = a ^ ((c & ~(d & ~a)) ^ (b | (a & ~d)));
            inverse_sbox2[95:64] = ~((c & ~(a & d)) ^ (~b & (a | d)));
            inverse_sbox2[127:96] = ~((b & (a | c)) ^ (d & ~(a & c)));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox3(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox3[31:0] = b ^ (c ^ (d | (a ^ (b & ~c))));
            inverse_sbox3[63:32] = a ^ (c ^ ((b ^ (a | d)) & ~(c & ~(a ^ d))));
            inverse_sbox3[95:64] = a ^ (d ^ (~(b ^ c) & (c ^ (a | d))));
            inverse_sbox3[127:96] = a ^ (b ^ ((c ^ d) & (c ^ (a & ~b))));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox4(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox4[31:0] = ~(a ^ (b ^ ((d & ~a) | (c ^ (b & d)))));
            inverse_sbox4[63:32] = c ^ (d ^ (a & (b ^ (c | d))));
            inverse_sbox4[95:64] = ~(a ^ ((c & ~(a & ~b)) ^ (d | (b & ~a))));
            inverse_sbox4[127:96] = a ^ (b ^ (~d & (c ^ (a & ~b))));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox5(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox5[31:0] = a ^ (d ^ (b & (c ^ (a & d))));
            inverse_sbox5[63:32] = a ^ (c ^ (~(a & ~b) & (d ^ (b | c))));
            inverse_sbox5[95:64] = a ^ ((b & (a | d)) ^ (c & ~(a & d)));
            inverse_sbox5[127:96] = ~(b ^ (c ^ (a & (d ^ (b & ~c)))));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox6(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox6[31:0] = ~((a & ~(c & ~b)) ^ (d | (b & (a ^ c))));
            inverse_sbox6[63:32] = ~(b ^ (d ^ (c & ~a)));
            inverse_sbox6[95:64] = ~(a ^ (c ^ ((b | c) & ~(d & ~(a & b)))));
            inverse_sbox6[127:96] = ~((c | (b & ~a)) ^ (d & ~(~b & (a ^ c))));
        end
    endfunction

    function automatic logic [127:0] inverse_sbox7(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            inverse_sbox7[31:0] = ~(a ^ (c ^ ((b | c) & ~(d & ~(a & b)))));
            inverse_sbox7[63:32] = ~(a ^ (d ^ ((c | d) & (b ^ (a | c)))));
            inverse_sbox7[95:64] = a ^ ((~c & (a | d)) ^ (b | (a & d)));
            inverse_sbox7[127:96] = (d & (a | b)) ^ (c | (a & b));
        end
    endfunction

    // Applies S-box number `which`.
    function automatic logic [127:0] substitute(input logic [2:0] which, input logic [127:0] x);
        if (which == 3'd0) substitute = sbox0(x);
        else if (which == 3'd1) substitute = sbox1(x);
        else if (which == 3'd2) substitute = sbox2(x);
        else if (which == 3'd3) substitute = sbox3(x);
        else if (which == 3'd4) substitute = sbox4(x);
        else if (which == 3'd5) substitute = sbox5(x);
        else if (which == 3'd6) substitute = sbox6(x);
        else substitute = sbox7(x);
    endfunction

    // Applies the inverse of S-box number `which`.
    function automatic logic [127:0] inverse_substitute(input logic [2:0] which, input logic [127:0] x);
        if (which == 3'd0) inverse_substitute = inverse_sbox0(x);
        else if (which == 3'd1) inverse_substitute = inverse_sbox1(x);
        else if (which == 3'd2) inverse_substitute = inverse_sbox2(x);
        else if (which == 3'd3) inverse_substitute = inverse_sbox3(x);
        else if (which == 3'd4) inverse_substitute = inverse_sbox4(x);
        else if (which == 3'd5) inverse_substitute = inverse_sbox5(x);
        else if (which == 3'd6) inverse_substitute = inverse_sbox6(x);
        else inverse_substitute = inverse_sbox7(x);
    endfunction

    function automatic logic [127:0] linear_transform(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            a = {a[18:0], a[31:19]};
            c = {c[28:0], c[31:29]};
            b = b ^ a ^ c;
            b = {b[30:0], b[31]};
            d = d ^ c ^ {a[28:0], 3'b0};
            d = {d[24:0], d[31:25]};
            a = a ^ b ^ d;
            a = {a[26:0], a[31:27]};
            c = c ^ d ^ {b[24:0], 7'b0};
            c = {c[9:0], c[31:10]};
            linear_transform = {d, c, b, a};
        end
    endfunction

    function automatic logic [127:0] inverse_linear_transform(input logic [127:0] x);
        logic [31:0] a, b, c, d;
        begin
            {d, c, b, a} = x;
            c = {c[21:0], c[31:22]};
            c = c ^ d ^ {b[24:0], 7'b0};
            a = {a[4:0], a[31:5]};
            a = a ^ b ^ d;
            d = {d[6:0], d[31:7]};
            d = d ^ c ^ {a[28:0], 3'b0};
            b = {b[0], b[31:1]};
            b = b ^ a ^ c;
            c = {c[2:0], c[31:3]};
            a = {a[12:0], a[31:13]};
            inverse_linear_transform = {d, c, b, a};
        end
    endfunction

    // The prekey recurrence forward: w[i] from w[i-8], w[i-5], w[i-3] and w[i-1].
    function automatic logic [31:0] next_prekey(input logic [31:0] w8, input logic [31:0] w5,
                                                input logic [31:0] w3, input logic [31:0] w1,
                                                input logic [7:0] i);
        logic [31:0] sum;
        begin
            sum = w8 ^ w5 ^ w3 ^ w1 ^ 32'h9e3779b9 ^ {24'b0, i};
            next_prekey = {sum[20:0], sum[31:21]};
        end
    endfunction

    // The prekey recurrence backward: w[i-8] from w[i], w[i-5], w[i-3] and w[i-1].
    function automatic logic [31:0] previous_prekey(input logic [31:0] w0, input logic [31:0] w5,
                                                    input logic [31:0] w3, input logic [31:0] w1,
                                                    input logic [7:0] i);
        previous_prekey = {w0[10:0], w0[31:11]} ^ w5 ^ w3 ^ w1 ^ 32'h9e3779b9 ^ {24'b0, i};
    endfunction

    // Moves the window forward by four prekeys. Its upper half then holds the prekeys of round key `round`.
    function automatic logic [255:0] advance(input logic [255:0] w, input logic [5:0] round);
        logic [31:0] a, b, c, d;
        begin
            a = next_prekey(w[31:0], w[127:96], w[191:160], w[255:224], {round, 2'd0});
            b = next_prekey(w[63:32], w[159:128], w[223:192], a, {round, 2'd1});
            c = next_prekey(w[95:64], w[191:160], w[255:224], b, {round, 2'd2});
            d = next_prekey(w[127:96], w[223:192], a, c, {round, 2'd3});
            advance = {d, c, b, a, w[255:128]};
        end
    endfunction

    // Moves the window backward by four prekeys, from one whose upper half holds the prekeys of round key `round`.
    function automatic logic [255:0] retreat(input logic [255:0] w, input logic [5:0] round);
        logic [31:0] a, b, c, d;
        begin
            d = previous_prekey(w[255:224], w[95:64], w[159:128], w[223:192], {round, 2'd3});
            c = previous_prekey(w[223:192], w[63:32], w[127:96], w[191:160], {round, 2'd2});
            b = previous_prekey(w[191:160], w[31:0], w[95:64], w[159:128], {round, 2'd1});
            a = previous_prekey(w[159:128], d, w[63:32], w[127:96], {round, 2'd0});
            retreat = {w[127:0], d, c, b, a};
        end
    endfunction

    // Computes round key `round` (modulo 8) from its four prekeys.
    function automatic logic [127:0] round_key(input logic [127:0] prekeys, input logic [2:0] round);
        round_key = substitute(3'd3 - round, prekeys);
    endfunction

endpackage
