#!/usr/bin/env python3
"""Check the English of documents, comments and messages against the word list of tools/prose.toml.

usage: check_prose.py [--root FOLDER] [--count] [PATH...]

It reads every file that git tracks, or the files and folders PATH, and refuses:

- phrases of the word list: in Markdown, in comments of every language here, in Python docstrings, and in
  string literals of Rust and Python that look like sentences (error messages, --help, log lines);
- first words of comments that mean nothing in an IDE, which shows a comment without its neighbors;
- lines of Markdown with more than 120 columns, tables, code and links alone on a line excepted.

Code in backticks, quoted words ("…"), link targets and fenced code are not prose. Prints one line for each
finding and exits with status 1; --count prints the number of findings per file instead.

How a file becomes text: everything that is not prose is replaced by blanks, so that an offset in the text is
an offset in the file. A phrase may continue on the next line of a paragraph or comment.
"""

import argparse
import ast
import collections
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import check_layers

HERE = Path(__file__).resolve().parent
MAX_COLUMNS = 120
C_LIKE = {".rs", ".sv", ".svh", ".v", ".vh", ".c", ".h", ".cpp", ".hpp", ".js", ".S", ".ld"}
HASH_LIKE = {".sh", ".toml", ".table", ".cfg", ".yml", ".yaml", ".ys", ".sby", ".tcl", ".cmake", ".service"}
# Files whose names tell nothing about their comments, which begin with `#`.
HASH_NAMES = {"dev", "run", "Makefile", "CMakeLists.txt", ".gitignore", ".gitattributes"}

