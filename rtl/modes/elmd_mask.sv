// Masks of ELmD (sections II.A and II.B of the hardware paper), for both layers from one register.
//
// All masks are small multiples of a value that doubles with every block. The register contains half of it, h:
//     AD block i = 0 .. d         3 * 2^i * L       = 2h    with h = 3 * 2^(i-1) * L
//       the last one, if short    3 * 7 * 2^(d-1) L = 7h
//     message block i, upper      2^(i-1) * L       = 2h    with h = 2^(i-2) * L
//       blocks l, l+1, if short   7 * 2^(i-2) * L   = 7h
//     message block i, lower      3^2 * 2^(i-1) * L = 2h + 8h    (3^2 is x^2 + 1)
// h starts from 3L/2 for the AD, and again from L/2 for the message. When opening, message blocks enter with the
// lower mask and leave with the upper one.
//
//   step     updates h: doubles it, or with
//   load     sets it to L/2, or with load_three to 3L/2, or with
//   clear    sets it, and the masks, to 0. `clear` has priority.
//   l        L of the key
//   seven    the upper mask is 7h
//   opening  exchanges `enter` and `leave`
//   enter    mask of the block that enters the encryption pipe in this clock; combinational
//   leave    mask of the same block when it leaves the decryption pipe; combinational
module elmd_mask (
    input  logic         clk,
    input  logic         step,
    input  logic         clear,
    input  logic         load,
    input  logic         load_three,
    input  logic [127:0] l,
    input  logic         seven,
    input  logic         opening,
    output logic [127:0] enter,
    output logic [127:0] leave
);

    logic [127:0] h;
    logic [127:0] h2;
    logic [127:0] h4;
    logic [127:0] h8;
    logic [127:0] l_half;
    logic [127:0] seven_rest;

    assign h2 = gf128_pkg::double_be(h);
    assign h4 = gf128_pkg::double_be(h2);
    assign h8 = gf128_pkg::double_be(h4);
    assign l_half = gf128_pkg::halve_be(l);

    // Sums instead of multiplexers: one LUT6 for each bit of a mask.
    assign seven_rest = (h ^ h4) & {128{seven}};
    assign enter = h2 ^ (opening ? h8 : seven_rest);
    assign leave = h2 ^ (opening ? seven_rest : h8);

    always_ff @(posedge clk) begin
        if (step) begin
            if (clear) h <= '0;
            else if (load) h <= load_three ? l_half ^ l : l_half;
            else h <= h2;
        end
    end

endmodule
