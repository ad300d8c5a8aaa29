"""The command ``sealcomb-columns`` with numbers, dates, nested columns, types given by name, and metadata."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arro3.core import Table

from sealcomb import Keyset, _cli, _metadata, seal_column, unseal_column
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
        got = _cli.main(given)
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
    assert run("unseal", f"sealed.{form}", f"opened.{form}", "--column", "x", *CONTEXT) == ""
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
        assert unseal_column(
            sealed["x"], Keyset.from_tink_json(keys.read_text()), context="people.x",
            as_type=sealed.schema.field("x").metadata[_metadata.TYPE_KEY].decode(),
        ).null_count == 10  # fmt: skip


@pytest.mark.parametrize("name", ["runs", "months"])
def test_types_that_parquet_lacks_are_opened_to_arrow_only(
    name: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    table = pa.table({"x": array_of(*ONLY_ARROW[name])})
    write(table, tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.parquet", "--column", "x", *CONTEXT)
    error = run("unseal", "sealed.parquet", "out.parquet", "--column", "x", *CONTEXT, status=1)
    assert "column 'x': Parquet cannot represent it: " in error
    run("unseal", "sealed.parquet", "opened.arrow", "--column", "x", *CONTEXT)
    assert load(tmp_path / "opened.arrow").equals(table)


def test_dictionaries_that_parquet_lacks_become_their_values(tmp_path: Path, run: Callable[..., str]) -> None:
    """pyarrow would read the numbers of durations."""
    values = pa.array([1, 2], pa.duration("s"))
    table = pa.table({"x": pa.DictionaryArray.from_arrays([0, 1, None, 0], values)})
    write(table, tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.parquet", "--column", "x", *CONTEXT)
    run("unseal", "sealed.parquet", "opened.parquet", "--column", "x", *CONTEXT)
    opened = load(tmp_path / "opened.parquet")["x"]
    assert opened.type == pa.duration("s")
    assert opened.to_pylist() == table["x"].to_pylist()


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
    assert run("unseal", "sealed.parquet", "opened.parquet", "--all", *CONTEXT) == ""
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
    assert run("unseal", "sealed.parquet", "opened.parquet", "--all", *CONTEXT) == ""
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
        error = run("unseal", "bad.parquet", "out.parquet", "--all", *CONTEXT, status=1)
        assert "column 'x'" in error
        assert problem in error
        assert run("unseal", "bad.parquet", "out.parquet", "--all", *CONTEXT, "--as-type", "int") == ""


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "field",
    [
        pa.field("x", pa.uuid()),
        pa.field(
            "x",
            pa.binary(16),
            metadata={"ARROW:extension:name": "vendor.point", "ARROW:extension:metadata": "v2"},
        ),
    ],
    ids=["known to pyarrow", "unknown"],
)
def test_extension_types_are_described_as_by_the_library(
    field: pa.Field, form: str, tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    keyset = Keyset.from_tink_json(keys.read_text())
    storage = pa.array([bytes(16), None], pa.binary(16))
    known = isinstance(field.type, pa.BaseExtensionType)
    values = pa.ExtensionArray.from_storage(field.type, storage) if known else storage
    table = pa.table([values], pa.schema([field]))
    write(table, tmp_path / f"in.{form}")
    run("seal", f"in.{form}", f"sealed.{form}", "--all", *CONTEXT)
    sealed = Table.from_arrow(load(tmp_path / f"sealed.{form}"))["x"]
    theirs = seal_column(Table.from_arrow(table)["x"], keyset, context="people.x")
    assert theirs.field.metadata.items() <= sealed.field.metadata.items()
    opened = pa.field(unseal_column(sealed, keyset, context="people.x").field)
    assert opened.type == field.type
    assert (field.metadata or {}).items() <= (opened.metadata or {}).items()

    write(pa.table([pa.chunked_array(theirs)], pa.schema([pa.field(theirs.field)])), tmp_path / f"its.{form}")
    run("unseal", f"its.{form}", f"opened.{form}", "--all", *CONTEXT)
    assert load(tmp_path / f"opened.{form}").schema.equals(table.schema, check_metadata=True)
    assert load(tmp_path / f"opened.{form}").equals(table)


def test_an_extension_type_that_is_invalid_is_refused(
    tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    keyset = Keyset.from_tink_json(keys.read_text())
    sealed = seal_column(pa.array([7]), keyset, context="people.x")
    field = {"sealcomb.type": "int64", "sealcomb.version": "1", "sealcomb.extension.name": "arrow.uuid"}
    write(pa.table([sealed], pa.schema([pa.field("x", pa.binary(), metadata=field)])), tmp_path / "in.arrow")
    error = run("unseal", "in.arrow", "out.arrow", "--all", *CONTEXT, status=1)
    assert "column 'x': the original type in its metadata is damaged" in error
    run("unseal", "in.arrow", "out.arrow", "--all", *CONTEXT, "--as-type", "int64")
    assert load(tmp_path / "out.arrow").schema.field("x").metadata is None


def test_types_can_be_given_where_there_is_no_metadata(
    tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    keyset = Keyset.from_tink_json(keys.read_text())
    table = pa.table({name: seal_column(array_of(*NUMBERS[name]), keyset, context=f"people.{name}")
                      for name in ("int64", "date32")})  # fmt: skip
    write(table, tmp_path / "sealed.parquet")
    types = ("--as-type", "bigint", "--as-type", "date*=DATE")
    assert run("unseal", "sealed.parquet", "opened.arrow", "--column", "*", *CONTEXT, *types) == ""
    assert load(tmp_path / "opened.arrow").schema.types == [pa.int64(), pa.date32()]
    assert run("unseal", "sealed.parquet", "opened.parquet", "--column", "*", *CONTEXT, *types) == ""
    assert load(tmp_path / "opened.parquet")["date32"][0].as_py() == DAY
    error = run(
        "unseal", "sealed.parquet", "out.parquet", "--column", "*", *CONTEXT, "--as-type", "int", status=1
    )
    assert "row group 0, column 'int64'" in error
    error = run(
        "unseal", "sealed.parquet", "out.parquet", "--column", "*", *CONTEXT, "--as-type", "x=?", status=2
    )
    assert "--as-type x=?: unknown type" in error


@pytest.mark.parametrize("name", ["salary (EUR)", "a=b", "p[1]", "list<int>", "=", "", "x"])
def test_a_type_can_be_given_to_a_column_of_any_name(
    name: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    write(pa.table({name: [1, None], "y": ["a", "b"]}), tmp_path / "in.parquet")
    how = ("--column", name, *CONTEXT)
    note = run("seal", "in.parquet", "sealed.csv", *how)
    assert f"--as-type '{name}=int64'" in note
    run("unseal", "sealed.csv", "opened.parquet", *how, "--as-type", f"{name}=int64")
    assert load(tmp_path / "opened.parquet")[name].to_pylist() == [1, None]


def test_types_of_columns_that_are_not_selected_are_refused(tmp_path: Path, run: Callable[..., str]) -> None:
    (tmp_path / "in.csv").write_text("id,n,day\n1,2,2026-01-02\n")
    addr = pa.array([{"zip": 7}])
    write(pa.table({"id": [1], "n": [2], "addr": addr}), tmp_path / "in.parquet")
    for source, selected, name in (
        ("in.csv", ("--column", "n"), "day"),
        ("in.csv", ("--column", "n"), "N"),
        ("in.csv", ("--column", "n"), "d*"),
        ("in.csv", ("--all", "--row-id", "id"), "absent"),
        ("in.parquet", ("--column", "n"), "addr.zip"),
        ("in.parquet", ("--column", "addr.zip"), "addr"),
        ("in.parquet", ("--all",), "zip"),
    ):
        error = run("seal", source, "out.arrow", *selected, *CONTEXT, "--as-type", f"{name}=int64", status=1)
        assert f"{source}: --as-type {name}=int64: no selected column has this name" in error
        assert not (tmp_path / "out.arrow").exists()
    run("seal", "in.parquet", "sealed.parquet", "--column", "addr", *CONTEXT)
    types = ("--as-type", "addr=int64", "--as-type", "*.zip=int64", "--as-type", "id=int64")
    run("unseal", "sealed.parquet", "out.parquet", "--column", "addr", *CONTEXT, *types[:4])
    run("unseal", "sealed.parquet", "out.parquet", "--column", "addr", *CONTEXT, *types, status=1)


def test_only_cells_of_csv_are_sealed_as_another_type(tmp_path: Path, run: Callable[..., str]) -> None:
    write(pa.table({"n": pa.array([1], pa.int32()), "t": ["a"]}), tmp_path / "in.parquet")
    how = ("--column", "n", *CONTEXT, "--as-type")
    for out in ("out.parquet", "out.arrow", "out.csv"):
        error = run("seal", "in.parquet", out, *how, "int64", status=1)
        assert "column 'n': its type is int32; --as-type int64 would not change it" in error
        run("seal", "in.parquet", out, *how, "int32")
        run("seal", "in.parquet", out, "--column", "t", *CONTEXT, "--as-type", "large_string")


@pytest.mark.parametrize(
    "values",
    [
        pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.int32(), [2]), pa.array([[1, 2], None], pa.list_(pa.int32(), 2))
        ),
        pa.array([{}, None], pa.struct([])),
        pa.DictionaryArray.from_arrays([0, None], pa.array([{"a": 1}])),
        pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
    ],
    ids=["tensor", "struct without fields", "dictionary of structs", "union"],
)
def test_types_that_could_not_be_opened_are_not_sealed(
    values: pa.Array, tmp_path: Path, run: Callable[..., str]
) -> None:
    write(pa.table({"x": values, "s": pa.StructArray.from_arrays([values], ["x"])}), tmp_path / "in.arrow")
    for name in ("x", "s.x"):
        error = run("seal", "in.arrow", "out.arrow", "--column", name, *CONTEXT, status=1)
        assert f"column {name!r}: values of type {values.type} cannot be sealed in files" in error
        assert not (tmp_path / "out.arrow").exists()


# ---- CSV


def test_csv_cells_are_sealed_as_text_or_as_a_given_type(
    tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    text = "n,day,note\n7,2026-01-02,a\n,,\n-8,1969-12-31,b\n"
    (tmp_path / "in.csv").write_text(text)
    for types in ((), ("--as-type", "n=int64", "--as-type", "day=date")):
        assert run("seal", "in.csv", "sealed.csv", "--all", *CONTEXT, *types) == ""
        assert run("unseal", "sealed.csv", "opened.csv", "--all", *CONTEXT, *types) == ""
        assert (tmp_path / "opened.csv").read_text() == text
    assert run("unseal", "sealed.csv", "opened.parquet", "--all", *CONTEXT, *types) == ""
    opened = load(tmp_path / "opened.parquet")
    assert opened.schema.types == [pa.int64(), pa.date32(), pa.string()]
    assert opened["n"].to_pylist() == [7, None, -8]
    assert run("seal", "in.csv", "sealed.parquet", "--column", "n", *CONTEXT, *types[:2]) == ""
    keyset = Keyset.from_tink_json(keys.read_text())
    same = seal_column(pa.array([7, None, -8]), keyset, context="people.n")
    assert load(tmp_path / "sealed.parquet")["n"].to_pylist() == same.to_pylist()


@pytest.mark.parametrize("out", ["csv", "parquet"])
def test_a_cell_of_another_type_is_reported_by_row_without_its_text(
    out: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    (tmp_path / "in.csv").write_text("n\n7\n8\nsecret\n")
    error = run("seal", "in.csv", f"out.{out}", "--all", "--context", "", "--as-type", "int64", status=1)
    assert "in.csv: column 'n', row 2: not a value of type int64" in error
    assert "secret" not in error
    assert not (tmp_path / f"out.{out}").exists()


def test_csv_does_not_keep_a_type_and_the_command_says_how_to_open_it(
    tmp_path: Path, run: Callable[..., str]
) -> None:
    write(pa.table({"x": array_of(*NUMBERS["decimal9"])}), tmp_path / "in.parquet")
    note = run("seal", "in.parquet", "sealed.csv", "--all", *CONTEXT)
    assert "--as-type 'x=decimal128(9, 2)'" in note
    assert (
        run("unseal", "sealed.csv", "opened.csv", "--all", *CONTEXT, "--as-type", "x=decimal128(9, 2)") == ""
    )
    assert (tmp_path / "opened.csv").read_text().splitlines()[1].strip('"') == "-1.25"


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_errors_advise_options_of_the_command(
    form: str, tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    sealed = seal_column(pa.array([b"\xff"]), Keyset.from_tink_json(keys.read_text()), context="people.x")
    values = {"sealed": sealed.to_pylist(), "bad": [b"bad"]}
    for name, value in values.items():
        if form == "csv":
            (tmp_path / f"{name}.csv").write_bytes(b"x\n" + base64.b64encode(value[0]) + b"\n")
        else:
            write(pa.table({"x": pa.array(value, pa.binary())}), tmp_path / f"{name}.{form}")
    for verb, name, options, advice in (
        ("unseal", "sealed", ("--context", "other"), "sealed with, or --forged null for a null in its place"),
        ("reseal", "sealed", ("--context", "other"), "pass those that it was sealed with\n"),
        ("unseal", "sealed", (*CONTEXT, "--as-type", "string"), "use --as-type binary to get its bytes"),
        ("unseal", "sealed", (*CONTEXT, "--as-type", "int64"), "was sealed with --as-type, or binary"),
        ("unseal", "bad", CONTEXT, "check the file with sealcomb-columns inspect"),
    ):
        error = run(verb, f"{name}.{form}", f"out.{form}", "--column", "x", *options, status=1)
        assert advice in error


# ---- nested columns

PEOPLE = [
    {"id": 1, "addr": {"street": "Elm", "zip": 501}, "tags": ["a", None], "scores": [("x", 1.5)],
     "jobs": [{"name": "chef", "pay": [1, 2]}, None], "pair": [1, 2]},
    {"id": 2, "addr": None, "tags": None, "scores": None, "jobs": None, "pair": None},
    {"id": 3, "addr": {"street": None, "zip": 2}, "tags": [], "scores": [],
     "jobs": [{"name": None, "pay": None}, {"name": "cook", "pay": [None, 3]}], "pair": [3, None]},
]  # fmt: skip
NESTED = pa.schema(
    [
        ("id", pa.int64()),
        ("addr", pa.struct([("street", pa.string()), ("zip", pa.int32())])),
        ("tags", pa.list_(pa.string())),
        ("scores", pa.map_(pa.string(), pa.float64())),
        ("jobs", pa.large_list(pa.struct([("name", pa.string()), ("pay", pa.list_(pa.int64()))]))),
        ("pair", pa.list_(pa.int16(), 2)),
    ]
)
LEAVES = [
    "addr.street", "addr.zip", "tags.element", "scores.key", "scores.value", "jobs.element.name",
    "jobs.element.pay.element", "pair.element",
]  # fmt: skip


def people(times: int = 9) -> pa.Table:
    return pa.Table.from_pylist(
        [{**row, "id": number * 3 + row["id"]} for number in range(times) for row in PEOPLE], NESTED
    )


def leaf_types(kind: pa.DataType) -> list[pa.DataType]:
    return [kind] if not kind.num_fields else [
        leaf for at in range(kind.num_fields) for leaf in leaf_types(kind.field(at).type)
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("ids", [(), ("--row-id", "id")], ids=["columns", "rows"])
@pytest.mark.parametrize("name", [*LEAVES, "addr", "jobs", "tags", "scores"])
def test_nested_leaves_are_those_of_the_library(
    name: str, ids: tuple[str, ...], form: str, tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    table = people()
    write(table, tmp_path / f"in.{form}")
    assert run("seal", f"in.{form}", f"sealed.{form}", "--column", name, *CONTEXT, *ids) == ""
    assert run("unseal", f"sealed.{form}", f"opened.{form}", "--column", name, *CONTEXT, *ids) == ""
    before, sealed, opened = (load(tmp_path / f"{which}.{form}") for which in ("in", "sealed", "opened"))
    assert opened.schema.equals(before.schema, check_metadata=True)
    assert opened.equals(before)
    column = name.partition(".")[0]
    keyset = Keyset.from_tink_json(keys.read_text())
    row_ids = table["id"] if ids else None
    whole = seal_column(table[column], keyset, context=f"people.{column}", row_ids=row_ids).to_pylist()
    for other in table.column_names:
        if other != column:
            assert sealed[other].equals(before[other])
    if name == column:
        assert sealed[column].to_pylist() == whole
        assert set(leaf_types(sealed.schema.field(column).type)) == {pa.binary()}
    else:
        assert picked(sealed[column].to_pylist(), name) == picked(whole, name)
        assert sorted(leaf_types(sealed.schema.field(column).type), key=str).count(pa.binary()) == 1


def picked(value: object, name: str) -> list[object]:
    """Returns the values of a leaf in nested Python values."""
    _, *path = name.split(".")
    found = [] if not isinstance(value, list) else [item for item in value if item is not None]
    for step in path:
        match step:
            case "element":
                found = [item for items in found for item in items]
            case "key" | "value":
                found = [pair[step == "value"] for pairs in found for pair in pairs]
            case _:
                found = [item[step] for item in found]
        found = [item for item in found if item is not None]
    return found


def test_a_moved_element_does_not_open(tmp_path: Path, run: Callable[..., str]) -> None:
    write(people(), tmp_path / "in.arrow")
    how = ("--column", "jobs.element.name", *CONTEXT, "--row-id", "id")
    assert run("seal", "in.arrow", "sealed.arrow", *how) == ""
    sealed = load(tmp_path / "sealed.arrow")
    jobs = sealed["jobs"].to_pylist()
    jobs[2][0], jobs[2][1] = jobs[2][1], jobs[2][0]
    at = sealed.schema.get_field_index("jobs")
    field = sealed.schema.field("jobs")
    write(sealed.set_column(at, field, pa.array(jobs, field.type)), tmp_path / "moved.arrow")
    error = run("unseal", "moved.arrow", "out.arrow", *how, status=1)
    assert "record batch 0, column 'jobs.element.name', row 2: " in error


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([5, -1, 1 << 40], pa.int64()),
        pa.array([5, 0, 255], pa.uint8()),
        pa.array([b"", b"row", bytes(40)]),
        pa.array(["", "row", "Zeile"]),
    ],
)
def test_ids_of_elements_are_the_id_of_the_row_and_the_index(ids: pa.Array) -> None:
    lengths = [2, 0, 3]
    expected = []
    for row, length in zip(ids.to_pylist(), lengths, strict=True):
        if isinstance(row, int):
            id_ = row.to_bytes(8, "big", signed=row < 0)
        else:
            id_ = row.encode() if isinstance(row, str) else row
        expected += [id_ + index.to_bytes(8, "big") for index in range(length)]
    assert pa.array(element_ids(ids, lengths)).to_pylist() == expected


@pytest.mark.parametrize(
    ("ids", "error"),
    [
        (pa.array([1, 2]), ValueError),
        (pa.array([1, None, 2]), ValueError),
        (pa.array([1.0, 2.0, 3.0]), TypeError),
    ],
)
def test_ids_of_elements_require_an_id_of_every_row(ids: pa.Array, error: type[Exception]) -> None:
    with pytest.raises(error, match="row_ids"):
        element_ids(ids, [1, 1, 1])


def test_patterns_and_all_select_leaves(tmp_path: Path, run: Callable[..., str]) -> None:
    write(people(), tmp_path / "in.parquet")

    def sealed() -> int:
        assert run("unseal", "sealed.parquet", "opened.parquet", *options, *CONTEXT, *row_id) == ""
        assert load(tmp_path / "opened.parquet").equals(load(tmp_path / "in.parquet"))
        types = [leaf for kind in load(tmp_path / "sealed.parquet").schema.types for leaf in leaf_types(kind)]
        return types.count(pa.binary())

    for row_id, options, count in (
        ((), ("--column", "addr.*"), 2),
        ((), ("--column", "*.element", "--column", "addr.zip"), 4),
        ((), ("--column", "a*", "--column", "addr.street", "--column", "addr"), 2),
        ((), ("--all",), len(LEAVES) + 1),
        (("--row-id", "id"), ("--all",), len(LEAVES)),
        (("--row-id", "id"), ("--column", "*"), len(LEAVES)),
    ):
        assert run("seal", "in.parquet", "sealed.parquet", *options, *CONTEXT, *row_id) == ""
        assert sealed() == count, options


def test_selections_without_columns_are_refused(tmp_path: Path, run: Callable[..., str]) -> None:
    write(people(), tmp_path / "in.parquet")
    for name in ("addr.city", "addr.str", "x*", "street"):
        error = run("seal", "in.parquet", "out.parquet", "--column", name, *CONTEXT, status=1)
        assert f"no columns are named '{name}'" in error
    assert "no columns that are sealed" in run(
        "unseal", "in.parquet", "out.parquet", "--all", *CONTEXT, status=1
    )
    assert "--all" in run("seal", "in.parquet", "out.parquet", *CONTEXT, status=2)
    assert "--all" in run("seal", "in.parquet", "out.parquet", "--all", "--column", "id", *CONTEXT, status=2)
    assert "{column}" in run("seal", "in.parquet", "out.parquet", "--all", "--context", "x", status=2)
    assert run("seal", "in.parquet", "out.parquet", "--column", "addr.zip", *CONTEXT) == ""
    assert "already sealed" in run("seal", "out.parquet", "x.parquet", "--column", "addr", *CONTEXT, status=1)
    assert run("seal", "out.parquet", "x.parquet", "--all", *CONTEXT) == ""


def test_leaves_that_are_not_nullable_round_trip_below_nulls(tmp_path: Path, run: Callable[..., str]) -> None:
    inner = pa.struct([pa.field("n", pa.int32(), nullable=False), pa.field("t", pa.string(), nullable=False)])
    table = pa.table({"s": pa.array([{"n": 1, "t": "a"}, None, {"n": 2, "t": ""}], inner)})
    pq.write_table(table, tmp_path / "in.parquet")
    for form in ("parquet", "arrow"):
        assert run("seal", "in.parquet", f"sealed.{form}", "--all", *CONTEXT) == ""
        assert run("unseal", f"sealed.{form}", "opened.parquet", "--all", *CONTEXT) == ""
        assert load(tmp_path / "opened.parquet").equals(load(tmp_path / "in.parquet"))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_keys_of_maps_that_do_not_open_are_reported_whatever_forged_says(
    form: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    scores = pa.array([None, [("k", 1)], []], pa.map_(pa.string(), pa.int8()))
    write(pa.table({"scores": scores}), tmp_path / f"in.{form}")
    run("seal", f"in.{form}", f"sealed.{form}", "--all", *CONTEXT)
    run("unseal", f"sealed.{form}", f"opened.{form}", "--all", *CONTEXT, "--forged", "null")
    assert load(tmp_path / f"opened.{form}").equals(load(tmp_path / f"in.{form}"))
    wrong = ("--context", "other.{column}", "--forged", "null")
    error = run("unseal", f"sealed.{form}", f"out.{form}", "--column", "scores", *wrong, status=1)
    assert " 0, column 'scores.key', row 1: the key of a map did not open" in error
    run("unseal", f"sealed.{form}", f"out.{form}", "--column", "scores.value", *wrong, status=4)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_values_of_required_leaves_that_do_not_open_become_null(
    form: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    number = pa.field("n", pa.int32(), nullable=False)
    table = pa.table(
        {
            "s": pa.array([{"n": 1}, None, {"n": 2}], pa.struct([number])),
            "l": pa.array([[1], None, [2]], pa.list_(number)),
        }
    )
    write(table, tmp_path / f"in.{form}")
    run("seal", f"in.{form}", f"sealed.{form}", "--all", *CONTEXT)
    run("unseal", f"sealed.{form}", f"opened.{form}", "--all", *CONTEXT, "--forged", "null")
    assert load(tmp_path / f"opened.{form}").to_pydict() == table.to_pydict()
    wrong = ("--context", "other.{column}", "--forged", "null")
    text = run("unseal", f"sealed.{form}", f"opened.{form}", "--all", *wrong, status=4)
    assert "column 's.n': 2 values did not open and are null" in text
    opened = load(tmp_path / f"opened.{form}")
    assert opened["s"].to_pylist() == [{"n": None}, None, {"n": None}]
    assert opened["l"].to_pylist() == [[None], None, [None]]


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["a", "", "longer than a view holds"], pa.string_view()),
        pa.array([b"a", b"", bytes(40)], pa.binary_view()),
        pa.array([0.5, -0.0, 1.5], pa.float16()),
        pa.array(map(decimal.Decimal, range(3)), pa.decimal32(9, 2)),
        pa.array(map(decimal.Decimal, range(3)), pa.decimal64(18, 2)),
    ],
    ids=lambda values: str(values.type),
)
def test_dictionaries_of_types_that_pyarrow_cannot_look_up_are_restored(
    values: pa.Array, tmp_path: Path, run: Callable[..., str]
) -> None:
    """Polars writes categories as dictionaries of views."""
    indices = pa.array([0, 1, None, 2] * 5, pa.uint32())
    table = pa.table({"x": pa.DictionaryArray.from_arrays(indices, values), "y": range(20)})
    write(table, tmp_path / "in.arrow")
    assert _cli.main(["inspect", str(tmp_path / "in.arrow")]) == 0
    for name in ("x", "y"):
        run("seal", "in.arrow", "sealed.arrow", "--column", name, *CONTEXT)
        run("unseal", "sealed.arrow", "opened.arrow", "--column", name, *CONTEXT)
        opened = load(tmp_path / "opened.arrow")
        assert opened.schema.equals(table.schema)
        assert opened.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.decimal32(9, 2)], ids=str)
def test_types_that_pyarrow_cannot_take_are_restored_in_nested_columns(
    kind: pa.DataType, tmp_path: Path, run: Callable[..., str]
) -> None:
    values = pa.array(map(decimal.Decimal, range(4)) if pa.types.is_decimal(kind) else list("abcd"), kind)
    missing = pa.array([False, True])
    pairs = pa.FixedSizeListArray.from_arrays(values, 2, mask=missing)
    required = [pa.field("a", kind, nullable=False)]
    structs = pa.StructArray.from_arrays([values[:2]], fields=required, mask=missing)
    table = pa.table({"pairs": pairs, "structs": structs})
    write(table, tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.arrow", "--all", *CONTEXT)
    run("unseal", "sealed.arrow", "opened.arrow", "--all", *CONTEXT)
    opened = load(tmp_path / "opened.arrow")
    assert opened.schema.equals(table.schema)
    assert opened.to_pydict() == table.to_pydict()


def test_nulls_in_required_fields_of_arrow_files_stay_null(tmp_path: Path, run: Callable[..., str]) -> None:
    """pyarrow writes such files."""
    required = pa.field("x", pa.int16(), nullable=False)
    numbers = pa.array([1, None, None, 4], pa.int16())
    missing = pa.array([False, False, True, False])
    structs = pa.StructArray.from_arrays([numbers], fields=[required], mask=missing)
    lists = pa.ListArray.from_arrays([0, 1, 2, 2, 4], numbers, type=pa.list_(required))
    table = pa.table({"structs": structs, "lists": lists})
    write(table, tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.arrow", "--all", *CONTEXT)
    run("unseal", "sealed.arrow", "opened.arrow", "--all", *CONTEXT)
    opened = load(tmp_path / "opened.arrow")
    assert opened.schema.equals(table.schema)
    assert opened.to_pydict() == table.to_pydict()


def test_the_arrow_schema_of_a_parquet_file_is_restored(tmp_path: Path, run: Callable[..., str]) -> None:
    """Other readers than pyarrow take the names of elements from it."""
    lists = pa.array(
        [[["a"], None], [[]]], pa.list_(pa.field("item", pa.list_(pa.field("item", pa.string()))))
    )
    maps = pa.array(
        [[("k", 1)], None], pa.map_(pa.field("keys", pa.string(), False), pa.field("v", pa.int8()))
    )
    write(pa.table({"lists": lists, "maps": maps, "n": [1, 2]}), tmp_path / "in.parquet")
    run("seal", "in.parquet", "sealed.parquet", "--all", *CONTEXT)
    run("unseal", "sealed.parquet", "opened.parquet", "--all", *CONTEXT)
    before, after = (
        _metadata.unpacked_schema(pq.read_metadata(tmp_path / f"{name}.parquet").metadata[b"ARROW:schema"])
        for name in ("in", "opened")
    )
    assert after.to_string() == before.to_string()


@pytest.mark.parametrize("ids", [(), ("--row-id", "id")], ids=["columns", "rows"])
def test_lists_of_size_zero_round_trip(ids: tuple[str, ...], tmp_path: Path, run: Callable[..., str]) -> None:
    lists = pa.array([[], None, [], []], pa.list_(pa.int16(), 0))
    nested = pa.StructArray.from_arrays([lists], ["x"])
    table = pa.table({"id": range(4), "lists": lists, "nested": nested}).slice(1)
    write(table, tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.arrow", "--column", "lists", "--column", "nested.x", *ids, *CONTEXT)
    assert _cli.main(["inspect", str(tmp_path / "sealed.arrow")]) == 0
    run("unseal", "sealed.arrow", "opened.arrow", "--all", "--plain", "id", *ids, *CONTEXT)
    assert load(tmp_path / "opened.arrow").equals(load(tmp_path / "in.arrow"))


def test_lists_of_an_old_form_are_refused(tmp_path: Path, run: Callable[..., str]) -> None:
    """Files of parquet-avro have lists of two levels, which pyarrow reads but does not write."""
    table = pa.table({"tags": [["a"], None]})
    pq.write_table(table, tmp_path / "in.parquet", use_compliant_nested_type=False)
    assert run("seal", "in.parquet", "sealed.parquet", "--all", *CONTEXT) == ""
    assert run("unseal", "sealed.parquet", "opened.parquet", "--all", *CONTEXT) == ""
    assert load(tmp_path / "opened.parquet").equals(load(tmp_path / "in.parquet"))


SPARK_NOTE = {
    "type": "struct",
    "fields": [
        {"name": "addr", "nullable": True, "metadata": {}, "type": {"type": "struct", "fields": [
            {"name": "street", "type": "string", "nullable": True, "metadata": {}},
            {"name": "zip", "type": "integer", "nullable": True, "metadata": {}}]}},
        {"name": "tags", "nullable": True, "metadata": {}, "type":
            {"type": "array", "elementType": "string", "containsNull": True}},
        {"name": "scores", "nullable": True, "metadata": {}, "type":
            {"type": "map", "keyType": "string", "valueType": "double", "valueContainsNull": True}},
    ],
}  # fmt: skip


def test_sparks_description_of_nested_columns_is_changed_and_restored(
    tmp_path: Path, run: Callable[..., str]
) -> None:
    note = json.dumps(SPARK_NOTE, separators=(",", ":"))
    table = people().select(["addr", "tags", "scores"])
    table = table.replace_schema_metadata({_metadata.SPARK_KEY: note})
    write(table, tmp_path / "in.parquet")
    assert run("seal", "in.parquet", "sealed.parquet", "--all", *CONTEXT) == ""
    sealed = pq.read_schema(tmp_path / "sealed.parquet").metadata[_metadata.SPARK_KEY]
    assert sealed.count(b'"binary"') == 5
    assert not {b'"integer"', b'"string"', b'"double"'} & set(sealed.split(b":"))
    assert run("unseal", "sealed.parquet", "half.parquet", "--column", "addr.zip", *CONTEXT) == ""
    assert b'"integer"' in pq.read_schema(tmp_path / "half.parquet").metadata[_metadata.SPARK_KEY]
    how = ("--all", "--plain", "addr.zip")
    assert run("unseal", "half.parquet", "opened.parquet", *how, *CONTEXT) == ""
    assert pq.read_schema(tmp_path / "opened.parquet").metadata == {_metadata.SPARK_KEY: note.encode()}


def write_as_spark(table: pa.Table, note: str, path: Path) -> None:
    """Writes a file without an Arrow schema."""
    with pq.ParquetWriter(path, table.schema, store_schema=False) as file:
        file.write_table(table)
        file.add_key_value_metadata({_metadata.SPARK_KEY: note})


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_columns_that_spark_sealed_open_with_their_types(
    form: str, tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    keyset = Keyset.from_tink_json(keys.read_text())
    columns = {
        "salary": ("integer", pa.array([7, None], pa.int32())),
        "day": ("date", pa.array([DAY, None])),
        "price": ("decimal(10,2)", pa.array([decimal.Decimal("1.25"), None], pa.decimal128(10, 2))),
        "seen": ("timestamp", pa.array([MOMENT, None], pa.timestamp("us", "UTC"))),
        "note": ("string", pa.array(["tea", None])),
    }
    about = {
        name: {"sealcomb.type": str(values.type), "sealcomb.version": "1"}
        for name, (_, values) in columns.items()
    }
    fields = [
        {"name": name, "type": "binary", "nullable": True, "metadata": about[name] | {"comment": "x"}}
        for name in columns
    ]
    note = json.dumps({"type": "struct", "fields": fields})
    sealed = {
        name: seal_column(values, keyset, context=f"people.{name}") for name, (_, values) in columns.items()
    }
    write_as_spark(pa.table(sealed), note, tmp_path / "sealed.parquet")
    run("reseal", "sealed.parquet", "fresh.arrow", "--all", *CONTEXT)
    for source in ("sealed.parquet", "fresh.arrow"):
        run("unseal", source, f"opened.{form}", "--all", *CONTEXT)
        opened = load(tmp_path / f"opened.{form}")
        assert opened.schema.types == [values.type for _, values in columns.values()]
        assert opened.to_pydict() == {name: values.to_pylist() for name, (_, values) in columns.items()}
        after = json.loads(opened.schema.metadata[_metadata.SPARK_KEY])["fields"]
        assert [field["type"] for field in after] == [kind for kind, _ in columns.values()]
        assert all(field["metadata"] == {"comment": "x"} for field in after)
    for name in columns:
        error = run("seal", "sealed.parquet", "out.parquet", "--column", name, *CONTEXT, status=1)
        assert f"column {name!r}: already sealed" in error
    write_as_spark(pa.table(sealed), note.replace('"1"', '"2"'), tmp_path / "sealed.parquet")
    error = run("unseal", "sealed.parquet", "out.parquet", "--column", "day", *CONTEXT, status=1)
    assert "version '2' of the encoding" in error


def test_nested_columns_that_icebergs_metadata_describes_are_refused(
    tmp_path: Path, run: Callable[..., str]
) -> None:
    note = json.dumps({"type": "struct", "fields": [{"id": 1, "name": "tags", "type": {"type": "list"}}]})
    table = people().select(["id", "tags"]).replace_schema_metadata({"iceberg.schema": note})
    for form in ("parquet", "arrow"):
        write(table, tmp_path / f"in.{form}")
        error = run("seal", f"in.{form}", f"out.{form}", "--column", "tags", *CONTEXT, status=1)
        assert "'iceberg.schema'" in error


# ---- the context


def test_the_context_is_required_and_may_be_empty(
    tmp_path: Path, run: Callable[..., str], keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(people(), tmp_path / "in.parquet")
    for verb in ("seal", "unseal", "reseal"):
        with pytest.raises(SystemExit) as ended:
            run(verb, "in.parquet", "out.parquet", "--column", "id")
        assert ended.value.code == 2
        assert "required: --context" in capsys.readouterr().err
    assert run("seal", "in.parquet", "sealed.parquet", "--column", "id", "--context", "") == ""
    sealed = load(tmp_path / "sealed.parquet")["id"]
    keyset = Keyset.from_tink_json(keys.read_text())
    opened = unseal_column(sealed, keyset, context="", as_type="int64")
    assert opened.to_pylist() == people()["id"].to_pylist()
    assert run("unseal", "sealed.parquet", "opened.parquet", "--column", "id", "--context", "") == ""
    two = ("--column", "id", "--column", "tags", "--context", "people")
    for verb in ("seal", "unseal", "reseal"):
        assert "{column}" in run(verb, "in.parquet", "out.parquet", *two, status=2)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_values_choose_no_context(form: str, tmp_path: Path, run: Callable[..., str]) -> None:
    """Not even the empty one, or the column's name."""
    write(pa.table({"x": [None, "a", "b"]}), tmp_path / f"in.{form}")
    for context in ("", "{column}", "people.{column}"):
        run("seal", f"in.{form}", f"sealed.{form}", "--column", "x", "--context", context)
        for other in {"", "{column}", "people.{column}"} - {context}:
            how = ("--column", "x", "--context", other)
            assert "column 'x', row 1: " in run("unseal", f"sealed.{form}", f"out.{form}", *how, status=1)
            assert "column 'x', row 1: " in run("reseal", f"sealed.{form}", f"out.{form}", *how, status=1)
            run("unseal", f"sealed.{form}", f"opened.{form}", *how, "--forged", "null", status=4)
            assert load(tmp_path / f"opened.{form}")["x"].to_pylist() == [None] * 3


