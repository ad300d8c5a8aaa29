"""Writes the values that the tests of the jar compare with Spark's, sealed by the Python package.

    python spark/fixtures.py

The keyset is deterministic, and its key is public.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

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
    ("INTERVAL '3 04:05:06.000007' DAY TO SECOND", pa.scalar(273906000007, pa.duration("us"))),
    ("'naïve 🔑'", pa.scalar("naïve 🔑")),
    ("''", pa.scalar("")),
    ("X'00FF'", pa.scalar(b"\x00\xff")),
]


def main() -> None:
    keyset = Keyset.from_keys({0x01020304: bytes(range(64))}, primary=0x01020304, policy="deterministic")
    (RESOURCES / "python-keyset.json").write_text(keyset.secret_tink_json() + "\n")
    lines = []
    for row_id, sql_id in ((None, "NULL"), (pa.scalar(-7), "-7"), (pa.scalar("row"), "'row'")):
        for sql, scalar in VALUES:
            ids = None if row_id is None else pa.array([row_id.as_py()], row_id.type)
            values = pa.array([scalar.as_py()], scalar.type)
            sealed = seal_column(values, keyset, context=CONTEXT.encode(), row_ids=ids)
            lines.append({"sql": sql, "id": sql_id, "sealed": pa.array(sealed)[0].as_py().hex().upper()})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (RESOURCES / "python-values.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
