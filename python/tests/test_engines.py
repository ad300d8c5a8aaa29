"""Runs the examples in docs/ that need an engine which is not installed, or started, for all tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from test_documentation import blocks, run_console

from sealcomb import Keyset, unseal_column


def run_examples(*headings: str, page: str = "columns.md", **names: Any) -> dict[str, Any]:
    """Runs the blocks of the quick start or preamble, and of these sections, and returns the variables."""
    names["__name__"] = "examples"
    for heading in ("", "Quick start", *headings):
        found = [(language, text) for section, language, text in blocks(page) if section == heading]
        assert found or heading not in headings, heading
        for language, text in found:
            if language == "console":
                run_console(text)
            else:
                exec(compile(text, f"{page}: {heading}", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_ray_data_runs() -> None:
    ray = pytest.importorskip("ray", reason="Ray (600 MB) is not installed; run this manually")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        keys = run_examples("Keysets")["keys"]
        run_examples("Ray Data", page="columns-python.md", keys=keys)
    finally:
        ray.shutdown()


def encrypted_by_clickhouse(key: bytes, rows: list[tuple[bytes, str]]) -> pa.Table:
    chdb = pytest.importorskip("chdb", reason="chdb (600 MB) is not installed; run this manually")
    values = ", ".join(f"(unhex('{iv.hex()}'), '{note}')" for iv, note in rows)
    query = f"SELECT iv, encrypt('aes-256-gcm', text, unhex('{key.hex()}'), iv, 'people') AS note FROM values('iv String, text String', {values})"  # noqa: E501
    table = chdb.query(query, "ArrowTable")
    return table.cast(pa.schema([("iv", pa.binary()), ("note", pa.binary())]))


def test_columns_of_clickhouse_open() -> None:
    """The page shows this with pyca's AES-GCM instead of ClickHouse."""
    key = bytes(range(32))
    theirs = encrypted_by_clickhouse(key, [(bytes([row]) * 12, f"note {row}") for row in range(5)])
    envelopes = [b"\1\0\0\0\1" + row["iv"] + row["note"] for row in theirs.to_pylist()]
    old = Keyset.from_keys({1: key}, primary=1, policy="gcm")
    opened = unseal_column(pa.array(envelopes), old, context="people", as_type="utf8")
    assert opened.to_pylist() == [f"note {row}" for row in range(5)]
