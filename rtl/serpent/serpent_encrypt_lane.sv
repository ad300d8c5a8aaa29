// Data path of Serpent encryption: key whitening and 32 rounds in 33 stages, one block per clock. The key of the next
// round is added after the linear transform and before the register, so the S-boxes directly follow the registers.
// Latency: 33 clocks. `keys` comes from serpent_round_keys with INVERSE = 0. Byte 0 of a block is in bits 127:120.
module serpent_encrypt_lane (
    input  logic              clk,
    input  logic [33*128-1:0] keys,
    input  logic [     127:0] in_block,
    output logic [     127:0] out_block
);

    for (genvar s = 0; s < 33; s = s + 1) begin : g_stage
        logic [127:0] state;
        if (s == 0) begin : g_whiten
            always_ff @(posedge clk) state <= bytes_pkg::swap128(in_block) ^ keys[127:0];
        end else if (s < 32) begin : g_round
            logic [127:0] substituted;
            assign substituted = serpent_pkg::substitute(3'((s - 1) % 8), g_stage[s-1].state);
            always_ff @(posedge clk) state <= serpent_pkg::linear_transform(substituted) ^ keys[128*s+:128];
        end else begin : g_last
            always_ff @(posedge clk) begin
                state <= serpent_pkg::substitute(3'd7, g_stage[31].state) ^ keys[128*s+:128];
            end
        end
    end

    assign out_block = bytes_pkg::swap128(g_stage[32].state);

endmodule
