"""Measures the DuckDB extension against bare calls, and prints the table in docs/columns-duckdb.md.

    python bench/sql.py [--quick] [--write ../docs/columns-duckdb.md]

Each time is the median of interleaved rounds on one thread. It is CPU time, which other processes change
less than wall time. The variable SEALCOMB_DUCKDB names the extension's file.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

import columns
import duckdb
import page
import pyarrow as pa

from sealcomb import Keyset, seal_column, unseal_column

CONTEXT = b"people.note"
POLICIES = {"random": columns.KEY, "deterministic": columns.LONG_KEY}
TYPES = {"64-byte values": "BLOB", "`BIGINT`": "BIGINT"}


def seconds(*works: Callable[[], object], rounds: int) -> list[float]:
    """Returns the median CPU seconds of each function."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, mine in zip(works, times, strict=True):
            start = time.process_time()
            work()
            mine.append(time.process_time() - start)
    return [median(mine) for mine in times]


def table(options: argparse.Namespace, db: duckdb.DuckDBPyConnection) -> list[str]:
    """Measures sealing and opening within a query, and sealing a table into another one."""
    lines = ["| measurement | extension | bare call | ratio | goal |", "|---|---:|---:|---:|---|"]
    for name, kind in TYPES.items():
        blobs = kind == "BLOB"
        values = columns.values(options.count, 64) if blobs else pa.array(range(options.count))
        db.register("unsealed", pa.table({"v": values}))
        db.execute(f"CREATE OR REPLACE TABLE plain AS SELECT v::{kind} AS v FROM unsealed")
        for policy, key in POLICIES.items():
            keyset = Keyset.from_keys({1: key}, primary=1, policy=policy)
            sealed = seal_column(values, keyset, context=CONTEXT)
            db.execute(
                f"CREATE OR REPLACE TABLE sealed AS SELECT seal(v, '{policy}', 'people.note') AS v FROM plain"
            )
            call = f"unseal(v, '{policy}', 'people.note', as_type := '{kind}')"
            consume = f"octet_length({call})" if blobs else call
            works = {
                "seal": (
                    f"SELECT sum(octet_length(seal(v, '{policy}', 'people.note'))) FROM plain",
                    lambda: seal_column(values, keyset, context=CONTEXT, threads=1),  # noqa: B023
                ),
                "open": (
                    f"SELECT sum({consume}) FROM sealed",
                    lambda: unseal_column(sealed, keyset, context=CONTEXT, threads=1),  # noqa: B023
                ),
            }
            for verb, (query, bare) in works.items():
                ours, baseline = seconds(
                    lambda: db.sql(query).fetchall(),  # noqa: B023
                    bare,
                    rounds=options.rounds,
                )
                lines.append(
                    f"| {verb} {name}, `{policy}` | {ours:.3f} s | {baseline:.3f} s "
                    f"| {ours / baseline:.2f} | ≤ 1.3 |"
                )
    return lines


def stored(options: argparse.Namespace, db: duckdb.DuckDBPyConnection) -> list[str]:
    """Measures what DuckDB needs to store 64-byte values, and to seal and store them."""
    db.register("unsealed", pa.table({"v": columns.values(options.count, 64)}))
    db.execute("CREATE OR REPLACE TABLE plain AS SELECT v FROM unsealed")
    create = "CREATE OR REPLACE TABLE copy AS SELECT {} AS v FROM plain"
    sealing, copying = seconds(
        lambda: db.execute(create.format("seal(v, 'random', 'people.note')")),
        lambda: db.execute(create.format("v")),
        rounds=options.rounds,
    )
    name = (
        "`CREATE TABLE … AS SELECT seal(…)`, 64-byte values, `random`; compared with a copy without sealing"
    )
    return [f"| {name} | {sealing:.3f} s | {copying:.3f} s | {sealing / copying:.2f} |  |"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of 5 million values, 3 rounds instead of 5"
    )
    parser.add_argument("--rounds", type=int, help="the number of rounds")
    parser.add_argument(
        "--write", metavar="FILE", type=Path, help="write the table between the markers in this page"
    )
    options = parser.parse_args()
    options.count, rounds = (500_000, 3) if options.quick else (5_000_000, 5)
    options.rounds = options.rounds or rounds
    extension = os.environ.get("SEALCOMB_DUCKDB", "target/duckdb/sealcomb.duckdb_extension")
    with (
        tempfile.TemporaryDirectory() as folder,
        duckdb.connect(config={"allow_unsigned_extensions": "true"}) as db,
    ):
        for policy, key in POLICIES.items():
            keyset = Keyset.from_keys({1: key}, primary=1, policy=policy)
            Path(folder, f"{policy}.json").write_text(keyset.secret_tink_json(), "utf-8")
        db.load_extension(str(Path(extension).resolve()))
        db.execute(f"SET sealcomb_keys = 'folder:{folder}'; SET threads = 1")
        lines = table(options, db) + stored(options, db)
    machine = f"{columns.processor()}, {os.cpu_count()} processors"
    lines += ["", f"{options.count / 1e6:g} million values; {machine}; duckdb {version('duckdb')}."]
    text = "\n".join(lines)
    print(text)
    if options.write:
        page.write(options.write, "sql", text)


if __name__ == "__main__":
    main()
