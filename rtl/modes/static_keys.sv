// Round keys of encryption and decryption pipes, for one key at a time. One key schedule runs forward once for both,
// as in the ELmD hardware paper (section IV.A). The middle round keys of decryption pass InvMixColumns, for the
// equivalent inverse cipher (FIPS 197 section 5.3.5).
//
//   load, key                      loads a key. All round keys are valid ROUNDS + 1 clocks later, registered, and
//                                  hold until the next load.
//   encrypt_keys[128r+127 : 128r]  round key r
//   decrypt_keys[128r+127 : 128r]  round key r for r = 0 and r = 10; InvMixColumns(round key r) otherwise, including
//                                  the last of six rounds
module static_keys #(
    parameter int ROUNDS = 10
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      load,
    input  logic [127:0]              key,
    output logic [128*(ROUNDS+1)-1:0] encrypt_keys,
    output logic [128*(ROUNDS+1)-1:0] decrypt_keys
);

    // made[r]: `walking` contains round key r. Round key ROUNDS stays there and needs no other register, unless it is
    // transformed.
    localparam int REGISTERED = ROUNDS == 10 ? ROUNDS : ROUNDS + 1;
    logic [REGISTERED-1:0] made;
    logic [127:0] walking;
    logic [127:0] transformed;
    logic [7:0] constant;
    logic [31:0] word;

    aes_sbox_word sub_word (
        .in (aes_pkg::rot_word(walking[31:0])),
        .out(word)
    );

    always_ff @(posedge clk) begin
        if (rst) made <= '0;
        else made <= {made[REGISTERED-2:0], load};
        if (load) begin
            walking  <= key;
            constant <= 8'h01;
        end else if (|made[ROUNDS-1:0]) begin
            walking  <= aes_pkg::next_round_key(walking, word, constant);
            constant <= aes_pkg::xtime(constant);
        end
    end

    generate
        for (genvar c = 0; c < 4; c = c + 1) begin : g_column
            aes_inverse_mix_column mix (
                .column(walking[32*c+:32]),
                .key(32'd0),
                .mixed(transformed[32*c+:32])
            );
        end

        for (genvar r = 0; r < ROUNDS; r = r + 1) begin : g_encrypt
            logic [127:0] round_key;
            always_ff @(posedge clk) if (made[r]) round_key <= walking;
            assign encrypt_keys[128*r+:128] = round_key;
        end
        for (genvar r = 1; r <= ROUNDS; r = r + 1) begin : g_decrypt
            if (r < 10) begin : g_transformed
                logic [127:0] round_key;
                always_ff @(posedge clk) if (made[r]) round_key <= transformed;
                assign decrypt_keys[128*r+:128] = round_key;
            end else begin : g_last
                assign decrypt_keys[128*r+:128] = walking;
            end
        end
    endgenerate
    assign encrypt_keys[128*ROUNDS+:128] = walking;
    assign decrypt_keys[127:0] = encrypt_keys[127:0];

endmodule
