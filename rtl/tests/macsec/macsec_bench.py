"""Shared code of the MACsec testbenches: scapy associations, settings, pauses."""

import logging
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge

logging.getLogger("scapy").setLevel(logging.ERROR)  # it warns about missing interfaces, which are not needed
from scapy.contrib.macsec import MACsecSA  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402
from scapy.utils import RawPcapReader, RawPcapWriter  # noqa: E402

FRAMES = int(os.environ.get("MACSEC_FRAMES", "40"))
SCIS = [bytes.fromhex(f"02000000000{i}000{i}") for i in range(4)]
PERIOD_NS = 4
ICV_BYTES = 16
TCI, SL, PN, SCI, DATA = 14, 15, 16, 20, 28  # offsets in a frame
SETTINGS = (
    *("channel", "sa", "slot", "use", "extended", "no_sci", "clear", "offset", "sci", "pn", "base", "window"),
)
OFFSETS = (0, 30, 50)  # confidentiality offsets; index: the setting
ADDRESS_BYTES = 12
VLAN_BYTES = 4
VLAN_TYPES = (b"\x81\x00", b"\x88\xa8")
STRICT, CHECK, DISABLED, RESERVED = range(4)  # validateFrames; the reserved value is strict


def port_key(dut: HierarchyObject, key: bytes) -> int:
    """Returns the value of s_key_key. Where a core has keys of both sizes, bit 256 names those of AES-128."""
    short = len(dut.s_key_key) == 257 and len(key) == 16
    return int.from_bytes(key, "little") | short << 256


@dataclass
class Association:
    """A key of a channel. With `ssci` its packet numbers are extended."""

    channel: int
    sci: bytes
    an: int
    key: bytes
    pn: int = 1
    ssci: bytes | None = None
    salt: bytes = field(default=bytes(12))
    no_sci: bool = False  # SecTAGs omit the SCI
    encrypt: bool = True
    offset: int = 0  # bytes of user data that are not encrypted

    @property
    def slot(self) -> int:
        return 4 * self.channel + self.an

    @property
    def base(self) -> int:
        """The nonce base."""
        start = self.sci + bytes(4) if self.ssci is None else self.ssci + bytes(8)
        return int.from_bytes(start) ^ (0 if self.ssci is None else int.from_bytes(self.salt))

    def other_end(self) -> "End":
        return End(
            self.offset,
            sci=self.sci,
            an=self.an,
            pn=self.pn,
            key=self.key,
            icvlen=ICV_BYTES,
            encrypt=self.encrypt,
            send_sci=not self.no_sci,
            xpn_en=self.ssci is not None,
            ssci=self.ssci,
            salt=self.salt,
        )


class End(MACsecSA):
    """An association's other end."""

    def __init__(self, offset: int, **fields: object) -> None:
        super().__init__(**fields)
        self.offset = offset

    @property
    def header_bytes(self) -> int:
        """Bytes of the addresses and the SecTAG."""
        return DATA if self.send_sci else SCI


@dataclass(frozen=True)
class Port:
    """What a port does with all its frames."""

    validate: int = STRICT
    late_passes: bool = False
    vlan_clear: bool = False

    @property
    def value(self) -> int:
        """The register."""
        return self.validate | self.late_passes << 2 | self.vlan_clear << 3

    def verdict(self, encrypted: bool, valid: bool, late: bool) -> tuple[str, bool]:
        """Returns the counter of a frame with an association, and whether it is delivered (10.6, 10.7.9)."""
        lenient = self.validate in (CHECK, DISABLED) and not encrypted
        if late and not self.late_passes:
            return "late", False
        if self.validate == DISABLED and lenient:
            return "delayed" if late else "unchecked", True
        if not valid:
            return ("invalid", True) if lenient else ("not_valid", False)
        return "delayed" if late else "frames", True

    def passes_unknown(self, encrypted: bool) -> bool:
        """Returns whether a frame without channel or association is delivered."""
        return self.validate in (CHECK, DISABLED) and not encrypted


def key(i: int) -> bytes:
    return random.Random(i).randbytes(16)


