// The registers of macsec100g on AXI4-Lite. `registers.py` makes this file of registers.toml: leave it.
//
// A write is taken when its address and its data are both there, and answered in the next clock, as a read
// is. An address without register is answered with SLVERR (2). A write to a register that is only read does
// nothing.
module macsec_registers (
    input logic clk,
    input logic rst,

    input  logic s_axil_awvalid,
    output logic s_axil_awready,
    input  logic [7:0] s_axil_awaddr,
    input  logic s_axil_wvalid,
    output logic s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [3:0] s_axil_wstrb,
    output logic s_axil_bvalid,
    input  logic s_axil_bready,
    output logic [1:0] s_axil_bresp,
    input  logic s_axil_arvalid,
    output logic s_axil_arready,
    input  logic [7:0] s_axil_araddr,
    output logic s_axil_rvalid,
    input  logic s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,

    input logic [31:0] identity_magic,
    input logic [7:0] shape_channels,
    input logic [2:0] shape_suite,
    output logic [7:0] select_slot,
    output logic select_receive,
    output logic command_set_channel,
    output logic command_set_sa,
    output logic command_read,
    output logic command_zeroize,
    output logic command_clear_reached,
    output logic command_clear_damaged,
    input logic status_busy,
    input logic status_zeroizing,
    input logic status_in_use,
    input logic status_no_key,
    input logic status_damaged,
    output logic flags_use,
    output logic flags_extended,
    output logic flags_no_sci,
    output logic flags_clear,
    output logic [1:0] flags_offset,
    output logic [31:0] sci_high,
    output logic [31:0] sci_low,
    output logic [31:0] pn_high,
    output logic [31:0] pn_low,
    output logic [31:0] window,
    output logic [31:0] base_0,
    output logic [31:0] base_1,
    output logic [31:0] base_2,
    output logic [1:0] port_validate,
    output logic port_late_passes,
    output logic port_vlan_clear,
    input logic [31:0] read_pn_high,
    input logic [31:0] read_pn_low,
    input logic [31:0] read_frames_high,
    input logic [31:0] read_frames_low,
    input logic [31:0] read_octets_high,
    input logic [31:0] read_octets_low,
    input logic [31:0] read_not_valid_high,
    input logic [31:0] read_not_valid_low,
    input logic [31:0] read_late_high,
    input logic [31:0] read_late_low,
    input logic [31:0] read_validated_high,
    input logic [31:0] read_validated_low,
    output logic [31:0] threshold_high,
    output logic [31:0] threshold_low,
    input logic [7:0] reached_slot,
    input logic reached_valid,
    input logic [31:0] out_no_sa,
    input logic [31:0] out_no_pn,
    input logic [31:0] out_too_long,
    input logic [31:0] out_key_refused,
    input logic [31:0] in_untagged,
    input logic [31:0] in_bad_tag,
    input logic [31:0] in_no_sci,
    input logic [31:0] in_no_sa,
    input logic [31:0] in_overrun,
    input logic [31:0] in_key_refused,
    input logic [31:0] in_unknown_sci,
    input logic [31:0] in_unused_sa,
    input logic [31:0] read_unchecked_high,
    input logic [31:0] read_unchecked_low,
    input logic [31:0] read_invalid_high,
    input logic [31:0] read_invalid_low,
    input logic [31:0] read_delayed_high,
    input logic [31:0] read_delayed_low
);

    // Addresses that have a register.
    localparam logic [63:0] KNOWN = 64'h3ffff7fffbfff;

    logic write;
    logic [5:0] write_at;
    logic [5:0] read_at;
    logic [31:0] read;
    logic unused;

    assign write = s_axil_awvalid && s_axil_wvalid && (!s_axil_bvalid || s_axil_bready);
    assign s_axil_awready = write;
    assign s_axil_wready = write;
    assign s_axil_arready = !s_axil_rvalid || s_axil_rready;
    assign write_at = s_axil_awaddr[7:2];
    assign read_at = s_axil_araddr[7:2];
    assign unused = ^{s_axil_awaddr[1:0], s_axil_araddr[1:0]};

    always_ff @(posedge clk) begin
        command_set_channel <= 1'b0;
        command_set_sa <= 1'b0;
        command_read <= 1'b0;
        command_zeroize <= 1'b0;
        command_clear_reached <= 1'b0;
        command_clear_damaged <= 1'b0;
        if (rst) begin
            s_axil_bvalid <= 1'b0;
            select_slot <= '0;
            select_receive <= '0;
            command_set_channel <= '0;
            command_set_sa <= '0;
            command_read <= '0;
            command_zeroize <= '0;
            command_clear_reached <= '0;
            command_clear_damaged <= '0;
            flags_use <= '0;
            flags_extended <= '0;
            flags_no_sci <= '0;
            flags_clear <= '0;
            flags_offset <= '0;
            sci_high <= '0;
            sci_low <= '0;
            pn_high <= '0;
            pn_low <= '0;
            window <= '0;
            base_0 <= '0;
            base_1 <= '0;
            base_2 <= '0;
            port_validate <= '0;
            port_late_passes <= '0;
            port_vlan_clear <= '0;
            threshold_high <= '0;
            threshold_low <= '0;
        end else begin
            s_axil_bvalid <= write || (s_axil_bvalid && !s_axil_bready);
            if (write) begin
                case (write_at)
                    6'h2: begin
                        if (s_axil_wstrb[0]) select_slot[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) select_receive <= s_axil_wdata[8];
                    end
                    6'h3: begin
                        if (s_axil_wstrb[0]) command_set_channel <= s_axil_wdata[0];
                        if (s_axil_wstrb[0]) command_set_sa <= s_axil_wdata[1];
                        if (s_axil_wstrb[0]) command_read <= s_axil_wdata[2];
                        if (s_axil_wstrb[0]) command_zeroize <= s_axil_wdata[3];
                        if (s_axil_wstrb[0]) command_clear_reached <= s_axil_wdata[4];
                        if (s_axil_wstrb[0]) command_clear_damaged <= s_axil_wdata[5];
                    end
                    6'h5: begin
                        if (s_axil_wstrb[0]) flags_use <= s_axil_wdata[0];
                        if (s_axil_wstrb[0]) flags_extended <= s_axil_wdata[1];
                        if (s_axil_wstrb[0]) flags_no_sci <= s_axil_wdata[2];
                        if (s_axil_wstrb[0]) flags_clear <= s_axil_wdata[3];
                        if (s_axil_wstrb[0]) flags_offset[1:0] <= s_axil_wdata[5:4];
                    end
                    6'h6: begin
                        if (s_axil_wstrb[0]) sci_high[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) sci_high[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) sci_high[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) sci_high[31:24] <= s_axil_wdata[31:24];
                    end
                    6'h7: begin
                        if (s_axil_wstrb[0]) sci_low[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) sci_low[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) sci_low[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) sci_low[31:24] <= s_axil_wdata[31:24];
                    end
                    6'h8: begin
                        if (s_axil_wstrb[0]) pn_high[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) pn_high[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) pn_high[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) pn_high[31:24] <= s_axil_wdata[31:24];
                    end
                    6'h9: begin
                        if (s_axil_wstrb[0]) pn_low[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) pn_low[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) pn_low[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) pn_low[31:24] <= s_axil_wdata[31:24];
                    end
                    6'ha: begin
                        if (s_axil_wstrb[0]) window[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) window[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) window[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) window[31:24] <= s_axil_wdata[31:24];
                    end
                    6'hb: begin
                        if (s_axil_wstrb[0]) base_0[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) base_0[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) base_0[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) base_0[31:24] <= s_axil_wdata[31:24];
                    end
                    6'hc: begin
                        if (s_axil_wstrb[0]) base_1[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) base_1[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) base_1[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) base_1[31:24] <= s_axil_wdata[31:24];
                    end
                    6'hd: begin
                        if (s_axil_wstrb[0]) base_2[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) base_2[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) base_2[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) base_2[31:24] <= s_axil_wdata[31:24];
                    end
                    6'hf: begin
                        if (s_axil_wstrb[0]) port_validate[1:0] <= s_axil_wdata[1:0];
                        if (s_axil_wstrb[0]) port_late_passes <= s_axil_wdata[2];
                        if (s_axil_wstrb[0]) port_vlan_clear <= s_axil_wdata[3];
                    end
                    6'h1a: begin
                        if (s_axil_wstrb[0]) threshold_high[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) threshold_high[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) threshold_high[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) threshold_high[31:24] <= s_axil_wdata[31:24];
                    end
                    6'h1b: begin
                        if (s_axil_wstrb[0]) threshold_low[7:0] <= s_axil_wdata[7:0];
                        if (s_axil_wstrb[1]) threshold_low[15:8] <= s_axil_wdata[15:8];
                        if (s_axil_wstrb[2]) threshold_low[23:16] <= s_axil_wdata[23:16];
                        if (s_axil_wstrb[3]) threshold_low[31:24] <= s_axil_wdata[31:24];
                    end
                    default: ;
                endcase
            end
        end
        if (write) s_axil_bresp <= KNOWN[write_at] ? 2'd0 : 2'd2;
    end

    always_comb begin
        case (read_at)
            6'h0: read = identity_magic;
            6'h1: read = {21'd0, shape_suite, shape_channels};
            6'h2: read = {23'd0, select_receive, select_slot};
            6'h3: read = '0;
            6'h4: read = {27'd0, status_damaged, status_no_key, status_in_use, status_zeroizing, status_busy};
            6'h5: read = {26'd0, flags_offset, flags_clear, flags_no_sci, flags_extended, flags_use};
            6'h6: read = sci_high;
            6'h7: read = sci_low;
            6'h8: read = pn_high;
            6'h9: read = pn_low;
            6'ha: read = window;
            6'hb: read = base_0;
            6'hc: read = base_1;
            6'hd: read = base_2;
            6'hf: read = {28'd0, port_vlan_clear, port_late_passes, port_validate};
            6'h10: read = read_pn_high;
            6'h11: read = read_pn_low;
            6'h12: read = read_frames_high;
            6'h13: read = read_frames_low;
            6'h14: read = read_octets_high;
            6'h15: read = read_octets_low;
            6'h16: read = read_not_valid_high;
            6'h17: read = read_not_valid_low;
            6'h18: read = read_late_high;
            6'h19: read = read_late_low;
            6'h1d: read = read_validated_high;
            6'h1e: read = read_validated_low;
            6'h1a: read = threshold_high;
            6'h1b: read = threshold_low;
            6'h1c: read = {reached_valid, 23'd0, reached_slot};
            6'h20: read = out_no_sa;
            6'h21: read = out_no_pn;
            6'h22: read = out_too_long;
            6'h23: read = out_key_refused;
            6'h24: read = in_untagged;
            6'h25: read = in_bad_tag;
            6'h26: read = in_no_sci;
            6'h27: read = in_no_sa;
            6'h28: read = in_overrun;
            6'h29: read = in_key_refused;
            6'h2a: read = in_unknown_sci;
            6'h2b: read = in_unused_sa;
            6'h2c: read = read_unchecked_high;
            6'h2d: read = read_unchecked_low;
            6'h2e: read = read_invalid_high;
            6'h2f: read = read_invalid_low;
            6'h30: read = read_delayed_high;
            6'h31: read = read_delayed_low;
            default: read = '0;
        endcase
    end

    always_ff @(posedge clk) begin
        if (rst) s_axil_rvalid <= 1'b0;
        else s_axil_rvalid <= s_axil_arvalid || (s_axil_rvalid && !s_axil_rready);
        if (s_axil_arready) begin
            s_axil_rdata <= read;
            s_axil_rresp <= KNOWN[read_at] ? 2'd0 : 2'd2;
        end
    end

endmodule
