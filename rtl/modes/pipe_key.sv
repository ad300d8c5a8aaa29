// The key in one cipher pipe with a key for many blocks: whose it is, and when another may be loaded. KEYS is
// that of the pipe (see aes_encrypt): 0, or 1; nothing of this is needed with 2.
//
//   held, slot    the pipe holds this slot's key
//   settled       a block of that key may enter (always with KEYS = 1)
//   may_load      another key may be loaded in this clock (from a register): with KEYS = 1 together with its first block
//   enter         a block enters in this clock
//   load          load_slot's key is loaded in this clock
//   forget        the key of forget_slot is about to change: the pipe does not hold it any more
//
// KEYS = 0: a load waits until PIPE clocks after the last block, and the next block until PIPE clocks after
// the load. KEYS = 1: a load every WAVE clocks at most.
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

    logic [BITS-1:0] left;  // clocks until a load may come, unless it may
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
            // While a load may come the count stands ready for one, which comes late in its clock.
            left <= may_load || (KEYS == 0 && left_anew) ? BITS'(WAIT - 1) : left - 1'b1;
            may_load <= !left_anew && (may_load || left == BITS'(1));
            loading <= load || (loading && !may_load);
        end
    end

endmodule
