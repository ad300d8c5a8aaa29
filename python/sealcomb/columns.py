"""The command ``sealcomb-columns``: seals and opens columns of Parquet, Arrow and CSV files.

A file passes through in pieces of some megabytes, so its size does not matter. The output appears under its
name only when it is whole: until then it is a hidden file beside it, and a failure or a signal removes that.
"""

from __future__ import annotations

import argparse
import binascii
import contextlib
import os
import re
import signal
import stat
import sys
import tempfile
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Literal, NoReturn

from sealcomb import (
    ForgedRow,
    Keyset,
    KeysetError,
    NotSealed,
    UnknownKey,
    inspect_column,
    open_column,
    open_column_counted,
    reseal_column,
    seal_column,
)

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import csv, parquet
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
except ImportError as missing:
    raise SystemExit(f"sealcomb-columns needs {missing.name}: pip install 'sealcomb[columns]'") from None

EPILOG = """\
formats, by the suffix of each file:
  .parquet, .arrow or .feather (Arrow's file format), .arrows (Arrow's stream), .csv; IN and OUT may differ.
  In CSV every column is text, and a sealed value is base64.

examples:
  sealcomb-columns seal people.parquet sealed.parquet --keyset keys.json --column ssn --column note
  sealcomb-columns seal people.csv sealed.csv --keyset keys.json --column ssn \\
      --context 'people.{column}' --row-id id
  sealcomb-columns open sealed.parquet people.parquet --keyset keys.json --column ssn --column note
  sealcomb-columns reseal sealed.parquet fresh.parquet --keyset rotated.json --column ssn --column note
  sealcomb-columns inspect sealed.parquet --keyset rotated.json

exit status:
  0  done
  1  IN or the keyset is not what it should be: cut short, forged, another key, a column that is not there
  2  the command line is wrong
  3  a file cannot be read or written: permission, disk full, OUT exists
  4  done with --forged null, and some values did not open
  130, 143  interrupted, terminated; OUT is as it was before
"""

# Rows and bytes of one piece. Few rows, for a dictionary hides from Parquet's statistics how long values are.
PIECE_ROWS = 1 << 14
PIECE_BYTES = 16 << 20
# A row group of the input stays one, up to this size in memory.
GROUP_BYTES = 64 << 20

# What the field of a sealed column remembers, so that it comes back as the type that it had.
TYPE_KEY = b"sealcomb:type"
TEXT = (pa.string(), pa.large_string(), pa.string_view())
BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())
PLAIN_TYPES = {str(kind): kind for kind in (*TEXT, *BYTES)}


BAD_INPUT, BAD_COMMAND, BAD_FILE, SOME_FORGED = 1, 2, 3, 4


