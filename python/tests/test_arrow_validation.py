"""Arrays that are not valid Arrow are refused before a byte is read, whatever library they come from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sealcomb import Keyset, _interface, inspect_column, reseal_column, seal_column, unseal_column

KEYSET = Keyset.generate("random")
VALUES = [b"first value of some length", None, b"", b"third value, longer than a view holds", b"x"]

Corrupt = Callable[[np.ndarray[Any, Any]], None]


def with_index(kind: pa.DataType, corrupt: Corrupt, values: list[bytes | None] = VALUES) -> pa.Array:
    """Returns an array whose offsets or views are changed after pyarrow created it."""
    good = pa.array(values, pa.large_binary()).cast(kind)
    buffers = good.buffers()
    unit = {pa.binary_view(): np.int32, pa.string_view(): np.int32}.get(kind)
    unit = unit or (np.int64 if "large" in str(kind) else np.int32)
    index = np.frombuffer(buffers[1], unit).copy()
    buffers[1] = pa.py_buffer(index)
    array = pa.Array.from_buffers(kind, len(good), buffers)
    corrupt(index)
    return array


def set_to(at: int, value: int) -> Corrupt:
    def corrupt(index: np.ndarray[Any, Any]) -> None:
        index[at] = value

    return corrupt


OFFSETS = {
    "beyond the values": set_to(5, 200_000),
    "far beyond the values": set_to(5, 0x7FFFFF00),
    "falling": set_to(3, 90),
    "falling at a null": set_to(2, 0),
    "negative at the start": set_to(0, -100_000),
    "negative at the end": set_to(5, -1),
    "all beyond": lambda index: index.__iadd__(1 << 20),
}
# A view has four integers: length, prefix, buffer, offset. Row 3 is in a buffer, the last row is inline.
VIEWS = {
    "offset beyond": set_to(15, 1 << 16),
    "offset far beyond": set_to(15, 0x7FFFFF00),
    "negative offset": set_to(15, -65536),
    "another buffer": set_to(14, 7),
    "negative buffer": set_to(14, -1),
    "longer than its buffer": set_to(12, 1 << 20),
    "negative length": set_to(12, -5),
    "short one made long": set_to(16, 1000),
    "wrong prefix": set_to(13, 0),
}
CASES = [
    *(
        (kind, name, corrupt)
        for kind in (pa.binary(), pa.large_binary(), pa.string(), pa.large_string())
        for name, corrupt in OFFSETS.items()
    ),
    *(
        (kind, name, corrupt)
        for kind in (pa.binary_view(), pa.string_view())
        for name, corrupt in VIEWS.items()
    ),
]
each_case = pytest.mark.parametrize(
    ("kind", "corrupt"), [(k, c) for k, _, c in CASES], ids=[f"{k}-{n}" for k, n, _ in CASES]
)


class Bare:
    """An array of a library that only implements the C data interface."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.array.__arrow_c_array__(requested_schema)


def users(array: Any, rows: int) -> Iterator[Callable[[], object]]:
    """Yields every call that takes an array."""
    good = pa.array([b"value"] * rows)
    sealed = seal_column(good, KEYSET, context=b"")
    yield lambda: seal_column(array, KEYSET, context=b"")
    yield lambda: seal_column(good, KEYSET, context=b"", row_ids=array)
    yield lambda: unseal_column(array, KEYSET, context=b"", forged="null")
    yield lambda: unseal_column(sealed, KEYSET, context=b"", row_ids=array, forged="null")
    yield lambda: reseal_column(array, KEYSET, context=b"", forged="null")
    yield lambda: reseal_column(sealed, KEYSET, context=b"", new_row_ids=array)
    yield lambda: inspect_column(array)


def refused(array: Any, rows: int) -> None:
    for use in users(array, rows):
        with pytest.raises(ValueError, match=r"not valid Arrow"):
            use()


@each_case
def test_bad_offsets_and_views_are_refused(kind: pa.DataType, corrupt: Corrupt) -> None:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        with pytest.raises(ValueError, match="not valid Arrow"):
            seal_column(with_index(kind, corrupt), KEYSET, context=b"")
        return
    array = with_index(kind, corrupt)
    refused(array, len(array))
    refused(pa.chunked_array([array.slice(0, 0), array]), len(array))


@each_case
def test_bad_arrays_from_pandas_are_refused(kind: pa.DataType, corrupt: Corrupt) -> None:
    array = pa.chunked_array([with_index(kind, corrupt)])
    series = pd.Series(pd.arrays.ArrowExtensionArray(array))
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(series, KEYSET, context=b"")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize(
    "name", ["falling", "falling at a null", "negative at the start", "negative at the end"]
)
def test_offsets_of_other_libraries_are_checked_as_far_as_possible(kind: pa.DataType, name: str) -> None:
    """Only pyarrow reports the size of the values."""
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(Bare(with_index(kind, OFFSETS[name])), KEYSET, context=b"")


