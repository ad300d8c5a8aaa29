"""The native extension module. Import its public names from `sealcomb` and `sealcomb.hazmat`.

A bytes-like argument is `bytes`, `bytearray`, `memoryview`, a numpy array of uint8, or any other object with
the buffer protocol whose items are unsigned bytes, C-contiguous. Other items raise `TypeError`, other layouts
`BufferError`.

Arguments other than `bytes` are copied under the GIL before they are checked or used. Another thread that
changes, resizes or frees an argument during the call affects neither the checks nor the sealed data. Messages
in a numpy array are copied and processed at most about 4 MB at a time.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NoReturn, Protocol, TypeAlias, TypeVar, final, overload

from typing_extensions import Buffer

__all__ = [
    "AEGIS128L",
    "AEGIS256",
    "AESCCM",
    "AESGCM",
    "AESGCMSIV",
    "AESHCTR2",
    "AESOCB3",
    "AESSIV",
    "AESXTS",
    "CMAC",
    "XAES256GCM",
    "Keyset",
    "element_ids",
    "encrypted_keyset",
    "inspect_column",
    "reseal_column",
    "seal_column",
    "unseal_column",
    "unseal_column_counted",
]

class _Array(Protocol):
    """A numpy array, of uint8 and with a message per row."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...

_Rows = TypeVar("_Rows", bound=_Array)
_Policy: TypeAlias = Literal["random", "xaes", "deterministic", "gcm"]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Arrow: TypeAlias = _ArrowArray | _ArrowStream
# A column of pandas, Polars or pyarrow, of which the result is one, too.
_Column = TypeVar("_Column", bound=_Arrow)
# A type of pyarrow, of Polars, or of another library that exports it with `__arrow_c_schema__`.
_ArrowType: TypeAlias = Any

class _Aead:
    """The common methods of the AEADs with nonces. Keys are zeroized on drop."""

    nonce_length: ClassVar[int]
    """The standard length of a nonce in bytes."""

    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Returns a random key of `bit_length` bits: 128, 192 or 256; for `AESGCMSIV`, 128 or 256.

        Raises:
            ValueError: `bit_length` is another number.
        """
    def encrypt(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None) -> bytes:
        """Returns the sealed message: the ciphertext, followed by the tag.

        `associated_data` is authenticated, but not part of the result. `None` means empty.

        Raises:
            ValueError: The nonce has an unsupported length, or the message exceeds the mode's limit.
        """
    def encrypt_into(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None, buf: Buffer) -> int:
        """Seals a message into `buf`, and returns the number of bytes written.

        `buf` must have exactly the length of the ciphertext plus the tag.

        Raises:
            ValueError: The length of the nonce or of `buf` is wrong, or the message exceeds the mode's limit.
            TypeError: `buf` is not writable.
        """
    def decrypt(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None) -> bytes:
        """Returns the opened message; `data` is the ciphertext followed by the tag.

        Raises:
            InvalidTag: The message did not verify.
            ValueError: The nonce has an unsupported length.
        """
    def decrypt_into(self, nonce: Buffer, data: Buffer, associated_data: Buffer | None, buf: Buffer) -> int:
        """Opens a message into `buf`, and returns the number of bytes written.

        `buf` must have exactly the length of `data` without the tag. It stays unchanged unless the message
        verifies.

        Raises:
            InvalidTag: The message did not verify.
            ValueError: The length of the nonce or of `buf` is wrong.
            TypeError: `buf` is not writable.
        """
    @overload
    def encrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer],
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Seals many messages in one call.

        Args:
            nonces: One nonce per message: a list, a two-dimensional uint8 array or buffer with one row per
                message, or a flat buffer of concatenated nonces of `nonce_length` bytes.
            data: A list of messages, or a uint8 array with one row per message.
            associated_data: A list with one item per message (`None` means empty), a two-dimensional array or
                buffer with one row per message, or one bytes-like object for all messages. Arrays may have
                any memory layout: Fortran order, gaps, negative strides, broadcast views.
            threads: Number of threads. `None` uses all processors.

        Returns:
            A list with the result of `encrypt` for each message, or an array if `data` is an array.

        Raises:
            ValueError: Two messages have the same nonce, or `encrypt` would raise it for a message. Nothing
                is returned then.
            TypeError: An array is masked, not uint8, or not two-dimensional.
            RuntimeError: Another thread changed the shape of an array during the call.
            MemoryError: There is not enough memory for the result.
        """
    @overload
    def encrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: _Rows,
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        threads: int | None = None,
    ) -> _Rows: ...
    @overload
    def decrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer],
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> list[bytes]:
        """Opens many messages in one call.

        Args:
            nonces: One nonce per message, as in `encrypt_many`.
            data: The sealed messages: a list, or a uint8 array with one row per message.
            associated_data: The associated data, as in `encrypt_many`.
            forged: `"raise"` raises if any message does not verify. `"none"` returns a list, even if `data`
                is an array, with `None` for each message that does not verify.
            threads: Number of threads. `None` uses all processors.

        Raises:
            ForgedMessages: Messages did not verify; `indices` lists them. A subclass of `InvalidTag`.
            ValueError: A nonce has an unsupported length.
        """
    @overload
    def decrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: _Rows,
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> _Rows: ...
    @overload
    def decrypt_many(
        self,
        nonces: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer] | _Array,
        associated_data: Sequence[Buffer | None] | Buffer | None = None,
        *,
        forged: Literal["none"],
        threads: int | None = None,
    ) -> list[bytes | None]: ...

