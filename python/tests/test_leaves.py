"""Every leaf of an opened column verifies, unless the caller names it; and the types that `as_type` takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sealcomb import (
    Keyset,
    NotSealed,
    _cli,
    inspect_column,
    reseal_column,
    seal_column,
    unseal_column,
    unseal_column_counted,
)

KEYS = Keyset.from_keys({11: bytes(range(32))}, 11)
CONTEXT = "people.addr"
PEOPLE = pa.array([{"name": "Ann", "iban": "DE11"}, {"name": "Bob", "iban": "DE22"}])
EVIL = pa.array(["XX66", "XX66"])
REPLACEMENTS = {
    "text": EVIL,
    "large text": EVIL.cast(pa.large_string()),
    "view": EVIL.cast(pa.string_view()),
    "dictionary": EVIL.dictionary_encode(),
    "runs": pa.RunEndEncodedArray.from_arrays([2], ["XX66"]),
    "integers": pa.array([1, 2]),
    "booleans": pa.array([True, False]),
    "struct": pa.array([{"a": "XX66"}, {"a": "XX66"}]),
    "list": pa.array([["XX66"], []]),
    "text of nulls": pa.nulls(2, pa.string()),
}
OPENINGS: dict[str, Callable[..., object]] = {
    "unseal": unseal_column,
    "open as a type": lambda array, keys, **more: unseal_column(array, keys, as_type="string", **more),
    "open with nulls": lambda array, keys, **more: unseal_column(array, keys, forged="null", **more),
    "open counted": unseal_column_counted,
    "reseal": reseal_column,
    "reseal with nulls": lambda array, keys, **more: reseal_column(array, keys, forged="null", **more),
}


def replaced(leaf: pa.Array, sealed: pa.Array, *, marked: bool = False) -> pa.Array:
    """Returns a sealed struct with another leaf `iban`, which keeps its metadata if `marked`."""
    old = sealed.type.field("iban")
    field = old.with_type(leaf.type) if marked else pa.field("iban", leaf.type)
    arrays = [sealed.field("name"), leaf]
    return pa.StructArray.from_arrays(arrays, fields=[sealed.type.field("name"), field])


@pytest.mark.parametrize("how", OPENINGS)
@pytest.mark.parametrize("replacement", REPLACEMENTS)
def test_a_leaf_that_was_replaced_is_refused(replacement: str, how: str) -> None:
    sealed = seal_column(PEOPLE, KEYS, context=CONTEXT)
    for marked in (True, False):
        evil = replaced(REPLACEMENTS[replacement], sealed, marked=marked)
        for array in (
            evil,
            evil.slice(0, 0),
            pa.chunked_array([evil, evil]),
            pa.chunked_array([], evil.type),
        ):
            with pytest.raises(TypeError, match="name it in plain"):
                OPENINGS[how](array, KEYS, context=CONTEXT)
            assert inspect_column(array) is None


@pytest.mark.parametrize("marked", [True, False])
def test_bytes_in_place_of_a_leaf_are_not_opened(marked: bool) -> None:
    sealed = seal_column(PEOPLE, KEYS, context=CONTEXT)
    evil = replaced(EVIL.cast(pa.binary()), sealed, marked=marked)
    for how in (unseal_column, reseal_column):
        with pytest.raises(NotSealed):
            how(evil, KEYS, context=CONTEXT)
    opened, count = unseal_column_counted(evil, KEYS, context=CONTEXT, as_type="string")
    assert (opened.field("iban").to_pylist(), count) == ([None, None], 2)


def test_polars_structs_are_checked_too() -> None:
    frame = pl.DataFrame({"addr": [{"name": "Ann", "iban": "DE11"}]})
    sealed = seal_column(frame["addr"], KEYS, context=CONTEXT)
    evil = sealed.struct.unnest().with_columns(iban=pl.lit("XX66")).to_struct("addr")
    for how in OPENINGS.values():
        with pytest.raises(TypeError, match="name it in plain"):
            how(evil, KEYS, context=CONTEXT)
    opened = unseal_column(evil, KEYS, context=CONTEXT, as_type="string", plain=["iban"])
    assert opened.to_list() == [{"name": "Ann", "iban": "XX66"}]


def test_named_leaves_stay_as_they_are() -> None:
    sealed = seal_column(PEOPLE, KEYS, context=CONTEXT)
    half = replaced(PEOPLE.field("iban"), sealed)
    assert unseal_column(half, KEYS, context=CONTEXT, plain=["iban"]) == PEOPLE
    assert unseal_column_counted(half, KEYS, context=CONTEXT, plain=("iban",)) == (PEOPLE, 0)
    again = reseal_column(half, KEYS, context=CONTEXT, plain=["iban"])
    assert again.field("iban") == PEOPLE.field("iban")
    assert again.field("name") != half.field("name")
    assert unseal_column(again, KEYS, context=CONTEXT, plain=["iban"]) == PEOPLE
    assert inspect_column(half, plain=["iban"]) == {11: 2}


@pytest.mark.parametrize(
    ("plain", "error", "message"),
    [
        (
            ["zip"],
            ValueError,
            'plain names "zip", which is no leaf of the column; its leaves are "name", "iban"',
        ),
        ([""], ValueError, "is no leaf"),
        (["*"], ValueError, "is no leaf"),
        (["iban"], ValueError, 'plain names "iban", which is sealed'),
        ("iban", TypeError, "plain"),
        ([1], TypeError, "plain"),
    ],
)
def test_wrong_names_of_plain_leaves_are_explained(
    plain: object, error: type[Exception], message: str
) -> None:
    sealed = seal_column(PEOPLE, KEYS, context=CONTEXT)
    for how in (unseal_column, unseal_column_counted, reseal_column):
        with pytest.raises(error, match=message.replace("*", r"\*")):
            how(sealed, KEYS, context=CONTEXT, plain=plain)  # type: ignore[arg-type]
    flat = seal_column(EVIL, KEYS, context=CONTEXT)
    with pytest.raises((TypeError, ValueError), match="plain"):
        unseal_column(flat, KEYS, context=CONTEXT, plain=plain)  # type: ignore[arg-type]


# ---- nested types

NESTED = pa.array(
    [{"name": "Ann", "age": 7, "tags": ["a"], "scores": [("x", 1.5)]}, None],
    pa.struct(
        [
            ("name", pa.string()),
            ("age", pa.int32()),
            ("tags", pa.list_(pa.string())),
            ("scores", pa.map_(pa.string(), pa.float64())),
        ]
    ),
)
SPELLINGS: dict[str, object] = {
    "pyarrow's type": NESTED.type,
    "pyarrow's name": str(NESTED.type),
    "Spark": "STRUCT<name: STRING, age: INT NOT NULL, tags: ARRAY<STRING>, scores: MAP<STRING, DOUBLE>>",
    "SQL": 'STRUCT("name" VARCHAR, age INTEGER, tags VARCHAR[], scores MAP(VARCHAR, DOUBLE))',
}


def without_metadata(array: pa.Array) -> pa.Array:
    def bare(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_struct(kind):
            return pa.struct([pa.field(field.name, bare(field.type), field.nullable) for field in kind])
        if pa.types.is_map(kind):
            return pa.map_(kind.key_type, kind.item_type)
        return pa.list_(kind.value_type) if pa.types.is_list(kind) else kind

    return array.cast(bare(array.type))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_nested_type_restores_structs_of_several_types(spelling: str) -> None:
    sealed = without_metadata(seal_column(NESTED, KEYS, context=CONTEXT))
    opened = unseal_column(sealed, KEYS, context=CONTEXT, as_type=SPELLINGS[spelling])
    assert opened.to_pylist() == NESTED.to_pylist()
    assert opened.type.field("age").type == pa.int32()
    counted = unseal_column_counted(sealed, KEYS, context=CONTEXT, as_type=SPELLINGS[spelling])
    assert counted == (opened, 0)


def test_types_of_polars_restore_structs_and_lists() -> None:
    frame = pl.DataFrame({"x": [{"name": "Ann", "age": 7, "days": [1, 2]}, None]})
    kind = pl.Struct({"name": pl.String, "age": pl.Int64, "days": pl.List(pl.Int64)})
    sealed = seal_column(frame["x"], KEYS, context=CONTEXT)
    parts = sealed[:1]
    for as_type in (kind, "struct<name: string, age: int64, days: list<item: int64>>"):
        assert (
            unseal_column(parts, KEYS, context=CONTEXT, as_type=as_type).to_list() == frame["x"][:1].to_list()
        )
    numbers = seal_column(pl.Series([1, None]), KEYS, context=b"")
    assert unseal_column(numbers, KEYS, context=b"", as_type=pl.Int64).to_list() == [1, None]
    lazy = frame.lazy().select(
        pl.col("x")
        .map_batches(lambda column: seal_column(column, KEYS, context=CONTEXT))
        .map_batches(
            lambda column: unseal_column(column, KEYS, context=CONTEXT, as_type=kind), return_dtype=kind
        )
    )
    assert lazy.collect().equals(frame)


@pytest.mark.parametrize(
    ("as_type", "error", "message"),
    [
        ("struct<name: string>", TypeError, "differ in lists, structs, maps or unions"),
        ("struct<iban: string, name: string>", TypeError, "in the names of fields"),
        ("list<item: string>", TypeError, "differ in lists"),
        (pa.struct([("name", pa.string()), ("iban", pa.list_(pa.string()))]), TypeError, "differ in lists"),
        ("struct<name: letters>", ValueError, "unknown type"),
        (5, TypeError, "as_type is the name of a type, or a type of pyarrow or Polars"),
    ],
)
def test_types_of_another_shape_are_refused(as_type: object, error: type[Exception], message: str) -> None:
    sealed = seal_column(PEOPLE, KEYS, context=CONTEXT)
    with pytest.raises(error, match=message):
        unseal_column(sealed, KEYS, context=CONTEXT, as_type=as_type)


def test_the_type_of_a_named_leaf_must_be_its_own() -> None:
    half = replaced(pa.array([1, 2]), seal_column(PEOPLE, KEYS, context=CONTEXT))
    how = {"context": CONTEXT, "plain": ["iban"]}
    opened = unseal_column(half, KEYS, as_type="struct<name: string, iban: int64>", **how)
    assert opened.field("iban").to_pylist() == [1, 2]
    with pytest.raises(TypeError, match='gives the leaf "iban" the type Utf8'):
        unseal_column(half, KEYS, as_type="struct<name: string, iban: string>", **how)


@pytest.mark.parametrize(
    "name",
    [
        "dictionary<values=" * 20_000 + "string" + ", indices=int8, ordered=0>" * 20_000,
        "run_end_encoded<run_ends: int32, values: " * 20_000 + "string" + ">" * 20_000,
        "list<item: " * 50_000 + "string" + ">" * 50_000,
        "array<" * 50_000 + "string" + ">" * 50_000,
        "struct(a " * 50_000 + "string" + ")" * 50_000,
        "map<string, " * 50_000 + "string" + ">" * 50_000,
        "string" + "[]" * 100_000,
        "<" * 500_000,
        "list<item: " * 50_000,
        "x" * 5_000_000,
    ],
    ids=lambda name: f"{name[:12]}, {len(name)} bytes",
)
def test_types_that_nest_too_deep_are_refused(name: str) -> None:
    sealed = seal_column(EVIL, KEYS, context=b"")
    with pytest.raises(ValueError, match=r"levels deep|has \d+ bytes|unknown type") as error:
        unseal_column(sealed, KEYS, context=b"", as_type=name)
    assert len(str(error.value)) < 500
    # Anybody can write such metadata, too.
    metadata = {"sealcomb.type": name, "sealcomb.version": "1"}
    table = pa.table([sealed], pa.schema([pa.field("x", pa.binary(), metadata=metadata)]))
    with pytest.raises(ValueError, match=r"levels deep|has \d+ bytes|unknown type"):
        unseal_column(table.to_struct_array(), KEYS, context=b"")


# ---- the command


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Returns a function that runs the command on files in the folder, and returns its messages."""
    keys = tmp_path / "keys.json"
    keys.touch(mode=0o600)
    keys.write_text(KEYS.secret_tink_json())

    def call(verb: str, source: str, out: str, *options: str, status: int = 0) -> str:
        given = [verb, str(tmp_path / source), str(tmp_path / out), "--keyset", str(keys), "--force"]
        got = _cli.main([*given, "--context", "people.{column}", *options])
        error = capsys.readouterr().err
        assert got == status, error
        return error

    return call


