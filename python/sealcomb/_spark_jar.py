"""The jar sealcomb-spark, which does the work of `sealcomb.spark` in the executors' JVMs, without Python.

It takes over if the session has its extension and the key provider is one that the jar also has:
`keys_from_file` or `keys_from_env`. Other providers are Python functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from py4j.java_gateway import JavaClass  # type: ignore[import-untyped]
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame

from sealcomb import KeyProvider, keys_from_env, keys_from_file

__all__ = ["Jar"]

EXTENSION = "io.sealcomb.spark.SealcombExtensions"


class Jar:
    """The jar's class for DataFrames, and where it finds keysets."""

    def __init__(self, functions: Any, keys: str) -> None:
        self.functions = functions
        self.keys = keys

    @classmethod
    def of(cls, df: DataFrame, keys: KeyProvider) -> Jar | None:
        """Returns the jar if it can do the work, or None."""
        source = source_of(keys)
        jvm = getattr(df.sparkSession, "_jvm", None)  # Spark Connect has no JVM.
        if source is None or jvm is None:
            return None
        extensions = df.sparkSession.conf.get("spark.sql.extensions", "") or ""
        if EXTENSION not in (name.strip() for name in extensions.split(",")):
            return None
        functions = jvm.io.sealcomb.spark.Sealcomb
        return cls(functions, source) if isinstance(functions, JavaClass) else None

    def run(self, verb: str, df: DataFrame, columns: Mapping[str, str], **how: object) -> DataFrame:
        """Calls `seal`, `unseal`, `tryUnseal` or `reseal` of the jar.

        Args:
            how: The arguments of the jar's functions with these names, such as `rowId`. None leaves one out.

        Raises:
            ValueError: The jar refuses an argument.
        """
        chosen = self.functions.columns(dict(columns)).keys(self.keys)
        for name, argument in how.items():
            if argument is not None:
                chosen = getattr(chosen, name)(argument)
        return called(getattr(chosen, verb), df)

    def unseal_aes_encrypt(self, df: DataFrame, columns: Mapping[str, str], aad: bytes) -> DataFrame:
        """Calls `unsealAesEncrypt` of the jar."""
        chosen = self.functions.columns(dict(columns)).keys(self.keys)
        return called(chosen.unsealAesEncrypt, df, bytearray(aad))


def called(work: Callable[..., Any], df: DataFrame, *arguments: object) -> DataFrame:
    """Calls a function of the jar. Its exception for arguments becomes Python's."""
    try:
        return DataFrame(work(df._jdf, *arguments), df.sparkSession)
    except IllegalArgumentException as error:
        raise ValueError(str(error)) from error


def source_of(keys: KeyProvider) -> str | None:
    """Returns the value of the setting `spark.sealcomb.keys` for a key provider, or None if it has none."""
    if isinstance(keys, keys_from_file):
        return f"folder:{os.fspath(keys.folder)}"
    if isinstance(keys, keys_from_env):
        return f"env:{keys.prefix}"
    return None
