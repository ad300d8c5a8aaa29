"""Fuzzes the columns with mutated files and arrays, with the extension under AddressSanitizer.

    python fuzz_columns.py TARGET SECONDS

The targets are `arrow`, `parquet`, `csv` and `arrays`. Each input is determined by SEALCOMB_SEED and its
number; `python fuzz_columns.py TARGET NUMBER=12` repeats one. The command must exit with a documented status
and leave no files, and a call must raise a documented exception. A report of AddressSanitizer, a Rust panic
or any other exception ends the process.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from sealcomb import (
    Keyset,
    UnopenedRow,
    _cli,
    inspect_column,
    reseal_column,
    seal_column,
    unseal_column,
)

SEED = int(os.environ.get("SEALCOMB_SEED", "1"))
KEYSET = Keyset.from_keys({7: bytes(range(32))}, 7)
STATUSES = {0, 1, 3, 4}
NUMBERS = [
    0,
    1,
    -1,
    7,
    8,
    127,
    255,
    1 << 15,
    1 << 16,
    200_000,
    (1 << 31) - 1,
    -(1 << 31),
    1 << 32,
    (1 << 63) - 1,
    -(1 << 63),
]
TEXTS: list[bytes | None] = [
    b"",
    b"a",
    None,
    b"value",
    b"a longer value that no view holds inline",
    b"\xc3\xa9",
]


def mutated(draw: random.Random, data: bytes) -> bytes:
    """Returns a file with a few bytes changed."""
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4, 16])):
        if not out:
            break
        at = draw.randrange(len(out))
        match draw.randrange(6):
            case 0:
                out[at] ^= 1 << draw.randrange(8)
            case 1:
                out[at] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x2C, 0x0A])
            case 2:
                size = draw.choice([2, 4, 8])
                at -= at % size
                number = draw.choice(NUMBERS) & (1 << 8 * size) - 1
                out[at : at + size] = number.to_bytes(size, "little")
            case 3:
                del out[at : at + draw.choice([1, 4, 8, 64])]
            case 4:
                out[at:at] = draw.randbytes(draw.choice([1, 4, 8, 64]))
            case _:
                start = draw.randrange(len(out))
                part = out[start : start + draw.choice([4, 8, 16, 64])]
                out[at : at + len(part)] = part
    return bytes(out)


# ---- files


def tables(draw: random.Random) -> pa.Table:
    """Returns a table with a column `x` of text or bytes, and columns of other types."""
    rows = draw.choice([0, 1, 20, 200])
    kind = draw.choice(
        [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
    )
    texts = pa.array([draw.choice(TEXTS) for _ in range(rows)], pa.large_binary()).cast(kind)
    return pa.table(
        {
            "x": texts.dictionary_encode()
            if draw.random() < 0.2 and kind in (pa.string(), pa.binary())
            else texts,
            "id": pa.array(range(rows), pa.int64()),
            "list": pa.array([["a"] * (row % 3) for row in range(rows)], pa.list_(pa.string())),
            "when": pa.array([row or None for row in range(rows)], pa.timestamp("us")),
        }
    )


def arrow_file(draw: random.Random, table: pa.Table, path: Path) -> None:
    options = pa.ipc.IpcWriteOptions(compression=draw.choice([None, None, "lz4", "zstd"]))
    make = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with make(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=draw.choice([7, 1000]))


def parquet_file(draw: random.Random, table: pa.Table, path: Path) -> None:
    pq.write_table(
        table,
        path,
        compression=draw.choice(["none", "snappy", "zstd"]),
        row_group_size=draw.choice([50, 1000]),
        write_page_index=draw.choice([True, False]),
        use_dictionary=draw.choice([True, False]),
        use_deprecated_int96_timestamps=draw.choice([True, False]),
    )


def csv_file(_draw: random.Random, table: pa.Table, path: Path) -> None:
    texts = table.select(["x", "id", "when"])
    values = [value.decode() if isinstance(value, bytes) else value for value in table["x"].to_pylist()]
    pa.csv.write_csv(texts.set_column(0, "x", pa.array(values, pa.string())), path)


WRITERS: dict[str, tuple[Callable[[random.Random, pa.Table, Path], None], list[str]]] = {
    "arrow": (arrow_file, [".arrow", ".arrows"]),
    "parquet": (parquet_file, [".parquet"]),
    "csv": (csv_file, [".csv"]),
}


def command(*arguments: str) -> int:
    """Runs the command and returns its status. Checks that it reports every failure, without a traceback."""
    output = io.StringIO()
    with contextlib.redirect_stderr(output), contextlib.redirect_stdout(io.StringIO()):
        status = _cli.main(list(arguments))
    lines = [line for line in output.getvalue().splitlines() if not line.startswith("note: ")]
    if status not in STATUSES or bool(lines) != bool(status) or "Traceback" in output.getvalue():
        raise AssertionError(f"status {status}: {output.getvalue()!r}")
    return status


def run_file(draw: random.Random, form: str, folder: Path) -> None:
    """Mutates one file, sealed or not, and runs the command on it."""
    write, suffixes = WRITERS[form]
    suffix = draw.choice(suffixes)
    keys = folder / "keys.json"
    if not keys.exists():
        keys.touch(mode=0o600)
        keys.write_text(KEYSET.secret_tink_json())
    named = draw.choice(["x", "x", "when", "[wx]*", "x" if form == "csv" else "list"])
    how = ("--keyset", str(keys), "--column", named, "--context", "{column}", "--force", "--threads", "2")
    source = folder / f"in{suffix}"
    write(draw, tables(draw), source)
    if sealed := draw.random() < 0.5:
        command("seal", str(source), str(source), *how)
    source.write_bytes(mutated(draw, source.read_bytes()))
    out = folder / f"out{draw.choice([suffix, suffix, '.arrow', '.parquet', '.csv'])}"
    verb = draw.choice(["unseal", "reseal", "seal"] if sealed else ["seal", "seal", "unseal"])
    more = ["--forged", "null"] if verb == "unseal" and draw.random() < 0.5 else []
    if draw.random() < 0.2:
        more += ["--row-id", "id"]
    if command("inspect", str(source)) == 0 or draw.random() < 0.9:
        status = command(verb, str(source), str(out), *how, *more)
        if out.exists() != (status in (0, 4)):
            raise AssertionError(f"status {status}, but output exists: {out.exists()}")
    if left := {path.name for path in folder.iterdir()} - {"keys.json", source.name, out.name}:
        raise AssertionError(f"leftover files: {left}")
    source.unlink()
    out.unlink(missing_ok=True)


# ---- arrays


class Bare:
    """An array that is only accessible through the C data interface."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        pair: tuple[object, object] = self.array.__arrow_c_array__(requested_schema)
        return pair


