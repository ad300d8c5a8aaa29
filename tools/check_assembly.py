#!/usr/bin/env python3
"""Check the machine code of the library's kernels.

usage: check_assembly.py [--library FILE.rlib] [--budget FILE.toml] [--write-budget] [TARGET]

Builds the library in the release profile (or reads FILE.rlib, built with -C symbol-mangling-version=v0)
and disassembles it. TARGET is x86_64-unknown-linux-gnu (the default) or aarch64-unknown-linux-gnu. A kernel
is an instance of a backend's `enter` method, its entry point. The check requires that:

- every CPU intrinsic is inlined. An intrinsic that is a separate function means that generic code was
  compiled without the CPU's features, which makes it some 30 times slower;
- only entry points contain AES or carry-less multiplication instructions, or are generic over a backend;
- no entry point moves vector registers to and from the stack more often than assembly-budget.toml (on Arm,
  assembly-budget-aarch64.toml) allows, in total and in its innermost loops over AES rounds or products.

--write-budget writes the current counts, plus a margin, to the budget file. Other compiler versions spill
differently, so with another version than the budget's the counts are reported and nothing fails.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

ENTRY = re.compile(
    r"<(?P<kernel>.*) as <sealcomb::backend::(?:aarch64::)?(?P<backend>\w+)::\w+>::enter::Enter>::enter$"
)
GENERIC_OVER_BACKEND = re.compile(
    r"::<(?:.*[ ,<&])?sealcomb::backend::(?:aesni|aarch64::neon\w*|vaes\d+)::[A-Z]\w*"
)
INTRINSIC = re.compile(r"core::core_arch::(?!.*::(?:__cpuid(?:_count)?|__get_cpuid_max|_xgetbv)$)")
OURS = re.compile(r"<*sealcomb::")

FUNCTION_LINE = re.compile(r"^[0-9a-f]+ <(?P<name>.*)>:$")
INSTRUCTION_LINE = re.compile(
    r"^\s+(?P<address>[0-9a-f]+):\t(?P<mnemonic>[a-z][\w.]*)(?:\s+(?P<operands>.*))?$"
)
RELOCATION_LINE = re.compile(
    r"^\s+[0-9a-f]+: R_(?:X86_64|AARCH64)_\w+\t(?:\.text\.)?(?P<symbol>\S+?)(?:[-+]0x[0-9a-f]+)?$"
)
NOISE = re.compile(r"\[[0-9a-f]{8,16}\]|: (?:bool|char|[iu](?:8|16|32|64|128|size))")

JUMP_TARGET = re.compile(r"(?:^|,)\s*([0-9a-f]+) <")
# The margin that --write-budget adds to a count, in addition to a quarter of it.
MARGIN = 2


@dataclass
class Architecture:
    """The patterns to look for in objdump's output for an architecture."""

    objdump: list[str]
    # Instructions that only kernels contain.
    kernel: re.Pattern[str]
    # Registers that hold blocks. Functions on Arm save d8 to d15 for their callers, which is no spill.
    vector: re.Pattern[str]
    jump: re.Pattern[str]
    stack_pointer: str
    frame_pointer: str
    # The instruction that sets the frame pointer up.
    frame: re.Pattern[str]
    budget: str


ARCHITECTURES = {
    "x86_64": Architecture(
        objdump=["objdump", "-M", "intel"],
        kernel=re.compile(r"v?(?:aes(?:enc|dec|imc|keygen)|pclmul)\w*$"),
        vector=re.compile(r"\b[xyz]mm\d+\b"),
        jump=re.compile(r"j\w+$"),
        stack_pointer="[rsp",
        frame_pointer="[rbp",
        frame=re.compile(r"(?:mov|lea) rbp,(?:rsp|\[rsp)"),
        budget="assembly-budget.toml",
    ),
    "aarch64": Architecture(
        objdump=["aarch64-linux-gnu-objdump"],
        kernel=re.compile(r"(?:aes(?:e|d|mc|imc)|pmull2?)$"),
        vector=re.compile(r"\b[qv]\d+\b"),
        jump=re.compile(r"(?:b|b\.\w+|cbn?z|tbn?z)$"),
        stack_pointer="[sp",
        frame_pointer="[x29",
        frame=re.compile(r"(?:mov|add) x29, sp"),
        budget="assembly-budget-aarch64.toml",
    ),
}


