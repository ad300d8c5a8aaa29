// The mixing of EME2 (specification, "mix"), at the output of the first pass's pipes.
//
// What the second pass XORs to the blocks B_i can be said without looking at the blocks again. Let m_k be the
// mask that group k of up to 128 blocks starts with (m_0 = m1, m_k = a ^ b for the later ones) and n_k the
// number of its blocks. Then
//     G_0 = B_0 ^ mm[0..s) ^ sum over k of m_k (1 + x + .. + x^(n_k - 1)),
//     G_i = B_i ^ m_k for the first block of a later group, B_i ^ x^j m_k for the j-th block behind a group's
//     first:
// all of t ^ mc ^ pad(Q') but B_0, mm and masks cancels against mp. The masks' sum is a geometric one
// (eme2_geometric).
//
//   upper_*       what leaves the pipes (both outputs; kind and direction say which counts) and went beside
//                 them
//   store_*       B_i, and Q with its padding, for the store, in order
//   sum           mp, eme2_pkg::MP_AFTER clocks after the issue of a message's last block
//   mixing_mm, mm, mm_beside, mm_mixing   mp of a message with a Q came out: mm goes into the pipes at once
//   start*        a of the next later group goes into the pipes, one clock after the mask of the group before
//   group_*       an m_k comes out; mask0_*: the sum above, once for each message and after all its m_k;
//                 messages in their order
module eme2_mix #(
    parameter int STARTS = 4
) (
    input logic clk,
    input logic rst,

    input logic                      upper_valid,
    input logic [eme2_pkg::SIDE-1:0] upper_side,
    input logic [127:0]              upper_encrypted,
    input logic [127:0]              upper_decrypted,
    input logic [127:0]              upper_beside,

    output logic         store_valid,
    output logic [127:0] store_block,

    output logic [127:0] sum,

    output logic                        mixing_mm,
    output logic [127:0]                mm,
    output logic [127:0]                mm_beside,
    output logic [eme2_pkg::MIXING-1:0] mm_mixing,

    output logic                        start_valid,
    output logic [127:0]                start,
    output logic [eme2_pkg::MIXING-1:0] start_mixing,

    output logic         group_valid,
    output logic [127:0] group_mask,
    output logic         mask0_valid,
    output logic [127:0] mask0
);

    localparam int MIXING = eme2_pkg::MIXING;

    // ---- What comes out

    logic [2:0] kind;
    logic first;
    logic [MIXING-1:0] mixing;
    logic decrypt;
    logic partial;
    logic [4:0] groups;
    logic [7:0] last_group;
    logic is_message;
    logic is_partial;
    logic is_mp;
    logic is_start;
    logic [127:0] block;
    logic [127:0] value;
    logic with_block;
    logic with_beside;

    assign kind = upper_side[MIXING+3:MIXING+1];
    assign first = upper_side[MIXING];
    assign mixing = upper_side[MIXING-1:0];
    assign decrypt = mixing[17];
    assign partial = mixing[16:13] != '0;
    assign groups = mixing[12:8];
    assign last_group = mixing[7:0];

    assign is_message = kind == eme2_pkg::MESSAGE;
    assign is_partial = kind == eme2_pkg::PARTIAL;
    assign is_mp = kind == eme2_pkg::MP;
    assign is_start = kind == eme2_pkg::START;

    // Tweak blocks: E(..) ^ k. Message: B_i. Q: itself, padded. mp: mm if there is a Q. Else, mm, mp and a:
    // in ^ out.
    assign with_block = !is_partial;
    assign with_beside = !is_message && !(is_mp && partial);
    assign block = decrypt && kind != eme2_pkg::TWEAK ? upper_decrypted : upper_encrypted;
    assign value = (with_block ? block : '0) ^ (with_beside ? upper_beside : '0);

    assign store_valid = upper_valid && (is_message || is_partial);
    assign store_block = value;

    always_ff @(posedge clk) begin
        if (upper_valid && (kind == eme2_pkg::TWEAK || is_message || is_partial)) begin
            sum <= (kind == eme2_pkg::TWEAK && first ? '0 : sum) ^ value;
        end
    end

    assign mixing_mm = upper_valid && is_mp && partial;
    assign mm = value;
    assign mm_beside = upper_beside;
    assign mm_mixing = mixing;

    // ---- Groups' masks, and their sums

    logic [127:0] m1;
    logic [MIXING-1:0] m_mixing;
    logic last;
    logic sum_last;  // the group being summed is the message's last
    logic sum_done;
    logic [127:0] group_sum;
    logic [127:0] others;  // sums of the groups before

    assign group_valid = upper_valid && ((is_mp && !partial) || kind == eme2_pkg::MM || is_start);
    assign group_mask = value;
    assign last = groups == '0;

    eme2_geometric geometric (
        .clk,
        .rst,
        .start(group_valid),
        .m(value),
        .n(last ? last_group : 8'd128),
        .done(sum_done),
        .sum(group_sum)
    );

    assign mask0_valid = sum_done && sum_last;
    assign mask0 = others ^ group_sum;
    always_ff @(posedge clk) begin
        if (group_valid) begin
            sum_last <= last;
            m_mixing <= mixing;
        end
        if (group_valid && !is_start) begin
            m1 <= value;
            others <= '0;
        end
        if (sum_done) others <= others ^ group_sum;
    end

    // ---- The later groups' first blocks, kept until m1 is known: a = B_i ^ m1.

    localparam int BITS = $clog2(STARTS);
    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [127:0] starts[0:STARTS-1];
    logic [BITS-1:0] write_at;
    logic [BITS-1:0] read_at;
    logic [6:0] place;  // of the next message block in its group
    logic write_start;
    logic [4:0] groups_left;

    assign write_start = upper_valid && is_message && !first && place == '0;
    assign start = starts[read_at] ^ m1;
    assign groups_left = m_mixing[12:8] - 1'b1;
    assign start_mixing = {m_mixing[MIXING-1:13], groups_left, m_mixing[7:0]};

    always_ff @(posedge clk) begin
        if (write_start) starts[write_at] <= value;
        if (upper_valid && is_message) place <= first ? 7'd1 : place + 1'b1;
        if (rst) begin
            start_valid <= 1'b0;
            write_at <= '0;
            read_at  <= '0;
        end else begin
            start_valid <= group_valid && !last;
            if (write_start) write_at <= write_at + 1'b1;
            if (start_valid) read_at <= read_at + 1'b1;
        end
    end

endmodule
