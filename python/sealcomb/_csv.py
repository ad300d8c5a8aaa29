"""Replaces cells of a CSV file, and preserves all other bytes, including quotes and line endings.

An unquoted empty cell is null. A quoted empty cell is an empty string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

BLOCK = 4 << 20
MAX_RECORD = 256 << 20
BOM = b"\xef\xbb\xbf"

CELL = rb'(?:"(?:[^"]++|"")*+"|[^,"\r\n][^,\r\n]*+|)'
HEADER_CELL = re.compile(b"(" + CELL + rb")(,|\r\n|\r|\n|\Z)")
BLANK = re.compile(rb"\r\n|\r|\n")
END = rb"(?:\r\n|\r|\n|\Z)"
MUST_QUOTE = re.compile(rb'[",\r\n]')


class CsvError(ValueError):
    """The file is not valid CSV. ``row`` counts from 0; -1 is the header."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


@dataclass(frozen=True)
class Header:
    """The header of a file: column names, which of them are quoted, its size in bytes, and if it is all."""

    names: list[str]
    quoted: list[bool]
    size: int
    is_all: bool


@dataclass(frozen=True)
class Block:
    """Complete records of a file: their text, and the spans of the selected columns' cells in it."""

    text: bytes
    first_row: int
    spans: list[list[tuple[int, int]]]
    end: int

    def cells(self, column: int) -> list[bytes | None]:
        """Returns the values of a selected column."""
        return [unquoted(self.text[start:end]) for start, end in self.spans[column]]

    def with_cells(self, columns: Sequence[list[bytes]]) -> bytes:
        """Returns the text with the cells of the first selected columns replaced verbatim."""
        places = sorted(
            (span, cell)
            for spans, cells in zip(self.spans, columns, strict=False)
            for span, cell in zip(spans, cells, strict=True)
        )
        parts: list[bytes] = []
        at = 0
        for (start, end), cell in places:
            parts += (self.text[at:start], cell)
            at = end
        return b"".join([*parts, self.text[at:]])


def unquoted(cell: bytes) -> bytes | None:
    """Returns the value of a cell, or `None` if it is null."""
    if cell[:1] == b'"':
        return cell[1:-1].replace(b'""', b'"')
    return cell or None


def written(value: bytes | None, *, quote: bool) -> bytes:
    """Returns the cell for a value, quoted if necessary or if `quote` is true."""
    if value is None:
        return b""
    if quote or not value or MUST_QUOTE.search(value):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


class Readable(Protocol):
    """A binary file, as far as the header requires."""

    def read(self, size: int, /) -> bytes: ...


def header(file: Readable) -> Header:
    """Reads the first record.

    Raises:
        CsvError: The first record is not valid CSV or is missing.
    """
    text = file.read(BLOCK)
    at = len(BOM) if text.startswith(BOM) else 0
    cells = []
    end = b","
    while end == b",":
        if not (found := HEADER_CELL.match(text, at)):
            raise CsvError(-1, "the header is not valid CSV")
        cell, end = found.groups()
        cells.append(cell)
        at = found.end()
    if len(cells) == 1 and not cells[0]:
        raise CsvError(-1, "the header is missing")
    return Header(
        names=[(unquoted(cell) or b"").decode() for cell in cells],
        quoted=[cell[:1] == b'"' for cell in cells],
        size=at,
        is_all=at == len(text),
    )


def blocks(file: BinaryIO, top: Header, wanted: Sequence[int]) -> Iterator[Block]:
    """Yields the records after the header, some megabytes at a time.

    Raises:
        CsvError: A record is not valid CSV, has another number of cells than the header, or exceeds 256 MiB.
    """
    order = sorted(set(wanted))
    pattern = b",".join(b"(" + CELL + b")" if at in order else CELL for at in range(len(top.names)))
    record = re.compile(pattern + END)
    groups = [order.index(at) + 1 for at in wanted]
    file.seek(top.size)
    text, row, last = b"", 0, False
    while not last:
        more = file.read(max(BLOCK, len(text)))
        last = not more
        text += more
        spans: list[list[tuple[int, int]]] = [[] for _ in wanted]
        at = first = 0
        while at < len(text):
            if len(top.names) > 1 and (blank := BLANK.match(text, at)):
                at = blank.end()
                continue
            found = record.match(text, at)
            # A record that ends with the text may continue in the file.
            if found is None or (found.end() == len(text) and not last):
                break
            for into, group in zip(spans, groups, strict=True):
                into.append(found.span(group))
            at = found.end()
            first += 1
        if at < len(text) and (last or len(text) - at > MAX_RECORD):
            raise CsvError(row + first, f"expected {len(top.names)} CSV cells")
        if at:
            yield Block(text[:at], row, spans, file.tell())
        row += first
        text = text[at:]
