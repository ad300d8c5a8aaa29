// What a received frame says of itself, and whose it is (IEEE 802.1AE-2018, 9.3 to 9.12): three stages, which move together.
//
//   s_frame_*    a frame, without 802.1Q tag: its bytes, its source address and SecTAG (bytes 6 to 27), and what travels
//                with it; taken in every other clock in which the stages move
//   move         the stages move
//   set_channel  see macsec_receive
//   m_*          the frame; found: it has a channel
module receive_parse
    import macsec_pkg::*;
#(
    parameter int CHANNELS = 4,
    parameter int SIDE = 8,
    parameter int CHANNEL_BITS = $clog2(CHANNELS)
) (
    input logic clk,
    input logic rst,
    input logic move,

    input  logic            s_frame_valid,
    output logic            s_frame_ready,
    input  logic [    15:0] s_frame_bytes,
    input  logic [   175:0] s_frame_head,
    input  logic [SIDE-1:0] s_frame_side,

    input logic                    set_channel,
    input logic [CHANNEL_BITS-1:0] set_number,
    input logic                    set_use,
    input logic                    set_no_sci,
    input logic [            63:0] set_sci,

    output logic                    m_valid,
    output parsed_t                 m_parsed,
    output logic [        SIDE-1:0] m_side,
    output logic                    m_found,
    output logic [CHANNEL_BITS-1:0] m_channel
);

    logic admitted;  // in the clock before
    assign s_frame_ready = move && !admitted;
    always_ff @(posedge clk) begin
        if (rst) admitted <= 1'b0;
        else if (move) admitted <= s_frame_valid && s_frame_ready;
    end

    // ---- 1: what the SecTAG says ----

    localparam int SHORTEST_FRAME_BYTES = 60;  // to which a MAC fills shorter ones
    localparam int ICV_BYTES = 16;

    typedef struct packed {
        logic version;
        logic es;
        logic sc;
        logic scb;
        logic e;
        logic c;
        logic [1:0] an;
    } tci_t;

    logic read_valid;
    parsed_t read;  // its bytes are not known yet
    logic [SIDE-1:0] read_side;
    tci_t tci;
    logic [15:0] around;  // bytes before and behind the user data
    logic [7:0] short_bytes;
    logic [15:0] room;  // between them
    logic enough;
    logic filled;  // the frame may be longer than it says
    logic names;  // it says whose it is
    logic [63:0] sci;

    assign tci = s_frame_head[71:64];
    assign around = 16'(ICV_BYTES)
        + (tci.sc ? 16'(macsec_pkg::HEADER) : 16'(macsec_pkg::SHORT_HEADER));

    always_ff @(posedge clk) begin
        if (rst) read_valid <= 1'b0;
        else if (move) read_valid <= s_frame_valid && s_frame_ready;
        if (move) begin
            // Version 0; SC excludes ES and SCB; E and C, or neither.
            read.bad_tag <= tci.version || tci.e != tci.c || (tci.sc && (tci.es || tci.scb));
            read.short_tag <= !tci.sc;
            read.clear <= !tci.e;
            read.bytes <= '0;
            read.an <= tci.an;
            read.sent <= macsec_pkg::swap32(s_frame_head[111:80]);
            read_side <= s_frame_side;
            short_bytes <= s_frame_head[79:72];
            room <= s_frame_bytes - around;
            enough <= s_frame_bytes >= around;
            filled <= s_frame_bytes <= 16'(SHORTEST_FRAME_BYTES);
            names <= tci.sc || tci.es || tci.scb;
            if (tci.sc) begin
                sci <= {macsec_pkg::swap32(s_frame_head[143:112]), macsec_pkg::swap32(s_frame_head[175:144])};
            end else begin
                // The source address, and port 1, or 0 of a single copy broadcast.
                sci <= {
                    macsec_pkg::swap32(s_frame_head[31:0]),
                    s_frame_head[39:32],
                    s_frame_head[47:40],
                    15'd0,
                    !tci.scb
                };
            end
        end
    end

    // ---- 2: whether its lengths are right, and whose it is ----

    logic [64*CHANNELS-1:0] scis;
    logic [CHANNELS-1:0] channels;  // in use
    logic [CHANNELS-1:0] implied;  // also for frames that say no SCI
    logic lengths_good;
    logic checked_valid;
    parsed_t checked;
    logic [SIDE-1:0] checked_side;
    logic [CHANNELS-1:0] hits;

    for (genvar i = 0; i < CHANNELS; i = i + 1) begin : g_channel
        logic sets;
        assign sets = set_channel && set_number == CHANNEL_BITS'(i);
        always_ff @(posedge clk) begin
            if (sets) scis[64*i+:64] <= set_sci;
            if (sets) implied[i] <= set_no_sci;
            if (rst) channels[i] <= 1'b0;
            else if (sets) channels[i] <= set_use;
        end
    end

    always_comb begin
        if (!enough) lengths_good = 1'b0;
        else if (short_bytes == '0) lengths_good = room >= 16'(macsec_pkg::SHORT_BYTES);
        else if (short_bytes >= 8'(macsec_pkg::SHORT_BYTES)) lengths_good = 1'b0;
        else lengths_good = room == {8'd0, short_bytes} || (room > {8'd0, short_bytes} && filled);
    end

    always_ff @(posedge clk) begin
        if (rst) checked_valid <= 1'b0;
        else if (move) checked_valid <= read_valid;
        if (move) begin
            checked <= read;
            checked.bad_tag <= read.bad_tag || !lengths_good;
            checked.bytes <= short_bytes == '0 ? room : {8'd0, short_bytes};
            checked_side <= read_side;
            for (int i = 0; i < CHANNELS; i = i + 1) begin
                hits[i] <= channels[i] && (names ? scis[64*i+:64] == sci : implied[i]);
            end
        end
    end

    // ---- 3: the channel ----

    logic [CHANNEL_BITS-1:0] channel;

    always_comb begin
        channel = '0;
        for (int i = 0; i < CHANNELS; i = i + 1) if (hits[i]) channel = CHANNEL_BITS'(i);
    end

    always_ff @(posedge clk) begin
        if (rst) m_valid <= 1'b0;
        else if (move) m_valid <= checked_valid;
        if (move) begin
            m_parsed <= checked;
            m_side <= checked_side;
            m_found <= hits != '0;
            m_channel <= channel;
        end
        // It addresses memories. A reset keeps it out of the shift registers that synthesis makes of delays, whose outputs
        // are slow.
        if (rst) m_parsed.an <= '0;
    end

    logic unused;
    assign unused = ^s_frame_head[63:48];

endmodule
