"""What sealcomb raises.

Where pyca's `cryptography` is installed, `InvalidTag`, `InvalidSignature` and `AlreadyFinalized` are its own,
so that a program that catches them goes on catching them.
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
]

try:
    from cryptography.exceptions import AlreadyFinalized, InvalidSignature, InvalidTag
except ImportError:

    class AlreadyFinalized(Exception):  # type: ignore[no-redef]  # noqa: N818
        """A `CMAC` is used after its end."""

    class InvalidSignature(Exception):  # type: ignore[no-redef]  # noqa: N818
        """A message's CMAC is another."""

    class InvalidTag(Exception):  # type: ignore[no-redef]  # noqa: N818
        """A message did not verify: it, its nonce, its associated data or its key has changed."""


class ForgedMessages(InvalidTag):
    """Messages of `decrypt_many` did not verify; nothing of the call's messages is returned."""

    indices: tuple[int, ...]
    """Which messages, counted from 0."""

    def __init__(self, indices: list[int]) -> None:
        super().__init__(indices)
        self.indices = tuple(indices)

    @property
    def index(self) -> int:
        """The first of them."""
        return self.indices[0]

    def __str__(self) -> str:
        few = self.indices[:10]
        shown = ", ".join(map(str, few)) + (", ..." if len(self.indices) > len(few) else "")
        return (
            f'{len(self.indices)} messages did not verify: {shown}; forged="none" gives None in their places'
        )


class KeysetError(ValueError):
    """A keyset is not usable as it is; the text says what to do."""


class LimitReached(RuntimeError):  # noqa: N818
    """A key of the policy `gcm` would seal more than 2^32 values in this process."""


class _Row(Exception):  # noqa: N818
    """A row of a column that was not opened."""

    chunk: int
    """Which chunk of the column, counted from 0; 0 where it has none."""
    row: int
    """Which row of that chunk, counted from 0."""

    def __init__(self, reason: str, chunk: int, row: int) -> None:
        super().__init__(reason, chunk, row)
        self.reason, self.chunk, self.row = reason, chunk, row

    def __str__(self) -> str:
        return f"chunk {self.chunk}, row {self.row}: {self.reason}"


class ForgedRow(_Row, InvalidTag):
    """A value of a column did not verify: it was changed, or sealed with another context or row id."""


class NotSealed(_Row, ValueError):  # noqa: N818
    """A value of a column is no sealed value: it was cut short, or never sealed."""


class UnknownKey(_Row, KeysetError):  # noqa: N818
    """A value of a column was sealed under a key that the keyset doesn't have."""

    key_id: int
    """The id of that key."""

    def __init__(self, reason: str, chunk: int, row: int, key_id: int) -> None:
        super().__init__(reason, chunk, row)
        self.args = (reason, chunk, row, key_id)
        self.key_id = key_id
