"""File access for the command ``sealcomb-columns``: input in pieces, and atomic output."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import csv, parquet

from sealcomb import _csv, _ipc
from sealcomb._metadata import ORIGIN_KEY, with_spark_types
from sealcomb._streams import Rewindable

# Limits of one piece. The row limit is low because Parquet's statistics don't reveal the size of values in a
# dictionary.
PIECE_ROWS = 1 << 14
PIECE_BYTES = 16 << 20
# A row of CSV that is converted to another format can have this size.
CSV_BLOCK = 4 << 20
# Target size in memory of a Parquet row group written from another format.
GROUP_BYTES = 64 << 20

# The beginning of each message of an Arrow stream.
IPC_START = b"\xff\xff\xff\xff"
ARROW_FILE = (".arrow", ".feather")
ARROW = (*ARROW_FILE, ".arrows")
# The key of the Arrow schema in Parquet's metadata.
ARROW_KEY = b"ARROW:schema"

BAD_INPUT, BAD_COMMAND, BAD_FILE, SOME_FORGED = 1, 2, 3, 4


class CommandError(Exception):
    """Ends the command with a message and an exit status."""

    def __init__(self, message: str, status: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


def standard_file(stream: TextIO | None, name: str) -> BinaryIO:
    """Returns the binary file of ``sys.stdin`` or ``sys.stdout``."""
    check_open(stream, name)
    assert stream is not None
    return stream.buffer


def check_open(stream: TextIO | None, name: str) -> None:
    """Raises ``CommandError`` if ``sys.stdin`` or ``sys.stdout`` is closed."""
    if stream is None:
        raise CommandError(f"{name}: it is closed", status=BAD_FILE)


@contextlib.contextmanager
def reports_output() -> Iterator[None]:
    """Raises ``CommandError`` if standard output cannot be written."""
    try:
        yield
    except OSError as error:
        # Python would write the rest of its buffer at its end, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror or error
        raise CommandError(f"standard output: cannot be written: {reason}", status=BAD_FILE) from None


def print_lines(lines: Iterable[str]) -> None:
    """Writes lines to standard output."""
    check_open(sys.stdout, "standard output")
    with reports_output():
        for line in lines:
            print(line)
        sys.stdout.flush()


def print_json(value: object) -> None:
    """Writes a value to standard output, as JSON."""
    print_lines([json.dumps(value, indent=2, ensure_ascii=False)])


# A binary file that is written once, from beginning to end.
Output = Any
# Writes the output after all checks, and yields the progress from 0 to 1.
Write = Callable[[Output], Iterator[float]]

# ---- reading and writing in pieces


@dataclass(frozen=True)
class Piece:
    """Some rows of a file, their position, and their metadata. ``done`` is the progress from 0 to 1."""

    group: int
    first_row: int
    batch: pa.RecordBatch
    done: float
    notes: pa.KeyValueMetadata | None = None


@dataclass(frozen=True)
class Source:
    """An input file. ``unit`` is the format's name for a group of rows."""

    path: Path
    schema: pa.Schema
    unit: str
    pieces: Callable[[], Iterator[Piece]]
    codec: str | None = None
    notes: dict[bytes, bytes] | None = None
    parquet: parquet.ParquetFile | None = None
    # The format of standard input, which has no suffix, and its bytes.
    form: str | None = None
    stream: Rewindable | None = None
    header: _csv.Header | None = None

    @property
    def suffix(self) -> str:
        return self.form or self.path.suffix

    @property
    def text(self) -> bool:
        """Whether every column is text, and a sealed column is base64."""
        return self.suffix == ".csv"

    @property
    def size(self) -> float:
        """The size in bytes, at least 1; infinite if it is unknown."""
        return max(1, self.path.stat().st_size) if self.stream is None else float("inf")

    def open(self) -> BinaryIO:
        """Opens the file at its beginning. Standard input can be opened only once."""
        if self.stream is None:
            return self.path.open("rb")
        self.stream.rewind()
        return self.stream  # type: ignore[return-value]


