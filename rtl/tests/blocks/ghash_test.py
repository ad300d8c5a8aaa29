"""Tests of ghash (one block per clock) and ghash4 (four) against known answers and the definition.

Packets of random lengths enter back to back or with pauses, each with the key of a random slot, while other
slots are loaded. Each hash must leave exactly STAGES + 4 clocks after its packet's last beat; with ghash4,
whose powers are in block RAM, one clock later.

The environment contains DUT, STAGES and SLOTS.
"""

import os
import random

import cocotb
import gf128_model
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

DUT = os.environ["DUT"]
STAGES = int(os.environ["STAGES"])
SLOTS = int(os.environ["SLOTS"])
LANES = 4 if DUT == "ghash4" else 1
LATENCY = STAGES + (5 if LANES == 4 else 4)
PACKETS = int(os.environ.get("PACKETS", "20" if LANES == 4 else "40"))

# The GCM submission's test cases 2 and 4: H; the blocks of AD, ciphertext and lengths; GHASH.
KNOWN = [
    (
        "66e94bd4ef8a2c3b884cfa59ca342b2e",
        "0388dace60b6a392f328c2b971b2fe7800000000000000000000000000000080",
        "f38cbb1ad69223dcc3457ae5b6b0f885",
    ),
    (
        "b83b533708bf535d0aa6e52980d53b78",
        "feedfacedeadbeeffeedfacedeadbeef"
        "abaddad2000000000000000000000000"
        "42831ec2217774244b7221b784d0d49c"
        "e3aa212f2c02a4e035c17e2329aca12e"
        "21d514b25466931c7d8f6a5aac84aa05"
        "1ba30b396a0aac973d58e09100000000"
        "00000000000000a000000000000001e0",
        "698e57f70e6ecc7fd9463b7260a9ae5f",
    ),
]


class Unit:
    def __init__(self, dut):
        self.dut = dut
        self.random = random.Random(f"{cocotb.RANDOM_SEED} {DUT} {STAGES} {SLOTS}")
        self.keys = {}
        self.due = {}
        self.clocks = 0
        self.checked = 0
        self.loading = None
        self.used = []

    async def start(self):
        Clock(self.dut.clk, 10, "ns").start()
        self.dut.load_valid.value = 0
        self.dut.rst.value = 1
        for _ in range(2):
            await self.clock()
        self.dut.rst.value = 0

    async def clock(self, beat=None):
        """Advances one clock. A beat is (first, after, slot, blocks)."""
        dut = self.dut
        rng = self.random
        first, after, slot, blocks = beat or (
            rng.getrandbits(1),
            rng.getrandbits(16),
            rng.randrange(SLOTS),
            None,
        )
        dut.in_valid.value = int(beat is not None)
        dut.in_first.value = first
        dut.in_after.value = after if first else rng.getrandbits(16)
        dut.in_slot.value = slot
        dut.in_blocks.value = rng.getrandbits(128 * LANES) if blocks is None else blocks
        await FallingEdge(dut.clk)
        self.clocks += 1
        if dut.rst.value:
            return
        due = self.due.pop(self.clocks, None)
        assert dut.out_valid.value == int(due is not None), f"clock {self.clocks}"
        if due is not None:
            assert dut.out_hash.value.to_unsigned().to_bytes(16, "big") == due
            self.checked += 1
        dut.load_valid.value = 0
        if self.loading and dut.load_ready.value:
            slot, key = self.loading
            self.keys[slot] = key
            self.loading = None

    def load(self, slot, key):
        """Starts loading a slot, which is added to `keys` when done."""
        assert self.dut.load_ready.value
        self.keys.pop(slot, None)
        self.dut.load_valid.value = 1
        self.dut.load_slot.value = slot
        self.dut.load_key.value = int.from_bytes(key, "big")
        self.loading = slot, key

    async def loaded(self, slot, key):
        self.load(slot, key)
        # The clock in which the key is taken.
        await self.clock()
        for _ in range(LANES * STAGES * LATENCY + 4):
            if not self.loading:
                return
            await self.clock()
        raise AssertionError("load_ready stays low")

    async def packet(self, slot, blocks, pauses=0.0, wanted=None):
        rng = self.random
        beats = range(0, len(blocks), LANES)
        for at in beats:
            while rng.random() < pauses:
                await self.clock()
            here = blocks[at : at + LANES]
            # Lanes after the last block are random.
            here = b"".join(here) + rng.randbytes(16 * (LANES - len(here)))
            if at == beats[-1]:
                self.due[self.clocks + LATENCY] = wanted or gf128_model.ghash(self.keys[slot], blocks)
            await self.clock((int(at == 0), len(blocks) - 1, slot, int.from_bytes(here, "big")))

    async def drain(self):
        for _ in range(LATENCY):
            await self.clock()
        assert not self.due


