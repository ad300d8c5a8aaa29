"""The DuckDB extension seals and opens the same bytes as the Python package and Tink."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import duckdb_sessions
import pyarrow as pa
import pytest
import records
import tink
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from duckdb_sessions import EXTENSION, FOLDER, PLATFORM, POLICIES, column, connect, message
from tink import aead, daead, secret_key_access

from sealcomb import Keyset, keys_from_file, seal_column, unseal_column

PAGE = Path(__file__).parents[2] / "docs" / "columns-duckdb.md"
folder, db = duckdb_sessions.folder, duckdb_sessions.db
VECTOR = 2048

# A type of SQL, with expressions of some of its values. NULL is always among the values.
VALUES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "0", "127"],
    "SMALLINT": ["-32768", "7"],
    "INTEGER": ["-2147483648", "7"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"],
    "UTINYINT": ["255"],
    "USMALLINT": ["65535"],
    "UINTEGER": ["4294967295"],
    "UBIGINT": ["18446744073709551615"],
    "FLOAT": ["1.5", "'-0.0'", "'nan'", "'-inf'"],
    "DOUBLE": ["1.5", "'-0.0'", "'nan'", "1e300"],
    "DECIMAL(4, 1)": ["-999.9", "0.1"],
    "DECIMAL(9, 2)": ["-9999999.99", "0.01"],
    "DECIMAL(18, 3)": ["-999999999999999.999"],
    "DECIMAL(38, 10)": ["-1234567890123456789012345678.0123456789"],
    "DATE": ["'1969-12-31'", "'9999-12-31'", "'infinity'"],
    "TIME": ["'00:00:00'", "'23:59:59.999999'", "'24:00:00'"],
    "TIME_NS": ["'23:59:59.999999999'", "'24:00:00'"],
    "TIMESTAMP": ["'1969-12-31 23:59:59.999999'", "'2026-11-27 12:00:00'", "'-infinity'"],
    "TIMESTAMP_S": ["'2026-11-27 12:00:00'"],
    "TIMESTAMP_MS": ["'2026-11-27 12:00:00.123'"],
    "TIMESTAMP_NS": ["'2026-11-27 12:00:00.123456789'"],
    "TIMESTAMPTZ": ["'2026-11-27 12:00:00+02'"],
    "TIMESTAMPTZ_NS": ["'2026-11-27 12:00:00.123456789+02'"],
    "INTERVAL": ["'1 year -2 days 3 microseconds'", "'-1 month'"],
    "VARCHAR": ["''", "'naïve ☃'", "'twelve bytes'", "'thirteen byte'", "repeat('x', 5000)"],
    "BLOB": ["''", "'\\x00\\xFF'", "repeat('x', 5000)"],
    "UUID": ["'00000000-0000-0000-0000-000000000000'", "'fedcba98-7654-3210-0123-456789abcdef'"],
    "HUGEINT": ["'-170141183460469231731687303715884105728'", "'1'"],
    "UHUGEINT": ["'340282366920938463463374607431768211455'", "'1'"],
    "ENUM('calm', 'angry')": ["'angry'", "'calm'"],
    "INTEGER[]": ["[1, NULL, 3]", "[]"],
    "VARCHAR[][]": ["[['a', NULL], [], NULL]", "[]"],
    "DECIMAL(9, 2)[2]": ["[1.5, NULL]"],
    "STRUCT(street VARCHAR, zip INTEGER)": ["{'street': 'Main', 'zip': NULL}", "{'street': NULL, 'zip': 7}"],
    'STRUCT("a ""b""" STRUCT(c DATE)[])': ["""{'a "b"': [{'c': '2026-11-27'}, NULL]}"""],
    "MAP(VARCHAR, BIGINT)": ["MAP {'a': 1, 'b': NULL}", "MAP {}"],
    "TIMETZ": ["'12:34:56.789012+02:30'", "'00:00:00-15:59:59'", "'24:00:00+15:59:59'"],
    "BIT": ["'101'", "'0'", "'00000000'", "repeat('10', 500)::BIT"],
    "UNION(number INTEGER, words VARCHAR[])": ["7", "['a', NULL]", "union_value(number := NULL::INTEGER)"],
}
NAMES = list(VALUES)


def type_opened_as(sql: str) -> str:
    return "VARCHAR" if sql.startswith("ENUM") else sql


class Tink:
    """Opens single values with Tink."""

    def __init__(self, text: str, policy: str) -> None:
        handle = tink.json_proto_keyset_format.parse(text, secret_key_access.TOKEN)
        if policy == "deterministic":
            self.open = handle.primitive(daead.DeterministicAead).decrypt_deterministically
        else:
            self.open = handle.primitive(aead.Aead).decrypt


