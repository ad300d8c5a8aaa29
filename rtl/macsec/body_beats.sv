// Counts the beats that a frame gives the engine: the header, then the user data. The header's length shifts the user
// data, so the last beat of user data may lie entirely in the beat of the frame that came before.
//
//   job_bytes   bytes of user data, modulo 64
//   job_more    beats of user data after the first
//   job_none    the frame has no beat after the header
//   job_one     the frame has one beat of user data
//   job_two     the frame has two beats of user data
//   job_long    the last beat of user data, too, has bytes of another beat of the frame
//   gives       the header or a beat of user data is taken in this clock
//   in_body     the next beat is one of user data
//   last        the next beat is the last one of user data
//   last_keep   tkeep of the last beat of user data, valid from the second clock of the frame
//   needs_beat  the next beat of user data has bytes of another beat of the frame
module body_beats (
    input logic clk,
    input logic rst,

    input logic [ 5:0] job_bytes,
    input logic [ 9:0] job_more,
    input logic        job_none,
    input logic        job_one,
    input logic        job_two,
    input logic        job_long,

    input  logic        gives,
    output logic        in_body,
    output logic        last,
    output logic [63:0] last_keep,
    output logic        needs_beat
);

    logic [9:0] more;  // beats of user data after the next one
    logic one;  // the next beat of user data is the last
    logic two;  // the next beat of user data is the last but one
    assign last = in_body ? one : job_none;

    always_ff @(posedge clk) begin
        if (rst) in_body <= 1'b0;
        else if (gives) in_body <= !last;
        if (gives) begin
            more <= in_body ? more - 10'd1 : job_more;
            one <= in_body ? two : job_one;
            two <= in_body ? more == 10'd2 : job_two;
            needs_beat <= job_long || !(in_body ? two : job_one);
        end
        last_keep <= macsec_pkg::keep_of({job_bytes == '0, job_bytes});
    end

endmodule
