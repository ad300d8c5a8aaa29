// Properties of ocb_collect: every message beat outputs one beat, cut to its bytes. Every packet's last beat
// outputs one finish two clocks later, with its flags, the sum of the packet's AD, and the padded sum of its
// message. There are no other outputs, and packets do not mix.
module ocb_collect_properties (
    input logic clk,
    input logic rst,
    input logic in_valid,
    input logic [511:0] lane_blocks,
    input logic [511:0] post,
    input logic [127:0] in_tag,
    input logic [127:0] in_ad,
    input logic [127:0] in_checksum,
    input logic [6:0] in_bytes,
    input logic [1:0] in_kind,
    input logic in_first,
    input logic in_part_last,
    input logic in_start,
    input logic in_final,
    input logic in_open,
    input logic in_error
);
    localparam logic [1:0] MESSAGE = 2'd0;
    localparam logic [1:0] AD = 2'd1;

    logic beat_valid, beat_last, beat_open, beat_error, finish_valid, finish_open, finish_error;
    logic [511:0] beat_data;
    logic [6:0] beat_bytes;
    logic [127:0] finish_hash, finish_input;

    logic [3:0] in_blocks, in_partial;
    always_comb begin
        for (int i = 0; i < 4; i = i + 1) begin
            in_blocks[i]  = in_bytes > 7'(16 * i);
            in_partial[i] = in_bytes / 16 == 7'(i) && in_bytes % 16 != '0;
        end
    end

    engine_pkg::beat_t in_beat;
    engine_pkg::result_t result;
    assign in_beat = {
        in_open, in_final, in_start, in_part_last, in_first, in_kind, in_blocks, in_partial, in_bytes
    };
    assign {beat_last, beat_open, beat_error, beat_bytes, beat_data} = result;

    ocb_collect collect (
        .clk,
        .rst,
        .in_valid,
        .in_beat,
        .in_error,
        .lane_blocks,
        .post,
        .in_ad,
        .in_checksum,
        .in_tag,
        .result_valid(beat_valid),
        .result,
        .finish_valid,
        .finish_hash,
        .finish_input,
        .finish_open,
        .finish_error
    );

    // ---- The packet so far, including the current beat.

    logic begun = 1'b0;
    logic under_way = 1'b0;  // a packet has begun and not ended
    logic has_message = 1'b0;  // the packet has had a message beat
    logic [127:0] hash, hash_next, sum, sum_next;
    logic [511:0] data;
    logic message, final_beat;
    assign message = in_valid && in_kind == MESSAGE;
    assign final_beat = in_valid && in_final;

    always_comb begin
        hash_next = in_start ? '0 : hash;
        if (in_kind == AD) hash_next = hash_next ^ in_ad;
        sum_next = in_start ? '0 : sum;
        data = '0;
        for (int i = 0; i < 64; i = i + 1) begin
            if (i < in_bytes) begin
                data[128*(i/16)+8*(15-i%16)+:8] =
                    lane_blocks[128*(i/16)+8*(15-i%16)+:8] ^ post[128*(i/16)+8*(15-i%16)+:8];
            end
            if (message) begin
                sum_next[8*(15-i%16)+:8] = sum_next[8*(15-i%16)+:8] ^ data[128*(i/16)+8*(15-i%16)+:8];
                if (i == in_bytes && i % 16 != 0) sum_next[8*(15-i%16)+7] = !sum_next[8*(15-i%16)+7];
            end
        end
    end

    // Sums of the module as of the next clock.
    logic [127:0] next_hash, next_sum;
    always_comb begin
        next_hash = collect.hash;
        next_sum  = collect.checksum;
        if (collect.valid_1) begin
            next_hash = (collect.start_1 ? '0 : collect.hash) ^ (collect.kind_1 == AD ? collect.ad_1 : '0);
            if (collect.kind_1 == MESSAGE) next_sum = collect.checksum_next;
            else if (collect.start_1) next_sum = '0;
        end
    end

    // ---- Expected outputs, one and two clocks later.

    logic message_1 = 1'b0, final_1 = 1'b0, final_2 = 1'b0, known_1 = 1'b0, known_2 = 1'b0;
    logic [511:0] data_1;
    logic [9:0] flags_1;
    logic [1:0] ends_1, ends_2;  // open and error of the last beat
    logic [127:0] hash_2, sum_2;
    logic [127:0] tag_1, tag_2, base_1, base_2;

    always_ff @(posedge clk) begin
        begun <= 1'b1;
        if (in_valid) begin
            hash <= hash_next;
            sum  <= sum_next;
        end
        hash_2 <= hash;
        sum_2 <= sum;
        data_1 <= data;
        flags_1 <= {in_bytes, in_part_last, in_open, in_error};
        ends_1 <= {in_open, in_error};
        ends_2 <= ends_1;
        tag_1 <= in_tag;
        tag_2 <= tag_1;
        base_1 <= in_checksum;
        base_2 <= base_1;
        if (rst) begin
            under_way <= 1'b0;
            has_message <= 1'b0;
            message_1 <= 1'b0;
            final_1 <= 1'b0;
            final_2 <= 1'b0;
            known_1 <= 1'b0;
            known_2 <= 1'b0;
        end else begin
            if (in_valid) under_way <= !in_final;
            if (in_valid) has_message <= (has_message || message) && !in_final;
            message_1 <= message;
            final_1 <= final_beat;
            final_2 <= final_1;
            known_1 <= known_1 || in_valid;
            known_2 <= known_1;
        end
    end

    always_comb begin
        if (!begun) assume (rst);
        if (in_valid) begin
            assume (in_start == !under_way);
            assume (in_bytes <= 7'd64);
            // Order of a packet: AD, message, other beats.
            if (in_kind == MESSAGE) assume (in_first == !has_message);
            if (in_kind == AD) assume (!has_message);
            if (in_kind != MESSAGE && in_kind != AD) assume (in_final);
        end
        if (begun && !rst) begin
            assert (beat_valid == message_1);
            if (beat_valid) assert (beat_data == data_1);
            if (beat_valid) assert ({beat_bytes, beat_last, beat_open, beat_error} == flags_1);
            assert (finish_valid == final_2);
            if (finish_valid) begin
                assert ({finish_open, finish_error} == ends_2);
                assert (finish_hash == (hash_2 ^ tag_2));
                assert (finish_input == (base_2 ^ (finish_open ? sum_2 : '0)));
            end
            if (under_way && !has_message) assert (sum == '0);
            // Inductive invariants: the sums of the module are one clock late.
            assert (collect.valid_1 || (!message_1 && !final_1));
            assert (!collect.valid_1 || known_1);
            assert (!under_way || known_1);
            assert (!has_message || under_way);
            if (known_2) assert (collect.hash == hash_2 && collect.checksum == sum_2);
            if (known_1) assert (next_hash == hash && next_sum == sum);
            cover (finish_valid && finish_open && !finish_error && tag_2 != '0 && sum_2 != '0 &&
                    hash_2 != '0);
            cover (finish_valid && beat_valid && final_1);
        end
    end
endmodule
