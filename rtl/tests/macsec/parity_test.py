"""Tests of macsec100g with PARITY=1: it reports damaged memories, and none that are not damaged."""

import random
from ctypes import byref, c_bool

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamFrame
from driver_test import Driver
from macsec100g_test import Core
from macsec_bench import Association, some_frame

# cocotb runs this here, too: random frames, rekeys and line errors, in which nothing is damaged.
from many_frames_test import many_frames  # noqa: F401

CHANNEL = 2
KEY_BITS = 257
DEPTH = 256  # beats of a frame store
TABLES = {
    "transmit": (*(f"numbers.g_reader[{i}].ram" for i in range(2)), "associations"),
    "receive": (*(f"lowests.g_reader[{i}].ram" for i in range(3)), "associations"),
}
COUNTERS = {
    "transmit": ("frames_sealed", "octets_sealed"),
    "receive": ("frames_good", "octets_decrypted"),
}
# Memories with an entry for each association.
BY_SLOT = [
    *(f"{side}.judge.{name}" for side, names in TABLES.items() for name in names),
    *(
        f"{side}.{name}.sums.g_reader[{i}].ram"
        for side, names in COUNTERS.items()
        for name in names
        for i in range(2)
    ),
    *(f"{side}.engine.g_gcm.engine.lanes.keys.ram" for side in TABLES),
]
STORES = ("transmit.store", "receive.store", "receive.release_frames.verified")


def memory_of(dut: HierarchyObject, memory: str) -> HierarchyObject:
    for name in memory.split("."):
        of, _, index = name.partition("[")
        dut = getattr(dut, of)[int(index[:-1])] if index else getattr(dut, of)
    return dut.memory


def damage(
    rng: random.Random,
    dut: HierarchyObject,
    memory: str,
    entries: range | tuple[int, ...],
    bit: int | None = None,
) -> None:
    """Changes a bit of each of these entries, by default any."""
    words = memory_of(dut, memory)
    for at in entries:
        word = words[at]
        word.value = int(word.value) ^ 1 << (rng.randrange(len(word)) if bit is None else bit)


class Loop:
    """The core with an association in both directions, and the line looped back."""

    def __init__(self, dut: HierarchyObject, rng: random.Random) -> None:
        self.rng = rng
        self.core = Core(dut)
        cocotb.start_soon(self.core.loop())

    async def begin(self) -> None:
        """After a reset, since what is damaged stays so, and without the frames before it."""
        self.core.dut.rst.value = 1
        await ClockCycles(self.core.dut.clk, 2)
        for stream in (*self.core.sources.values(), *self.core.sinks.values()):
            stream.pause = False
            stream.clear()
        await self.core.reset()
        self.association = Association(
            CHANNEL, self.rng.randbytes(8), self.rng.randrange(4), self.rng.randbytes(16)
        )
        for receive in (False, True):
            await self.core.load(self.association, receive)
            await self.core.use(self.association, receive)

    def send(self, data_bytes: int | None = None) -> bytes:
        frame = some_frame(self.rng, self.association.sci[:6], data_bytes)
        self.core.sources["controlled"].send_nowait(AxiStreamFrame(frame, tid=CHANNEL, tuser=0))
        return frame

    async def passes(self) -> None:
        frame = self.send()
        got = await with_timeout(self.core.sinks["controlled"].recv(), 40, "us")
        assert bytes(got.tdata) == frame

    async def damaged(self) -> bool:
        damaged = await self.core.read("status", "damaged")
        assert self.core.dut.irq.value == damaged
        assert await self.core.read("reached", "valid") == 0
        return bool(damaged)


@cocotb.test()
async def damaged_words_are_reported(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    loop = Loop(dut, rng)
    driver = Driver(loop.core)
    await loop.core.reset()
    await driver.well("open")
    said = c_bool()
    for memory in (*BY_SLOT, "transmit.judge.channels"):
        await loop.begin()
        slot = loop.association.slot
        # A counter's first addition does not read it. The other entries are read when they are selected.
        await loop.passes()
        await loop.passes()
        await loop.core.select(slot, False)
        assert not await loop.damaged(), memory
        damage(rng, dut, memory, (CHANNEL if memory.endswith("channels") else slot,))
        loop.send()
        await ClockCycles(dut.clk, 400)
        assert await loop.damaged(), memory
        await loop.core.select(slot ^ 4, False)
        await driver.well("damaged", byref(said))
        assert said.value
        await driver.well("damaged", byref(said))
        assert not said.value
        assert not await loop.damaged(), memory


@cocotb.test()
async def every_bit_of_a_key_has_parity(dut: HierarchyObject) -> None:
    """The last bit, which tells the size of the key, shares its parity bit with no whole byte."""
    rng = random.Random(cocotb.RANDOM_SEED)
    loop = Loop(dut, rng)
    for side in TABLES:
        memory = f"{side}.engine.g_gcm.engine.lanes.keys.ram"
        stored = len(memory_of(dut, memory)[0])
        assert stored == KEY_BITS + (KEY_BITS + 7) // 8
        for bit in (0, 255, 256, 257, stored - 1):
            await loop.begin()
            await loop.passes()
            assert not await loop.damaged(), (memory, bit)
            damage(rng, dut, memory, (loop.association.slot,), bit)
            loop.send()
            await ClockCycles(dut.clk, 400)
            assert await loop.damaged(), (memory, bit)


@cocotb.test()
async def damaged_beats_are_reported(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    loop = Loop(dut, rng)
    for store in STORES:
        await loop.begin()
        await loop.passes()
        # More beats than fit, so that the store is full.
        sink = loop.core.sinks["line" if store.startswith("transmit") else "controlled"]
        sink.pause = True
        for _ in range(60):
            loop.send(1500)
        await ClockCycles(dut.clk, 60 * 24 + 600)
        assert not await loop.damaged(), store
        damage(rng, dut, f"{store}.ram", range(DEPTH))
        sink.pause = False
        await ClockCycles(dut.clk, 60 * 24 + 600)
        assert await loop.damaged(), store
