"""Replaces columns of a Parquet file, and copies the pages of all other columns verbatim.

The footer is changed field by field, which preserves unknown types, encodings, statistics and metadata. The
size and checksum of each copied page are verified; pages without a checksum get one. Nothing else in other
columns is decoded.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from sealcomb._thrift import (
    BINARY,
    FALSE,
    I32,
    I64,
    LIST,
    MAX_DEPTH,
    List,
    MoreBytesError,
    Shape,
    Struct,
    ThriftError,
    get,
    parse,
    serialize,
)
from sealcomb._thrift import STRUCT as STRUCT_KIND

MAGIC, ENCRYPTED_MAGIC = b"PAR1", b"PARE"
MAX_FOOTER = 1 << 30
MAX_HEADER = 16 << 20
BLOCK = 4 << 20

# Field numbers in parquet.thrift.
FILE_SCHEMA, FILE_ROW_GROUPS, FILE_NOTES, FILE_ENCRYPTION = 2, 4, 5, 8
ELEMENT_TYPE, ELEMENT_LENGTH, ELEMENT_REPETITION, ELEMENT_NAME, ELEMENT_CHILDREN, ELEMENT_ID = (
    1,
    2,
    3,
    4,
    5,
    9,
)
ELEMENT_CONVERTED, ELEMENT_LOGICAL = 6, 10
GROUP_COLUMNS, GROUP_BYTES, GROUP_ROWS, GROUP_SORTING, GROUP_OFFSET, GROUP_COMPRESSED = 1, 2, 3, 4, 5, 6
CHUNK_PATH, CHUNK_OFFSET, CHUNK_META = 1, 2, 3
CHUNK_OFFSET_INDEX, CHUNK_COLUMN_INDEX, CHUNK_CRYPTO = 4, 6, 8
META_ENCODINGS, META_PATH, META_CODEC, META_VALUES, META_UNCOMPRESSED, META_COMPRESSED = 2, 3, 4, 5, 6, 7
META_NOTES, META_DATA_PAGE, META_INDEX_PAGE, META_DICTIONARY_PAGE = 8, 9, 10, 11
META_STATISTICS, META_BLOOM, META_BLOOM_LENGTH = 12, 14, 15
STATISTICS_NULLS = 3
OPTIONAL, REPEATED = 1, 2
INT32, INT64, INT96, BYTE_ARRAY, FIXED_BYTES = 1, 2, 3, 6, 7
PAGE_TYPE, PAGE_BYTES, PAGE_CRC = 1, 3, 4
# The field of a data page's type-specific header, which contains the number of values, by page type.
DATA_HEADERS = {0: 5, 3: 8}
UTF8, DECIMAL = 0, 5
LOGICAL_STRING, LOGICAL_DECIMAL = 1, 5
DICTIONARY_ENCODINGS = {2, 8}

# The fields of the footer that this module uses.
NOTE = Shape({1: BINARY, 2: BINARY})
ELEMENT = Shape(
    {
        **dict.fromkeys((ELEMENT_TYPE, ELEMENT_LENGTH, ELEMENT_REPETITION, ELEMENT_CHILDREN), I32),
        **dict.fromkeys((ELEMENT_CONVERTED, ELEMENT_ID), I32),
        ELEMENT_NAME: BINARY,
        ELEMENT_LOGICAL: Shape({}),
    },
    (ELEMENT_NAME,),
)
META_REQUIRED = (META_ENCODINGS, META_PATH, META_CODEC, META_VALUES, META_UNCOMPRESSED, META_COMPRESSED)
META = Shape(
    {
        **dict.fromkeys((META_VALUES, META_UNCOMPRESSED, META_COMPRESSED, META_BLOOM), I64),
        **dict.fromkeys((META_DATA_PAGE, META_INDEX_PAGE, META_DICTIONARY_PAGE), I64),
        **dict.fromkeys((META_CODEC, META_BLOOM_LENGTH), I32),
        META_ENCODINGS: [I32],
        META_PATH: [BINARY],
        META_NOTES: [NOTE],
        META_STATISTICS: Shape({STATISTICS_NULLS: I64}),
    },
    META_REQUIRED,
)
CHUNK = Shape(
    {
        **dict.fromkeys((CHUNK_OFFSET, CHUNK_OFFSET_INDEX, CHUNK_COLUMN_INDEX), I64),
        **dict.fromkeys((CHUNK_OFFSET_INDEX + 1, CHUNK_COLUMN_INDEX + 1), I32),
        CHUNK_META: META,
    },
    (CHUNK_META,),
)
GROUP = Shape(
    {
        **dict.fromkeys((GROUP_BYTES, GROUP_ROWS, GROUP_OFFSET, GROUP_COMPRESSED), I64),
        GROUP_COLUMNS: [CHUNK],
        GROUP_SORTING: [Shape({1: I32, 2: FALSE, 3: FALSE}, (1, 2, 3))],
    },
    (GROUP_COLUMNS, GROUP_ROWS),
)
FILE = Shape(
    {FILE_SCHEMA: [ELEMENT], FILE_ROW_GROUPS: [GROUP], FILE_NOTES: [NOTE]}, (FILE_SCHEMA, FILE_ROW_GROUPS)
)

# The fields of the structs outside the footer that this module uses.
DATA_HEADER = Shape({1: I32}, (1,))
PAGE = Shape(
    {
        **dict.fromkeys((PAGE_TYPE, PAGE_BYTES, PAGE_CRC), I32),
        **dict.fromkeys(DATA_HEADERS.values(), DATA_HEADER),
    },
    (PAGE_TYPE, PAGE_BYTES),
)
LOCATION_OFFSET, LOCATION_BYTES, LOCATION_ROW = 1, 2, 3
LOCATION = Shape(
    {LOCATION_OFFSET: I64, LOCATION_BYTES: I32, LOCATION_ROW: I64},
    (LOCATION_OFFSET, LOCATION_BYTES, LOCATION_ROW),
)
OFFSET_INDEX = Shape({1: [LOCATION]}, (1,))
BLOOM = Shape({1: I32}, (1,))

CODECS = {0: "NONE", 1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 5: "LZ4", 6: "ZSTD", 7: "LZ4"}


class ParquetError(ValueError):
    """The file is damaged, or cannot be changed."""


class PageError(Exception):
    """A page is damaged. It begins at ``row`` or, if the column is nested, before it."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


