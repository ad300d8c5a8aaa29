// What both sides of MACsec have at their middle: an engine, and before its keys the guard of slots in use.
//
//   SUITE       the cipher suite: 0 GCM with AES-128, 1 OCB3 with AES-128, 2 and 3 the same with Serpent and keys of 256 bits,
//               4 GCM with AES-256, 5 GCM with AES-128 or AES-256, as the key of the slot says (gcm512, CIPHER = 3)
//   SPLIT       of GCM with AES: see gcm512
//   PARITY      1: keys are stored with parity; parity_error: a frame's key is not what was loaded
//   s_key_*, set_*, begins, coming, in_use, zeroize, zeroizing, refused, began, ended
//               see macsec_keys
//   s_cmd_*, s_axis_*, s_tag_*, m_axis_*, m_tag_*
//               see gcm512, ocb512; nonce: first byte highest; m_tag_tbad: the frame is not what its tag says, or in error
module macsec_engine #(
    parameter int OPEN = 0,
    parameter int SUITE = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int PARITY = 0,
    parameter int SLOT_BITS = 4,
    parameter int KEY_BITS = SUITE == 5 ? 257 : SUITE >= 2 ? 256 : 128
) (
    input logic clk,
    input logic rst,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,

    input  logic                    set,
    input  logic [   SLOT_BITS-1:0] set_slot,
    input  logic                    set_use,
    output logic                    begins,
    output logic                    coming,
    output logic [2**SLOT_BITS-1:0] in_use,

    input  logic zeroize,
    output logic zeroizing,

    input  logic began,
    input  logic ended,
    output logic refused,

    input  logic                 s_cmd_tvalid,
    output logic                 s_cmd_tready,
    input  logic [SLOT_BITS-1:0] s_cmd_slot,
    input  logic [         95:0] s_cmd_nonce,
    input  logic [         15:0] s_cmd_ad_bytes,
    input  logic [         15:0] s_cmd_message_bytes,

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

    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic         m_tag_tbad,
    output logic         parity_error
);

    localparam int CIPHER = SUITE == 5 ? 3 : SUITE == 4 ? 2 : SUITE >= 2 ? 1 : 0;

    logic key_valid;
    logic key_ready;
    logic [SLOT_BITS-1:0] key_slot;
    logic [KEY_BITS-1:0] key;
    logic [2:0] verdict;

    assign m_tag_tbad = verdict[0] || verdict[1];
    // Commands and beats agree here, so nothing else is in error.
    assign parity_error = PARITY == 1 && m_tag_tvalid && m_tag_tready && verdict[1];

    macsec_keys #(
        .SLOT_BITS(SLOT_BITS),
        .KEY_BITS (KEY_BITS)
    ) keys (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .m_key_tvalid(key_valid),
        .m_key_tready(key_ready),
        .m_key_slot(key_slot),
        .m_key_key(key),
        .set,
        .set_slot,
        .set_use,
        .begins,
        .coming,
        .in_use,
        .zeroize,
        .zeroizing,
        .began,
        .ended,
        .refused
    );

    if (SUITE == 1 || SUITE == 3) begin : g_ocb
        ocb512 #(
            .CIPHER(CIPHER),
            .DIRECTION(OPEN),
            .SBOX(SBOX),
            .TAG_BESIDE(OPEN),
            .PARITY(PARITY),
            .SLOTS(2 ** SLOT_BITS)
        ) engine (
            .clk,
            .rst,
            .s_key_tvalid(key_valid),
            .s_key_tready(key_ready),
            .s_key_slot(key_slot),
            .s_key_key(key),
            .s_key_refused(),  // the guard keeps keys from slots of frames in the engine
            .s_key_refusals(),
            .s_cmd_tvalid,
            .s_cmd_tready,
            .s_cmd_open(OPEN == 1),
            .s_cmd_slot,
            .s_cmd_nonce({32'd0, macsec_pkg::swap96(s_cmd_nonce)}),
            .s_cmd_ad_bytes,
            .s_cmd_message_bytes,
            .s_cmd_padded(1'b0),
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
            .m_axis_tuser(),
            .m_tag_tvalid,
            .m_tag_tready,
            .m_tag_tdata,
            .m_tag_tuser(verdict)
        );
    end else begin : g_gcm
        gcm512 #(
            .CIPHER(CIPHER),
            .DIRECTION(OPEN),
            .SBOX(SBOX),
            .SPLIT(SPLIT),
            .TAG_BESIDE(OPEN),
            .PARITY(PARITY),
            .SLOTS(2 ** SLOT_BITS)
        ) engine (
            .clk,
            .rst,
            .s_key_tvalid(key_valid),
            .s_key_tready(key_ready),
            .s_key_slot(key_slot),
            .s_key_key(key),
            .s_key_refused(),  // the guard keeps keys from slots of frames in the engine
            .s_key_refusals(),
            .s_cmd_tvalid,
            .s_cmd_tready,
            .s_cmd_open(OPEN == 1),
            .s_cmd_slot,
            .s_cmd_nonce({32'd0, macsec_pkg::swap96(s_cmd_nonce)}),
            .s_cmd_ad_bytes,
            .s_cmd_message_bytes,
            .s_cmd_padded(1'b0),
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
            .m_axis_tuser(),
            .m_tag_tvalid,
            .m_tag_tready,
            .m_tag_tdata,
            .m_tag_tuser(verdict)
        );
    end

    logic unused;
    assign unused = verdict[2];

endmodule
