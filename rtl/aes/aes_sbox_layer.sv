// SubBytes or InvSubBytes of a block: sixteen S-boxes.
//   INVERSE     0: SubBytes, 1: InvSubBytes
//   SBOX        0: tables in LUTs, 1: block RAM (one for each two S-boxes), 2: Boyar-Peralta circuits
//   REGISTERED  1: registered output, latency one clock; 0: combinational. Must be 1 with SBOX = 1, because block RAM
//               is always registered.
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
            logic unused;
            assign unused = clk;
            assign out = substituted;
        end
    end
endmodule
