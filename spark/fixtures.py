"""Writes the values that the tests of the jar compare with Spark's, sealed by the Python package.

    python spark/fixtures.py

The keyset is deterministic, and its key is public.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from sealcomb import Keyset, seal_column

RESOURCES = Path(__file__).parent / "src/test/resources"
CONTEXT = "people.value"
DECIMAL = "12345678901234567890.123456789"

# A literal in SQL, and the same value in Arrow.
VALUES = [
    ("true", pa.scalar(True)),
    ("false", pa.scalar(False)),
    ("CAST(-2 AS TINYINT)", pa.scalar(-2, pa.int8())),
    ("CAST(-300 AS SMALLINT)", pa.scalar(-300, pa.int16())),
    ("-70000", pa.scalar(-70000, pa.int32())),
    ("5000000000", pa.scalar(5000000000, pa.int64())),
    ("CAST('-0.0' AS FLOAT)", pa.scalar(-0.0, pa.float32())),
    ("CAST('1.5' AS FLOAT)", pa.scalar(1.5, pa.float32())),
    ("CAST('NaN' AS DOUBLE)", pa.scalar(float("nan"), pa.float64())),
    ("CAST('-2.25' AS DOUBLE)", pa.scalar(-2.25, pa.float64())),
    ("CAST('-12.34' AS DECIMAL(10, 2))", pa.scalar(Decimal("-12.34"), pa.decimal128(10, 2))),
    (f"CAST('{DECIMAL}' AS DECIMAL(38, 9))", pa.scalar(Decimal(DECIMAL), pa.decimal128(38, 9))),
    (f"CAST('-{DECIMAL}' AS DECIMAL(38, 9))", pa.scalar(Decimal("-" + DECIMAL), pa.decimal128(38, 9))),
    ("DATE '1969-07-20'", pa.scalar(date(1969, 7, 20), pa.date32())),
    (
        "TIMESTAMP '2026-01-02 03:04:05.000006Z'",
        pa.scalar(datetime(2026, 1, 2, 3, 4, 5, 6, UTC), pa.timestamp("us", "UTC")),
    ),
    (
        "TIMESTAMP_NTZ '2026-01-02 03:04:05.000006'",
        pa.scalar(datetime(2026, 1, 2, 3, 4, 5, 6), pa.timestamp("us")),
    ),
    ("TIME '23:04:05.000006'", pa.scalar(time(23, 4, 5, 6), pa.time64("ns"))),
    ("INTERVAL '3 04:05:06.000007' DAY TO SECOND", pa.scalar(273906000007, pa.duration("us"))),
    ("'naïve 🔑'", pa.scalar("naïve 🔑")),
    ("''", pa.scalar("")),
    ("X'00FF'", pa.scalar(b"\x00\xff")),
    (
        "named_struct('street', 'Gågata 1', 'zip', 162, 'since', DATE '2001-02-03', 'lit', true)",
        pa.scalar(
            {"street": "Gågata 1", "zip": 162, "since": date(2001, 2, 3), "lit": True},
            pa.struct({"street": pa.string(), "zip": pa.int32(), "since": pa.date32(), "lit": pa.bool_()}),
        ),
    ),
    ("array(5000000000, NULL, -1)", pa.scalar([5000000000, None, -1], pa.list_(pa.int64()))),
    ("CAST(array() AS ARRAY<STRING>)", pa.scalar([], pa.list_(pa.string()))),
    (
        "map('math', 1.5D, 'art', NULL)",
        pa.scalar([("math", 1.5), ("art", None)], pa.map_(pa.string(), pa.float64())),
    ),
    (
        "array(named_struct('name', 'chef', 'pay', array(1.50BD, NULL), 'on', map(1, array(true))), NULL)",
        pa.scalar(
            [{"name": "chef", "pay": [Decimal("1.50"), None], "on": [(1, [True])]}, None],
            pa.list_(
                pa.struct(
                    {
                        "name": pa.string(),
                        "pay": pa.list_(pa.decimal128(3, 2)),
                        "on": pa.map_(pa.int32(), pa.list_(pa.bool_())),
                    }
                )
            ),
        ),
    ),
    (
        "named_struct('a', CAST(NULL AS STRUCT<b: INT>), 'c', array(array('x'), NULL))",
        pa.scalar(
            {"a": None, "c": [["x"], None]},
            pa.struct({"a": pa.struct({"b": pa.int32()}), "c": pa.list_(pa.list_(pa.string()))}),
        ),
    ),
]


def type_in_sql(kind: pa.DataType) -> str:
    """Returns the type of sealed values in SQL."""
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'{field.name}: {type_in_sql(field.type)}' for field in kind)}>"
    if pa.types.is_map(kind):
        return f"MAP<{type_in_sql(kind.key_type)}, {type_in_sql(kind.item_type)}>"
    return f"ARRAY<{type_in_sql(kind.value_type)}>" if pa.types.is_list(kind) else "BINARY"


def value_in_sql(value: Any, kind: pa.DataType) -> str:
    """Returns a sealed value as a literal in SQL."""
    if value is None or value == []:
        return f"CAST({'NULL' if value is None else 'array()'} AS {type_in_sql(kind)})"
    if pa.types.is_struct(kind):
        fields = [f"'{field.name}', {value_in_sql(value[field.name], field.type)}" for field in kind]
        return f"named_struct({', '.join(fields)})"
    if pa.types.is_map(kind):
        types = kind.key_type, kind.item_type
        pairs = [value_in_sql(part, of) for pair in value for part, of in zip(pair, types, strict=True)]
        return f"map({', '.join(pairs)})"
    if pa.types.is_list(kind):
        return f"array({', '.join(value_in_sql(part, kind.value_type) for part in value)})"
    return f"X'{value.hex().upper()}'"


def main() -> None:
    keyset = Keyset.from_keys({0x01020304: bytes(range(64))}, primary=0x01020304, policy="deterministic")
    (RESOURCES / "python-keyset.json").write_text(keyset.secret_tink_json() + "\n")
    lines = []
    for row_id, sql_id in ((None, "NULL"), (pa.scalar(-7), "-7"), (pa.scalar("row"), "'row'")):
        for sql, scalar in VALUES:
            ids = None if row_id is None else pa.array([row_id.as_py()], row_id.type)
            values = pa.array([scalar.as_py()], scalar.type)
            sealed = pa.array(seal_column(values, keyset, context=CONTEXT.encode(), row_ids=ids))
            lines.append({"sql": sql, "id": sql_id, "sealed": value_in_sql(sealed[0].as_py(), sealed.type)})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (RESOURCES / "python-values.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