@dataclass(frozen=True)
class Leaf:
    """A leaf column. ``top`` is the table's column that contains it."""

    path: str
    top: str
    element: int
    plain: bool
    # The repetitions of the groups that contain it, except for those that are required.
    above: tuple[int, ...] = ()

    def is_below(self, column: str) -> bool:
        return self.top == column


@dataclass
class Replacement:
    """The new form of a column. ``arrays`` yields the values of a row group, all of ``field``'s type."""

    element: Struct
    field: pa.Field
    codec: str
    dictionary: bool
    statistics: bool
    options: dict[str, Any]
    arrays: Callable[[int], Iterator[pa.Array]]


@dataclass
class _Chunk:
    """A column chunk that is being written, piece by piece."""

    start: int
    meta: Struct = field(default_factory=dict)
    pieces: int = 0
    nulls: int = 0
    rows: int = 0
    locations: list[Struct] = field(default_factory=list)


class Footer:
    """The metadata of a Parquet file. Raises ``ParquetError`` if it is damaged or encrypted."""

    def __init__(self, file: BinaryIO) -> None:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        tail = file.read(8)
        if tail[4:] == ENCRYPTED_MAGIC:
            raise ParquetError("the file is encrypted")
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or length + 12 > size or length > MAX_FOOTER:
            raise ParquetError("the file has no valid footer")
        self.end = size - 8 - length
        file.seek(self.end)
        try:
            self.struct = parse(file.read(length))[0]
            FILE.check(self.struct)
            self.elements: list[Struct] = self.struct[FILE_SCHEMA][1].items
            self.groups: list[Struct] = self.struct[FILE_ROW_GROUPS][1].items
            self.leaves = list(self._leaves())
            self._check()
        except (ThriftError, KeyError, IndexError, TypeError, AttributeError, UnicodeDecodeError) as error:
            raise ParquetError(f"the footer is damaged: {error!r}") from None

    def _leaves(self) -> Iterator[Leaf]:
        at = 1

        def below(children: int, path: tuple[str, ...], above: tuple[int, ...]) -> Iterator[Leaf]:
            nonlocal at
            for _ in range(children):
                element, index = self.elements[at], at
                at += 1
                name = (*path, element[ELEMENT_NAME][1].decode())
                if len(name) > MAX_DEPTH:
                    raise ThriftError(f"columns are nested more than {MAX_DEPTH} deep")
                if inner := get(element, ELEMENT_CHILDREN, 0):
                    repetition = get(element, ELEMENT_REPETITION, 0)
                    yield from below(inner, name, (*above, repetition) if repetition else above)
                elif ELEMENT_TYPE in element:
                    plain = not path and get(element, ELEMENT_REPETITION) != REPEATED
                    yield Leaf(".".join(name), name[0], index, plain, above)

        yield from below(get(self.elements[0], ELEMENT_CHILDREN, 0), (), ())

    def _check(self) -> None:
        if FILE_ENCRYPTION in self.struct:
            raise ParquetError("the file is encrypted or signed")
        for group in self.groups:
            chunks = group[GROUP_COLUMNS][1].items
            if len(chunks) != len(self.leaves):
                raise ParquetError("the footer is damaged: a row group does not match the schema")
            for leaf, chunk in zip(self.leaves, chunks, strict=True):
                if CHUNK_CRYPTO in chunk:
                    raise ParquetError(f"column {leaf.path!r} is encrypted")
                if CHUNK_PATH in chunk:
                    raise ParquetError(f"column {leaf.path!r} is in another file")
                meta = chunk[CHUNK_META][1]
                start, end = extent(meta)
                if start != end and not len(MAGIC) <= start < end <= self.end:
                    raise ParquetError(f"the footer is damaged: column {leaf.path!r} is outside the file")

    def leaf(self, name: str) -> int | None:
        """Returns the index of the column with this name, or ``None`` if it is nested or repeated."""
        found = [at for at, leaf in enumerate(self.leaves) if leaf.top == name]
        return found[0] if len(found) == 1 and self.leaves[found[0]].plain else None

    def chunk(self, group: int, leaf: int) -> Struct:
        """Returns the metadata of a column in a row group."""
        meta: Struct = self.groups[group][GROUP_COLUMNS][1].items[leaf][CHUNK_META][1]
        return meta

    @property
    def notes(self) -> list[tuple[bytes, bytes]]:
        """The file's key-value metadata, in file order."""
        items = get(self.struct, FILE_NOTES, List(STRUCT_KIND, [])).items
        return [(get(item, 1, b""), get(item, 2, b"")) for item in items]

    def note(self, changed: dict[bytes, bytes]) -> None:
        """Sets the file's key-value metadata. Unchanged items keep their order and unknown fields."""
        items, rest = [], dict(changed)
        for item in get(self.struct, FILE_NOTES, List(STRUCT_KIND, [])).items:
            key = get(item, 1, b"")
            if key in changed:
                items.append(
                    item if get(item, 2, b"") == changed[key] else {**item, 2: (BINARY, changed[key])}
                )
                rest.pop(key, None)
        items += [{1: (BINARY, key), 2: (BINARY, value)} for key, value in rest.items()]
        self.struct.pop(FILE_NOTES, None)
        if items:
            self.struct[FILE_NOTES] = (LIST, List(STRUCT_KIND, items))


