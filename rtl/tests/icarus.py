"""Icarus: simulates unknown values, and compiles in seconds."""

import functools
import subprocess

from cases import Simulator
from cocotb_tools.runner import Icarus


@functools.cache
def version() -> str:
    return subprocess.run(["iverilog", "-V"], capture_output=True, text=True, check=True).stdout


ICARUS = Simulator("icarus", Icarus, version, ("-g2012",))
