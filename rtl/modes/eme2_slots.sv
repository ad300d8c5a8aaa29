// Key slots of EME2. Each has K_AD, K_ECB, the AES key and its last round key (the first one of decryption).
//
// s_key_key: K_AD in bits 127:0, K_ECB in 255:128, K_AES in 383:256, each with its first byte lowest.
//
// Loading a slot, one at a time: the s_key handshake stores the keys. `take` is high, `new_key` is the AES key, and
// the slot counts as loaded. The last round key is computed in 12 clocks. `loading` is high meanwhile: packets of
// loading_slot must wait, and s_key_tready is low.
//
// Reads are combinational, by slot number, for the first pass (first_*, and tweak_mask for K_AD) and the second pass
// (second_*).
//
// SLOTS is 1 to 16. A key for a slot that does not exist is discarded. rst marks all slots as not loaded; stored keys
// are not erased.
module eme2_slots #(
    parameter int SLOTS = 16
) (
    input logic clk,
    input logic rst,

    input  logic         s_key_tvalid,
    output logic         s_key_tready,
    input  logic [  3:0] s_key_slot,
    input  logic [383:0] s_key_key,

    output logic [SLOTS-1:0] loaded,
    output logic             take,
    output logic [    127:0] new_key,
    output logic             loading,
    output logic [      3:0] loading_slot,

    input  logic [  3:0] first_key_slot,
    output logic [127:0] first_key,
    output logic [127:0] first_last,
    input  logic [  3:0] second_key_slot,
    output logic [127:0] second_key,
    output logic [127:0] second_last,
    input  logic [  3:0] tweak_slot,
    output logic [127:0] tweak_mask,
    input  logic [  3:0] first_mask_slot,
    output logic [127:0] first_mask,
    input  logic [  3:0] second_mask_slot,
    output logic [127:0] second_mask
);

    localparam logic [4:0] NUMBER = 5'(SLOTS);

    logic last_done;
    logic [127:0] last_key;

    assign s_key_tready = !loading;
    assign take = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < NUMBER;
    assign new_key = bytes_pkg::swap128(s_key_key[383:256]);

    slot_words #(
        .SLOTS(SLOTS)
    ) first_keys (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(new_key),
        .read_slot(first_key_slot),
        .out(first_key)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) second_keys (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(new_key),
        .read_slot(second_key_slot),
        .out(second_key)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) first_lasts (
        .clk,
        .write(last_done),
        .write_slot(loading_slot),
        .in(last_key),
        .read_slot(first_key_slot),
        .out(first_last)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) second_lasts (
        .clk,
        .write(last_done),
        .write_slot(loading_slot),
        .in(last_key),
        .read_slot(second_key_slot),
        .out(second_last)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) tweak_masks (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(bytes_pkg::swap128(s_key_key[127:0])),
        .read_slot(tweak_slot),
        .out(tweak_mask)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) first_masks (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(bytes_pkg::swap128(s_key_key[255:128])),
        .read_slot(first_mask_slot),
        .out(first_mask)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) second_masks (
        .clk,
        .write(take),
        .write_slot(s_key_slot),
        .in(bytes_pkg::swap128(s_key_key[255:128])),
        .read_slot(second_mask_slot),
        .out(second_mask)
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
        end else begin
            for (int i = 0; i < SLOTS; i = i + 1) begin
                if (take && {1'b0, s_key_slot} == 5'(i)) loaded[i] <= 1'b1;
            end
            if (take) loading <= 1'b1;
            else if (last_done) loading <= 1'b0;
        end
    end

endmodule
