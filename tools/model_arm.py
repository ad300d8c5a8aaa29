#!/usr/bin/env python3
"""Estimate the library's speed on Arm CPUs with LLVM's models.

usage: model_arm.py [--cpus CPU,...] [--messages N] [--bytes N] [--program FILE] [ID...]

QEMU executes one call that seals a batch and logs its instructions. llvm-mca simulates them with a model of
the CPU. The result is an estimate, not a measurement. The models contain ports, latencies and the size of
the reorder buffer. They assume that every load hits the L1 cache and that every branch is predicted, and do
not fuse the two instructions of an AES round, which these CPUs do. For every Apple CPU, this LLVM uses the
model of the first one, from 2013, which has two AES units fewer than current ones.

Requires the Debian packages gcc-aarch64-linux-gnu, qemu-user-static and llvm-19.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import study_tables

HERE = Path(__file__).resolve().parent
STUDY = HERE.parent / "docs/study.json"
TARGET = "aarch64-unknown-linux-gnu"
LLVM = os.environ.get("LLVM", "19")

# The CPUs, with the fastest backend that each supports.
CPUS = {
    "neoverse-n1": "neon",
    "neoverse-n2": "neon-sha3",
    "neoverse-v1": "neon-sha3",
    "neoverse-v2": "neon-sha3",
    "apple-a14": "neon-sha3",
}

EXECUTED = re.compile(r"Trace \d+: \S+ \[\w+/(\w+)/")
INSTRUCTION = re.compile(r"^\s+([0-9a-f]+):\t([0-9a-f]{8}) ")
SYMBOL = re.compile(r"^([0-9a-f]+) \w one_batch::(begin|end)$")


def output(command: list, text: str | None = None) -> str:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def build() -> Path:
    command = [HERE / "static-cargo.sh", "build", "--example", "one_batch"]
    subprocess.run(command, check=True, env=os.environ | {"STATIC_TARGET": TARGET})
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    return folder / "static" / TARGET / "release/examples/one_batch"


class Program:
    """The instructions of a program, by address."""

    def __init__(self, file: Path):
        self.file = file
        symbols = output(["aarch64-linux-gnu-nm", "-C", file]).splitlines()
        marks = {found[2]: int(found[1], 16) for line in symbols if (found := SYMBOL.match(line))}
        self.begin, self.end = marks["begin"], marks["end"]
        listing = output(["aarch64-linux-gnu-objdump", "-d", file]).splitlines()
        found = [match for line in listing if (match := INSTRUCTION.match(line))]
        words = {int(match[1], 16): int(match[2], 16) for match in found}
        # LLVM's syntax, which llvm-mca reads, differs from that of binutils.
        data = "\n".join(
            " ".join(f"0x{byte:02x}" for byte in word.to_bytes(4, "little")) for word in words.values()
        )
        written = output([f"llvm-mc-{LLVM}", "-disassemble", "-triple=aarch64", "-mattr=+all"], data)
        lines = [line.strip() for line in written.splitlines() if line.strip() and line.strip() != ".text"]
        if len(lines) != len(words):
            raise ValueError(f"LLVM disassembled {len(lines)} of {len(words)} instructions")
        self.instructions = dict(zip(words, lines, strict=True))

    def executed(self, backend: str, *arguments: str) -> list[str]:
        """Returns the instructions executed between the two markers."""
        command = ["qemu-aarch64-static", "-singlestep", "-d", "exec,nochain", self.file, *arguments]
        environment = os.environ | {"SEALCOMB_BACKEND": backend}
        trace = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True, env=environment).stderr
        addresses = [int(found[1], 16) for line in trace.splitlines() if (found := EXECUTED.match(line))]
        between = addresses[addresses.index(self.begin) : addresses.index(self.end)]
        return [self.instructions[address] for address in between]


def cycles(cpu: str, instructions: list[str]) -> int:
    """Returns the cycles that the model takes for these instructions."""
    options = ["-mtriple=aarch64", f"-mcpu={cpu}", "-mattr=+all", "-iterations=1", "-instruction-info=0"]
    options += ["-resource-pressure=0", "-skip-unsupported-instructions=lack-sched"]
    modelled = output([f"llvm-mca-{LLVM}", *options], "\n".join(instructions) + "\n")
    return int(re.search(r"Total Cycles:\s+(\d+)", modelled)[1])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpus", type=lambda words: words.split(","), default=list(CPUS))
    parser.add_argument("--backend", help="the backend for all CPUs (default: the fastest of each)")
    parser.add_argument("--messages", type=int, default=64)
    parser.add_argument("--bytes", type=int, default=512)
    parser.add_argument("--program", type=Path)
    parser.add_argument("ids", nargs="*", metavar="ID", help="an algorithm (default: all in docs/study.json)")
    arguments = parser.parse_args()
    ids = arguments.ids or study_tables.algorithms(json.loads(STUDY.read_text()))
    program = Program(arguments.program or build())
    size = arguments.messages * arguments.bytes
    backends = [arguments.backend or CPUS[cpu] for cpu in arguments.cpus]
    titles = [f"{cpu}, `{backend}`" for cpu, backend in zip(arguments.cpus, backends, strict=True)]
    print(f"| algorithm | {' | '.join(titles)} | instructions |")
    print(f"|---|{'---:|' * (len(titles) + 1)}")
    for name in ids:
        executed = {
            backend: program.executed(backend, name, str(arguments.messages), str(arguments.bytes))
            for backend in sorted(set(backends))
        }
        modelled = [
            cycles(cpu, executed[backend]) for cpu, backend in zip(arguments.cpus, backends, strict=True)
        ]
        taken = [f"{count / size:.3g}" for count in modelled]
        counts = " / ".join(f"{len(instructions) / size:.3g}" for instructions in executed.values())
        print(f"| `{name}` | {' | '.join(taken)} | {counts} |", flush=True)
    version = re.search(r"version ([\d.]+)", output([f"llvm-mca-{LLVM}", "--version"]))[1]
    print(
        f"\nCycles per byte for sealing {arguments.messages} messages of {arguments.bytes} bytes under"
        f"\none key, as llvm-mca {version} models these CPUs, and executed instructions per byte."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
