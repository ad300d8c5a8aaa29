"""The command ``sealcomb-columns``: seals and opens columns of Parquet, Arrow and CSV files.

A file passes through in pieces of some megabytes, so its size does not matter. The output appears under its
name only when it is whole: until then it is a hidden file beside it, and a failure or a signal removes that.
"""

from __future__ import annotations

import argparse
import binascii
import contextlib
import json
import os
import secrets
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
    from pyarrow import compute as pc
    from pyarrow import csv, parquet
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
except ImportError as missing:
    raise SystemExit(f"sealcomb-columns needs {missing.name}: pip install 'sealcomb[columns]'") from None

from sealcomb import _csv, _ipc, _parquet
from sealcomb._metadata import (
    MEMORY_KEY,
    Memory,
    describe_opened,
    describe_sealed,
    memories,
    packed_field,
    remembered,
    sealed_field,
    unpacked_field,
)

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
# A row group of other formats' rows has about this size in memory.
GROUP_BYTES = 64 << 20

ARROW = (".arrow", ".feather", ".arrows")
# The key of Parquet's metadata under which Arrow keeps its own schema.
ARROW_KEY = b"ARROW:schema"

BAD_INPUT, BAD_COMMAND, BAD_FILE, SOME_FORGED = 1, 2, 3, 4


