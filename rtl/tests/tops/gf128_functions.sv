// Ports for testing the functions of gf128_pkg.
module gf128_functions (
    input  logic [127:0] in,
    output logic [127:0] double_be,
    output logic [127:0] halve_be,
    output logic [127:0] triple_be,
    output logic [127:0] septuple_be,
    output logic [127:0] double_le_bytes
);
    assign double_be = gf128_pkg::double_be(in);
    assign halve_be = gf128_pkg::halve_be(in);
    assign triple_be = gf128_pkg::triple_be(in);
    assign septuple_be = gf128_pkg::septuple_be(in);
    assign double_le_bytes = gf128_pkg::double_le_bytes(in);
endmodule
