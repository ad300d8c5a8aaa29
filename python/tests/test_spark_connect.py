"""Through Spark Connect, queries over sealed columns return what they return over the plain ones.

The client has neither a JVM nor keys. The server is the driver of a cluster, and has the jar.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any, cast

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.connect import functions as F  # noqa: N812
from pyspark.sql.connect.session import SparkSession as Client
from pyspark.sql.connect.window import Window
from queries import SEALED, Drawn, is_ordered, plain, render
from test_spark import QUICK_START, Cluster, cluster, folder, free_port, keys, keysets, wait_for  # noqa: F401
from test_spark_queries import COUNT, FORMS, KEYSETS, LIMIT, SEED, SETTINGS, TEMPLATES, create_tables, opened

import sealcomb.spark
from sealcomb import KeyProvider, keys_from_file
from sealcomb._spark_jar import EXTENSION, Jar, source_of

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def spark(cluster: Cluster, folder: Path) -> Iterator[SparkSession]:  # noqa: F811
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.jars": os.environ["SEALCOMB_SPARK_JAR"],
        "spark.sql.extensions": EXTENSION,
        "spark.sealcomb.keys": source_of(keys_from_file(folder)),
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.executor.memory": "512m",
        "spark.local.dir": cluster.folder / "local",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": cluster.folder / "warehouse",
        "spark.ui.enabled": "false",
    }
    options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    environment = os.environ | {
        "SPARK_HOME": str(cluster.home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    submit = [str(cluster.home / "bin" / "spark-class"), "org.apache.spark.deploy.SparkSubmit"]
    command = [*submit, "--master", cluster.url, *options, "--class", SERVER, "spark-internal"]
    with (cluster.folder / "connect.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=cluster.folder, env=environment, stdout=log, stderr=log)
    try:
        wait_for(port)
        client = cast("SparkSession", Client.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate())
        create_tables(client)
        yield client
        client.stop()
    finally:
        server.terminate()
        server.wait(timeout=60)


def rows(df: DataFrame, *, ordered: bool = False) -> list[str]:
    """Returns the rows of a query as text. A query that does not end is interrupted."""
    alarm = Timer(LIMIT, df.sparkSession.interruptAll)
    alarm.start()
    try:
        found = [repr(tuple(row)) for row in df.collect()]
    finally:
        alarm.cancel()
    return found if ordered else sorted(found)


def chosen() -> list[str]:
    """Returns other queries than those that are run without Connect."""
    random = Random(f"connect {SEED}")
    fixed = random.sample(TEMPLATES, min(COUNT, len(TEMPLATES)))
    grammar = Drawn(random)
    return [*fixed, *(grammar.query() for _ in range(COUNT))]


@pytest.mark.parametrize("template", chosen())
def test_a_query_over_sealed_columns_has_the_rows_of_the_plain_ones(
    spark: SparkSession, template: str
) -> None:
    random = Random(f"{SEED} {template}")
    drawn = {name: random.choice(choices) for name, choices in SETTINGS.items()}
    form = random.choice(FORMS)
    for name, value in drawn.items():
        spark.conf.set(name, value)
    query = render(template, {name: f"{form}_{name}" for name in ("people", "claims")}, opened)
    ordered = is_ordered(template)
    expected = rows(spark.sql(plain(template)), ordered=ordered)
    assert rows(spark.sql(query), ordered=ordered) == expected, (form, drawn, query)


# ---- queries that the client builds

Opener = Callable[[str], Column]


def unsealed(name: str) -> Column:
    keyset = KEYSETS[SEALED[name.rpartition(".")[2]]]
    return F.call_function("unseal", F.col(name), F.lit(keyset), F.lit(name.rpartition(".")[2]))


# By name: a query of the tables people as p and claims as c. The third argument opens a column.
FRAMES: dict[str, Callable[[DataFrame, DataFrame, Opener], DataFrame]] = {
    "select": lambda p, _, o: p.select("id", o("ssn"), o("num"), o("note"), o("day"), "city"),
    "filter": lambda p, _, o: p.where((o("num") > 3) & o("ssn").startswith("s1")).select("id"),
    "column": lambda p, _, o: p.withColumn("ssn", o("ssn")).select("id", F.upper("ssn")),
    "columns": lambda p, _, o: p.withColumns({name: o(name) for name in SEALED}),
    "replaced": lambda p, _, o: p.select("id", o("note").alias("note")).fillna("none"),
    "groups": lambda p, _, o: p.groupBy(o("ssn").alias("s")).agg(F.max(o("num")), F.count("id")),
    "sealed groups": lambda p, _, o: (
        p.groupBy("ssn").agg(F.max(o("num")).alias("n")).select(o("ssn"), "n").where("n > 3")
    ),
    "rollup": lambda p, _, o: p.rollup(o("day").alias("d"), "city").agg(F.sum(o("num"))),
    "pivot": lambda p, _, o: p.groupBy("id").pivot("city", ["Oslo", "Riga"]).agg(F.max(o("num"))),
    "window": lambda p, _, o: p.select(
        "id", F.row_number().over(Window.partitionBy(o("ssn")).orderBy(o("num"), "id"))
    ),
    "join": lambda p, c, o: p.join(c, o("p.ssn") == o("c.ssn"), "left").select("id", "claim", o("c.num")),
    "sealed join": lambda p, c, o: p.join(c, "ssn").select(o("ssn"), "id", "claim"),
    "semi join": lambda p, c, o: p.join(c, F.col("p.ssn") == F.col("c.ssn"), "left_semi").select(o("ssn")),
    "union": lambda p, c, o: p.select(o("ssn"), o("num")).unionAll(c.select(o("ssn"), o("num"))).distinct(),
    "duplicates": lambda p, _, o: p.dropDuplicates(["ssn"]).select(o("ssn")),
    "lists": lambda p, _, o: p.groupBy("city").agg(F.sort_array(F.collect_set(o("num")))),
    "exploded": lambda p, _, o: p.select("id", F.explode(F.array(o("ssn"), o("note")))),
    "order": lambda p, _, o: p.orderBy(o("num").desc_nulls_last(), "id").limit(9).select("id", o("ssn")),
    "order of a column": lambda p, _, o: p.select("id", o("num").alias("n")).orderBy("n", "id").limit(9),
    "cached": lambda p, _, o: p.select("id", o("ssn").alias("ssn")).cache().where("ssn > 's3'"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_query_that_the_client_builds_has_the_rows_of_the_plain_one(spark: SparkSession, name: str) -> None:
    form = Random(f"{SEED} {name}").choice(FORMS)
    query = FRAMES[name]
    tables = [spark.table(f"{form}_{each}").alias(each[0]) for each in ("people", "claims")]
    bare = [spark.table(each).alias(each[0]) for each in ("people", "claims")]
    ordered = name.startswith("order")
    expected = query(*bare, F.col)
    found = query(*tables, unsealed)
    assert [kind for _, kind in found.dtypes] == [kind for _, kind in expected.dtypes]
    assert rows(found, ordered=ordered) == rows(expected, ordered=ordered), form


def test_a_table_that_the_client_writes_keeps_its_types(spark: SparkSession) -> None:
    sealed = spark.table("people").select(
        "id", *(F.call_function("seal", name, F.lit("ids"), F.lit(name)).alias(name) for name in SEALED)
    )
    sealed.write.saveAsTable("written")
    found = spark.table("written").select(
        "id", *(F.call_function("unseal", name, F.lit("ids"), F.lit(name)).alias(name) for name in SEALED)
    )
    expected = spark.table("people").select("id", *SEALED)
    assert found.dtypes == expected.dtypes
    assert rows(found) == rows(expected)


def test_a_stream_of_the_client_has_the_rows_of_the_plain_table(spark: SparkSession, tmp_path: Path) -> None:
    spark.table("parquet_people").write.parquet(str(tmp_path / "sealed"))
    stream = spark.readStream.schema(spark.table("parquet_people").schema).parquet(str(tmp_path / "sealed"))
    groups = stream.groupBy(unsealed("ssn").alias("ssn")).agg(F.max(unsealed("num")).alias("num"))
    writer = groups.writeStream.format("memory").queryName("streamed").outputMode("complete")
    query = writer.trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(LIMIT), "the query does not end"
    finally:
        query.stop()
    expected = spark.sql("SELECT ssn, max(num) FROM people GROUP BY ssn")
    assert rows(spark.table("streamed")) == rows(expected)


# ---- what fails


def test_what_does_not_open_fails_with_its_row(spark: SparkSession) -> None:
    moved = "SELECT unseal(note, 'notes', 'other') FROM parquet_people"
    with pytest.raises(Exception, match=r"column 'note', partition \d+, row \d+: the value did not verify"):
        spark.sql(moved).collect()
    tried = spark.sql(moved.replace("unseal", "try_unseal") + " WHERE note IS NOT NULL")
    assert {row[0] for row in tried.collect()} == {None}
    with pytest.raises(Exception, match="keyset is not a constant string"):
        spark.sql("SELECT unseal(note, city, '') FROM parquet_people").collect()
    with pytest.raises(Exception, match=r"missing\.json"):
        spark.sql("SELECT seal(note, 'missing', '') FROM people").collect()


# ---- the Python package, whose functions need no JVM


def test_functions_of_python_work_in_workers_and_agree_with_the_jar(
    spark: SparkSession,
    keys: KeyProvider,  # noqa: F811
) -> None:
    assert Jar.of(spark.table("people"), keys) is None
    people = spark.table("people").select("id", "ssn", "note")
    both, how = {"ssn": "ids", "note": "notes"}, cast("Any", {"context": "{column}", "row_id": "id"})
    sealed = sealcomb.spark.seal(people, both, keys, **how)
    assert rows(sealcomb.spark.unseal(sealed, both, keys, **how)) == rows(people)
    resealed = sealcomb.spark.reseal(sealed, both, keys, **how)
    by_jar = resealed.selectExpr(
        "id", "unseal(ssn, 'ids', 'ssn', id, 'string')", "unseal(note, 'notes', 'note', id, 'string')"
    )
    assert rows(by_jar) == rows(people)
    with pytest.raises(TypeError, match="int, not string or binary: cast it first, or use the jar"):
        sealcomb.spark.seal(people, {"id": "ids"}, keys, context="x")
    with pytest.raises(Exception, match="Forged"):
        sealcomb.spark.unseal(sealed, both, keys, context="other.{column}", row_id="id").collect()


def test_functions_of_python_can_be_registered(spark: SparkSession, keys: KeyProvider) -> None:  # noqa: F811
    spark.udf.register(
        "unseal_note", sealcomb.spark.unseal_udf(keys, "notes", context="note", returns="string")
    )
    spark.udf.register("seal_note", sealcomb.spark.seal_udf(keys, "notes", context="note"))
    expected = rows(spark.sql("SELECT id, note FROM people"))
    assert rows(spark.sql("SELECT id, unseal_note(note) FROM parquet_people")) == expected
    sealed = "SELECT id, unseal(seal_note(note), 'notes', 'note', as_type => 'string') FROM people"
    assert rows(spark.sql(sealed)) == expected
