"""Sealed columns in Spark: ``seal`` and ``unseal`` for DataFrames, ``seal_udf`` and ``unseal_udf`` for SQL.

Keys never travel with a job. Pickles, plans and logs contain a *key provider* and the names of keysets. Each
Python worker on the executors calls the provider when it processes its first value, and caches the keyset for
at most ten minutes.

Spark may run a task twice, because it failed, was slow or lost its executor. This is safe under the policies
``random`` (every attempt draws new nonces, and AES-GCM-SIV tolerates even a repeated one), ``xaes`` (every
attempt draws new nonces, of 24 bytes) and ``deterministic`` (every attempt yields the same bytes). Sealing
under ``gcm`` is refused, because its limit is counted per process and cannot be enforced across workers.

If the session has the jar sealcomb-spark and its extension, and the key provider is ``keys_from_file`` or
``keys_from_env``, then ``seal``, ``unseal``, ``reseal`` and ``unseal_aes_encrypt`` run in the executors'
JVMs, without Python workers. The results are the same.

>>> import sealcomb.spark
>>> from sealcomb import keys_from_file
>>> keys = keys_from_file("/run/secrets/keysets")  # on every executor: ids.json, notes.json
>>> sealed = sealcomb.spark.seal(  # doctest: +SKIP
...     people, {"ssn": "ids", "note": "notes"}, keys, context="people.{column}"
... )
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

try:
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    from pyspark import TaskContext, cloudpickle
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
    from pyspark.sql.types import (
        ArrayType,
        BinaryType,
        DataType,
        MapType,
        NullType,
        StringType,
        StructField,
        StructType,
    )
    from pyspark.sql.udf import UserDefinedFunction
except ModuleNotFoundError as error:
    missing = f"sealcomb.spark requires the module {error.name}: run pip install 'sealcomb[spark]'"
    raise ImportError(missing) from error

from sealcomb import (
    KeyProvider,
    Keyset,
    KeysetError,
    UnopenedRow,
    reseal_column,
    seal_column,
    unseal_column,
)
from sealcomb._spark_jar import Jar

__all__ = [
    "reseal",
    "seal",
    "seal_aes_encrypt",
    "seal_udf",
    "unseal",
    "unseal_aes_encrypt",
    "unseal_udf",
]

KEYSET_SECONDS = 600
NESTED = StructType | ArrayType | MapType
# The metadata of sealed columns: the type that the values open as, and the version of its encoding.
TYPE_KEY, VERSION_KEY, VERSION = "sealcomb.type", "sealcomb.version", "1"


def seal(
    df: DataFrame,
    columns: Mapping[str, str],
    keys: KeyProvider,
    *,
    context: str,
    row_id: str | None = None,
) -> DataFrame:
    """Seals columns of strings or bytes; with the jar, of any type. Other columns pass, and nulls stay null.

    Under the policy ``random``, a sealed column differs each time that Spark computes it. Do not repartition,
    join or group *by* it, and write it only after the last shuffle.

    Args:
        df: The DataFrame.
        columns: The columns to seal, each with the name of its keyset.
        keys: The key provider, which is called in the executors.
        context: The text that every value is bound to. ``{column}`` is the column's name, which is required
            for several columns. With ``""``, values are bound to no column.
        row_id: A column of ids. Every value is also bound to the id in its row.

    Returns:
        The DataFrame with the sealed columns, which are binary.

    Raises:
        ValueError: ``columns`` is empty, a column is missing or ambiguous, or ``context`` or ``row_id`` is
            invalid, or a column's type cannot be sealed.
        TypeError: A column is neither string nor binary (without the jar), or ``keys`` is not a key provider.

    A job fails with ``KeysetError`` if the policy of a keyset is ``gcm``.

    >>> sealed = seal(people, {"ssn": "ids"}, keys, context="people.{column}", row_id="id")  # doctest: +SKIP
    """
    work = SealcombColumns("seal", tuple(columns.items()), _pickled(keys), context, row_id)
    jar = Jar.of(df, keys)
    work = _checked(work, df, any_type=jar is not None)
    if jar:
        return jar.run("seal", df, columns, context=context, rowId=row_id)
    return df.mapInArrow(work, _schema(df, columns, _sealed_field))


def unseal(  # noqa: PLR0913
    df: DataFrame,
    columns: Mapping[str, str],
    keys: KeyProvider,
    *,
    context: str,
    row_id: str | None = None,
    forged: Literal["raise", "null"] = "raise",
    plain: Mapping[str, Iterable[str]] | None = None,
) -> DataFrame:
    """Opens columns that were sealed by ``seal``, the command, or another program in Tink's format.

    A column that was a string before ``seal`` becomes a string again, even after being stored in a Parquet
    file by Spark. Other columns become binary. With the jar, every column becomes what it was, and columns
    can be nested.

    Args:
        df: The DataFrame.
        columns: The columns to unseal, each with the name of its keyset.
        keys: The key provider, which is called in the executors.
        context: The context that the columns were sealed with.
        row_id: The column of row ids that the columns were sealed with.
        forged: ``"raise"`` fails the job if a value does not open. ``"null"`` replaces such values by nulls.
        plain: The paths of leaves of nested columns that were never sealed, by the column:
            ``{"addr": ["zip", "tags.element"]}``. They stay as they are, and nothing about them is verified.
            Every other leaf must open.

    Raises:
        ValueError: ``columns`` is empty, a column is missing or ambiguous, or ``context`` or ``row_id`` is
            invalid, or ``plain`` names another column, no leaf, or a path of several leaves.
        TypeError: A column, or a leaf that ``plain`` does not name, is not binary; ``plain`` names every leaf
            of a column, or is no mapping of columns to paths; or ``keys`` is not a key provider.

    A job fails with ``InvalidTag`` if a value is forged or was sealed with another context or row id, with
    ``KeysetError`` if the keyset does not have its key, and with ``NotSealed`` if it was never sealed. The
    error names the column, the partition and the row. A job also fails if a leaf that ``plain`` names is
    sealed.

    >>> columns, context = {"addr": "ids"}, "people.{column}"
    >>> opened = unseal(sealed, columns, keys, context=context, row_id="id")  # doctest: +SKIP
    >>> half = unseal(sealed, columns, keys, context=context, plain={"addr": ["zip"]})  # doctest: +SKIP
    """
    work = SealcombColumns("unseal", tuple(columns.items()), _pickled(keys), context, row_id, forged=forged)
    jar = Jar.of(df, keys)
    work = _checked(work, df, any_type=jar is not None)
    leaves = _plain_leaves(df, columns, plain)
    nullable = forged == "null"
    if jar:
        return jar.run(
            "tryUnseal" if nullable else "unseal", df, columns, context=context, rowId=row_id, plain=leaves
        )
    return df.mapInArrow(work, _schema(df, columns, lambda field: _opened_field(field, nullable=nullable)))


def reseal(  # noqa: PLR0913
    df: DataFrame,
    columns: Mapping[str, str],
    keys: KeyProvider,
    *,
    context: str,
    row_id: str | None = None,
    plain: Mapping[str, Iterable[str]] | None = None,
) -> DataFrame:
    """Opens sealed columns, and seals them again under the primary keys of their keysets.

    The arguments and exceptions are those of ``seal`` and ``unseal``. Leaves that ``plain`` names stay as
    they are.
    """
    work = SealcombColumns("reseal", tuple(columns.items()), _pickled(keys), context, row_id)
    jar = Jar.of(df, keys)
    work = _checked(work, df, any_type=jar is not None)
    leaves = _plain_leaves(df, columns, plain)
    if jar:
        return jar.run("reseal", df, columns, context=context, rowId=row_id, plain=leaves)
    return df.mapInArrow(work, _schema(df, columns, _binary_field))


def seal_udf(
    keys: KeyProvider,
    keyset: str,
    *,
    context: str,
    policy: Literal["random", "xaes", "deterministic"] = "random",
) -> UserDefinedFunction:
    """Returns a SQL function that seals strings or bytes.

    Args:
        keys: The key provider, which is called in the executors.
        keyset: The name of the keyset.
        context: The text that every value is bound to.
        policy: The policy of the keyset. Spark must know whether the function is deterministic.

    Raises:
        ValueError: ``policy`` is unknown, or ``context`` contains ``{column}``.
        TypeError: ``keys`` is not a key provider.

    A job fails with ``KeysetError`` if the keyset has another policy.

    >>> spark.udf.register("seal_ssn", seal_udf(keys, "ids", context="people.ssn"))  # doctest: +SKIP
    """
    if policy not in MULTI_PROCESS_POLICIES:
        raise ValueError(f"policy must be 'random', 'xaes' or 'deterministic', not {policy!r}")
    work = SealcombValues(_pickled(keys), keyset, _whole(context), policy=policy)
    udf: UserDefinedFunction = arrow_udf(work.seal, BinaryType())
    return udf if policy == "deterministic" else udf.asNondeterministic()


def unseal_udf(
    keys: KeyProvider,
    keyset: str,
    *,
    context: str,
    returns: Literal["binary", "string"] = "binary",
    forged: Literal["raise", "null"] = "raise",
) -> UserDefinedFunction:
    """Returns a SQL function that opens sealed values.

    Args:
        keys: The key provider, which is called in the executors.
        keyset: The name of the keyset.
        context: The context that the values were sealed with.
        returns: The type of the result.
        forged: ``"raise"`` fails the job if a value does not open. ``"null"`` replaces such values by nulls.

    Raises:
        ValueError: ``returns`` is unknown, or ``context`` contains ``{column}``.
        TypeError: ``keys`` is not a key provider.

    >>> spark.udf.register("unseal_note", unseal_udf(keys, "notes", context="people.note"))  # doctest: +SKIP
    >>> spark.sql("SELECT id, unseal_note(note) FROM people")  # doctest: +SKIP
    """
    if returns not in ("binary", "string"):
        raise ValueError(f"returns must be 'binary' or 'string', not {returns!r}")
    work = SealcombValues(_pickled(keys), keyset, _whole(context), forged=forged, string=returns == "string")
    udf: UserDefinedFunction = arrow_udf(work.unseal, StringType() if work.string else BinaryType())
    return udf


def unseal_aes_encrypt(
    df: DataFrame, columns: Mapping[str, str], keys: KeyProvider, *, aad: bytes = b""
) -> DataFrame:
    """Opens columns that were encrypted by Spark's ``aes_encrypt(value, key, 'GCM', 'DEFAULT', iv, aad)``.

    That format (IV ‖ ciphertext ‖ tag) does not name a key, so the primary key of the keyset opens all
    values. The policy of the keyset must be ``gcm``. The opened columns are binary, like those of
    ``aes_decrypt``. The arguments and exceptions are those of ``unseal``; ``aad`` is the additional data that
    the values were encrypted with.

    >>> keys = lambda name: Keyset.from_keys({1: fetch(name)}, primary=1, policy="gcm")
    >>> opened = unseal_aes_encrypt(old, {"ssn": "legacy"}, keys)  # doctest: +SKIP
    """
    work = _checked(
        SealcombColumns("unseal_aes_encrypt", tuple(columns.items()), _pickled(keys), aad=aad), df
    )
    if jar := Jar.of(df, keys):
        return jar.unseal_aes_encrypt(df, columns, aad)
    return df.mapInArrow(work, _schema(df, columns, _binary_field))


def seal_aes_encrypt(
    df: DataFrame, columns: Mapping[str, str], keys: KeyProvider, *, aad: bytes = b""
) -> DataFrame:
    """Seals columns in the format of ``aes_encrypt`` in GCM mode, for readers that only have ``aes_decrypt``.

    The policy of the keyset must be ``gcm``. As with ``aes_encrypt``, nothing enforces the limit of 2^32
    values per key across jobs: you must keep to it. The arguments and exceptions are those of ``seal``;
    ``aad`` is the additional data to encrypt with.

    >>> sealed = seal_aes_encrypt(people, {"ssn": "legacy"}, keys)  # doctest: +SKIP
    """
    work = SealcombColumns("seal_aes_encrypt", tuple(columns.items()), _pickled(keys), aad=aad)
    return df.mapInArrow(_checked(work, df), _schema(df, columns, _binary_field))


# ---- driver


def _checked(work: SealcombColumns, df: DataFrame, *, any_type: bool = False) -> SealcombColumns:
    """Rejects invalid arguments, and records which columns become strings again.

    ``any_type``: the jar seals values of any type, and nested ones.
    """
    if not work.columns:
        raise ValueError("columns is empty; name at least one column")
    if not work.verb.endswith("aes_encrypt") and not isinstance(work.context, str):
        raise TypeError(f'context must be text, not {work.context!r}; "" binds values to no column')
    names = [name for name, _ in work.columns]
    kinds = (BinaryType, StringType) if work.verb.startswith("seal") else (BinaryType,)
    for name in names:
        kind = _field(df, name).dataType
        allowed = any_type and (work.verb == "seal" or isinstance(kind, NullType | NESTED))
        if not allowed and not isinstance(kind, kinds):
            wanted = "string or binary" if len(kinds) > 1 else "binary"
            jar = "" if any_type or work.verb.endswith("aes_encrypt") else ", or use the jar sealcomb-spark"
            raise TypeError(f"column {name!r} is {kind.simpleString()}, not {wanted}: cast it first{jar}")
    if work.row_id is not None:
        _field(df, work.row_id)
        if work.row_id in names:
            raise ValueError(f"row_id {work.row_id!r} must not be one of the columns")
    if len(names) > 1 and work.context is not None and "{column}" not in work.context:
        raise ValueError("the context must contain {column} if there are several columns")
    opens = work.verb == "unseal"
    strings = frozenset(name for name in names if opens and _was_string(df.schema[name]))
    return replace(work, strings=strings)


def _plain_leaves(
    df: DataFrame, columns: Mapping[str, str], plain: Mapping[str, Iterable[str]] | None
) -> dict[str, list[str]]:
    """Returns the argument ``plain`` by column. Rejects names of no leaf, and leaves that are not sealed."""
    expected = "plain maps columns to paths of their leaves, such as {'addr': ['zip', 'tags.element']}"
    if not isinstance(plain or {}, Mapping):
        raise TypeError(f"{expected}; not {type(plain).__name__}")
    named: dict[str, list[str]] = {}
    for name, paths in (plain or {}).items():
        if name not in columns:
            given = ", ".join(columns)
            raise ValueError(
                f"plain names the column {name!r}, which is not one of the columns to unseal: {given}"
            )
        if isinstance(paths, str | bytes) or not isinstance(paths, Iterable):
            raise TypeError(f"{expected}; the paths of {name!r} are {type(paths).__name__}")
        named[name] = list(paths)
        if not all(isinstance(path, str) for path in named[name]):
            raise TypeError(f"{expected}; a path of {name!r} is not a string")
    for name in columns:
        _check_leaves(name, _field(df, name).dataType, named.get(name, []))
    return named


def _check_leaves(name: str, kind: DataType, plain: list[str]) -> None:
    leaves = list(_leaves(kind))
    nested = isinstance(kind, NESTED)
    for path in plain:
        found = sum(path == other for other, _ in leaves)
        if not nested:
            raise ValueError(f"plain names {path!r}, but the column {name!r} is not nested")
        if not found:
            shown = ", ".join(repr(path) for path, _ in leaves[:20])
            raise ValueError(
                f"plain names {path!r}, which is no leaf of the column {name!r}; its leaves are {shown}"
            )
        if found > 1:
            raise ValueError(f"plain names {path!r}, which is the path of {found} leaves; rename them")
    for path, leaf in leaves:
        if nested and not isinstance(leaf, BinaryType | NullType) and path not in plain:
            raise TypeError(
                f"the leaf {path!r} of the column {name!r} is {leaf.simpleString()}, but a sealed leaf is "
                "binary: it may have been replaced; if it was never sealed, name it in plain"
            )
    if plain and all(path in plain for path, _ in leaves):
        raise TypeError(f"plain names every leaf of the column {name!r}, so none of them is sealed")


def _leaves(kind: DataType, path: str = "") -> Iterator[tuple[str, DataType]]:
    """Yields the leaves of a type with their paths. A type that is not nested is its only leaf."""
    if isinstance(kind, StructType):
        parts = [(field.name, field.dataType) for field in kind]
    elif isinstance(kind, ArrayType):
        parts = [("element", kind.elementType)]
    elif isinstance(kind, MapType):
        parts = [("key", kind.keyType), ("value", kind.valueType)]
    else:
        yield path, kind
        return
    for name, part in parts:
        yield from _leaves(part, f"{path}.{name}" if path else name)


def _whole(context: str) -> bytes:
    if "{column}" in context:
        raise ValueError("the context of a SQL function cannot contain {column}: use the name of the column")
    return context.encode()


def _pickled(keys: KeyProvider) -> bytes:
    if isinstance(keys, Keyset) or not callable(keys):
        raise TypeError(
            "keys must be a key provider: a callable that returns the keyset of a name in the executors"
        )
    pickled: bytes = cloudpickle.dumps(keys)  # type: ignore[no-untyped-call]
    return pickled


def _field(df: DataFrame, name: str) -> StructField:
    if df.columns.count(name) != 1:
        found = df.columns.count(name) or "no"
        raise ValueError(f"{found} columns are named {name!r}; the DataFrame has {', '.join(df.columns)}")
    return df.schema[name]


def _schema(
    df: DataFrame, columns: Mapping[str, str], change: Callable[[StructField], StructField]
) -> StructType:
    return StructType([change(field) if field.name in columns else field for field in df.schema])


def _sealed_field(field: StructField) -> StructField:
    kind = "string" if isinstance(field.dataType, StringType) else "binary"
    about = {**_binary_metadata(field), TYPE_KEY: kind, VERSION_KEY: VERSION}
    return StructField(field.name, BinaryType(), field.nullable, about)


def _opened_field(field: StructField, *, nullable: bool) -> StructField:
    metadata = {key: value for key, value in field.metadata.items() if key not in (TYPE_KEY, VERSION_KEY)}
    kind: DataType = StringType() if _was_string(field) else BinaryType()
    return StructField(field.name, kind, field.nullable or nullable, metadata)


def _was_string(field: StructField) -> bool:
    if TYPE_KEY in field.metadata and (version := field.metadata.get(VERSION_KEY)) != VERSION:
        raise ValueError(
            f"column {field.name!r} was sealed with version {version!r} of the encoding; this release opens "
            f"version {VERSION}: update it"
        )
    return field.metadata.get(TYPE_KEY) == "string"


def _binary_field(field: StructField) -> StructField:
    return StructField(field.name, BinaryType(), field.nullable, _binary_metadata(field))


def _binary_metadata(field: StructField) -> dict[str, Any]:
    """Returns metadata without Spark's own keys. They would make tables declare a VARCHAR as a string."""
    return {key: value for key, value in field.metadata.items() if not key.startswith("__")}