def table(db: duckdb.DuckDBPyConnection, sql: str, rows: int = 0) -> None:
    """Creates the table t with a column v of the type and a column id, of at least as many rows."""
    values = [*VALUES[sql], "NULL"]
    values *= max(1, rows // len(values) + 1)
    tuples = ", ".join(f"({number}, {value})" for number, value in enumerate(values))
    db.execute(f"CREATE OR REPLACE TABLE t (id BIGINT, v {sql})")
    db.execute(f"INSERT INTO t VALUES {tuples}")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("sql", NAMES)
def test_every_type_opens_as_it_was(db: duckdb.DuckDBPyConnection, sql: str, policy: str) -> None:
    table(db, sql)
    opened_as = type_opened_as(sql).replace("'", "''")
    call = f"unseal(seal(v, '{policy}', 't.v'), '{policy}', 't.v', as_type := '{opened_as}')"
    opened = db.sql(f"SELECT typeof({call}), {call} IS NOT DISTINCT FROM v::{type_opened_as(sql)} FROM t")
    rows = opened.fetchall()
    (expected,) = set(column(db, f"SELECT typeof(v::{type_opened_as(sql)}) FROM t"))
    assert rows == [(expected, True)] * len(rows)
    assert len(rows) == len(VALUES[sql]) + 1


@pytest.mark.parametrize("sql", NAMES)
def test_the_type_of_a_null_serves_as_type(db: duckdb.DuckDBPyConnection, sql: str) -> None:
    table(db, sql)
    opened_as = type_opened_as(sql)
    call = f"unseal(seal(v, 'random', ''), 'random', '', as_type := NULL::{opened_as})"
    assert all(column(db, f"SELECT {call} IS NOT DISTINCT FROM v::{opened_as} FROM t"))


def bits_of(text: str) -> bytes:
    """Returns the sealed bytes of a bit string: the number of padding bits, that many ones, and the bits."""
    padding = -len(text) % 8
    padded = "1" * padding + text
    return bytes([padding]) + int(padded, 2).to_bytes(len(padded) // 8, "big")


def arrow_of(db: duckdb.DuckDBPyConnection, sql: str) -> pa.ChunkedArray:
    """Returns the values of t as the Arrow column that has the same sealed bytes."""
    if sql == "UUID":
        values = [value and value.bytes for value in column(db, "SELECT v FROM t")]
        return pa.chunked_array([pa.array(values, pa.binary(16))])
    if sql in {"HUGEINT", "UHUGEINT"}:
        values = column(db, "SELECT v FROM t")
        signed = sql == "HUGEINT"
        bytes_of = [None if each is None else each.to_bytes(16, "little", signed=signed) for each in values]
        return pa.chunked_array([pa.array(bytes_of, pa.binary(16))])
    if sql == "BIT":
        bits = [each and bits_of(each) for each in column(db, "SELECT v::VARCHAR FROM t")]
        return pa.chunked_array([pa.array(bits, pa.binary())])
    if sql == "TIMETZ":
        parts = "epoch_us(v::TIME), extract(timezone FROM v)::INTEGER"
        times = db.sql(f"SELECT {parts} FROM t").fetchall()
        packed = [None if each[0] is None else struct.pack("<qi", *each) for each in times]
        return pa.chunked_array([pa.array(packed, pa.binary(12))])
    column_of_t = db.sql("SELECT v FROM t").to_arrow_table()["v"]
    if pa.types.is_dictionary(column_of_t.type):
        column_of_t = column_of_t.cast(pa.string())
    elif pa.types.is_time(column_of_t.type):
        # A time of day in Arrow is before 24:00:00, which DuckDB has.
        column_of_t = column_of_t.cast(pa.int64())
    return column_of_t


@pytest.mark.parametrize("row_ids", [False, True], ids=["without row ids", "with row ids"])
@pytest.mark.parametrize("sql", NAMES)
def test_a_deterministic_keyset_gives_the_bytes_of_python(
    db: duckdb.DuckDBPyConnection, folder: Path, sql: str, row_ids: bool
) -> None:
    table(db, sql)
    if row_ids and sql.startswith("UNION"):
        assert "row_id cannot be used with a UNION" in message(
            db, "SELECT seal(v, 'deterministic', 't.v', id) FROM t"
        )
        return
    keyset = keys_from_file(folder)("deterministic")
    ids = pa.array(column(db, "SELECT id FROM t"), pa.int64()) if row_ids else None
    expected = seal_column(arrow_of(db, sql), keyset, context=b"t.v", row_ids=ids).to_pylist()
    extra = ", id" if row_ids else ""
    for function in ("seal", "seal_deterministic"):
        ours = db.sql(f"SELECT {function}(v, 'deterministic', 't.v'{extra}) AS v FROM t").to_arrow_table()[
            "v"
        ]
        assert ours.to_pylist() == expected, function


@pytest.mark.parametrize("policy", POLICIES)
def test_tink_opens_sealed_values(db: duckdb.DuckDBPyConnection, folder: Path, policy: str) -> None:
    other = Tink((folder / f"{policy}.json").read_text(), policy)
    text = column(db, f"SELECT seal(v, '{policy}', 'people.note') FROM (VALUES ('likes tea'), ('')) AS t(v)")
    assert [other.open(each, b"people.note") for each in text] == [b"likes tea", b""]
    (number,) = column(db, f"SELECT seal(-2::INTEGER, '{policy}', 'c', 7::SMALLINT)")
    bound = (1).to_bytes(8, "big") + b"c" + (7).to_bytes(8, "big")
    assert other.open(number, bound) == (-2).to_bytes(4, "little", signed=True)


def test_keys_of_every_type_open(tmp_path: Path) -> None:
    file = json.loads((PAGE.parents[1] / "testvectors/sealed/values.json").read_text())
    for test in file["tests"]:
        (tmp_path / f"{test['key']}.json").write_text(json.dumps(test["keyset"]))
    with connect(tmp_path) as db:
        for test in file["tests"]:
            call = f"unseal(from_hex('{test['sealed']}'), '{test['key']}', '{file['context']}')"
            assert column(db, f"SELECT {call}") == [bytes.fromhex(file["value"])], test["key"]


@pytest.mark.parametrize("policy", POLICIES)
def test_python_and_the_extension_open_each_others_columns(
    db: duckdb.DuckDBPyConnection, folder: Path, policy: str
) -> None:
    keyset = keys_from_file(folder)(policy)
    notes = pa.array(["tea", None, "", "x" * 100])
    db.register("theirs", pa.table({"note": seal_column(notes, keyset, context=b"n")}))
    call = f"unseal(note, '{policy}', 'n', as_type := 'VARCHAR')"
    assert column(db, f"SELECT {call} FROM theirs") == notes.to_pylist()
    ours = db.sql(f"SELECT seal(note, '{policy}', 'n') AS note FROM (SELECT {call} AS note FROM theirs)")
    opened = unseal_column(ours.to_arrow_table()["note"], keyset, context=b"n", as_type="string")
    assert opened.to_pylist() == notes.to_pylist()


@pytest.mark.parametrize("rows", [0, 1, VECTOR - 1, VECTOR, VECTOR + 1, 5000])
@pytest.mark.parametrize("sql", ["BIGINT", "VARCHAR", "DECIMAL(38, 10)", "VARCHAR[][]", "BOOLEAN"])
def test_columns_of_any_length_open(db: duckdb.DuckDBPyConnection, sql: str, rows: int) -> None:
    table(db, sql, rows)
    db.execute(f"DELETE FROM t WHERE id >= {rows}")
    db.execute(
        "CREATE OR REPLACE TABLE sealed AS SELECT id, v AS plain, seal(v, 'random', 'c', id) AS v FROM t"
    )
    call = f"unseal(v, 'random', 'c', id, as_type := '{sql}')"
    query = f"SELECT count(*), count(*) FILTER ({call} IS NOT DISTINCT FROM plain) FROM sealed"
    assert db.sql(query).fetchall() == [(rows, rows)]


def test_a_constant_is_sealed_for_every_row_under_a_random_keyset(db: duckdb.DuckDBPyConnection) -> None:
    sealed = column(db, "SELECT seal('tea', 'random', '') FROM range(5000)")
    assert len(set(sealed)) == 5000
    opened = "unseal(seal('tea', 'random', ''), 'random', '', as_type := 'VARCHAR')"
    assert column(db, f"SELECT DISTINCT {opened} FROM range(5000)") == ["tea"]


def test_a_constant_is_sealed_once_under_a_deterministic_keyset(db: duckdb.DuckDBPyConnection) -> None:
    query = "EXPLAIN SELECT * FROM range(9) t(i) WHERE {}('tea', 'deterministic', '') = i::VARCHAR::BLOB"
    assert "seal('tea'" in db.sql(query.format("seal")).fetchall()[0][1]
    assert "seal_deterministic" not in db.sql(query.format("seal_deterministic")).fetchall()[0][1]


@pytest.mark.parametrize("sql", ["VARCHAR", "BIGINT"])
def test_dictionaries_are_sealed_by_value(db: duckdb.DuckDBPyConnection, folder: Path, sql: str) -> None:
    indices = [3, None, 0, 1, 1] * 1000
    values = pa.array(["a", "b" * 20, None, "☃"] if sql == "VARCHAR" else [5, -5, None, 7])
    words = pa.table({"v": pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), values)})
    db.register("words", words)
    db.execute("CREATE TABLE stored AS SELECT i, v FROM (SELECT v, row_number() OVER () AS i FROM words)")
    expected = seal_column(words["v"], keys_from_file(folder)("deterministic"), context=b"").to_pylist()
    assert column(db, "SELECT seal(v, 'deterministic', '') FROM words") == expected
    assert column(db, "SELECT seal_deterministic(v, 'deterministic', '') FROM words") == expected
    assert column(db, "SELECT seal(v, 'deterministic', '') FROM stored ORDER BY i") == expected


