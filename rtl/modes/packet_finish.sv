// The end of a mode: puts each packet's beats, its verdict and its tag on m_axis and m_tag, packets in order.
// The last beat of a packet waits until the verdict is known, so that both say the same.
//
// Latency: none (combinational from the queues' heads to the ports); both ports are stable until taken.
//
//   packet_*    the oldest packet that is not finished: packet_barren has no beats and no result (its command
//               was illegal); packet_padded is m_tag's flag
//   verdict_*   did its stream fit its command; packet_pop takes packet and verdict away
//   result_*    did it not verify, and the tag (zero when opening); result_pop takes it away
//   beat_*      m_axis' beats: block with byte 0 in its highest byte, its bytes, last of the packet. A last
//               beat of no bytes stands for "the packet has no output" and is swallowed.
//   m_axis, m_tag   as every mode's: m_tag_tuser = {padded, error, did not verify}
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

    logic known;  // the verdict of the oldest packet
    logic failed;
    logic empty;
    logic last_may_go;
    logic last_goes;
    logic last_gone;  // the oldest packet's last beat has left, its tag beat has not
    logic tag_gone;  // the other way round

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
