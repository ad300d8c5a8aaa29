// Round keys shared by the pipes of a mode, for encrypt_pipe and decrypt_pipe. SHARED = 1: static_keys computes them
// from `key`; they are valid 11 clocks after `load`. SHARED = 0: the outputs are zero, because each pipe has its own
// key schedule.
module shared_keys #(
    parameter int SHARED = 0
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              load,
    input  logic [     127:0] key,
    output logic [128*11-1:0] encrypt_keys,
    output logic [128*11-1:0] decrypt_keys
);

    if (SHARED == 1) begin : g_shared_keys
        static_keys schedule (
            .clk,
            .rst,
            .load,
            .key,
            .encrypt_keys,
            .decrypt_keys
        );
    end else begin : g_own_keys
        logic unused;
        assign unused = ^{clk, rst, load, key};
        assign encrypt_keys = '0;
        assign decrypt_keys = '0;
    end

endmodule
