"""Estimates of Stratix ALMs from a mapping to Cyclone V (yosys has no older ALM family).

A LUT6 takes one ALM; a LUT5 shares one with a LUT of three inputs or fewer; two LUT4 or smaller share one, as
do two adder bits. Each ALM has two flip-flops, as in Stratix IV. A memory of 32 words of 20 bits takes ten
ALMs. These are estimates: nothing is placed.
"""

import flow

LUTS = ("lut2", "lut3", "lut4", "lut5", "lut6")
CELLS = (*LUTS, "adder_bits", "ff", "mlab_bits", "m10k")


def cells(module: dict) -> dict[str, int]:
    """Counts the cells of a netlist for Cyclone V. An inverter counts as lut2."""
    found = flow.count(module)
    number = {f"lut{inputs}": found.get(f"MISTRAL_ALUT{inputs}", 0) for inputs in range(2, 7)}
    number["lut2"] += found.get("MISTRAL_NOT", 0)
    return number | {
        "adder_bits": found.get("MISTRAL_ALUT_ARITH", 0),
        "ff": found.get("MISTRAL_FF", 0),
        "mlab_bits": found.get("MISTRAL_MLAB", 0),
        "m10k": found.get("MISTRAL_M10K", 0),
    }


def estimate(number: dict[str, int]) -> int:
    small = number["lut2"] + number["lut3"]
    in_pairs = number["lut4"] + small - min(number["lut5"], small) + number["adder_bits"]
    logic = number["lut6"] + number["lut5"] + (in_pairs + 1) // 2
    return max(logic, (number["ff"] + 1) // 2) + (number["mlab_bits"] + 1) // 2
