// 4:1 multiplexer of words. Preserve the hierarchy of this module during technology mapping. If the shifter around it
// (ocb3_stretch) is visible, the mapper builds each level from two levels of 2:1 multiplexers, with twice the LUTs.
module mux4 #(
    parameter int WIDTH = 128
) (
    input  logic [      1:0] select,
    input  logic [WIDTH-1:0] in0,
    input  logic [WIDTH-1:0] in1,
    input  logic [WIDTH-1:0] in2,
    input  logic [WIDTH-1:0] in3,
    output logic [WIDTH-1:0] out
);

    always_comb begin
        case (select)
            2'd0: out = in0;
            2'd1: out = in1;
            2'd2: out = in2;
            default: out = in3;
        endcase
    end

endmodule
