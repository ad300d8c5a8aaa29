#!/usr/bin/env python3
"""Makes macsec_registers.sv, the table in docs/macsec.md and the driver's header of registers.toml.

usage: registers.py [--check]

--check: change nothing, name what would change.
"""

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

MACSEC = Path(__file__).resolve().parent
MODULE = MACSEC / "macsec_registers.sv"
PAGE = MACSEC.parent / "docs" / "macsec.md"
DRIVER = MACSEC.parent / "driver" / "macsec_registers.h"
BEGIN, END = "<!-- registers:begin -->\n", "<!-- registers:end -->\n"


def registers() -> list[dict]:
    table = tomllib.loads((MACSEC / "registers.toml").read_text())["register"]
    addresses = [register["address"] for register in table]
    assert len(set(addresses)) == len(addresses), "two registers at one address"
    for register in table:
        assert register["address"] % 4 == 0, register["name"]
        assert register["access"] in ("rw", "ro", "pulse"), register["name"]
        bits = [bit for low, width, *_ in register["fields"] for bit in range(low, low + width)]
        assert len(set(bits)) == len(bits) and max(bits) < 32, register["name"]
    return table


def signal(register: dict, field: list) -> str:
    """A field that is the whole register has its name alone."""
    name = field[2]
    return register["name"] if name == "value" else f"{register['name']}_{name}"


def spanned(width: int) -> str:
    return "" if width == 1 else f"[{width - 1}:0] "


def bits(low: int, width: int) -> str:
    return f"[{low}]" if width == 1 else f"[{low + width - 1}:{low}]"


HEAD = """\
// The registers of macsec100g on AXI4-Lite. `registers.py` makes this file of registers.toml: leave it.
//
// A write is taken when its address and its data are both there, and answered in the next clock, as a read
// is. An address without register is answered with SLVERR (2). A write to a register that is only read does
// nothing.
"""


