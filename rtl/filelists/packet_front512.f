common/bytes_pkg.sv
common/packet_front.sv
common/packet_front512.sv
