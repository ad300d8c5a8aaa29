// OCB3 with AES-128, 12-byte nonces and 16-byte tags (RFC 7253), sealing and opening, one block per clock. One
// encryption and one decryption pipe: whole blocks of opened messages pass the decryption pipe, everything else the
// encryption pipe.
//
// A packet consists of steps (see ocb3_sequence), one for each block of AD and message and one for the tag. A step
// meets its block, then waits in a queue until it enters the pipes, one step per clock. A side-band word bypasses
// queue and pipes with each step: the offset, or for a partial block the block itself.
//   sealing  TAG is the call E(Checksum ^ Offset ^ L_$), directly after the last block.
//   opening  TAG carries the received tag and makes no call. When it leaves the pipes, the checksum of the plaintext
//            is complete. The verifying call E(Checksum ^ Offset ^ L_$) then enters the encryption pipe, alongside
//            any step that enters the decryption pipe.
// The encryption pipe also computes Ktop of the next packet (ocb3_nonce) and L_* of a new key. Priority: verifying
// call, new key, Ktop, step.
//
// Throughput: ad + message + 1 clocks per packet (in blocks), + 1 if its Ktop is not cached, which is mostly hidden
// when opening. When opening, a verifying call costs one clock if it coincides with a step that needs the encryption
// pipe.
// Latency in clocks, with PIPE = 12 (SPLIT = 1: 22; SLOTS = 1 and KEYS = 0: 11):
//   s_cmd handshake to first step, idle core: 4; to the first step that is not AD, Ktop not cached: PIPE + 4
//   a block's beat on s_axis to its beat on m_axis: PIPE + 3
//   last message beat to tag: PIPE + 4
//   received tag's beat to verdict and last plaintext beat: 2 PIPE + 4
//
//   SLOTS        key slots, a power of two from 1 to 16
//   KEYS         key schedules of the pipes, see aes_encrypt. 0: static; each key change drains the pipes.
//                1: wavefront; at a key change the encryption pipe waits until the preceding packet's verifying call
//                has entered, and each pipe changes its key at most every ten clocks. 2: key per block, no waiting.
//   FIFO         beats in the output FIFO, a power of two
//   SBOX, SPLIT  see aes_encrypt
//   RAGGED       0: only messages of whole blocks
//
// Ports: see rtl/README.md. Loading a slot takes about 30 clocks. Its packets wait meanwhile; packets of other slots
// proceed.
//
// Bytes: the first byte on the wire is in bits 7:0 of tdata. Inside, a block has its first byte highest.
//
//   tdata   127 ...       0
//   byte     15 ...       0
//   inside    0 ...      15
//
// **Beats of an opened packet before its verdict are unverified plaintext.**
module ocb3 #(
    parameter int SLOTS = 16,
    parameter int KEYS = 1,
    parameter int FIFO = 64,
    parameter int SBOX = 0,
    parameter int SPLIT = 0,
    parameter int RAGGED = 1
) (
    input logic clk,
    input logic rst,

    // A key for a slot.
    input  logic         s_key_tvalid,
    output logic         s_key_tready,
    input  logic [  3:0] s_key_slot,
    input  logic [127:0] s_key_key,

    // One command per packet.
    input  logic         s_cmd_tvalid,
    output logic         s_cmd_tready,
    input  logic         s_cmd_open,
    input  logic [  3:0] s_cmd_slot,
    input  logic [127:0] s_cmd_nonce,
    input  logic [ 15:0] s_cmd_ad_bytes,
    input  logic [ 15:0] s_cmd_message_bytes,
    input  logic         s_cmd_padded,

    // Packets: additional data (tuser 1), message (0), tag (2).
    input  logic         s_axis_tvalid,
    output logic         s_axis_tready,
    input  logic [127:0] s_axis_tdata,
    input  logic [ 15:0] s_axis_tkeep,
    input  logic         s_axis_tlast,
    input  logic [  1:0] s_axis_tuser,

    // Messages; tuser with tlast: discard the packet.
    output logic         m_axis_tvalid,
    input  logic         m_axis_tready,
    output logic [127:0] m_axis_tdata,
    output logic [ 15:0] m_axis_tkeep,
    output logic         m_axis_tlast,
    output logic         m_axis_tuser,

    // Tags and verdicts; tuser: 0 did not verify, 1 error.
    output logic         m_tag_tvalid,
    input  logic         m_tag_tready,
    output logic [127:0] m_tag_tdata,
    output logic [  2:0] m_tag_tuser
);

    // A parameter out of range ends elaboration with an unknown module, whose name says what it must be.
    if (SLOTS < 1 || SLOTS > 16 || SLOTS != 2 ** $clog2(SLOTS)) begin : g_slots_refused
        slots_must_be_a_power_of_two_from_1_to_16 refused ();
    end
    if (KEYS < 0 || KEYS > 2) begin : g_keys_refused
        keys_must_be_0_1_or_2 refused ();
    end
    if (SBOX < 0 || SBOX > 2) begin : g_sbox_refused
        sbox_must_be_0_1_or_2 refused ();
    end
    if (FIFO < 2 || FIFO != 2 ** $clog2(FIFO)) begin : g_fifo_refused
        fifo_must_be_a_power_of_two_from_2 refused ();
    end
    if (SPLIT < 0 || SPLIT > 1) begin : g_split_refused
        split_must_be_0_or_1 refused ();
    end
    if (RAGGED < 0 || RAGGED > 1) begin : g_ragged_refused
        ragged_must_be_0_or_1 refused ();
    end

    localparam int ROUNDS = 10;
    // With one slot and a static key, one key schedule serves both pipes. It runs when the key is loaded.
    localparam int SHARED = KEYS == 0 && SLOTS == 1 && SBOX == 0 && SPLIT == 0 ? 1 : 0;
    // Otherwise the pipe inputs are registered, which takes arbitration and slot memory out of the path to the key
    // schedules.
    localparam int ENTRY = SHARED == 1 ? 0 : 1;
    // With SHARED = 1 the pipes never hold another slot's key, as if each block had its own.
    localparam int TURNS = SHARED == 1 ? 2 : KEYS;
    localparam int CIPHER = SPLIT == 1 ? 2 * ROUNDS + 1 : ROUNDS + 1;
    localparam int PIPE = ENTRY + CIPHER;
    localparam int WAITING = 4;  // maximum number of steps that wait for their turn
    localparam int PACKETS = 32;

    localparam logic [2:0] AD = 3'd0;
    localparam logic [2:0] FULL = 3'd1;
    localparam logic [2:0] TAIL = 3'd2;
    localparam logic [2:0] TAG = 3'd3;

    // ---- Packets to blocks

    logic [SLOTS-1:0] slot_loaded;

    logic command_valid;
    logic command_ready;
    logic command_open;
    logic [3:0] command_slot;
    logic [127:0] command_nonce;
    logic [12:0] command_ad_blocks;
    logic [12:0] command_message_blocks;
    logic [4:0] command_last_ad_bytes;
    logic [4:0] command_last_message_bytes;
    logic command_error;
    logic block_valid;
    logic block_ready;
    logic [127:0] block;
    logic block_last;
    logic verdict_valid;
    logic verdict_ready;
    logic verdict_error;

    // Bits beyond the number of slots are constant zero, so that synthesis removes comparisons.
    localparam logic [3:0] SLOT_MASK = 4'(SLOTS - 1);
    logic [3:0] any_command_slot;
    logic [3:0] key_slot;
    assign command_slot = any_command_slot & SLOT_MASK;
    assign key_slot = s_key_slot & SLOT_MASK;

    packet_front #(
        .SLOTS(SLOTS),
        .SEAL_WHOLE(RAGGED == 0 ? 1 : 0),
        .OPEN_WHOLE(RAGGED == 0 ? 1 : 0)
    ) front (
        .clk,
        .rst,
        .slot_loaded,
        .s_cmd_tvalid,
        .s_cmd_tready,
        .s_cmd_open,
        .s_cmd_slot,
        .s_cmd_nonce,
        .s_cmd_ad_bytes,
        .s_cmd_message_bytes,
        .s_cmd_padded,
        .s_axis_tvalid,
        .s_axis_tready,
        .s_axis_tdata,
        .s_axis_tkeep,
        .s_axis_tlast,
        .s_axis_tuser,
        .command_valid,
        .command_ready,
        .command_open,
        .command_slot(any_command_slot),
        .command_nonce,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_padded(),
        .command_error,
        .block_valid,
        .block_ready,
        .block,
        .block_bytes(),
        .block_kind(),
        .block_last,
        .verdict_valid,
        .verdict_ready,
        .verdict_error
    );

    // ---- Key slots

    logic key_take;
    logic [127:0] new_key;
    logic loading;
    logic [3:0] any_loading_slot;
    logic [3:0] loading_slot;
    logic key_call;
    logic key_called;
    logic key_answer;
    logic [3:0] encrypt_slot;
    logic [127:0] encrypt_key;
    logic [127:0] decrypt_key;
    logic [3:0] step_slot;
    logic [3:0] turn_slot;  // slot of the step that waits for its turn
    logic table_read;
    logic [3:0] table_slot;
    logic [3:0] table_index;
    logic [127:0] table_l;
    logic [127:0] encrypted;

    assign loading_slot = any_loading_slot & SLOT_MASK;

    ocb3_slots #(
        .SLOTS (SLOTS),
        .ROUNDS(ROUNDS),
        .LATE  (SHARED)
    ) slots (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .key_take,
        .key(new_key),
        .loaded(slot_loaded),
        .loading,
        .loading_slot(any_loading_slot),
        .call(key_call),
        .called(key_called),
        .answer_valid(key_answer),
        .answer(encrypted),
        .encrypt_slot,
        .encrypt_key,
        .decrypt_slot(turn_slot),
        .decrypt_key,
        .table_read,
        .table_slot,
        .table_index,
        .table_l
    );

    // ---- Commands to steps with offsets

    logic usable;  // all values that the command needs are computed
    logic take;
    logic sequence_free;
    logic nonce_free;
    logic nonce_known;
    logic busy;
    logic nonce_call;
    logic nonce_called;
    logic nonce_answer;
    logic [127:0] nonce_block;
    logic start_valid;
    logic [127:0] start;
    logic start_used;

    logic step_valid;
    logic step_done;
    logic [2:0] step_kind;
    logic step_open;
    logic [4:0] step_bytes;
    logic step_last;
    logic step_barren;
    logic step_message;
    logic [127:0] step_offset;

    // A new key enters the encryption pipe in a gap between packets, unless each block has its own key.
    assign usable = !(loading && command_slot == loading_slot) && !(TURNS != 2 && key_call);
    assign command_ready = sequence_free && (command_error || (usable && nonce_known && nonce_free));
    assign take = command_valid && command_ready;

    logic [127:0] coming_nonce;
    assign coming_nonce = bytes_pkg::swap128(s_cmd_nonce);
    logic unused;
    assign unused = ^{command_nonce[31:0], coming_nonce[37:0]};

    ocb3_nonce #(
        .SLOTS(SLOTS)
    ) nonce (
        .clk,
        .rst,
        .coming(s_cmd_tvalid && s_cmd_tready),
        .coming_slot(s_cmd_slot & SLOT_MASK),
        .coming_top(coming_nonce[127:38]),
        .command_valid(command_valid && !command_error && usable),
        .command_slot,
        .command_nonce(command_nonce[127:32]),
        .known(nonce_known),
        .take(take && !command_error),
        .free(nonce_free),
        .call(nonce_call),
        .call_block(nonce_block),
        .called(nonce_called),
        .answer_valid(nonce_answer),
        .answer(encrypted),
        .start_valid,
        .start,
        .start_used,
        .forget(key_take),
        .forget_slot(key_slot)
    );

    ocb3_sequence sequencer (
        .clk,
        .rst,
        .take,
        .free(sequence_free),
        .busy,
        .command_open,
        .command_slot,
        .command_ad_blocks,
        .command_message_blocks,
        .command_last_ad_bytes,
        .command_last_message_bytes,
        .command_error,
        .start_valid,
        .start,
        .start_used,
        .table_read,
        .table_slot,
        .table_index,
        .table_l,
        .step_valid,
        .step_done,
        .step_kind,
        .step_open,
        .step_slot,
        .step_bytes,
        .step_last,
        .step_barren,
        .step_message,
        .step_offset
    );

    // ---- A step meets its block, and waits for its turn

    logic step_in_message;
    logic step_takes_block;
    logic step_ready;  // it waits only for its block, or without a block for its verdict
    logic credits;
    logic last_given;
    logic stream_error;
    logic beat_available;
    logic packet_available;
    logic place;  // the queue of waiting steps has room
    logic [2:1] joined;
    logic [127:0] padded;
    logic [127:0] sealed_checksum;
    logic [127:0] step_text;

    assign step_in_message = step_kind == FULL || step_kind == TAIL;
    assign step_takes_block = step_kind == AD || step_in_message || (step_kind == TAG && step_open);
    assign credits = step_in_message ? beat_available : step_kind == AD || packet_available;
    assign step_ready = step_valid && credits && place;
    assign block_ready = step_ready && step_takes_block;
    assign step_done = step_ready
        && (step_takes_block ? block_valid : !step_barren || (verdict_valid && !last_given));

    // The verdict on a packet's stream follows its last block, or is waited for if the packet has none. It is
    // registered two clocks after the packet's last step is done.
    assign verdict_ready = last_given;
    always_ff @(posedge clk) begin
        if (rst) joined <= '0;
        else joined <= {joined[1], step_done};
        if (rst) last_given <= 1'b0;
        else last_given <= step_done && (step_barren || (step_takes_block && block_last));
        if (last_given) stream_error <= verdict_error;
    end

    assign padded = block | ragged_pkg::padding(step_bytes);

    always_comb begin
        step_text = '0;
        if (step_kind == AD || step_kind == FULL) step_text = padded;
        if (step_kind == TAG) step_text = sealed_checksum;
    end

    // The checksum of a sealed message is complete when TAG is current.
    always_ff @(posedge clk) begin
        if (rst || (step_done && step_kind == TAG)) sealed_checksum <= '0;
        else if (step_done && step_in_message && !step_open) sealed_checksum <= sealed_checksum ^ padded;
    end

    logic turn_valid;  // a step waits for its turn
    logic turn_done;
    logic turn_encrypts;
    logic turn_decrypts;
    logic turn_verifies;  // it needs its key in the encryption pipe, for the verifying call
    logic [127:0] turn_text;

    credit_counter #(
        .CREDITS(WAITING)
    ) places (
        .clk,
        .rst,
        .take(step_done),
        .give(turn_done),
        .available(place),
        .home()
    );

    lut_queue #(
        .WIDTH(128 + 7),
        .DEPTH(WAITING)
    ) waiting (
        .clk,
        .rst,
        .push(step_done),
        .in_data({
            step_kind == AD || step_kind == TAIL || (!step_open && (step_kind == FULL || step_kind == TAG)),
            step_open && step_kind == FULL,
            step_open && step_kind == TAG,
            step_slot,
            step_text ^ step_offset
        }),
        .valid(turn_valid),
        .out_data({turn_encrypts, turn_decrypts, turn_verifies, turn_slot, turn_text}),
        .pop(turn_done)
    );

    // ---- Arbitration: per clock one step and one call of another requester of the encryption pipe may enter

    logic out_verify;  // an opened packet's TAG leaves the pipes: its verifying call enters
    logic [3:0] out_slot;
    logic verify_pending;  // the verifying call of an opened packet is still due

    logic encrypt_free;  // a step may enter the encryption pipe
    logic encrypt_holds;  // the step's key is in the encryption pipe
    logic encrypt_valid;
    logic encrypt_load;
    logic decrypt_held;
    logic decrypt_settled;
    logic decrypt_may_load;
    logic decrypt_holds;
    logic decrypt_free;
    logic decrypt_valid;
    logic decrypt_load;
    logic [3:0] decrypt_held_slot;

    assign turn_done = turn_valid && (!turn_encrypts || encrypt_free) && (!turn_decrypts || decrypt_free)
        && (!turn_verifies || encrypt_free || encrypt_holds);

    encrypt_turns #(
        .KEYS(TURNS),
        .PIPE(CIPHER),
        .WAVE(ROUNDS)
    ) turns (
        .clk,
        .rst,
        .verify(out_verify),
        .verify_slot(out_slot),
        .verify_pending,
        .busy(busy || turn_valid),
        .key_call,
        .key_slot(loading_slot),
        .key_called,
        .nonce_call,
        .nonce_slot(command_slot),
        .nonce_called,
        .step_valid(turn_valid),
        .step_slot(turn_slot),
        .step_encrypts(turn_encrypts),
        .step_verifies(turn_verifies),
        .step_done(turn_done),
        .step_free(encrypt_free),
        .step_holds(encrypt_holds),
        .enter(encrypt_valid),
        .load(encrypt_load),
        .slot(encrypt_slot),
        .forget(key_take),
        .forget_slot(key_slot)
    );

    assign decrypt_holds = TURNS == 2 || (decrypt_held && decrypt_held_slot == turn_slot);
    assign decrypt_free = decrypt_holds ? decrypt_settled : TURNS == 1 && decrypt_may_load;
    assign decrypt_valid = turn_done && turn_decrypts;
    assign decrypt_load = !decrypt_holds && turn_decrypts
        && (TURNS == 0 ? turn_valid && decrypt_may_load : turn_done);

    pipe_key #(
        .KEYS(TURNS),
        .PIPE(CIPHER),
        .WAVE(ROUNDS)
    ) decrypt_pipe_key (
        .clk,
        .rst,
        .held(decrypt_held),
        .slot(decrypt_held_slot),
        .settled(decrypt_settled),
        .may_load(decrypt_may_load),
        .enter(decrypt_valid),
        .load(decrypt_load),
        .load_slot(turn_slot),
        .forget(key_take),
        .forget_slot(key_slot)
    );

    // ---- Pipes

    logic [127:0] opened_checksum;
    logic [127:0] out_word;
    logic out_error;
    logic out_message;
    logic call;  // a call enters, not the step
    logic [127:0] call_text;

    assign call = out_verify || key_called || nonce_called;
    assign call_text = out_verify ? opened_checksum ^ out_word : nonce_called ? nonce_block : '0;

    logic [3:0] chosen_pulses;
    logic [3:0] enter_pulses;
    logic [4:0] chosen_user;
    logic [517:0] chosen;
    logic [517:0] enter;
    logic enter_encrypt;
    logic enter_encrypt_load;
    logic enter_decrypt;
    logic enter_decrypt_load;
    logic enter_call;
    logic [4:0] enter_user;
    logic [127:0] enter_call_text;
    logic [127:0] enter_text;
    logic [127:0] enter_encrypt_key;
    logic [127:0] enter_decrypt_key;

    assign chosen_pulses = {encrypt_valid, encrypt_load, decrypt_valid, decrypt_load};
    assign chosen_user = {out_message, out_error, out_verify, key_called, nonce_called};
    assign chosen = {call, chosen_user, call_text, turn_text, encrypt_key, decrypt_key};
    assign {enter_encrypt, enter_encrypt_load, enter_decrypt, enter_decrypt_load} = enter_pulses;
    assign {enter_call, enter_user, enter_call_text, enter_text} = enter[517:256];
    assign {enter_encrypt_key, enter_decrypt_key} = enter[255:0];

    if (ENTRY == 1) begin : g_entry
        always_ff @(posedge clk) begin
            if (rst) enter_pulses <= '0;
            else enter_pulses <= chosen_pulses;
            enter <= chosen;
        end
    end else begin : g_no_entry
        assign enter_pulses = chosen_pulses;
        assign enter = chosen;
    end

    logic encrypted_valid;
    logic answer_message;
    logic answer_error;
    logic answer_verify;
    logic answer_key;
    logic answer_nonce;
    logic [127:0] decrypted;

    logic [128*11-1:0] encrypt_keys;
    logic [128*11-1:0] decrypt_keys;

    shared_keys #(
        .SHARED(SHARED)
    ) keys (
        .clk,
        .rst,
        .load(key_take),
        .key(new_key),
        .encrypt_keys,
        .decrypt_keys
    );

    encrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .USER(5)
    ) encrypt (
        .clk,
        .rst,
        .round_keys(encrypt_keys),
        .in_valid(enter_encrypt),
        .in_new_key(enter_encrypt_load),
        .in_key(enter_encrypt_key),
        .in_block(enter_call ? enter_call_text : enter_text),
        .in_user(enter_user),
        .out_valid(encrypted_valid),
        .out_block(encrypted),
        .out_user({answer_message, answer_error, answer_verify, answer_key, answer_nonce})
    );

    decrypt_pipe #(
        .SHARED(SHARED),
        .KEYS(KEYS),
        .SBOX(SBOX),
        .SPLIT(SPLIT),
        .USER(1)
    ) decrypt (
        .clk,
        .rst,
        .round_keys(decrypt_keys),
        .in_valid(enter_decrypt),
        .in_new_key(enter_decrypt_load),
        .in_key(enter_decrypt_key),
        .in_block(enter_text),
        .in_user(1'b0),
        .out_valid(),
        .out_block(decrypted),
        .out_user()
    );

    assign key_answer = encrypted_valid && answer_key;
    assign nonce_answer = encrypted_valid && answer_nonce;

    // ---- Bypass of queue and pipes. A partial block is not encrypted: it meets E(offset) at the end of the pipe.

    logic [PIPE:1] in_pipe;
    logic out_valid;
    logic [2:0] out_kind;
    logic out_open;
    logic out_last;
    logic [4:0] out_bytes;
    logic [127:0] out_received;
    logic [270:0] beside;
    logic beside_error;

    lut_queue #(
        .WIDTH(271),
        .DEPTH(32)
    ) steps (
        .clk,
        .rst,
        .push(step_done),
        .in_data({
            step_kind,
            step_open,
            step_last,
            step_message,
            step_slot,
            step_bytes,
            RAGGED != 0 && step_kind == TAIL ? padded : step_offset,
            padded
        }),
        .valid(),
        .out_data(beside),
        .pop(in_pipe[PIPE-1])
    );

    lut_queue #(
        .WIDTH(1),
        .DEPTH(32)
    ) errors (
        .clk,
        .rst,
        .push(joined[2]),
        .in_data(stream_error),
        .valid(),
        .out_data(beside_error),
        .pop(in_pipe[PIPE-1])
    );

    always_ff @(posedge clk) begin
        if (rst) in_pipe <= '0;
        else in_pipe <= {in_pipe[PIPE-1:1], turn_done};
        {out_kind, out_open, out_last, out_message, out_slot, out_bytes, out_word, out_received} <= beside;
        out_error <= beside_error;
    end

    assign out_valid = in_pipe[PIPE];
    assign out_verify = out_valid && out_kind == TAG && out_open;

    // Opened packets between their TAG and their verifying call.
    logic [$clog2(PIPE+1)-1:0] to_verify;
    logic verify_starts;
    assign verify_starts = turn_done && turn_verifies;
    assign verify_pending = to_verify != '0;
    always_ff @(posedge clk) begin
        if (rst) to_verify <= '0;
        else if (verify_starts && !out_verify) to_verify <= to_verify + 1'b1;
        else if (out_verify && !verify_starts) to_verify <= to_verify - 1'b1;
    end

    // ---- Pipe output

    logic out_in_message;
    logic [127:0] out_data;
    logic [127:0] hash;  // HASH(AD)
    logic [127:0] expected;

    assign out_in_message = out_kind == FULL || out_kind == TAIL;
    assign out_data = ((out_kind == FULL && out_open ? decrypted : encrypted) ^ out_word)
        & (RAGGED == 0 ? '1 : ragged_pkg::mask(out_bytes));

    always_ff @(posedge clk) begin
        if (rst || (out_valid && out_kind == TAG)) hash <= '0;
        else if (out_valid && out_kind == AD) hash <= hash ^ encrypted;
        if (rst || (out_valid && out_kind == TAG)) opened_checksum <= '0;
        else if (out_valid && out_in_message && out_open) begin
            opened_checksum <= opened_checksum ^ out_data ^
                (RAGGED == 0 ? '0 : ragged_pkg::padding(out_bytes));
        end
    end

    // The expected result of the verifying call.
    ring_delay #(
        .WIDTH (128),
        .CLOCKS(PIPE)
    ) expected_answers (
        .clk,
        .rst,
        .in_data (out_received ^ hash),
        .out_data(expected)
    );

    logic compared_valid;
    logic compared_forged;
    logic compared_error;
    logic compared_message;

    always_ff @(posedge clk) begin
        if (rst) compared_valid <= 1'b0;
        else compared_valid <= encrypted_valid && answer_verify;
        compared_forged <= encrypted != expected && !answer_error;
        compared_error <= answer_error;
        compared_message <= answer_message;
    end

    packet_results #(
        .FIFO(FIFO),
        .PACKETS(PACKETS)
    ) results (
        .clk,
        .rst,
        .beat_take(step_done && step_in_message),
        .beat_available,
        .packet_take(step_done && !step_in_message && step_kind != AD),
        .packet_available,
        .beat_push(out_valid && out_in_message),
        .beat_data(out_data),
        .beat_bytes(out_bytes),
        .beat_last(out_last),
        .beat_open(out_open),
        .beat_error(out_error),
        .result_push(out_valid && !out_in_message && out_kind != AD),
        .result_tag(out_kind == TAG && !out_open && !out_error ? encrypted ^ hash : '0),
        .result_open(out_kind == TAG && out_open),
        .result_error(out_error),
        .verdict_push(compared_valid),
        .verdict_forged(compared_forged),
        .verdict_error(compared_error),
        .verdict_message(compared_message),
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep,
        .m_axis_tlast,
        .m_axis_tuser,
        .m_tag_tvalid,
        .m_tag_tready,
        .m_tag_tdata,
        .m_tag_tuser
    );

endmodule
