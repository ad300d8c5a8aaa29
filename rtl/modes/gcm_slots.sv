// Key slots of GCM: the key of each slot, and the loading of its hash key H = E(0) (NIST SP 800-38D, section 7.1),
// whose powers are in `ghash`. One slot is loaded at a time.
//
//   s_key_*                    a key for a slot. s_key_tready is low while a slot is loading. A key for a slot that
//                              does not exist is discarded. key_take: the handshake, for s_key_slot.
//   loaded                     slots that have a key, from the clock after the handshake. rst clears it but does not
//                              erase the keys.
//   loading, loading_slot      this slot's H or its powers are not complete
//   call, called               requests E(0) under the key of loading_slot; the pipe accepts the call
//   answer_valid               E(0) leaves the pipe, to `ghash`
//   powers_made                load_ready of `ghash`
//   encrypt_slot, encrypt_key  reads the key of a slot, combinational
module gcm_slots #(
    parameter int SLOTS = 16
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             s_key_tvalid,
    output logic             s_key_tready,
    input  logic [      3:0] s_key_slot,
    input  logic [    127:0] s_key_key,
    output logic             key_take,
    output logic [SLOTS-1:0] loaded,
    output logic             loading,
    output logic [      3:0] loading_slot,
    output logic             call,
    input  logic             called,
    input  logic             answer_valid,
    input  logic             powers_made,
    input  logic [      3:0] encrypt_slot,
    output logic [    127:0] encrypt_key
);

    localparam logic [4:0] NUMBER = 5'(SLOTS);
    localparam int ADDRESS = SLOTS > 1 ? $clog2(SLOTS) : 1;

    logic answer_left;  // H is still to be computed

    assign s_key_tready = !loading;
    assign key_take = s_key_tvalid && s_key_tready && {1'b0, s_key_slot} < NUMBER;
    assign loading = answer_left || !powers_made;

    ram_lut #(
        .WIDTH(128),
        .DEPTH(1 << ADDRESS)
    ) keys (
        .clk,
        .write(key_take),
        .write_at(ADDRESS'(s_key_slot)),
        .write_data(bytes_pkg::swap128(s_key_key)),
        .read_at(ADDRESS'(encrypt_slot)),
        .read_data(encrypt_key),
        .check(1'b0),
        .parity_error()
    );

    always_ff @(posedge clk) begin
        if (key_take) loading_slot <= s_key_slot;
        if (rst) begin
            loaded <= '0;
            call <= 1'b0;
            answer_left <= 1'b0;
        end else begin
            if (key_take) loaded <= loaded | SLOTS'(16'd1 << s_key_slot);
            call <= key_take || (call && !called);
            answer_left <= key_take || (answer_left && !answer_valid);
        end
    end

endmodule
