// OCB3's way from block cipher outputs to message beats, hash and checksum: the offsets come off, a partial
// block is cut, the AD's sum and (for opening) the plaintext's checksum are gathered.
//
// Latency: 1 clock to message beats, 2 clocks to finish_*. A beat in any clock.
//
//   lane_blocks, post   lanes' outputs and what is to be added to them (ocb_masks)
//   in_ad               sum of the AD blocks among the outputs of this clock (one block from a lone core: as
//                       is)
//   in_tag              opening, with the packet's last beat: the received tag; sealing: zero
//   in_checksum         sealing: checksum + last offset + L_$; opening: last offset + L_$
//   result              message beats
//   finish_*            with the last beat of a packet: finish_hash = HASH(AD), when opening plus the
//                       received tag; finish_input = the input of the call that makes the tag
module ocb_collect (
    input logic clk,
    input logic rst,

    // From the lanes.
    input logic                             in_valid,
    input logic [engine_pkg::BEAT_BITS-1:0] in_beat,
    input logic                             in_error,
    input logic [                    511:0] lane_blocks,
    input logic [                    511:0] post,
    input logic [                    127:0] in_ad,
    input logic [                    127:0] in_checksum,
    input logic [                    127:0] in_tag,

    // Message beats.
    output logic                               result_valid,
    output logic [engine_pkg::RESULT_BITS-1:0] result,

    // Ends of packets.
    output logic         finish_valid,
    output logic [127:0] finish_hash,
    output logic [127:0] finish_input,
    output logic         finish_open,
    output logic         finish_error
);

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::result_t result_t;
`else
    import engine_pkg::beat_t;
    import engine_pkg::result_t;
`endif

    beat_t now;
    logic [6:0] in_bytes;
    logic [3:0] in_blocks;
    logic [3:0] in_partial;
    logic [511:0] unmasked;
    logic [ 63:0] in_keep;
    logic [511:0] kept;
    logic [ 15:0] pad;

    assign now = in_beat;
    assign in_bytes = now.bytes;
    assign in_blocks = now.blocks;
    assign in_partial = now.partial;
    assign unmasked = lane_blocks ^ post;
    always_comb begin
        for (int i = 0; i < 64; i = i + 1) begin
            in_keep[i] = in_blocks[i/16] && !(in_partial[i/16] && in_bytes[3:0] <= 4'(i % 16));
            kept[128*(i/16)+8*(15-i%16)+:8] = in_keep[i] ? unmasked[128*(i/16)+8*(15-i%16)+:8] : 8'd0;
        end
        for (int i = 0; i < 16; i = i + 1) pad[i] = i != 0 && in_bytes[3:0] == 4'(i);
    end

    logic valid_1;
    logic first_1;
    logic start_1;
    logic final_1;
    logic open_1;
    logic error_1;
    logic [1:0] kind_1;
    logic [15:0] pad_1;
    logic [127:0] ad_1;
    logic [127:0] tag_1;
    logic [127:0] checksum_1;
    result_t given;
    logic [511:0] kept_1;

    always_ff @(posedge clk) begin
        valid_1 <= in_valid && !rst;
        first_1 <= now.first;
        start_1 <= now.start;
        final_1 <= now.final_beat;
        open_1 <= now.open;
        error_1 <= in_error;
        kind_1 <= now.kind;
        pad_1 <= pad;
        ad_1 <= in_ad;
        tag_1 <= in_tag;
        checksum_1 <= in_checksum;
        result_valid <= in_valid && now.kind == engine_pkg::MESSAGE && !rst;
        given.last <= now.part_last;
        given.open <= now.open;
        given.error <= in_error;
        given.bytes <= in_bytes;
        given.data <= kept;
    end

    assign result = given;
    assign kept_1 = given.data;

    logic [127:0] hash;
    logic [127:0] checksum;
    logic [127:0] checksum_next;
    logic [127:0] base;
    logic [127:0] tag_2;
    logic [127:0] checksum_2;

    always_comb begin
        checksum_next = first_1 ? '0 : checksum;
        for (int i = 0; i < 4; i = i + 1) checksum_next = checksum_next ^ kept_1[128*i+:128];
        for (int i = 0; i < 16; i = i + 1) checksum_next[8*(15-i)+7] = checksum_next[8*(15-i)+7] ^ pad_1[i];
    end

    always_ff @(posedge clk) begin
        if (valid_1) hash <= (start_1 ? '0 : hash) ^ (kind_1 == engine_pkg::AD ? ad_1 : '0);
        if (valid_1 && kind_1 == engine_pkg::MESSAGE) checksum <= checksum_next;
        else if (valid_1 && start_1) checksum <= '0;
        tag_2 <= tag_1;
        checksum_2 <= checksum_1;
        finish_valid <= valid_1 && final_1 && !rst;
        finish_open <= open_1;
        finish_error <= error_1;
    end

    assign finish_hash = hash ^ tag_2;
    assign base = finish_open ? checksum : '0;
    assign finish_input = checksum_2 ^ base;

endmodule
