// Output side of ELmD's decryption pipe: masks, the checksum and the check of tag and padding when opening, and the
// FIFO for m_axis and m_tag.
//
// Sealing: the output is block + mask. Opening: message block i is M[i] = block + mask, but the last one is the
// checksum M*[l] = M[1] + .. + M[l]. The tag verifies if block l+1 equals M[l]. The register `sum` therefore contains
// M[1] + .. + M[i], and from block l on only M[l].
//
// The last block of a packet waits at the FIFO output for the packet's verdict, which block l+1 produces. The tag
// passes the same FIFO, so m_tag must be taken before the next packet's blocks appear.
//
// Latency: one clock to the FIFO, two through it. One block per clock.
//
//   take, available  credits for message blocks and block l+1
//   valid, block     one block leaves the decryption pipe, with
//     mask           its mask
//     tag            it is block l+1
//     first, last    it is message block 1, l
//     open           its packet is being opened
//     partial        the last message block is padded
//     error          with block l+1: the stream mismatched the command, or the command was illegal. No tag is
//                    output.
module elmd_output #(
    parameter int FIFO = 32
) (
    input logic clk,
    input logic rst,

    input  logic take,
    output logic available,

    input logic         valid,
    input logic [127:0] block,
    input logic [127:0] mask,
    input logic         tag,
    input logic         first,
    input logic         last,
    input logic         open,
    input logic         partial,
    input logic         error,

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

    // ---- Result

    logic [127:0] unmasked;
    logic [127:0] sum;
    logic [127:0] result;
    logic use_sum;

    assign unmasked = block ^ mask;
    assign use_sum  = open && (tag || (last && !first));
    assign result   = unmasked ^ (sum & {128{use_sum}});

    elmd_checksum checksum (
        .clk,
        .empty(1'b0),
        .load (1'b0),
        .value(128'd0),
        .step (valid),
        .first(first || last),
        .block(unmasked),
        .sum
    );

    // ---- One clock later: padding, verdict, FIFO input

    logic ready_valid;
    logic [127:0] ready_block;
    logic ready_tag;
    logic ready_first;
    logic ready_last;
    logic ready_open;
    logic ready_partial;
    logic ready_error;
    logic zero;
    logic found;
    logic [3:0] found_bytes;
    logic found_alone;
    logic unpad;
    logic good_padding;
    logic bad_padding;  // padding of the packet's last message block
    logic unverified;
    logic [4:0] bytes;

    always_ff @(posedge clk) begin
        if (rst) ready_valid <= 1'b0;
        else ready_valid <= valid;
        // Block l+1 of an opened packet or of a packet in error must not leave the core.
        if (tag && (open || error)) ready_block <= '0;
        else ready_block <= result;
        ready_tag <= tag;
        ready_first <= first;
        ready_last <= last;
        ready_open <= open;
        ready_partial <= partial;
        ready_error <= error;
        if (ready_valid && !ready_tag) bad_padding <= unpad && !good_padding;
    end

    padding_end padding (
        .clk,
        .block(result),
        .zero,
        .found,
        .bytes(found_bytes),
        .alone(found_alone)
    );

    // If a message has more than one block, at least one byte precedes the padding in the last block.
    assign unpad = ready_open && ready_partial && ready_last;
    // With malformed padding, found_bytes is 0.
    assign good_padding = found && (ready_first || !found_alone);
    assign bytes = {!unpad || !good_padding, found_bytes & {4{unpad}}};
    assign unverified = ready_open && !ready_error && (!zero || bad_padding);

    // ---- FIFO

    // An entry: is it block l+1, is it the last message block, five bits, the block. The five bits are the bytes of a
    // message block (0 for one without output, from an empty message) or {padded, error, unverified}.
    logic [4:0] ready_bits;
    logic fifo_valid;
    logic fifo_ready;
    logic fifo_tag;
    logic fifo_last;
    logic [4:0] fifo_bits;
    logic [127:0] fifo_block;
    logic fifo_popped;
    logic verdict_valid;
    logic verdict_bad;
    logic empty;
    logic released;

    // The credits ensure that the FIFOs have room for each input.

    assign ready_bits = ready_tag
        ? {2'b00, ready_partial && !ready_open && !ready_error, ready_error, unverified} : bytes;

    credit_counter #(
        .CREDITS(FIFO)
    ) credits_left (
        .clk,
        .rst,
        .take,
        .give(fifo_popped),
        .available,
        .home()
    );

    stream_fifo #(
        .WIDTH(135),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) fifo (
        .clk,
        .rst,
        .s_valid(ready_valid),
        .s_ready(),
        .s_data({ready_tag, ready_last, ready_bits, ready_block}),
        .m_valid(fifo_valid),
        .m_ready(fifo_ready),
        .m_data({fifo_tag, fifo_last, fifo_bits, fifo_block}),
        .space(),
        .popped(fifo_popped)
    );

    stream_fifo #(
        .WIDTH(1),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) verdicts (
        .clk,
        .rst,
        .s_valid(ready_valid && ready_tag),
        .s_ready(),
        .s_data(unverified || ready_error),
        .m_valid(verdict_valid),
        .m_ready(m_tag_tvalid && m_tag_tready),
        .m_data(verdict_bad),
        .space(),
        .popped()
    );

    assign empty = !fifo_tag && fifo_bits == '0;
    assign released = !fifo_last || verdict_valid;
    assign fifo_ready = fifo_tag ? m_tag_tready : empty || (m_axis_tready && released);

    assign m_axis_tvalid = fifo_valid && !fifo_tag && !empty && released;
    assign m_axis_tdata = bytes_pkg::swap128(fifo_block);
    assign m_axis_tlast = fifo_last;
    assign m_axis_tuser = fifo_last && verdict_bad;
    always_comb begin
        for (int i = 0; i < 16; i = i + 1) m_axis_tkeep[i] = 5'(i) < fifo_bits;
    end

    assign m_tag_tvalid = fifo_valid && fifo_tag;
    assign m_tag_tdata = m_axis_tdata;
    assign m_tag_tuser = fifo_bits[2:0];

endmodule
