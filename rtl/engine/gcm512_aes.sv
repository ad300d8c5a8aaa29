// GCM with AES-128, with KEY_BITS = 256 AES-256, or with KEY_BITS = 257 both, for 512-bit streams: engine512 under its
// own name. Ports and parameters: gcm512.
module gcm512_aes #(
    parameter int KEY_BITS = 128,
    parameter int DIRECTION = 2,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int STAGES = 4,
    parameter int TAG_BESIDE = 0,
    parameter int PARITY = 0,
    parameter int SLOTS = 16,
    parameter int SLOT_BITS = $clog2(SLOTS)
) (
    input logic clk,
    input logic rst,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,
    output logic                 s_key_refused,
    output logic [         31:0] s_key_refusals,

    input  logic                 s_cmd_tvalid,
    output logic                 s_cmd_tready,
    input  logic                 s_cmd_open,
    input  logic [SLOT_BITS-1:0] s_cmd_slot,
    input  logic [        127:0] s_cmd_nonce,
    input  logic [         15:0] s_cmd_ad_bytes,
    input  logic [         15:0] s_cmd_message_bytes,
    input  logic                 s_cmd_padded,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [ 63:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    input  logic         s_tag_tvalid,
    output logic         s_tag_tready,
    input  logic [127:0] s_tag_tdata,

    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [ 63:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (KEY_BITS != 128 && KEY_BITS != 256 && KEY_BITS != 257) begin : g_key_bits_refused
        key_bits_must_be_128_256_or_257 refused ();
    end

    engine512 #(
        .MODE(0),
        .CIPHER(KEY_BITS == 257 ? 3 : KEY_BITS == 256 ? 2 : 0),
        .DIRECTION(DIRECTION),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .STAGES(STAGES),
        .TAG_BESIDE(TAG_BESIDE),
        .PARITY(PARITY),
        .SLOTS(SLOTS)
    ) engine (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .s_key_refused,
        .s_key_refusals,
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce,
        .s_cmd_ad_bytes,
        .s_cmd_message_bytes,
        .s_cmd_padded,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .s_tag_tvalid,
        .s_tag_tready,
        .s_tag_tdata,
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tuser,
        .m_tag_tvalid,
        .m_tag_tready,
        .m_tag_tdata,
        .m_tag_tuser
    );

endmodule
