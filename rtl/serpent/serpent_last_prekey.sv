// Computes the last eight prekeys w[124] .. w[131] of a Serpent key, from which the decryption key schedule starts.
// Each clock computes four prekeys. `done` is high for one clock, 33 clocks after the edge of `start`; `last` is valid
// from then until the next start. w[-8] is in key[31:0] and w[124] in last[31:0], as in serpent_round_keys.
module serpent_last_prekey (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [255:0] key,
    output logic         done,
    output logic [255:0] last
);

    logic [5:0] step;
    logic       running;

    always_ff @(posedge clk) begin
        if (start) last <= key;
        else if (running) last <= serpent_pkg::advance(last, step);
        step <= start ? 6'd0 : step + 6'd1;
        if (rst) begin
            running <= 1'b0;
            done    <= 1'b0;
        end else begin
            running <= start || (running && step != 6'd32);
            done    <= running && step == 6'd32;
        end
    end

endmodule
