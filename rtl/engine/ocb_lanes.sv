// OCB3's lanes: the keys of the slots, four lanes for each direction, a core for calls (AUX), and what travels beside them.
//
//   write_*        a key, or a last round key, for a slot (slot_loader)
//   key_slot       slot of the beat whose blocks enter in the next clock; key_slot_early: in the clock after that
//   call_slot      of a call that enters in the next clock; in_call: the kinds of call that enter in this one, call_block
//   beat_uses      a beat needs the core for calls in this clock; beat_uses_next: in the next one
//   PARITY         1: keys are stored with parity. A beat whose key is damaged has an error; once a call's key was, every
//                  beat has, until a reset
//   in_*           from ocb_masks: blocks, the single block that the core for calls takes, and what is to be added behind the
//                  lanes; in_sum: what is to be added to the checksum
//   out_*          the same LATENCY clocks later. out_blocks: the lanes' results of the beat's direction. out_ad: the sum of
//                  those of AD, or the result of the core for calls. out_call: a call ends, a clock later, with call_result
module ocb_lanes #(
    parameter int CIPHER = 0,
    parameter int DIRECTION = 2,
    parameter int AUX = 1,
    parameter int SBOX = 0,
    parameter int SLOT_BITS = 4,
    parameter int LATENCY = 11,
    parameter int PARITY = 0,
    parameter int KEY_BITS = CIPHER == 0 ? 128 : 256
) (
    input logic clk,
    input logic rst,

    // Keys.
    input logic                 write_key,
    input logic                 write_last,
    input logic [SLOT_BITS-1:0] write_slot,
    input logic [ KEY_BITS-1:0] new_key,
    input logic [ KEY_BITS-1:0] new_last,
    input logic [SLOT_BITS-1:0] key_slot,
    input logic [SLOT_BITS-1:0] key_slot_early,

    // Calls.
    input  logic                 beat_uses,
    input  logic                 beat_uses_next,
    input  logic [SLOT_BITS-1:0] call_slot,
    input  logic [          2:0] in_call,
    input  logic [        127:0] call_block,
    output logic [          2:0] out_call,
    output logic [        127:0] call_result,

    // Beats that enter.
    input logic                             in_valid,
    input logic [engine_pkg::BEAT_BITS-1:0] in_beat,
    input logic                             in_has_message,
    input logic                             in_error,
    input logic [            SLOT_BITS-1:0] in_slot,
    input logic [                    511:0] in_blocks,
    input logic [                    127:0] in_single,
    input logic [                    511:0] in_post,
    input logic [                    127:0] in_sum,

    // Outputs: the same fields, after the lanes.
    output logic                             out_valid,
    output logic [engine_pkg::BEAT_BITS-1:0] out_beat,
    output logic                             out_has_message,
    output logic                             out_error,
    output logic [            SLOT_BITS-1:0] out_slot,
    output logic [                    511:0] out_blocks,
    output logic [                    127:0] out_ad,
    output logic [                    511:0] out_post,
    output logic [                    127:0] out_sum
);

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
`else
    import engine_pkg::beat_t;
`endif

    // What travels beside a beat's blocks.
    typedef struct packed {
        logic [SLOT_BITS-1:0] slot;
        logic has_message;
        logic error;
        beat_t beat;
    } beside_t;

    // ---- Ciphers ----

    logic [511:0] encrypted;
    logic [511:0] decrypted;
    logic [127:0] called;
    logic encrypt_bad;  // the key of what enters is damaged
    logic decrypt_bad;
    logic aux_bad;
    logic damaged;  // the key of a call was: its result is wrong, and no packet of its own says so

    if (DIRECTION != 1) begin : g_encrypt
        logic [KEY_BITS-1:0] key;
        logic bad;
        logic [511:0] in;
        assign encrypt_bad = bad && (AUX == 1 || beat_uses || in_call != '0);
        if (AUX == 0) begin : g_with_calls
            assign in = {in_blocks[511:128], beat_uses ? in_blocks[127:0] : call_block};
            assign called = encrypted[127:0];
        end else begin : g_beats_only
            assign in = in_blocks;
        end
        slot_memory #(
            .WIDTH(KEY_BITS),
            .SLOT_BITS(SLOT_BITS),
            .PARITY(PARITY)
        ) keys (
            .clk,
            .write(write_key),
            .write_slot,
            .write_data(new_key),
            .read_slot(AUX == 0 && !beat_uses_next ? call_slot : key_slot),
            .read_data(key),
            .bad
        );
        cipher_lanes #(
            .CIPHER(CIPHER),
            .SBOX(SBOX)
        ) lanes (
            .clk,
            .in_key(key),
            .in_blocks(in),
            .out_blocks(encrypted)
        );
    end else begin : g_no_encrypt
        assign encrypt_bad = 1'b0;
        assign encrypted = '0;
    end

    if (AUX == 1) begin : g_aux
        logic [KEY_BITS-1:0] key;
        logic bad;
        logic [127:0] in;
        assign aux_bad = bad && ((DIRECTION == 1 && beat_uses) || in_call != '0);
        assign in = DIRECTION == 1 && beat_uses ? in_single : call_block;
        slot_memory #(
            .WIDTH(KEY_BITS),
            .SLOT_BITS(SLOT_BITS),
            .PARITY(PARITY)
        ) keys (
            .clk,
            .write(write_key),
            .write_slot,
            .write_data(new_key),
            .read_slot(DIRECTION == 1 && beat_uses_next ? key_slot : call_slot),
            .read_data(key),
            .bad
        );
        cipher_lanes #(
            .CIPHER(CIPHER),
            .LANES(1),
            .SBOX(SBOX)
        ) lane (
            .clk,
            .in_key(key),
            .in_blocks(in),
            .out_blocks(called)
        );
    end else begin : g_no_aux
        assign aux_bad = 1'b0;
    end

    if (DIRECTION != 0) begin : g_decrypt
        logic [KEY_BITS-1:0] key;  // a clock before its blocks
        logic bad;
        always_ff @(posedge clk) decrypt_bad <= bad;
        slot_memory #(
            .WIDTH(KEY_BITS),
            .SLOT_BITS(SLOT_BITS),
            .PARITY(PARITY)
        ) keys (
            .clk,
            .write(write_last),
            .write_slot,
            .write_data(new_last),
            .read_slot(key_slot_early),
            .read_data(key),
            .bad
        );
        cipher_lanes #(
            .CIPHER(CIPHER),
            .INVERSE(1),
            .SBOX(SBOX)
        ) lanes (
            .clk,
            .in_key(key),
            .in_blocks,
            .out_blocks(decrypted)
        );
    end else begin : g_no_decrypt
        assign decrypt_bad = 1'b0;
        assign decrypted = '0;
        logic unused_last;
        assign unused_last = ^{write_last, new_last, key_slot_early};
    end

    // ---- Beside the ciphers ----

    beside_t beside;
    beside_t beside_out;
    beat_t beat_out;
    logic [3*LATENCY-1:0] call_way;
    logic [LATENCY-1:0] valid_way;

    assign beside.slot = in_slot;
    assign beside.has_message = in_has_message;
    assign beside.error = in_error || encrypt_bad || decrypt_bad || aux_bad || damaged;
    assign beside.beat = in_beat;

    always_ff @(posedge clk) begin
        call_result <= called;
        if (rst) begin
            call_way <= '0;
            valid_way <= '0;
            out_call <= '0;
            damaged <= 1'b0;
        end else begin
            call_way <= {call_way[3*LATENCY-4:0], in_call};
            valid_way <= {valid_way[LATENCY-2:0], in_valid};
            out_call <= call_way[3*LATENCY-1-:3];
            if (in_call != '0 && (aux_bad || (AUX == 0 && encrypt_bad))) damaged <= 1'b1;
        end
    end

    ring_delay #(
        .WIDTH($bits(beside_t'('0))),
        .CLOCKS(LATENCY)
    ) beside_way (
        .clk,
        .rst,
        .in_data(beside),
        .out_data(beside_out)
    );

    ring_delay #(
        .WIDTH(512),
        .CLOCKS(LATENCY)
    ) post_way (
        .clk,
        .rst,
        .in_data(in_post),
        .out_data(out_post)
    );

    if (DIRECTION != 0) begin : g_sum_way
        ring_delay #(
            .WIDTH(128),
            .CLOCKS(LATENCY)
        ) sum_way (
            .clk,
            .rst,
            .in_data(in_sum),
            .out_data(out_sum)
        );
    end else begin : g_no_sum_way
        assign out_sum = '0;
        logic unused_sum;
        assign unused_sum = ^in_sum;
    end

    assign out_valid = valid_way[LATENCY-1];
    assign out_slot = beside_out.slot;
    assign out_has_message = beside_out.has_message;
    assign out_error = beside_out.error;
    assign beat_out = beside_out.beat;
    assign out_beat = beat_out;

    // ---- Results of the beat's direction ----

    logic [3:0] blocks;
    logic [3:0] partial;
    assign blocks = beat_out.blocks;
    assign partial = beat_out.partial;

    always_comb begin
        out_ad = '0;
        for (int i = 0; i < 4; i = i + 1) begin
            out_blocks[128*i+:128] = encrypted[128*i+:128];
            if (DIRECTION == 1) begin
                out_blocks[128*i+:128] = partial[i] ? called : decrypted[128*i+:128];
            end else if (DIRECTION == 2 && beat_out.open && !partial[i]) begin
                out_blocks[128*i+:128] = decrypted[128*i+:128];
            end
            if (blocks[i]) out_ad = out_ad ^ encrypted[128*i+:128];
        end
        if (DIRECTION == 1) out_ad = called;
    end

    logic unused;
    assign unused = ^{in_single, beat_uses, beat_uses_next};

endmodule
