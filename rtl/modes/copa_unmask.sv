// Output side of COPA's lower layer (COPA v2, sections 4 and 5): output masks (bot[i], or top[i] when opening), the
// padding of the last block, the sum of an opened message, and the tag. The masks are computed alongside the lower
// pipes, two clocks before the blocks leave them. One block per clock.
//
//   lower_valid, lower_side           block and side band that enter the lower pipes in this clock
//   lower_encrypted, lower_decrypted  outputs of the lower pipes
//   l_slot, l                         reads L of a slot, combinational
//   expected*                         the received tag of an opened packet without its mask, in packet order. At most
//                                     QUEUE wait.
//   beat_*                            one clock after a block leaves the lower pipes: the output block, its number of
//                                     bytes (16; fewer, possibly 0, in the padded last block of an opened packet; 16
//                                     if the padding is malformed), last of the packet
//   sigma*                            Sigma of an opened packet with its mask, its slot (sigma_slot), and whether the
//                                     padding is malformed (sigma_malformed). sigma is valid from one clock after the
//                                     packet's last block until the next opened packet's first block; the other two
//                                     are valid one clock later.
//   tag_valid, tag                    tag of a sealed packet
//   checked, failed                   an opened packet was checked; its tag differs from the expected one, or its
//                                     padding was malformed
module copa_unmask #(
    parameter int QUEUE = 32
) (
    input logic clk,
    input logic rst,

    input logic                        lower_valid,
    input logic [copa_pkg::SIDE-1:0] lower_side,
    input logic [               127:0] lower_encrypted,
    input logic [               127:0] lower_decrypted,

    output logic [  3:0] l_slot,
    input  logic [127:0] l,

    input logic         expected_valid,
    input logic [127:0] expected,

    output logic         beat_valid,
    output logic [127:0] beat_block,
    output logic [  4:0] beat_bytes,
    output logic         beat_last,

    output logic [127:0] sigma,
    output logic [  3:0] sigma_slot,
    output logic         sigma_malformed,

    output logic         tag_valid,
    output logic [127:0] tag,
    output logic         checked,
    output logic         failed
);

    localparam int SIDE = copa_pkg::SIDE;
    localparam int PIPE = copa_pkg::LOWER_OUT - copa_pkg::MIX - 1;
    localparam int AHEAD = 2;
    localparam int WAIT = PIPE - AHEAD;

    // ---- Two clocks before the lower layer's output: mask of this block
    logic [PIPE-1:0] valid;
    always_ff @(posedge clk) begin
        if (rst) valid <= '0;
        else valid <= {valid[PIPE-2:0], lower_valid};
    end

    logic [SIDE-1:0] side2;
    logic [SIDE-1:0] side1;
    logic [SIDE-1:0] side0;
    ring_delay #(
        .WIDTH(SIDE),
        .CLOCKS(WAIT)
    ) delay (
        .clk,
        .rst,
        .in_data(lower_side),
        .out_data(side2)
    );

    logic [127:0] mask;  // top[i] or bot[i], without the factor 7
    logic [127:0] l_double;
    logic [127:0] mask_double;
    assign l_slot = side2[10:7];
    assign l_double = gf128_pkg::double_be(l);
    assign mask_double = gf128_pkg::double_be(mask);

    always_ff @(posedge clk) begin
        if (valid[WAIT-1] && side2[6:4] == copa_pkg::MESSAGE) begin
            if (side2[2]) mask <= side2[3] ? l_double ^ l : l_double;
            else mask <= mask_double;
        end
        side1 <= side2;
        side0 <= side1;
    end

    // ---- One clock before: factor 7 for the tag, and for an opened block that was padded
    logic times_seven;
    logic [127:0] mask_now;
    assign times_seven = (side1[6:4] == copa_pkg::SIGMA) || (side1[3] && side1[1] && side1[0]);
    always_ff @(posedge clk) begin
        mask_now <= times_seven ? mask ^ mask_double ^ gf128_pkg::double_be(mask_double) : mask;
    end

    // ---- Output
    logic leaves_message;
    logic leaves_sigma;
    logic open;
    logic first;
    logic last;
    logic padded;
    logic [127:0] unmasked;
    assign leaves_message = valid[PIPE-1] && side0[6:4] == copa_pkg::MESSAGE;
    assign leaves_sigma = valid[PIPE-1] && side0[6:4] == copa_pkg::SIGMA;
    assign open = side0[3];
    assign first = side0[2];
    assign last = side0[1];
    assign padded = side0[0];
    assign unmasked = (open ? lower_decrypted : lower_encrypted) ^ mask_now;

    // The sum of an opened message. The last block adds 3 top[l], so that the sum can be encrypted directly: M[l] ^ 3
    // top = (D(..) ^ top) ^ 3 top = D(..) ^ 2 top.
    logic [127:0] sum;
    assign sum = (first ? '0 : sigma) ^ lower_decrypted ^ (last ? gf128_pkg::double_be(mask_now) : mask_now);
    always_ff @(posedge clk) begin
        if (leaves_message && open) sigma <= sum;
    end

    logic expected_there;
    logic [127:0] expected_tag;
    lut_queue #(
        .WIDTH(128),
        .DEPTH(QUEUE)
    ) expected_tags (
        .clk,
        .rst,
        .push(expected_valid),
        .in_data(expected),
        .valid(expected_there),
        .out_data(expected_tag),
        .pop(leaves_sigma && open)
    );

    logic unused;
    assign unused = &{expected_there, side0[11:7], side2[11]};

    logic strip;
    logic beat_open;
    logic alone;
    logic [3:0] beat_slot;
    always_ff @(posedge clk) begin
        beat_block <= unmasked;
        beat_last <= last;
        strip <= open && last && padded;
        alone <= first;
        beat_slot <= side0[10:7];
        beat_open <= open;
        tag <= unmasked;
        failed <= padded || lower_encrypted != expected_tag;
        beat_valid <= !rst && leaves_message;
        tag_valid <= !rst && leaves_sigma && !open;
        checked <= !rst && leaves_sigma && open;
    end

    // ---- Padding: 80 00 .. 00 after at least one byte, or after none if it is the only block
    logic found;
    logic padding_alone;
    logic malformed;
    logic [3:0] left;
    padding_end padding (
        .clk,
        .block(unmasked),
        .zero(),
        .found,
        .bytes(left),
        .alone(padding_alone)
    );
    // With malformed padding, `left` is 0.
    assign malformed  = !found || (padding_alone && !alone);
    assign beat_bytes = {!strip || malformed, left & {4{strip}}};

    always_ff @(posedge clk) begin
        if (beat_valid && beat_open && beat_last) begin
            sigma_slot <= beat_slot;
            sigma_malformed <= strip && malformed;
        end
    end

endmodule
