// SubBytes or InvSubBytes of a whole block: sixteen S-boxes.
//   SBOX        0 tables in LUTs, 1 block RAM (two S-boxes each), 2 Boyar-Peralta circuits
//   REGISTERED  1: the result comes one clock later. Block RAM always registers: REGISTERED must be 1 with
//               SBOX = 1.
module aes_sbox_layer #(
    parameter int INVERSE = 0,
    parameter int SBOX = 0,
    parameter int REGISTERED = 0
) (
    input  logic         clk,
    input  logic [127:0] in,
    output logic [127:0] out
);
    if (SBOX == 1) begin : g_ram
        for (genvar i = 0; i < 8; i = i + 1) begin : g_pair
            aes_sbox_ram #(
                .INVERSE(INVERSE)
            ) pair (
                .clk,
                .in_a(in[16 * i +: 8]),
                .in_b(in[16 * i + 8 +: 8]),
                .out_a(out[16 * i +: 8]),
                .out_b(out[16 * i + 8 +: 8])
            );
        end
    end else begin : g_logic
        logic [127:0] substituted;
        for (genvar i = 0; i < 16; i = i + 1) begin : g_byte
            aes_sbox #(
                .INVERSE(INVERSE),
                .VARIANT(SBOX)
            ) sbox (
                .in(in[8 * i +: 8]),
                .out(substituted[8 * i +: 8])
            );
        end
        if (REGISTERED == 1) begin : g_register
            always_ff @(posedge clk) out <= substituted;
        end else begin : g_wires
            // The clock is not needed here.
            logic unused;
            assign unused = clk;
            assign out = substituted;
        end
    end
endmodule
