// The linear mixing of ELmD between its two layers: rho, and its inverse on opening.
//     rho(X, W)      Y = X + 3W    W' = X + 2W
//     rho^-1(Y, W)   X = Y + 3W    W' = Y + W     (the same W')
// so only W' differs. A block that enters is mixed in the same clock; W changes at its end.
//
//   step     a block has left the encryption pipe
//   first    W counts as zero for it: the packet's first AD block
//   opening  it is a ciphertext block or tag that is opened
//   tag      it is block l+1: 1 is added to what enters the decryption pipe
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