def an_array(draw: random.Random) -> Any:
    """Returns an array with some buffers changed after pyarrow has validated it."""
    kind = draw.choice(
        [
            pa.binary(),
            pa.large_binary(),
            pa.binary_view(),
            pa.string(),
            pa.large_string(),
            pa.string_view(),
            pa.binary(5),
        ]
    )
    values = (
        [None if value is None else value.ljust(5)[:5] for value in TEXTS]
        if pa.types.is_fixed_size_binary(kind)
        else TEXTS
    )
    good = pa.array([draw.choice(values) for _ in range(draw.choice([1, 9, 100]))], pa.large_binary()).cast(
        kind
    )
    if draw.random() < 0.5 and pa.types.is_binary(kind):
        good = seal_column(good, KEYSET, context=b"")
    # Exactly sized, so the sanitizer detects accesses beyond it.
    memory = [buffer and bytearray(buffer.to_pybytes()) for buffer in good.buffers()]
    buffers = [None if data is None else pa.py_buffer(data) for data in memory]
    offset = draw.randrange(len(good))
    length = len(good) - offset if draw.random() < 0.5 else draw.choice([len(good) - offset, 0, 1])
    nulls = draw.choice([-1, -1, 0])
    nulls = nulls if buffers[0] else -1
    array = pa.Array.from_buffers(good.type, length, buffers, null_count=nulls, offset=offset)
    bare = draw.random() < 0.4
    offsets = not pa.types.is_fixed_size_binary(good.type) and "view" not in str(good.type)
    for number, data in enumerate(memory):
        if not data or draw.random() < 0.4:
            continue
        end = (8 if "large" in str(good.type) else 4) * (offset + length)
        last_offset = slice(end, end + 8 if "large" in str(good.type) else end + 4)
        last = data[last_offset]
        data[:] = mutated(draw, bytes(data))[: len(data)].ljust(len(data), b"\0")
        if bare and number == 1 and offsets:
            # The bare interface does not reveal the size of the values, so the last offset must be valid.
            data[last_offset] = last
    if bare:
        return Bare(array)
    return array if draw.random() < 0.5 else pa.chunked_array([array, array])