def slices(piece: Piece) -> Iterator[Piece]:
    """Splits a record batch into pieces. An empty batch yields one piece, for its schema."""
    batch = piece.batch
    rows = max(1, min(PIECE_ROWS, batch.num_rows * PIECE_BYTES // max(1, batch.nbytes)))
    for first in range(0, max(1, batch.num_rows), rows):
        yield replace(piece, first_row=piece.first_row + first, batch=batch.slice(first, rows))


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
            except (pa.ArrowException, OSError):
                names = file.schema_arrow.names
                raise CommandError(damaged_group(file, path, group, rows, names)) from None
            seen += first

    schema = file.schema_arrow
    if (found := (file.metadata.metadata or {}).get(ORIGIN_KEY)) is not None:
        # pyarrow drops it if the file's Arrow schema has metadata.
        schema = schema.with_metadata({**(schema.metadata or {}), ORIGIN_KEY: found})
    return Source(path, with_spark_types(schema), "row group", pieces, parquet=file)


def damaged_group(file: parquet.ParquetFile, path: Path, group: int, rows: int, names: Iterable[str]) -> str:
    """Finds the damaged column by reading each one separately, and returns an error message."""
    for name in dict.fromkeys(names):
        row = 0
        try:
            for batch in file.iter_batches(
                min(rows, 64), row_groups=[group], columns=[name], use_threads=False
            ):
                row += batch.num_rows
        except (pa.ArrowException, OSError):
            where = f"row group {group}, column {name!r}, row {row} or soon after"
            return f"{path}: {where} cannot be read: the file is damaged"
    return f"{path}: row group {group} cannot be read: the file is damaged"


def read_arrow_file(path: Path) -> Source:
    file = pa.OSFile(str(path))
    file.seek(len(b"ARROW1\0\0"))
    codec = _ipc.codec(file)
    reader = pa.ipc.open_file(file)

    def pieces() -> Iterator[Piece]:
        for group in range(reader.num_record_batches):
            with reports_damage(path, group):
                batch, notes = reader.get_batch_with_custom_metadata(group)
                validate(batch)
            yield Piece(group, 0, batch, group / reader.num_record_batches, notes)

    return Source(path, reader.schema, "record batch", pieces, codec, getattr(reader, "metadata", None))


def read_arrow_stream(path: Path, stream: Rewindable | None = None) -> Source:
    def opened() -> Any:
        return pa.OSFile(str(path)) if stream is None else pa.PythonFile(stream.rewind(), mode="r")

    codec = _ipc.codec(opened())
    file = opened()
    if stream is not None:
        stream.forget()
    reader = pa.ipc.open_stream(file)
    size = max(1, path.stat().st_size) if stream is None else float("inf")

    def pieces() -> Iterator[Piece]:
        group = 0
        while True:
            with reports_damage(path, group):
                try:
                    batch, notes = reader.read_next_batch_with_custom_metadata()
                except StopIteration:
                    return
                validate(batch)
            yield Piece(group, 0, batch, file.tell() / size, notes)
            group += 1

    return Source(path, reader.schema, "record batch", pieces, codec, form=".arrows", stream=stream)


def validate(batch: pa.RecordBatch) -> None:
    """Rejects offsets, lengths and indexes outside their buffers before any of them is used."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException:
            raise DamagedColumnError(name) from None


class DamagedColumnError(Exception):
    """An offset, length, index or text of a column is invalid. The argument is the column's name."""


@contextlib.contextmanager
def reports_damage(path: Path, group: int) -> Iterator[None]:
    try:
        yield
    except DamagedColumnError as error:
        raise CommandError(
            f"{path}: record batch {group}, column {error.args[0]!r} cannot be read: the file is damaged"
        ) from None
    except (pa.ArrowException, OSError):
        raise CommandError(f"{path}: record batch {group} cannot be read: the file is damaged") from None


def read_csv(path: Path, stream: Rewindable | None = None) -> Source:
    """Opens a CSV file. Every column is text, to preserve values such as 007. An empty cell is null."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(path.open("rb")) if stream is None else stream
        try:
            header = _csv.header(file)
        except (_csv.CsvError, UnicodeDecodeError) as error:
            problem = error if isinstance(error, _csv.CsvError) else "the header is not UTF-8 text"
            raise CommandError(f"{path}: {problem}") from None
    size = max(1, path.stat().st_size) if stream is None else float("inf")
    schema = pa.schema([(name, pa.string()) for name in header.names])
    if stream is not None:
        stream.forget()

    def pieces() -> Iterator[Piece]:
        if header.is_all:
            return
        data = pa.OSFile(str(path)) if stream is None else pa.PythonFile(stream.rewind(), mode="r")
        first = 0
        try:
            for batch in csv_reader(data, header.names):
                yield Piece(
                    0, first, pa.RecordBatch.from_arrays(batch.columns, schema=schema), data.tell() / size
                )
                first += batch.num_rows
        except (pa.ArrowException, OSError):
            raise CommandError(
                f"{path}: a row after row {first} is not valid CSV of {len(header.names)} cells in UTF-8, "
                f"or has more than {CSV_BLOCK >> 20} MiB"
            ) from None

    return Source(path, schema, "part", pieces, form=".csv", stream=stream, header=header)


def csv_reader(file: pa.NativeFile, names: list[str]) -> Iterator[pa.RecordBatch]:
    """Reads a file without its header, in record batches."""
    convert_options = csv.ConvertOptions(
        column_types=dict.fromkeys(map(str, range(len(names))), pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    # An empty line is a null if there is one column, and is skipped otherwise.
    parse_options = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)
    read_options = csv.ReadOptions(
        block_size=CSV_BLOCK, column_names=list(map(str, range(len(names)))), skip_rows_after_names=1
    )
    yield from csv.open_csv(
        file, read_options=read_options, parse_options=parse_options, convert_options=convert_options
    )


READERS: dict[str, Callable[[Path], Source]] = {
    ".parquet": read_parquet,
    ".arrow": read_arrow_file,
    ".feather": read_arrow_file,
    ".arrows": read_arrow_stream,
    ".csv": read_csv,
}


def check_suffix(path: Path) -> None:
    if path.suffix not in READERS:
        raise CommandError(f"{path}: unsupported suffix; use one of {', '.join(READERS)}", status=BAD_COMMAND)


def read_stream(file: BinaryIO) -> Source:
    """Reads standard input: an Arrow stream if it begins like one, and otherwise CSV."""
    stream, path = Rewindable(file), Path("standard input")
    is_arrow = stream.read(len(IPC_START)) == IPC_START
    stream.rewind()
    try:
        return read_arrow_stream(path, stream) if is_arrow else read_csv(path, stream)
    except pa.ArrowException:
        raise CommandError(f"{path}: invalid or truncated Arrow stream") from None


def read(path: Path) -> Source:
    """Opens a file according to its suffix."""
    check_suffix(path)
    if path.exists() and not path.is_file():
        raise CommandError(f"{path}: not a regular file; use - for standard input", status=BAD_FILE)
    try:
        return READERS[path.suffix](path)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise CommandError(f"{path}: {os.strerror(error.errno)}", status=BAD_FILE) from None
        if isinstance(error, pa.ArrowNotImplementedError):
            raise CommandError(f"{path}: a column has a type that Arrow does not support") from None
        raise CommandError(f"{path}: invalid or truncated {path.suffix[1:]} file") from None


def write(
    file: Output, suffix: str, source: Source, schema: pa.Schema, pieces: Iterable[Piece]
) -> Iterator[float]:
    """Writes all pieces to an empty file, and yields the progress."""
    if suffix == ".parquet":
        with parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
            yield from write_groups(writer, schema, pieces)
    elif suffix == ".csv":
        with csv.CSVWriter(file, schema) as writer:
            for piece in pieces:
                writer.write_batch(piece.batch)
                yield piece.done
    else:
        # The dictionary of an opened column grows from batch to batch. Files support this only as deltas.
        options = pa.ipc.IpcWriteOptions(compression=source.codec, emit_dictionary_deltas=suffix != ".arrows")
        if suffix == ".arrows":
            writer = pa.ipc.new_stream(file, schema, options=options)
        else:
            # Only versions of pyarrow that return this metadata can write it.
            notes = {"metadata": source.notes} if source.notes else {}
            writer = pa.ipc.new_file(file, schema, options=options, **notes)
        for piece in pieces:
            writer.write_batch(piece.batch, custom_metadata=piece.notes)
            yield piece.done
        # Only a complete stream gets an end, so its reader notices that a failure has truncated it.
        writer.close()


def write_groups(
    writer: parquet.ParquetWriter, schema: pa.Schema, pieces: Iterable[Piece]
) -> Iterator[float]:
    held: list[pa.RecordBatch] = []
    group, size = 0, 0

    def flush() -> None:
        table = pa.Table.from_batches(held, schema)
        if table.num_rows:
            writer.write_table(table, row_group_size=table.num_rows)
        held.clear()

    for piece in pieces:
        # CSV and small record batches are combined into row groups.
        if size >= GROUP_BYTES or piece.group != group:
            flush()
            size = 0
        group = piece.group
        held.append(piece.batch)
        size += piece.batch.nbytes
        yield piece.done
    flush()


# ---- atomic output


def unnamed_file(folder: Path) -> int | None:
    """Creates a file without a name in a folder. It disappears however the process ends."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):
        return None  # unsupported, or an error that creating a named file will report
    if Path(f"/proc/self/fd/{handle}").exists():
        return handle
    os.close(handle)
    return None


def link_name(handle: int, folder: Path) -> str:
    """Gives an unnamed file a hidden name in a folder, and returns the path."""
    directory = os.open(folder, os.O_RDONLY)
    try:
        for number in count():
            name = str(folder / f".sealcomb.{os.getpid()}.{number}.part")
            with contextlib.suppress(FileExistsError):
                # Only with a directory does link() follow the symbolic link in /proc to the file.
                os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=directory, follow_symlinks=True)
                return name
    finally:
        os.close(directory)
    raise AssertionError("unreachable: there is always another number")


@contextlib.contextmanager
def atomic_file(out: Path, permissions: Callable[[os.stat_result], int]) -> Iterator[Path]:
    """Yields a file that only its owner can access, and that replaces ``out`` if the block succeeds.

    If the block raises, ``out`` is unchanged.
    """
    name = None
    handle = unnamed_file(out.parent)
    if handle is None:
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=".sealcomb.", suffix=".part")
    try:
        os.fchmod(handle, 0o600)
        yield Path(name or f"/proc/self/fd/{handle}")
        os.fsync(handle)
        os.fchmod(handle, permissions(os.fstat(handle)))
        name = name or link_name(handle, out.parent)
        Path(name).replace(out)
    except BaseException:
        if name:
            Path(name).unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def output_permissions(
    source: Path | None, out: Path, verb: str, *, force: bool
) -> Callable[[os.stat_result], int]:
    """Returns a function that computes the mode of OUT from its status.

    An opened file is accessible only by its owner, like one from standard input. Other output never has more
    permissions than IN.

    Raises:
        CommandError: OUT is not a regular file, or exists and ``force`` is false.
    """
    before = [] if source is None else [source.stat()]
    umask = os.umask(0o077)
    os.umask(umask)
    allowed = 0o600 if verb == "unseal" or source is None else 0o666
    try:
        about = out.stat()
    except FileNotFoundError:
        allowed &= 0o600 if verb == "unseal" else ~umask
    else:
        if not stat.S_ISREG(about.st_mode):
            raise CommandError(f"{out}: exists and is not a regular file", status=BAD_FILE)
        if not force:
            raise CommandError(f"{out}: exists; use --force to replace it", status=BAD_FILE)
        before.append(about)
    if verb != "unseal":
        for about in before:
            allowed &= about.st_mode

    def permissions(written: os.stat_result) -> int:
        if any(about.st_gid != written.st_gid for about in before):
            # OUT belongs to another group, which therefore gets no more permissions than other users.
            return allowed & (~0o070 | (allowed & 0o007) << 3)
        return allowed

    return permissions
