"""The Spark module on its own cluster: a master, two workers and their executors, each in its own JVM."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import pyarrow as pa
import pyspark
import pytest
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BinaryType, StringType, StructField
from test_engines import run_examples

import sealcomb.spark
from sealcomb import KeyProvider, Keyset, _cli, keys_from_file, unseal_column

WORKERS = ("127.0.0.2", "127.0.0.3")
QUICK_START = "-XX:TieredStopAtLevel=1"
ROWS = 20_000
SECOND = 2
NONCE = slice(5, 17)
BOTH = {"ssn": "ids", "note": "notes"}
AES_KEY = bytes(range(32))


@pytest.fixture(scope="module")
def keysets() -> dict[str, Keyset]:
    return {
        "ids": Keyset.generate("deterministic"),
        "notes": Keyset.generate("random"),
        "fast": Keyset.generate("gcm"),
        "old": Keyset.from_keys({7: AES_KEY}, primary=7, policy="gcm"),
    }


@pytest.fixture(scope="module")
def folder(keysets: dict[str, Keyset], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the keysets for the executors, separate from everything that Spark writes."""
    folder = tmp_path_factory.mktemp("secrets")
    for name, keyset in keysets.items():
        file = folder / f"{name}.json"
        file.touch(mode=0o600)
        file.write_text(keyset.secret_tink_json())
    return folder


@pytest.fixture(scope="module")
def keys(folder: Path) -> KeyProvider:
    return keys_from_file(folder)


class Cluster:
    """A master and two workers, each in a JVM with its own address: speculation requires another host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        for entry in Path(pyspark.__file__).parent.iterdir():
            (self.home / entry.name).symlink_to(entry)
        self.port = free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.master = self.start("master.Master", "127.0.0.1", "--port", str(self.port))
        wait_for(self.port)
        self.workers = {address: self.worker(address) for address in WORKERS}

    def worker(self, address: str) -> subprocess.Popen[bytes]:
        return self.start("worker.Worker", address, "--cores", "1", "--memory", "1g", self.url)

    def start(self, part: str, address: str, *more: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": address,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
            "SPARK_WORKER_DIR": str(self.folder / "work"),
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{part}"]
        options = ["--host", address, "--webui-port", "0", *more]
        with (self.folder / f"{part}-{address}.log").open("ab") as log:
            return subprocess.Popen([*command, *options], env=environment, stdout=log, stderr=log)

    def kill(self, what: str, address: str) -> None:
        """Kills an executor, which its worker restarts, or a worker, together with its executor."""
        worker = self.workers[address]
        if what == "worker":
            worker.kill()
            worker.wait()
            self.workers[address] = self.worker(address)
            return
        for process in psutil.Process(worker.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in process.cmdline():
                    process.kill()

    def stop(self) -> None:
        for process in (*self.workers.values(), self.master):
            process.terminate()
        for process in (*self.workers.values(), self.master):
            process.wait(timeout=30)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise TimeoutError("Spark's master does not come up")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster. Its folder contains everything that Spark writes: event log, logs, shuffles, other files."""
    cluster = Cluster(tmp_path_factory.mktemp("spark"))
    yield cluster
    cluster.stop()


def session(cluster: Cluster, **more: str) -> SparkSession:
    """Returns the session of a cluster. The names of further settings have two underscores for a dot."""
    os.environ["SPARK_HOME"] = str(cluster.home)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    (cluster.folder / "events").mkdir()
    options = {
        "spark.ui.enabled": False,
        "spark.executor.memory": "512m",
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.sql.codegen.wholeStage": False,
        "spark.sql.adaptive.enabled": False,
        "spark.eventLog.enabled": True,
        "spark.eventLog.dir": (cluster.folder / "events").as_uri(),
        "spark.eventLog.compress": False,
        "spark.local.dir": cluster.folder / "local",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": cluster.folder / "warehouse",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.task.maxFailures": 3,
        "spark.speculation": True,
        "spark.speculation.interval": "200ms",
        "spark.speculation.multiplier": 2,
        "spark.speculation.quantile": 0.5,
        "spark.speculation.minTaskRuntime": "3s",
        "spark.speculation.efficiency.enabled": False,
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    builder = SparkSession.builder.master(cluster.url).appName("sealcomb")
    for name, value in options.items():
        builder = builder.config(name, str(value).lower() if isinstance(value, bool) else str(value))
    session = builder.getOrCreate()
    session.range(2, numPartitions=2).count()
    return session


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Iterator[SparkSession]:
    spark = session(cluster)
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(
        "id",
        "concat('s', id % 1000) AS ssn",
        "if(id % 3 = 0, null, concat('note ', id)) AS note",
        "timestamp_seconds(id) AS at",
    )


def sorted_rows(df: DataFrame, *columns: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in df.select("id", *columns).collect()), key=lambda row: row[0])


