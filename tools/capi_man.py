#!/usr/bin/env python3
"""Generate manual pages (section 3) of the C library's functions from the comments in its header.

usage: capi_man.py HEADER FOLDER

Writes a page per function, `sealcomb_key_new.3` and others, and fails if a function has no comment.
"""

import re
import sys
from pathlib import Path

FUNCTION = re.compile(
    r"/\*\*\n(?P<comment>(?: \*.*\n)*?) \*/\n(?P<declaration>[^;{}#]*?\b(?P<name>sealcomb_\w+)\([^;]*\);)"
)


def roff(text: str) -> str:
    """Return running text as roff: escaped, with code and emphasis in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`|\*\*(.+?)\*\*", r"\\fB\1\2\\fR", text)
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def blocks(comment: str) -> list[str]:
    """Split a comment into its paragraphs and its tagged parts, each on one line."""
    lines = [line[3:] if line.startswith(" * ") else "" for line in comment.splitlines()]
    found: list[str] = []
    for line in lines:
        if not line:
            found.append("")
        elif line.startswith(("@", "- ")) or not found or not found[-1]:
            found.append(line)
        else:
            found[-1] += " " + line
    return [block for block in found if block]


def page(name: str, comment: str, declaration: str, version: str) -> str:
    """Return the page of a function."""
    parts = blocks(comment)
    text = [part for part in parts if not part.startswith("@")]
    tagged = [part.split(" ", 2) for part in parts if part.startswith("@")]
    summary = text[0].split(". ")[0].rstrip(".")
    declaration = declaration.replace("SEALCOMB_MUST_USE\n", "").replace("SEALCOMB_MUST_USE ", "")
    lines = [
        f'.TH {name} 3 "" "sealcomb {version}" "C library sealcomb"',
        ".SH NAME",
        f"{name} \\- {roff(summary[0].lower() + summary[1:])}",
        ".SH SYNOPSIS",
        ".nf",
        "#include <sealcomb.h>",
        "",
        declaration.replace("\\", "\\e"),
        ".fi",
        ".SH DESCRIPTION",
    ]
    for paragraph in text:
        lines += [".PP", roff(paragraph)]
    parameters = [part for part in tagged if part[0] == "@param"]
    if parameters:
        lines.append(".SH PARAMETERS")
        for _, parameter, description in parameters:
            lines += [".TP", f".I {parameter}", roff(description)]
    results = [part for part in tagged if part[0] in ("@retval", "@return")]
    if results:
        lines.append(".SH RETURN VALUE")
        for kind, first, *rest in results:
            if kind == "@retval":
                lines += [".TP", f".B {first}", roff(" ".join(rest))]
            else:
                lines += [".PP", roff(" ".join([first, *rest]))]
    lines += [".SH SEE ALSO", "The header", ".I sealcomb.h", "documents the types and the status values."]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the pages, and return the exit status."""
    try:
        source, target = sys.argv[1:]
    except ValueError:
        print(__doc__, file=sys.stderr)
        return 2
    header, folder = Path(source).read_text(), Path(target)
    version = ".".join(re.findall(r"#define SEALCOMB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    found = {
        match["name"]: page(match["name"], match["comment"], match["declaration"].strip(), version)
        for match in FUNCTION.finditer(header)
    }
    declared = set(re.findall(r"^[^*\n]*[ *](sealcomb_\w+)\(", header, re.MULTILINE))
    if declared != set(found):
        print(f"functions without a comment: {sorted(declared ^ set(found))}", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in found.items():
        (folder / f"{name}.3").write_text(text)
    print(f"{len(found)} manual pages in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
