serpent/serpent_pkg.sv
serpent/serpent_last_prekey.sv
