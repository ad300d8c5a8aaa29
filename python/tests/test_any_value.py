"""With `forged="null"`, no sealed value makes a call fail: whatever it is, it opens or is null."""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sealcomb import (
    Keyset,
    UnopenedRow,
    _cli,
    reseal_column,
    seal_column,
    unseal_column,
    unseal_column_counted,
)

KEYSET = Keyset.generate()
SOME_FORGED = 4
TYPES = [
    *("binary", "large_binary", "binary_view", "string", "large_string", "string_view", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("halffloat", "float", "double", "date32[day]", "date64[ms]"),
    *("time32[s]", "time32[ms]", "time64[us]", "time64[ns]"),
    *(f"timestamp[{unit}]" for unit in ("s", "ms", "us", "ns")),
    *(f"duration[{unit}]" for unit in ("s", "ms", "us", "ns")),
    *(
        "timestamp[us, tz=UTC]",
        "decimal128(4, 2)",
        "decimal128(38, 0)",
        "decimal256(76, 3)",
        "month_day_nano_interval",
    ),
    *("fixed_size_binary[16]", "dictionary<values=string, indices=int8, ordered=0>"),
]
# Types that Polars lacks, and turns into others or refuses.
NOT_IN_POLARS = ("decimal256", "month_day_nano", "halffloat")


def any_values() -> list[bytes | None]:
    draw = random.Random(7)
    values: list[bytes | None] = [None]
    for size in (0, 1, 2, 3, 4, 8, 12, 16, 32):
        values += [bytes([byte]) * size for byte in (0, 1, 2, 0x7F, 0x80, 0xC3, 0xFF)]
        values += [draw.randbytes(size) for _ in range(3)]
    # The halves of a character, and text.
    return [*values, b"ab\xc3", b"\xa9cd", "naïve".encode()]


VALUES = any_values()
SEALED = seal_column(pa.array(VALUES, pa.binary()), KEYSET, context="c")
DAMAGED = pa.array([b"\1", *SEALED.to_pylist(), (SEALED[1].as_py() or b"")[:-1] + b"\0"], pa.binary())

LIBRARIES: dict[str, Callable[[pa.Array], Any]] = {
    "array": lambda array: array,
    "chunks": lambda array: pa.chunked_array([array.slice(0, 5), array.slice(5)]),
    "pandas": lambda array: pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))),
    "polars": lambda array: pl.Series("c", array),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", TYPES)
def test_every_value_opens_or_is_null(kind: str, library: str) -> None:
    if library == "polars" and kind.startswith(NOT_IN_POLARS):
        pytest.skip("Polars has no such type")
    column = LIBRARIES[library](DAMAGED)
    opened, count = unseal_column_counted(column, KEYSET, context="c", as_type=kind)
    assert len(opened) == len(DAMAGED)
    arrow = pa.chunked_array(opened).combine_chunks() if library == "polars" else pa.array(opened)
    arrow = arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow
    arrow.validate(full=True)
    assert arrow.null_count - 1 == count
    valid = arrow.is_valid().to_pylist()
    assert (valid[0], valid[1], valid[-1]) == (False, False, False)
    if library == "array":
        for at, is_valid in enumerate(valid):
            one = DAMAGED.slice(at, 1)
            if one.null_count:
                continue
            if is_valid:
                unseal_column(one, KEYSET, context="c", as_type=kind)
            else:
                with pytest.raises(UnopenedRow, match="chunk 0, row 0"):
                    unseal_column(one, KEYSET, context="c", as_type=kind)


def test_a_row_without_an_id_does_not_open() -> None:
    notes, ids = pa.array(["tea", None, "milk"]), pa.array([1, 2, 3])
    sealed = seal_column(notes, KEYSET, context="c", row_ids=ids)
    without = pa.array([1, None, None])
    with pytest.raises(ValueError, match="row_ids contains nulls"):
        unseal_column(sealed, KEYSET, context="c", row_ids=without)
    opened, count = unseal_column_counted(sealed, KEYSET, context="c", row_ids=without, as_type="string")
    assert (opened.to_pylist(), count) == (["tea", None, None], 1)
    moved = reseal_column(sealed, KEYSET, context="c", row_ids=ids, new_row_ids=without, forged="null")
    assert moved.is_valid().to_pylist() == [True, False, False]


def test_a_map_with_a_key_that_does_not_open_is_null() -> None:
    maps = pa.array([[("a", 1)], [], [("b", 2), ("c", 3)], None], pa.map_(pa.string(), pa.int32()))
    sealed = seal_column(maps, KEYSET, context="c")
    keys = sealed.keys.to_pylist()
    keys[1] = keys[1][:-1] + bytes([keys[1][-1] ^ 1])
    damaged = pa.MapArray.from_arrays(
        sealed.offsets, pa.array(keys, pa.binary()), sealed.items, mask=sealed.is_null()
    )
    as_type = "map<string, int32>"
    opened, count = unseal_column_counted(damaged, KEYSET, context="c", as_type=as_type)
    assert (opened.to_pylist(), count) == ([[("a", 1)], [], None, None], 1)
    whole = unseal_column(sealed, KEYSET, context="c", as_type=as_type)
    assert whole.to_pylist() == maps.to_pylist()


@pytest.mark.parametrize("out", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_the_command_fails_for_no_value(
    form: str, out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = tmp_path / "keys.json"
    keys.touch(mode=0o600)
    keys.write_text(KEYSET.secret_tink_json())
    table = pa.table({"x": DAMAGED, "id": range(len(DAMAGED))})
    source = tmp_path / f"in.{form}"
    if form == "parquet":
        pq.write_table(table, source)
    elif form == "arrow":
        with pa.ipc.new_file(str(source), table.schema) as writer:
            writer.write_table(table)
    else:
        cells = ["" if value is None else b64encode(value).decode() for value in DAMAGED.to_pylist()]
        cells[0] = "not base64"
        source.write_text("x,id\n" + "".join(f"{cell},{at}\n" for at, cell in enumerate(cells)))
    opened = 0
    for kind in TYPES:
        how = ["--keyset", str(keys), "--column", "x", "--context", "c", "--as-type", kind, "--force"]
        status = _cli.main(["unseal", str(source), str(tmp_path / f"out.{out}"), *how, "--forged", "null"])
        error = capsys.readouterr().err
        if status == SOME_FORGED:
            opened += 1
            continue
        # The type is refused before a value is read.
        assert status == 1, (kind, error)
        assert ", row " not in error, (kind, error)
    assert opened > (len(TYPES) // 3)
