"""Measures the time and peak memory of `sealcomb-columns` on a large file.

    python bench/command.py [--bytes 2000000000] [--write ../docs/columns-numbers.md]

The file is Parquet with a million rows per row group, pyarrow's default. It has a column of integers and two
text columns of 64 and 300 bytes per value. Both text columns are sealed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import page
import pyarrow as pa
import pyarrow.parquet as pq

from sealcomb import Keyset

LENGTHS = {"short": 64, "long": 300}
GROUP = 1_000_000


def make(path: Path, size: int) -> int:
    """Writes a file of about ``size`` bytes, and returns its number of rows."""
    rows = size // sum(LENGTHS.values())
    schema = pa.schema([("id", pa.int64()), *((name, pa.string()) for name in LENGTHS)])
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        for first in range(0, rows, GROUP):
            count = min(GROUP, rows - first)
            columns = [pa.array(range(first, first + count), pa.int64())]
            for length in LENGTHS.values():
                text = os.urandom(count * length // 2).hex().encode()
                offsets = pa.array(range(0, (count + 1) * length, length), pa.int32()).buffers()[1]
                columns.append(pa.StringArray.from_buffers(count, offsets, pa.py_buffer(text)))
            writer.write_batch(pa.record_batch(columns, schema=schema), row_group_size=GROUP)
    return rows


def run(*arguments: str | Path) -> tuple[float, float]:
    """Runs the command, and returns its time in seconds and its peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "sealcomb", *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"sealcomb-columns exited with status {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bytes", type=int, default=2_000_000_000, help="size of the file")
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    parser.add_argument(
        "--write", metavar="FILE", type=Path, help="write the table between the markers in this page"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        keys = folder / "keys.json"
        keys.touch(mode=0o600)
        keys.write_text(Keyset.generate().secret_tink_json())
        # In another process, because the peak memory of a child starts at that of its parent.
        with get_context("spawn").Pool(1) as pool:
            rows = pool.apply(make, (folder / "in.parquet", options.bytes))
        size = (folder / "in.parquet").stat().st_size
        text = [
            f"| {size / 1e9:.2f} GB of Parquet, {rows / 1e6:.1f} million rows "
            "| time | throughput | peak memory |"
        ]
        text += ["|---|---:|---:|---:|"]
        how = ("--keyset", str(keys), "--context", "{column}", "--column", "short", "--column", "long")
        for verb, source, out in (
            ("seal", "in.parquet", "sealed.parquet"),
            ("reseal", "sealed.parquet", "fresh.parquet"),
            ("unseal", "sealed.parquet", "out.parquet"),
            ("seal", "in.parquet", "sealed.arrow"),
        ):
            taken, peak = run(verb, folder / source, folder / out, *how)
            rate = f"{size / taken / 1e6:.0f} MB/s"
            text.append(f"| `{verb}` to `{Path(out).suffix}` | {taken:.1f} s | {rate} | {peak:.0f} MB |")
            if out != "sealed.parquet":
                (folder / out).unlink()
    print("\n".join(text))
    if options.write:
        page.write(options.write, "command", "\n".join(text))


if __name__ == "__main__":
    main()
