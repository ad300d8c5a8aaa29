"""Columns of every Arrow type of bytes and text: whole, sliced, chunked; and values that must not open."""

import itertools
import pickle
from functools import partial

import arro3.core
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sealcomb
from sealcomb import Keyset, inspect_column, reseal_column, seal_column, unseal_column, unseal_column_counted

KEYSETS = {
    "random": Keyset.from_keys({11: bytes(range(32))}, 11),
    "xaes": Keyset.from_keys({14: bytes(range(32))}, 14, "xaes"),
    "deterministic": Keyset.from_keys({12: bytes(range(64))}, 12, "deterministic"),
    "gcm": Keyset.from_keys({13: bytes(range(32))}, 13, "gcm"),
}
OVERHEAD = {"random": 33, "xaes": 45, "deterministic": 21, "gcm": 33}
RANDOM = KEYSETS["random"]
each_policy = pytest.mark.parametrize("policy", KEYSETS)

TEXT_TYPES = [pa.utf8(), pa.large_utf8(), pa.string_view()]
TYPES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(5), *TEXT_TYPES]
each_type = pytest.mark.parametrize("type_", TYPES, ids=str)
VALUES = [b"", b"a", None, b"value", b"a longer value that no view holds inline", None, b"\x01", b"last"]


def column_of(type_, values=VALUES):
    """Returns values as a type. Values of a fixed-width type are padded or truncated."""
    if pa.types.is_fixed_size_binary(type_):
        values = [value if value is None else value.ljust(5, b".")[:5] for value in values]
    if type_ in TEXT_TYPES:
        values = [value if value is None else value.decode() for value in values]
    return pa.array(values, type_)


def as_bytes(array):
    return [value.encode() if isinstance(value, str) else value for value in array.to_pylist()]


@each_policy
@each_type
def test_each_type_round_trips(type_, policy):
    column = column_of(type_)
    sealed = seal_column(column, KEYSETS[policy], context=b"context")
    assert sealed.type == (pa.large_binary() if "large" in str(type_) else pa.binary())
    sealed.validate(full=True)
    opened = unseal_column(sealed, KEYSETS[policy], context=b"context")
    opened.validate(full=True)
    assert opened.type == sealed.type
    assert opened.to_pylist() == as_bytes(column)
    assert [value and len(value) for value in sealed.to_pylist()] == [
        value if value is None else len(value) + OVERHEAD[policy] for value in as_bytes(column)
    ]


@each_type
@pytest.mark.parametrize(("start", "length"), [(0, 8), (1, 4), (3, 5), (7, 1), (8, 0), (2, 1)])
def test_slices(type_, start, length):
    column = column_of(type_).slice(start, length)
    sealed = seal_column(column, RANDOM, context=b"")
    assert unseal_column(sealed, RANDOM, context=b"").to_pylist() == as_bytes(column)
    for again, rest in itertools.product(range(length + 1), repeat=2):
        part = sealed.slice(again, rest)
        assert unseal_column(part, RANDOM, context=b"").to_pylist() == as_bytes(column.slice(again, rest))


@each_type
@pytest.mark.parametrize("cuts", [[], [0], [8], [3], [1, 1, 5], [2, 4, 6]])
def test_chunks_stay_chunks(type_, cuts):
    column = column_of(type_)
    ends = [0, *cuts, 8]
    chunked = pa.chunked_array([column.slice(a, b - a) for a, b in itertools.pairwise(ends)])
    sealed = seal_column(chunked, RANDOM, context=b"")
    opened = unseal_column(sealed, RANDOM, context=b"")
    assert isinstance(opened, pa.ChunkedArray)
    assert [len(chunk) for chunk in opened.chunks] == [len(chunk) for chunk in chunked.chunks]
    assert opened.to_pylist() == as_bytes(column)


@each_policy
@each_type
@pytest.mark.parametrize("values", [[], [None], [None] * 1000, [b""] * 3], ids=len)
def test_empty_and_all_null(type_, policy, values):
    column = column_of(type_, values)
    sealed = seal_column(column, KEYSETS[policy], context=b"")
    assert sealed.null_count == column.null_count
    assert unseal_column(sealed, KEYSETS[policy], context=b"").to_pylist() == as_bytes(column)


