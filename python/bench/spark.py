"""Measures a Spark job that seals a column beside the same job without, and with Spark's own aes_encrypt.

    python bench/spark.py [--rows 20000000] [--executors 1 2] [--rounds 3] [--write ../docs/columns.md]

The rows lie in Parquet, with a text of 64 bytes each; every job reads them and drops what it computed. The
cluster is a local one, whose executors are JVMs with one core each.
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

import page
import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession

import sealcomb.spark
from sealcomb import Keyset, keys_from_file

KEY = bytes(range(32)).hex()
Job = Callable[[DataFrame], DataFrame]


def pass_through(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def jobs(folder: Path) -> dict[str, Job]:
    """The jobs by name; the first two are what the others are compared with."""
    keys = keys_from_file(folder)
    udf = sealcomb.spark.seal_udf(keys, "random", context="note")
    aes = f"aes_encrypt(note, X'{KEY}', 'GCM', 'DEFAULT', '', 'note') AS note"
    return {
        "no encryption": lambda df: df,
        "`mapInArrow` that changes nothing": lambda df: df.mapInArrow(pass_through, df.schema),
        "`aes_encrypt`": lambda df: df.selectExpr("id", aes),
        "`sealcomb.spark.seal`, `random`": lambda df: sealcomb.spark.seal(df, {"note": "random"}, keys),
        "`sealcomb.spark.seal`, `deterministic`": lambda df: sealcomb.spark.seal(
            df, {"note": "deterministic"}, keys
        ),
        "`seal_udf`, `random`": lambda df: df.withColumn("note", udf("note")),
    }


def session(home: Path, executors: int) -> SparkSession:
    # A local cluster writes below SPARK_HOME, so that is a folder of its own.
    if not home.exists():
        home.mkdir()
        for entry in Path(pyspark.__file__).parent.iterdir():
            (home / entry.name).symlink_to(entry)
    os.environ["SPARK_HOME"] = str(home)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
        .appName("sealcomb's benchmark")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(home.parent / "local"))
        .config("spark.sql.warehouse.dir", str(home.parent / "warehouse"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def measure(options: argparse.Namespace, folder: Path) -> dict[int, dict[str, float]]:
    """Median seconds of each job, by the number of executors."""
    for policy in ("random", "deterministic"):
        keyset = Keyset.generate("random" if policy == "random" else "deterministic")
        (folder / f"{policy}.json").touch(mode=0o600)
        (folder / f"{policy}.json").write_text(keyset.secret_tink_json())
    data = str(folder / "people")
    results: dict[int, dict[str, float]] = {}
    for executors in options.executors:
        spark = session(folder / "home", executors)
        if not Path(data).exists():
            text = "sha2(concat('row ', id), 256) AS note"
            spark.range(0, options.rows, 1, 8).selectExpr("id", text).write.parquet(data)
        times: dict[str, list[float]] = {name: [] for name in jobs(folder)}
        for turn in range(options.rounds + 1):
            for name, job in jobs(folder).items():
                start = time.perf_counter()
                job(spark.read.parquet(data)).write.format("noop").mode("overwrite").save()
                taken = time.perf_counter() - start
                print(f"{executors} executors, turn {turn}, {name}: {taken:.1f} s", file=sys.stderr)
                # The first turn starts Python and lets the JVMs compile.
                if turn:
                    times[name].append(taken)
        results[executors] = {name: median(taken) for name, taken in times.items()}
        spark.stop()
    return results


def table(rows: int, results: dict[int, dict[str, float]]) -> str:
    most = max(results)
    header = "".join(f" {count} executor{'s'[: count > 1]} |" for count in results)
    text = [f"| {rows / 1e6:g} million rows |{header} rows/s | beside no encryption | beside `aes_encrypt` |"]
    text += ["|---|" + "---:|" * (len(results) + 3)]
    plain, aes = results[most]["no encryption"], results[most]["`aes_encrypt`"]
    for name, taken in results[most].items():
        cells = "".join(f" {results[count][name]:.1f} s |" for count in results)
        more = taken - plain
        ratio = f"{(aes - plain) / more:.1f}" if more > 0 else ""
        text.append(f"| {name} |{cells} {rows / taken / 1e6:.2f} million | +{more:.1f} s | {ratio} |")
    whole = aes / results[most]["`sealcomb.spark.seal`, `random`"]
    arrow = results[most]["`mapInArrow` that changes nothing"]
    ours = results[most]["`sealcomb.spark.seal`, `random`"] - arrow
    own = f"{(aes - plain) / ours:.1f}" if ours > 0 else "many"
    text += [
        "",
        f"End to end `seal` takes {1 / whole:.2f} of the time of `aes_encrypt`. Of what it takes beyond the "
        f"job without encryption, {arrow - plain:.1f} s are Spark's, for handing rows to Python in Arrow and "
        f"back, and {ours:.1f} s are sealing: `aes_encrypt` takes {own} times that.",
    ]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--executors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--write", metavar="FILE", type=Path, help="put the table between the page's two marks"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = table(options.rows, measure(options, Path(folder)))
    print(text)
    if options.write:
        page.write(options.write, "spark", text)


if __name__ == "__main__":
    main()
