"""The native part of `sealcomb`; everything of it is in `sealcomb` itself.

Bytes-like means: `bytes`, `bytearray`, `memoryview`, a numpy array of uint8, anything with the buffer
protocol whose items are unsigned bytes, in C order and without gaps. Other items are a `TypeError`, other
layouts a `BufferError`.

A call copies arguments that are not `bytes` before it checks or uses them, while it holds the GIL. If
another thread changes, resizes or frees an argument during the call, this affects neither what was checked
nor what is sealed. Messages in a numpy array are copied in rounds of about 4 MB.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn, Protocol, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = [
    "AESCCM",
    "AESGCM",
    "AESGCMSIV",
    "AESOCB3",
    "AESSIV",
    "CMAC",
    "Keyset",
    "encrypted_keyset",
    "inspect_column",
    "open_column",
    "open_column_counted",
    "reseal_column",
    "seal_column",
]

_Bytes2D: TypeAlias = NDArray[np.uint8]
_Policy: TypeAlias = Literal["random", "deterministic", "gcm"]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Arrow: TypeAlias = _ArrowArray | _ArrowStream

class _Aead:
    """What AESGCM, AESCCM, AESOCB3 and AESGCMSIV have in common. Keys are wiped when the object goes."""

    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A random key of so many bits: eight times what the constructor takes.

        Raises:
            ValueError: Any other number.
        """
    def encrypt(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None) -> bytes:
        """Seals a message: the ciphertext, followed by the tag.

        `associated_data` is authenticated, and not in the result.

        Raises:
            ValueError: The nonce has another length, or the message is over the mode's limit.
        """
    def encrypt_into(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None, buf: Buffer) -> int:
        """Seals a message into `buf`, which is exactly as long as the result, and returns that length.

        Raises:
            ValueError: As `encrypt`; or `buf` has another length.
            TypeError: `buf` is not writable.
        """
    def decrypt(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None) -> bytes:
        """Opens a message, the ciphertext followed by the tag.

        Raises:
            InvalidTag: It did not verify.
            ValueError: The nonce has another length.
        """
    def decrypt_into(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None, buf: Buffer) -> int:
        """Opens a message into `buf`, which is exactly as long as the message, and returns that length.

        Nothing is written to `buf` unless the message verified.

        Raises:
            InvalidTag: It did not verify.
            ValueError: The nonce or `buf` has another length.
            TypeError: `buf` is not writable.
        """
    @overload
    def encrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: list[Any] | tuple[Any, ...],
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Seals many messages at once.

        Args:
            nonces: A list with one for each message, an array of uint8 or another buffer of two dimensions
                with a row for each, or one flat buffer that has them one after the other.
            data: A list of messages, or an array of uint8 with a row for each.
            associated_data: A list with one for each message (`None` is the same as empty), an array or
                another buffer of two dimensions with a row for each, or one for all. Arrays may have any
                memory layout: Fortran order, views with gaps, negative strides, broadcast.
            threads: How many to use; `None` is one for each processor.

        Returns:
            A list of what `encrypt` gives for each; an array, if `data` is one.

        Raises:
            ValueError: Two messages have the same nonce, or what `encrypt` raises; nothing is sealed then.
            TypeError: An array is masked, or not of uint8 with two dimensions.
            RuntimeError: Another thread gave the array another shape during the call.
            MemoryError: There is no memory for the result.
        """
    @overload
    def encrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: _Bytes2D,
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        threads: int | None = None,
    ) -> _Bytes2D: ...
    @overload
    def decrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: list[Any] | tuple[Any, ...],
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> list[bytes]:
        """Opens many messages at once; the arguments are those of `encrypt_many`.

        Args:
            forged: `"raise"` raises if any message did not verify; `"none"` returns `None` in the places of
                those, and a list then, even if `data` is an array.

        Raises:
            ForgedMessages: Messages did not verify; its `indices` say which. It is an `InvalidTag`.
            ValueError: What `decrypt` raises.
        """
    @overload
    def decrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: _Bytes2D,
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> _Bytes2D: ...
    @overload
    def decrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: list[Any] | tuple[Any, ...] | _Bytes2D,
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        forged: Literal["none"],
        threads: int | None = None,
    ) -> list[bytes | None]: ...

@final
class AESGCM(_Aead):
    """AES-GCM (NIST SP 800-38D).

    Nonces have 8 to 128 bytes; one must never come twice under one key. Tags have 16 bytes. It behaves as
    pyca's, but that `decrypt_into` leaves nothing of a message that did not verify.
    """

    def __new__(cls, key: Buffer) -> AESGCM:
        """Expands the key, of 16, 24 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """

@final
class AESCCM(_Aead):
    """AES-CCM (NIST SP 800-38C).

    Nonces have 7 to 13 bytes; one must never come twice under one key. It behaves as pyca's, but that
    `decrypt_into` leaves nothing of a message that did not verify, and that a message too long for its nonce
    (over 65535 bytes with one of 13 bytes) is a `ValueError`.
    """

    def __new__(cls, key: Buffer, tag_length: int | None = None) -> AESCCM:
        """Expands the key, of 16, 24 or 32 bytes.

        Raises:
            ValueError: The key has another size, or `tag_length` is not 4, 6, 8, 10, 12, 14 or 16, which is
                the default.
        """

@final
class AESOCB3(_Aead):
    """AES-OCB3 (RFC 7253).

    Nonces have 12 to 15 bytes; one must never come twice under one key. Tags have 16 bytes. It behaves as
    pyca's, but that `decrypt_into` leaves nothing of a message that did not verify.
    """

    def __new__(cls, key: Buffer) -> AESOCB3:
        """Expands the key, of 16, 24 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """

@final
class AESGCMSIV(_Aead):
    """AES-GCM-SIV (RFC 8452).

    Nonces have 12 bytes; one that comes twice shows which messages are equal, and nothing else. Tags have 16
    bytes. It behaves as pyca's, but that `decrypt_into` leaves nothing of a message that did not verify, and
    that there are no keys of 24 bytes, which the RFC doesn't have either.
    """

    def __new__(cls, key: Buffer) -> AESGCMSIV:
        """Expands the key, of 16 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """

@final
class AESSIV:
    """AES-SIV (RFC 5297): the same message under the same key gives the same result, and nothing else leaks.

    As in pyca's `cryptography`, there is no nonce; who wants one takes it as the last of the associated
    strings. Keys are wiped when the object goes.
    """

    def __new__(cls, key: Buffer) -> AESSIV:
        """Expands the key, of 32, 48 or 64 bytes.

        Raises:
            ValueError: The key has another size.
        """
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """A random key of so many bits: 256, 384 or 512.

        Raises:
            ValueError: Any other number.
        """
    def encrypt(self, data: Buffer, associated_data: list[Any] | None) -> bytes:
        """Seals a message: the tag of 16 bytes, followed by the ciphertext.

        `associated_data` is a list of bytes-like strings. Where one ends and the next begins counts; `None`
        is the same as no strings, which is something else than one empty string.

        Raises:
            ValueError: There are more strings than AES-SIV takes.
        """
    def encrypt_into(self, data: Buffer, associated_data: list[Any] | None, buf: Buffer) -> int:
        """Seals a message into `buf`, which is exactly as long as the result, and returns that length.

        Raises:
            ValueError: As `encrypt`; or `buf` has another length.
            TypeError: `buf` is not writable.
        """
    def decrypt(self, data: Buffer, associated_data: list[Any] | None) -> bytes:
        """Opens a message, the tag followed by the ciphertext.

        Raises:
            InvalidTag: It did not verify.
        """
    def decrypt_into(self, data: Buffer, associated_data: list[Any] | None, buf: Buffer) -> int:
        """Opens a message into `buf`, which is exactly as long as the message, and returns that length.

        Nothing is written to `buf` unless the message verified.

        Raises:
            InvalidTag: It did not verify.
            ValueError: `buf` has another length.
            TypeError: `buf` is not writable.
        """
    @overload
    def encrypt_many(
        self,
        data: list[Any] | tuple[Any, ...],
        associated_data: list[Any] | None = None,
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Seals many messages at once.

        Args:
            data: A list of messages, or an array of uint8 with a row for each.
            associated_data: A list of strings, for all messages; or a list of such lists (or `None`), one for
                each.
            threads: How many to use; `None` is one for each processor.

        Returns:
            A list of what `encrypt` gives for each; an array, if `data` is one.

        Raises:
            ValueError: What `encrypt` raises; nothing is sealed then.
        """
    @overload
    def encrypt_many(
        self, data: _Bytes2D, associated_data: list[Any] | None = None, *, threads: int | None = None
    ) -> _Bytes2D: ...
    @overload
    def decrypt_many(
        self,
        data: list[Any] | tuple[Any, ...],
        associated_data: list[Any] | None = None,
        *,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> list[bytes]:
        """Opens many messages at once; the arguments are those of `encrypt_many`.

        Args:
            forged: `"raise"` raises if any message did not verify; `"none"` returns `None` in the places of
                those, and a list then, even if `data` is an array.

        Raises:
            ForgedMessages: Messages did not verify; its `indices` say which. It is an `InvalidTag`.
        """
    @overload
    def decrypt_many(
        self,
        data: _Bytes2D,
        associated_data: list[Any] | None = None,
        *,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> _Bytes2D: ...
    @overload
    def decrypt_many(
        self,
        data: list[Any] | tuple[Any, ...] | _Bytes2D,
        associated_data: list[Any] | None = None,
        *,
        forged: Literal["none"],
        threads: int | None = None,
    ) -> list[bytes | None]: ...

class _Aes(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def key(self) -> Buffer: ...

@final
class CMAC:
    """CMAC with AES, of a message that may come in pieces; it is kept until the end.

    `copy` gives a second one that goes its own way from here.
    """

    def __new__(cls, algorithm: _Aes, backend: object = None) -> CMAC:
        """Takes `sealcomb.algorithms.AES`, or pyca's; `backend` is there for pyca's signature, and ignored.

        Raises:
            TypeError: `algorithm` is not AES.
        """
    def update(self, data: Buffer) -> None:
        """Takes the next piece.

        Raises:
            AlreadyFinalized: `finalize` or `verify` was called.
        """
    def finalize(self) -> bytes:
        """Ends the message, and gives its tag of 16 bytes.

        Raises:
            AlreadyFinalized: `finalize` or `verify` was called before.
        """
    def verify(self, signature: bytes) -> None:
        """Ends the message, and compares its tag in constant time.

        Raises:
            InvalidSignature: It is another.
            AlreadyFinalized: `finalize` or `verify` was called before.
        """
    def copy(self) -> CMAC:
        """A second one, with the same key and the same pieces so far.

        Raises:
            AlreadyFinalized: `finalize` or `verify` was called.
        """

@final
class Keyset:
    """The keys of a column: the primary seals, all of them open.

    The primary's type is the policy: `random` is AES-GCM-SIV with random nonces, `deterministic` is AES-SIV,
    `gcm` is AES-GCM with random nonces. A keyset is immutable, shows its ids and never its keys, wipes them
    when it goes, and refuses to be pickled or copied: send a `KeyProvider` instead.
    """

    @staticmethod
    def from_tink_json(text: str) -> Keyset:
        """Reads a Tink keyset in JSON, in every form that Tink reads.

        Columns use the enabled keys of the types AesGcmSivKey, AesSivKey and AesGcmKey with the output prefix
        TINK. The keyset keeps all other keys, and `rotated` and `secret_tink_json` leave them unchanged: keys
        that are disabled or destroyed, or have another type or prefix. Opening a value that such a key has
        sealed raises `UnknownKey` with the reason. Unknown JSON fields are kept too.

        Raises:
            KeysetError: The text is not a keyset, or is an encrypted one; the keyset has two primaries;
                columns cannot use the primary; an enabled key is malformed or has the wrong size; or two
                usable keys with one id seal in different formats.
        """
    @staticmethod
    def from_tink_binary(data: Buffer) -> Keyset:
        """Reads a serialized Tink keyset, which is what a wrapped one is once it is unwrapped.

        It keeps keys as `from_tink_json` does, and drops unknown fields.

        Raises:
            KeysetError: As `from_tink_json`.
        """
    @staticmethod
    def from_keys(keys: Mapping[int, Buffer], primary: int, policy: _Policy = "random") -> Keyset:
        """Takes keys by their ids, each 0 to 2^32 - 1, all for one policy.

        `random` and `gcm` take keys of 32 bytes (or 16), `deterministic` of 64.

        Raises:
            KeysetError: A key has another size, or `primary` is not among them.
            ValueError: There is no such policy.
        """
    @staticmethod
    def generate(policy: _Policy = "random") -> Keyset:
        """A keyset with one new key of random bytes from the operating system: 32, or 64 if deterministic.

        Raises:
            ValueError: There is no such policy.
        """
    def rotated(self) -> Keyset:
        """The same keyset with a new key, of the same policy, as the primary. Every other key stays as it is.

        `reseal_column` moves columns to it.
        """
    def secret_tink_json(self) -> str:
        """The keyset as Tink's JSON, **with its keys in the clear**, to be kept where secrets are.

        It contains every key that was read, including those that columns cannot use, with their status.

        It is the only way for keys to leave; without it, a generated keyset could not be kept at all.
        """
    @property
    def primary(self) -> int:
        """The id of the key that seals."""
    @property
    def key_ids(self) -> list[int]:
        """The ids of all keys that open, in ascending order."""
    @property
    def policy(self) -> _Policy:
        """What the primary is for."""
    def __reduce_ex__(self, *args: object) -> NoReturn: ...

def encrypted_keyset(text: str) -> bytes | None:
    """The encrypted keyset in a JSON file of Tink's, or `None` if it isn't one."""

def seal_column(
    array: _Arrow,
    keyset: Keyset,
    *,
    context: Buffer = b"",
    row_ids: _Arrow | None = None,
    threads: int | None = None,
) -> Any:
    """Seals every value of a column under the keyset's primary key.

    Args:
        array: An Arrow array or chunked array of whatever library: Binary, LargeBinary, BinaryView,
            FixedSizeBinary, Utf8, LargeUtf8 or Utf8View. It is read where it is, once it is validated.
        keyset: The keys, and with them the policy.
        context: What is authenticated with every value, such as `b"people.ssn"`: a value that is moved to a
            column with another context does not open.
        row_ids: A column of ids as long as `array`, without nulls, of integers (of any width; 7 is the same
            id in all), bytes or text: a value that is moved to a row with another id does not open.
        threads: How many to use; `None` is one for each processor. The result does not depend on it.

    Returns:
        A column as long, of type Binary, or LargeBinary if `array` has 64-bit offsets or the result takes
        them. Nulls stay null. It is of pyarrow or polars if `array` is, else of arro3, which every Arrow
        library reads; chunked if `array` is, in the same chunks.

    Raises:
        TypeError: `array` is no Arrow array, or of another type.
        ValueError: `array` or `row_ids` is not valid Arrow; `row_ids` has another length, or nulls.
        LimitReached: The policy is `gcm`, and the key would have sealed more than 2^32 values in this
            process.
        KeyboardInterrupt: Ctrl-C; so in the functions below.

    A sealed value is as Tink writes it: a byte 1, the key's id in four bytes, then for AES-GCM-SIV and
        AES-GCM the nonce of 12 bytes, the ciphertext and the tag of 16 bytes, or for AES-SIV the tag and the
        ciphertext. The associated data is `context`; with row ids it is the context's length in eight bytes,
        the context, and the id (eight bytes for an integer); all of them big-endian.
    """

def open_column(
    array: _Arrow,
    keyset: Keyset,
    *,
    context: Buffer = b"",
    row_ids: _Arrow | None = None,
    forged: Literal["raise", "null"] = "raise",
    as_type: Literal["binary", "utf8"] = "binary",
    threads: int | None = None,
) -> Any:
    """Opens every value of a sealed column, each under the key that it names.

    Args:
        array: A sealed column: Binary, LargeBinary, BinaryView or FixedSizeBinary.
        keyset: The keys.
        context: What the column was sealed with.
        row_ids: What the column was sealed with.
        forged: What becomes of a value that does not open: `"raise"` raises for the first one, `"null"` puts
            a null in its place, and `open_column_counted` says how many there were.
        as_type: `"binary"`, or `"utf8"` for text, which is checked to be UTF-8.
        threads: How many to use; `None` is one for each processor.

    Returns:
        A column as `seal_column` gives it: Binary or LargeBinary, or Utf8 or LargeUtf8.

    Raises:
        ForgedRow: A value did not verify, in the `chunk` and `row` that it names. It is an `InvalidTag`.
        UnknownKey: A value was sealed under a key that the keyset doesn't have. It is a `KeysetError`.
        NotSealed: A value is no sealed value.
        TypeError: `array` is no Arrow array, or of another type.
        ValueError: `row_ids` has another length or nulls; or a value is not UTF-8.
    """

def open_column_counted(
    array: _Arrow,
    keyset: Keyset,
    *,
    context: Buffer = b"",
    row_ids: _Arrow | None = None,
    as_type: Literal["binary", "utf8"] = "binary",
    threads: int | None = None,
) -> tuple[Any, int]:
    """Opens a column as `open_column(forged="null")` does, and says how many values did not open.

    Raises:
        TypeError, ValueError: As `open_column`.
    """

def reseal_column(
    array: _Arrow,
    keyset: Keyset,
    *,
    context: Buffer = b"",
    row_ids: _Arrow | None = None,
    new_context: Buffer | None = None,
    new_row_ids: _Arrow | None = None,
    forged: Literal["raise", "null"] = "raise",
    threads: int | None = None,
) -> Any:
    """Opens a column and seals it under the primary key, in one pass.

    That is for after a rotation, or for another context.

    Args:
        new_context: The context to seal with; `None` is the same as before.
        new_row_ids: The row ids to seal with; `None` are the same as before.

    The other arguments, the result and what is raised are those of `open_column` and `seal_column`.
    """

def inspect_column(array: _Arrow) -> dict[int, int] | None:
    """How many values of a sealed column there are under each key id; `None` if any is not a sealed one.

    It takes no keys, and so believes what the values say of themselves.

    Raises:
        TypeError: `array` is no Arrow array.
    """
