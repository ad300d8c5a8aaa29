#!/usr/bin/env python3
"""Check the machine code of the library's kernels.

usage: check_assembly.py [--library FILE.rlib] [--budget FILE] [--stack FILE] [--write-budget] [TARGET]

Builds the library in the release profile (or reads FILE.rlib, built with -C symbol-mangling-version=v0)
and disassembles it. TARGET is x86_64-unknown-linux-gnu (the default) or aarch64-unknown-linux-gnu. A kernel
is an instance of a backend's `enter` method, its entry point. The check requires that:

- every CPU intrinsic is inlined. An intrinsic that is a separate function means that generic code was
  compiled without the CPU's features, which makes it some 30 times slower;
- only entry points contain AES or carry-less multiplication instructions, or are generic over a backend;
- no entry point moves vector registers to and from the stack more often than assembly-budget.toml (on Arm,
  assembly-budget-aarch64.toml) allows, in total and in its innermost loops over AES rounds or products;
- on x86-64, the entry points that stack-stores.toml lists as clean store no vector register on the stack, not
  even once, unless it contains a constant; nor do they take an address in their frame, through which they
  could. Every entry point in the scope of that file must be listed: as clean, or as one that stores, for as
  long as it does.

--write-budget writes the current counts, plus a margin, to the budget file. Other compiler versions spill
differently, so with another version than a file's, what differs from that file is reported and nothing fails.
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
    # Instructions that store, by their mnemonics and operands, and those that copy an address in the frame.
    store: re.Pattern[str]
    address: re.Pattern[str]
    budget: str
    stack: str | None


ARCHITECTURES = {
    "x86_64": Architecture(
        objdump=["objdump", "-M", "intel"],
        kernel=re.compile(r"v?(?:aes(?:enc|dec|imc|keygen)|pclmul)\w*$"),
        vector=re.compile(r"\b[xyz]mm\d+\b"),
        jump=re.compile(r"j\w+$"),
        stack_pointer="[rsp",
        frame_pointer="[rbp",
        frame=re.compile(r"(?:mov|lea) rbp,(?:rsp|\[rsp)"),
        store=re.compile(r"\w+ [^,]*\["),
        address=re.compile(r"(?:lea (?!rsp,|rbp,\[rsp).*\[|mov (?!rsp,|rbp,)\w+,)(?P<pointer>r[sb]p)\b"),
        budget="assembly-budget.toml",
        stack="stack-stores.toml",
    ),
    "aarch64": Architecture(
        objdump=["aarch64-linux-gnu-objdump"],
        kernel=re.compile(r"(?:aes(?:e|d|mc|imc)|pmull2?)$"),
        vector=re.compile(r"\b[qv]\d+\b"),
        jump=re.compile(r"(?:b|b\.\w+|cbn?z|tbn?z)$"),
        stack_pointer="[sp",
        frame_pointer="[x29",
        frame=re.compile(r"(?:mov|add) x29, sp"),
        store=re.compile(r"st"),
        address=re.compile(r"(?:mov|add|sub) (?!sp,|x29,)\w+, (?P<pointer>sp|x29)\b"),
        budget="assembly-budget-aarch64.toml",
        stack=None,
    ),
}


# Instructions of x86-64: those that end straight-line code, and those that load or zero a vector register.
LEAVE = re.compile(r"j|call|ret|ud2|vzero")
LOAD = re.compile(r"v?mov(?:[au]p[sd]|dq[au]\d*)$")
ZERO = re.compile(r"v?p?xor\w* [xyz]mm(\d+)(?:,[xyz]mm\1)+")
BASE = re.compile(r" PTR \[(\w+)(?:\+0x[0-9a-f]+)?\]")
VECTOR = re.compile(r"[xyz]mm(\d+)")


@dataclass
class Constants:
    """The registers that contain constants, or addresses of constants, in straight-line code of x86-64."""

    # By the number of a vector register, or the name of a general one: where the code begins that proves it.
    since: dict[str, int] = field(default_factory=dict)

    def step(self, address: int, mnemonic: str, operands: str) -> None:
        """Takes the next instruction."""
        to, _, source = operands.partition(",")
        vector = VECTOR.match(to)
        if LEAVE.match(mnemonic):
            self.since.clear()
        elif vector:
            base = BASE.search(source)
            before = self.since.get(base[1]) if base else None
            self.since.pop(vector[1], None)
            if ZERO.fullmatch(f"{mnemonic} {operands}") or (LOAD.match(mnemonic) and "[rip" in source):
                self.since[vector[1]] = address
            elif LOAD.match(mnemonic) and before is not None and vector[0] == to:
                self.since[vector[1]] = before
        elif not (LOAD.match(mnemonic) or (mnemonic == "mov" and "[" in to)):
            # Any other instruction may change general registers.
            self.since = {name: at for name, at in self.since.items() if name.isdigit()}
            if mnemonic in ("mov", "lea") and "[rip" in source:
                self.since[to] = address

    def stored_since(self, operands: str) -> int | None:
        """Returns where the code begins that proves that a stored register is constant, or None."""
        return self.since.get(VECTOR.findall(operands)[-1])


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
    # Instructions that store a vector register on the stack, or take an address there. If the register is a
    # constant, also where the code begins that proves it.
    stores: list[tuple[int, str, int | None]] = field(default_factory=list)
    stores_by_frame_pointer: list[tuple[int, str, int | None]] = field(default_factory=list)
    constants: Constants = field(default_factory=Constants)
    jump_targets: list[int] = field(default_factory=list)
    loops: list[tuple[int, int]] = field(default_factory=list)

    def add(self, address: int, mnemonic: str, operands: str) -> None:
        architecture = self.architecture
        if architecture.kernel.match(mnemonic):
            self.kernel_at.append(address)
        text = f"{mnemonic} {operands}"
        if architecture.frame.match(text):
            self.frame_pointer = True
        if architecture.vector.search(operands):
            stores = []
            if architecture.stack and architecture.store.match(text):
                stores = [(address, text, self.constants.stored_since(operands))]
            if architecture.stack_pointer in operands:
                self.by_stack_pointer.append(address)
                self.stores += stores
            if architecture.frame_pointer in operands:
                self.by_frame_pointer.append(address)
                self.stores_by_frame_pointer += stores
        elif found := architecture.address.match(text):
            by_stack_pointer = architecture.stack_pointer.endswith(found["pointer"])
            (self.stores if by_stack_pointer else self.stores_by_frame_pointer).append((address, text, None))
        if architecture.stack:
            self.constants.step(address, mnemonic, operands)
        if architecture.jump.match(mnemonic) and (found := JUMP_TARGET.search(operands)):
            target = int(found[1], 16)
            self.jump_targets.append(target)
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

    @property
    def stack_stores(self) -> list[str]:
        """What stores a vector register on the stack that is not a constant, or takes an address there."""
        found = self.stores + (self.stores_by_frame_pointer if self.frame_pointer else [])
        return [
            f"{address:x} {text}"
            for address, text, since in sorted(found)
            if since is None or any(since < target <= address for target in self.jump_targets)
        ]


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


def entry_points(functions: list[Function]) -> dict[str, dict[str, Function]]:
    """Returns the entry points by backend and kernel."""
    result: dict[str, dict[str, Function]] = {}
    for function in functions:
        if found := ENTRY.match(function.name):
            kernels = result.setdefault(found["backend"], {})
            kernels[found["kernel"].replace("sealcomb::", "")] = function
    return result


def spills_of(entries: dict[str, dict[str, Function]]) -> dict[str, dict[str, Spills]]:
    return {
        backend: {kernel: function.spills for kernel, function in kernels.items()}
        for backend, kernels in entries.items()
    }


def matches(pattern: str, kernel: str) -> bool:
    """Returns whether a kernel has a name, in which each asterisk stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), kernel) is not None


