// Key slots of OCB3. Each has the key, the last round key (the first one of decryption) and the table of multiples of
// L. One slot is loaded at a time.
//
//   s_key_*                a key for a slot. s_key_tready is low while a slot is loading. A key for a slot that does
//                          not exist is discarded. key_take: the handshake, for s_key_slot. key: byte 0 highest.
//   loaded                 slots that have a key, from the clock after the handshake. rst clears it but does not
//                          erase the keys.
//   loading, loading_slot  this slot's last round key or table is not complete
//   call, called           requests E(0) under the key of loading_slot; the pipe accepts the call
//   answer_valid, answer   L_* = E(0)
//   encrypt_*, decrypt_*   reads the key, and the last round key, of a slot; combinational
//   table_*                read port of the table, see ocb3_table
//
// LATE = 1: requests the call only after all round keys of a static schedule are computed.
module ocb3_slots #(
    parameter int SLOTS  = 16,
    parameter int ROUNDS = 10,
    parameter int LATE   = 0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             s_key_tvalid,
    output logic             s_key_tready,
    input  logic [      3:0] s_key_slot,
    input  logic [    127:0] s_key_key,
    output logic             key_take,
    output logic [    127:0] key,
    output logic [SLOTS-1:0] loaded,
    output logic             loading,
    output logic [      3:0] loading_slot,
    output logic             call,
    input  logic             called,
    input  logic             answer_valid,
    input  logic [    127:0] answer,
    input  logic [      3:0] encrypt_slot,
    output logic [    127:0] encrypt_key,
    input  logic [      3:0] decrypt_slot,
    output logic [    127:0] decrypt_key,
    input  logic             table_read,
    input  logic [      3:0] table_slot,
    input  logic [      3:0] table_index,
    output logic [    127:0] table_l
);

    localparam logic [4:0] NUMBER = 5'(SLOTS);

    logic [127:0] last_round_key;
    logic last_done;
    logic last_left;  // the last round key is not complete
    logic answer_left;  // L_* is still to be computed
    logic call_left;
    logic table_loading;

    assign s_key_tready = !loading;
    assign key_take = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < NUMBER;
    assign key = bytes_pkg::swap128(s_key_key);
    assign call = call_left && (LATE == 0 || !last_left);
    assign loading = last_left || answer_left || table_loading;

    slot_words #(
        .SLOTS(SLOTS)
    ) keys (
        .clk,
        .write(key_take),
        .write_slot(s_key_slot),
        .in(key),
        .read_slot(encrypt_slot),
        .out(encrypt_key)
    );

    slot_words #(
        .SLOTS(SLOTS)
    ) last_round_keys (
        .clk,
        .write(last_done),
        .write_slot(loading_slot),
        .in(last_round_key),
        .read_slot(decrypt_slot),
        .out(decrypt_key)
    );

    always_ff @(posedge clk) begin
        if (key_take) loading_slot <= s_key_slot;
        if (rst) begin
            loaded <= '0;
            call_left <= 1'b0;
            last_left <= 1'b0;
            answer_left <= 1'b0;
        end else begin
            if (key_take) loaded <= loaded | SLOTS'(16'd1 << s_key_slot);
            call_left <= key_take || (call_left && !called);
            last_left <= key_take || (last_left && !last_done);
            answer_left <= key_take || (answer_left && !answer_valid);
        end
    end

    aes_last_round_key #(
        .ROUNDS(ROUNDS)
    ) make_last (
        .clk,
        .rst,
        .start(key_take),
        .key,
        .done(last_done),
        .last(last_round_key)
    );

    ocb3_table #(
        .SLOTS(SLOTS)
    ) multiples (
        .clk,
        .rst,
        .load(answer_valid),
        .load_slot(loading_slot),
        .load_l(answer),
        .loading(table_loading),
        .read(table_read),
        .read_slot(table_slot),
        .read_index(table_index),
        .l(table_l)
    );

endmodule
