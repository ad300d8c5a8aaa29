"""Each field of each struct of a Parquet file is removed, or replaced by values of other kinds."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sealcomb import Keyset, _cli, _parquet
from sealcomb._thrift import BINARY, I64, LIST, STRUCT, TRUE, List, Struct, parse

REPLACEMENTS: list[tuple[int, Any] | None] = [
    None,
    (I64, -1),
    (I64, 1 << 62),
    (BINARY, b"12"),
    (BINARY, b"\0"),
    (TRUE, True),
    (STRUCT, {}),
    (LIST, List(I64, [])),
    (LIST, List(STRUCT, [{}])),
]
STRUCTS = ["footer", "page", "dictionary page", "offset index", "Bloom filter"]


def places(struct: Struct) -> Iterator[list[Any]]:
    """Yields the path of each field: field numbers, and the indexes of the first and last items of lists."""
    for number, (kind, value) in struct.items():
        yield [number]
        inner = [([], value)] if kind == STRUCT else []
        if kind == LIST and value.kind == STRUCT and value.items:
            inner = [([at], value.items[at]) for at in sorted({0, len(value.items) - 1})]
        for step, below in inner:
            for rest in places(below):
                yield [number, *step, *rest]


def replaced(struct: Struct, place: list[Any], value: tuple[int, Any] | None) -> Struct:
    """Returns a copy of a struct, with another field at a place, or without it."""
    changed = copy.deepcopy(struct)
    at: Any = changed
    for step in place[:-1]:
        at = at.items[step] if isinstance(at, List) else at[step][1]
    if value is None:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return changed


def kind_of(struct: Struct) -> str:
    """Returns which of a file's structs this is."""
    if _parquet.FILE_SCHEMA in struct and struct[_parquet.FILE_SCHEMA][0] == LIST:
        return "footer"
    if struct[1][0] == LIST:
        return "offset index"
    if _parquet.PAGE_BYTES in struct and struct[_parquet.PAGE_BYTES][0] != STRUCT:
        return "page" if struct[1][1] in _parquet.DATA_HEADERS else "dictionary page"
    return "Bloom filter"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with a page index, dictionaries and Bloom filters."""
    path = tmp_path / "in.parquet"
    table = pa.table({"x": ["a", "b"] * 50, "y": pa.array([[1, 2], []] * 50), "z": ["c", "d"] * 50})
    sorted_by = [pq.SortingColumn(0)]
    pq.write_table(table, path, write_page_index=True, row_group_size=60, sorting_columns=sorted_by)
    return path


@pytest.fixture
def filtered(tmp_path: Path) -> Path:
    path = tmp_path / "filtered.parquet"
    values = "SELECT i::VARCHAR AS x, (i % 50)::VARCHAR AS y FROM range(3000) AS t(i)"
    duckdb.sql(f"COPY ({values}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return path


@pytest.mark.parametrize("which", STRUCTS)
def test_a_struct_of_another_shape_is_damage(
    which: str,
    source: Path,
    filtered: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    keys = tmp_path / "keys.json"
    keys.touch(0o600)
    keys.write_text(Keyset.from_keys({7: bytes(range(32))}, 7).secret_tink_json())
    path, out = filtered if which == "Bloom filter" else source, tmp_path / "out.parquet"
    content = path.read_bytes()
    seen: list[Struct] = []
    change: tuple[list[Any], tuple[int, Any] | None] | None = None

    def changing(data: bytes | memoryview, at: int = 0) -> tuple[Struct, int]:
        nonlocal change
        struct, end = parse(data, at)
        # pyarrow's encodings of new values are parsed, too; only the input can be damaged.
        if bytes(data) in content and kind_of(struct) == which:
            seen.append(copy.deepcopy(struct))
            if change is not None:
                struct, change = replaced(struct, *change), None
        return struct, end

    def seal() -> int:
        out.unlink(missing_ok=True)
        options = ["--keyset", str(keys), "--column", "x", "--context", "people.x"]
        return _cli.main(["seal", str(path), str(out), *options])

    monkeypatch.setattr(_parquet, "parse", changing)
    assert seal() == 0
    assert seen, f"the file contains no {which}"
    fields = list(places(seen[0]))
    refused = 0
    for place in fields:
        for value in REPLACEMENTS:
            capsys.readouterr()
            change = place, value
            status = seal()
            assert status in {0, 1}, (place, value)
            assert change is None
            assert out.exists() == (status == 0), (place, value)
            assert bool(capsys.readouterr().err) == (status == 1), (place, value)
            refused += status
    assert refused > len(fields)
