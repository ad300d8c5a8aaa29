#!/usr/bin/env python3
"""Runs test_shell.py on Icarus, with cocotb: macsec_shell between a host and a MAC.

usage: run.py [--seed SEED] [--build FOLDER]

Requires `iverilog`, and from PyPI cocotb 2.1, cocotbext-axi, scapy and cryptography, which .venv contains.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True
EXAMPLE = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLE.parents[1] / "tests"))

from cases import BUILD, Case, listed, run_all  # noqa: E402
from icarus import ICARUS  # noqa: E402
from seeds import add_seed, announced  # noqa: E402

DEPTH = 32  # small, so that maximum-size frames are short


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_seed(parser)
    parser.add_argument("--build", type=Path, default=BUILD / "rtl-example")
    arguments = parser.parse_args()
    case = Case(
        *("macsec_shell", "macsec_shell", listed("macsec_shell.f"), EXAMPLE / "test_shell.py"),
        parameters={"DEPTH": DEPTH},
        environment={"DEPTH": str(DEPTH)},
    )
    return run_all(ICARUS, [case], arguments.build, 1, announced(arguments.seed))


if __name__ == "__main__":
    sys.exit(main())
