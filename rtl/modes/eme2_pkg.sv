// Entry kinds and schedule of the EME2 core. In clocks from the issue of an entry of the first pass (eme2_issue): 1
// it enters the pipes, 12 it leaves them.
package eme2_pkg;

    localparam logic [2:0] KEY = 3'd0;  // no block: loads the key of static pipes
    localparam logic [2:0] TWEAK = 3'd1;  // T_j ^ k, always encrypted
    localparam logic [2:0] MESSAGE = 3'd2;  // P_i ^ 2^i K_ECB
    localparam logic [2:0] PARTIAL = 3'd3;  // Q; bypasses the pipes
    localparam logic [2:0] MP = 3'd4;  // the sum mp
    localparam logic [2:0] MM = 3'd5;  // mm = F(mp), if there is a Q
    localparam logic [2:0] START = 3'd6;  // a, from a later group's first block

    localparam int OUT = 12;
    // mp is issued MP_AFTER clocks after the packet's last block. Its sum is valid one clock after OUT.
    localparam int MP_AFTER = OUT + 1;
    // Clocks from the last block to m1, without Q and with Q.
    localparam int MIXED = MP_AFTER + OUT;
    localparam int MIXED_PARTIAL = MIXED + OUT;

    // Properties of a message that mixing needs: {slot[3:0], decrypt, bytes of Q[3:0] (0: none), remaining later
    // groups[4:0], blocks of the last group[7:0]}.
    localparam int MIXING = 22;
    // Side band of an entry: {new_key, kind[2:0], first (of tweak or message), MIXING}.
    localparam int SIDE = 5 + MIXING;

endpackage
