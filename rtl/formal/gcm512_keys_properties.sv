// No packet of gcm512 is processed under two keys, for every sequence of a bounded number of clocks from a reset:
//   - While a packet is in the engine, from its command until its last beat has been hashed, the key of its slot is not
//     written.
//   - A key that is taken for the slot of such a packet is refused two clocks later.
//
// The slot, of two, is symbolic. Messages have up to 255 bytes. The cipher and GHASH are stand-ins with short latencies,
// and GHASH reads the powers of the packet's slot until `finish`.
module gcm512_keys_properties (
    input logic clk,
    input logic rst,
    input logic s_key_tvalid,
    input logic s_key_slot,
    input logic s_cmd_tvalid,
    input logic s_cmd_open,
    input logic s_cmd_slot,
    input logic [7:0] message_bytes,
    input logic s_axis_tvalid,
    input logic s_axis_tlast,
    input logic m_axis_tready,
    input logic m_tag_tready,
    input logic followed
);
    logic s_key_tready, s_key_refused, s_cmd_tready;

    gcm512 #(
        .SLOTS(2)
    ) engine (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key('0),
        .s_key_refused,
        .s_key_refusals(),
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce('0),
        .s_cmd_ad_bytes('0),
        .s_cmd_message_bytes({8'd0, message_bytes}),
        .s_cmd_padded(1'b0),
        .s_axis_tvalid,
        .s_axis_tready(),
        .s_axis_tdata('0),
        .s_axis_tkeep('0),
        .s_axis_tlast,
        .s_axis_tuser('0),
        .s_tag_tvalid(1'b0),
        .s_tag_tready(),
        .s_tag_tdata('0),
        .m_axis_tvalid(),
        .m_axis_tready,
        .m_axis_tdata(),
        .m_axis_tkeep(),
        .m_axis_tlast(),
        .m_axis_tuser(),
        .m_tag_tvalid(),
        .m_tag_tready,
        .m_tag_tdata(),
        .m_tag_tuser()
    );

    engine_keys_checks checks (
        .clk,
        .rst,
        .taken(s_key_tvalid && s_key_tready),
        .taken_slot(s_key_slot),
        .refused(s_key_refused),
        .written(engine.write_key),
        .written_slot(engine.loading_slot),
        .begins(s_cmd_tvalid && s_cmd_tready),
        .begins_slot(s_cmd_slot),
        .finishes(engine.hash.finish_valid),
        .finishes_slot(engine.hash.hash_slot),
        .loaded(engine.loaded),
        .several(engine.beat_valid && !engine.beat.final_beat && engine.beat_slot == followed),
        .followed
    );
endmodule
