"""A schemaless codec for Thrift's compact protocol that preserves unknown fields.

A struct is a dictionary from field numbers to pairs of kind and value. Lists and sets are ``List``, structs
are dictionaries, and integers, booleans and bytes are Python's types. Values of all other kinds stay
serialized.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
FIXED = {DOUBLE: 8, UUID: 16}
MAX_DEPTH = 64
# Integers are encoded in groups of seven bits. A byte above LAST is followed by another.
LAST, BITS = 0x7F, 63
# Longer lists and larger steps between field numbers do not fit in the four bits of a header.
SHORT_LIST, SHORT_STEP = 14, 15

Struct = dict[int, tuple[int, Any]]


class ThriftError(ValueError):
    """The bytes are not a valid struct."""


class MoreBytesError(ThriftError):
    """The struct continues after the last byte."""


@dataclass
class List:
    """A list or set of values of one kind."""

    kind: int
    items: list[Any]


@dataclass(frozen=True)
class Shape:
    """The expected shape of a struct: the kinds of known fields, and the numbers of required fields.

    A kind is a number, a ``Shape`` for a struct, or a one-item list with the kind of a list's items.
    ``FALSE`` means either boolean. Fields that are not listed may have any kind.
    """

    fields: dict[int, Any]
    required: tuple[int, ...] = ()

    def check(self, struct: Struct) -> None:
        """Raises ``ThriftError`` if a struct does not have this shape."""
        for number in self.required:
            if number not in struct:
                raise ThriftError(f"field {number} is missing")
        for number, wanted in self.fields.items():
            if number in struct:
                _check(*struct[number], wanted)


def _check(kind: int, value: Any, wanted: Any) -> None:
    if isinstance(wanted, Shape):
        if kind != STRUCT:
            raise ThriftError("a field is not a struct")
        wanted.check(value)
    elif isinstance(wanted, list):
        if kind != LIST:
            raise ThriftError("a field is not a list")
        for item in value.items:
            _check(value.kind, item, wanted[0])
    elif (FALSE if kind == TRUE else kind) != wanted:
        raise ThriftError(f"a field has the kind {kind}; expected {wanted}")


def get(struct: Struct, number: int, default: Any = None) -> Any:
    """Returns the value of a field, or the default if the field is not set."""
    return struct[number][1] if number in struct else default


def parse(data: bytes | memoryview, at: int = 0) -> tuple[Struct, int]:
    """Parses the struct at an offset. Returns it and the offset after it.

    Raises:
        ThriftError: The bytes are not a valid struct.
        MoreBytesError: The bytes end before the struct does.
    """
    reader = _Reader(bytes(data), at)
    return reader.struct(0), reader.at


def serialize(struct: Struct) -> bytes:
    """Returns the bytes of a struct."""
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        at = self.at
        if at >= len(self.data):
            raise MoreBytesError("the struct is truncated")
        self.at = at + 1
        return self.data[at]

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise MoreBytesError("the struct is truncated")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & LAST) << shift
            if byte <= LAST:
                return value
            shift += 7
            if shift > BITS:
                raise ThriftError("an integer has more than 64 bits")

    def signed(self) -> int:
        value = self.unsigned()
        return value >> 1 ^ -(value & 1)

    def struct(self, depth: int) -> Struct:
        if depth > MAX_DEPTH:
            raise ThriftError(f"structs are nested more than {MAX_DEPTH} deep")
        fields: Struct = {}
        number = 0
        while kind := self.byte():
            number = number + (kind >> 4) if kind >> 4 else self.signed()
            kind &= 15
            fields[number] = (kind, kind == TRUE if kind <= FALSE else self.value(kind, depth))
        return fields

    def value(self, kind: int, depth: int) -> Any:  # noqa: PLR0911
        if kind in (I16, I32, I64):
            return self.signed()
        if kind == BINARY:
            return self.take(self.unsigned())
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            return self.list(depth + 1)
        if kind in (TRUE, FALSE):
            return self.byte() == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in FIXED:
            return self.take(FIXED[kind])
        if kind == MAP:
            return self.map(depth + 1)
        raise ThriftError(f"unknown kind {kind}")

    def list(self, depth: int) -> List:
        if depth > MAX_DEPTH:
            raise ThriftError(f"lists are nested more than {MAX_DEPTH} deep")
        header = self.byte()
        size, kind = header >> 4, header & 15
        if size > SHORT_LIST:
            size = self.unsigned()
        if size > len(self.data) - self.at:
            raise MoreBytesError("the struct is truncated")
        return List(kind, [self.value(kind, depth) for _ in range(size)])

    def map(self, depth: int) -> bytes:
        """Returns the serialized bytes of a map. Parquet's metadata contains no maps."""
        start = self.at
        if size := self.unsigned():
            kinds = self.byte()
            for _ in range(size):
                self.value(kinds >> 4, depth)
                self.value(kinds & 15, depth)
        return self.data[start : self.at]


def _write_unsigned(out: bytearray, value: int) -> None:
    while value > LAST:
        out.append(value & LAST | LAST + 1)
        value >>= 7
    out.append(value)


def _write_signed(out: bytearray, value: int) -> None:
    _write_unsigned(out, value << 1 if value >= 0 else (~value << 1) | 1)


def _write_struct(out: bytearray, struct: Struct) -> None:
    last = 0
    for number in sorted(struct):
        kind, value = struct[number]
        if kind <= FALSE:
            kind = TRUE if value else FALSE
        if 0 < number - last <= SHORT_STEP:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            _write_signed(out, number)
        last = number
        if kind > FALSE:
            _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in (I16, I32, I64):
        _write_signed(out, value)
    elif kind == BINARY:
        _write_unsigned(out, len(value))
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind in (LIST, SET):
        if len(value.items) <= SHORT_LIST:
            out.append(len(value.items) << 4 | value.kind)
        else:
            out.append(0xF0 | value.kind)
            _write_unsigned(out, len(value.items))
        for item in value.items:
            _write_value(out, value.kind, item)
    elif kind in (TRUE, FALSE):
        out.append(TRUE if value else FALSE)
    elif kind == BYTE:
        out.append(value)
    else:
        out += value