def extent(meta: Struct) -> tuple[int, int]:
    """Returns the start and end offsets of a chunk's pages."""
    numbers = (META_DATA_PAGE, META_DICTIONARY_PAGE, META_INDEX_PAGE)
    # An offset of 0 means that there is no such page, even for data pages.
    start = min([offset for number in numbers if (offset := get(meta, number, 0)) > 0], default=0)
    return start, start + meta[META_COMPRESSED][1]


def has_dictionary(meta: Struct) -> bool:
    """Returns whether a chunk is dictionary-encoded."""
    return bool(DICTIONARY_ENCODINGS.intersection(meta[META_ENCODINGS][1].items))


def page_values(header: Struct) -> int:
    """Returns the number of values in a page, 0 for a dictionary page."""
    number = DATA_HEADERS.get(header[PAGE_TYPE][1])
    if number is None:
        return 0
    if number not in header:
        raise ThriftError(f"field {number} is missing")
    values: int = header[number][1][1][1]
    return values


# ---- elements of the schema


def written(column: pa.Field, **options: Any) -> Footer:
    """Returns the footer of a file with a column, as pyarrow writes it.

    Raises:
        pyarrow.ArrowException: pyarrow cannot write the column to Parquet.
    """
    sink = pa.BufferOutputStream()
    parquet.ParquetWriter(sink, pa.schema([column]), **options).close()
    return Footer(pa.BufferReader(sink.getvalue()))


