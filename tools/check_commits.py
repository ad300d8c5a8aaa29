#!/usr/bin/env python3
"""Check the subjects of commits since the latest release tag.

usage: check_commits.py [--root FOLDER] [--since REV]

A subject has at most 70 characters, begins with a capitalized imperative verb ("Add", not "Added" or "adds"),
ends without a period, and is not a draft (`fixup!`, `WIP`). An empty line separates it from the text.

The check starts at the latest tag `vN…` that HEAD contains, or at REV. Commits older than RULE, the time when
the rule came into force, and merges are exempt. Prints one line per finding and exits with status 1.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_SUBJECT = 70
RULE = "2026-11-26T21:40:00+00:00"
DRAFT = re.compile(r"(fixup|squash|amend)!|wip\b|tmp\b|draft\b", re.IGNORECASE)
# Endings of verbs that are not imperative, and imperative verbs that happen to have them.
NOT_IMPERATIVE = re.compile(r"\w+(ed|ing|s)$")
IMPERATIVE = re.compile(
    r"(un|re|de)?(address|access|assess|bias|bring|bus|bypass|canvas|compress|cross|decompress|discuss|dismiss|"
    r"dress|embed|exceed|express|feed|focus|guess|harness|heed|impress|ing|miss|need|pass|ping|possess|press|"
    r"proceed|process|ring|seed|shed|shred|speed|stress|string|succeed|suppress|surpass|swing|toss|trespass|"
    r"wed|weed|witness|wring)$"
)


def git(root: Path, *arguments: str) -> str | None:
    """What a git command prints, or None if it fails."""
    result = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else None


def faults(message: str) -> Iterator[str]:
    """What is wrong with a commit's message."""
    subject, _, rest = message.rstrip("\n").partition("\n")
    verb = subject.split(" ")[0]
    if len(subject) > MAX_SUBJECT:
        yield f"{len(subject)} characters; a subject has at most {MAX_SUBJECT}"
    if rest and not rest.startswith("\n"):
        yield "the second line must be empty"
    if subject.endswith("."):
        yield "ends with a period"
    if DRAFT.match(subject):
        yield "is a draft"
    elif not verb[:1].isupper():
        yield f"begins with {verb!r}; a subject begins with a capitalized verb"
    elif NOT_IMPERATIVE.match(verb.lower()) and not IMPERATIVE.match(verb.lower()):
        yield f"begins with {verb!r}; a subject is an imperative: Add, Fix, Remove"


def main() -> int:
    """Check the commits since the latest release tag."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--since", help="a commit to start after, instead of the latest release tag")
    arguments = parser.parse_args()
    if git(arguments.root, "rev-parse", "HEAD") is None:
        print("commits: not a git checkout, nothing to check")
        return 0
    tag = arguments.since or git(arguments.root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    commits = f"{tag.strip()}..HEAD" if tag else "HEAD"
    # Raw bodies, since git joins the lines of a subject that no empty line ends.
    log = git(arguments.root, "log", "-z", "--no-merges", f"--since={RULE}", "--format=%h %B", commits)
    if log is None:
        print(f"commits: {arguments.since!r} is not a commit here", file=sys.stderr)
        return 1
    checked = found = 0
    for entry in filter(None, log.split("\0")):
        commit, _, message = entry.partition(" ")
        checked += 1
        for fault in faults(message):
            found += 1
            subject = message.split("\n", 1)[0]
            print(f"{commit} {subject!r}: {fault}")
    if found:
        print(
            f"reword them with `git rebase --interactive`: {found} findings in {checked} commits",
            file=sys.stderr,
        )
    else:
        print(f"commits: {checked} subjects, all imperative and at most {MAX_SUBJECT} characters long")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
