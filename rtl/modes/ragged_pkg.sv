// Masks and padding of a partial block. Byte 0 is the highest byte of a block.
package ragged_pkg;

    // Returns a mask with ones in the first `bytes` bytes (0 to 16).
    function automatic logic [127:0] mask(input logic [4:0] bytes);
        for (int i = 0; i < 16; i = i + 1) begin
            mask[8*(15-i)+:8] = {8{5'(i) < bytes}};
        end
    endfunction

    // Returns the padding of a block of `bytes` bytes (0 to 16), at its position: 80, then zeros; none for a whole
    // block.
    function automatic logic [127:0] padding(input logic [4:0] bytes);
        for (int i = 0; i < 16; i = i + 1) begin
            padding[8*(15-i)+:8] = {5'(i) == bytes, 7'd0};
        end
    endfunction

endpackage
