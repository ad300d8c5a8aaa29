// AES-128 ECB with the ports of a mode core: a minimal top that tests the shared parts and the testbenches.
// Do not use it as a mode.
//
// Whole blocks, no additional data, no tag. Latency from s_axis to m_axis: LATENCY of the pipes plus two
// clocks of the FIFO. Throughput: one block per clock. A slot is ready about 12 clocks after its key's
// handshake; until then no other key is taken and no command starts.
module ecb #(
    parameter int SLOTS = 16,
    parameter int FIFO  = 32
) (
    input logic clk,
    input logic rst,

    input  logic         s_key_tvalid,
    output logic         s_key_tready,
    input  logic [  3:0] s_key_slot,
    input  logic [127:0] s_key_key,

    input  logic         s_cmd_tvalid,
    output logic         s_cmd_tready,
    input  logic         s_cmd_open,
    input  logic [  3:0] s_cmd_slot,
    input  logic [127:0] s_cmd_nonce,
    input  logic [ 15:0] s_cmd_ad_bytes,
    input  logic [ 15:0] s_cmd_message_bytes,
    input  logic         s_cmd_padded,

    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [127:0] s_axis_tdata,
    input  logic [ 15:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

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

    logic [SLOTS-1:0] slot_loaded;

    // ---- Keys: the last round key is computed when a slot is loaded.

    logic [127:0] keys[0:15];
    logic [127:0] last_keys[0:15];
    logic [3:0] key_slot;
    logic key_busy;
    logic key_take;
    logic key_done;
    logic [127:0] last_key;

    assign s_key_tready = !key_busy;
    assign key_take = s_key_tvalid && s_key_tready;

    aes_last_round_key #(
        .ROUNDS(10)
    ) last_round_key (
        .clk  (clk),
        .rst  (rst),
        .start(key_take),
        .key  (bytes_pkg::swap128(s_key_key)),
        .done (key_done),
        .last (last_key)
    );

    always_ff @(posedge clk) begin
        if (key_take) begin
            key_slot <= s_key_slot;
            keys[s_key_slot] <= bytes_pkg::swap128(s_key_key);
        end
        if (key_done) last_keys[key_slot] <= last_key;
        if (rst) begin
            key_busy <= 1'b0;
            slot_loaded <= '0;
        end else begin
            key_busy <= key_take || (key_busy && !key_done);
            for (int s = 0; s < SLOTS; s = s + 1) begin
                if (key_take && s_key_slot == 4'(s)) slot_loaded[s] <= 1'b1;
            end
        end
    end

    // ---- Input: one packet at a time, since a block needs its packet's slot.

    logic command_valid;
    logic command_ready;
    logic command_open;
    logic [3:0] command_slot;
    logic block_valid;
    logic block_ready;
    logic [127:0] block;
    logic block_last;
    logic verdict_valid;
    logic verdict_ready;
    logic verdict_error;

    logic running;
    logic open;
    logic [3:0] slot;
    logic credit;
    logic take;
    logic [5:0] tags_left;

    packet_front #(
        .SLOTS(SLOTS),
        .SEAL_WHOLE(1),
        .OPEN_WHOLE(1),
        .AD_MOST(0),
        .TAG(0)
    ) front (
        .clk(clk),
        .rst(rst),
        .slot_loaded(slot_loaded),
        .s_cmd_tvalid(s_cmd_tvalid),
        .s_cmd_tready(s_cmd_tready),
        .s_cmd_open(s_cmd_open),
        .s_cmd_slot(s_cmd_slot),
        .s_cmd_nonce(s_cmd_nonce),
        .s_cmd_ad_bytes(s_cmd_ad_bytes),
        .s_cmd_message_bytes(s_cmd_message_bytes),
        .s_cmd_padded(s_cmd_padded),
        .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready),
        .s_axis_tdata(s_axis_tdata),
        .s_axis_tkeep(s_axis_tkeep),
        .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser),
        .command_valid(command_valid),
        .command_ready(command_ready),
        .command_open(command_open),
        .command_slot(command_slot),
        /* verilator lint_off PINCONNECTEMPTY */
        .command_nonce(),
        .command_ad_blocks(),
        .command_message_blocks(),
        .command_last_ad_bytes(),
        .command_last_message_bytes(),
        .command_padded(),
        .command_error(),
        .block_bytes(),
        .block_kind(),
        /* verilator lint_on PINCONNECTEMPTY */
        .block_valid(block_valid),
        .block_ready(block_ready),
        .block(block),
        .block_last(block_last),
        .verdict_valid(verdict_valid),
        .verdict_ready(verdict_ready),
        .verdict_error(verdict_error)
    );

    assign take = block_valid && block_ready;
    assign block_ready = running && credit;
    assign command_ready = !key_busy && tags_left > 6'd1 && (!running || verdict_valid);
    assign verdict_ready = 1'b1;

    always_ff @(posedge clk) begin
        if (command_valid && command_ready) begin
            open <= command_open;
            slot <= command_slot;
        end
        if (rst) running <= 1'b0;
        else running <= (command_valid && command_ready) || (running && !verdict_valid);
    end

    // ---- Pipes: equal latency; at most one of them takes a block per clock.

    logic seal_out_valid;
    logic open_out_valid;
    logic [127:0] seal_out;
    logic [127:0] open_out;
    logic seal_last;
    logic open_last;

    aes_encrypt #(
        .KEYS(2)
    ) encrypt (
        .clk(clk),
        .rst(rst),
        .in_valid(take && !open),
        .in_new_key(1'b0),
        .in_key(keys[slot]),
        .in_block(block),
        .in_user(block_last),
        .out_valid(seal_out_valid),
        .out_block(seal_out),
        .out_user(seal_last)
    );

    aes_decrypt #(
        .KEYS(2)
    ) decrypt (
        .clk(clk),
        .rst(rst),
        .in_valid(take && open),
        .in_new_key(1'b0),
        .in_key(last_keys[slot]),
        .in_block(block),
        .in_user(block_last),
        .out_valid(open_out_valid),
        .out_block(open_out),
        .out_user(open_last)
    );

    // ---- Output. A packet's verdict is known long before its last block leaves a pipe. Two FIFOs hold the
    // verdicts that are still to be sent on m_tag, and those of packets with blocks.

    logic verdict_stored;
    logic last_verdict;
    logic out_last;
    logic popped;
    logic had_blocks;

    assign out_last = seal_out_valid ? seal_last : open_last;

    always_ff @(posedge clk) begin
        if (rst || verdict_valid) had_blocks <= 1'b0;
        else if (take) had_blocks <= 1'b1;
    end

    stream_fifo #(
        .WIDTH(1),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) verdicts (
        .clk(clk),
        .rst(rst),
        .s_valid(verdict_valid && had_blocks),
        .s_data(verdict_error),
        .m_valid(verdict_stored),
        .m_ready((seal_out_valid || open_out_valid) && out_last),
        .m_data(last_verdict),
        /* verilator lint_off PINCONNECTEMPTY */
        .s_ready(),
        .space(),
        .popped()
        /* verilator lint_on PINCONNECTEMPTY */
    );

    credit_counter #(
        .CREDITS(FIFO)
    ) credits (
        .clk(clk),
        .rst(rst),
        .take(take),
        .give(popped),
        .available(credit),
        /* verilator lint_off PINCONNECTEMPTY */
        .home()
        /* verilator lint_on PINCONNECTEMPTY */
    );

    logic [127:0] out_block;
    stream_fifo #(
        .WIDTH(130),
        .DEPTH(FIFO),
        .CREDITS(1)
    ) blocks (
        .clk(clk),
        .rst(rst),
        .s_valid(seal_out_valid || open_out_valid),
        .s_data({out_last, out_last && last_verdict && verdict_stored, seal_out_valid ? seal_out : open_out}),
        .m_valid(m_axis_tvalid),
        .m_ready(m_axis_tready),
        .m_data({m_axis_tlast, m_axis_tuser, out_block}),
        .popped(popped),
        /* verilator lint_off PINCONNECTEMPTY */
        .s_ready(),
        .space()
        /* verilator lint_on PINCONNECTEMPTY */
    );
    assign m_axis_tdata = bytes_pkg::swap128(out_block);
    assign m_axis_tkeep = 16'hffff;

    // Verdicts may wait for m_tag indefinitely: no command is taken without room for its verdict.
    stream_fifo #(
        .WIDTH(1),
        .DEPTH(32),
        .CREDITS(1)
    ) tags (
        .clk(clk),
        .rst(rst),
        .s_valid(verdict_valid),
        .s_data(verdict_error),
        .m_valid(m_tag_tvalid),
        .m_ready(m_tag_tready),
        .m_data(m_tag_tuser[1]),
        .space(tags_left),
        /* verilator lint_off PINCONNECTEMPTY */
        .popped(),
        .s_ready()
        /* verilator lint_on PINCONNECTEMPTY */
    );
    assign m_tag_tdata = '0;
    assign {m_tag_tuser[2], m_tag_tuser[0]} = '0;

endmodule
