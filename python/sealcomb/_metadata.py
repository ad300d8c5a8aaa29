"""The metadata that describes a column: its Arrow field, and the notes of pandas, Spark and other tools.

A note is a JSON description of the columns that a tool stores in the file's metadata. A sealed column is
bytes, so its entries in all notes are changed accordingly. The column's own metadata stores its origin: the
original type and entries, which are restored when the column is opened.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from arro3.core import Field

from sealcomb._nested import leaf_at

# The key of an origin in the field's metadata, and of a map from columns to origins in the file's metadata.
ORIGIN_KEY = b"sealcomb:column"
# The type of a sealed leaf and the version of its encoding, in the field's metadata: docs/columns-format.md.
TYPE_KEY, VERSION_KEY, VERSION = b"sealcomb.type", b"sealcomb.version", b"1"
# Prefixes of the keys that describe an extension type, and of those that preserve it while a leaf is sealed.
ARROW_EXTENSION, EXTENSION_KEYS = b"ARROW:extension:", b"sealcomb.extension."

SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
# By the names of types in the metadata of sealed columns: those in Spark's notes.
SPARK_TYPES = {
    "bool": "boolean",
    "int8": "byte",
    "int16": "short",
    "int32": "integer",
    "int64": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date32[day]": "date",
    "timestamp[us, tz=UTC]": "timestamp",
    "timestamp[us]": "timestamp_ntz",
}
# Prefixes of keys in a field's metadata that describe its type.
TYPE_NOTES = (ARROW_EXTENSION, b"_PL_")

Origin = dict[str, Any]
Metadata = dict[bytes, bytes]


# ---- notes of other tools


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
    # Keys with two underscores are Spark's, for char, varchar and collations.
    metadata = {key: value for key, value in entry.get("metadata", {}).items() if not key.startswith("__")}
    if str(entry["type"]).startswith(("string", "char", "varchar")):
        metadata |= {TYPE_KEY.decode(): "string", VERSION_KEY.decode(): VERSION.decode()}
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


# By key in the file's metadata: how to find a column's entries in a note, and how to change them on sealing.
NOTES: dict[bytes, tuple[Callable[[Any, str], Iterator[tuple[Any, Any]]], Callable[[Any], Any]]] = {
    b"pandas": (_pandas, _pandas_bytes),
    SPARK_KEY: (_fields, _spark_binary),
    b"org.apache.spark.sql.parquet.row.attributes": (_fields, _spark_binary),
    b"parquet.avro.schema": (_fields, _avro_bytes),
    b"avro.schema": (_fields, _avro_bytes),
    b"iceberg.schema": (_fields, _iceberg_binary),
    b"huggingface": (_features, _feature_binary),
}
SPARK_KEYS = {SPARK_KEY, b"org.apache.spark.sql.parquet.row.attributes"}
GEO_KEY = b"geo"

DAMAGED_TYPE = "the original type in its metadata is damaged"
UNPARSABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, StopIteration)


def _dump(note: Any, like: bytes) -> bytes:
    """Serializes a note in the JSON style of ``like``."""
    before = json.loads(like)
    for separators in ((", ", ": "), (",", ":")):
        for ascii_only in (True, False):
            if json.dumps(before, separators=separators, ensure_ascii=ascii_only).encode() == like:
                return json.dumps(note, separators=separators, ensure_ascii=ascii_only).encode()
    return json.dumps(note, separators=(",", ":"), ensure_ascii=False).encode()


def _change(metadata: Metadata, key: bytes, name: str, change: Callable[[Any], Any]) -> list[Any]:
    """Changes the entries of a column in one note, and returns the original entries."""
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
    except UNPARSABLE:
        return []
    return before


def describe_sealed(
    metadata: Metadata, name: str, path: tuple[str, ...] = ()
) -> tuple[Metadata, dict[str, Any]]:
    """Returns a file's metadata after sealing a leaf of a column, and the original entries of its notes.

    Raises:
        ValueError: A note describes a nested column in a way that cannot be changed.
    """
    metadata = dict(metadata)
    if path:
        return metadata, _describe_sealed_leaf(metadata, name, path)
    before = {}
    for key in NOTES.keys() & metadata.keys():
        if entries := _change(metadata, key, name, NOTES[key][1]):
            before[key.decode()] = entries[0]
    if (geo := _without_geo(metadata, name)) is not None:
        before[GEO_KEY.decode()] = geo
    return metadata, before


def describe_opened(
    metadata: Metadata, name: str, before: dict[str, Any], path: tuple[str, ...] = ()
) -> Metadata:
    """Returns a file's metadata after opening a leaf of a column, with the original entries restored."""
    metadata = dict(metadata)
    if path:
        for key in SPARK_KEYS & metadata.keys():
            if key.decode() in before:
                _change_leaf(metadata, key, name, path, before[key.decode()])
        return metadata
    for key in NOTES.keys() & metadata.keys():
        if key.decode() in before:
            _change(metadata, key, name, partial(_restored, before[key.decode()]))
        elif key == SPARK_KEY:
            _change(metadata, key, name, _spark_unmarked)
    if geo := before.get(GEO_KEY.decode()):
        _with_geo(metadata, name, geo)
    return metadata


