"""Over sealed columns, every query of DuckDB returns what it returns over the plain ones.

How DuckDB runs each is drawn from SEALCOMB_SEED, which CI changes for each commit. SEALCOMB_QUERIES is the
number of queries that are drawn from a grammar.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import duckdb_queries
import duckdb_sessions
import pytest
from duckdb_sessions import column, connect
from queries import (
    CLAIMS,
    CLAIMS_TYPES,
    PEOPLE,
    PEOPLE_TYPES,
    QUERIES,
    SEALED,
    Drawn,
    is_ordered,
    plain,
    render,
)

folder = duckdb_sessions.folder

SEED = int(os.environ.get("SEALCOMB_SEED", "1"))
COUNT = int(os.environ.get("SEALCOMB_QUERIES", "100"))
VECTOR = 2048
# The types of the opened columns, and the policies of their keysets.
OPENED = {
    **{name: (sql, SEALED[name]) for name, sql in (PEOPLE_TYPES | CLAIMS_TYPES).items() if name in SEALED},
    "tags": ("STRING[]", "random"),
    "addr": ("STRUCT(town STRING, zip INT)", "random"),
}
TABLES = {"people": "sealed_people", "claims": "sealed_claims"}


def opened(name: str, expression: str) -> str:
    sql, policy = OPENED[name]
    return f"unseal({expression}, '{policy}', 'people.{name}', as_type := '{sql}')"


def sealed(template: str) -> str:
    return render(template, TABLES, opened)


def create_tables(db: duckdb.DuckDBPyConnection, factor: int = 1) -> None:
    """Creates the plain and the sealed tables. `factor` repeats the people, each time with other ids."""
    db.execute(f"CREATE TABLE base ({', '.join(f'{name} {sql}' for name, sql in PEOPLE_TYPES.items())})")
    db.executemany("INSERT INTO base VALUES (?, ?, ?, ?, ?, ?)", PEOPLE)
    db.execute(f"CREATE TABLE claims ({', '.join(f'{name} {sql}' for name, sql in CLAIMS_TYPES.items())})")
    db.executemany("INSERT INTO claims VALUES (?, ?, ?, ?)", CLAIMS)
    db.execute(
        f"""CREATE TABLE people AS SELECT id + {len(PEOPLE)} * f AS id, * EXCLUDE (id),
            CASE WHEN id % 5 > 0 THEN ['t' || (id % 4), NULL, 't' || (id % 6)][:id % 4] END AS tags,
            CASE WHEN id % 7 > 0 THEN struct_pack(town := city, zip := 1000 + id % 8) END AS addr
        FROM base, range({factor}) AS r(f)"""
    )
    for name, table in TABLES.items():
        names = [row[0] for row in db.sql(f"DESCRIBE {name}").fetchall()]
        sealed = [
            f"seal({each}, '{OPENED[each][1]}', 'people.{each}') AS {each}" if each in OPENED else each
            for each in names
        ]
        db.execute(f"CREATE TABLE {table} AS SELECT {', '.join(sealed)} FROM {name}")


@dataclass(frozen=True)
class Way:
    """How DuckDB runs a query."""

    threads: int = 1
    parquet: bool = False
    without: tuple[str, ...] = ()
    verified: bool = False
    prepared: bool = False

    @classmethod
    def drawn(cls, random: Random, optimizers: list[str]) -> Way:
        without = random.sample(optimizers, random.choice((0, 0, 1, 1, 4, len(optimizers))))
        return cls(
            random.choice((1, 4)),
            random.random() < 0.3,
            tuple(sorted(without)),
            random.random() < 0.1,
            random.random() < 0.2,
        )


class Engine:
    """A database with the tables, and the ways to run queries on them."""

    def __init__(self, folder: Path, files: Path, factor: int = 1) -> None:
        self.db = connect(folder)
        create_tables(self.db, factor)
        self.db.execute("CREATE SCHEMA files")
        for name in ("people", "claims", *TABLES.values()):
            file = files / f"{name}.parquet"
            self.db.execute(f"COPY {name} TO '{file}' (ROW_GROUP_SIZE 2048)")
            self.db.execute(f"CREATE VIEW files.{name} AS FROM '{file}'")
        self.optimizers = column(self.db, "SELECT name FROM duckdb_optimizers()")

    def set(self, way: Way) -> None:
        self.db.execute(f"SET threads = {way.threads}; USE {'files' if way.parquet else 'main'}")
        self.db.execute(f"SET disabled_optimizers = '{','.join(way.without)}'")
        self.db.execute(f"PRAGMA {'enable' if way.verified else 'disable'}_verification")

    def rows(self, query: str, *, ordered: bool, prepared: bool = False) -> list[str]:
        if prepared:
            self.db.execute(f"PREPARE q AS {query}")
            query = "EXECUTE q"
        rows = [repr(row) for row in self.db.execute(query).fetchall()]
        return rows if ordered else sorted(rows)

    def check(self, template: str, way: Way) -> None:
        ordered = is_ordered(template)
        self.set(Way())
        expected = self.rows(plain(template), ordered=ordered)
        self.set(way)
        query = sealed(template)
        assert self.rows(query, ordered=ordered, prepared=way.prepared) == expected, (way, query)


@pytest.fixture(scope="module")
def engine(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(folder, tmp_path_factory.mktemp("files"))
    yield engine
    engine.db.close()


@pytest.mark.parametrize("template", [*QUERIES, *duckdb_queries.QUERIES])
def test_a_query_returns_what_it_returns_over_plain_columns(engine: Engine, template: str) -> None:
    engine.check(template, Way())
    engine.check(template, Way.drawn(Random(f"{SEED} {template}"), engine.optimizers))


def test_drawn_queries_return_what_they_return_over_plain_columns(engine: Engine) -> None:
    random = Random(SEED)
    drawn = Drawn(random)
    for _ in range(COUNT):
        engine.check(drawn.query(), Way.drawn(random, engine.optimizers))


def test_queries_without_each_optimizer_return_the_same(engine: Engine) -> None:
    random = Random(SEED)
    for optimizer in engine.optimizers:
        for template in random.sample([*QUERIES, *duckdb_queries.QUERIES], 4):
            engine.check(template, Way(without=(optimizer,), threads=random.choice((1, 4))))


LARGE = [
    "SELECT count(*), count({ssn}), sum({num}), min({note}), max({day}) FROM {people}",
    "SELECT id, {note} FROM {people} ORDER BY id LIMIT 3 OFFSET 2046",
    "SELECT id FROM {people} WHERE {num} = 27 ORDER BY id",
    "SELECT {ssn}, count(*), sum({num}) FROM {people} GROUP BY {ssn}",
    "SELECT {tags}, count(*) FROM {people} GROUP BY {tags}",
    "SELECT count(*), sum(len({tags})), sum(({addr}).zip) FROM {people}",
    "SELECT sum(length(t)) FROM (SELECT unnest({tags}) AS t FROM {people})",
    "SELECT sum(m) FROM (SELECT max({num}) OVER (PARTITION BY {ssn} ORDER BY id) AS m FROM {people})",
    "SELECT count(*) FROM {people} AS p JOIN {claims} AS c ON {p.ssn} = {c.ssn}",
    "SELECT count(*) FROM {people} AS p LEFT JOIN {claims} AS c ON {p.num} = {c.num} AND {p.ssn} > {c.ssn}",
    "SELECT DISTINCT {note}, {day} FROM {people}",
    "SELECT id, {num} FROM {people} ORDER BY {num} DESC, id LIMIT 2050",
]


@pytest.mark.parametrize("factor", [34, 35, 69])
def test_large_tables_return_the_same(folder: Path, tmp_path: Path, factor: int) -> None:
    # 2040, 2100 and 4140 rows.
    engine = Engine(folder, tmp_path, factor)
    random = Random(SEED)
    for template in LARGE:
        for _ in range(2):
            engine.check(template, Way.drawn(random, engine.optimizers))


def test_statements_that_change_tables_do_the_same(engine: Engine) -> None:
    engine.set(Way())
    statements = [
        "CREATE OR REPLACE TABLE TARGET AS SELECT id, {ssn} AS s, {num} AS n FROM {people}",
        "INSERT INTO TARGET SELECT id + 100, {ssn}, {num} FROM {people} WHERE {num} > 3",
        "UPDATE TARGET SET n = t.n + 1 FROM (SELECT id, {num} AS n FROM {people}) AS t"
        " WHERE TARGET.id = t.id",
        "DELETE FROM TARGET USING (SELECT {ssn} AS s FROM {claims}) AS c WHERE TARGET.s = c.s AND id % 2 = 0",
        "MERGE INTO TARGET USING (SELECT id, {note} AS s, {num} AS n FROM {people}) AS t ON TARGET.id = t.id"
        " WHEN MATCHED THEN UPDATE SET s = t.s WHEN NOT MATCHED THEN INSERT VALUES (t.id, t.s, t.n)",
        "INSERT INTO TARGET BY NAME SELECT id, {ssn} AS s FROM {people} LIMIT 0",
    ]
    for statement in statements:
        for target, text in (("kept_plain", plain(statement)), ("kept_opened", sealed(statement))):
            engine.db.execute(text.replace("TARGET", target))
        tables = [engine.rows(f"FROM {name}", ordered=False) for name in ("kept_plain", "kept_opened")]
        assert tables[0] == tables[1], statement


def test_opened_columns_can_be_copied_to_files_and_back(engine: Engine, tmp_path: Path) -> None:
    engine.set(Way())
    template = (
        "SELECT id, {ssn} AS ssn, {num} AS num, {day} AS day, {tags} AS tags, {addr} AS addr FROM {people}"
    )
    for kind in ("parquet", "json", "csv"):
        read = []
        for name, query in (("plain", plain(template)), ("opened", sealed(template))):
            file = tmp_path / f"{name}.{kind}"
            engine.db.execute(f"COPY ({query}) TO '{file}' (FORMAT {kind})")
            read.append(engine.rows(f"FROM '{file}'", ordered=False))
        assert read[0] == read[1]
        assert len(read[0]) == len(PEOPLE)


def test_views_and_macros_open_columns(engine: Engine) -> None:
    db = engine.db
    engine.set(Way())
    for name, table in TABLES.items():
        columns = [row[0] for row in db.sql(f"DESCRIBE {table}").fetchall()]
        items = ", ".join(f"{opened(each, each)} AS {each}" if each in OPENED else each for each in columns)
        db.execute(f"CREATE OR REPLACE VIEW {name}_view AS SELECT {items} FROM {table}")
        db.execute(f"CREATE OR REPLACE MACRO {name}_macro() AS TABLE SELECT {items} FROM {table}")
    db.execute(f"CREATE OR REPLACE MACRO ssn_of(x) AS {opened('ssn', 'x')}")
    assert engine.rows("SELECT ssn_of(ssn) FROM sealed_people", ordered=False) == engine.rows(
        "SELECT ssn FROM people", ordered=False
    )
    for template in (*QUERIES, *duckdb_queries.QUERIES):
        expected = engine.rows(plain(template), ordered=is_ordered(template))
        views = {name: f"{name}_view" for name in TABLES}
        query = render(template, views, lambda _, expression: expression)
        assert engine.rows(query, ordered=is_ordered(template)) == expected, query
    assert engine.rows("FROM people_macro() SELECT id, ssn, tags", ordered=False) == engine.rows(
        "FROM people SELECT id, ssn, tags", ordered=False
    )


def test_prepared_statements_open_with_their_parameters(engine: Engine) -> None:
    engine.set(Way())
    for least in (-5, 0, 27, 99):
        expected: list[Any] = engine.db.execute(
            "SELECT id FROM people WHERE num > $1 ORDER BY id", [least]
        ).fetchall()
        call = opened("num", "num").replace("'deterministic'", "$2").replace("'people.num'", "$3")
        query = f"SELECT id FROM sealed_people WHERE {call} > $1 ORDER BY id"
        assert engine.db.execute(query, [least, "deterministic", "people.num"]).fetchall() == expected
