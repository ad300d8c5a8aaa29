"""The command ``sealcomb-columns`` with numbers, dates, nested columns, types given by name, and metadata."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sealcomb import Keyset, _metadata, columns, open_column, seal_column
from sealcomb._sealcomb import element_ids

CONTEXT = ("--context", "people.{column}")
DAY = datetime.date(2026, 1, 2)
MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5, 6000)

NUMBERS = {
    "null": (pa.null(), None),
    "bool": (pa.bool_(), True),
    "int8": (pa.int8(), -7),
    "uint16": (pa.uint16(), 65535),
    "int64": (pa.int64(), -(1 << 62)),
    "half": (pa.float16(), 1.5),
    "float": (pa.float32(), -0.25),
    "double": (pa.float64(), 1e300),
    "decimal9": (pa.decimal128(9, 2), decimal.Decimal("-1.25")),
    "decimal38": (pa.decimal128(38, 2), decimal.Decimal("123456789012345678901234567890.25")),
    "decimal76": (pa.decimal256(76, 2), decimal.Decimal("-1.25")),
    "date32": (pa.date32(), DAY),
    "date64": (pa.date64(), DAY),
    "time32": (pa.time32("ms"), datetime.time(1, 2, 3)),
    "time64": (pa.time64("us"), datetime.time(1, 2, 3, 4)),
    "stamp": (pa.timestamp("us"), MOMENT),
    "zone": (pa.timestamp("ms", "Europe/Berlin"), MOMENT.replace(tzinfo=datetime.UTC)),
    "duration": (pa.duration("us"), datetime.timedelta(seconds=5)),
    "numbers": (pa.dictionary(pa.int32(), pa.int64()), 5),
    "bool8": (pa.bool8(), 1),
}
ONLY_ARROW = {
    "runs": (pa.run_end_encoded(pa.int32(), pa.string()), "a"),
    "months": (pa.month_day_nano_interval(), (1, 2, 3)),
    "decimal32": (pa.decimal32(9, 2), decimal.Decimal("-1.25")),
}


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.touch(mode=0o600)
    path.write_text(Keyset.generate("deterministic").secret_tink_json())
    return path


@pytest.fixture
def run(tmp_path: Path, keys: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Returns a function that runs the command on files in the folder, and returns its messages."""

    def call(verb: str, source: str, out: str, *options: str, status: int = 0) -> str:
        given = [
            verb,
            str(tmp_path / source),
            str(tmp_path / out),
            "--keyset",
            str(keys),
            "--force",
            *options,
        ]
        got = columns.main(given)
        error = capsys.readouterr().err
        assert got == status, error
        return error

    return call


def array_of(kind: pa.DataType, value: object) -> pa.Array:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array([value, None, value] * 10, kind.storage_type))
    return pa.array([value, None, value] * 10, kind)


def write(table: pa.Table, path: Path, **options: object) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=12, **options)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=12)


def load(path: Path) -> pa.Table:
    return pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(str(path)).read_all()


