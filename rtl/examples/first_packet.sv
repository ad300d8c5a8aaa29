// Example of a first packet: loads a key into gcm, seals the packet of test case 4 of the GCM proposal (McGrew
// and Viega), prints the output, and fails unless it is the known answer. See rtl/README.md for the commands.
module first_packet;
    // First byte first. The 60-byte message is padded to four blocks.
    localparam logic [127:0] KEY = 128'hfeffe9928665731c6d6a8f9467308308;
    localparam logic [127:0] NONCE = {96'hcafebabefacedbaddecaf888, 32'h0};
    localparam logic [255:0] AD = {160'hfeedfacedeadbeeffeedfacedeadbeefabaddad2, 96'h0};
    localparam logic [511:0] MESSAGE = {
        256'hd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72,
        256'h1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b3900000000
    };
    localparam logic [511:0] CIPHERTEXT = {
        256'h42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e,
        256'h21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e09100000000
    };
    localparam logic [127:0] TAG = 128'h5bc94fbc3221a5db94fae95ae7121a47;

    logic clk = 0;
    logic rst = 1;
    always #1 clk = ~clk;

    logic key_valid = 0;
    logic command_valid = 0;
    logic data_valid = 0;
    logic data_last = 0;
    logic [127:0] data = 0;
    logic [15:0] keep = 0;
    logic [1:0] kind = 0;
    logic key_ready, command_ready, data_ready;
    logic out_valid, out_last, out_bad, tag_valid;
    logic [127:0] out_data, tag;
    logic [15:0] out_keep;
    logic [2:0] verdict;

    gcm core (
        .clk,
        .rst,
        .s_key_tvalid(key_valid),
        .s_key_tready(key_ready),
        .s_key_slot(4'd5),
        .s_key_key(bytes_pkg::swap128(KEY)),
        .s_cmd_tvalid(command_valid),
        .s_cmd_tready(command_ready),
        .s_cmd_open(1'b0),
        .s_cmd_slot(4'd5),
        .s_cmd_nonce(bytes_pkg::swap128(NONCE)),
        .s_cmd_ad_bytes(16'd20),
        .s_cmd_message_bytes(16'd60),
        .s_cmd_padded(1'b0),
        .s_axis_tvalid(data_valid),
        .s_axis_tready(data_ready),
        .s_axis_tdata(data),
        .s_axis_tkeep(keep),
        .s_axis_tlast(data_last),
        .s_axis_tuser(kind),
        .m_axis_tvalid(out_valid),
        .m_axis_tready(1'b1),
        .m_axis_tdata(out_data),
        .m_axis_tkeep(out_keep),
        .m_axis_tlast(out_last),
        .m_axis_tuser(out_bad),
        .m_tag_tvalid(tag_valid),
        .m_tag_tready(1'b1),
        .m_tag_tdata(tag),
        .m_tag_tuser(verdict)
    );

    // Sends a beat of `bytes` bytes, the first one in the highest bits of `block`. Signals change at the falling
    // edge, so that a beat for which ready was high then is taken at the rising edge.
    task automatic send(input logic [127:0] block, input integer bytes, input logic [1:0] what,
                        input logic last);
        data_valid = 1;
        data = bytes_pkg::swap128(block);
        keep = 16'hffff >> (16 - bytes);
        kind = what;
        data_last = last;
        #1;
        while (!data_ready) #2;
        #1;
        data_valid = 0;
    endtask

    initial begin
        #6 rst = 0;
        key_valid = 1;
        #1;
        while (!key_ready) #2;
        #1 key_valid = 0;
        command_valid = 1;
        #1;
        while (!command_ready) #2;
        #1 command_valid = 0;
        send(AD[255:128], 16, 2'd1, 0);
        send(AD[127:0], 4, 2'd1, 0);
        send(MESSAGE[511:384], 16, 2'd0, 0);
        send(MESSAGE[383:256], 16, 2'd0, 0);
        send(MESSAGE[255:128], 16, 2'd0, 0);
        send(MESSAGE[127:0], 12, 2'd0, 1);
        #2000 $fatal(1, "no tag received");
    end

    logic [511:0] received = 0;
    logic [511:0] expected;
    assign expected = CIPHERTEXT;

    always @(posedge clk) begin
        if (!rst && out_valid) begin
            $display("clock %3d: ciphertext %h, keep %b", $time / 2, bytes_pkg::swap128(out_data), out_keep);
            received <= {received[383:0], bytes_pkg::swap128(out_data)};
            if (out_bad) $fatal(1, "the packet is marked bad");
        end
        if (!rst && tag_valid) begin
            $display("clock %3d: tag        %h", $time / 2, bytes_pkg::swap128(tag));
            if (received !== expected || bytes_pkg::swap128(tag) !== TAG || verdict !== 0)
                $fatal(1, "ciphertext or tag differs from the known answer");
            $display("matches the known answer");
            $finish;
        end
    end
endmodule