NESTED = [
    pa.array([[1, None], None, [], [3]] * 5),
    pa.array([{"a": "text", "b": 1.5}, None, {"a": None, "b": 0.0}] * 7),
    pa.array([[("key", [1])], None, []] * 5, pa.map_(pa.string(), pa.list_(pa.int8()))),
    pa.array([["a", "b"], None, ["c", None]] * 5, pa.list_(pa.string(), 2)),
    pa.array(
        [[{"x": True, "y": b"a"}], [], None] * 5,
        pa.large_list(pa.struct({"x": pa.bool_(), "y": pa.binary()})),
    ),
    pa.array(["a", None, "b", "a"] * 5).dictionary_encode(),
    pa.array([7, None, -7] * 5, pa.decimal128(10, 2)),
    pa.array([True, None, False] * 5),
]


def copied(array: pa.Array, bare: bool, memory: list[bytearray]) -> pa.Array:
    """Returns a copy of an array, and appends the memory of its buffers that may change."""
    kind = array.type
    children = []
    if pa.types.is_struct(kind):
        children = [array.field(at) for at in range(kind.num_fields)]
    elif pa.types.is_nested(kind):
        is_map = pa.types.is_map(kind)
        children = (
            [pa.StructArray.from_arrays([array.keys, array.items], fields=list(kind.field(0).type))]
            if is_map
            else [array.values]
        )
    count = 1 if pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind) else 2
    count = count if children or pa.types.is_dictionary(kind) else len(array.buffers())
    buffers = []
    for number, buffer in enumerate(array.buffers()[:count]):
        data = None if buffer is None else bytearray(buffer.to_pybytes())
        buffers.append(None if data is None else pa.py_buffer(data))
        # The bare interface does not reveal the size of the values, so their offsets must be valid.
        if data and not (bare and number == 1 and count == 3):
            memory.append(data)
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_buffers(
            kind, len(array), buffers, copied(array.dictionary, bare, memory)
        )
    children = [copied(child, bare, memory) for child in children]
    return pa.Array.from_buffers(kind, len(array), buffers, children=children or None)


def a_nested_array(draw: random.Random) -> Any:
    """Returns an array of another type than text and bytes, sealed or not, with some buffers changed."""
    good, bare = draw.choice(NESTED), draw.random() < 0.4
    if draw.random() < 0.5:
        good = seal_column(good, KEYSET, context=b"")
    memory: list[bytearray] = []
    array = copied(good, bare, memory)
    array = array.slice(draw.randrange(len(array)), draw.choice([0, 1, 100]))
    for data in memory:
        if draw.random() < 0.3:
            data[:] = mutated(draw, bytes(data))[: len(data)].ljust(len(data), b"\0")
    if bare:
        return Bare(array)
    return array if draw.random() < 0.5 else pa.chunked_array([array, array])


def run_array(draw: random.Random, _form: str, _folder: Path) -> None:
    """Passes an array to every call that takes one."""
    array = an_array(draw) if draw.random() < 0.5 else a_nested_array(draw)
    plain = pa.array([b"value"] * 100)
    calls: list[Callable[[], object]] = [
        lambda: seal_column(array, KEYSET, context=b"", threads=2),
        lambda: unseal_column(array, KEYSET, context=b"", forged="null", threads=2),
        lambda: unseal_column(
            array, KEYSET, context=b"", as_type=draw.choice(["utf8", "int64", "bool", "null", "decimal(9)"])
        ),
        lambda: reseal_column(array, KEYSET, context=b"", forged="null"),
        lambda: inspect_column(array),
        lambda: seal_column(plain, KEYSET, context=b"", row_ids=array),
        lambda: seal_column(array, KEYSET, context=b"", row_ids=pa.array(range(len(array)))),
    ]
    for call in calls:
        with contextlib.suppress(ValueError, TypeError, UnopenedRow):
            call()


TARGETS = {"arrow": run_file, "parquet": run_file, "csv": run_file, "arrays": run_array}


def main(target: str, limit: str) -> int:
    end = time.monotonic() + (float("inf") if "=" in limit else float(limit))
    numbers = [int(limit.removeprefix("NUMBER="))] if "=" in limit else None
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and (numbers or numbers is None):
            number = numbers.pop() if numbers else done
            note(target, number)
            try:
                TARGETS[target](random.Random(f"{SEED} {target} {number}"), target, Path(folder))
            except BaseException:
                print(f"SEALCOMB_SEED={SEED} {target} NUMBER={number}", file=sys.stderr)
                raise
            done += 1
    print(f"{target}: {done} inputs, no failure")
    return 0


def note(target: str, number: int) -> None:
    """Stores the number of the current input, in case the process dies."""
    if path := os.environ.get("FUZZ_NOTE"):
        Path(path).write_text(f"SEALCOMB_SEED={SEED} {target} NUMBER={number}\n")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
