// SubWord of the key schedule: four S-boxes. Combinational. VARIANT: 0 tables, 2 Boyar-Peralta circuits.
module aes_sbox_word #(
    parameter int VARIANT = 0
) (
    input  logic [31:0] in,
    output logic [31:0] out
);
    for (genvar i = 0; i < 4; i = i + 1) begin : g_byte
        aes_sbox #(
            .INVERSE(0),
            .VARIANT(VARIANT)
        ) sbox (
            .in(in[8 * i +: 8]),
            .out(out[8 * i +: 8])
        );
    end
endmodule
