// Block kinds and schedule of the COPA core. In clocks from the issue of a block (copa_issue): 1 it enters the upper
// pipe, 12 it leaves it, 26 it enters the chain S (copa_mix), 27 it enters the lower pipe, 38 it leaves it.
package copa_pkg;

    localparam logic [2:0] KEY = 3'd0;  // no block: loads the key of static pipes
    localparam logic [2:0] ZERO = 3'd1;  // L = E(0) of a slot that is being loaded
    localparam logic [2:0] AD = 3'd2;  // one of B[1] .. B[a-1]
    localparam logic [2:0] V = 3'd3;  // B[a], the last block of AD || nonce
    localparam logic [2:0] MESSAGE = 3'd4;  // M[i] when sealing, C[i] when opening
    localparam logic [2:0] SIGMA = 3'd5;  // sum of the message, for the tag

    // Side band of a block: {new_key, slot[3:0], kind[2:0], open, first, last, padded}.
    //   new_key  first block of another key
    //   first    first block of AD or message
    //   last     last block of the message
    //   padded   last block of the message: it is or was padded; Sigma: the padding was malformed
    localparam int SIDE = 12;

    localparam int UPPER_OUT = 12;
    localparam int MIX = 26;
    localparam int LOWER_OUT = 38;

    // V is issued V_AFTER clocks after the packet's last AD block or, without AD, its first message block. The sum of
    // the encrypted AD blocks is valid one clock after UPPER_OUT.
    localparam int V_AFTER = UPPER_OUT + 1;
    // Sigma of an opened packet is issued SIGMA_AFTER clocks after its tag was read, which is at least one clock
    // after its last ciphertext block. The message's sum and the padding check are valid two clocks after LOWER_OUT
    // of that block.
    localparam int SIGMA_AFTER = LOWER_OUT + 1;

endpackage
