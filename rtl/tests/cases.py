"""Runs cocotb test modules on DUTs, with Icarus or Verilator, several at a time."""

import argparse
import hashlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cocotb_tools.runner import Runner, get_results

RTL = Path(__file__).resolve().parents[1]
BUILD = RTL.parent / "target"
TIMESCALE = ("1ns", "1ps")


@dataclass(frozen=True)
class Case:
    """A DUT with parameters, and the Python module with its tests."""

    name: str
    top: str
    sources: tuple[Path, ...]
    test: Path
    parameters: dict[str, int] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def folder(self, build: Path) -> Path:
        """The folder of the case's log and results."""
        return build / self.name.replace(" ", "_")


@dataclass(frozen=True)
class Simulator:
    """A simulator, and its options for compiling an image."""

    name: str
    runner: Callable[[], Runner]
    version: Callable[[], str]
    arguments: tuple[str, ...]
    sources: tuple[Path, ...] = ()  # added to those of the case
    plusargs: Callable[[int], Sequence[str]] = lambda _: ()  # of the simulation, from the seed

    def image(self, case: Case, build: Path) -> Path:
        """The folder of the compiled image, shared by cases with the same DUT and parameters."""
        words = [case.top, *(f"{name}={value}" for name, value in case.parameters.items())]
        return build / self.name / "_".join(words)


def listed(filelist: str) -> tuple[Path, ...]:
    """Returns the files of a list under rtl/filelists."""
    return tuple(RTL / file for file in (RTL / "filelists" / filelist).read_text().split())


def add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="cases run at a time (default: one per processor)"
    )


def build_once(folder: Path, sources: Sequence[Path], options: object, build: Callable[[], None]) -> None:
    """Builds into a folder, unless it was already built from the same sources with the same options."""
    digest = hashlib.sha256(repr(options).encode())
    for source in sources:
        text = source.read_bytes()
        digest.update(f"{source.name} {len(text)}\n".encode())
        digest.update(text)
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    folder.mkdir(parents=True, exist_ok=True)
    # An interrupted build leaves no stamp.
    stamp.unlink(missing_ok=True)
    build()
    stamp.write_text(digest.hexdigest())


def build_image(simulator: Simulator, case: Case, build: Path) -> str:
    """Compiles the image of a case. Returns the error, or an empty string."""
    folder = simulator.image(case, build)
    log = folder / "log"
    sources = (*simulator.sources, *case.sources)

    def compile_sources() -> None:
        simulator.runner().build(
            sources=sources,
            hdl_toplevel=case.top,
            parameters=case.parameters,
            build_args=simulator.arguments,
            build_dir=folder,
            timescale=TIMESCALE,
            log_file=log,
            always=True,
        )

    options = (simulator.version(), simulator.arguments, TIMESCALE, case.top, case.parameters)
    try:
        build_once(folder, sources, options, compile_sources)
    # The runner raises SystemExit if the compiler fails.
    except (RuntimeError, SystemExit) as error:
        return f"{error}\n{log.read_text()[-4000:]}"
    return ""


def run(simulator: Simulator, case: Case, build: Path, seed: int) -> str:
    """Runs the tests of a case. Returns the error, or an empty string if all passed."""
    folder = case.folder(build)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    try:
        results = simulator.runner().test(
            hdl_toplevel=case.top,
            hdl_toplevel_lang="verilog",
            test_module=case.test.stem,
            build_dir=simulator.image(case, build),
            test_dir=folder,
            results_xml=str(folder / "results.xml"),
            seed=seed,
            plusargs=simulator.plusargs(seed),
            extra_env=case.environment | {"COCOTB_LOG_LEVEL": "WARNING"},
            timescale=TIMESCALE,
            log_file=log,
        )
        tests, failed = get_results(results)
    except (RuntimeError, SystemExit) as error:
        return f"{error}\n{log.read_text()[-4000:]}"
    return "" if tests > 0 and failed == 0 else f"{tests} tests, {failed} failed\n{log.read_text()[-4000:]}"


def run_all(simulator: Simulator, cases: Sequence[Case], build: Path, jobs: int, seed: int) -> int:
    """Runs the cases. Returns the number of failures."""
    # The runner passes this search path on to the simulator.
    sys.path[:0] = dict.fromkeys(str(case.test.parent) for case in cases)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    build = build.resolve()
    images = {simulator.image(case, build): case for case in cases}
    assert all(images[simulator.image(case, build)].sources == case.sources for case in cases)

    def timed(case: Case) -> bool:
        began = time.monotonic()
        complaint = complaints[simulator.image(case, build)] or run(simulator, case, build, seed)
        verdict = "FAILED" if complaint else "ok"
        print(f"{verdict:6} {case.name} ({time.monotonic() - began:.1f} s)\n{complaint}", end="", flush=True)
        return bool(complaint)

    with ThreadPoolExecutor(jobs) as pool:
        built = pool.map(lambda case: build_image(simulator, case, build), images.values())
        complaints = dict(zip(images, built, strict=True))
        return sum(pool.map(timed, cases))