# ---- executors


@lru_cache(maxsize=64)
def _fetched(provider: bytes, name: str, _period: int) -> Keyset:
    keyset = pickle.loads(provider)(name)
    if not isinstance(keyset, Keyset):
        raise TypeError(
            f"the key provider returned a {type(keyset).__name__} for {name!r}; expected a Keyset"
        )
    return keyset


def _keyset(provider: bytes, name: str) -> Keyset:
    """Returns a keyset. The cache expires, so that rotated keysets reach long-lived workers."""
    return _fetched(provider, name, int(time.monotonic() // KEYSET_SECONDS))


def _check_policy(keyset: Keyset, name: str, expected: tuple[str, ...]) -> None:
    if keyset.policy not in expected:
        *others, last = expected
        listed = f"{', '.join(others)}, or {last}" if others else last
        raise KeysetError(f"keyset {name!r} has the policy {keyset.policy!r}; expected {listed}")


MULTI_PROCESS_POLICIES = ("random", "xaes", "deterministic")


@dataclass(frozen=True)
class SealcombColumns:
    """The function that ``mapInArrow`` calls in the executors. It is pickled, and contains no keys."""

    verb: str
    columns: tuple[tuple[str, str], ...]
    provider: bytes
    context: str | None = None
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
                    array = self.transform(batch, name, keyset)
                except UnopenedRow as error:
                    error.add_note(f"column {name!r}, partition {_partition()}, row {first_row + error.row}")
                    raise
                changed = changed.set_column(changed.schema.get_field_index(name), name, array)
            yield changed
            first_row += batch.num_rows

    def transform(self, batch: pa.RecordBatch, name: str, keyset_name: str) -> pa.Array:
        """Returns the result for a column of a batch."""
        keyset = _keyset(self.provider, keyset_name)
        array = batch.column(name)
        if self.verb.endswith("aes_encrypt"):
            _check_policy(keyset, keyset_name, ("gcm",))
            return self.transform_aes_encrypt(array, keyset)
        ids = batch.column(self.row_id) if self.row_id is not None else None
        assert self.context is not None
        context = self.context.replace("{column}", name)
        if self.verb == "unseal":
            as_type: Literal["utf8", "binary"] = "utf8" if name in self.strings else "binary"
            return unseal_column(
                array, keyset, context=context, row_ids=ids, forged=self.forged, as_type=as_type, threads=1
            )
        _check_policy(keyset, keyset_name, MULTI_PROCESS_POLICIES)
        work = seal_column if self.verb == "seal" else reseal_column
        return work(array, keyset, context=context, row_ids=ids, threads=1)

    def transform_aes_encrypt(self, array: pa.Array, keyset: Keyset) -> pa.Array:
        # Tink's format has an additional prefix: the byte 1 and the key id.
        prefix = b"\1" + keyset.primary.to_bytes(4, "big")
        if self.verb == "seal_aes_encrypt":
            sealed = seal_column(array, keyset, context=self.aad, threads=1)
            # Not binary_slice: in pyarrow 26, it fails if the result is much shorter than its input.
            return pc.binary_replace_slice(sealed, 0, len(prefix), b"")
        enveloped = pc.binary_join_element_wise(prefix, array, b"")
        return unseal_column(enveloped, keyset, context=self.aad, threads=1)


@dataclass(frozen=True)
class SealcombValues:
    """The SQL functions that run in the executors. Spark reads their type annotations."""

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

    def unseal(self, array: pa.Array) -> pa.Array:
        keyset = _keyset(self.provider, self.keyset)
        as_type: Literal["utf8", "binary"] = "utf8" if self.string else "binary"
        return unseal_column(
            array, keyset, context=self.context, forged=self.forged, as_type=as_type, threads=1
        )


def _partition() -> int:
    task = TaskContext.get()
    return task.partitionId() if task else 0
