// The last block of a part, when it is not whole. Byte 0 is the block's highest byte.
package ragged_pkg;

    // Ones in the first `bytes` bytes (0 to 16).
    function automatic logic [127:0] mask(input logic [4:0] bytes);
        for (int i = 0; i < 16; i = i + 1) begin
            mask[8*(15-i)+:8] = {8{5'(i) < bytes}};
        end
    endfunction

    // The padding of a block of so many bytes (0 to 16), to be put behind them: 0x80, then zero; a whole
    // block has none.
    function automatic logic [127:0] padding(input logic [4:0] bytes);
        for (int i = 0; i < 16; i = i + 1) begin
            padding[8*(15-i)+:8] = {5'(i) == bytes, 7'd0};
        end
    endfunction

endpackage
