common/ram_1r1w.sv
common/ram_lut.sv
gf128/gf2_multiply8.sv
gf128/gf2_karatsuba_join.sv
gf128/gf128_stage.sv
gf128/gf128_multiply.sv
gf128/gf128_power_table.sv
gf128/ghash.sv