def _describe_sealed_leaf(metadata: Metadata, name: str, path: tuple[str, ...]) -> dict[str, Any]:
    before = {}
    for key in NOTES.keys() & metadata.keys() - {b"pandas"}:
        if key in SPARK_KEYS:
            if (was := _change_leaf(metadata, key, name, path, "binary")) is not None:
                before[key.decode()] = was
        elif _change(dict(metadata), key, name, lambda entry: entry):
            raise ValueError(
                f"the file's metadata {key.decode()!r} describes its fields; seal the whole table there"
            )
    return before


def _change_leaf(metadata: Metadata, key: bytes, name: str, path: tuple[str, ...], kind: Any) -> Any:
    """Sets the type of a leaf in Spark's note. Returns the former one, or ``None`` without such a leaf."""
    try:
        note = json.loads(metadata[key])
        ((entries, at),) = _fields(note, name)
        container, slot = entries[at], "type"
        for step in path:
            container, slot = _spark_slot(container[slot], step)
        before, container[slot] = container[slot], kind
        metadata[key] = _dump(note, metadata[key])
    except UNPARSABLE:
        return None
    return before


def _spark_slot(kind: Any, step: str) -> tuple[Any, str]:
    """Returns where Spark's description of a nested type has the type of a field, element, key or value."""
    match kind["type"]:
        case "struct":
            return next(field for field in kind["fields"] if field["name"] == step), "type"
        case "array":
            return kind, "elementType"
        case _:
            return kind, f"{step}Type"


def _restored(entry: Any, _current: Any) -> Any:
    return entry


def _spark_unmarked(entry: Any) -> Any:
    kind = _spark_type(entry)
    if kind is None:
        return entry
    ours = (TYPE_KEY.decode(), VERSION_KEY.decode())
    metadata = {key: value for key, value in entry["metadata"].items() if key not in ours}
    return {**entry, "type": kind, "metadata": metadata}


def _spark_type(entry: Any) -> str | None:
    """Returns Spark's name of the type that a sealed column had, or ``None`` if it is unknown."""
    name = entry.get("metadata", {}).get(TYPE_KEY.decode())
    if decimal := re.fullmatch(r"decimal128\((\d+), (\d+)\)", str(name)):
        return f"decimal({decimal[1]},{decimal[2]})"
    return SPARK_TYPES.get(name)


def with_spark_types(schema: pa.Schema) -> pa.Schema:
    """Returns a schema in which columns that Spark sealed have the metadata in its note."""
    try:
        fields = json.loads(schema.metadata[SPARK_KEY])["fields"]
        entries = {field["name"]: field for field in fields if _spark_type(field) is not None}
    except UNPARSABLE:
        return schema
    for at, field in enumerate(schema):
        about = entries.get(field.name, {}).get("metadata", {})
        ours = {key: str(about[key.decode()]) for key in (TYPE_KEY, VERSION_KEY) if key.decode() in about}
        if ours and field.type == pa.binary() and TYPE_KEY not in (field.metadata or {}):
            schema = schema.set(at, field.with_metadata({**(field.metadata or {}), **ours}))
    return schema


def _without_geo(metadata: Metadata, name: str) -> Any:
    """Removes a column from GeoParquet's note, or the whole note if it is the primary column."""
    try:
        note = json.loads(metadata[GEO_KEY])
        entry = note["columns"].pop(name)
        if note["primary_column"] == name:
            return {"note": metadata.pop(GEO_KEY).decode()}
    except UNPARSABLE:
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
    except UNPARSABLE:
        return


# ---- Arrow fields and origins


