"""From CSV to CSV, from one format to another, and from Arrow to Arrow."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa  # type: ignore[import-untyped]

from sealcomb import _csv
from sealcomb._files import ARROW, ARROW_FILE, CommandError, Output, Piece, Write, slices, write
from sealcomb._metadata import (
    ORIGIN_KEY,
    Origin,
    describe_opened,
    describe_sealed,
    origins,
    packed_field,
    sealed_field,
)
from sealcomb._nested import Path, leaf_at, leaves, replaced, with_leaf
from sealcomb._selection import Target
from sealcomb._types import (
    Grown,
    TypeRefusedError,
    Wrapped,
    check_csv,
    check_leaves,
    check_parquet,
    is_bytes,
    is_dictionary,
    is_text,
    is_wrapped,
    lacks_text,
    plain_type,
)
from sealcomb._work import ORDERED, Place, Work, as_text

NO_TEXT = "a date or time has no text, which CSV requires"

# ---- from CSV to CSV


def csv_to_csv(work: Work) -> Write:
    """Replaces cells, and preserves all other bytes."""
    source, targets, top = work.source, work.targets, work.source.header
    assert top is not None
    names = [*work.columns, *([work.row_id] if work.row_id is not None else [])]
    wanted = [top.names.index(name) for name in names]
    for target in targets:
        if target.as_type is not None:
            work.check_cells(target, target.as_type)

    def transform(block: _csv.Block, number: int, ids: pa.Array | None) -> list[bytes]:
        target, quote = targets[number], top.quoted[wanted[number]]
        cells, place = block.cells(number), (0, block.first_row)
        if work.verb == "seal":
            values = work.parsed(target, pa.array(cells, pa.binary()), place)
        else:
            values = work.from_base64(target, cells, place)
        result = work.transform(target, values, ids, place, kind=target.as_type)
        if work.verb == "unseal":
            result = work.fitting(target, result, place, lacks_text, NO_TEXT)
            written = as_text(result).cast(pa.binary()).to_pylist()
        else:
            written = [None if value is None else b64encode(value) for value in result.to_pylist()]
        return [_csv.written(value, quote=quote) for value in written]

    def write_output(out: Output) -> Iterator[float]:
        with source.open() as file:
            out.write(file.read(top.size))
            try:
                for block in _csv.blocks(file, top, wanted):
                    ids = None
                    if work.row_id is not None:
                        ids = work.ids(pa.array(block.cells(len(targets)), pa.binary()), (0, block.first_row))
                    out.write(block.with_cells([transform(block, at, ids) for at in range(len(targets))]))
                    yield block.end / source.size
            except _csv.CsvError as error:
                raise CommandError(f"{source.path}: row {error.row}: {error}") from None

    return write_output


# ---- from one format to another, and from Arrow to Arrow


def convert(work: Work, suffix: str) -> Write:
    """Reads all columns and writes them in another format, or from Arrow to Arrow."""
    source = work.source
    if suffix == ".csv":
        note_row_ids(work)
    schema, kinds = converted_schema(work, to_text=suffix == ".csv")
    try:
        if suffix == ".csv":
            check_csv(schema)
        elif suffix == ".parquet":
            check_parquet(schema)
        if source.parquet is not None:
            check_leaves(source.parquet, work.columns)
    except TypeRefusedError as error:
        raise work.refuse(error.column, error) from None
    # Only streams can replace a dictionary.
    wraps = {
        target: Wrapped(leaf_at(schema.field(target.column), target.path).type, replaces=suffix == ".arrows")
        for target in work.targets
    }
    grown = growing(work, schema) if suffix in ARROW_FILE and source.suffix not in ARROW_FILE else {}

    def transform(piece: Piece) -> Piece:
        batch = piece.batch
        place = piece.group, piece.first_row
        ids = work.ids(batch.column(work.row_id), place) if work.row_id is not None else None
        arrays = dict(zip(schema.names, batch.columns, strict=True)) if unique(schema) else {}
        for target in work.targets:
            change = changer(work, target, kinds[target], place, wraps[target], suffix)
            now = arrays.get(target.column, batch.column(schema.get_field_index(target.column)))
            arrays[target.column] = replaced(now, target.path, ids, change)
        columns = [arrays.get(name, column) for name, column in zip(schema.names, batch.columns, strict=True)]
        for (at, path), one in grown.items():
            columns[at] = with_grown(work, ".".join((schema.names[at], *path)), place, columns[at], path, one)
        if suffix == ".csv":
            for name, column in zip(schema.names, columns, strict=True):
                check_text(work, name, place, column)
        return replace(piece, batch=pa.RecordBatch.from_arrays(columns, schema=schema))

    # From Arrow to Arrow, record batches are preserved.
    keep_batches = suffix in ARROW and source.suffix in ARROW

    def transformed() -> Iterator[Piece]:
        for piece in source.pieces():
            yield from map(transform, [piece] if keep_batches else slices(piece))

    return lambda out: write(out, suffix, source, schema, transformed())


def growing(work: Work, schema: pa.Schema) -> dict[tuple[int, Path], Grown]:
    """Returns what keeps the dictionaries of each leaf that is not processed, by column and path."""
    processed = {(target.column, target.path) for target in work.targets}
    return {
        (at, path): Grown()
        for at, field in enumerate(schema)
        for path, leaf in leaves(field)
        if is_dictionary(leaf.type) and (field.name, path) not in processed
    }


def with_grown(  # noqa: PLR0913, PLR0917
    work: Work, name: str, place: Place, column: pa.Array, path: Path, grown: Grown
) -> pa.Array:
    """Returns a column with a dictionary that begins with that of the previous batch."""
    try:
        changed = replaced(column, path, None, lambda array, *_: grown.grow(array))
    except (pa.ArrowException, ValueError):
        problem = "an Arrow file cannot have its dictionaries; give OUT the suffix .arrows"
        raise CommandError(work.where(name, place, problem)) from None
    # A list view would become a list.
    return changed if changed.type == column.type else column


def note_row_ids(work: Work) -> None:
    """Prints how to open values bound to row ids that are text only in CSV, as all its columns are."""
    if work.row_id is None or work.verb == "unseal":
        return
    kind = work.row_id_type if work.source.text else work.source.schema.field(work.row_id).type
    if kind is not None and not is_text(kind):
        note_type(work.row_id, kind)


def note_type(name: str, kind: pa.DataType) -> None:
    print(
        f"note: column {name!r}: CSV does not keep its type; open it with "
        f"--as-type '{name}={plain_type(kind)}'",
        file=sys.stderr,
    )


def check_text(work: Work, target: Target | str, place: Place, values: pa.Array) -> None:
    if lacks_text(values):
        raise CommandError(work.where(target, place, NO_TEXT))


def unique(schema: pa.Schema) -> bool:
    return len(set(schema.names)) == len(schema.names)


def changer(  # noqa: PLR0913, PLR0917
    work: Work, target: Target, kind: pa.DataType | None, place: Place, wrap: Wrapped, suffix: str
) -> Callable[..., pa.Array]:
    """Returns the change of a leaf's values in one piece."""

    def change(
        array: pa.Array,
        ids: pa.Array | None,
        row: Callable[[int], int],
        required: bool,
    ) -> pa.Array:
        if work.source.text and work.verb == "seal":
            array = work.parsed(target, array, place)
        elif work.source.text:
            array = work.from_base64(target, array.to_pylist(), place)
        result = work.transform(target, array, ids, place, kind=kind, row=row, required=required)
        if suffix == ".csv" and work.verb == "unseal":
            result = work.fitting(target, result, place, lacks_text, NO_TEXT)
        elif suffix == ".csv":
            encoded = [None if value is None else b64encode(value) for value in result.to_pylist()]
            result = pa.array(encoded, pa.string())
        plain = plain_type(wrap.kind)
        advice = "" if plain == wrap.kind else f"; use --as-type '{target.name}={plain}'"
        problem = f"an opened value is not of type {wrap.kind}{advice}"
        try:
            return wrap.wrap(result)
        except (pa.ArrowException, ValueError):
            result = work.fitting(
                target, result, place, lambda some: not is_wrapped(some, wrap.kind), problem
            )
        try:
            return wrap.wrap(result)
        except (pa.ArrowException, ValueError):
            raise CommandError(work.where(target, place, problem)) from None

    return change


