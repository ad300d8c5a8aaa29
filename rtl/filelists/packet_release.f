common/packet_release.sv