# ---- types


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("name", [*NUMBERS, *ONLY_ARROW])
def test_a_column_of_any_type_opens_with_its_type(
    name: str, form: str, tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    if form == "parquet" and name in ONLY_ARROW:
        pytest.skip("Parquet does not have this type")
    kind, value = (NUMBERS | ONLY_ARROW)[name]
    table = pa.table({"n": pa.array(range(30)), "x": array_of(kind, value)})
    write(table, tmp_path / f"in.{form}")
    assert run("seal", f"in.{form}", f"sealed.{form}", "--column", "x", *CONTEXT) == ""
    assert run("open", f"sealed.{form}", f"opened.{form}", "--column", "x", *CONTEXT) == ""
    sealed, opened = load(tmp_path / f"sealed.{form}"), load(tmp_path / f"opened.{form}")
    before = load(tmp_path / f"in.{form}")
    assert opened.schema.equals(before.schema, check_metadata=True)
    assert opened["x"].to_pylist() == before["x"].to_pylist()
    assert sealed.schema.field("x").type == pa.binary()
    assert sealed.schema.field("x").metadata[_metadata.VERSION_KEY] == b"1"
    if name != "bool8":
        keyset = Keyset.from_tink_json(keys.read_text())
        again = seal_column(before["x"], keyset, context="people.x")
        assert sealed["x"].to_pylist() == again.to_pylist()
    if name not in ("null", "numbers", "runs"):
        assert open_column(
            sealed["x"], Keyset.from_tink_json(keys.read_text()), context="people.x",
            as_type=sealed.schema.field("x").metadata[_metadata.TYPE_KEY].decode(),
        ).null_count == 10  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [{"use_deprecated_int96_timestamps": True}, {"store_decimal_as_integer": True}, {"store_schema": False}],
    ids=str,
)
def test_the_forms_of_parquet_are_restored(
    options: dict[str, bool], tmp_path: Path, run: Callable[..., str]
) -> None:
    table = pa.table({name: array_of(*NUMBERS[name]) for name in ("decimal9", "stamp", "int8", "date32")})
    write(table, tmp_path / "in.parquet", **options)
    assert run("seal", "in.parquet", "sealed.parquet", "--all", *CONTEXT) == ""
    assert run("open", "sealed.parquet", "opened.parquet", "--all", *CONTEXT) == ""
    before, after = (pq.ParquetFile(tmp_path / f"{name}.parquet") for name in ("in", "opened"))
    assert after.schema.equals(before.schema)
    assert after.read().equals(before.read())
    assert all(kind == pa.binary() for kind in load(tmp_path / "sealed.parquet").schema.types)


