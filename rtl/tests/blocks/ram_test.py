"""Tests of ram_1r1w and ram_lut: entries, and with PARITY=1 the report of each single changed bit.

The environment contains DUT, WIDTH, DEPTH and PARITY.
"""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

BLOCK = os.environ["DUT"] == "ram_1r1w"
WIDTH, DEPTH, PARITY = (int(os.environ[name]) for name in ("WIDTH", "DEPTH", "PARITY"))
# Clocks from a read to its parity_error.
LATENCY = 2 if BLOCK else 1
RANDOM = random.Random(cocotb.RANDOM_SEED)


class Ram:
    """A memory after its first clock, in which nothing was read."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.entries: dict[int, int] = {}
        self.damaged: set[int] = set()
        self.due = [False] * (LATENCY - 1)  # errors of the reads so far that are not reported yet
        self.reads = dut.read if BLOCK else dut.check

    async def begin(self) -> None:
        Clock(self.dut.clk, 10, "ns").start()
        for port in (self.dut.write, self.reads, self.dut.write_at, self.dut.write_data, self.dut.read_at):
            port.value = 0
        for _ in range(3):
            await FallingEdge(self.dut.clk)

    async def clock(self, write: int | None = None, read: int | None = None) -> None:
        """Writes and reads these entries, between two falling edges. Without a read the address is that of
        any entry, which may not have been written."""
        dut = self.dut
        value = RANDOM.getrandbits(WIDTH)
        dut.write.value = int(write is not None)
        dut.write_at.value = write or 0
        dut.write_data.value = value
        self.reads.value = int(read is not None)
        dut.read_at.value = RANDOM.randrange(DEPTH) if read is None else read
        if not BLOCK and read is not None:
            await Timer(1, "ns")
            self.compare(read)
        await FallingEdge(dut.clk)
        if BLOCK and read is not None:
            self.compare(read)
        self.due.append(PARITY == 1 and read in self.damaged)
        assert dut.parity_error.value == int(self.due.pop(0))
        if write is not None:
            self.entries[write] = value
            self.damaged.discard(write)

    def compare(self, read: int) -> None:
        if read not in self.damaged:
            assert self.dut.read_data.value.to_unsigned() == self.entries[read]

    def damage(self, at: int, bit: int) -> None:
        word = self.dut.memory[at]
        word.value = word.value.to_unsigned() ^ 1 << bit
        self.damaged.add(at)

    async def random_clocks(self, count: int) -> None:
        for _ in range(count):
            write = RANDOM.randrange(DEPTH) if RANDOM.random() < 0.5 else None
            readable = [at for at in self.entries if at != write]
            read = RANDOM.choice(readable) if readable and RANDOM.random() < 0.7 else None
            await self.clock(write, read)


@cocotb.test()
async def entries_are_what_was_written(dut):
    ram = Ram(dut)
    await ram.begin()
    await ram.random_clocks(300)


@cocotb.test()
async def each_changed_bit_is_reported(dut):
    ram = Ram(dut)
    await ram.begin()
    stored = len(dut.memory[0])
    assert stored == WIDTH + (-(-WIDTH // 32) if PARITY else 0)
    for bit in range(stored):
        at = RANDOM.randrange(DEPTH)
        await ram.clock(write=at)
        await ram.clock(read=at)
        ram.damage(at, bit)
        await ram.clock()
        await ram.clock(read=at)
        await ram.clock(read=at)
        await ram.clock(write=at)
        await ram.clock(read=at)
        await ram.random_clocks(4)
