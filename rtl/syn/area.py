#!/usr/bin/env python3
"""Measures the area of the cores on Virtex-6's LUT6 fabric (yosys), and estimates Stratix ALMs.

usage: area.py [--check | --write] [--alm] [NAME ...]

--check  fail if a core differs from its budget in budgets.toml by more than the tolerance
--write  write the results to budgets.toml and results/area.json
--alm    estimate ALMs (alm.py) also for tops without `alm = true`
NAME     only the tops whose name contains one of these

A LUT is a LUT1 .. LUT6, an inverter, or a LUT used as memory or shift register; a BRAM is 18 Kbit.
"""

import argparse
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import alm
import flow

MEASURES = ("lut", "ff", "bram")


def area(module: dict, top: dict) -> dict[str, int]:
    """Returns the area of the top, including its parts."""
    cells = flow.count(module)
    inside = [part_area(part) for name in module["cells"] if (part := flow.part_of(top, name))]
    if inside:
        boxed = {cell["type"] for name, cell in module["cells"].items() if flow.part_of(top, name)}
        cells = {kind: number for kind, number in cells.items() if kind not in boxed}
    memory = sum(number * flow.MEMORY_LUTS.get(kind, 0) for kind, number in cells.items())
    logic = sum(cells.get(kind, 0) for kind in flow.LOGIC_LUTS)
    known = {"MUXF7", "MUXF8", "CARRY4", *flow.LOGIC_LUTS, *flow.MEMORY_LUTS, *flow.FLIP_FLOPS, *flow.RAMB18}
    if set(cells) - known:
        sys.exit(f"unknown cells: {sorted(set(cells) - known)}")
    found = {
        "lut": logic + memory,
        "lut_memory": memory,
        "ff": sum(cells.get(kind, 0) for kind in flow.FLIP_FLOPS),
        "bram": sum(number * cells.get(kind, 0) for kind, number in flow.RAMB18.items()),
        "muxf7": cells.get("MUXF7", 0),
        "muxf8": cells.get("MUXF8", 0),
    }
    return {measure: number + sum(part[measure] for part in inside) for measure, number in found.items()}


@cache
def part_area(name: str) -> dict[str, int]:
    top = flow.tops([name])[name]
    return area(flow.module_of(flow.synthesize(name, top)), top)


def outside(name: str, top: dict, found: dict[str, int], tolerance: float) -> list[str]:
    """Returns messages about measures outside the tolerance of their budget."""
    found_outside = []
    for measure in MEASURES:
        budget = top.get(measure)
        if budget is None:
            found_outside.append(f"{name}: {measure} has no budget; --write adds one")
        elif abs(found[measure] - budget) > max(tolerance * budget, 2):
            found_outside.append(f"{name}: {measure} is {found[measure]}; the budget is {budget}")
    return found_outside


def write_budget(name: str, found: dict[str, int]) -> None:
    """Replaces or adds the top's three lines in budgets.toml."""
    text = flow.BUDGETS.read_text()
    start = text.index(f"[top.{name}]\n" if f"[top.{name}]\n" in text else f'[top."{name}"]\n')
    end = text.find("\n[", start)
    end = len(text) if end < 0 else end
    section = text[start:end]
    for measure in MEASURES:
        section = re.sub(rf"^{measure} = .*\n", "", section, flags=re.M)
    lines = "".join(f"{measure} = {found[measure]}\n" for measure in MEASURES)
    flow.BUDGETS.write_text(text[:start] + section.rstrip() + "\n" + lines + text[end:])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    parser.add_argument("--alm", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()

    tolerance = flow.tomllib.loads(flow.BUDGETS.read_text())["tolerance"]
    results_file = flow.RTL / "results" / "area.json"
    messages = []
    print(f"{'top':32} {'LUT':>6} {'of these memory':>15} {'FF':>6} {'BRAM':>5} {'ALM':>6}")
    tops = flow.tops(arguments.names)
    # One yosys process each; results are reported in order.
    pool = ThreadPoolExecutor(os.cpu_count())
    netlists = {name: pool.submit(flow.synthesize, name, top) for name, top in tops.items()}
    for name, top in tops.items():
        found = area(flow.module_of(netlists[name].result()), top)
        if arguments.alm or (top.get("alm") and not arguments.check):
            cells = alm.cells(flow.module_of(flow.synthesize(name, top, "cyclonev")))
            found |= {"alm_estimate": alm.estimate(cells), "m10k": cells["m10k"]}
        estimate = found.get("alm_estimate", "")
        cells = f"{found['lut']:6} {found['lut_memory']:14} {found['ff']:6} {found['bram']:5}"
        print(f"{name:32} {cells} {estimate:>6}", flush=True)
        if arguments.check:
            messages += outside(name, top, found, tolerance)
        if arguments.write:
            write_budget(name, found)
            results = json.loads(results_file.read_text()) if results_file.exists() else {"tops": {}}
            results["tool"] = (
                f"yosys {flow.YOSYS}: synth_xilinx -family xc6v, synth_intel_alm -family cyclonev"
            )
            results["tops"][name] = {
                "module": top["module"],
                "parameters": top.get("parameters", {}),
            } | found
            results["tops"] = dict(sorted(results["tops"].items()))
            results_file.parent.mkdir(exist_ok=True)
            results_file.write_text(json.dumps(results, indent=2) + "\n")
    print("\n".join(messages), end="\n" if messages else "")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
