"""Key providers: callables that can be pickled, and fetch a keyset by name where the data is.

A provider is any callable `provider(name) -> Keyset`. A job carries the provider, never a key: the providers
in this module contain only a prefix, or a folder and a function. Your own function is a provider, too:

    def from_vault(name: str) -> Keyset:
        return Keyset.from_tink_json(vault_client().read(f"keysets/{name}"))
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sealcomb._sealcomb import Keyset, encrypted_keyset
from sealcomb.exceptions import KeysetError

__all__ = ["KeyProvider", "keys_from_env", "keys_from_file", "keys_from_wrapped"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class KeyProvider(Protocol):
    """A callable that returns the keyset with the given name. Callers may cache the result."""

    def __call__(self, name: str, /) -> Keyset: ...


@dataclass(frozen=True)
class keys_from_env:  # noqa: N801
    """A key provider that reads environment variables: keyset `ids` is the JSON in `SEALCOMB_KEYSET_IDS`.

    The name of the variable is `prefix`, followed by the name of the keyset in upper case, with `_` instead
    of `-` and `.`. The variable contains the keyset in Tink's JSON format.

    A call raises `KeysetError` if the name is invalid, the variable is not set, or its content is not a
    usable keyset.
    """

    prefix: str = "SEALCOMB_KEYSET_"

    def __call__(self, name: str, /) -> Keyset:
        variable = self.prefix + re.sub("[-.]", "_", _checked(name)).upper()
        try:
            text = os.environ[variable]
        except KeyError:
            message = (
                f"keyset {name!r}: the environment variable {variable} is not set; set it to the Tink JSON"
            )
            raise KeysetError(message) from None
        return Keyset.from_tink_json(text)


@dataclass(frozen=True)
class keys_from_file:  # noqa: N801
    """A key provider that reads a folder, such as a mounted secret: keyset `ids` is the file `ids.json`.

    The file contains the keyset in Tink's JSON format.

    A call raises `KeysetError` if the name is invalid, the file cannot be read, or its content is not a
    usable keyset.
    """

    folder: str | os.PathLike[str]

    def __call__(self, name: str, /) -> Keyset:
        return Keyset.from_tink_json(_read(self.folder, name))


@dataclass(frozen=True)
class keys_from_wrapped:  # noqa: N801
    """A key provider that reads encrypted Tink keysets from a folder: keyset `ids` is the file `ids.json`.

    `unwrap` takes the encrypted keyset and returns the serialized keyset, usually by calling a KMS. The
    encrypted keyset is the decoded field `encryptedKeyset` of the file.
    It is pickled with the provider, so it must be a module-level function, or an object that contains no
    secrets and connects when it is called.

    A call raises `KeysetError` if the name is invalid, the file cannot be read, or its content is not a
    usable keyset.
    """

    folder: str | os.PathLike[str]
    unwrap: Callable[[bytes], bytes]

    def __call__(self, name: str, /) -> Keyset:
        wrapped = encrypted_keyset(_read(self.folder, name))
        if wrapped is None:
            raise KeysetError(f"keyset {name!r} is not encrypted; use keys_from_file")
        return Keyset.from_tink_binary(self.unwrap(wrapped))


def _read(folder: str | os.PathLike[str], name: str) -> str:
    path = Path(folder, _checked(name) + ".json")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise KeysetError(
            f"keyset {name!r}: cannot read {path} ({error.strerror}); store its Tink JSON there"
        ) from None
    except UnicodeDecodeError:
        raise KeysetError(f"keyset {name!r}: {path} is not UTF-8 text; store its Tink JSON there") from None


def _checked(name: str) -> str:
    """Returns the name of a keyset if it is valid. Names with path separators are rejected, for example."""
    if not _NAME.fullmatch(name):
        raise KeysetError(
            f"invalid keyset name {name!r}: use letters, digits, '.', '_', '-'; begin with a letter or digit"
        )
    return name
