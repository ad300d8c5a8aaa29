// Properties of slot_loader, for an engine that opens:
//   - Loads do not overlap. Each writes the offered key once, requests its constant once until that is
//     granted, and only then its slot counts as loaded. Computing the last round key always ends.
//   - A key is refused, and counted, if and only if packets in the engine use its slot. The slot then stays
//     unchanged: no slot is written or loses its loaded state while a packet in the engine uses it.
//
// One symbolic slot is tracked: `followed`.
module slot_loader_properties (
    input logic clk,
    input logic rst,
    input logic s_key_tvalid,
    input logic [1:0] s_key_slot,
    input logic [127:0] s_key_key,
    input logic begins,
    input logic [1:0] begins_slot,
    input logic ends,
    input logic [1:0] ends_slot,
    input logic make_ack,
    input logic made,
    input logic [1:0] followed
);
    logic s_key_tready, s_key_refused, loading, write_key, write_last, make;
    logic [31:0] s_key_refusals;
    logic [1:0] loading_slot;
    logic [3:0] loaded;
    logic [127:0] key, last;

    slot_loader #(
        .OPEN(1),
        .SLOT_BITS(2)
    ) loader (
        .clk,
        .rst,
        .s_key_tvalid,
        .s_key_tready,
        .s_key_slot,
        .s_key_key,
        .s_key_refused,
        .s_key_refusals,
        .begins,
        .begins_slot,
        .ends,
        .ends_slot,
        .loading,
        .loading_slot,
        .loaded,
        .write_key,
        .key,
        .write_last,
        .last,
        .make,
        .make_ack,
        .made
    );

    // ---- Progress of the load, as seen from outside.

    localparam logic [2:0] NONE = 3'd0;
    localparam logic [2:0] TAKEN = 3'd1;
    localparam logic [2:0] JUDGED = 3'd2;  // refused or written
    localparam logic [2:0] WALKS = 3'd3;
    localparam logic [2:0] ASKS = 3'd4;  // its last round key has been written, too
    localparam logic [2:0] WAITS = 3'd5;  // for the constant, which has been granted

    logic begun = 1'b0;
    logic [2:0] phase = NONE;
    logic [1:0] slot;
    logic [127:0] offered;
    logic usable = 1'b0;  // the newest load of the tracked slot has ended
    logic [7:0] flight = '0;  // packets in the engine that use the tracked slot
    logic began_before = 1'b0;  // one of them began in the previous clock
    logic ended_before = 1'b0;
    logic used_before = 1'b0;  // a packet used the tracked slot in that clock, or until the clock before it
    logic [31:0] refusals = '0;
    logic [7:0] counted;
    logic begins_followed;
    logic ends_followed;
    logic [1:0] followed_before;
    logic take;
    logic walking_before = 1'b0;
    logic [9:0] walk_before;
    assign take = s_key_tvalid && s_key_tready;
    assign begins_followed = begins && begins_slot == followed;
    assign ends_followed = ends && ends_slot == followed;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        followed_before <= followed;
        walking_before <= phase == WALKS && !rst;
        walk_before <= loader.g_aes.g_walk.walk.made;
        began_before <= begins_followed && !rst;
        ended_before <= ends_followed && !rst;
        used_before <= (flight != '0 || ended_before) && !rst;
        if (rst) begin
            phase <= NONE;
            usable <= 1'b0;
            flight <= '0;
            refusals <= '0;
        end else begin
            flight <= flight + 8'(begins_followed) - 8'(ends_followed);
            if (phase == JUDGED && loader.used) refusals <= refusals + 32'd1;
            case (phase)
                NONE: if (take) phase <= TAKEN;
                TAKEN: phase <= JUDGED;
                JUDGED: phase <= loader.used ? NONE : WALKS;
                WALKS: if (write_last) phase <= ASKS;
                ASKS: if (make_ack) phase <= WAITS;
                default: if (made) phase <= NONE;
            endcase
            if (phase == JUDGED && !loader.used && slot == followed) usable <= 1'b0;
            else if (made && slot == followed) usable <= 1'b1;
        end
        if (take) begin
            slot <= s_key_slot;
            for (int i = 0; i < 16; i = i + 1) offered[8*(15-i)+:8] <= s_key_key[8*i+:8];
        end
    end

    always_comb begin
        counted = '0;
        if (!begun) assume (rst);
        if (begun) assume (followed == followed_before);
        if (begun && !rst) begin
            // Environment assumptions: engines grant only requests, and answer each grant once.
            assume (!make_ack || make);
            assume (!made || phase == WAITS);
            // Environment assumption, proved for engine_front: no command is taken for a slot being loaded.
            assume (!begins || !loading || begins_slot != loading_slot);
            assume (!ends_followed || flight != '0);
            assume (flight < 8'd200);

            // A packet counts until the clock after its end.
            if (phase == JUDGED && slot == followed) begin
                assert (loader.used == used_before);
                if (!used_before) assert (flight == '0);
            end
            if (loading && phase > JUDGED && slot == followed) assert (flight == '0);
            assert (s_key_refused == (phase == JUDGED && loader.used));
            assert (s_key_refusals == refusals + 32'(s_key_refused) && loader.refusals == refusals);
            counted = 8'(loader.users.counts >> {followed, 3'd0});
            assert (loader.users.counted[followed] == (counted != '0));
            assert (counted == flight - 8'(began_before) + 8'(ended_before));
            assert (began_before == (loader.users.began && loader.users.began_slot == followed));
            assert (ended_before == (loader.users.ended && loader.users.ended_slot == followed));
            assert (!began_before || flight != '0);
            assert (s_key_tready == (phase == NONE));
            assert (loading == (phase != NONE));
            assert (write_key == (phase == JUDGED && !loader.used));
            assert (!write_last || phase == WALKS);
            assert (make == (phase == ASKS));
            if (loading) assert (loading_slot == slot && key == offered);
            assert (loaded[followed] == usable);
            if (loading && phase > JUDGED) assert (!loaded[loading_slot]);
            // Computing the last round key: in one round at a time, and further than in the previous clock.
            if (phase == WALKS) assert ($onehot({write_last, loader.g_aes.g_walk.walk.made}));
            if (phase == WALKS && walking_before)
                assert (write_last || loader.g_aes.g_walk.walk.made > walk_before);
            // Inductive invariants.
            if (phase != WALKS) assert (!write_last && loader.g_aes.g_walk.walk.made == '0);
            assert (loader.taken == (phase == TAKEN) && loader.asked == (phase == JUDGED) && phase <= WAITS);
            if (loading && phase > JUDGED && slot == followed) assert (!usable);
            cover (s_key_refused && usable && flight != '0);
            cover (usable && loading && slot != followed && phase == WAITS);
        end
    end
endmodule
