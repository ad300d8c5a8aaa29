// Tracks the key in a cipher pipe that uses one key for many blocks, and when another key may be loaded. KEYS is that
// of the pipe (see aes_encrypt), 0 or 1. Pipes with KEYS = 2 need no tracking.
//
//   held, slot  the pipe holds the key of this slot
//   settled     a block of that key may enter; always high with KEYS = 1
//   may_load    another key may be loaded in this clock, with KEYS = 1 together with its first block; registered
//   enter       a block enters in this clock
//   load        the key of load_slot is loaded in this clock
//   forget      forget_slot's key is about to be replaced, so the pipe no longer holds the key of that slot
//
// KEYS = 0: a load waits until PIPE clocks after the last block, and the next block until PIPE clocks after the load.
// KEYS = 1: at most one load every WAVE clocks.
module pipe_key #(
    parameter int KEYS = 1,
    parameter int PIPE = 11,
    parameter int WAVE = 10
) (
    input  logic       clk,
    input  logic       rst,
    output logic       held,
    output logic [3:0] slot,
    output logic       settled,
    output logic       may_load,
    input  logic       enter,
    input  logic       load,
    input  logic [3:0] load_slot,
    input  logic       forget,
    input  logic [3:0] forget_slot
);

    localparam int WAIT = KEYS == 0 ? PIPE : WAVE;
    localparam int BITS = $clog2(WAIT);

    logic [BITS-1:0] left;  // clocks until may_load, while it is low
    logic left_anew;
    logic loading;

    assign left_anew = load || (KEYS == 0 && enter);
    assign settled  = KEYS != 0 || !loading;

    always_ff @(posedge clk) begin
        if (load) slot <= load_slot;
        if (rst) begin
            held <= 1'b0;
            may_load <= 1'b1;
            loading <= 1'b0;
        end else begin
            if (load) held <= 1'b1;
            else if (forget && forget_slot == slot) held <= 1'b0;
            // While a load is possible the count is already preset, because `load` is late in its clock.
            left <= may_load || (KEYS == 0 && left_anew) ? BITS'(WAIT - 1) : left - 1'b1;
            may_load <= !left_anew && (may_load || left == BITS'(1));
            loading <= load || (loading && !may_load);
        end
    end

endmodule
