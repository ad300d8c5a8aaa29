"""Thrift's compact protocol, read and written without a definition of the structs, so that no field is lost.

A struct is a dictionary from a field's number to its kind and value. The value of a list is a ``List``; that
of a struct is a dictionary again; integers, booleans and bytes are Python's; all other kinds stay bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
FIXED = {DOUBLE: 8, UUID: 16}
DEEPEST = 64
# Integers come in groups of seven bits, and bytes above LAST say that one more follows.
LAST, BITS = 0x7F, 63
# A list of more items than this, and a field further away, says so in more than four bits.
SHORT_LIST, SHORT_STEP = 14, 15

Struct = dict[int, tuple[int, Any]]


class ThriftError(ValueError):
    """The bytes are no struct."""


class MoreBytesError(ThriftError):
    """The struct goes on behind the last byte."""


@dataclass
class List:
    """A list or set of values of one kind."""

    kind: int
    items: list[Any]


@dataclass(frozen=True)
class Shape:
    """What a struct must be: the kinds of the fields that are read, and the numbers of those it must have.

    A kind is a number, a ``Shape`` for a struct, or a list with the kind of its items. ``FALSE`` stands for
    both booleans. Fields that are not listed may be anything.
    """

    fields: dict[int, Any]
    required: tuple[int, ...] = ()

    def check(self, struct: Struct) -> None:
        """Raises ``ThriftError`` if a struct is not so."""
        for number in self.required:
            if number not in struct:
                raise ThriftError(f"field {number} is missing")
        for number, wanted in self.fields.items():
            if number in struct:
                _check(*struct[number], wanted)


def _check(kind: int, value: Any, wanted: Any) -> None:
    if isinstance(wanted, Shape):
        if kind != STRUCT:
            raise ThriftError("a field is no struct")
        wanted.check(value)
    elif isinstance(wanted, list):
        if kind != LIST:
            raise ThriftError("a field is no list")
        for item in value.items:
            _check(value.kind, item, wanted[0])
    elif (FALSE if kind == TRUE else kind) != wanted:
        raise ThriftError(f"a field is of the kind {kind}, not {wanted}")


def get(struct: Struct, number: int, default: Any = None) -> Any:
    """The value of a field, or the default if it is not set."""
    return struct[number][1] if number in struct else default


def parse(data: bytes | memoryview, at: int = 0) -> tuple[Struct, int]:
    """The struct that begins at an offset, and the offset behind it. Raises ``ThriftError``."""
    reader = _Reader(bytes(data), at)
    return reader.struct(0), reader.at


def serialize(struct: Struct) -> bytes:
    """The bytes of a struct."""
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
            raise MoreBytesError("it is cut short")
        self.at = at + 1
        return self.data[at]

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise MoreBytesError("it is cut short")
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
        if depth > DEEPEST:
            raise ThriftError("structs are nested too deep")
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
        raise ThriftError(f"there is no kind {kind}")

    def list(self, depth: int) -> List:
        if depth > DEEPEST:
            raise ThriftError("lists are nested too deep")
        header = self.byte()
        size, kind = header >> 4, header & 15
        if size > SHORT_LIST:
            size = self.unsigned()
        if size > len(self.data) - self.at:
            raise MoreBytesError("it is cut short")
        return List(kind, [self.value(kind, depth) for _ in range(size)])

    def map(self, depth: int) -> bytes:
        """The bytes of a map, none of which are in Parquet's structs."""
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
