"""The default context, and that of earlier releases.

Without a context, values are bound to no column. Earlier releases of the command and of ``sealcomb.spark``
bound them to the column's name, so both try it when they open such columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa  # type: ignore[import-untyped]

from sealcomb import Keyset, unseal_column_counted


def fitting(
    contexts: Iterable[str],
    keyset: Keyset,
    array: pa.Array,
    ids: pa.Array | None,
    threads: int | None = None,
) -> str | None:
    """Returns the context with which most values open, or the first of several; ``None`` if none opens."""
    found, fewest = None, len(array) - array.null_count
    for context in contexts:
        if not fewest:
            break
        _, unopened = unseal_column_counted(
            array, keyset, context=context.encode(), row_ids=ids, as_type="binary", threads=threads
        )
        if unopened < fewest:
            found, fewest = context, unopened
    return found
