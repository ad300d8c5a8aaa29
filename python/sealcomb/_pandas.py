"""Results for columns of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


def series_like(series: pd.Series, array: Any) -> pd.Series:
    """Returns a Series of an Arrow array, with the index and the name of another Series."""
    import pandas as pd  # noqa: PLC0415

    values = pd.arrays.ArrowExtensionArray(array)
    return pd.Series(values, index=series.index, name=series.name)
