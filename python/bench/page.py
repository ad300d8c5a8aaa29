"""Writes a table between two markers of a Markdown page."""

from __future__ import annotations

import re
from pathlib import Path


def write(page: Path, mark: str, text: str) -> None:
    """Replaces the text between ``<!-- MARK:begin -->`` and ``<!-- MARK:end -->``.

    Raises:
        ValueError: The page does not contain the pair of markers exactly once.
    """
    begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
    new, count = re.subn(
        f"{begin}.*{end}", lambda _: f"{begin}\n{text}\n\n{end}", page.read_text("utf-8"), flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{page}: found {count} pairs of markers {mark!r}; expected 1")
    page.write_text(new, "utf-8")
