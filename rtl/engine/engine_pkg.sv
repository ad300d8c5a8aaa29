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
        // Of each half on its own, and then one of them: in few levels.
        logic [3:0] low;
        logic [3:0] high;
        low  = 4'd4;
        high = 4'd10;
        for (int i = 3; i >= 0; i = i - 1) if (!number[i]) low = 4'(i);
        for (int i = 9; i >= 5; i = i - 1) if (!number[i]) high = 4'(i);
        trailing_ones = number[4:0] == '1 ? high : low;
    endfunction

endpackage
