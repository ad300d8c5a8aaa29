"""AES-based authenticated encryption of many messages at once, and of Arrow columns.

* `AESGCM`, `AESCCM`, `AESOCB3`, `AESGCMSIV`, `AESSIV` and `CMAC` are drop-in replacements for the classes of
  pyca's `cryptography`. The AEADs add `encrypt_many` and `decrypt_many`.
* `XAES256GCM`, `AEGIS128L` and `AEGIS256` are AEADs with the same methods. `sealcomb.hazmat` has ciphers that
  do not authenticate.
* `seal_column`, `unseal_column`, `unseal_column_counted` and `reseal_column` process Arrow columns under a
  `Keyset`. `inspect_column` counts the values of a sealed column by key. The module `columns` has them, too.
* `keys_from_env`, `keys_from_file` and `keys_from_wrapped` are key providers: they fetch keysets where the
  data is, such as on the workers of a cluster.
"""

from sealcomb import algorithms, columns, hazmat
from sealcomb._sealcomb import (
    AEGIS128L,
    AEGIS256,
    AESCCM,
    AESGCM,
    AESGCMSIV,
    AESOCB3,
    AESSIV,
    CMAC,
    XAES256GCM,
    Keyset,
    inspect_column,
    reseal_column,
    seal_column,
    unseal_column,
    unseal_column_counted,
)
from sealcomb.exceptions import (
    AlreadyFinalized,
    Forged,
    ForgedMessages,
    InvalidSignature,
    InvalidTag,
    KeysetError,
    LimitReached,
    NotSealed,
    SealcombError,
    UnknownKey,
    UnopenedRow,
    WrongType,
)
from sealcomb.keys import KeyProvider, keys_from_env, keys_from_file, keys_from_wrapped

__all__ = [
    "AEGIS128L",
    "AEGIS256",
    "AESCCM",
    "AESGCM",
    "AESGCMSIV",
    "AESOCB3",
    "AESSIV",
    "CMAC",
    "XAES256GCM",
    "AlreadyFinalized",
    "Forged",
    "ForgedMessages",
    "InvalidSignature",
    "InvalidTag",
    "KeyProvider",
    "Keyset",
    "KeysetError",
    "LimitReached",
    "NotSealed",
    "SealcombError",
    "UnknownKey",
    "UnopenedRow",
    "WrongType",
    "algorithms",
    "columns",
    "hazmat",
    "inspect_column",
    "keys_from_env",
    "keys_from_file",
    "keys_from_wrapped",
    "reseal_column",
    "seal_column",
    "unseal_column",
    "unseal_column_counted",
]