def test_a_column_without_chunks():
    sealed = seal_column(pa.chunked_array([], pa.utf8()), RANDOM, context=b"")
    assert sealed.type == pa.binary()
    assert sealed.num_chunks == 0
    assert unseal_column(sealed, RANDOM, context=b"", as_type="utf8").type == pa.utf8()


def test_the_null_type():
    sealed = seal_column(pa.nulls(3), RANDOM, context=b"")
    assert sealed.type == pa.binary()
    assert sealed.null_count == 3
    assert unseal_column(pa.nulls(3), RANDOM, context=b"").to_pylist() == [None] * 3
    assert seal_column(pa.nulls(0), RANDOM, context=b"").to_pylist() == []


def test_bytes_under_a_null_are_not_sealed():
    values = pa.array([b"seen", b"hidden", b"seen"])
    validity = pa.array([True, False, True]).buffers()[1]
    column = pa.Array.from_buffers(pa.binary(), 3, [validity, *values.buffers()[1:]])
    sealed = seal_column(column, KEYSETS["deterministic"], context=b"")
    assert sealed.to_pylist()[1] is None
    assert sealed.buffers()[2].size == 2 * (4 + 21)


@each_policy
@given(values=st.lists(st.none() | st.binary(max_size=300), max_size=60), context=st.binary(max_size=20))
def test_any_values(policy, values, context):
    column = pa.array(values, pa.binary())
    sealed = seal_column(column, KEYSETS[policy], context=context)
    assert unseal_column(sealed, KEYSETS[policy], context=context) == column