def sealed_by(end: End, frame: bytes) -> bytes:
    """Returns the frame sealed with the end's packet number, which is incremented."""
    covered = end.header_bytes + end.offset if end.offset else None
    sealed = bytes(end.encrypt(end.encap(Ether(frame)), covered))
    end.pn += 1
    return sealed


def without_vlan(frame: bytes) -> tuple[bytes, bytes]:
    """Returns the 802.1Q tag behind the addresses, or nothing, and the frame without it."""
    if frame[ADDRESS_BYTES : ADDRESS_BYTES + 2] not in VLAN_TYPES:
        return b"", frame
    end = ADDRESS_BYTES + VLAN_BYTES
    return frame[ADDRESS_BYTES:end], frame[:ADDRESS_BYTES] + frame[end:]


def with_vlan(tag: bytes, frame: bytes) -> bytes:
    return frame[:ADDRESS_BYTES] + tag + frame[ADDRESS_BYTES:]


def some_vlan(rng: random.Random) -> bytes:
    return rng.choice(VLAN_TYPES) + rng.randbytes(2)


def flipped(frame: bytes, at: int, bit: int = 0) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :]


def some_frame(rng: random.Random, source: bytes, data_bytes: int | None = None) -> bytes:
    """Returns a frame with this many bytes after the addresses; by default around beat and block limits."""
    if data_bytes is None:
        near = rng.choice((2, 20, 36, 47, 48, 52, 60, 64, 100, 112, 116, 128, 164, 180, 192, 256))
        data_bytes = max(2, near + rng.randint(-2, 2))
    # Neither the EtherType of MACsec nor one below 1536, which scapy interprets as a length.
    return rng.randbytes(6) + source + b"\x08\x00" + rng.randbytes(data_bytes - 2)


def pauses(rng: random.Random, share: float) -> Iterator[bool]:
    while True:
        yield rng.random() < share


