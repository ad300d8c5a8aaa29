// slot_loader, of an engine that opens: the loads come one after another, each is written once with the key that was offered,
// asks for its constant once and until that is granted, and only then its slot counts as loaded. The key's walk to the last
// round key always ends.
//
// One slot, any one, is followed: `followed`.
module slot_loader_properties (
    input logic clk,
    input logic rst,
    input logic s_key_tvalid,
    input logic [1:0] s_key_slot,
    input logic [127:0] s_key_key,
    input logic make_ack,
    input logic made,
    input logic [1:0] followed
);
    logic s_key_tready, loading, write_key, write_last, make;
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

    // ---- How far the load is, as seen from outside.

    localparam logic [2:0] NONE = 3'd0;
    localparam logic [2:0] TAKEN = 3'd1;
    localparam logic [2:0] WALKS = 3'd2;  // written
    localparam logic [2:0] ASKS = 3'd3;  // its last round key is written too
    localparam logic [2:0] WAITS = 3'd4;  // for the constant, which was granted

    logic begun = 1'b0;
    logic [2:0] phase = NONE;
    logic [1:0] slot;
    logic [127:0] offered;
    logic usable = 1'b0;  // the followed slot's newest load has ended
    logic [1:0] followed_before;
    logic take;
    logic walking_before = 1'b0;
    logic [9:0] walk_before;
    assign take = s_key_tvalid && s_key_tready;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        followed_before <= followed;
        walking_before <= phase == WALKS && !rst;
        walk_before <= loader.g_aes.g_walk.walk.made;
        if (rst) begin
            phase  <= NONE;
            usable <= 1'b0;
        end else begin
            case (phase)
                NONE: if (take) phase <= TAKEN;
                TAKEN: phase <= WALKS;
                WALKS: if (write_last) phase <= ASKS;
                ASKS: if (make_ack) phase <= WAITS;
                default: if (made) phase <= NONE;
            endcase
            if (take && s_key_slot == followed) usable <= 1'b0;
            else if (made && slot == followed) usable <= 1'b1;
        end
        if (take) begin
            slot <= s_key_slot;
            for (int i = 0; i < 16; i = i + 1) offered[8*(15-i)+:8] <= s_key_key[8*i+:8];
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun) assume (followed == followed_before);
        if (begun && !rst) begin
            // What engines keep to: they grant what is asked, and answer once what they granted.
            assume (!make_ack || make);
            assume (!made || phase == WAITS);

            assert (s_key_tready == (phase == NONE));
            assert (loading == (phase != NONE));
            assert (write_key == (phase == TAKEN));
            assert (!write_last || phase == WALKS);
            assert (make == (phase == ASKS));
            if (loading) assert (loading_slot == slot && key == offered);
            assert (loaded[followed] == usable);
            if (loading) assert (!loaded[loading_slot]);
            // The walk: always at one place, and further than in the clock before.
            if (phase == WALKS) assert ($onehot({write_last, loader.g_aes.g_walk.walk.made}));
            if (phase == WALKS && walking_before)
                assert (write_last || loader.g_aes.g_walk.walk.made > walk_before);
            // For the induction.
            if (phase != WALKS) assert (!write_last && loader.g_aes.g_walk.walk.made == '0);
            if (loading && slot == followed) assert (!usable);
            cover (usable && loading && slot != followed && phase == WAITS);
        end
    end
endmodule
