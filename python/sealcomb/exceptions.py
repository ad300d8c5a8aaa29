"""The exceptions of sealcomb.

`InvalidTag`, `InvalidSignature` and `AlreadyFinalized` are those of pyca's `cryptography` if it is installed,
so programs that catch pyca's exceptions also catch these.
"""

__all__ = [
    "AlreadyFinalized",
    "ForgedMessages",
    "ForgedRow",
    "InvalidSignature",
    "InvalidTag",
    "KeysetError",
    "LimitReached",
    "NotSealed",
    "UnknownKey",
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


class ForgedMessages(InvalidTag):
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


class KeysetError(ValueError):
    """A keyset cannot be used. The text says why, and what to do."""


class LimitReached(RuntimeError):  # noqa: N818
    """A key of the policy `gcm` would seal more than 2^32 values in this process."""


class _Row(Exception):  # noqa: N818
    """A row of a column did not open."""

    chunk: int
    """The index of the chunk, counted from 0; 0 if the column is not chunked."""
    row: int
    """The index of the row in its chunk, counted from 0."""

    def __init__(self, reason: str, chunk: int, row: int) -> None:
        super().__init__(reason, chunk, row)
        self.reason, self.chunk, self.row = reason, chunk, row

    def __str__(self) -> str:
        return f"chunk {self.chunk}, row {self.row}: {self.reason}"


class ForgedRow(_Row, InvalidTag):
    """A value of a column did not verify: it was changed, or sealed with another context or row id."""


class NotSealed(_Row, ValueError):  # noqa: N818
    """A value of a column is not a sealed value: it was truncated, or never sealed."""


class WrongType(_Row, ValueError):  # noqa: N818
    """A value of a column opened, but is not of the type that was asked for."""


class UnknownKey(_Row, KeysetError):  # noqa: N818
    """A value of a column was sealed under a key that the keyset does not have, or cannot use."""

    key_id: int
    """The id of the key."""

    def __init__(self, reason: str, chunk: int, row: int, key_id: int) -> None:
        super().__init__(reason, chunk, row)
        self.args = (reason, chunk, row, key_id)
        self.key_id = key_id
