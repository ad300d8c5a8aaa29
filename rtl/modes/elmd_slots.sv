// The key slots of ELmD: the key, the last round key, where the decryption pipe's schedule starts, and L. They lie in
// LUT RAM. One key is loaded at a time: its last round key is made here in ROUNDS + 1 clocks, its L by the encryption
// pipe.
//
// KEYS = 0 (static keys, SLOTS = 1) stores L alone: the pipes hold the round keys.
//
//   write, write_slot, write_key   a new key. write_slot must hold until its last round key and L are stored
//   last_made                      its last round key is made, and stored in this clock; with KEYS = 0 it is `last`
//   write_l, new_l                 its L
//   key_slot -> key, last_slot -> last, l_slot -> l    reads, combinational
module elmd_slots #(
    parameter int ROUNDS = 10,
    parameter int SLOTS = 16,
    parameter int KEYS = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         write,
    input  logic [  3:0] write_slot,
    input  logic [127:0] write_key,
    output logic         last_made,
    input  logic         write_l,
    input  logic [127:0] new_l,
    input  logic [  3:0] key_slot,
    output logic [127:0] key,
    input  logic [  3:0] last_slot,
    output logic [127:0] last,
    input  logic [  3:0] l_slot,
    output logic [127:0] l
);

    logic [127:0] made_last;

    aes_last_round_key #(
        .ROUNDS(ROUNDS)
    ) schedule (
        .clk,
        .rst,
        .start(write),
        .key(write_key),
        .done(last_made),
        .last(made_last)
    );

    generate
        if (KEYS == 0) begin : g_static
            assign key = write_key;
            assign last = made_last;
        end else begin : g_stored
            elmd_slot_memory #(.SLOTS(SLOTS)) keys (
                .clk, .write, .write_slot, .in(write_key), .read_slot(key_slot), .out(key)
            );
            elmd_slot_memory #(.SLOTS(SLOTS)) lasts (
                .clk, .write(last_made), .write_slot, .in(made_last), .read_slot(last_slot), .out(last)
            );
        end
    endgenerate

    elmd_slot_memory #(.SLOTS(SLOTS)) ls (
        .clk, .write(write_l), .write_slot, .in(new_l), .read_slot(l_slot), .out(l)
    );

endmodule