@cocotb.test()
async def known_answers(dut):
    unit = Unit(dut)
    await unit.start()
    for key, text, wanted in KNOWN:
        slot = unit.random.randrange(SLOTS)
        await unit.loaded(slot, bytes.fromhex(key))
        data = bytes.fromhex(text)
        blocks = [data[i : i + 16] for i in range(0, len(data), 16)]
        await unit.packet(slot, blocks, wanted=bytes.fromhex(wanted))
        # Leading zero blocks change nothing.
        await unit.packet(slot, [bytes(16)] * 3 + blocks, wanted=bytes.fromhex(wanted))
    await unit.drain()
    assert unit.checked == 2 * len(KNOWN)


@cocotb.test()
async def every_short_length_back_to_back(dut):
    unit = Unit(dut)
    await unit.start()
    await unit.loaded(SLOTS - 1, unit.random.randbytes(16))
    max_length = 2 * LANES * STAGES + LANES + 2
    # Four lanes simulate slowly: every third length only.
    lengths = range(1, max_length, 3 if LANES == 4 else 1)
    for length in lengths:
        await unit.packet(SLOTS - 1, [unit.random.randbytes(16) for _ in range(length)])
    await unit.drain()
    assert unit.checked == len(lengths)


@cocotb.test()
async def random_packets(dut):
    unit = Unit(dut)
    await unit.start()
    rng = unit.random
    for slot in range(min(SLOTS, 3)):
        await unit.loaded(slot, rng.randbytes(16))
    for _ in range(PACKETS):
        if not unit.loading and len(unit.keys) == min(SLOTS, 3) and SLOTS > 3 and rng.random() < 0.3:
            # Load another slot, or reload one no longer in flight, during the pauses of the next packets.
            free = [slot for slot in range(SLOTS) if slot not in unit.used[-12:]]
            unit.keys.pop(rng.choice(list(unit.keys)))
            unit.load(rng.choice(free), rng.randbytes(16))
        slot = rng.choice(list(unit.keys))
        unit.used.append(slot)
        length = rng.choice((1, 2, 3, rng.randrange(1, 12 * LANES)))
        await unit.packet(slot, [rng.randbytes(16) for _ in range(length)], rng.choice((0.0, 0.0, 0.3, 0.7)))
        if rng.random() < 0.1:
            await unit.clock()
    await unit.drain()
    assert unit.checked == PACKETS


@cocotb.test()
async def reset_in_the_middle_of_a_packet(dut):
    """A one-clock reset, this long after the first beats: they must not affect later hashes."""
    unit = Unit(dut)
    await unit.start()
    rng = unit.random
    await unit.loaded(0, rng.randbytes(16))
    # Four lanes simulate slowly: only the clock in which the first product is added.
    for clocks in [STAGES + 3] if LANES == 4 else range(STAGES + 7):
        await unit.packet(0, [rng.randbytes(16) for _ in range(3 * LANES)])
        unit.load(0, rng.randbytes(16))
        await unit.clock((1, 5 * LANES, 0, rng.getrandbits(128 * LANES)))
        for _ in range(clocks):
            await unit.clock()
        dut.rst.value = 1
        await unit.clock()
        dut.rst.value = 0
        unit.due.clear()
        unit.loading = None
        await unit.loaded(0, rng.randbytes(16))
        await unit.packet(0, [rng.randbytes(16) for _ in range(7 * LANES + 1)])
    await unit.drain()
