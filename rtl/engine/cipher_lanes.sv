// LANES block cipher pipes side by side with one key schedule: all blocks of a clock have the same key, and
// every clock may have another. The schedule walks beside the blocks, one step a stage; shared by four lanes
// it costs a quarter of what a schedule in each lane would.
// Latency: 11 clocks (AES-128), with SPLIT 21; 15 (AES-256, or both), with SPLIT 29; 33 (Serpent). No flow control, no
// valid bits: what enters leaves.
//
//   CIPHER   0 AES-128, 1 Serpent, 2 AES-256, 3 encryption by AES-128 or AES-256, as each key says
//   INVERSE  0 encryption, 1 decryption
//   SBOX     of AES: 0 tables in LUTs, 1 block RAM, 2 Boyar-Peralta circuits
//   SPLIT    of AES's encryption: 1: two registers a round
//   in_key   AES: the key, byte 0 highest; for decryption the last round key, AES-256: the last two
//            Serpent: the padded key's words, w[-8] in bits 31:0; for decryption the last eight prekeys
//            CIPHER 3: bit 256 says that the key is one of AES-128, in bits 255:128
//            For decryption it comes a clock before its blocks.
//   blocks   lane i in bits 128i+127 : 128i, byte 0 of a block highest
module cipher_lanes #(
    parameter int CIPHER = 0,
    parameter int INVERSE = 0,
    parameter int LANES = 4,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int KEY_BITS = CIPHER == 0 ? 128 : CIPHER == 3 ? 257 : 256
) (
    input  logic                 clk,
    input  logic [ KEY_BITS-1:0] in_key,
    input  logic [128*LANES-1:0] in_blocks,
    output logic [128*LANES-1:0] out_blocks
);

    if (CIPHER == 1) begin : g_serpent
        logic unused;  // Serpent's S-boxes have one form
        assign unused = 1'(SBOX) ^ 1'(SPLIT);
        logic [33*128-1:0] keys;
        logic [KEY_BITS-1:0] key;  // with its blocks
        if (INVERSE == 1) begin : g_wait
            always_ff @(posedge clk) key <= in_key;
        end else begin : g_at_once
            assign key = in_key;
        end
        serpent_round_keys #(
            .INVERSE(INVERSE),
            .KEYS(2)
        ) schedule (
            .clk,
            .rst(1'b0),
            .in_new_key(1'b0),
            .in_key(key),
            .keys
        );
        for (genvar i = 0; i < LANES; i = i + 1) begin : g_lane
            if (INVERSE == 0) begin : g_encrypt
                serpent_encrypt_lane lane (
                    .clk,
                    .keys,
                    .in_block(in_blocks[128*i+:128]),
                    .out_block(out_blocks[128*i+:128])
                );
            end else begin : g_decrypt
                serpent_decrypt_lane lane (
                    .clk,
                    .keys,
                    .in_block(in_blocks[128*i+:128]),
                    .out_block(out_blocks[128*i+:128])
                );
            end
        end
    end else begin : g_aes
        localparam int ROUNDS = CIPHER >= 2 ? 14 : 10;
        localparam int BOTH = CIPHER == 3 ? 1 : 0;
        logic [128*(ROUNDS+1)-1:0] round_keys;
        logic [ROUNDS:0] short_keys;
        if (INVERSE == 0 && CIPHER >= 2) begin : g_schedule
            aes256_encrypt_keys_per_block #(
                .SBOX(SBOX),
                .SPLIT(SPLIT),
                .BOTH(BOTH)
            ) schedule (
                .clk,
                .in_key(in_key[255:0]),
                .in_short(BOTH == 1 && in_key[KEY_BITS-1]),
                .round_keys,
                .short_keys
            );
        end else if (INVERSE == 0) begin : g_schedule
            assign short_keys = '0;
            aes_encrypt_keys_per_block #(
                .SBOX(SBOX),
                .SPLIT(SPLIT)
            ) schedule (
                .clk,
                .in_key,
                .round_keys
            );
        end else begin : g_schedule
            logic unused;
            assign short_keys = '0;
            assign unused = ^short_keys;
            aes_decrypt_transformed_keys #(
                .KEY_BITS(KEY_BITS),
                .SBOX(SBOX)
            ) schedule (
                .clk,
                .in_key,
                .round_keys
            );
        end
        for (genvar i = 0; i < LANES; i = i + 1) begin : g_lane
            if (INVERSE == 0) begin : g_encrypt
                aes_encrypt_lane #(
                    .ROUNDS(ROUNDS),
                    .SBOX(SBOX),
                    .SPLIT(SPLIT),
                    .BOTH(BOTH)
                ) lane (
                    .clk,
                    .round_keys,
                    .short_keys,
                    .in_block(in_blocks[128*i+:128]),
                    .out_block(out_blocks[128*i+:128])
                );
            end else begin : g_decrypt
                aes_decrypt_lane #(
                    .ROUNDS(ROUNDS),
                    .SBOX(SBOX)
                ) lane (
                    .clk,
                    .round_keys,
                    .in_block(in_blocks[128*i+:128]),
                    .out_block(out_blocks[128*i+:128])
                );
            end
        end
    end

endmodule
