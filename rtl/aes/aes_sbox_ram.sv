// Two AES S-boxes in one block RAM: a table of 256 bytes with two read ports and registered outputs.
// Latency: one clock. INVERSE: 0 SubBytes, 1 InvSubBytes.
module aes_sbox_ram #(
    parameter int INVERSE = 0
) (
    input  logic       clk,
    input  logic [7:0] in_a,
    input  logic [7:0] in_b,
    output logic [7:0] out_a,
    output logic [7:0] out_b
);
    localparam logic [2047:0] TABLE = INVERSE == 1 ? aes_pkg::INVERSE_SBOX : aes_pkg::SBOX;

    (* ram_style = "block", rom_style = "block", ramstyle = "M20K", romstyle = "M20K" *)
    logic [7:0] memory[0:255];

    initial begin
        for (int i = 0; i < 256; i = i + 1) memory[i] = TABLE[8*i+:8];
    end

    always_ff @(posedge clk) begin
        out_a <= memory[in_a];
        out_b <= memory[in_b];
    end
endmodule
