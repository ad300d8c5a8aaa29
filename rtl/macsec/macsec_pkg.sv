// What the parts of macsec100g know of IEEE 802.1AE-2018, clause 9. Byte 0, the first on the wire, is in bits 7:0.
package macsec_pkg;

    localparam logic [15:0] ETHER_TYPE = 16'he588;  // 88-E5, its first byte lowest

    // An 802.1Q tag's first two bytes: of a customer, of a provider.
    localparam logic [15:0] CUSTOMER_TAG = 16'h0081;
    localparam logic [15:0] PROVIDER_TAG = 16'ha888;

    localparam int SHORT_BYTES = 48;  // user data that are shorter have their length in the SecTAG
    localparam int HEADER = 28;  // bytes of the addresses and the SecTAG
    localparam int SHORT_HEADER = 20;  // without SCI

    // One beat of a frame.
    typedef struct packed {
        logic last;
        logic [63:0] keep;
        logic [511:0] data;
    } beat_t;

    // An 802.1Q tag that stays before the SecTAG, and whether there is one.
    typedef struct packed {
        logic present;
        logic [31:0] tag;
    } vlan_t;

    // How many bytes of user data stay unencrypted after the SecTAG, as a register has it.
    typedef enum logic [1:0] {
        OFFSET_0 = 2'd0,
        OFFSET_30 = 2'd1,
        OFFSET_50 = 2'd2
    } offset_t;

    // validateFrames (10.7.8).
    typedef enum logic [1:0] {
        STRICT   = 2'd0,
        CHECK    = 2'd1,
        DISABLED = 2'd2
    } validate_t;

    // What a port does with all its frames.
    typedef struct packed {
        logic vlan_clear;  // an 802.1Q tag stays before the SecTAG
        logic late_passes;  // replayProtect is false
        logic [1:0] validate;
    } port_t;

    // The beats of additional data and user data that a feed gives its engine: one, a second one of additional data or
    // none, and the rest (body_beats).
    typedef struct packed {
        logic [5:0] last_bytes;  // of the last beat, modulo 64
        logic [9:0] more;  // beats of the rest, without its first
        logic none;  // the rest has no beat
        logic one;  // it has one
        logic two;  // it has two
        logic second;  // there is a second beat of additional data
        logic spills;  // the last beat, too, has bytes of another beat of the frame
    } plan_t;

    // A frame to send, as it is given from transmit_judge to transmit_feed.
    typedef struct packed {
        logic drop;
        logic no_sci;
        logic plain;  // no user data are encrypted: without encryption, or no more of them than the offset
        logic [1:0] offset;
        logic [15:0] bytes;  // of user data
        plan_t plan;
        logic [127:0] tag;  // SecTAG
    } transmit_job_t;

    // What receive_parse finds in a frame.
    typedef struct packed {
        logic bad_tag;
        logic short_tag;  // without SCI
        logic clear;  // E = C = 0
        logic [15:0] bytes;  // of user data
        logic [1:0] an;
        logic [31:0] sent;  // of the packet number
    } parsed_t;

    // What receive_release has to know of a frame.
    typedef struct packed {
        logic known;  // it has an association
        logic opens;  // the engine opens it, otherwise it is not validated
        logic lenient;  // it leaves even if its ICV is wrong
        logic late_passes;
        logic clear;
        logic [15:0] bytes;
        logic [63:0] pn;
        logic [63:0] raised;  // the lowest number behind it
    } verdict_job_t;

    // How a received frame ends, by the counters of 10.7.9.
    typedef struct packed {
        logic known;
        logic clear;
        logic [15:0] bytes;
        logic good;  // its ICV is right, and it leaves: InPktsOK unless it is delayed
        logic not_valid;
        logic late;
        logic unchecked;
        logic invalid;
        logic delayed;
    } result_t;

    // A received frame, as it is given from receive_judge to receive_feed.
    typedef struct packed {
        logic drop;
        logic short_tag;
        logic plain;
        logic [1:0] offset;
        logic tail;  // the ICV has bytes of one more beat of the frame
        plan_t plan;
        verdict_job_t verdict;
    } receive_job_t;

    // Counters of macsec100g, and the events that they count: in the same order.
    typedef struct packed {
        logic out_no_sa;
        logic out_no_pn;
        logic out_too_long;
        logic out_key_refused;
        logic in_untagged;
        logic in_bad_tag;
        logic in_no_sci;
        logic in_no_sa;
        logic in_unknown_sci;
        logic in_unused_sa;
        logic in_overrun;
        logic in_key_refused;
    } events_t;
    typedef struct packed {
        logic [31:0] out_no_sa;
        logic [31:0] out_no_pn;
        logic [31:0] out_too_long;
        logic [31:0] out_key_refused;
        logic [31:0] in_untagged;
        logic [31:0] in_bad_tag;
        logic [31:0] in_no_sci;
        logic [31:0] in_no_sa;
        logic [31:0] in_unknown_sci;
        logic [31:0] in_unused_sa;
        logic [31:0] in_overrun;
        logic [31:0] in_key_refused;
    } counts_t;

    // What an association's `read` gives. Sending associations have the first three.
    typedef struct packed {
        logic [63:0] pn;
        logic [63:0] frames;
        logic [63:0] octets;
        logic [63:0] validated;
        logic [63:0] not_valid;
        logic [63:0] late;
        logic [63:0] unchecked;
        logic [63:0] invalid;
        logic [63:0] delayed;
    } readings_t;

    // The bytes of a number, highest first, as they go over the wire.
    function automatic logic [31:0] swap32(input logic [31:0] x);
        swap32 = {x[7:0], x[15:8], x[23:16], x[31:24]};
    endfunction

    // The bytes of a nonce: `base` is given as it is written, first byte highest.
    function automatic logic [95:0] swap96(input logic [95:0] x);
        for (int i = 0; i < 12; i = i + 1) swap96[8*i+:8] = x[8*(11-i)+:8];
    endfunction

    // Bytes of the offset.
    function automatic logic [5:0] bytes_of_offset(input logic [1:0] offset);
        bytes_of_offset = offset == OFFSET_50 ? 6'd50 : offset == OFFSET_30 ? 6'd30 : 6'd0;
    endfunction

    // Bytes of addresses, SecTAG and offset.
    function automatic logic [6:0] bytes_before(input logic short_tag, input logic [1:0] offset);
        bytes_before = (short_tag ? 7'(SHORT_HEADER) : 7'(HEADER)) + {1'b0, bytes_of_offset(offset)};
    endfunction

    // How many bytes a beat has. Its tkeep is contiguous, so bit k of their number is the parity of those bits of tkeep
    // that stand before a multiple of 2^k: three LUTs deep, where counting one after the other takes eight.
    function automatic logic [6:0] kept_bytes(input logic [63:0] keep);
        kept_bytes = '0;
        for (int i = 0; i < 64; i = i + 1) begin
            for (int k = 0; k < 7; k = k + 1) begin
                if ((i + 1) % (1 << k) == 0) kept_bytes[k] = kept_bytes[k] ^ keep[i];
            end
        end
    endfunction

    // A tkeep of so many bytes: eights and ones apart, for a chain of comparisons would be slow.
    function automatic logic [63:0] keep_of(input logic [6:0] bytes);
        for (int i = 0; i < 64; i = i + 1) begin
            keep_of[i] = 4'(i / 8) < bytes[6:3] || (4'(i / 8) == bytes[6:3] && 3'(i % 8) < bytes[2:0]);
        end
    endfunction

endpackage
