#!/usr/bin/env python3
"""Timing model of the cores on a LUT6 fabric. A model, not a measurement: nothing is placed or routed.

usage: timing.py [--check | --write] [--path] [--wire PICOSECONDS] [NAME ...]

--check  fail if a top is slower than in results/timing.json by more than the budgets' tolerance
--write  write the results to results/timing.json
--path   print the critical path
--wire   delay of a routed net, default 300 ps

Finds the longest path between registers in the netlist of the area flow, with the pin delays of yosys's
Xilinx 7-series cell library and a fixed delay for every routed net. MUXF7 and MUXF8 inputs from the same
slice, and carry chains, use no routed net. Inputs come from a register, and outputs go to one.

`static` of a top in budgets.toml is a pattern of net names: registers that do not change while data moves,
such as round keys of a static key. No path starts there. The `parts` of a top are measured separately; the
delay inside a part, up to its registers, is added to the delay outside.

The model ranks designs of one flow. Do not print its MHz next to a paper's without the label "model".
"""

import argparse
import json
import re
import sys
from functools import cache

import flow

LUT = {
    "INV": (127,),
    "LUT1": (127,),
    "LUT2": (238, 127),
    "LUT3": (407, 238, 127),
    "LUT4": (472, 407, 238, 127),
    "LUT5": (631, 472, 407, 238, 127),
    "LUT6": (642, 631, 472, 407, 238, 127),
}
MUX = {"MUXF7": {"I0": 217, "I1": 223, "S": 296}, "MUXF8": {"I0": 104, "I1": 94, "S": 273}}
CLOCK_TO_OUT = 303
SETUP = {"D": 0, "CE": 109, "R": 404, "S": 404}
SHIFT_REGISTER = {"out": 1472, "setup": 173}
LUT_MEMORY = {"out": 1188, "setup": 654, "read": 642}
# Yosys's library has no block RAM delays. These are those of the 7 series without output register.
BLOCK_RAM = {"out": 2454, "setup": 566}
# Carry chain: into, along and out of the chain; the worst of each group of pins.
CARRY = {"operand": 642, "chain": 114}


def setup_of(kind: str) -> dict[str, int] | None:
    """Returns the setup times of a clocked cell, by pin."""
    if kind in flow.FLIP_FLOPS:
        return SETUP
    if kind in flow.RAMB18:
        return {"any": BLOCK_RAM["setup"]}
    if kind.startswith("SRL"):
        return {"any": SHIFT_REGISTER["setup"]}
    if kind.startswith("RAM"):
        return {"any": LUT_MEMORY["setup"]}
    return None


class Netlist:
    def __init__(self, module: dict, top: dict):
        static = top.get("static")
        self.parts = {name: part for name in module["cells"] if (part := flow.part_of(top, name))}
        self.cells = module["cells"]
        self.ports = module["ports"]
        self.driver = {}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    for bit in bits:
                        self.driver[bit] = (name, port)
        self.names = {}
        self.still = set()
        for name, net in module["netnames"].items():
            for i, bit in enumerate(net["bits"]):
                if not net.get("hide_name") or bit not in self.names:
                    self.names[bit] = f"{name}[{i}]"
                if static and re.search(static, name):
                    self.still.add(bit)

    def inputs(self, cell: dict) -> list[tuple[str, object]]:
        return [
            (port, bit)
            for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == "input"
            for bit in bits
            if not isinstance(bit, str)
        ]


NEVER = (float("-inf"), 0, None)