def many(rows, seed=1, longest=200):
    """Returns a column of random values with nulls."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest, rows)
    data = random.bytes(int(lengths.sum()))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    mask = pa.array(random.random(rows) > 0.1)
    return pa.Array.from_buffers(
        pa.binary(), rows, [mask.buffers()[1], pa.py_buffer(offsets), pa.py_buffer(data)]
    )


LONG = many(60_000)


@each_policy
def test_a_long_column(policy):
    sealed = seal_column(LONG, KEYSETS[policy], context=b"c")
    assert unseal_column(sealed, KEYSETS[policy], context=b"c") == LONG


@pytest.mark.parametrize("threads", [1, 2, 3, 16, None])
def test_results_do_not_depend_on_threads(threads):
    keyset = KEYSETS["deterministic"]
    sealed = seal_column(LONG, keyset, context=b"", threads=1)
    chunked = pa.chunked_array([LONG.slice(0, 20_000), LONG.slice(20_000, 1), LONG.slice(20_001)])
    assert seal_column(LONG, keyset, context=b"", threads=threads) == sealed
    assert seal_column(chunked, keyset, context=b"", threads=threads).combine_chunks() == sealed
    assert unseal_column(sealed, keyset, context=b"", threads=threads) == LONG
    random = seal_column(LONG, RANDOM, context=b"", threads=threads)
    assert [len(value or b"") for value in random.to_pylist()] == [
        len(value) + 33 if value is not None else 0 for value in LONG.to_pylist()
    ]


@each_policy
def test_which_policies_show_equal_values(policy):
    sealed = seal_column(pa.array([b"same"] * 1000), KEYSETS[policy], context=b"").to_pylist()
    assert len(set(sealed)) == (1 if policy == "deterministic" else 1000)
    if policy != "deterministic":
        assert len({value[5:17] for value in sealed}) == 1000


def test_later_calls_draw_different_nonces():
    column = pa.array([b""] * 3000)
    nonces = {
        value[5:17] for _ in range(20) for value in seal_column(column, RANDOM, context=b"").to_pylist()
    }
    assert len(nonces) == 60_000


ROW_IDS = [
    pa.array(range(8), pa.int64()),
    pa.array(range(8), pa.uint8()),
    pa.array([f"row {index}" for index in range(8)]),
    pa.array([f"row {index}" for index in range(8)], pa.string_view()),
    pa.array([bytes([index]) * 16 for index in range(8)], pa.binary(16)),
    pa.chunked_array([pa.array(range(3)), pa.array(range(3, 8))]),
]


@pytest.mark.parametrize("row_ids", ROW_IDS, ids=lambda ids: str(ids.type))
def test_row_ids_bind_values_to_rows(row_ids):
    column = column_of(pa.binary())
    sealed = seal_column(column, RANDOM, context=b"c", row_ids=row_ids)
    assert unseal_column(sealed, RANDOM, context=b"c", row_ids=row_ids) == column
    half = sealed.slice(4)
    assert unseal_column(half, RANDOM, context=b"c", row_ids=row_ids.slice(4)) == column.slice(4)
    order = pa.array([1, 0, 2, 3, 4, 5, 6, 7])
    opened, forged = unseal_column_counted(sealed.take(order), RANDOM, context=b"c", row_ids=row_ids)
    assert forged == 2
    assert opened.to_pylist() == [None, None, *column.to_pylist()[2:]]
    ids = pa.array([row_ids.to_pylist()[row] for row in order.to_pylist()], row_ids.type)
    moved = unseal_column(sealed.take(order), RANDOM, context=b"c", row_ids=ids)
    assert moved == column.take(order)
    with pytest.raises(sealcomb.Forged):
        unseal_column(sealed, RANDOM, context=b"c")
    chunked = pa.chunked_array([column.slice(0, 1), column.slice(1, 6), column.slice(7)])
    again = seal_column(chunked, KEYSETS["deterministic"], context=b"", row_ids=row_ids)
    assert again.combine_chunks() == seal_column(
        column, KEYSETS["deterministic"], context=b"", row_ids=row_ids
    )


def test_integer_ids_of_any_width_are_equal():
    column = pa.array([b"a", b"b", b"c"])
    results = [
        seal_column(column, KEYSETS["deterministic"], context=b"", row_ids=pa.array([0, 1, 127], type_))
        for type_ in (
            pa.int8(),
            pa.int16(),
            pa.int32(),
            pa.int64(),
            pa.uint8(),
            pa.uint16(),
            pa.uint32(),
            pa.uint64(),
        )
    ]
    assert all(result == results[0] for result in results)


def test_context_and_row_ids_are_separated():
    column = pa.array([b"value"])
    sealed = seal_column(column, RANDOM, context=b"ab", row_ids=pa.array([b"c"]))
    for context, row_id in ((b"a", b"bc"), (b"abc", b""), (b"", b"abc")):
        with pytest.raises(sealcomb.Forged):
            unseal_column(sealed, RANDOM, context=context, row_ids=pa.array([row_id]))


@pytest.mark.parametrize(
    ("row_ids", "error", "text"),
    [
        (pa.array([1, 2]), ValueError, "2 row_ids for 8 rows; expected one per row"),
        (pa.array([1, None, 3, 4, 5, 6, 7, 8]), ValueError, "row_ids contains nulls; every row needs an id"),
        (pa.array([1.0] * 8), TypeError, "row_ids has type Float64; cast it to integers, bytes or text"),
        (list(range(8)), TypeError, "takes an Arrow array .* not <class 'list'>"),
    ],
)
def test_invalid_row_ids(row_ids, error, text):
    with pytest.raises(error, match=text):
        seal_column(column_of(pa.binary()), RANDOM, context=b"", row_ids=row_ids)


def test_results_belong_to_the_library_of_the_input():
    values = [b"one", None, b"three"]
    assert isinstance(seal_column(pa.array(values), RANDOM, context=b""), pa.Array)
    assert isinstance(seal_column(pa.chunked_array([values]), RANDOM, context=b""), pa.ChunkedArray)
    series = seal_column(pl.Series("ssn", values), RANDOM, context=b"")
    assert isinstance(series, pl.Series)
    assert series.name == "ssn"
    assert unseal_column(series, RANDOM, context=b"").to_list() == values
    other = seal_column(Foreign(pa.array(values)), RANDOM, context=b"")
    assert type(other).__module__.startswith("arro3")
    assert pa.array(unseal_column(other, RANDOM, context=b"")).to_pylist() == values
    stream = seal_column(ForeignStream(pa.chunked_array([values, values])), RANDOM, context=b"")
    assert pa.chunked_array(unseal_column(stream, RANDOM, context=b"")).to_pylist() == values * 2


class Foreign:
    """An array of an unknown library."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


