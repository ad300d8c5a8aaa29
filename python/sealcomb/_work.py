"""What the command ``sealcomb-columns`` does to the values of columns."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import compute as pc

from sealcomb import (
    Keyset,
    LimitReached,
    UnopenedRow,
    reseal_column,
    seal_column,
    unseal_column,
    unseal_column_counted,
)
from sealcomb._files import CommandError, Source
from sealcomb._metadata import (
    DAMAGED_TYPE,
    Origin,
    extended_field,
    named_type,
    origin_of,
    unpacked_field,
    unsealed_metadata,
)
from sealcomb._nested import is_key, leaf_at
from sealcomb._selection import Target
from sealcomb._types import filled, is_text, plain_type, plain_values

ORDERED = "the order of its categories would be lost: cast it to text first"
# A group of rows in the file, and the row in it where an array begins.
Place = tuple[int, int]


@dataclass
class Work:
    """The operation, and the leaves to apply it to."""

    verb: str
    source: Source
    targets: list[Target]
    keyset: Keyset
    row_id: str | None
    # The type of the row ids in CSV; None for text.
    row_id_type: pa.DataType | None
    threads: int | None
    forged: str
    nulled: Counter[str] = field(default_factory=Counter)

    @property
    def columns(self) -> list[str]:
        """The names of the targets' columns, each once."""
        return list(dict.fromkeys(target.column for target in self.targets))

    # ---- values

    def transform(  # noqa: PLR0913
        self,
        target: Target,
        array: pa.Array,
        ids: pa.Array | None,
        place: Place,
        *,
        kind: pa.DataType | None = None,
        row: Callable[[int], int] = lambda index: index,
        required: bool = False,
    ) -> pa.Array:
        """Seals, opens or reseals some values of a leaf.

        Args:
            target: The leaf.
            array: The values.
            ids: The ids of their rows.
            place: The group of the array, and its first row.
            kind: The type that opening restores.
            row: Returns the row of a value in the array's rows, from its index.
            required: The values must not have nulls. Those where a parent is null become zeros or empty,
                unless the output has nulls for values that do not open.
        """
        try:
            result = self._transform(target, plain_values(array), ids, kind)
        except UnopenedRow as error:
            raise CommandError(
                self.where(target, place, self.advised(error.reason), row(error.row))
            ) from None
        except LimitReached as error:
            raise self.refuse(target, error) from None
        except (TypeError, ValueError) as error:
            problem = str(error).partition("_column: ")[2] or str(error)
            # The library names the row of the piece that it was given.
            found = re.match(r"chunk 0, row (\d+)[^:]*: (.*)", problem, re.DOTALL)
            where = (found[2], row(int(found[1]))) if found else (problem, None)
            raise CommandError(self.where(target, place, *where)) from None
        if self.forged == "null" and self.is_key(target) and result.null_count:
            at = next(at for at, value in enumerate(result) if not value.is_valid)
            problem = "the key of a map did not open, and cannot be null: use --forged fail"
            raise CommandError(self.where(target, place, problem, row(at)))
        return filled(result) if required and not self.adds_nulls(target) else result

    def _transform(
        self, target: Target, array: pa.Array, ids: pa.Array | None, kind: pa.DataType | None
    ) -> pa.Array:
        context = encoded(target.context)
        if self.verb == "seal":
            return seal_column(array, self.keyset, context=context, row_ids=ids, threads=self.threads)
        if self.verb == "reseal":
            return reseal_column(array, self.keyset, context=context, row_ids=ids, threads=self.threads)
        as_type = str(plain_type(kind or pa.binary()))
        if self.forged == "fail":
            return unseal_column(
                array, self.keyset, context=context, row_ids=ids, as_type=as_type, threads=self.threads
            )
        opened, count = unseal_column_counted(
            array, self.keyset, context=context, row_ids=ids, as_type=as_type, threads=self.threads
        )
        self.nulled[target.name] += count
        return opened

    def is_key(self, target: Target) -> bool:
        return is_key(self.source.schema.field(target.column), target.path)

    def adds_nulls(self, target: Target) -> bool:
        """Returns whether values that do not open become nulls."""
        return self.forged == "null" and not self.is_key(target)

    def fitting(
        self, target: Target, array: pa.Array, place: Place, refuses: Callable[[pa.Array], bool], problem: str
    ) -> pa.Array:
        """Returns opened values that the output takes. With ``--forged null``, the others are null.

        Args:
            target: The leaf.
            array: The values.
            place: The group of the array, and its first row.
            refuses: Returns whether the output refuses one of some values.
            problem: Says what is wrong with a value that the output refuses.
        """
        if not refuses(array):
            return array
        if self.forged != "null" or self.is_key(target):
            raise CommandError(self.where(target, place, problem))
        bad = [value.is_valid and refuses(array.slice(at, 1)) for at, value in enumerate(array)]
        self.nulled[target.name] += sum(bad)
        return pc.if_else(pa.array(bad), pa.scalar(None, array.type), array)

    def parsed(self, target: Target, values: pa.Array, place: Place) -> pa.Array:
        """Returns the values of CSV cells in the type that the command line gives a column."""
        return self._parsed(target.name, target.as_type, values, place)

    def ids(self, values: pa.Array, place: Place) -> pa.Array:
        """Returns row ids, those of CSV in the type that the command line gives them."""
        assert self.row_id is not None
        return self._parsed(self.row_id, self.row_id_type if self.source.text else None, values, place)

    def _parsed(self, name: str, kind: pa.DataType | None, values: pa.Array, place: Place) -> pa.Array:
        if kind is None:
            return values
        try:
            return read_text(values, kind)
        except (pa.ArrowException, ValueError, NotImplementedError):
            row = next(at for at in range(len(values)) if not is_readable(values.slice(at, 1), kind))
            raise CommandError(self.where(name, place, f"not a value of type {kind}", row)) from None

    def from_base64(self, target: Target, values: Iterable[str | bytes | None], place: Place) -> pa.Array:
        """Decodes the sealed values of a CSV column."""
        decoded = []
        for row, value in enumerate(values):
            try:
                decoded.append(None if value is None else b64decode(value, validate=True))
            except (binascii.Error, ValueError):
                if self.forged == "null":
                    # An empty value is not a sealed one either.
                    decoded.append(b"")
                    continue
                raise CommandError(
                    self.where(target, place, "not base64, so not a sealed value", row)
                ) from None
        return pa.array(decoded, pa.binary())

    # ---- messages

    def where(self, target: Target | str, place: Place, problem: str, row: int | None = None) -> str:
        group, first = place
        name = target if isinstance(target, str) else target.name
        parts = [str(self.source.path) + ":"]
        if not self.source.text:
            parts.append(f"{self.source.unit} {group},")
        parts.append(f"column {name!r}" + ("" if row is None else f", row {first + row}") + ":")
        return " ".join([*parts, problem])

    def advised(self, reason: str) -> str:
        """Returns a reason of the library with options of the command in the places of arguments."""
        null = ", or --forged null for a null in its place" if self.verb == "unseal" else ""
        for library, command in (
            (', or forged="null" for a null in its place', null),
            ('as as_type, or "binary"', "with --as-type, or binary"),
            ('as_type="binary"', "--as-type binary"),
            ("check the column with inspect_column", "check the file with sealcomb-columns inspect"),
        ):
            reason = reason.replace(library, command)
        return reason

    def refuse(self, target: Target | str, problem: object) -> CommandError:
        name = target if isinstance(target, str) else target.name
        return CommandError(f"{self.source.path}: column {name!r}: {problem}")

    # ---- fields

    def origin(self, schema: pa.Schema, target: Target) -> Origin | None:
        """Returns the origin of a sealed leaf, or ``None``. Refuses to seal a leaf that has been sealed."""
        origin = origin_of(schema, target.column, target.path)
        field = leaf_at(schema.field(target.column), target.path)
        if self.verb == "seal":
            if origin is not None or unsealed_metadata(field).keys() != (field.metadata or {}).keys():
                raise self.refuse(target, "already sealed; use reseal to move it to the primary key")
            kind = field.type
            if pa.types.is_nested(plain_type(kind)):
                problem = f"values of type {kind} cannot be sealed in files; make them structs or lists"
                raise self.refuse(target, problem)
            self.check_given(target, kind)
        return origin

    def check_given(self, target: Target, kind: pa.DataType) -> None:
        """Refuses a type on the command line that is not that of the values to seal, which only CSV lacks."""
        given = target.as_type
        if given is None or self.source.text or (is_text(given) and is_text(kind)):
            return
        if plain_type(given) != plain_type(kind):
            raise self.refuse(target, f"its type is {kind}; --as-type {given} would not change it")

    def check_cells(self, target: Target, kind: pa.DataType) -> None:
        """Refuses a type whose values cannot be read from the cells of CSV, or be written to them."""
        if self.verb == "seal" and not is_readable(pa.array([], pa.string()), kind):
            raise self.refuse(target, f"values of type {kind} cannot be read from text")
        if self.verb == "unseal" and not has_text(kind):
            raise self.refuse(target, f"values of type {kind} have no text, which CSV requires")

    def sealed_type(self, target: Target, kind: pa.DataType) -> pa.DataType:
        """Returns the type of a leaf of this type after sealing. Refuses types that cannot be sealed."""
        return self.transform(target, pa.array([], plain_type(kind)), None, (0, 0)).type

    def plain_field(self, schema: pa.Schema, target: Target, origin: Origin | None) -> pa.Field:
        """Returns the field of an opened leaf, with its original type if it is known."""
        now = leaf_at(schema.field(target.column), target.path)
        nullable = now.nullable or self.adds_nulls(target)
        try:
            if target.as_type is not None:
                return pa.field(now.name, target.as_type, nullable, unsealed_metadata(now))
            if origin is not None:
                return unpacked_field(origin["arrow"]).with_name(now.name).with_nullable(nullable)
            name = named_type(now)
            kind = pa.binary() if name is None else type_named(name, self.keyset)
            if kind is not None:
                opened = pa.field(now.name, kind, nullable, unsealed_metadata(now))
                return extended_field(opened, now)
        except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
            problem = error if type(error) is ValueError else DAMAGED_TYPE
            raise self.refuse(target, problem) from None
        raise self.refuse(target, f"the type {name!r} in its metadata is unknown; use --as-type")


