// Offset_0 of OCB3 (RFC 7253, section 4.2): 128 bits of Stretch, starting at bit `bottom`, counted from the left.
// Three levels of 4:1 multiplexers. Combinational.
module ocb3_stretch (
    input  logic [127:0] ktop,
    input  logic [  5:0] bottom,
    output logic [127:0] offset
);

    logic [190:0] bits;  // without the last of the 192 bits, which is never used
    logic [142:0] by_sixteens;
    logic [130:0] by_fours;

    assign bits = {ktop, ktop[127:65] ^ ktop[119:57]};

    mux4 #(
        .WIDTH(143)
    ) shift_by_sixteens (
        .select(bottom[5:4]),
        .in0(bits[190-:143]),
        .in1(bits[174-:143]),
        .in2(bits[158-:143]),
        .in3(bits[142-:143]),
        .out(by_sixteens)
    );

    mux4 #(
        .WIDTH(131)
    ) shift_by_fours (
        .select(bottom[3:2]),
        .in0(by_sixteens[142-:131]),
        .in1(by_sixteens[138-:131]),
        .in2(by_sixteens[134-:131]),
        .in3(by_sixteens[130-:131]),
        .out(by_fours)
    );

    mux4 #(
        .WIDTH(128)
    ) shift_by_ones (
        .select(bottom[1:0]),
        .in0(by_fours[130-:128]),
        .in1(by_fours[129-:128]),
        .in2(by_fours[128-:128]),
        .in3(by_fours[127-:128]),
        .out(offset)
    );

endmodule
