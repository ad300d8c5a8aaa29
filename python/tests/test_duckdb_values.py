"""No value, type or size shuts down a database: whatever is sealed, it opens as a value of a type, or fails.

DuckDB relies on the ranges of its types. A value outside of them fails only later, as an internal error,
after which no connection can use the database.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import duckdb
import duckdb_sessions
import pyarrow as pa
import pytest
from duckdb_sessions import column, connect, message

folder, db = duckdb_sessions.folder, duckdb_sessions.db

DAY = 24 * 60 * 60
# The first midnight, and the last moment, that DuckDB can express in microseconds.
FIRST, LAST = -106_751_991 * DAY * 10**6, 2**63 - 2
LARGEST = 2**63 - 1


def numbers(layout: str, *values: int) -> list[bytes]:
    return [struct.pack(layout, value) for value in values]


def wide(*values: int) -> list[bytes]:
    return [value.to_bytes(16, "little", signed=value < 0) for value in values]


def times(*pairs: tuple[int, int]) -> list[bytes]:
    return [struct.pack("<qi", *pair) for pair in pairs]


def intervals(*parts: tuple[int, int, int]) -> list[bytes]:
    return [struct.pack("<iiq", *part) for part in parts]


def timestamps(per_second: int) -> tuple[list[bytes], list[bytes]]:
    """Returns the bytes of timestamps, and of numbers that are none. The largest numbers are infinities."""
    first, last = FIRST * per_second // 10**6, LAST * per_second // 10**6
    inside = numbers("<q", first, -1, 0, 1, last, -LARGEST, LARGEST)
    return inside, numbers("<q", first - 1, *([last + 1] if per_second < 10**6 else []), -(2**63))


# For each type, bytes that are values of it, and bytes of the same size that are none.
BYTES: dict[str, tuple[list[bytes], list[bytes]]] = {
    "BOOLEAN": (numbers("<B", 0, 1), numbers("<B", 2, 255)),
    "TINYINT": (numbers("<b", -128, 127), []),
    "SMALLINT": (numbers("<h", -(2**15), 2**15 - 1), []),
    "INTEGER": (numbers("<i", -(2**31), 2**31 - 1), []),
    "BIGINT": (numbers("<q", -(2**63), LARGEST), []),
    "UTINYINT": (numbers("<B", 0, 255), []),
    "USMALLINT": (numbers("<H", 0, 2**16 - 1), []),
    "UINTEGER": (numbers("<I", 0, 2**32 - 1), []),
    "UBIGINT": (numbers("<Q", 0, 2**64 - 1), []),
    # Infinities, and NaN with both signs and other payloads.
    "FLOAT": (numbers("<I", 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7F800001, 1, 0x80000000), []),
    "DOUBLE": (numbers("<Q", 0x7FF << 52, 0xFFF << 52, 2**64 - 1, (0x7FF << 52) + 1, 1, 1 << 63), []),
    "HUGEINT": (wide(-(2**127), 2**127 - 1), []),
    "UHUGEINT": (wide(0, 2**128 - 1), []),
    "UUID": ([bytes(16), b"\xff" * 16], []),
    "DATE": (numbers("<i", -(2**31) + 1, -(2**31) + 2, 0, 2**31 - 2, 2**31 - 1), numbers("<i", -(2**31))),
    "TIME": (numbers("<q", 0, DAY * 10**6), numbers("<q", -1, DAY * 10**6 + 1, -(2**63), LARGEST)),
    "TIME_NS": (numbers("<q", 0, DAY * 10**9), numbers("<q", -1, DAY * 10**9 + 1, -(2**63), LARGEST)),
    "TIMETZ": (
        times((0, 57599), (DAY * 10**6, -57599)),
        times((-1, 0), (DAY * 10**6 + 1, 0), (0, 57600), (0, -57600), (LARGEST, 0), (0, -(2**31))),
    ),
    "TIMESTAMP_S": timestamps(1),
    "TIMESTAMP_MS": timestamps(10**3),
    "TIMESTAMP": timestamps(10**6),
    "TIMESTAMPTZ": timestamps(10**6),
    # All numbers of nanoseconds are timestamps.
    "TIMESTAMP_NS": (numbers("<q", -(2**63), -LARGEST, -LARGEST + 1, 0, LAST, LARGEST), []),
    "TIMESTAMPTZ_NS": (numbers("<q", -(2**63), -LARGEST, -LARGEST + 1, 0, LAST, LARGEST), []),
    "INTERVAL": (
        intervals((-(2**31), -(2**31), -9223372036854775000), (2**31 - 1, 2**31 - 1, 9223372036854775000)),
        intervals((0, 0, 1), (0, 0, -999), (0, 0, LARGEST), (0, 0, -(2**63))),
    ),
    "VARCHAR": (
        [b"", b"a\0b", "naïve ☃ \U0010ffff".encode(), b"\0" * 20],
        [b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"twelve bytes \xe2\x98", b"\x80"],
    ),
    "BLOB": ([b"", b"\0", b"\xff" * 20], []),
    # A byte with the number of padding bits, then those, which are ones, and the bits.
    "BIT": (
        [b"\0\0", b"\7\xff", b"\7\xfe", b"\0" + b"\xff" * 20, b"\3\xe0" + b"\0" * 20],
        [b"", b"\0", b"\7", b"\x08\xff", b"\1\x7f", b"\7\xfd", b"\xff\xff"],
    ),
}


def decimals(digits: int) -> tuple[list[bytes], list[bytes]]:
    most = 10**digits - 1
    return wide(most, -most, 0), wide(most + 1, -most - 1, 2**127 - 1, -(2**127))


BYTES |= {
    f"DECIMAL({digits}, {scale})": decimals(digits) for digits, scale in ((4, 1), (9, 2), (18, 3), (38, 10))
}
TYPES = list(BYTES)
ALL = sorted(set(chain.from_iterable(chain.from_iterable(BYTES.values()))))

# The type around another one, an expression of a sealed value of it, and the context of the value in it.
AROUND = {
    "value": ("{type}", "{sealed}", "c"),
    "list": ("{type}[]", "[{sealed}]", "c.element"),
    "array": ("{type}[1]", "array_value({sealed})", "c.element"),
    "struct": ("STRUCT(a {type}, b {type}[])", "{{'a': {sealed}, 'b': NULL::BLOB[]}}", "c.a"),
    "map": ("MAP(INTEGER, {type})", "MAP {{seal(7, 'random', 'c.key'): {sealed}}}", "c.value"),
    "key": ("MAP({type}, INTEGER)", "MAP {{{sealed}: seal(7, 'random', 'c.value')}}", "c.key"),
    "union": ("UNION(u {type}, w INTEGER)", "union_value(u := {sealed})::UNION(u BLOB, w BLOB)", "c.u"),
}
# What a query may do with an opened value.
USES = [
    "SELECT v::VARCHAR FROM opened",
    "SELECT v = v, v < v, v IS DISTINCT FROM v, hash(v) FROM opened",
    "SELECT v::VARCHAR FROM opened ORDER BY v",
    "SELECT v::VARCHAR, count(*) FROM opened GROUP BY v",
    "SELECT min(v)::VARCHAR, max(v)::VARCHAR, any_value(v)::VARCHAR FROM opened",
    "SELECT a.v::VARCHAR FROM opened AS a JOIN opened AS b ON a.v = b.v",
]


def literal(value: bytes) -> str:
    return f"from_hex('{value.hex()}')"


def unsealed(sql: str, value: bytes, around: str, function: str = "unseal") -> str:
    """Returns a call that opens bytes as a type, or in a type around it."""
    outer, expression, context = AROUND[around]
    sealed = expression.format(sealed=f"seal({literal(value)}, 'random', '{context}')")
    return f"{function}({sealed}, 'random', 'c', as_type := '{outer.format(type=sql)}')"


@pytest.fixture
def other(db: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Another connection to the database, for which it must stay up, too."""
    yield db.cursor()
    assert db.execute("SELECT 42").fetchall() == [(42,)]


