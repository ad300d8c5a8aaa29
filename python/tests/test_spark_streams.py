"""Streams of sealed columns return what queries of the plain tables return, also after a restart.

A stream reads one file per batch. Its time is limited.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StreamingQuery
from queries import CONDITIONS, FILTERS, GROUPS, PROJECTIONS, plain, render
from test_spark import cluster, folder, keys, keysets  # noqa: F401
from test_spark_queries import COUNT, LIMIT, SEED, SETTINGS, opened, spark  # noqa: F401

import sealcomb.spark
from sealcomb import KeyProvider, Keyset, keys_from_file

FILES = 3
BOTH = {"ssn": "ids", "note": "notes"}
# Spark does not stream these over plain columns, either: DISTINCT aggregates, ORDER BY and LIMIT without an
# aggregate, and subqueries of which each row has its own result.
UNSTREAMED = ("DISTINCT", "(SELECT max({num}) FROM {people})", "> (SELECT min(")
APPEND = [
    query
    for query in (*PROJECTIONS, *FILTERS)
    if "ORDER BY" not in query and "count(" not in query and not any(part in query for part in UNSTREAMED)
]
APPEND += [
    f"SELECT p.id, c.claim, {{p.ssn}}, {{c.num}} FROM {{people}} AS p {kind} {{claims}} AS c ON {condition}"
    for kind in ("JOIN", "LEFT JOIN")
    for condition in CONDITIONS
]
APPEND += [
    "SELECT p.id FROM {people} AS p LEFT SEMI JOIN {claims} AS c ON {p.ssn} = {c.ssn} AND {c.num} > 3",
    "SELECT {ssn} FROM {people} UNION ALL SELECT {ssn} FROM {claims_stream}",
    "SELECT id, x FROM {people} LATERAL VIEW explode(array({num}, id)) t AS x",
    # Both sides are streams, which Spark keeps in its state.
    "SELECT p.id, c.claim FROM {people} AS p JOIN {claims_stream} AS c ON p.ssn = c.ssn",
    "SELECT p.id, c.claim FROM {people} AS p JOIN {claims_stream} AS c ON {p.ssn} = {c.ssn} AND {p.num} > 3",
    "SELECT p.id, c.claim FROM {people} AS p JOIN {claims_stream} AS c ON {p.num} <=> {c.num}",
]
COMPLETE = [query for query in GROUPS if not any(part in query for part in UNSTREAMED)]
COMPLETE += [
    "SELECT {p.ssn}, count(*), max({c.num}) FROM {people} AS p JOIN {claims} AS c ON p.ssn = c.ssn"
    " GROUP BY p.ssn",
    "SELECT city, array_sort(collect_set({ssn})), sum({num}) FROM {people} GROUP BY city",
]


def chosen() -> list[tuple[str, str]]:
    random = Random(f"streams {SEED}")
    drawn = [
        (mode, query)
        for mode, queries in (("append", APPEND), ("complete", COMPLETE))
        for query in random.sample(queries, min(COUNT, len(queries)))
    ]
    # These keep state.
    joined = [("append", query) for query in APPEND if "{claims_stream}" in query]
    return list(dict.fromkeys(drawn + joined))


def write_files(df: DataFrame, folder: Path, key: str) -> None:  # noqa: F811
    """Writes a file per range of the key, the first with the oldest date."""
    df.repartitionByRange(FILES, key).write.parquet(str(folder))
    for age, file in enumerate(sorted(folder.glob("*.parquet"))):
        os.utime(file, (1_000_000 + age, 1_000_000 + age))


@pytest.fixture(scope="module")
def streams(
    spark: SparkSession,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """Folders with the rows of tables, of which those of sealed ones are also views for streams."""
    root = tmp_path_factory.mktemp("files")
    for name, key in (("people", "id"), ("claims", "claim")):
        for table in (name, f"parquet_{name}"):
            write_files(spark.table(table), root / table, key)
            stream(spark, root / table).createOrReplaceTempView(f"stream_{table}")
    return {path.name: path for path in root.iterdir()}


def stream(spark: SparkSession, path: Path) -> DataFrame:  # noqa: F811
    schema = spark.read.parquet(str(path)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", "1").parquet(str(path))


def ended(query: StreamingQuery) -> int:
    """Waits for the end of a query, and returns the number of its batches."""
    try:
        assert query.awaitTermination(LIMIT), "the query does not end"
    finally:
        query.stop()
    return len([progress for progress in query.recentProgress if progress["numInputRows"]])


def started(df: DataFrame, mode: str, **options: object) -> StreamingQuery:
    """Starts a query that processes all files into the table `streamed`."""
    writer = df.writeStream.format("memory").queryName("streamed").outputMode(mode)
    for name, value in options.items():
        writer = writer.option(name, str(value))
    return writer.trigger(availableNow=True).start()


def rows(df: DataFrame) -> list[str]:
    return sorted(repr(tuple(row)) for row in df.collect())


def streamed(df: DataFrame, mode: str) -> list[str]:
    assert ended(started(df, mode)) > 1
    return rows(df.sparkSession.table("streamed"))


TABLES = {
    "people": "stream_parquet_people",
    "claims": "parquet_claims",
    "claims_stream": "stream_parquet_claims",
}


@pytest.mark.usefixtures("streams")
@pytest.mark.parametrize(("mode", "template"), chosen())
def test_a_stream_of_sealed_columns_has_the_rows_of_the_plain_table(
    spark: SparkSession,  # noqa: F811
    mode: str,
    template: str,
) -> None:
    random = Random(f"{SEED} {template}")
    drawn = {name: random.choice(choices) for name, choices in SETTINGS.items()}
    for name, value in drawn.items():
        spark.conf.set(name, value)
    query = render(template, TABLES, opened)
    expected = rows(spark.sql(plain(template.replace("{claims_stream}", "{claims}"))))
    assert streamed(spark.sql(query), mode) == expected, (mode, drawn, query)


# ---- state and restarts


def first_files(folder: Path, into: Path, count: int) -> Path:  # noqa: F811
    """Links the first files of a folder into another one."""
    into.mkdir(exist_ok=True)
    for file in sorted(folder.glob("*.parquet"))[:count]:
        if not (into / file.name).exists():
            os.link(file, into / file.name)
    return into


@pytest.mark.parametrize(
    "template",
    [
        "SELECT {ssn}, count(*), max({num}), min({day}) FROM {people} GROUP BY ssn",
        "SELECT {ssn}, count(*), max({num}), min({note}) FROM {people} GROUP BY {ssn}",
    ],
)
def test_a_restarted_aggregation_continues(
    spark: SparkSession,  # noqa: F811
    streams: dict[str, Path],
    tmp_path: Path,
    template: str,
) -> None:
    source = first_files(streams["parquet_people"], tmp_path / "in", 2)
    for count in (2, FILES):
        first_files(streams["parquet_people"], source, count)
        stream(spark, source).createOrReplaceTempView("some")
        query = spark.sql(render(template, {**TABLES, "people": "some"}, opened))
        batches = ended(started(query, "complete", checkpointLocation=tmp_path / "checkpoint"))
        assert batches == (2 if count == 2 else FILES - 2)
    assert rows(spark.table("streamed")) == rows(spark.sql(plain(template)))


def test_duplicates_are_dropped_across_batches(
    spark: SparkSession,  # noqa: F811
    streams: dict[str, Path],
) -> None:
    people = stream(spark, streams["parquet_people"])
    expected = rows(spark.sql("SELECT DISTINCT ssn FROM people"))
    assert streamed(people.dropDuplicates(["ssn"]).selectExpr(opened("ssn", "ssn")), "append") == expected
    texts = people.selectExpr(f"{opened('ssn', 'ssn')} AS ssn")
    assert streamed(texts.dropDuplicates(["ssn"]), "append") == expected


def test_windows_of_opened_times_close(
    spark: SparkSession,  # noqa: F811
    tmp_path: Path,
) -> None:
    times = spark.range(600).selectExpr("id", "timestamp_seconds(id * 60) AS at")
    write_files(times, tmp_path / "plain", "id")
    write_files(times.selectExpr("id", "seal(at, 'notes', 'at', id) AS at"), tmp_path / "sealed", "id")

    def counted(df: DataFrame) -> list[str]:
        late = df.withWatermark("at", "1 minute")
        windows = late.groupBy(F.window("at", "1 hour"), (F.col("id") % 2).alias("odd"))
        return streamed(windows.agg(F.count("*"), F.max("at")), "append")

    expected = counted(stream(spark, tmp_path / "plain"))
    found = stream(spark, tmp_path / "sealed").selectExpr("id", "unseal(at, 'notes', 'at', id) AS at")
    assert counted(found) == expected
    assert len(expected) == 18


@pytest.mark.parametrize("kind", ["LEFT", "RIGHT", "FULL"])
def test_rows_without_a_match_leave_an_outer_join_of_streams(
    spark: SparkSession,  # noqa: F811
    tmp_path: Path,
    kind: str,
) -> None:
    rows_of = "id", "if(id % 7 = 0, NULL, id % 50) AS k", "timestamp_seconds(id * 60) AS at"
    for side in ("a", "b"):
        times = spark.range(0 if side == "a" else 20, 300).selectExpr(*rows_of)
        write_files(times, tmp_path / f"plain_{side}", "id")
        sealed = times.selectExpr("id", "seal(k, 'ids', 'k') AS k", "at")
        write_files(sealed, tmp_path / f"sealed_{side}", "id")

    def joined(form: str, key: str) -> list[str]:
        for side in ("a", "b"):
            late = stream(spark, tmp_path / f"{form}_{side}").withWatermark("at", "1 minute")
            late.createOrReplaceTempView(side)
        on = f"{key.format('a.k')} = {key.format('b.k')} AND b.at BETWEEN a.at AND a.at + INTERVAL 30 MINUTES"
        return streamed(spark.sql(f"SELECT a.id, b.id FROM a {kind} JOIN b ON {on}"), "append")

    expected = joined("plain", "{}")
    assert joined("sealed", "unseal({}, 'ids', 'k')") == expected
    # Spark's full join of streams finds equal nulls, which have a match then.
    assert sum("None" in row for row in expected) > 10


# ---- seal


@pytest.mark.parametrize("way", ["SQL", "Python"])
def test_a_restarted_stream_seals_each_row_once(
    spark: SparkSession,  # noqa: F811
    streams: dict[str, Path],
    keys: KeyProvider,  # noqa: F811
    tmp_path: Path,
    way: str,
) -> None:
    how: Any = {"context": "{column}", "row_id": "id"}
    for count in (1, FILES):
        source = stream(spark, first_files(streams["people"], tmp_path / "in", count)).select("id", *BOTH)
        if way == "SQL":
            sealed = source.selectExpr(
                "id", "seal(ssn, 'ids', 'ssn', id) AS ssn", "seal(note, 'notes', 'note', id) AS note"
            )
        else:
            sealed = sealcomb.spark.seal(source, BOTH, keys, **how)
        writer = sealed.writeStream.format("parquet").option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        )
        assert ended(writer.trigger(availableNow=True).start(str(tmp_path / "out"))) == max(count - 1, 1)
    stored = spark.read.parquet(str(tmp_path / "out"))
    expected = rows(spark.table("people").select("id", *BOTH))
    assert rows(sealcomb.spark.unseal(stored, BOTH, keys, **how)) == expected
    nonces = [row[0] for row in stored.selectExpr("hex(substring(note, 6, 12))").dropna().collect()]
    assert len(set(nonces)) == len(nonces) == spark.table("people").where("note IS NOT NULL").count()
    assert (
        streamed(sealcomb.spark.unseal(stream(spark, tmp_path / "out"), BOTH, keys, **how), "append")
        == expected
    )


def test_a_stream_that_seals_and_opens_has_its_rows(spark: SparkSession) -> None:  # noqa: F811
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "50").load()
    both = numbers.selectExpr(
        "value",
        "unseal(seal(value, 'notes', 'v', value), 'notes', 'v', value) AS v",
        "unseal(seal(array(value, null), 'ids', 'a'), 'ids', 'a') AS a",
    )
    query = both.writeStream.format("memory").queryName("streamed").start()
    end = time.monotonic() + LIMIT
    try:
        while spark.table("streamed").count() < 200:
            assert time.monotonic() < end, "the query has too few rows"
            assert query.isActive, query.exception()
            time.sleep(0.2)
    finally:
        query.stop()
    expected = rows(spark.range(200).selectExpr("id", "id AS v", "array(id, null) AS a"))
    assert rows(spark.table("streamed").where("value < 200")) == expected


# ---- functions of the user, and failures


def test_batches_are_opened_in_functions_of_the_user(
    spark: SparkSession,  # noqa: F811
    streams: dict[str, Path],
    keys: KeyProvider,  # noqa: F811
    tmp_path: Path,
) -> None:
    found: dict[int, list[str]] = {}
    failed: list[int] = []

    def process(batch: DataFrame, number: int) -> None:
        opened = sealcomb.spark.unseal(batch, BOTH, keys, context="{column}").select("id", *BOTH)
        batch.createOrReplaceTempView("batch")
        in_sql = batch.sparkSession.sql("SELECT unseal(num, 'ids', 'num') AS num FROM batch")
        found[number] = [*rows(opened), *rows(in_sql)]
        if number == 1 and not failed:
            failed.append(number)
            raise RuntimeError("the first attempt fails after its work")

    people = stream(spark, streams["parquet_people"])
    writer = people.writeStream.foreachBatch(process).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    with pytest.raises(Exception, match="the first attempt fails"):
        ended(writer.start())
    assert sorted(found) == [0, 1]
    ended(writer.start())
    assert sorted(found) == [0, 1, 2]
    table = spark.table("people")
    expected = sorted([*rows(table.select("id", *BOTH)), *rows(table.select("num"))])
    assert sorted(row for some in found.values() for row in some) == expected


def test_a_forged_value_stops_a_stream_or_is_null(
    spark: SparkSession,  # noqa: F811
    tmp_path: Path,
) -> None:
    damaged = spark.table("parquet_people").selectExpr(
        "id", "if(id = 41, substring(note, 1, length(note) - 1), note) AS note"
    )
    write_files(damaged, tmp_path / "damaged", "id")
    people = stream(spark, tmp_path / "damaged")
    call = "unseal(note, 'notes', 'note', as_type => 'string') AS note"
    with pytest.raises(Exception, match=r"column 'note', partition \d+, row \d+: the value did not verify"):
        streamed(people.selectExpr("id", call), "append")
    expected = rows(spark.sql("SELECT id, if(id = 41, NULL, note) FROM people"))
    assert streamed(people.selectExpr("id", f"try_{call}"), "append") == expected


def test_streams_are_opened_and_sealed_in_workers_of_python(
    spark: SparkSession,  # noqa: F811
    streams: dict[str, Path],
    folder: Path,  # noqa: F811
) -> None:
    def mine(name: str) -> Keyset:
        return keys_from_file(folder)(name)

    people = stream(spark, streams["parquet_people"]).select("id", *BOTH)
    opened = sealcomb.spark.unseal(people, BOTH, mine, context="{column}")
    assert "MapInArrow" in opened._jdf.queryExecution().analyzed().toString()
    assert streamed(opened, "append") == rows(spark.table("people").select("id", *BOTH))
