// OCB3's tags: each packet's last call, and its result with the hash of the AD.
//
// Sealing knows the input of the call with the packet's last beat, opening only when the plaintext is there. An engine for
// both asks behind the ciphers, so that tags stay in order.
//
//   early_*        DIRECTION 0: a packet's last beat enters the lanes; slot and input of its call
//   in_*           a beat leaves the lanes: of a packet with a message, and its slot
//   gathered_*     a packet's end, from ocb_collect, two clocks later
//   call_*         the calls, in order (to ocb_calls)
//   called, call_result   a call was made
//   done_slot, done_end   of the packet whose call was made (end_t): the tag, or its difference from the received one
module ocb_tags #(
    parameter int DIRECTION = 2,
    parameter int SLOT_BITS = 4,
    parameter int PACKETS = 64
) (
    input logic clk,
    input logic rst,

    // Ends of packets.
    input logic                 early_valid,
    input logic [SLOT_BITS-1:0] early_slot,
    input logic [        127:0] early_input,
    input logic                 in_has_message,
    input logic [SLOT_BITS-1:0] in_slot,
    input logic                 gathered,
    input logic [        127:0] gathered_hash,
    input logic [        127:0] gathered_input,
    input logic                 gathered_open,
    input logic                 gathered_error,

    // Calls.
    output logic                     call_valid,
    input  logic                     call_ack,
    output logic [    SLOT_BITS-1:0] call_slot,
    output logic [            127:0] call_block,
    output logic [$clog2(PACKETS):0] calls_stored,
    input  logic                     called,
    input  logic [            127:0] call_result,

    // Tags.
    output logic [           SLOT_BITS-1:0] done_slot,
    output logic [engine_pkg::END_BITS-1:0] done_end
);

`ifdef YOSYS
    typedef engine_pkg::end_t end_t;
`else
    import engine_pkg::end_t;
`endif

    typedef struct packed {
        logic [SLOT_BITS-1:0] slot;
        logic [127:0] block;
    } call_t;

    // A packet whose tag waits for its call.
    typedef struct packed {
        logic [SLOT_BITS-1:0] slot;
        end_t packet;
    } slot_end_t;

    logic has_message_1;
    logic has_message_2;
    logic [SLOT_BITS-1:0] slot_1;
    logic [SLOT_BITS-1:0] slot_2;
    logic ask_valid;
    call_t ask;
    call_t call;
    slot_end_t finish;
    slot_end_t head;
    end_t packet_end;

    always_ff @(posedge clk) begin
        has_message_1 <= in_has_message;
        has_message_2 <= has_message_1;
        slot_1 <= in_slot;
        slot_2 <= slot_1;
    end

    if (DIRECTION == 0) begin : g_ask_early
        assign ask_valid = early_valid;
        assign ask = {early_slot, early_input};
        logic unused;
        assign unused = ^gathered_input;
    end else begin : g_ask_late
        assign ask_valid = gathered;
        assign ask = {slot_2, gathered_input};
        logic unused;
        assign unused = ^{early_valid, early_slot, early_input};
    end

    ram_fifo #(
        .WIDTH($bits(call_t'('0))),
        .DEPTH(PACKETS)
    ) calls (
        .clk,
        .rst,
        .s_valid(ask_valid),
        .s_data(ask),
        .m_valid(call_valid),
        .m_ready(call_ack),
        .m_data(call),
        .popped(),
        .stored(calls_stored)
    );

    assign call_slot = call.slot;
    assign call_block = call.block;

    // A tag's call never answers before the packet's hash is offered here: both went the same way, the call later.
    assign finish.slot = slot_2;
    assign finish.packet = {has_message_2, gathered_open, gathered_error, gathered_hash};

    ram_fifo #(
        .WIDTH($bits(slot_end_t'('0))),
        .DEPTH(PACKETS)
    ) hashes (
        .clk,
        .rst,
        .s_valid(gathered),
        .s_data(finish),
        .m_valid(),
        .m_ready(called),
        .m_data(head),
        .popped(),
        .stored()
    );

    assign done_slot = head.slot;
    always_comb begin
        packet_end = head.packet;
        packet_end.value = packet_end.value ^ call_result;
    end
    assign done_end = packet_end;

endmodule
