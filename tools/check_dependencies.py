#!/usr/bin/env python3
"""Check the locked dependencies: licenses, sources, advisories, and whether a version was yanked.

usage: check_dependencies.py [--metadata FILE] [--advisories FILE] [--yanked] [--update FOLDER]

Reads the packages of every workspace in the repository from `cargo metadata` (or its output from FILE), for
all targets and features, including tests and benchmarks. Findings are:

- a license that ALLOWED does not list. `OR` needs one side, `AND` both. Packages without a valid SPDX
  expression are findings, too;
- a source other than crates.io and this repository;
- a version with an advisory in tools/advisories.tsv that is not in ACCEPTED.

--yanked   check instead whether crates.io still offers every locked version; requires a network
--update   regenerate tools/advisories.tsv from FOLDER, a clone of RustSec's advisory database
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADVISORIES = ROOT / "tools" / "advisories.tsv"
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",  # for data: the root certificates that a TLS crate includes for Android
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "OpenSSL",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
# Advisories that do not affect this project, each with the reason.
ACCEPTED: dict[str, str] = {}
TOKEN = re.compile(r"[()]|[\w.+-]+(?:\s+WITH\s+[\w.+-]+)?|/")
BOUND = re.compile(r"(<=|>=|<|>|=|\^|)\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\w.-]+))?(?:\+[\w.-]+)?")


class Expression:
    """An SPDX expression. The older `/` means OR."""

    def __init__(self, text: str) -> None:
        self.tokens = TOKEN.findall(text)
        if "".join(self.tokens).replace(" ", "") != text.replace(" ", ""):
            raise ValueError(text)

    def allowed(self) -> bool:
        result = self.any_of()
        if self.tokens:
            raise ValueError(self.tokens[0])
        return result

    def any_of(self) -> bool:
        result = self.all_of()
        while self.tokens and self.tokens[0] in ("OR", "/"):
            self.tokens.pop(0)
            result = self.all_of() or result
        return result

    def all_of(self) -> bool:
        result = self.one()
        while self.tokens and self.tokens[0] == "AND":
            self.tokens.pop(0)
            result = self.one() and result
        return result

    def one(self) -> bool:
        if not self.tokens:
            raise ValueError("something is missing")
        token = self.tokens.pop(0)
        if token != "(":
            return re.sub(r"\s+", " ", token) in ALLOWED
        result = self.any_of()
        if not self.tokens or self.tokens.pop(0) != ")":
            raise ValueError("a bracket is not closed")
        return result


# ---- Versions: Cargo's order and requirements.


def read_bound(text: str) -> tuple[str, int, tuple]:
    """Returns the operator, the number of components of the version, and a sort key."""
    found = BOUND.fullmatch(text.strip())
    if not found:
        raise ValueError(f"cannot read the version {text!r}")
    operator, *numbers, before = found.groups()
    named = sum(number is not None for number in numbers)
    # 1.0.0-alpha.1 < 1.0.0-alpha.b < 1.0.0
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in (before or "").split(".")]
    return operator, named, (*(int(number or 0) for number in numbers), parts if before else [(2,)])


def caret(version: tuple, named: int) -> tuple:
    """Returns the lowest version that is no longer compatible."""
    leading = next((i for i in range(named) if version[i] != 0), named - 1)
    numbers = [*version[:leading], version[leading] + 1, 0, 0]
    return (*numbers[:3], [(-1,)])


def meets(version: str, requirement: str) -> bool:
    """Returns whether a version meets a requirement such as `>= 1.2.3, < 2`."""
    _, _, place = read_bound(version)
    for part in requirement.split(","):
        operator, named, bound = read_bound(part)
        if operator in ("", "^"):
            met = bound <= place < caret(bound, named)
        elif operator == "=":
            met = place[:named] == bound[:named] and (named < len("1.2") or place == bound)
        else:
            met = {"<": place < bound, "<=": place <= bound, ">": place > bound, ">=": place >= bound}[
                operator
            ]
        if not met:
            return False
    return True


# ---- Checks of a package.


def license_finding(package: dict) -> str | None:
    if not package["license"]:
        return "names no license"
    try:
        return None if Expression(package["license"]).allowed() else package["license"]
    except ValueError:
        return f"{package['license']!r} is not a license expression"


def source_finding(package: dict) -> str | None:
    source = package.get("source")
    if source is None:
        inside = Path(package["manifest_path"]).is_relative_to(ROOT)
        return None if inside else f"is outside the repository, at {package['manifest_path']}"
    return None if source == CRATES_IO else f"comes from {source}"


def read_advisories(file: Path) -> dict[str, list[tuple[str, str, list[str]]]]:
    """Returns, for each crate, its advisories with their kind and the unaffected versions."""
    found: dict[str, list] = {}
    for line in file.read_text().splitlines():
        if line and not line.startswith("#"):
            name, advisory, kind, safe = line.split("\t")
            found.setdefault(name, []).append((advisory, kind, safe.split(" | ") if safe else []))
    return found


def advisory_findings(package: dict, advisories: dict) -> Iterator[str]:
    for advisory, kind, safe in advisories.get(package["name"], []):
        if advisory not in ACCEPTED and not any(meets(package["version"], range_) for range_ in safe):
            yield f"{advisory} ({kind})"


def findings(package: dict, advisories: dict) -> Iterator[str]:
    for found in (license_finding(package), source_finding(package), *advisory_findings(package, advisories)):
        if found:
            yield f"{package['name']} {package['version']}: {found}"


# ---- Sources of packages and advisories.


def workspaces() -> Iterator[list[dict]]:
    """Returns the packages in the lock file of every workspace in the repository."""
    command = ["git", "ls-files", "*Cargo.toml"]
    for line in subprocess.check_output(command, cwd=ROOT, text=True).splitlines():
        if "workspace" in tomllib.loads((ROOT / line).read_text()):
            command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
            command += ["--manifest-path", str(ROOT / line)]
            yield json.loads(subprocess.check_output(command, text=True))["packages"]


def yanked(packages: list[dict]) -> list[str]:
    """Returns the locked versions of a workspace that cargo's resolver refuses, because they were yanked."""
    wanted = sorted({(package["name"], package["version"]) for package in packages if package["source"]})
    found = []
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder) / "Cargo.toml"
        (Path(folder) / "src").mkdir()
        (Path(folder) / "src" / "lib.rs").touch()
        while True:
            lines = ['[package]\nname = "pins"\nversion = "0.0.0"\n[workspace]\n[dependencies]']
            lines += [
                f'p{i} = {{ package = "{name}", version = "={version}", default-features = false }}'
                for i, (name, version) in enumerate(wanted)
            ]
            manifest.write_text("\n".join(lines))
            command = ["cargo", "generate-lockfile", "--quiet", "--manifest-path", str(manifest)]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
            if answer.returncode == 0:
                return found
            name = re.search(r"requirement `(\S+) = \"=(\S+)\"`", answer.stderr)
            if not name or "is yanked" not in answer.stderr:
                raise RuntimeError(answer.stderr)
            wanted.remove(name.groups())
            found.append(f"{name[1]} {name[2]}: yanked")