class CommandError(Exception):
    """The work ends with this message and exit status."""

    def __init__(self, message: str, status: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


# ---- files, a piece at a time


@dataclass(frozen=True)
class Piece:
    """Some rows of a file, where they come from, and what the file notes of them."""

    group: int
    first_row: int
    batch: pa.RecordBatch
    done: float
    notes: pa.KeyValueMetadata | None = None


@dataclass(frozen=True)
class Source:
    """A file to read. ``unit`` is the format's own word for a group of rows."""

    path: Path
    schema: pa.Schema
    unit: str
    pieces: Callable[[], Iterator[Piece]]
    codec: str | None = None
    notes: dict[bytes, bytes] | None = None
    parquet: parquet.ParquetFile | None = None

    @property
    def text(self) -> bool:
        """Whether every column is text, and a sealed one base64."""
        return self.path.suffix == ".csv"


def slices(piece: Piece) -> Iterator[Piece]:
    """Cuts a record batch into pieces; an empty one stays, for the sake of its schema."""
    batch = piece.batch
    rows = max(1, min(PIECE_ROWS, batch.num_rows * PIECE_BYTES // max(1, batch.nbytes)))
    for first in range(0, max(1, batch.num_rows), rows):
        yield replace(piece, first_row=first, batch=batch.slice(first, rows))


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
                names = file.schema_arrow.names
                raise CommandError(damaged_group(file, path, group, rows, error, names)) from None
            seen += first

    return Source(path, file.schema_arrow, "row group", pieces, parquet=file)


def damaged_group(
    file: parquet.ParquetFile, path: Path, group: int, rows: int, error: Exception, names: Iterable[str]
) -> str:
    """Finds the column that cannot be read, and how far it goes, by reading each alone."""
    for name in dict.fromkeys(names):
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
    file = pa.OSFile(str(path))
    file.seek(len(b"ARROW1\0\0"))
    codec = _ipc.codec(file)
    reader = pa.ipc.open_file(file)

    def pieces() -> Iterator[Piece]:
        for group in range(reader.num_record_batches):
            with names_damage(path, group):
                batch, notes = reader.get_batch_with_custom_metadata(group)
                validate(batch)
            yield Piece(group, 0, batch, group / reader.num_record_batches, notes)

    return Source(path, reader.schema, "record batch", pieces, codec, reader.metadata)


def read_arrow_stream(path: Path) -> Source:
    with pa.OSFile(str(path)) as messages:
        codec = _ipc.codec(messages)
    file = pa.OSFile(str(path))
    reader = pa.ipc.open_stream(file)
    size = max(1, path.stat().st_size)

    def pieces() -> Iterator[Piece]:
        group = 0
        while True:
            with names_damage(path, group):
                try:
                    batch, notes = reader.read_next_batch_with_custom_metadata()
                except StopIteration:
                    return
                validate(batch)
            yield Piece(group, 0, batch, file.tell() / size, notes)
            group += 1

    return Source(path, reader.schema, "record batch", pieces, codec)


def validate(batch: pa.RecordBatch) -> None:
    """Refuses offsets, lengths and indexes that lead out of their buffers, before any of them is followed."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise pa.ArrowInvalid(f"column {name!r}: {error}") from None


@contextlib.contextmanager
def names_damage(path: Path, group: int) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise CommandError(f"{path}: record batch {group} cannot be read: {error}") from None


def read_csv(path: Path) -> Source:
    size = max(1, path.stat().st_size)
    read_options = csv.ReadOptions(block_size=4 << 20)
    parse_options = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(str(path), read_options=read_options, parse_options=parse_options) as header:
        names = header.schema.names
    # An empty line is a null in a file of one column, and nothing in others.
    parse_options.ignore_empty_lines = len(names) > 1
    file = pa.OSFile(str(path))
    # All text, so that 007 stays 007. A value that is absent is null, a quoted empty one is empty.
    convert_options = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    reader = csv.open_csv(
        file, read_options=read_options, parse_options=parse_options, convert_options=convert_options
    )

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

    return Source(path, reader.schema, "part", pieces)


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
    path: Path, suffix: str, source: Source, schema: pa.Schema, pieces: Iterable[Piece]
) -> Iterator[float]:
    """Writes all pieces to a file that is there and empty, and says how far it is."""
    with pa.OSFile(str(path), "wb") as file:
        if suffix == ".parquet":
            with parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
                yield from write_groups(writer, schema, pieces)
        elif suffix == ".csv":
            with csv.CSVWriter(file, schema) as writer:
                for piece in pieces:
                    writer.write_batch(piece.batch)
                    yield piece.done
        else:
            # A dictionary that is made anew grows from batch to batch; a file has no other way to say so.
            options = pa.ipc.IpcWriteOptions(
                compression=source.codec, emit_dictionary_deltas=suffix != ".arrows"
            )
            if suffix == ".arrows":
                writer = pa.ipc.new_stream(file, schema, options=options)
            else:
                writer = pa.ipc.new_file(file, schema, options=options, metadata=source.notes)
            with writer:
                for piece in pieces:
                    writer.write_batch(piece.batch, custom_metadata=piece.notes)
                    yield piece.done


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
        # Row groups of CSV and of small record batches are ours to choose.
        if size >= GROUP_BYTES or piece.group != group:
            flush()
            size = 0
        group = piece.group
        held.append(piece.batch)
        size += piece.batch.nbytes
        yield piece.done
    flush()


# ---- an output that is whole or not there


def unnamed_file(folder: Path) -> int | None:
    """A file in a folder that has no name yet, so that nothing stays of it however the process ends."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):
        return None  # a system or a file system without such files; other errors come again
    if Path(f"/proc/self/fd/{handle}").exists():
        return handle
    os.close(handle)
    return None


def give_name(handle: int, folder: Path) -> str:
    """A hidden name in a folder for an unnamed file that is there."""
    name = str(folder / f".sealcomb.{secrets.token_hex(8)}.part")
    beside = os.open(folder, os.O_RDONLY)
    try:
        # With a folder, link() follows the symbolic link to the file, which it must.
        os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=beside, follow_symlinks=True)
        return name
    finally:
        os.close(beside)


@contextlib.contextmanager
def whole_file(out: Path, permissions: Callable[[os.stat_result], int]) -> Iterator[Path]:
    """Gives a file beside ``out``, the user's alone, and puts it in the place of ``out`` if the block ends well."""
    name = None
    handle = unnamed_file(out.parent)
    if handle is None:
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=".sealcomb.", suffix=".part")
    try:
        os.fchmod(handle, 0o600)
        yield Path(name or f"/proc/self/fd/{handle}")
        os.fsync(handle)
        os.fchmod(handle, permissions(os.fstat(handle)))
        name = name or give_name(handle, out.parent)
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


def output_permissions(source: Path, out: Path, verb: str, *, force: bool) -> Callable[[os.stat_result], int]:
    """The mode of OUT once it is written: the user's alone for what was opened, and never more than that of IN."""
    before = [source.stat()]
    umask = os.umask(0o077)
    os.umask(umask)
    allowed = 0o600 if verb == "open" else 0o666
    try:
        about = out.stat()
    except FileNotFoundError:
        allowed &= 0o600 if verb == "open" else ~umask
    else:
        if not stat.S_ISREG(about.st_mode):
            raise CommandError(f"{out}: is there and is not a plain file", status=BAD_FILE)
        if not force:
            raise CommandError(f"{out}: is there already; --force replaces it", status=BAD_FILE)
        before.append(about)
    if verb != "open":
        for about in before:
            allowed &= about.st_mode

    def permissions(written: os.stat_result) -> int:
        if any(about.st_gid != written.st_gid for about in before):
            # Another group may do what all may.
            return allowed & (~0o070 | (allowed & 0o007) << 3)
        return allowed

    return permissions


# ---- the work on some values


@dataclass
class Work:
    """What is done to which columns."""

    verb: str
    source: Source
    columns: list[str]
    keyset: Keyset
    context: str
    row_id: str | None
    threads: int | None
    forged: str
    nulled: Counter[str] = field(default_factory=Counter)

    def check_names(self, names: list[str]) -> None:
        """Refuses names that the file does not have, or has twice."""
        for name in [*self.columns, *([self.row_id] if self.row_id else [])]:
            if names.count(name) != 1:
                found = names.count(name) or "no"
                there = ", ".join(names)
                raise CommandError(
                    f"{self.source.path}: {found} columns are named {name!r}; there are {there}"
                )

    def turn(
        self, name: str, array: pa.Array, ids: pa.Array | None, place: tuple[int, int], *, text: bool = False
    ) -> pa.Array:
        """Seals, opens or reseals some values of a column, which begin in a group at a row."""
        aad = self.context.replace("{column}", name).encode("utf-8", "surrogateescape")
        as_type: Literal["utf8", "binary"] = "utf8" if text else "binary"
        try:
            if self.verb == "seal":
                return seal_column(
                    plain_values(array), self.keyset, context=aad, row_ids=ids, threads=self.threads
                )
            if self.verb == "reseal":
                return reseal_column(array, self.keyset, context=aad, row_ids=ids, threads=self.threads)
            if self.forged == "raise":
                return open_column(
                    array, self.keyset, context=aad, row_ids=ids, as_type=as_type, threads=self.threads
                )
            opened, count = open_column_counted(
                array, self.keyset, context=aad, row_ids=ids, as_type=as_type, threads=self.threads
            )
            self.nulled[name] += count
            return opened
        except (ForgedRow, NotSealed, UnknownKey) as error:
            raise CommandError(self.where(name, place, error.reason, error.row)) from None
        except (TypeError, ValueError) as error:
            raise CommandError(self.where(name, place, str(error))) from None

    def from_base64(
        self, name: str, values: Iterable[str | bytes | None], place: tuple[int, int]
    ) -> pa.Array:
        """The sealed values that the texts of a CSV column stand for."""
        decoded = []
        for row, value in enumerate(values):
            try:
                decoded.append(None if value is None else b64decode(value, validate=True))
            except (binascii.Error, ValueError):
                raise CommandError(
                    self.where(name, place, "not base64, so not a sealed value", row)
                ) from None
        return pa.array(decoded, pa.binary())

    def where(self, name: str, place: tuple[int, int], problem: str, row: int | None = None) -> str:
        group, first = place
        parts = [str(self.source.path) + ":"]
        if not self.source.text:
            parts.append(f"{self.source.unit} {group},")
        parts.append(f"column {name!r}" + ("" if row is None else f", row {first + row}") + ":")
        return " ".join([*parts, problem])

    def refuse(self, name: str, problem: object) -> CommandError:
        return CommandError(f"{self.source.path}: column {name!r}: {problem}")

    def memory(self, schema: pa.Schema, name: str) -> Memory | None:
        """What is remembered of a column; a column to be sealed has nothing."""
        memory = remembered(schema, name)
        if memory is not None and self.verb == "seal":
            raise self.refuse(name, "it is sealed already; reseal moves it to the primary key")
        return memory

    def plain_field(self, schema: pa.Schema, name: str, memory: Memory | None) -> pa.Field:
        """The field of a column that is opened: what it was before, as far as that is remembered."""
        now = schema.field(name)
        nullable = now.nullable or self.forged == "null"
        if memory is None:
            return pa.field(name, pa.binary(), nullable, now.metadata)
        try:
            return unpacked_field(memory["arrow"]).with_name(name).with_nullable(nullable)
        except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
            raise self.refuse(name, f"what is remembered of its type is damaged: {error!r}") from None


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, without what is around them."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def plain_values(array: pa.Array) -> pa.Array:
    """The values of a column, without what is around them."""
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        else:
            return array


def is_text(kind: pa.DataType) -> bool:
    return plain_type(kind) in (pa.string(), pa.large_string(), pa.string_view())


class Wrapped:
    """Values of a column of batches, as a type; each dictionary goes on from that of the batch before."""

    def __init__(self, kind: pa.DataType) -> None:
        self.kind = kind
        self.values: pa.Array | None = None

    def wrap(self, array: pa.Array) -> pa.Array:
        return self._wrap(array, self.kind)

    def _wrap(self, array: pa.Array, kind: pa.DataType) -> pa.Array:
        if isinstance(kind, pa.BaseExtensionType):
            return pa.ExtensionArray.from_storage(kind, self._wrap(array, kind.storage_type))
        if not pa.types.is_dictionary(kind):
            return array.cast(kind)
        found = pc.unique(array.cast(kind.value_type).drop_null())
        if self.values is not None:
            new = found.filter(pc.invert(pc.is_in(found, self.values)))
            found = pa.concat_arrays([self.values, new])
        self.values = found
        indexes = pc.index_in(array.cast(kind.value_type), found).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indexes, found, ordered=kind.ordered)