def is_up(*connections: duckdb.DuckDBPyConnection) -> bool:
    return all(each.execute("SELECT 42").fetchall() == [(42,)] for each in connections)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("sql", TYPES)
def test_every_value_of_a_type_can_be_opened_and_used(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, sql: str, around: str
) -> None:
    for value in BYTES[sql][0]:
        db.execute(f"CREATE OR REPLACE TABLE opened AS SELECT {unsealed(sql, value, around)} AS v")
        for use in USES:
            assert db.execute(use).fetchone() is not None, (value, use)
    assert is_up(db, other)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("sql", [sql for sql in TYPES if BYTES[sql][1]])
def test_bytes_that_are_no_value_of_a_type_are_an_error(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, sql: str, around: str
) -> None:
    for value in BYTES[sql][1]:
        call = unsealed(sql, value, around)
        for query in (
            f"SELECT ({call})::VARCHAR",
            f"CREATE OR REPLACE TABLE kept AS SELECT {call} AS v FROM range(3)",
            f"SELECT count(*) FROM range(3) WHERE ({call}) IS NOT NULL",
        ):
            text = message(db, query)
            assert "unseal: " in text, query
            assert "as_type" in text, query
    assert is_up(db, other)


# What is true of a value in which what it surrounds did not open.
NULL_WITHIN = {
    "value": "v IS NULL",
    "list": "len(v) = 1 AND v[1] IS NULL",
    "array": "v IS NOT NULL AND v[1] IS NULL",
    "struct": "v IS NOT NULL AND v.a IS NULL",
    "map": "cardinality(v) = 1 AND v[7] IS NULL",
    "key": "v IS NULL",
    "union": "union_tag(v) = 'u' AND v.u IS NULL",
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("sql", TYPES)
def test_try_unseal_fails_for_no_value(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, sql: str, around: str
) -> None:
    for value in BYTES[sql][1]:
        call = unsealed(sql, value, around, "try_unseal")
        assert column(db, f"SELECT {NULL_WITHIN[around]} FROM (SELECT {call} AS v)") == [True], value
        db.execute(f"CREATE OR REPLACE TABLE opened AS SELECT {call} AS v FROM range(3)")
        # NULL joins with nothing, so some of these return no rows.
        for use in USES:
            db.execute(use).fetchall()
    for value in ALL:
        call = unsealed(sql, value, around, "try_unseal")
        db.execute(f"CREATE OR REPLACE TABLE opened AS SELECT {call} AS v")
        assert db.execute("SELECT v::VARCHAR, v < v, hash(v) FROM opened").fetchone() is not None, value
    assert is_up(db, other)


def test_decimals_of_every_width_and_scale_are_checked(db: duckdb.DuckDBPyConnection) -> None:
    for digits in range(1, 39):
        inside, outside = decimals(digits)
        for scale in {0, digits // 2, digits}:
            sql = f"DECIMAL({digits}, {scale})"
            for value in inside:
                (text,) = column(db, f"SELECT ({unsealed(sql, value, 'value')})::VARCHAR")
                assert int(text.replace(".", "")) == int.from_bytes(value, "little", signed=True)
            for value in outside:
                assert "not a decimal" in message(db, f"SELECT ({unsealed(sql, value, 'value')})::VARCHAR")
    assert is_up(db)


@pytest.mark.parametrize("sql", [sql for sql in TYPES if BYTES[sql][1]])
def test_a_constant_that_is_no_value_of_a_type_is_an_error_of_its_query(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, sql: str
) -> None:
    # DuckDB opens it while it plans the query.
    for value in BYTES[sql][1]:
        (sealed,) = column(db, f"SELECT seal({literal(value)}, 'random', '')")
        call = f"unseal({literal(sealed)}, 'random', '', as_type := '{sql}')"
        for query in (f"SELECT ({call})::VARCHAR", f"SELECT 1 WHERE ({call}) IS NULL"):
            assert "as_type" in message(db, query)
        db.execute(f"EXPLAIN {query}")
        assert column(db, f"SELECT try_{call}::VARCHAR") == [None]
    assert is_up(db, other)


@pytest.mark.parametrize("sql", TYPES)
def test_a_value_of_any_other_type_is_a_value_or_an_error(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, sql: str
) -> None:
    for value in ALL:
        call = unsealed(sql, value, "value")
        try:
            db.execute(f"CREATE OR REPLACE TABLE opened AS SELECT {call} AS v")
        except (duckdb.InternalException, duckdb.FatalException):
            raise
        except duckdb.Error as error:
            assert "as_type" in str(error)
            continue
        assert db.execute("SELECT v::VARCHAR, v < v, hash(v) FROM opened").fetchone() is not None, value
    assert is_up(db, other)


def test_values_of_nulls_are_not_checked(db: duckdb.DuckDBPyConnection) -> None:
    for sql in TYPES:
        assert (
            column(db, f"SELECT unseal(NULL::BLOB, 'random', '', as_type := '{sql}') FROM range(3)")
            == [None] * 3
        )


@pytest.mark.parametrize("sql", ["TIMESTAMP_S", "VARCHAR", "BIT", "TIME", "DECIMAL(4, 1)", "DATE"])
def test_one_bad_value_among_many_is_found_in_every_place(db: duckdb.DuckDBPyConnection, sql: str) -> None:
    good, bad = BYTES[sql][0][-1], BYTES[sql][1][0]
    for place in (0, 1, 2047, 2048, 4095, 4096, 4999):
        sealed = f"seal(CASE i WHEN {place} THEN {literal(bad)} ELSE {literal(good)} END, 'random', 'c', i)"
        call = f"unseal({sealed}, 'random', 'c', i, as_type := '{sql}')"
        assert column(db, f"SELECT count(try_{call}) FROM range(5000) t(i)") == [4999]
        assert column(db, f"SELECT i FROM range(5000) t(i) WHERE try_{call} IS NULL") == [place]
        text = message(db, f"SELECT count({call}) FROM range(5000) t(i)")
        assert f"row {place % 2048} of this batch (row_id {place})" in text or "row_id" in text


def test_a_map_has_no_key_twice(db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection) -> None:
    one = "seal('a', 'random', 'c.key')"
    db.execute(f"CREATE TABLE twice AS SELECT MAP {{{one}: seal(1, 'random', 'c.value'), {one}: NULL}} AS m")
    call = "unseal(m, 'random', 'c', as_type := 'MAP(VARCHAR, INTEGER)')"
    assert "has a key twice" in message(db, f"SELECT {call} FROM twice")
    assert column(db, f"SELECT try_{call} FROM twice") == [None]
    assert column(db, f"SELECT len(map_keys(try_{call})) FROM twice") == [None]
    assert is_up(db, other)


def test_a_map_with_a_key_that_does_not_open_does_not_open(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection
) -> None:
    sealed = "MAP {seal('a', 'random', 'elsewhere'): seal(1, 'random', 'c.value')}"
    call = f"unseal({sealed}, 'random', 'c', as_type := 'MAP(VARCHAR, INTEGER)')"
    assert "did not verify" in message(db, f"SELECT {call}::VARCHAR")
    assert column(db, f"SELECT try_{call}") == [None]
    assert column(db, f"SELECT [try_{call}, MAP {{'b': 7}}]") == [[None, {"b": 7}]]
    assert is_up(db, other)


def test_what_is_in_a_null_is_null(db: duckdb.DuckDBPyConnection) -> None:
    values = pa.array(["a", "b", "c"])
    inner = pa.StructArray.from_arrays([values], ["x"], mask=pa.array([False, True, False]))
    outer = pa.StructArray.from_arrays([inner, values], ["s", "y"], mask=pa.array([True, False, False]))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(range(6)), 2, mask=pa.array([False, True, False]))
    db.register("arrow", pa.table({"i": [0, 1, 2], "v": outer, "f": fixed}))
    types = {"v": "STRUCT(s STRUCT(x VARCHAR), y VARCHAR)", "f": "BIGINT[2]"}
    calls = [
        f"unseal(seal({name}, 'random', ''), 'random', '', as_type := '{kind}') AS {name}"
        for name, kind in types.items()
    ]
    db.execute(f"CREATE TABLE opened AS SELECT i, {', '.join(calls)} FROM arrow")
    query = "SELECT v.s.x, v.y, v.s IS NULL, f[1], f[2] FROM {} ORDER BY i"
    expected = [(None, None, True, 0, 1), (None, "b", True, None, None), ("c", "c", False, 4, 5)]
    assert db.sql(query.format("opened")).fetchall() == expected
    direct = f"(SELECT i, {', '.join(calls)} FROM arrow)"
    assert db.sql(query.format(direct)).fetchall() == expected
    forged = (
        "try_unseal({'s': {'x': 'no'::BLOB}, 'y': NULL::BLOB}, 'random', '', as_type := '" + types["v"] + "')"
    )
    assert db.sql(f"SELECT v.s.x, v.y, v::VARCHAR FROM (SELECT {forged} AS v)").fetchall() == [
        (None, None, "{'s': {'x': NULL}, 'y': NULL}")
    ]


DEEP = 100_000
HOSTILE_TYPES = {
    "long": "x" * 1_000_000,
    "lists": "INTEGER" + "[]" * DEEP,
    "lists of dictionaries": "[1]" * DEEP,
    "65 lists": "INTEGER" + "[]" * 65,
    "65 structs": "STRUCT(a " * 65 + "INTEGER" + ")" * 65,
    "structs": "STRUCT(a " * DEEP + "INTEGER" + ")" * DEEP,
    "open structs": "STRUCT(a " * DEEP,
    "maps": "MAP(INTEGER, " * 5000 + "INTEGER" + ")" * 5000,
    "dictionaries": "dictionary<values=" * 3000 + "string" + ", indices=int32, ordered=0>" * 3000,
    "runs": "run_end_encoded<run_ends: int32, values: " * 900 + "string" + ">" * 900,
    "parentheses": "(" * DEEP,
    "closed": ")" * DEEP + "]" * DEEP,
    "empty": "",
    "space": " ",
    "zero": "INTEGER\0[]",
    "quote": '"',
    "array of arrays": "INTEGER[100000][100000]",
    "array": "INTEGER[99999]",
    "digits": "DECIMAL(99999999999999999999, 0)",
    "negative": "DECIMAL(-1, 0)",
    "negative array": "INTEGER[-1]",
    "statement": "INTEGER); DROP TABLE kept; --",
    "enum": "ENUM('a')",
    "bignum": "BIGNUM",
    "any": "ANY",
    "unnamed": "STRUCT(INTEGER, VARCHAR)",
    "snow": "☃" * 30_000,
}


@pytest.mark.parametrize("name", HOSTILE_TYPES)
def test_no_name_of_a_type_shuts_down_a_database(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, name: str
) -> None:
    db.execute("CREATE TABLE kept AS SELECT seal(1, 'random', '') AS v FROM range(3)")
    for value in ("NULL", "seal(1, 'random', '')", "v", "[v]", "array_value(v)"):
        try:
            db.execute(
                f"SELECT unseal({value}, 'random', '', as_type := $1) FROM kept", [HOSTILE_TYPES[name]]
            ).fetchall()
        except (duckdb.InternalException, duckdb.FatalException):
            raise
        except duckdb.Error as error:
            assert len(str(error)) < 200_000
        assert is_up(db, other)
    assert column(db, "SELECT count(*) FROM kept") == [3]


def test_arrays_have_at_most_100000_elements_in_total(db: duckdb.DuckDBPyConnection) -> None:
    for sql in ("INTEGER[1000][101]", "STRUCT(a INTEGER[60000], b INTEGER[60000])[1]"):
        call = f"unseal(NULL, 'random', '', as_type := '{sql}')"
        assert "at most 100000 elements in total" in message(db, f"SELECT {call}")
    call = "unseal(NULL, 'random', '', as_type := 'INTEGER[100][1000]')"
    assert column(db, f"SELECT {call} IS NULL FROM range(3)") == [True] * 3


def test_types_of_64_levels_open(db: duckdb.DuckDBPyConnection) -> None:
    value = "7"
    for _ in range(64):
        value = f"[{value}]"
    call = f"unseal(seal({value}, 'random', ''), 'random', '', as_type := 'INTEGER{'[]' * 64}')"
    assert column(db, f"SELECT ({call})::VARCHAR = ({value})::VARCHAR") == [True]
    assert "more than 64 levels" in message(db, f"SELECT seal([{value}], 'random', '')")


HOSTILE_CALLS = {
    "keyset with zero": "seal(1, 'random' || chr(0), '')",
    "long keyset": "seal(1, repeat('k', 1000000), '')",
    "keyset of text": "seal(1, '☃', '')",
    "long context": "seal(1, 'random', repeat('c', 10000000))",
    "context with zero": "seal(1, 'random', chr(0))",
    "row without value": "seal(NULL, 'random', 'c', NULL::BIGINT)",
    "nulls everywhere": "unseal(NULL, NULL, NULL, NULL, NULL)",
    "null keyset": "unseal(NULL, NULL, '')",
    "unknown union": "seal(union_value(a := NULL), 'random', '')",
    "empty list": "unseal(seal([], 'random', ''), 'random', '')",
    "list of nulls": "unseal(seal([NULL, NULL], 'random', ''), 'random', '')",
    "empty map": "seal(MAP {}, 'random', '')",
    "null map": "reseal(NULL::MAP(BLOB, BLOB), 'random', '')",
    "list of a million": "len(seal(range(1000000), 'random', ''))",
    "text of a megabyte": "octet_length(seal(repeat('x', 1000000), 'random', ''))",
    "row": "seal(row(1, 2), 'random', '')",
    "array": "len(seal(NULL::INTEGER[50000], 'random', ''))",
    "variant": "seal(7::VARIANT, 'random', '')",
    "lambda": "list_transform([1, 2], lambda x: octet_length(seal(x, 'random', '')))",
    "nested calls": "unseal(unseal(seal(seal('a', K, ''), K, ''), K, ''), K, '')::VARCHAR".replace(
        "K", "'random'"
    ),
}


@pytest.mark.parametrize("name", HOSTILE_CALLS)
def test_no_argument_shuts_down_a_database(
    db: duckdb.DuckDBPyConnection, other: duckdb.DuckDBPyConnection, name: str
) -> None:
    for rest in ("", " FROM range(0)", " FROM range(3)", " FROM range(3) t(i) WHERE i > 1"):
        try:
            db.execute(f"SELECT {HOSTILE_CALLS[name]}{rest}").fetchall()
        except (duckdb.InternalException, duckdb.FatalException):
            raise
        except duckdb.Error as error:
            assert str(error).isprintable() or "\n" in str(error)
        assert is_up(db, other)


def test_special_files_are_no_keysets(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    db.execute(f"SET sealcomb_keys = 'folder:{tmp_path}'")
    (tmp_path / "zeros.json").symlink_to("/dev/zero")
    (tmp_path / "folder.json").mkdir()
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 33)
    for name in ("zeros", "folder", "large"):
        assert f'keyset "{name}"' in message(db, f"SELECT seal(1, '{name}', '')")


@pytest.mark.parametrize("rows", [0, 1, 2047, 2048, 2049])
@pytest.mark.parametrize("elements", [0, 1, 3, 2049])
def test_lists_cross_the_borders_of_vectors(db: duckdb.DuckDBPyConnection, rows: int, elements: int) -> None:
    rows = min(rows, 300) if elements > 3 else rows
    db.execute(
        f"CREATE TABLE l AS SELECT i, list_transform(range({elements}), lambda e: e + i) AS v"
        f" FROM range({rows}) t(i)"
    )
    call = "unseal(seal(v, 'random', 'c', i), 'random', 'c', i, as_type := 'BIGINT[]')"
    for source in ("l", "l WHERE i % 3 = 1", "(FROM l LIMIT 5)", "(FROM l ORDER BY i DESC) AS l"):
        expected = column(db, f"SELECT count(*) FROM {source}")
        assert column(db, f"SELECT count(*) FILTER ({call} IS NOT DISTINCT FROM v) FROM {source}") == expected


def test_arrays_are_sealed_by_row_after_filters_and_in_lists(db: duckdb.DuckDBPyConnection) -> None:
    db.execute(
        "CREATE TABLE a AS SELECT i, array_value(i, -i, NULL) AS v,"
        " [array_value(i, 1), array_value(2, i)] AS l, array_value([i], [], [i, i]) AS m"
        " FROM range(5000) t(i)"
    )
    for name, kind in (("v", "BIGINT[3]"), ("l", "BIGINT[2][]"), ("m", "BIGINT[][3]")):
        call = f"unseal(seal({name}, 'random', 'c', i), 'random', 'c', i, as_type := '{kind}')"
        for source in (
            "a",
            "a WHERE i % 3 = 1",
            "a JOIN range(0, 5000, 7) r(j) ON i = j",
            "(FROM a LIMIT 3) AS a",
        ):
            expected = column(db, f"SELECT count(*) FROM {source}")
            assert column(db, f"SELECT count(*) FILTER ({call} = {name}) FROM {source}") == expected, (
                name,
                source,
            )


def test_constant_and_repeated_values_are_sealed_for_each_row(db: duckdb.DuckDBPyConnection) -> None:
    for value, kind in (("[1, NULL, 3]", "INTEGER[]"), ("{'a': 1}", "STRUCT(a INTEGER)"), ("7", "INTEGER")):
        call = f"unseal(seal({value}, 'random', 'c', i), 'random', 'c', i, as_type := '{kind}')"
        assert column(db, f"SELECT count(*) FILTER ({call} = {value}) FROM range(5000) t(i)") == [5000]
        constant = f"unseal(seal({value}, 'random', 'c', 7), 'random', 'c', 7, as_type := '{kind}')"
        assert column(db, f"SELECT count(*) FILTER ({constant} = {value}) FROM range(5000)") == [5000]
    message(db, "SELECT seal(i, 'random', 'c', nullif(i, 3000)) FROM range(5000) t(i)")
    assert is_up(db)


def test_a_database_file_with_opened_values_can_be_read_again(folder: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "kept.duckdb")
    with connect(folder, path) as db:
        for number, sql in enumerate(TYPES):
            values = ", ".join(f"({unsealed(sql, value, 'value')})" for value in BYTES[sql][0])
            db.execute(f"CREATE TABLE t{number} AS SELECT * FROM (VALUES {values}) AS t(v)")
    with connect(folder, path) as db:
        for number, sql in enumerate(TYPES):
            assert len(db.sql(f"SELECT v::VARCHAR FROM t{number} ORDER BY v").fetchall()) == len(
                BYTES[sql][0]
            )
