#!/usr/bin/env python3
# Not tested with ISE: only --netlist has been run, and no result in this repository is from it.
"""Places and routes a top of budgets.toml on a Virtex-6 with ISE.

ISE does not read SystemVerilog, so this uses yosys's netlist.

usage: build.py [--netlist] [--part PART] [--period NS] NAME

--netlist  only write the EDIF netlist and the constraints, which does not require ISE
--part     default xc6vlx240t-ff1759-2, that of the ELmD hardware paper
--period   clock period, default 4.2 ns

Only the clock has a pad; `map -u` keeps logic with unconnected pins. Output goes to target/ise/NAME.
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import flow


def edif(name: str, top: dict, out: Path) -> None:
    netlist = flow.synthesize(name, top)
    lines = [
        f"read_json {netlist}",
        f"hierarchy -purge_lib -top {top['module']}",
        "clkbufmap -buf BUFG O:I -inpad IBUFG O:I",
        f"write_edif -pvector bra {out / name}.edf",
    ]
    flow.run(lines, out / "edif.log")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--netlist", action="store_true")
    parser.add_argument("--part", default="xc6vlx240t-ff1759-2")
    parser.add_argument("--period", type=float, default=4.2)
    parser.add_argument("name", metavar="NAME")
    arguments = parser.parse_args()
    name = arguments.name
    top = flow.tops([name]).get(name)
    if top is None:
        sys.exit(f"no top {name} in budgets.toml")

    out = flow.RTL.parent / "target" / "ise" / name
    out.mkdir(parents=True, exist_ok=True)
    edif(name, top, out)
    (out / f"{name}.ucf").write_text(
        f'NET "clk" TNM_NET = "clk";\nTIMESPEC "TS_clk" = PERIOD "clk" {arguments.period} ns HIGH 50%;\n'
    )
    print(out / f"{name}.edf")
    if arguments.netlist:
        return 0
    for command in (
        f"ngdbuild -p {arguments.part} -uc {name}.ucf {name}.edf {name}.ngd",
        f"map -w -u -p {arguments.part} -ol high -o {name}_map.ncd {name}.ngd {name}.pcf",
        f"par -w -ol high {name}_map.ncd {name}.ncd {name}.pcf",
        f"trce -v 10 {name}.ncd {name}.pcf -o {name}.twr",
    ):
        print(command, flush=True)
        subprocess.run(command.split(), cwd=out, check=True)
    print(f"area: {out / name}_map.mrp, timing: {out / name}.twr")
    return 0


if __name__ == "__main__":
    sys.exit(main())
