"""Tests of the C driver (rtl/driver) on macsec100g: its calls access the registers of the simulated core."""

import ctypes
import os
import random
import re
import subprocess
import textwrap
from collections.abc import Callable
from ctypes import POINTER, c_bool, c_int, c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import replace
from pathlib import Path

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamFrame
from macsec100g_test import REGISTERS, SALT, Core
from macsec_bench import CHECK, OFFSETS, Association, flipped, sealed_by, some_frame, some_vlan, with_vlan

RTL = Path(__file__).resolve().parents[2]
DRIVER = RTL / "driver"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
# The smallest and largest keys of the core.
KEY_BYTES = (16, 32) if os.environ.get("SUITE") == "5" else (16, 16)
NO_CORE, BAD_ARGUMENT, IN_USE, NO_KEY, TIMEOUT, KEY_PORT = range(-1, -7, -1)

Read = ctypes.CFUNCTYPE(c_uint32, c_void_p, c_uint32)
Write = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_uint32)
LoadKey = ctypes.CFUNCTYPE(c_int, c_void_p, c_bool, c_uint, POINTER(c_uint8), c_size_t)


# The example of the manual, as the body of a function that has what it uses.
EXAMPLE = """#include "macsec100g.h"

int example(
    void *device, uint32_t (*read32)(void *, uint32_t), void (*write32)(void *, uint32_t, uint32_t),
    int (*load_key)(void *, bool, unsigned, const uint8_t *, size_t), const uint8_t *key, uint64_t sci)
{{
{body}
    return 0;
}}
"""


class CCore(ctypes.Structure):
    _fields_ = (
        ("context", c_void_p),
        ("read", Read),
        ("write", Write),
        ("load_key", LoadKey),
        ("polls", c_uint),
        ("channels", c_uint),
        ("min_key_bytes", c_size_t),
        ("max_key_bytes", c_size_t),
    )


class CPort(ctypes.Structure):
    _fields_ = (("validate", c_int), ("replay_protect", c_bool), ("vlan_in_clear", c_bool))


class CSa(ctypes.Structure):
    _fields_ = (
        ("key", POINTER(c_uint8)),
        ("key_bytes", c_size_t),
        ("sci", c_uint64),
        ("pn", c_uint64),
        ("extended", c_bool),
        ("ssci", c_uint32),
        ("salt", c_uint8 * 12),
        ("encrypt", c_bool),
        ("offset", c_int),
        ("window", c_uint32),
    )


class CTxStats(ctypes.Structure):
    _fields_ = tuple((name, c_uint64) for name in ("next_pn", "frames", "octets"))


class CRxStats(ctypes.Structure):
    NAMES = (
        *("lowest_pn", "ok", "octets_decrypted", "octets_validated", "not_valid", "late"),
        *("unchecked", "invalid", "delayed"),
    )
    _fields_ = tuple((name, c_uint64) for name in NAMES)


class CPortStats(ctypes.Structure):
    NAMES = (
        *("out_no_sa", "out_no_pn", "out_too_long", "in_untagged", "in_bad_tag", "in_no_sci"),
        *("in_unknown_sci", "in_no_sa", "in_unused_sa", "in_overrun", "keys_refused"),
    )
    _fields_ = tuple((name, c_uint32) for name in NAMES)


def values(stats: ctypes.Structure) -> dict[str, int]:
    return {name: getattr(stats, name) for name, _ in stats._fields_}


def c_sa(association: Association, window: int = 0) -> CSa:
    key = (c_uint8 * len(association.key))(*association.key)
    return CSa(
        key=key,
        key_bytes=len(key),
        sci=int.from_bytes(association.sci),
        pn=association.pn,
        extended=association.ssci is not None,
        ssci=int.from_bytes(association.ssci or b""),
        salt=(c_uint8 * 12)(*association.salt),
        encrypt=association.encrypt,
        offset=OFFSETS.index(association.offset),
        window=window,
    )


