// Control of ELmD: the block that enters the encryption pipe in each clock, and its mask. States of a packet:
//     NONCE   the first AD block, nonce || param, from the checksum register
//     BODY    AD blocks, then message blocks from packet_front; when opening also the tag, as block l+1
//     EMPTY   the padded block of an empty message, from the checksum register
//     TAG     when sealing: block l+1, from the checksum register. An illegal command has only this state, so its
//             error is reported in packet order.
// One block per clock. The next command is accepted in the clock of the last block, so packets follow each other
// without a gap. A block that will leave the decryption pipe requires a credit. Block l+1 also waits for the verdict
// of packet_front and carries it.
//
// Loading a key: L = E(0), or L = E(E(0)) with six rounds, is computed between two packets.
//     KEY_MASK  clears the masks
//     KEY       the block 0 enters with the new key. With six rounds both states occur twice; the second time the
//               mask is the first result.
// Packets of other slots proceed meanwhile. The last round key (see elmd_pipes) is stored before L can be.
//
// Key changes: with KEYS = 1 the first AD block starts a wavefront with the new key, at least ROUNDS clocks after the
// preceding one. With KEYS = 0 a key is accepted only while both pipes are empty. KEYS = 2 needs no changes.
//
//   s_key_*, load         s_key handshake; load: a key for an existing slot was accepted
//   making_slot           the slot of the latest key; its last round key and L are computed
//   l_made                a block for L leaves the encryption pipe
//   slot_loaded           slots that have a key. rst clears it.
//   command_*, verdict_*  from packet_front
//   held*, take           from elmd_intake: the next block; it is used
//   credit, credit_take   a credit is available; one is taken
//   enter*                a block enters the encryption pipe in this clock, and its side band. Kinds are those of
//                         packet_front, and 3 for KEY.
//   use_*, sum_*, mask_*  settings of the datapath in this clock
//   l_slot                slot of the L that the mask register would load
module elmd_control #(
    parameter int ROUNDS = 10,
    parameter int SLOTS = 16,
    parameter int KEYS = 1,
    parameter int IN_FLIGHT = 22
) (
    input logic clk,
    input logic rst,

    input  logic             s_key_tvalid,
    output logic             s_key_tready,
    input  logic [      3:0] s_key_slot,
    output logic             load,
    output logic [      3:0] making_slot,
    input  logic             l_made,
    output logic [SLOTS-1:0] slot_loaded,

    input  logic        command_valid,
    output logic        command_ready,
    input  logic        command_open,
    input  logic [ 3:0] command_slot,
    input  logic [12:0] command_ad_blocks,
    input  logic [12:0] command_message_blocks,
    input  logic        command_ad_whole,
    input  logic        command_message_whole,
    input  logic        command_padded,
    input  logic        command_error,

    input  logic       held,
    input  logic [1:0] held_kind,
    input  logic       held_last,
    output logic       take,

    input  logic verdict_valid,
    output logic verdict_ready,
    input  logic verdict_error,

    input  logic credit,
    output logic credit_take,

    output logic       enter,
    output logic       enter_new_key,
    output logic [3:0] enter_slot,
    output logic [1:0] enter_kind,
    output logic       enter_open,
    output logic       enter_first,
    output logic       enter_last,
    output logic       enter_partial,
    output logic       enter_error,

    output logic       use_block,
    output logic       use_sum,
    output logic       sum_empty,
    output logic       sum_load,
    output logic       sum_step,
    output logic       mask_step,
    output logic       mask_clear,
    output logic       mask_load,
    output logic       mask_load_three,
    output logic       mask_seven,
    output logic       mask_opening,
    output logic [3:0] l_slot
);

    localparam logic [1:0] MESSAGE_BLOCK = 2'd0;
    localparam logic [1:0] AD_BLOCK = 2'd1;
    localparam logic [1:0] TAG_BLOCK = 2'd2;
    localparam logic [1:0] KEY_BLOCK = 2'd3;

    localparam logic [2:0] IDLE = 3'd0;
    localparam logic [2:0] NONCE = 3'd1;
    localparam logic [2:0] BODY = 3'd2;
    localparam logic [2:0] EMPTY = 3'd3;
    localparam logic [2:0] TAG = 3'd4;
    localparam logic [2:0] KEY_MASK = 3'd5;
    localparam logic [2:0] KEY = 3'd6;

    logic [2:0] state;
    logic free;  // a command or the block for L may start after this clock
    logic accept;
    logic making;  // L of the key being loaded is not complete

    // ---- Current packet

    logic open;
    logic [3:0] slot;
    logic ad_empty;
    logic message_empty;
    logic partial;  // the last message block is short; when opening, s_cmd_padded
    logic in_message;  // nonce and AD have entered
    logic short;  // the last block of the current part, AD or message, is short
    logic first_message;
    logic last_ad;
    logic ends_ad;  // the current block is the last of nonce and AD

    assign accept = command_valid && command_ready;

    always_ff @(posedge clk) begin
        if (accept) begin
            open <= command_open;
            ad_empty <= command_ad_blocks == '0;
            in_message <= 1'b0;
            short <= !command_ad_whole;
            message_empty <= command_message_blocks == '0;
            partial <= command_open ? command_padded : !command_message_whole;
        end
        if (accept) slot <= command_slot;
        else if (free) slot <= making_slot;
        if (enter && ends_ad) begin
            in_message <= 1'b1;
            short <= partial;
        end
        if (enter && state == NONCE) first_message <= 1'b1;
        else if (enter && enter_kind == MESSAGE_BLOCK) first_message <= 1'b0;
    end

    // ---- Key loading

    logic wanted;  // a block for L still has to enter
    logic second;  // this is the second one
    logic made;
    logic blocked;
    logic settled;  // KEYS = 0: no block is in flight; otherwise: another wave may start

    assign load = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < 5'(SLOTS);
    assign s_key_tready = !making && (KEYS != 0 || (state == IDLE && settled));
    assign made = l_made && (ROUNDS == 10 || second);
    assign blocked = (making && (SLOTS == 1 || command_slot == making_slot)) || (KEYS == 0 && s_key_tvalid);

    always_ff @(posedge clk) begin
        if (rst) begin
            making <= 1'b0;
            wanted <= 1'b0;
            slot_loaded <= '0;
        end else begin
            making <= load || (making && !made);
            wanted <= load || (l_made && !made) || (wanted && state != KEY_MASK);
            for (int i = 0; i < SLOTS; i = i + 1) begin
                if (load && s_key_slot == 4'(i)) slot_loaded[i] <= 1'b1;
            end
        end
        if (load) making_slot <= s_key_slot;
        second <= !load && (second || l_made);
    end

    // ---- Key changes

    localparam int WAIT = KEYS == 0 ? IN_FLIGHT : ROUNDS - 1;
    localparam int WAIT_BITS = $clog2(WAIT + 1);

    logic [WAIT_BITS-1:0] wait_clocks;
    logic wave_known;  // the latest wave in the encryption pipe belongs to wave_slot
    logic [3:0] wave_slot;
    logic wait_anew;
    logic new_key;  // the packet's first block must start a wave

    assign new_key = KEYS == 1 && !(wave_known && wave_slot == slot);
    assign wait_anew = KEYS == 0 ? load || enter : enter_new_key;
    // Equal to `enter` in these states, but without its dependence on blocks, because the key schedule starts with
    // it.
    assign enter_new_key = state == KEY ? KEYS == 2 || settled : state == NONCE && new_key && settled;

    always_ff @(posedge clk) begin
        if (rst) begin
            wait_clocks <= '0;
            settled <= 1'b1;
            wave_known <= 1'b0;
        end else begin
            if (wait_anew) wait_clocks <= WAIT_BITS'(WAIT);
            else if (!settled) wait_clocks <= wait_clocks - 1'b1;
            settled <= !wait_anew && wait_clocks <= WAIT_BITS'(1);
            if (enter && state == NONCE) wave_known <= 1'b1;
            if (enter && state == KEY) wave_known <= 1'b0;
        end
        if (enter && state == NONCE) wave_slot <= slot;
    end

    // ---- Block that enters

    logic sends_tag;
    logic l_of_next;
    logic held_may_enter;

    assign held_may_enter = held
        && (held_kind == AD_BLOCK || (credit && (verdict_valid || held_kind != TAG_BLOCK)));

    always_comb begin
        case (state)
            NONCE: enter = !new_key || settled;
            BODY: enter = held_may_enter;
            EMPTY: enter = credit;
            TAG: enter = credit && verdict_valid;
            KEY: enter = KEYS == 2 || settled;
            default: enter = 1'b0;
        endcase
        case (state)
            BODY: enter_kind = held_kind;
            EMPTY: enter_kind = MESSAGE_BLOCK;
            TAG: enter_kind = TAG_BLOCK;
            KEY: enter_kind = KEY_BLOCK;
            default: enter_kind = AD_BLOCK;
        endcase
    end

    assign sends_tag = state == TAG || (state == BODY && held && held_kind == TAG_BLOCK);
    assign last_ad = state == BODY && held_kind == AD_BLOCK && held_last;
    assign ends_ad = state == NONCE ? ad_empty : last_ad;

    assign take = enter && state == BODY;
    assign verdict_ready = sends_tag && credit;
    assign credit_take = enter && (enter_kind == MESSAGE_BLOCK || enter_kind == TAG_BLOCK);
    assign enter_slot = slot;
    assign enter_open = open;
    assign enter_first = state == NONCE || (first_message && enter_kind == MESSAGE_BLOCK);
    assign enter_last = state == EMPTY || (state == BODY && held_kind == MESSAGE_BLOCK && held_last);
    assign enter_partial = partial;
    assign enter_error = verdict_error;

    assign use_block = state == BODY;
    assign use_sum = state == NONCE || state == EMPTY || state == TAG
        || (state == BODY && in_message && held_last && !open && !first_message);
    assign sum_empty = enter && state == NONCE && message_empty;
    assign sum_load = accept;
    assign sum_step = take && held_kind == MESSAGE_BLOCK;

    // The mask register is set to 3L/2 with the command, and to L/2 with the last block of AD. After block l+1 and
    // when idle it is always set to 3L/2, so that it does not depend on whether a command is accepted.
    assign mask_step = enter || state == IDLE || state == KEY_MASK;
    assign mask_clear = state == KEY_MASK && !second;
    always_comb begin
        case (state)
            NONCE: mask_load = ad_empty;
            BODY: mask_load = last_ad || held_kind == TAG_BLOCK;
            EMPTY: mask_load = 1'b0;
            default: mask_load = 1'b1;
        endcase
    end
    assign mask_load_three = l_of_next;
    assign mask_seven = short && (state == BODY ? held_last : state == EMPTY || state == TAG);
    assign mask_opening = open && in_message && state != KEY;

    assign l_of_next = !(state == NONCE || state == KEY_MASK || (state == BODY && held_kind == AD_BLOCK));
    assign l_slot = l_of_next ? command_slot : slot;

    // ---- State transitions

    assign free = state == IDLE || (enter && (sends_tag || state == KEY));
    assign command_ready = free && !wanted && !blocked;

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= IDLE;
        end else if (free) begin
            state <= IDLE;
            if (wanted) state <= KEY_MASK;
            if (accept) state <= command_error ? TAG : NONCE;
        end else if (state == KEY_MASK) begin
            state <= KEY;
        end else if (enter) begin
            case (state)
                NONCE: state <= ad_empty && message_empty ? EMPTY : BODY;
                BODY: begin
                    if (last_ad && message_empty) state <= EMPTY;
                    if (enter_last && !open) state <= TAG;
                end
                default: state <= TAG;  // EMPTY
            endcase
        end
    end

endmodule
