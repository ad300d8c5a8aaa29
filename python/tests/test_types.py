"""Columns of every type, from pyarrow, pandas and Polars, open as they were sealed, in the same library."""

import datetime
import decimal

import arro3.core
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sealcomb import Forged, Keyset, NotSealed, inspect_column, reseal_column, seal_column, unseal_column

KEYSETS = {
    "random": Keyset.from_keys({11: bytes(range(32))}, 11),
    "deterministic": Keyset.from_keys({12: bytes(range(64))}, 12, "deterministic"),
}
RANDOM, EQUAL = KEYSETS["random"], KEYSETS["deterministic"]
each_keyset = pytest.mark.parametrize("keyset", KEYSETS.values(), ids=KEYSETS)

MOMENT = datetime.datetime(2026, 2, 28, 12, 30, 5, 1000)
COLUMNS = {
    "bool": [True, None, False],
    "int8": [-128, None, 127],
    "uint16": [65535, None, 0],
    "int32": [-1, None, 1],
    "int64": [-(2**63), None, 2**63 - 1],
    "uint64": [2**64 - 1, None, 0],
    "float": [-0.0, None, 1.5],
    "double": [float("inf"), None, 1e-300],
    "date32[day]": [MOMENT.date(), None, datetime.date(1969, 12, 31)],
    "time64[us]": [MOMENT.time(), None, datetime.time(0)],
    "timestamp[us]": [MOMENT, None, datetime.datetime(1900, 1, 1)],
    "timestamp[us, tz=UTC]": [MOMENT.replace(tzinfo=datetime.UTC), None, None],
    "duration[us]": [datetime.timedelta(days=-1), None, datetime.timedelta(microseconds=1)],
    "decimal128(10, 2)": [decimal.Decimal("-12345678.90"), None, decimal.Decimal("0.01")],
    "decimal256(60, 0)": [decimal.Decimal(10) ** 59, None, decimal.Decimal(-1)],
    "string": ["text", None, ""],
    "large_string": ["text", None, ""],
    "binary": [b"bytes", None, b""],
    "fixed_size_binary[3]": [b"abc", None, b"def"],
}
ARROW = {
    "date32[day]": pa.date32(),
    "time64[us]": pa.time64("us"),
    "timestamp[us]": pa.timestamp("us"),
    "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC"),
    "duration[us]": pa.duration("us"),
    "decimal128(10, 2)": pa.decimal128(10, 2),
    "decimal256(60, 0)": pa.decimal256(60, 0),
    "fixed_size_binary[3]": pa.binary(3),
}
ARRAYS = {name: pa.array(values, ARROW.get(name) or name) for name, values in COLUMNS.items()}
each_array = pytest.mark.parametrize("name", ARRAYS)
NESTED = {
    "list": pa.array([[1, None, 3], None, [], [4]]),
    "struct": pa.array([{"street": "Main St", "zip": 12345}, None, {"street": None, "zip": 1}]),
    "map": pa.array([[("a", 1.5)], None, []], pa.map_(pa.string(), pa.float64())),
    "fixed list": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2)),
    "list of structs": pa.array([[{"x": True, "y": [b"a"]}], [], None]),
}
each_nested = pytest.mark.parametrize("name", NESTED)


@each_array
@each_keyset
def test_a_column_opens_as_the_type_that_is_named(name, keyset):
    column = ARRAYS[name]
    assert str(column.type) == name
    sealed = seal_column(column, keyset, context="table.column")
    assert sealed.type in (pa.binary(), pa.large_binary())
    opened = unseal_column(sealed, keyset, context=b"table.column", as_type=name)
    opened.validate(full=True)
    assert opened.equals(column)


@each_array
def test_the_metadata_of_a_field_names_the_type(name):
    column = arro3.core.Array.from_arrow(ARRAYS[name])
    sealed = seal_column(column, RANDOM, context=b"")
    assert sealed.field.metadata_str == {"sealcomb.type": name, "sealcomb.version": "1"}
    assert pa.array(unseal_column(sealed, RANDOM, context=b"")).equals(ARRAYS[name])
    resealed = reseal_column(sealed, RANDOM, context=b"", new_context="other")
    assert resealed.field.metadata_str == sealed.field.metadata_str
    assert pa.array(unseal_column(resealed, RANDOM, context="other")).equals(ARRAYS[name])


