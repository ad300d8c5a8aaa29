"""What a file says of a column beside its values: in its Arrow field, and in the notes of pandas, Spark, ...

A sealed column is bytes. Each note that calls it something else is corrected, and what it was is remembered
in the column's own metadata, so that the opened column is described as before.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

# The key of what is remembered of a sealed column: in its field's metadata, or by its name in the file's.
MEMORY_KEY = b"sealcomb:column"
# Spark's metadata of a column that `sealcomb.spark` opens as a string.
STRING_MARK = "sealcomb.string"

SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
# Notes in a field's metadata that say how to read its type.
TYPE_NOTES = (b"ARROW:extension:", b"_PL_")

Memory = dict[str, Any]
Metadata = dict[bytes, bytes]


# ---- the notes of others, all in JSON


def _named(entries: Any, name: str, *keys: str) -> Iterator[tuple[Any, Any]]:
    for at, entry in enumerate(entries):
        if next((entry[key] for key in keys if entry.get(key) is not None), None) == name:
            yield entries, at


def _pandas(note: Any, name: str) -> Iterator[tuple[Any, Any]]:
    return _named(note["columns"], name, "field_name", "name")


def _fields(note: Any, name: str) -> Iterator[tuple[Any, Any]]:
    return _named(note["fields"], name, "name")


def _features(note: Any, name: str) -> Iterator[tuple[Any, Any]]:
    features = note["info"]["features"]
    if name in features:
        yield features, name


def _pandas_bytes(entry: Any) -> Any:
    return {**entry, "pandas_type": "bytes", "numpy_type": "object", "metadata": None}


def _spark_binary(entry: Any) -> Any:
    # Spark notes char, varchar and collations in metadata of their own.
    metadata = {key: value for key, value in entry.get("metadata", {}).items() if not key.startswith("__")}
    if str(entry["type"]).startswith(("string", "char", "varchar")):
        metadata[STRING_MARK] = True
    return {**entry, "type": "binary", "metadata": metadata}


def _avro_bytes(entry: Any) -> Any:
    optional = isinstance(entry["type"], list) and "null" in entry["type"]
    changed = {**entry, "type": ["null", "bytes"] if optional else "bytes"}
    if changed.get("default") is not None:
        del changed["default"]
    return changed


def _iceberg_binary(entry: Any) -> Any:
    return {**entry, "type": "binary"}


def _feature_binary(_entry: Any) -> Any:
    return {"dtype": "binary", "_type": "Value"}


# By the key in the file's metadata: where the note speaks of a column, and what it must say of a sealed one.
NOTES: dict[bytes, tuple[Callable[[Any, str], Iterator[tuple[Any, Any]]], Callable[[Any], Any]]] = {
    b"pandas": (_pandas, _pandas_bytes),
    SPARK_KEY: (_fields, _spark_binary),
    b"org.apache.spark.sql.parquet.row.attributes": (_fields, _spark_binary),
    b"parquet.avro.schema": (_fields, _avro_bytes),
    b"avro.schema": (_fields, _avro_bytes),
    b"iceberg.schema": (_fields, _iceberg_binary),
    b"huggingface": (_features, _feature_binary),
}
GEO_KEY = b"geo"

NOT_UNDERSTOOD = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


def _dump(note: Any, like: bytes) -> bytes:
    """JSON in the style of a text that was read."""
    before = json.loads(like)
    for separators in ((", ", ": "), (",", ":")):
        for ascii_only in (True, False):
            if json.dumps(before, separators=separators, ensure_ascii=ascii_only).encode() == like:
                return json.dumps(note, separators=separators, ensure_ascii=ascii_only).encode()
    return json.dumps(note, separators=(",", ":"), ensure_ascii=False).encode()


def _change(metadata: Metadata, key: bytes, name: str, change: Callable[[Any], Any]) -> list[Any]:
    """Changes the entries of a column in one note, and returns what they were."""
    find = NOTES[key][0]
    before = []
    try:
        note = json.loads(metadata[key])
        for container, at in list(find(note, name)):
            entry = container[at]
            container[at] = change(entry)
            before.append(entry)
        if before:
            metadata[key] = _dump(note, metadata[key])
    except NOT_UNDERSTOOD:
        return []
    return before


def describe_sealed(metadata: Metadata, name: str) -> tuple[Metadata, dict[str, Any]]:
    """A file's metadata with one more column sealed, and what its notes said of that before."""
    metadata = dict(metadata)
    before = {}
    for key in NOTES.keys() & metadata.keys():
        if entries := _change(metadata, key, name, NOTES[key][1]):
            before[key.decode()] = entries[0]
    if (geo := _without_geo(metadata, name)) is not None:
        before[GEO_KEY.decode()] = geo
    return metadata, before


