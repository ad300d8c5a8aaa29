"""Finds the compression codec of an Arrow file or stream, which pyarrow does not expose."""

from __future__ import annotations

import struct

import pyarrow as pa  # type: ignore[import-untyped]

CODECS = {0: "lz4", 1: "zstd"}
# Field numbers in Message.fbs.
MESSAGE_HEADER, RECORD_BATCH_COMPRESSION, COMPRESSION_CODEC = 2, 3, 0


def codec(messages: pa.NativeFile) -> str | None:
    """Returns the codec of the first record batch, or ``None``. ``messages`` begins with a message."""
    try:
        while True:
            message = pa.ipc.read_message(messages)
            if message.type == "record batch":
                return _codec(bytes(message.metadata))
    except (EOFError, pa.ArrowException, struct.error, OSError):
        return None


def _codec(metadata: bytes) -> str | None:
    (root,) = struct.unpack_from("<I", metadata)
    batch = _table(metadata, root, MESSAGE_HEADER)
    compression = batch and _table(metadata, batch, RECORD_BATCH_COMPRESSION)
    if not compression:
        return None
    at = _field(metadata, compression, COMPRESSION_CODEC)
    return CODECS.get(metadata[at] if at else 0)


def _field(data: bytes, table: int, number: int) -> int:
    """Returns the offset of a field in a flatbuffer table, or 0 if the field has its default value."""
    (back,) = struct.unpack_from("<i", data, table)
    (size,) = struct.unpack_from("<H", data, table - back)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, table - back + 4 + 2 * number)
    return table + offset if offset else 0


def _table(data: bytes, table: int, number: int) -> int:
    """Returns the offset of the table that a field refers to, or 0 if there is none."""
    at = _field(data, table, number)
    return at + int(struct.unpack_from("<I", data, at)[0]) if at else 0
