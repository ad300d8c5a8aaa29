// One word for every key slot: one write port, one read port. Latency of a read: one clock.
module slot_memory #(
    parameter int WIDTH = 128,
    parameter int SLOT_BITS = 4
) (
    input  logic                 clk,
    input  logic                 write,
    input  logic [SLOT_BITS-1:0] write_slot,
    input  logic [    WIDTH-1:0] write_data,
    input  logic [SLOT_BITS-1:0] read_slot,
    output logic [    WIDTH-1:0] read_data
);

    (* ram_style = "distributed", ramstyle = "MLAB" *)
    logic [WIDTH-1:0] memory[0:2**SLOT_BITS-1];

    always_ff @(posedge clk) begin
        if (write) memory[write_slot] <= write_data;
        read_data <= memory[read_slot];
    end

endmodule
