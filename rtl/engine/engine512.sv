// One top for all 512-bit engines: GCM or OCB3, with any of the ciphers. Ports and parameters are those of gcm512 and
// ocb512, which describe them.
//
//   MODE    0 GCM, 1 OCB3
//   CIPHER  0 AES-128, 1 Serpent with 256-bit keys, 2 AES-256, 3 (GCM) AES-128 or AES-256, as each key says
//   AUX     of OCB3; SPLIT, STAGES of GCM
module engine512 #(
    parameter int MODE = 0,
    parameter int CIPHER = 0,
    parameter int DIRECTION = 2,
    parameter int AUX = 1,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int STAGES = 4,
    parameter int TAG_BESIDE = 0,
    parameter int PARITY = 0,
    parameter int SLOTS = 16,
    parameter int SLOT_BITS = $clog2(SLOTS),
    parameter int KEY_BITS = CIPHER == 0 ? 128 : CIPHER == 3 ? 257 : 256
) (
    input logic clk,
    input logic rst,

    // Keys, and how many were refused since reset.
    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,
    output logic                 s_key_refused,
    output logic [         31:0] s_key_refusals,

    // One command per packet.
    input  logic                 s_cmd_tvalid,
    output logic                 s_cmd_tready,
    input  logic                 s_cmd_open,
    input  logic [SLOT_BITS-1:0] s_cmd_slot,
    input  logic [        127:0] s_cmd_nonce,
    input  logic [         15:0] s_cmd_ad_bytes,
    input  logic [         15:0] s_cmd_message_bytes,
    input  logic                 s_cmd_padded,

    // Packets: additional data (tuser 1), message (0), tag (2).
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [511:0] s_axis_tdata,
    input  logic [ 63:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    // Received tags, with TAG_BESIDE.
    input  logic         s_tag_tvalid,
    output logic         s_tag_tready,
    input  logic [127:0] s_tag_tdata,

    // Messages; tuser with tlast: discard the packet.
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [511:0] m_axis_tdata,
    output logic [ 63:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    // Tags and verdicts; tuser: 0 did not verify, 1 error.
    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (MODE < 0 || MODE > 1) begin : g_mode_refused
        mode_must_be_0_or_1 refused ();
    end

    logic unused;
    if (MODE == 0) begin : g_gcm
        assign unused = 1'(AUX);
        gcm512 #(
            .CIPHER(CIPHER),
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
    end else begin : g_ocb
        assign unused = 1'(SPLIT) ^ 1'(STAGES);
        ocb512 #(
            .CIPHER(CIPHER),
            .DIRECTION(DIRECTION),
            .AUX(AUX),
            .SBOX(SBOX),
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
    end

endmodule
