// Between whoever brings keys and an engine: which slots have keys and are in use.
//
// A key for a slot in use is refused, and counted. Any other waits until the frames that have begun so far are through,
// so that no slot is overwritten in flight. `zeroize` ends the use of all slots at once, waits likewise, and writes a key
// of zeros, and with it all that an engine keeps of a key, over each slot. `zeroizing` stays until the last slot is written.
//
// A key comes into use once: with it begin its packet numbers, which must not begin again. When its use has ended the slot
// wants a new key.
//
//   m_key_*   to the engine: m_key_tready is low from the clock after a key until all that is kept of it is written
//   set_*     begin or end the use of a slot; begins: it begins in this clock
//   coming    a key for set_slot is under way: a use that begins now would not find it
//   in_use    slots in use
//   began     a frame was given to the engine, under a slot in use in this clock or one of the two before; ended: one has
//             left it
module macsec_keys #(
    parameter int SLOT_BITS = 4,
    parameter int KEY_BITS = 128
) (
    input logic clk,
    input logic rst,

    input  logic                 s_key_tvalid,
    output logic                 s_key_tready,
    input  logic [SLOT_BITS-1:0] s_key_slot,
    input  logic [ KEY_BITS-1:0] s_key_key,

    output logic                 m_key_tvalid,
    input  logic                 m_key_tready,
    output logic [SLOT_BITS-1:0] m_key_slot,
    output logic [ KEY_BITS-1:0] m_key_key,

    input  logic                    set,
    input  logic [   SLOT_BITS-1:0] set_slot,
    input  logic                    set_use,
    output logic                    begins,
    output logic                    coming,
    output logic [2**SLOT_BITS-1:0] in_use,

    input  logic zeroize,
    output logic zeroizing,

    input logic began,
    input logic ended,

    output logic refused
);

    typedef enum logic [2:0] {
        IDLE,
        SETTLE,  // frames of the clocks before are still told
        SETTLED,
        WAIT,
        WRITE,
        DRAIN  // the engine still writes what it keeps of the last key of zeros
    } state_t;

    state_t state;
    logic [2**SLOT_BITS-1:0] keyed;  // with a key that was never in use
    logic [7:0] in_flight;
    logic [7:0] ahead;  // frames that began before, and have not ended
    logic last_slot;  // nothing to write behind m_key_slot
    logic asked;  // to zeroize, while a key is under way
    logic overwrite;
    logic overwriting;
    logic takes;
    logic loaded;

    assign begins = set && set_use && keyed[set_slot];
    assign coming = state != IDLE && !overwriting && m_key_slot == set_slot;
    assign overwrite = zeroize || asked;
    assign zeroizing = asked || overwriting;
    assign s_key_tready = state == IDLE && !overwrite;
    assign refused = s_key_tvalid && s_key_tready && in_use[s_key_slot];
    assign takes = s_key_tvalid && s_key_tready && !in_use[s_key_slot];
    assign loaded = state == WRITE && m_key_tready && !overwriting;
    assign m_key_tvalid = state == WRITE;

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= IDLE;
            keyed <= '0;
            in_use <= '0;
            asked <= 1'b0;
            overwriting <= 1'b0;
            in_flight <= '0;
            ahead <= '0;
        end else begin
            in_flight <= in_flight + 8'(began) - 8'(ended);
            if (state == IDLE || state == SETTLE || state == SETTLED)
                ahead <= in_flight + 8'(began) - 8'(ended);
            else if (ended && ahead != '0) ahead <= ahead - 8'd1;

            // By slot, as a vector that is written at an index is made with an adder.
            for (int i = 0; i < 2 ** SLOT_BITS; i = i + 1) begin
                if (begins && set_slot == SLOT_BITS'(i)) begin
                    in_use[i] <= 1'b1;
                    keyed[i]  <= 1'b0;
                end else if (set && !set_use && set_slot == SLOT_BITS'(i)) begin
                    in_use[i] <= 1'b0;
                end
                if (takes && s_key_slot == SLOT_BITS'(i)) begin
                    // What is set in this very clock is for the key before.
                    in_use[i] <= 1'b0;
                    keyed[i]  <= 1'b0;
                end
                if (loaded && m_key_slot == SLOT_BITS'(i)) keyed[i] <= 1'b1;
            end
            if (zeroize && state != IDLE) asked <= 1'b1;
            case (state)
                IDLE: begin
                    if (overwrite) begin
                        state <= SETTLE;
                        asked <= 1'b0;
                        overwriting <= 1'b1;
                        keyed <= '0;
                    end else if (takes) begin
                        state <= SETTLE;
                    end
                end
                SETTLE: state <= SETTLED;
                SETTLED: state <= WAIT;
                WAIT: if (ahead == '0) state <= WRITE;
                WRITE:
                if (m_key_tready && last_slot) begin
                    if (overwriting) state <= DRAIN;
                    else state <= IDLE;
                end
                DRAIN:
                if (m_key_tready) begin
                    state <= IDLE;
                    overwriting <= 1'b0;
                end
                default: state <= IDLE;
            endcase
            if (overwrite) in_use <= '0;
        end
        if (state == IDLE) begin
            last_slot <= !overwrite;
            m_key_slot <= overwrite ? '0 : s_key_slot;
            m_key_key  <= overwrite ? '0 : s_key_key;
        end else if (state == WRITE && m_key_tready) begin
            // The key does not stay here either.
            m_key_key  <= '0;
            m_key_slot <= m_key_slot + 1'b1;
            last_slot <= &m_key_slot[SLOT_BITS-1:1] && !m_key_slot[0];
        end
    end

endmodule
