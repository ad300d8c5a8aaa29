// Mixing of EME2 ("mix" of the standard), at the output of the first pass's pipes.
//
// The values that the second pass XORs to the blocks B_i can be computed without reading the blocks again. Let m_k be
// the mask with which group k of up to 128 blocks starts (m_0 = m1, m_k = a ^ b for later groups), and n_k the number
// of its blocks. Then
//     G_0 = B_0 ^ mm[0..s) ^ sum over k of m_k (1 + x + .. + x^(n_k - 1)),
//     G_i = B_i ^ m_k for the first block of a later group, B_i ^ x^j m_k for the j-th block after a group's first:
// in t ^ mc ^ pad(Q'), everything but B_0, mm and the masks cancels against mp. The sum of the masks is geometric
// (eme2_geometric).
//
//   upper_*         both outputs of the pipes, whose kind and direction select between them, and the side band
//   store_*         B_i, and Q with its padding, to the store in order
//   sum             mp, eme2_pkg::MP_AFTER clocks after the issue of a message's last block
//   mixing_mm, mm*  mp of a message with Q leaves the pipes, and mm enters them in the same clock: mm, mp
//                   (mm_beside), properties of the message (mm_mixing)
//   start*          a of the next later group enters the pipes, one clock after the preceding group's mask
//   group_*         the next m_k, messages in order
//   mask0_*         the sum above, once per message, after all its m_k
//
// At most STARTS first blocks of later groups wait for their m1.
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

    // ---- Pipe output

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

    // Tweak blocks: E(..) ^ k. Message: B_i. Q: itself, padded. mp: mm if there is a Q, else in ^ out. mm and a: in ^
    // out.
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

    // ---- Masks of the groups, and their sums

    logic [127:0] m1;
    logic [MIXING-1:0] m_mixing;
    logic last;
    logic sum_last;  // the group being summed is the message's last
    logic sum_done;
    logic [127:0] group_sum;
    logic [127:0] others;  // sums of the preceding groups

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

    // ---- First blocks of later groups, stored until m1 is known: a = B_i ^ m1

    localparam int BITS = $clog2(STARTS);
    logic [127:0] stored_start;
    logic [BITS-1:0] write_at;
    logic [BITS-1:0] read_at;
    logic [6:0] place;  // position of the next message block in its group
    logic write_start;
    logic [4:0] groups_left;

    assign write_start = upper_valid && is_message && !first && place == '0;
    assign start = stored_start ^ m1;
    assign groups_left = m_mixing[12:8] - 1'b1;
    assign start_mixing = {m_mixing[MIXING-1:13], groups_left, m_mixing[7:0]};

    ram_lut #(
        .WIDTH(128),
        .DEPTH(STARTS)
    ) starts (
        .clk,
        .write(write_start),
        .write_at,
        .write_data(value),
        .read_at,
        .read_data(stored_start),
        .check(1'b0),
        .parity_error()
    );

    always_ff @(posedge clk) begin
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
