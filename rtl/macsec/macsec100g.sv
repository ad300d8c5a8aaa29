// MACsec (IEEE 802.1AE-2018) beside a 100G MAC: macsec_transmit and macsec_receive, and their registers on AXI4-Lite
// (registers.toml, docs/macsec.md). Parameters and what is done with frames: there.
//
//   s_controlled, s_uncontrolled → m_line       what is sent
//   s_line → m_controlled, m_uncontrolled       what is received
//   s_key_*                                     keys; s_key_receive: for the receiving side
//   irq                                         a sending association has reached the threshold's packet number, or
//                                               with PARITY=1 a memory was damaged
//
// Bytes: the first one on the wire is in bits 7:0 of tdata. A frame with a SecTAG on the line, and no VLAN tag before
// that; without SCI, the user data come 8 bytes earlier:
//
//   byte    0 ... 5   6 ... 11   12, 13   14          15   16 ... 19   20 ... 27   28 ...      the last 16
//           DA        SA         88-E5    TCI and AN  SL   PN          SCI         user data   ICV
module macsec100g
    import macsec_pkg::*;
#(
    parameter int CHANNELS = 4,
    parameter int USER = 1,
    parameter int SUITE = 0,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int DEPTH = 256,
    parameter int PARITY = 0,
    parameter int CHANNEL_BITS = $clog2(CHANNELS),
    parameter int SLOT_BITS = CHANNEL_BITS + 2,
    parameter int KEY_BITS = SUITE == 5 ? 257 : SUITE >= 2 ? 256 : 128
) (
    input logic clk,
    input logic rst,

    // Registers.
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [ 7:0] s_axil_awaddr,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [ 3:0] s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [ 1:0] s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [ 7:0] s_axil_araddr,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp,

    // The interrupt, until it is cleared there.
    output logic irq,

    // Keys, for a slot of a side: 4 * channel + AN.
    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic                 s_key_receive,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,

    // Frames to protect; tid: the channel.
    input  logic                    s_controlled_tvalid,
    output logic                    s_controlled_tready,
    input  logic [           511:0] s_controlled_tdata,
    input  logic [            63:0] s_controlled_tkeep,
    input  logic                    s_controlled_tlast,
    input  logic [CHANNEL_BITS-1:0] s_controlled_tid,
    input  logic [        USER-1:0] s_controlled_tuser,

    // Frames to send as they are.
    input  logic                    s_uncontrolled_tvalid,
    output logic                    s_uncontrolled_tready,
    input  logic [           511:0] s_uncontrolled_tdata,
    input  logic [            63:0] s_uncontrolled_tkeep,
    input  logic                    s_uncontrolled_tlast,
    input  logic [CHANNEL_BITS-1:0] s_uncontrolled_tid,
    input  logic [        USER-1:0] s_uncontrolled_tuser,

    // Frames to the MAC, without FCS.
    output logic                    m_line_tvalid,
    input  logic                    m_line_tready,
    output logic [           511:0] m_line_tdata,
    output logic [            63:0] m_line_tkeep,
    output logic                    m_line_tlast,
    output logic [CHANNEL_BITS-1:0] m_line_tid,
    output logic [        USER-1:0] m_line_tuser,

    // Frames from the MAC, without FCS; tuser[0] at tlast: a bad frame.
    input  logic         s_line_tvalid,
    output logic         s_line_tready,
    input  logic [511:0] s_line_tdata,
    input  logic [ 63:0] s_line_tkeep,
    input  logic         s_line_tlast,
    input  logic [USER:0] s_line_tuser,

    // Received frames that may leave; tid: the channel.
    output logic                    m_controlled_tvalid,
    input  logic                    m_controlled_tready,
    output logic [           511:0] m_controlled_tdata,
    output logic [            63:0] m_controlled_tkeep,
    output logic                    m_controlled_tlast,
    output logic [CHANNEL_BITS-1:0] m_controlled_tid,
    output logic [        USER-1:0] m_controlled_tuser,

    // Received frames without a SecTAG, with the line's tuser: take them at the line's rate.
    output logic          m_uncontrolled_tvalid,
    input  logic          m_uncontrolled_tready,
    output logic [ 511:0] m_uncontrolled_tdata,
    output logic [  63:0] m_uncontrolled_tkeep,
    output logic          m_uncontrolled_tlast,
    output logic [USER:0] m_uncontrolled_tuser
);

    // ---- Registers ----

    logic [7:0] select_slot;
    logic select_receive;
    logic command_set_channel;
    logic command_set_sa;
    logic command_read;
    logic command_zeroize;
    logic command_clear_reached;
    logic command_clear_damaged;
    logic busy;
    logic no_key;
    logic was_set;
    logic [63:0] threshold;
    logic reached;
    logic was_reached;
    logic [1:0] differs;  // memories of a side, by parity
    logic [3:0] settled;
    logic damaged;
    logic [SLOT_BITS-1:0] reached_slot;
    logic [SLOT_BITS-1:0] first_slot;
    logic flags_use;
    logic flags_extended;
    logic flags_no_sci;
    logic flags_clear;
    logic [1:0] flags_offset;
    port_t port;
    logic [63:0] sci;
    logic [63:0] pn;
    logic [31:0] window;
    logic [95:0] base;
    readings_t snapshot;
    logic [SLOT_BITS-1:0] slot;
    logic [2**SLOT_BITS-1:0] out_in_use;
    logic [2**SLOT_BITS-1:0] in_in_use;
    logic in_use;  // the selected association
    logic out_zeroizing;
    logic in_zeroizing;

    localparam int EVENTS = $bits(events_t);
    events_t events;  // each for a clock
    counts_t counts;

    assign slot = select_slot[SLOT_BITS-1:0];
    assign in_use = select_receive ? in_in_use[slot] : out_in_use[slot];

    macsec_registers registers (
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
        .identity_magic(32'h4d41_4353),
        .shape_channels(8'(CHANNELS)),
        .shape_suite(3'(SUITE)),
        .select_slot,
        .select_receive,
        .command_set_channel,
        .command_set_sa,
        .command_read,
        .command_zeroize,
        .command_clear_reached,
        .command_clear_damaged,
        .status_busy(busy),
        .status_zeroizing(out_zeroizing || in_zeroizing),
        .status_no_key(no_key),
        .status_in_use(in_use),
        .status_damaged(damaged),
        .flags_use,
        .flags_extended,
        .flags_no_sci,
        .flags_clear,
        .flags_offset,
        .port_validate(port.validate),
        .port_late_passes(port.late_passes),
        .port_vlan_clear(port.vlan_clear),
        .sci_high(sci[63:32]),
        .sci_low(sci[31:0]),
        .pn_high(pn[63:32]),
        .pn_low(pn[31:0]),
        .window,
        .base_0(base[95:64]),
        .base_1(base[63:32]),
        .base_2(base[31:0]),
        .read_pn_high(snapshot.pn[63:32]),
        .read_pn_low(snapshot.pn[31:0]),
        .read_frames_high(snapshot.frames[63:32]),
        .read_frames_low(snapshot.frames[31:0]),
        .read_octets_high(snapshot.octets[63:32]),
        .read_octets_low(snapshot.octets[31:0]),
        .read_not_valid_high(snapshot.not_valid[63:32]),
        .read_not_valid_low(snapshot.not_valid[31:0]),
        .read_late_high(snapshot.late[63:32]),
        .read_late_low(snapshot.late[31:0]),
        .read_validated_high(snapshot.validated[63:32]),
        .read_validated_low(snapshot.validated[31:0]),
        .read_unchecked_high(snapshot.unchecked[63:32]),
        .read_unchecked_low(snapshot.unchecked[31:0]),
        .read_invalid_high(snapshot.invalid[63:32]),
        .read_invalid_low(snapshot.invalid[31:0]),
        .read_delayed_high(snapshot.delayed[63:32]),
        .read_delayed_low(snapshot.delayed[31:0]),
        .threshold_high(threshold[63:32]),
        .threshold_low(threshold[31:0]),
        .reached_slot(8'(first_slot)),
        .reached_valid(was_reached),
        .out_no_sa(counts.out_no_sa),
        .out_no_pn(counts.out_no_pn),
        .out_too_long(counts.out_too_long),
        .out_key_refused(counts.out_key_refused),
        .in_untagged(counts.in_untagged),
        .in_bad_tag(counts.in_bad_tag),
        .in_no_sci(counts.in_no_sci),
        .in_no_sa(counts.in_no_sa),
        .in_unknown_sci(counts.in_unknown_sci),
        .in_unused_sa(counts.in_unused_sa),
        .in_overrun(counts.in_overrun),
        .in_key_refused(counts.in_key_refused)
    );

    always_ff @(posedge clk) begin
        for (int i = 0; i < EVENTS; i = i + 1) begin
            if (rst) counts[32*i+:32] <= '0;
            else if (events[i]) counts[32*i+:32] <= counts[32*i+:32] + 32'd1;
        end
    end

    always_ff @(posedge clk) begin
        if (rst) was_reached <= 1'b0;
        else if (reached) was_reached <= 1'b1;
        else if (command_clear_reached) was_reached <= 1'b0;
        if (rst) first_slot <= '0;
        else if (reached && (!was_reached || command_clear_reached)) first_slot <= reached_slot;
    end

    // Parity is known up to three clocks after its read, and what was read before reset may not have been written.
    always_ff @(posedge clk) begin
        settled <= rst ? '0 : {settled[2:0], 1'b1};
        if (rst) damaged <= 1'b0;
        else if (differs != '0 && settled[3]) damaged <= 1'b1;
        else if (command_clear_damaged) damaged <= 1'b0;
    end

    assign irq = was_reached || damaged;

    // ---- Commands: a setting waits for its clock, a reading for the answer of the memories ----

    logic set_channel;
    logic set_sa;
    logic [2:0] reading;
    logic out_ready;
    logic in_ready;
    logic done;
    readings_t out_readings;
    readings_t in_readings;

    assign done = select_receive ? in_ready : out_ready;
    assign busy = command_set_channel || command_set_sa || command_read || command_zeroize
        || set_channel || set_sa || was_set || reading != '0;

    always_ff @(posedge clk) begin
        if (rst) begin
            set_channel <= 1'b0;
            set_sa <= 1'b0;
            was_set <= 1'b0;
            no_key <= 1'b0;
            reading <= '0;
        end else begin
            set_channel <= command_set_channel || (set_channel && !done);
            set_sa <= command_set_sa || (set_sa && !done);
            was_set <= set_sa && done;
            if (was_set) no_key <= flags_use && !in_use;
            reading <= {reading[1:0], command_read};
        end
        if (rst) snapshot <= '0;
        else if (reading[2]) snapshot <= select_receive ? in_readings : out_readings;
    end

    assign out_readings.validated = '0;
    assign out_readings.not_valid = '0;
    assign out_readings.late = '0;
    assign out_readings.unchecked = '0;
    assign out_readings.invalid = '0;
    assign out_readings.delayed = '0;

    // ---- Keys ----

    logic [1:0] key_ready;
    assign s_key_tready = s_key_receive ? key_ready[1] : key_ready[0];

    // ---- Both sides ----

    macsec_transmit #(
        .CHANNELS(CHANNELS),
        .USER(USER),
        .SUITE(SUITE),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) transmit (
        .clk,
        .rst,
        .s_axis_tvalid(s_controlled_tvalid),
        .s_axis_tready(s_controlled_tready),
        .s_axis_tdata(s_controlled_tdata),
        .s_axis_tkeep(s_controlled_tkeep),
        .s_axis_tlast(s_controlled_tlast),
        .s_axis_tid(s_controlled_tid),
        .s_axis_tuser(s_controlled_tuser),
        .s_bypass_tvalid(s_uncontrolled_tvalid),
        .s_bypass_tready(s_uncontrolled_tready),
        .s_bypass_tdata(s_uncontrolled_tdata),
        .s_bypass_tkeep(s_uncontrolled_tkeep),
        .s_bypass_tlast(s_uncontrolled_tlast),
        .s_bypass_tid(s_uncontrolled_tid),
        .s_bypass_tuser(s_uncontrolled_tuser),
        .m_axis_tvalid(m_line_tvalid),
        .m_axis_tready(m_line_tready),
        .m_axis_tdata(m_line_tdata),
        .m_axis_tkeep(m_line_tkeep),
        .m_axis_tlast(m_line_tlast),
        .m_axis_tid(m_line_tid),
        .m_axis_tuser(m_line_tuser),
        .s_key_tvalid(s_key_tvalid && !s_key_receive),
        .s_key_tready(key_ready[0]),
        .s_key_slot,
        .s_key_key,
        .port,
        .set_channel(set_channel && !select_receive),
        .set_sa(set_sa && !select_receive),
        .set_ready(out_ready),
        .set_slot(slot),
        .set_use(flags_use),
        .set_extended(flags_extended),
        .set_no_sci(flags_no_sci),
        .set_clear(flags_clear),
        .set_offset(flags_offset),
        .set_sci(sci),
        .set_pn(pn),
        .set_base(base),
        .read_slot(slot),
        .read_pn(out_readings.pn),
        .read_frames(out_readings.frames),
        .read_octets(out_readings.octets),
        .in_use(out_in_use),
        .zeroize(command_zeroize),
        .zeroizing(out_zeroizing),
        .threshold,
        .reached,
        .reached_slot,
        .count_no_sa(events.out_no_sa),
        .count_no_pn(events.out_no_pn),
        .count_too_long(events.out_too_long),
        .count_key_refused(events.out_key_refused),
        .parity_error(differs[0])
    );

    macsec_receive #(
        .CHANNELS(CHANNELS),
        .USER(USER),
        .SUITE(SUITE),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .DEPTH(DEPTH),
        .PARITY(PARITY)
    ) receive (
        .clk,
        .rst,
        .s_axis_tvalid(s_line_tvalid),
        .s_axis_tready(s_line_tready),
        .s_axis_tdata(s_line_tdata),
        .s_axis_tkeep(s_line_tkeep),
        .s_axis_tlast(s_line_tlast),
        .s_axis_tuser(s_line_tuser),
        .m_axis_tvalid(m_controlled_tvalid),
        .m_axis_tready(m_controlled_tready),
        .m_axis_tdata(m_controlled_tdata),
        .m_axis_tkeep(m_controlled_tkeep),
        .m_axis_tlast(m_controlled_tlast),
        .m_axis_tid(m_controlled_tid),
        .m_axis_tuser(m_controlled_tuser),
        .m_bypass_tvalid(m_uncontrolled_tvalid),
        .m_bypass_tready(m_uncontrolled_tready),
        .m_bypass_tdata(m_uncontrolled_tdata),
        .m_bypass_tkeep(m_uncontrolled_tkeep),
        .m_bypass_tlast(m_uncontrolled_tlast),
        .m_bypass_tuser(m_uncontrolled_tuser),
        .s_key_tvalid(s_key_tvalid && s_key_receive),
        .s_key_tready(key_ready[1]),
        .s_key_slot,
        .s_key_key,
        .port,
        .set_channel(set_channel && select_receive),
        .set_sa(set_sa && select_receive),
        .set_ready(in_ready),
        .set_slot(slot),
        .set_use(flags_use),
        .set_extended(flags_extended),
        .set_no_sci(flags_no_sci),
        .set_offset(flags_offset),
        .set_sci(sci),
        .set_pn(pn),
        .set_window(window),
        .set_base(base),
        .read_slot(slot),
        .read_pn(in_readings.pn),
        .read_frames(in_readings.frames),
        .read_octets(in_readings.octets),
        .read_validated(in_readings.validated),
        .read_not_valid(in_readings.not_valid),
        .read_late(in_readings.late),
        .read_unchecked(in_readings.unchecked),
        .read_invalid(in_readings.invalid),
        .read_delayed(in_readings.delayed),
        .in_use(in_in_use),
        .zeroize(command_zeroize),
        .zeroizing(in_zeroizing),
        .count_untagged(events.in_untagged),
        .count_bad_tag(events.in_bad_tag),
        .count_no_sci(events.in_no_sci),
        .count_no_sa(events.in_no_sa),
        .count_unknown_sci(events.in_unknown_sci),
        .count_unused_sa(events.in_unused_sa),
        .count_overrun(events.in_overrun),
        .count_key_refused(events.in_key_refused),
        .parity_error(differs[1])
    );

    // Bits that the associations of CHANNELS do not need.
    logic unused;
    assign unused = ^select_slot;

endmodule
