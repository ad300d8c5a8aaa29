// Key slots of COPA. Each has the key, the last round key (the first one of decryption) and L = E(0).
//
// Loading a slot, one at a time:
//   1. The s_key handshake stores the key. `take` is high, `new_key` is the key, and the slot counts as loaded.
//   2. The last round key is computed in 12 clocks.
//   3. `wanted` requests one entry of the upper encryption pipe, which is `granted` in a gap between packets.
//   4. L returns as zero_block with zero_valid.
// `loading` is high meanwhile: packets of loading_slot must wait, and s_key_tready is low.
//
// Reads are combinational, by slot number: keys of the upper and lower layer (upper_key_slot, lower_key_slot), and L
// for the masks of the upper side (upper_l), for V (v_l) and for the masks of the lower side (lower_l).
//
// SLOTS is 1 to 16. A key for a slot that does not exist is discarded. rst marks all slots as not loaded; stored keys
// are not erased.
module copa_slots #(
    parameter int SLOTS = 16
) (
    input logic clk,
    input logic rst,

    input  logic         s_key_tvalid,
    output logic         s_key_tready,
    input  logic [  3:0] s_key_slot,
    input  logic [127:0] s_key_key,

    output logic [SLOTS-1:0] loaded,
    output logic             take,
    output logic [    127:0] new_key,
    output logic             loading,
    output logic [      3:0] loading_slot,
    output logic             wanted,
    input  logic             granted,
    input  logic             zero_valid,
    input  logic [    127:0] zero_block,

    input  logic [  3:0] upper_key_slot,
    output logic [127:0] upper_key,
    output logic [127:0] upper_last,
    input  logic [  3:0] lower_key_slot,
    output logic [127:0] lower_key,
    output logic [127:0] lower_last,
    input  logic [  3:0] upper_l_slot,
    output logic [127:0] upper_l,
    input  logic [  3:0] v_l_slot,
    output logic [127:0] v_l,
    input  logic [  3:0] lower_l_slot,
    output logic [127:0] lower_l
);

    localparam logic [4:0] NUMBER = 5'(SLOTS);

    logic last_done;
    logic [127:0] last_key;

    assign s_key_tready = !loading;
    assign take = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < NUMBER;
    assign new_key = bytes_pkg::swap128(s_key_key);

    slot_words #(
        .SLOTS(SLOTS)
    ) upper_keys (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(new_key),
        .read_slot(upper_key_slot),
        .out(upper_key)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) lower_keys (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(new_key),
        .read_slot(lower_key_slot),
        .out(lower_key)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) upper_lasts (
        .clk,
        .write(last_done),
        .write_slot(loading_slot),
        .in(last_key),
        .read_slot(upper_key_slot),
        .out(upper_last)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) lower_lasts (
        .clk,
        .write(last_done),
        .write_slot(loading_slot),
        .in(last_key),
        .read_slot(lower_key_slot),
        .out(lower_last)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) upper_ls (
        .clk,
        .write(zero_valid),
        .write_slot(loading_slot),
        .in(zero_block),
        .read_slot(upper_l_slot),
        .out(upper_l)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) v_ls (
        .clk,
        .write(zero_valid),
        .write_slot(loading_slot),
        .in(zero_block),
        .read_slot(v_l_slot),
        .out(v_l)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) lower_ls (
        .clk,
        .write(zero_valid),
        .write_slot(loading_slot),
        .in(zero_block),
        .read_slot(lower_l_slot),
        .out(lower_l)
    );

    aes_last_round_key #(
        .ROUNDS(10)
    ) last_round_key (
        .clk,
        .rst,
        .start(take),
        .key(new_key),
        .done(last_done),
        .last(last_key)
    );

    always_ff @(posedge clk) begin
        if (take) loading_slot <= s_key_slot;

        if (rst) begin
            loaded  <= '0;
            loading <= 1'b0;
            wanted  <= 1'b0;
        end else begin
            for (int i = 0; i < SLOTS; i = i + 1) begin
                if (take && {1'b0, s_key_slot} == 5'(i)) loaded[i] <= 1'b1;
            end
            if (take) loading <= 1'b1;
            else if (zero_valid) loading <= 1'b0;
            if (last_done) wanted <= 1'b1;
            else if (granted) wanted <= 1'b0;
        end
    end

endmodule
