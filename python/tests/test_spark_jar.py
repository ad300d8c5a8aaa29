"""`sealcomb.spark` with the jar sealcomb-spark, also if executors are killed or tasks run twice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import records
from pyspark.sql import DataFrame, SparkSession
from test_spark import (  # noqa: F401
    BOTH,
    ROWS,
    Cluster,
    cluster,
    folder,
    keys,
    keysets,
    session,
    test_a_failed_task_is_retried,
    test_killed_tasks_lose_no_rows_and_repeat_no_nonce,
    test_speculative_tasks_repeat_no_nonce,
)

import sealcomb.spark
from sealcomb import KeyProvider, Keyset, keys_from_env, keys_from_file, seal_column, unseal_column
from sealcomb._spark_jar import EXTENSION, Jar, source_of


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Iterator[SparkSession]:  # noqa: F811
    jar = {"spark__jars": os.environ["SEALCOMB_SPARK_JAR"], "spark__sql__extensions": EXTENSION}
    spark = session(cluster, **jar)
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(
        "id", "concat('s', id % 1000) AS ssn", "if(id % 3 = 0, null, concat('note ', id)) AS note"
    )


def test_the_jar_opens_what_python_sealed_and_vice_versa(
    people: DataFrame,
    keys: KeyProvider,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context, row_id = "people.{column}", "id"
    by_jar = sealcomb.spark.seal(people, BOTH, keys, context=context, row_id=row_id)
    assert "Sealcomb" in by_jar._jdf.queryExecution().executedPlan().toString()
    with monkeypatch.context() as patch:
        patch.setattr(Jar, "of", lambda *_: None)
        by_python = sealcomb.spark.seal(people, BOTH, keys, context=context, row_id=row_id)
        assert "MapInArrow" in by_python._jdf.queryExecution().executedPlan().toString()
        opened = sealcomb.spark.unseal(by_jar, BOTH, keys, context=context, row_id=row_id)
    assert opened.schema["note"].dataType == people.schema["note"].dataType
    assert sorted(opened.collect()) == sorted(people.collect())
    opened = sealcomb.spark.unseal(by_python, BOTH, keys, context=context, row_id=row_id)
    assert "Sealcomb" in opened._jdf.queryExecution().executedPlan().toString()
    assert sorted(opened.collect()) == sorted(people.collect())
    assert by_jar.dtypes == by_python.dtypes
    assert sorted(by_jar.select("id", "ssn").collect()) == sorted(by_python.select("id", "ssn").collect())


def test_the_queries_of_the_page_run(spark: SparkSession, folder: Path) -> None:  # noqa: F811
    page = Path(__file__).parents[2] / "docs/columns-spark.md"
    blocks = re.findall(r"^```sql\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    spark.conf.set("spark.sealcomb.keys", f"folder:{folder}")
    statements = [each for block in blocks for each in block.split(";") if each.strip()]
    *_, opened, groups, found = [spark.sql(statement).collect() for statement in statements]
    assert [row.note for row in opened] == ["likes tea", ""]
    assert sorted(row[1] for row in groups) == [1, 2]
    assert [row.id for row in found] == [2]


def test_the_functions_are_those_of_the_record(spark: SparkSession) -> None:
    names = sorted(row["function"] for row in spark.sql("SHOW USER FUNCTIONS LIKE '*seal*'").collect())
    signatures = [
        row["function_desc"].removeprefix("Usage: ").split(" - ")[0]
        for name in names
        for row in spark.sql(f"DESCRIBE FUNCTION {name}").collect()
        if row["function_desc"].startswith("Usage: ")
    ]
    records.check("spark", signatures, "spark")


def test_the_jar_reseals_and_returns_nulls_for_forged_values(
    people: DataFrame,
    keys: KeyProvider,  # noqa: F811
) -> None:
    note = {"note": "notes"}
    sealed = sealcomb.spark.reseal(
        sealcomb.spark.seal(people, note, keys, context="people.note"), note, keys, context="people.note"
    )
    damaged = sealed.selectExpr("id", "if(id = 7, substring(note, 1, length(note) - 1), note) AS note")
    with pytest.raises(Exception, match="partition 0, row 7: the value did not verify"):
        sealcomb.spark.unseal(damaged, note, keys, context="people.note").collect()
    opened = sealcomb.spark.unseal(damaged, note, keys, context="people.note", forged="null")
    assert [row.id for row in opened.where("note IS NULL AND id % 3 != 0").collect()] == [7]


def test_other_providers_stay_in_python(people: DataFrame, folder: Path) -> None:  # noqa: F811
    def mine(name: str) -> Keyset:
        return keys_from_file(folder)(name)

    assert source_of(mine) is None
    assert Jar.of(people, mine) is None
    sealed = sealcomb.spark.seal(people, {"ssn": "ids"}, mine, context="people.ssn")
    assert "MapInArrow" in sealed._jdf.queryExecution().executedPlan().toString()
    assert source_of(keys_from_env()) == "env:SEALCOMB_KEYSET_"
    assert source_of(keys_from_file(folder)) == f"folder:{folder}"


def test_columns_of_any_type_have_the_bytes_that_the_library_seals(
    spark: SparkSession,
    keys: KeyProvider,  # noqa: F811
    keysets: dict[str, Keyset],  # noqa: F811
) -> None:
    plain = spark.range(1000).selectExpr(
        "id",
        # toArrow refuses null structs whose fields are declared as never null, sealed or not.
        "if(id % 7 = 0, null, named_struct('street', if(id % 3 = 1, null, concat('s', id)), "
        "'zip', if(id % 5 = 2, null, int(id)))) AS addr",
        "slice(array(id, null, id), 1, int(id % 4)) AS tags",
        "map(concat('k', id), id % 2 = 0) AS scores",
        "decimal(id) / 8 AS pay",
    )
    columns = dict.fromkeys(("addr", "tags", "scores", "pay"), "ids")
    sealed = sealcomb.spark.seal(plain, columns, keys, context="people.{column}", row_id="id")
    ours, theirs = sealed.orderBy("id").toArrow(), plain.orderBy("id").toArrow()
    for name in columns:
        how = {"context": f"people.{name}", "row_ids": theirs["id"]}
        expected = pa.chunked_array(seal_column(theirs[name], keysets["ids"], **how))
        assert ours[name].to_pylist() == expected.to_pylist()
    addresses = unseal_column(ours["addr"], keysets["ids"], context="people.addr", row_ids=ours["id"])
    assert len(addresses) == len(ours)
    opened = sealcomb.spark.unseal(sealed, columns, keys, context="people.{column}", row_id="id")
    assert opened.schema == plain.schema
    assert opened.orderBy("id").collect() == plain.orderBy("id").collect()


@pytest.fixture(scope="module")
def addresses(spark: SparkSession) -> DataFrame:
    return spark.range(300).selectExpr(
        "id",
        "if(id % 7 = 0, null, named_struct('name', concat('n', id), 'zip', if(id % 5 = 2, null, int(id)),"
        " 'tags', array(concat('t', id), null))) AS addr",
    )


@pytest.fixture(scope="module")
def half(addresses: DataFrame, keys: KeyProvider) -> DataFrame:  # noqa: F811
    """Addresses of which only the names are sealed."""
    sealed = sealcomb.spark.seal(addresses, {"addr": "notes"}, keys, **HOW).selectExpr("id", "addr.name")
    joined = sealed.withColumnRenamed("name", "sealed").join(addresses, "id")
    return joined.selectExpr(
        "id",
        "if(addr IS NULL, NULL, named_struct('name', sealed, 'zip', addr.zip, 'tags', addr.tags)) AS addr",
    )


HOW: dict[str, Any] = {"context": "people.{column}", "row_id": "id"}
ADDR = {"addr": "notes"}
PLAIN = {"addr": ["zip", "tags.element"]}
OPENINGS: dict[str, Callable[..., DataFrame]] = {
    "unseal": sealcomb.spark.unseal,
    "open with nulls": partial(sealcomb.spark.unseal, forged="null"),
    "reseal": sealcomb.spark.reseal,
}


def names_as_text(df: DataFrame) -> list[Any]:
    """Returns the rows by id. Without metadata, an opened name is bytes."""
    text = "named_struct('name', string(addr.name), 'zip', addr.zip, 'tags', addr.tags)"
    return df.selectExpr("id", f"if(addr IS NULL, NULL, {text}) AS addr").orderBy("id").collect()


def test_leaves_that_plain_names_stay_as_they_are(
    addresses: DataFrame,
    half: DataFrame,
    keys: KeyProvider,  # noqa: F811
) -> None:
    opened = sealcomb.spark.unseal(half, ADDR, keys, plain=PLAIN, **HOW)
    for paths in (("tags.element", "zip"), iter(PLAIN["addr"])):
        assert sealcomb.spark.unseal(half, ADDR, keys, plain={"addr": paths}, **HOW).schema == opened.schema
    assert "Sealcomb" in opened._jdf.queryExecution().executedPlan().toString()
    assert names_as_text(opened) == names_as_text(addresses)
    tried = sealcomb.spark.unseal(half, ADDR, keys, forged="null", plain=PLAIN, **HOW)
    assert names_as_text(tried) == names_as_text(addresses)
    resealed = sealcomb.spark.reseal(half, ADDR, keys, plain=PLAIN, **HOW)
    pair = resealed.withColumnRenamed("addr", "again").join(half, "id").where("addr IS NOT NULL")
    assert pair.where("again.zip <=> addr.zip AND again.tags <=> addr.tags").count() == pair.count() == 257
    assert pair.where("again.name = addr.name").count() == 0
    opened = sealcomb.spark.unseal(resealed, ADDR, keys, plain=PLAIN, **HOW)
    assert names_as_text(opened) == names_as_text(addresses)
    # Where the name does not open, the plain leaves stay.
    moved = half.selectExpr("id + 1 AS id", "addr").where("addr IS NOT NULL")
    tried = sealcomb.spark.unseal(moved, ADDR, keys, forged="null", plain=PLAIN, **HOW)
    assert tried.where("addr.name IS NULL AND addr.tags IS NOT NULL").count() == tried.count() == 257


@pytest.mark.parametrize("how", OPENINGS)
@pytest.mark.parametrize(
    ("plain", "error", "message"),
    [
        (None, TypeError, "the leaf 'zip' of the column 'addr' is int.*name it in plain"),
        ({"addr": []}, TypeError, "the leaf 'zip'.*name it in plain"),
        ({"addr": ["zip"]}, TypeError, "the leaf 'tags.element'.*name it in plain"),
        ({"addr": [*PLAIN["addr"], "street"]}, ValueError, "'street', which is no leaf of the column 'addr'"),
        ({"addr": [*PLAIN["addr"], "tags"]}, ValueError, "its leaves are 'name', 'zip', 'tags.element'"),
        ({"addr": [*PLAIN["addr"], ""]}, ValueError, "'', which is no leaf"),
        ({"addr": [*PLAIN["addr"], "addr.zip"]}, ValueError, "'addr.zip', which is no leaf"),
        ({"addr": [*PLAIN["addr"], "name"]}, TypeError, "plain names every leaf of the column 'addr'"),
        (
            {**PLAIN, "id": [""]},
            ValueError,
            "the column 'id', which is not one of the columns to unseal: addr",
        ),
        (["addr.zip"], TypeError, "plain maps columns to paths.*not list"),
        ("zip", TypeError, "plain maps columns to paths.*not str"),
        ({"addr": "zip"}, TypeError, "plain maps columns to paths.*the paths of 'addr' are str"),
        ({"addr": None}, TypeError, "plain maps columns to paths"),
        ({"addr": [1]}, TypeError, "a path of 'addr' is not a string"),
    ],
)
def test_wrong_names_of_plain_leaves_are_refused_before_the_job(
    half: DataFrame,
    keys: KeyProvider,  # noqa: F811
    how: str,
    plain: Any,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        OPENINGS[how](half, ADDR, keys, plain=plain, **HOW)


@pytest.mark.parametrize("how", OPENINGS)
def test_ambiguous_and_flat_names_of_plain_leaves_are_refused(
    addresses: DataFrame,
    keys: KeyProvider,  # noqa: F811
    how: str,
) -> None:
    sealed = sealcomb.spark.seal(addresses, ADDR, keys, **HOW)
    twice = sealed.selectExpr("id", "named_struct('a.b', 7, 'a', named_struct('b', addr.name)) AS addr")
    with pytest.raises(ValueError, match=r"'a\.b', which is the path of 2 leaves; rename them"):
        OPENINGS[how](twice, ADDR, keys, plain={"addr": ["a.b"]}, **HOW)
    flat = sealed.selectExpr("id", "addr.name AS addr")
    with pytest.raises(ValueError, match="the column 'addr' is not nested"):
        OPENINGS[how](flat, ADDR, keys, plain={"addr": ["x"]}, **HOW)
    with pytest.raises(TypeError, match="column 'addr' is int, not binary"):
        OPENINGS[how](addresses.selectExpr("id", "addr.zip AS addr"), ADDR, keys, **HOW)


@pytest.mark.parametrize("how", OPENINGS)
def test_a_job_fails_if_a_leaf_called_plain_is_sealed(
    addresses: DataFrame,
    keys: KeyProvider,  # noqa: F811
    how: str,
) -> None:
    sealed = sealcomb.spark.seal(addresses, ADDR, keys, **HOW)
    job = OPENINGS[how](sealed, ADDR, keys, plain={"addr": ["zip"]}, **HOW)
    with pytest.raises(Exception, match='plain names "zip", which is sealed; name only leaves'):
        job.collect()


def test_what_the_jar_refuses_is_a_value_error(
    spark: SparkSession,
    keys: KeyProvider,  # noqa: F811
) -> None:
    spans = spark.sql("SELECT make_interval(1) AS span")
    with pytest.raises(ValueError, match="column 'span': seal: INTERVAL cannot be sealed"):
        sealcomb.spark.seal(spans, {"span": "ids"}, keys, context="x")