def on_the_stack(entries: dict[str, dict[str, Function]], listed: dict) -> Iterator[str]:
    """Yields the entry points that store vector registers on the stack, or do not, against what is listed."""
    scope, clean, storing = re.compile(listed["scope"]), listed["clean"], listed["stores"]
    for backend, kernels in entries.items():
        inside = {
            kernel: function.stack_stores for kernel, function in kernels.items() if scope.match(kernel)
        }
        for kernel, stores in inside.items():
            is_clean, may_store = (
                any(matches(pattern, kernel) for pattern in table.get(backend, []))
                for table in (clean, storing)
            )
            if is_clean == may_store:
                lists = "both lists" if is_clean else "no list"
                yield f"{backend}: {kernel} is in {lists} of what may be stored on the stack"
            elif is_clean and stores:
                yield (
                    f"{backend}: {kernel} must store no vector register on the stack, where secrets would "
                    f"stay, and take no address there, but has {len(stores)} such instructions: "
                    f'{"; ".join(stores[:4])}. See "Secrets on the stack" in CONTRIBUTING.md'
                )
            elif may_store and not stores:
                yield f"{backend}: {kernel} no longer stores a vector register on the stack; list it as clean"
        for pattern in clean.get(backend, []) + storing.get(backend, []):
            if not any(matches(pattern, kernel) for kernel in inside):
                yield f"{backend}: {pattern} is listed but does not exist; remove it"


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


def with_its_compiler(file: Path, version: str, found: Iterator[str]) -> list[str]:
    """Returns findings against a file, or only prints them if it is for another compiler version."""
    differences = list(found)
    if version == compiler():
        return differences
    if differences:
        print(f"{file.name} is for Rust {version}, and this is {compiler()}; reported only:")
        print(*differences, sep="\n")
    return []


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
    parser.add_argument("--stack", type=Path)
    parser.add_argument("--write-budget", action="store_true")
    parser.add_argument("target", nargs="?", default="x86_64-unknown-linux-gnu")
    arguments = parser.parse_args()
    architecture = ARCHITECTURES[arguments.target.split("-")[0]]
    budget_file = arguments.budget or HERE / architecture.budget
    functions = disassemble(arguments.library or build_library(arguments.target), architecture)
    entries = entry_points(functions)
    spills = spills_of(entries)
    findings = list(misplaced(functions))
    if not any(spills.values()):
        findings.append("no entry point found: is this the library, with v0 symbols?")
    if arguments.write_budget:
        write_budget(budget_file, spills)
    budget = tomllib.loads(budget_file.read_text())
    findings += with_its_compiler(budget_file, budget.pop("rust"), over_budget(spills, budget))
    if architecture.stack:
        stack_file = arguments.stack or HERE / architecture.stack
        stack = tomllib.loads(stack_file.read_text())
        findings += with_its_compiler(stack_file, stack["rust"], on_the_stack(entries, stack))
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"{sum(map(len, spills.values()))} entry points, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
