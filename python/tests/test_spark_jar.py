"""`sealcomb.spark` with the jar sealcomb-spark, in executors of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import sealcomb.spark
from sealcomb import Keyset, keys_from_env, keys_from_file
from sealcomb._spark_jar import EXTENSION, Jar, source_of

ROWS = 20_000
BOTH = {"ssn": "ids", "note": "notes"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("secrets")
    for name, policy in (("ids", "deterministic"), ("notes", "random")):
        (folder / f"{name}.json").write_text(Keyset.generate(policy).secret_tink_json())
    return folder


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = tmp_path_factory.mktemp("home")
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("sealcomb")
        .config("spark.jars", os.environ["SEALCOMB_SPARK_JAR"])
        .config("spark.sql.extensions", EXTENSION)
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", str(home / "warehouse"))
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(
        "id", "concat('s', id % 1000) AS ssn", "if(id % 3 = 0, null, concat('note ', id)) AS note"
    )


def test_the_jar_opens_what_python_sealed_and_vice_versa(
    people: DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = keys_from_file(folder)
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


def test_the_jar_reseals_and_returns_nulls_for_forged_values(people: DataFrame, folder: Path) -> None:
    keys = keys_from_file(folder)
    sealed = sealcomb.spark.reseal(
        sealcomb.spark.seal(people, {"note": "notes"}, keys), {"note": "notes"}, keys
    )
    damaged = sealed.selectExpr("id", "if(id = 7, substring(note, 1, length(note) - 1), note) AS note")
    with pytest.raises(Exception, match="partition 0, row 7: the value did not verify"):
        sealcomb.spark.open(damaged, {"note": "notes"}, keys).collect()
    opened = sealcomb.spark.open(damaged, {"note": "notes"}, keys, forged="null")
    assert [row.id for row in opened.where("note IS NULL AND id % 3 != 0").collect()] == [7]


def test_other_providers_stay_in_python(people: DataFrame, folder: Path) -> None:
    def mine(name: str) -> Keyset:
        return keys_from_file(folder)(name)

    assert source_of(mine) is None
    assert Jar.of(people, mine) is None
    sealed = sealcomb.spark.seal(people, {"ssn": "ids"}, mine)
    assert "MapInArrow" in sealed._jdf.queryExecution().executedPlan().toString()
    assert source_of(keys_from_env()) == "env:SEALCOMB_KEYSET_"
    assert source_of(keys_from_file(folder)) == f"folder:{folder}"