def element_of(column: pa.Field, **options: Any) -> Struct:
    """Returns pyarrow's Parquet schema element for a column.

    Raises:
        pyarrow.ArrowException: pyarrow cannot write the column to Parquet.
    """
    return written(column, **options).elements[1]


def parsed_element(data: bytes) -> Struct:
    """Parses the schema element of a leaf column.

    Raises:
        ThriftError: The bytes are not such an element.
    """
    element, _ = parse(data)
    ELEMENT.check(element)
    if ELEMENT_TYPE not in element or ELEMENT_CHILDREN in element:
        raise ThriftError("the element is a group of columns")
    return element


def options_for(element: Struct) -> dict[str, Any]:
    """Returns the options with which pyarrow writes values in the form of an element."""
    kind = get(element, ELEMENT_TYPE)
    if kind == INT96:
        return {"use_deprecated_int96_timestamps": True}
    return {"store_decimal_as_integer": True} if kind in (INT32, INT64) else {}


def form(element: Struct) -> tuple[Any, Any]:
    """Returns the physical type of an element, and its size in bytes if it is fixed."""
    kind = get(element, ELEMENT_TYPE)
    return kind, get(element, ELEMENT_LENGTH) if kind == FIXED_BYTES else None


def sealed_element(element: Struct) -> Struct:
    """Returns the schema element of a column after sealing: plain bytes."""
    fields = {
        number: element[number]
        for number in (ELEMENT_REPETITION, ELEMENT_NAME, ELEMENT_ID)
        if number in element
    }
    return {**fields, ELEMENT_TYPE: (I32, BYTE_ARRAY)}


def storage(element: Struct) -> pa.DataType:
    """Returns the Arrow type of an element's raw bytes.

    Raises:
        ParquetError: The values of the element are not bytes.
    """
    match get(element, ELEMENT_TYPE), get(element, ELEMENT_LENGTH):
        case int(kind), _ if kind == BYTE_ARRAY:
            return pa.binary()
        case int(kind), int(length) if kind == FIXED_BYTES and 0 < length < 1 << 31:
            return pa.binary(length)
    raise ParquetError("its values are not bytes")


def storage_or_none(element: Struct) -> pa.DataType | None:
    """Returns the Arrow type of an element's raw bytes, or ``None`` if its values are not bytes."""
    try:
        return storage(element)
    except ParquetError:
        return None


def is_text(element: Struct) -> bool:
    """Returns whether an element is annotated as text."""
    return get(element, ELEMENT_CONVERTED) == UTF8 or LOGICAL_STRING in get(element, ELEMENT_LOGICAL, {})


def in_order_of_bytes(element: Struct) -> bool:
    """Returns whether minimum and maximum are defined by the order of the bytes."""
    decimal = get(element, ELEMENT_CONVERTED) == DECIMAL or LOGICAL_DECIMAL in get(
        element, ELEMENT_LOGICAL, {}
    )
    return get(element, ELEMENT_TYPE) == BYTE_ARRAY and not decimal


# ---- copying and replacing


