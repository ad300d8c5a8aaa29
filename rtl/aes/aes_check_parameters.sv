// Stops elaboration if a cipher pipe does not support its parameters, by instantiating a module that does not exist.
// The error names that module.
module aes_check_parameters #(
    parameter int ROUNDS = 10,
    parameter int KEYS = 1,
    parameter int SBOX = 0,
    parameter int SPLIT = 0
) ();
    localparam int KNOWN = (ROUNDS == 10 || ROUNDS == 6) && KEYS >= 0 && KEYS <= 2 && SBOX >= 0 && SBOX <= 2
        && SPLIT >= 0 && SPLIT <= 1 ? 1 : 0;
    if (KNOWN == 0) begin : g_refused
        this_aes_parameter_is_not_supported refused ();
    end
endmodule
