"""The Python examples in both READMEs run as they are written there, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_examples_run(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, Any] = {"__name__": "example"}
    for code in blocks:
        exec(compile(code, page, "exec"), names)
