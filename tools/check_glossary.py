#!/usr/bin/env python3
"""Check the names of the public interfaces against the glossary in CONTRIBUTING.md.

usage: check_glossary.py [--root FOLDER]

A row of the glossary's table has the interfaces that it applies to, the words to use, their meaning, the
words not to use, and the names that are exempt. The names of an interface are those of its record in
docs/api, of the C header or of the Python stubs. A word not to use must be in none of them; a word to use
must be in one, so that the glossary has none that is out of date.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The file with the names of each interface, and a pattern for them.
HELP = r"^\$ ((?:[\w-]+ )+)--help$|(?<!\S)(--\w[\w-]+)"
SQL = r"^(?:SET )?(\w+)|[(,] ?\[?(\w+)"
INTERFACES = {
    "Rust": ("docs/api/rust.txt", r"^. (?:.* )?(sealcomb::\w+[\w:]*)"),
    "C": ("crates/sealcomb-capi/include/sealcomb.h", r"\b((?:sealcomb|SEALCOMB)_\w+)"),
    "Python's ciphers": ("python/sealcomb/_sealcomb.pyi", r"^    def (\w+)"),
    "Python's columns": ("docs/api/python.txt", r"^\w+ (sealcomb[\w.]+)"),
    "DuckDB": ("docs/api/duckdb.txt", SQL),
    "Spark": ("docs/api/spark.txt", SQL),
} | {
    f"`{name}`": (f"docs/api/{name}.txt", HELP)
    for name in ("sealcomb", "sealcomb-columns", "sealcomb-link", "sealcomb-kme")
}


def names(root: Path, interface: str) -> set[str]:
    path, pattern = INTERFACES[interface]
    text = (root / path).read_text()
    if interface == "Rust":
        # The items, without implementations, generic arguments, parameters and types.
        text = re.sub(r"^. impl.*", "", text, flags=re.MULTILINE)
        while (shorter := re.sub(r"<[^<>\n]*>|\([^()\n]*\)", "", text)) != text:
            text = shorter
        text = re.sub(r"(?: -> |: ).*", "", text)
    return {found[found.lastindex] for found in re.finditer(pattern, text, re.MULTILINE)}


def words(name: str) -> str:
    """Returns the words of a name in lower case, with a space before and after each."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", name)
    return f" {split.lower().strip()} "


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def check(root: Path) -> Iterator[str]:
    page = (root / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\|(.+)\|$", page.partition("\n## Glossary\n")[2].partition("\n## ")[0], re.MULTILINE)
    if not rows[2:]:
        yield "CONTRIBUTING.md has no table in a section `Glossary`"
    for row in rows[2:]:
        where, use, _, avoid, exempt = (cell.strip() for cell in row.split("|"))
        interfaces = list(INTERFACES) if where == "all" else where.split(", ")
        if unknown := [each for each in interfaces if each not in INTERFACES]:
            yield f"unknown interface {', '.join(unknown)}; expected {', '.join(INTERFACES)}, or all"
            continue
        checked = {
            (interface, name)
            for interface in interfaces
            for name in names(root, interface)
            if not any(words(each) in words(name) for each in quoted(exempt))
        }
        for interface, name in sorted(checked):
            for word in quoted(avoid):
                if words(word) in words(name):
                    path = INTERFACES[interface][0]
                    yield f"{path}: {name}: `{word}` is not a word of {interface}; use {use}"
        for word in quoted(use):
            if not any(words(word) in words(name) for _, name in checked):
                yield f"no name of {where} has the word `{word}`: correct the glossary"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    found = list(check(parser.parse_args().root))
    for problem in found:
        print(problem)
    print(f"{len(found)} findings about names of public interfaces", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
