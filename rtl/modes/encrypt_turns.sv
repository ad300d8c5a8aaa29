// Arbitration for a mode's encryption pipe. It also tracks which slot's key the pipe holds (pipe_key). In order of
// priority:
//   1. verify: the verifying call of an opened packet that leaves the pipes
//   2. key call: E(0) of a slot being loaded
//   3. nonce call of the next packet
//   4. a step of the current packet
// While a packet has steps, only calls whose key is already in the pipe precede its steps. A call or step that needs
// another slot's key loads it: a call when no packet has steps left, a step when no verifying call still needs the
// old key. With a static key (KEYS = 0) the load precedes the call or step, which enters when the key is settled.
//
//   verify                 a verifying call enters in this clock, unconditionally
//   verify_pending         a verifying call is still due with the key in the pipe, which must therefore stay
//   busy                   packets have steps left
//   *_call, *_called       a call is requested; it enters in this clock
//   step_valid, step_slot  the current step
//   step_encrypts          the step enters the encryption pipe
//   step_verifies          the step does not enter it but needs its key in the pipe, for the verifying call
//   step_free              a step that encrypts may enter in this clock
//   step_holds             the step's key is in the pipe and settled
//   step_done              the step proceeds in this clock
//   enter, load            to the pipe: a block enters, a key is loaded, for `slot`
//   forget                 see pipe_key
//
// KEYS, PIPE and WAVE are those of pipe_key; KEYS = 2 (key per block) needs no loads. Outputs are combinational.
module encrypt_turns #(
    parameter int KEYS = 1,
    parameter int PIPE = 11,
    parameter int WAVE = 10
) (
    input logic clk,
    input logic rst,

    input logic       verify,
    input logic [3:0] verify_slot,
    input logic       verify_pending,
    input logic       busy,

    input  logic       key_call,
    input  logic [3:0] key_slot,
    output logic       key_called,

    input  logic       nonce_call,
    input  logic [3:0] nonce_slot,
    output logic       nonce_called,

    input  logic       step_valid,
    input  logic [3:0] step_slot,
    input  logic       step_encrypts,
    input  logic       step_verifies,
    input  logic       step_done,
    output logic       step_free,
    output logic       step_holds,

    output logic       enter,
    output logic       load,
    output logic [3:0] slot,

    input logic       forget,
    input logic [3:0] forget_slot
);

    logic held;
    logic [3:0] held_slot;
    logic settled;
    logic may_load;
    logic idle;  // no packet still needs the key in the pipe
    // The requester's key is in the pipe. In a wavefront pipe (KEYS = 1) the key call always loads its key.
    logic key_there;
    logic nonce_there;
    logic step_there;
    // The requester has the turn. Its key is loaded if the pipe does not hold it. Its call enters if the pipe holds
    // the key, or may get it together with the call.
    logic key_goes;
    logic nonce_goes;
    logic step_goes;

    assign idle = !busy && !verify_pending;
    assign key_there = KEYS == 2 || (KEYS == 0 && held && held_slot == key_slot);
    assign nonce_there = KEYS == 2 || (held && held_slot == nonce_slot);
    assign step_there = KEYS == 2 || (held && held_slot == step_slot);

    assign key_goes = key_call && !verify && (key_there ? settled : idle && may_load);
    assign nonce_goes = nonce_call && !verify && !key_goes && (nonce_there ? settled : idle && may_load);
    // While a packet has steps, only a call whose key is in the pipe precedes them.
    assign step_goes = !verify && !(key_call && key_there && settled)
        && !(nonce_call && nonce_there && settled)
        && (step_there ? settled : !verify_pending && may_load);

    assign key_called = key_goes && (KEYS != 0 || key_there);
    assign nonce_called = nonce_goes && (KEYS != 0 || nonce_there);
    assign step_free = step_goes && (KEYS != 0 || step_there);
    assign step_holds = step_there && settled;

    assign enter = verify || key_called || nonce_called || (step_done && step_encrypts);
    assign load = (key_goes && !key_there) || (nonce_goes && !nonce_there)
        || (!step_there && (step_encrypts || step_verifies)
            && (KEYS == 0 ? step_goes && step_valid : step_done));

    always_comb begin
        slot = step_slot;
        if (nonce_goes) slot = nonce_slot;
        if (key_goes) slot = key_slot;
        if (verify) slot = verify_slot;
    end

    pipe_key #(
        .KEYS(KEYS),
        .PIPE(PIPE),
        .WAVE(WAVE)
    ) pipe_holds (
        .clk,
        .rst,
        .held,
        .slot(held_slot),
        .settled,
        .may_load,
        .enter,
        .load,
        .load_slot(slot),
        .forget,
        .forget_slot
    );

endmodule
