// One AES S-box (FIPS 197 sections 5.1.1 and 5.3.2). Combinational.
//   INVERSE  0: SubBytes, 1: InvSubBytes
//   VARIANT  0: table, 32 LUT6 with their wide multiplexers, one level of logic
//            2: Boyar-Peralta circuit, about half as many four-input LUTs, but several levels
// Preserve the hierarchy of this module during technology mapping. A flattened table loses its wide multiplexers.
module aes_sbox #(
    parameter int INVERSE = 0,
    parameter int VARIANT = 0
) (
    input  logic [7:0] in,
    output logic [7:0] out
);
    if (VARIANT == 0) begin : g_table
        localparam logic [2047:0] TABLE = INVERSE == 1 ? aes_pkg::INVERSE_SBOX : aes_pkg::SBOX;
        assign out = TABLE[{in, 3'b000}+:8];
    end else if (INVERSE == 1) begin : g_inverse_circuit
        aes_inverse_sbox_circuit circuit (
            .in,
            .out
        );
    end else begin : g_circuit
        aes_sbox_circuit circuit (
            .in,
            .out
        );
    end
endmodule
