// Schedule of COPA: the block that enters the upper layer in each clock, and its mask (COPA v2, sections 3 to 5). All
// later stages have a fixed latency (copa_pkg), so blocks cannot collide there.
//
// A packet occupies entries of the upper layer in this order: its AD blocks (the last one filled up with the nonce),
// its message blocks and, when sealing, Sigma. Two entries are reserved in advance:
//   V:                    V_AFTER clocks after the last AD block or, without AD, the first message block
//   Sigma, when opening:  SIGMA_AFTER clocks after the tag was read, when the whole message has been decrypted
// Any other block waits one clock at a reserved entry. The message follows the AD without waiting for V, which it
// meets between the layers.
//
// Throughput: ceil(ad / 16) + l + 2 clocks per sealed packet of l blocks if nothing waits. An opened packet takes one
// more clock to accept the next command. Except with KEYS = 2, a key change waits until the reserved entries of the
// preceding packet have passed, and until ten clocks after the preceding key change.
//
//   command_*, block_*         from packet_front. A command is accepted only with packet_room.
//   packet_*                   an accepted packet, for the output side. packet_barren: illegal, without blocks.
//   command_l                  L of the command's slot
//   loading*, wanted, granted  see copa_slots
//   credit, take               one credit is available; one is taken, for each message block
//   ad_sum                     sum of the packet's encrypted AD blocks, valid V_AFTER clocks after the last one
//   sigma*                     Sigma of an opened packet with its mask, its slot (sigma_slot), and whether its
//                              padding was malformed (sigma_malformed); valid SIGMA_AFTER clocks after its tag
//   load_key, key_slot         at the issue of a block, one clock before it enters the upper pipes: the pipes load
//                              another key; the slot of the block's key
//   upper_*                    block and side band to the upper layer, one clock after the issue; registered
//   expected_*                 the tag of an opened packet without its mask
module copa_issue #(
    parameter int KEYS = 1
) (
    input logic clk,
    input logic rst,

    input  logic         command_valid,
    output logic         command_ready,
    input  logic         command_open,
    input  logic [  3:0] command_slot,
    input  logic [127:0] command_nonce,
    input  logic [ 12:0] command_ad_blocks,
    input  logic [ 12:0] command_message_blocks,
    input  logic [  4:0] command_last_ad_bytes,
    input  logic [  4:0] command_last_message_bytes,
    input  logic         command_padded,
    input  logic         command_error,
    input  logic [127:0] command_l,

    input  logic         block_valid,
    output logic         block_ready,
    input  logic [127:0] block,

    input  logic packet_room,
    output logic packet_valid,
    output logic packet_open,
    output logic packet_barren,
    output logic packet_padded,

    input  logic       loading,
    input  logic [3:0] loading_slot,
    input  logic       wanted,
    output logic       granted,

    input  logic credit,
    output logic take,

    input logic [127:0] ad_sum,
    input logic [127:0] sigma,
    input logic [  3:0] sigma_slot,
    input logic         sigma_malformed,

    output logic       load_key,
    output logic [3:0] key_slot,

    output logic                        upper_valid,
    output logic [               127:0] upper_block,
    output logic [copa_pkg::SIDE-1:0] upper_side,

    output logic         expected_valid,
    output logic [127:0] expected
);

    localparam int V_AFTER = copa_pkg::V_AFTER;
    localparam int SIGMA_AFTER = copa_pkg::SIGMA_AFTER;

    localparam logic [2:0] IDLE = 3'd0;
    localparam logic [2:0] NEW_KEY = 3'd1;  // static pipes: the key enters without a block
    localparam logic [2:0] LOAD = 3'd2;
    localparam logic [2:0] IN_AD = 3'd3;
    localparam logic [2:0] IN_MESSAGE = 3'd4;
    localparam logic [2:0] IN_SIGMA = 3'd5;
    localparam logic [2:0] IN_TAG = 3'd6;

    // ---- Packet being issued

    logic [2:0] state;
    logic fresh;  // its key must be loaded into the pipes
    logic is_load;  // this is the load of a slot
    logic open;
    logic [3:0] slot;
    logic has_ad;
    logic [4:0] ad_bytes;  // in the last AD block; 16 without AD
    logic [12:0] ad_left;
    logic [12:0] message_left;
    logic [4:0] message_bytes;  // in the last message block
    logic padded;
    logic hollow;  // the only message block is all padding; no beat to read
    logic first;  // the next block is the first of its part
    logic [127:0] nonce;  // rotated by ad_bytes
    logic [127:0] ad_mask;  // 2^(i-1) 3^3 L
    logic [127:0] mask;  // top[i] = 2^(i-1) 3 L, or opening bot[i] = 2^i L
    logic [127:0] sum;  // of the message blocks, when sealing

    logic [127:0] turned;
    logic [127:0] fill;
    logic [127:0] rest;
    copa_nonce nonce_blocks (
        .nonce(command_nonce),
        .turn(command_last_ad_bytes[3:0]),
        .turned(turned),
        .kept(nonce),
        .ad_bytes(ad_bytes),
        .fill(fill),
        .rest(rest)
    );

    // ---- Reserved entries: bit i is the entry i clocks from now.

    logic [V_AFTER-1:0] v_places;
    logic [SIGMA_AFTER-1:0] sigma_places;
    logic place_free;  // registered like none_reserved, because the issue depends on both
    logic none_reserved;
    logic v_place_free;  // the entry V_AFTER clocks from now
    logic reserves_v;

    assign v_place_free = !sigma_places[V_AFTER];

    // ---- Issue

    logic ends_ad;  // V_AFTER counts from this block
    logic issue;
    logic issue_ad;
    logic issue_message;
    logic issue_sigma;
    logic issue_alone;  // KEY or ZERO
    logic take_tag;
    logic last_ad;  // ad_left is 1
    logic last_message;  // message_left is 1
    logic key_ready;

    always_comb begin
        ends_ad = 1'b0;
        if (state == IN_AD) ends_ad = last_ad;
        if (state == IN_MESSAGE) ends_ad = first && !has_ad;
    end

    logic may_issue;
    assign may_issue = place_free && key_ready && (!ends_ad || v_place_free);
    always_comb begin
        block_ready = 1'b0;
        if (state == IN_AD) block_ready = may_issue;
        if (state == IN_MESSAGE) block_ready = may_issue && credit && !hollow;
        if (state == IN_TAG) block_ready = 1'b1;
    end
    assign issue_ad = state == IN_AD && may_issue && block_valid;
    assign issue_message = state == IN_MESSAGE && may_issue && credit && (block_valid || hollow);
    assign issue_sigma = state == IN_SIGMA && place_free;
    assign issue_alone = state == NEW_KEY || (state == LOAD && key_ready && place_free);
    assign issue = issue_ad || issue_message || issue_sigma || issue_alone;
    assign take_tag = state == IN_TAG && block_valid;
    assign take = issue_message;

    // ---- Next packet. A slot to load has priority.

    logic between;
    logic key_may_change;
    logic key_held;
    logic pipe_held;
    logic [3:0] pipe_slot;
    logic pipe_may_load;
    logic key_settled;
    logic command_take;
    logic [3:0] asked_slot;

    assign between = state == IDLE || issue_sigma;
    assign asked_slot = wanted ? loading_slot : command_slot;
    assign key_held = pipe_held && pipe_slot == asked_slot;
    assign key_may_change = KEYS == 2 || (key_held && !wanted)
        || (pipe_may_load && none_reserved && !(KEYS == 0 && upper_valid));
    assign granted = between && wanted && key_may_change;
    assign command_ready = between && !wanted && packet_room
        && (command_error || (key_may_change && !(loading && command_slot == loading_slot)));
    assign command_take = command_valid && command_ready;

    pipe_key #(
        .KEYS(KEYS),
        .PIPE(copa_pkg::LOWER_OUT + 2),
        .WAVE(9)  // not 10, since the key is loaded at least one clock after its packet was accepted
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
        .forget(wanted),
        .forget_slot(loading_slot)
    );
    assign load_key  = fresh && issue;
    assign key_ready = KEYS == 0 ? key_settled : 1'b1;

    assign packet_valid  = command_take;
    assign packet_open   = command_open;
    assign packet_barren = command_error;
    assign packet_padded = !command_open && command_last_message_bytes != 5'd16;

    logic begins;  // a packet with blocks, or a load of a slot
    logic begins_fresh;
    assign begins = granted || (command_take && !command_error);
    assign begins_fresh = KEYS != 2 && (granted || !key_held);

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= IDLE;
            fresh <= 1'b0;
        end else begin
            if (load_key) fresh <= 1'b0;
            if (issue_alone) begin
                if (state == LOAD) state <= IDLE;
                else state <= is_load ? LOAD : has_ad ? IN_AD : IN_MESSAGE;
            end
            if (issue_ad && last_ad) state <= IN_MESSAGE;
            if (issue_message && last_message) state <= open ? IN_TAG : IN_SIGMA;
            if (issue_sigma || take_tag) state <= IDLE;
            if (begins) begin
                fresh <= begins_fresh;
                if (KEYS == 0 && begins_fresh) state <= NEW_KEY;
                else if (granted) state <= LOAD;
                else state <= command_ad_blocks != '0 ? IN_AD : IN_MESSAGE;
            end
        end

        if (issue_ad) begin
            ad_left <= ad_left - 1'b1;
            last_ad <= ad_left == 13'd2;
            first   <= last_ad;
        end
        if (issue_message) begin
            message_left <= message_left - 1'b1;
            last_message <= message_left == 13'd2;
            first <= 1'b0;
        end
        // Between packets these are updated in every clock, to keep the decision whether a packet begins out of their
        // paths.
        if (between) begin
            is_load <= wanted;
            slot <= asked_slot;
            open <= command_open;
            has_ad <= command_ad_blocks != '0;
            ad_bytes <= command_ad_blocks != '0 ? command_last_ad_bytes : 5'd16;
            ad_left <= command_ad_blocks;
            last_ad <= command_ad_blocks == 13'd1;
            hollow <= command_message_blocks == '0;
            message_left <= command_message_blocks == '0 ? 13'd1 : command_message_blocks;
            last_message <= command_message_blocks[12:1] == '0;
            message_bytes <= command_last_message_bytes;
            padded <= command_open ? command_padded : command_last_message_bytes != 5'd16;
            first <= 1'b1;
            nonce <= turned;
        end
    end

    assign reserves_v = ends_ad && (issue_ad || issue_message);
    always_ff @(posedge clk) begin
        if (rst) begin
            v_places <= '0;
            sigma_places <= '0;
            place_free <= 1'b1;
            none_reserved <= 1'b1;
        end else begin
            place_free <= !v_places[1] && !sigma_places[1];
            none_reserved <= v_places[V_AFTER-1:1] == '0 && sigma_places[SIGMA_AFTER-1:1] == '0
                && !reserves_v && !take_tag;
            v_places <= {reserves_v, v_places[V_AFTER-1:1]};
            sigma_places <= {take_tag, sigma_places[SIGMA_AFTER-1:1]};
        end
    end

    // ---- Masks

    // 3^3 = x^3 + x^2 + x + 1
    logic [127:0] l_double;
    assign l_double = gf128_pkg::double_be(command_l);
    always_ff @(posedge clk) begin
        if (issue_ad) ad_mask <= gf128_pkg::double_be(ad_mask);
        if (issue_message && !last_message) mask <= gf128_pkg::double_be(mask);
        if (between) begin
            ad_mask <= gf128_pkg::triple_be(gf128_pkg::double_be(l_double) ^ command_l);
            mask <= command_open ? l_double : l_double ^ command_l;
        end
    end

    // V's block with its mask, one clock after the block that ends the AD. The factor is 3^4 or, if the rest of the
    // nonce is short, 3^5 instead of 3^3. At that time ad_mask has been doubled for all AD blocks, and no other
    // packet has begun.
    logic [127:0] ad_mask_double;
    logic [127:0] v_made;
    logic [127:0] v_block;
    logic v_has_ad;
    logic [3:0] v_slot;

    assign ad_mask_double = gf128_pkg::double_be(ad_mask);
    assign v_made = rest ^ ad_mask
        ^ (ad_bytes == 5'd16 ? ad_mask_double : gf128_pkg::double_be(ad_mask_double));
    ring_delay #(
        .WIDTH(128 + 5),
        .CLOCKS(V_AFTER - 1)
    ) v_delay (
        .clk,
        .rst,
        .in_data({v_made, has_ad, slot}),
        .out_data({v_block, v_has_ad, v_slot})
    );

    // A message block, padded, with the mask top or bot; 7 top if it was padded. The mask of the received tag is 7
    // bot[l].
    logic [127:0] filled;
    logic times_seven;
    logic [127:0] mask_double;
    logic [127:0] masked;

    logic [127:0] padding;
    assign padding = last_message && !open ? ragged_pkg::padding(message_bytes) : '0;
    assign filled = (hollow ? '0 : block) | padding;
    assign times_seven = state == IN_TAG || (last_message && !open && padded);
    assign mask_double = gf128_pkg::double_be(mask);
    assign masked = filled ^ mask ^ (times_seven ? mask_double ^ gf128_pkg::double_be(mask_double) : '0);

    // Sigma with the mask 3 top[l]. The factor is 3, or 3 * 7 = x^3 + 1.
    logic [127:0] sum_masked;
    assign sum_masked = sum ^ mask ^ (padded ? gf128_pkg::double_be(
        gf128_pkg::double_be(mask_double)
    ) : mask_double);

    always_ff @(posedge clk) begin
        if (issue_message) sum <= first ? filled : sum ^ filled;
    end

    assign expected_valid = take_tag;
    assign expected = masked;

    // ---- Input of the upper layer

    logic [127:0] chosen;
    logic [2:0] kind;
    // Only upper_valid depends on whether a block is issued.
    always_comb begin
        chosen = '0;
        kind = copa_pkg::KEY;
        if (state == LOAD) kind = copa_pkg::ZERO;
        if (state == IN_AD) begin
            chosen = (last_ad ? block | fill : block) ^ ad_mask;
            kind = copa_pkg::AD;
        end
        if (state == IN_MESSAGE) begin
            chosen = masked;
            kind = copa_pkg::MESSAGE;
        end
        if (state == IN_SIGMA) begin
            chosen = sum_masked;
            kind = copa_pkg::SIGMA;
        end
        if (v_places[0]) begin
            chosen = v_block ^ (v_has_ad ? ad_sum : '0);
            kind = copa_pkg::V;
        end
        if (sigma_places[0]) begin
            chosen = sigma;
            kind = copa_pkg::SIGMA;
        end
    end

    assign key_slot = v_places[0] ? v_slot : sigma_places[0] ? sigma_slot : slot;
    always_ff @(posedge clk) begin
        upper_block <= chosen;
        upper_side <= {
            load_key,
            key_slot,
            kind,
            sigma_places[0] || (open && !v_places[0]),
            first,
            last_message,
            sigma_places[0] ? sigma_malformed : padded
        };
        upper_valid <= !rst && (issue || !place_free);
    end

endmodule
