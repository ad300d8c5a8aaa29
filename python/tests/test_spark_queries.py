"""Over sealed columns, every query of Spark with the jar returns what it returns over the plain ones.

Only the executors of the cluster have keys. How Spark runs each query is drawn from SEALCOMB_SEED, which CI
changes for each commit. SEALCOMB_QUERIES is the number of queries that are drawn from a grammar, and of fixed
queries.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from threading import Timer
from typing import Any

import pytest
from pyspark.sql import SparkSession
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
from test_spark import Cluster, cluster, folder, keys, keysets, session  # noqa: F401

from sealcomb import KeyProvider, keys_from_file
from sealcomb._spark_jar import EXTENSION, source_of

SEED = int(os.environ.get("SEALCOMB_SEED", "1"))
COUNT = int(os.environ.get("SEALCOMB_QUERIES", "25"))
# Seconds after which a query counts as one that never ends.
LIMIT = 120
KEYSETS = {"deterministic": "ids", "random": "notes"}
FORMS = ("parquet", "orc", "partitioned", "bucketed", "cached", "rows")
# What is drawn for each query.
SETTINGS = {
    "spark.sql.adaptive.enabled": ("true", "false"),
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.codegen.wholeStage": ("true", "false"),
    "spark.sql.autoBroadcastJoinThreshold": ("-1", "10485760"),
    "spark.sql.parquet.enableVectorizedReader": ("true", "false"),
    "spark.sql.sources.v1SourceList": ("parquet,orc,csv", "csv"),
    "spark.sql.optimizer.excludedRules": (
        "",
        "org.apache.spark.sql.catalyst.optimizer.CollapseProject",
        "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates",
        "org.apache.spark.sql.catalyst.optimizer.ColumnPruning",
    ),
}
HINTS = ("BROADCAST", "MERGE", "SHUFFLE_HASH", "SHUFFLE_REPLICATE_NL")

SPARK_QUERIES = [
    *(
        f"SELECT /*+ {hint}(c) */ p.id, c.claim"
        f" FROM {{people}} AS p {kind} {{claims}} AS c ON {{p.ssn}} = {{c.ssn}}"
        for hint in HINTS
        for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
    ),
    "SELECT p.id FROM {people} AS p LEFT SEMI JOIN {claims} AS c ON {p.ssn} = {c.ssn} AND {c.num} > 3",
    "SELECT p.id FROM {people} AS p LEFT ANTI JOIN {claims} AS c ON {p.ssn} = {c.ssn}",
    "SELECT * FROM (SELECT city, {num} AS n FROM {people}) PIVOT (max(n) FOR city IN ('Oslo', 'Riga'))",
    "SELECT id, x FROM {people} LATERAL VIEW explode(array({num}, id)) t AS x",
    "SELECT id, {ssn=x} FROM {people} LATERAL VIEW explode(array(ssn, ssn)) t AS x",
    "SELECT {ssn=element_at(collect_list(ssn), 1)} IS NULL, count(*) FROM {people} GROUP BY city",
    "SELECT array_sort(collect_set({ssn})), sum({num}) FROM {people} GROUP BY city",
    "SELECT transform(array({num}, 1), x -> x + 1) FROM {people}",
    "SELECT {num} AS a, a + 1 AS b FROM {people}",
    "SELECT id FROM {people} ORDER BY {num}, id LIMIT 3",
    "SELECT id, {ssn} FROM {people} DISTRIBUTE BY {ssn} SORT BY id",
    "SELECT {ssn=max_by(ssn, id)}, {ssn=min_by(ssn, id)}, {day=max_by(day, id)} FROM {people}",
    "SELECT ALL {ssn} FROM {people} TABLESAMPLE (100 PERCENT)",
    "FROM {people} |> WHERE {num} > 3 |> SELECT id, {ssn} |> ORDER BY id |> LIMIT 5",
]
TEMPLATES = [*QUERIES, *SPARK_QUERIES]


def chosen() -> list[str]:
    random = Random(SEED)
    fixed = random.sample(TEMPLATES, min(COUNT, len(TEMPLATES)))
    grammar = Drawn(random)
    return [*fixed, *(grammar.query() for _ in range(COUNT))]


def opened(name: str, expression: str) -> str:
    return f"unseal({expression}, '{KEYSETS[SEALED[name]]}', '{name}')"


def values(row: tuple[Any, ...]) -> str:
    return ", ".join(
        "NULL" if value is None else f"DATE '{value}'" if hasattr(value, "year") else repr(value)
        for value in row
    )


@pytest.fixture(scope="module")
def spark(cluster: Cluster, folder: os.PathLike[str]) -> Iterator[SparkSession]:  # noqa: F811
    provider: KeyProvider = keys_from_file(folder)
    spark = session(
        cluster,
        spark__jars=os.environ["SEALCOMB_SPARK_JAR"],
        spark__sql__extensions=EXTENSION,
        spark__sealcomb__keys=str(source_of(provider)),
        spark__sealcomb__deterministic="ids",
        spark__speculation="false",
    )
    create_tables(spark)
    yield spark
    spark.stop()


def create_tables(spark: SparkSession) -> None:
    """Creates plain and sealed tables, the sealed ones in every form."""
    for name, types, rows in (("people", PEOPLE_TYPES, PEOPLE), ("claims", CLAIMS_TYPES, CLAIMS)):
        columns = ", ".join(types)
        spark.sql(
            f"CREATE TABLE {name} ({', '.join(f'{each} {sql}' for each, sql in types.items())}) USING parquet"
        )
        spark.sql(f"INSERT INTO {name} VALUES {', '.join(f'({values(row)})' for row in rows)}")
        sealed = ", ".join(
            f"seal({each}, '{KEYSETS[SEALED[each]]}', '{each}') AS {each}" if each in SEALED else each
            for each in types
        )
        query = f"SELECT {sealed} FROM {name}"
        spark.sql(f"CREATE TABLE parquet_{name} USING parquet AS {query}")
        spark.sql(f"CREATE TABLE orc_{name} USING orc AS {query}")
        partition = "city" if name == "people" else "kind"
        spark.sql(f"CREATE TABLE partitioned_{name} USING parquet PARTITIONED BY ({partition}) AS {query}")
        buckets = "CLUSTERED BY (ssn) SORTED BY (ssn) INTO 2 BUCKETS"
        spark.sql(f"CREATE TABLE bucketed_{name} USING parquet {buckets} AS {query}")
        spark.sql(f"CREATE TEMPORARY VIEW cached_{name} AS SELECT {columns} FROM parquet_{name}")
        spark.sql(f"CACHE TABLE cached_{name}")
        spark.sql(f"CREATE VIEW rows_{name} AS SELECT {columns} FROM orc_{name}")


def run(spark: SparkSession, query: str) -> list[str]:
    """Returns the rows of a query as text. A query that does not end is canceled."""
    spark.sparkContext.setJobGroup("query", query, interruptOnCancel=True)
    alarm = Timer(LIMIT, spark.sparkContext.cancelAllJobs)
    alarm.start()
    try:
        return [repr(tuple(row)) for row in spark.sql(query).collect()]
    finally:
        alarm.cancel()


@pytest.mark.parametrize("template", chosen())
def test_a_query_over_sealed_columns_has_the_rows_of_the_plain_ones(
    spark: SparkSession, template: str
) -> None:
    random = Random(f"{SEED} {template}")
    drawn = {name: random.choice(choices) for name, choices in SETTINGS.items()}
    form = random.choice(FORMS)
    tables = {name: f"{form}_{name}" for name in ("people", "claims")}
    for name, value in drawn.items():
        spark.conf.set(name, value)
    expected = run(spark, plain(template))
    found = run(spark, render(template, tables, opened))
    if not is_ordered(template):
        expected, found = sorted(expected), sorted(found)
    assert found == expected, (form, drawn, render(template, tables, opened))
