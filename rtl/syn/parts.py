#!/usr/bin/env python3
"""Counts the LUTs and registers of cores by instance, from the netlists of the area flow.

usage: parts.py [--write] [--depth LEVELS] [NAME ...]

--write  write the results to results/parts.json
--depth  levels of the hierarchy (default 1)
NAME     tops whose name contains one of these; by default the single-key cores

A flat netlist has no hierarchy. A LUT is attributed to the instance of the net that it drives if that has a
name, and else to the instance of most of its loads.
"""

import argparse
import json
import re
import sys
from collections import Counter
from functools import cache

import flow

SINGLE = ["elmd_single", "elmd66_single", "copa_single", "ocb3_single", "eme2_single"]
OWN = "(its own)"


class Parts:
    """Returns the instance of each net, according to the deepest of its names."""

    def __init__(self, module: dict, depth: int):
        self.cells = module["cells"]
        self.depth = depth
        self.names: dict[int, str] = {}
        for name, net in module["netnames"].items():
            if net.get("hide_name"):
                continue
            for bit in net["bits"]:
                known = self.names.get(bit)
                if known is None or name.count(".") > known.count("."):
                    self.names[bit] = name
        self.readers: dict[int, list[str]] = {}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits if cell["port_directions"][port] == "input" else ():
                    self.readers.setdefault(bit, []).append(name)
        self.instance_of = cache(self.instance_of_net)

    def instance(self, name: str) -> str:
        *instances, _ = re.sub(r"\[\d+\]|[.]?gf128_pkg::.*", "", name).split(".")
        return ".".join(instances[: self.depth]) or OWN

    def outputs(self, cell: dict) -> list[int]:
        return [
            bit
            for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == "output"
            for bit in bits
        ]

    def instance_of_net(self, bit: int) -> str:
        if bit in self.names:
            return self.instance(self.names[bit])
        votes = Counter(
            self.instance_of(output)
            for reader in self.readers.get(bit, ())
            for output in self.outputs(self.cells[reader])[:1]
            if output != bit
        )
        return votes.most_common(1)[0][0] if votes else OWN

    def registers(self) -> Counter:
        return Counter(
            self.instance_of(cell["connections"]["Q"][0])
            for cell in self.cells.values()
            if cell["type"] in flow.FLIP_FLOPS
        )

    def luts(self) -> Counter:
        """Returns LUTs counted as in syn/area.py, including those used as memory."""
        found: Counter = Counter()
        for cell in self.cells.values():
            if number := flow.luts_of(cell["type"]):
                found[self.instance_of(self.outputs(cell)[0])] += number
        return found


def main() -> int:
    sys.setrecursionlimit(100_000)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    results_file = flow.RTL / "results" / "parts.json"
    results = json.loads(results_file.read_text()) if results_file.exists() else {"tops": {}}
    for name, top in flow.tops(arguments.names or SINGLE).items():
        parts = Parts(flow.module_of(flow.synthesize(name, top)), arguments.depth)
        luts, registers = parts.luts(), parts.registers()
        print(f"{name}: {luts.total()} LUTs, {registers.total()} registers")
        for instance, number in luts.most_common():
            print(f"  {number:6} {registers[instance]:6} {instance}", flush=True)
        results["tops"][name] = {
            "lut": dict(luts.most_common()),
            "ff": dict(registers.most_common()),
        }
    if arguments.write:
        results["tool"] = f"yosys {flow.YOSYS}: synth_xilinx -family xc6v"
        results_file.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
