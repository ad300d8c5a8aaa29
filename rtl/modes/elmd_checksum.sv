// Running sum of a message's blocks in ELmD: before the encryption pipe when sealing, after the decryption pipe when
// opening. Between messages the register may hold another block. Registered, one block per clock.
//
//   load, value  sets the sum to `value`
//   empty        sets it to the padded empty block, 80 00 .. 00
//   step, block  adds `block` to it, or with `first` sets it to `block`
// `empty` has priority over `load`, and `load` over `step`.
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
