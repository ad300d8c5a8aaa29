// Registers of macsec_shell on AXI4-Lite: those of macsec100g, followed by those of the shell.
//
//   0x000-0x0ff  macsec100g (docs/macsec.md)
//   0x100-0x10c  key, write-only: 16 bytes, byte 0 in bits 7:0 of 0x100; whole words only
//   0x110        load, write-only: loads the key into slot 7:0; bit 8 selects the receiving side
//   0x114        status, read-only: bit 0: a key waits for macsec100g
//   0x118        tx_too_long: frames to send that did not fit; wraps at 2^32, as do the following
//   0x11c        rx_refused: frames without SecTAG other than EAPOL and LLDP, and not marked bad by the MAC
//   0x120        rx_too_long: EAPOL and LLDP frames that did not fit
//
// A key cannot be read back, and is cleared here once macsec100g has taken it, by its command `zeroize`, and by rst. A load
// requires that all words of the key were written since then. Invalid accesses, and addresses without a register, have
// no effect and are answered with SLVERR (2). No address is an alias. One write and one read are processed at a time.
//
//   core_*   to and from the registers of macsec100g; addresses, data and strobes are those of s_axil
//   events   high for one clock per counted frame; bit 0 is the first counter
module shell_registers #(
    parameter int SLOT_BITS = 4
) (
    input logic clk,
    input logic rst,

    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [23:0] s_axil_awaddr,
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
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp,

    output logic        core_awvalid,
    input  logic        core_awready,
    output logic        core_wvalid,
    input  logic        core_wready,
    input  logic        core_bvalid,
    output logic        core_bready,
    input  logic [ 1:0] core_bresp,
    output logic        core_arvalid,
    input  logic        core_arready,
    input  logic        core_rvalid,
    output logic        core_rready,
    input  logic [31:0] core_rdata,
    input  logic [ 1:0] core_rresp,

    output logic                 m_key_tvalid,
    input  logic                 m_key_tready,
    output logic                 m_key_receive,
    output logic [SLOT_BITS-1:0] m_key_slot,
    output logic [        127:0] m_key_key,

    input logic [2:0] events
);

    localparam logic [1:0] OKAY = 2'd0;
    localparam logic [1:0] SLVERR = 2'd2;
    localparam logic [15:0] CORE = 16'd0;
    localparam logic [15:0] OWN = 16'd1;
    localparam logic [5:0] CORE_COMMAND = 6'd3;
    localparam int ZEROIZE = 3;  // bit of the command
    localparam logic [5:0] LOAD = 6'd4;
    localparam logic [5:0] STATUS = 6'd5;
    localparam logic [5:0] COUNTS = 6'd6;

    // ---- Writes ----

    logic writing;  // a response is pending
    logic write_to_core;
    logic [1:0] own_bresp;
    logic write;
    logic write_core;
    logic write_key;
    logic write_load;
    logic [5:0] write_at;

    assign write_at = s_axil_awaddr[7:2];
    assign write_core = s_axil_awaddr[23:8] == CORE;
    assign core_awvalid = s_axil_awvalid && s_axil_wvalid && !writing && write_core;
    assign core_wvalid = core_awvalid;
    assign write = s_axil_awvalid && s_axil_wvalid && !writing
        && (!write_core || (core_awready && core_wready));
    assign s_axil_awready = write;
    assign s_axil_wready = write;
    assign s_axil_bvalid = writing && (!write_to_core || core_bvalid);
    assign s_axil_bresp = write_to_core ? core_bresp : own_bresp;
    assign core_bready = writing && write_to_core && s_axil_bready;

    always_ff @(posedge clk) begin
        if (rst) writing <= 1'b0;
        else writing <= write || (writing && !(s_axil_bvalid && s_axil_bready));
        if (write) begin
            write_to_core <= write_core;
            own_bresp <= write_key || write_load ? OKAY : SLVERR;
        end
    end

    // ---- The key ----

    logic [3:0] words;  // words written since the last load
    logic own_write;
    logic zeroizes;

    assign zeroizes = write && write_core && write_at == CORE_COMMAND && s_axil_wstrb[0]
        && s_axil_wdata[ZEROIZE];
    assign own_write = write && s_axil_awaddr[23:8] == OWN && s_axil_wstrb == '1 && !m_key_tvalid;
    assign write_key = own_write && write_at < LOAD;
    assign write_load = own_write && write_at == LOAD && words == '1
        && s_axil_wdata[31:9] == '0 && 8'(s_axil_wdata[SLOT_BITS-1:0]) == s_axil_wdata[7:0];

    always_ff @(posedge clk) begin
        if (rst || zeroizes || (m_key_tvalid && m_key_tready)) begin
            m_key_tvalid <= 1'b0;
            m_key_key <= '0;
            words <= '0;
        end else begin
            if (write_load) m_key_tvalid <= 1'b1;
            for (int i = 0; i < 4; i = i + 1) begin
                if (write_key && write_at == 6'(i)) begin
                    m_key_key[32*i+:32] <= s_axil_wdata;
                    words[i] <= 1'b1;
                end
            end
        end
        if (write_load) {m_key_receive, m_key_slot} <= {s_axil_wdata[8], s_axil_wdata[SLOT_BITS-1:0]};
    end

    // ---- Reads ----

    logic [95:0] counts;
    logic reading;  // a response is pending
    logic read_from_core;
    logic [31:0] own_rdata;
    logic [1:0] own_rresp;
    logic read;
    logic read_core;
    logic [5:0] read_at;

    assign read_at = s_axil_araddr[7:2];
    assign read_core = s_axil_araddr[23:8] == CORE;
    assign core_arvalid = s_axil_arvalid && !reading && read_core;
    assign read = s_axil_arvalid && !reading && (!read_core || core_arready);
    assign s_axil_arready = read;
    assign s_axil_rvalid = reading && (!read_from_core || core_rvalid);
    assign s_axil_rdata = read_from_core ? core_rdata : own_rdata;
    assign s_axil_rresp = read_from_core ? core_rresp : own_rresp;
    assign core_rready = reading && read_from_core && s_axil_rready;

    always_ff @(posedge clk) begin
        if (rst) reading <= 1'b0;
        else reading <= read || (reading && !(s_axil_rvalid && s_axil_rready));
        if (read) begin
            read_from_core <= read_core;
            own_rdata <= '0;
            own_rresp <= SLVERR;
            if (s_axil_araddr[23:8] == OWN) begin
                if (read_at == STATUS) begin
                    own_rdata <= {31'd0, m_key_tvalid};
                    own_rresp <= OKAY;
                end
                for (int i = 0; i < 3; i = i + 1) begin
                    if (read_at == COUNTS + 6'(i)) begin
                        own_rdata <= counts[32*i+:32];
                        own_rresp <= OKAY;
                    end
                end
            end
        end
        for (int i = 0; i < 3; i = i + 1) begin
            if (rst) counts[32*i+:32] <= '0;
            else if (events[i]) counts[32*i+:32] <= counts[32*i+:32] + 32'd1;
        end
    end

    logic unused;
    assign unused = ^{s_axil_awaddr[1:0], s_axil_araddr[1:0]};

endmodule