TABLE = pa.table({"id": [1, 2], "note": ["a", "b"], "addr": PEOPLE})


def write(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)


def load(path: Path) -> pa.Table:
    return pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_file(str(path)).read_all()


@pytest.mark.parametrize("verb", ["unseal", "reseal"])
@pytest.mark.parametrize("rows", [2, 0])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_the_command_refuses_a_column_that_became_plain(
    form: str, rows: int, verb: str, tmp_path: Path, run: Callable[..., str]
) -> None:
    table = TABLE.slice(0, rows)
    write(table, tmp_path / f"in.{form}")
    run("seal", f"in.{form}", f"sealed.{form}", "--column", "note", "--column", "addr")
    for selected in (("--column", "note", "--column", "addr"), ("--all", "--plain", "id")):
        run(verb, f"sealed.{form}", f"out.{form}", *selected)
        if verb == "unseal":
            assert load(tmp_path / f"out.{form}") == table
    sealed = load(tmp_path / f"sealed.{form}")
    # The column, or a leaf, is replaced by a plain one, with or without the metadata that says it is sealed.
    note, addr = sealed.schema.field("note"), sealed.schema.field("addr")
    plain = sealed.set_column(1, "note", table["note"])
    marked = sealed.set_column(1, note.with_type(pa.string()), table["note"])
    whole = sealed.set_column(2, addr.with_type(PEOPLE.type).remove_metadata(), table["addr"])
    for evil, name in ((plain, "note"), (marked, "note"), (whole, "addr.name")):
        for bare in (evil, evil.replace_schema_metadata(None)):
            write(bare, tmp_path / f"evil.{form}")
            for selected in (("--all", "--plain", "id"), ("--column", "*te", "--column", "addr")):
                error = run(verb, f"evil.{form}", f"evil-out.{form}", *selected, status=1)
                assert f"column '{name}' is not sealed" in error
                assert f"--plain '{name}'" in error
            assert not (tmp_path / f"evil-out.{form}").exists()