def test_dictionaries_of_a_filter_and_a_join_are_sealed_by_value(db: duckdb.DuckDBPyConnection) -> None:
    db.execute(
        "CREATE TABLE l AS SELECT i, [i, NULL, i + 1] AS v, {'a': 'x' || i} AS s FROM range(4000) t(i)"
    )
    for value, kind in (("v", "BIGINT[]"), ("s", "STRUCT(a VARCHAR)")):
        call = f"unseal(seal({value}, 'random', 'c', i), 'random', 'c', i, as_type := '{kind}')"
        joined = "l JOIN range(0, 4000, 3) r(j) ON i = j WHERE i % 7 > 0"
        query = f"SELECT bool_and({call} = {value}), count(*) FROM {joined}"
        (kept,) = column(db, "SELECT count(*) FROM range(0, 4000, 3) r(i) WHERE i % 7 > 0")
        assert db.sql(query).fetchall() == [(True, kept)]


def test_nulls_of_every_kind_stay_null(db: duckdb.DuckDBPyConnection) -> None:
    for value in (
        "NULL",
        "NULL::VARCHAR",
        "NULL::INTEGER[]",
        "NULL::STRUCT(a INTEGER)",
        "NULL::MAP(DATE, DATE)",
    ):
        assert column(db, f"SELECT seal({value}, 'random', '') FROM range(3)") == [None] * 3
    for value in ("NULL", "NULL::BLOB"):
        assert (
            column(db, f"SELECT unseal({value}, 'random', '', as_type := 'BIGINT') FROM range(3)")
            == [None] * 3
        )
        assert column(db, f"SELECT reseal({value}, 'random', '') FROM range(3)") == [None] * 3


