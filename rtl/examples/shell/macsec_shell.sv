// Example of MACsec in a NIC shell: macsec100g between the host queues and a 100G MAC, one instance per port. For shells
// with 512-bit streams, an AXI4-Lite region for applications, and one clock.
//
//   s_axis_tx  frames from the host → sealed, to the MAC; EAPOL and LLDP pass unchanged
//   s_axis_rx  frames from the MAC  → opened, to the host; of frames without SecTAG only EAPOL and LLDP pass
//   s_axil     registers of macsec100g, and key registers (shell_registers)
//   irq        of macsec100g
//
// Without an association in use, only EAPOL and LLDP frames of the host leave: nothing is sent in the clear by mistake.
//
// The port sends on channel 0 and receives on all CHANNELS. tx_tuser and rx_tuser are sampled with a frame's first beat
// and output with all of its beats. The exception is rx_tuser[0], which marks a bad frame of the MAC at tlast and is 0 to
// the host. The host cannot abort a frame that it has started. m_axis_tx never pauses within a frame.
//
// The maximum frame size is 64 * DEPTH - 32 bytes, and 4096 bytes for EAPOL and LLDP.
module macsec_shell #(
    parameter int CHANNELS = 4,
    parameter int TX_USER = 17,
    parameter int RX_USER = 97,
    parameter int SBOX = 0,
    parameter int DEPTH = 256
) (
    input logic clk,
    input logic rst,

    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [23:0] s_axil_awaddr,
    input  logic [ 2:0] s_axil_awprot,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [ 3:0] s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [ 1:0] s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [23:0] s_axil_araddr,
    input  logic [ 2:0] s_axil_arprot,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp,

    output logic irq,

    input  logic               s_axis_tx_tvalid,
    output logic               s_axis_tx_tready,
    input  logic [      511:0] s_axis_tx_tdata,
    input  logic [       63:0] s_axis_tx_tkeep,
    input  logic               s_axis_tx_tlast,
    input  logic [TX_USER-1:0] s_axis_tx_tuser,

    output logic               m_axis_tx_tvalid,
    input  logic               m_axis_tx_tready,
    output logic [      511:0] m_axis_tx_tdata,
    output logic [       63:0] m_axis_tx_tkeep,
    output logic               m_axis_tx_tlast,
    output logic [TX_USER-1:0] m_axis_tx_tuser,

    input  logic               s_axis_rx_tvalid,
    output logic               s_axis_rx_tready,
    input  logic [      511:0] s_axis_rx_tdata,
    input  logic [       63:0] s_axis_rx_tkeep,
    input  logic               s_axis_rx_tlast,
    input  logic [RX_USER-1:0] s_axis_rx_tuser,

    output logic               m_axis_rx_tvalid,
    input  logic               m_axis_rx_tready,
    output logic [      511:0] m_axis_rx_tdata,
    output logic [       63:0] m_axis_rx_tkeep,
    output logic               m_axis_rx_tlast,
    output logic [RX_USER-1:0] m_axis_rx_tuser
);

    localparam int CHANNEL_BITS = $clog2(CHANNELS);
    localparam int SLOT_BITS = CHANNEL_BITS + 2;
    localparam int USER = TX_USER > RX_USER - 1 ? TX_USER : RX_USER - 1;
    localparam int PAST_DEPTH = 64;

    // EtherTypes of EAPOL and LLDP, first byte lowest. Frames of 12 bytes or fewer have none.
    function automatic logic goes_past(input logic has_type, input logic [15:0] ether_type);
        goes_past = has_type && (ether_type == 16'h8e88 || ether_type == 16'hcc88);
    endfunction

    // ---- Registers and keys ----

    logic core_awvalid;
    logic core_awready;
    logic core_wvalid;
    logic core_wready;
    logic core_bvalid;
    logic core_bready;
    logic [1:0] core_bresp;
    logic core_arvalid;
    logic core_arready;
    logic core_rvalid;
    logic core_rready;
    logic [31:0] core_rdata;
    logic [1:0] core_rresp;
    logic key_valid;
    logic key_ready;
    logic key_receive;
    logic [SLOT_BITS-1:0] key_slot;
    logic [127:0] key;
    logic tx_too_long;
    logic rx_refused;
    logic rx_too_long;

    shell_registers #(
        .SLOT_BITS(SLOT_BITS)
    ) registers (
        .clk,
        .rst,
        .s_axil_awvalid,
        .s_axil_awready,
        .s_axil_awaddr,
        .s_axil_wvalid,
        .s_axil_wready,
        .s_axil_wdata,
        .s_axil_wstrb,
        .s_axil_bvalid,
        .s_axil_bready,
        .s_axil_bresp,
        .s_axil_arvalid,
        .s_axil_arready,
        .s_axil_araddr,
        .s_axil_rvalid,
        .s_axil_rready,
        .s_axil_rdata,
        .s_axil_rresp,
        .core_awvalid,
        .core_awready,
        .core_wvalid,
        .core_wready,
        .core_bvalid,
        .core_bready,
        .core_bresp,
        .core_arvalid,
        .core_arready,
        .core_rvalid,
        .core_rready,
        .core_rdata,
        .core_rresp,
        .m_key_tvalid(key_valid),
        .m_key_tready(key_ready),
        .m_key_receive(key_receive),
        .m_key_slot(key_slot),
        .m_key_key(key),
        .events({rx_too_long, rx_refused, tx_too_long})
    );

    // ---- From the host ----

    logic tx_first;
    logic tx_was_past;
    logic tx_past;
    logic controlled_ready;
    logic uncontrolled_ready;
    logic line_valid;
    logic line_ready;
    logic [511:0] line_data;
    logic [63:0] line_keep;
    logic line_last;
    logic [USER-1:0] line_user;

    assign tx_past = tx_first ? goes_past(s_axis_tx_tkeep[13], s_axis_tx_tdata[111:96]) : tx_was_past;
    assign s_axis_tx_tready = tx_past ? uncontrolled_ready : controlled_ready;

    always_ff @(posedge clk) begin
        if (rst) tx_first <= 1'b1;
        else if (s_axis_tx_tvalid && s_axis_tx_tready) tx_first <= s_axis_tx_tlast;
        if (s_axis_tx_tvalid && s_axis_tx_tready) tx_was_past <= tx_past;
    end

    // Room for two maximum-size frames: one arrives while the other leaves.
    whole_frames #(
        .USER (TX_USER),
        .DEPTH(2 * DEPTH)
    ) tx_frames (
        .clk,
        .rst,
        .s_axis_tvalid(line_valid),
        .s_axis_tready(line_ready),
        .s_axis_tdata(line_data),
        .s_axis_tkeep(line_keep),
        .s_axis_tlast(line_last),
        .s_axis_tbad(1'b0),
        .s_axis_tuser(TX_USER'(line_user)),
        .m_axis_tvalid(m_axis_tx_tvalid),
        .m_axis_tready(m_axis_tx_tready),
        .m_axis_tdata(m_axis_tx_tdata),
        .m_axis_tkeep(m_axis_tx_tkeep),
        .m_axis_tlast(m_axis_tx_tlast),
        .m_axis_tuser(m_axis_tx_tuser),
        .too_long(tx_too_long)
    );

    // ---- To the host ----

    logic rx_first;
    logic rx_was_past;
    logic rx_past;
    logic opened_valid;
    logic opened_ready;
    logic [511:0] opened_data;
    logic [63:0] opened_keep;
    logic opened_last;
    logic [USER-1:0] opened_user;
    logic untagged_valid;
    logic untagged_ready;
    logic [511:0] untagged_data;
    logic [63:0] untagged_keep;
    logic untagged_last;
    logic [USER:0] untagged_user;
    logic past_valid;
    logic past_ready;
    logic past_room;
    logic [511:0] past_data;
    logic [63:0] past_keep;
    logic past_last;
    logic [RX_USER-2:0] past_user;

    assign rx_past = rx_first ? goes_past(untagged_keep[13], untagged_data[111:96]) : rx_was_past;
    assign untagged_ready = !rx_past || past_room;
    assign rx_refused = untagged_valid && untagged_last && !rx_past && !untagged_user[0];

    always_ff @(posedge clk) begin
        if (rst) rx_first <= 1'b1;
        else if (untagged_valid && untagged_ready) rx_first <= untagged_last;
        if (untagged_valid && untagged_ready) rx_was_past <= rx_past;
    end

    // Untagged frames wait here while a frame with SecTAG goes to the host. Those marked bad by the MAC are dropped.
    whole_frames #(
        .USER (RX_USER - 1),
        .DEPTH(PAST_DEPTH)
    ) rx_frames (
        .clk,
        .rst,
        .s_axis_tvalid(untagged_valid && rx_past),
        .s_axis_tready(past_room),
        .s_axis_tdata(untagged_data),
        .s_axis_tkeep(untagged_keep),
        .s_axis_tlast(untagged_last),
        .s_axis_tbad(untagged_user[0]),
        .s_axis_tuser((RX_USER - 1)'(untagged_user[USER:1])),
        .m_axis_tvalid(past_valid),
        .m_axis_tready(past_ready),
        .m_axis_tdata(past_data),
        .m_axis_tkeep(past_keep),
        .m_axis_tlast(past_last),
        .m_axis_tuser(past_user),
        .too_long(rx_too_long)
    );

    frame_merge #(
        .USER(RX_USER - 1)
    ) merge (
        .clk,
        .rst,
        .s_axis_tvalid({past_valid, opened_valid}),
        .s_axis_tready({past_ready, opened_ready}),
        .s_axis_tdata({past_data, opened_data}),
        .s_axis_tkeep({past_keep, opened_keep}),
        .s_axis_tlast({past_last, opened_last}),
        .s_axis_tuser({past_user, (RX_USER - 1)'(opened_user)}),
        .m_axis_tvalid(m_axis_rx_tvalid),
        .m_axis_tready(m_axis_rx_tready),
        .m_axis_tdata(m_axis_rx_tdata),
        .m_axis_tkeep(m_axis_rx_tkeep),
        .m_axis_tlast(m_axis_rx_tlast),
        .m_axis_tuser(m_axis_rx_tuser[RX_USER-1:1])
    );
    assign m_axis_rx_tuser[0] = 1'b0;

    // ---- MACsec ----

    macsec100g #(
        .CHANNELS(CHANNELS),
        .USER(USER),
        .SBOX(SBOX),
        .DEPTH(DEPTH)
    ) core (
        .clk,
        .rst,
        .s_axil_awvalid(core_awvalid),
        .s_axil_awready(core_awready),
        .s_axil_awaddr(s_axil_awaddr[7:0]),
        .s_axil_wvalid(core_wvalid),
        .s_axil_wready(core_wready),
        .s_axil_wdata,
        .s_axil_wstrb,
        .s_axil_bvalid(core_bvalid),
        .s_axil_bready(core_bready),
        .s_axil_bresp(core_bresp),
        .s_axil_arvalid(core_arvalid),
        .s_axil_arready(core_arready),
        .s_axil_araddr(s_axil_araddr[7:0]),
        .s_axil_rvalid(core_rvalid),
        .s_axil_rready(core_rready),
        .s_axil_rdata(core_rdata),
        .s_axil_rresp(core_rresp),
        .irq,
        .s_key_tvalid(key_valid),
        .s_key_tready(key_ready),
        .s_key_receive(key_receive),
        .s_key_slot(key_slot),
        .s_key_key(key),
        .s_controlled_tvalid(s_axis_tx_tvalid && !tx_past),
        .s_controlled_tready(controlled_ready),
        .s_controlled_tdata(s_axis_tx_tdata),
        .s_controlled_tkeep(s_axis_tx_tkeep),
        .s_controlled_tlast(s_axis_tx_tlast),
        .s_controlled_tid('0),
        .s_controlled_tuser(USER'(s_axis_tx_tuser)),
        .s_uncontrolled_tvalid(s_axis_tx_tvalid && tx_past),
        .s_uncontrolled_tready(uncontrolled_ready),
        .s_uncontrolled_tdata(s_axis_tx_tdata),
        .s_uncontrolled_tkeep(s_axis_tx_tkeep),
        .s_uncontrolled_tlast(s_axis_tx_tlast),
        .s_uncontrolled_tid('0),
        .s_uncontrolled_tuser(USER'(s_axis_tx_tuser)),
        .m_line_tvalid(line_valid),
        .m_line_tready(line_ready),
        .m_line_tdata(line_data),
        .m_line_tkeep(line_keep),
        .m_line_tlast(line_last),
        .m_line_tid(),
        .m_line_tuser(line_user),
        .s_line_tvalid(s_axis_rx_tvalid),
        .s_line_tready(s_axis_rx_tready),
        .s_line_tdata(s_axis_rx_tdata),
        .s_line_tkeep(s_axis_rx_tkeep),
        .s_line_tlast(s_axis_rx_tlast),
        .s_line_tuser((USER + 1)'(s_axis_rx_tuser)),
        .m_controlled_tvalid(opened_valid),
        .m_controlled_tready(opened_ready),
        .m_controlled_tdata(opened_data),
        .m_controlled_tkeep(opened_keep),
        .m_controlled_tlast(opened_last),
        .m_controlled_tid(),
        .m_controlled_tuser(opened_user),
        .m_uncontrolled_tvalid(untagged_valid),
        .m_uncontrolled_tready(untagged_ready),
        .m_uncontrolled_tdata(untagged_data),
        .m_uncontrolled_tkeep(untagged_keep),
        .m_uncontrolled_tlast(untagged_last),
        .m_uncontrolled_tuser(untagged_user)
    );

    logic unused;
    assign unused = ^{s_axil_awprot, s_axil_arprot, line_user, opened_user, untagged_user};

endmodule