def test_all_requires_that_plain_columns_are_named(tmp_path: Path, run: Callable[..., str]) -> None:
    write(TABLE, tmp_path / "in.parquet")
    run("seal", "in.parquet", "sealed.parquet", "--column", "note", "--column", "addr.iban")
    error = run("unseal", "sealed.parquet", "out.parquet", "--all", status=1)
    assert "column 'id' is not sealed, and 1 more are not: its type is int64" in error
    run("unseal", "sealed.parquet", "out.parquet", "--all", "--plain", "id", "--plain", "addr.name")
    assert load(tmp_path / "out.parquet") == TABLE
    run("unseal", "sealed.parquet", "out.parquet", "--all", "--plain", "id", "--plain", "addr.name")
    run("unseal", "sealed.parquet", "out.parquet", "--column", "addr", "--plain", "addr.name")
    run(
        "unseal", "sealed.parquet", "out.parquet", "--row-id", "id", "--all", "--plain", "addr.name", status=1
    )
    for name, message in (
        ("nothing", "no columns are named 'nothing'"),
        ("*", "no columns are named '*'"),
        ("note", "--plain note: 'note' is sealed"),
        ("addr", "--plain addr: 'addr.iban' is sealed"),
    ):
        error = run("unseal", "sealed.parquet", "out.parquet", "--all", "--plain", name, status=1)
        assert message in error