# ---- names


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_columns_with_the_same_name_are_refused(form: str, tmp_path: Path, run: Callable[..., str]) -> None:
    write(pa.table([["a"], ["b"], ["c"]], ["x", "x", "y"]), tmp_path / f"in.{form}")
    (tmp_path / "in.csv").write_text("x,x,y\na,b,c\n")
    for source in (f"in.{form}", "in.csv"):
        for verb in ("seal", "unseal", "reseal"):
            for selected in (("--all",), ("--column", "x")):
                error = run(verb, source, f"out{Path(source).suffix}", *selected, *CONTEXT, status=1)
                assert "2 columns are named 'x'; the file has x, x, y" in error


LIKE_A_FIELD = pa.table({"a.b": ["x"], "a": [{"b": "y"}]})
TWICE = pa.table({"a": pa.StructArray.from_arrays([pa.array(["x"]), pa.array(["y"])], ["b", "b"])})


@pytest.mark.parametrize("table", [LIKE_A_FIELD, TWICE], ids=["a column like a field", "a field twice"])
def test_leaves_with_the_same_name_are_not_sealed(
    table: pa.Table, tmp_path: Path, run: Callable[..., str]
) -> None:
    """They would share a context, so that their values could be exchanged."""
    write(table, tmp_path / "in.arrow")
    for selected in ("--all",), ("--column", "a"), ("--column", "a.b"), ("--column", "a*"):
        error = run("seal", "in.arrow", "out.arrow", *selected, *CONTEXT, status=1)
        assert "two columns are named 'a.b'; rename one" in error