@pytest.mark.parametrize(
    ("name", "kind"), [("month_interval", pa.int32()), ("day_time_interval", pa.int64())]
)
def test_intervals_that_pyarrow_lacks_open_in_other_libraries(name, kind):
    """Spark has intervals of months."""
    sealed = seal_column(pa.array([7, None], kind), EQUAL, context=b"")
    for column in (sealed, pa.chunked_array([sealed])):
        with pytest.raises(TypeError, match=r"pyarrow has no intervals of months.* as_type"):
            unseal_column(column, EQUAL, context=b"", as_type=name)
    opened = unseal_column(arro3.core.Array.from_arrow(sealed), EQUAL, context=b"", as_type=name)
    assert seal_column(opened, EQUAL, context=b"").field.metadata_str["sealcomb.type"] == name


@each_nested
@each_keyset
def test_the_leaves_of_nested_columns_are_sealed(name, keyset):
    column = NESTED[name]
    for given in (column, column.slice(1), column.slice(0, 0), pa.chunked_array([column, column.slice(2)])):
        sealed = seal_column(given, keyset, context=b"")
        assert "int" not in str(sealed.type)
        assert "double" not in str(sealed.type)
        opened = unseal_column(sealed, keyset, context=b"")
        opened.validate(full=True)
        assert opened.to_pylist() == given.to_pylist()
        assert opened.type == given.type
    assert sum(inspect_column(seal_column(column, keyset, context=b"")).values()) > 0


def test_a_leaf_is_bound_to_its_path():
    column = NESTED["struct"]
    sealed = seal_column(column, EQUAL, context="people.addr")
    street = seal_column(column.flatten()[0], EQUAL, context="people.addr.street")
    assert sealed.field("street").to_pylist() == street.to_pylist()
    swapped = pa.StructArray.from_arrays([sealed.field("zip"), sealed.field("street")], ["street", "zip"])
    with pytest.raises(Forged, match=r"street: .*did not verify"):
        unseal_column(swapped, EQUAL, context="people.addr", as_type="binary")


def test_equal_values_stay_equal_in_every_representation():
    text = pa.array(["x", None, "y", "x"])
    plain = seal_column(text, EQUAL, context=b"").to_pylist()
    for other in (
        text.dictionary_encode(),
        text.cast(pa.large_string()),
        text.cast(pa.string_view()),
        text.cast(pa.binary()),
        pa.chunked_array([text[:1], text[1:]]),
        pl.Series(text),
        pl.Series(text).cast(pl.Categorical),
        pd.Series(text.to_pylist()),
        pd.Series(text.to_pylist(), dtype="category"),
    ):
        sealed = seal_column(other, EQUAL, context=b"")
        assert pa.array(sealed).to_pylist() == plain


@each_array
@each_keyset
def test_pandas_series_return_series_with_their_index_and_name(name, keyset):
    series = pd.Series(pd.arrays.ArrowExtensionArray(ARRAYS[name]), index=[30, 10, 20], name="column")
    frame = pd.DataFrame({"column": series})
    frame["column"] = seal_column(frame["column"], keyset, context="frame.column")
    assert frame["column"].index.tolist() == [30, 10, 20]
    opened = unseal_column(frame["column"], keyset, context="frame.column", as_type=name)
    assert isinstance(opened, pd.Series)
    pd.testing.assert_series_equal(opened, series)


def test_series_of_numpy_types_are_sealed():
    for series in (
        pd.Series([1, 2, 3]),
        pd.Series([1.5, 2.5, 3.5]),
        pd.Series(["a", "b", None]),
        pd.Series([b"a", b"b", None]),
        pd.Series([True, False, True]),
        pd.Series(pd.to_datetime(["2026-01-01", None, "2026-01-03"])),
        pd.Series([None, None, None]),
        pd.Series([], dtype="int64"),
    ):
        sealed = seal_column(series, RANDOM, context=b"")
        assert isinstance(sealed, pd.Series)
        kind = pa.array(series).type
        opened = unseal_column(sealed, RANDOM, context=b"", as_type=str(kind))
        assert pa.array(opened).to_pylist() == pa.array(series).to_pylist()


