// The key in one cipher pipe with a key for many blocks: whose it is, and when another may be loaded. KEYS is
// that of the pipe (see aes_encrypt): 0, or 1; nothing of this is needed with 2.
//
//   held, slot    the pipe holds this slot's key
//   settled       a block of that key may enter (always with KEYS = 1)
//   may_load      another key may be loaded in this clock: with KEYS = 1 together with its first block
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

    logic [BITS-1:0] left;  // clocks until a load may come
    logic loading;

    assign may_load = left == '0;
    assign settled  = KEYS != 0 || !loading;

    always_ff @(posedge clk) begin
        if (load) slot <= load_slot;
        if (rst) begin
            held <= 1'b0;
            left <= '0;
            loading <= 1'b0;
        end else begin
            if (load) held <= 1'b1;
            else if (forget && forget_slot == slot) held <= 1'b0;
            if (load || (KEYS == 0 && enter)) left <= BITS'(WAIT - 1);
            else if (left != '0) left <= left - 1'b1;
            loading <= load || (loading && left != '0);
        end
    end

endmodule
