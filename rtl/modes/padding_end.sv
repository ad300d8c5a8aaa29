// Finds the end of the message in a padded block: message || 80 || 00 .. 00. Latency: one clock, with the register in
// the middle.
//
//   block  the block, with byte 0 in bits 127:120
//   zero   one clock later: the block was zero
//   found  one clock later: the block was padded
//   bytes  one clock later, if found: number of message bytes before the padding, 0 to 15; else 0
//   alone  one clock later: the block contained nothing but padding
module padding_end (
    input  logic         clk,
    input  logic [127:0] block,
    output logic         zero,
    output logic         found,
    output logic [  3:0] bytes,
    output logic         alone
);

    // Bit i: byte i is 00, byte i is 80.
    logic [15:0] byte_zero;
    logic [15:0] byte_80;

    always_ff @(posedge clk) begin
        for (int i = 0; i < 16; i = i + 1) begin
            byte_zero[i] <= block[8*(15-i)+:8] == 8'h00;
            byte_80[i]   <= block[8*(15-i)+:8] == 8'h80;
        end
    end

    logic [15:0] tail_zero;  // all bytes after byte i are zero
    logic [15:0] ends_here;  // byte i is 80 and the last nonzero byte

    always_comb begin
        for (int i = 0; i < 16; i = i + 1) tail_zero[i] = (~byte_zero & (16'hfffe << i)) == '0;
        ends_here = byte_80 & tail_zero;
        bytes = '0;
        for (int i = 0; i < 16; i = i + 1) bytes = bytes | (4'(i) & {4{ends_here[i]}});
    end

    assign zero  = byte_zero == '1;
    assign found = ends_here != '0;
    assign alone = ends_here[0];

endmodule
