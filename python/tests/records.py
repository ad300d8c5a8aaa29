"""Compares public interfaces with their records in docs/api, or writes them if SEALCOMB_WRITE_DOCS is set."""

from __future__ import annotations

import os
from pathlib import Path

API = Path(__file__).parents[2] / "docs" / "api"


def check(name: str, lines: list[str], surface: str, *, reflow: bool = False) -> None:
    """Asserts that the record consists of these lines, with `reflow` only of their words."""
    file = API / f"{name}.txt"
    if os.environ.get("SEALCOMB_WRITE_DOCS"):
        file.write_text("\n".join(lines) + "\n", "utf-8")
    recorded = file.read_text("utf-8").splitlines()
    if reflow:
        lines, recorded = " ".join(lines).split(), " ".join(recorded).split()
    assert lines == recorded, f"docs/api/{file.name} differs; run ./dev api {surface}"
