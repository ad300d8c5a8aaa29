// Whose turn it is to use a mode's encryption pipe, and whose key the pipe holds (pipe_key). In this order: the verifying
// call of an opened packet that comes out; E(0) of a slot that is loaded; the next packet's nonce; a step of the packet at
// hand. Who finds another slot's key in the pipe loads its own: in a gap between packets, a step once no packet before it
// still needs the old one. With a static key (KEYS = 0) a load comes alone, and the call enters when it is settled.
//
//   verify          enters in this clock, whatever else there is; verify_pending: one is still to come with the key that
//                   is in the pipe, which must stay
//   busy            packets have steps to come
//   key, nonce      call: wanted; called: enters in this clock
//   step            free: a step that encrypts may enter; verifies: it needs the pipe's key, for later; done: it happens.
//                   holds: its key is in the pipe
//   enter, load     to the pipe: a block, a new key, of `slot`
//   forget          see pipe_key
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
    logic idle;  // no packet still needs the key that is in the pipe
    // The caller's key is in the pipe. With a wave the call for a new key brings it in any case.
    logic key_there;
    logic nonce_there;
    logic step_there;
    // The caller's turn: its key is loaded if it is not there, its call enters if it is or may.
    logic key_goes;
    logic nonce_goes;
    logic step_goes;

    assign idle = !busy && !verify_pending;
    assign key_there = KEYS == 2 || (KEYS == 0 && held && held_slot == key_slot);
    assign nonce_there = KEYS == 2 || (held && held_slot == nonce_slot);
    assign step_there = KEYS == 2 || (held && held_slot == step_slot);

    assign key_goes = key_call && !verify && (key_there ? settled : idle && may_load);
    assign nonce_goes = nonce_call && !verify && !key_goes && (nonce_there ? settled : idle && may_load);
    // While a packet has steps, only a call whose key is there goes before them.
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