def test_deterministic_columns_can_be_joined_and_grouped(db: duckdb.DuckDBPyConnection) -> None:
    db.execute(
        """CREATE TABLE a AS SELECT i, seal(i % 100, 'deterministic', 'ids') AS k FROM range(5000) t(i);
        CREATE TABLE b AS SELECT i, seal(i, 'deterministic', 'ids') AS k FROM range(100) t(i)"""
    )
    assert db.sql("SELECT count(*), bool_and(a.i % 100 = b.i) FROM a JOIN b USING (k)").fetchall() == [
        (5000, True)
    ]
    assert db.sql(
        "SELECT count(*), min(c), max(c) FROM (SELECT count(*) c FROM a GROUP BY k)"
    ).fetchall() == [(100, 50, 50)]
    grouped = """SELECT count(*) FROM (SELECT seal_deterministic(i % 10, 'deterministic', '') AS s, count(*)
        FROM a GROUP BY seal_deterministic(i % 10, 'deterministic', ''))"""
    assert column(db, grouped) == [10]
    found = "SELECT count(*) FROM a WHERE k = seal_deterministic(7::BIGINT, 'deterministic', 'ids')"
    assert column(db, found) == [50]


def test_queries_on_several_threads_and_connections_seal_the_same(
    db: duckdb.DuckDBPyConnection,
) -> None:
    db.execute("SET threads = 4; CREATE TABLE big AS SELECT i, i::VARCHAR AS v FROM range(500_000) t(i)")
    call = "unseal(seal(v, 'random', 'c', i), 'random', 'c', i, as_type := 'VARCHAR')"
    query = f"SELECT count(*) FILTER ({call} = v) FROM big"
    results: list[Any] = []

    def run() -> None:
        results.append(db.cursor().sql(query).fetchall())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[(500_000,)]] * 3