COMMENT_MARK = re.compile(r"^[ \t]*(?://[/!<]*|/\*[*!]?|\*/|\*(?!\*)|\#+!?)<?|\*/\s*$", re.MULTILINE)
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))\#(?!!).*")
FENCE = re.compile(r"^[ \t]*(?P<fence>```+|~~~+).*?^[ \t]*(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE)
NOT_PROSE = re.compile(
    r"""
    (?P<ticks>`+)(?:(?!\n\s*\n).)*?(?P=ticks)      # code
    | \]\([^)\s]*\)                        # the target of a link
    | ^\s*\[[^\]]+\]:\ \S+                 # the definition of one
    | <[^>\n]*>                            # HTML, and addresses
    | "[^"\n]{1,60}"                       # quoted words
    | \b\w+://\S+
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
TABLE_OR_LINK = re.compile(r"^\s*(?:\||!?\[[^\]]*\]\(\S+\)\s*$|\[[^\]]+\]:|<)")
# A sentence has three words in a row; an identifier, a format or a path has not.
SENTENCE = re.compile(r"[A-Za-z]+,? [A-Za-z]+,? [A-Za-z]+")


class Rules(NamedTuple):
    """The word list, compiled."""

    phrases: list[tuple[re.Pattern, str]]
    first_words: list[tuple[re.Pattern, str]]
    skipped: list[str]


class Passage(NamedTuple):
    """A piece of prose: where it begins in its file, and whether it is a whole comment."""

    start: int
    text: str
    is_comment: bool


def read_rules(path: Path) -> Rules:
    """Compiles the word list; a space in a pattern matches any white space."""
    rules = tomllib.loads(path.read_text())

    def compiled(entries: list[dict], prefix: str, flags: int) -> list[tuple[re.Pattern, str]]:
        return [
            (re.compile(prefix + pattern.replace(" ", r"\s+"), flags), entry["write"])
            for entry in entries
            for pattern in entry["refuse"]
        ]

    return Rules(
        compiled(rules["phrase"], "", re.IGNORECASE),
        compiled(rules["first-words"], r"\s*", 0),
        [entry["path"] for entry in rules["skip"]],
    )


def blank(text: str) -> str:
    """The text with every character but line ends replaced by a blank."""
    return re.sub(r"[^\n]", " ", text)


def without_code(text: str) -> str:
    """Blanks out what is not prose within prose. `§` stands for it, so that no phrase closes over the gap."""

    def stand_in(found: re.Match) -> str:
        return re.sub(r"[^\n]", "§", found[0])

    return NOT_PROSE.sub(stand_in, text)


def of_markdown(source: str) -> Iterator[Passage]:
    """The paragraphs of a document."""
    text = FENCE.sub(lambda found: blank(found[0]), source)
    text = re.sub(r"<!--.*?-->", lambda found: blank(found[0]), text, flags=re.DOTALL)
    for found in re.finditer(r"(?:[^\n]+\n?)+", text):
        yield Passage(found.start(), found[0], is_comment=False)


def joined(pieces: list[tuple[int, int]], source: str) -> Iterator[Passage]:
    """Comments of adjacent lines as one passage each, without their marks. `pieces` are spans in `source`."""
    block: list[tuple[int, int]] = []
    for start, end in [*pieces, (len(source), len(source))]:
        # A comment continues if nothing but white space with one line end is between it and the next.
        gap = source[block[-1][1] : start] if block else ""
        mark = COMMENT_MARK.match(source, source.rfind("\n", 0, start) + 1)
        if block and (gap.strip() or gap.count("\n") != 1 or mark is None or start == len(source)):
            first, last = block[0][0], block[-1][1]
            text = FENCE.sub(
                lambda f: blank(f[0]), COMMENT_MARK.sub(lambda f: blank(f[0]), source[first:last])
            )
            yield Passage(first, text, is_comment=True)
            block = []
        block.append((start, end))


def of_c(source: str, reads_strings: bool) -> Iterator[Passage]:
    """Comments of a language with C's, and string literals with sentences in them."""
    comments = []
    for found in check_layers.COMMENT_OR_LITERAL.finditer(source):
        if found["comment"]:
            comments.append(found.span())
        elif reads_strings:
            group = "string" if found["string"] else "raw"
            # The reason of a lint attribute counts as code: a kernel with another one must be measured again.
            is_reason = source[: found.start()].endswith("reason = ")
            if found[group] and SENTENCE.search(found[group]) and not is_reason:
                yield Passage(found.start(group), found[group], is_comment=False)
    yield from joined(comments, source)


def of_python(source: str) -> Iterator[Passage]:
    """Comments, docstrings, and string literals with sentences in them."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    comments = []
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings.add(value.lineno)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.COMMENT:
            if not token.string.startswith("#!"):
                comments.append((start, end))
        elif token.type == tokenize.STRING:
            opening = re.match(r"[a-zA-Z]*(\"\"\"|'''|\"|')", token.string)
            text = token.string[opening.end() : -len(opening[1])]
            is_docstring = token.start[0] in docstrings and token.line.strip().startswith(token.string[:4])
            if is_docstring or SENTENCE.search(text):
                yield Passage(start + opening.end(), text, is_comment=is_docstring)
    yield from joined(comments, source)


def of_hash(source: str) -> Iterator[Passage]:
    """Comments from `#` to the end of the line."""
    comments = []
    at = 0
    for line in source.splitlines(keepends=True):
        if found := HASH_COMMENT.search(line):
            comments.append((at + found.start(), at + len(line.rstrip("\n"))))
        at += len(line)
    yield from joined(comments, source)


def passages(path: Path, source: str) -> Iterator[Passage]:
    """The prose of a file."""
    if path.suffix == ".md":
        return of_markdown(source)
    if path.suffix in C_LIKE:
        return of_c(source, path.suffix == ".rs")
    if path.suffix in {".py", ".pyi"}:
        return of_python(source)
    if path.suffix in HASH_LIKE or path.name in HASH_NAMES:
        return of_hash(source)
    return iter(())


def findings(path: Path, source: str, rules: Rules) -> Iterator[tuple[int, str]]:
    """What a file has that the rules refuse: line, and what to write instead."""

    def line_of(offset: int) -> int:
        return source.count("\n", 0, offset) + 1

    for passage in passages(path, source):
        text = without_code(passage.text)
        for pattern, instead in rules.phrases:
            for found in pattern.finditer(text):
                words = " ".join(found[0].split())
                yield line_of(passage.start + found.start()), f"“{words}”: {instead}"
        if passage.is_comment:
            for pattern, instead in rules.first_words:
                if found := pattern.match(text):
                    words = " ".join(found[0].split())
                    yield line_of(passage.start + found.end()), f"begins with “{words}”: {instead}"
    if path.suffix == ".md":
        prose = FENCE.sub(lambda found: blank(found[0]), source)
        for number, line in enumerate(prose.split("\n"), 1):
            if len(line) > MAX_COLUMNS and line.strip() and not TABLE_OR_LINK.match(line):
                yield number, f"{len(line)} columns: break the line before column {MAX_COLUMNS}"


def files(root: Path, paths: list[Path]) -> list[Path]:
    """The files to read: those below `paths`, else all that git tracks, else all that are there."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        found = [root / name for name in listed.stdout.split("\0") if name]
    else:
        found = sorted(root.rglob("*"))
    if paths:
        wanted = [(root / path).resolve() for path in paths]
        found = [file for file in found if any(file.is_relative_to(path) for path in wanted)]
    return [file for file in found if file.is_file() and not file.is_symlink()]


def main() -> int:
    """Check the tree, or the paths given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=HERE.parent)
    parser.add_argument("--count", action="store_true", help="print the number of findings per file")
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders, from the root (default: all)")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    rules = read_rules(HERE / "prose.toml")
    counts: collections.Counter[str] = collections.Counter()
    checked = 0
    for path in files(root, arguments.paths):
        name = path.relative_to(root).as_posix()
        if any(name == skipped or name.startswith(f"{skipped}/") for skipped in rules.skipped):
            continue
        try:
            source = path.read_text()
        except UnicodeDecodeError:
            continue
        checked += 1
        for line, finding in sorted(set(findings(path, source, rules))):
            counts[name] += 1
            if not arguments.count:
                print(f"{name}:{line}: {finding}")
    for name, count in counts.most_common() if arguments.count else ():
        print(f"{count:5} {name}")
    if counts:
        print(
            f"{counts.total()} findings; CONTRIBUTING's section Writing says how to write here",
            file=sys.stderr,
        )
    else:
        print(f"prose: {checked} files, none with a phrase of tools/prose.toml")
    return bool(counts)


if __name__ == "__main__":
    sys.exit(main())
