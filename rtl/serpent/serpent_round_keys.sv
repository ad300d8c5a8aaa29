// Serpent key schedule for pipelines of 33 stages. Key s is on its wires in clock t+s for a block that entered in clock
// t. One schedule serves any number of parallel lanes.
//
//   INVERSE 0  key s is round key s; in_key holds words w[-8] .. w[-1] of the padded key, w[-8] in bits 31:0
//           1  key s is round key 32-s; in_key holds the last eight prekeys w[124] .. w[131], w[124] in bits 31:0
//   KEYS    0  static: in_new_key loads a key, and blocks may enter 33 clocks later
//           1  wavefront: a new key enters with its first block; pulses of in_new_key are at least 33 clocks apart. One
//              recurrence step per clock replaces one round key register per clock, just ahead of that block.
//           2  one key per block: a window of prekeys accompanies each block, with one recurrence step per stage
//   keys       key s in bits 128s+127 : 128s
module serpent_round_keys #(
    parameter int INVERSE = 0,
    parameter int KEYS = 2
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              in_new_key,
    input  logic [     255:0] in_key,
    output logic [33*128-1:0] keys
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (KEYS < 0 || KEYS > 2) begin : g_keys_refused
        keys_must_be_0_1_or_2 refused ();
    end

    if (KEYS == 2) begin : g_per_block
        for (genvar s = 0; s < 33; s = s + 1) begin : g_stage
            logic [255:0] window;
            logic [255:0] stepped;
            if (s == 0) begin : g_first
                assign window = in_key;
            end else begin : g_next
                always_ff @(posedge clk) window <= g_stage[s-1].stepped;
            end
            // A round key is read after a forward step, but before a backward step.
            if (INVERSE == 0) begin : g_forward
                assign stepped = serpent_pkg::advance(window, 6'(s));
                assign keys[128*s+:128] = serpent_pkg::round_key(stepped[255:128], 3'((s) % 8));
            end else begin : g_backward
                assign stepped = serpent_pkg::retreat(window, 6'(32 - s));
                assign keys[128*s+:128] = serpent_pkg::round_key(window[255:128], 3'((32 - s) % 8));
            end
        end

        logic unused;
        assign unused = ^{rst, in_new_key, g_stage[32].stepped};
    end else begin : g_wave
        // Keys 0 and 1 are computed in the clock of in_new_key: the first block needs key 0 in that clock and key 1
        // from its register in the next one. After that, the wavefront is one key ahead of the block.
        logic [127:0] key_0;
        logic [127:0] key_1;
        logic [255:0] after_1;
        logic [  5:0] step;
        logic [255:0] window;
        logic [255:0] stepped;
        logic [127:0] made;

        if (INVERSE == 0) begin : g_forward
            logic [255:0] after_0;
            assign after_0 = serpent_pkg::advance(in_key, 6'd0);
            assign after_1 = serpent_pkg::advance(after_0, 6'd1);
            assign key_0   = serpent_pkg::round_key(after_0[255:128], 3'd0);
            assign key_1   = serpent_pkg::round_key(after_1[255:128], 3'd1);
            assign stepped = serpent_pkg::advance(window, step);
            assign made    = serpent_pkg::round_key(stepped[255:128], step[2:0]);
        end else begin : g_backward
            logic [255:0] after_0;
            logic [  5:0] round;
            assign after_0 = serpent_pkg::retreat(in_key, 6'd32);
            assign after_1 = serpent_pkg::retreat(after_0, 6'd31);
            assign key_0   = serpent_pkg::round_key(in_key[255:128], 3'd0);
            assign key_1   = serpent_pkg::round_key(after_0[255:128], 3'd7);
            assign round   = 6'd32 - step;
            assign stepped = serpent_pkg::retreat(window, round);
            assign made    = serpent_pkg::round_key(window[255:128], round[2:0]);
        end

        always_ff @(posedge clk) begin
            window <= in_new_key ? after_1 : stepped;
            if (rst) step <= 6'd33;
            else if (in_new_key) step <= 6'd2;
            else if (step != 6'd33) step <= step + 6'd1;
        end

        for (genvar s = 0; s < 33; s = s + 1) begin : g_stage
            logic [127:0] key;
            if (s == 0) begin : g_0
                always_ff @(posedge clk) if (in_new_key) key <= key_0;
                assign keys[127:0] = KEYS == 1 && in_new_key ? key_0 : key;
            end else if (s == 1) begin : g_1
                always_ff @(posedge clk) if (in_new_key) key <= key_1;
                assign keys[255:128] = key;
            end else begin : g_walk
                always_ff @(posedge clk) if (step == 6'(s)) key <= made;
                assign keys[128*s+:128] = key;
            end
        end
    end

endmodule