@pytest.mark.parametrize("value", ["note", "list", "struct"])
def test_a_changed_value_is_an_error_that_names_its_row(db: duckdb.DuckDBPyConnection, value: str) -> None:
    kinds = {"note": "i::VARCHAR", "list": "[i, i]", "struct": "{'a': i}"}
    db.execute(
        f"CREATE TABLE s AS SELECT i, seal({kinds[value]}, 'random', 'c', i) AS v FROM range(100) t(i)"
    )
    changed = {"note": "v || '\\x00'::BLOB", "list": "[v[1], v[1]]", "struct": "{'a': v.a || '\\x00'::BLOB}"}
    query = f"unseal(CASE i WHEN 17 THEN {changed[value]} ELSE v END, 'random', 'c', i) FROM s"
    text = message(db, f"SELECT {query}")
    assert "did not verify under key" in text
    assert "try_unseal" in text
    assert "unseal: " in text
    assert "row 17 of this batch (row_id 17)" in text
    opened = column(db, f"SELECT try_{query}")
    leaves = {"note": lambda each: [each], "list": list, "struct": lambda each: list(each.values())}
    rows = [row for row, each in enumerate(opened) if None in leaves[value](each)]
    assert rows == [17]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("unseal(seal('a', 'random', 'b'), 'random', 'c')", "did not verify"),
        ("unseal(seal('a', 'random', 'b', 1), 'random', 'b', 2)", r"row_id 2\).*did not verify"),
        ("unseal(seal('a', 'random', 'b', 1), 'random', 'b')", "did not verify"),
        ("unseal(seal('a', 'random', ''), 'gcm', '')", r"sealed under key \d+, which is not in this keyset"),
        ("unseal('abc'::BLOB, 'random', '')", "3 bytes are not a sealed value"),
        (
            "unseal(seal(1::TINYINT, 'random', ''), 'random', '', as_type := 'BIGINT')",
            "holds 1 bytes.*as_type",
        ),
        ("unseal(seal(2::TINYINT, 'random', ''), 'random', '', as_type := 'BOOLEAN')", "not a bool"),
        ("unseal(seal('\\xFF'::BLOB, 'random', ''), 'random', '', as_type := 'VARCHAR')", "not UTF-8"),
        (
            "unseal(seal(12345::HUGEINT, 'random', ''), 'random', '', as_type := 'DECIMAL(4, 0)')",
            "not a decimal of",
        ),
        ("unseal(seal(-1::BIGINT, 'random', ''), 'random', '', as_type := 'TIME')", "not a time of a day"),
        ("seal(1, 'random', 'c', NULL::BIGINT)", "row_id is NULL"),
        ("seal(1, 'random', 'c', NULL)", "row_id is NULL; pass a column of ids, or leave it out"),
        ("unseal('a'::BLOB, 'random', 'c', NULL, 'VARCHAR')", "row_id is NULL; pass a column of ids"),
        ("try_unseal('a'::BLOB, 'random', 'c', row_id => NULL)", "row_id is NULL; pass a column of ids"),
        ("reseal('a'::BLOB, 'random', context => NULL)", "context is NULL"),
        ("seal(1, 'random', 'c', 1.5)", "row_id has type DECIMAL"),
        ("seal(1, 'random', 'c', 1::HUGEINT)", "row_id has type HUGEINT; cast it to BIGINT"),
        ("seal(1, 'random', NULL)", "context is NULL"),
        ("seal(1, 'random')", "seal.*context"),
        ("unseal('a'::BLOB, 'random', as_type := 'VARCHAR')", "unseal.*context"),
        ("reseal('a'::BLOB, 'random')", "reseal.*context"),
        ("seal(1, 'random', 7)", "context has type INTEGER"),
        ("seal(1, NULL, '')", "name of the keyset is NULL"),
        ("seal(1, 'missing', '')", r"keyset .missing.: cannot read .*missing\.json"),
        ("seal(1, '../random', '')", "invalid keyset name"),
        ("seal(1, 'sub/random', '')", "invalid keyset name"),
        ("seal(1, 'a/../random', '')", "invalid keyset name"),
        ("seal(1, 'random/', '')", "invalid keyset name"),
        ("seal(1, 'sub\\\\random', '')", "invalid keyset name"),
        ("seal(1, 'random' || chr(0), '')", "invalid keyset name"),
        ("seal(1, '', '')", "invalid keyset name"),
        ("seal('1'::BIGNUM, 'random', '')", "BIGNUM cannot be sealed; cast it"),
        (
            "unseal(seal('\\x08\\xFF'::BLOB, 'random', ''), 'random', '', as_type := 'BIT')",
            "is not a bit string",
        ),
        (
            "unseal(seal('\\x01\\x7F'::BLOB, 'random', ''), 'random', '', as_type := 'BIT')",
            "is not a bit string",
        ),
        ("unseal(seal('\\x00'::BLOB, 'random', ''), 'random', '', as_type := 'BIT')", "is not a bit string"),
        (
            "unseal(seal(repeat('\\x7F', 12)::BLOB, 'random', ''), 'random', '', as_type := 'TIMETZ')",
            "is not a time of a day with an offset",
        ),
        ("unseal(seal('x'::BLOB, 'random', ''), 'random', '', as_type := 'TIMETZ')", "holds 1 bytes"),
        ("seal_deterministic(1, 'random', '')", 'has the policy "random"; use a deterministic one, or seal'),
        ("unseal('text', 'random', '')", "a sealed value is a BLOB, not VARCHAR"),
        ("unseal(seal(1, 'random', ''), 'random', '', as_type := 'nonsense')", "unknown type .nonsense."),
        ("unseal(seal(1, 'random', ''), 'random', '', as_type := 'INTEGER[]')", "differ in lists"),
        ("unseal(seal(1, 'random', ''), 'random', '', as_type := 'ENUM(''a'')')", "use VARCHAR, and cast"),
        ("seal(i, 'random', i::VARCHAR) FROM range(3) t(i)", "constant"),
        ("seal(i, i::VARCHAR, '') FROM range(3) t(i)", "constant"),
        ("seal(INTERVAL '300000000 hours', 'random', '')", "more than 2\\^63 nanoseconds"),
    ],
)
def test_wrong_calls_say_what_to_do(db: duckdb.DuckDBPyConnection, call: str, expected: str) -> None:
    text = message(db, f"SELECT {call}")
    assert re.search(expected, text, re.DOTALL), text


def test_try_unseal_only_forgives_values(db: duckdb.DuckDBPyConnection) -> None:
    query = """SELECT try_unseal(v, 'random', '', as_type := 'VARCHAR')
        FROM (VALUES (seal('a', 'random', '')), ('abc'::BLOB), (seal('a', 'gcm', '')), (NULL)) AS t(v)"""
    assert column(db, query) == ["a", None, None, None]
    assert "missing.json" in message(db, "SELECT try_unseal('a'::BLOB, 'missing', '')")
    bound = """SELECT try_unseal(v, 'random', 'c', id, as_type := 'VARCHAR')
        FROM (SELECT seal('a', 'random', 'c', i) AS v, nullif(i, 1) AS id FROM range(3) t(i)) ORDER BY id"""
    assert column(db, bound) == ["a", "a", None]
    assert "row_id is NULL" in message(db, bound.replace("try_unseal", "unseal"))
    span = "{'span': INTERVAL '300000000 hours', 'v': seal('a', 'random', 'c.v')}"
    opened = (
        f"unseal({span}, 'random', 'c', as_type := 'STRUCT(span INTERVAL, v VARCHAR)', plain := ['span'])"
    )
    assert column(db, f"SELECT try_{opened}") == [{"span": None, "v": "a"}]
    assert "2^63 nanoseconds" in message(db, f"SELECT {opened}")


