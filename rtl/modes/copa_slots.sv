// Key slots of COPA: key, last round key (where decryption starts) and L = E(0) of each.
//
// Loading a slot: s_key is taken; the last round key is made in ROUNDS + 2 clocks; then `wanted` asks for one
// block of the upper encryption pipe, given in a gap between packets (`granted`); L comes back as zero_valid,
// zero_block. From the handshake on the slot counts as loaded; `loading` says that its packets must still
// wait.
//
// Reading is combinational, by slot number: keys of both layers, and L for the masks of the upper side
// (upper_*), for V (v_*) and for the masks of the lower side (lower_*).
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

    localparam int BITS = SLOTS > 1 ? $clog2(SLOTS) : 1;
    localparam logic [4:0] NUMBER = 5'(SLOTS);

    (* ram_style = "distributed" *)
    logic [127:0] keys[0:SLOTS-1];
    (* ram_style = "distributed" *)
    logic [127:0] lasts[0:SLOTS-1];
    (* ram_style = "distributed" *)
    logic [127:0] zeros[0:SLOTS-1];

    function automatic logic [BITS-1:0] at(input logic [3:0] slot);
        at = SLOTS > 1 ? slot[BITS-1:0] : '0;
    endfunction

    assign upper_key  = keys[at(upper_key_slot)];
    assign upper_last = lasts[at(upper_key_slot)];
    assign lower_key  = keys[at(lower_key_slot)];
    assign lower_last = lasts[at(lower_key_slot)];
    assign upper_l    = zeros[at(upper_l_slot)];
    assign v_l        = zeros[at(v_l_slot)];
    assign lower_l    = zeros[at(lower_l_slot)];

    logic take;
    logic [127:0] new_key;
    logic last_done;
    logic [127:0] last_key;

    assign s_key_tready = !loading;
    assign take = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < NUMBER;
    assign new_key = bytes_pkg::swap128(s_key_key);

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
            keys[at(s_key_slot)] <= new_key;
            loading_slot <= s_key_slot;
        end
        if (last_done) lasts[at(loading_slot)] <= last_key;
        if (zero_valid) zeros[at(loading_slot)] <= zero_block;

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