def update(database: Path) -> int:
    """Regenerates the advisories. Only facts are stored: crates and versions."""
    commit, date = subprocess.check_output(
        ["git", "-C", database, "log", "-1", "--format=%H %cs"], text=True
    ).split()
    rows = []
    for file in sorted((database / "crates").rglob("RUSTSEC-*.md")):
        front = tomllib.loads(re.match(r"```toml\n(.*?)```", file.read_text(), re.DOTALL)[1])
        advisory, versions = front["advisory"], front["versions"]
        safe = versions.get("patched", []) + versions.get("unaffected", [])
        for bound in ",".join(safe).split(",") if safe else []:
            read_bound(bound)  # raises an error if it cannot be parsed
        if "withdrawn" not in advisory:
            kind = advisory.get("informational", "vulnerability")
            rows.append("\t".join((advisory["package"], advisory["id"], kind, " | ".join(safe))))
    head = (
        f"# RustSec's advisories for crates as of {date}, commit {commit[:12]}, except withdrawn ones.\n"
        "# Written by `tools/check_dependencies.py --update`; rustsec.org has the texts.\n"
        "# Columns: crate, advisory, kind, unaffected versions.\n"
    )
    ADVISORIES.write_text(head + "\n".join(sorted(rows)) + "\n")
    print(f"{len(rows)} advisories as of {date}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--metadata", type=Path, metavar="FILE")
    parser.add_argument("--advisories", type=Path, default=ADVISORIES, metavar="FILE")
    parser.add_argument("--yanked", action="store_true")
    parser.add_argument("--update", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.update:
        return update(arguments.update)
    file = arguments.metadata
    every = [json.loads(file.read_text())["packages"]] if file else list(workspaces())
    if arguments.yanked:
        found = {line for packages in every for line in yanked(packages)}
    else:
        advisories = read_advisories(arguments.advisories)
        found = {line for packages in every for package in packages for line in findings(package, advisories)}
    for line in sorted(found):
        print(line, file=sys.stderr)
    count = len({(package["name"], package["version"]) for packages in every for package in packages})
    print(f"{count} packages in {len(every)} workspaces, {len(found)} findings")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