class Timing:
    """Arrival times in picoseconds. With `start`, only of paths from this input, which arrives at 0."""

    def __init__(self, netlist: Netlist, wire: int, start: str | None = None):
        self.netlist = netlist
        self.wire = wire
        self.arrival = cache(self.arrival_of)
        self.start = None if start is None else set(netlist.ports[start]["bits"])

    def out_of_register(self, time: int):
        return (time, 0, None) if self.start is None else NEVER

    def at_pin(self, bit, routed: bool = True):
        """Returns (time, LUT levels, bit) at a pin driven by `bit`."""
        time, levels, _ = self.arrival(bit)
        return (time + (self.wire if routed else 0), levels, bit)

    def launched(self, bit):
        """Returns the arrival time of a `bit` driven by a register, a memory, a part, or an input."""
        name, port = self.netlist.driver.get(bit, (None, None))
        if name is None:
            return self.out_of_register(CLOCK_TO_OUT)
        if name in self.netlist.parts:
            return self.out_of_register(part(self.netlist.parts[name], self.wire)[port])
        kind = self.netlist.cells[name]["type"]
        late = {"RAMB": BLOCK_RAM["out"], "SRL": SHIFT_REGISTER["out"], "RAM": LUT_MEMORY["out"]}
        for family, time in late.items():
            if kind.startswith(family):
                return self.out_of_register(time)
        if kind not in flow.FLIP_FLOPS or bit in self.netlist.still:
            return NEVER
        return self.out_of_register(CLOCK_TO_OUT)

    def arrival_of(self, bit):
        """Returns (time, levels, preceding bit on the longest path) at the driver of `bit`."""
        if self.start is not None and bit in self.start:
            return (0, 0, None)
        best = self.launched(bit)
        name, _ = self.netlist.driver.get(bit, (None, None))
        cell = self.netlist.cells.get(name)
        if cell is None or name in self.netlist.parts:
            return best
        kind = cell["type"]
        if kind in flow.FLIP_FLOPS or kind.startswith(("SRL", "RAMB")):
            return best
        for pin, source in self.netlist.inputs(cell):
            if kind in LUT:
                time, levels, before = self.at_pin(source)
                step = (time + LUT[kind][int(pin[1:] or 0)], levels + 1, before)
            elif kind in MUX:
                time, levels, before = self.at_pin(source, routed=pin == "S")
                step = (time + MUX[kind][pin], levels, before)
            elif kind == "CARRY4":
                time, levels, before = self.at_pin(source, routed=pin not in ("CI", "CYINIT"))
                step = (
                    time + (CARRY["chain"] if pin in ("CI", "CYINIT") else CARRY["operand"]),
                    levels,
                    before,
                )
            elif kind.startswith("RAM"):
                if pin.startswith("WCLK") or pin == "WE" or re.fullmatch(r"D|DI.", pin):
                    continue
                time, levels, before = self.at_pin(source)
                step = (time + LUT_MEMORY["read"], levels + 1, before)
            else:
                sys.exit(f"no delays for cell {kind}")
            best = max(best, step, key=lambda s: s[0])
        return best

    def ends(self):
        """Yields (time, levels, bit) at every register input and every output."""
        for name, cell in self.netlist.cells.items():
            if name in self.netlist.parts:
                inside = part(self.netlist.parts[name], self.wire)
                for pin, source in self.netlist.inputs(cell):
                    time, levels, bit = self.at_pin(source, routed=False)
                    yield (time + inside[pin], levels, bit)
                continue
            setup = setup_of(cell["type"])
            for pin, source in self.netlist.inputs(cell) if setup is not None else ():
                if "CLK" not in pin and pin != "C":
                    time, levels, bit = self.at_pin(source)
                    yield (time + setup.get(pin, setup.get("any", 0)), levels, bit)
        for port in self.netlist.ports.values():
            if port["direction"] == "output":
                for bit in port["bits"]:
                    if not isinstance(bit, str):
                        yield self.at_pin(bit)

    def path(self, bit) -> list[str]:
        lines = []
        while bit is not None:
            time, _, before = self.arrival(bit)
            name = self.netlist.driver.get(bit, ("input", ""))[0]
            kind = self.netlist.cells[name]["type"] if name in self.netlist.cells else "input"
            lines.append(f"    {time:6.0f} ps {kind:8} {self.netlist.names[bit]}")
            bit = before
        return lines[::-1]


@cache
def part(name: str, wire: int) -> dict[str, float]:
    """Returns the times of a part's ports: from each input to a register, and from a register to each
    output."""
    top = flow.tops([name])[name]
    netlist = Netlist(flow.module_of(flow.synthesize(name, top)), top)
    times = {}
    for port, what in netlist.ports.items():
        if what["direction"] == "input":
            times[port] = max(time for time, _, _ in Timing(netlist, wire, port).ends())
        else:
            timing = Timing(netlist, wire)
            times[port] = max(timing.arrival(bit)[0] for bit in what["bits"] if not isinstance(bit, str))
    return times


@cache
def slowest(name: str, wire: int) -> tuple[dict, list[str]]:
    """Returns the longest path of a top, which may be inside one of its parts."""
    top = flow.tops([name])[name]
    timing = Timing(Netlist(flow.module_of(flow.synthesize(name, top)), top), wire)
    time, _, bit = max(timing.ends(), key=lambda end: end[0])
    path = timing.path(bit)
    found = {
        "period_ps": round(time),
        "model_mhz": round(1e6 / time, 1),
        "lut_levels": sum(" LUT" in line or " INV" in line for line in path),
    }
    if flow.parts(top):
        around = {"around_mhz": found["model_mhz"], "slowest": "surrounding logic"}
        for inner in dict.fromkeys(timing.netlist.parts.values()):
            inside, inside_path = slowest(inner, wire)
            if inside["period_ps"] > found["period_ps"]:
                found, path, around["slowest"] = inside, inside_path, inner
        found = found | around
    return found, path


def main() -> int:
    sys.setrecursionlimit(100_000)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    parser.add_argument("--path", action="store_true")
    parser.add_argument("--wire", type=int, default=300)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()

    results_file = flow.RTL / "results" / "timing.json"
    print(f"model, W = {arguments.wire} ps, not place and route")
    print(f"{'top':32} {'levels':>6} {'ps':>6} {'MHz':>6}")
    known = json.loads(results_file.read_text())["tops"] if results_file.exists() else {}
    tolerance = flow.tomllib.loads(flow.BUDGETS.read_text())["tolerance"]
    messages = []
    for name in flow.tops(arguments.names):
        if arguments.check and name not in known:
            continue
        found, path = slowest(name, arguments.wire)
        print(
            f"{name:32} {found['lut_levels']:6} {found['period_ps']:6} {found['model_mhz']:6.0f}", flush=True
        )
        if arguments.check and found["period_ps"] > (1 + tolerance) * known[name]["period_ps"]:
            messages.append(f"{name}: {found['model_mhz']} MHz, previously {known[name]['model_mhz']}")
        if arguments.path:
            print("\n".join(path))
        if arguments.write:
            results = json.loads(results_file.read_text()) if results_file.exists() else {"tops": {}}
            results["what"] = (
                f"timing model, W = {arguments.wire} ps per net, not place and route; yosys {flow.YOSYS}"
            )
            results["tops"][name] = found
            results["tops"] = dict(sorted(results["tops"].items()))
            results_file.parent.mkdir(exist_ok=True)
            results_file.write_text(json.dumps(results, indent=2) + "\n")
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