@final
class AESGCM(_Aead):
    """AES-GCM (NIST SP 800-38D).

    Nonces have 8 to 128 bytes, and must never repeat under one key. Tags have 16 bytes. Unlike in pyca's
    `cryptography`, `decrypt_into` writes nothing unless the message verifies.
    """

    def __new__(cls, key: Buffer) -> AESGCM:
        """Creates a cipher from a key of 16, 24 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """

@final
class AESCCM(_Aead):
    """AES-CCM (NIST SP 800-38C).

    Nonces have 7 to 13 bytes, and must never repeat under one key. Unlike in pyca's `cryptography`,
    `decrypt_into` writes nothing unless the message verifies, and a message that is too long for its nonce
    (more than 65535 bytes with a 13-byte nonce) raises `ValueError`.
    """

    def __new__(cls, key: Buffer, tag_length: int | None = None) -> AESCCM:
        """Creates a cipher from a key of 16, 24 or 32 bytes.

        Args:
            key: The key.
            tag_length: The size of the tags in bytes: 4, 6, 8, 10, 12, 14 or 16. `None` means 16.

        Raises:
            ValueError: `key` or `tag_length` has another size.
        """

@final
class AESOCB3(_Aead):
    """AES-OCB3 (RFC 7253).

    Nonces have 12 to 15 bytes, and must never repeat under one key. Tags have 16 bytes. Unlike in pyca's
    `cryptography`, `decrypt_into` writes nothing unless the message verifies.
    """

    def __new__(cls, key: Buffer) -> AESOCB3:
        """Creates a cipher from a key of 16, 24 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """

@final
class AESGCMSIV(_Aead):
    """AES-GCM-SIV (RFC 8452).

    Nonces have 12 bytes. A repeated nonce reveals which messages are equal, and nothing else. Tags have 16
    bytes. Unlike in pyca's `cryptography`, `decrypt_into` writes nothing unless the message verifies, and
    there are no 24-byte keys, which the RFC does not define.
    """

    def __new__(cls, key: Buffer) -> AESGCMSIV:
        """Creates a cipher from a key of 16 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """

@final
class XAES256GCM(_Aead):
    """XAES-256-GCM (C2SP), which pyca's `cryptography` does not have.

    Nonces have 24 bytes, so random ones never repeat in practice, with any number of messages. A nonce must
    never repeat under one key. Tags have 16 bytes.
    """

    def __new__(cls, key: Buffer) -> XAES256GCM:
        """Creates a cipher from a key of 32 bytes.

        Raises:
            ValueError: The key has another size.
        """
    @staticmethod
    def generate_key(bit_length: int = 256) -> bytes:
        """Returns a random key of 32 bytes.

        Raises:
            ValueError: `bit_length` is not 256.
        """

