"""From Parquet to Parquet: replaces the pages of the selected columns, and copies those of all others."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from sealcomb import _parquet
from sealcomb._files import (
    ARROW_KEY,
    GROUP_BYTES,
    PIECE_BYTES,
    PIECE_ROWS,
    CommandError,
    Output,
    Write,
    damaged_group,
)
from sealcomb._metadata import (
    DAMAGED_TYPE,
    ORIGIN_KEY,
    TYPE_KEY,
    Origin,
    describe_opened,
    describe_sealed,
    origin_of,
    origins,
    packed_field,
    sealed_field,
    unpacked_schema,
)
from sealcomb._nested import Change, leaf_at, leaves, replaced, storage_leaves, with_leaf
from sealcomb._selection import Target
from sealcomb._thrift import I32, Struct, get, serialize
from sealcomb._types import is_bytes, is_dictionary, parquet_image, plain_type
from sealcomb._work import ORDERED, Place, Work, type_named


def has_another_size(kind: pa.DataType, values: pa.Array) -> bool:
    """Returns whether some bytes do not have the size of a type."""
    try:
        values.cast(kind)
    except pa.ArrowInvalid:
        return True
    return False


def parquet_to_parquet(work: Work) -> Write:
    """Replaces the pages of the selected columns, and copies those of all others."""
    path = work.source.path
    try:
        with path.open("rb") as file:
            footer = _parquet.Footer(file)
        change = ParquetChange(work, footer)
        pages = dict(change.leaf(target) for target in work.targets)
        change.note()
    except _parquet.ParquetError as error:
        raise CommandError(f"{path}: {error}") from None

    def write_output(out: Output) -> Iterator[float]:
        with path.open("rb") as file:
            try:
                yield from _parquet.Rewriter(file, footer, pages, out).run()
            except _parquet.ParquetError as error:
                raise CommandError(f"{path}: {error}") from None

    return write_output


def leaf_numbers(schema: pa.Schema) -> dict[str, int]:
    """Returns the numbers of a Parquet file's leaf columns, by the names of its Arrow schema's leaves."""
    numbers, at = {}, 0
    for field in schema:
        for path, leaf in leaves(field):
            numbers[".".join((field.name, *path))] = at
            at += storage_leaves(leaf.type)
    return numbers


def is_raw(kind: pa.DataType, element: Struct) -> bool:
    """Returns whether the values of a leaf are read and written as bytes, without regard to their annotation.

    A column of bytes can be annotated as one of nulls only.
    """
    return is_bytes(kind) or (
        pa.types.is_null(plain_type(kind)) and _parquet.storage_or_none(element) is not None
    )


class ParquetChange:
    """The changes to a Parquet file's footer."""

    def __init__(self, work: Work, footer: _parquet.Footer) -> None:
        self.work = work
        self.footer = footer
        self.notes = dict(footer.notes)
        self.origins = origins(self.notes)
        self.orders = _parquet.sorting(footer)
        self.numbers = leaf_numbers(work.source.schema)
        self.sealed = {at for at, leaf in enumerate(footer.leaves) if leaf.plain and self.is_sealed(leaf.top)}
        self.arrow: pa.Schema | None = None
        if ARROW_KEY in self.notes:
            try:
                self.arrow = unpacked_schema(self.notes[ARROW_KEY])
            except ValueError:
                raise _parquet.ParquetError("the Arrow schema in its metadata is damaged") from None

    def is_sealed(self, name: str) -> bool:
        schema = self.work.source.schema
        return schema.names.count(name) == 1 and origin_of(schema, name) is not None

    def number(self, target: Target) -> int:
        """Returns the number of a leaf among the file's leaf columns."""
        number = self.footer.leaf(target.column) if not target.path else self.numbers[target.name]
        kind = leaf_at(self.work.source.schema.field(target.column), target.path).type
        # A repeated field without a list around it is read as a list.
        if (
            number is None
            or storage_leaves(kind) != 1
            or not self.footer.leaves[number].is_below(target.column)
        ):
            raise self.work.refuse(target, "Parquet stores it in a form that cannot be sealed in place")
        return number

    def leaf(self, target: Target) -> tuple[int, _parquet.Replacement]:
        """Applies the change of a leaf to the footer. Returns its number and replacement."""
        work = self.work
        origin = work.origin(work.source.schema, target)
        number = self.number(target)
        before = self.footer.elements[self.footer.leaves[number].element]
        kind: pa.DataType | None = None
        options: dict[str, Any] = {}
        if work.verb == "seal":
            element, codec, dictionary = self.seal(target, number, before), "NONE", False
        elif work.verb == "unseal":
            element, codec, dictionary, kind, options = self.unseal(target, number, before, origin)
        else:
            element, codec, dictionary = before, "NONE", False
        nullable = get(element, _parquet.ELEMENT_REPETITION) == _parquet.OPTIONAL
        typed = kind is not None and not is_raw(kind, element)
        values = plain_type(kind) if typed else _parquet.storage(element)
        top = work.source.schema.field(target.column).remove_metadata()
        name = leaf_at(top, target.path).name
        field = with_leaf(top, target.path, pa.field(name, values, nullable), alone=True)
        self.check_levels(target, number, field)
        opened = work.verb == "unseal"
        if opened and values == _parquet.storage_or_none(element):
            kind = pa.string() if _parquet.is_text(element) else pa.binary()
        return number, _parquet.Replacement(
            element=element,
            field=field,
            codec=codec,
            dictionary=dictionary,
            statistics=opened and (not is_bytes(values) or _parquet.in_order_of_bytes(element)),
            options=options,
            arrays=lambda group: self.arrays(target, number, group, values, kind),
        )

    def check_levels(self, target: Target, number: int, field: pa.Field) -> None:
        """Refuses a leaf whose lists pyarrow would write in another form than the file has."""
        if target.path:
            now = _parquet.written(field).leaves[0].above
            if now != self.footer.leaves[number].above:
                raise self.work.refuse(
                    target,
                    "its lists are in an old form of Parquet: write the file again with a current version",
                )

    def seal(self, target: Target, number: int, before: Struct) -> Struct:
        work, footer, name = self.work, self.footer, target.name
        file_field = leaf_at(work.source.schema.field(target.column), target.path)
        field = self.arrow_leaf(target) or file_field.remove_metadata()
        kind = file_field.type
        # Polars also stores the categories and their order in the metadata.
        noted = any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())
        if pa.types.is_dictionary(kind) and kind.ordered and not noted:
            raise work.refuse(target, ORDERED)
        work.sealed_type(target, kind)
        self.check_restorable(target, kind, before)
        element = _parquet.sealed_element(before)
        origin: Origin = {
            "arrow": packed_field(field),
            "values": str(plain_type(kind)),
            "parquet": b64encode(serialize(before)).decode(),
        }
        if footer.groups:
            meta = footer.chunk(0, number)
            origin["codec"] = _parquet.CODECS.get(get(meta, _parquet.META_CODEC))
            origin["dictionary"] = _parquet.has_dictionary(meta)
        if any(number == entry[0] for order in self.orders for entry in order or []):
            origin["sorting"] = self.orders
        self.sealed.add(number)
        _parquet.sort_by(footer, self.orders, self.sealed)
        try:
            self.notes, notes = describe_sealed(self.notes, target.column, target.path)
        except ValueError as error:
            raise work.refuse(target, error) from None
        if notes:
            origin["notes"] = notes
        if self.arrow_leaf(target) is None or target.path:
            self.origins[name] = origin
        if self.arrow_leaf(target) is not None:
            sealed = sealed_field(field, pa.binary(), None if target.path else origin)
            if not is_bytes(kind) and plain_type(field.type) != plain_type(kind):
                # The Arrow schema has another type than the file, such as date64 for days.
                sealed = sealed.with_metadata({**sealed.metadata, TYPE_KEY: str(plain_type(kind)).encode()})
            self.set_arrow(
                target, sealed, lambda notes: describe_sealed(notes, target.column, target.path)[0]
            )
        return element

    def check_restorable(self, target: Target, kind: pa.DataType, before: Struct) -> None:
        """Refuses a type that pyarrow can read but not write in the form that the file has."""
        if is_raw(kind, before):
            _parquet.storage(before)
            return
        after = _parquet.element_of(pa.field("x", plain_type(kind)), **_parquet.options_for(before))
        if _parquet.form(after) != _parquet.form(before):
            raise self.work.refuse(
                target, f"Parquet stores its type {kind} in a form that opening would change"
            )

    def unseal(
        self, target: Target, number: int, before: Struct, origin: Origin | None
    ) -> tuple[Struct, str, bool, pa.DataType, dict[str, Any]]:
        work, footer = self.work, self.footer
        field = work.plain_field(work.source.schema, target, origin)
        if target.as_type is not None:
            origin = {key: origin[key] for key in ("codec", "notes") if key in origin} if origin else None
        origin = origin or {}
        if "parquet" not in origin:
            field = self.in_parquet(target, field)
        kind = self.values_type(target, field.type, origin)
        element, options = self.opened_element(target, field.with_type(kind), origin)
        for key in (_parquet.ELEMENT_NAME, _parquet.ELEMENT_REPETITION, _parquet.ELEMENT_ID):
            element.pop(key, None)
            if key in before:
                element[key] = before[key]
        if field.nullable and get(before, _parquet.ELEMENT_REPETITION) != _parquet.REPEATED:
            element[_parquet.ELEMENT_REPETITION] = (I32, _parquet.OPTIONAL)
        self.sealed.discard(number)
        orders = origin.get("sorting", self.orders)
        try:
            _parquet.sort_by(footer, orders, self.sealed)
            self.orders = orders
        except (ValueError, TypeError, LookupError):
            pass  # the file has been rewritten with other row groups or columns
        notes = origin.get("notes", {})
        self.notes = describe_opened(self.notes, target.column, notes, target.path)
        self.origins.pop(target.name, None)
        if self.arrow_leaf(target) is not None:
            self.set_arrow(
                target, field, lambda metadata: describe_opened(metadata, target.column, notes, target.path)
            )
        dictionary = origin.get("dictionary") is not False and field.type != pa.bool_()
        return element, self.codec(origin), dictionary, kind, options

    def in_parquet(self, target: Target, field: pa.Field) -> pa.Field:
        """Returns the field of a leaf that was not sealed in Parquet.

        It has the type of its values if Parquet would lose that of a dictionary.
        """
        try:
            back = parquet_image(field)
        except (pa.ArrowException, NotImplementedError, ValueError) as error:
            problem = f"Parquet cannot represent it: {error}: give OUT the suffix .arrow"
            raise self.work.refuse(target, problem) from None
        kind = plain_type(field.type)
        lost = is_dictionary(field.type) and not is_bytes(kind) and plain_type(back.type) != kind
        return field.with_type(kind) if lost else field

    def values_type(self, target: Target, kind: pa.DataType, origin: Origin) -> pa.DataType:
        """Returns the type that was sealed, which can differ from that in the file's Arrow schema."""
        values = origin.get("values")
        if is_bytes(kind) or values is None or values == str(plain_type(kind)):
            return kind
        found = type_named(values, self.work.keyset) if isinstance(values, str) else None
        if found is None:
            raise self.work.refuse(target, DAMAGED_TYPE)
        return found

    def opened_element(
        self, target: Target, field: pa.Field, origin: Origin
    ) -> tuple[Struct, dict[str, Any]]:
        """Returns the schema element of an opened leaf, and pyarrow's options to write its values."""
        plain = pa.field(field.name, plain_type(field.type))
        try:
            if "parquet" not in origin:
                return _parquet.element_of(field.remove_metadata()), {}
            element = _parquet.parsed_element(b64decode(origin["parquet"], validate=True))
            options = _parquet.options_for(element)
            if is_raw(field.type, element):
                _parquet.storage(element)
            elif _parquet.form(_parquet.element_of(plain, **options)) != _parquet.form(element):
                raise ValueError("another type")
        except (pa.ArrowException, ValueError, TypeError, LookupError, AttributeError):
            raise self.work.refuse(target, DAMAGED_TYPE) from None
        return element, options

    def codec(self, origin: Origin) -> str:
        """Returns the codec for an opened column: the original one, or that of another column."""
        codecs = [origin.get("codec")]
        if self.footer.groups:
            chunks = (self.footer.chunk(0, leaf) for leaf in range(len(self.footer.leaves)))
            codecs += [_parquet.CODECS.get(get(meta, _parquet.META_CODEC)) for meta in chunks]
            codecs = codecs[:1] + [codec for codec in codecs[1:] if codec != "NONE"]
        return next((str(codec) for codec in codecs if codec in _parquet.CODECS.values()), "SNAPPY")

    def arrow_leaf(self, target: Target) -> pa.Field | None:
        """Returns the field of a leaf in the file's Arrow schema, if it has one."""
        if self.arrow is None or self.arrow.names.count(target.column) != 1:
            return None
        try:
            return leaf_at(self.arrow.field(target.column), target.path)
        except KeyError:
            return None

    def set_arrow(
        self, target: Target, leaf: pa.Field, describe: Callable[[dict[bytes, bytes]], dict[bytes, bytes]]
    ) -> None:
        assert self.arrow is not None
        at = self.arrow.get_field_index(target.column)
        field = self.arrow.field(at)
        # The elements of a list can have another name in the file.
        leaf = leaf.with_name(leaf_at(field, target.path).name)
        arrow = self.arrow.set(at, with_leaf(field, target.path, leaf))
        self.arrow = arrow.with_metadata(describe(arrow.metadata)) if arrow.metadata else arrow

    def note(self) -> None:
        """Writes the metadata to the footer."""
        if self.arrow is not None and self.work.verb != "reseal":
            self.notes[ARROW_KEY] = b64encode(self.arrow.serialize())
        self.notes.pop(ORIGIN_KEY, None)
        if self.origins:
            self.notes[ORIGIN_KEY] = json.dumps(self.origins).encode()
        self.footer.note(self.notes)

    def arrays(
        self, target: Target, number: int, group: int, values: pa.DataType, kind: pa.DataType | None
    ) -> Iterator[pa.Array]:
        """Yields the new values of a row group, some thousands of rows at a time."""
        work, file = self.work, self.work.source.parquet
        assert file is not None
        meta = self.footer.chunk(group, number)
        size = get(meta, _parquet.META_UNCOMPRESSED, 0)
        total = max(1, file.metadata.row_group(group).num_rows)
        rows = total
        if size > GROUP_BYTES or _parquet.has_dictionary(meta) or target.path:
            rows = max(1, min(PIECE_ROWS, total * PIECE_BYTES // max(1, size)))
        first = 0
        columns = [self.footer.leaves[number].path, *([work.row_id] if work.row_id is not None else [])]
        try:
            for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
                ids = batch.column(work.row_id) if work.row_id is not None else None
                change = self.change(target, values, kind, (group, first))
                yield replaced(batch.column(target.column), target.path, ids, change)
                first += batch.num_rows
        except (pa.ArrowException, OSError):
            raise CommandError(damaged_group(file, work.source.path, group, rows, columns)) from None

    def change(self, target: Target, values: pa.DataType, kind: pa.DataType | None, place: Place) -> Change:
        def change(
            array: pa.Array,
            ids: pa.Array | None,
            row: Callable[[int], int],
            required: bool,
        ) -> pa.Array:
            result = self.work.transform(target, array, ids, place, kind=kind, row=row, required=required)
            if not is_bytes(values):
                return result
            problem = f"an opened value does not have the size of its type, {values}"
            result = result.cast(pa.binary())
            if self.work.verb == "unseal":
                refuses = partial(has_another_size, values)
                result = self.work.fitting(target, result, place, refuses, problem)
            return result.cast(values)

        return change