def test_a_name_selects_no_columns_whose_names_begin_like_it(tmp_path: Path, run: Callable[..., str]) -> None:
    table = pa.table({"a": ["x"], "a.b": ["y"], "a.c": [{"d": "z"}]})
    write(table, tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.arrow", "--column", "a", *CONTEXT)
    assert load(tmp_path / "sealed.arrow").drop_columns("a").equals(table.drop_columns("a"))
    run("seal", "sealed.arrow", "both.arrow", "--column", "a.c", *CONTEXT)
    assert load(tmp_path / "both.arrow")["a.b"].equals(table["a.b"])
    write(table.drop_columns("a"), tmp_path / "in.arrow")
    error = run("seal", "in.arrow", "out.arrow", "--column", "a", *CONTEXT, status=1)
    assert "no columns are named 'a'" in error


def test_sealed_leaves_with_the_same_name_open_if_each_has_its_type(
    tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    keyset = Keyset.from_tink_json(keys.read_text())
    field = {"sealcomb.type": "string", "sealcomb.version": "1"}
    column = seal_column(LIKE_A_FIELD["a.b"], keyset, context="people.a.b")
    struct = seal_column(LIKE_A_FIELD["a"], keyset, context="people.a")
    described = pa.schema([pa.field("a.b", pa.binary(), metadata=field), pa.field("a", struct.type)])
    write(pa.table([column, struct], described), tmp_path / "sealed.arrow")
    run("unseal", "sealed.arrow", "opened.arrow", "--all", *CONTEXT)
    assert load(tmp_path / "opened.arrow").equals(LIKE_A_FIELD)
    write(pa.table([column, struct], ["a.b", "a"]), tmp_path / "sealed.arrow")
    error = run("unseal", "sealed.arrow", "out.arrow", "--column", "a.b", *CONTEXT, status=1)
    assert "two columns are named 'a.b'; rename one" in error


# ---- CSV


@pytest.mark.parametrize(
    ("form", "kind", "value"),
    [
        ("arrow", pa.date32(), 1 << 30),
        ("arrow", pa.timestamp("s"), 1 << 40),
    ],
    ids=str,
)
def test_dates_and_times_without_a_text_are_not_written_to_csv(
    form: str, kind: pa.DataType, value: int, tmp_path: Path, run: Callable[..., str]
) -> None:
    width = pa.int64() if kind.bit_width == 64 else pa.int32()
    write(
        pa.table({"x": pa.array([1, None, value], width).view(kind), "y": ["a", "b", "c"]}),
        tmp_path / f"in.{form}",
    )
    error = run("seal", f"in.{form}", "out.csv", "--column", "y", *CONTEXT, status=1)
    assert " 0, column 'x': a date or time has no text" in error
    run("seal", f"in.{form}", "sealed.csv", "--column", "x", *CONTEXT)
    how = ("--column", "x", "--as-type", f"x={kind}", *CONTEXT)
    error = run("unseal", "sealed.csv", "opened.csv", *how, status=1)
    assert "column 'x': a date or time has no text" in error
    run("unseal", "sealed.csv", "opened.arrow", *how)
    assert load(tmp_path / "opened.arrow")["x"].equals(load(tmp_path / f"in.{form}")["x"])
    run("seal", f"in.{form}", f"sealed.{form}", "--column", "x", *CONTEXT)
    error = run("unseal", f"sealed.{form}", "out.csv", "--column", "x", *CONTEXT, status=1)
    assert " 0, column 'x': a date or time has no text" in error


@pytest.mark.parametrize(
    ("kind", "value"),
    [(pa.time64("us"), 86_400_000_000), (pa.time64("ns"), -1), (pa.time32("ms"), 86_400_001)],
)
def test_times_outside_a_day_are_neither_sealed_nor_opened(
    kind: pa.DataType, value: int, tmp_path: Path, run: Callable[..., str], keys: Path
) -> None:
    """DuckDB has the time 24:00, which Arrow has not."""
    numbers = pa.array([1, None, value], pa.int64() if kind.bit_width == 64 else pa.int32())
    write(pa.table({"x": numbers.view(kind), "y": ["a", "b", "c"]}), tmp_path / "in.parquet")
    error = run("seal", "in.parquet", "out.parquet", "--column", "x", *CONTEXT, status=1)
    assert "row group 0, column 'x', row 2: the value is not a time of day" in error
    error = run("seal", "in.parquet", "out.csv", "--column", "y", *CONTEXT, status=1)
    assert " 0, column 'x': a date or time has no text" in error
    sealed = seal_column(numbers, Keyset.from_tink_json(keys.read_text()), context="people.x")
    write(pa.table({"x": sealed}), tmp_path / "sealed.parquet")
    how = ("--column", "x", *CONTEXT)
    unsealing = ("unseal", "sealed.parquet", "out.parquet", *how, "--as-type", str(kind), "--forged")
    error = run(*unsealing, "fail", status=1)
    assert "row group 0, column 'x', row 2: the value is not a time of day" in error
    assert "column 'x': 1 values did not open" in run(*unsealing, "null", status=4)
    assert load(tmp_path / "out.parquet")["x"].is_valid().to_pylist() == [True, False, False]
    run("unseal", "sealed.parquet", "out.parquet", *how, "--as-type", str(numbers.type))
    assert load(tmp_path / "out.parquet")["x"].combine_chunks() == numbers


def test_types_without_a_text_are_refused_by_name(tmp_path: Path, run: Callable[..., str]) -> None:
    kind = "month_day_nano_interval"
    how = ("--column", "x", *CONTEXT)
    write(pa.table({"x": array_of(*ONLY_ARROW["months"])}), tmp_path / "in.arrow")
    run("seal", "in.arrow", "sealed.arrow", *how)
    note = run("seal", "in.arrow", "sealed.csv", *how)
    assert f"--as-type 'x={kind}'" in note
    for source, *types in (("sealed.arrow",), ("sealed.csv", "--as-type", kind)):
        error = run("unseal", source, "out.csv", *how, *types, status=1)
        assert f"column 'x': values of type {kind} have no text" in error
    run("unseal", "sealed.csv", "opened.arrow", *how, "--as-type", kind)
    (tmp_path / "in.csv").write_text("x\n1\n")
    for out in ("out.csv", "out.arrow"):
        error = run("seal", "in.csv", out, *how, "--as-type", kind, status=1)
        assert f"column 'x': values of type {kind} cannot be read from text" in error
        assert not (tmp_path / out).exists()


def test_types_that_pyarrow_lacks_are_unknown(tmp_path: Path, run: Callable[..., str], keys: Path) -> None:
    """Spark has intervals of months."""
    keyset = Keyset.from_tink_json(keys.read_text())
    sealed = seal_column(pa.array([7], pa.int32()), keyset, context="people.x")
    field = {"sealcomb.type": "month_interval", "sealcomb.version": "1"}
    write(pa.table([sealed], pa.schema([pa.field("x", pa.binary(), metadata=field)])), tmp_path / "in.arrow")
    how = ("--all", *CONTEXT, "--as-type")
    error = run("unseal", "in.arrow", "out.arrow", *how[:-1], status=1)
    assert "the type 'month_interval' in its metadata is unknown; use --as-type" in error
    assert "unknown type" in run("unseal", "in.arrow", "out.arrow", *how, "month_interval", status=2)
    run("unseal", "in.arrow", "out.arrow", *how, "int32")
    assert load(tmp_path / "out.arrow")["x"].to_pylist() == [7]


@pytest.mark.parametrize("end", ["", "\n"], ids=repr)
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_header_alone_is_an_empty_table(
    form: str, end: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    (tmp_path / "in.csv").write_text(f"x,y{end}")
    run("seal", "in.csv", f"sealed.{form}", "--column", "x", *CONTEXT)
    run("unseal", f"sealed.{form}", f"opened.{form}", "--column", "x", *CONTEXT)
    opened = load(tmp_path / f"opened.{form}")
    assert (opened.num_rows, opened.schema.names) == (0, ["x", "y"])


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
    error = run("unseal", "sealed.csv", f"opened.{form}", *selected, status=1)
    assert "column 'x', row 0: the value did not verify" in error
    run("reseal", "sealed.csv", "fresh.csv", *selected, *typed)
    run("unseal", "fresh.csv", f"opened.{form}", *selected, *typed)
    if form == "csv":
        assert (tmp_path / "opened.csv").read_text() == '"id","x"\n1,"a"\n200,"b"\n'
    else:
        assert load(tmp_path / "opened.arrow").to_pydict() == {"id": ["1", "200"], "x": ["a", "b"]}
    (tmp_path / "sealed.csv").write_text("id,x\n1,\nnone,\n")
    error = run("unseal", "sealed.csv", f"out.{form}", *selected, *typed, status=1)
    assert f"column 'id', row 1: not a value of type {kind}" in error


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_only_row_ids_of_csv_get_another_type(form: str, tmp_path: Path, run: Callable[..., str]) -> None:
    write(pa.table({"id": [1, 2], "name": ["a", "b"], "x": ["c", "d"]}), tmp_path / f"in.{form}")
    for row_id, other, same in (("id", "string", "int32"), ("name", "int64", "large_string")):
        how = ("--column", "x", "--row-id", row_id, *CONTEXT)
        typed = (*how, "--as-type", f"{row_id}={other}")
        for verb, source in (("seal", "in"), ("unseal", "sealed"), ("reseal", "sealed")):
            run("seal", f"in.{form}", f"sealed.{form}", *how, "--as-type", f"{row_id}={same}")
            error = run(verb, f"{source}.{form}", f"out.{form}", *typed, status=1)
            assert f"column {row_id!r}: its type is " in error
            assert f"--as-type {other} would not change it" in error
            assert not (tmp_path / f"out.{form}").exists()


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
def test_row_ids_can_be_in_a_column_without_a_name(
    form: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    """pandas writes its index to such a column."""
    (tmp_path / "in.csv").write_text(",x\n1,a\n2,b\n")
    if form != "csv":
        write(pa.table({"": ["1", "2"], "x": ["a", "b"]}), tmp_path / f"in.{form}")
    how = ("--column", "x", *CONTEXT)
    run("seal", f"in.{form}", f"sealed.{form}", *how, "--row-id", "")
    run("unseal", f"sealed.{form}", f"opened.{form}", *how, status=1)
    run("unseal", f"sealed.{form}", f"opened.{form}", *how, "--row-id", "")


def test_row_ids_of_csv_can_be_numbers(tmp_path: Path, run: Callable[..., str]) -> None:
    (tmp_path / "in.csv").write_text("id,x\n7,a\n8,b\n")
    write(pa.table({"id": [7, 8], "x": ["a", "b"]}), tmp_path / "in.parquet")
    selected = ("--column", "x", "--row-id", "id", *CONTEXT)
    run("seal", "in.csv", "sealed.parquet", *selected, "--as-type", "id=int64")
    sealed = load(tmp_path / "sealed.parquet")
    write(sealed.set_column(0, "id", [[7, 8]]), tmp_path / "numbers.parquet")
    run("unseal", "numbers.parquet", "opened.parquet", *selected)
    assert load(tmp_path / "opened.parquet").equals(load(tmp_path / "in.parquet"))


def test_text_as_row_ids_survives_csv(tmp_path: Path, run: Callable[..., str]) -> None:
    write(pa.table({"id": ["1", "ü"], "x": ["a", "b"]}), tmp_path / "in.arrow")
    selected = ("--column", "x", "--row-id", "id", *CONTEXT)
    run("seal", "in.arrow", "sealed.csv", *selected)
    run("reseal", "sealed.csv", "fresh.csv", *selected)
    run("unseal", "fresh.csv", "opened.arrow", *selected)
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
    run("unseal", "sealed.arrows", "opened.arrows", "--all", *CONTEXT)
    opened = pa.ipc.open_stream(str(tmp_path / "opened.arrows")).read_all()
    assert opened.schema == batches[0].schema
    assert [chunk.to_pylist() for chunk in opened["x"].chunks] == text
    error = run("unseal", "sealed.arrows", "out.arrow", "--all", *CONTEXT, status=1)
    assert "use --as-type 'x=string'" in error
    run("unseal", "sealed.arrows", "opened.arrow", "--all", "--as-type", "x=string", *CONTEXT)
    assert load(tmp_path / "opened.arrow")["x"].to_pylist() == [value for values in text for value in values]


# ---- dictionaries


@pytest.fixture
def growing(tmp_path: Path) -> list[dict[str, object]]:
    """Writes files with dictionaries that differ from part to part, and returns their rows."""

    def part(*values: str | None) -> pa.Table:
        kinds = pa.array(values, pa.string()).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
        nested = pa.StructArray.from_arrays(
            [kinds, pa.ListArray.from_arrays([0, 1, 1, 3], kinds)], ["a", "b"]
        )
        return pa.table({"x": ["a", "b", "c"], "kind": kinds, "nested": nested})

    parts = [part("p", "q", "p"), part("r", "p", None), part("q", "q", "q"), part(None, None, None)]
    with pq.ParquetWriter(tmp_path / "in.parquet", parts[0].schema) as file:
        for table in parts:
            file.write_table(table)
    with pa.ipc.new_stream(str(tmp_path / "in.arrows"), parts[0].schema) as stream:
        for table in parts:
            stream.write_table(table)
    return [row for table in parts for row in table.to_pylist()]


@pytest.mark.parametrize("column", ["x", "kind", "nested.a", "nested.b"])
@pytest.mark.parametrize("form", ["parquet", "arrows"])
def test_dictionaries_that_differ_are_written_to_an_arrow_file(
    form: str, column: str, growing: list[dict[str, object]], tmp_path: Path, run: Callable[..., str]
) -> None:
    how = ("--column", column, *CONTEXT)
    run("seal", f"in.{form}", "sealed.arrow", *how)
    run("unseal", "sealed.arrow", "opened.arrow", *how)
    run("seal", f"in.{form}", f"sealed.{form}", *how)
    run("unseal", f"sealed.{form}", "again.arrow", *how)
    for name in ("opened.arrow", "again.arrow"):
        opened = load(tmp_path / name)
        opened.validate(full=True)
        assert opened.to_pylist() == growing


@pytest.mark.parametrize("problem", ["too many values", "another order"])
def test_dictionaries_that_no_arrow_file_can_have_are_reported(
    problem: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=problem == "another order")
    schema = pa.schema([("x", pa.string()), ("kind", kind)])
    with pa.ipc.new_stream(str(tmp_path / "in.arrows"), schema) as file:
        for first in (0, 100):
            values = pa.array([f"{first + at}" for at in range(100)])
            kinds = pa.DictionaryArray.from_arrays(
                pa.array(range(100), pa.int8()), values, ordered=kind.ordered
            )
            file.write_batch(pa.record_batch([values, kinds], schema=schema))
    how = ("--column", "x", *CONTEXT)
    error = run("seal", "in.arrows", "out.arrow", *how, status=1)
    assert "record batch 1, column 'kind': an Arrow file cannot have its dictionaries" in error
    assert not (tmp_path / "out.arrow").exists()
    run("seal", "in.arrows", "out.arrows", *how)
