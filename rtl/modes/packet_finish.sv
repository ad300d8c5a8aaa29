// Output stage of a mode: combines the beats, the verdict and the tag of each packet on m_axis and m_tag, in packet
// order. The last beat of a packet waits for the verdict, so m_axis and m_tag agree.
//
// Latency: none; the ports are combinational functions of the queue outputs. They hold until taken.
//
//   packet_*       the oldest unfinished packet. packet_barren: its command was illegal, so it has no beats and no
//                  result. packet_padded: the flag in m_tag_tuser[2].
//   verdict_*      whether its stream mismatched its command. packet_pop removes packet and verdict.
//   result_*       whether it did not verify, and its tag (zero when opening). result_pop removes the result.
//   beat_*         beats for m_axis: block with byte 0 in its highest byte, its number of bytes, last of the packet.
//                  A last beat of 0 bytes is consumed without output: the packet then has no such beat.
//   m_axis, m_tag  as in rtl/README.md. m_tag_tuser = {padded, error, did not verify}; m_axis_tuser: discard the
//                  packet
module packet_finish (
    input logic clk,
    input logic rst,

    input  logic         packet_valid,
    input  logic         packet_barren,
    input  logic         packet_padded,
    input  logic         verdict_valid,
    input  logic         verdict_error,
    output logic         packet_pop,
    input  logic         result_valid,
    input  logic         result_failed,
    input  logic [127:0] result_tag,
    output logic         result_pop,

    input  logic         beat_valid,
    output logic         beat_ready,
    input  logic [127:0] beat_block,
    input  logic [  4:0] beat_bytes,
    input  logic         beat_last,

    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [127:0] m_axis_tdata,
    output logic [ 15:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    logic known;  // the verdict of the oldest packet is known
    logic failed;
    logic empty;
    logic last_may_go;
    logic last_goes;
    logic last_gone;  // the oldest packet's last beat was taken, its tag beat was not
    logic tag_gone;  // the oldest packet's tag beat was taken, its last beat was not

    assign known  = packet_valid && verdict_valid && (packet_barren || result_valid);
    assign failed = !packet_barren && result_failed && !verdict_error;
    assign empty  = beat_bytes == 5'd0;

    assign last_may_go = known && !packet_barren && !last_gone;

    assign m_axis_tvalid = beat_valid && (!beat_last || (last_may_go && !empty));
    assign m_axis_tdata  = bytes_pkg::swap128(beat_block);
    assign m_axis_tlast  = beat_last;
    assign m_axis_tuser  = beat_last && (failed || verdict_error);
    always_comb begin
        for (int i = 0; i < 16; i = i + 1) m_axis_tkeep[i] = 5'(i) < beat_bytes;
    end
    assign beat_ready = beat_last ? last_may_go && (empty || m_axis_tready) : m_axis_tready;
    assign last_goes  = beat_valid && beat_ready && beat_last;

    assign m_tag_tvalid = known && !tag_gone;
    assign m_tag_tdata  = packet_barren || verdict_error ? '0 : bytes_pkg::swap128(result_tag);
    assign m_tag_tuser  = {packet_padded && !verdict_error, verdict_error, failed};

    assign packet_pop = known && (packet_barren || last_gone || last_goes) && (tag_gone || m_tag_tready);
    assign result_pop = packet_pop && !packet_barren;

    always_ff @(posedge clk) begin
        if (rst) begin
            last_gone <= 1'b0;
            tag_gone  <= 1'b0;
        end else begin
            last_gone <= !packet_pop && (last_gone || last_goes);
            tag_gone  <= !packet_pop && (tag_gone || (m_tag_tvalid && m_tag_tready));
        end
    end

endmodule