@dataclass
class Spills:
    """Counts of moves between vector registers and the stack: in total, and in hot loops."""

    entry: int
    loops: int

    def __str__(self) -> str:
        return f"{self.entry} times, {self.loops} of them in loops"


@dataclass
class Function:
    """The relevant facts about one function's machine code."""

    name: str
    architecture: Architecture
    symbols: set[str] = field(default_factory=set)
    frame_pointer: bool = False
    kernel_at: list[int] = field(default_factory=list)
    by_stack_pointer: list[int] = field(default_factory=list)
    by_frame_pointer: list[int] = field(default_factory=list)
    loops: list[tuple[int, int]] = field(default_factory=list)

    def add(self, address: int, mnemonic: str, operands: str) -> None:
        architecture = self.architecture
        if architecture.kernel.match(mnemonic):
            self.kernel_at.append(address)
        if architecture.frame.match(f"{mnemonic} {operands}"):
            self.frame_pointer = True
        if architecture.vector.search(operands):
            if architecture.stack_pointer in operands:
                self.by_stack_pointer.append(address)
            if architecture.frame_pointer in operands:
                self.by_frame_pointer.append(address)
        if architecture.jump.match(mnemonic) and (found := JUMP_TARGET.search(operands)):
            target = int(found[1], 16)
            if target <= address:
                self.loops.append((target, address))

    def hot_loops(self) -> list[tuple[int, int]]:
        """Returns the address ranges of innermost loops that contain AES or product instructions."""
        inner = [
            (first, last)
            for first, last in self.loops
            if not any(first <= other and end < last for other, end in self.loops)
        ]
        return [(first, last) for first, last in inner if any(first <= at <= last for at in self.kernel_at)]

    @property
    def spills(self) -> Spills:
        places = self.by_stack_pointer + (self.by_frame_pointer if self.frame_pointer else [])
        hot = self.hot_loops()
        in_loops = [at for at in places if any(first <= at <= last for first, last in hot)]
        return Spills(len(places), len(in_loops))


def build_library(target: str, root: Path = HERE.parent) -> Path:
    command = [root / "tools/static-cargo.sh", "test", "--test", "emulated", "--no-run"]
    command.append("--message-format=json")
    environment = os.environ | {"STATIC_TARGET": target}
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["target"]["name"] == "sealcomb":
            return next(Path(name) for name in message["filenames"] if name.endswith(".rlib"))
    raise FileNotFoundError("cargo built no libsealcomb.rlib")


def demangle(functions: list[Function]) -> None:
    """Replaces symbols by their source names, without hashes and the types of constants."""
    symbols = sorted({name for function in functions for name in (function.name, *function.symbols)})
    filtered = subprocess.run(
        ["c++filt", "--format=rust"], input="\n".join(symbols), capture_output=True, text=True, check=True
    )
    plain = [NOISE.sub("", name) for name in filtered.stdout.splitlines()]
    names = dict(zip(symbols, plain, strict=True))
    for function in functions:
        function.name = names[function.name]
        function.symbols = {names[symbol] for symbol in function.symbols}


def disassemble(library: Path, architecture: Architecture) -> list[Function]:
    command = [*architecture.objdump, "-dr", "--no-show-raw-insn", library]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    functions: list[Function] = []
    for line in result.stdout.splitlines():
        if found := INSTRUCTION_LINE.match(line):
            functions[-1].add(int(found["address"], 16), found["mnemonic"], found["operands"] or "")
        elif found := RELOCATION_LINE.match(line):
            functions[-1].symbols.add(found["symbol"])
        elif found := FUNCTION_LINE.match(line):
            functions.append(Function(found["name"], architecture))
    demangle(functions)
    return functions