# ---- DataFrames


def test_sealed_values_round_trip(people: DataFrame, keys: KeyProvider, keysets: dict[str, Keyset]) -> None:
    how: Any = {"context": "people.{column}", "row_id": "id"}
    sealed = sealcomb.spark.seal(people, BOTH, keys, **how)
    assert [field.dataType for field in sealed.schema][1:3] == [BinaryType(), BinaryType()]
    opened = sealcomb.spark.unseal(sealed, BOTH, keys, **how)
    assert opened.dtypes == people.dtypes
    assert sorted_rows(opened, "ssn", "note", "at") == sorted_rows(people, "ssn", "note", "at")
    rows = sealed.limit(10).toArrow()
    assert (
        unseal_column(rows["ssn"], keysets["ids"], context=b"people.ssn", row_ids=rows["id"])[0].as_py()
        == b"s0"
    )


def test_a_column_of_bytes_stays_bytes(people: DataFrame, keys: KeyProvider) -> None:
    raw = people.selectExpr("id", "cast(ssn AS binary) AS ssn")
    ssn = {"ssn": "ids"}
    opened = sealcomb.spark.unseal(
        sealcomb.spark.seal(raw, ssn, keys, context="ssn"), ssn, keys, context="ssn"
    )
    assert opened.dtypes == raw.dtypes
    assert sorted_rows(opened, "ssn") == sorted_rows(raw, "ssn")


def test_strings_round_trip_through_parquet(
    spark: SparkSession, people: DataFrame, keys: KeyProvider, tmp_path: Path
) -> None:
    path = str(tmp_path / "sealed")
    sealcomb.spark.seal(people, BOTH, keys, context="{column}").write.parquet(path)
    opened = sealcomb.spark.unseal(spark.read.parquet(path), BOTH, keys, context="{column}")
    assert opened.dtypes == people.dtypes
    assert sorted_rows(opened, "ssn", "note") == sorted_rows(people, "ssn", "note")


def one_file(df: DataFrame, folder: Path) -> Path:
    df.coalesce(1).write.parquet(str(folder))
    return next(folder.glob("*.parquet"))


