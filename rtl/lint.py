#!/usr/bin/env python3
"""Lints the SystemVerilog with verible, Verilator and slang.

usage: lint.py [--verilator COMMAND]... [--sample N] [--seed SEED] [--jobs JOBS] [NAME ...]

verible checks all files. Verilator -Wall and slang elaborate every file list, every entry of the lists in
crates/sealcomb-rtl, and the variants of MACsec. slang, the strictest about the language, also checks the
remaining files: properties, testbenches and models.

Five further checks: the tops refuse parameters out of range, with a message; the cores have no memory outside
the files that another technology replaces; each memory has the Quartus attribute that matches its
`ram_style`; a FIFO whose writer ignores `s_ready` asserts that it has room; and no `always_comb` calls a
package function, since Icarus 11 does not terminate on those.

--verilator COMMAND  a Verilator to use, repeatable; `verilator` by default
NAME                 only the tops whose name contains one of these
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyslang.driver import Driver

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "tests"))

from seeds import add_sample, add_seed, announced, sampled  # noqa: E402

RTL = Path(__file__).resolve().parent
TOOLS = Path(sys.executable).parent  # where pip puts commands
LISTS = [RTL.parent / "crates" / "sealcomb-rtl" / name for name in ("tops.list", "variants.list")]
# MACsec has no model in the crate, so its variants are listed here.
VARIANTS = [("macsec100g", f"SUITE={suite}") for suite in (1, 2, 3, 4, 5)]
VARIANTS += [("macsec100g", f"CHANNELS={channels}") for channels in (2, 64)]
VARIANTS += [("macsec100g", value) for value in ("SPLIT=1", "DEPTH=32", "DEPTH=512", "USER=97")]
# Extremes without a model.
VARIANTS += [("gcm512_aes", value) for value in ("STAGES=2", "SLOTS=2", "SLOTS=256")]
VARIANTS += [("ocb512_aes", value) for value in ("AUX=0", "SLOTS=2")]
# No model has parity either.
VARIANTS += [(top, "PARITY=1") for top in ("gcm512_aes", "ocb512_aes", "ocb512_serpent", "macsec100g")]
# Parameters out of range, by top. Verilator must refuse each, and name it.
REFUSED = {
    "gcm": ("SLOTS=3", "KEYS=3", "FIFO=24", "SBOX=3", "SPLIT=2", "STAGES=5"),
    "ocb3": ("SLOTS=32", "KEYS=-1", "FIFO=100", "SBOX=3", "SPLIT=2", "RAGGED=2"),
    "elmd": ("ROUNDS=8", "SLOTS=0", "KEYS=3", "SBOX=3", "SPLIT=2", "FIFO=33", "NONCE_BYTES=12"),
    "copa": ("SLOTS=5", "KEYS=3", "SBOX=3", "FIFO=100"),
    "eme2": ("SLOTS=5", "KEYS=3", "SBOX=3", "STORE=100", "FIFO=33"),
    "serpent_encrypt": ("KEYS=3",),
    "serpent_decrypt": ("KEYS=-1",),
    "gcm512_aes": (
        "KEY_BITS=192",
        "DIRECTION=5",
        "SBOX=3",
        "SPLIT=2",
        "STAGES=3",
        "TAG_BESIDE=2",
        "PARITY=2",
        "SLOTS=6",
    ),
    "gcm512_serpent": ("DIRECTION=3", "STAGES=1", "SLOTS=24"),
    "ocb512_aes": ("KEY_BITS=257", "DIRECTION=5", "AUX=2", "SBOX=3", "TAG_BESIDE=2", "PARITY=-1", "SLOTS=12"),
    "ocb512_serpent": ("DIRECTION=-1", "AUX=-1", "SLOTS=0"),
    "macsec_transmit": ("SUITE=6", "CHANNELS=3", "USER=0", "SBOX=3", "SPLIT=2", "DEPTH=1024", "PARITY=2"),
    "macsec_receive": ("SUITE=7", "CHANNELS=1", "USER=0", "SBOX=3", "SPLIT=2", "DEPTH=100", "PARITY=2"),
    "macsec100g": ("SUITE=-1", "CHANNELS=128"),
    "packet_release": ("BYTES=0", "DEPTH=100", "DEPTH=1"),
}
# Unused outputs are left open, `.name()`. slang reports open inputs.
FLAGS = ("--lint-only", "-Wall", "-Wno-DECLFILENAME", "-Wno-PINCONNECTEMPTY")
SLANG_FLAGS = (
    "-Weverything",
    "-Werror",
    "--error-limit=0",
    # Parameters are `int`, and casting to a width keeps the sign. None is negative.
    "-Wno-sign-compare",
    "-Wno-sign-conversion",
    "-Wno-arith-op-mismatch",
    "-Wno-bitwise-op-mismatch",
    "-Wno-case-type",
    # Verilator reports unused signals; intentional ones are assigned to `unused`.
    "-Wno-unused-but-set-variable",
    # Packages are shared by several tops.
    "-Wno-unused-package-parameter",
    "-Wno-unused-package-subroutine",
    "-Wno-unused-package-typedef",
    # Unused output ports are left open.
    "-Wno-empty-output-connection",
    # Some casts are redundant for some parameters only.
    "-Wno-useless-cast",
    # The formal models initialize registers in `initial`.
    "--allow-dup-initial-drivers",
)
# The only files of these folders with a memory.
MEMORIES = ("common/ram_1r1w.sv", "common/ram_lut.sv", "aes/aes_sbox_ram.sv")
WITHOUT_MEMORIES = ("aes", "common", "engine", "gf128", "macsec", "modes", "serpent")
# The Quartus `ramstyle` that each `ram_style` requires.
STYLES = {"block": "M20K", "distributed": "MLAB"}


def tops() -> dict[tuple[str, ...], str]:
    """Returns the name of each top by (file list, module, parameters). A file list without an entry is
    the top of the same name."""
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
    """Returns whether slang elaborates the top without findings; slang prints these to standard error."""
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


def style_mismatches(file: str) -> str:
    found = ""
    for number, line in enumerate((RTL / file).read_text().splitlines(), 1):
        style = re.search(r'\bram_style = "(\w+)"', line)
        if style and f', ramstyle = "{STYLES[style[1]]}"' not in line:
            found += f'{file}:{number}: ram_style = "{style[1]}" requires ramstyle = "{STYLES[style[1]]}"\n'
    return found


def loose_memories(file: str) -> str:
    """Reports arrays of a core that are no instance of the files that another technology replaces, and other
    uses of `ram_style`."""
    if file in MEMORIES or not file.startswith(tuple(f"{folder}/" for folder in WITHOUT_MEMORIES)):
        return ""
    text = (RTL / file).read_text()
    # Arrays of any type; the width may have brackets of its own.
    arrays = re.findall(r"^ *(?:logic|\w+_t)\b *(?:\[[^;=]*?\])? *(\w+) *\[[^;]*;", text, re.MULTILINE)
    loose = [name for name in arrays if re.search(rf"\b{name}\[.*\] *<=", text)]
    loose += ["what has `ram_style`"] * bool(re.search(r"\bram_style\b", text) and not loose)
    return "".join(f"{file}: {name} is a memory; use an instance of ram_1r1w or ram_lut\n" for name in loose)


def unchecked_fifos(file: str) -> str:
    """Reports instances of stream_fifo whose writer ignores `s_ready`, without the assertion of CREDITS=1."""
    text = (RTL / file).read_text()
    found = ""
    for fifo in re.finditer(r"\bstream_fifo #\((.*?)\n *\) (\w+) \((.*?)\n *\);", text, re.DOTALL):
        if re.search(r"\.s_ready\(\)", fifo[3]) and ".CREDITS(1)" not in fifo[1]:
            found += f"{file}: {fifo[2]} needs CREDITS(1), since its writer ignores s_ready\n"
    return found


def package_calls(file: str) -> str:
    """Reports calls of package functions in `always_comb`. Icarus 11 re-evaluates such a block at every
    other call of the function, so two of them never settle."""
    text = (RTL / file).read_text()
    found = ""
    for block in re.finditer(r"^( *)always_comb\b.*?^\1(?:end\b|(?=\S))", text, re.MULTILINE | re.DOTALL):
        for call in re.finditer(r"\b\w+_pkg::\w+\(", block[0]):
            number = text.count("\n", 0, block.start() + call.start()) + 1
            found += f"{file}:{number}: package function called in always_comb, where Icarus 11 hangs\n"
    return found


def findings(command: list[str]) -> str:
    """Returns the output of a linter; empty if it found nothing."""
    answer = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
    # Newer Verilators end with a report of their run time.
    output = "".join(
        line for line in (answer.stdout + answer.stderr).splitlines(keepends=True) if line[:2] != "- "
    )
    return output or ("" if answer.returncode == 0 else f"exit status {answer.returncode}\n")


def unrefused(top: str, parameters: tuple[str, ...], verilator: str) -> str:
    """Reports the parameters out of range that Verilator accepts, or refuses without their names."""
    values = [f"-G{parameter}" for parameter in parameters]
    command = [verilator, *FLAGS, *values, "--top-module", top, *sources_of(f"{top}.f")]
    answer = subprocess.run(command, cwd=RTL, capture_output=True, text=True, check=False)
    refused = set(re.findall(r"module.*\b(\w+)_must_be_", answer.stderr)) if answer.returncode else set()
    lost = [each for each in parameters if each.partition("=")[0].lower() not in refused]
    return "".join(f"{top}: {parameter} not refused with a message\n" for parameter in lost)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verilator", action="append", metavar="COMMAND")
    add_sample(parser, "top")
    add_seed(parser)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="(default: one per processor)")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    files = sorted(str(path.relative_to(RTL)) for path in RTL.rglob("*.sv"))
    output = findings([str(TOOLS / "verible-verilog-lint"), "--rules_config", "verible.rules", *files])
    output += "".join(map(style_mismatches, files))
    output += "".join(map(loose_memories, files))
    output += "".join(map(unchecked_fifos, files))
    output += "".join(map(package_calls, files))
    print(output, end="")
    failed = int(bool(output))
    verilators = arguments.verilator or ["verilator"]
    seed = announced(arguments.seed)
    matching = [
        (top, name)
        for top, name in tops().items()
        if not arguments.names or any(part in name for part in arguments.names)
    ]
    wanted = dict(sampled(matching, arguments.sample, seed)) if matching else {}

    os.chdir(RTL)
    for (filelist, module, *parameters), name in wanted.items():
        options = [f"-G{parameter}" for parameter in parameters]
        failed += not slang_accepts(name, module, [*options, *sources_of(filelist)])
    # A file in no list has one module, named like the file; its submodules are found by name.
    listed = {file for path in (RTL / "filelists").glob("*.f") for file in sources_of(path.name)}
    folders = [f"-y{folder}" for folder in sorted({str(Path(file).parent) for file in listed} | {"formal"})]
    others = [] if arguments.names else [file for file in files if file not in listed]
    for file in others:
        failed += not slang_accepts(file, Path(file).stem, [file, *folders, "-Y.sv"])

    def lint(top: tuple[str, ...]) -> str:
        filelist, module, *parameters = top
        options = [*FLAGS, *(f"-G{parameter}" for parameter in parameters), "--top-module", module]
        answers = {
            verilator: findings([verilator, *options, *sources_of(filelist)]) for verilator in verilators
        }
        return "".join(
            f"{verilator}: {wanted[top]}\n{words}" for verilator, words in answers.items() if words
        )

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for output in pool.map(lint, wanted):
            print(output, end="")
            failed += bool(output)
    out_of_range = [
        (top, values) for top, values in REFUSED.items() if any(top in names for names in wanted.values())
    ]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for output in pool.map(lambda pair: unrefused(*pair, verilators[0]), out_of_range):
            print(output, end="")
            failed += bool(output)
    print(f"{len(files)} files, {len(wanted)} tops, {len(others)} test files, {failed} with findings")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