# A way is what runs once nothing is left to be refused: it writes a file, and says now and then how far it is.
Way = Callable[[Path], Iterator[float]]


# ---- from CSV to CSV


def csv_to_csv(work: Work) -> Way:
    """Changes cells and leaves all other bytes as they are."""
    path = work.source.path
    try:
        with path.open("rb") as file:
            top = _csv.header(file)
    except _csv.CsvError as error:
        raise CommandError(f"{path}: {error}") from None
    work.check_names(top.names)
    wanted = [top.names.index(name) for name in [*work.columns, *([work.row_id] if work.row_id else [])]]

    def turn(block: _csv.Block, column: int, ids: pa.Array | None) -> list[bytes]:
        name, quote = work.columns[column], top.quoted[wanted[column]]
        values, place = block.cells(column), (0, block.first_row)
        sealed = (
            pa.array(values, pa.binary()) if work.verb == "seal" else work.from_base64(name, values, place)
        )
        turned = work.turn(name, sealed, ids, place).to_pylist()
        if work.verb != "open":
            turned = [None if value is None else b64encode(value) for value in turned]
        return [_csv.written(value, quote=quote) for value in turned]

    def way(part: Path) -> Iterator[float]:
        size = max(1, path.stat().st_size)
        with path.open("rb") as file, part.open("wb") as out:
            out.write(file.read(top.size))
            try:
                for block in _csv.blocks(file, top, wanted):
                    ids = pa.array(block.cells(len(work.columns)), pa.binary()) if work.row_id else None
                    out.write(block.with_cells([turn(block, at, ids) for at in range(len(work.columns))]))
                    yield block.end / size
            except _csv.CsvError as error:
                raise CommandError(f"{path}: row {error.row}: {error}") from None

    return way


