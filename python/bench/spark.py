"""Measures Spark jobs that seal a column with sealcomb, with Spark's aes_encrypt, and without encryption.

    python bench/spark.py [--rows 20000000] [--executors 1 2] [--rounds 3] [--jar JAR] [--write PAGE]

Every job reads Parquet rows with a 64-byte text and discards its result. The cluster is local; its executors
are JVMs with one core each. With the jar sealcomb-spark, the session has it, and `sealcomb.spark.seal` is
measured with and without its help.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from unittest import mock

import page
import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession

import sealcomb.spark
from sealcomb import KeyProvider, Keyset, keys_from_file
from sealcomb._spark_jar import EXTENSION, Jar

KEY = bytes(range(32)).hex()
Job = Callable[[DataFrame], DataFrame]


def pass_through(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def seal(df: DataFrame, keys: KeyProvider, policy: str) -> DataFrame:
    return sealcomb.spark.seal(df, {"note": policy}, keys, context="note")


def seal_in_python(df: DataFrame, keys: KeyProvider, policy: str) -> DataFrame:
    with mock.patch.object(Jar, "of", return_value=None):
        return seal(df, keys, policy)


def jobs(folder: Path, with_jar: bool) -> dict[str, Job]:
    """Returns the jobs by name. The first two are baselines."""
    keys = keys_from_file(folder)
    udf = sealcomb.spark.seal_udf(keys, "random", context="note")
    aes = f"aes_encrypt(note, X'{KEY}', 'GCM', 'DEFAULT', '', 'note') AS note"
    work: dict[str, Job] = {
        "no encryption": lambda df: df,
        "`mapInArrow` with an identity function": lambda df: df.mapInArrow(pass_through, df.schema),
        "`aes_encrypt`": lambda df: df.selectExpr("id", aes),
        "`sealcomb.spark.seal`, `random`": lambda df: seal_in_python(df, keys, "random"),
        "`sealcomb.spark.seal`, `deterministic`": lambda df: seal_in_python(df, keys, "deterministic"),
        "`seal_udf`, `random`": lambda df: df.withColumn("note", udf("note")),
    }
    if with_jar:
        work |= {
            "with the jar, `random`": lambda df: seal(df, keys, "random"),
            "with the jar, `deterministic`": lambda df: seal(df, keys, "deterministic"),
        }
    return work


def session(home: Path, executors: int, jar: Path | None) -> SparkSession:
    # A local cluster writes to SPARK_HOME, so it gets its own folder.
    if not home.exists():
        home.mkdir()
        for entry in Path(pyspark.__file__).parent.iterdir():
            (home / entry.name).symlink_to(entry)
    os.environ["SPARK_HOME"] = str(home)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
        .appName("sealcomb benchmark")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(home.parent / "local"))
        .config("spark.sql.warehouse.dir", str(home.parent / "warehouse"))
    )
    if jar:
        builder = builder.config("spark.jars", str(jar)).config("spark.sql.extensions", EXTENSION)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def measure(options: argparse.Namespace, folder: Path) -> dict[int, dict[str, float]]:
    """Returns the median seconds of each job, by number of executors."""
    for policy in ("random", "deterministic"):
        keyset = Keyset.generate("random" if policy == "random" else "deterministic")
        (folder / f"{policy}.json").touch(mode=0o600)
        (folder / f"{policy}.json").write_text(keyset.secret_tink_json())
    data = str(folder / "people")
    results: dict[int, dict[str, float]] = {}
    for executors in options.executors:
        spark = session(folder / "home", executors, options.jar)
        if not Path(data).exists():
            text = "sha2(concat('row ', id), 256) AS note"
            spark.range(0, options.rows, 1, 8).selectExpr("id", text).write.parquet(data)
        work = jobs(folder, options.jar is not None)
        times: dict[str, list[float]] = {name: [] for name in work}
        for round_number in range(options.rounds + 1):
            for name, job in work.items():
                start = time.perf_counter()
                job(spark.read.parquet(data)).write.format("noop").mode("overwrite").save()
                taken = time.perf_counter() - start
                print(f"{executors} executors, round {round_number}, {name}: {taken:.1f} s", file=sys.stderr)
                # The first round is a warm-up: it starts Python and triggers JIT compilation.
                if round_number:
                    times[name].append(taken)
        results[executors] = {name: median(taken) for name, taken in times.items()}
        spark.stop()
    return results


def table(rows: int, results: dict[int, dict[str, float]]) -> str:
    largest = max(results)
    header = "".join(f" {count} executor{'s'[: count > 1]} |" for count in results)
    text = [f"| {rows / 1e6:g} million rows |{header} rows/s | added time | `aes_encrypt` adds |"]
    text += ["|---|" + "---:|" * (len(results) + 3)]
    plain, aes = results[largest]["no encryption"], results[largest]["`aes_encrypt`"]
    for name, taken in results[largest].items():
        cells = "".join(f" {results[count][name]:.1f} s |" for count in results)
        more = taken - plain
        ratio = f"{(aes - plain) / more:.1f}x" if more > 0 else ""
        text.append(f"| {name} |{cells} {rows / taken / 1e6:.2f} million | +{more:.1f} s | {ratio} |")
    whole = aes / results[largest]["`sealcomb.spark.seal`, `random`"]
    arrow = results[largest]["`mapInArrow` with an identity function"]
    ours = results[largest]["`sealcomb.spark.seal`, `random`"] - arrow
    own = f"{(aes - plain) / ours:.1f}" if ours > 0 else "many"
    text += [
        "",
        f"End to end, `seal` takes {1 / whole:.2f} of the time of `aes_encrypt`. Of the time that it adds to",
        f"the job without encryption, Spark takes {arrow - plain:.1f} s to pass rows to Python and back as",
        f"Arrow, and sealing takes {ours:.1f} s. `aes_encrypt` adds {own} times as much as sealing.",
    ]
    if with_jar := results[largest].get("with the jar, `random`"):
        text += [
            "",
            f"With the jar, the job takes {with_jar / plain:.2f} times as long as without encryption; with",
            f"`aes_encrypt`, it takes {aes / with_jar:.1f} times as long as with the jar.",
        ]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--executors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jar", type=Path, help="the jar sealcomb-spark, to be measured, too")
    parser.add_argument(
        "--write", metavar="FILE", type=Path, help="write the table between the markers in this page"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = table(options.rows, measure(options, Path(folder)))
    print(text)
    if options.write:
        page.write(options.write, "spark", text)


if __name__ == "__main__":
    main()
