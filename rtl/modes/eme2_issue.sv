// Schedule of EME2's first pass: the entry that enters its pipes in each clock, and its mask ("tweak block", "pass 1"
// and "mix" of the standard).
//
// A message occupies entries of the pipes in this order: its tweak blocks (without a tweak, K_AD itself), its full
// blocks and, if there is one, the partial block Q, which only bypasses the pipes. Entries reserved in advance
// follow:
//   mp:  MP_AFTER clocks after the last of these
//   mm:  when mp leaves the pipes, if there is a Q
//   a:   one for each later group of 128 blocks, when the mask of the preceding group is known
// Entries of the next message fill the gaps. Messages are mixed in order: the last block of a message waits until it
// cannot overtake the preceding message. This costs clocks only if short messages of different kinds follow each
// other.
//
// Throughput: tweak blocks (at least 1) + full blocks + 1 + later groups clocks per message if nothing waits, + 2
// with a Q. Except with KEYS = 2, a key change waits until all reserved entries have passed.
//
//   command_*, block_*       from packet_front
//   packet_*                 packets in order, for the output side. packet_barren: illegal, without blocks.
//   second_*                 messages in order, for the second pass
//   loading, loading_slot    see eme2_slots
//   tweak_mask, first_mask   K_AD of tweak_slot, K_ECB of first_mask_slot
//   room, take               the store has room for one entry; one is taken, for each full block and Q
//   sum                      sum of tweak blocks, full blocks and Q, MP_AFTER clocks after the last one
//   mixing_mm, mm            mp of a message with Q leaves the pipes as mm; mm_beside is mp
//   start_valid, start       a of the next later group, from eme2_mix
//   mm_mixing, start_mixing  properties of their message, see eme2_pkg::MIXING
//   load_key, key_slot       at the issue, one clock before the entry enters the pipes: the pipes load another key;
//                            the slot of the entry's key
//   upper_*                  to the pipes, one clock after the issue; registered. upper_beside: the value that is
//                            combined with the pipe output (eme2_mix).
module eme2_issue #(
    parameter int KEYS = 1
) (
    input logic clk,
    input logic rst,

    input  logic        command_valid,
    output logic        command_ready,
    input  logic        command_open,
    input  logic [ 3:0] command_slot,
    input  logic [12:0] command_ad_blocks,
    input  logic [12:0] command_message_blocks,
    input  logic [ 4:0] command_last_ad_bytes,
    input  logic [ 4:0] command_last_message_bytes,
    input  logic        command_error,

    input  logic         block_valid,
    output logic         block_ready,
    input  logic [127:0] block,

    input  logic packet_room,
    output logic packet_valid,
    output logic packet_barren,

    output logic        second_valid,
    output logic        second_decrypt,
    output logic [ 3:0] second_slot,
    output logic [12:0] second_blocks,
    output logic [ 3:0] second_partial,

    input logic       loading,
    input logic [3:0] loading_slot,

    output logic [  3:0] tweak_slot,
    input  logic [127:0] tweak_mask,
    output logic [  3:0] first_mask_slot,
    input  logic [127:0] first_mask,

    input  logic room,
    output logic take,

    input logic [127:0] sum,

    input logic                        mixing_mm,
    input logic [127:0]                mm,
    input logic [127:0]                mm_beside,
    input logic [eme2_pkg::MIXING-1:0] mm_mixing,

    input logic                        start_valid,
    input logic [127:0]                start,
    input logic [eme2_pkg::MIXING-1:0] start_mixing,

    output logic       load_key,
    output logic [3:0] key_slot,

    output logic                      upper_valid,
    output logic [127:0]              upper_block,
    output logic [127:0]              upper_beside,
    output logic [eme2_pkg::SIDE-1:0] upper_side
);

    localparam int MP_AFTER = eme2_pkg::MP_AFTER;
    localparam int MIXED = eme2_pkg::MIXED;
    localparam int MIXED_PARTIAL = eme2_pkg::MIXED_PARTIAL;
    localparam int MIXING = eme2_pkg::MIXING;

    // ---- Next packet, accepted while the preceding one is being issued

    logic next_valid;
    logic next_decrypt;
    logic [3:0] next_slot;
    logic [12:0] next_ad_blocks;
    logic [4:0] next_ad_bytes;
    logic [12:0] next_blocks;  // full blocks
    logic [3:0] next_partial;  // bytes of Q; 0: none
    logic command_take;
    logic begins;

    assign command_ready = !next_valid && packet_room && !(loading && command_slot == loading_slot);
    assign command_take  = command_valid && command_ready;
    assign packet_valid  = command_take;
    assign packet_barren = command_error;

    always_ff @(posedge clk) begin
        if (rst) next_valid <= 1'b0;
        else next_valid <= (next_valid && !begins) || (command_take && !command_error);
        if (command_take) begin
            next_decrypt <= command_open;
            next_slot <= command_slot;
            next_ad_blocks <= command_ad_blocks;
            next_ad_bytes <= command_last_ad_bytes;
            next_blocks <= command_message_blocks - {12'd0, !command_last_message_bytes[4]};
            next_partial <= command_last_message_bytes[3:0];
        end
    end

    logic [12:0] next_blocks_less;
    logic [7:0] next_last_group;
    assign next_blocks_less = next_blocks - 13'd1;
    assign next_last_group = {1'b0, next_blocks_less[6:0]} + 8'd1;

    // Clocks of eme2_geometric for the last group, less one. Earlier groups do not matter here: their sums are
    // complete before another message can reach that point.
    logic [3:0] digit0;
    logic [3:0] digit1;
    logic [3:0] next_sum_time;
    assign digit0 = {2'd0, next_last_group[1:0]}
        | {3'd0, next_last_group[1:0] == '0 && next_last_group[7:2] != '0};
    assign digit1 = {2'd0, next_last_group[3:2]}
        | {3'd0, next_last_group[3:2] == '0 && next_last_group[7:4] != '0};
    assign next_sum_time = digit0 + digit1 + next_last_group[7:4];

    assign second_valid = begins;
    assign second_decrypt = next_decrypt;
    assign second_slot = next_slot;
    assign second_blocks = next_blocks;
    assign second_partial = next_partial;
    assign tweak_slot = next_slot;

    // ---- Packet being issued

    localparam logic [2:0] IDLE = 3'd0;
    localparam logic [2:0] NEW_KEY = 3'd1;  // static pipes: the key enters without a block
    localparam logic [2:0] IN_TWEAK = 3'd2;
    localparam logic [2:0] IN_MESSAGE = 3'd3;
    localparam logic [2:0] IN_PARTIAL = 3'd4;

    logic [2:0] state;
    logic fresh;  // its key must be loaded into the pipes
    logic decrypt;
    logic [3:0] slot;
    logic hollow;  // no tweak: no beat to read
    logic [12:0] tweak_left;
    logic [4:0] tweak_bytes;  // in the last tweak block
    logic [12:0] blocks_left;
    logic [3:0] partial;
    logic [4:0] groups;  // later groups
    logic [7:0] last_group;  // blocks of the last group, 1 to 128
    logic [3:0] sum_time;  // clocks for the sum of the last group's masks
    logic first;  // the next block is the first of its part

    // ---- Reserved entries: bit i is the entry i clocks from now.

    logic [MP_AFTER-1:0] mp_places;
    logic [MIXED-1:0] mm_places;
    logic starting;  // a later group's a is still to be issued
    logic [6:0] mixing;  // clocks until the preceding messages are mixed
    logic place_free;
    logic none_reserved;  // registered
    logic in_order;  // registered; a message that ends now overtakes none
    logic mp_place_free;
    logic [6:0] m1_time;  // clocks from this message's last block to m1

    assign place_free = !mp_places[0] && !mm_places[0] && !start_valid;
    assign mp_place_free = !mm_places[MP_AFTER] && !starting;
    assign m1_time = partial != '0 ? 7'(MIXED_PARTIAL) : 7'(MIXED);

    // ---- Issue

    logic ends;  // the current entry is the message's last one
    logic may_issue;
    logic key_settled;
    logic issue;
    logic issue_tweak;
    logic issue_message;
    logic issue_partial;
    logic issue_key;
    logic last_tweak;  // tweak_left is at most 1
    logic last_block;  // blocks_left is 1
    logic ended;

    assign ends = (state == IN_MESSAGE && last_block && partial == '0) || state == IN_PARTIAL;
    assign may_issue = place_free && key_settled && (!ends || (mp_place_free && in_order));
    always_comb begin
        block_ready = 1'b0;
        if (state == IN_TWEAK) block_ready = may_issue && !hollow;
        if (state == IN_MESSAGE || state == IN_PARTIAL) block_ready = may_issue && room;
    end
    assign issue_tweak = state == IN_TWEAK && may_issue && (block_valid || hollow);
    assign issue_message = state == IN_MESSAGE && may_issue && room && block_valid;
    assign issue_partial = state == IN_PARTIAL && may_issue && room && block_valid;
    assign issue_key = state == NEW_KEY;
    assign issue = issue_tweak || issue_message || issue_partial || issue_key;
    assign take = issue_message || issue_partial;
    assign ended = ends && take;

    // ---- Key of the pipes

    logic pipe_held;
    logic [3:0] pipe_slot;
    logic pipe_may_load;
    logic key_held;
    logic key_may_change;
    logic between;

    pipe_key #(
        .KEYS(KEYS),
        .PIPE(eme2_pkg::OUT + 2),
        .WAVE(9)  // not 10, since the key is loaded at least one clock after the message began
    ) in_pipes (
        .clk,
        .rst,
        .held(pipe_held),
        .slot(pipe_slot),
        .settled(key_settled),
        .may_load(pipe_may_load),
        .enter(upper_valid),
        .load(load_key),
        .load_slot(slot),
        .forget(loading),
        .forget_slot(loading_slot)
    );

    assign key_held = pipe_held && pipe_slot == next_slot;
    assign key_may_change = KEYS == 2 || key_held
        || (pipe_may_load && none_reserved && state == IDLE && !(KEYS == 0 && upper_valid));
    assign load_key = fresh && issue;
    assign between = state == IDLE || ended;
    assign begins = next_valid && key_may_change && between;

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= IDLE;
            fresh <= 1'b0;
        end else begin
            if (load_key) fresh <= 1'b0;
            if (issue_key) state <= IN_TWEAK;
            if (issue_tweak && last_tweak) state <= IN_MESSAGE;
            if (issue_message && last_block) state <= IN_PARTIAL;
            if (ended) state <= IDLE;
            if (begins) begin
                fresh <= KEYS != 2 && !key_held;
                state <= KEYS == 0 && !key_held ? NEW_KEY : IN_TWEAK;
            end
        end

        if (issue_tweak) begin
            tweak_left <= tweak_left - 1'b1;
            last_tweak <= tweak_left == 13'd2;
            first <= last_tweak;
        end
        if (issue_message) begin
            blocks_left <= blocks_left - 1'b1;
            last_block <= blocks_left == 13'd2;
            first <= 1'b0;
        end
        // Between messages these are updated in every clock, to keep the decision whether a message begins out of
        // their paths.
        if (between) begin
            decrypt <= next_decrypt;
            slot <= next_slot;
            hollow <= next_ad_blocks == '0;
            tweak_left <= next_ad_blocks;
            last_tweak <= next_ad_blocks[12:1] == '0;
            tweak_bytes <= next_ad_bytes;
            blocks_left <= next_blocks;
            last_block <= next_blocks == 13'd1;
            partial <= next_partial;
            groups <= 5'(next_blocks_less >> 7);
            last_group <= next_last_group;
            sum_time <= next_sum_time;
            first <= 1'b1;
        end
    end

    logic last_start;
    assign last_start = start_valid && start_mixing[12:8] == '0;
    always_ff @(posedge clk) begin
        if (rst) begin
            mp_places <= '0;
            mm_places <= '0;
            starting <= 1'b0;
            none_reserved <= 1'b1;
            mixing <= '0;
        end else begin
            none_reserved <= mp_places[MP_AFTER-1:1] == '0 && mm_places[MIXED-1:1] == '0 && !ended
                && (!starting || last_start);
            mp_places <= {ended, mp_places[MP_AFTER-1:1]};
            mm_places <= {ended && partial != '0, mm_places[MIXED-1:1]};
            if (ended && groups != '0) starting <= 1'b1;
            else if (last_start) starting <= 1'b0;
            if (ended) mixing <= m1_time + {3'd0, sum_time};
            else if (mixing != '0) mixing <= mixing - 1'b1;
        end
        in_order <= m1_time >= mixing;  // m1_time > mixing of the next clock, if no message ends now
    end

    // ---- Masks: 2^j K_AD for the tweak (doubled again for a short T_j), then 2^i K_ECB

    logic [127:0] mask;
    logic [127:0] mask_now;
    logic [127:0] mask_double;
    logic [127:0] mask_four;
    logic [127:0] mask_chosen;
    logic short_tweak;

    assign first_mask_slot = slot;
    assign mask_now = state == IN_MESSAGE && first ? first_mask : mask;
    assign mask_double = gf128_pkg::double_le_bytes(mask_now);
    assign mask_four = gf128_pkg::double_le_bytes(mask_double);
    assign short_tweak = last_tweak && !tweak_bytes[4];
    always_comb begin
        mask_chosen = mask_now;
        if (state == IN_TWEAK && !hollow) begin
            mask_chosen = short_tweak ? mask_four : mask_double;
        end
        if (state == IN_PARTIAL) mask_chosen = '0;
    end
    always_ff @(posedge clk) begin
        if (issue_tweak || issue_message) mask <= mask_double;
        if (between) mask <= tweak_mask;
    end

    // ---- Properties of a message, delayed to the entry of its mp

    logic [MIXING-1:0] mp_mixing;
    ring_delay #(
        .WIDTH(MIXING),
        .CLOCKS(MP_AFTER)
    ) mixing_delay (
        .clk,
        .rst,
        .in_data({slot, decrypt, partial, groups, last_group}),
        .out_data(mp_mixing)
    );

    // ---- Input of the pipes

    logic [127:0] padding;
    logic [127:0] filled;
    logic [127:0] chosen;
    logic [127:0] beside;
    logic [2:0] kind;
    logic [MIXING-1:0] place_mixing;

    // A whole block of 16 bytes has no padding.
    logic [4:0] bytes;
    always_comb begin
        bytes = 5'd16;
        if (state == IN_PARTIAL) bytes = {1'b0, partial};
        if (state == IN_TWEAK && last_tweak && !hollow) bytes = tweak_bytes;
    end
    assign padding = ragged_pkg::padding(bytes);
    assign filled = (hollow && state == IN_TWEAK ? '0 : block) | padding;

    always_comb begin
        chosen = filled ^ mask_chosen;
        beside = state == IN_PARTIAL ? filled : hollow ? '0 : mask_chosen;
        kind = eme2_pkg::KEY;
        place_mixing = {slot, decrypt, partial, groups, last_group};
        if (state == IN_TWEAK) kind = eme2_pkg::TWEAK;
        if (state == IN_MESSAGE) kind = eme2_pkg::MESSAGE;
        if (state == IN_PARTIAL) kind = eme2_pkg::PARTIAL;
        if (mp_places[0]) begin
            chosen = sum;
            beside = sum;
            kind = eme2_pkg::MP;
            place_mixing = mp_mixing;
        end
        if (mixing_mm) begin
            chosen = mm;
            beside = mm_beside;
            kind = eme2_pkg::MM;
            place_mixing = mm_mixing;
        end
        if (start_valid) begin
            chosen = start;
            beside = start;
            kind = eme2_pkg::START;
            place_mixing = start_mixing;
        end
    end
    assign key_slot = place_mixing[MIXING-1-:4];
    always_ff @(posedge clk) begin
        upper_block <= chosen;
        upper_beside <= beside;
        upper_side <= {load_key, kind, first, place_mixing};
        upper_valid <= !rst && (issue || !place_free);
    end

endmodule
