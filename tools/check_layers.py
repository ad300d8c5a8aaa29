#!/usr/bin/env python3
"""Check that the library's modules depend only on lower layers, and that only the backends use `unsafe`.

usage: check_layers.py [--root FOLDER] [--layers FILE | --unsafe-only]

Reads every file under FOLDER (default: crates/sealcomb/src), resolves each `crate::`, `super::` and
`self::` path, and compares the layers of both modules in FILE (default: tools/layers.toml). Unit tests
(`#[cfg(test)]`) are exempt. With --unsafe-only, checks only that no file uses `unsafe`. Prints one line
per finding and exits with status 1.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOKEN = re.compile(r"r#\w+|\w+|::|#!?\[|[^\w\s]")
# What is not code in Rust, and in other languages with C's comments. Literals are strings and characters.
COMMENT_OR_LITERAL = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<literal>
        b?r(?P<hashes>\#*)"(?P<raw>.*?)"(?P=hashes)
        | b?"(?P<string>(?:\\.|[^"\\])*)"
        | b?'(?:\\.[^']*|[^'\\])'
      )
    """,
    re.DOTALL | re.VERBOSE,
)


def tokens(source: str) -> list[tuple[str, int]]:
    """Returns the code's tokens with their line numbers, without comments, strings and characters."""
    code = COMMENT_OR_LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    line, at, result = 1, 0, []
    for found in TOKEN.finditer(code):
        line += code.count("\n", at, found.start())
        at = found.start()
        result.append((found[0], line))
    return result


def closing(text: list[tuple[str, int]], opening: int) -> int:
    """Returns the index of the bracket that closes the one at `opening`."""
    pairs = {"{": "}", "[": "]", "#[": "]", "#![": "]", "(": ")"}
    depth = 0
    for at in range(opening, len(text)):
        token = text[at][0]
        depth += token in pairs
        depth -= token in pairs.values()
        if depth == 0:
            return at
    return len(text) - 1


def without_tests(text: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Returns the tokens without items under `#[cfg(test)]`."""
    result, at = [], 0
    words = [token for token, _ in text]
    while at < len(text):
        if words[at : at + 6] != ["#[", "cfg", "(", "test", ")", "]"]:
            result.append(text[at])
            at += 1
            continue
        while words[at] not in ("{", ";"):
            at = closing(text, at) + 1 if words[at] in ("#[", "(") else at + 1
        at = closing(text, at) + 1 if words[at] == "{" else at + 1
    return result


def expand(text: list[tuple[str, int]], at: int, prefix: list[str]) -> tuple[list[list[str]], int]:
    """Returns the paths of the use-tree that follows `prefix` at index `at`, and the index after the tree."""
    if at + 1 >= len(text) or text[at][0] != "::":
        return [prefix], at
    token = text[at + 1][0]
    if token == "{":
        end, paths, at = closing(text, at + 1), [], at + 2
        while at < end:
            if text[at][0] == ",":
                at += 1
                continue
            branch, at = expand(text, at + 1, [*prefix, text[at][0]])
            paths += branch
            while at < end and text[at][0] != ",":
                at += 1
        return paths, end + 1
    if token in ("*", "<"):
        return [prefix], at + 2
    return expand(text, at + 2, [*prefix, token])


def absolute(path: list[str], module: list[str]) -> list[str]:
    """Resolves a path that starts with `crate`, `super` or `self` to one from the crate's root."""
    if path[0] == "crate":
        return path[1:]
    base = list(module)
    while path and path[0] in ("super", "self"):
        if path[0] == "super":
            base = base[:-1]
        path = path[1:]
    return base + path


def references(text: list[tuple[str, int]], module: list[str]) -> Iterator[tuple[list[str], int]]:
    """Yields every path that the code names, from the crate's root, with its line."""
    stack: list[str | None] = []
    at = 0
    while at < len(text):
        token, line = text[at]
        if token == "mod" and at + 2 < len(text) and text[at + 2][0] == "{":
            stack.append(text[at + 1][0])
            at += 3
            continue
        if token == "{":
            stack.append(None)
        elif token == "}" and stack:
            stack.pop()
        elif token in ("crate", "super", "self") and at + 1 < len(text) and text[at + 1][0] == "::":
            inner = module + [name for name in stack if name]
            paths, after = expand(text, at + 1, [token])
            for path in paths:
                yield absolute(path, inner), line
            at = max(after, at + 1)
            continue
        at += 1


def module_of(file: Path, root: Path) -> list[str]:
    parts = list(file.relative_to(root).with_suffix("").parts)
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


class Layers:
    """The rules of layers.toml, and the modules that the crate's root reexports names from."""

    def __init__(self, rules: dict, reexports: dict[str, str]) -> None:
        self.rank = {name: rank for rank, names in enumerate(rules["order"]) for name in names}
        self.everywhere = rules["everywhere"]
        self.reexports = reexports

    def finding(self, user: str, used: str) -> str | None:
        used = self.reexports.get(used, used)
        if used == user or used in self.everywhere or used in self.everywhere.get(user, []):
            return None
        if user in self.everywhere:
            return f"{user} uses {used}; layers.toml allows {user} to every module, but not this use"
        for name in (user, used):
            if name not in self.rank:
                return f"module {name} is missing in layers.toml"
        if self.rank[used] > self.rank[user]:
            return f"{user} uses {used}, which is in a higher layer"
        return None


def reexports_of(root: Path) -> dict[str, str]:
    """Returns the names that lib.rs reexports, with the module that defines each."""
    text = tokens((root / "lib.rs").read_text())
    result = {}
    for at, (token, _) in enumerate(text[:-1]):
        if token != "use":
            continue
        start = at + 2 if text[at + 1][0] in ("crate", "self") else at
        paths, _ = expand(text, start + 1, []) if start > at else expand(text, at + 2, [text[at + 1][0]])
        result |= {path[-1]: path[0] for path in paths if len(path) > 1}
    return result


def check_file(file: Path, root: Path, layers: Layers) -> Iterator[str]:
    module = module_of(file, root)
    if not module:
        return
    seen = set()
    for path, line in references(without_tests(tokens(file.read_text())), module):
        if not path:
            continue
        finding = layers.finding(module[0], path[0])
        if finding and (finding, line) not in seen:
            seen.add((finding, line))
            yield f"{file}:{line}: {finding}"


def check_unsafe(file: Path) -> Iterator[str]:
    for token, line in tokens(file.read_text()):
        if token == "unsafe":
            yield f"{file}:{line}: `unsafe` outside the backends"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=HERE.parent / "crates/sealcomb/src")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--layers", type=Path, default=HERE / "layers.toml")
    what.add_argument("--unsafe-only", action="store_true")
    arguments = parser.parse_args()
    root = arguments.root
    rules = tomllib.loads(arguments.layers.read_text())
    files = sorted(root.rglob("*.rs"))
    if not files:
        print(f"{root}: no Rust files", file=sys.stderr)
        return 1
    if arguments.unsafe_only:
        findings = [finding for file in files for finding in check_unsafe(file)]
    else:
        layers = Layers(rules, reexports_of(root))
        findings = [finding for file in files for finding in check_file(file, root, layers)]
        safe = [file for file in files if module_of(file, root)[:1] != [rules["unsafe"]]]
        findings += [finding for file in safe for finding in check_unsafe(file)]
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"{len(files)} files under {root}, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