@pytest.mark.parametrize("kind", [pa.binary_view(), pa.string_view()], ids=str)
@pytest.mark.parametrize("corrupt", VIEWS.values(), ids=VIEWS)
def test_views_of_other_libraries_are_checked(kind: pa.DataType, corrupt: Corrupt) -> None:
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(Bare(with_index(kind, corrupt)), KEYSET, context=b"")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string()], ids=str)
def test_only_the_rows_of_a_slice_must_be_valid(kind: pa.DataType) -> None:
    values = [b"%d" % row for row in range(20)]
    array = with_index(kind, lambda index: index.__setitem__(slice(15, 21), 1 << 30), values)
    assert (
        unseal_column(seal_column(array.slice(3, 11), KEYSET, context=b""), KEYSET, context=b"").to_pylist()
        == values[3:14]
    )
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(array.slice(3, 13), KEYSET, context=b"")
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(array.slice(14, 1), KEYSET, context=b"")


def test_views_of_nulls_are_ignored() -> None:
    kind = pa.binary_view()
    array = with_index(kind, lambda index: index.__setitem__(slice(4, 8), -1))
    for given in (array, Bare(array)):
        sealed = seal_column(given, KEYSET, context=b"")
        assert unseal_column(sealed, KEYSET, context=b"").to_pylist() == VALUES


@pytest.mark.parametrize(
    ("kind", "bytes_kind"),
    [
        (pa.string(), pa.binary()),
        (pa.large_string(), pa.large_binary()),
        (pa.string_view(), pa.binary_view()),
    ],
    ids=str,
)
def test_text_that_is_not_utf8_is_refused(kind: pa.DataType, bytes_kind: pa.DataType) -> None:
    data = pa.array([b"good", b"\xff\xfe", None, b"a longer \xff value of more bytes"], bytes_kind)
    text = pa.Array.from_buffers(kind, len(data), data.buffers())
    for array in (text, Bare(text)):
        with pytest.raises(ValueError, match="not valid Arrow"):
            seal_column(array, KEYSET, context=b"")


def test_a_wrong_null_count_is_refused() -> None:
    good = pa.array(VALUES)
    array = pa.Array.from_buffers(pa.binary(), len(good), good.buffers(), null_count=3)
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(array, KEYSET, context=b"")


def with_struct(array: pa.Array, field: str, value: int) -> Any:
    """Returns the capsules of an array with one changed struct."""
    capsules = array.__arrow_c_array__()
    address = _interface._pointer(capsules[1], b"arrow_array")
    struct = _interface._Array.from_address(address)
    if field.startswith("buffer"):
        struct.buffers[int(field[6:])] = value or None
    else:
        setattr(struct, field, value)
    return _interface.Checked(capsules)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_string(), pa.binary_view(), pa.binary(3)], ids=str)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("length", value) for value in (-1, -(1 << 63), (1 << 63) - 1, 1 << 62)),
        *(("offset", value) for value in (-1, -(1 << 63), (1 << 63) - 1)),
        *(("null_count", value) for value in (-2, 1 << 40)),
        *(("n_buffers", value) for value in (-1, 0, 1, 1 << 62)),
        ("n_children", -1),
        ("buffer1", 0),
    ],
)
def test_invalid_structs_are_refused(kind: pa.DataType, field: str, value: int) -> None:
    longest = b"xyz" if pa.types.is_fixed_size_binary(kind) else b"x" * 40
    array = pa.array([b"abc", b"def", longest], pa.large_binary()).cast(kind)
    with pytest.raises(ValueError, match="not valid Arrow"):
        seal_column(with_struct(array, field, value), KEYSET, context=b"")


def test_offsets_that_change_during_the_call_are_harmless() -> None:
    """Offsets are validated on a copy: another thread changes them all the time."""
    rows = 2000
    values = np.zeros(rows * 8, np.uint8)
    offsets = np.arange(0, (rows + 1) * 8, 8, dtype=np.int32)
    array = pa.Array.from_buffers(pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(values)])
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            for at, bad in ((rows // 2, 1 << 30), (rows, 1 << 30), (7, -5), (rows, -1)):
                good = offsets[at]
                offsets[at] = bad
                offsets[at] = good

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            try:
                sealed = seal_column(array, KEYSET, context=b"", threads=2)
            except ValueError as error:
                assert "not valid Arrow" in str(error)
            else:
                assert sealed.nbytes <= rows * (8 + 33 + 8)
    finally:
        ended.set()
        writer.join()


def test_polars_and_invalid_dictionaries_and_structs() -> None:
    column = pl.Series("x", ["a", None, "c" * 40])
    assert (
        unseal_column(seal_column(column, KEYSET, context=b""), KEYSET, context=b"", as_type="utf8").to_list()
        == column.to_list()
    )
    keys = np.array([0, 1, 5], np.int8)
    bad = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int8()), pa.array(["a", "b"]))
    buffers = [None, pa.py_buffer(keys)]
    bad = pa.DictionaryArray.from_buffers(bad.type, 3, buffers, bad.dictionary)
    structs = pa.StructArray.from_arrays([with_index(pa.binary(), OFFSETS["falling"])], ["x"])
    for array in (bad, structs):
        for given in (array, Bare(array)):
            with pytest.raises(ValueError, match=r"not valid Arrow: .*(out of bounds|greater than the next)"):
                seal_column(given, KEYSET, context=b"")
