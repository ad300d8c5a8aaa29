// Constants of EME2's core: the kinds of place in the first pass's pipes, and when what happens, counted in
// clocks from the issue (eme2_issue): 1 it enters the pipes, 12 it leaves them.
package eme2_pkg;

    localparam logic [2:0] KEY = 3'd0;  // no block: the new key of static pipes
    localparam logic [2:0] TWEAK = 3'd1;  // T_j ^ k, always encrypted
    localparam logic [2:0] MESSAGE = 3'd2;  // P_i ^ 2^i K_ECB
    localparam logic [2:0] PARTIAL = 3'd3;  // Q; it only travels beside the pipes
    localparam logic [2:0] MP = 3'd4;  // the sum mp
    localparam logic [2:0] MM = 3'd5;  // mm = F(mp), if there is a Q
    localparam logic [2:0] START = 3'd6;  // a, of a later group's first block

    localparam int OUT = 12;
    // mp is issued so many clocks after the packet's last block: its sum stands one clock after OUT.
    localparam int MP_AFTER = OUT + 1;
    // m1 is known so many clocks after the last block, without Q and with it.
    localparam int MIXED = MP_AFTER + OUT;
    localparam int MIXED_PARTIAL = MIXED + OUT;

    // What the mixing must know of a message: {slot[3:0], decrypt, bytes of Q[3:0] (0: none), later groups
    // that have not begun[4:0], blocks of the last group[7:0]}.
    localparam int MIXING = 22;
    // What travels beside a place: {new_key, kind[2:0], first (of tweak or message), MIXING}.
    localparam int SIDE = 5 + MIXING;

endpackage
