// Between the layers of COPA (COPA v2, sections 3 to 5): the sum of the encrypted AD blocks, V, and the chain S.
//
// With x the output of the upper layer, and S[0] = V ^ L:
//   sealing, x = X[i] = E(..):  S[i] = S[i-1] ^ x enters the lower layer
//   opening, x = S[i] = D(..):  S[i] ^ S[i-1] enters the lower layer
// Both are S[i-1] ^ x. For the tag, S[l] ^ E(Sigma ..) enters the lower layer. An opened packet's Sigma arrives long
// after S[l], which waits in a queue for up to QUEUE packets.
//
// Latency from upper_* to lower_*: copa_pkg::MIX - copa_pkg::UPPER_OUT clocks, in which the blocks wait for V, and
// one more for the output register. One block per clock.
//
//   upper_*                 both outputs of the upper pipes, and the side band, whose direction selects between them
//   v_l_slot, v_l           reads L of a slot, combinational
//   ad_sum                  registered: valid one clock after the last AD block leaves the upper pipe
//   zero_valid, zero_block  L of the slot being loaded
//   load_key, key_slot      one clock before a block enters the lower pipes: the pipes load another key; the slot of
//                           the block's key
//   lower_*                 block and side band to the lower pipes. lower_block_valid: the entry contains a block,
//                           not only a side band.
module copa_mix #(
    parameter int QUEUE = 32
) (
    input logic clk,
    input logic rst,

    input logic                        upper_valid,
    input logic [copa_pkg::SIDE-1:0] upper_side,
    input logic [               127:0] upper_encrypted,
    input logic [               127:0] upper_decrypted,

    output logic [  3:0] v_l_slot,
    input  logic [127:0] v_l,
    output logic [127:0] ad_sum,
    output logic         zero_valid,
    output logic [127:0] zero_block,

    output logic       load_key,
    output logic [3:0] key_slot,

    output logic                        lower_block_valid,
    output logic [               127:0] lower_block,
    output logic [copa_pkg::SIDE-1:0] lower_side
);

    localparam int SIDE = copa_pkg::SIDE;
    localparam int WAIT = copa_pkg::MIX - copa_pkg::UPPER_OUT;

    // ---- Output of the upper layer

    logic [3:0] slot;
    logic [2:0] kind;
    logic open;
    logic first;
    logic [127:0] v;  // S[0] = V ^ L
    assign slot  = upper_side[10:7];
    assign kind  = upper_side[6:4];
    assign open  = upper_side[3];
    assign first = upper_side[2];

    assign v_l_slot   = slot;
    assign zero_valid = upper_valid && kind == copa_pkg::ZERO;
    assign zero_block = upper_encrypted;

    always_ff @(posedge clk) begin
        if (upper_valid && kind == copa_pkg::AD) ad_sum <= first ? upper_encrypted : ad_sum ^ upper_encrypted;
        if (upper_valid && kind == copa_pkg::V) v <= upper_encrypted ^ v_l;
    end

    // ---- Delay until V

    logic [WAIT-1:0] waiting;
    logic valid;
    logic [127:0] x;
    logic [SIDE-1:0] side;

    always_ff @(posedge clk) begin
        if (rst) waiting <= '0;
        else waiting <= {waiting[WAIT-2:0], upper_valid};
    end
    assign valid = waiting[WAIT-1];

    logic from_decryption;
    assign from_decryption = open && kind == copa_pkg::MESSAGE;
    ring_delay #(
        .WIDTH(128 + SIDE),
        .CLOCKS(WAIT)
    ) delay (
        .clk,
        .rst,
        .in_data({from_decryption ? upper_decrypted : upper_encrypted, upper_side}),
        .out_data({x, side})
    );

    // ---- Chain

    logic x_is_message;
    logic x_is_sigma;
    logic x_open;
    logic x_first;
    logic x_last;
    logic [127:0] chain;  // S[i-1]
    logic [127:0] previous;
    logic [127:0] end_of_chain;  // S[l] of the opened packet whose Sigma arrives next
    logic [127:0] down;

    assign x_is_message = valid && side[6:4] == copa_pkg::MESSAGE;
    assign x_is_sigma = valid && side[6:4] == copa_pkg::SIGMA;
    assign x_open = side[3];
    assign x_first = side[2];
    assign x_last = side[1];
    assign previous = x_first ? v : chain;

    logic unused;
    lut_queue #(
        .WIDTH(128),
        .DEPTH(QUEUE)
    ) ends (
        .clk,
        .rst,
        .push(x_is_message && x_open && x_last),
        .in_data(x),
        .valid(unused),
        .out_data(end_of_chain),
        .pop(x_is_sigma && x_open)
    );

    // Sigma of a sealed packet directly follows its last block and is not marked first.
    assign down = x ^ (x_is_sigma ? (x_open ? end_of_chain : chain) : previous);

    assign load_key = valid && side[11];
    assign key_slot = side[10:7];
    always_ff @(posedge clk) begin
        if (x_is_message) chain <= x_open ? x : down;
        lower_block <= down;
        lower_side <= side;
        lower_block_valid <= !rst && (x_is_message || x_is_sigma);
    end

endmodule
