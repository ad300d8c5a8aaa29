#!/usr/bin/env python3
"""Check that what SECURITY.md names as the checks of its claims exists.

usage: check_claims.py [--root FOLDER]

In the section "What is claimed", every claim is a heading with a list of checks. Each path in
backticks must be in the tree, each `./dev WORD` a word, and each name of a test must be defined in a
file that the same item of the list names. The faults in tools/mutations must break one of the claims.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]+")
# Names of tests are sentences.
TEST = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+){3,}")


def claims(page: str) -> dict[str, list[str]]:
    """The paragraphs and items of each claim, by its heading."""
    section = page.split("\n## What is claimed\n", 1)[-1].split("\n## ", 1)[0]
    found = {}
    for part in section.split("\n### ")[1:]:
        heading, text = part.split("\n", 1)
        found[heading.strip()] = [
            " ".join(item.split()) for item in re.split(r"\n(?=- )|\n\n", text) if item.strip()
        ]
    return found


def words(root: Path) -> set[str]:
    recipes = [*(root / "tools/dev").glob("*.sh"), *root.glob("*/dev.sh"), *root.glob("crates/*/dev.sh")]
    return {word for path in recipes for word in re.findall(r"^word (\S+)", path.read_text(), re.MULTILINE)}


def defines(path: Path, test: str) -> bool:
    return re.search(rf"\b(?:fn|def) {test}\b", path.read_text()) is not None


def problems_of(root: Path, item: str, known: set[str]) -> Iterator[str]:
    names = re.findall(r"`([^`]+)`", item)
    paths = [name for name in names if PATH.fullmatch(name)]
    for name in paths:
        if not (root / name).exists():
            yield f"{name} is not there"
    files = [root / name for name in paths if (root / name).is_file()]
    for name in names:
        if word := re.fullmatch(r"\./dev (\S+).*", name):
            if word[1] not in known:
                yield f"./dev has no word {word[1]}"
        elif TEST.fullmatch(name) and not any(defines(path, name) for path in files):
            yield f"no file that is named beside {name} defines it"


def check(root: Path) -> Iterator[str]:
    found, known = claims((root / "SECURITY.md").read_text()), words(root)
    if not found:
        yield "there are no claims"
    for claim, items in found.items():
        if not any(item.startswith("- ") for item in items):
            yield f"{claim}: no check is named"
        for item in items:
            yield from (f"{claim}: {problem}" for problem in problems_of(root, item, known))
    for patch in sorted((root / "tools/mutations").glob("*.patch")):
        broken = re.search(r"^Claim: +(.+?) *$", patch.read_text(), re.MULTILINE)
        if broken is None or broken[1] not in found:
            yield f"{patch.name}: SECURITY.md has no claim {broken[1] if broken else 'for it'}"


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    found = list(check(parser.parse_args().root))
    for problem in found:
        print(f"SECURITY.md: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
