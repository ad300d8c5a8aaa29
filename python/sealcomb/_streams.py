"""Standard input and output as files."""

from __future__ import annotations

import io
from typing import BinaryIO


class Rewindable(io.RawIOBase):
    """A file that is read once, but whose beginning can be read again until it is forgotten."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.head = bytearray()
        self.at = 0
        self.keeps = True

    def rewind(self) -> Rewindable:
        """Moves to the beginning, which must not have been forgotten and left behind."""
        self.at = 0
        return self

    def forget(self) -> None:
        """Stops recording what is read. What has been recorded can be read again."""
        self.keeps = False

    def read(self, size: int | None = -1) -> bytes:
        """Reads this number of bytes, or fewer only at the end of the file."""
        parts = [
            bytes(self.head[self.at :] if size is None or size < 0 else self.head[self.at : self.at + size])
        ]
        more = -1 if size is None or size < 0 else size - len(parts[0])
        if more:
            read = self.file.read(more) if more > 0 else self.file.read()
            parts.append(read)
            if self.keeps:
                self.head += read
        data = b"".join(parts)
        self.at += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or not 0 <= offset <= len(self.head) or self.at > len(self.head):
            raise io.UnsupportedOperation("standard input cannot be read again")
        self.at = offset
        return offset

    def tell(self) -> int:
        return self.at

    def readable(self) -> bool:
        return True


class StandardOutput(io.RawIOBase):
    """Standard output, which cannot be read again or sought. It stays open when this is closed."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.at = 0

    def write(self, data: object) -> int:
        size = memoryview(data).nbytes  # type: ignore[arg-type]
        self.file.write(data)  # type: ignore[call-overload]
        self.at += size
        return size

    def tell(self) -> int:
        return self.at

    def flush(self) -> None:
        self.file.flush()

    def writable(self) -> bool:
        return True
