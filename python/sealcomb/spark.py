"""Sealed columns in Spark: ``seal`` and ``open`` for DataFrames, ``seal_udf`` and ``open_udf`` for SQL.

Keys never travel with a job. What Spark pickles, plans and logs holds a *key provider* and the names of
keysets; each Python worker on the executors calls the provider when it meets its first value, and keeps the
keyset for ten minutes.

A task may run twice, because it failed, was slow or lost its executor. That is safe with the policies
``random`` (every attempt draws new nonces, and AES-GCM-SIV bears even a repeated one) and ``deterministic``
(every attempt gives the same bytes). The policy ``gcm`` counts its values within one process, which many
workers cannot do together, so sealing under it is refused here.

>>> import sealcomb.spark
>>> from sealcomb import keys_from_file
>>> keys = keys_from_file("/run/secrets/keysets")  # on every executor: ids.json, notes.json
>>> sealed = sealcomb.spark.seal(people, {"ssn": "ids", "note": "notes"}, keys)  # doctest: +SKIP
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
from pyspark.sql.types import BinaryType, DataType, StringType, StructField, StructType
from pyspark.sql.udf import UserDefinedFunction

from sealcomb import (
    ForgedRow,
    KeyProvider,
    Keyset,
    KeysetError,
    NotSealed,
    UnknownKey,
    open_column,
    reseal_column,
    seal_column,
)

__all__ = [
    "open",
    "open_aes_encrypt",
    "open_udf",
    "reseal",
    "seal",
    "seal_aes_encrypt",
    "seal_udf",
]

KEYSET_SECONDS = 600
STRING_MARK = "sealcomb.string"


def seal(
    df: DataFrame,
    columns: Mapping[str, str],
    keys: KeyProvider,
    *,
    context: str = "{column}",
    row_id: str | None = None,
) -> DataFrame:
    """Seals columns of strings or bytes; the others pass unchanged.

    ``columns`` maps each column to the name of its keyset, which the provider ``keys`` gives in the
    executors. ``context`` is what every value is bound to, where ``{column}`` stands for the column's name;
    ``row_id`` names a column whose value each sealed value is bound to as well. Nulls stay null.

    A random policy gives other bytes each time that Spark computes the column. Write it or group by it only
    after the last shuffle; do not repartition, join or group *by* it.

    Raises ``ValueError`` for a column that is not there and ``TypeError`` for one that is neither string nor
    binary, at once. A job fails with ``KeysetError`` if the keyset's policy is ``gcm``.

    >>> sealed = seal(people, {"ssn": "ids"}, keys, context="people.{column}", row_id="id")  # doctest: +SKIP
    """
    work = SealcombColumns("seal", tuple(columns.items()), _pickled(keys), context, row_id)
    return df.mapInArrow(_checked(work, df), _schema(df, columns, _sealed_field))


def open(  # noqa: A001, PLR0913
    df: DataFrame,
    columns: Mapping[str, str],
    keys: KeyProvider,
    *,
    context: str = "{column}",
    row_id: str | None = None,
    forged: Literal["raise", "null"] = "raise",
) -> DataFrame:
    """Opens columns that ``seal``, the command or anything that writes Tink's format has sealed.

    A column that ``seal`` made of strings becomes one of strings again, even by way of a Parquet file that
    Spark wrote; others become binary. ``forged="null"`` gives null for a forged value instead of failing the
    job.

    Raises as ``seal`` does. A job fails with ``InvalidTag``, which names column, partition and row, for a
    value that is forged, or was sealed under another key or context.

    >>> opened = open(sealed, {"ssn": "ids"}, keys, context="people.{column}", row_id="id")  # doctest: +SKIP
    """
    work = SealcombColumns("open", tuple(columns.items()), _pickled(keys), context, row_id, forged=forged)
    nullable = forged == "null"
    return df.mapInArrow(
        _checked(work, df), _schema(df, columns, lambda field: _opened_field(field, nullable=nullable))
    )


def reseal(
    df: DataFrame,
    columns: Mapping[str, str],
    keys: KeyProvider,
    *,
    context: str = "{column}",
    row_id: str | None = None,
) -> DataFrame:
    """Moves sealed columns to the primary keys of their keysets. Raises as ``seal`` and ``open`` do."""
    work = SealcombColumns("reseal", tuple(columns.items()), _pickled(keys), context, row_id)
    return df.mapInArrow(_checked(work, df), df.schema)


def seal_udf(
    keys: KeyProvider, keyset: str, *, context: str, policy: Literal["random", "deterministic"] = "random"
) -> UserDefinedFunction:
    """A function for SQL that seals strings or bytes; ``context`` is the whole context of a value.

    Name the keyset's ``policy``: Spark must know that a random one gives other bytes each time. A job fails
    with ``KeysetError`` if the keyset has another.

    >>> spark.udf.register("seal_ssn", seal_udf(keys, "ids", context="people.ssn"))  # doctest: +SKIP
    """
    if policy not in ("random", "deterministic"):
        raise ValueError(f"policy must be 'random' or 'deterministic', not {policy!r}")
    work = SealcombValues(_pickled(keys), keyset, _whole(context), policy=policy)
    udf: UserDefinedFunction = arrow_udf(work.seal, BinaryType())
    return udf if policy == "deterministic" else udf.asNondeterministic()


def open_udf(
    keys: KeyProvider,
    keyset: str,
    *,
    context: str,
    returns: Literal["binary", "string"] = "binary",
    forged: Literal["raise", "null"] = "raise",
) -> UserDefinedFunction:
    """A function for SQL that opens sealed values, as bytes or as strings.

    >>> spark.udf.register("open_note", open_udf(keys, "notes", context="people.note"))  # doctest: +SKIP
    >>> spark.sql("SELECT id, open_note(note) FROM people")  # doctest: +SKIP
    """
    if returns not in ("binary", "string"):
        raise ValueError(f"returns must be 'binary' or 'string', not {returns!r}")
    work = SealcombValues(_pickled(keys), keyset, _whole(context), forged=forged, string=returns == "string")
    udf: UserDefinedFunction = arrow_udf(work.open, StringType() if work.string else BinaryType())
    return udf


def open_aes_encrypt(
    df: DataFrame, columns: Mapping[str, str], keys: KeyProvider, *, aad: bytes = b""
) -> DataFrame:
    """Opens what Spark's own ``aes_encrypt(value, key, 'GCM', 'DEFAULT', iv, aad)`` made: IV ‖ ciphertext ‖
    tag.

    That format names no key, so the primary key of the keyset opens; its policy must be ``gcm``. The column
    becomes binary, as that of ``aes_decrypt`` does.

    >>> keys = lambda name: Keyset.from_keys({1: fetch(name)}, primary=1, policy="gcm")
    >>> opened = open_aes_encrypt(old, {"ssn": "legacy"}, keys)  # doctest: +SKIP
    """
    work = SealcombColumns("open_aes_encrypt", tuple(columns.items()), _pickled(keys), aad=aad)
    return df.mapInArrow(_checked(work, df), _schema(df, columns, _binary_field))


def seal_aes_encrypt(
    df: DataFrame, columns: Mapping[str, str], keys: KeyProvider, *, aad: bytes = b""
) -> DataFrame:
    """Seals as ``aes_encrypt`` does in the mode GCM, for readers that have only ``aes_decrypt``.

    The keyset's policy must be ``gcm``. Its rule is the caller's to keep, as it is with ``aes_encrypt``: at
    most 2^32 values under one key, over all jobs together.

    >>> sealed = seal_aes_encrypt(people, {"ssn": "legacy"}, keys)  # doctest: +SKIP
    """
    work = SealcombColumns("seal_aes_encrypt", tuple(columns.items()), _pickled(keys), aad=aad)
    return df.mapInArrow(_checked(work, df), _schema(df, columns, _binary_field))


# ---- on the driver


def _checked(work: SealcombColumns, df: DataFrame) -> SealcombColumns:
    """Refuses what cannot work, and notes which columns become strings again."""
    if not work.columns:
        raise ValueError("no columns are given")
    names = [name for name, _ in work.columns]
    kinds = (BinaryType, StringType) if work.verb.startswith("seal") else (BinaryType,)
    for name in names:
        kind = _field(df, name).dataType
        if not isinstance(kind, kinds):
            wanted = "string or binary" if len(kinds) > 1 else "binary"
            raise TypeError(f"column {name!r} is {kind.simpleString()}, not {wanted}: cast it first")
    if work.row_id is not None:
        _field(df, work.row_id)
        if work.row_id in names:
            raise ValueError(f"the row ids of {work.row_id!r} cannot be sealed with themselves")
    if len(names) > 1 and "{column}" not in work.context:
        raise ValueError("with several columns the context must contain {column}")
    strings = frozenset(name for name in names if STRING_MARK in df.schema[name].metadata)
    return replace(work, strings=strings)


def _whole(context: str) -> bytes:
    if "{column}" in context:
        raise ValueError("a function for SQL does not know its column's name: write it into the context")
    return context.encode()


def _pickled(keys: KeyProvider) -> bytes:
    if isinstance(keys, Keyset) or not callable(keys):
        raise TypeError(
            "keys must be a key provider, a callable that gives the keyset of a name in the executors"
        )
    pickled: bytes = cloudpickle.dumps(keys)  # type: ignore[no-untyped-call]
    return pickled


def _field(df: DataFrame, name: str) -> StructField:
    if df.columns.count(name) != 1:
        found = df.columns.count(name) or "no"
        raise ValueError(f"{found} columns are named {name!r}; there are {', '.join(df.columns)}")
    return df.schema[name]


def _schema(
    df: DataFrame, columns: Mapping[str, str], change: Callable[[StructField], StructField]
) -> StructType:
    return StructType([change(field) if field.name in columns else field for field in df.schema])


def _sealed_field(field: StructField) -> StructField:
    mark = {STRING_MARK: True} if isinstance(field.dataType, StringType) else {}
    return StructField(field.name, BinaryType(), field.nullable, {**field.metadata, **mark})


def _opened_field(field: StructField, *, nullable: bool) -> StructField:
    metadata = {key: value for key, value in field.metadata.items() if key != STRING_MARK}
    kind: DataType = StringType() if STRING_MARK in field.metadata else BinaryType()
    return StructField(field.name, kind, field.nullable or nullable, metadata)


def _binary_field(field: StructField) -> StructField:
    return StructField(field.name, BinaryType(), field.nullable, field.metadata)


# ---- in the executors


@lru_cache(maxsize=64)
def _fetched(provider: bytes, name: str, _minutes: int) -> Keyset:
    keyset = pickle.loads(provider)(name)
    if not isinstance(keyset, Keyset):
        raise TypeError(f"the key provider gave no Keyset for {name!r} but a {type(keyset).__name__}")
    return keyset


def _keyset(provider: bytes, name: str) -> Keyset:
    """The keyset of a name, fetched anew now and then, so that a rotation reaches workers that live long."""
    return _fetched(provider, name, int(time.monotonic() // KEYSET_SECONDS))


def _check_policy(keyset: Keyset, name: str, wanted: tuple[str, ...]) -> None:
    if keyset.policy not in wanted:
        raise KeysetError(
            f"keyset {name!r} has the policy {keyset.policy!r}; here it must be {' or '.join(wanted)}"
        )


SAFE_IN_MANY_PROCESSES = ("random", "deterministic")


@dataclass(frozen=True)
class SealcombColumns:
    """What ``mapInArrow`` calls in the executors. It is pickled, and has no keys."""

    verb: str
    columns: tuple[tuple[str, str], ...]
    provider: bytes
    context: str = "{column}"
    row_id: str | None = None
    strings: frozenset[str] = frozenset()
    forged: Literal["raise", "null"] = "raise"
    aad: bytes = b""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first_row = 0
        for batch in batches:
            changed = batch
            for name, keyset in self.columns:
                try:
                    array = self.turn(batch, name, keyset)
                except (ForgedRow, NotSealed, UnknownKey) as error:
                    error.add_note(f"column {name!r}, partition {_partition()}, row {first_row + error.row}")
                    raise
                changed = changed.set_column(changed.schema.get_field_index(name), name, array)
            yield changed
            first_row += batch.num_rows

    def turn(self, batch: pa.RecordBatch, name: str, keyset_name: str) -> pa.Array:
        keyset = _keyset(self.provider, keyset_name)
        array = batch.column(name)
        if self.verb.endswith("aes_encrypt"):
            _check_policy(keyset, keyset_name, ("gcm",))
            return self.turn_aes_encrypt(array, keyset)
        context = self.context.replace("{column}", name).encode()
        ids = batch.column(self.row_id) if self.row_id else None
        if self.verb == "open":
            as_type: Literal["utf8", "binary"] = "utf8" if name in self.strings else "binary"
            return open_column(
                array, keyset, context=context, row_ids=ids, forged=self.forged, as_type=as_type, threads=1
            )
        _check_policy(keyset, keyset_name, SAFE_IN_MANY_PROCESSES)
        work = seal_column if self.verb == "seal" else reseal_column
        return work(array, keyset, context=context, row_ids=ids, threads=1)

    def turn_aes_encrypt(self, array: pa.Array, keyset: Keyset) -> pa.Array:
        # The two formats differ by Tink's prefix: a byte 1 and the key's id.
        prefix = b"\1" + keyset.primary.to_bytes(4, "big")
        if self.verb == "seal_aes_encrypt":
            sealed = seal_column(array, keyset, context=self.aad, threads=1)
            # Not binary_slice: in pyarrow 26 it fails where the result is much shorter than its input.
            return pc.binary_replace_slice(sealed, 0, len(prefix), b"")
        enveloped = pc.binary_join_element_wise(prefix, array, b"")
        return open_column(enveloped, keyset, context=self.aad, threads=1)


@dataclass(frozen=True)
class SealcombValues:
    """Has what functions for SQL call in the executors; Spark reads their types."""

    provider: bytes
    keyset: str
    context: bytes
    policy: str = "random"
    forged: Literal["raise", "null"] = "raise"
    string: bool = False

    def seal(self, array: pa.Array) -> pa.Array:
        keyset = _keyset(self.provider, self.keyset)
        _check_policy(keyset, self.keyset, (self.policy,))
        return seal_column(array, keyset, context=self.context, threads=1)

    def open(self, array: pa.Array) -> pa.Array:
        keyset = _keyset(self.provider, self.keyset)
        as_type: Literal["utf8", "binary"] = "utf8" if self.string else "binary"
        return open_column(
            array, keyset, context=self.context, forged=self.forged, as_type=as_type, threads=1
        )


def _partition() -> int:
    task = TaskContext.get()
    return task.partitionId() if task else 0
