"""Every value in a nested value is verified, unless the caller says that it was never sealed.

Types of tables and files can be changed without a key, so they don't decide what is verified.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import duckdb_sessions
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from duckdb_sessions import column, message

folder, db = duckdb_sessions.folder, duckdb_sessions.db

# The type of a column, an expression of its value in which one leaf is replaced, and the path of that leaf.
PLACES = {
    "struct": ("STRUCT(name VARCHAR, iban {0})", "{{'name': {name}, 'iban': {1}}}", "iban"),
    "struct in a struct": (
        "STRUCT(name VARCHAR, s STRUCT(iban {0}))",
        "{{'name': {name}, 's': {{'iban': {1}}}}}",
        "s.iban",
    ),
    "list": ("STRUCT(name VARCHAR, l {0}[])", "{{'name': {name}, 'l': [{1}]}}", "l.element"),
    "array": (
        "STRUCT(name VARCHAR, l {0}[2])",
        "{{'name': {name}, 'l': array_value({1}, {1})}}",
        "l.element",
    ),
    "key": (
        "STRUCT(name VARCHAR, m MAP({0}, VARCHAR))",
        "{{'name': {name}, 'm': MAP {{{1}: NULL::BLOB}}}}",
        "m.key",
    ),
    "value": (
        "STRUCT(name VARCHAR, m MAP(VARCHAR, {0}))",
        "{{'name': {name}, 'm': MAP {{seal('k', 'random', 'c.m.key'): {1}}}}}",
        "m.value",
    ),
    "member": (
        "STRUCT(name VARCHAR, u UNION(iban {0}, number INTEGER))",
        "{{'name': {name}, 'u': union_value(iban := {1})::UNION(iban {0}, number BLOB)}}",
        "u.iban",
    ),
    "all of a list": ("{0}[]", "[{1}]", "element"),
}
# Types that a leaf may get, with values. Those of 16 bytes are carried like bytes.
REPLACEMENTS = {
    "VARCHAR": "'DE00 forged'",
    "INTEGER": "7",
    "UUID": "'00112233-4455-6677-8899-aabbccddeeff'::UUID",
    "HUGEINT": "7::HUGEINT",
    "TIMETZ": "'12:00:00+00'::TIMETZ",
    "BIT": "'101'::BIT",
    "DATE": "'2026-01-01'::DATE",
    "ENUM('a')": "'a'::ENUM('a')",
    "DECIMAL(9, 2)": "1.5::DECIMAL(9, 2)",
    "BOOLEAN": "true",
}
NAME = "seal('Ada', 'random', 'c.name')"


def replaced(db: duckdb.DuckDBPyConnection, place: str, sql: str, value: str) -> str:
    """Creates the table t with one replaced leaf, and returns the type of the column that was sealed."""
    kind, expression, _ = PLACES[place]
    db.execute(f"CREATE OR REPLACE TABLE t AS SELECT {expression.format(sql, value, name=NAME)} AS v")
    return kind.format("VARCHAR" if sql.startswith("ENUM") else sql).replace("'", "''")


def calls(kind: str, extra: str = "") -> list[str]:
    as_type = f", as_type := '{kind}'"
    return [
        *(
            f"{name}(v, 'random', 'c'{more}{extra})"
            for name in ("unseal", "try_unseal")
            for more in ("", as_type)
        ),
        f"reseal(v, 'random', 'c'{extra})",
    ]


@pytest.mark.parametrize("sql", REPLACEMENTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_leaf_that_was_replaced_by_a_plain_one_is_an_error(
    db: duckdb.DuckDBPyConnection, place: str, sql: str
) -> None:
    kind = replaced(db, place, sql, REPLACEMENTS[sql])
    for call in calls(kind):
        text = message(db, f"SELECT {call} FROM t")
        assert PLACES[place][2] in text, call
        assert "but a sealed value is a BLOB" in text, call
        # Whether there are rows makes no difference, nor whether they are null.
        assert "but a sealed value is a BLOB" in message(db, f"SELECT {call} FROM t WHERE false")


@pytest.mark.parametrize("place", PLACES)
def test_a_leaf_that_was_replaced_by_plain_bytes_does_not_open(
    db: duckdb.DuckDBPyConnection, place: str
) -> None:
    kind = replaced(db, place, "BLOB", "'DE00 forged'::BLOB").replace("BLOB", "VARCHAR")
    for call in calls(kind):
        if call.startswith("try_"):
            (text,) = column(db, f"SELECT ({call})::VARCHAR FROM t")
            # A map with a key that does not open is null.
            assert "forged" not in text and (place != "key" or "NULL" in text), text
        else:
            message(db, f"SELECT {call} FROM t")


@pytest.mark.parametrize("sql", REPLACEMENTS)
@pytest.mark.parametrize("place", [place for place in PLACES if not place.startswith("all")])
def test_a_leaf_that_the_caller_names_stays_as_it_is(
    db: duckdb.DuckDBPyConnection, place: str, sql: str
) -> None:
    kind = replaced(db, place, sql, REPLACEMENTS[sql])
    path = PLACES[place][2]
    for call in calls(kind, f", plain := ['{path}']"):
        got = db.sql(f"SELECT r::VARCHAR, (r.name)::VARCHAR FROM (SELECT {call} AS r FROM t)").fetchall()[0]
        plain = column(db, f"SELECT ({REPLACEMENTS[sql]})::VARCHAR")[0]
        assert plain in got[0], call
        assert ("Ada" in got[1]) == (not call.startswith("reseal")), call


def test_resealing_keeps_plain_leaves_and_seals_the_others_again(db: duckdb.DuckDBPyConnection) -> None:
    kind = replaced(db, "struct", "INTEGER", "7")
    db.execute("UPDATE t SET v = reseal(v, 'random', 'c', plain := ['iban'])")
    call = f"unseal(v, 'random', 'c', as_type := '{kind}', plain := ['iban'])"
    assert column(db, f"SELECT {call} FROM t") == [{"name": "Ada", "iban": 7}]


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("['zip']", 'names "zip", which is no leaf'),
        ("['']", 'names "", which is no leaf'),
        ("['IBAN']", 'names "IBAN", which is no leaf'),
        ("['iban', 'name']", "names every leaf"),
        ("['iban', NULL]", "plain is a list of paths"),
        ("[7]", "plain is a list of paths"),
        ("'iban'", "plain is a list of paths"),
        ("7", "plain is a list of paths"),
        ("[['iban']]", "plain is a list of paths"),
        ("[v.name::VARCHAR]", "constant"),
        ("[]", "but a sealed value is a BLOB"),
        ("NULL", "but a sealed value is a BLOB"),
        ("NULL::VARCHAR[]", "but a sealed value is a BLOB"),
    ],
)
def test_wrong_names_of_plain_leaves_are_errors(
    db: duckdb.DuckDBPyConnection, plain: str, expected: str
) -> None:
    replaced(db, "struct", "INTEGER", "7")
    for function in ("unseal", "try_unseal", "reseal"):
        assert expected in message(db, f"SELECT {function}(v, 'random', 'c', plain := {plain}) FROM t")


def test_a_sealed_leaf_cannot_be_called_plain(db: duckdb.DuckDBPyConnection) -> None:
    db.execute("CREATE TABLE t AS SELECT seal({'a': 'x', 'b': 'y'}, 'random', 'c') AS v FROM range(3)")
    for function in ("unseal", "try_unseal", "reseal"):
        text = message(db, f"SELECT {function}(v, 'random', 'c', plain := ['a']) FROM t")
        assert '"a", which is sealed' in text


def test_leaves_of_the_same_path_cannot_be_called_plain(db: duckdb.DuckDBPyConnection) -> None:
    value = "{'a.b': 7, 'a': {'b': seal('x', 'random', 'a.b')}}"
    assert "several leaves have this path" in message(
        db, f"SELECT unseal({value}, 'random', '', plain := ['a.b'])"
    )


def test_a_value_that_is_not_nested_has_no_plain_leaves(db: duckdb.DuckDBPyConnection) -> None:
    for path in ("a", ""):
        assert "is not nested" in message(
            db, f"SELECT unseal(seal(1, 'random', ''), 'random', '', plain := ['{path}'])"
        )
    assert "is a BLOB, not VARCHAR" in message(db, "SELECT unseal('a', 'random', '', plain := [])")


def test_as_type_cannot_change_a_plain_leaf(db: duckdb.DuckDBPyConnection) -> None:
    replaced(db, "struct", "INTEGER", "7")
    call = "unseal(v, 'random', 'c', as_type := 'STRUCT(name VARCHAR, iban BIGINT)', plain := ['iban'])"
    assert 'the leaf "iban" is INTEGER, and plain' in message(db, f"SELECT {call} FROM t")


def test_plain_bytes_stay_bytes(db: duckdb.DuckDBPyConnection) -> None:
    replaced(db, "struct", "BLOB", "'photo'::BLOB")
    call = "unseal(v, 'random', 'c', as_type := 'STRUCT(name VARCHAR, iban BLOB)', plain := ['iban'])"
    assert column(db, f"SELECT {call} FROM t") == [{"name": "Ada", "iban": b"photo"}]


def test_plain_leaves_can_be_a_parameter(db: duckdb.DuckDBPyConnection) -> None:
    replaced(db, "struct", "INTEGER", "7")
    query = (
        "SELECT unseal(v, 'random', 'c', plain := $1, as_type := 'STRUCT(name VARCHAR, iban INTEGER)') FROM t"
    )
    assert db.execute(query, [["iban"]]).fetchall() == [({"name": "Ada", "iban": 7},)]
    assert column(db, "SELECT unseal(NULL, 'random', '', plain := ['a'])") == [None]


def test_a_leaf_replaced_in_a_parquet_file_is_an_error(db: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    kind = "STRUCT(name VARCHAR, iban VARCHAR)"
    sealed = "seal({'name': 'Ada', 'iban': 'DE00'}, 'random', 'c', i)"
    db.execute(f"COPY (SELECT i, {sealed} AS v FROM range(5) t(i)) TO '{file}'")
    call = f"unseal(v, 'random', 'c', i, as_type := '{kind}')"
    assert column(db, f"SELECT {call} FROM '{file}'") == [{"name": "Ada", "iban": "DE00"}] * 5
    table = pq.read_table(file)
    names = table["v"].combine_chunks().field("name")
    for forged in (pa.array(["forged"] * 5), pa.array([7] * 5), pa.array([None] * 5, pa.string())):
        v = pa.StructArray.from_arrays([names, forged], ["name", "iban"])
        pq.write_table(pa.table({"i": table["i"], "v": v}), file)
        for function in ("unseal", "try_unseal"):
            text = message(db, f"SELECT {call.replace('unseal', function)} FROM '{file}'")
            assert "may have been replaced" in text
        assert "may have been replaced" in message(db, f"SELECT reseal(v, 'random', 'c', i) FROM '{file}'")
