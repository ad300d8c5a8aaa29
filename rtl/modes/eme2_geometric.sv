// Computes m (1 + x + .. + x^(n-1)) in EME2's field, for a group of n = 1 to 128 blocks (see eme2_mix).
//
// The sums S(n) = 1 + .. + x^(n-1) satisfy S(a + k) = x^k S(a) + S(k), so each clock extends the sum by k terms:
// k = 1 for the lowest base-4 digit of n, k = 4 for the next, k = 16 for the rest. The step size grows by
// S(4k) = S(k) (1 + x^k + x^2k + x^3k).
//
//   start, m, n  starts; not before `done` of the preceding start
//   done, sum    the result, for one clock
//
// Latency: with the digits d0 = n[1:0], d1 = n[3:2], d2 = n[7:4], from start to done
//     1 + d0 clocks for n < 4, 1 + max(d0, 1) + d1 for n < 16, else 1 + max(d0, 1) + max(d1, 1) + d2, at most 14.
module eme2_geometric (
    input  logic         clk,
    input  logic         rst,
    input  logic         start,
    input  logic [127:0] m,
    input  logic [  7:0] n,
    output logic         done,
    output logic [127:0] sum
);

    logic busy;
    logic [7:0] left;
    logic [1:0] stage;  // 0: k = 1, 1: k = 4, 2: k = 16
    logic [3:0] digit;
    logic [127:0] step;  // m S(k), bits in the order of powers
    logic [127:0] grown;  // sum so far, bits in the order of powers

    // Returns v x^k. Bits shifted out at the top are multiplied by x^7 + x^2 + x + 1.
    function automatic logic [127:0] times(input logic [127:0] v, input int k);
        logic [127:0] top;
        top = v >> (128 - k);
        times = (v << k) ^ (top << 7) ^ (top << 2) ^ (top << 1) ^ top;
    endfunction

    always_comb begin
        digit = left[7:4];
        if (stage == 2'd0) digit = {2'd0, left[1:0]};
        if (stage == 2'd1) digit = {2'd0, left[3:2]};
    end

    assign done = busy && left == '0;
    assign sum = bytes_pkg::swap128(grown);

    always_ff @(posedge clk) begin
        if (rst) busy <= 1'b0;
        else busy <= start || (busy && !done);

        if (start) begin
            step <= bytes_pkg::swap128(m);
            grown <= '0;
            left <= n;
            stage <= 2'd0;
        end else begin
            if (digit != '0) begin
                if (stage == 2'd0) grown <= times(grown, 1) ^ step;
                else if (stage == 2'd1) grown <= times(grown, 4) ^ step;
                else grown <= times(grown, 16) ^ step;
                if (stage == 2'd0) left[1:0] <= left[1:0] - 1'b1;
                else if (stage == 2'd1) left[3:2] <= left[3:2] - 1'b1;
                else left[7:4] <= left[7:4] - 1'b1;
            end
            if (digit <= 4'd1 && stage != 2'd2) begin
                if (stage == 2'd0) step <= step ^ times(step, 1) ^ times(step, 2) ^ times(step, 3);
                else step <= step ^ times(step, 4) ^ times(step, 8) ^ times(step, 12);
                stage <= stage + 1'b1;
            end
        end
    end

endmodule
