common/ram_1r1w.sv
common/packet_release.sv
