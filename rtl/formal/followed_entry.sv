// Properties of every queue: each entry comes out once, unchanged and in order, and an offered output is
// stable until taken. One symbolic entry is tracked, from `choose` on.
module followed_entry #(
    parameter int DEPTH = 4
) (
    input logic clk,
    input logic rst,
    input logic push,
    input logic [7:0] in_data,
    input logic valid,
    input logic pop,  // the entry at the output is taken
    input logic [7:0] out_data,
    input logic choose,
    output logic begun,  // reset has happened
    output logic [2:0] held,  // entries in the queue, counted by the model
    output logic chosen,  // the tracked entry is in the queue
    output logic [7:0] value,
    output logic [2:0] ahead  // entries that leave before it
);
    logic waiting = 1'b0;  // out_data was offered and not taken in the previous clock
    logic [7:0] offered;

    initial begin
        begun  = 1'b0;
        held   = '0;
        chosen = 1'b0;
    end

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
            assert (held <= DEPTH);
            assert (!valid || held != '0);
            if (waiting) assert (valid && out_data == offered);
            if (chosen && ahead == '0 && valid) assert (out_data == value);
            if (chosen) assert (ahead < held);
            cover (chosen && ahead == 3'd3 && held == DEPTH);
        end
    end
endmodule