class Bench:
    """A core after reset, without settings."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, PERIOD_NS, unit="ns").start())
        for name in SETTINGS:
            if hasattr(dut, f"set_{name}"):
                getattr(dut, f"set_{name}").value = 0
        dut.s_key_tvalid.value = 0
        dut.s_key_slot.value = 0
        dut.s_key_key.value = 0
        dut.read_slot.value = 0
        dut.zeroize.value = 0
        dut.port.value = 0
        if hasattr(dut, "threshold"):
            dut.threshold.value = 0
        self.counts: dict[str, int] = {}

    async def reset(self) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)
        cocotb.start_soon(self._count())

    async def _count(self) -> None:
        names = [name for name in dir(self.dut) if name.startswith("count_")]
        while True:
            await RisingEdge(self.dut.clk)
            for name in names:
                self.counts[name] = self.counts.get(name, 0) + int(getattr(self.dut, name).value)

    async def load(self, slot: int, key: bytes) -> None:
        """Loads a key, and returns once it is taken."""
        self.dut.s_key_slot.value = slot
        self.dut.s_key_key.value = port_key(self.dut, key)
        self.dut.s_key_tvalid.value = 1
        await RisingEdge(self.dut.clk)
        while not self.dut.s_key_tready.value:
            await RisingEdge(self.dut.clk)
        self.dut.s_key_tvalid.value = 0
        await ClockCycles(self.dut.clk, 1)
        # The next key is taken once the engine has this one.
        while not self.dut.s_key_tready.value:
            await RisingEdge(self.dut.clk)

    async def set(self, what: str, **values: int) -> None:
        for name, value in values.items():
            getattr(self.dut, f"set_{name}").value = value
        getattr(self.dut, f"set_{what}").value = 1
        await RisingEdge(self.dut.clk)
        while not self.dut.set_ready.value:
            await RisingEdge(self.dut.clk)
        getattr(self.dut, f"set_{what}").value = 0
        await ClockCycles(self.dut.clk, 1)

    async def use(self, association: Association, window: int = 0, with_key: bool = True) -> None:
        """Puts an association and its channel into use, with a window on the receiving side."""
        if with_key:
            await self.load(association.slot, association.key)
        values = {
            "slot": association.slot,
            "use": 1,
            "extended": int(association.ssci is not None),
            "no_sci": int(association.no_sci),
            "offset": OFFSETS.index(association.offset),
            "sci": int.from_bytes(association.sci),
            "pn": association.pn,
            "base": association.base,
        }
        if hasattr(self.dut, "set_window"):
            values["window"] = window
        if hasattr(self.dut, "set_clear"):
            values["clear"] = int(not association.encrypt)
        await self.set("sa", **values)
        await self.set("channel", **values)

    async def read(self, slot: int, name: str) -> int:
        self.dut.read_slot.value = slot
        await ClockCycles(self.dut.clk, 3)
        return int(getattr(self.dut, f"read_{name}").value)


# Associations whose frames the cores exchange with `sealcomb macsec` (see run_macsec.py), by channel.
EXCHANGED = [
    Association(0, bytes.fromhex("0200000000000000"), 1, bytes(range(16))),
    Association(1, bytes.fromhex("0200000000010001"), 2, bytes(range(16, 32)), pn=0xFFFF_0000),
    Association(
        2,
        bytes.fromhex("0200000000020002"),
        3,
        bytes(range(32, 48)),
        pn=7 * 2**32 - 3,
        ssci=bytes([0, 0, 0, 3]),
        salt=bytes.fromhex("e630e81a48de86a21c66fa6d"),
    ),
]

# Other forms of SecTAGs, whose frames tshark reads (see tshark_reads.py). The sources of the frames differ.
NO_SCI = [Association(1, SCIS[1], 2, key(1), no_sci=True), Association(2, SCIS[2], 0, key(2))]
CLEAR = [
    Association(0, SCIS[0], 1, key(0), encrypt=False),
    Association(1, SCIS[1], 2, key(1), encrypt=False, no_sci=True),
    Association(2, SCIS[2], 0, key(2)),
]
OFFSET = [
    Association(0, SCIS[0], 1, key(0), offset=30),
    Association(1, SCIS[1], 2, key(1), offset=50),
    Association(2, SCIS[2], 0, key(2), offset=30, no_sci=True),
    Association(3, SCIS[3], 3, key(3), offset=50, no_sci=True),
]
VLAN_CLEAR = [
    Association(0, SCIS[0], 1, key(0)),
    Association(1, SCIS[1], 2, key(1), encrypt=False, no_sci=True),
    Association(2, SCIS[2], 0, key(2), offset=50),
]


def sa_file() -> str:
    """Returns the associations as a configuration of `sealcomb macsec`."""
    lines = ["keys-are-public = true"]
    for association in EXCHANGED:
        lines += [
            "[[sa]]",
            f'sci = "{association.sci.hex()}"',
            f"an = {association.an}",
            f'key = "{association.key.hex()}"',
            f'source = "{association.sci[:6].hex()}"',
            f"pn = {association.pn}",
        ]
        if association.ssci is not None:
            lines.append(f"ssci = {int.from_bytes(association.ssci)}")
            lines.append(f'salt = "{association.salt.hex()}"')
    return "\n".join(lines) + "\n"


def some_frames(count: int, seed: int) -> list[bytes]:
    """Returns frames of the exchanged associations, in rotation."""
    rng = random.Random(seed)
    return [some_frame(rng, EXCHANGED[i % len(EXCHANGED)].sci[:6]) for i in range(count)]


def read_capture(path: Path) -> list[bytes]:
    with RawPcapReader(str(path)) as reader:
        return [frame for frame, _ in reader]


def write_capture(path: Path, frames: list[bytes]) -> None:
    with RawPcapWriter(str(path), linktype=1) as writer:
        for frame in frames:
            writer.write(frame)


async def clocks_per_frame(dut: HierarchyObject, frames: int, stream: str = "m_axis") -> float:
    """Returns the average clocks between the ends of frames on an output stream."""
    valid, ready, ending = (getattr(dut, f"{stream}_{name}") for name in ("tvalid", "tready", "tlast"))
    ends: list[int] = []
    clock = 0
    while len(ends) < frames:
        await RisingEdge(dut.clk)
        clock += 1
        if valid.value and ready.value and ending.value:
            ends.append(clock)
        assert clock < 100 * frames
    # Exclude the frames that fill and drain the pipes.
    first, last = frames // 3, frames - 1 - frames // 4
    return (ends[last] - ends[first]) / (last - first)
