"""The algorithm for `CMAC`, for programs without pyca's `cryptography`. `CMAC` also takes pyca's `AES`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["AES"]


class AES:
    """An AES key of 16, 24 or 32 bytes."""

    __slots__ = ("key",)

    name = "AES"
    block_size = 128
    key_sizes = frozenset([128, 192, 256])

    key: bytes

    def __init__(self, key: Buffer) -> None:
        """Creates the algorithm with a copy of a bytes-like key.

        Raises:
            ValueError: The key has another size.
            TypeError: The key is not bytes-like.
        """
        view = memoryview(key)
        if view.format != "B":
            raise TypeError(f"key has items of the format {view.format!r}; expected bytes")
        self.key = view.tobytes()
        if self.key_size not in self.key_sizes:
            raise ValueError(f"Invalid key size ({self.key_size}) for AES.")

    @property
    def key_size(self) -> int:
        """The size of the key in bits."""
        return len(self.key) * 8

    def __reduce__(self) -> NoReturn:
        raise TypeError("an AES key is not pickled or copied")
