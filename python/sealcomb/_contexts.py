"""The default context, and that of earlier releases.

Without a context, values are bound to no column. Earlier releases of the command and of ``sealcomb.spark``
bound them to the column's name, so both try it when they open such columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa  # type: ignore[import-untyped]

from sealcomb import ForgedRow, Keyset, open_column


def fitting(contexts: Iterable[str], keyset: Keyset, array: pa.Array, ids: pa.Array | None) -> str | None:
    """Returns the first context with which the first value opens; ``None`` if none does, or all are null."""
    at = next((at for at in range(len(array)) if array[at].is_valid), None)
    if at is None:
        return None
    first, id_of_first = array.slice(at, 1), None if ids is None else ids.slice(at, 1)
    for context in contexts:
        try:
            open_column(first, keyset, context=context.encode(), row_ids=id_of_first, as_type="binary")
        except ForgedRow:
            continue
        return context
    return None
