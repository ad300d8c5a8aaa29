"""Runs the examples in docs/columns.md with the engines that they are for."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

DOCS = Path(__file__).parents[2] / "docs" / "columns.md"


def blocks(language: str, heading: str) -> list[str]:
    """Returns the code blocks of a section of docs/columns.md, including its subsections."""
    parts = re.split(r"^## (.+)\n", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return re.findall(rf"^```{language}\n(.*?)^```$", sections[heading], flags=re.MULTILINE | re.DOTALL)


def run_examples(*headings: str, **names: Any) -> dict[str, Any]:
    """Runs the Python blocks of the quick start and of these sections, and returns the variables."""
    names["__name__"] = "examples"
    for heading in ("Quick start", *headings):
        found = blocks("python", heading)
        assert found, heading
        for code in found:
            exec(compile(code, f"{DOCS.name}: {heading}", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("heading", ["Quick start", "Polars", "DuckDB", "DataFusion", "Keysets"])
def test_the_example_runs(heading: str) -> None:
    names = run_examples(heading)
    if heading == "DuckDB":
        # The connection and its registered functions refer to each other.
        names["db"].close()


def test_ray_data_runs() -> None:
    ray = pytest.importorskip("ray", reason="Ray (600 MB) is not installed; run this manually")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        run_examples("Keysets", "Ray Data")
    finally:
        ray.shutdown()


def encrypted_by_pyca(key: bytes, rows: list[tuple[bytes, str]]) -> pa.Table:
    sealed = [AESGCM(key).encrypt(iv, note.encode(), b"people") for iv, note in rows]
    return pa.table({"iv": [iv for iv, _ in rows], "note": sealed})


def encrypted_by_clickhouse(key: bytes, rows: list[tuple[bytes, str]]) -> pa.Table:
    chdb = pytest.importorskip("chdb", reason="chdb (600 MB) is not installed; run this manually")
    values = ", ".join(f"(unhex('{iv.hex()}'), '{note}')" for iv, note in rows)
    query = f"SELECT iv, encrypt('aes-256-gcm', text, unhex('{key.hex()}'), iv, 'people') AS note FROM values('iv String, text String', {values})"  # noqa: E501
    table = chdb.query(query, "ArrowTable")
    return table.cast(pa.schema([("iv", pa.binary()), ("note", pa.binary())]))


@pytest.mark.parametrize("make", [encrypted_by_pyca, encrypted_by_clickhouse])
def test_columns_of_clickhouse_open(make: Any) -> None:
    key = bytes(range(32))
    rows = [(bytes([row]) * 12, f"note {row}") for row in range(5)]
    names = run_examples("Formats", key=key, theirs=make(key, rows))
    assert names["opened"].to_pylist() == [note for _, note in rows]


def test_the_command_runs(tmp_path: Path) -> None:
    names = run_examples("Keysets")
    pq.write_table(names["people"], tmp_path / "people.parquet")
    lines = [line[2:] for block in blocks("console", "Files") for line in block.splitlines()]
    assert lines
    for line in lines:
        program, *arguments = shlex.split(line)
        ended = subprocess.run(
            [Path(sysconfig.get_path("scripts")) / program, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (0, ""), line
    assert pq.read_table(tmp_path / "opened.parquet").equals(names["people"])


def test_every_example_is_run() -> None:
    text = DOCS.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    with_code = {heading for heading in headings if blocks("python", heading)}
    assert with_code == {
        "Quick start",
        "Polars",
        "DuckDB",
        "DataFusion",
        "Spark",
        "Ray Data",
        "Keysets",
        "Formats",
    }
    assert sys.version_info >= (3, 11)