class Rewriter:
    """Writes a file with some columns replaced. ``footer`` becomes that of the output."""

    def __init__(
        self, file: BinaryIO, footer: Footer, replaced: dict[int, Replacement], out: BinaryIO
    ) -> None:
        self.file = file
        self.footer = footer
        self.replaced = replaced
        self.out = out
        self.at = 0

    def write(self, data: bytes) -> None:
        self.out.write(data)
        self.at += len(data)

    def run(self) -> Iterator[float]:
        """Writes the file, and yields the progress from 0 to 1."""
        for leaf, replacement in self.replaced.items():
            self.footer.elements[self.footer.leaves[leaf].element] = replacement.element
        self.write(MAGIC)
        indexes: list[tuple[Struct, int, bytes]] = []
        for number, group in enumerate(self.footer.groups):
            indexes += self.rewrite_group(number, group)
            yield (number + 1) / len(self.footer.groups)
        for chunk, key, data in indexes:
            chunk[key] = (I64, self.at)
            if key != META_BLOOM:
                chunk[key + 1] = (I32, len(data))
            self.write(data)
        data = serialize(self.footer.struct)
        self.write(data)
        self.write(len(data).to_bytes(4, "little"))
        self.write(MAGIC)

    def rewrite_group(self, number: int, group: Struct) -> list[tuple[Struct, int, bytes]]:
        """Writes a row group. Returns the indexes and filters, which follow all row groups."""
        chunks: list[Struct] = group[GROUP_COLUMNS][1].items
        sizes = [0, 0]
        trailers = []
        start = self.at
        for leaf, chunk in enumerate(chunks):
            before = chunk[CHUNK_META][1]
            if leaf in self.replaced:
                trailers += self.replace(number, leaf, chunk)
            else:
                trailers += self.copy(number, leaf, chunk)
            after = chunk[CHUNK_META][1]
            for which, key in enumerate((META_UNCOMPRESSED, META_COMPRESSED)):
                sizes[which] += get(after, key, 0) - get(before, key, 0)
        group[GROUP_BYTES] = (I64, get(group, GROUP_BYTES, 0) + sizes[0])
        if GROUP_COMPRESSED in group:
            group[GROUP_COMPRESSED] = (I64, group[GROUP_COMPRESSED][1] + sizes[1])
        if get(group, GROUP_OFFSET):
            group[GROUP_OFFSET] = (I64, start)
        return trailers

    def copy(self, group: int, leaf: int, chunk: Struct) -> list[tuple[Struct, int, bytes]]:
        """Copies a chunk, and returns its indexes and filters."""
        meta = dict(chunk[CHUNK_META][1])
        start = self.at
        try:
            moved = self.copy_pages(meta)
            trailers = self.indexes(chunk, meta, moved)
        except PageError as error:
            raise ParquetError(self.damage(group, leaf, error.row, error)) from None
        except ThriftError as error:
            raise ParquetError(self.damage(group, leaf, 0, error)) from None
        before, end = extent(meta)
        grown = self.at - start - (end - before)
        for number in (META_UNCOMPRESSED, META_COMPRESSED):
            meta[number] = (I64, meta[number][1] + grown)
        for number in (META_DATA_PAGE, META_INDEX_PAGE, META_DICTIONARY_PAGE):
            if get(meta, number, 0) > 0:
                meta[number] = (I64, moved.get(meta[number][1], (start, 0))[0])
        chunk[CHUNK_META] = (STRUCT_KIND, meta)
        if get(chunk, CHUNK_OFFSET):
            chunk[CHUNK_OFFSET] = (I64, chunk[CHUNK_OFFSET][1] + start - before)
        return [(meta if key == META_BLOOM else chunk, key, data) for key, data in trailers]

    def damage(self, group: int, leaf: int, row: int, error: Exception) -> str:
        name = self.footer.leaves[leaf].path
        return f"row group {group}, column {name!r}, row {row} or soon after cannot be read: {error}"

    def indexes(
        self, chunk: Struct, meta: Struct, moved: dict[int, tuple[int, int]]
    ) -> list[tuple[int, bytes]]:
        """Returns a chunk's page indexes, updated to the new offsets, and its Bloom filter."""
        found = []
        if get(chunk, CHUNK_COLUMN_INDEX):
            found.append((CHUNK_COLUMN_INDEX, self.index(chunk, CHUNK_COLUMN_INDEX)))
        if get(chunk, CHUNK_OFFSET_INDEX):
            index = parse(self.index(chunk, CHUNK_OFFSET_INDEX))[0]
            OFFSET_INDEX.check(index)
            for location in index[1][1].items:
                before = location[LOCATION_OFFSET][1]
                if before not in moved:
                    raise ThriftError(f"the offset index names a page at {before}, where no page begins")
                offset, grown = moved[before]
                location[LOCATION_OFFSET] = (I64, offset)
                location[LOCATION_BYTES] = (I32, location[LOCATION_BYTES][1] + grown)
            found.append((CHUNK_OFFSET_INDEX, serialize(index)))
        if get(meta, META_BLOOM):
            offset = meta[META_BLOOM][1]
            header, length = self.header(offset, self.footer.end, BLOOM)
            found.append((META_BLOOM, self.read(offset, length - offset + header[1][1])))
        return found

    def index(self, chunk: Struct, key: int) -> bytes:
        """Reads a page index, whose offset is the field ``key``, which is followed by that of its size."""
        if key + 1 not in chunk:
            raise ThriftError(f"field {key + 1} is missing")
        return self.read(chunk[key][1], chunk[key + 1][1])

    def read(self, offset: int, size: int) -> bytes:
        if offset < 0 or size < 0 or offset + size > self.footer.end:
            raise ThriftError("an offset is outside the file")
        self.file.seek(offset)
        return self.file.read(size)

    def header(self, offset: int, end: int, shape: Shape) -> tuple[Struct, int]:
        """Parses the struct at an offset, and returns it with the offset after it.

        Raises:
            ThriftError: There is no struct of this shape.
        """
        size = 256
        while True:
            size = min(size, end - offset)
            try:
                struct, length = parse(self.read(offset, size))
            except MoreBytesError:
                if size in (end - offset, MAX_HEADER):
                    raise
            else:
                shape.check(struct)
                return struct, offset + length
            size = min(size * 16, MAX_HEADER)

    def copy_pages(self, meta: Struct) -> dict[int, tuple[int, int]]:
        """Copies a chunk's pages with checksums. Returns each page's new offset and growth by old offset."""
        at, end = extent(meta)
        moved = {}
        values = 0
        while at < end:
            try:
                header, body = self.header(at, end, PAGE)
                size, count = header[PAGE_BYTES][1], page_values(header)
                if not 0 <= size <= end - body or count < 0:
                    raise ThriftError("a page exceeds its column chunk")
            except ThriftError as error:
                raise PageError(values, f"invalid page header: {error}") from None
            crc = 0
            for block in self.blocks(body, size):
                crc = zlib.crc32(block, crc)
            if PAGE_CRC not in header:
                header[PAGE_CRC] = (I32, crc - (crc >> 31 << 32))
            elif header[PAGE_CRC][1] & 0xFFFFFFFF != crc:
                raise PageError(values, "a page checksum is wrong")
            written = serialize(header)
            moved[at] = self.at, len(written) - (body - at)
            self.write(written)
            for block in self.blocks(body, size):
                self.write(block)
            values += count
            at = body + size
        if values != meta[META_VALUES][1]:
            raise PageError(values, f"found {values} values; expected {meta[META_VALUES][1]}")
        return moved

    def blocks(self, start: int, size: int) -> Iterator[bytes]:
        for at in range(start, start + size, BLOCK):
            yield self.read(at, min(BLOCK, start + size - at))

    def replace(self, group: int, leaf: int, chunk: Struct) -> list[tuple[Struct, int, bytes]]:
        """Writes new values for a chunk. Returns its offset index if it had one."""
        replacement = self.replaced[leaf]
        before = chunk[CHUNK_META][1]
        new = _Chunk(self.at)
        for array in replacement.arrays(group):
            if len(array):
                self.add_piece(new, array, replacement)
        if new.rows != self.footer.groups[group][GROUP_ROWS][1]:
            raise ParquetError(self.damage(group, leaf, new.rows, ParquetError("rows are missing")))
        meta = new.meta or {
            **before,
            META_VALUES: (I64, 0),
            META_UNCOMPRESSED: (I64, 0),
            META_COMPRESSED: (I64, 0),
        }
        if not new.meta:
            meta[1] = replacement.element[ELEMENT_TYPE]
            meta[META_DATA_PAGE] = (I64, self.at)
            meta.pop(META_DICTIONARY_PAGE, None)
        if new.pieces > 1 or not replacement.statistics:
            meta[META_STATISTICS] = (STRUCT_KIND, {STATISTICS_NULLS: (I64, new.nulls)})
            # Page encoding statistics and size statistics describe only the first piece.
            meta.pop(13, None)
            meta.pop(16, None)
        for number in (META_INDEX_PAGE, META_BLOOM, META_BLOOM_LENGTH, 17):
            meta.pop(number, None)
        meta[META_PATH] = before[META_PATH]
        if META_NOTES in before:
            meta[META_NOTES] = before[META_NOTES]
        had_index = get(chunk, CHUNK_OFFSET_INDEX)
        for number in (CHUNK_OFFSET_INDEX, CHUNK_COLUMN_INDEX):
            chunk.pop(number, None)
            chunk.pop(number + 1, None)
        chunk[CHUNK_META] = (STRUCT_KIND, meta)
        if get(chunk, CHUNK_OFFSET):
            chunk[CHUNK_OFFSET] = (I64, meta[META_DATA_PAGE][1])
        if not had_index:
            return []
        index = serialize({1: (LIST, List(STRUCT_KIND, new.locations))})
        return [(chunk, CHUNK_OFFSET_INDEX, index)]

    def add_piece(self, new: _Chunk, array: pa.Array, replacement: Replacement) -> None:
        """Encodes some rows with pyarrow, and appends their pages to the chunk."""
        sink = pa.BufferOutputStream()
        with parquet.ParquetWriter(
            sink,
            pa.schema([replacement.field]),
            compression=replacement.codec,
            use_dictionary=replacement.dictionary and not new.pieces,
            write_page_checksum=True,
            write_page_index=True,
            store_schema=False,
            **replacement.options,
        ) as writer:
            writer.write_table(pa.table([array], pa.schema([replacement.field])), row_group_size=len(array))
        file = pa.BufferReader(sink.getvalue())
        footer = Footer(file)
        (group,) = footer.groups
        (chunk,) = group[GROUP_COLUMNS][1].items
        meta = chunk[CHUNK_META][1]
        start, end = extent(meta)
        shift = self.at - start
        file.seek(start)
        self.write(file.read(end - start))
        file.seek(chunk[CHUNK_OFFSET_INDEX][1])
        index = parse(file.read(chunk[CHUNK_OFFSET_INDEX + 1][1]))[0]
        for location in index[1][1].items:
            location[LOCATION_OFFSET] = (I64, location[LOCATION_OFFSET][1] + shift)
            location[LOCATION_ROW] = (I64, location[LOCATION_ROW][1] + new.rows)
            new.locations.append(location)
        if new.pieces:
            total = new.meta
            for number in (META_VALUES, META_UNCOMPRESSED, META_COMPRESSED):
                total[number] = (I64, total[number][1] + meta[number][1])
            encodings = total[META_ENCODINGS][1].items
            encodings += [encoding for encoding in meta[META_ENCODINGS][1].items if encoding not in encodings]
        else:
            for number in (META_DATA_PAGE, META_DICTIONARY_PAGE):
                if number in meta:
                    meta[number] = (I64, meta[number][1] + shift)
            new.meta = meta
        new.pieces += 1
        new.rows += len(array)
        new.nulls += get(get(meta, META_STATISTICS, {}), STATISTICS_NULLS, 0)


