common/bytes_pkg.sv
serpent/serpent_pkg.sv
serpent/serpent_round_keys.sv
serpent/serpent_decrypt_lane.sv
serpent/serpent_decrypt.sv
