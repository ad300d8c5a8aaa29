// What gcm512_keys and ocb512_keys have in common: the packets of a symbolic slot are counted at the engine's own ports,
// and compared with what happens to the slot's key.
module engine_keys_checks (
    input logic clk,
    input logic rst,
    input logic taken,  // a key
    input logic taken_slot,
    input logic refused,
    input logic written,
    input logic written_slot,
    input logic begins,  // a packet, with its command
    input logic begins_slot,
    input logic finishes,  // a packet has used its key for the last time
    input logic finishes_slot,
    input logic [1:0] loaded,
    input logic several,  // a beat of a packet of the followed slot, not its last one, is in the engine
    input logic followed
);
    logic begun = 1'b0;
    logic followed_before;
    logic [5:0] flight = '0;  // packets of the followed slot in the engine
    logic [5:0] flight_now;  // with the one whose command is taken in this clock
    logic [1:0] taken_before = '0;  // a key for this slot, one and two clocks ago
    logic [1:0] in_use_before = '0;  // while a packet of it was in the engine
    logic begins_followed;
    logic finishes_followed;

    assign begins_followed = begins && begins_slot == followed;
    assign finishes_followed = finishes && finishes_slot == followed;
    assign flight_now = flight + 6'(begins_followed);

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        followed_before <= followed;
        flight <= rst ? '0 : flight_now - 6'(finishes_followed);
        taken_before <= rst ? '0 : {taken_before[0], taken && taken_slot == followed};
        in_use_before <= {in_use_before[0], flight_now != '0};
    end

    always_comb begin
        if (!begun) assume (rst);
        if (begun) assume (followed == followed_before && !rst);
        if (begun && !rst) begin
            if (finishes_followed) assert (flight != '0);
            if (written && written_slot == followed) assert (flight == '0);
            // A key that came while a packet was in the engine, and still is.
            if (taken_before[1] && in_use_before[1] && flight != '0) assert (refused);
            if (refused && written_slot == followed) assert (taken_before[1]);
            cover (several && loaded[followed] && taken_before[1] && refused);
        end
    end
endmodule
