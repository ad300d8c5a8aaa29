"""The algorithm that `CMAC` takes, for programs without pyca's `cryptography`, whose classes do as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["AES"]


class AES:
    """A key of AES: 16, 24 or 32 bytes."""

    __slots__ = ("key",)

    name = "AES"
    block_size = 128
    key_sizes = frozenset([128, 192, 256])

    key: bytes

    def __init__(self, key: Buffer) -> None:
        """Copies the key.

        Raises:
            ValueError: It has another size.
            TypeError: It is not bytes-like.
        """
        view = memoryview(key)
        if view.format != "B":
            raise TypeError(f"a key is bytes, not items of the format {view.format!r}")
        self.key = view.tobytes()
        if self.key_size not in self.key_sizes:
            raise ValueError(f"Invalid key size ({self.key_size}) for AES.")

    @property
    def key_size(self) -> int:
        """Bits of the key."""
        return len(self.key) * 8

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled or copied")
