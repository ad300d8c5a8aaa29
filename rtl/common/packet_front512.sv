// packet_front for 512-bit streams: four blocks a beat. A part (AD, message, tag) starts on a new beat; tkeep is
// contiguous and full but for a part's last beat; the tag's beat has 16 bytes. Everything else, latency and throughput
// (one beat a clock) included, is as packet_front says.
//
//   command_*_blocks, command_last_*_bytes   in blocks of 16 bytes, as in packet_front
//   beat           four blocks; the first is beat[127:0], the next beat[255:128] and so on; each with byte 0 in its
//                  highest byte; bytes beyond tkeep zero
//   beat_blocks    blocks of the beat with at least one byte, 1 to 4
//   beat_bytes     bytes of the beat: 64 but for the last of a part; 16 for the tag
//   beat_kind      0 message, 1 AD, 2 tag
//   beat_last      last of the packet
module packet_front512 #(
    parameter int SLOTS = 16,
    parameter int LEAST = 0,
    parameter int OPEN_LEAST = LEAST,
    parameter int MOST = 65535,
    parameter int AD_MOST = 65535
) (
    input logic clk,
    input logic rst,

    input logic [SLOTS-1:0] slot_loaded,

    input  logic         s_cmd_tvalid,
    output logic         s_cmd_tready,
    input  logic         s_cmd_open,
    input  logic [  3:0] s_cmd_slot,
    input  logic [127:0] s_cmd_nonce,
    input  logic [ 15:0] s_cmd_ad_bytes,
    input  logic [ 15:0] s_cmd_message_bytes,
    input  logic         s_cmd_padded,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [ 63:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    output logic         command_valid,
    input  logic         command_ready,
    output logic         command_open,
    output logic [  3:0] command_slot,
    output logic [127:0] command_nonce,
    output logic [ 12:0] command_ad_blocks,
    output logic [ 12:0] command_message_blocks,
    output logic [  4:0] command_last_ad_bytes,
    output logic [  4:0] command_last_message_bytes,
    output logic         command_padded,
    output logic         command_error,

    output logic         beat_valid,
    input  logic         beat_ready,
    output logic [511:0] beat,
    output logic [  2:0] beat_blocks,
    output logic [  6:0] beat_bytes,
    output logic [  1:0] beat_kind,
    output logic         beat_last,

    output logic verdict_valid,
    input  logic verdict_ready,
    output logic verdict_error
);

    assign beat_blocks = beat_bytes[6:4] + {2'd0, beat_bytes[3:0] != 4'd0};

    packet_front #(
        .SLOTS(SLOTS),
        .LEAST(LEAST),
        .OPEN_LEAST(OPEN_LEAST),
        .MOST(MOST),
        .AD_MOST(AD_MOST),
        .LANES(4)
    ) front (
        .clk(clk),
        .rst(rst),
        .slot_loaded(slot_loaded),
        .s_cmd_tvalid(s_cmd_tvalid),
        .s_cmd_tready(s_cmd_tready),
        .s_cmd_open(s_cmd_open),
        .s_cmd_slot(s_cmd_slot),
        .s_cmd_nonce(s_cmd_nonce),
        .s_cmd_ad_bytes(s_cmd_ad_bytes),
        .s_cmd_message_bytes(s_cmd_message_bytes),
        .s_cmd_padded(s_cmd_padded),
        .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready),
        .s_axis_tdata(s_axis_tdata),
        .s_axis_tkeep(s_axis_tkeep),
        .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser),
        .command_valid(command_valid),
        .command_ready(command_ready),
        .command_open(command_open),
        .command_slot(command_slot),
        .command_nonce(command_nonce),
        .command_ad_blocks(command_ad_blocks),
        .command_message_blocks(command_message_blocks),
        .command_last_ad_bytes(command_last_ad_bytes),
        .command_last_message_bytes(command_last_message_bytes),
        .command_padded(command_padded),
        .command_error(command_error),
        .block_valid(beat_valid),
        .block_ready(beat_ready),
        .block(beat),
        .block_bytes(beat_bytes),
        .block_kind(beat_kind),
        .block_last(beat_last),
        .verdict_valid(verdict_valid),
        .verdict_ready(verdict_ready),
        .verdict_error(verdict_error)
    );

endmodule
