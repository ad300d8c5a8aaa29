#!/usr/bin/env python3
"""Check that the tests which SECURITY.md names for its claims exist.

usage: check_claims.py [--root FOLDER]

In the section "What is claimed", each claim is a heading followed by a list of checks. Every path in
backticks must exist, every `./dev COMMAND` must be declared, and every test name must be defined in a
file that the same list item names. Each patch in tools/mutations must name the claim that it breaks.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]+")
# Test names are sentences, so they have at least four words.
TEST = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+){3,}")


def claims(page: str) -> dict[str, list[str]]:
    """Returns the paragraphs and list items of each claim, by its heading."""
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
            yield f"{name} does not exist"
    files = [root / name for name in paths if (root / name).is_file()]
    for name in names:
        if word := re.fullmatch(r"\./dev (\S+).*", name):
            if word[1] not in known:
                yield f"`./dev {word[1]}` does not exist"
        elif TEST.fullmatch(name) and not any(defines(path, name) for path in files):
            yield f"no file named in the same list item defines {name}"


def check(root: Path) -> Iterator[str]:
    found, known = claims((root / "SECURITY.md").read_text()), words(root)
    if not found:
        yield "no claims found"
    for claim, items in found.items():
        if not any(item.startswith("- ") for item in items):
            yield f"{claim}: names no check"
        for item in items:
            yield from (f"{claim}: {problem}" for problem in problems_of(root, item, known))
    for patch in sorted((root / "tools/mutations").glob("*.patch")):
        broken = re.search(r"^Claim: +(.+?) *$", patch.read_text(), re.MULTILINE)
        if broken is None or broken[1] not in found:
            yield f"{patch.name}: claim {broken[1] if broken else '(none)'} is not in SECURITY.md"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    found = list(check(parser.parse_args().root))
    for problem in found:
        print(f"SECURITY.md: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
