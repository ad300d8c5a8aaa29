// GCM's lanes: the keys of the slots, four lanes of encryption, and what travels beside them.
//
//   write_*        a key for a slot (slot_loader)
//   read_slot      slot of the beat or call that enters in the next clock
//   PARITY         1: keys are stored with parity, and a beat whose key is damaged has an error
//   in_*           from gcm_counter; in_error: the packet's error, as known with this beat
//   out_*          the same after the lanes, and the encrypted blocks
module gcm_lanes #(
    parameter int CIPHER = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int SLOT_BITS = 4,
    parameter int LATENCY = 11,
    parameter int PARITY = 0,
    parameter int KEY_BITS = CIPHER == 0 ? 128 : CIPHER == 3 ? 257 : 256
) (
    input logic clk,
    input logic rst,

    // Keys.
    input logic                 write,
    input logic [SLOT_BITS-1:0] write_slot,
    input logic [ KEY_BITS-1:0] write_key,
    input logic [SLOT_BITS-1:0] read_slot,

    // Beats and calls that enter.
    input logic                             in_valid,
    input logic                             in_call,
    input logic [engine_pkg::BEAT_BITS-1:0] in_beat,
    input logic [engine_pkg::HASH_BITS-1:0] in_hash,
    input logic [            SLOT_BITS-1:0] in_slot,
    input logic                             in_error,
    input logic [                    511:0] in_data,
    input logic [                    511:0] in_counters,

    // Outputs: the same fields, after the lanes.
    output logic                             out_valid,
    output logic                             out_call,
    output logic [engine_pkg::BEAT_BITS-1:0] out_beat,
    output logic [engine_pkg::HASH_BITS-1:0] out_hash,
    output logic [            SLOT_BITS-1:0] out_slot,
    output logic                             out_error,
    output logic [                    511:0] out_data,
    output logic [                    511:0] out_encrypted
);

`ifdef YOSYS
    typedef engine_pkg::beat_t beat_t;
    typedef engine_pkg::hash_t hash_t;
`else
    import engine_pkg::beat_t;
    import engine_pkg::hash_t;
`endif

    // What travels beside a beat's blocks.
    typedef struct packed {
        logic error;
        logic [SLOT_BITS-1:0] slot;
        hash_t hash;
        beat_t beat;
    } beside_t;

    logic [KEY_BITS-1:0] key;
    logic key_bad;
    beside_t beside;
    beside_t beside_out;
    logic [LATENCY-1:0] valid_way;
    logic [LATENCY-1:0] call_way;

    slot_memory #(
        .WIDTH(KEY_BITS),
        .SLOT_BITS(SLOT_BITS),
        .PARITY(PARITY)
    ) keys (
        .clk,
        .write,
        .write_slot,
        .write_data(write_key),
        .read_slot,
        .read_data(key),
        .bad(key_bad)
    );

    cipher_lanes #(
        .CIPHER(CIPHER),
        .SBOX(SBOX),
        .SPLIT(SPLIT)
    ) ciphers (
        .clk,
        .in_key(key),
        .in_blocks(in_counters),
        .out_blocks(out_encrypted)
    );

    assign beside.error = in_error || key_bad;
    assign beside.slot = in_slot;
    assign beside.hash = in_hash;
    assign beside.beat = in_beat;

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
    ) data_way (
        .clk,
        .rst,
        .in_data,
        .out_data
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            valid_way <= '0;
            call_way <= '0;
        end else begin
            valid_way <= {valid_way[LATENCY-2:0], in_valid};
            call_way <= {call_way[LATENCY-2:0], in_call};
        end
    end

    assign out_valid = valid_way[LATENCY-1];
    assign out_call = call_way[LATENCY-1];
    assign out_error = beside_out.error;
    assign out_slot = beside_out.slot;
    assign out_hash = beside_out.hash;
    assign out_beat = beside_out.beat;

endmodule
