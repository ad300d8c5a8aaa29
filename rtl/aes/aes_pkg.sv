// Constants and functions of AES (FIPS 197) that need no logic beyond wires and XORs: S-box tables, ShiftRows, round
// constants, and one step of the AES-128 key schedule in either direction.
//
// Byte 0 of a block is in bits 127:120. FIPS 197 fills the state column by column, so column c is the word of bytes
// 4c to 4c+3. Word w[c] of a round key is in the same bits.
package aes_pkg;
    // SubBytes, FIPS 197 section 5.1.1, figure 7. Entry x is in bits 8x+7 : 8x.
    localparam logic [2047:0] SBOX = {
        128'h16bb54b00f2d99416842e6bf0d89a18c,
        128'hdf2855cee9871e9b948ed9691198f8e1,
        128'h9e1dc186b95735610ef6034866b53e70,
        128'h8a8bbd4b1f74dde8c6b4a61c2e2578ba,
        128'h08ae7a65eaf4566ca94ed58d6d37c8e7,
        128'h79e4959162acd3c25c2406490a3a32e0,
        128'hdb0b5ede14b8ee4688902a22dc4f8160,
        128'h73195d643d7ea7c41744975fec130ccd,
        128'hd2f3ff1021dab6bcf5389d928f40a351,
        128'ha89f3c507f02f94585334d43fbaaefd0,
        128'hcf584c4a39becb6a5bb1fc20ed00d153,
        128'h842fe329b3d63b52a05a6e1b1a2c8309,
        128'h75b227ebe28012079a059618c323c704,
        128'h1531d871f1e5a534ccf73f362693fdb7,
        128'hc072a49cafa2d4adf04759fa7dc982ca,
        128'h76abd7fe2b670130c56f6bf27b777c63
    };

    // InvSubBytes, FIPS 197 section 5.3.2, figure 14. Entry x is in bits 8x+7 : 8x.
    localparam logic [2047:0] INVERSE_SBOX = {
        128'h7d0c2155631469e126d677ba7e042b17,
        128'h619953833cbbebc8b0f52aae4d3be0a0,
        128'hef9cc9939f7ae52d0d4ab519a97f5160,
        128'h5fec8027591012b131c7078833a8dd1f,
        128'hf45acd78fec0db9a2079d2c64b3e56fc,
        128'h1bbe18aa0e62b76f89c5291d711af147,
        128'h6edf751ce837f9e28535ade72274ac96,
        128'h73e6b4f0cecff297eadc674f4111913a,
        128'h6b8a130103bdafc1020f3fca8f1e2cd0,
        128'h0645b3b80558e4f70ad3bc8c00abd890,
        128'h849d8da75746155edab9edfd5048706c,
        128'h92b6655dcc5ca4d41698688664f6f872,
        128'h25d18b6d49a25b76b224d92866a12e08,
        128'h4ec3fa420b954cee3d23c2a632947b54,
        128'hcbe9dec444438e3487ff2f9b8239e37c,
        128'hfbd7f3819ea340bf38a53630d56a0952
    };

    // ShiftRows: rotates row r of the state left by r columns. Byte i of the result is byte 5i mod 16.
    function automatic logic [127:0] shift_rows(input logic [127:0] state);
        for (int i = 0; i < 16; i = i + 1) begin
            shift_rows[127-8*i-:8] = state[127-8*((5*i)%16)-:8];
        end
    endfunction

    // InvShiftRows: rotates row r of the state right by r columns. Byte i of the result is byte 13i mod 16.
    function automatic logic [127:0] inverse_shift_rows(input logic [127:0] state);
        for (int i = 0; i < 16; i = i + 1) begin
            inverse_shift_rows[127-8*i-:8] = state[127-8*((13*i)%16)-:8];
        end
    endfunction

    // Multiplication by x in GF(2^8). xtime_inverse divides by x.
    function automatic logic [7:0] xtime(input logic [7:0] a);
        xtime = {a[6:0], 1'b0} ^ (a[7] ? 8'h1b : 8'h00);
    endfunction

    function automatic logic [7:0] xtime_inverse(input logic [7:0] a);
        xtime_inverse = {1'b0, a[7:1]} ^ (a[0] ? 8'h8d : 8'h00);
    endfunction

    // Round constant of the step from round key r-1 to round key r: x^(r-1).
    function automatic logic [7:0] round_constant(input int r);
        round_constant = 8'h01;
        for (int i = 1; i < r; i = i + 1) round_constant = xtime(round_constant);
    endfunction

    // RotWord, FIPS 197 section 5.2. The key schedule applies SubWord(RotWord(w)) forward to the last word w of a
    // round key, and backward to w = the XOR of its last two words.
    function automatic logic [31:0] rot_word(input logic [31:0] word);
        rot_word = {word[23:0], word[31:24]};
    endfunction

    // One step of the AES-128 key schedule, FIPS 197 section 5.2. `word` is SubWord(RotWord(..)), `constant` the
    // round constant. previous_round_key inverts next_round_key.
    function automatic logic [127:0] next_round_key(input logic [127:0] key, input logic [31:0] word,
                                                    input logic [7:0] constant);
        next_round_key[127:96] = key[127:96] ^ word ^ {constant, 24'b0};
        next_round_key[95:64] = key[95:64] ^ key[127:96] ^ word ^ {constant, 24'b0};
        next_round_key[63:32] = key[63:32] ^ key[95:64] ^ key[127:96] ^ word ^ {constant, 24'b0};
        next_round_key[31:0] = key[31:0] ^ key[63:32] ^ key[95:64] ^ key[127:96] ^ word
            ^ {constant, 24'b0};
    endfunction

    function automatic logic [127:0] previous_round_key(input logic [127:0] key, input logic [31:0] word,
                                                        input logic [7:0] constant);
        previous_round_key = {
            key[127:96] ^ word ^ {constant, 24'b0},
            key[95:64] ^ key[127:96],
            key[63:32] ^ key[95:64],
            key[31:0] ^ key[63:32]
        };
    endfunction
endpackage
