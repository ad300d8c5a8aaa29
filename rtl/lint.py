#!/usr/bin/env python3
"""Lints the hardware with three readers.

usage: lint.py [--verilator COMMAND]... [--jobs JOBS] [NAME ...]

verible reads all files. Verilator -Wall and slang elaborate each file list, line of the crate's lists and
variant of MACsec; slang, the strictest about the language, the other files too: properties, benches and
stand-ins. A memory must tell Quartus what it tells the other tools. No package's function may be called in
an `always_comb`, which Icarus does not get through.

NAME: only the tops whose name contains one of these. Without --verilator: `verilator`.
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyslang.driver import Driver

RTL = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent  # where pip puts commands
LISTS = [RTL.parent / "crates" / "sealcomb-rtl" / name for name in ("tops.list", "variants.list")]
# Of MACsec, of which the crate has no model.
VARIANTS = [("macsec100g", f"SUITE={suite}") for suite in (1, 2, 3)] + [("macsec100g", "CHANNELS=64")]
FLAGS = ("--lint-only", "-Wall", "-Wno-DECLFILENAME")
SLANG_FLAGS = (
    "-Weverything",
    "-Werror",
    "--error-limit=0",
    # Parameters are of the type int, and what is cast to a width keeps its sign: none is negative.
    "-Wno-sign-compare",
    "-Wno-sign-conversion",
    "-Wno-arith-op-mismatch",
    "-Wno-bitwise-op-mismatch",
    "-Wno-case-type",
    # Verilator finds what is unused, and wants what is so on purpose to be put into `unused`.
    "-Wno-unused-but-set-variable",
    # Packages are for several tops.
    "-Wno-unused-package-parameter",
    "-Wno-unused-package-subroutine",
    # A port of an output that is not wanted is left open.
    "-Wno-empty-output-connection",
    # A cast that some parameters make needless.
    "-Wno-useless-cast",
    # The proofs' models give registers their first values by `initial`.
    "--allow-dup-initial-drivers",
)
# What `ram_style` says, and what `ramstyle` must say then.
STYLES = {"block": "M20K", "distributed": "MLAB"}


def tops() -> dict[tuple[str, ...], str]:
    """(file list, module, parameters) and a name. A list without a line stands for the module of its name."""
    lines = [line for path in LISTS for line in path.read_text().splitlines()]
    lines = [line.split() for line in lines if line and not line.startswith("#")]
    found = {tuple(rest): name for name, *rest in lines}
    for path in sorted((RTL / "filelists").glob("*.f")):
        if not any(files == path.name for files, *_ in found):
            found[path.name, path.stem] = path.stem
    return found | {(f"{top}.f", top, value): f"{top} {value}" for top, value in VARIANTS}


def sources_of(filelist: str) -> list[str]:
    return (RTL / "filelists" / filelist).read_text().split()


def slang_accepts(name: str, top: str, options: list[str]) -> bool:
    """Slang writes what it finds to the standard error itself."""
    driver = Driver()
    driver.addStandardArgs()
    command = " ".join(["slang", *SLANG_FLAGS, "--top", top, *options])
    if not driver.parseCommandLine(command) or not driver.processOptions():
        raise ValueError(command)
    parsed = driver.parseAllSources()
    accepted = driver.runFullCompilation(quiet=True) and parsed
    if not accepted:
        print(f"slang: {name}", file=sys.stderr)
    return accepted


def styles_that_differ(file: str) -> str:
    found = ""
    for number, line in enumerate((RTL / file).read_text().splitlines(), 1):
        style = re.search(r'\bram_style = "(\w+)"', line)
        if style and f', ramstyle = "{STYLES[style[1]]}"' not in line:
            found += f'{file}:{number}: without ramstyle = "{STYLES[style[1]]}"\n'
    return found


def calls_that_wake_each_other(file: str) -> str:
    """Icarus 11 wakes an `always_comb` that calls a package's function at every other call of it: two of them
    never come to rest."""
    text = (RTL / file).read_text()
    found = ""
    for block in re.finditer(r"^( *)always_comb\b.*?^\1(?:end\b|(?=\S))", text, re.MULTILINE | re.DOTALL):
        for call in re.finditer(r"\b\w+_pkg::\w+\(", block[0]):
            number = text.count("\n", 0, block.start() + call.start()) + 1
            found += f"{file}:{number}: a package's function is called in always_comb\n"
    return found


def says(command: list[str]) -> str:
    """What a linter has to say; nothing if all is well."""
    answer = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
    # Newer Verilators end with a report of how long they took.
    output = "".join(
        line for line in (answer.stdout + answer.stderr).splitlines(keepends=True) if line[:2] != "- "
    )
    return output or ("" if answer.returncode == 0 else f"exit status {answer.returncode}\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verilator", action="append", metavar="COMMAND")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="(default: one a processor)")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    files = sorted(str(path.relative_to(RTL)) for path in RTL.rglob("*.sv"))
    complaints = says([str(TOOLS / "verible-verilog-lint"), "--rules_config", "verible.rules", *files])
    complaints += "".join(map(styles_that_differ, files))
    complaints += "".join(map(calls_that_wake_each_other, files))
    print(complaints, end="")
    failed = int(bool(complaints))
    verilators = arguments.verilator or ["verilator"]
    wanted = {
        top: name
        for top, name in tops().items()
        if not arguments.names or any(part in name for part in arguments.names)
    }

    os.chdir(RTL)
    for (filelist, module, *parameters), name in wanted.items():
        options = [f"-G{parameter}" for parameter in parameters]
        failed += not slang_accepts(name, module, [*options, *sources_of(filelist)])
    # A file in no list has one module, of its name; what that takes is looked for by name.
    listed = {file for path in (RTL / "filelists").glob("*.f") for file in sources_of(path.name)}
    folders = [f"-y{folder}" for folder in sorted({str(Path(file).parent) for file in listed} | {"formal"})]
    others = [] if arguments.names else [file for file in files if file not in listed]
    for file in others:
        failed += not slang_accepts(file, Path(file).stem, [file, *folders, "-Y.sv"])

    def lint(top: tuple[str, ...]) -> str:
        filelist, module, *parameters = top
        options = [*FLAGS, *(f"-G{parameter}" for parameter in parameters), "--top-module", module]
        answers = {verilator: says([verilator, *options, *sources_of(filelist)]) for verilator in verilators}
        return "".join(
            f"{verilator}: {wanted[top]}\n{words}" for verilator, words in answers.items() if words
        )

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for complaints in pool.map(lint, wanted):
            print(complaints, end="")
            failed += bool(complaints)
    print(f"{len(files)} files, {len(wanted)} tops, {len(others)} files for tests, {failed} with complaints")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
