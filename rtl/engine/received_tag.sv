// Delivers the received tag of a packet when the packet's last beat leaves the lanes, so that the engine can compare
// it. With TAG_BESIDE=0 the tag is the packet's last beat. With TAG_BESIDE=1 it arrives beside the stream, and waits
// in a FIFO.
//
//   in_final, in_tag     a packet's last beat enters the engine, with the tag beside it (zero if there is none)
//   out_final            a packet's last beat leaves the lanes
//   out_kind, out_block  the kind of the beat that leaves the lanes, and the block that holds the tag in a tag beat
//   out_tag              the tag, valid with out_final; zero if the engine seals the packet
module received_tag #(
    parameter int TAG_BESIDE = 0,
    parameter int PACKETS = 64
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_final,
    input  logic [127:0] in_tag,
    input  logic         out_final,
    input  logic [  1:0] out_kind,
    input  logic [127:0] out_block,
    output logic [127:0] out_tag
);

    logic unused;
    if (TAG_BESIDE == 1) begin : g_beside
        ram_fifo #(
            .WIDTH(128),
            .DEPTH(PACKETS)
        ) tags (
            .clk,
            .rst,
            .s_valid(in_final),
            .s_data(in_tag),
            .m_valid(),
            .m_ready(out_final),
            .m_data(out_tag),
            .popped(),
            .stored()
        );
        assign unused = ^{out_kind, out_block};
    end else begin : g_beat
        assign out_tag = out_kind == engine_pkg::TAG ? out_block : '0;
        assign unused = ^{clk, rst, in_final, in_tag, out_final};
    end

endmodule
