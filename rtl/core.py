#!/usr/bin/env python3
"""Writes sealcomb.core, for FuseSoC, from the file lists and the tops' parameters.

usage: core.py [--check]

--check  change nothing; fail where the file is not what it would be
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

RTL = Path(__file__).resolve().parent
CORE = RTL / "sealcomb.core"
TOPS = {
    "gcm": "GCM with AES-128, 128 bits a clock",
    "ocb3": "OCB3 with AES-128, 128 bits a clock",
    "elmd": "ELmD with AES-128, 128 bits a clock",
    "copa": "COPA with AES-128, 128 bits a clock",
    "eme2": "EME2 with AES-128, 128 bits a clock",
    "gcm512_aes": "GCM with AES-128, 512 bits a clock",
    "gcm512_serpent": "GCM with Serpent, 512 bits a clock",
    "ocb512_aes": "OCB3 with AES-128, 512 bits a clock",
    "ocb512_serpent": "OCB3 with Serpent, 512 bits a clock",
    "macsec100g": "MACsec beside a 100G MAC, 512 bits a clock",
    "packet_release": "holds a packet back until its verdict",
}
# Parameters that follow from others.
DERIVED = ("SLOT_BITS", "KEY_BITS")


def files(top: str) -> list[str]:
    return (RTL / "filelists" / f"{top}.f").read_text().split()


def parameters(top: str) -> dict[str, int]:
    """The module's parameters and their defaults, those that are numbers."""
    source = next(RTL / file for file in files(top) if Path(file).stem == top).read_text()
    ports = source[: source.index(") (")]
    found = re.findall(r"parameter int (\w+) = (\d+)\b", ports)
    return {name: int(default) for name, default in found if name not in DERIVED}


def text() -> str:
    version = tomllib.loads((RTL.parent / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    listed = list(dict.fromkeys(file for top in TOPS for file in files(top)))
    packages = [file for file in listed if file.endswith("_pkg.sv")]
    sets = {"all": packages + [file for file in listed if file not in packages]}
    sets |= {top: files(top) for top in TOPS}
    lines = [
        "CAPI=2:",
        "# Written by `core.py` from filelists/.",
        f"name: sealcomb:rtl:sealcomb:{version}",
        "description: Authenticated encryption of packets on the wire",
        "",
        "filesets:",
    ]
    for name, members in sets.items():
        lines += [f"  {name}:", "    file_type: systemVerilogSource", "    files:"]
        lines += [f"      - {file}" for file in members]
    lines += ["", "targets:", "  default:", "    filesets: [all]"]
    known = {top: parameters(top) for top in TOPS}
    for top, description in TOPS.items():
        lines += [
            f"  {top}:",
            f"    description: {description}",
            f"    filesets: [{top}]",
            f"    toplevel: {top}",
            f"    parameters: [{', '.join(known[top])}]",
            "    default_tool: verilator",
            "    tools:",
            "      verilator:",
            "        mode: lint-only",
        ]
    # A parameter has no default here: what a user leaves out is the module's.
    lines += ["", "parameters:"]
    for name in sorted({name for values in known.values() for name in values}):
        lines += [f"  {name}:", "    datatype: int", "    paramtype: vlogparam"]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        CORE.write_text(text())
    elif CORE.read_text() != text():
        print("sealcomb.core is not what `rtl/core.py` writes")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
