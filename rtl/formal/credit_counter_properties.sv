// Properties of credit_counter: credits are conserved, and one is available exactly when the output reports it.
module credit_counter_properties (
    input logic clk,
    input logic rst,
    input logic take,
    input logic give
);
    localparam int CREDITS = 5;

    logic available, home;

    credit_counter #(
        .CREDITS(CREDITS)
    ) counter (
        .clk,
        .rst,
        .take,
        .give,
        .available,
        .home
    );

    logic begun = 1'b0;
    logic [2:0] away = '0;  // credits in flight, counted by the model

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        if (rst) away <= '0;
        else away <= away + 3'(take) - 3'(give);
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions.
            assume (!take || available);
            assume (!give || away != '0);
            assert (away <= CREDITS);
            assert (counter.count == 3'(CREDITS) - away);
            assert (available == (away != CREDITS));
            assert (home == (away == '0));
            cover (!available && give);
        end
    end
endmodule
