// What the parts of the 512-bit engines say to each other.
//
// Two readers limit how records are used:
//   - yosys 0.70 (read_verilog) has no `import` in a module, where it needs a `typedef`. Icarus 11 aborts when a second module
//     has a `typedef` of the same record, and on `engine_pkg::beat_t` anywhere else; it needs the `import`. So each module
//     names the records that it uses in both ways, and a port, which comes before them, is a vector of the record's bits.
//   - Neither has `parameter type`: a FIFO has a WIDTH, the `$bits` of a record, which yosys takes of a value only.
//   - Icarus does not index the member of a record by a variable; a vector of its own can be indexed.
// A slot's number is beside the records, since its width is a parameter.
package engine_pkg;

    // Kinds of internal beats; the first three are also what tuser of s_axis says.
    typedef enum logic [1:0] {
        MESSAGE = 2'd0,
        AD = 2'd1,
        TAG = 2'd2,
        NONE = 2'd3  // nothing of the stream: carries the end of a packet
    } kind_t;

    // A command as it enters engine_plan.
    typedef struct packed {
        logic        illegal;  // its stream is swallowed
        logic        open;
        logic [15:0] ad_bytes;
        logic [15:0] message_bytes;
    } job_t;

    // An internal beat of a packet, with up to four blocks.
    typedef struct packed {
        logic       open;        // the packet is opened
        logic       final_beat;  // last beat of the packet
        logic       start;       // first beat of the packet
        logic       part_last;   // last beat of its part
        logic       first;       // first beat of its part
        logic [1:0] kind;        // a kind_t
        logic [3:0] blocks;      // the blocks that have a byte
        logic [3:0] partial;     // the one of these that is not full, if one is; of a tag none is
        logic [6:0] bytes;       // 0 to 64
    } beat_t;

    // Where a beat is in its part.
    typedef struct packed {
        logic [9:0] index;  // its number, from 0
        logic [3:0] ones;   // trailing ones of the index
        logic [1:0] lane;   // with AD_SERIAL: the block whose turn it is
        logic       step;   // the next beat is another beat (always 1 without AD_SERIAL)
    } place_t;

    // How long a beat's packet is.
    typedef struct packed {
        logic        has_message;
        logic [15:0] ad_bytes;
        logic [15:0] message_bytes;
        logic [1:0]  ad_spare;       // blocks by which the last beat of AD is not full; 0 without AD
        logic [1:0]  message_spare;  // the same of the message
        logic [13:0] hash_blocks;    // of GHASH: four for each beat of AD, the message's, and one of lengths
    } sizes_t;

    // What the stream must be like beside a beat.
    typedef struct packed {
        logic       illegal;    // the packet's stream is swallowed
        logic       any;        // the packet, were it legal, has beats on s_axis
        logic       reads;      // this beat is one of the stream
        logic       last;       // and the stream's last one
        logic       wants_tag;  // this is a last beat, whose packet has a tag beside the stream
        logic [3:0] full;       // the beat's full blocks
    } stream_t;

    // GCM: what GHASH needs to know about a beat.
    typedef struct packed {
        logic [13:0] count;        // blocks that follow in the packet, this beat's included
        logic        hashed;       // GHASH takes the beat
        logic        has_message;  // the packet has a message beat
    } hash_t;

    // A message beat of the result.
    typedef struct packed {
        logic         last;  // of its packet
        logic         open;
        logic         error;
        logic [6:0]   bytes;
        logic [511:0] data;
    } result_t;

    // The end of a packet, with the block that its tag or verdict is made of.
    typedef struct packed {
        logic         has_message;
        logic         open;
        logic         error;
        logic [127:0] value;
    } end_t;

    // Bits of each record. No engine uses all of them.
    /* verilator lint_off UNUSEDPARAM */
    localparam int JOB_BITS = $bits(job_t'('0));
    localparam int BEAT_BITS = $bits(beat_t'('0));
    localparam int PLACE_BITS = $bits(place_t'('0));
    localparam int SIZES_BITS = $bits(sizes_t'('0));
    localparam int STREAM_BITS = $bits(stream_t'('0));
    localparam int HASH_BITS = $bits(hash_t'('0));
    localparam int RESULT_BITS = $bits(result_t'('0));
    localparam int END_BITS = $bits(end_t'('0));
    /* verilator lint_on UNUSEDPARAM */

    // Ones at the low end of a number: the trailing zeros of the number after it.
    function automatic logic [3:0] trailing_ones(input logic [9:0] number);
        // Of each half on its own, and then one of them: in few levels.
        logic [3:0] low;
        logic [3:0] high;
        low  = 4'd4;
        high = 4'd10;
        for (int i = 3; i >= 0; i = i - 1) if (!number[i]) low = 4'(i);
        for (int i = 9; i >= 5; i = i - 1) if (!number[i]) high = 4'(i);
        trailing_ones = number[4:0] == '1 ? high : low;
    endfunction

endpackage
