"""Tops of the stream tests. To add one, add an entry to TOPS."""

from collections.abc import Callable
from dataclasses import dataclass, field


def as_it_is(data: bytes) -> bytes:
    return data


@dataclass
class Top:
    """A top, and the mapping of known answers to its ports."""

    module: str
    filelist: str
    vectors: tuple[str, ...]  # file names under testvectors/
    parameters: dict[str, int] = field(default_factory=dict)
    nonce: Callable[[bytes], bytes] = as_it_is  # value of s_cmd_nonce, zero-extended
    key: Callable[[bytes], bytes] = as_it_is  # value of s_key_key
    nonce_bytes: int | None = None  # answers with other nonces are skipped; None: any
    flagged: bool = False  # the ciphertext ends with a flag byte: last block padded
    slots: int = 16
    # Only the cipher or the slots differ from another top, which tests errors and resets.
    same_streams: bool = False
    # Instance of ram_lut that holds the keys with parity (`PARITY=1`): a test damages one.
    keys: str = ""
    # Lengths that must be rejected: open, bytes of additional data, bytes of the message part.
    illegal: tuple[tuple[bool, int, int], ...] = ()


ELMD_PARAMETERS = bytes.fromhex("0a00000080000000")
NOT_WHOLE = ((True, 0, 0), (True, 0, 17), (True, 20, 40))

TOPS = {
    "ecb": Top("ecb", "ecb.f", ("aes128-ecb.json",), illegal=((False, 0, 17), (True, 0, 3), (False, 16, 32))),
    "copa": Top("copa", "copa.f", ("aes128-copa.json",), flagged=True, illegal=NOT_WHOLE),
    "eme2": Top(
        "eme2",
        "eme2.f",
        ("aes128-eme2.json",),
        illegal=((False, 0, 0), (True, 16, 15), (False, 40, 1)),
    ),
    "ocb3": Top("ocb3", "ocb3.f", ("aes128-ocb3-t128.json",)),
    "gcm": Top("gcm", "gcm.f", ("aes128-gcm.json",)),
    "ocb3_8_slots": Top(
        "ocb3", "ocb3.f", ("aes128-ocb3-t128.json",), parameters={"SLOTS": 8}, slots=8, same_streams=True
    ),
    "gcm_8_slots": Top(
        "gcm", "gcm.f", ("aes128-gcm.json",), parameters={"SLOTS": 8}, slots=8, same_streams=True
    ),
    "elmd": Top("elmd", "elmd.f", ("aes128-elmd.json",), flagged=True, illegal=NOT_WHOLE),
    "elmd66": Top(
        "elmd", "elmd.f", ("aes128-elmd66.json",), parameters={"ROUNDS": 6}, flagged=True, illegal=NOT_WHOLE
    ),
    "elmd_whole_nonce": Top(
        "elmd",
        "elmd.f",
        ("aes128-elmd.json",),
        parameters={"NONCE_BYTES": 16},
        nonce=lambda nonce: nonce + ELMD_PARAMETERS,
        flagged=True,
        illegal=NOT_WHOLE,
    ),
    "ocb512_aes": Top("ocb512_aes", "ocb512_aes.f", ("aes128-ocb3-t128.json",)),
    "ocb512_serpent": Top("ocb512_serpent", "ocb512_serpent.f", ("serpent256-ocb3.json",)),
    "gcm512_aes": Top("gcm512_aes", "gcm512_aes.f", ("aes128-gcm.json",)),
    "ocb512_aes256": Top(
        "ocb512_aes",
        "ocb512_aes.f",
        ("aes256-ocb3-t128.json",),
        parameters={"KEY_BITS": 256, "PARITY": 1},
        same_streams=True,
        keys="engine.g_ocb.engine.lanes.g_encrypt.keys.ram",
    ),
    "gcm512_aes256": Top(
        "gcm512_aes",
        "gcm512_aes.f",
        ("aes256-gcm.json",),
        parameters={"KEY_BITS": 256, "PARITY": 1},
        same_streams=True,
        keys="engine.g_gcm.engine.lanes.keys.ram",
    ),
    "gcm512_serpent": Top("gcm512_serpent", "gcm512_serpent.f", ("serpent256-gcm.json",)),
}
