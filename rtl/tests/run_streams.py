#!/usr/bin/env python3
"""Tests tops through their AXI4-Stream ports, on Icarus with cocotbext-axi: pauses, errors, resets.

usage: run_streams.py [--packets NUMBER] [--sample N] [--seed SEED] [--jobs JOBS] [--build FOLDER] [TOP ...]

TOP  run only these tops of rtl/tests/stream/tops.py
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from cases import BUILD, RTL, Case, add_jobs, listed, run_all  # noqa: E402
from icarus import ICARUS  # noqa: E402
from seeds import add_sample, add_seed, announced, sampled  # noqa: E402

STREAM = RTL / "tests" / "stream"
sys.path.insert(0, str(STREAM))

from tops import TOPS  # noqa: E402


def case(name: str, packets: int) -> Case:
    top = TOPS[name]
    environment = {"TOP": name, "STREAM_PACKETS": str(packets)}
    return Case(
        name, top.module, listed(top.filelist), STREAM / "stream_test.py", top.parameters, environment
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packets", type=int, default=8, help="known answers per test of a top (default 8)")
    add_sample(parser, "top")
    add_seed(parser)
    add_jobs(parser)
    parser.add_argument("--build", type=Path, default=BUILD / "rtl-streams")
    parser.add_argument("tops", nargs="*", metavar="TOP", choices=[[], *TOPS])
    arguments = parser.parse_args()
    seed = announced(arguments.seed)
    names = sampled(arguments.tops or list(TOPS), arguments.sample, seed)
    cases = [case(name, arguments.packets) for name in names]
    failed = run_all(ICARUS, cases, arguments.build, arguments.jobs, seed)
    print(f"{len(names)} tops, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
