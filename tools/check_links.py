#!/usr/bin/env python3
"""Check that relative links in Markdown files lead to existing files and headings.

usage: check_links.py [--root FOLDER]

Reads every Markdown file under FOLDER (default: the repository) and checks `[text](target)`,
`<img src="target">` and reference definitions, including `#heading` in Markdown targets. URLs are not
checked.
"""

import argparse
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {".git", ".venv", "target", "node_modules"}
CODE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)[ \t]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(
    r"""
    \]\(\s*<?(?P<inline>[^)\s>]+)>?[^)]*\)
    | ^\[[^\]]+\]:\s+<?(?P<definition>[^\s>]+)
    | (?:src|href)="(?P<html>[^"]+)"
    """,
    re.MULTILINE | re.VERBOSE,
)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


def without_code(text: str) -> str:
    return CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def anchors(file: Path) -> set[str]:
    """Returns the anchors that GitHub and GitLab generate for the headings of a file."""
    fences = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
    result: set[str] = set()
    for heading in HEADING.findall(fences.sub("", file.read_text())):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        kept = [c for c in text if c in " -_" or unicodedata.category(c)[0] in "LN"]
        anchor = "".join(kept).replace(" ", "-")
        repeats = sum(1 for known in result if re.fullmatch(re.escape(anchor) + r"(-\d+)?", known))
        result.add(f"{anchor}-{repeats}" if repeats else anchor)
    return result


def findings(file: Path, root: Path) -> Iterator[str]:
    text = without_code(file.read_text())
    for found in LINK.finditer(text):
        target = found["inline"] or found["definition"] or found["html"]
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.IGNORECASE):
            continue
        name, _, anchor = unquote(target).partition("#")
        place = f"{file.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}"
        aim = (root / name.lstrip("/") if name.startswith("/") else file.parent / name) if name else file
        if not aim.exists():
            yield f"{place}: {target} does not exist"
        elif anchor and aim.suffix == ".md" and anchor not in anchors(aim):
            yield f"{place}: {target}: the file has no such heading"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root.resolve()
    # The target of a symbolic link is checked where it is.
    files = [
        f
        for f in sorted(root.rglob("*.md"))
        if not f.is_symlink() and not SKIPPED & set(f.relative_to(root).parts)
    ]
    found = [finding for file in files for finding in findings(file, root)]
    for finding in found:
        print(finding, file=sys.stderr)
    print(f"{len(files)} files, {len(found)} broken links")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