class Driver:
    """The driver, with the registers and the key port of a simulated core."""

    def __init__(self, core: Core) -> None:
        library = Path("driver.so").resolve()
        manual = (RTL / "docs" / "macsec.md").read_text()
        (body,) = re.findall(r"^```c\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL)
        example = Path("example.c").resolve()
        example.write_text(EXAMPLE.format(body=textwrap.indent(body, 4 * " ")))
        sources = [f"-I{DRIVER}", DRIVER / "macsec100g.c", example]
        command = ["cc", "-std=c11", *WARNINGS, "-shared", "-fPIC", "-o", library, *sources]
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(library))
        self.core = core
        self.key_error = 0
        read, write, load = resume(self._read), resume(self._write), resume(self._load)
        self.c_core = CCore(
            None,
            Read(lambda _, address: read(address)),
            Write(lambda _, address, value: write(address, value)),
            LoadKey(lambda _, receive, slot, key, count: load(receive, slot, bytes(key[:count]))),
        )

    async def _read(self, address: int) -> int:
        return await self.core.registers.read_dword(address)

    async def _write(self, address: int, value: int) -> None:
        await self.core.registers.write_dword(address, value)

    async def _load(self, receive: bool, slot: int, key: bytes) -> int:
        if not self.key_error:
            await self.core.load(Association(slot // 4, b"", slot % 4, key), receive)
        return self.key_error

    async def call(self, name: str, *arguments: object) -> int:
        function: Callable[..., int] = getattr(self.library, f"macsec100g_{name}")
        return await bridge(lambda: function(ctypes.byref(self.c_core), *arguments))()

    async def well(self, name: str, *arguments: object) -> None:
        assert await self.call(name, *arguments) == 0, name

    async def use(self, association: Association, window: int = 0) -> None:
        """Puts an association into use in both directions."""
        channel, an = association.channel, association.an
        sci = c_uint64(int.from_bytes(association.sci))
        await self.well("add_rx_sa", channel, an, ctypes.byref(c_sa(association, window)))
        await self.well("set_rx_sc", channel, sci, c_bool(True), c_bool(association.no_sci))
        await self.well("add_tx_sa", channel, an, ctypes.byref(c_sa(association)))
        await self.well("set_tx_sc", channel, an, sci, c_bool(not association.no_sci))

    async def tx_stats(self, association: Association) -> dict[str, int]:
        stats = CTxStats()
        await self.well("read_tx_sa", association.channel, association.an, ctypes.byref(stats))
        return values(stats)

    async def rx_stats(self, association: Association) -> dict[str, int]:
        stats = CRxStats()
        await self.well("read_rx_sa", association.channel, association.an, ctypes.byref(stats))
        return values(stats)

    async def port_stats(self) -> dict[str, int]:
        stats = CPortStats()
        await self.well("read_port", ctypes.byref(stats))
        return values(stats)


async def begun(dut: HierarchyObject) -> tuple[Core, Driver, random.Random]:
    core = Core(dut)
    await core.reset()
    driver = Driver(core)
    await driver.well("open")
    assert driver.c_core.channels == 4
    assert (driver.c_core.min_key_bytes, driver.c_core.max_key_bytes) == KEY_BYTES
    return core, driver, random.Random(cocotb.RANDOM_SEED)


@cocotb.test()
async def associations_carry_frames_and_count_them(dut: HierarchyObject) -> None:
    core, driver, rng = await begun(dut)
    await driver.well("set_port", ctypes.byref(CPort(CHECK, True, True)))
    associations = [
        Association(0, bytes.fromhex("0200000000010001"), 1, rng.randbytes(KEY_BYTES[0]), offset=30),
        Association(
            *(1, bytes.fromhex("0200000000020001"), 2, rng.randbytes(KEY_BYTES[1]), 2**32 - 1),
            ssci=bytes([9, 0, 0, 3]),
            salt=SALT,
        ),
        Association(3, bytes.fromhex("0200000000030001"), 0, rng.randbytes(16), no_sci=True, encrypt=False),
    ]
    for association in associations:
        await driver.use(association, window=4)
    ends = [association.other_end() for association in associations]
    octets = [0 for _ in ends]
    for i in range(9):
        which = i % 3
        frame = some_frame(rng, associations[which].sci[:6])
        octets[which] += len(frame) - 12
        tag = some_vlan(rng) if i % 2 else b""
        source = AxiStreamFrame(with_vlan(tag, frame), tid=associations[which].channel, tuser=0)
        await core.sources["controlled"].send(source)
        sealed = bytes((await with_timeout(core.sinks["line"].recv(), 40, "us")).tdata)
        bare = sealed_by(ends[which], frame)
        assert sealed == with_vlan(tag, bare)
        # Forged and good. Without encryption the forged one passes: the port only checks.
        for sent in (flipped(bare, len(bare) - 1), bare):
            await core.sources["line"].send(AxiStreamFrame(with_vlan(tag, sent), tuser=0))
            if sent == bare or not associations[which].encrypt:
                got = await with_timeout(core.sinks["controlled"].recv(), 40, "us")
                assert bytes(got.tdata) == with_vlan(tag, frame)
    await ClockCycles(dut.clk, 300)
    for association, end, count in zip(associations, ends, octets, strict=True):
        sent = {"next_pn": end.pn, "frames": 3, "octets": count}
        assert await driver.tx_stats(association) == sent
        expected = dict.fromkeys(CRxStats.NAMES, 0) | {"ok": 3}
        expected["lowest_pn"] = max(association.pn, end.pn - 4)
        expected["octets_decrypted" if association.encrypt else "octets_validated"] = count
        expected["not_valid" if association.encrypt else "invalid"] = 3
        assert await driver.rx_stats(association) == expected
    assert await driver.port_stats() == dict.fromkeys(CPortStats.NAMES, 0)
    await driver.well("set_rx_sc", 0, c_uint64(0), c_bool(False), c_bool(False))
    await core.sources["line"].send(AxiStreamFrame(sealed_by(ends[0], frame), tuser=0))
    await ClockCycles(dut.clk, 300)
    assert (await driver.port_stats())["in_no_sci"] == 1


@cocotb.test()
async def example_of_the_manual_opens_frames(dut: HierarchyObject) -> None:
    core, driver, rng = await begun(dut)
    association = Association(0, bytes.fromhex("0200000000010001"), 0, rng.randbytes(16))
    key = (c_uint8 * 16)(*association.key)
    c_core, sci = driver.c_core, c_uint64(int.from_bytes(association.sci))
    example: Callable[..., int] = driver.library.example
    functions = (c_core.read, c_core.write, c_core.load_key)
    assert await bridge(lambda: example(None, *functions, key, sci))() == 0
    frame = some_frame(rng, association.sci[:6])
    await core.sources["line"].send(AxiStreamFrame(sealed_by(association.other_end(), frame), tuser=0))
    got = await with_timeout(core.sinks["controlled"].recv(), 40, "us")
    assert bytes(got.tdata) == frame


@cocotb.test()
async def wrong_calls_are_refused(dut: HierarchyObject) -> None:
    core, driver, rng = await begun(dut)
    association = Association(1, bytes.fromhex("0200000000010001"), 3, rng.randbytes(16))
    sa = ctypes.byref(c_sa(association))
    for channel, an in ((4, 0), (0, 4)):
        assert await driver.call("add_tx_sa", channel, an, sa) == BAD_ARGUMENT
        assert await driver.call("del_rx_sa", channel, an) == BAD_ARGUMENT
        assert await driver.call("read_tx_sa", channel, an, ctypes.byref(CTxStats())) == BAD_ARGUMENT
    wrong_sizes = [("key_bytes", size) for size in (0, 15, 17, 24, 31, 32, 33) if size not in KEY_BYTES]
    for field, value in (("pn", 0), ("pn", 2**32), ("offset", 3), *wrong_sizes):
        wrong = c_sa(association)
        setattr(wrong, field, value)
        assert await driver.call("add_rx_sa", 1, 3, ctypes.byref(wrong)) == BAD_ARGUMENT
    extended = c_sa(replace(association, ssci=bytes(4)), 2**30)
    assert await driver.call("add_rx_sa", 1, 3, ctypes.byref(extended)) == BAD_ARGUMENT
    for wide in (c_sa(replace(association, ssci=bytes(4)), 2**30 - 1), c_sa(association, 2**32 - 1)):
        await driver.well("add_rx_sa", 1, 3, ctypes.byref(wide))
        await driver.well("del_rx_sa", 1, 3)
    assert await driver.call("set_port", ctypes.byref(CPort(3, True, False))) == BAD_ARGUMENT
    await driver.well("add_tx_sa", 1, 3, sa)
    assert await driver.call("add_tx_sa", 1, 3, sa) == IN_USE
    # Packet numbers must not begin again under the same key, so the association needs another key.
    await driver.well("del_tx_sa", 1, 3)
    driver.key_error = 1
    assert await driver.call("add_tx_sa", 1, 3, sa) == KEY_PORT
    driver.key_error = 0
    driver.core = Core.__new__(Core)
    driver.core.registers = core.registers

    async def lost(association: Association, receive: bool) -> None:
        """A key port that says it has taken a key, and has not."""

    driver.core.load = lost
    assert await driver.call("add_tx_sa", 1, 3, sa) == NO_KEY
    driver.core = core
    await driver.well("add_tx_sa", 1, 3, sa)
    driver.c_core.polls = 0
    assert await driver.call("del_tx_sa", 1, 3) == TIMEOUT
    driver.c_core.read = Read(lambda *_: 0)
    assert await driver.call("open") == NO_CORE


async def in_flight(core: Core, rng: random.Random, association: Association) -> list[bytes]:
    """Sends frames that stay in the core, since nothing takes them from the line."""
    core.sinks["line"].pause = True
    frames = [some_frame(rng, association.sci[:6], 200) for _ in range(3)]
    for frame in frames:
        await core.sources["controlled"].send(AxiStreamFrame(frame, tid=association.channel, tuser=0))
    await RisingEdge(core.dut.m_line_tvalid)
    await ClockCycles(core.dut.clk, 60)
    return frames


@cocotb.test()
async def command_that_timed_out_takes_no_operands_of_later_calls(dut: HierarchyObject) -> None:
    core, driver, rng = await begun(dut)
    known = Association(0, bytes.fromhex("0200000000010001"), 1, rng.randbytes(16))
    await driver.use(known)
    end = known.other_end()
    line = core.sinks["line"]
    frames = await in_flight(core, rng, known)

    # The key of another association waits for the frames in flight, and the association for the key.
    driver.core = Core.__new__(Core)
    driver.core.registers = core.registers
    driver.core.load = core.offer
    polls, driver.c_core.polls = driver.c_core.polls, 8
    late = Association(1, bytes.fromhex("0200000000020001"), 2, rng.randbytes(16))
    sa = ctypes.byref(c_sa(late))
    sci = c_uint64(int.from_bytes(known.sci))
    assert await driver.call("add_tx_sa", 1, 2, sa) == TIMEOUT

    # What needs no operands is done at once, such as the interrupt of the first association.
    await driver.well("set_threshold", c_uint64(1))
    frame = some_frame(rng, known.sci[:6], 200)
    frames.append(frame)
    await core.sources["controlled"].send(AxiStreamFrame(frame, tid=0, tuser=0))
    await RisingEdge(dut.irq)
    reached, channel, an = c_bool(), c_uint(), c_uint()
    await driver.well("interrupt", *map(ctypes.byref, (reached, channel, an)))
    assert (reached.value, channel.value, an.value) == (True, 0, 1)
    assert not dut.irq.value

    operands = ("select", "flags", "sci_high", "sci_low", "pn_low", "base_0")
    before = [await core.read(name) for name in operands]
    for name, *arguments in (
        ("set_tx_sc", 0, 1, sci, c_bool(True)),
        ("set_rx_sc", 0, sci, c_bool(True), c_bool(False)),
        ("del_tx_sa", 0, 1),
        ("del_rx_sa", 0, 1),
        ("add_rx_sa", 1, 2, sa),
        ("read_tx_sa", 0, 1, ctypes.byref(CTxStats())),
        ("read_rx_sa", 0, 1, ctypes.byref(CRxStats())),
    ):
        assert await driver.call(name, *arguments) == TIMEOUT, name
        assert [await core.read(name) for name in operands] == before

    # When they leave, the added association comes into use, and the first remains in both directions.
    line.pause = False
    driver.core, driver.c_core.polls = core, polls
    sealed = [bytes((await with_timeout(line.recv(), 40, "us")).tdata) for _ in frames]
    assert sealed == [sealed_by(end, frame) for frame in frames]
    assert await driver.rx_stats(known) == dict.fromkeys(CRxStats.NAMES, 0) | {"lowest_pn": 1}
    assert int(dut.transmit.in_use.value) == 1 << known.slot | 1 << late.slot
    assert int(dut.receive.in_use.value) == 1 << known.slot
    for whole, frame in zip(sealed, frames, strict=True):
        await core.sources["line"].send(AxiStreamFrame(whole, tuser=0))
        got = await with_timeout(core.sinks["controlled"].recv(), 40, "us")
        assert bytes(got.tdata) == frame
    frame = some_frame(rng, known.sci[:6])
    await core.sources["controlled"].send(AxiStreamFrame(frame, tid=0, tuser=0))
    assert bytes((await with_timeout(line.recv(), 40, "us")).tdata) == sealed_by(end, frame)
    await driver.well("set_tx_sc", 1, 2, c_uint64(int.from_bytes(late.sci)), c_bool(True))
    frame = some_frame(rng, late.sci[:6])
    await core.sources["controlled"].send(AxiStreamFrame(frame, tid=1, tuser=0))
    got = await with_timeout(line.recv(), 40, "us")
    assert bytes(got.tdata) == sealed_by(late.other_end(), frame)


@cocotb.test()
async def zeroization_waits_for_frames_in_flight(dut: HierarchyObject) -> None:
    core, driver, rng = await begun(dut)
    association = Association(0, bytes.fromhex("0200000000010001"), 1, rng.randbytes(16))
    await driver.use(association)
    end = association.other_end()
    frames = await in_flight(core, rng, association)
    polls, driver.c_core.polls = driver.c_core.polls, 8
    assert await driver.call("zeroize") == TIMEOUT
    assert int(dut.transmit.in_use.value) == int(dut.receive.in_use.value) == 0
    core.sinks["line"].pause = False
    driver.c_core.polls = polls
    await driver.well("zeroize")
    for frame in frames:
        got = await with_timeout(core.sinks["line"].recv(), 40, "us")
        assert bytes(got.tdata) == sealed_by(end, frame)


@cocotb.test()
async def threshold_passes_only_through_the_highest_numbers(dut: HierarchyObject) -> None:
    _, driver, rng = await begun(dut)
    halves = {REGISTERS[f"threshold_{half}"]["address"]: half for half in ("high", "low")}
    known = {"high": 0, "low": 0}
    passed: list[int] = []

    def write(_: object, address: int, value: int) -> None:
        known[halves[address]] = value
        passed.append(known["high"] << 32 | known["low"])

    driver.c_core.write = Write(write)
    borders = (0, 1, 2**32 - 1, 2**32, 2**32 + 5, 0xC000_0000, 7 << 32 | 2, 2**64 - 1)
    for _ in range(40):
        new = rng.choice(borders)
        await driver.well("set_threshold", c_uint64(new))
        assert passed.pop() == new
        assert all(value >= 0xFFFF_FFFF << 32 for value in passed), (new, passed)
        passed.clear()


@cocotb.test()
async def threshold_interrupts_and_zeroization_ends_all(dut: HierarchyObject) -> None:
    core, driver, rng = await begun(dut)
    association = Association(2, bytes.fromhex("0200000000010001"), 3, rng.randbytes(16))
    await driver.use(association)
    await driver.well("set_threshold", c_uint64(3))
    reached, channel, an = c_bool(), c_uint(), c_uint()
    for i in range(3):
        assert bool(dut.irq.value) is False
        frame = some_frame(rng, association.sci[:6])
        await core.sources["controlled"].send(AxiStreamFrame(frame, tid=2, tuser=0))
        await with_timeout(core.sinks["line"].recv(), 40, "us")
        if i < 2:
            await driver.well("interrupt", *map(ctypes.byref, (reached, channel, an)))
            assert not reached.value
    assert dut.irq.value
    await driver.well("interrupt", *map(ctypes.byref, (reached, channel, an)))
    assert (reached.value, channel.value, an.value) == (True, 2, 3)
    assert not dut.irq.value
    await driver.well("zeroize")
    for side in (dut.transmit, dut.receive):
        assert int(side.in_use.value) == 0
    await core.sources["controlled"].send(AxiStreamFrame(frame, tid=2, tuser=0))
    await ClockCycles(dut.clk, 200)
    assert (await driver.port_stats())["out_no_sa"] == 1
    await driver.use(association)
