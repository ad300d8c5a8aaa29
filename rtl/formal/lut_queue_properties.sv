// Properties of lut_queue, filled only within its depth: those of every queue (followed_entry).
module lut_queue_properties (
    input logic clk,
    input logic rst,
    input logic push,
    input logic [7:0] in_data,
    input logic pop,
    input logic choose
);
    localparam int DEPTH = 4;

    logic valid;
    logic [7:0] out_data;

    lut_queue #(
        .WIDTH(8),
        .DEPTH(DEPTH)
    ) queue (
        .clk,
        .rst,
        .push,
        .in_data,
        .valid,
        .out_data,
        .pop
    );

    logic [2:0] stored;
    assign stored = queue.write_at - queue.read_at;

    logic begun, chosen;
    logic [2:0] held, ahead;
    logic [7:0] value;

    followed_entry #(
        .DEPTH(DEPTH)
    ) entry (
        .clk,
        .rst,
        .push,
        .in_data,
        .valid,
        .pop,
        .out_data,
        .choose,
        .begun,
        .held,
        .chosen,
        .value,
        .ahead
    );

    always_comb begin
        if (begun && !rst) begin
            // Environment assumptions.
            assume (!push || held != DEPTH);
            assume (!pop || valid);
            assert (valid == (held != '0));
            // Inductive invariants: where the entries are.
            assert (stored == held);
            if (chosen) assert (queue.ram.memory[2'(queue.read_at+ahead)] == value);
        end
    end
endmodule
