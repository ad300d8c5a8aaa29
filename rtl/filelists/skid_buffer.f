common/skid_buffer.sv