def module(table: list[dict]) -> str:
    address_bits = max(register["address"] for register in table).bit_length()
    ports, resets, writes, reads, pulses = [], [], [], [], []
    for register in table:
        at = f"{address_bits - 2}'h{register['address'] // 4:x}"
        value = []
        for field in sorted(register["fields"]):
            low, width, *_ = field
            name = signal(register, field)
            direction = "input" if register["access"] == "ro" else "output"
            ports.append(f"{direction} logic {spanned(width)}{name}")
            if register["access"] != "ro":
                resets.append(f"{name} <= '0;")
            if register["access"] == "rw":
                parts = [
                    f"if (s_axil_wstrb[{byte}]) {name}{part} <= s_axil_wdata{bits(8 * byte + start, count)};"
                    for byte, start, count, part in bytes_of(low, width)
                ]
                writes.append(f"{at}: begin {' '.join(parts)} end")
            if register["access"] == "pulse":
                pulses.append(f"{name} <= 1'b0;")
                part = f"if (s_axil_wstrb[{low // 8}]) {name} <= s_axil_wdata[{low}];"
                writes.append(f"{at}: begin {part} end")
            if register["access"] != "pulse":
                value.append((low, width, name))
        reads.append(f"{at}: read = {joined(value)};")
    known = sum(1 << register["address"] // 4 for register in table)
    places = 1 << (address_bits - 2)
    port_list = ",\n    ".join(ports)
    write_cases = "\n".join(merged(writes))
    read_cases = "\n".join(reads)
    return f"""\
{HEAD}module macsec_registers (
    input logic clk,
    input logic rst,

    input  logic s_axil_awvalid,
    output logic s_axil_awready,
    input  logic [{address_bits - 1}:0] s_axil_awaddr,
    input  logic s_axil_wvalid,
    output logic s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [3:0] s_axil_wstrb,
    output logic s_axil_bvalid,
    input  logic s_axil_bready,
    output logic [1:0] s_axil_bresp,
    input  logic s_axil_arvalid,
    output logic s_axil_arready,
    input  logic [{address_bits - 1}:0] s_axil_araddr,
    output logic s_axil_rvalid,
    input  logic s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,

    {port_list}
);

    // Addresses that have a register.
    localparam logic [{places - 1}:0] KNOWN = {places}'h{known:x};

    logic write;
    logic [{address_bits - 3}:0] write_at;
    logic [{address_bits - 3}:0] read_at;
    logic [31:0] read;
    logic unused;

    assign write = s_axil_awvalid && s_axil_wvalid && (!s_axil_bvalid || s_axil_bready);
    assign s_axil_awready = write;
    assign s_axil_wready = write;
    assign s_axil_arready = !s_axil_rvalid || s_axil_rready;
    assign write_at = s_axil_awaddr[{address_bits - 1}:2];
    assign read_at = s_axil_araddr[{address_bits - 1}:2];
    assign unused = ^{{s_axil_awaddr[1:0], s_axil_araddr[1:0]}};

    always_ff @(posedge clk) begin
        {" ".join(pulses)}
        if (rst) begin
            s_axil_bvalid <= 1'b0;
            {" ".join(resets)}
        end else begin
            s_axil_bvalid <= write || (s_axil_bvalid && !s_axil_bready);
            if (write) begin
                case (write_at)
                    {write_cases}
                    default: ;
                endcase
            end
        end
        if (write) s_axil_bresp <= KNOWN[write_at] ? 2'd0 : 2'd2;
    end

    always_comb begin
        case (read_at)
            {read_cases}
            default: read = '0;
        endcase
    end

    always_ff @(posedge clk) begin
        if (rst) s_axil_rvalid <= 1'b0;
        else s_axil_rvalid <= s_axil_arvalid || (s_axil_rvalid && !s_axil_rready);
        if (s_axil_arready) begin
            s_axil_rdata <= read;
            s_axil_rresp <= KNOWN[read_at] ? 2'd0 : 2'd2;
        end
    end

endmodule
"""


def bytes_of(low: int, width: int) -> list[tuple[int, int, int, str]]:
    """A field's parts by byte lanes: the lane, the first bit and the bits there, which bits of the field."""
    parts = []
    for byte in range(4):
        start, end = max(low, 8 * byte), min(low + width, 8 * byte + 8)
        if start < end:
            part = "" if width == 1 else f"[{end - low - 1}:{start - low}]"
            parts.append((byte, start - 8 * byte, end - start, part))
    return parts


def merged(writes: list[str]) -> list[str]:
    """One case for each register, whatever fields it has."""
    cases: dict[str, list[str]] = {}
    for write in writes:
        at, _, body = write.partition(": begin ")
        cases.setdefault(at, []).append(body.removesuffix(" end"))
    return [f"{at}: begin {' '.join(bodies)} end" for at, bodies in cases.items()]


def joined(value: list[tuple[int, int, str]]) -> str:
    """The 32 bits that a register reads as."""
    if not value:
        return "'0"
    parts, at = [], 0
    for low, width, name in value:
        if low > at:
            parts.append(f"{low - at}'d0")
        parts.append(name)
        at = low + width
    if at < 32:
        parts.append(f"{32 - at}'d0")
    return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"


def formatted(text: str) -> str:
    """The text in the format of rtl/format.py."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registers.sv"
        path.write_text(text)
        command = [sys.executable, MACSEC.parent / "format.py", path]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return path.read_text()


def driver(table: list[dict]) -> str:
    """Addresses, and for parts of a register their first bit and mask, as C macros."""
    lines = []
    for register in table:
        name = f"MACSEC_{register['name'].upper()}"
        lines.append(f"#define {name} 0x{register['address']:02x}u")
        for low, width, field, _ in register["fields"]:
            if field == "value" or width == 32:
                continue
            lines.append(f"#define {name}_{field.upper()}_SHIFT {low}")
            lines.append(f"#define {name}_{field.upper()} 0x{(1 << width) - 1 << low:x}u")
    defines = "\n".join(lines)
    return f"""\
/* The registers of macsec100g: addresses, and the masks of fields with their first bits.
 * `registers.py` makes this file of registers.toml: leave it. */
#ifndef SEALCOMB_MACSEC_REGISTERS_H
#define SEALCOMB_MACSEC_REGISTERS_H

{defines}

#endif
"""


def page(table: list[dict]) -> str:
    rows = ["| address | register | access | bits | |", "|---|---|---|---|---|"]
    for register in table:
        for low, width, name, meaning in register["fields"]:
            shown = str(low) if width == 1 else f"{low + width - 1}:{low}"
            field = register["name"] if name == "value" else f"{register['name']}.{name}"
            rows.append(
                f"| {register['address']:#04x} | `{field}` | {register['access']} | {shown} | {meaning} |"
            )
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return before + BEGIN + "\n".join(rows) + "\n" + END + rest.partition(END)[2]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    table = registers()
    failed = 0
    for path, text in (
        (MODULE, formatted(module(table))),
        (PAGE, page(table)),
        (DRIVER, driver(table)),
    ):
        if path.exists() and path.read_text() == text:
            continue
        print(path)
        if arguments.check:
            failed += 1
        else:
            path.write_text(text)
    return failed


if __name__ == "__main__":
    sys.exit(main())
