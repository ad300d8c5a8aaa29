// Packs pieces of 1 to BYTES bytes into beats of BYTES, a power of two:
//
//   residue = residue ‖ piece; while it has BYTES bytes, or is the end of a frame: give its first BYTES
//
// A piece is taken in each clock. A frame's last piece that does not fit leaves a rest, which is given in the next
// clock, while the next frame's first piece is taken if it has fewer than BYTES bytes and is not its last.
//
// What becomes of a piece depends on its length only, and is decided in its first clock. Then it is turned to where the
// residue ends, in two clocks, by many bytes and by few, and laid behind the residue: what turned round the beat's end
// is the next residue. A piece that completes a beat gives it three clocks after it was taken.
//
//   in_bad   with in_last: m_axis_tbad of the frame's last beat
//   in_user  travels with the frame's beats
module byte_packer #(
    parameter int BYTES = 64,
    parameter int USER  = 8
) (
    input logic clk,
    input logic rst,

    input  logic            in_valid,
    output logic            in_ready,
    input  logic [ 8*BYTES-1:0] in_data,   // zero beyond its bytes
    input  logic [$clog2(BYTES):0] in_bytes,
    input  logic            in_last,
    input  logic            in_bad,
    input  logic [USER-1:0] in_user,

    output logic            m_axis_tvalid,
    input  logic            m_axis_tready,
    output logic [ 8*BYTES-1:0] m_axis_tdata,
    output logic [   BYTES-1:0] m_axis_tkeep,
    output logic            m_axis_tlast,
    output logic            m_axis_tbad,
    output logic [USER-1:0] m_axis_tuser
);

    localparam int BITS = $clog2(BYTES);
    localparam int FEW = BITS > 2 ? 2 : 1;  // bits of a turn by few bytes
    localparam logic [BITS:0] FULL = {1'b1, {BITS{1'b0}}};

    // What becomes of a piece.
    typedef struct packed {
        logic rest;  // the residue is given as it is: the piece begins anew
        logic take;  // there is a piece
        logic gives;  // a beat
        logic wraps;  // bytes of the piece are left for the next one
        logic last;  // nothing is left
        logic [BITS-1:0] turn;  // bytes of the residue before it
        logic [BITS:0] bytes;  // of the beat
        logic beat_last;
        logic beat_bad;
        logic [USER-1:0] beat_user;
    } plan_t;

    function automatic logic [BYTES-1:0] first(input logic [BITS:0] bytes);
        for (int i = 0; i < BYTES; i = i + 1) first[i] = (BITS + 1)'(i) < bytes;
    endfunction

    // So many bytes on, and round the end.
    function automatic logic [8*BYTES-1:0] turn(input logic [8*BYTES-1:0] data, input logic [BITS-1:0] bytes);
        turn = data;
        for (int k = 0; k < BITS; k = k + 1) begin
            if (bytes[k]) turn = (turn << (8 << k)) | (turn >> (8 * BYTES - (8 << k)));
        end
    endfunction

    logic move;
    assign move = !m_axis_tvalid || m_axis_tready;

    // ---- First clock: what becomes of it ----

    logic [BITS-1:0] count;  // bytes that will be in the residue
    logic rest;  // which are the end of a frame
    logic rest_bad;
    logic [USER-1:0] rest_user;
    logic take;
    logic full;
    logic fits;
    logic [BITS:0] total;
    plan_t plan;
    plan_t planned;
    logic [8*BYTES-1:0] planned_data;

    assign in_ready = move && (!rest || (!in_last && in_bytes < FULL));
    assign take = in_valid && in_ready;
    assign total = {1'b0, count} + in_bytes;
    assign full = total[BITS];
    assign fits = !full || total[BITS-1:0] == '0;
    assign plan.rest = rest;
    assign plan.take = take;
    assign plan.gives = rest || (take && (in_last || full));
    assign plan.wraps = full;
    assign plan.last = in_last;
    assign plan.turn = rest ? '0 : count;
    assign plan.bytes = rest ? {1'b0, count} : (full ? FULL : total);
    assign plan.beat_last = rest || (in_last && fits);
    assign plan.beat_bad = rest ? rest_bad : in_bad;
    assign plan.beat_user = rest ? rest_user : in_user;

    always_ff @(posedge clk) begin
        if (rst) begin
            count <= '0;
            rest <= 1'b0;
            planned.rest <= 1'b0;
            planned.take <= 1'b0;
            planned.gives <= 1'b0;
        end else if (move) begin
            planned <= plan;
            if (rest) begin
                rest  <= 1'b0;
                count <= take ? in_bytes[BITS-1:0] : '0;
            end else if (take) begin
                rest <= in_last && !fits;
                count <= in_last && fits ? '0 : total[BITS-1:0];
            end
        end
        if (move) planned_data <= in_data;
        if (take && !rest) begin
            rest_bad  <= in_bad;
            rest_user <= in_user;
        end
    end

    // ---- Second clock: turned by many bytes ----

    plan_t turned;
    logic [8*BYTES-1:0] turned_data;
    logic [8*BYTES-1:0] turned_by_many;
    logic [BYTES-1:0] taken;  // the residue's bytes
    logic [BYTES-1:0] keep;

    assign turned_by_many = turn(planned_data, {planned.turn[BITS-1:FEW], {FEW{1'b0}}});

    always_ff @(posedge clk) begin
        if (rst) begin
            turned.rest  <= 1'b0;
            turned.take  <= 1'b0;
            turned.gives <= 1'b0;
        end else if (move) begin
            turned <= planned;
        end
        if (move) begin
            turned_data <= turned_by_many;
            taken <= first({1'b0, planned.turn});
            keep   <= first(planned.bytes);
        end
    end

    // ---- Third clock: turned by few, and laid behind the residue ----

    logic [8*BYTES-1:0] residue;
    logic [8*BYTES-1:0] laid;
    logic [8*BYTES-1:0] joined;
    logic [8*BYTES-1:0] left;

    assign laid = turn(turned_data, {{BITS - FEW{1'b0}}, turned.turn[FEW-1:0]});

    always_comb begin
        for (int i = 0; i < BYTES; i = i + 1) begin
            joined[8*i+:8] = residue[8*i+:8] | (turned.rest || taken[i] ? 8'd0 : laid[8*i+:8]);
            if (turned.rest) left[8*i+:8] = turned.take ? laid[8*i+:8] : 8'd0;
            else if (turned.wraps) left[8*i+:8] = taken[i] ? laid[8*i+:8] : 8'd0;
            else left[8*i+:8] = turned.last ? 8'd0 : joined[8*i+:8];
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            m_axis_tvalid <= 1'b0;
            residue <= '0;
        end else if (move) begin
            m_axis_tvalid <= turned.gives;
            if (turned.rest || turned.take) residue <= left;
        end
        if (move) begin
            m_axis_tdata <= joined;
            m_axis_tkeep <= keep;
            m_axis_tlast <= turned.beat_last;
            m_axis_tbad  <= turned.beat_bad;
            m_axis_tuser <= turned.beat_user;
        end
    end

    logic unused;
    assign unused = ^{turned.turn[BITS-1:FEW], turned.bytes};

endmodule