def sorting(footer: Footer) -> list[list[list[Any]] | None]:
    """Returns the declared sort order of each row group: lists of leaf, descending, nulls first."""
    return [
        [[get(entry, number) for number in (1, 2, 3)] for entry in group[GROUP_SORTING][1].items]
        if GROUP_SORTING in group
        else None
        for group in footer.groups
    ]


def sort_by(footer: Footer, orders: list[list[list[Any]] | None], unless: set[int]) -> None:
    """Declares the sort order of the row groups, up to the first column in ``unless``.

    Raises:
        ValueError, TypeError, LookupError: These are not orders of this file, which is unchanged.
    """
    sorted_by: list[list[Struct]] = []
    for order in orders:
        sorted_by.append([])
        for column in order or []:
            if column[0] in unless:
                break
            sorted_by[-1].append(sorting_column(footer, *column))
    if len(sorted_by) != len(footer.groups):
        raise ValueError(f"orders of {len(sorted_by)} row groups; the file has {len(footer.groups)}")
    for group, columns in zip(footer.groups, sorted_by, strict=True):
        group.pop(GROUP_SORTING, None)
        if columns:
            group[GROUP_SORTING] = (LIST, List(STRUCT_KIND, columns))


def sorting_column(footer: Footer, leaf: int, descending: bool, nulls_first: bool) -> Struct:
    if leaf not in range(len(footer.leaves)):
        raise ValueError(f"there is no column {leaf!r}")
    return {1: (I32, int(leaf)), 2: (1, bool(descending)), 3: (1, bool(nulls_first))}