def encoded(context: str) -> bytes:
    return context.encode("utf-8", "surrogateescape")


def type_named(name: str, keyset: Keyset) -> pa.DataType | None:
    """Returns the type with a name of pyarrow, Spark or SQL, or ``None`` if there is none."""
    try:
        return unseal_column(pa.array([], pa.binary()), keyset, context="", as_type=name).type
    except (ValueError, TypeError, LookupError, NotImplementedError):
        # pyarrow lacks some types, such as intervals of months.
        return None


# ---- values as text


def read_text(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Reads values of a type from their text.

    Raises:
        pyarrow.ArrowException: A text is not a value of the type.
    """
    text = values.cast(pa.string())
    if pa.types.is_decimal(kind) or kind == pa.binary():
        return values.cast(kind)
    return text.cast(kind)


def is_readable(values: pa.Array, kind: pa.DataType) -> bool:
    try:
        read_text(values, kind)
    except (pa.ArrowException, ValueError, NotImplementedError):
        return False
    return True


def as_text(values: pa.Array) -> pa.Array:
    """Returns the text of values, as CSV has it; bytes stay bytes."""
    kind = plain_type(values.type)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return values
    return plain_values(values).cast(pa.string())


def has_text(kind: pa.DataType) -> bool:
    try:
        as_text(pa.array([], plain_type(kind)))
    except (pa.ArrowException, NotImplementedError):
        return False
    return True
