#!/usr/bin/env python3
"""Check that no branch and no memory address of the library depends on a secret.

usage: check_poison.py PROGRAM [ARGUMENT...]
       check_poison.py --report FILE.xml

Runs PROGRAM, the binary `poison` of crates/sealcomb-checks with line tables, under valgrind's memcheck, or
reads a report of memcheck. The program marks keys and messages as undefined, so memcheck reports each jump
and each address that depends on them. Each report is a finding, except in the functions of PUBLIC, which
compute public results: verdicts, and lengths of opened messages. Memcheck must also report CONTROLS: a
deliberate branch, a deliberate address, and the verdicts. Prints a few lines per finding and exits with
status 1.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "crates/sealcomb/src/"
PROGRAM = "crates/sealcomb-checks/src/bin/poison.rs"
BUILD = (
    "CARGO_PROFILE_RELEASE_DEBUG=line-tables-only"
    " cargo build --release -p sealcomb-checks --all-features --bin poison"
)
BRANCH, ADDRESS = "UninitCondition", "UninitValue"

# Functions that may branch on values derived from secrets. Their callees may not.
PUBLIC = {
    ("batch.rs", "finish"): "the verdict on a job",
    ("batch.rs", "verdict"): "the verdict on a job or a message of a burst",
    ("batch.rs", "open_one"): "the verdict on a message",
    ("key.rs", "check_key"): "whether the halves of a key of XTS are equal",
    ("key.rs", "open"): "the verdict on a message, and how long it is",
    ("key.rs", "open_in_place_detached"): "the verdict on a message",
    ("engine/message.rs", "wipe_rest"): "how long an opened message is",
    (
        "backend/span.rs",
        "wipe",
    ): "where an output is zeroized: from the length of an opened message, or 0",
}
# Memcheck must report one place of each line. Otherwise it does not see leaks at all.
CONTROLS = (
    {(BRANCH, PROGRAM, "leak_by_a_branch")},
    {(ADDRESS, PROGRAM, "leak_by_an_address")},
    {(BRANCH, LIBRARY + "batch.rs", "finish"), (BRANCH, LIBRARY + "batch.rs", "verdict")},
    {(BRANCH, LIBRARY + "batch.rs", "open_one"), (BRANCH, LIBRARY + "key.rs", "open")},
)

FUNCTION = re.compile(r"(?P<indent>\s*)(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?fn (?P<name>\w+)")


@dataclass(frozen=True)
class Frame:
    """A stack frame. Paths within the repository are relative to its root."""

    name: str
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} ({self.path}:{self.line})"


@cache
def source(path: str) -> list[str]:
    return (ROOT / path).read_text().splitlines()


def function_at(path: str, line: int) -> str | None:
    """Returns the function that contains a source line: the last one above it with less indentation."""
    lines = source(path)
    here = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    for text in reversed(lines[:line]):
        found = FUNCTION.match(text)
        if found and (len(found["indent"]) < here or text == lines[line - 1]):
            return found["name"]
    return None


def last_name(path: str) -> str:
    """Returns the last segment of a path: `c` for `a::b::<T>::c` and `c<T>`."""
    bare = path
    while (shorter := re.sub(r"(?:::)?<[^<>]*>", "", bare)) != bare:
        bare = shorter
    return bare.rsplit("::", 1)[-1]


def frame(element: ET.Element) -> Frame:
    text = {child.tag: child.text or "" for child in element}
    line = int(text.get("line", 0))
    path = str(Path(text.get("dir", "")) / text.get("file", text.get("obj", "?")))
    path = path.removeprefix(f"{ROOT}/")
    # A function inlined from another module has no name here, but a line number.
    ours = path.startswith("crates/")
    name = (function_at(path, line) if ours and line > 0 else None) or last_name(text.get("fn", "?"))
    return Frame(name, path, line)


@dataclass(frozen=True)
class Complaint:
    kind: str
    what: str
    frames: tuple[Frame, ...]

    def ours(self) -> Frame | None:
        """Returns the innermost frame in the library or the program, which is responsible for its callees."""
        found = (frame for frame in self.frames if frame.path.startswith((LIBRARY, PROGRAM)))
        return next(found, None)

    def place(self) -> tuple[str, str, str] | None:
        ours = self.ours()
        return (self.kind, ours.path, ours.name) if ours else None

    def is_public(self) -> bool:
        ours = self.ours()
        return (
            self.kind in (BRANCH, ADDRESS)
            and ours is not None
            and (ours.path.removeprefix(LIBRARY), ours.name) in PUBLIC
        )


def complaints(report: Path) -> Iterator[Complaint]:
    for error in ET.parse(report).getroot().iter("error"):
        frames = tuple(frame(element) for element in error.findall("stack[1]/frame"))
        what = error.findtext("what") or error.findtext("xwhat/text", "?")
        yield Complaint(error.findtext("kind", "?"), what, frames)


def check(report: Path) -> list[str]:
    found = list(complaints(report))
    places = {complaint.place() for complaint in found}
    controls = {place for control in CONTROLS for place in control if place[1] == PROGRAM}
    findings = [
        f"memcheck missed a control: {sorted(f'{kind} in {name}' for kind, _, name in control)}"
        for control in CONTROLS
        if not control & places
    ]
    findings += {
        "\n    ".join([complaint.what, *map(str, complaint.frames[:8])]): None
        for complaint in found
        if not complaint.is_public() and complaint.place() not in controls
    }
    print(f"check_poison.py: {len(found)} reports, {len(findings)} findings")
    return findings


def run(program: list[str], report: Path) -> int:
    command = ["valgrind", "--quiet", "--error-limit=no", "--num-callers=40", "--read-inline-info=yes"]
    return subprocess.run([*command, "--xml=yes", f"--xml-file={report}", *program], check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--report", type=Path)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if arguments.report:
        findings = check(arguments.report)
    elif not (arguments.program and Path(arguments.program[0]).is_file()):
        print(f"check_poison.py: expected the program to check. This builds it:\n  {BUILD}", file=sys.stderr)
        return 2
    else:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            status = run(arguments.program, report)
            if status != 0:
                print(f"check_poison.py: the program failed with status {status}", file=sys.stderr)
                return 1
            findings = check(report)
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
