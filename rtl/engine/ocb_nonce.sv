// OCB3's initial offsets (RFC 7253 section 4.2), made ahead of their packets: a new nonce costs no clock of
// the data path. Each announced packet asks for one block cipher call, Ktop, unless its nonce differs from
// the one before only in the low six bits under the same slot, as 63 of 64 counter nonces do: then the last
// Ktop is used again. An announced packet is compared with the one before in one clock, and asks in the next; two
// questions may wait. An offset is worked out in two clocks, and waits in a FIFO.
//
//   s_*        announced packets, in order; s_illegal: no offset is needed, none is asked for
//   forget     a key is loaded into forget_slot: the last Ktop, if it was that slot's, is another key's
//   ask_*      block cipher calls, answered in order by answer_*
//   offset_*   Offset_0 for every packet, in order; the next one when `offset_take`
module ocb_nonce #(
    parameter int SLOT_BITS = 4,
    parameter int PACKETS = 64
) (
    input logic clk,
    input logic rst,

    input  logic                 s_valid,
    output logic                 s_ready,
    input  logic [SLOT_BITS-1:0] s_slot,
    input  logic [         95:0] s_nonce,
    input  logic                 s_illegal,
    input  logic                 forget,
    input  logic [SLOT_BITS-1:0] forget_slot,

    output logic                 ask_valid,
    input  logic                 ask_ready,
    output logic [SLOT_BITS-1:0] ask_slot,
    output logic [        127:0] ask_block,
    input  logic                 answer_valid,
    input  logic [        127:0] answer_block,

    output logic         offset_valid,
    input  logic         offset_take,
    output logic [127:0] offset
);

    // A packet that was announced, beside the last one before it that a nonce mattered of: 18 bits together.
    localparam int TOP = SLOT_BITS + 90;
    localparam int PIECES = (TOP + 17) / 18;
    logic packet_valid;
    logic take;  // it goes on
    logic packet_illegal;
    logic [TOP-1:0] packet;
    logic [5:0] packet_bottom;
    logic [PIECES-1:0] differs;
    logic [18*PIECES-1:0] offered;
    logic [18*PIECES-1:0] earlier;

    assign offered = (18 * PIECES)'({s_slot, s_nonce[95:6]});
    assign earlier = (18 * PIECES)'(packet);
    assign s_ready = !packet_valid || take;

    always_ff @(posedge clk) begin
        if (s_valid && s_ready) begin
            packet_illegal <= s_illegal;
            packet_bottom <= s_nonce[5:0];
            if (!s_illegal) packet <= {s_slot, s_nonce[95:6]};
            for (int i = 0; i < PIECES; i = i + 1) differs[i] <= offered[18*i+:18] != earlier[18*i+:18];
        end
        if (rst) packet_valid <= 1'b0;
        else if (s_ready) packet_valid <= s_valid;
    end

    // Asking.
    logic known;  // the nonce in `packet` has a Ktop, or will have
    logic again;
    logic credit;
    logic pending_ready;
    logic answers_popped;
    logic answer_given;  // in the clock before
    logic second_valid;
    logic [TOP-1:0] second;
    logic [TOP-1:0] asked;

    assign again = packet_illegal || (known && differs == '0);
    assign take = packet_valid && pending_ready && credit && !second_valid;
    assign {ask_slot, ask_block} = {asked[90+:SLOT_BITS], 32'd1, asked[89:0], 6'd0};

    // As many calls under way as the FIFO of answers has room for.
    credit_counter #(
        .CREDITS(PACKETS)
    ) credits (
        .clk,
        .rst,
        .take(take && !again),
        .give(answer_given),
        .available(credit),
        .home()
    );

    always_ff @(posedge clk) begin
        if (!ask_valid || ask_ready) asked <= second_valid ? second : packet;
        if (take) second <= packet;
        answer_given <= answers_popped && !rst;
        if (rst) begin
            known <= 1'b0;
            ask_valid <= 1'b0;
            second_valid <= 1'b0;
        end else begin
            if (forget && forget_slot == packet[90+:SLOT_BITS]) known <= 1'b0;
            else if (take && !again) known <= 1'b1;
            if (!ask_valid || ask_ready) begin
                ask_valid <= second_valid || (take && !again);
                second_valid <= 1'b0;
            end else if (take && !again) begin
                second_valid <= 1'b1;
            end
        end
    end

    // What each packet needs, and the answers.
    logic pending_valid;
    logic pending_take;
    logic pending_again;
    logic [5:0] pending_bottom;
    logic answers_valid;
    logic answers_take;
    logic [127:0] answers_block;

    stream_fifo #(
        .WIDTH(7),
        .DEPTH(PACKETS)
    ) pending (
        .clk,
        .rst,
        .s_valid(take),
        .s_ready(pending_ready),
        .s_data({again, packet_bottom}),
        .m_valid(pending_valid),
        .m_ready(pending_take),
        .m_data({pending_again, pending_bottom}),
        .space(),
        .popped()
    );

    ram_fifo #(
        .WIDTH(128),
        .DEPTH(PACKETS)
    ) answers (
        .clk,
        .rst,
        .s_valid(answer_valid),
        .s_data(answer_block),
        .m_valid(answers_valid),
        .m_ready(answers_take),
        .m_data(answers_block),
        .popped(answers_popped),
        .stored()
    );

    // Stretch = Ktop || (Ktop[1..64] ^ Ktop[9..72]); Offset_0 = its 128 bits from bit `bottom` on: by bytes in one clock, by
    // bits in the next. What is begun has a place in the FIFO.
    localparam int OFFSETS = 8;
    logic room;
    logic top_valid;
    logic [127:0] top;
    logic [5:0] bottom;
    logic [191:0] stretch;
    logic [191:0] by_bytes;
    logic shifted_valid;
    logic [134:0] shifted;
    logic [2:0] shift;
    logic [134:0] by_bits;
    logic offset_popped;
    logic offset_given;

    assign stretch = {top, top[127:64] ^ top[119:56]};
    assign by_bytes = stretch << {bottom[5:3], 3'd0};
    assign by_bits = shifted << shift;
    assign pending_take = pending_valid && room && (pending_again || answers_valid);
    assign answers_take = pending_take && !pending_again;

    always_ff @(posedge clk) begin
        if (answers_take) top <= answers_block;
        bottom <= pending_bottom;
        top_valid <= pending_take && !rst;
        shifted <= by_bytes[191:57];
        shift <= bottom[2:0];
        shifted_valid <= top_valid && !rst;
        offset_given <= offset_popped && !rst;
    end

    credit_counter #(
        .CREDITS(OFFSETS)
    ) places (
        .clk,
        .rst,
        .take(pending_take),
        .give(offset_given),
        .available(room),
        .home()
    );

    stream_fifo #(
        .WIDTH(128),
        .DEPTH(OFFSETS),
        .CREDITS(1)
    ) offsets (
        .clk,
        .rst,
        .s_valid(shifted_valid),
        .s_ready(),
        .s_data(by_bits[134:7]),
        .m_valid(offset_valid),
        .m_ready(offset_take),
        .m_data(offset),
        .space(),
        .popped(offset_popped)
    );

    logic unused;
    assign unused = ^{by_bytes[56:0], by_bits[6:0]};

endmodule
