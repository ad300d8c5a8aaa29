// Key slots of EME2: K_AD, K_ECB, the AES key and its last round key (where decryption starts) of each.
//
// s_key_key: K_AD in bits 127:0, K_ECB in 255:128, K_AES in 383:256, each with its first byte lowest. The
// last round key is made in ROUNDS + 2 clocks; from the handshake on the slot counts as loaded, and `loading`
// says that its packets must still wait. Reading is combinational, by slot number, for the first pass and the
// second.
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

    localparam int BITS = SLOTS > 1 ? $clog2(SLOTS) : 1;
    localparam logic [4:0] NUMBER = 5'(SLOTS);

    (* ram_style = "distributed" *)
    logic [127:0] keys[0:SLOTS-1];
    (* ram_style = "distributed" *)
    logic [127:0] lasts[0:SLOTS-1];
    (* ram_style = "distributed" *)
    logic [127:0] tweak_masks[0:SLOTS-1];
    (* ram_style = "distributed" *)
    logic [127:0] masks[0:SLOTS-1];

    function automatic logic [BITS-1:0] at(input logic [3:0] slot);
        at = SLOTS > 1 ? slot[BITS-1:0] : '0;
    endfunction

    assign first_key   = keys[at(first_key_slot)];
    assign first_last  = lasts[at(first_key_slot)];
    assign second_key  = keys[at(second_key_slot)];
    assign second_last = lasts[at(second_key_slot)];
    assign tweak_mask  = tweak_masks[at(tweak_slot)];
    assign first_mask  = masks[at(first_mask_slot)];
    assign second_mask = masks[at(second_mask_slot)];

    logic take;
    logic [127:0] new_key;
    logic last_done;
    logic [127:0] last_key;

    assign s_key_tready = !loading;
    assign take = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < NUMBER;
    assign new_key = bytes_pkg::swap128(s_key_key[383:256]);

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
        if (take) begin
            tweak_masks[at(s_key_slot)] <= bytes_pkg::swap128(s_key_key[127:0]);
            masks[at(s_key_slot)] <= bytes_pkg::swap128(s_key_key[255:128]);
            keys[at(s_key_slot)] <= new_key;
            loading_slot <= s_key_slot;
        end
        if (last_done) lasts[at(loading_slot)] <= last_key;

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
