"""The command ``sealcomb-columns``: seals and opens columns of Parquet, Arrow and CSV files.

Files of any size are processed in pieces of some megabytes. The output is created atomically: it has no name
until it is complete, and nothing is left of it if the process ends earlier.
"""

from __future__ import annotations

import argparse
import binascii
import contextlib
import json
import os
import signal
import stat
import sys
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
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
except ImportError as missing:
    raise SystemExit(f"sealcomb-columns requires {missing.name}: pip install 'sealcomb[columns]'") from None

from sealcomb import _csv, _parquet
from sealcomb._files import (
    ARROW,
    ARROW_KEY,
    BAD_COMMAND,
    BAD_FILE,
    BAD_INPUT,
    GROUP_BYTES,
    PIECE_BYTES,
    PIECE_ROWS,
    SOME_FORGED,
    CommandError,
    Piece,
    Source,
    atomic_file,
    check_suffix,
    damaged_group,
    output_permissions,
    read,
    slices,
    write,
)
from sealcomb._metadata import (
    ORIGIN_KEY,
    Origin,
    describe_opened,
    describe_sealed,
    origin_of,
    origins,
    packed_field,
    sealed_field,
    unpacked_field,
)
from sealcomb._thrift import I32, Struct, get, parse, serialize
from sealcomb._types import (
    TypeRefusedError,
    Wrapped,
    check_csv,
    check_leaves,
    check_parquet,
    is_text,
    plain_type,
    plain_values,
)

EPILOG = """\
formats, by file suffix:
  .parquet, .arrow or .feather (Arrow file format), .arrows (Arrow stream format), .csv
  IN and OUT may have different formats. In CSV, every column is text, and sealed values are base64.
  Columns not named by --column are preserved. If that is impossible, the command names the column and
  writes nothing. The output of open is readable only by you, that of seal and reseal only by users who can
  read IN.

examples:
  sealcomb-columns seal people.parquet sealed.parquet --keyset keys.json --column ssn --column note
  sealcomb-columns seal people.csv sealed.csv --keyset keys.json --column ssn \\
      --context 'people.{column}' --row-id id
  sealcomb-columns open sealed.parquet people.parquet --keyset keys.json --column ssn --column note
  sealcomb-columns reseal sealed.parquet fresh.parquet --keyset rotated.json --column ssn --column note
  sealcomb-columns inspect sealed.parquet --keyset rotated.json

exit status:
  0  done
  1  IN or the keyset is invalid: damaged, forged, unknown key, missing column, or a column that
     cannot be preserved
  2  the command line is invalid
  3  a file cannot be read or written: permission denied, disk full, OUT exists
  4  done with --forged null, but some values did not open
  129, 130, 143  ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM; OUT is unchanged
"""

# ---- processing values


@dataclass
class Work:
    """The operation, and the columns to apply it to."""

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
        """Raises ``CommandError`` for a column that the file does not have exactly once."""
        for name in [*self.columns, *([self.row_id] if self.row_id else [])]:
            if names.count(name) != 1:
                found = names.count(name) or "no"
                raise CommandError(
                    f"{self.source.path}: {found} columns are named {name!r}; the file has {', '.join(names)}"
                )

    def transform(
        self, name: str, array: pa.Array, ids: pa.Array | None, place: tuple[int, int], *, text: bool = False
    ) -> pa.Array:
        """Seals, opens or reseals some values of a column. ``place`` is their group and first row."""
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
        """Decodes the sealed values of a CSV column."""
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

    def origin(self, schema: pa.Schema, name: str) -> Origin | None:
        """Returns the origin of a sealed column, or ``None``. Refuses to seal a column that has one."""
        origin = origin_of(schema, name)
        if origin is not None and self.verb == "seal":
            raise self.refuse(name, "already sealed; use reseal to move it to the primary key")
        return origin

    def plain_field(self, schema: pa.Schema, name: str, origin: Origin | None) -> pa.Field:
        """Returns the field of an opened column, with its original type if it is known."""
        now = schema.field(name)
        nullable = now.nullable or self.forged == "null"
        if origin is None:
            return pa.field(name, pa.binary(), nullable, now.metadata)
        try:
            return unpacked_field(origin["arrow"]).with_name(name).with_nullable(nullable)
        except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
            raise self.refuse(name, f"the original type in its metadata is damaged: {error!r}") from None


ORDERED = "the order of its categories would be lost: cast it to text first"

