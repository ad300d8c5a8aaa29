"""Puts a table between two marks of a page."""

from __future__ import annotations

import re
from pathlib import Path


def write(page: Path, mark: str, text: str) -> None:
    """Replaces what is between ``<!-- MARK:begin -->`` and ``<!-- MARK:end -->``."""
    begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
    new, count = re.subn(
        f"{begin}.*{end}", lambda _: f"{begin}\n{text}\n\n{end}", page.read_text("utf-8"), flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{page}: the marks of {mark!r} are there {count} times")
    page.write_text(new, "utf-8")
