"""Sealing one column of a file preserves everything else, for every type and every reader.

The files depend on SEALCOMB_SEED, which CI changes for each commit.
"""

from __future__ import annotations

import base64
import csv
import datetime
import decimal
import io
import itertools
import json
import os
import random
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sealcomb import Keyset, _cli, _ipc, _metadata, _parquet, _thrift, unseal_column

SEED = int(os.environ.get("SEALCOMB_SEED", "1"))
DRAWS = [SEED * 1000 + number for number in range(8)]
TEXTS = ["", "a", "naïve ☃", "x" * 300, "line\nbreak", '"quoted", text', "007", " "]

Draw = random.Random
Values = Callable[[Draw], Any]


def day(draw: Draw) -> datetime.date:
    return datetime.date(draw.choice([1, 1969, 1970, 2026, 9999]), draw.randint(1, 12), draw.randint(1, 28))


def moment(draw: Draw) -> datetime.datetime:
    return datetime.datetime.combine(
        day(draw), datetime.time(draw.randrange(24), 5, 6, draw.randrange(10**6))
    )


def recent(draw: Draw) -> datetime.datetime:
    return moment(draw).replace(year=draw.choice([1970, 2026]))


def number(digits: int) -> Values:
    return lambda draw: decimal.Decimal(draw.randrange(-(10**digits) + 1, 10**digits)).scaleb(-2)


def integer(bits: int, signed: bool = True) -> Values:
    low = -(1 << bits - 1) if signed else 0
    return lambda draw: draw.choice(
        [low, 0, 1, low + (1 << bits) - 1, draw.randrange(low, low + (1 << bits))]
    )


def whole(unit: int) -> Values:
    return lambda draw: moment(draw).replace(microsecond=draw.randrange(1000) * 1000 // unit * unit)


def text(draw: Draw) -> str:
    return draw.choice(TEXTS)


def data(draw: Draw) -> bytes:
    return draw.randbytes(draw.choice([0, 1, 16, 200]))


def real(draw: Draw) -> float:
    return draw.choice([0.0, -1.5, 0.25, 3.0e4])


# Types of pyarrow with values. Parquet supports those in FILES; the others exist only in Arrow.
PARQUET_TYPES: dict[str, tuple[pa.DataType, Values]] = {
    "null": (pa.null(), lambda _: None),
    "bool": (pa.bool_(), lambda draw: draw.random() < 0.5),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), integer(bits)) for bits in (8, 16, 32, 64)},
    **{
        f"uint{bits}": (getattr(pa, f"uint{bits}")(), integer(bits, signed=False)) for bits in (8, 16, 32, 64)
    },
    "half": (pa.float16(), real),
    "float": (pa.float32(), real),
    "double": (pa.float64(), lambda draw: draw.gauss(0, 1e300)),
    "decimal9": (pa.decimal128(9, 2), number(9)),
    "decimal18": (pa.decimal128(18, 2), number(18)),
    "decimal38": (pa.decimal128(38, 2), number(38)),
    "decimal76": (pa.decimal256(76, 2), number(60)),
    "date32": (pa.date32(), day),
    "date64": (pa.date64(), day),
    "time32s": (pa.time32("s"), lambda draw: datetime.time(draw.randrange(24), 5, 6)),
    "time32": (pa.time32("ms"), lambda draw: datetime.time(draw.randrange(24), 5, 6, 7000)),
    "time64us": (pa.time64("us"), lambda draw: moment(draw).time()),
    "time64ns": (pa.time64("ns"), lambda draw: moment(draw).time()),
    "stamp_s": (pa.timestamp("s"), whole(10**6)),
    "stamp_ms": (pa.timestamp("ms"), whole(1000)),
    "stamp_us": (pa.timestamp("us"), moment),
    "stamp_ns": (pa.timestamp("ns"), recent),
    "stamp_zone": (
        pa.timestamp("us", "Europe/Berlin"),
        lambda draw: recent(draw).replace(tzinfo=datetime.UTC),
    ),
    "duration": (pa.duration("us"), lambda draw: datetime.timedelta(seconds=draw.randrange(10**6))),
    "string": (pa.string(), text),
    "large_string": (pa.large_string(), text),
    "string_view": (pa.string_view(), text),
    "binary": (pa.binary(), data),
    "large_binary": (pa.large_binary(), data),
    "binary_view": (pa.binary_view(), data),
    "fixed": (pa.binary(5), lambda draw: draw.randbytes(5)),
    "categories": (pa.dictionary(pa.int8(), pa.string()), lambda draw: draw.choice("abc")),
    "list": (pa.list_(pa.int32()), lambda draw: [None, 1, 2][: draw.randrange(4)]),
    "large_list": (pa.large_list(pa.string()), lambda draw: ["a", None][: draw.randrange(3)]),
    "fixed_list": (pa.list_(pa.int16(), 2), lambda draw: [draw.randrange(9), 7]),
    "struct": (
        pa.struct([("x", pa.int8()), ("y", pa.list_(pa.string()))]),
        lambda draw: {"x": draw.randrange(9), "y": [text(draw)]},
    ),
    "map": (
        pa.map_(pa.string(), pa.int64()),
        lambda draw: [(f"k{at}", at) for at in range(draw.randrange(3))],
    ),
    "uuid": (pa.uuid(), lambda draw: uuid.UUID(bytes=draw.randbytes(16)).bytes),
    "json": (pa.json_(), lambda draw: json.dumps({"n": draw.randrange(99)})),
    "bool8": (pa.bool8(), lambda draw: draw.randrange(2)),
}
ARROW_TYPES: dict[str, tuple[pa.DataType, Values]] = {
    **PARQUET_TYPES,
    "month_day_nano": (pa.month_day_nano_interval(), lambda draw: (draw.randrange(9), 2, 3)),
    "list_view": (pa.list_view(pa.int8()), lambda draw: [1, 2, 3][: draw.randrange(4)]),
    "sparse": (pa.sparse_union([pa.field("i", pa.int8()), pa.field("s", pa.string())]), lambda _: None),
    "dense": (pa.dense_union([pa.field("i", pa.int8()), pa.field("s", pa.string())]), lambda _: None),
    "runs": (pa.run_end_encoded(pa.int32(), pa.string()), lambda draw: draw.choice("ab")),
    "opaque": (pa.opaque(pa.binary(), "point", "gis"), data),
    "ordered": (pa.dictionary(pa.int16(), pa.string(), ordered=True), lambda draw: draw.choice("ab")),
    "numbers": (pa.dictionary(pa.int32(), pa.int64()), lambda draw: draw.randrange(3)),
    "decimal32": (pa.decimal32(9, 2), number(7)),
}
SEALABLE = [
    "string",
    "large_string",
    "string_view",
    "binary",
    "large_binary",
    "binary_view",
    "fixed",
    "categories",
    "uuid",
    "json",
]