# ---- Spark's aes_encrypt

OLD_KEY = bytes(range(32))


def encrypted(values: list[bytes | None], aad: bytes) -> list[bytes | None]:
    """Encrypts values as Spark's ``aes_encrypt`` does in mode GCM."""
    cipher = AESGCM(OLD_KEY)
    nonces = [os.urandom(12) for _ in values]
    pairs = zip(nonces, values, strict=True)
    return [None if value is None else nonce + cipher.encrypt(nonce, value, aad) for nonce, value in pairs]


@pytest.fixture
def old(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that finds the key of ``aes_encrypt`` in the keyset ``old``."""
    keyset = Keyset.from_keys({7: OLD_KEY}, primary=7, policy="gcm")
    (tmp_path / "old.json").write_text(keyset.secret_tink_json())
    (tmp_path / "random.json").write_text(Keyset.generate("random").secret_tink_json())
    with connect(tmp_path) as db:
        yield db


@pytest.mark.parametrize("aad", [b"", b"people"])
def test_values_of_aes_encrypt_open(old: duckdb.DuckDBPyConnection, aad: bytes) -> None:
    values = [b"", None, b"note", bytes(5000)] * VECTOR
    old.register("theirs", pa.table({"v": pa.array(encrypted(values, aad), pa.binary())}))
    argument = f", aad => '{aad.decode()}'" if aad else ""
    assert column(old, f"SELECT unseal_aes_encrypt(v, 'old'{argument}) FROM theirs") == values
    assert (
        column(old, f"SELECT try_unseal_aes_encrypt(v, 'old', '{aad.decode()}'::BLOB) FROM theirs") == values
    )
    assert column(old, "SELECT unseal_aes_encrypt(NULL, 'old')") == [None]


def test_values_of_aes_encrypt_that_do_not_open_are_errors_or_null(old: duckdb.DuckDBPyConnection) -> None:
    values = [b"note", b"note", b"note", b"note"]
    (good, changed, short, bare) = encrypted(values, b"")
    assert good is not None and changed is not None and short is not None and bare is not None
    damaged = [good, changed[:-1] + bytes([changed[-1] ^ 1]), short[:27], b""]
    old.register("theirs", pa.table({"id": range(4), "v": pa.array(damaged, pa.binary())}))
    assert column(old, "SELECT try_unseal_aes_encrypt(v, 'old') FROM theirs") == [b"note", None, None, None]
    for number, text in [
        (1, r"row \d of this batch: the value did not verify.*try_unseal_aes_encrypt"),
        (2, r"27 bytes are no value of aes_encrypt in mode GCM"),
        (3, r"0 bytes are no value of aes_encrypt in mode GCM"),
    ]:
        with pytest.raises(duckdb.Error, match=text):
            old.execute(f"SELECT unseal_aes_encrypt(v, 'old') FROM theirs WHERE id = {number}").fetchall()
    with pytest.raises(duckdb.Error, match="did not verify"):
        old.execute("SELECT unseal_aes_encrypt(v, 'old', 'another') FROM theirs WHERE id = 0").fetchall()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("unseal_aes_encrypt('a'::BLOB, 'random')", 'the policy "random"; expected "gcm"'),
        ("unseal_aes_encrypt('a', 'old')", "the value has type VARCHAR; aes_encrypt returns BLOB"),
        ("try_unseal_aes_encrypt(['a'::BLOB], 'old')", "the value has type BLOB[]; aes_encrypt returns BLOB"),
        ("unseal_aes_encrypt('a'::BLOB, 'old', NULL)", "the aad is NULL"),
        ("unseal_aes_encrypt('a'::BLOB, 'old', 7)", "the aad has type INTEGER; pass text or bytes"),
    ],
)
def test_wrong_calls_for_values_of_aes_encrypt_say_what_to_do(
    old: duckdb.DuckDBPyConnection, call: str, expected: str
) -> None:
    with pytest.raises(duckdb.Error, match=re.escape(expected)):
        old.execute(f"SELECT {call}")


def test_as_type_accepts_the_names_of_other_engines(db: duckdb.DuckDBPyConnection) -> None:
    for name, value, kind in (
        ("timestamp[us, tz=UTC]", "'2026-01-01'::TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"),
        ("decimal128(10, 2)", "1.5::DECIMAL(10, 2)", "DECIMAL(10,2)"),
        ("timestamp_ntz", "'2026-01-01'::TIMESTAMP", "TIMESTAMP"),
        ("long", "7::BIGINT", "BIGINT"),
        ("large_string", "'a'", "VARCHAR"),
    ):
        call = f"unseal(seal({value}, 'random', ''), 'random', '', as_type := '{name}')"
        assert db.sql(f"SELECT typeof({call}), {call} = {value}").fetchall() == [(kind, True)], name


def test_the_leaves_of_a_struct_can_be_sealed_alone(db: duckdb.DuckDBPyConnection) -> None:
    sealed = "{'street': seal('Main', 'random', 'c.street'), 'zip': 7}"
    opened = (
        f"unseal({sealed}, 'random', 'c', as_type := 'STRUCT(street VARCHAR, zip INTEGER)', plain := ['zip'])"
    )
    assert column(db, f"SELECT {opened}") == [{"street": "Main", "zip": 7}]


def test_arguments_can_be_named(db: duckdb.DuckDBPyConnection) -> None:
    sealed = "seal(value := 'a', keyset := 'random', context := '', row_id := 7)"
    opened = f"unseal({sealed}, 'random', '', row_id := 7::UTINYINT, as_type := 'VARCHAR')"
    assert column(db, f"SELECT {opened}") == ["a"]


def test_prepared_statements_seal_their_parameters(db: duckdb.DuckDBPyConnection) -> None:
    sealed = "SELECT seal(?::VARCHAR, 'deterministic', 'c')"
    for value in ("a", "b", None):
        (result,) = db.execute(sealed, [value]).fetchone() or ()
        assert (result is None) == (value is None)
        opened = db.execute("SELECT unseal(?::BLOB, 'deterministic', 'c', as_type := 'VARCHAR')", [result])
        assert opened.fetchone() == (value,)
    db.execute("PREPARE p AS SELECT unseal($1::BLOB, 'random', '', as_type := 'BIGINT')")
    (result,) = column(db, "SELECT seal(7::BIGINT, 'random', '')")
    assert db.execute(f"EXECUTE p(from_hex('{result.hex()}'))").fetchone() == (7,)
    db.execute("PREPARE q AS SELECT unseal(seal($1, $2, ''), $2, '', as_type := $3)")
    assert db.execute("EXECUTE q(7::SMALLINT, 'random', 'SMALLINT')").fetchone() == (7,)
    assert db.execute("EXECUTE q('a', 'gcm', 'VARCHAR')").fetchone() == ("a",)


def test_a_persistent_table_opens_after_a_restart(folder: Path, tmp_path: Path) -> None:
    database = str(tmp_path / "people.duckdb")
    with connect(folder, database) as db:
        db.execute(
            "CREATE TABLE t AS SELECT i, seal(i::VARCHAR, 'random', 't.v', i) AS v FROM range(5000) t(i)"
        )
        db.execute("UPDATE t SET v = reseal(v, 'random', 't.v', i)")
    with connect(folder, database) as db:
        opened = "unseal(v, 'random', 't.v', i, as_type := 'VARCHAR')"
        assert column(db, f"SELECT count(*) FILTER ({opened} = i::VARCHAR) FROM t") == [5000]


def test_a_rotated_keyset_is_read_at_once_and_opens_old_values(
    db: duckdb.DuckDBPyConnection, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "k.json"
    shutil.copy(folder / "random.json", file)
    db.execute(f"SET sealcomb_keys = 'folder:{tmp_path}'")
    db.execute("CREATE TABLE t AS SELECT seal('a', 'k', '') AS v")
    old = Keyset.from_tink_json(file.read_text())
    new = old.rotated()
    file.write_text(new.secret_tink_json())
    db.execute("UPDATE t SET v = reseal(v, 'k', '')")
    (sealed,) = column(db, "SELECT v FROM t")
    assert int.from_bytes(sealed[1:5], "big") == new.primary != old.primary
    assert column(db, "SELECT unseal(v, 'k', '', as_type := 'VARCHAR') FROM t") == ["a"]


def test_a_damaged_keyset_is_an_error_without_its_content(
    db: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    db.execute(f"SET sealcomb_keys = 'folder:{tmp_path}'")
    for name, content in (("text", b"c2VjcmV0 key"), ("bytes", b"\xff\xfesecret"), ("empty", b"")):
        (tmp_path / f"{name}.json").write_bytes(content)
        text = message(db, f"SELECT seal(1, '{name}', '')")
        assert f'keyset "{name}"' in text
        assert "secret" not in text
        assert "c2VjcmV0" not in text


def test_the_functions_and_settings_are_those_of_the_record(db: duckdb.DuckDBPyConnection) -> None:
    query = (
        "SELECT function_name, parameters, parameter_types, return_type, lower(stability)"
        " FROM duckdb_functions() WHERE extension_name LIKE '%sealcomb%' ORDER BY ALL"
    )
    lines = [
        f"{name}({', '.join(map(' '.join, zip(names, types, strict=True)))}) -> {returns}, {stability}"
        for name, names, types, returns, stability in db.sql(query).fetchall()
    ]
    settings = "SELECT name, input_type FROM duckdb_settings() WHERE name LIKE 'sealcomb%' ORDER BY ALL"
    lines += [f"SET {name} {kind}" for name, kind in db.sql(settings).fetchall()]
    records.check("duckdb", lines, "duckdb")


def test_plans_and_settings_contain_no_key(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    keys = re.findall(r'"value":\s*"([^"]+)"', "".join(file.read_text() for file in folder.iterdir()))
    assert len(keys) == len(POLICIES)
    db.execute("CREATE TABLE t AS SELECT seal(i, 'random', '') AS v FROM range(3) t(i)")
    query = "SELECT unseal(v, 'random', '') AS v FROM t WHERE seal(7, 'deterministic', '') IS NOT NULL"
    db.execute("CALL enable_logging(level := 'trace')")
    shown = str(db.sql(f"EXPLAIN ANALYZE {query}").fetchall()) + str(db.sql(f"EXPLAIN {query}").fetchall())
    shown += str(db.sql("FROM duckdb_settings()").fetchall()) + str(
        db.sql("FROM duckdb_functions()").fetchall()
    )
    shown += str(db.sql("SELECT type, message FROM duckdb_logs").fetchall())
    assert "unseal" in shown
    assert not [key for key in keys if key in shown]


def test_the_environment_names_the_folder_unless_the_setting_does(folder: Path, tmp_path: Path) -> None:
    code = f"""
import duckdb
db = duckdb.connect(config={{"allow_unsigned_extensions": "true"}})
db.load_extension({str(EXTENSION)!r})
for name in ("random", "other"):
    try:
        print(db.sql(f"SELECT octet_length(seal('a', '{{name}}', ''))").fetchall())
    except duckdb.Error as error:
        print(error)
    db.sql("SET sealcomb_keys = {f"folder:{tmp_path}"!r}")
"""
    shutil.copy(folder / "random.json", tmp_path / "other.json")
    run = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "SEALCOMB_KEYS"}
    with_variable = environment | {"SEALCOMB_KEYS": f"folder:{folder}"}
    printed = subprocess.run(run, env=with_variable, capture_output=True, text=True, check=True).stdout
    assert printed == "[(34,)]\n[(34,)]\n"
    printed = subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout
    assert (
        "SET sealcomb_keys = 'folder:PATH' or 'env', or set the environment variable SEALCOMB_KEYS" in printed
    )


def test_the_extension_loads_in_the_releases_of_its_folder_only(tmp_path: Path) -> None:
    releases = [folder.name for folder in FOLDER.glob("v*")]
    assert f"v{duckdb.__version__}" in releases
    config = {"allow_unsigned_extensions": "true", "extension_directory": str(tmp_path)}
    with duckdb.connect(config=config) as db:
        for release in releases:
            if release != f"v{duckdb.__version__}":
                built_for = rf"built specifically for DuckDB version '{re.escape(release)}'"
                with pytest.raises(duckdb.Error, match=built_for):
                    db.load_extension(str(FOLDER / release / PLATFORM / EXTENSION.name))
        # DuckDB installs the file of its release.
        db.execute(f"INSTALL sealcomb FROM '{FOLDER}'; LOAD sealcomb")
        installed = "SELECT extension_version FROM duckdb_extensions() WHERE extension_name = 'sealcomb'"
        assert column(db, installed) == ["v0.1.0"]
    (tmp_path / "empty").mkdir()
    with duckdb.connect(config=config) as db, pytest.raises(duckdb.Error, match=rf"v{duckdb.__version__}"):
        db.execute(f"FORCE INSTALL sealcomb FROM '{tmp_path / 'empty'}'")


def test_the_blocks_of_the_manual_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FOLDER, tmp_path / "target" / "duckdb")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(python|sql)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    results = []
    config = {"allow_unsigned_extensions": "true", "extension_directory": str(tmp_path / "installed")}
    with duckdb.connect(config=config) as db:
        for language, code in blocks:
            if language == "python":
                exec(compile(code, PAGE.name, "exec"), {"__name__": "example"})
                continue
            for statement in duckdb.extract_statements(code):
                result = db.execute(statement)
                results.append(result.fetchall() if result.description else [])
        opened = [each for each in results if len(each) == 3]
        assert [(row[0], row[1], row[2], row[3] and float(row[3])) for row in opened[-1]] == [
            (1, "078-05-1120", "likes tea", 51000),
            (2, "219-09-9999", None, 48500.5),
            (3, "078-05-1120", "", None),
        ]
        assert sorted(row for each in results if len(each) == 2 for row in each) == [(1,), (1,), (2,), (3,)]


def test_keysets_of_environment_variables(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    program = """
import duckdb, sys
db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
db.load_extension(sys.argv[1])
for setting in ("env", "env:OTHER_"):
    db.execute(f"SET sealcomb_keys = '{setting}'")
    sealed = db.execute("SELECT seal('tea', 'my-keys.2', 'c')").fetchone()[0]
    query = "SELECT unseal($1, 'my-keys.2', 'c', as_type => 'VARCHAR')"
    assert db.execute(query, [sealed]).fetchone() == ("tea",)
    try:
        db.execute("SELECT seal('tea', 'ids', 'c')")
    except duckdb.Error as error:
        print(error)
"""
    text = Keyset.generate().secret_tink_json()
    environment = {**os.environ, "SEALCOMB_KEYSET_MY_KEYS_2": text, "OTHER_MY_KEYS_2": text}
    command = [sys.executable, "-P", "-c", program, str(duckdb_sessions.EXTENSION)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "the environment variable SEALCOMB_KEYSET_IDS is not set" in done.stdout
    assert "the environment variable OTHER_IDS is not set" in done.stdout
    for wrong in (str(folder), "folder:", "class:x"):
        db.execute(f"SET SESSION sealcomb_keys = '{wrong}'")
        assert "SET sealcomb_keys = 'folder:PATH' or 'env'" in message(db, "SELECT seal(1, 'random', 'c')")
    db.execute("RESET SESSION sealcomb_keys")