@pytest.mark.parametrize("stamps", ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"])
def test_the_command_preserves_other_columns_of_sparks_files(
    stamps: str, spark: SparkSession, folder: Path, keys: KeyProvider, tmp_path: Path
) -> None:
    spark.conf.set("spark.sql.parquet.outputTimestampType", stamps)
    df = spark.sql(
        "SELECT id, CASE WHEN id % 3 > 0 THEN concat('note ', id) END AS note, 'x' AS other,"
        " TIMESTAMP '9999-12-31 23:59:59' AS until, TIMESTAMP '0001-01-01 00:00:00' AS since,"
        " TIMESTAMP_NTZ '2026-01-02 03:04:05' AS plain, DATE '9999-12-31' AS day,"
        " CAST(id AS DECIMAL(20, 3)) AS price, INTERVAL '3' DAY AS days, INTERVAL '2' MONTH AS months,"
        " map('k', id) AS map, array(id, NULL) AS list, named_struct('x', id) AS struct,"
        " CAST('b' AS BINARY) AS bytes FROM range(100)"
    )
    source = one_file(df, tmp_path / "plain")
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    sealed, opened = tmp_path / "sealed.parquet", tmp_path / "opened.parquet"
    how = ["--keyset", str(folder / "notes.json"), "--column", "note", "--context", "people.{column}"]
    assert _cli.main(["seal", str(source), str(sealed), *how]) == 0
    assert _cli.main(["unseal", str(sealed), str(opened), *how]) == 0
    before = spark.read.parquet(str(source))
    between, after = spark.read.parquet(str(sealed)), spark.read.parquet(str(opened))
    assert after.schema == before.schema
    assert sorted_rows(after) == sorted_rows(before)
    assert isinstance(between.schema["note"].dataType, BinaryType)
    assert between.drop("note").schema == before.drop("note").schema
    assert sorted_rows(between.drop("note")) == sorted_rows(before.drop("note"))
    # Spark cannot pass intervals of months to Python.
    again = sealcomb.spark.unseal(
        between.select("id", "note", "until"), {"note": "notes"}, keys, context="people.{column}"
    )
    assert isinstance(again.schema["note"].dataType, StringType)
    assert sorted_rows(again, "id", "note") == sorted_rows(before, "id", "note")
    # After Spark rewrites the file, the command still opens the column as a string.
    rewritten = one_file(between, tmp_path / "rewritten")
    assert _cli.main(["unseal", str(rewritten), str(opened), *how, "--force"]) == 0
    assert sorted_rows(spark.read.parquet(str(opened))) == sorted_rows(before)


def test_the_command_opens_what_spark_sealed(
    spark: SparkSession, people: DataFrame, folder: Path, keys: KeyProvider, tmp_path: Path
) -> None:
    sealed = sealcomb.spark.seal(people, BOTH, keys, context="people.{column}")
    source, opened = one_file(sealed, tmp_path / "sealed"), tmp_path / "opened.parquet"
    how = ["--keyset", str(folder / "notes.json"), "--column", "note", "--context", "people.{column}"]
    assert _cli.main(["unseal", str(source), str(opened), *how]) == 0
    back = spark.read.parquet(str(opened))
    assert isinstance(back.schema["note"].dataType, StringType)
    assert back.schema["note"].metadata == {}
    assert sorted_rows(back, "id", "note") == sorted_rows(people, "id", "note")


def test_opened_columns_are_not_described_as_sealed() -> None:
    about = {"sealcomb.type": "string", "sealcomb.version": "1", "comment": "x"}
    opened = sealcomb.spark._opened_field(StructField("note", BinaryType(), True, about), nullable=False)
    assert opened == StructField("note", StringType(), True, {"comment": "x"})
    assert opened.metadata == {"comment": "x"}
    later = StructField("note", BinaryType(), True, {**about, "sealcomb.version": "2"})
    with pytest.raises(ValueError, match="version '2' of the encoding"):
        sealcomb.spark._opened_field(later, nullable=False)


def test_equal_values_of_a_deterministic_column_join(people: DataFrame, keys: KeyProvider) -> None:
    sealed = sealcomb.spark.seal(people.select("id", "ssn"), {"ssn": "ids"}, keys, context="ssn")
    others = sealcomb.spark.seal(
        people.selectExpr("ssn AS key").distinct(), {"key": "ids"}, keys, context="ssn"
    )
    assert sealed.select("ssn").distinct().count() == people.select("ssn").distinct().count()
    assert sealed.join(others, sealed.ssn == others.key).count() == ROWS


def test_values_of_a_random_column_differ(people: DataFrame, keys: KeyProvider) -> None:
    sealed = sealcomb.spark.seal(people.select("id", "ssn"), {"ssn": "notes"}, keys, context="")
    assert sealed.select("ssn").distinct().count() == ROWS


def test_reseal_moves_to_the_primary_key(
    people: DataFrame, keysets: dict[str, Keyset], tmp_path: Path
) -> None:
    old, new = keysets["notes"], keysets["notes"].rotated()
    for name, keyset in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(keyset.secret_tink_json())
        (tmp_path / f"{name}.json").chmod(0o600)
    keys = keys_from_file(tmp_path)
    sealed = sealcomb.spark.seal(people, {"note": "old"}, keys, context="")
    fresh = sealcomb.spark.reseal(sealed, {"note": "new"}, keys, context="")
    ids = fresh.where("note IS NOT NULL").selectExpr("hex(substring(note, 2, 4)) AS id").distinct().collect()
    assert [row.id for row in ids] == [f"{new.primary:08X}"]
    opened = sealcomb.spark.unseal(fresh, {"note": "new"}, keys, context="")
    assert sorted_rows(opened, "note") == sorted_rows(people, "note")


# ---- SQL


def test_sql_functions(spark: SparkSession, people: DataFrame, keys: KeyProvider) -> None:
    context = "people.note"
    spark.udf.register("seal_note", sealcomb.spark.seal_udf(keys, "notes", context=context))
    spark.udf.register(
        "unseal_note", sealcomb.spark.unseal_udf(keys, "notes", context=context, returns="string")
    )
    people.createOrReplaceTempView("people")
    spark.sql("SELECT id, seal_note(note) AS note FROM people").createOrReplaceTempView("sealed")
    opened = spark.sql("SELECT id, unseal_note(note) AS note FROM sealed")
    assert opened.dtypes == [("id", "bigint"), ("note", "string")]
    assert sorted_rows(opened, "note") == sorted_rows(people, "note")


def test_a_deterministic_function_in_group_by(
    spark: SparkSession, people: DataFrame, keys: KeyProvider
) -> None:
    seal = sealcomb.spark.seal_udf(keys, "ids", context="people.ssn", policy="deterministic")
    spark.udf.register("seal_ssn", seal)
    people.createOrReplaceTempView("people")
    counts = spark.sql(
        "SELECT seal_ssn(ssn) AS ssn, count(*) AS n FROM people GROUP BY seal_ssn(ssn)"
    ).collect()
    assert {row.n for row in counts} == {ROWS // 1000}


def test_the_documented_example_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples("Keysets", "Spark", spark=spark)


# ---- errors


def test_columns_of_other_types_are_refused(people: DataFrame, keys: KeyProvider) -> None:
    with pytest.raises(TypeError, match="column 'id' is bigint, not string or binary: cast"):
        sealcomb.spark.seal(people, {"id": "ids"}, keys, context="")
    with pytest.raises(TypeError, match="column 'note' is string, not binary"):
        sealcomb.spark.unseal(people, {"note": "notes"}, keys, context="")
    with pytest.raises(ValueError, match="no columns are named 'absent'; the DataFrame has id, ssn"):
        sealcomb.spark.seal(people, {"absent": "ids"}, keys, context="")
    with pytest.raises(ValueError, match="'nowhere'"):
        sealcomb.spark.seal(people, {"ssn": "ids"}, keys, context="", row_id="nowhere")
    with pytest.raises(ValueError, match="2 columns are named 'ssn'"):
        sealcomb.spark.seal(people.select("ssn", "ssn"), {"ssn": "ids"}, keys, context="")
    with pytest.raises(ValueError, match=r"must contain \{column\}"):
        sealcomb.spark.seal(people, BOTH, keys, context="people")


def test_keys_instead_of_a_provider_are_refused(people: DataFrame, keysets: dict[str, Keyset]) -> None:
    with pytest.raises(TypeError, match="key provider"):
        sealcomb.spark.seal(people, {"ssn": "ids"}, keysets["ids"], context="")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pickle"):
        sealcomb.spark.seal(people, {"ssn": "ids"}, lambda name: keysets[name], context="")


def test_a_forged_row_fails_the_job_or_is_null(people: DataFrame, keys: KeyProvider) -> None:
    sealed = sealcomb.spark.seal(people, BOTH, keys, context="{column}")
    forged = sealed.withColumn("note", F.expr("if(id = 12346, substring(note, 1, length(note) - 1), note)"))
    with pytest.raises(Exception, match=r"Forged") as failure:
        sealcomb.spark.unseal(forged, BOTH, keys, context="{column}").collect()
    assert "column 'note', partition 1, row 2346" in str(failure.value)
    opened = sealcomb.spark.unseal(forged, BOTH, keys, context="{column}", forged="null")
    nulls = opened.where("note IS NULL AND id % 3 != 0").collect()
    assert [row.id for row in nulls] == [12346]


def test_the_context_is_required_and_no_other_one_is_tried(
    people: DataFrame, keys: KeyProvider, keysets: dict[str, Keyset]
) -> None:
    note = {"note": "notes"}
    for work in (sealcomb.spark.seal, sealcomb.spark.unseal, sealcomb.spark.reseal):
        with pytest.raises(TypeError, match="context"):
            work(people, note, keys)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="context must be text, not None"):
            work(people, note, keys, context=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must contain \{column\}"):
        sealcomb.spark.seal(people, BOTH, keys, context="")
    sealed = sealcomb.spark.seal(people, note, keys, context="")
    rows = sealed.limit(3).toArrow()
    unseal_column(rows["note"], keysets["notes"], context="")
    opened = sealcomb.spark.unseal(sealed, note, keys, context="")
    assert sorted_rows(opened, "note") == sorted_rows(people, "note")
    named = sealcomb.spark.seal(people, note, keys, context="{column}")
    with pytest.raises(Exception, match="Forged"):
        sealcomb.spark.unseal(named, note, keys, context="").collect()


def test_a_sealed_varchar_is_binary_in_tables(spark: SparkSession, keys: KeyProvider, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE limited (name VARCHAR(20), code CHAR(3)) USING parquet LOCATION '{tmp_path}/in'")
    spark.sql("INSERT INTO limited VALUES ('Anna', 'ab')")
    both, context = {"name": "notes", "code": "ids"}, "{column}"
    sealed = sealcomb.spark.seal(spark.table("limited"), both, keys, context=context)
    resealed = sealcomb.spark.reseal(sealed, both, keys, context=context)
    resealed.write.option("path", f"{tmp_path}/out").saveAsTable("limited_sealed")
    table = spark.table("limited_sealed")
    assert [kind for _, kind in table.dtypes] == ["binary", "binary"]
    opened = sealcomb.spark.unseal(table, both, keys, context=context)
    assert [tuple(row) for row in opened.collect()] == [("Anna", "ab ")]


def test_another_context_does_not_open(people: DataFrame, keys: KeyProvider) -> None:
    sealed = sealcomb.spark.seal(people, {"note": "notes"}, keys, context="people.{column}")
    with pytest.raises(Exception, match="Forged"):
        sealcomb.spark.unseal(sealed, {"note": "notes"}, keys, context="animals.{column}").collect()


def test_the_policy_gcm_is_refused(people: DataFrame, keys: KeyProvider) -> None:
    with pytest.raises(
        Exception, match="'fast' has the policy 'gcm'; expected random, xaes, or deterministic"
    ):
        sealcomb.spark.seal(people, {"ssn": "fast"}, keys, context="").collect()


def test_a_name_unknown_to_the_provider(people: DataFrame, keys: KeyProvider) -> None:
    with pytest.raises(Exception, match=r"missing"):
        sealcomb.spark.seal(people, {"ssn": "missing"}, keys, context="").collect()


# ---- Spark's aes_encrypt


def old_key(name: str) -> Keyset:
    """A custom provider with a single key."""
    assert name == "old"
    return Keyset.from_keys({7: bytes(range(32))}, primary=7, policy="gcm")


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("aad", [b"", b"people"])
def test_values_of_aes_encrypt_open(people: DataFrame, aad: bytes) -> None:
    key, text = f"X'{AES_KEY.hex()}'", aad.decode()
    theirs = people.selectExpr("id", f"aes_encrypt(note, {key}, 'GCM', 'DEFAULT', '', '{text}') AS note")
    opened = sealcomb.spark.unseal_aes_encrypt(theirs, {"note": "old"}, old_key, aad=aad)
    assert sorted_rows(opened.selectExpr("id", "string(note) AS note"), "note") == sorted_rows(people, "note")
    with pytest.raises(Exception, match="Forged"):
        sealcomb.spark.unseal_aes_encrypt(theirs, {"note": "old"}, old_key, aad=b"another").collect()


@pytest.mark.parametrize("aad", [b"", b"people"])
def test_aes_decrypt_opens_our_values(people: DataFrame, aad: bytes) -> None:
    key, text = f"X'{AES_KEY.hex()}'", aad.decode()
    ours = sealcomb.spark.seal_aes_encrypt(people, {"note": "old"}, old_key, aad=aad)
    opened = ours.selectExpr("id", f"string(aes_decrypt(note, {key}, 'GCM', 'DEFAULT', '{text}')) AS note")
    assert sorted_rows(opened, "note") == sorted_rows(people, "note")


def test_aes_encrypt_requires_the_policy_gcm(people: DataFrame, keys: KeyProvider) -> None:
    with pytest.raises(Exception, match="'notes' has the policy 'random'; expected gcm"):
        sealcomb.spark.seal_aes_encrypt(people, {"note": "notes"}, keys).collect()


# ---- retried and speculative tasks


class Attempts:
    """Records each attempt at a batch, and its nonces, in a folder. It runs after ``seal``.

    The first attempt at partition ``stuck`` waits for a second one. Every batch takes ``seconds``.
    """

    def __init__(self, folder: Path, *, stuck: int | None = None, seconds: float = 0.0) -> None:
        self.folder, self.stuck, self.seconds = folder, stuck, seconds

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = TaskContext.get()
        assert task is not None
        for count, batch in enumerate(batches):
            nonces = [value[NONCE] for value in batch.column("ssn").to_pylist()]
            worker = os.environ["SPARK_LOCAL_IP"]
            name = f"{task.partitionId()}-{task.taskAttemptId()}-{count}-{worker}"
            (self.folder / name).write_bytes(b"".join(nonces))
            time.sleep(self.seconds)
            if (task.partitionId(), task.attemptNumber()) == (self.stuck, 0):
                end = time.monotonic() + 60
                while len(list(self.folder.glob(f"{self.stuck}-*"))) < SECOND and time.monotonic() < end:
                    time.sleep(0.1)
            yield batch


def noted(folder: Path) -> dict[tuple[int, int], list[bytes]]:
    """Returns the nonces by partition and attempt."""
    found: dict[tuple[int, int], list[bytes]] = {}
    for file in folder.iterdir():
        partition, attempt = map(int, file.name.split("-")[:2])
        data = file.read_bytes()
        found.setdefault((partition, attempt), []).extend(
            data[at : at + 12] for at in range(0, len(data), 12)
        )
    return found


def check_attempts(folder: Path) -> None:
    """Asserts that some task ran twice, and that no nonce repeats."""
    attempts = noted(folder)
    assert len(attempts) > len({partition for partition, _ in attempts}), "no task ran twice"
    nonces = [nonce for some in attempts.values() for nonce in some]
    assert len(set(nonces)) == len(nonces)


def rows_once(sealed: DataFrame, keys: KeyProvider, path: Path) -> list[tuple[object, ...]]:
    sealed.write.parquet(str(path))
    stored = sealed.sparkSession.read.parquet(str(path))
    opened = sealcomb.spark.unseal(stored, {"ssn": "notes"}, keys, context="people.{column}")
    return sorted_rows(opened, "ssn")


@pytest.mark.parametrize("what", ["executor", "worker"])
def test_killed_tasks_lose_no_rows_and_repeat_no_nonce(
    what: str, cluster: Cluster, spark: SparkSession, keys: KeyProvider, tmp_path: Path
) -> None:
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    people = spark.range(0, ROWS, 1, 8).selectExpr("id", "concat('s', id) AS ssn")
    sealed = sealcomb.spark.seal(people, {"ssn": "notes"}, keys, context="people.{column}")
    slow = sealed.mapInArrow(Attempts(attempts, stuck=2, seconds=0.3), sealed.schema)
    killed = Event()

    def kill_running_task() -> None:
        while not (begun := list(attempts.glob("2-*"))):
            time.sleep(0.05)
        cluster.kill(what, begun[0].name.split("-")[-1])
        killed.set()

    Thread(target=kill_running_task, daemon=True).start()
    rows = rows_once(slow, keys, tmp_path / "sealed")
    assert killed.is_set()
    assert rows == [(row, f"s{row}") for row in range(ROWS)]
    check_attempts(attempts)


def test_speculative_tasks_repeat_no_nonce(spark: SparkSession, keys: KeyProvider, tmp_path: Path) -> None:
    (tmp_path / "attempts").mkdir()
    people = spark.range(0, ROWS, 1, 4).selectExpr("id", "concat('s', id) AS ssn")
    sealed = sealcomb.spark.seal(people, {"ssn": "notes"}, keys, context="people.{column}")
    slow = sealed.mapInArrow(Attempts(tmp_path / "attempts", stuck=2), sealed.schema)
    assert rows_once(slow, keys, tmp_path / "sealed") == [(row, f"s{row}") for row in range(ROWS)]
    check_attempts(tmp_path / "attempts")


def test_a_failed_task_is_retried(spark: SparkSession, keys: KeyProvider, tmp_path: Path) -> None:
    (tmp_path / "attempts").mkdir()

    def fails_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            if TaskContext.get().attemptNumber() == 0:  # type: ignore[union-attr]
                raise RuntimeError("the first attempt fails after its first batch")

    people = spark.range(0, ROWS, 1, 2).selectExpr("id", "concat('s', id) AS ssn")
    sealed = sealcomb.spark.seal(people, {"ssn": "notes"}, keys, context="people.{column}")
    noting = sealed.mapInArrow(Attempts(tmp_path / "attempts"), sealed.schema)
    rows = rows_once(noting.mapInArrow(fails_once, sealed.schema), keys, tmp_path / "sealed")
    assert rows == [(row, f"s{row}") for row in range(ROWS)]
    check_attempts(tmp_path / "attempts")


# ---- no key leaves the executors


def forms(secret: bytes) -> list[bytes]:
    """Returns a key as bytes, hex, a list of numbers, and base64 in all three alignments."""
    texts = [base64.b64encode(b"." * shift + secret)[4 if shift else 0 : -4] for shift in range(3)]
    listed = ", ".join(map(str, secret)).encode()
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), listed, *texts]


def secrets(folder: Path) -> list[bytes]:
    """Returns the raw keys in the keysets' files, which follow a protobuf tag and length.

    The key of ``old`` is not included: it is a literal in SQL for ``aes_encrypt``, and thus in Spark's plans.
    """
    found = []
    for file in (folder / "ids.json", folder / "notes.json"):
        for key in json.loads(file.read_text())["key"]:
            data = base64.b64decode(key["keyData"]["value"])
            size = 64 if "AesSiv" in key["keyData"]["typeUrl"] else 32
            at = data.index(bytes([size]))
            found.append(data[at + 1 : at + 1 + size])
            assert len(found[-1]) == size
    return found


def test_no_key_is_in_what_is_pickled(
    people: DataFrame, keys: KeyProvider, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pickled: list[bytes] = []
    dumps: Any = cloudpickle.dumps

    def noted_dumps(*arguments: object, **more: object) -> bytes:
        pickled.append(dumps(*arguments, **more))
        return pickled[-1]

    monkeypatch.setattr(cloudpickle, "dumps", noted_dumps)
    sealed = sealcomb.spark.seal(people, BOTH, keys, context="{column}")
    sealcomb.spark.unseal(sealed, BOTH, keys, context="{column}").count()
    sealed.select(sealcomb.spark.unseal_udf(keys, "notes", context="note")("note")).count()
    assert pickled
    for form in (form for secret in secrets(folder) for form in forms(secret)):
        assert not any(form in data for data in pickled)


def test_no_key_is_in_plans_and_in_what_spark_wrote(
    people: DataFrame, keys: KeyProvider, folder: Path, cluster: Cluster
) -> None:
    sealed = sealcomb.spark.seal(people, BOTH, keys, context="{column}")
    assert sealed.repartition(3).count() == ROWS
    with pytest.raises(Exception, match="Forged") as failure:
        sealcomb.spark.unseal(sealed, BOTH, keys, context="other.{column}").collect()
    plan = sealed._jdf.queryExecution().toString() + str(failure.value)
    files = [
        file for file in cluster.folder.rglob("*") if file.is_file() and cluster.home not in file.parents
    ]
    assert any("events" in file.parts for file in files)
    assert any(file.name == "stderr" for file in files)
    everything = plan.encode() + b"".join(file.read_bytes() for file in files)
    assert b"MapInArrow SealcombColumns" in everything
    for form in (form for secret in secrets(folder) for form in forms(secret)):
        assert form not in everything


def test_the_provider_is_called_in_the_executors_only(
    people: DataFrame, tmp_path: Path, folder: Path
) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()

    def keys(name: str) -> Keyset:
        (calls / f"{os.getpid()}-{name}-{time.monotonic_ns()}").touch()
        return keys_from_file(folder)(name)

    sealed = sealcomb.spark.seal(people, BOTH, keys, context="{column}")
    assert not list(calls.iterdir())
    assert sealed.count() == ROWS
    assert sealcomb.spark.unseal(sealed, BOTH, keys, context="{column}").count() == ROWS
    seen = [tuple(file.name.split("-")[:2]) for file in calls.iterdir()]
    assert str(os.getpid()) not in {process for process, _ in seen}
    assert len(set(seen)) == len(seen), "a worker fetched a keyset twice"


def test_work_without_a_session_pickles(keys: KeyProvider) -> None:
    work: Any = sealcomb.spark.seal_udf(keys, "notes", context="x").func
    assert pickle.loads(pickle.dumps(work)).__self__ == work.__self__
    assert StringType() == sealcomb.spark.unseal_udf(keys, "notes", context="x", returns="string").returnType
    with pytest.raises(ValueError, match="context"):
        sealcomb.spark.unseal_udf(keys, "notes", context="people.{column}")
    with pytest.raises(ValueError, match="policy"):
        sealcomb.spark.seal_udf(keys, "notes", context="x", policy="gcm")  # type: ignore[arg-type]
