// Offset_0 of OCB3 (RFC 7253 section 4.2): 128 bits of Stretch from bit `bottom` on, counted from the left. Three
// levels of 4:1 multiplexers. Combinational.
module ocb3_stretch (
    input  logic [127:0] ktop,
    input  logic [  5:0] bottom,
    output logic [127:0] offset
);

    logic [190:0] bits;  // the last bit of the 192 is never needed
    logic [142:0] by_sixteens;
    logic [130:0] by_fours;

    always_comb begin
        bits = {ktop, ktop[127:65] ^ ktop[119:57]};
        case (bottom[5:4])
            2'd0: by_sixteens = bits[190-:143];
            2'd1: by_sixteens = bits[174-:143];
            2'd2: by_sixteens = bits[158-:143];
            default: by_sixteens = bits[142-:143];
        endcase
        case (bottom[3:2])
            2'd0: by_fours = by_sixteens[142-:131];
            2'd1: by_fours = by_sixteens[138-:131];
            2'd2: by_fours = by_sixteens[134-:131];
            default: by_fours = by_sixteens[130-:131];
        endcase
        case (bottom[1:0])
            2'd0: offset = by_fours[130-:128];
            2'd1: offset = by_fours[129-:128];
            2'd2: offset = by_fours[128-:128];
            default: offset = by_fours[127-:128];
        endcase
    end

endmodule
