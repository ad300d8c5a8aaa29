// Properties of encrypt_turns, with a static key (KEYS = 0), a key wavefront (1) and a key per block (2):
//   - At most one call enters the pipe per clock, and only a requested one.
//   - A call finds its own key in the pipe. No key is replaced while a packet needs it, and keys come no
//     faster than the pipe accepts them.
//   - Every request is eventually granted.
module encrypt_turns_properties (
    input logic clk,
    input logic rst,
    input logic [2:0] verify,
    input logic [2:0] busy,
    input logic [2:0] key_call,
    input logic [2:0][3:0] key_slot,
    input logic [2:0] nonce_call,
    input logic [2:0][3:0] nonce_slot,
    input logic [2:0] step_valid,
    input logic [2:0][3:0] step_slot,
    input logic [2:0] step_encrypts,
    input logic [2:0] step_verifies,
    input logic [2:0] step_done,
    input logic [2:0] forget,
    input logic [2:0][3:0] forget_slot
);
    for (genvar i = 0; i < 3; i = i + 1) begin : g_keys
        encrypt_turns_checks #(
            .KEYS(i)
        ) checks (
            .clk,
            .rst,
            .verify(verify[i]),
            .busy(busy[i]),
            .key_call(key_call[i]),
            .key_slot(key_slot[i]),
            .nonce_call(nonce_call[i]),
            .nonce_slot(nonce_slot[i]),
            .step_valid(step_valid[i]),
            .step_slot(step_slot[i]),
            .step_encrypts(step_encrypts[i]),
            .step_verifies(step_verifies[i]),
            .step_done(step_done[i]),
            .forget(forget[i]),
            .forget_slot(forget_slot[i])
        );
    end
endmodule

