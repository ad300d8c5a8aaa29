// The running sum of a message's blocks in ELmD; for sealing before the encryption pipe, for opening behind the
// decryption pipe. Before it sums it may hold another block.
//
//   load, value  the sum becomes `value`
//   empty        it becomes the padded empty block, 80 00 .. 00
//   step         `block` is added to it; to zero if also `first`
//   empty goes before load, load before step
module elmd_checksum (
    input  logic         clk,
    input  logic         empty,
    input  logic         load,
    input  logic [127:0] value,
    input  logic         step,
    input  logic         first,
    input  logic [127:0] block,
    output logic [127:0] sum
);

    always_ff @(posedge clk) begin
        if (empty) sum <= {1'b1, 127'd0};
        else if (load) sum <= value;
        else if (step) sum <= block ^ (sum & {128{!first}});
    end

endmodule
