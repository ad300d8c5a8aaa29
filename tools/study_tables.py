#!/usr/bin/env python3
"""Write the tables of README.md and docs/performance.md from docs/study.json.

usage: study_tables.py [--check | --measure | --compare REV | --same REV] [--root FOLDER]

--measure      first measure again, for several minutes on an idle machine, and write docs/study.json. Each
               figure is the minimum of several studies, because other load on the machine only adds to it
--compare REV  keep the figures for changed kernels that are as fast as those of REV, which were measured:
               study both in turn, on an idle machine, and note the comparison in docs/study.json. This is
               for a CPU that lacks a backend of the tables. Algorithms that seem slower are studied again, up
               to 20 times. Fails if a figure is more than 5 % slower after that
--same REV     keep the figures for a change that leaves the machine code of the kernels as in REV, which were
               measured or compared: build both, and note the digest in docs/study.json. Constants are not
               compared. The compiler may allocate registers differently in one kernel of twenty, if its
               number of instructions changes by at most 1 %
--check        change nothing; fail if a table differs from the study, or if the kernels changed after it

docs/study.json contains the results of a study that the tables need, the machine, the date, and a digest
of the measured kernels: the code under crates/sealcomb/src/{backend,primitives,engine,modes}, without
comments, tests and layout. If you change that code, measure again, or compare.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import check_assembly
import check_layers

HERE = Path(__file__).resolve().parent
SOURCES = Path("crates/sealcomb/src")
KERNELS = ("backend", "engine", "modes", "primitives")
STUDY = Path("docs/study.json")
COMMAND = "cargo run --release -- study --full --lengths 2048,mix"
MEASURE = "tools/study_tables.py --measure"
COMPARE = "tools/study_tables.py --compare"
SAME = "tools/study_tables.py --same"
STUDIES = 5
# The part of the kernels whose code may change with --same, and the change of their numbers of instructions.
SAME_KERNELS = 0.05
SAME_LENGTH = 0.01
CONSTANT = re.compile(r"\.L\S+|anon\.\S+|\.(?:rodata|data)\S*|movabs \$0x[0-9a-f]+")
# A comparison fails if the new kernels take longer than the old ones by this factor.
SLOWER = 1.05
# A comparison studies both commits so often, and kernels that seem slower, because of other load, again.
STUDIES_OF_BOTH = 3
STUDIES_AGAIN = 20
# The parts of the study that are lists of figures.
LISTS = ("results", "rooflines")
# More processes than this that want to run, and a study measures them too.
IDLE = 0.7

BACKENDS = ("portable", "aesni", "vaes256", "vaes512")
# The name that selects every mode with AES and 128-bit keys.
MEASURED = "aes128"
# Modes that run another mode's kernels, with other tags or other additional data. They are in no table.
VARIANTS = ("ocb3-t64", "ocb3-t96", "otr-s", "elmd-it127", "elmd-vartag")
# The README shows the standard modes that most users choose from; docs/performance.md shows all.
README_MODES = ("gcm", "gcm-siv", "siv", "ccm", "eax", "ocb3-t128", "cmac", "gmac")
README_ALGORITHMS = [f"aes128-{mode}" for mode in README_MODES]

# ---- the kernels


def code_of(source: str) -> str:
    """Returns the tokens of Rust code, one per line, without comments and tests."""
    literals: list[str] = []

    def stand_in(found: re.Match) -> str:
        if found["literal"] is None:
            return " "
        literals.append(found[0])
        return f" literal{len(literals) - 1} "

    tokens = check_layers.TOKEN.findall(check_layers.COMMENT_OR_LITERAL.sub(stand_in, source))
    kept = check_layers.without_tests([(token, 0) for token in tokens])
    place = re.compile(r"literal(\d+)")
    return "\n".join(
        literals[int(found[1])] if (found := place.fullmatch(token)) else token for token, _ in kept
    )


def digest_of_kernels(root: Path) -> str:
    files = sorted(file for part in KERNELS for file in (root / SOURCES / part).rglob("*.rs"))
    if not files:
        sys.exit(f"{root / SOURCES}: no kernels")
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root)}\n{code_of(file.read_text())}\n".encode())
    return digest.hexdigest()


# ---- the study


def rounded(value: float | None) -> float | None:
    return value if value is None else float(f"{value:.4g}")


def algorithms(study: dict) -> list[str]:
    """Returns the algorithms in the tables, in the order of the study."""
    left_out = {f"{MEASURED}-{mode}" for mode in VARIANTS}
    ids = dict.fromkeys(result["algorithm"] for result in study["results"])
    return [name for name in ids if name.startswith(f"{MEASURED}-") and name not in left_out]


def condensed(study: dict, digest: str) -> dict:
    """Returns the part of a study that the tables need."""
    shown = algorithms(study)
    kept = ("algorithm", "backend", "schedule", "lengths", "cpb", "bound_cpb")
    results = [
        {name: rounded(result[name]) if isinstance(result[name], float) else result[name] for name in kept}
        for result in study["results"]
        if result["algorithm"] in shown
        and result["direction"] == "seal"
        and result["keys"] == 1
        and result["schedule"] in ("auto", "single")
        and result["backend"] in BACKENDS
    ]
    rooflines = [
        {
            "algorithm": roofline["algorithm"],
            "messages": roofline["messages"],
            "bytes": roofline["bytes"],
            "cycles": rounded(roofline["cycles"]),
            "units": {asked["unit"]: rounded(asked["cycles"]) for asked in roofline["units"]},
        }
        for roofline in study["rooflines"]
        if roofline["algorithm"] in shown
    ]
    return {
        "command": COMMAND,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "kernels": digest,
        "machine": study["machine"],
        "results": sorted(results, key=lambda result: shown.index(result["algorithm"])),
        "rooflines": sorted(rooflines, key=lambda roofline: shown.index(roofline["algorithm"])),
    }


def written(study: dict) -> str:
    """Returns the study as JSON, one result per line."""
    text = json.dumps(study | {name: [] for name in LISTS}, indent=2)
    for name in LISTS:
        lines = ",\n".join(f"    {json.dumps(one)}" for one in study[name])
        text = text.replace(f'"{name}": []', f'"{name}": [\n{lines}\n  ]')
    return text + "\n"


def results_of(study: dict) -> dict[tuple, dict]:
    """Returns the results of a study by algorithm, backend, schedule and lengths."""
    names = ("algorithm", "backend", "schedule", "lengths")
    return {tuple(result[name] for name in names): result for result in study["results"]}


def figures_of(study: dict) -> dict[tuple, float]:
    """Returns the cycles per byte of each result."""
    return {name: result["cpb"] for name, result in results_of(study).items()}


def json_option(root: Path) -> str:
    """Returns the option of the study in this tree that names a file for JSON. At first, it was `--json`."""
    source = root / "crates/sealcomb-cli/src/study/mod.rs"
    is_old = source.exists() and "json_file" not in source.read_text()
    return "--json" if is_old else "--json-file"


def study_once(root: Path, target: Path | None = None, modes: str = MEASURED) -> dict:
    environment = {name: value for name, value in os.environ.items() if name != "SEALCOMB_BACKEND"}
    if target:
        environment["CARGO_TARGET_DIR"] = str(target)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.json"
        subprocess.run(
            [*COMMAND.split(), "--modes", modes, json_option(root), file],
            check=True,
            cwd=root,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        study = json.loads(file.read_text())
    missing = set(README_ALGORITHMS) - set(algorithms(study))
    if modes == MEASURED and missing:
        sys.exit(f"the study lacks {', '.join(sorted(missing))}")
    return study


def fastest(studies: list[dict]) -> dict:
    """Returns the minimum of each figure over several studies."""
    best, *others = studies
    for study in others:
        for mine, other in zip(best["results"], study["results"], strict=True):
            mine["cpb"] = min(mine["cpb"], other["cpb"])
            mine["bound_cpb"] = min(mine["bound_cpb"], other["bound_cpb"])
        for mine, other in zip(best["rooflines"], study["rooflines"], strict=True):
            mine["cycles"] = min(mine["cycles"], other["cycles"])
            mine["units"] = {
                unit: min(cycles, other["units"][unit]) for unit, cycles in mine["units"].items()
            }
    return best


def require_idle_machine() -> None:
    load = os.getloadavg()[0]
    if load > IDLE:
        sys.exit(f"load {load:.1f}; measuring requires an idle machine, with a load of at most {IDLE}")


def measure(root: Path) -> None:
    require_idle_machine()
    digest = digest_of_kernels(root)
    studies = [study_once(root) for _ in range(STUDIES)]
    if digest_of_kernels(root) != digest:
        sys.exit("the kernels changed during the measurement; measure again")
    (root / STUDY).write_text(written(fastest([condensed(study, digest) for study in studies])))


def git(root: Path, *words: str | Path) -> None:
    subprocess.run(["git", "-C", root, *words], check=True, stdout=subprocess.DEVNULL)


def compare(root: Path, revision: str) -> None:
    """Notes in the study that the kernels are as fast as those it measured, which are those of `revision`."""
    require_idle_machine()
    study = json.loads((root / STUDY).read_text())
    digest = digest_of_kernels(root)
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")).resolve()
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        git(root, "worktree", "add", "--detach", old, revision)
        try:
            if digest_of_kernels(old) != study["kernels"]:
                sys.exit(f"{STUDY} was measured with other kernels than those of {revision}")
            trees = ((old, target / "compared"), (root, target))
            rounds = [
                [condensed(study_once(*tree), digest) for tree in trees] for _ in range(STUDIES_OF_BOTH)
            ]
            before, after = (figures_of(fastest(list(studies))) for studies in zip(*rounds, strict=True))
            for _ in range(STUDIES_AGAIN):
                again = sorted({name[0] for name in after if after[name] > SLOWER * before[name]})
                if not again:
                    break
                print(f"studied again: {', '.join(again)}", flush=True)
                for tree, best in zip(trees, (before, after), strict=True):
                    part = condensed(study_once(*tree, ",".join(again)), digest)
                    for name, cpb in figures_of(part).items():
                        best[name] = min(best[name], cpb)
        finally:
            git(root, "worktree", "remove", "--force", old)
    if digest_of_kernels(root) != digest:
        sys.exit("the kernels changed during the measurement; compare again")
    ratios = {name: after[name] / before[name] for name in after}
    slower = {name: ratio for name, ratio in ratios.items() if ratio > SLOWER}
    for name, ratio in sorted(ratios.items(), key=lambda pair: -pair[1])[: max(len(slower), 3)]:
        print(f"{ratio:.3f} of the time of {revision}: {', '.join(map(str, name))}")
    if slower:
        sys.exit(
            f"{len(slower)} of {len(ratios)} figures are more than {SLOWER - 1:.0%} slower; nothing written"
        )
    study["compared"] = {
        "kernels": digest,
        "date": rounds[0][1]["date"],
        "machine": rounds[0][1]["machine"],
        "figures": len(ratios),
        "slowest": round(max(ratios.values()), 3),
    }
    lists = {name: study.pop(name) for name in LISTS}
    (root / STUDY).write_text(written(study | lists))


def instructions_of_kernels(root: Path) -> dict[str, list[str]]:
    """Builds the library of a tree. Returns the machine code of each kernel, without hashes of symbols."""
    library = check_assembly.build_library("x86_64-unknown-linux-gnu", root)
    listing = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", library], capture_output=True, text=True, check=True
    )
    # c++filt does not find the names of functions in those of their sections.
    text = re.sub(r"\.text\.(?=_R)", "", listing.stdout)
    plain = subprocess.run(
        ["c++filt", "--format=rust"], input=text, capture_output=True, text=True, check=True
    )
    kernels: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in check_assembly.NOISE.sub("", plain.stdout).splitlines():
        if found := check_assembly.FUNCTION_LINE.match(line):
            lines = []
            if check_assembly.ENTRY.match(found["name"]):
                kernels[found["name"]] = lines
        elif line.startswith((" ", "\t")):
            # Names of constants, and identifiers of types, differ from build to build.
            lines.append(CONSTANT.sub("constant", line))
    return kernels


def changed_kernels(before: dict[str, list[str]], after: dict[str, list[str]]) -> set[str]:
    """Returns the kernels whose machine code changed. Exits if too many did, or one by too much."""
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    lengths = {name: [len(kernels.get(name, [])) for kernels in (before, after)] for name in changed}
    larger = [name for name, (old, new) in lengths.items() if abs(new - old) > SAME_LENGTH * old]
    if larger or not after or len(changed) > SAME_KERNELS * len(after):
        sys.exit(
            f"{len(changed)} of {len(after)} kernels differ, such as {min(larger or changed, default='none')}"
        )
    return changed


def same(root: Path, revision: str) -> None:
    """Notes in the study that the kernels have the machine code of those of `revision`."""
    study = json.loads((root / STUDY).read_text())
    digest = digest_of_kernels(root)
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        git(root, "worktree", "add", "--detach", old, revision)
        try:
            earlier = digest_of_kernels(old)
            notes = [note for note in (study, study.get("compared", {})) if note.get("kernels") == earlier]
            if not notes:
                sys.exit(f"{STUDY} has no figures for the kernels of {revision}")
            before, after = instructions_of_kernels(old), instructions_of_kernels(root)
        finally:
            git(root, "worktree", "remove", "--force", old)
    changed = changed_kernels(before, after)
    print(f"{len(after) - len(changed)} kernels have the machine code of {revision}, {len(changed)} nearly")
    for note in notes:
        note["kernels"] = digest
    lists = {name: study.pop(name) for name in LISTS}
    (root / STUDY).write_text(written(study | lists))


# ---- the tables


class Figures:
    """The figures of a study by algorithm, backend, schedule and lengths; all for sealing under one key."""

    def __init__(self, study: dict) -> None:
        self.study = study
        self.here = study["machine"]["backend"]
        self.results = results_of(study)
        self.backends = [backend for backend in BACKENDS if any(key[1] == backend for key in self.results)]

    def cell(self, algorithm: str, backend: str, lengths: int | str, schedule: str = "auto") -> dict:
        return self.results[algorithm, backend, schedule, lengths]

    def provenance(self) -> str:
        machine, date = self.study["machine"], datetime.date.fromisoformat(self.study["date"])
        return f"Measured on {date.day} {date:%B %Y} on this CPU: {machine['cpu']}."

    def comment(self) -> str:
        digest = self.study["kernels"][:16]
        return f"<!-- written by tools/study_tables.py from docs/study.json; kernels {digest} -->"


def cpb(value: float) -> str:
    """Formats a figure with three digits."""
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1}f}"  # noqa: PLR2004


def fraction(result: dict) -> str:
    return f"{result['bound_cpb'] / result['cpb']:.2f}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def paragraph(*parts: str) -> list[str]:
    return textwrap.wrap(" ".join(parts), 120, break_long_words=False, break_on_hyphens=False)


def speeds(figures: Figures) -> list[str]:
    """README: the standard modes on each backend, at 2048 bytes."""
    rows = []
    for name in README_ALGORITHMS:
        cells = [figures.cell(name, backend, 2048) for backend in figures.backends]
        rows.append([f"`{name}`", *(f"{cpb(cell['cpb'])} ({fraction(cell)})" for cell in cells)])
    text = paragraph(
        "Cycles per byte for sealing a batch of 64 messages of 2048 bytes under one key: minimum of five",
        "runs, including job construction. In parentheses: the fraction of the mode's",
        "[bound](docs/performance.md#bounds), the maximum speed that its AES rounds and multiplications",
        "allow on that backend.",
        figures.provenance(),
    )
    return [*table(["algorithm", *(f"`{name}`" for name in figures.backends)], rows), "", *text]


def reached(figures: Figures) -> list[str]:
    """docs/performance.md: the best backend compared with its bound, and the next one."""
    here, others = figures.here, figures.backends[: figures.backends.index(figures.here)]
    narrow = others[-1] if others else None
    head = [
        "algorithm",
        "bound",
        "batch, 2048 bytes",
        "of bound",
        "batch, mix of packets",
        "of bound",
        "speedup over single",
    ]
    rows = []
    for name in algorithms(figures.study):
        fixed, mix = (figures.cell(name, here, lengths) for lengths in (2048, "mix"))
        speed_up = figures.cell(name, here, 2048, "single")["cpb"] / fixed["cpb"]
        row = [f"`{name}`", cpb(fixed["bound_cpb"]), cpb(fixed["cpb"]), fraction(fixed)]
        row += [cpb(mix["cpb"]), fraction(mix), f"{speed_up:.1f}"]
        if narrow:
            row.append(", ".join(fraction(figures.cell(name, narrow, lengths)) for lengths in (2048, "mix")))
        rows.append(row)
    last = []
    if narrow:
        head.append(f"`{narrow}`: of bound")
        last = [f"The last column is for `{narrow}`, at 2048 bytes and on the mix."]
    text = paragraph(
        f"Cycles per byte with `{here}`. “Of bound” is the bound divided by the measured figure. The speedup",
        "over single messages is for 2048 bytes.",
        *last,
        figures.provenance(),
    )
    return [*text, "", *table(head, rows)]


def units(figures: Figures) -> list[str]:
    """docs/performance.md: the load on each unit of the CPU."""
    rooflines = figures.study["rooflines"]
    if not any(roofline["units"] for roofline in rooflines):
        return paragraph(
            "No instructions were counted, because the machine does not allow one process to trace another."
        )
    names = {name: name.replace("-", " ").replace("aes", "AES") for name in rooflines[0]["units"]}
    rows = []
    for roofline in rooflines:
        asked = roofline["units"]
        full = max(asked, key=asked.get)
        row = [f"`{roofline['algorithm']}`", *(f"{cycles:.2f}" for cycles in asked.values())]
        rows.append(
            [*row, names[full], f"{roofline['cycles']:.2f}", f"{asked[full] / roofline['cycles']:.2f}"]
        )
    text = paragraph(
        f"Cycles per block of 16 bytes for sealing {rooflines[0]['messages']} messages",
        f"of {rooflines[0]['bytes']} bytes with `{figures.here}`.",
        figures.provenance(),
    )
    head = ["algorithm", *names.values(), "bottleneck", "measured", "bottleneck / measured"]
    return [*text, "", *table(head, rows)]


PLACES = (
    (Path("README.md"), "study", speeds),
    (Path("docs/performance.md"), "reached", reached),
    (Path("docs/performance.md"), "units", units),
)


def filled(text: str, file: Path, name: str, lines: list[str]) -> str:
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{file}: expected one line {begin.strip()} and one {end}")
    before, rest = text.split(begin)
    return before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]


def check_age(root: Path, study: dict) -> str | None:
    if digest_of_kernels(root) in (study["kernels"], study.get("compared", {}).get("kernels")):
        return None
    return (
        f"{STUDY} is from {study['date']}, and the kernels changed since. On an idle machine, run\n"
        f"    {MEASURE}\n"
        "which takes several minutes and updates the tables, and commit the result with your change. If the\n"
        f"CPU lacks a backend of the tables, run `{COMPARE} REV` with the commit that was measured. If the\n"
        f"change leaves the machine code as it was, run `{SAME} REV` with the commit before it"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=HERE.parent)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true")
    choice.add_argument("--measure", action="store_true")
    choice.add_argument("--compare", metavar="REV")
    choice.add_argument("--same", metavar="REV")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    if arguments.measure:
        measure(root)
    if not (root / STUDY).exists():
        sys.exit(f"{STUDY} does not exist; create it on an idle machine with\n    {MEASURE}")
    if arguments.compare:
        compare(root, arguments.compare)
    if arguments.same:
        same(root, arguments.same)
    study = json.loads((root / STUDY).read_text())
    figures = Figures(study)
    found = []
    for file, name, lines in PLACES:
        text = (root / file).read_text()
        new = filled(text, file, name, [figures.comment(), "", *lines(figures)])
        if new == text:
            continue
        if arguments.check:
            found.append(
                f"{file}: table `{name}` differs from {STUDY}; run tools/study_tables.py to update it"
            )
        else:
            (root / file).write_text(new)
            print(f"{file}: written")
    found += filter(None, [check_age(root, study)])
    for finding in found:
        print(finding, file=sys.stderr)
    if not found:
        print(f"the tables agree with {STUDY} from {study['date']}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
