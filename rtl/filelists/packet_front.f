common/bytes_pkg.sv
common/packet_front.sv