# Writes the output after all checks, and yields the progress from 0 to 1.
Write = Callable[[Path], Iterator[float]]


# ---- from CSV to CSV


def csv_to_csv(work: Work) -> Write:
    """Replaces cells, and preserves all other bytes."""
    path = work.source.path
    try:
        with path.open("rb") as file:
            top = _csv.header(file)
    except _csv.CsvError as error:
        raise CommandError(f"{path}: {error}") from None
    work.check_names(top.names)
    wanted = [top.names.index(name) for name in [*work.columns, *([work.row_id] if work.row_id else [])]]

    def transform(block: _csv.Block, column: int, ids: pa.Array | None) -> list[bytes]:
        name, quote = work.columns[column], top.quoted[wanted[column]]
        values, place = block.cells(column), (0, block.first_row)
        sealed = (
            pa.array(values, pa.binary()) if work.verb == "seal" else work.from_base64(name, values, place)
        )
        transformed = work.transform(name, sealed, ids, place).to_pylist()
        if work.verb != "open":
            transformed = [None if value is None else b64encode(value) for value in transformed]
        return [_csv.written(value, quote=quote) for value in transformed]

    def write_output(part: Path) -> Iterator[float]:
        size = max(1, path.stat().st_size)
        with path.open("rb") as file, part.open("wb") as out:
            out.write(file.read(top.size))
            try:
                for block in _csv.blocks(file, top, wanted):
                    ids = pa.array(block.cells(len(work.columns)), pa.binary()) if work.row_id else None
                    out.write(
                        block.with_cells([transform(block, at, ids) for at in range(len(work.columns))])
                    )
                    yield block.end / size
            except _csv.CsvError as error:
                raise CommandError(f"{path}: row {error.row}: {error}") from None

    return write_output


# ---- from Parquet to Parquet


def parquet_to_parquet(work: Work) -> Write:
    """Replaces the pages of the selected columns, and copies those of all others."""
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

    def write_output(part: Path) -> Iterator[float]:
        with path.open("rb") as file, part.open("wb") as out:
            try:
                yield from _parquet.Rewriter(file, footer, replaced, out).run()
            except _parquet.ParquetError as error:
                raise CommandError(f"{path}: {error}") from None

    return write_output


