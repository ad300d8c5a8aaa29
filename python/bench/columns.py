"""Measures columns and messages against loops over pyca, and prints the table in docs/columns-numbers.md.

    python bench/columns.py [--quick] [--write ../docs/columns-numbers.md]

Each time is the median of interleaved rounds. Loops over pyca process a twentieth of a column's values, and
their times are scaled.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import page
import polars as pl
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import aead as pyca

import sealcomb
from sealcomb import Keyset, seal_column, unseal_column

CONTEXT = b"people.note"
KEY, LONG_KEY = bytes(range(32)), bytes(range(64))


@dataclass(frozen=True)
class Line:
    """A row of the table. ``ratio`` is the speedup over the baseline, or the quantity bounded by ``goal``."""

    what: str
    ours: str
    baseline: str
    ratio: float
    goal: str


def seconds(*works: Callable[[], object], rounds: int) -> list[float]:
    """Returns the median seconds of each function, measured in interleaved rounds after one warm-up."""
    for work in works:
        work()
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, mine in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            mine.append(time.perf_counter() - start)
    return [median(mine) for mine in times]


def values(count: int, size: int) -> pa.Array:
    data = os.urandom(count * size)
    offsets = pa.array(range(0, (count + 1) * size, size), pa.int32())
    return pa.Array.from_buffers(pa.binary(), count, [None, offsets.buffers()[1], pa.py_buffer(data)])


def rate(count: int, size: int, time_taken: float) -> str:
    return f"{count / time_taken / 1e6:.2f} M/s, {count * size / time_taken / 1e9:.2f} GB/s"


def loop_gcm_siv(values: list[bytes]) -> list[bytes]:
    cipher = pyca.AESGCMSIV(KEY)
    return [cipher.encrypt(os.urandom(12), value, CONTEXT) for value in values]


def loop_siv(values: list[bytes]) -> list[bytes]:
    cipher = pyca.AESSIV(LONG_KEY)
    return [cipher.encrypt(value, [CONTEXT]) for value in values]


def columns(options: argparse.Namespace) -> list[Line]:
    """Measures a column under each policy on one and two threads, and the equivalent loop over pyca."""
    lines = []
    for size, count in ((64, 2_000_000 // options.scale), (1024, 250_000 // options.scale)):
        array = values(count, size)
        few = array.slice(0, count // 20).to_pylist()
        keysets = {
            "random": Keyset.from_keys({1: KEY}, primary=1),
            "deterministic": Keyset.from_keys({1: LONG_KEY}, primary=1, policy="deterministic"),
        }
        loops = {"random": partial(loop_gcm_siv, few), "deterministic": partial(loop_siv, few)}
        alone: dict[str, float] = {}
        for policy, keyset in keysets.items():
            seal = partial(seal_column, array, keyset, context=CONTEXT)
            one, two, loop = seconds(
                partial(seal, threads=1), partial(seal, threads=2), loops[policy], rounds=options.rounds
            )
            loop *= count / len(few)
            alone[policy] = one
            name = f"seal {size}-byte values, `{policy}`"
            goal = "≥ 20" if (policy, size) == ("random", 64) else "≥ 8" if policy == "deterministic" else ""
            baseline = f"loop over pyca, {rate(count, size, loop)}"
            lines.append(Line(f"{name}, one thread", rate(count, size, one), baseline, loop / one, goal))
            goal = "≥ 1.8 on two cores" if policy == "random" else ""
            lines.append(Line(f"{name}, two threads", rate(count, size, two), "one thread", one / two, goal))
            unseal = partial(unseal_column, seal(), keyset, context=CONTEXT, threads=1)
            (opened,) = seconds(unseal, rounds=options.rounds)
            name = f"open {size}-byte values, `{policy}`, one thread"
            lines.append(Line(name, rate(count, size, opened), "sealing", one / opened, ""))
        slower = alone["random"] / alone["deterministic"]
        name = f"`deterministic` compared with `random`, {size} bytes, one thread"
        lines.append(Line(name, rate(count, size, alone["deterministic"]), "`random`", slower, "≥ 0.4"))
    return lines


def one_by_one(encrypt: Callable[[bytes, bytes, bytes], bytes], message: bytes, calls: int) -> None:
    nonce = bytes(12)
    for _ in range(calls):
        encrypt(nonce, message, CONTEXT)


def messages(options: argparse.Namespace) -> list[Line]:
    """Measures a list of messages and single messages against pyca."""
    lines = []
    count = 100_000 // options.scale
    data = values(count, 64).to_pylist()
    nonces = [row.to_bytes(12, "big") for row in range(count)]
    ours, theirs = sealcomb.AESGCM(KEY), pyca.AESGCM(KEY)
    many, loop = seconds(
        lambda: ours.encrypt_many(nonces, data, CONTEXT),
        lambda: [theirs.encrypt(nonce, value, CONTEXT) for nonce, value in zip(nonces, data, strict=True)],
        rounds=options.rounds,
    )
    text = f"loop over pyca, {rate(count, 64, loop)}"
    lines.append(Line("`AESGCM.encrypt_many`, 64 bytes", rate(count, 64, many), text, loop / many, "≥ 5"))
    for size in (64, 1024):
        calls = 20_000 // options.scale
        works = [partial(one_by_one, cipher.encrypt, bytes(size), calls) for cipher in (ours, theirs)]
        one, other = seconds(*works, rounds=2 * options.rounds)
        nanoseconds = [f"{taken / calls * 1e9:.0f} ns" for taken in (one, other)]
        name = f"one `AESGCM.encrypt`, {size} bytes"
        lines.append(Line(name, nanoseconds[0], f"pyca, {nanoseconds[1]}", other / one, "≥ 1"))
    return lines


def engines(options: argparse.Namespace) -> list[Line]:
    """Measures how much longer DuckDB and Polars take than the bare call."""
    count = 2_000_000 // options.scale
    people = pa.table({"note": values(count, 64)})
    keyset = Keyset.from_keys({1: KEY}, primary=1)

    def seal(note: Any) -> Any:
        return seal_column(note, keyset, context=CONTEXT)

    db = duckdb.connect()
    how: Any = {"type": "arrow", "null_handling": "special", "side_effects": True}
    db.create_function("seal", seal, ["BLOB"], "BLOB", **how)
    db.create_function("same", lambda note: note, ["BLOB"], "BLOB", **how)
    db.sql("CREATE TABLE stored AS SELECT note FROM people")
    frame = pl.DataFrame(people)
    expression = pl.col("note").map_batches(seal, return_dtype=pl.Binary)
    bare, by_polars, polars_bare = seconds(
        lambda: seal(people["note"]),
        lambda: frame.lazy().select(expression).collect(),
        lambda: seal(frame["note"]),
        rounds=options.rounds,
    )
    by_duckdb, without = seconds(
        lambda: db.sql("SELECT seal(note) AS note FROM stored").to_arrow_table(),
        lambda: db.sql("SELECT same(note) AS note FROM stored").to_arrow_table(),
        rounds=options.rounds,
    )
    db.close()
    return [
        Line(
            "Polars",
            f"{by_polars:.3f} s",
            f"bare call, {polars_bare:.3f} s",
            by_polars / polars_bare,
            "≤ 1.3",
        ),
        Line("DuckDB", f"{by_duckdb:.3f} s", f"bare call, {bare:.3f} s", by_duckdb / bare, "≤ 1.3"),
        Line(
            "DuckDB, minus the same query with an identity function",
            f"{by_duckdb - without:.3f} s",
            f"bare call, {bare:.3f} s",
            (by_duckdb - without) / bare,
            "",
        ),
    ]


MEMORY = """
import re, sys
import pyarrow as pa
from sealcomb import Keyset, seal_column
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024
size, count = 64, int(sys.argv[1])
offsets = pa.array(range(0, (count + 1) * size, size), pa.int32())
array = pa.Array.from_buffers(pa.binary(), count, [None, offsets.buffers()[1], pa.py_buffer(bytearray(b"x") * (size * count))])
open("/proc/self/clear_refs", "w").write("5")  # reset the peak
before = peak()
sealed = seal_column(array, Keyset.generate(), context=b"people.note")
print((peak() - before - sealed.nbytes) / 1e6, sealed.nbytes / 1e6)
"""  # noqa: E501


def memory(options: argparse.Namespace) -> list[Line]:
    """Measures the peak memory of a call, excluding its input and output, in a new process."""
    command = [sys.executable, "-P", "-c", MEMORY, str(4_000_000 // options.scale)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    extra, output = map(float, printed.split())
    return [
        Line(
            "memory of a call, excluding input and output",
            f"{extra:.0f} MB",
            f"output, {output:.0f} MB",
            extra,
            "≤ 64 MB",
        )
    ]


def processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
    return found[1] if found else platform.processor()


def table(lines: list[Line]) -> str:
    text = ["| measurement | sealcomb | baseline | ratio | goal |", "|---|---:|---:|---:|---|"]
    text += [
        f"| {line.what} | {line.ours} | {line.baseline} | {line.ratio:.2f} | {line.goal} |" for line in lines
    ]
    versions = ", ".join(
        f"{name} {version(name)}" for name in ("cryptography", "pyarrow", "polars", "duckdb")
    )
    text += ["", f"{processor()}, {os.cpu_count()} processors; {versions}."]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the values, 3 rounds instead of 7")
    parser.add_argument(
        "--write", metavar="FILE", type=Path, help="write the table between the markers in this page"
    )
    options = parser.parse_args()
    options.scale, options.rounds = (10, 3) if options.quick else (1, 7)
    lines = []
    for part in (columns, messages, engines, memory):
        print(f"{part.__name__} ...", file=sys.stderr)
        lines += part(options)
    text = table(lines)
    print(text)
    if options.write:
        page.write(options.write, "columns", text)


if __name__ == "__main__":
    main()
