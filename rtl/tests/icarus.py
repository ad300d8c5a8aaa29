"""Runs cocotb tests on Icarus, several at a time."""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

RTL = Path(__file__).resolve().parents[1]
BUILD = RTL.parent / "target"


@dataclass(frozen=True)
class Case:
    """A module with parameters, and the test module that it must pass."""

    name: str
    top: str
    sources: tuple[Path, ...]
    test: str
    parameters: dict[str, int] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def listed(filelist: str) -> tuple[Path, ...]:
    """The files of a list under rtl/filelists."""
    return tuple(RTL / file for file in (RTL / "filelists" / filelist).read_text().split())


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="cases run at a time (default: one a processor)"
    )


def run(case: Case, build: Path) -> str:
    """What there is to say about a failure; nothing if all tests passed."""
    folder = build / case.name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    runner = get_runner("icarus")
    places = {"build_dir": folder, "timescale": ("1ns", "1ps"), "log_file": log}
    try:
        runner.build(
            sources=case.sources,
            hdl_toplevel=case.top,
            parameters=case.parameters,
            build_args=["-g2012"],
            always=True,
            **places,
        )
        results = runner.test(
            hdl_toplevel=case.top,
            test_module=case.test,
            test_dir=folder,
            extra_env=case.environment | {"COCOTB_LOG_LEVEL": "WARNING", "COCOTB_RANDOM_SEED": "1"},
            **places,
        )
        tests, failed = get_results(results)
    # The runner ends the program when the compiler fails.
    except (RuntimeError, SystemExit) as error:
        return f"{error}\n{log.read_text()[-4000:]}"
    return "" if tests > 0 and failed == 0 else f"{tests} tests, {failed} failed\n{log.read_text()[-4000:]}"


def run_all(cases: list[Case], tests: Path, build: Path, jobs: int) -> int:
    """Runs the cases, whose test modules are in the folder `tests`; how many failed."""
    # The runner hands this search path on to the simulator.
    sys.path.insert(0, str(tests))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

    def timed(case: Case) -> bool:
        began = time.monotonic()
        complaint = run(case, build)
        verdict = "FAILED" if complaint else "ok"
        print(f"{verdict:6} {case.name} ({time.monotonic() - began:.1f} s)\n{complaint}", end="", flush=True)
        return bool(complaint)

    with ThreadPoolExecutor(jobs) as pool:
        return sum(pool.map(timed, cases))
