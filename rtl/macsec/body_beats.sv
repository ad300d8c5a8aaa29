// Counts the beats that a frame gives the engine: the head, a second beat of additional data or none, then the body. What
// is before the body shifts it, so its last beat may lie entirely in the beat of the frame that came before.
//
//   SECOND_NEEDS  the second beat has bytes of another beat of the frame
//
//   plan        of the frame's beats, see macsec_pkg
//   gives       the head, the second beat or one of the body is taken in this clock
//   in_second   the next beat is the second one of additional data
//   in_body     the next beat is one of the body
//   last        the next beat is the last one
//   last_keep   tkeep of the last beat, valid from the second clock of the frame
//   needs_beat  the next beat, if it is not the head, has bytes of another beat of the frame
module body_beats
    import macsec_pkg::*;
#(
    parameter int SECOND_NEEDS = 0
) (
    input logic clk,
    input logic rst,

    input plan_t             plan,

    input  logic        gives,
    output logic        in_second,
    output logic        in_body,
    output logic        last,
    output logic [63:0] last_keep,
    output logic        needs_beat
);

    logic [9:0] more;  // beats of the body after the next one
    logic one;  // the next beat of the body is the last
    logic two;  // the next beat of the body is the last but one
    logic to_second;  // the beat after the next one is the second
    assign to_second = !in_second && !in_body && plan.second;
    assign last = in_body ? one : plan.none && !plan.second;

    always_ff @(posedge clk) begin
        if (rst) begin
            in_second <= 1'b0;
            in_body   <= 1'b0;
        end else if (gives) begin
            in_second <= to_second;
            in_body   <= !last && !to_second;
        end
        if (gives) begin
            more <= in_body ? more - 10'd1 : plan.more;
            one <= in_body ? two : plan.one;
            two <= in_body ? more == 10'd2 : plan.two;
            if (to_second) needs_beat <= SECOND_NEEDS == 1;
            else needs_beat <= plan.spills || !(in_body ? two : plan.one);
        end
        last_keep <= macsec_pkg::keep_of({plan.last_bytes == '0, plan.last_bytes});
    end

endmodule