def array_of(kind: pa.DataType, values: Values, draw: Draw, rows: int, nulls: float) -> pa.Array:
    if pa.types.is_union(kind):
        ids = pa.array([draw.randrange(2) for _ in range(rows)], pa.int8())
        numbers, texts = pa.array([7] * rows, pa.int8()), pa.array(["t"] * rows)
        if kind.mode == "sparse":
            return pa.UnionArray.from_sparse(ids, [numbers, texts], ["i", "s"])
        return pa.UnionArray.from_dense(ids, pa.array(range(rows), pa.int32()), [numbers, texts], ["i", "s"])
    items = [None if draw.random() < nulls else values(draw) for _ in range(rows)]
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(items, kind.storage_type))
    return pa.array(items, kind)


def table_of(types: dict[str, tuple[pa.DataType, Values]], draw: Draw) -> pa.Table:
    """Returns some columns in random order, including at least one that can be sealed: `target`."""
    names = draw.sample(sorted(types), min(len(types), draw.randint(6, 20)))
    rows, nulls = draw.choice([1, 7, 400, 3000]), draw.choice([0, 0.3, 0.9])
    named = {name: types[name] for name in names} | {"target": types[draw.choice(SEALABLE)]}
    order = draw.sample(sorted(named), len(named))
    fields = [
        pa.field(name, named[name][0], metadata=draw.choice([None, {"comment": f"of {name}"}]))
        for name in order
    ]
    arrays = [array_of(*named[name], draw, rows, nulls) for name in order]
    fields = [
        field.with_nullable(False)
        if not array.null_count and draw.random() < 0.3 and field.name != "null"
        else field
        for field, array in zip(fields, arrays, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, draw.choice([None, {"made by": "us"}])))


@pytest.fixture(scope="module")
def keyset() -> Keyset:
    return Keyset.generate("random")


