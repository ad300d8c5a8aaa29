// Data path of Serpent decryption: key whitening and 32 rounds in 33 stages, one block per clock.
// Latency: 33 clocks. `keys` comes from serpent_round_keys with INVERSE = 1. Byte 0 of a block is in bits 127:120.
module serpent_decrypt_lane (
    input  logic              clk,
    input  logic [33*128-1:0] keys,
    input  logic [     127:0] in_block,
    output logic [     127:0] out_block
);

    // Stage 0 removes the last key, and stage s inverts round 32-s. Round 31 has no linear transform.
    for (genvar s = 0; s < 33; s = s + 1) begin : g_stage
        logic [127:0] state;
        if (s == 0) begin : g_whiten
            always_ff @(posedge clk) state <= bytes_pkg::swap128(in_block) ^ keys[127:0];
        end else if (s == 1) begin : g_last_round
            always_ff @(posedge clk) begin
                state <= serpent_pkg::inverse_substitute(3'd7, g_stage[0].state) ^ keys[255:128];
            end
        end else begin : g_round
            logic [127:0] mixed;
            assign mixed = serpent_pkg::inverse_linear_transform(g_stage[s-1].state);
            always_ff @(posedge clk) begin
                state <= serpent_pkg::inverse_substitute(3'((32 - s) % 8), mixed) ^ keys[128*s+:128];
            end
        end
    end

    assign out_block = bytes_pkg::swap128(g_stage[32].state);

endmodule