def sealed_field(field: pa.Field, kind: pa.DataType, origin: Origin | None) -> pa.Field:
    """Returns the field of a sealed leaf. Its metadata has the type, and the origin unless it is ``None``."""
    metadata = {key: value for key, value in (field.metadata or {}).items() if not key.startswith(TYPE_NOTES)}
    before = field.type
    while isinstance(before, pa.BaseExtensionType):
        before = before.storage_type
    # Unlike pyarrow's, this metadata includes that of extension types which pyarrow knows.
    described = _renamed(dict(Field.from_arrow(field).metadata), ARROW_EXTENSION, EXTENSION_KEYS)
    metadata |= {**described, TYPE_KEY: str(before).encode(), VERSION_KEY: VERSION}
    if origin is not None:
        metadata[ORIGIN_KEY] = json.dumps(origin).encode()
    return pa.field(field.name, kind, field.nullable, metadata)


def _renamed(metadata: Metadata, before: bytes, after: bytes) -> Metadata:
    """Returns the entries with a prefix, with another prefix."""
    return {
        after + key.removeprefix(before): value for key, value in metadata.items() if key.startswith(before)
    }


def extended_field(field: pa.Field, sealed: pa.Field) -> pa.Field:
    """Returns an opened field with the extension type in the metadata of the sealed field, if it has one.

    Raises:
        ValueError: The extension type is invalid.
    """
    described = _renamed(sealed.metadata or {}, EXTENSION_KEYS, ARROW_EXTENSION)
    if not described:
        return field
    # pyarrow makes the types that it knows when it reads a schema.
    return unpacked_field(packed_field(field.with_metadata({**(field.metadata or {}), **described})))


def named_type(field: pa.Field) -> str | None:
    """Returns the name of the type of a sealed field's values, or ``None`` if its metadata has none.

    Raises:
        ValueError: A later release has sealed it.
    """
    metadata = field.metadata or {}
    if TYPE_KEY not in metadata:
        return None
    version = metadata.get(VERSION_KEY, b"")
    if version != VERSION:
        raise ValueError(
            f"it was sealed with version {version.decode(errors='replace')!r} of the encoding; this release "
            f"opens version {VERSION.decode()}: update it, or use --as-type"
        )
    return str(metadata[TYPE_KEY].decode(errors="replace"))


def unsealed_metadata(field: pa.Field) -> Metadata:
    """Returns the metadata of a sealed field without the entries that sealing added."""
    ours = (TYPE_KEY, VERSION_KEY, ORIGIN_KEY, EXTENSION_KEYS)
    return {key: value for key, value in (field.metadata or {}).items() if not key.startswith(ours)}


def packed_field(field: pa.Field) -> str:
    """Serializes a field, with its type, as base64 text."""
    return b64encode(pa.schema([field]).serialize()).decode()


def unpacked_field(text: str) -> pa.Field:
    """Parses a field serialized by ``packed_field``.

    Raises:
        ValueError: The text is invalid.
    """
    fields = list(unpacked_schema(text))
    if len(fields) != 1:
        raise ValueError(DAMAGED_TYPE)
    return fields[0]


def unpacked_schema(text: str | bytes) -> pa.Schema:
    """Parses a schema that is serialized in Arrow's format and then encoded in base64.

    Raises:
        ValueError: The text is invalid.
    """
    try:
        return pa.ipc.read_schema(pa.py_buffer(b64decode(text, validate=True)))
    except (pa.ArrowException, OSError, MemoryError, TypeError, ValueError):
        raise ValueError(DAMAGED_TYPE) from None


def origins(metadata: Metadata) -> dict[str, Origin]:
    """Returns the origins of columns, by name, in a file's metadata."""
    try:
        found = json.loads(metadata[ORIGIN_KEY])
    except UNPARSABLE:
        return {}
    items = found.items() if isinstance(found, dict) else ()
    return {name: origin for name, origin in items if isinstance(origin, dict)}


def origin_of(schema: pa.Schema, name: str, path: tuple[str, ...] = ()) -> Origin | None:
    """Returns the origin of a sealed leaf, or ``None`` if there is none."""
    field = leaf_at(schema.field(name), path)
    try:
        origin = json.loads((field.metadata or {})[ORIGIN_KEY])
    except UNPARSABLE:
        origin = origins(schema.metadata or {}).get(".".join((name, *path)))
    if isinstance(origin, dict):
        # Untrusted: anyone can write metadata.
        notes = origin.get("notes")
        return {**origin, "notes": notes if isinstance(notes, dict) else {}}
    return None