@pytest.fixture
def change(tmp_path: Path, keyset: Keyset, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Returns a function that runs the command on a file in the folder, and returns its error message."""
    keys = tmp_path / "keys.json"
    keys.touch(mode=0o600)
    keys.write_text(keyset.secret_tink_json())

    def run(verb: str, source: str, out: str, *names: str) -> str:
        flags = [flag for name in names or ("target",) for flag in ("--column", name)]
        before = sorted(path.name for path in tmp_path.iterdir())
        status = _cli.main(
            [
                verb,
                str(tmp_path / source),
                str(tmp_path / out),
                "--keyset",
                str(keys),
                "--force",
                *flags,
                "--context",
                "{column}",
            ]
        )
        error = capsys.readouterr().err
        assert status == (1 if error else 0), error
        if error:
            assert sorted(path.name for path in tmp_path.iterdir()) == before
        return error

    return run


# ---- readers


def of_pyarrow(path: Path) -> dict[str, str]:
    table = pq.read_table(path)
    return {name: repr((str(table[name].type), table[name].to_pylist())) for name in table.column_names}


def of_pandas(path: Path) -> dict[str, str]:
    frame = pd.read_parquet(path)
    return {str(name): repr((str(frame[name].dtype), list(frame[name]))) for name in frame.columns} | {
        "index": repr(list(frame.index))
    }


def of_polars(path: Path) -> dict[str, str]:
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PanicException as error:  # for an INTERVAL, for example
        raise ValueError(path) from error
    return {name: repr((str(frame[name].dtype), frame[name].to_list())) for name in frame.columns}


def of_duckdb(path: Path) -> dict[str, str]:
    relation = duckdb.sql(f"SELECT * FROM read_parquet('{path}')")
    rows = relation.fetchall()
    return {
        name: repr((str(kind), [row[at] for row in rows]))
        for at, (name, kind) in enumerate(zip(relation.columns, relation.types, strict=True))
    }


READERS = {"pyarrow": of_pyarrow, "pandas": of_pandas, "polars": of_polars, "duckdb": of_duckdb}


def footer(path: Path) -> _parquet.Footer:
    with path.open("rb") as file:
        return _parquet.Footer(file)


def notes_of(path: Path) -> dict[bytes, object]:
    """Returns the notes of a file. Arrow schemas are parsed, because their serialization is ambiguous."""
    notes: dict[bytes, Any] = dict(footer(path).notes)
    if b"ARROW:schema" in notes:
        arrow = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(notes[b"ARROW:schema"])))
        notes[b"ARROW:schema"] = (
            arrow.remove_metadata().to_string(show_field_metadata=True, truncate_metadata=False),
            arrow.metadata,
        )
    return notes


def bodies(data: bytes, about: _parquet.Footer, leaf: int) -> list[bytes]:
    """Returns the pages of a column without their headers."""
    found = []
    for group in range(len(about.groups)):
        at, end = _parquet.extent(about.chunk(group, leaf))
        while at < end:
            header, start = _thrift.parse(data[at : min(end, at + 4096)])
            at, size = at + start, header[3][1]
            found.append(data[at : at + size])
            at += size
    return found


PLACES = {2, 5, 6, 7, 9, 10, 11, 14}


def about_chunk(about: _parquet.Footer, group: int, leaf: int) -> dict[int, Any]:
    """Returns the metadata of a chunk, except for offsets and sizes, which checksums of pages change."""
    return {key: value for key, value in about.chunk(group, leaf).items() if key not in PLACES - {2, 5}}


def check_parquet(folder: Path, change: Callable[..., str], *names: str) -> None:
    """Seals columns of in.parquet, opens them again, and compares the files for all readers."""
    source, sealed, opened = (folder / f"{name}.parquet" for name in ("in", "sealed", "opened"))
    names = names or ("target",)
    assert change("seal", "in.parquet", "sealed.parquet", *names) == ""
    assert change("unseal", "sealed.parquet", "opened.parquet", *names) == ""
    before, was = source.read_bytes(), footer(source)
    numbers = {was.leaf(name) for name in names}
    for path in (sealed, opened):
        data, now = path.read_bytes(), footer(path)
        assert [leaf.path for leaf in now.leaves] == [leaf.path for leaf in was.leaves]
        assert [group[3] for group in now.groups] == [group[3] for group in was.groups]
        for leaf in range(len(was.leaves)):
            if leaf not in numbers:
                assert bodies(data, now, leaf) == bodies(before, was, leaf), was.leaves[leaf]
                for group in range(len(was.groups)):
                    assert about_chunk(now, group, leaf) == about_chunk(was, group, leaf)
    assert footer(opened).elements == was.elements
    assert notes_of(opened) == notes_of(source)
    for file in (sealed, opened):
        assert pq.read_metadata(file).created_by == pq.read_metadata(source).created_by
    for reader, read in READERS.items():
        try:
            seen = read(source)
        except Exception:  # what a reader cannot read anyway
            continue
        after = read(opened)
        assert after == seen, reader
        between = read(sealed)
        assert list(between) == list(seen), reader
        for name in seen:
            if name not in names and not (name == "index" and reader == "pandas"):
                assert between[name] == seen[name], (reader, name)
            elif name in names and reader == "duckdb":
                assert between[name].startswith("('BLOB'")
            elif name in names and reader == "polars":
                assert between[name].startswith("('Binary'")


@pytest.mark.parametrize("seed", DRAWS)
def test_parquet_of_pyarrow(seed: int, tmp_path: Path, change: Callable[..., str]) -> None:
    draw = Draw(seed)
    table = table_of(PARQUET_TYPES, draw)
    codecs = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
    wide = draw.random() < 0.5
    pq.write_table(
        table,
        tmp_path / "in.parquet",
        compression={name: draw.choice(codecs) for name in table.column_names}
        if wide
        else draw.choice(codecs),
        row_group_size=max(draw.choice([1, 100, 1000]), table.num_rows // 8),
        use_dictionary=draw.choice([True, False]),
        data_page_size=draw.choice([None, 100]),
        data_page_version=draw.choice(["1.0", "2.0"]),
        version=draw.choice(["1.0", "2.4", "2.6"]) if "stamp_ns" not in table.column_names else "2.6",
        write_page_index=draw.choice([True, False]),
        write_page_checksum=draw.choice([True, False]),
        write_statistics=draw.choice([True, False]),
        store_schema=draw.choice([True, False]),
        use_deprecated_int96_timestamps=draw.random() < 0.3,
        store_decimal_as_integer=draw.choice([True, False]),
    )
    check_parquet(tmp_path, change)


@pytest.mark.parametrize("name", SEALABLE)
@pytest.mark.parametrize("store_schema", [True, False])
def test_each_sealable_type_round_trips_through_parquet(
    name: str, store_schema: bool, tmp_path: Path, change: Callable[..., str]
) -> None:
    draw = Draw(SEED)
    column = array_of(*PARQUET_TYPES[name], draw, 500, 0.2)
    table = pa.table({"n": pa.array(range(500)), "target": column})
    pq.write_table(table, tmp_path / "in.parquet", store_schema=store_schema, row_group_size=200)
    check_parquet(tmp_path, change)


def test_several_columns_are_sealed_and_opened_in_any_order(
    tmp_path: Path, change: Callable[..., str]
) -> None:
    draw = Draw(SEED)
    frame = pd.DataFrame(
        {"a": ["x", None, "y"], "b": [b"1", b"2", None], "c": pd.Categorical(["u", "v", "u"]), "n": [1, 2, 3]}
    )
    frame.to_parquet(tmp_path / "in.parquet")
    before = footer(tmp_path / "in.parquet")
    seals, opens = draw.sample("abc", 3), draw.sample("abc", 3)
    last = "in.parquet"
    for verb, names in (("seal", seals), ("unseal", opens)):
        for name in names:
            assert change(verb, last, f"{verb}.{name}.parquet", name) == ""
            last = f"{verb}.{name}.parquet"
            for read in READERS.values():
                read(tmp_path / last)
    assert pd.read_parquet(tmp_path / last).equals(pd.read_parquet(tmp_path / "in.parquet"))
    assert footer(tmp_path / last).notes == before.notes
    assert footer(tmp_path / last).elements == before.elements


DUCKDB_TYPES = """
SELECT i AS n, CASE WHEN i % 5 THEN 'text ' || i END AS target,
    INTERVAL (i) MONTH + INTERVAL 3 DAY AS interval, uuid() AS uuid, {'a': i} :: JSON AS json,
    i :: HUGEINT AS huge, (i % 200) :: UTINYINT AS tiny, random() AS real, 'NaN' :: FLOAT AS nan,
    (i % 3) :: DECIMAL(4, 1) AS d4, i :: DECIMAL(18, 3) AS d18, i :: DECIMAL(38, 10) AS d38,
    TIMETZ '12:30:00+02' AS timetz, TIMESTAMP '9999-12-31 23:59:59' AS until,
    TIMESTAMPTZ '0001-01-01 00:00:00+00' AS since, DATE '9999-12-31' AS day,
    [i, NULL] AS list, {'x': i, 'y': ['z']} AS struct, MAP {'k': i} AS map,
    (CASE i % 2 WHEN 0 THEN 'red' ELSE 'blue' END) :: ENUM ('red', 'blue') AS color,
    '\\x00\\xFF' :: BLOB AS blob, '101' :: BIT AS bits
FROM range(2500) t(i)
"""


@pytest.mark.parametrize(("codec", "version"), [("snappy", "V1"), ("zstd", "V2")])
@pytest.mark.parametrize("target", ["target", "uuid", "interval", "json", "color", "blob"])
def test_parquet_of_duckdb(
    codec: str, version: str, target: str, tmp_path: Path, change: Callable[..., str]
) -> None:
    duckdb.sql(
        f"COPY ({DUCKDB_TYPES}) TO '{tmp_path}/in.parquet' "
        f"(FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048)"
    )
    check_parquet(tmp_path, change, target)


def test_parquet_of_polars(tmp_path: Path, change: Callable[..., str]) -> None:
    frame = pl.DataFrame(
        {
            "target": ["a", None, "b", ""],
            "category": pl.Series(["u", "v", None, "u"], dtype=pl.Categorical),
            "enum": pl.Series(["u", "v", None, "u"], dtype=pl.Enum(["v", "u"])),
            "time": [datetime.time(1, 2, 3)] * 4,
            "duration": [datetime.timedelta(days=1)] * 4,
            "decimal": pl.Series(["1.50", None, "2.25", "3.00"]).str.to_decimal(scale=2),
            "array": pl.Series([[1, 2]] * 4, dtype=pl.Array(pl.Int8, 2)),
            "object": [{"a": 1, "b": [None, "x"]}] * 4,
            "zone": pl.Series([datetime.datetime(2026, 1, 1)] * 4).dt.replace_time_zone("Asia/Tokyo"),
        }
    )
    frame.write_parquet(tmp_path / "in.parquet")
    check_parquet(tmp_path, change)
    check_parquet(tmp_path, change, "enum")
    check_parquet(tmp_path, change, "category")


def annotated(path: Path, name: str, changes: dict[int, tuple[int, Any]]) -> None:
    """Changes the schema element of a column in a file."""
    about = footer(path)
    (element,) = (element for element in about.elements if element[4][1] == name.encode())
    for key in (6, 10):
        element.pop(key, None)
    element.update(changes)
    data = path.read_bytes()[: about.end]
    written = _thrift.serialize(about.struct)
    path.write_bytes(data + written + len(written).to_bytes(4, "little") + b"PAR1")


BYTES_ANNOTATIONS = {
    "string, old": {6: (5, 0)},
    "enum": {6: (5, 4), 10: (12, {4: (12, {})})},
    "json": {6: (5, 19), 10: (12, {11: (12, {})})},
    "bson": {6: (5, 20), 10: (12, {12: (12, {})})},
    "geometry": {10: (12, {16: (12, {})})},
    "unknown to all": {10: (12, {99: (12, {7: (8, b"?")})})},
    "field id": {9: (5, 42)},
}


@pytest.mark.parametrize("other", [True, False])
@pytest.mark.parametrize("changes", BYTES_ANNOTATIONS.values(), ids=BYTES_ANNOTATIONS)
def test_annotations_of_bytes_are_preserved(
    changes: dict[int, tuple[int, Any]], other: bool, tmp_path: Path, change: Callable[..., str]
) -> None:
    table = pa.table({"target": [b"a", None, b"{}"], "other": [b"1", b"2", None]})
    path = tmp_path / "in.parquet"
    pq.write_table(table, path, store_schema=False)
    annotated(path, "other" if other else "target", changes)
    try:
        pq.ParquetFile(path).schema_arrow  # noqa: B018
    except pa.ArrowException:
        assert "in.parquet" in change("seal", "in.parquet", "sealed.parquet")
        return
    check_parquet(tmp_path, change)


# ---- notes of other tools


NOTES = {
    b"org.apache.spark.sql.parquet.row.metadata": {
        "type": "struct",
        "fields": [
            {"name": "n", "type": "integer", "nullable": True, "metadata": {}},
            {
                "name": "target",
                "type": "string",
                "nullable": True,
                "metadata": {"comment": "x", "__CHAR_VARCHAR_TYPE_STRING": "varchar(9)"},
            },
        ],
    },
    b"parquet.avro.schema": {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "n", "type": "int"},
            {"name": "target", "type": ["null", "string"], "default": None},
        ],
    },
    b"iceberg.schema": {
        "type": "struct",
        "fields": [{"id": 1, "name": "target", "required": False, "type": "string"}],
    },
    b"huggingface": {
        "info": {"features": {"n": {"dtype": "int64"}, "target": {"dtype": "string", "_type": "Value"}}}
    },
    b"geo": {"version": "1.1.0", "primary_column": "target", "columns": {"target": {"encoding": "WKB"}}},
}


@pytest.mark.parametrize("key", NOTES)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_notes_of_other_tools_are_changed_and_restored(
    key: bytes, separators: tuple[str, str], tmp_path: Path, change: Callable[..., str]
) -> None:
    note = json.dumps(NOTES[key], separators=separators)
    table = pa.table({"n": [1, 2], "target": [b"a", b"b"]}).replace_schema_metadata(
        {key: note, b"else": b"\xff"}
    )
    pq.write_table(table, tmp_path / "in.parquet")
    check_parquet(tmp_path, change)
    sealed = dict(footer(tmp_path / "sealed.parquet").notes)
    assert b"string" not in sealed.get(key, b"").replace(
        b"string", b"", sealed.get(key, b"").count(b"sealcomb.type")
    )
    assert sealed.get(key) != note.encode()
    if key == b"geo":
        assert key not in sealed
    assert sealed[b"else"] == b"\xff"


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b"null", b'{"fields": 7}', b'{"columns": [7]}', b"[" * 9999]
)
def test_invalid_notes_are_preserved(note: bytes, tmp_path: Path, change: Callable[..., str]) -> None:
    keys = [*NOTES, b"pandas"]
    table = pa.table({"n": [1], "target": ["a"]}).replace_schema_metadata(dict.fromkeys(keys, note))
    pq.write_table(table, tmp_path / "in.parquet")
    assert change("seal", "in.parquet", "sealed.parquet") == ""
    assert change("unseal", "sealed.parquet", "opened.parquet") == ""
    assert footer(tmp_path / "opened.parquet").notes == footer(tmp_path / "in.parquet").notes


FRAMES = {
    "str": pd.DataFrame({"target": ["a", None], "n": [1, 2]}),
    "object": pd.DataFrame({"target": pd.Series(["a", None], dtype=object), "n": [1, 2]}),
    "string[python]": pd.DataFrame({"target": pd.Series(["a", None], dtype="string"), "n": [1, 2]}),
    "string[pyarrow]": pd.DataFrame({"target": pd.Series(["a", None], dtype="string[pyarrow]"), "n": [1, 2]}),
    "ArrowDtype": pd.DataFrame(
        {"target": pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string())), "n": [1, 2]}
    ),
    "category": pd.DataFrame({"target": pd.Categorical(["a", None]), "n": [1, 2]}),
    "bytes": pd.DataFrame({"target": pd.Series([b"a", None], dtype=object), "n": [1, 2]}),
    "index": pd.DataFrame({"n": [1, 2]}, index=pd.Index(["a", "b"], name="target")),
    "levels": pd.DataFrame(
        {"n": [1, 2]}, index=pd.MultiIndex.from_arrays([["a", "b"], [1, 2]], names=["target", "k"])
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_pandas_reads_its_sealed_files(
    name: str, tmp_path: Path, change: Callable[..., str], keyset: Keyset
) -> None:
    frame = FRAMES[name]
    frame.to_parquet(tmp_path / "in.parquet")
    check_parquet(tmp_path, change)
    sealed = pd.read_parquet(tmp_path / "sealed.parquet")
    values = list(sealed.reset_index()["target"])
    assert unseal_column(pa.array(values), keyset, context=b"target")[0].as_py() == b"a"
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "opened.parquet"), pd.read_parquet(tmp_path / "in.parquet")
    )


# ---- metadata that would reveal values


def test_sealed_files_do_not_reveal_values(tmp_path: Path, change: Callable[..., str]) -> None:
    secret = b"a value that is secret"
    table = pa.table({"n": [1, 2, 3] * 50, "target": [secret, b"zzz", secret] * 50})
    pq.write_table(
        table, tmp_path / "in.parquet", compression="none", write_page_index=True,
        bloom_filter_options={"target": {"ndv": 100, "fpp": 0.01}, "n": {"ndv": 100, "fpp": 0.01}},
        sorting_columns=[pq.SortingColumn(0), pq.SortingColumn(1)],
    )  # fmt: skip
    check_parquet(tmp_path, change)
    assert secret in (tmp_path / "in.parquet").read_bytes()
    assert secret not in (tmp_path / "sealed.parquet").read_bytes()
    chunk = footer(tmp_path / "sealed.parquet").chunk(0, 1)
    assert not {14, 15, 16, 17} & set(chunk)
    assert chunk[12][1] == {3: (6, 0)}
    kept = footer(tmp_path / "sealed.parquet").chunk(0, 0)
    assert {12, 14} <= set(kept)
    about = pq.read_metadata(tmp_path / "sealed.parquet").row_group(0)
    assert about.column(0).has_column_index
    assert not about.column(1).has_column_index
    assert about.column(1).has_offset_index
    assert [column.column_index for column in about.sorting_columns] == [0]
    opened = pq.read_metadata(tmp_path / "opened.parquet").row_group(0)
    assert [column.column_index for column in opened.sorting_columns] == [0, 1]
    assert duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/sealed.parquet' WHERE n = 2").fetchall() == [(50,)]


def test_encrypted_parquet_is_refused(tmp_path: Path, change: Callable[..., str]) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"target": ["a"], "n": [1]}), path)
    whole, about = path.read_bytes(), footer(path)
    about.struct[8] = (12, {1: (12, {})})
    signed = whole[: about.end] + _thrift.serialize(about.struct)
    signed += (len(signed) - about.end).to_bytes(4, "little") + b"PAR1"
    about = footer(path)
    about.groups[0][1][1].items[1][8] = (12, {1: (12, {})})
    column = whole[: about.end] + _thrift.serialize(about.struct)
    column += (len(column) - about.end).to_bytes(4, "little") + b"PAR1"
    for data in (whole[:-4] + b"PARE", signed, column):
        path.write_bytes(data)
        assert "in.parquet" in change("seal", "in.parquet", "out.parquet")


# ---- Arrow


def batches(path: Path) -> Iterator[tuple[pa.RecordBatch, object]]:
    reader: Any
    if path.suffix == ".arrows":
        reader = pa.ipc.open_stream(str(path))
        while True:
            try:
                batch, notes = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                return
            yield batch, notes and dict(notes)
    reader = pa.ipc.open_file(str(path))
    for at in range(reader.num_record_batches):
        batch, notes = reader.get_batch_with_custom_metadata(at)
        yield batch, notes and dict(notes)


def codec_of(path: Path) -> str | None:
    file = pa.OSFile(str(path))
    if path.suffix != ".arrows":
        file.seek(8)
    return _ipc.codec(file)


@pytest.mark.parametrize("form", ["arrow", "arrows", "feather"])
@pytest.mark.parametrize("seed", DRAWS)
def test_arrow(seed: int, form: str, tmp_path: Path, change: Callable[..., str]) -> None:
    draw = Draw(seed)
    table = table_of(ARROW_TYPES, draw)
    codec = draw.choice([None, "lz4", "zstd"])
    options = pa.ipc.IpcWriteOptions(compression=codec)
    parts = table.to_batches(max_chunksize=max(draw.choice([3, 999, 10**6]), table.num_rows // 8))
    with (
        pa.ipc.new_stream(str(tmp_path / f"in.{form}"), table.schema, options=options)
        if form == "arrows"
        else pa.ipc.new_file(
            str(tmp_path / f"in.{form}"), table.schema, options=options, metadata={"foot": "note"}
        )
    ) as writer:
        for at, batch in enumerate(parts):
            writer.write_batch(batch, custom_metadata={"at": str(at)} if at % 2 else None)
    assert change("seal", f"in.{form}", f"sealed.{form}") == ""
    assert change("unseal", f"sealed.{form}", f"opened.{form}") == ""
    assert change("unseal", f"sealed.{form}", "opened.arrows") == ""
    for out in (f"sealed.{form}", f"opened.{form}", "opened.arrows"):
        assert codec_of(tmp_path / out) == codec
        for (was, noted), (now, notes) in zip(
            batches(tmp_path / f"in.{form}"), batches(tmp_path / out), strict=True
        ):
            assert notes == noted
            assert now.schema.metadata == was.schema.metadata
            for name in table.column_names:
                if name != "target":
                    assert now.schema.field(name).equals(was.schema.field(name), check_metadata=True)
                    assert now[name].equals(was[name]) or repr(now[name]) == repr(was[name])
                elif out.startswith("opened"):
                    assert now.schema.field(name).equals(was.schema.field(name), check_metadata=True)
                    assert now[name].to_pylist() == was[name].to_pylist()
                else:
                    assert now[name].type in (pa.binary(), pa.large_binary())
    if form != "arrows":
        assert dict(pa.ipc.open_file(str(tmp_path / f"opened.{form}")).metadata) == {b"foot": b"note"}


# ---- conversion between formats


@pytest.mark.parametrize("name", ARROW_TYPES)
@pytest.mark.parametrize("out", ["parquet", "csv"])
def test_arrow_columns_are_preserved_or_refused_by_name(
    name: str, out: str, tmp_path: Path, change: Callable[..., str]
) -> None:
    column = array_of(*ARROW_TYPES[name], Draw(SEED), 50, 0.2)
    table = pa.table({"target": ["x"] * 50, name: column})
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), table.schema) as writer:
        writer.write_table(table)
    if error := change("seal", "in.arrow", f"out.{out}"):
        assert f"column {name!r}" in error
        assert not (tmp_path / f"out.{out}").exists()
    elif out == "parquet":
        back = pq.read_table(tmp_path / "out.parquet")
        assert back.schema.field(name).type == column.type
        assert back[name].to_pylist() == column.to_pylist()
    else:
        with (tmp_path / "out.csv").open(newline="") as file:
            assert len(list(csv.reader(file))) == 51


def test_parquet_columns_are_preserved_or_refused_by_name(tmp_path: Path, change: Callable[..., str]) -> None:
    plain = pa.table({"target": ["x"] * 3})
    moments = pa.array(
        [datetime.datetime(9999, 12, 31), None, datetime.datetime(1, 1, 1)], pa.timestamp("us")
    )
    pq.write_table(
        plain.append_column("until", moments),
        tmp_path / "int96.parquet",
        use_deprecated_int96_timestamps=True,
    )
    duckdb.sql(f"COPY (SELECT 'x' AS target, INTERVAL 1 DAY AS until) TO '{tmp_path}/interval.parquet'")
    duckdb.sql(f"COPY (SELECT 'x' AS target, 'a' :: ENUM ('a') AS until) TO '{tmp_path}/enum.parquet'")
    for kind in ("int96", "interval", "enum"):
        for out in ("arrow", "csv"):
            error = change("seal", f"{kind}.parquet", f"out.{out}")
            assert "column 'until'" in error or kind == "enum", (kind, error)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("seed", DRAWS)
def test_csv(quoting: int, seed: int, tmp_path: Path, change: Callable[..., str]) -> None:
    draw = Draw(seed)
    names = ["n", "target", "z"][draw.randrange(2) :][: draw.randint(2, 3)]
    out = io.StringIO()
    writer = csv.writer(out, quoting=quoting, lineterminator=draw.choice(["\n", "\r\n"]))
    writer.writerow(names)
    for _ in range(draw.choice([0, 1, 500])):
        writer.writerow([text(draw) for _ in names])
    (tmp_path / "in.csv").write_bytes(out.getvalue().encode())
    assert change("seal", "in.csv", "sealed.csv") == ""
    assert change("unseal", "sealed.csv", "opened.csv") == ""
    assert (tmp_path / "opened.csv").read_bytes() == out.getvalue().encode()
    with (tmp_path / "in.csv").open(newline="") as was, (tmp_path / "opened.csv").open(newline="") as now:
        assert list(csv.reader(now)) == list(csv.reader(was))
    with (tmp_path / "in.csv").open(newline="") as was, (tmp_path / "sealed.csv").open(newline="") as now:
        for before, after in zip(csv.DictReader(was), csv.DictReader(now), strict=True):
            assert {**before, "target": None} == {**after, "target": None}


Origin = dict[str, Any]


def opened_with_origins(
    folder: Path, change: Callable[..., str], changes: list[Callable[[Origin], Origin]]
) -> Iterator[tuple[str, str]]:
    """Opens a sealed column after each change of its origin. Yields the forms of the files and the error."""
    table = pa.table({"n": [1, 2], "target": ["a", "b"]})
    pq.write_table(table, folder / "in.parquet")
    assert change("seal", "in.parquet", "sealed.parquet") == ""
    sealed = pq.read_table(folder / "sealed.parquet")
    good = _metadata.origin_of(sealed.schema, "target")
    assert good is not None
    for changed in changes:
        note = {_metadata.ORIGIN_KEY: json.dumps({**good, **changed(good)})}
        field = sealed.schema.field("target").with_metadata(note)
        bad = sealed.cast(sealed.schema.set(1, field))
        pq.write_table(bad, folder / "bad.parquet")
        with pa.ipc.new_file(str(folder / "bad.arrow"), bad.schema) as writer:
            writer.write_table(bad)
        for form, out in itertools.product(("parquet", "arrow"), ("parquet", "arrow", "csv")):
            yield f"{form} to {out}", change("unseal", f"bad.{form}", f"opened.{out}")


def test_damaged_origins_are_handled(tmp_path: Path, change: Callable[..., str]) -> None:
    """Origins are not authenticated: any content must lead to success or to a proper error."""
    wrongs: list[Any] = [None, 7, "x", [], {}, "AAAA", {"pandas": 7}, ["ZSTD"], [{}], [[[]]], [["abc"]]]
    wrongs += [[[[column, False, True]]] for column in ("x", 2, -1, 1.5, None, [], {})]
    keys = ("arrow", "parquet", "codec", "dictionary", "sorting", "notes")
    changes = [lambda _, key=key, wrong=wrong: {key: wrong} for key in keys for wrong in wrongs]
    for _, error in opened_with_origins(tmp_path, change, changes):
        assert not error or "column 'target'" in error


@pytest.mark.parametrize("fields", [0, 2])
def test_origins_that_are_not_one_field_are_errors(
    fields: int, tmp_path: Path, change: Callable[..., str]
) -> None:
    schema = pa.schema([pa.field(str(number), pa.string()) for number in range(fields)])
    note = base64.b64encode(schema.serialize()).decode()
    for forms, error in opened_with_origins(tmp_path, change, [lambda _: {"arrow": note}]):
        assert "column 'target': the original type in its metadata is damaged" in error, forms


@pytest.mark.parametrize("key", ["arrow", "parquet"])
@pytest.mark.parametrize("seed", DRAWS)
def test_origins_with_changed_bytes_are_handled(
    key: str, seed: int, tmp_path: Path, change: Callable[..., str]
) -> None:
    draw = Draw(seed)

    def changed(good: Origin) -> Origin:
        data = bytearray(base64.b64decode(good[key]))
        for _ in range(draw.choice([1, 2, 4])):
            at = draw.randrange(len(data))
            data[at] = draw.choice([0, 1, 2, 7, 0x7F, 0x80, 0xFF, data[at] ^ 1 << draw.randrange(8)])
        return {key: base64.b64encode(data).decode()}

    for _, error in opened_with_origins(tmp_path, change, [changed] * 8):
        assert not error or "column 'target'" in error
