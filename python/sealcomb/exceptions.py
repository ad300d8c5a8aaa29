"""The exceptions of sealcomb.

`InvalidTag`, `InvalidSignature` and `AlreadyFinalized` are those of pyca's `cryptography` if it is installed,
so programs that catch pyca's exceptions also catch these. All others are `SealcombError`s.
"""

__all__ = [
    "AlreadyFinalized",
    "Forged",
    "ForgedMessages",
    "InvalidSignature",
    "InvalidTag",
    "KeysetError",
    "LimitReached",
    "NotSealed",
    "SealcombError",
    "UnknownKey",
    "UnopenedRow",
    "WrongType",
]

try:
    from cryptography.exceptions import AlreadyFinalized, InvalidSignature, InvalidTag
except ImportError:

    class AlreadyFinalized(Exception):  # type: ignore[no-redef]  # noqa: N818
        """A `CMAC` was used after it was finalized."""

    class InvalidSignature(Exception):  # type: ignore[no-redef]  # noqa: N818
        """A message does not have the expected CMAC."""

    class InvalidTag(Exception):  # type: ignore[no-redef]  # noqa: N818
        """A message did not verify: the message, nonce, associated data or key differs."""


class SealcombError(Exception):
    """The base of the exceptions of this package that pyca does not have."""


class ForgedMessages(SealcombError, InvalidTag):  # noqa: N818
    """Messages passed to `decrypt_many` did not verify. No message of the call is returned."""

    indices: tuple[int, ...]
    """The indices of the messages that did not verify, counted from 0."""

    def __init__(self, indices: list[int]) -> None:
        super().__init__(indices)
        self.indices = tuple(indices)

    @property
    def index(self) -> int:
        """The index of the first message that did not verify."""
        return self.indices[0]

    def __str__(self) -> str:
        first = self.indices[:10]
        shown = ", ".join(map(str, first)) + (", ..." if len(self.indices) > len(first) else "")
        return f'{len(self.indices)} messages did not verify: {shown}; forged="none" returns None for them'


class KeysetError(SealcombError, ValueError):
    """A keyset cannot be used. The text says why, and what to do."""


class LimitReached(SealcombError, RuntimeError):  # noqa: N818
    """A key of the policy `gcm` would seal more than 2^32 values in this process."""


class UnopenedRow(SealcombError):  # noqa: N818
    """A row of a column did not open."""

    reason: str
    """What is wrong with the value, and what to do."""
    chunk: int
    """The index of the chunk, counted from 0; 0 if the column is not chunked."""
    row: int
    """The index of the row in its chunk, counted from 0."""
    path: str
    """The path of the value in a nested column, such as `street`; empty if the column is not nested."""
    key_id: int | None
    """The id of the key in the value, for `Forged` and `UnknownKey`."""

    def __init__(self, reason: str, chunk: int, row: int, path: str = "", key_id: int | None = None) -> None:
        super().__init__(reason, chunk, row, path, key_id)
        self.reason, self.chunk, self.row, self.path, self.key_id = reason, chunk, row, path, key_id

    def __str__(self) -> str:
        path = f"{self.path}: " if self.path else ""
        return f"chunk {self.chunk}, row {self.row}: {path}{self.reason}"


class Forged(UnopenedRow, InvalidTag):
    """A value of a column did not verify: it was changed, or sealed with another context or row id."""


class NotSealed(UnopenedRow, ValueError):  # noqa: N818
    """A value of a column is not a sealed value: it was truncated, or never sealed."""


class WrongType(UnopenedRow, ValueError):  # noqa: N818
    """A value of a column opened, but is not of the type that was asked for."""


class UnknownKey(UnopenedRow, KeysetError):  # noqa: N818
    """A value of a column was sealed under a key that the keyset does not have, or cannot use."""