module encrypt_turns_checks #(
    parameter int KEYS = 1
) (
    input logic clk,
    input logic rst,
    input logic verify,
    input logic busy,
    input logic key_call,
    input logic [3:0] key_slot,
    input logic nonce_call,
    input logic [3:0] nonce_slot,
    input logic step_valid,
    input logic [3:0] step_slot,
    input logic step_encrypts,
    input logic step_verifies,
    input logic step_done,
    input logic forget,
    input logic [3:0] forget_slot
);
    localparam int PIPE = 4;
    localparam int WAVE = 3;

    localparam int APART = KEYS == 0 ? PIPE : WAVE;

    logic verify_pending, key_called, nonce_called, step_free, step_holds, enter, load;
    logic [3:0] verify_slot, slot;

    encrypt_turns #(
        .KEYS(KEYS),
        .PIPE(PIPE),
        .WAVE(WAVE)
    ) turns (
        .clk,
        .rst,
        .verify,
        .verify_slot,
        .verify_pending,
        .busy,
        .key_call,
        .key_slot,
        .key_called,
        .nonce_call,
        .nonce_slot,
        .nonce_called,
        .step_valid,
        .step_slot,
        .step_encrypts,
        .step_verifies,
        .step_done,
        .step_free,
        .step_holds,
        .enter,
        .load,
        .slot,
        .forget,
        .forget_slot
    );

    // ---- Opened packets whose verifying call has not entered. All have the same slot, which is proved below.

    logic begun = 1'b0;
    logic [2:0] pending = '0;
    logic verify_starts;
    assign verify_starts  = step_done && step_verifies;
    assign verify_pending = pending != '0;

    // ---- The pipe: the slot of its key, and clocks since the last block and the last key.

    logic known = 1'b0;
    logic [3:0] owner;
    logic [2:0] since_enter = '1;
    logic [2:0] since_load = '1;
    logic [2:0] last;  // clocks since the event that delays the next load
    assign last = KEYS == 0 && since_enter < since_load ? since_enter : since_load;

    // ---- Values of the previous clock: requests that were not granted.

    logic was_step = 1'b0, was_key = 1'b0, was_nonce = 1'b0;
    logic was_step_call = 1'b0;
    logic [5:0] step_before;
    logic [3:0] key_before, nonce_before;
    logic [3:0] wait_before;

    logic steps;  // a step requests the pipe, and no other call does
    logic [3:0] wanted;  // slot of the request
    logic [3:0] to_wait;  // maximum clocks until it is granted
    assign steps = step_valid && (step_encrypts || step_verifies) && !key_call && !nonce_call;
    assign wanted = key_call ? key_slot : nonce_call ? nonce_slot : step_slot;
    assign to_wait = (turns.pipe_holds.may_load ? 4'd0 : 4'(turns.pipe_holds.left))
        + (known && owner == wanted ? 4'd0 : 4'd8);

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        was_key <= key_call && !key_called && !verify && !busy && !verify_pending && !rst;
        was_nonce <= nonce_call && !nonce_called && !key_call && !verify && !busy && !verify_pending && !rst;
        was_step_call <= steps && !step_free && !step_holds && !verify && !verify_pending && !rst;
        was_step <= step_valid && !step_done && !rst;
        key_before <= key_slot;
        nonce_before <= nonce_slot;
        step_before <= {step_encrypts, step_verifies, step_slot};
        wait_before <= to_wait;
        if (load) owner <= slot;
        if (rst) begin
            pending <= '0;
            known <= 1'b0;
            since_enter <= '1;
            since_load <= '1;
        end else begin
            pending <= pending + 3'(verify_starts) - 3'(verify);
            if (verify_starts) verify_slot <= step_slot;
            if (load) known <= 1'b1;
            else if (forget && forget_slot == owner) known <= 1'b0;
            since_enter <= enter ? 3'd1 : since_enter == '1 ? '1 : since_enter + 1'b1;
            since_load  <= load ? 3'd1 : since_load == '1 ? '1 : since_load + 1'b1;
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun && !rst) begin
            // Environment assumptions: requests are stable, and a step happens only if it may.
            if (was_step) assume (step_valid && {step_encrypts, step_verifies, step_slot} == step_before);
            if (was_key) assume (key_call && key_slot == key_before);
            assume (!step_valid || busy);
            assume (!(step_encrypts && step_verifies));
            assume (!step_done || (step_valid && (!step_encrypts || step_free)));
            assume (!step_done || !step_verifies || step_free || step_holds);
            assume (!verify || verify_pending);
            assume (!verify_starts || pending != '1);
            if (KEYS != 2) assume (!(key_call && nonce_call));
            // A slot in use is not loaded.
            if (forget) begin
                assume (!key_call);
                assume (!nonce_call || nonce_slot != forget_slot);
                assume (!step_valid || step_slot != forget_slot);
                assume (!verify_pending || verify_slot != forget_slot);
            end

            assert ($onehot0({verify, key_called, nonce_called, step_done && step_encrypts}));
            assert ((key_call || !key_called) && (nonce_call || !nonce_called));
            assert (enter == (verify || key_called || nonce_called || (step_done && step_encrypts)));

            if (verify) assert (slot == verify_slot);
            if (key_called) assert (slot == key_slot);
            if (nonce_called) assert (slot == nonce_slot);
            if (step_done && step_encrypts) assert (slot == step_slot);
            if (key_call && !verify && KEYS == 2) assert (key_called);
            if (nonce_call && !key_call && !verify && KEYS == 2) assert (nonce_called);
            if (!nonce_call && !key_call && !verify && KEYS == 2) assert (step_free);
        end
    end

    // ---- Key of the pipe.

    if (KEYS != 2) begin : g_held
        always_comb begin
            if (begun && !rst) begin
                // The key of a call enters at the latest with it.
                if (enter && !load) assert (known && owner == slot);
                if (verify) assert (!load);
                if (verify_starts) assert (load ? slot == step_slot : known && owner == step_slot);
                if (verify_starts && verify_pending) assert (step_slot == verify_slot);

                // A key that is still needed stays.
                if (load) assert (!verify_pending);
                if (load && busy) assert (step_valid && slot == step_slot);
                if (load && known) assert (slot != owner || (KEYS == 1 && key_called));
                if (KEYS == 1 && key_called) assert (load);
                if (KEYS == 0) begin
                    if (load) assert (since_enter >= PIPE && !enter);
                    if (enter) assert (since_load >= PIPE);
                end else if (load) begin
                    assert (since_load >= WAVE);
                end

                // Bounded progress: the wait of a request that no packet delays decreases in every clock.
                if (was_key) assert (key_called || to_wait < wait_before);
                if (was_nonce && nonce_call && nonce_slot == nonce_before && !key_call && !verify && !busy)
                    assert (nonce_called || to_wait < wait_before);
                if (was_step_call && steps && !verify)
                    assert (step_free || step_holds || to_wait < wait_before);

                // Inductive invariants.
                assert (turns.pipe_holds.held == known);
                if (known) assert (turns.pipe_holds.slot == owner);
                if (verify_pending) assert (known && owner == verify_slot);
                assert (since_enter != '0 && since_load != '0 && last != '0);
                assert (turns.pipe_holds.may_load == (last >= 3'(APART)));
                if (last < 3'(APART)) assert (turns.pipe_holds.left == 3'(APART) - last);
                if (KEYS == 0) begin
                    assert (turns.pipe_holds.loading == (since_load <= PIPE));
                    if (since_load <= PIPE) assert (!verify_pending && since_enter >= since_load);
                end
                cover (nonce_called && (KEYS == 0 ? since_load == 3'(PIPE + 1) : load && since_load == WAVE));
                cover (verify && pending == 3'd2 && key_call);
                cover (verify_starts && (KEYS == 0 ? since_load == 3'(PIPE + 1) : load && known));
                cover (key_called && known && pending == '0);
            end
        end
    end
endmodule
