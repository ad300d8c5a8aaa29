// Computes the last two round keys of AES-256, which a decryption pipe takes as its key. One round key per clock.
//
//   start, key  starts with a key, byte 0 in bits 255:248. A start during a computation replaces that key, which gets
//               no `done`.
//   done        high for one clock, 14 clocks after `start`
//   last        round keys 13 (bits 255:128) and 14, from `done` until the next start; others before
module aes256_last_round_keys (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [255:0] key,
    output logic         done,
    output logic [255:0] last
);
    logic [12:0] made;
    logic [7:0] constant;
    logic even;  // the next round key has an even number
    logic [31:0] word;
    logic busy;

    aes_sbox_word sub_word (
        .in(even ? aes_pkg::rot_word(last[31:0]) : last[31:0]),
        .out(word)
    );

    // made[i]: `last` contains round keys i and i + 1.
    assign busy = |made;
    always_ff @(posedge clk) begin
        if (rst) begin
            made <= '0;
            done <= 1'b0;
        end else begin
            made <= start ? 13'd1 : {made[11:0], 1'b0};
            done <= made[12] && !start;
        end
        if (start) begin
            last <= key;
            constant <= 8'h01;
            even <= 1'b1;
        end else if (busy) begin
            last <= {last[127:0], aes_pkg::next_round_key(last[255:128], word, even ? constant : 8'd0)};
            if (even) constant <= aes_pkg::xtime(constant);
            even <= !even;
        end
    end
endmodule
