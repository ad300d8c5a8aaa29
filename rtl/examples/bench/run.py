#!/usr/bin/env python3
"""Runs test_engine.py on Icarus, with cocotb.

usage: run.py [--waves] [--build FOLDER] [TOP]

TOP      gcm (128 bits), gcm512_aes or ocb512_aes (512 bits); default gcm
--waves  write the waveform to FOLDER/TOP.fst, for GTKWave or Surfer

Requires `iverilog`, and from PyPI cocotb 2.1, cocotbext-axi and cryptography, which .venv contains.
"""

import argparse
import os
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

BENCH = Path(__file__).resolve().parent
RTL = BENCH.parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--waves", action="store_true")
    parser.add_argument("--build", type=Path, default=RTL.parent / "target" / "rtl-example")
    parser.add_argument("top", nargs="?", default="gcm", choices=("gcm", "gcm512_aes", "ocb512_aes"))
    arguments = parser.parse_args()
    folder = (arguments.build / arguments.top).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # The runner passes this search path on to the simulator.
    sys.path.insert(0, str(BENCH))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    runner = get_runner("icarus")
    runner.build(
        sources=[RTL / file for file in (RTL / "filelists" / f"{arguments.top}.f").read_text().split()],
        hdl_toplevel=arguments.top,
        build_args=["-g2012"],
        build_dir=folder,
        timescale=("1ns", "1ps"),
        waves=arguments.waves,
        always=True,
    )
    results = runner.test(
        hdl_toplevel=arguments.top,
        test_module="test_engine",
        build_dir=folder,
        test_dir=folder,
        timescale=("1ns", "1ps"),
        waves=arguments.waves,
        extra_env={"TOP": arguments.top},
    )
    tests, failed = get_results(results)
    return 0 if tests and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
