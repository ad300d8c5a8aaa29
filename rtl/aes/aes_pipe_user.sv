// Side band of a cipher pipe: delays a valid bit and USER bits by LATENCY clocks, at least 2. rst clears all valid
// bits.
module aes_pipe_user #(
    parameter int LATENCY = 11,
    parameter int USER = 1
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            in_valid,
    input  logic [USER-1:0] in_user,
    output logic            out_valid,
    output logic [USER-1:0] out_user
);
    logic [LATENCY-1:0] valid;
    logic [USER*LATENCY-1:0] user;

    always_ff @(posedge clk) begin
        if (rst) valid <= '0;
        else valid <= {valid[LATENCY-2:0], in_valid};
        user <= {user[USER*(LATENCY-1)-1:0], in_user};
    end
    assign out_valid = valid[LATENCY-1];
    assign out_user = user[USER*(LATENCY-1) +: USER];
endmodule
