// lut_queue, filled no further than it reaches: any entry that goes in comes out once, unchanged and in its place; what
// is offered stays. One entry, any one, is followed by `chosen`.
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

    logic begun = 1'b0;  // there has been a reset
    logic waiting = 1'b0;  // out_data was offered and not taken in the clock before
    logic [7:0] offered;
    logic [2:0] held = '0;  // entries in the queue, counted here
    logic chosen = 1'b0;  // the entry is in the queue
    logic [7:0] value;
    logic [2:0] ahead;  // entries that leave before it

    logic [2:0] stored;
    assign stored = queue.write_at - queue.read_at;

    always_ff @(posedge clk) begin
        begun   <= 1'b1;
        waiting <= valid && !pop && !rst;
        offered <= out_data;
        if (rst) begin
            held   <= '0;
            chosen <= 1'b0;
        end else begin
            held <= held + 3'(push) - 3'(pop);
            if (chosen && pop && ahead == '0) chosen <= 1'b0;
            if (pop) ahead <= ahead - 1'b1;
            if (push && choose && !chosen) begin
                chosen <= 1'b1;
                value  <= in_data;
                ahead  <= held - 3'(pop);
            end
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // What users keep to.
            assume (!push || held != DEPTH);
            assume (!pop || valid);
            assert (held <= DEPTH);
            assert (valid == (held != '0));
            if (waiting) assert (valid && out_data == offered);
            if (chosen) assert (ahead < held);
            if (chosen && ahead == '0) assert (out_data == value);
            // For the induction: where things are.
            assert (stored == held);
            if (chosen) assert (queue.memory[2'(queue.read_at+ahead)] == value);
            cover (chosen && ahead == 3'd3 && held == DEPTH);
        end
    end
endmodule