@each_array
def test_polars_series_return_series(name):
    if name in ("decimal256(60, 0)", "fixed_size_binary[3]"):
        pytest.skip("Polars does not have this type")
    series = pl.Series("column", ARRAYS[name])
    sealed = seal_column(series, RANDOM, context=b"")
    assert isinstance(sealed, pl.Series)
    assert sealed.name == "column"
    kind = str(series.to_arrow().type).removeprefix("large_")
    opened = unseal_column(sealed, RANDOM, context=b"", as_type=kind)
    assert opened.to_list() == series.to_list()
    assert opened.dtype == series.dtype


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(3),
        pa.array([None] * 3, pa.int64()),
        pa.array([None] * 3, pa.list_(pa.int8())),
        pl.Series([None] * 3),
        pd.Series([None] * 3),
        pd.Series([None] * 3, dtype="string"),
        pd.Series([float("nan")] * 3, dtype="object"),
        arro3.core.Array.from_arrow(pa.nulls(3)),
    ],
    ids=lambda value: (
        f"{type(value).__module__.split('.')[0]} {getattr(value, 'dtype', getattr(value, 'type', ''))}"
    ),
)
def test_columns_of_nulls_are_sealed_and_opened(column):
    sealed = seal_column(column, RANDOM, context=b"")
    assert pa.array(sealed).null_count == 3
    assert pa.array(unseal_column(sealed, RANDOM, context=b"")).null_count == 3


def test_nested_nulls_of_polars():
    series = pl.Series([[None, None], None, []], dtype=pl.List(pl.Null))
    sealed = seal_column(series, RANDOM, context=b"")
    assert unseal_column(sealed, RANDOM, context=b"").to_list() == series.to_list()


def test_values_of_another_width_are_an_error_with_their_row():
    sealed = seal_column(pa.array(["12345678", None, "123"]), RANDOM, context=b"")
    with pytest.raises(
        ValueError, match="chunk 0, row 2: the value holds 3 bytes, which values of the type never have"
    ):
        unseal_column(sealed, RANDOM, context=b"", as_type="int64")
    assert unseal_column(sealed, RANDOM, context=b"", as_type="bigint", forged="null").null_count == 2


def test_types_that_only_polars_has_are_refused():
    """Polars exports the addresses of objects, which mean nothing later."""
    for series in (
        pl.Series([object()]),
        pl.Series([1], dtype=pl.Int128),
        pl.Series([1], dtype=pl.UInt128),
    ):
        for work in (seal_column, unseal_column, reseal_column):
            with pytest.raises(TypeError, match=r"Arrow has no type for Polars' (Object|U?Int128)"):
                work(series, RANDOM, context=b"")


DENSE = pa.UnionArray.from_dense(
    pa.array([0, 1, 0, 1, 1], pa.int8()),
    pa.array([0, 2, 1, 0, 1], pa.int32()),
    [pa.array([1, None]), pa.array(["a", None, "b"])],
    ["i", "s"],
)
SPARSE = pa.UnionArray.from_sparse(
    pa.array([0, 1, 0, 1, 1], pa.int8()), [pa.array([1, 2, None, 4, 5]), pa.array(list("abcde"))], ["i", "s"]
)


