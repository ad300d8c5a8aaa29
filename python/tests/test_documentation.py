"""Every block of the pages about columns runs as it is printed, in order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    "columns.md",
    "columns-python.md",
    "columns-files.md",
    "columns-format.md",
    "columns-numbers.md",
]
# Spark's examples run in test_spark.py, with its cluster; those of Ray in test_engines.py.
ELSEWHERE = {"Spark", "Ray Data"}


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Returns the headings, languages and texts of a page's blocks."""
    found, heading = [], ""
    pattern = r"^## ([^\n]+)$|^```(\w+)\n(.*?)^```$"
    for match in re.finditer(pattern, (DOCS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL):
        if match[1]:
            heading = match[1]
        else:
            found.append((heading, match[2], match[3]))
    return found


def run_console(text: str) -> None:
    path = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
    for line in text.splitlines():
        assert line.startswith("$ "), line
        # The packages of the tests are installed.
        if not line.startswith("$ pip install "):
            subprocess.run(
                ["bash", "-euo", "pipefail", "-c", line[2:]], check=True, env={**os.environ, "PATH": path}
            )


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_in_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "examples"}
    for heading, language, text in blocks(page):
        if heading in ELSEWHERE:
            continue
        assert language in ("python", "console"), (heading, language)
        if language == "console":
            run_console(text)
        else:
            exec(compile(text, f"{page}: {heading}", "exec"), names)
    if "db" in names:
        # The connection and its registered functions refer to each other.
        names["db"].close()


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_found(page: str) -> None:
    fences = re.findall(r"^```", (DOCS / page).read_text("utf-8"), re.MULTILINE)
    assert 2 * len(blocks(page)) == len(fences)


@pytest.mark.parametrize("page", PAGES)
def test_pages_with_blocks_say_what_to_install(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    assert not blocks(page) or "pip install './python" in text
