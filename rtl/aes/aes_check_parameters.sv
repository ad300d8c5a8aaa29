// Refuses parameters that an AES pipe does not have: the module below does not exist, so elaboration stops
// with its name.
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