# ---- from Parquet to Parquet


def parquet_to_parquet(work: Work) -> Way:
    """Replaces the pages of some columns and copies those of all others."""
    path = work.source.path
    work.check_names(work.source.schema.names)
    try:
        with path.open("rb") as file:
            footer = _parquet.Footer(file)
        change = ParquetChange(work, footer)
        replaced = dict(change.column(name) for name in work.columns)
        change.note()
    except _parquet.ParquetError as error:
        raise CommandError(f"{path}: {error}") from None

    def way(part: Path) -> Iterator[float]:
        with path.open("rb") as file, part.open("wb") as out:
            try:
                yield from _parquet.Rewriter(file, footer, replaced, out).run()
            except _parquet.ParquetError as error:
                raise CommandError(f"{path}: {error}") from None

    return way


class ParquetChange:
    """What becomes of a Parquet file's footer."""

    def __init__(self, work: Work, footer: _parquet.Footer) -> None:
        self.work = work
        self.footer = footer
        self.notes = dict(footer.notes)
        self.memories = memories(self.notes)
        self.orders = _parquet.sorting(footer)
        self.sealed = {at for at, leaf in enumerate(footer.leaves) if leaf.plain and self.is_sealed(leaf.top)}
        self.arrow: pa.Schema | None = None
        if ARROW_KEY in self.notes:
            try:
                self.arrow = pa.ipc.read_schema(pa.py_buffer(b64decode(self.notes[ARROW_KEY])))
            except (pa.ArrowException, ValueError) as error:
                raise _parquet.ParquetError(f"its Arrow schema cannot be read: {error}") from None

    def is_sealed(self, name: str) -> bool:
        schema = self.work.source.schema
        return schema.names.count(name) == 1 and remembered(schema, name) is not None

    def column(self, name: str) -> tuple[int, _parquet.Replacement]:
        """Notes the change of a column, and gives its number and what it becomes."""
        work = self.work
        memory = work.memory(work.source.schema, name)
        leaf = self.footer.leaf(name)
        if leaf is None:
            kind = work.source.schema.field(name).type
            work.turn(name, pa.array([], plain_type(kind)), None, (0, 0))
            raise work.refuse(name, "its values are not bytes or text")
        before = self.footer.elements[self.footer.leaves[leaf].element]
        if work.verb == "seal":
            element, codec, dictionary = self.seal(name, leaf, before), "NONE", False
        elif work.verb == "open":
            element, codec, dictionary = self.open(name, leaf, before, memory)
        else:
            element, codec, dictionary = before, "NONE", False
        nullable = _parquet.get(element, _parquet.ELEMENT_REPETITION) == _parquet.OPTIONAL
        field = pa.field(name, _parquet.storage(element), nullable)
        opened = work.verb == "open"
        text = opened and _parquet.is_text(element)
        return leaf, _parquet.Replacement(
            element=element,
            field=field,
            codec=codec,
            dictionary=dictionary,
            statistics=opened and _parquet.in_order_of_bytes(element),
            arrays=lambda group: self.arrays(name, leaf, group, field, text=text),
        )

    def seal(self, name: str, leaf: int, before: _parquet.Struct) -> _parquet.Struct:
        work, footer = self.work, self.footer
        kind = work.source.schema.field(name).type
        if pa.types.is_dictionary(kind) and kind.ordered:
            raise work.refuse(
                name, "its categories have an order, which would be lost: cast it to text first"
            )
        work.turn(name, pa.array([], plain_type(kind)), None, (0, 0))
        element = _parquet.sealed_element(before)
        field = self.arrow_field(name) or work.source.schema.field(name).remove_metadata()
        memory: Memory = {
            "arrow": packed_field(field),
            "parquet": b64encode(_parquet.serialize(before)).decode(),
        }
        if footer.groups:
            meta = footer.chunk(0, leaf)
            memory["codec"] = _parquet.CODECS.get(_parquet.get(meta, _parquet.META_CODEC))
            memory["dictionary"] = _parquet.has_dictionary(meta)
        if any(leaf == entry[0] for order in self.orders for entry in order or []):
            memory["sorting"] = self.orders
        self.sealed.add(leaf)
        _parquet.sort_by(footer, self.orders, self.sealed)
        self.notes, notes = describe_sealed(self.notes, name)
        if notes:
            memory["notes"] = notes
        if self.arrow_field(name) is None:
            self.memories[name] = memory
        else:
            self.set_arrow(
                sealed_field(field, pa.binary(), memory), lambda notes: describe_sealed(notes, name)[0]
            )
        return element

    def open(
        self, name: str, leaf: int, before: _parquet.Struct, memory: Memory | None
    ) -> tuple[_parquet.Struct, str, bool]:
        work, footer = self.work, self.footer
        field = work.plain_field(work.source.schema, name, memory)
        memory = memory or {}
        try:
            if "parquet" in memory:
                element = _parquet.parse(b64decode(memory["parquet"], validate=True))[0]
            else:
                element = _parquet.element_of(field.remove_metadata())
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise work.refuse(name, f"what is remembered of its type is damaged: {error}") from None
        for number in (_parquet.ELEMENT_NAME, _parquet.ELEMENT_REPETITION, _parquet.ELEMENT_ID):
            element.pop(number, None)
            if number in before:
                element[number] = before[number]
        if field.nullable:
            element[_parquet.ELEMENT_REPETITION] = (_parquet.I32, _parquet.OPTIONAL)
        self.sealed.discard(leaf)
        orders = memory.get("sorting", self.orders)
        try:
            _parquet.sort_by(footer, orders, self.sealed)
            self.orders = orders
        except (ValueError, TypeError):
            pass  # the rows were written anew since: in other row groups, or by other columns
        notes = memory.get("notes") or {}
        self.notes = describe_opened(self.notes, name, notes)
        self.memories.pop(name, None)
        if self.arrow_field(name) is not None:
            self.set_arrow(field, lambda metadata: describe_opened(metadata, name, notes))
        codecs = (
            [_parquet.get(footer.chunk(0, at), _parquet.META_CODEC) for at in range(len(footer.leaves))]
            if footer.groups
            else []
        )
        others = [_parquet.CODECS[codec] for codec in codecs if codec in _parquet.CODECS and codec]
        codec = memory.get("codec")
        if codec not in _parquet.CODECS.values():
            codec = others[0] if others else "SNAPPY"
        return element, codec, memory.get("dictionary") is not False

    def arrow_field(self, name: str) -> pa.Field | None:
        """How the Arrow schema in the file describes a column, if it does."""
        if self.arrow is None or self.arrow.names.count(name) != 1:
            return None
        return self.arrow.field(name)

    def set_arrow(
        self, field: pa.Field, describe: Callable[[dict[bytes, bytes]], dict[bytes, bytes]]
    ) -> None:
        assert self.arrow is not None
        arrow = self.arrow.set(self.arrow.get_field_index(field.name), field)
        self.arrow = arrow.with_metadata(describe(arrow.metadata)) if arrow.metadata else arrow

    def note(self) -> None:
        """Writes the notes into the footer."""
        if self.arrow is not None and self.work.verb != "reseal":
            self.notes[ARROW_KEY] = b64encode(self.arrow.serialize())
        self.notes.pop(MEMORY_KEY, None)
        if self.memories:
            self.notes[MEMORY_KEY] = json.dumps(self.memories).encode()
        self.footer.note(self.notes)

    def arrays(self, name: str, leaf: int, group: int, field: pa.Field, *, text: bool) -> Iterator[pa.Array]:
        """The new values of a row group, some thousands at a time."""
        work, file = self.work, self.work.source.parquet
        assert file is not None
        meta = self.footer.chunk(group, leaf)
        size = _parquet.get(meta, _parquet.META_UNCOMPRESSED, 0)
        total = max(1, file.metadata.row_group(group).num_rows)
        rows = total
        if size > GROUP_BYTES or _parquet.has_dictionary(meta):
            rows = max(1, min(PIECE_ROWS, total * PIECE_BYTES // max(1, size)))
        first = 0
        columns = [name, *([work.row_id] if work.row_id else [])]
        try:
            for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
                ids = batch.column(work.row_id) if work.row_id else None
                turned = work.turn(name, batch.column(name), ids, (group, first), text=text)
                try:
                    yield turned.cast(pa.binary()).cast(field.type)
                except pa.ArrowInvalid as error:
                    raise CommandError(work.where(name, (group, first), str(error))) from None
                first += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise CommandError(damaged_group(file, work.source.path, group, rows, error, columns)) from None


# ---- from one format to another, and from Arrow to Arrow


def convert(work: Work, out: Path) -> Way:
    """Reads all columns and writes them in another format."""
    source = work.source
    work.check_names(source.schema.names)
    schema = converted_schema(work, to_text=out.suffix == ".csv")
    check_types(work, out.suffix, schema)
    wraps = {name: Wrapped(schema.field(name).type) for name in work.columns}

    def turn(piece: Piece) -> Piece:
        batch, place = piece.batch, (piece.group, piece.first_row)
        ids = batch.column(work.row_id) if work.row_id else None
        changed = {}
        for name in work.columns:
            array = batch.column(name)
            if source.text and work.verb != "seal":
                array = work.from_base64(name, array.to_pylist(), place)
            array = work.turn(name, array, ids, place, text=is_text(wraps[name].kind))
            if out.suffix == ".csv" and work.verb != "open":
                array = pa.array([value and b64encode(value) for value in array.to_pylist()], pa.string())
            try:
                changed[name] = wraps[name].wrap(array)
            except (pa.ArrowException, ValueError) as error:
                raise CommandError(work.where(name, place, str(error))) from None
        arrays = [
            changed.get(field.name, column) for field, column in zip(schema, batch.columns, strict=True)
        ]
        return replace(piece, batch=pa.RecordBatch.from_arrays(arrays, schema=schema))

    # From Arrow to Arrow, record batches stay.
    whole = out.suffix in ARROW and source.path.suffix in ARROW

    def turned() -> Iterator[Piece]:
        for piece in source.pieces():
            yield from map(turn, [piece] if whole else slices(piece))

    return lambda part: write(part, out.suffix, source, schema, turned())


def converted_schema(work: Work, *, to_text: bool) -> pa.Schema:
    """The schema of the output."""
    schema = work.source.schema
    metadata = dict(schema.metadata or {})
    for name in work.columns:
        field = schema.field(name)
        memory = work.memory(schema, name)
        if work.verb == "seal":
            kind = field.type
            if pa.types.is_dictionary(kind) and kind.ordered and not to_text:
                raise work.refuse(
                    name, "its categories have an order, which would be lost: cast it to text first"
                )
            sealed = work.turn(name, pa.array([], plain_type(kind)), None, (0, 0)).type
            metadata, notes = describe_sealed(metadata, name)
            memory = {"arrow": packed_field(field), **({"notes": notes} if notes else {})}
            changed = sealed_field(field, sealed, memory)
        elif work.verb == "open":
            changed = work.plain_field(schema, name, memory)
            metadata = describe_opened(metadata, name, (memory or {}).get("notes") or {})
            rest = {other: kept for other, kept in memories(metadata).items() if other != name}
            metadata.pop(MEMORY_KEY, None)
            if rest:
                metadata[MEMORY_KEY] = json.dumps(rest).encode()
        else:
            changed = field if not work.source.text else field.with_type(pa.binary())
        if to_text or (work.source.text and work.verb == "open"):
            changed = pa.field(name, pa.string(), changed.nullable)
        schema = schema.set(schema.get_field_index(name), changed)
    return schema.with_metadata(metadata or None)


def check_types(work: Work, suffix: str, schema: pa.Schema) -> None:
    """Refuses columns that would come out as something else, before anything is written."""
    if suffix == ".csv":
        for column in schema:
            if not has_one_text(column.type):
                raise work.refuse(column.name, f"values of the type {column.type} have no one text for CSV")
    elif suffix == ".parquet":
        for column in schema:
            try:
                back = parquet_image(column)
            except (pa.ArrowException, NotImplementedError, ValueError) as error:
                raise work.refuse(column.name, f"Parquet cannot hold it: {error}") from None
            if back.type != column.type:
                raise work.refuse(
                    column.name, f"the type {column.type} would become {back.type} in Parquet: cast it first"
                )
    if work.source.parquet is not None:
        check_leaves(work, work.source.parquet)


def has_one_text(kind: pa.DataType) -> bool:
    """Whether CSV can hold values of a type."""
    types = pa.types
    if types.is_dictionary(kind):
        return has_one_text(kind.value_type)
    return (
        is_text(kind)
        or types.is_null(kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_date(kind)
        or types.is_time(kind)
        or types.is_timestamp(kind)
    )


def parquet_image(column: pa.Field) -> pa.Field:
    """What becomes of a column that is written to Parquet and read again."""
    sink = pa.BufferOutputStream()
    parquet.ParquetWriter(sink, pa.schema([column])).close()
    return parquet.read_schema(pa.BufferReader(sink.getvalue())).field(0)


def check_leaves(work: Work, file: parquet.ParquetFile) -> None:
    """Refuses columns of types that only Parquet has: Arrow would not write them as they are."""
    sink = pa.BufferOutputStream()
    try:
        parquet.ParquetWriter(sink, file.schema_arrow).close()
        image = parquet.ParquetFile(pa.BufferReader(sink.getvalue())).schema
    except (pa.ArrowException, NotImplementedError, ValueError) as error:
        raise CommandError(f"{work.source.path}: a column has a type of Parquet alone: {error}") from None
    before = [file.schema.column(at) for at in range(len(file.schema))]
    after = [image.column(at) for at in range(len(image))]
    if len(before) != len(after):
        raise CommandError(f"{work.source.path}: it has types of Parquet alone; write Parquet")
    for one, other in zip(before, after, strict=True):
        if one.path.split(".")[0] not in work.columns and leaf_type(one) != leaf_type(other):
            kind = f"{one.physical_type}, {one.logical_type}".removesuffix(", None")
            raise work.refuse(
                one.path,
                f"its type, {kind}, would become {other.physical_type}, {other.logical_type}: write Parquet",
            )


def leaf_type(column: parquet.ColumnSchema) -> tuple[object, ...]:
    logical = column.logical_type.type
    if logical == "DECIMAL":
        return (logical, column.precision, column.scale)
    return (logical, str(column.logical_type), column.physical_type, column.length)


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
    check_suffix(options.input)
    suffixes = options.input.suffix, out.suffix
    if suffixes == (".csv", ".csv"):
        source = Source(options.input, pa.schema([]), "part", lambda: iter(()))
    else:
        source = read(options.input)
    work = Work(
        verb=options.verb,
        source=source,
        columns=list(dict.fromkeys(options.columns)),
        keyset=read_keyset(options.keyset),
        context=options.context,
        row_id=options.row_id,
        threads=options.threads,
        forged=getattr(options, "forged", "raise"),
    )
    if suffixes == (".parquet", ".parquet"):
        way = parquet_to_parquet(work)
    elif suffixes == (".csv", ".csv"):
        way = csv_to_csv(work)
    else:
        way = convert(work, out)
    permissions = output_permissions(options.input, out, options.verb, force=options.force)
    try:
        with whole_file(out, permissions) as part, progress_bar(options.verb) as show:
            show(way(part))
    except OSError as error:
        raise CommandError(f"{out}: cannot be written: {error.strerror or error}", status=BAD_FILE) from None
    for name, count in work.nulled.items():
        if count:
            print(
                f"{options.input}: column {name!r}: {count} values did not open and are null in {out}",
                file=sys.stderr,
            )
    return SOME_FORGED if work.nulled.total() else 0


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

    def count() -> Iterator[float]:
        for piece in source.pieces():
            for name, so_far in counts.items():
                inspect_piece(piece.batch.column(name), so_far, text=source.text)
            yield piece.done

    with progress_bar("inspect") as show:
        show(count())
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
    array = plain_values(array)
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
def progress_bar(verb: str) -> Iterator[Callable[[Iterable[float]], None]]:
    """Shows on a terminal, and there alone, how far the work is."""
    columns = (TextColumn(verb), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(verb, total=1.0)

        def show(steps: Iterable[float]) -> None:
            for done in steps:
                bar.update(task, completed=done)
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