def misplaced(functions: list[Function]) -> Iterator[str]:
    """Yields kernel code outside the entry points. Generic code of other crates is exempt."""
    for function in functions:
        if ENTRY.match(function.name):
            continue
        if INTRINSIC.match(function.name):
            users = {user.name for user in functions if function.name in user.symbols}
            ours = sorted(name for name in users if "sealcomb::" in name)
            if ours:
                yield f"not inlined: {function.name}, used by {', '.join(ours)}"
        elif not OURS.match(function.name):
            continue
        elif function.kernel_at:
            yield f"kernel code outside the entry points: {function.name}"
        elif GENERIC_OVER_BACKEND.search(function.name):
            yield f"generic over a backend, outside the entry points: {function.name}"


def spills_by_kernel(functions: list[Function]) -> dict[str, dict[str, Spills]]:
    result: dict[str, dict[str, Spills]] = {}
    for function in functions:
        if found := ENTRY.match(function.name):
            kernels = result.setdefault(found["backend"], {})
            kernels[found["kernel"].replace("sealcomb::", "")] = function.spills
    return result


def over_budget(spills: dict[str, dict[str, Spills]], budget: dict[str, dict]) -> Iterator[str]:
    for backend, kernels in spills.items():
        for kernel, found in kernels.items():
            if kernel not in budget.get(backend, {}):
                yield f"{backend}: {kernel} spills {found}; it has no budget, see --write-budget"
                continue
            allowed = Spills(**budget[backend][kernel])
            if found.entry > allowed.entry or found.loops > allowed.loops:
                yield f"{backend}: {kernel} spills {found}; the budget allows {allowed}"
    for backend, kernels in budget.items():
        for kernel in kernels.keys() - spills.get(backend, {}).keys():
            yield f"{backend}: {kernel} has a budget but does not exist; remove the entry"


def compiler() -> str:
    version = subprocess.check_output(["rustc", "--version"], text=True)
    return ".".join(version.split()[1].split(".")[:2])


def with_margin(count: int) -> int:
    return count * 5 // 4 + MARGIN


def write_budget(file: Path, spills: dict[str, dict[str, Spills]]) -> None:
    lines = [
        "# How often each kernel may move a vector register to or from the stack, in total and in its",
        f"# innermost loops over AES rounds or products: the count found, plus a quarter, plus {MARGIN}.",
        "# Written by `tools/check_assembly.py --write-budget`; read the differences before you commit them.",
        f'rust = "{compiler()}"',
    ]
    for backend in sorted(spills):
        lines += ["", f"[{backend}]"]
        for kernel, found in sorted(spills[backend].items()):
            allowed = f"entry = {with_margin(found.entry)}, loops = {with_margin(found.loops)}"
            lines.append(f'"{kernel}" = {{ {allowed} }}')
    file.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--library", type=Path)
    parser.add_argument("--budget", type=Path)
    parser.add_argument("--write-budget", action="store_true")
    parser.add_argument("target", nargs="?", default="x86_64-unknown-linux-gnu")
    arguments = parser.parse_args()
    architecture = ARCHITECTURES[arguments.target.split("-")[0]]
    budget_file = arguments.budget or HERE / architecture.budget
    functions = disassemble(arguments.library or build_library(arguments.target), architecture)
    spills = spills_by_kernel(functions)
    findings = list(misplaced(functions))
    if not any(spills.values()):
        findings.append("no entry point found: is this the library, with v0 symbols?")
    if arguments.write_budget:
        write_budget(budget_file, spills)
    budget = tomllib.loads(budget_file.read_text())
    measured_with = budget.pop("rust")
    excesses = list(over_budget(spills, budget))
    if measured_with == compiler():
        findings += excesses
    elif excesses:
        print(f"the budget is for Rust {measured_with}, and this is {compiler()}; reported only:")
        print(*excesses, sep="\n")
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"{sum(map(len, spills.values()))} entry points, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
