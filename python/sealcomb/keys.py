"""Key providers: what fetches a keyset by its name, where the data is.

A provider is a callable, `provider(name) -> Keyset`. What goes over the wire is the provider, never a key:
those of this module carry a prefix or a folder, and can be pickled. A function of your own is one as well:

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
    """Gives the keyset with a name, each time it is asked; whoever asks often keeps what it got."""

    def __call__(self, name: str, /) -> Keyset: ...


@dataclass(frozen=True)
class keys_from_env:  # noqa: N801
    """Keysets in environment variables: that with the name `ids` is the Tink JSON in `SEALCOMB_KEYSET_IDS`.

    The variable's name is the prefix and the keyset's name in capitals, with `_` for `-` and `.`.
    """

    prefix: str = "SEALCOMB_KEYSET_"

    def __call__(self, name: str, /) -> Keyset:
        variable = self.prefix + re.sub("[-.]", "_", _checked(name)).upper()
        try:
            text = os.environ[variable]
        except KeyError:
            message = (
                f"keyset {name!r}: the environment variable {variable} is not set; put its Tink JSON there"
            )
            raise KeysetError(message) from None
        return Keyset.from_tink_json(text)


@dataclass(frozen=True)
class keys_from_file:  # noqa: N801
    """Keysets in a folder, e.g. a mounted secret: that with the name `ids` is the Tink JSON in `ids.json`."""

    folder: str | os.PathLike[str]

    def __call__(self, name: str, /) -> Keyset:
        return Keyset.from_tink_json(_read(self.folder, name))


@dataclass(frozen=True)
class keys_from_wrapped:  # noqa: N801
    """Encrypted keysets in a folder, as Tink writes them: that with the name `ids` is in `ids.json`.

    `unwrap` decrypts: it gets the bytes of `encryptedKeyset` and returns the serialized keyset. That is where
    a KMS is asked. It is pickled with the provider, so it is a function of a module, or an object that has no
    secret and makes its connection when it is called.
    """

    folder: str | os.PathLike[str]
    unwrap: Callable[[bytes], bytes]

    def __call__(self, name: str, /) -> Keyset:
        wrapped = encrypted_keyset(_read(self.folder, name))
        if wrapped is None:
            raise KeysetError(f"keyset {name!r} is not encrypted; keys_from_file takes it")
        return Keyset.from_tink_binary(self.unwrap(wrapped))


def _read(folder: str | os.PathLike[str], name: str) -> str:
    path = Path(folder, _checked(name) + ".json")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise KeysetError(
            f"keyset {name!r}: {path} can't be read ({error.strerror}); put its Tink JSON there"
        ) from None
    except UnicodeDecodeError:
        raise KeysetError(f"keyset {name!r}: {path} is not text; put its Tink JSON there") from None


def _checked(name: str) -> str:
    """A name that leads out of the folder is none."""
    if not _NAME.fullmatch(name):
        raise KeysetError(
            f"keyset {name!r}: names have letters, digits, '.', '_', '-', and begin with one of the first two"
        )
    return name