def test_the_metadata_of_the_library_restores_types(
    tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    """These files do not come from the command."""
    keyset = Keyset.from_tink_json(keys.read_text())
    sealed = seal_column(pa.array([1, None, 3], pa.int32()), keyset, context="people.x")
    field = pa.field(
        "x", pa.binary(), metadata={"sealcomb.type": "int32", "sealcomb.version": "1", "kept": "so"}
    )
    write(pa.table([sealed], pa.schema([field])), tmp_path / "sealed.parquet")
    assert run("open", "sealed.parquet", "opened.parquet", "--all", *CONTEXT) == ""
    opened = load(tmp_path / "opened.parquet")
    assert opened["x"].to_pylist() == [1, None, 3]
    assert opened.schema.field("x").type == pa.int32()
    assert opened.schema.field("x").metadata == {b"kept": b"so"}
    for changes, problem in (
        ({b"sealcomb.version": "2"}, "version '2'"),
        ({b"sealcomb.type": "complex"}, "type 'complex'"),
    ):
        bad = field.with_metadata({**field.metadata, **changes})
        write(pa.table([sealed], pa.schema([bad])), tmp_path / "bad.parquet")
        error = run("open", "bad.parquet", "out.parquet", "--all", *CONTEXT, status=1)
        assert "column 'x'" in error
        assert problem in error
        assert run("open", "bad.parquet", "out.parquet", "--all", *CONTEXT, "--as-type", "int") == ""


def test_types_can_be_given_where_there_is_no_metadata(
    tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    keyset = Keyset.from_tink_json(keys.read_text())
    table = pa.table({name: seal_column(array_of(*NUMBERS[name]), keyset, context=f"people.{name}")
                      for name in ("int64", "date32")})  # fmt: skip
    write(table, tmp_path / "sealed.parquet")
    types = ("--as-type", "bigint", "--as-type", "date*=DATE")
    assert run("open", "sealed.parquet", "opened.arrow", "--column", "*", *CONTEXT, *types) == ""
    assert load(tmp_path / "opened.arrow").schema.types == [pa.int64(), pa.date32()]
    assert run("open", "sealed.parquet", "opened.parquet", "--column", "*", *CONTEXT, *types) == ""
    assert load(tmp_path / "opened.parquet")["date32"][0].as_py() == DAY
    error = run(
        "open", "sealed.parquet", "out.parquet", "--column", "*", *CONTEXT, "--as-type", "int", status=1
    )
    assert "row group 0, column 'int64'" in error
    error = run(
        "open", "sealed.parquet", "out.parquet", "--column", "*", *CONTEXT, "--as-type", "x=?", status=2
    )
    assert "unknown type '?'" in error


# ---- row ids in CSV


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8()], ids=str)
@pytest.mark.parametrize("form", ["arrow", "csv"])
def test_numbers_as_row_ids_open_from_csv_with_their_type(
    kind: pa.DataType, form: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    write(pa.table({"id": pa.array([1, 200], kind), "x": ["a", "b"]}), tmp_path / "in.arrow")
    selected = ("--column", "x", "--row-id", "id", *CONTEXT)
    typed = ("--as-type", f"id={kind}")
    note = f"note: column 'id': CSV does not keep its type; open it with --as-type 'id={kind}'\n"
    assert run("seal", "in.arrow", "sealed.csv", *selected) == note
    error = run("open", "sealed.csv", f"opened.{form}", *selected, status=1)
    assert "column 'x', row 0: the value did not verify" in error
    run("reseal", "sealed.csv", "fresh.csv", *selected, *typed)
    run("open", "fresh.csv", f"opened.{form}", *selected, *typed)
    if form == "csv":
        assert (tmp_path / "opened.csv").read_text() == '"id","x"\n1,"a"\n200,"b"\n'
    else:
        assert load(tmp_path / "opened.arrow").to_pydict() == {"id": ["1", "200"], "x": ["a", "b"]}
    (tmp_path / "sealed.csv").write_text("id,x\n1,\nnone,\n")
    error = run("open", "sealed.csv", f"out.{form}", *selected, *typed, status=1)
    assert f"column 'id', row 1: not a value of type {kind}" in error


def test_row_ids_of_csv_can_be_numbers(tmp_path: Path, run: Callable[..., str]) -> None:
    (tmp_path / "in.csv").write_text("id,x\n7,a\n8,b\n")
    write(pa.table({"id": [7, 8], "x": ["a", "b"]}), tmp_path / "in.parquet")
    selected = ("--column", "x", "--row-id", "id", *CONTEXT)
    run("seal", "in.csv", "sealed.parquet", *selected, "--as-type", "id=int64")
    sealed = load(tmp_path / "sealed.parquet")
    write(sealed.set_column(0, "id", [[7, 8]]), tmp_path / "numbers.parquet")
    run("open", "numbers.parquet", "opened.parquet", *selected)
    assert load(tmp_path / "opened.parquet").equals(load(tmp_path / "in.parquet"))


def test_text_as_row_ids_survives_csv(tmp_path: Path, run: Callable[..., str]) -> None:
    write(pa.table({"id": ["1", "ü"], "x": ["a", "b"]}), tmp_path / "in.arrow")
    selected = ("--column", "x", "--row-id", "id", *CONTEXT)
    run("seal", "in.arrow", "sealed.csv", *selected)
    run("reseal", "sealed.csv", "fresh.csv", *selected)
    run("open", "fresh.csv", "opened.arrow", *selected)
    assert load(tmp_path / "opened.arrow").equals(load(tmp_path / "in.arrow"))


# ---- dictionaries that a stream replaces


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8()], ids=str)
def test_dictionaries_that_a_stream_replaces_open_in_a_stream(
    kind: pa.DataType, tmp_path: Path, run: Callable[..., str]
) -> None:
    text = [[f"{batch}-{row}" for row in range(120)] for batch in range(3)]
    indices = pa.array(range(120), kind)
    batches = [
        pa.record_batch([pa.DictionaryArray.from_arrays(indices, pa.array(values))], ["x"]) for values in text
    ]
    with pa.ipc.new_stream(str(tmp_path / "in.arrows"), batches[0].schema) as file:
        for batch in batches:
            file.write_batch(batch)
    run("seal", "in.arrows", "sealed.arrows", "--all", *CONTEXT)
    run("open", "sealed.arrows", "opened.arrows", "--all", *CONTEXT)
    opened = pa.ipc.open_stream(str(tmp_path / "opened.arrows")).read_all()
    assert opened.schema == batches[0].schema
    assert [chunk.to_pylist() for chunk in opened["x"].chunks] == text
    error = run("open", "sealed.arrows", "out.arrow", "--all", *CONTEXT, status=1)
    assert "use --as-type 'x=string'" in error
    run("open", "sealed.arrows", "opened.arrow", "--all", "--as-type", "x=string", *CONTEXT)
    assert load(tmp_path / "opened.arrow")["x"].to_pylist() == [value for values in text for value in values]