@final
class AEGIS128L(_Aead):
    """AEGIS-128L (RFC 10032), which pyca's `cryptography` does not have.

    Nonces have 16 bytes, and must never repeat under one key. Up to 2^48 random ones are safe. Tags have 16
    bytes.
    """

    def __new__(cls, key: Buffer) -> AEGIS128L:
        """Creates a cipher from a key of 16 bytes.

        Raises:
            ValueError: The key has another size.
        """
    @staticmethod
    def generate_key(bit_length: int = 128) -> bytes:
        """Returns a random key of 16 bytes.

        Raises:
            ValueError: `bit_length` is not 128.
        """

@final
class AEGIS256(_Aead):
    """AEGIS-256 (RFC 10032), which pyca's `cryptography` does not have.

    Nonces have 32 bytes, so random ones never repeat in practice, with any number of messages. A nonce must
    never repeat under one key. Tags have 16 bytes.
    """

    def __new__(cls, key: Buffer) -> AEGIS256:
        """Creates a cipher from a key of 32 bytes.

        Raises:
            ValueError: The key has another size.
        """
    @staticmethod
    def generate_key(bit_length: int = 256) -> bytes:
        """Returns a random key of 32 bytes.

        Raises:
            ValueError: `bit_length` is not 256.
        """

@final
class AESHCTR2:
    """AES-HCTR2 (IACR ePrint 2021/1441), a cipher of whole messages, **which does not authenticate**.

    Every bit of the ciphertext depends on every bit of the message, the tweak and the key. Messages have 16
    bytes or more, and tweaks any length. A tweak may repeat: then, equal messages have equal ciphertexts, and
    nothing else is revealed. Changes of the ciphertext go unnoticed, but make the whole message random.

    Linux encrypts file names with it (fscrypt). Keys are zeroized on drop.
    """

    def __new__(cls, key: Buffer) -> AESHCTR2:
        """Creates a cipher from a key of 16 or 32 bytes.

        Raises:
            ValueError: The key has another size.
        """
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Returns a random key of `bit_length` bits: 128 or 256.

        Raises:
            ValueError: `bit_length` is another number.
        """
    def encrypt(self, tweak: Buffer, data: Buffer) -> bytes:
        """Returns the encrypted message, which has the length of `data`.

        Raises:
            ValueError: `data` has fewer than 16 bytes.
        """
    def encrypt_into(self, tweak: Buffer, data: Buffer, buf: Buffer) -> int:
        """Encrypts a message into `buf`, which has the length of `data`, and returns this length.

        Raises:
            ValueError: The length of `data` or of `buf` is wrong.
            TypeError: `buf` is not writable.
        """
    def decrypt(self, tweak: Buffer, data: Buffer) -> bytes:
        """Returns the decrypted message, which has the length of `data`. Nothing is verified.

        Raises:
            ValueError: `data` has fewer than 16 bytes.
        """
    def decrypt_into(self, tweak: Buffer, data: Buffer, buf: Buffer) -> int:
        """Decrypts a message into `buf`, which has the length of `data`, and returns this length.

        Raises:
            ValueError: The length of `data` or of `buf` is wrong.
            TypeError: `buf` is not writable.
        """
    @overload
    def encrypt_many(
        self,
        tweaks: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer],
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Encrypts many messages in one call.

        Args:
            tweaks: A list of tweaks, one per message; a two-dimensional uint8 array or buffer with one row
                per message; or one tweak for all messages. Tweaks may repeat.
            data: A list of messages, or a uint8 array with one row per message.
            threads: Number of threads. `None` uses all processors.

        Returns:
            A list with the result of `encrypt` for each message, or an array if `data` is an array.

        Raises:
            ValueError: `encrypt` would raise it for a message. Nothing is returned then.
        """
    @overload
    def encrypt_many(
        self, tweaks: Sequence[Buffer] | Buffer, data: _Rows, *, threads: int | None = None
    ) -> _Rows: ...
    @overload
    def decrypt_many(
        self,
        tweaks: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer],
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Decrypts many messages in one call. Arguments and results are like those of `encrypt_many`.

        Raises:
            ValueError: `decrypt` would raise it for a message. Nothing is returned then.
        """
    @overload
    def decrypt_many(
        self, tweaks: Sequence[Buffer] | Buffer, data: _Rows, *, threads: int | None = None
    ) -> _Rows: ...

@final
class AESXTS:
    """AES-XTS (IEEE Std 1619) for the sectors of a disk, **which does not authenticate**.

    A data unit (sector) has 16 to 2^24 bytes, and a tweak of 16 bytes, usually the number of the sector in
    little-endian order. Changes of the ciphertext go unnoticed. A data unit that is encrypted again under its
    tweak reveals which of its 16-byte blocks have changed.

    In pyca's `cryptography`, this cipher is `modes.XTS`. Keys are zeroized on drop.
    """

    def __new__(cls, key: Buffer) -> AESXTS:
        """Creates a cipher from a key of 32 bytes (AES-128) or 64 bytes (AES-256).

        Raises:
            ValueError: The key has another size, or its halves are equal.
        """
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Returns a random key of `bit_length` bits: 256 or 512.

        Raises:
            ValueError: `bit_length` is another number.
        """
    def encrypt(self, tweak: Buffer, data: Buffer) -> bytes:
        """Returns the encrypted data unit, which has the length of `data`.

        Raises:
            ValueError: The tweak does not have 16 bytes, or `data` fewer than 16 or more than 2^24.
        """
    def encrypt_into(self, tweak: Buffer, data: Buffer, buf: Buffer) -> int:
        """Encrypts a data unit into `buf`, which has the length of `data`, and returns this length.

        Raises:
            ValueError: The length of the tweak, of `data` or of `buf` is wrong.
            TypeError: `buf` is not writable.
        """
    def decrypt(self, tweak: Buffer, data: Buffer) -> bytes:
        """Returns the decrypted data unit, which has the length of `data`. Nothing is verified.

        Raises:
            ValueError: The tweak does not have 16 bytes, or `data` fewer than 16 or more than 2^24.
        """
    def decrypt_into(self, tweak: Buffer, data: Buffer, buf: Buffer) -> int:
        """Decrypts a data unit into `buf`, which has the length of `data`, and returns this length.

        Raises:
            ValueError: The length of the tweak, of `data` or of `buf` is wrong.
            TypeError: `buf` is not writable.
        """
    def encrypt_sectors(self, first: int, data: Buffer, sector_size: int = 512, *, step: int = 1) -> bytes:
        """Encrypts consecutive sectors, whose tweaks are their numbers in little-endian order.

        Args:
            first: The number of the first sector, below 2^64.
            data: The sectors. The last one may be shorter, but not than 16 bytes.
            sector_size: The size of a sector in bytes, 16 to 2^24.
            step: The difference of the numbers of consecutive sectors. LUKS and dm-crypt count in units of
                512 bytes: pass 8 for their sectors of 4096 bytes.

        Raises:
            ValueError: `sector_size` or the size of the last sector is out of range.
            OverflowError: A number is negative, or `first` or `step` is 2^64 or more.
        """
    def decrypt_sectors(self, first: int, data: Buffer, sector_size: int = 512, *, step: int = 1) -> bytes:
        """Decrypts consecutive sectors, with the arguments of `encrypt_sectors`. Nothing is verified."""
    @overload
    def encrypt_many(
        self,
        tweaks: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer],
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Encrypts many data units in one call.

        Args:
            tweaks: One tweak per data unit: a list, a two-dimensional uint8 array or buffer with one row per
                data unit, or a flat buffer of concatenated tweaks. Tweaks may repeat.
            data: A list of data units, or a uint8 array with one row per data unit.
            threads: Number of threads. `None` uses all processors.

        Returns:
            A list with the result of `encrypt` for each data unit, or an array if `data` is an array.

        Raises:
            ValueError: `encrypt` would raise it for a data unit. Nothing is returned then.
        """
    @overload
    def encrypt_many(
        self, tweaks: Sequence[Buffer] | Buffer, data: _Rows, *, threads: int | None = None
    ) -> _Rows: ...
    @overload
    def decrypt_many(
        self,
        tweaks: Sequence[Buffer] | Buffer,
        data: Sequence[Buffer],
        *,
        threads: int | None = None,
    ) -> list[bytes]:
        """Decrypts many data units in one call. Arguments and results are like those of `encrypt_many`.

        Raises:
            ValueError: `decrypt` would raise it for a data unit. Nothing is returned then.
        """
    @overload
    def decrypt_many(
        self, tweaks: Sequence[Buffer] | Buffer, data: _Rows, *, threads: int | None = None
    ) -> _Rows: ...

@final
class AESSIV:
    """AES-SIV (RFC 5297), which is deterministic: equal messages with equal associated data stay equal.

    The methods take no nonce, like those of pyca's `cryptography`. To use one, pass it as the last associated
    string. Keys are zeroized on drop.
    """

    def __new__(cls, key: Buffer) -> AESSIV:
        """Creates a cipher from a key of 32, 48 or 64 bytes.

        Raises:
            ValueError: The key has another size.
        """
    @staticmethod
    def generate_key(bit_length: int) -> bytes:
        """Returns a random key of `bit_length` bits: 256, 384 or 512.

        Raises:
            ValueError: `bit_length` is another number.
        """
    def encrypt(self, data: Buffer, associated_data: list[Buffer] | None) -> bytes:
        """Returns the sealed message: the 16-byte tag, followed by the ciphertext.

        `associated_data` is a list of bytes-like strings. The boundaries between them are authenticated.
        `None` means no strings, which differs from one empty string.

        Raises:
            ValueError: There are more strings than AES-SIV supports.
        """
    def encrypt_into(self, data: Buffer, associated_data: list[Buffer] | None, buf: Buffer) -> int:
        """Seals a message into `buf`, and returns the number of bytes written.

        `buf` must have exactly the length of the tag plus the message.

        Raises:
            ValueError: `buf` has another length, or there are more strings than AES-SIV supports.
            TypeError: `buf` is not writable.
        """
    def decrypt(self, data: Buffer, associated_data: list[Buffer] | None) -> bytes:
        """Returns the opened message; `data` is the tag followed by the ciphertext.

        Raises:
            InvalidTag: The message did not verify.
        """
    def decrypt_into(self, data: Buffer, associated_data: list[Buffer] | None, buf: Buffer) -> int:
        """Opens a message into `buf`, and returns the number of bytes written.

        `buf` must have exactly the length of `data` without the tag. It stays unchanged unless the message
        verifies.

        Raises:
            InvalidTag: The message did not verify.
            ValueError: `buf` has another length.
            TypeError: `buf` is not writable.
        """
    @overload
    def encrypt_many(
        self,
        data: Sequence[Buffer],
        associated_data: list[Buffer] | None = None,
        *,
        associated_data_each: list[list[Buffer] | None] | None = None,
        threads: int | None = None,
    ) -> list[bytes]:
        """Seals many messages in one call.

        Args:
            data: A list of messages, or a uint8 array with one row per message.
            associated_data: A list of strings for all messages. `None` means no strings.
            associated_data_each: Instead, a list with one such list (or `None`) per message.
            threads: Number of threads. `None` uses all processors.

        Returns:
            A list with the result of `encrypt` for each message, or an array if `data` is an array.

        Raises:
            ValueError: `encrypt` would raise it for a message, `associated_data_each` has another number of
                lists than there are messages, or `associated_data` is given, too. Nothing is returned then.
        """
    @overload
    def encrypt_many(
        self,
        data: _Rows,
        associated_data: list[Buffer] | None = None,
        *,
        associated_data_each: list[list[Buffer] | None] | None = None,
        threads: int | None = None,
    ) -> _Rows: ...
    @overload
    def decrypt_many(
        self,
        data: Sequence[Buffer],
        associated_data: list[Buffer] | None = None,
        *,
        associated_data_each: list[list[Buffer] | None] | None = None,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> list[bytes]:
        """Opens many messages in one call.

        Args:
            data: The sealed messages: a list, or a uint8 array with one row per message.
            associated_data: The strings for all messages, as in `encrypt_many`.
            associated_data_each: Instead, those of each message.
            forged: `"raise"` raises if any message does not verify. `"none"` returns a list, even if `data`
                is an array, with `None` for each message that does not verify.
            threads: Number of threads. `None` uses all processors.

        Raises:
            ForgedMessages: Messages did not verify; `indices` lists them. A subclass of `InvalidTag`.
        """
    @overload
    def decrypt_many(
        self,
        data: _Rows,
        associated_data: list[Buffer] | None = None,
        *,
        associated_data_each: list[list[Buffer] | None] | None = None,
        forged: Literal["raise"] = "raise",
        threads: int | None = None,
    ) -> _Rows: ...
    @overload
    def decrypt_many(
        self,
        data: Sequence[Buffer] | _Array,
        associated_data: list[Buffer] | None = None,
        *,
        associated_data_each: list[list[Buffer] | None] | None = None,
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
    """AES-CMAC (NIST SP 800-38B). The message is passed in one or more pieces, and kept until `finalize`."""

    def __new__(cls, algorithm: _Aes, backend: object = None) -> CMAC:
        """Starts a message under the key of `algorithm`: a `sealcomb.algorithms.AES`, or pyca's `AES`.

        `backend` is ignored. It exists because pyca's constructor has it.

        Raises:
            TypeError: `algorithm` is not AES.
        """
    def update(self, data: Buffer) -> None:
        """Appends a piece to the message.

        Raises:
            AlreadyFinalized: `finalize` or `verify` was called before.
        """
    def finalize(self) -> bytes:
        """Ends the message, and returns its 16-byte tag.

        Raises:
            AlreadyFinalized: `finalize` or `verify` was called before.
        """
    def verify(self, signature: bytes) -> None:
        """Ends the message, and compares its tag with `signature` in constant time.

        Raises:
            InvalidSignature: The tags differ.
            AlreadyFinalized: `finalize` or `verify` was called before.
        """
    def copy(self) -> CMAC:
        """Returns an independent copy, with the same key and the message so far.

        Raises:
            AlreadyFinalized: `finalize` or `verify` was called before.
        """

@final
class Keyset:
    """One or more keys for columns: the primary key seals, and every key opens.

    The type of the primary key determines the policy: `random` is AES-GCM-SIV with random nonces, `xaes` is
    XAES-256-GCM with random nonces of 24 bytes, `deterministic` is AES-SIV, and `gcm` is AES-GCM with random
    nonces. A keyset is immutable. Only `secret_tink_json` shows its keys. They are zeroized on drop. A keyset
    refuses to be pickled or copied. Send a `KeyProvider` instead.
    """

    @staticmethod
    def from_tink_json(text: str) -> Keyset:
        """Reads a Tink keyset in JSON, in every form that Tink reads.

        Columns use enabled keys of the types AesGcmSivKey, XAesGcmKey (with a salt of 12 bytes), AesSivKey
        and AesGcmKey with the output prefix TINK. `rotated` and `secret_tink_json` retain all other keys
        unchanged (disabled, destroyed, of another type, salt size or prefix), and unknown JSON fields.
        Opening a value that was sealed under such a key raises `UnknownKey` with the reason.

        Raises:
            KeysetError: The text is not a keyset or is an encrypted one, the keyset has two primaries or one
                that columns cannot use, an enabled key is malformed or has the wrong size, or two
                usable keys with the same id seal in different formats.
        """
    @staticmethod
    def from_tink_binary(data: Buffer) -> Keyset:
        """Reads a serialized Tink keyset (Protocol Buffers), such as one decrypted by a KMS.

        Keys that columns cannot use are retained, as with `from_tink_json`. Unknown fields are dropped.

        Raises:
            KeysetError: The keyset is invalid; see `from_tink_json`.
        """
    @staticmethod
    def from_keys(keys: Mapping[int, Buffer], primary: int, policy: _Policy = "random") -> Keyset:
        """Creates a keyset from raw keys.

        Args:
            keys: The keys by id, 0 to 2^32 - 1: 32 (or 16) bytes each for `random` and `gcm`, 32 bytes for
                `xaes`, 64 bytes for `deterministic`.
            primary: The id of the key that seals.
            policy: The policy of all keys.

        Raises:
            KeysetError: A key has another size, or `primary` is not among the keys.
            ValueError: The policy is unknown.
            OverflowError: An id is negative, or 2^32 or more.
        """
    @staticmethod
    def generate(policy: _Policy = "random") -> Keyset:
        """Creates a keyset with one random key from the operating system.

        The key has 64 bytes if the policy is `deterministic`, and otherwise 32.

        Raises:
            ValueError: The policy is unknown.
        """
    def rotated(self) -> Keyset:
        """Returns a keyset with a new primary key of the same policy. The existing keys stay, and still open.

        Use `reseal_column` to move columns to the new key.
        """
    def secret_tink_json(self) -> str:
        """Returns the keyset as Tink JSON, **with all keys in plaintext**. Store it where you store secrets.

        The JSON contains every key that was read, with its status, even if columns cannot use it. No other
        method exports keys.
        """
    @property
    def primary(self) -> int:
        """The id of the key that seals."""
    @property
    def key_ids(self) -> list[int]:
        """The ids of all keys that open, in ascending order."""
    @property
    def policy(self) -> _Policy:
        """The policy: the type of the primary key."""
    def __reduce_ex__(self, *args: object) -> NoReturn: ...

def encrypted_keyset(text: str) -> bytes | None:
    """Returns the encrypted keyset in a Tink JSON file, or `None` if the file does not contain one.

    Raises:
        KeysetError: The encrypted keyset is not valid base64.
    """

def seal_column(
    array: _Column,
    keyset: Keyset,
    *,
    context: Buffer | str,
    row_ids: _Arrow | None = None,
    threads: int | None = None,
) -> _Column:
    """Seals every value of a column under the primary key of a keyset.

    Args:
        array: An Arrow array or chunked array of any type from any library, such as a pandas or Polars
            Series. It is validated, and then read in place.
        keyset: The keys; the primary determines the policy.
        context: Binds every value to its column, such as `b"people.ssn"`. A value that was moved to a column
            with another context does not open. With `b""`, values are bound to no column. Text stands for
            its bytes in UTF-8.
        row_ids: Binds every value to its row: a column of ids as long as `array`, without nulls, of integers,
            bytes or text. A value that was moved to a row with another id does not open. The width of
            integers is irrelevant: the id 7 is the same in int8 and int64.
        threads: Number of threads. `None` uses all processors. The result does not depend on it.

    Returns:
        A column with the length and chunks of `array`, of type Binary, or LargeBinary if `array` has 64-bit
        offsets or the result needs them. Nulls stay null. In a nested column, each leaf is sealed: the fields
        of structs, and the values of lists and maps. A pyarrow or Polars array yields a result of the same
        library, and a pandas Series a Series with its index and name. Any other array yields one of
        `arro3.core`, which every Arrow library can read, and whose field's metadata contains the type.

        Values of a fixed width are sealed as their little-endian bytes, text and bytes as they are; see
        `docs/columns-format.md`.

        A sealed value is a Tink ciphertext: the byte 1, the key id (4 bytes), and then nonce (12 bytes, or 24
        for XAES-256-GCM), ciphertext and tag (16 bytes), or for AES-SIV tag and ciphertext. The associated
        data is `context`. With row ids, it is the length of the context (8 bytes), the context, and the id
        (8 bytes if it is an integer). All numbers are big-endian.

    Raises:
        TypeError: `array` is not an Arrow array, or has an unsupported type.
        ValueError: `array` or `row_ids` is not valid Arrow, or `row_ids` has another length or nulls.
        LimitReached: The policy is `gcm`, and the key would seal more than 2^32 values in this process.
        KeyboardInterrupt: Ctrl-C was pressed during the call.
    """

def unseal_column(
    array: _Column,
    keyset: Keyset,
    *,
    context: Buffer | str,
    row_ids: _Arrow | None = None,
    forged: Literal["raise", "null"] = "raise",
    as_type: str | _ArrowType | None = None,
    plain: Sequence[str] = (),
    threads: int | None = None,
) -> _Column:
    """Opens every value of a sealed column under the key that the value names.

    Args:
        array: A sealed column of type Binary, LargeBinary, BinaryView or FixedSizeBinary, or a nested one
            with sealed leaves.
        keyset: The keys.
        context: The context that the column was sealed with.
        row_ids: The row ids that the column was sealed with.
        forged: How to handle values that do not open. `"raise"` raises for the first one. `"null"` replaces
            them by nulls, whatever is wrong with them; `unseal_column_counted` also counts them. A row
            whose id is null is null then, and so is a map with a key that does not open.
        as_type: The type that was sealed, as pyarrow, Spark or SQL name it: `"int64"`, `"string"`,
            `"decimal(10, 2)"`, `"timestamp[us, tz=UTC]"`, .... `None` means the type in the field's metadata,
            or `"binary"` without metadata. In a nested column, it is the type of every leaf, or one that is
            nested like the column: `"struct<name: string, zip: int32>"`, `"STRUCT(name TEXT, zip INT)"`, or
            a type of pyarrow or Polars.
        plain: The paths of the leaves of a nested column that were never sealed, such as `"zip"` or
            `"tags.element"`. They are returned as they are, without any check. All other leaves must open.
        threads: Number of threads. `None` uses all processors.

    Returns:
        A column like the argument of `seal_column`, of the given type. It never contains unverified
        plaintext.

    Raises:
        Forged: A value did not verify; `chunk` and `row` identify it. A subclass of `InvalidTag`.
        UnknownKey: The keyset has no usable key with the id in a value. A subclass of `KeysetError`.
        NotSealed: A value was truncated or never sealed. A subclass of `ValueError`.
        WrongType: An opened value is not of the type. A subclass of `ValueError`.
        TypeError: `array` is not an Arrow array, or has an unsupported type; or a leaf is not binary, and not
            named in `plain`, whatever `forged` is.
        ValueError: `array` or `row_ids` is not valid Arrow, `row_ids` has another length or nulls, the type
            is unknown, or `plain` names a leaf that does not exist or is sealed.
        KeyboardInterrupt: Ctrl-C was pressed during the call.
    """

def unseal_column_counted(
    array: _Column,
    keyset: Keyset,
    *,
    context: Buffer | str,
    row_ids: _Arrow | None = None,
    as_type: str | _ArrowType | None = None,
    plain: Sequence[str] = (),
    threads: int | None = None,
) -> tuple[_Column, int]:
    """Opens a column like `unseal_column(forged="null")`, and also counts the values that did not open.

    Returns:
        The opened column, and the number of values that did not open.

    Raises:
        TypeError: `array` is not an Arrow array, or has an unsupported type.
        ValueError: An argument is invalid; see `unseal_column`.
        KeyboardInterrupt: Ctrl-C was pressed during the call.
    """

def reseal_column(
    array: _Column,
    keyset: Keyset,
    *,
    context: Buffer | str,
    row_ids: _Arrow | None = None,
    new_context: Buffer | str | None = None,
    new_row_ids: _Arrow | None = None,
    forged: Literal["raise", "null"] = "raise",
    plain: Sequence[str] = (),
    threads: int | None = None,
) -> _Column:
    """Opens a column and seals it again under the primary key, in one pass.

    Use it after a rotation, or to change the context or the row ids.

    Args:
        array: A sealed column.
        keyset: The keys. Any of them opens; the primary seals.
        context: The context that the column was sealed with.
        row_ids: The row ids that the column was sealed with.
        new_context: The context to seal with. `None` means `context`.
        new_row_ids: The row ids to seal with. `None` means `row_ids`.
        forged: How to handle values that do not open; see `unseal_column`.
        plain: The paths of the leaves that were never sealed, and stay as they are; see `unseal_column`.
        threads: Number of threads. `None` uses all processors.

    Returns:
        A sealed column like the result of `seal_column`.

    Raises:
        Forged: A value did not verify; `chunk` and `row` identify it. A subclass of `InvalidTag`.
        UnknownKey: The keyset has no usable key with the id in a value. A subclass of `KeysetError`.
        NotSealed: A value was truncated or never sealed. A subclass of `ValueError`.
        LimitReached: The policy is `gcm`, and the key would seal more than 2^32 values in this process.
        TypeError: `array` is not an Arrow array, or has an unsupported type; or a leaf is not binary, and not
            named in `plain`.
        ValueError: An array is not valid Arrow, row ids have another length or nulls, or `plain` names a leaf
            that does not exist or is sealed.
        KeyboardInterrupt: Ctrl-C was pressed during the call.
    """

def element_ids(row_ids: _Arrow, lengths: list[int]) -> Any:
    """Returns the ids of the elements of lists: the id of the row, and the index in the list.

    The index has 8 bytes, big-endian. With row ids, `seal_column` binds the elements of lists to these ids.

    Raises:
        TypeError: `row_ids` are not integers, bytes or text.
        ValueError: There is not one id per list, an id is null, or the result exceeds 2 GiB.
    """

def inspect_column(array: _Arrow, *, plain: Sequence[str] = ()) -> dict[int, int] | None:
    """Counts the values of a sealed column by key id. Returns `None` if any value is not a sealed value.

    It requires no keys and verifies nothing: the key ids are read from the values. The leaves that `plain`
    names are left out, as in `unseal_column`.

    Raises:
        TypeError: `array` is not an Arrow array.
        ValueError: `array` is not valid Arrow, or `plain` names a leaf that does not exist or is sealed.
    """
