common/bytes_pkg.sv
serpent/serpent_pkg.sv
serpent/serpent_round_keys.sv
serpent/serpent_encrypt_lane.sv
serpent/serpent_encrypt.sv
