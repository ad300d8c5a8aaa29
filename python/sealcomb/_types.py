"""The types of columns: unwrapping them, and checking which file formats support them."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import compute as pc
from pyarrow import csv, parquet

# By their size in bits.
INTEGERS = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Returns the type of a column's values, without extension types, dictionaries and run ends."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def plain_values(array: pa.Array) -> pa.Array:
    """Returns the values of a column, without extension types, dictionaries and run ends."""
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif pa.types.is_dictionary(array.type):
            array = without_views(array.dictionary).take(array.indices)
        elif pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            return array


def without_views(array: pa.Array) -> pa.Array:
    """Returns the same text or bytes without views, which few functions of pyarrow take."""
    if array.type == pa.string_view():
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if array.type == pa.binary_view() else array


def comparable(array: pa.Array) -> pa.Array:
    """Returns the same values in a type in which pyarrow can look them up."""
    kind = array.type
    if (pa.types.is_float16(kind) or pa.types.is_decimal(kind)) and kind.bit_width in INTEGERS:
        return array.view(INTEGERS[kind.bit_width])
    return without_views(array)


def compared(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Returns the values of an array that ``comparable`` has converted from this type."""
    if array.type == kind:
        return array
    return array.cast(kind) if kind in (pa.string_view(), pa.binary_view()) else array.view(kind)


def is_bytes(kind: pa.DataType) -> bool:
    """Returns whether values are bytes or text, which are sealed as they are."""
    types, plain = pa.types, plain_type(kind)
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return is_text(kind) or any(check(plain) for check in binary)


def holds_bytes(kind: pa.DataType) -> bool:
    """Returns whether a leaf can hold sealed values: it is bytes, or null and thus has no values."""
    return (is_bytes(kind) and not is_text(kind)) or pa.types.is_null(plain_type(kind))


def is_text(kind: pa.DataType) -> bool:
    return plain_type(kind) in (pa.string(), pa.large_string(), pa.string_view())


def is_dictionary(kind: pa.DataType) -> bool:
    """Returns whether a type, or the storage of an extension type, is a dictionary."""
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return bool(pa.types.is_dictionary(kind))


class Wrapped:
    """Converts a column to a type, batch by batch. Each dictionary extends that of the previous batch.

    If ``replaces`` is true, a dictionary that would become too long has the values of its batch only.
    """

    def __init__(self, kind: pa.DataType, *, replaces: bool = False) -> None:
        self.kind = kind
        self.replaces = replaces
        self.values: pa.Array | None = None

    def wrap(self, array: pa.Array) -> pa.Array:
        return self._wrap(array, self.kind)

    def _wrap(self, array: pa.Array, kind: pa.DataType) -> pa.Array:
        if isinstance(kind, pa.BaseExtensionType):
            return pa.ExtensionArray.from_storage(kind, self._wrap(array, kind.storage_type))
        if pa.types.is_run_end_encoded(kind):
            return pc.run_end_encode(array.cast(kind.value_type), run_end_type=kind.run_end_type)
        if not pa.types.is_dictionary(kind):
            return array.cast(kind)
        array = comparable(array.cast(kind.value_type))
        found = pc.unique(array.drop_null())
        if self.values is not None:
            new = found.filter(pc.invert(pc.is_in(found, self.values)))
            extended = pa.concat_arrays([self.values, new])
            found = found if self.replaces and len(extended) > most_values(kind) else extended
        self.values = found
        indexes = pc.index_in(array, found).cast(kind.index_type)
        values = compared(found, kind.value_type)
        return pa.DictionaryArray.from_arrays(indexes, values, ordered=kind.ordered)


def is_wrapped(array: pa.Array, kind: pa.DataType) -> bool:
    """Returns whether a column can be converted to a type."""
    try:
        Wrapped(kind).wrap(array)
    except (pa.ArrowException, ValueError):
        return False
    return True


class Grown:
    """Gives dictionary arrays dictionaries that begin with the previous one, as Arrow files require."""

    def __init__(self) -> None:
        self.values: pa.Array | None = None

    def grow(self, array: pa.Array) -> pa.Array:
        """Returns an array with the same values.

        Raises:
            pyarrow.ArrowException, ValueError: Its indices cannot count the values, or they are ordered.
        """
        if isinstance(array, pa.ExtensionArray):
            return pa.ExtensionArray.from_storage(array.type, self.grow(array.storage))
        own = comparable(array.dictionary)
        if self.values is None or own.slice(0, len(self.values)).equals(self.values):
            self.values = own
            return array
        if array.type.ordered:
            raise ValueError("another order")
        self.values = pa.concat_arrays([self.values, own.filter(pc.invert(pc.is_in(own, self.values)))])
        indexes = pc.index_in(own, self.values).take(array.indices).cast(array.type.index_type)
        return pa.DictionaryArray.from_arrays(indexes, compared(self.values, array.type.value_type))


