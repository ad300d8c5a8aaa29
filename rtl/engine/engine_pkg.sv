// What the parts of the 512-bit engines say to each other.
package engine_pkg;

    // Kinds of internal beats; the first three are also what tuser of s_axis says.
    typedef enum logic [1:0] {
        MESSAGE = 2'd0,
        AD = 2'd1,
        TAG = 2'd2,
        NONE = 2'd3  // nothing of the stream: carries the end of a packet
    } kind_t;

    // Ones at the low end of a number: the trailing zeros of the number after it.
    function automatic logic [3:0] trailing_ones(input logic [9:0] number);
        trailing_ones = 4'd10;
        for (int i = 9; i >= 0; i = i - 1) begin
            if (!number[i]) trailing_ones = 4'(i);
        end
    endfunction

endpackage
