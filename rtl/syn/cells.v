// Models of the cells of a Virtex-6 slice, without delays, for the netlists of `gates.py`. Registers without INIT
// start unknown.

module GND (output G); assign G = 1'b0; endmodule
module VCC (output P); assign P = 1'b1; endmodule
module INV (input I, output O); assign O = ~I; endmodule

module LUT1 #(parameter [1:0] INIT = 0) (input I0, output O);
    assign O = INIT[{I0}];
endmodule

module LUT2 #(parameter [3:0] INIT = 0) (input I0, I1, output O);
    assign O = INIT[{I1, I0}];
endmodule

module LUT3 #(parameter [7:0] INIT = 0) (input I0, I1, I2, output O);
    assign O = INIT[{I2, I1, I0}];
endmodule

module LUT4 #(parameter [15:0] INIT = 0) (input I0, I1, I2, I3, output O);
    assign O = INIT[{I3, I2, I1, I0}];
endmodule

module LUT5 #(parameter [31:0] INIT = 0) (input I0, I1, I2, I3, I4, output O);
    assign O = INIT[{I4, I3, I2, I1, I0}];
endmodule

module LUT6 #(parameter [63:0] INIT = 0) (input I0, I1, I2, I3, I4, I5, output O);
    assign O = INIT[{I5, I4, I3, I2, I1, I0}];
endmodule

module MUXF7 (input I0, I1, S, output O); assign O = S ? I1 : I0; endmodule
module MUXF8 (input I0, I1, S, output O); assign O = S ? I1 : I0; endmodule

module CARRY4 (output [3:0] CO, O, input CI, CYINIT, input [3:0] DI, S);
    wire first = CI | CYINIT;
    assign O = S ^ {CO[2:0], first};
    assign CO = {S[3] ? CO[2] : DI[3], S[2] ? CO[1] : DI[2], S[1] ? CO[0] : DI[1], S[0] ? first : DI[0]};
endmodule

module FDRE #(parameter [0:0] INIT = 1'bx) (input C, CE, D, R, output reg Q);
    initial Q = INIT;
    always @(posedge C) if (R) Q <= 1'b0; else if (CE) Q <= D;
endmodule

module FDSE #(parameter [0:0] INIT = 1'bx) (input C, CE, D, S, output reg Q);
    initial Q = INIT;
    always @(posedge C) if (S) Q <= 1'b1; else if (CE) Q <= D;
endmodule

module SRL16E #(
    parameter [15:0] INIT = 16'bx,
    parameter [0:0] IS_CLK_INVERTED = 0
) (input A0, A1, A2, A3, CE, CLK, D, output Q);
    reg [15:0] bits = INIT;
    assign Q = bits[{A3, A2, A1, A0}];
    wire edge_clock = CLK ^ IS_CLK_INVERTED;
    always @(posedge edge_clock) if (CE) bits <= {bits[14:0], D};
endmodule

module SRLC32E #(
    parameter [31:0] INIT = 32'bx,
    parameter [0:0] IS_CLK_INVERTED = 0
) (input [4:0] A, input CE, CLK, D, output Q, Q31);
    reg [31:0] bits = INIT;
    assign Q = bits[A];
    assign Q31 = bits[31];
    wire edge_clock = CLK ^ IS_CLK_INVERTED;
    always @(posedge edge_clock) if (CE) bits <= {bits[30:0], D};
endmodule
