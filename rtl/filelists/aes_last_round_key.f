aes/aes_pkg.sv
aes/aes_inversion_core.sv
aes/aes_inverse_sbox_circuit.sv
aes/aes_sbox_circuit.sv
aes/aes_sbox.sv
aes/aes_sbox_word.sv
aes/aes_last_round_key.sv
