"""`sealcomb.spark` with the jar sealcomb-spark, also if executors are killed or tasks run twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
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
from sealcomb import KeyProvider, Keyset, keys_from_env, keys_from_file, open_column, seal_column
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
        opened = sealcomb.spark.open(by_jar, BOTH, keys, context=context, row_id=row_id)
    assert opened.schema["note"].dataType == people.schema["note"].dataType
    assert sorted(opened.collect()) == sorted(people.collect())
    opened = sealcomb.spark.open(by_python, BOTH, keys, context=context, row_id=row_id)
    assert "Sealcomb" in opened._jdf.queryExecution().executedPlan().toString()
    assert sorted(opened.collect()) == sorted(people.collect())
    assert by_jar.dtypes == by_python.dtypes
    assert sorted(by_jar.select("id", "ssn").collect()) == sorted(by_python.select("id", "ssn").collect())


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
        sealcomb.spark.open(damaged, note, keys, context="people.note").collect()
    opened = sealcomb.spark.open(damaged, note, keys, context="people.note", forged="null")
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
    addresses = open_column(ours["addr"], keysets["ids"], context="people.addr", row_ids=ours["id"])
    assert len(addresses) == len(ours)
    opened = sealcomb.spark.open(sealed, columns, keys, context="people.{column}", row_id="id")
    assert opened.schema == plain.schema
    assert opened.orderBy("id").collect() == plain.orderBy("id").collect()


def test_the_former_default_context_opens(
    people: DataFrame,
    keys: KeyProvider,  # noqa: F811
) -> None:
    former = sealcomb.spark.seal(people, BOTH, keys, context="{column}")
    assert "Sealcomb" in former._jdf.queryExecution().executedPlan().toString()
    assert sorted(sealcomb.spark.open(former, BOTH, keys).collect()) == sorted(people.collect())
