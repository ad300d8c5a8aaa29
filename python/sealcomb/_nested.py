"""The leaves of nested columns: their paths, and how the values of one are replaced.

A leaf is a column of single values. Its path has the names of fields in structs, ``element`` in lists, and
``key`` and ``value`` in maps: ``addr.street``, ``tags.element``, ``scores.value``.

    replaced(array, path):
        path is empty: return change(array)
        struct:        replace in the field that path names, whose values are null where the struct is
        list or map:   replace in the elements; the id of an element is the row's id and its index in the list
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, groupby

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import compute as pc

from sealcomb._sealcomb import element_ids

ELEMENT, KEY, VALUE = "element", "key", "value"

Path = tuple[str, ...]
# Takes the values of a leaf, the ids of their rows, a function from the index of a value to its row in the
# column, and whether the result must not have nulls. Returns the new values.
Change = Callable[[pa.Array, pa.Array | None, Callable[[int], int], bool], pa.Array]


def is_list(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )


def children(kind: pa.DataType) -> list[tuple[str, pa.Field]]:
    """Returns the names and fields of the next level of a type; none if the type is a leaf."""
    if pa.types.is_struct(kind):
        return [(field.name, field) for field in kind]
    if pa.types.is_map(kind):
        return [(KEY, kind.key_field), (VALUE, kind.item_field)]
    return [(ELEMENT, kind.value_field)] if is_list(kind) else []


def leaves(field: pa.Field) -> Iterator[tuple[Path, pa.Field]]:
    """Yields the leaves of a column with their paths below it, which are empty if it is not nested."""
    below = children(field.type)
    if not below:
        yield (), field
    for name, child in below:
        for path, leaf in leaves(child):
            yield (name, *path), leaf


def storage_leaves(kind: pa.DataType) -> int:
    """Returns how many columns a type has in a Parquet file. An extension type has those of its storage."""
    if isinstance(kind, pa.BaseExtensionType):
        return storage_leaves(kind.storage_type)
    below = children(kind)
    return sum(storage_leaves(child.type) for _, child in below) if below else 1


def leaf_at(field: pa.Field, path: Path) -> pa.Field:
    """Returns the leaf with a path below a column."""
    for name in path:
        field = dict(children(field.type))[name]
    return field


def is_key(field: pa.Field, path: Path) -> bool:
    """Returns whether the leaf with a path below a column is the keys of maps, which cannot be null."""
    return path[-1:] == (KEY,) and bool(pa.types.is_map(leaf_at(field, path[:-1]).type))


def with_leaf(field: pa.Field, path: Path, leaf: pa.Field, *, alone: bool = False) -> pa.Field:
    """Returns a column's field with another leaf and, if ``alone``, without all other leaves.

    A list view becomes a list, and a map without one of its leaves a list of structs.
    """
    if not path:
        return leaf
    changed = with_leaf(dict(children(field.type))[path[0]], path[1:], leaf, alone=alone)
    kind = field.type
    if pa.types.is_struct(kind):
        same = kind.get_field_index(path[0])
        fields = [changed if at == same else child for at, child in enumerate(kind)]
        return field.with_type(pa.struct([changed] if alone else fields))
    if pa.types.is_map(kind):
        if alone:
            # A Parquet file yields this type if only the keys or the values are read.
            entries = pa.struct([changed.with_name(path[0])])
            return field.with_type(pa.list_(pa.field(field.name, entries, nullable=False)))
        pair = [changed if path[0] == name else child for name, child in children(kind)]
        return field.with_type(pa.map_(*pair, keys_sorted=kind.keys_sorted))
    if pa.types.is_fixed_size_list(kind):
        return field.with_type(pa.list_(changed, kind.list_size))
    return field.with_type(as_list(kind, changed))


def as_list(kind: pa.DataType, value: pa.Field) -> pa.DataType:
    """Returns the list type of a list or list view, with another field of elements."""
    large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    return pa.large_list(value) if large else pa.list_(value)


def replaced(  # noqa: PLR0913, PLR0917
    column: pa.Array,
    path: Path,
    ids: pa.Array | None,
    change: Change,
    row: Callable[[int], int] = lambda index: index,
    required: bool = False,
) -> pa.Array:
    """Returns a column with the values of the leaf with this path changed."""
    if not path:
        return change(column, ids, row, required)
    if pa.types.is_struct(column.type):
        return _replaced_in_struct(column, path, ids, change, row)
    return _replaced_in_list(column, path, ids, change, row)


def _replaced_in_struct(
    column: pa.Array, path: Path, ids: pa.Array | None, change: Change, row: Callable[[int], int]
) -> pa.Array:
    at = column.type.get_field_index(path[0])
    fields, arrays = list(column.type), [column.field(child) for child in range(column.type.num_fields)]
    values = pc.struct_field(column, [at])
    # Some files have nulls in fields that are not nullable. They stay null.
    required = not fields[at].nullable and values.null_count == column.null_count
    arrays[at] = replaced(values, path[1:], ids, change, row, required)
    fields[at] = fields[at].with_type(arrays[at].type)
    return pa.StructArray.from_arrays(arrays, fields=fields, mask=column.is_null())


def _replaced_in_list(
    column: pa.Array, path: Path, ids: pa.Array | None, change: Change, row: Callable[[int], int]
) -> pa.Array:
    kind = column.type
    elements = elements_of(column)
    lengths = pc.list_value_length(elements).fill_null(0).to_pylist()
    values, offsets = elements.flatten(), pa.array(accumulate(lengths, initial=0), pa.int64())
    if ids is not None:
        ids = element_ids(ids, lengths)

    ends = offsets.to_pylist()[1:]

    def place(index: int) -> int:
        return row(bisect_right(ends, index))

    # A Parquet file yields a list of structs for a map if only keys or values are read.
    inner = path[1:] if path[0] == ELEMENT else path
    values = replaced(values, inner, ids, change, place)
    missing = column.is_null()
    if pa.types.is_map(kind):
        pair = [field.with_type(values.field(at).type) for at, (_, field) in enumerate(children(kind))]
        changed = pa.map_(*pair, keys_sorted=kind.keys_sorted)
        parts = offsets.cast(pa.int32()), values.field(0), values.field(1)
        return pa.MapArray.from_arrays(*parts, type=changed, mask=missing)
    field = kind.value_field.with_type(values.type)
    if pa.types.is_fixed_size_list(kind) and not kind.list_size:
        # pyarrow divides by the size.
        valid = pa.array(column.is_valid().to_pylist(), pa.bool_()).buffers()[1]
        return pa.Array.from_buffers(pa.list_(field, 0), len(column), [valid], children=[values])
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(
            _with_gaps(values, missing, kind.list_size), type=pa.list_(field, kind.list_size), mask=missing
        )
    large = pa.types.is_large_list(as_list(kind, field))
    build, width = (pa.LargeListArray, pa.int64()) if large else (pa.ListArray, pa.int32())
    return build.from_arrays(offsets.cast(width), values, type=as_list(kind, field), mask=missing)


def elements_of(column: pa.Array) -> pa.Array:
    """Returns a column of lists for one of maps, and any other column as it is."""
    kind = column.type
    if pa.types.is_map(kind):
        pair = pa.struct([field.with_name(name) for name, field in children(kind)])
        return column.cast(pa.list_(pa.field("entries", pair, nullable=False)))
    return column


def _with_gaps(values: pa.Array, missing: pa.Array, size: int) -> pa.Array:
    """Returns the values of lists of a fixed size with nulls for the missing lists."""
    if not missing.true_count:
        return values
    parts, at = [], 0
    for gone, rows in groupby(missing.to_pylist()):
        length = size * sum(1 for _ in rows)
        parts.append(pa.nulls(length, values.type) if gone else values.slice(at, length))
        at += 0 if gone else length
    return pa.concat_arrays(parts)