@pytest.mark.parametrize("union", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_only_the_values_of_a_unions_rows_are_sealed_and_opened(union):
    whole = seal_column(union, RANDOM, context=b"")
    assert unseal_column(whole, RANDOM, context=b"").type == union.type
    for start in range(6):
        for length in range(6 - start):
            part = union.slice(start, length)
            for sealed in (seal_column(part, RANDOM, context=b""), whole.slice(start, length)):
                opened = unseal_column(sealed, RANDOM, context=b"")
                opened.validate(full=True)
                assert opened.to_pylist() == part.to_pylist()
                resealed = reseal_column(sealed, RANDOM, context=b"")
                assert unseal_column(resealed, RANDOM, context=b"").to_pylist() == part.to_pylist()
    one = union.slice(0, 1)
    assert sum(inspect_column(seal_column(one, RANDOM, context=b"")).values()) == 1
    assert sum(inspect_column(whole.slice(0, 1)).values()) == 1
    # A value that does not open concerns only its row.
    text = [b"not sealed"] * len(whole.field(0))
    children = [pa.array(text, pa.binary()), whole.field(1)]
    if union.type.mode == "dense":
        mixed = pa.UnionArray.from_dense(whole.type_codes, whole.offsets, children, ["i", "s"])
    else:
        mixed = pa.UnionArray.from_sparse(whole.type_codes, children, ["i", "s"])
    unseal_column(mixed.slice(1, 1), RANDOM, context=b"", as_type="binary")
    with pytest.raises(NotSealed) as error:
        unseal_column(mixed.slice(1, 2), RANDOM, context=b"", as_type="binary")
    assert error.value.row == 1


# ---- extension types, whose metadata describes a type that sealed values do not have

EXTENSIONS = {
    "uuid": (pa.array([b"0" * 16, None, b"1" * 16], pa.uuid()), "fixed_size_binary[16]"),
    "json": (pa.array(["{}", None, "[1]"], pa.json_()), "string"),
    "bool8": (pa.array([1, None, 0], pa.bool8()), "int8"),
    "opaque": (pa.array([1, None, 2], pa.opaque(pa.int64(), "type", "vendor")), "int64"),
    "period": (pa.array(pd.Series(pd.period_range("2026-01", periods=3, freq="M"))), "int64"),
}
each_extension = pytest.mark.parametrize("name", EXTENSIONS)


@each_extension
def test_columns_of_extension_types_are_sealed_as_their_storage(name):
    column, kind = EXTENSIONS[name]
    chunked = pa.chunked_array([column, column.slice(1)])
    for given, storage in (
        (column, column.storage),
        (column.slice(1), column.storage.slice(1)),
        (chunked, pa.chunked_array([chunk.storage for chunk in chunked.chunks])),
    ):
        sealed = seal_column(given, EQUAL, context="c")
        assert sealed.type == pa.binary()
        assert sealed.equals(seal_column(storage, EQUAL, context="c"))
        assert unseal_column(sealed, EQUAL, context="c", as_type=kind).equals(storage)
        assert reseal_column(sealed, EQUAL, context="c").equals(sealed)


@each_extension
def test_fields_of_extension_types_open_as_they_were(name):
    column, _ = EXTENSIONS[name]
    parent = pa.StructArray.from_arrays([column, pa.ListArray.from_arrays([0, 1, 2, 3], column)], ["a", "b"])
    for given in (parent, pa.chunked_array([parent, parent.slice(2)])):
        sealed = seal_column(given, RANDOM, context=b"")
        assert [sealed.type["a"].type, sealed.type["b"].type.value_type] == [pa.binary()] * 2
        opened = unseal_column(reseal_column(sealed, RANDOM, context=b""), RANDOM, context=b"")
        assert opened.type == given.type
        assert opened.equals(given)
        assert unseal_column(sealed, RANDOM, context=b"", as_type="binary").type["a"].type == pa.binary()


def test_the_elements_of_nested_extension_types_are_sealed():
    tensors = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int32(), [2]), pa.array([[1, 2], None], pa.list_(pa.int32(), 2))
    )
    intervals = pa.array(pd.Series(pd.interval_range(0, 2)))
    for column in (tensors, intervals):
        sealed = seal_column(column, RANDOM, context=b"")
        assert not isinstance(sealed.type, pa.BaseExtensionType)
        assert unseal_column(sealed, RANDOM, context=b"").to_pylist() == column.storage.to_pylist()


# ---- columns that cannot be sealed


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, None]), pa.array([{"a": b"1"}])),
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[b"1"]])),
        pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([[b"1"]])),
        pa.StructArray.from_arrays(
            [pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([{"a": b"1", "b": b"2"}]))], ["x"]
        ),
    ],
    ids=["dictionary of structs", "dictionary of lists", "runs of lists", "struct of dictionaries"],
)
def test_nested_values_in_dictionaries_and_runs_are_refused(column):
    for work in (seal_column, unseal_column, reseal_column):
        with pytest.raises(TypeError, match="nested values in a dictionary or in runs: decode them first"):
            work(column, RANDOM, context=b"")
    assert inspect_column(column) is None


@pytest.mark.parametrize("chunks", [[], [pa.array([], pa.binary())]], ids=["no chunk", "an empty chunk"])
def test_row_ids_of_no_chunks_fit_a_column_of_no_rows(chunks):
    ids = pa.chunked_array([], pa.int64())
    for column in (pa.chunked_array(chunks, pa.binary()), pa.array([], pa.binary()), pa.array([[b"a"]])[:0]):
        for work in (seal_column, unseal_column, reseal_column):
            assert len(work(column, RANDOM, context=b"", row_ids=ids)) == 0
    with pytest.raises(ValueError, match="0 row_ids for 1 rows"):
        seal_column(pa.array(["a"]), RANDOM, context=b"", row_ids=ids)