def most_values(kind: pa.DictionaryType) -> int:
    """Returns how many values the indices of a dictionary can count."""
    index = kind.index_type
    return int(1 << (index.bit_width - pa.types.is_signed_integer(index)))


class TypeRefusedError(TypeError):
    """A column's type would change."""

    def __init__(self, column: str, problem: str) -> None:
        super().__init__(problem)
        self.column = column


def check_csv(schema: pa.Schema) -> None:
    """Raises ``TypeRefusedError`` for a column whose values have no unambiguous text form."""
    for column in schema:
        try:
            empty = pa.table([pa.array([], column.type)], pa.schema([column]))
            csv.write_csv(empty, pa.BufferOutputStream())
        except (pa.ArrowException, NotImplementedError) as error:
            raise TypeRefusedError(column.name, f"CSV cannot represent it: {error}") from None
        if not has_one_text(column.type):
            raise TypeRefusedError(column.name, f"CSV cannot represent values of type {column.type}")


def check_parquet(schema: pa.Schema) -> None:
    """Raises ``TypeRefusedError`` for a column that would have another type when read back from Parquet."""
    for column in schema:
        try:
            back = parquet_image(column)
        except (pa.ArrowException, NotImplementedError, ValueError) as error:
            raise TypeRefusedError(column.name, f"Parquet cannot represent it: {error}") from None
        if back.type != column.type:
            raise TypeRefusedError(
                column.name, f"type {column.type} would become {back.type} in Parquet: cast it first"
            )


def has_one_text(kind: pa.DataType) -> bool:
    """Returns whether the values of a type have an unambiguous text form."""
    types = pa.types
    if types.is_dictionary(kind):
        return has_one_text(kind.value_type)
    return (
        is_text(kind)
        or types.is_null(kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_date(kind)
        or types.is_time(kind)
        or types.is_timestamp(kind)
    )


def lacks_text(array: pa.Array) -> bool:
    """Returns whether an array has a date or time so large or small that pyarrow writes a note instead."""
    types, kind = pa.types, array.type
    if not (types.is_date(kind) or types.is_time(kind) or types.is_timestamp(kind)):
        return False
    ends = pc.min_max(array)
    return any(str(ends[end].cast(pa.string())).startswith("<") for end in ("min", "max"))


def parquet_image(column: pa.Field) -> pa.Field:
    """Returns the field of a column after it is written to Parquet and read back."""
    sink = pa.BufferOutputStream()
    parquet.ParquetWriter(sink, pa.schema([column])).close()
    return parquet.read_schema(pa.BufferReader(sink.getvalue())).field(0)


def check_leaves(file: parquet.ParquetFile, leave_out: Collection[str]) -> None:
    """Raises ``TypeRefusedError`` for a Parquet column whose type Arrow would not write back unchanged."""
    for column in file.schema_arrow:
        if column.name in leave_out:
            continue
        before = [leaf for leaf in leaves(file.schema) if is_below(leaf, column.name)]
        sink = pa.BufferOutputStream()
        try:
            parquet.ParquetWriter(sink, pa.schema([column])).close()
        except (pa.ArrowException, NotImplementedError, ValueError) as error:
            raise TypeRefusedError(column.name, f"its type exists only in Parquet: {error}") from None
        after = leaves(parquet.ParquetFile(pa.BufferReader(sink.getvalue())).schema)
        if list(map(leaf_type, before)) != list(map(leaf_type, after)):
            kinds = ", ".join(f"{leaf.physical_type} ({leaf.logical_type})" for leaf in before)
            raise TypeRefusedError(
                column.name, f"type {kinds} exists only in Parquet: give OUT the suffix .parquet"
            )


def leaves(schema: parquet.ParquetSchema) -> list[parquet.ColumnSchema]:
    return [schema.column(at) for at in range(len(schema))]


def is_below(leaf: parquet.ColumnSchema, name: str) -> bool:
    path: str = leaf.path
    return path == name or path.startswith(name + ".")


def leaf_type(column: parquet.ColumnSchema) -> tuple[object, ...]:
    logical = column.logical_type.type
    if logical == "DECIMAL":
        return (logical, column.precision, column.scale)
    return (logical, str(column.logical_type), column.physical_type, column.length)


def filled(array: pa.Array) -> pa.Array:
    """Returns a plain array with zeros or empty values instead of nulls."""
    if not array.null_count:
        return array
    kind = array.type
    if (plain := without_views(array)).type != kind:
        return filled(plain).cast(kind)
    if is_bytes(kind):
        size = kind.byte_width if pa.types.is_fixed_size_binary(kind) else 0
        return array.fill_null(pa.array([bytes(size)], pa.binary()).cast(kind)[0])
    zero = [None, pa.py_buffer(bytes(32))]
    same = comparable(array)
    return compared(same.fill_null(pa.Array.from_buffers(same.type, 1, zero)[0]), kind)
