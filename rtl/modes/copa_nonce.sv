// Blocks of AD || nonce (COPA v2, section 3): the nonce fills up the last AD block, and its remaining bytes are the
// block B[a], padded if short. Combinational. Byte 0 is the highest.
//
//   turned    `turned` is the nonce rotated right by `turn` bytes, the bytes of the last AD block modulo 16
//   kept      `turned`, registered by the caller
//   ad_bytes  bytes of the last AD block, 1 to 16; 16 also without AD
//   fill      the nonce bytes that fill up the last AD block, at their position in it
//   rest      the remaining ad_bytes bytes of the nonce, padded
module copa_nonce (
    input  logic [127:0] nonce,
    input  logic [  3:0] turn,
    output logic [127:0] turned,

    input  logic [127:0] kept,
    input  logic [  4:0] ad_bytes,
    output logic [127:0] fill,
    output logic [127:0] rest
);

    logic [127:0] by_one;
    logic [127:0] mask;

    // Two steps of 4:1 multiplexers, which fit LUT6.
    assign by_one = turn[1] ? (turn[0] ? {nonce[23:0], nonce[127:24]} : {nonce[15:0], nonce[127:16]})
        : (turn[0] ? {nonce[7:0], nonce[127:8]} : nonce);
    assign turned = turn[3] ? (turn[2] ? {by_one[95:0], by_one[127:96]} : {by_one[63:0], by_one[127:64]})
        : (turn[2] ? {by_one[31:0], by_one[127:32]} : by_one);

    assign mask = ragged_pkg::mask(ad_bytes);
    assign fill = kept & ~mask;
    assign rest = (kept & mask) | ragged_pkg::padding(ad_bytes);

endmodule