class ForeignStream:
    """A stream of arrays of an unknown library."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_stream__(self, requested_schema=None):
        return self.array.__arrow_c_stream__(requested_schema)


def test_polars_text():
    series = pl.Series("names", ["Zoë", None, "a name that is longer than twelve bytes"] * 1000)
    opened = unseal_column(seal_column(series, RANDOM, context=b""), RANDOM, context=b"", as_type="utf8")
    assert opened.to_list() == series.to_list()
    assert opened.dtype == pl.String


def test_what_the_input_was_stays():
    column = column_of(pa.binary())
    before = [buffer and buffer.to_pybytes() for buffer in column.buffers()]
    seal_column(column, RANDOM, context=b"")
    assert [buffer and buffer.to_pybytes() for buffer in column.buffers()] == before


@pytest.mark.parametrize("type_", TEXT_TYPES, ids=str)
def test_text_comes_back_as_text(type_):
    column = pa.array(["", "Zoë", None, "文字"], type_)
    opened = unseal_column(seal_column(column, RANDOM, context=b""), RANDOM, context=b"", as_type="utf8")
    assert opened.type == (pa.large_utf8() if type_ == pa.large_utf8() else pa.utf8())
    assert opened.to_pylist() == column.to_pylist()
    opened.validate(full=True)


def test_invalid_utf8_is_reported_by_row():
    column = pa.chunked_array([[b"text"], [b"text", None, b"\xc3", b"\xa9"]])
    sealed = seal_column(column, RANDOM, context=b"")
    with pytest.raises(
        sealcomb.WrongType, match='chunk 1, row 2: the value is not UTF-8; use as_type="binary"'
    ) as caught:
        unseal_column(sealed, RANDOM, context=b"", as_type="utf8")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.chunk, caught.value.row) == (1, 2)
    assert "\\xc3" not in str(caught.value)
    # Concatenated, the two values would be a valid letter.
    assert unseal_column(sealed, RANDOM, context=b"") == column


@pytest.mark.parametrize(
    ("digits", "narrow", "wide"),
    [
        (9, "decimal32", pa.decimal128(38, 0)),
        (18, "decimal64", pa.decimal128(38, 0)),
        (37, "decimal128", pa.decimal128(38, 0)),
        (75, "decimal256", pa.decimal256(76, 0)),
    ],
)
def test_a_decimal_of_too_many_digits_is_reported_by_row_without_its_value(digits, narrow, wide):
    column = pa.array([1, None, 10**digits - 1, -(10**digits)], wide)
    sealed = seal_column(column, RANDOM, context=b"")
    assert unseal_column(sealed, RANDOM, context=b"", as_type=str(wide)) == column
    as_type = f"{narrow}({digits}, 0)"
    fitting = unseal_column(sealed.slice(0, 3), RANDOM, context=b"", as_type=as_type)
    fitting.validate(full=True)
    assert fitting.to_pylist() == column.to_pylist()[:3]
    with pytest.raises(sealcomb.WrongType, match=r"chunk 0, row 3: .* not a decimal of") as caught:
        unseal_column(sealed, RANDOM, context=b"", as_type=as_type)
    assert "000" not in str(caught.value)


def test_nulls_in_one_chunk_make_a_field_nullable_in_all():
    fields = [pa.field("a", pa.int64(), nullable=False)]
    whole = pa.StructArray.from_arrays([pa.array([1, 2])], fields=fields)
    nulls = pa.StructArray.from_arrays([pa.array([3, 4])], fields=fields, mask=pa.array([True, False]))
    for chunks in ([whole, nulls], [nulls, whole]):
        column = pa.chunked_array(chunks)
        sealed = seal_column(column, RANDOM, context=b"")
        assert sealed.to_pylist()[0] is None or sealed.chunk(0).null_count == 0
        opened = unseal_column(sealed, RANDOM, context=b"", as_type="int64")
        assert opened.to_pylist() == column.to_pylist()
    lists = pa.chunked_array(
        [[[b"a"], [b"b"]], [[b"c"]]], pa.list_(pa.field("element", pa.binary(), nullable=False))
    )
    sealed = seal_column(lists, RANDOM, context="x")
    values = sealed.to_pylist()
    values[2] = [values[2][0][:-1] + bytes([values[2][0][-1] ^ 1])]
    bad = pa.chunked_array([values[:2], values[2:]], sealed.type)
    opened = unseal_column(bad, RANDOM, context="x", forged="null")
    assert opened.to_pylist() == [[b"a"], [b"b"], [None]]


def flip(sealed, row, byte=-1):
    """Returns the column with one bit of a value flipped."""
    values = sealed.to_pylist()
    changed = bytearray(values[row])
    changed[byte] ^= 1
    values[row] = bytes(changed)
    return pa.array(values, sealed.type)


@each_policy
def test_a_forged_row_is_reported(policy):
    sealed = seal_column(LONG, KEYSETS[policy], context=b"")
    row = LONG.to_pylist().index(LONG.to_pylist()[40_000])
    bad = flip(flip(sealed, row), 50_001 if LONG[50_001].is_valid else 50_002)
    for threads in (1, 2, 5):
        with pytest.raises(
            sealcomb.Forged, match=f"chunk 0, row {row}: the value did not verify under key"
        ) as caught:
            unseal_column(bad, KEYSETS[policy], context=b"", threads=threads)
        assert (caught.value.chunk, caught.value.row) == (0, row)
        assert isinstance(caught.value, sealcomb.InvalidTag)
        chunked = pa.chunked_array([bad.slice(0, 10), bad.slice(10)])
        with pytest.raises(sealcomb.Forged) as caught:
            unseal_column(chunked, KEYSETS[policy], context=b"", threads=threads)
        assert (caught.value.chunk, caught.value.row) == (1, row - 10)


@each_policy
def test_forged_rows_become_null_and_are_counted(policy):
    keyset = KEYSETS[policy]
    sealed = seal_column(LONG, keyset, context=b"")
    rows = [row for row in (0, 1, 2, 511, 512, 513, 8191, 8192, 59_999) if LONG[row].is_valid]
    bad = sealed
    for row in rows:
        bad = flip(bad, row, byte=row % 16 - 16)
    expected = [None if row in rows else value for row, value in enumerate(LONG.to_pylist())]
    for threads in (1, 3):
        opened, count = unseal_column_counted(bad, keyset, context=b"", threads=threads)
        assert count == len(rows)
        assert opened.to_pylist() == expected
        opened.validate(full=True)
        assert unseal_column(bad, keyset, context=b"", forged="null", threads=threads) == opened
    # No plaintext of a forged value is under its null.
    offsets = np.frombuffer(opened.buffers()[1], np.int32)
    data = opened.buffers()[2].to_pybytes()
    assert all(not any(data[offsets[row] : offsets[row + 1]]) for row in rows)
    assert unseal_column_counted(sealed, keyset, context=b"") == (LONG, 0)


@each_policy
def test_each_bit_of_a_sealed_value_counts(policy):
    keyset = KEYSETS[policy]
    sealed = seal_column(pa.array([b"value"]), keyset, context=b"context")[0].as_py()
    changed = []
    for bit in range(len(sealed) * 8):
        value = bytearray(sealed)
        value[bit // 8] ^= 1 << bit % 8
        changed.append(bytes(value))
    opened, count = unseal_column_counted(pa.array(changed), keyset, context=b"context")
    assert count == len(changed)
    assert opened.null_count == len(changed)


@each_policy
def test_cut_values_do_not_open(policy):
    keyset = KEYSETS[policy]
    sealed = seal_column(pa.array([b"value"]), keyset, context=b"")[0].as_py()
    for length in range(len(sealed)):
        with pytest.raises((sealcomb.NotSealed, sealcomb.Forged)) as caught:
            unseal_column(pa.array([None, sealed[:length]]), keyset, context=b"")
        assert (caught.value.chunk, caught.value.row) == (0, 1)
        if length < OVERHEAD[policy]:
            assert isinstance(caught.value, sealcomb.NotSealed)
            assert f"{length} bytes are not a sealed value: it was truncated, or never sealed" in str(
                caught.value
            )
    assert unseal_column_counted(
        pa.array([sealed[:length] for length in range(len(sealed))]), keyset, context=b""
    )[1] == len(sealed)


def test_an_unsealed_column_is_reported():
    with pytest.raises(sealcomb.NotSealed, match="check the column with inspect_column"):
        unseal_column(pa.array([b"a plain value that is long enough to be sealed"]), RANDOM, context=b"")


def test_an_unknown_key_is_reported():
    sealed = seal_column(pa.array([b"value"]), RANDOM, context=b"")
    keyset = Keyset.from_keys({1: bytes(32), 2: bytes(32)}, 1)
    with pytest.raises(
        sealcomb.UnknownKey,
        match=r"the value was sealed under key 11, which is not in this keyset \(it has 1, 2\): add it",
    ) as caught:
        unseal_column(sealed, keyset, context=b"")
    assert caught.value.key_id == 11
    assert isinstance(caught.value, sealcomb.KeysetError)


def test_another_context_does_not_open():
    sealed = seal_column(pa.array([b"value"]), RANDOM, context=b"people.ssn")
    for context in (b"", b"people.note", b"people.ssn "):
        with pytest.raises(sealcomb.Forged, match="sealed with another context or row id"):
            unseal_column(sealed, RANDOM, context=context)


@pytest.mark.parametrize("function", [seal_column, unseal_column, reseal_column, inspect_column])
@pytest.mark.parametrize(
    "column", [[b"value"], np.zeros(4, np.uint8), None], ids=lambda value: type(value).__name__
)
def test_objects_that_are_not_arrow_are_refused(column, function):
    call = function if function is inspect_column else partial(function, keyset=RANDOM, context=b"")
    with pytest.raises(TypeError, match=f"{function.__name__} takes an Arrow array .* not <class"):
        call(column)


@pytest.mark.parametrize("function", [seal_column, unseal_column, reseal_column, inspect_column])
@pytest.mark.parametrize("library", ["pyarrow", "batch", "polars", "pandas", "arro3"])
def test_tables_are_refused(library, function):
    table = pa.table({"a": ["b"]})
    tables = {
        "pyarrow": table,
        "batch": table.to_batches()[0],
        "polars": pl.DataFrame(table),
        "pandas": table.to_pandas(),
        "arro3": arro3.core.Table.from_arrow(table),
    }
    call = function if function is inspect_column else partial(function, keyset=RANDOM, context=b"")
    with pytest.raises(
        TypeError, match=f"{function.__name__} takes a column, not <.*: give one column of the table"
    ):
        call(tables[library])


@pytest.mark.parametrize("function", [unseal_column, reseal_column])
@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([1, 2]), "a sealed column is binary, not Int64: seal it first"),
        (pa.array([1.5]), "a sealed column is binary, not Float64: seal it"),
        (pa.array(["a"]).dictionary_encode(), "a sealed column is binary, not Dictionary"),
        (pa.array([["a"]]), "a sealed column is binary; none of the column's values are"),
        (pa.chunked_array([], pa.int64()), "a sealed column is binary, not Int64: seal it"),
        *(
            (pa.array(["text"], type_), "a sealed column is binary, not .*Utf8.*: seal it first")
            for type_ in TEXT_TYPES
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_columns_that_are_not_binary_cannot_be_opened(column, text, function):
    with pytest.raises(TypeError, match=f"{function.__name__}: {text}"):
        function(column, RANDOM, context=b"")
    assert inspect_column(column) is None


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"forged": "ignore"}, ValueError, 'use "raise" or "null"'),
        ({"as_type": "letters"}, ValueError, 'unknown type "letters"; use a name of pyarrow, Spark or SQL'),
        ({"as_type": "list<int8>"}, ValueError, "that is not nested"),
        ({"threads": 0}, ValueError, "threads must be 1 or more"),
        ({"context": 7}, TypeError, "Cannot convert .* to a buffer"),
    ],
)
def test_invalid_options(options, error, text):
    with pytest.raises(error, match=text):
        unseal_column(pa.array([], pa.binary()), RANDOM, **{"context": b"", **options})


def test_views_can_expand_beyond_32_bit_offsets():
    """Views repeat the same bytes, so a small column becomes one of more than 2 GiB."""
    value = bytes(1 << 20)
    column = pa.array([value], pa.binary_view())
    views = np.tile(np.frombuffer(column.buffers()[1], np.uint8)[:16], 2060)
    column = pa.Array.from_buffers(pa.binary_view(), 2060, [None, pa.py_buffer(views), column.buffers()[2]])
    sealed = seal_column(column, KEYSETS["gcm"], context=b"")
    assert sealed.type == pa.large_binary()
    assert len(sealed[2059].as_py()) == (1 << 20) + 33
    opened = unseal_column(sealed, KEYSETS["gcm"], context=b"")
    assert opened.type == pa.large_binary()
    assert opened[2059].as_py() == value


MIXED = '{"primaryKeyId": %d, "key": [%s]}'


def mixed(primary):
    """Returns a keyset with keys of all policies."""
    keys = [keyset.secret_tink_json() for keyset in KEYSETS.values()]
    return Keyset.from_tink_json(
        MIXED % (primary, ",".join(text[text.index("[") + 1 : text.rindex("]")] for text in keys))
    )


@pytest.mark.parametrize("primary", [11, 12, 13, 14])
def test_a_mixed_keyset_opens_values_of_every_policy(primary):
    parts = [seal_column(LONG.slice(0, 700), keyset, context=b"") for keyset in KEYSETS.values()]
    values = [value for row in zip(*(part.to_pylist() for part in parts), strict=True) for value in row]
    column = pa.array(values, pa.binary())
    expected = [value for value in LONG.slice(0, 700).to_pylist() for _ in KEYSETS]
    keyset = mixed(primary)
    assert unseal_column(column, keyset, context=b"").to_pylist() == expected
    resealed = reseal_column(column, keyset, context=b"")
    valid = 700 - LONG.slice(0, 700).null_count
    assert sealcomb.inspect_column(column) == dict.fromkeys([11, 12, 13, 14], valid)
    assert sealcomb.inspect_column(resealed) == {primary: len(KEYSETS) * valid}
    assert unseal_column(resealed, keyset, context=b"").to_pylist() == expected
    cut = [value if value is None else value[: index % len(value)] for index, value in enumerate(values)]
    opened, count = unseal_column_counted(pa.array(cut, pa.binary()), keyset, context=b"")
    assert opened.null_count == len(cut)
    assert count == len(KEYSETS) * valid


@each_policy
def test_resealing_moves_a_column_to_the_primary_key(policy):
    old = KEYSETS[policy]
    new = old.rotated()
    sealed = seal_column(LONG, old, context=b"c")
    resealed = reseal_column(sealed, new, context=b"c")
    assert unseal_column(resealed, new, context=b"c") == LONG
    assert sealcomb.inspect_column(resealed) == {new.primary: len(LONG) - LONG.null_count}
    moved = reseal_column(sealed, new, context=b"c", new_context=b"d")
    assert unseal_column(moved, new, context=b"d") == LONG


def test_resealing_binds_values_to_rows():
    ids = pa.array(range(8))
    column = column_of(pa.binary())
    sealed = seal_column(column, RANDOM, context=b"c")
    tied = reseal_column(sealed, RANDOM, context=b"c", new_row_ids=ids)
    assert unseal_column(tied, RANDOM, context=b"c", row_ids=ids) == column
    again = reseal_column(tied, RANDOM, context=b"c", row_ids=ids, new_context=b"")
    assert unseal_column(again, RANDOM, context=b"", row_ids=ids) == column


@each_policy
def test_resealing_does_not_authenticate_forged_rows(policy):
    keyset = KEYSETS[policy]
    sealed = flip(seal_column(pa.array([b"one", b"two", None, b"four"]), keyset, context=b""), 1)
    with pytest.raises(sealcomb.Forged) as caught:
        reseal_column(sealed, keyset, context=b"")
    assert caught.value.row == 1
    resealed = reseal_column(sealed, keyset, context=b"", forged="null")
    assert unseal_column(resealed, keyset, context=b"").to_pylist() == [b"one", None, None, b"four"]
    resealed.validate(full=True)


def test_inspecting():
    sealed = seal_column(pa.array([b"a", None, b"b"]), RANDOM, context=b"")
    assert sealcomb.inspect_column(sealed) == {11: 2}
    assert sealcomb.inspect_column(pa.chunked_array([sealed, sealed])) == {11: 4}
    assert sealcomb.inspect_column(pl.Series([b"a"])) is None
    assert sealcomb.inspect_column(pa.array([b"plain"])) is None
    assert sealcomb.inspect_column(pa.array(["plain"])) is None
    assert sealcomb.inspect_column(pa.array([1])) is None
    assert sealcomb.inspect_column(pa.array([None], pa.binary())) == {}
    assert sealcomb.inspect_column(pa.concat_arrays([sealed, pa.array([b"plain"])])) is None
    with pytest.raises(TypeError, match="takes an Arrow array"):
        sealcomb.inspect_column([b"a"])


def test_gcm_keys_have_a_limit():
    """A long array of zero-width values takes no memory, and is refused before its result is allocated."""
    keyset = Keyset.generate("gcm")
    rows = 1 << 32
    column = pa.Array.from_buffers(pa.binary(0), rows, [None, pa.py_buffer(b"")])
    seal_column(pa.array([b"value"]), keyset, context=b"")
    # A key has one count across keysets.
    again = Keyset.from_tink_json(keyset.secret_tink_json())
    with pytest.raises(sealcomb.LimitReached, match=r"has sealed 1 values .* rotate the key"):
        seal_column(column, again, context=b"")
    sealed = seal_column(pa.array([None, b"value"]), keyset, context=b"")
    with pytest.raises(sealcomb.LimitReached, match="has sealed 2 values"):
        seal_column(column, keyset, context=b"")
    assert unseal_column(sealed, keyset, context=b"").to_pylist() == [None, b"value"]


@pytest.mark.parametrize(
    "error",
    [
        sealcomb.Forged("reason", 1, 2),
        sealcomb.NotSealed("reason", 1, 2),
        sealcomb.WrongType("reason", 1, 2),
        sealcomb.UnknownKey("reason", 1, 2, "street", 3),
        sealcomb.KeysetError("reason"),
        sealcomb.LimitReached("reason"),
        sealcomb.ForgedMessages([1, 2]),
    ],
    ids=repr,
)
def test_exceptions_can_be_pickled(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_failures_have_common_bases():
    kinds = {"Forged", "NotSealed", "UnknownKey", "WrongType"}
    for name in (*kinds, "ForgedMessages", "KeysetError", "LimitReached", "UnopenedRow"):
        assert issubclass(getattr(sealcomb, name), sealcomb.SealcombError)
    assert {kind.__name__ for kind in sealcomb.UnopenedRow.__subclasses__()} == kinds
    assert issubclass(sealcomb.Forged, sealcomb.InvalidTag)
    assert issubclass(sealcomb.UnknownKey, sealcomb.KeysetError)
    assert issubclass(sealcomb.KeysetError, ValueError)


def test_a_row_that_did_not_open_says_where_it_is_and_under_which_key():
    keyset, other = Keyset.generate(), Keyset.generate()
    column = pa.chunked_array([[{"street": "Elm"}], [{"street": "Oak"}]])
    sealed = seal_column(column, keyset, context="a")
    for call in (partial(unseal_column, sealed, keyset), partial(reseal_column, sealed, keyset)):
        with pytest.raises(sealcomb.UnopenedRow) as caught:
            call(context="b")
        error = caught.value
        assert type(error) is sealcomb.Forged
        assert (error.chunk, error.row, error.path, error.key_id) == (0, 0, "street", keyset.primary)
        assert str(error).startswith(f"chunk 0, row 0: street: {error.reason[:20]}")
    with pytest.raises(sealcomb.UnknownKey) as unknown:
        unseal_column(sealed, other, context="a")
    assert unknown.value.key_id == keyset.primary
    with pytest.raises(sealcomb.NotSealed) as caught_not_sealed:
        unseal_column(pa.array([b"x"]), keyset, context="a")
    assert (caught_not_sealed.value.path, caught_not_sealed.value.key_id) == ("", None)