class ParquetChange:
    """The changes to a Parquet file's footer."""

    def __init__(self, work: Work, footer: _parquet.Footer) -> None:
        self.work = work
        self.footer = footer
        self.notes = dict(footer.notes)
        self.origins = origins(self.notes)
        self.orders = _parquet.sorting(footer)
        self.sealed = {at for at, leaf in enumerate(footer.leaves) if leaf.plain and self.is_sealed(leaf.top)}
        self.arrow: pa.Schema | None = None
        if ARROW_KEY in self.notes:
            try:
                self.arrow = pa.ipc.read_schema(pa.py_buffer(b64decode(self.notes[ARROW_KEY])))
            except (pa.ArrowException, ValueError) as error:
                raise _parquet.ParquetError(f"the Arrow schema cannot be read: {error}") from None

    def is_sealed(self, name: str) -> bool:
        schema = self.work.source.schema
        return schema.names.count(name) == 1 and origin_of(schema, name) is not None

    def column(self, name: str) -> tuple[int, _parquet.Replacement]:
        """Applies the change of a column to the footer. Returns the column's index and replacement."""
        work = self.work
        origin = work.origin(work.source.schema, name)
        leaf = self.footer.leaf(name)
        if leaf is None:
            kind = work.source.schema.field(name).type
            work.transform(name, pa.array([], plain_type(kind)), None, (0, 0))
            raise work.refuse(name, "its values are not bytes or text")
        before = self.footer.elements[self.footer.leaves[leaf].element]
        if work.verb == "seal":
            element, codec, dictionary = self.seal(name, leaf, before), "NONE", False
        elif work.verb == "open":
            element, codec, dictionary = self.open(name, leaf, before, origin)
        else:
            element, codec, dictionary = before, "NONE", False
        nullable = get(element, _parquet.ELEMENT_REPETITION) == _parquet.OPTIONAL
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

    def seal(self, name: str, leaf: int, before: Struct) -> Struct:
        work, footer = self.work, self.footer
        field = self.arrow_field(name) or work.source.schema.field(name).remove_metadata()
        kind = work.source.schema.field(name).type
        # Polars also stores the categories and their order in the metadata.
        noted = any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())
        if pa.types.is_dictionary(kind) and kind.ordered and not noted:
            raise work.refuse(name, ORDERED)
        work.transform(name, pa.array([], plain_type(kind)), None, (0, 0))
        element = _parquet.sealed_element(before)
        origin: Origin = {
            "arrow": packed_field(field),
            "parquet": b64encode(serialize(before)).decode(),
        }
        if footer.groups:
            meta = footer.chunk(0, leaf)
            origin["codec"] = _parquet.CODECS.get(get(meta, _parquet.META_CODEC))
            origin["dictionary"] = _parquet.has_dictionary(meta)
        if any(leaf == entry[0] for order in self.orders for entry in order or []):
            origin["sorting"] = self.orders
        self.sealed.add(leaf)
        _parquet.sort_by(footer, self.orders, self.sealed)
        self.notes, notes = describe_sealed(self.notes, name)
        if notes:
            origin["notes"] = notes
        if self.arrow_field(name) is None:
            self.origins[name] = origin
        else:
            self.set_arrow(
                sealed_field(field, pa.binary(), origin), lambda notes: describe_sealed(notes, name)[0]
            )
        return element

    def open(self, name: str, leaf: int, before: Struct, origin: Origin | None) -> tuple[Struct, str, bool]:
        work, footer = self.work, self.footer
        field = work.plain_field(work.source.schema, name, origin)
        origin = origin or {}
        try:
            if "parquet" in origin:
                element = parse(b64decode(origin["parquet"], validate=True))[0]
            else:
                element = _parquet.element_of(field.remove_metadata())
            _parquet.storage(element)
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise work.refuse(name, f"the original type in its metadata is damaged: {error}") from None
        for number in (_parquet.ELEMENT_NAME, _parquet.ELEMENT_REPETITION, _parquet.ELEMENT_ID):
            element.pop(number, None)
            if number in before:
                element[number] = before[number]
        if field.nullable:
            element[_parquet.ELEMENT_REPETITION] = (I32, _parquet.OPTIONAL)
        self.sealed.discard(leaf)
        orders = origin.get("sorting", self.orders)
        try:
            _parquet.sort_by(footer, orders, self.sealed)
            self.orders = orders
        except (ValueError, TypeError):
            pass  # the file has been rewritten with other row groups or columns
        notes = origin.get("notes", {})
        self.notes = describe_opened(self.notes, name, notes)
        self.origins.pop(name, None)
        if self.arrow_field(name) is not None:
            self.set_arrow(field, lambda metadata: describe_opened(metadata, name, notes))
        return element, self.codec(origin), origin.get("dictionary") is not False

    def codec(self, origin: Origin) -> str:
        """Returns the codec for an opened column: the original one, or that of another column."""
        codecs = [origin.get("codec")]
        if self.footer.groups:
            chunks = (self.footer.chunk(0, leaf) for leaf in range(len(self.footer.leaves)))
            codecs += [_parquet.CODECS.get(get(meta, _parquet.META_CODEC)) for meta in chunks]
            codecs = codecs[:1] + [codec for codec in codecs[1:] if codec != "NONE"]
        return next((str(codec) for codec in codecs if codec in _parquet.CODECS.values()), "SNAPPY")

    def arrow_field(self, name: str) -> pa.Field | None:
        """Returns the field of a column in the file's Arrow schema, if it has one."""
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
        """Writes the metadata to the footer."""
        if self.arrow is not None and self.work.verb != "reseal":
            self.notes[ARROW_KEY] = b64encode(self.arrow.serialize())
        self.notes.pop(ORIGIN_KEY, None)
        if self.origins:
            self.notes[ORIGIN_KEY] = json.dumps(self.origins).encode()
        self.footer.note(self.notes)

    def arrays(self, name: str, leaf: int, group: int, field: pa.Field, *, text: bool) -> Iterator[pa.Array]:
        """Yields the new values of a row group, some thousands at a time."""
        work, file = self.work, self.work.source.parquet
        assert file is not None
        meta = self.footer.chunk(group, leaf)
        size = get(meta, _parquet.META_UNCOMPRESSED, 0)
        total = max(1, file.metadata.row_group(group).num_rows)
        rows = total
        if size > GROUP_BYTES or _parquet.has_dictionary(meta):
            rows = max(1, min(PIECE_ROWS, total * PIECE_BYTES // max(1, size)))
        first = 0
        columns = [name, *([work.row_id] if work.row_id else [])]
        try:
            for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
                ids = batch.column(work.row_id) if work.row_id else None
                transformed = work.transform(name, batch.column(name), ids, (group, first), text=text)
                try:
                    yield transformed.cast(pa.binary()).cast(field.type)
                except pa.ArrowInvalid as error:
                    raise CommandError(work.where(name, (group, first), str(error))) from None
                first += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise CommandError(damaged_group(file, work.source.path, group, rows, error, columns)) from None


# ---- from one format to another, and from Arrow to Arrow


def convert(work: Work, out: Path) -> Write:
    """Reads all columns and writes them in another format, or from Arrow to Arrow."""
    source = work.source
    work.check_names(source.schema.names)
    schema = converted_schema(work, to_text=out.suffix == ".csv")
    try:
        if out.suffix == ".csv":
            check_csv(schema)
        elif out.suffix == ".parquet":
            check_parquet(schema)
        if source.parquet is not None:
            check_leaves(source.parquet, work.columns)
    except TypeRefusedError as error:
        raise work.refuse(error.column, error) from None
    wraps = {name: Wrapped(schema.field(name).type) for name in work.columns}

    def transform(piece: Piece) -> Piece:
        batch, place = piece.batch, (piece.group, piece.first_row)
        ids = batch.column(work.row_id) if work.row_id else None
        changed = {}
        for name in work.columns:
            array = batch.column(name)
            if source.text and work.verb != "seal":
                array = work.from_base64(name, array.to_pylist(), place)
            array = work.transform(name, array, ids, place, text=is_text(wraps[name].kind))
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

    # From Arrow to Arrow, record batches are preserved.
    keep_batches = out.suffix in ARROW and source.path.suffix in ARROW

    def transformed() -> Iterator[Piece]:
        for piece in source.pieces():
            yield from map(transform, [piece] if keep_batches else slices(piece))

    return lambda part: write(part, out.suffix, source, schema, transformed())


def converted_schema(work: Work, *, to_text: bool) -> pa.Schema:
    """Returns the schema of the output."""
    schema = work.source.schema
    metadata = dict(schema.metadata or {})
    for name in work.columns:
        field = schema.field(name)
        origin = work.origin(schema, name)
        if work.verb == "seal":
            kind = field.type
            if pa.types.is_dictionary(kind) and kind.ordered and not to_text:
                raise work.refuse(name, ORDERED)
            sealed = work.transform(name, pa.array([], plain_type(kind)), None, (0, 0)).type
            metadata, notes = describe_sealed(metadata, name)
            origin = {"arrow": packed_field(field), **({"notes": notes} if notes else {})}
            changed = sealed_field(field, sealed, origin)
        elif work.verb == "open":
            changed = work.plain_field(schema, name, origin)
            metadata = describe_opened(metadata, name, (origin or {}).get("notes", {}))
            rest = {other: kept for other, kept in origins(metadata).items() if other != name}
            metadata.pop(ORIGIN_KEY, None)
            if rest:
                metadata[ORIGIN_KEY] = json.dumps(rest).encode()
        else:
            changed = field if not work.source.text else field.with_type(pa.binary())
        if to_text or (work.source.text and work.verb == "open"):
            changed = pa.field(name, pa.string(), changed.nullable)
        schema = schema.set(schema.get_field_index(name), changed)
    # with_metadata(None) would write an empty map.
    return schema.with_metadata(metadata) if metadata else schema.remove_metadata()


def change(options: argparse.Namespace) -> int:
    """Carries out ``seal``, ``open`` or ``reseal``. Returns the exit status."""
    if len(options.columns) > 1 and "{column}" not in options.context:
        raise CommandError(
            "the context must contain {column} if there are several columns", status=BAD_COMMAND
        )
    if options.row_id in options.columns:
        raise CommandError(
            f"--row-id {options.row_id}: the row ids must be in a column that is not named by --column",
            status=BAD_COMMAND,
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
        write_output = parquet_to_parquet(work)
    elif suffixes == (".csv", ".csv"):
        write_output = csv_to_csv(work)
    else:
        write_output = convert(work, out)
    permissions = output_permissions(options.input, out, options.verb, force=options.force)
    try:
        with atomic_file(out, permissions) as part, progress_bar(options.verb) as show:
            show(write_output(part))
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
    """Reads a Tink keyset in JSON; ``-`` is standard input. Warns if others can access the file."""
    if path == "-":
        text = sys.stdin.read()
    else:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                print(
                    f"warning: {path}: other users can read or change these keys; run chmod 600 {path}",
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
    """What a column contains. ``unsealed`` counts pieces that contain a value that is not sealed."""

    rows: int = 0
    nulls: int = 0
    unsealed: int = 0
    keys: Counter[int] = field(default_factory=Counter)

    def sealed(self) -> str:
        if not self.keys:
            return "no"
        return "partly" if self.unsealed else "yes"


def inspect(options: argparse.Namespace) -> int:
    """Prints which columns appear to be sealed, and under which keys. Returns the exit status."""
    source = read(options.input)
    keyset = read_keyset(options.keyset) if options.keyset else None
    schema = source.schema
    for name in options.columns or ():
        if name not in schema.names:
            raise CommandError(
                f"{source.path}: no column is named {name!r}; the file has {', '.join(schema.names)}"
            )
    # By index, because names can be ambiguous.
    selected = [at for at, name in enumerate(schema.names) if not options.columns or name in options.columns]
    counts = {at: Count() for at in selected}

    def count_values() -> Iterator[float]:
        for piece in source.pieces():
            for at, count in counts.items():
                try:
                    inspect_piece(piece.batch.column(at), count, text=source.text)
                except ValueError as error:
                    where = f"{source.path}: {source.unit} {piece.group}, column {schema.field(at).name!r}"
                    raise CommandError(f"{where}: {error}") from None
            yield piece.done

    with progress_bar("inspect") as show:
        show(count_values())
    header = ["column", "type", "values", "nulls", "sealed", "keys"]
    lines = [header] + [
        describe(schema.field(at).name, schema.field(at).type, counts[at], keyset) for at in selected
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
    """Decodes a CSV cell, or returns bytes that are not a sealed value."""
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
    """Displays the progress if standard error is a terminal."""
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
        description="Seals and opens columns of Parquet, Arrow and CSV files. VERB --help lists the options.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, does in (
        ("seal", "encrypts and authenticates columns"),
        ("open", "verifies and decrypts columns"),
        ("reseal", "moves sealed columns to the keyset's primary key"),
    ):
        one = verbs.add_parser(verb, help=does, description=f"Reads IN, {does}, and writes OUT.")
        binds = "binds every value to" if verb == "seal" else "every value was bound to"
        one.set_defaults(do=change)
        one.add_argument("input", metavar="IN", type=Path, help="the input file")
        one.add_argument("output", metavar="OUT", type=Path, help="the output file")
        one.add_argument(
            "--keyset",
            metavar="FILE",
            required=True,
            help="the keyset in Tink's JSON format; - reads standard input",
        )
        one.add_argument(
            "--column",
            metavar="NAME",
            dest="columns",
            action="append",
            required=True,
            help="a column to process; can be repeated",
        )
        one.add_argument(
            "--context",
            metavar="TEXT",
            default="{column}",
            help=f"{binds} this text; {{column}} is the column's name (default: %(default)s)",
        )
        one.add_argument("--row-id", metavar="NAME", help=f"a column of ids; {binds} the id in its row, too")
        one.add_argument(
            "--threads", metavar="N", type=threads, help="number of threads (default: all processors)"
        )
        one.add_argument("--force", action="store_true", help="replace OUT if it exists; OUT may be IN")
        if verb == "open":
            one.add_argument(
                "--forged",
                choices=("raise", "null"),
                default="raise",
                help="if a value does not open, fail (raise, the default) or replace it by null (null)",
            )
    inspector = verbs.add_parser(
        "inspect",
        help="shows which columns are sealed, and under which keys",
        description="Shows which columns appear to be sealed, and under which keys. Nothing is verified.",
    )
    inspector.set_defaults(do=inspect)
    inspector.add_argument("input", metavar="IN", type=Path, help="the file to inspect")
    inspector.add_argument(
        "--keyset",
        metavar="FILE",
        help="marks this keyset's primary key, and keys that it does not have; - reads standard input",
    )
    inspector.add_argument(
        "--column",
        metavar="NAME",
        dest="columns",
        action="append",
        help="a column to inspect; can be repeated (default: all columns)",
    )
    return top


def threads(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"invalid number of threads {text!r}; use 1 or more")
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