class CommandError(Exception):
    """The work ends with this message and exit status."""

    def __init__(self, message: str, status: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


# ---- files, a piece at a time


@dataclass(frozen=True)
class Piece:
    """Some rows of a file, and where they come from."""

    group: int
    first_row: int
    batch: pa.RecordBatch
    done: float


@dataclass(frozen=True)
class Source:
    """A file to read. ``unit`` is the format's own word for a group of rows."""

    path: Path
    schema: pa.Schema
    unit: str
    pieces: Callable[[], Iterator[Piece]]
    text: bool = False
    codecs: dict[str, str] = field(default_factory=dict)


def slices(group: int, batch: pa.RecordBatch, done: float) -> Iterator[Piece]:
    """Cuts a batch into pieces; an empty one stays, for the sake of its schema."""
    rows = max(1, min(PIECE_ROWS, batch.num_rows * PIECE_BYTES // max(1, batch.nbytes)))
    for first in range(0, max(1, batch.num_rows), rows):
        yield Piece(group, first, batch.slice(first, rows), done)


def read_parquet(path: Path) -> Source:
    file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20, page_checksum_verification=True)
    total = max(1, file.metadata.num_rows)

    def pieces() -> Iterator[Piece]:
        seen = 0
        for group in range(file.metadata.num_row_groups):
            about = file.metadata.row_group(group)
            rows = max(1, min(PIECE_ROWS, about.num_rows * PIECE_BYTES // max(1, about.total_byte_size)))
            first = 0
            try:
                for batch in file.iter_batches(rows, row_groups=[group]):
                    yield Piece(group, first, batch, (seen + first) / total)
                    first += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                raise CommandError(damaged_group(file, path, group, rows, error)) from None
            seen += first

    codecs = {}
    if file.metadata.num_row_groups:
        about = file.metadata.row_group(0)
        for column in map(about.column, range(about.num_columns)):
            # The writer calls the lack of a codec by another name than the file does.
            codecs[column.path_in_schema] = column.compression.replace("UNCOMPRESSED", "NONE")
    return Source(path, file.schema_arrow, "row group", pieces, codecs=codecs)


def damaged_group(file: parquet.ParquetFile, path: Path, group: int, rows: int, error: Exception) -> str:
    """Finds the column that cannot be read, and how far it goes, by reading each alone."""
    for name in dict.fromkeys(file.schema_arrow.names):
        row = 0
        try:
            for batch in file.iter_batches(
                min(rows, 64), row_groups=[group], columns=[name], use_threads=False
            ):
                row += batch.num_rows
        except (pa.ArrowException, OSError) as cause:
            return (
                f"{path}: row group {group}, column {name!r}, row {row} or soon after cannot be read: {cause}"
            )
    return f"{path}: row group {group} cannot be read: {error}"


def read_arrow_file(path: Path) -> Source:
    reader = pa.ipc.open_file(pa.OSFile(str(path)))

    def pieces() -> Iterator[Piece]:
        for group in range(reader.num_record_batches):
            with names_damage(path, group):
                batch = reader.get_batch(group)
            yield from slices(group, batch, group / reader.num_record_batches)

    return Source(path, reader.schema, "record batch", pieces)


def read_arrow_stream(path: Path) -> Source:
    file = pa.OSFile(str(path))
    reader = pa.ipc.open_stream(file)
    size = max(1, path.stat().st_size)

    def pieces() -> Iterator[Piece]:
        group = 0
        while True:
            with names_damage(path, group):
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return
            yield from slices(group, batch, file.tell() / size)
            group += 1

    return Source(path, reader.schema, "record batch", pieces)


@contextlib.contextmanager
def names_damage(path: Path, group: int) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise CommandError(f"{path}: record batch {group} cannot be read: {error}") from None


def read_csv(path: Path) -> Source:
    size = max(1, path.stat().st_size)
    how = {
        "read_options": csv.ReadOptions(block_size=4 << 20),
        "parse_options": csv.ParseOptions(newlines_in_values=True),
    }
    with csv.open_csv(str(path), **how) as header:
        names = header.schema.names
    file = pa.OSFile(str(path))
    # All text, so that 007 stays 007. A value that is absent is null, a quoted empty one is empty.
    convert_options = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    reader = csv.open_csv(file, convert_options=convert_options, **how)

    def pieces() -> Iterator[Piece]:
        first = 0
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except (pa.ArrowException, OSError) as error:
                raise CommandError(f"{path}: after row {first}: {error}") from None
            yield Piece(0, first, batch, file.tell() / size)
            first += batch.num_rows

    return Source(path, reader.schema, "part", pieces, text=True)


READERS: dict[str, Callable[[Path], Source]] = {
    ".parquet": read_parquet,
    ".arrow": read_arrow_file,
    ".feather": read_arrow_file,
    ".arrows": read_arrow_stream,
    ".csv": read_csv,
}


def check_suffix(path: Path) -> None:
    if path.suffix not in READERS:
        raise CommandError(f"{path}: the suffix must be one of {', '.join(READERS)}", status=BAD_COMMAND)


def read(path: Path) -> Source:
    """Opens a file by its suffix."""
    check_suffix(path)
    try:
        return READERS[path.suffix](path)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise CommandError(f"{path}: {os.strerror(error.errno)}", status=BAD_FILE) from None
        raise CommandError(f"{path}: this is not a whole {path.suffix[1:]} file: {error}") from None


def write(
    path: Path, suffix: str, schema: pa.Schema, codecs: dict[str, str], pieces: Iterable[Piece]
) -> None:
    """Writes all pieces to a file that is there and empty."""
    with pa.OSFile(str(path), "wb") as file:
        if suffix == ".parquet":
            with parquet.ParquetWriter(
                file, schema, compression=codecs or "SNAPPY", write_page_checksum=True
            ) as writer:
                write_groups(writer, schema, pieces)
            return
        if suffix == ".csv":
            writer = csv.CSVWriter(file, schema)
        else:
            writer = (pa.ipc.new_stream if suffix == ".arrows" else pa.ipc.new_file)(file, schema)
        with writer:
            for piece in pieces:
                writer.write_batch(piece.batch)


def write_groups(writer: parquet.ParquetWriter, schema: pa.Schema, pieces: Iterable[Piece]) -> None:
    held: list[pa.RecordBatch] = []
    group, size = 0, 0

    def flush() -> None:
        table = pa.Table.from_batches(held, schema)
        if table.num_rows:
            writer.write_table(table, row_group_size=table.num_rows)
        held.clear()

    for piece in pieces:
        # Row groups of CSV and of small record batches are ours to choose.
        if size >= GROUP_BYTES or piece.group != group:
            flush()
            size = 0
        group = piece.group
        held.append(piece.batch)
        size += piece.batch.nbytes
    flush()


# ---- an output that is whole or not there


@contextlib.contextmanager
def whole_file(out: Path, mode: int) -> Iterator[Path]:
    """Gives a file beside ``out``, and puts it in the place of ``out`` if the block ends well."""
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=".sealcomb.", suffix=".part")
    part = Path(name)
    try:
        os.close(handle)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.chmod(mode)
        part.replace(out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def output_mode(out: Path, verb: str, force: bool) -> int:
    """The permissions of OUT: those of the file that it replaces, or the user's alone for what was opened."""
    try:
        about = out.stat()
    except FileNotFoundError:
        if verb == "open":
            return 0o600
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask
    if not stat.S_ISREG(about.st_mode):
        raise CommandError(f"{out}: is there and is not a plain file", status=BAD_FILE)
    if not force:
        raise CommandError(f"{out}: is there already; --force replaces it", status=BAD_FILE)
    return stat.S_IMODE(about.st_mode)


# ---- the work on a piece


@dataclass
class Work:
    """What is done to which columns."""

    verb: str
    source: Source
    text_out: bool
    columns: list[str]
    keyset: Keyset
    context: str
    row_id: str | None
    threads: int | None
    forged: str
    nulled: Counter[str] = field(default_factory=Counter)

    def check(self) -> None:
        """Refuses names that the file does not have, or has twice."""
        names = self.source.schema.names
        for name in [*self.columns, *([self.row_id] if self.row_id else [])]:
            if names.count(name) != 1:
                found = names.count(name) or "no"
                there = ", ".join(names)
                raise CommandError(
                    f"{self.source.path}: {found} columns are named {name!r}; there are {there}"
                )

    def schema(self) -> pa.Schema:
        """The schema of the output, from an empty piece."""
        empty = pa.RecordBatch.from_pylist([], self.source.schema)
        return self.turn(Piece(0, 0, empty, 0)).batch.schema

    def turn(self, piece: Piece) -> Piece:
        """Seals, opens or reseals the columns of one piece."""
        batch = piece.batch
        ids = batch.column(self.row_id) if self.row_id else None
        for name in self.columns:
            try:
                changed, kind = self.turn_column(piece, name, batch.column(name), ids)
            except CommandError:
                raise
            except (ForgedRow, NotSealed, UnknownKey) as error:
                raise CommandError(self.where(piece, name, error.row, error.reason)) from None
            except (TypeError, ValueError) as error:
                raise CommandError(self.where(piece, name, None, str(error))) from None
            batch = batch.set_column(batch.schema.get_field_index(name), kind, changed)
        return replace(piece, batch=batch)

    def turn_column(
        self, piece: Piece, name: str, array: pa.Array, ids: pa.Array | None
    ) -> tuple[pa.Array, pa.Field]:
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = self.source.schema.field(name)
        notes = dict(kind.metadata or {})
        aad = self.context.replace("{column}", name).encode()
        nullable = kind.nullable
        if self.verb == "seal":
            if TYPE_KEY in notes:
                raise ValueError("it is sealed already; reseal moves it to the primary key")
            notes[TYPE_KEY] = str(array.type).encode()
            array = seal_column(array, self.keyset, context=aad, row_ids=ids, threads=self.threads)
        else:
            if self.source.text:
                array = self.from_base64(piece, name, array)
            if self.verb == "reseal":
                array = reseal_column(array, self.keyset, context=aad, row_ids=ids, threads=self.threads)
            else:
                plain = self.plain_type(notes.pop(TYPE_KEY, b"").decode(), array.type)
                as_type: Literal["utf8", "binary"] = "utf8" if plain in TEXT else "binary"
                if self.forged == "null":
                    nullable = True
                    array, count = open_column_counted(
                        array, self.keyset, context=aad, row_ids=ids, as_type=as_type, threads=self.threads
                    )
                    self.nulled[name] += count
                else:
                    array = open_column(
                        array, self.keyset, context=aad, row_ids=ids, as_type=as_type, threads=self.threads
                    )
                array = array.cast(plain)
        if self.text_out and self.verb != "open":
            array = pa.array([value and b64encode(value) for value in array.to_pylist()], pa.string())
        return array, pa.field(name, array.type, nullable, notes)

    def from_base64(self, piece: Piece, name: str, array: pa.Array) -> pa.Array:
        values = []
        for row, value in enumerate(array.to_pylist()):
            try:
                values.append(None if value is None else b64decode(value, validate=True))
            except (binascii.Error, ValueError):
                raise CommandError(
                    self.where(piece, name, row, "not base64, so not a sealed value")
                ) from None
        return pa.array(values, pa.binary())

    def plain_type(self, remembered: str, otherwise: pa.DataType) -> pa.DataType:
        """The type of an opened column: text in CSV, else the one that it had before it was sealed."""
        if self.source.text or self.text_out:
            return pa.string()
        if fixed := re.fullmatch(r"fixed_size_binary\[(\d{1,9})\]", remembered):
            return pa.binary(int(fixed[1]))
        return PLAIN_TYPES.get(remembered, otherwise)

    def where(self, piece: Piece, name: str, row: int | None, problem: str) -> str:
        place = [str(self.source.path) + ":"]
        if not self.source.text:
            place.append(f"{self.source.unit} {piece.group},")
        place.append(f"column {name!r}" + ("" if row is None else f", row {piece.first_row + row}") + ":")
        return " ".join([*place, problem])


def change(options: argparse.Namespace) -> int:
    """Carries out ``seal``, ``open`` or ``reseal``."""
    if len(options.columns) > 1 and "{column}" not in options.context:
        raise CommandError("with several columns the context must contain {column}", status=BAD_COMMAND)
    if options.row_id in options.columns:
        raise CommandError(
            f"the row ids of {options.row_id!r} cannot be sealed with themselves", status=BAD_COMMAND
        )
    out = Path(os.path.realpath(options.output))
    check_suffix(out)
    source = read(options.input)
    work = Work(
        verb=options.verb,
        source=source,
        text_out=out.suffix == ".csv",
        columns=list(dict.fromkeys(options.columns)),
        keyset=read_keyset(options.keyset),
        context=options.context,
        row_id=options.row_id,
        threads=options.threads,
        forged=getattr(options, "forged", "raise"),
    )
    work.check()
    schema = work.schema()
    mode = output_mode(out, options.verb, options.force)
    try:
        with whole_file(out, mode) as part, progress_bar(options.verb) as show:
            write(part, out.suffix, schema, codecs(source, work), show(source.pieces(), work.turn))
    except OSError as error:
        raise CommandError(f"{out}: cannot be written: {error.strerror or error}", status=BAD_FILE) from None
    for name, count in work.nulled.items():
        if count:
            print(
                f"{options.input}: column {name!r}: {count} values did not open and are null in {out}",
                file=sys.stderr,
            )
    return SOME_FORGED if work.nulled.total() else 0


def codecs(source: Source, work: Work) -> dict[str, str]:
    """Parquet's compression by column: that of the input, and none for what is sealed."""
    usual = next((codec for codec in source.codecs.values() if codec != "NONE"), "SNAPPY")
    changed = dict.fromkeys(work.columns, usual if work.verb == "open" else "NONE")
    return source.codecs and {**source.codecs, **changed}


def read_keyset(path: str) -> Keyset:
    """Reads a keyset in Tink's JSON, from standard input if the path is ``-``."""
    if path == "-":
        text = sys.stdin.read()
    else:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                print(
                    f"warning: {path}: others may read or change these keys; chmod 600 {path}",
                    file=sys.stderr,
                )
            text = file.read()
    try:
        return Keyset.from_tink_json(text)
    except KeysetError as error:
        raise CommandError(f"{'standard input' if path == '-' else path}: {error}") from None


# ---- inspect


@dataclass
class Count:
    """What one column holds. ``unsealed`` pieces have a value that is not sealed."""

    rows: int = 0
    nulls: int = 0
    unsealed: int = 0
    keys: Counter[int] = field(default_factory=Counter)

    def sealed(self) -> str:
        if not self.keys:
            return "no"
        return "partly" if self.unsealed else "yes"


def inspect(options: argparse.Namespace) -> int:
    """Prints which columns look sealed, and under which keys."""
    source = read(options.input)
    keyset = read_keyset(options.keyset) if options.keyset else None
    names = options.columns or source.schema.names
    for name in names:
        if name not in source.schema.names:
            raise CommandError(
                f"{source.path}: no column is named {name!r}; there are {', '.join(source.schema.names)}"
            )
    counts = {name: Count() for name in names}

    def count(piece: Piece) -> Piece:
        for name, so_far in counts.items():
            inspect_piece(piece.batch.column(name), so_far, text=source.text)
        return piece

    with progress_bar("inspect") as show:
        for _ in show(source.pieces(), count):
            pass
    header = ["column", "type", "values", "nulls", "sealed", "keys"]
    lines = [header] + [
        describe(name, source.schema.field(name).type, counts[name], keyset) for name in names
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    return 0


def inspect_piece(array: pa.Array, count: Count, *, text: bool) -> None:
    count.rows += len(array)
    count.nulls += array.null_count
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if text:
        array = pa.array(map(envelope_of, array.to_pylist()), pa.binary())
    keys = inspect_column(array)
    if keys is None:
        count.unsealed += 1
    else:
        count.keys.update(keys)


def envelope_of(text: str | None) -> bytes | None:
    """The sealed value that a CSV text stands for, or something that is none."""
    try:
        return None if text is None else b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def describe(name: str, kind: pa.DataType, count: Count, keyset: Keyset | None) -> list[str]:
    notes = [f"{key}{key_note(key, keyset)}: {times}" for key, times in count.keys.most_common()]
    values = count.rows - count.nulls
    return [name, str(kind), str(values), str(count.nulls), count.sealed(), ", ".join(notes)]


def key_note(key: int, keyset: Keyset | None) -> str:
    if keyset is None:
        return ""
    if key == keyset.primary:
        return " (primary)"
    return "" if key in keyset.key_ids else " (unknown)"


# ---- the command


@contextlib.contextmanager
def progress_bar(
    verb: str,
) -> Iterator[Callable[[Iterable[Piece], Callable[[Piece], Piece]], Iterator[Piece]]]:
    """Shows on a terminal, and there alone, how far the work is."""
    columns = (TextColumn(verb), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(verb, total=1.0)

        def show(pieces: Iterable[Piece], turn: Callable[[Piece], Piece]) -> Iterator[Piece]:
            for piece in pieces:
                yield turn(piece)
                bar.update(task, completed=piece.done)
            bar.update(task, completed=1.0)

        yield show


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="sealcomb-columns",
        description="Seals and opens columns of Parquet, Arrow and CSV files.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, does in (
        ("seal", "encrypt and authenticate columns"),
        ("open", "verify and decrypt columns"),
        ("reseal", "move sealed columns to the keyset's primary key"),
    ):
        one = verbs.add_parser(verb, help=does, description=f"Copies IN to OUT; on the way, {does}.")
        one.set_defaults(do=change)
        one.add_argument("input", metavar="IN", type=Path)
        one.add_argument("output", metavar="OUT", type=Path)
        one.add_argument(
            "--keyset", metavar="FILE", required=True, help="a keyset in Tink's JSON; - is standard input"
        )
        one.add_argument(
            "--column",
            metavar="NAME",
            dest="columns",
            action="append",
            required=True,
            help="may be given several times",
        )
        one.add_argument(
            "--context",
            metavar="TEXT",
            default="{column}",
            help="what every value is bound to; {column} stands for the column's name (default: %(default)s)",
        )
        one.add_argument(
            "--row-id", metavar="NAME", help="a column whose value each sealed value is bound to as well"
        )
        one.add_argument("--threads", metavar="N", type=threads, help="cores to use (default: all)")
        one.add_argument("--force", action="store_true", help="replace OUT, which may be IN")
        if verb == "open":
            one.add_argument(
                "--forged",
                choices=("raise", "null"),
                default="raise",
                help="end at a value that does not open (default), or make it null and go on",
            )
    look = verbs.add_parser(
        "inspect",
        help="show which columns are sealed, and under which keys",
        description="Shows which columns look sealed, and under which keys; nothing is verified.",
    )
    look.set_defaults(do=inspect)
    look.add_argument("input", metavar="IN", type=Path)
    look.add_argument("--keyset", metavar="FILE", help="marks its primary key, and keys that it lacks")
    look.add_argument("--column", metavar="NAME", dest="columns", action="append", help="only this one")
    return top


def threads(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of cores")
    return int(text)


def terminate(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status.

    >>> main(["inspect", "absent.parquet"])
    3
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, terminate)
    options = parser().parse_args(arguments)
    if getattr(options, "threads", None):
        pa.set_cpu_count(options.threads)
    try:
        status: int = options.do(options)
    except CommandError as error:
        print(f"sealcomb-columns: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("sealcomb-columns: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"sealcomb-columns: {where}{error.strerror or error}", file=sys.stderr)
        return BAD_FILE
    except (pa.ArrowException, UnicodeDecodeError) as error:
        print(f"sealcomb-columns: {error}", file=sys.stderr)
        return BAD_INPUT
    return status


if __name__ == "__main__":
    sys.exit(main())
