// Linear mixing of ELmD between its two layers: rho, or its inverse when opening.
//     rho(X, W)      Y = X + 3W    W' = X + 2W
//     rho^-1(Y, W)   X = Y + 3W    W' = Y + W     (the same W')
// Only the computation of W' differs. A block is mixed combinationally in the clock in which it arrives; W is updated
// at the end of that clock.
//
//   step     a block leaves the encryption pipe
//   first    the packet's first AD block: W counts as zero
//   opening  the block is a ciphertext block or tag being opened
//   tag      block l+1: adds 1 to the input of the decryption pipe
//   block    X when sealing and for AD, Y when opening
//   mixed    Y when sealing, X when opening; combinational
module elmd_rho (
    input  logic         clk,
    input  logic         step,
    input  logic         first,
    input  logic         opening,
    input  logic         tag,
    input  logic [127:0] block,
    output logic [127:0] mixed
);

    logic [127:0] w;
    logic [127:0] w2;

    assign w2 = gf128_pkg::double_be(w);
    assign mixed = block ^ w ^ w2 ^ {127'd0, tag};

    always_ff @(posedge clk) begin
        if (step) w <= block ^ ((opening ? w : w2) & {128{!first}});
    end

endmodule
