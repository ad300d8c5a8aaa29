// Keys come in here and nowhere else. Loading a slot writes the key, for engines that open also the last
// round key (OPEN = 1, walked there one round a clock), and then asks the engine to make the slot's constant:
// the mode enciphers the zero block with the key and answers with `made` when it has stored what it makes of
// it. Until then the slot does not count as loaded. One key at a time; s_key_tready is low meanwhile.
//
// A key for a slot that a packet in the engine uses, be it one whose command came with the key, is refused: the slot stays
// as it is.
//
//   s_key_key       byte 0 in bits 7:0; CIPHER 3: bit 256 is set for a key of AES-128, which is in bits 127:0
//   s_key_refused   the key of two clocks before is refused; s_key_refusals: how many were, since reset
//   begins, ends    a packet's command is taken, its tag is made
//   loading(_slot)  a load of this slot is under way
//   loaded          slots that can be used
//   write_key ...   to the memories of keys: key or last as cipher_lanes wants it, both for write_slot
//   make            the constant of write_slot is wanted (until made_ack); made: it is there
module slot_loader #(
    parameter int CIPHER = 0,
    parameter int OPEN = 0,
    parameter int SLOT_BITS = 4,
    parameter int KEY_BITS = CIPHER == 0 ? 128 : CIPHER == 3 ? 257 : 256
) (
    input logic clk,
    input logic rst,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,
    output logic                 s_key_refused,
    output logic [         31:0] s_key_refusals,

    input logic                 begins,
    input logic [SLOT_BITS-1:0] begins_slot,
    input logic                 ends,
    input logic [SLOT_BITS-1:0] ends_slot,

    output logic                    loading,
    output logic [   SLOT_BITS-1:0] loading_slot,
    output logic [2**SLOT_BITS-1:0] loaded,
    output logic                    write_key,
    output logic [    KEY_BITS-1:0] key,
    output logic                    write_last,
    output logic [    KEY_BITS-1:0] last,
    output logic                    make,
    input  logic                    make_ack,
    input  logic                    made
);

    logic take;
    logic taken;
    logic asked;  // and in this clock it is known whether its slot is in use
    logic used;
    logic [31:0] refusals;  // before this clock
    logic walked;
    logic [KEY_BITS-1:0] in_key;

    assign take = s_key_tvalid && s_key_tready;
    assign s_key_tready = !loading;

    // While a slot is being loaded no command for it is taken, so what is said in the first clock stays true.
    slot_users #(
        .SLOT_BITS(SLOT_BITS)
    ) users (
        .clk,
        .rst,
        .begins,
        .begins_slot,
        .ends,
        .ends_slot,
        .asked_slot(loading_slot),
        .used
    );

    if (CIPHER == 1) begin : g_serpent
        assign in_key = s_key_key;
        if (OPEN == 1) begin : g_walk
            serpent_last_prekey walk (
                .clk,
                .rst,
                .start(write_key),
                .key,
                .done(walked),
                .last
            );
        end else begin : g_none
            assign walked = write_key;
            assign last = '0;
        end
    end else if (CIPHER == 3) begin : g_aes_both
        assign in_key = {
            s_key_key[256], bytes_pkg::swap128(s_key_key[127:0]), bytes_pkg::swap128(s_key_key[255:128])
        };
        assign walked = write_key;
        assign last = '0;
    end else if (CIPHER == 2) begin : g_aes256
        assign in_key = {bytes_pkg::swap128(s_key_key[127:0]), bytes_pkg::swap128(s_key_key[255:128])};
        if (OPEN == 1) begin : g_walk
            aes256_last_round_keys walk (
                .clk,
                .rst,
                .start(write_key),
                .key,
                .done(walked),
                .last
            );
        end else begin : g_none
            assign walked = write_key;
            assign last = '0;
        end
    end else begin : g_aes
        assign in_key = bytes_pkg::swap128(s_key_key);
        if (OPEN == 1) begin : g_walk
            aes_last_round_key walk (
                .clk,
                .rst,
                .start(write_key),
                .key,
                .done(walked),
                .last
            );
        end else begin : g_none
            assign walked = write_key;
            assign last = '0;
        end
    end

    assign write_key = asked && !used;
    assign s_key_refused = asked && used;
    assign s_key_refusals = refusals + {31'd0, s_key_refused};
    assign write_last = walked;

    always_ff @(posedge clk) begin
        if (take) begin
            loading_slot <= s_key_slot;
            key <= in_key;
        end
        if (rst) begin
            loading <= 1'b0;
            loaded <= '0;
            taken <= 1'b0;
            asked <= 1'b0;
            refusals <= '0;
            make <= 1'b0;
        end else begin
            taken <= take;
            asked <= taken;
            refusals <= s_key_refusals;
            if (take) loading <= 1'b1;
            else if (s_key_refused || made) loading <= 1'b0;
            for (int i = 0; i < 2 ** SLOT_BITS; i = i + 1) begin
                if (loading_slot == SLOT_BITS'(i) && (write_key || made)) loaded[i] <= made;
            end
            if (walked) make <= 1'b1;
            else if (make_ack) make <= 1'b0;
        end
    end

endmodule
