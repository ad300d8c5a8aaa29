// The two cipher pipes of ELmD, and their keys. One block per clock. Latency of each pipe: ROUNDS + 1 clocks, or
// 2 * ROUNDS + 1 with SPLIT = 1.
//
// KEYS = 1 and 2: each slot's key and last round key (where decryption starts) are in LUT RAM, and each pipe has its
// own key schedule. The last round key is computed in ROUNDS + 1 clocks after `load`.
// KEYS = 0: one slot. One key schedule computes the round keys of both pipes in ROUNDS + 1 clocks after `load`, when
// no block may be in flight. SBOX and SPLIT must be 0.
//
//   load, load_slot, load_key  loads a key into a slot
//   making_slot                that slot, from the next clock on, for ROUNDS + 1 clocks
//   upper_*                    ports of the encryption pipe, see aes_encrypt, with a slot number instead of the key
//   upper_in_passes_key        the decryption pipe also loads the new key, when this block has left the encryption
//                              pipe
//   lower_*                    ports of the decryption pipe. A block enters in the clock in which it leaves the
//                              encryption pipe.
module elmd_pipes #(
    parameter int ROUNDS = 10,
    parameter int SLOTS = 16,
    parameter int KEYS = 1,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int UPPER_USER = 1,
    parameter int LOWER_USER = 1
) (
    input logic clk,
    input logic rst,

    input logic         load,
    input logic [  3:0] load_slot,
    input logic [127:0] load_key,
    input logic [  3:0] making_slot,

    input  logic                  upper_in_valid,
    input  logic                  upper_in_new_key,
    input  logic                  upper_in_passes_key,
    input  logic [           3:0] upper_in_slot,
    input  logic [         127:0] upper_in_block,
    input  logic [UPPER_USER-1:0] upper_in_user,
    output logic                  upper_out_valid,
    output logic [         127:0] upper_out_block,
    output logic [UPPER_USER-1:0] upper_out_user,

    input  logic                  lower_in_valid,
    input  logic [         127:0] lower_in_block,
    input  logic [LOWER_USER-1:0] lower_in_user,
    output logic                  lower_out_valid,
    output logic [         127:0] lower_out_block,
    output logic [LOWER_USER-1:0] lower_out_user
);

    generate
        if (KEYS == 0) begin : g_static
            if (SLOTS != 1 || SBOX != 0 || SPLIT != 0) begin : g_refused
                this_elmd_with_static_keys_does_not_exist refused ();
            end

            logic [128*(ROUNDS+1)-1:0] encrypt_keys;
            logic [128*(ROUNDS+1)-1:0] decrypt_keys;
            logic unused;
            assign unused = ^{load_slot, making_slot, upper_in_new_key, upper_in_passes_key, upper_in_slot};

            static_keys #(
                .ROUNDS(ROUNDS)
            ) keys (
                .clk,
                .rst,
                .load,
                .key(load_key),
                .encrypt_keys,
                .decrypt_keys
            );

            static_encrypt #(
                .ROUNDS(ROUNDS),
                .USER(UPPER_USER)
            ) upper (
                .clk,
                .rst,
                .round_keys(encrypt_keys),
                .in_valid(upper_in_valid),
                .in_block(upper_in_block),
                .in_user(upper_in_user),
                .out_valid(upper_out_valid),
                .out_block(upper_out_block),
                .out_user(upper_out_user)
            );

            static_decrypt #(
                .ROUNDS(ROUNDS),
                .USER(LOWER_USER)
            ) lower (
                .clk,
                .rst,
                .round_keys(decrypt_keys),
                .in_valid(lower_in_valid),
                .in_block(lower_in_block),
                .in_user(lower_in_user),
                .out_valid(lower_out_valid),
                .out_block(lower_out_block),
                .out_user(lower_out_user)
            );
        end else begin : g_slots
            logic last_made;
            logic [127:0] last_key;
            logic [127:0] upper_key;

            // The decryption pipe loads its key one clock before the block: its key schedule has no time for a
            // preceding memory read.
            logic ahead_new_key;
            logic [3:0] ahead_slot;
            logic [127:0] ahead_key;

            aes_pipe_user #(
                .LATENCY((SPLIT == 1 ? 2 : 1) * ROUNDS),
                .USER(4)
            ) ahead (
                .clk,
                .rst,
                .in_valid(upper_in_passes_key),
                .in_user(upper_in_slot),
                .out_valid(ahead_new_key),
                .out_user(ahead_slot)
            );

            aes_last_round_key #(
                .ROUNDS(ROUNDS)
            ) schedule (
                .clk,
                .rst,
                .start(load),
                .key(load_key),
                .done(last_made),
                .last(last_key)
            );

            slot_words #(
                .SLOTS(SLOTS)
            ) keys (
                .clk,
                .write(load),
                .write_slot(load_slot),
                .in(load_key),
                .read_slot(upper_in_slot),
                .out(upper_key)
            );

            slot_words #(
                .SLOTS(SLOTS)
            ) last_keys (
                .clk,
                .write(last_made),
                .write_slot(making_slot),
                .in(last_key),
                .read_slot(ahead_slot),
                .out(ahead_key)
            );

            aes_encrypt #(
                .ROUNDS(ROUNDS),
                .KEYS(KEYS),
                .SBOX(SBOX),
                .SPLIT(SPLIT),
                .USER(UPPER_USER)
            ) upper (
                .clk,
                .rst,
                .in_valid(upper_in_valid),
                .in_new_key(upper_in_new_key),
                .in_key(upper_key),
                .in_block(upper_in_block),
                .in_user(upper_in_user),
                .out_valid(upper_out_valid),
                .out_block(upper_out_block),
                .out_user(upper_out_user)
            );

            aes_decrypt #(
                .ROUNDS(ROUNDS),
                .KEYS(KEYS),
                .AHEAD(1),
                .SBOX(SBOX),
                .SPLIT(SPLIT),
                .USER(LOWER_USER)
            ) lower (
                .clk,
                .rst,
                .in_valid(lower_in_valid),
                .in_new_key(ahead_new_key),
                .in_key(ahead_key),
                .in_block(lower_in_block),
                .in_user(lower_in_user),
                .out_valid(lower_out_valid),
                .out_block(lower_out_block),
                .out_user(lower_out_user)
            );
        end
    endgenerate

endmodule
