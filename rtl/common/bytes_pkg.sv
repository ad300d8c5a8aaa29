// Byte order. Inside the cores, byte 0 of a block is in bits 127:120. On every AXI4-Stream port, it is in tdata[7:0].
package bytes_pkg;

    // Reverses the 16 bytes of a block: converts between the port order and the internal order.
    function automatic logic [127:0] swap128(input logic [127:0] x);
        for (int i = 0; i < 16; i = i + 1) begin
            swap128[8*i+:8] = x[8*(15-i)+:8];
        end
    endfunction

endpackage
