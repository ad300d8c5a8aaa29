// How many packets in the engine use each key slot: from their command to their tag.
//
//   begins, ends   a packet's command is taken, its tag is made; each with its slot
//   asked_slot     used, a clock later: a packet that began before this clock uses it, or did until the clock before
module slot_users #(
    parameter int SLOT_BITS = 4,
    parameter int COUNT_BITS = 8  // for the packets that an engine holds
) (
    input logic clk,
    input logic rst,

    input logic                 begins,
    input logic [SLOT_BITS-1:0] begins_slot,
    input logic                 ends,
    input logic [SLOT_BITS-1:0] ends_slot,

    input  logic [SLOT_BITS-1:0] asked_slot,
    output logic                 used
);

    logic began;
    logic [SLOT_BITS-1:0] began_slot;
    logic ended;
    logic [SLOT_BITS-1:0] ended_slot;
    logic [COUNT_BITS*2**SLOT_BITS-1:0] counts;
    logic [2**SLOT_BITS-1:0] more;
    logic [2**SLOT_BITS-1:0] fewer;
    logic [2**SLOT_BITS-1:0] counted;  // one or more

    always_comb begin
        for (int i = 0; i < 2 ** SLOT_BITS; i = i + 1) begin
            more[i]  = began && began_slot == SLOT_BITS'(i);
            fewer[i] = ended && ended_slot == SLOT_BITS'(i);
        end
    end

    always_ff @(posedge clk) begin
        used <= counted[asked_slot] || (began && began_slot == asked_slot);
        began <= begins && !rst;
        began_slot <= begins_slot;
        ended <= ends && !rst;
        ended_slot <= ends_slot;
        for (int i = 0; i < 2 ** SLOT_BITS; i = i + 1) begin
            if (rst) begin
                counts[COUNT_BITS*i+:COUNT_BITS] <= '0;
                counted[i] <= 1'b0;
            end else if (more[i] && !fewer[i]) begin
                counts[COUNT_BITS*i+:COUNT_BITS] <= counts[COUNT_BITS*i+:COUNT_BITS] + 1'b1;
                counted[i] <= 1'b1;
            end else if (fewer[i] && !more[i]) begin
                counts[COUNT_BITS*i+:COUNT_BITS] <= counts[COUNT_BITS*i+:COUNT_BITS] - 1'b1;
                counted[i] <= counts[COUNT_BITS*i+:COUNT_BITS] != COUNT_BITS'(1);
            end
        end
    end

endmodule
