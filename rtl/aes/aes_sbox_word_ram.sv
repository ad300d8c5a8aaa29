// SubWord of the key schedule in two block RAMs. Latency: one clock.
module aes_sbox_word_ram (
    input  logic        clk,
    input  logic [31:0] in,
    output logic [31:0] out
);
    for (genvar i = 0; i < 2; i = i + 1) begin : g_pair
        aes_sbox_ram #(
            .INVERSE(0)
        ) pair (
            .clk,
            .in_a(in[16*i+:8]),
            .in_b(in[16*i+8+:8]),
            .out_a(out[16*i+:8]),
            .out_b(out[16*i+8+:8])
        );
    end
endmodule