def converted_schema(work: Work, *, to_text: bool) -> tuple[pa.Schema, dict[Target, pa.DataType | None]]:
    """Returns the schema of the output, and the types as which the targets are opened."""
    schema = work.source.schema
    metadata = dict(schema.metadata or {})
    kinds: dict[Target, pa.DataType | None] = {}
    for target in work.targets:
        field = leaf_at(schema.field(target.column), target.path)
        origin = work.origin(schema, target)
        kinds[target] = None
        if work.verb == "seal":
            changed, metadata = sealed(work, target, field, metadata, to_text=to_text)
        elif work.verb == "unseal":
            changed = work.plain_field(schema, target, origin)
            kinds[target] = changed.type
            metadata = opened_metadata(metadata, target, origin)
            if work.source.text and target.as_type is None:
                changed = pa.field(field.name, pa.string(), changed.nullable)
                kinds[target] = pa.string()
        else:
            changed = field if not work.source.text else field.with_type(pa.binary())
        if to_text:
            if work.verb == "unseal":
                work.check_cells(target, changed.type)
            changed = pa.field(field.name, pa.string(), changed.nullable)
        at = schema.get_field_index(target.column)
        schema = schema.set(at, with_leaf(schema.field(at), target.path, changed))
    # with_metadata(None) would write an empty map.
    return schema.with_metadata(metadata) if metadata else schema.remove_metadata(), kinds


def sealed(
    work: Work, target: Target, field: pa.Field, metadata: dict[bytes, bytes], *, to_text: bool
) -> tuple[pa.Field, dict[bytes, bytes]]:
    """Returns the field of a leaf after sealing, and the file's metadata."""
    kind = field.type
    if pa.types.is_dictionary(kind) and kind.ordered and not to_text:
        raise work.refuse(target, ORDERED)
    given = kind if target.as_type is None or not work.source.text else target.as_type
    if work.source.text:
        work.check_cells(target, given)
    result = work.sealed_type(target, given)
    if to_text and not is_bytes(given):
        note_type(target.name, given)
    try:
        metadata, notes = describe_sealed(metadata, target.column, target.path)
    except ValueError as error:
        raise work.refuse(target, error) from None
    field = field.with_type(given)
    origin: Origin = {"arrow": packed_field(field), **({"notes": notes} if notes else {})}
    if target.path:
        metadata[ORIGIN_KEY] = json.dumps({**origins(metadata), target.name: origin}).encode()
    return sealed_field(field, result, None if target.path else origin), metadata


def opened_metadata(
    metadata: dict[bytes, bytes], target: Target, origin: Origin | None
) -> dict[bytes, bytes]:
    """Returns the file's metadata after a leaf was opened."""
    metadata = describe_opened(metadata, target.column, (origin or {}).get("notes", {}), target.path)
    rest = {other: kept for other, kept in origins(metadata).items() if other != target.name}
    metadata.pop(ORIGIN_KEY, None)
    if rest:
        metadata[ORIGIN_KEY] = json.dumps(rest).encode()
    return metadata