def describe_opened(metadata: Metadata, name: str, before: dict[str, Any]) -> Metadata:
    """A file's metadata with one column opened again."""
    metadata = dict(metadata)
    for key in NOTES.keys() & metadata.keys():
        if key.decode() in before:
            _change(metadata, key, name, partial(_instead, before[key.decode()]))
        elif key == SPARK_KEY:
            _change(metadata, key, name, _spark_unmarked)
    if geo := before.get(GEO_KEY.decode()):
        _with_geo(metadata, name, geo)
    return metadata


def _instead(entry: Any, _now: Any) -> Any:
    return entry


def _spark_unmarked(entry: Any) -> Any:
    if STRING_MARK not in entry.get("metadata", {}):
        return entry
    metadata = {key: value for key, value in entry["metadata"].items() if key != STRING_MARK}
    return {**entry, "type": "string", "metadata": metadata}


def marked_as_string(metadata: Metadata, name: str) -> bool:
    """Whether Spark notes that a column was a string before `sealcomb.spark` sealed it."""
    try:
        fields = json.loads(metadata[SPARK_KEY])["fields"]
        return any(field["name"] == name and STRING_MARK in field["metadata"] for field in fields)
    except NOT_UNDERSTOOD:
        return False


def _without_geo(metadata: Metadata, name: str) -> Any:
    """Takes a column out of GeoParquet's note; without its primary column there is none."""
    try:
        note = json.loads(metadata[GEO_KEY])
        entry = note["columns"].pop(name)
        if note["primary_column"] == name:
            return {"note": metadata.pop(GEO_KEY).decode()}
    except NOT_UNDERSTOOD:
        return None
    metadata[GEO_KEY] = _dump(note, metadata[GEO_KEY])
    return {"entry": entry}


def _with_geo(metadata: Metadata, name: str, before: Any) -> None:
    try:
        if "note" in before:
            metadata.setdefault(GEO_KEY, before["note"].encode())
        elif GEO_KEY in metadata:
            note = json.loads(metadata[GEO_KEY])
            note["columns"][name] = before["entry"]
            metadata[GEO_KEY] = _dump(note, metadata[GEO_KEY])
    except NOT_UNDERSTOOD:
        return


# ---- Arrow's own description, and what is remembered


def sealed_field(field: pa.Field, kind: pa.DataType, memory: Memory) -> pa.Field:
    """The field of a sealed column, whose metadata has the memory."""
    kept = {key: value for key, value in (field.metadata or {}).items() if not key.startswith(TYPE_NOTES)}
    return pa.field(field.name, kind, field.nullable, {**kept, MEMORY_KEY: json.dumps(memory).encode()})


def packed_field(field: pa.Field) -> str:
    """A field as text, with its type, whatever that is."""
    return b64encode(pa.schema([field]).serialize()).decode()


def unpacked_field(text: str) -> pa.Field:
    """Raises ``ValueError`` for what is no packed field."""
    return pa.ipc.read_schema(pa.py_buffer(b64decode(text, validate=True))).field(0)


def memories(metadata: Metadata) -> dict[str, Memory]:
    """What a file's metadata remembers, by column."""
    try:
        found = json.loads(metadata[MEMORY_KEY])
    except NOT_UNDERSTOOD:
        return {}
    items = found.items() if isinstance(found, dict) else ()
    return {name: memory for name, memory in items if isinstance(memory, dict)}


def remembered(schema: pa.Schema, name: str) -> Memory | None:
    """What is remembered of a sealed column, or nothing."""
    field = schema.field(name)
    try:
        memory = json.loads((field.metadata or {})[MEMORY_KEY])
    except NOT_UNDERSTOOD:
        memory = memories(schema.metadata or {}).get(name)
    if isinstance(memory, dict):
        # Anybody may have written it.
        notes = memory.get("notes")
        return {**memory, "notes": notes if isinstance(notes, dict) else {}}
    if marked_as_string(schema.metadata or {}, name):
        return {"arrow": packed_field(pa.field(name, pa.string(), field.nullable))}
    return None
