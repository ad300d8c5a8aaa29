"""Tests of serpent_encrypt, serpent_decrypt and serpent_last_prekey against known answers and an independent
model.

The known answers are all of testvectors/serpent.json, which include the published ones. Blocks enter with and
without pauses. Keys change at every distance that KEYS allows: 33 clocks and a few more for the wavefront,
every block with a key per block. Each result must leave exactly LATENCY = 33 clocks after its block.

The environment contains DUT (serpent_encrypt, serpent_decrypt or serpent_last_prekey) and KEYS (0, 1 or 2).
"""

import json
import os
import random
from pathlib import Path

import cocotb
import serpent_model
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, Timer

KEYS = int(os.environ.get("KEYS", "1"))
DUT = os.environ.get("DUT", "serpent_encrypt")
OPEN = DUT == "serpent_decrypt"
LATENCY = 33
VECTORS = Path(__file__).resolve().parents[3] / "testvectors" / "serpent.json"


def known_answers() -> list:
    tests = json.loads(VECTORS.read_text())["tests"]
    return [tuple(bytes.fromhex(test[field]) for field in ("key", "pt", "ct")) for test in tests]


def port_key(key: bytes) -> int:
    if OPEN:
        return int.from_bytes(serpent_model.last_prekeys(key), "little")
    padded = key if len(key) == 32 else (key + b"\1").ljust(32, b"\0")
    return int.from_bytes(padded, "little")


class Bench:
    """Feeds one line per clock, (key or None, block or None), and records the outputs with their clocks."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())

    async def reset(self):
        self.dut.rst.value = 1
        self.dut.in_valid.value = 0
        self.dut.in_new_key.value = 0
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0

    async def play(self, lines: list) -> dict:
        dut = self.dut
        given = {}
        idle = [(None, False, None)] * (LATENCY + 2)
        for clock, (key, new_key, block) in enumerate(lines + idle):
            await Timer(1, "ns")
            dut.in_new_key.value = int(new_key)
            dut.in_key.value = port_key(key) if key is not None else random.getrandbits(256)
            dut.in_valid.value = int(block is not None)
            dut.in_block.value = (
                int.from_bytes(block, "big") if block is not None else random.getrandbits(128)
            )
            dut.in_user.value = clock & 1
            await ReadOnly()
            if dut.out_valid.value == 1:
                given[clock] = dut.out_block.value.to_unsigned().to_bytes(16, "big")
                assert int(dut.out_user.value) == (clock - LATENCY) & 1
            await RisingEdge(dut.clk)
        return given


def make_lines(rng, jobs: list) -> tuple:
    """Returns input lines, and expected outputs with clocks, for jobs of (key, inputs and outputs)."""
    lines, expected = [], {}
    for key, pairs, gap in jobs:
        start = len(lines)
        if KEYS == 0:
            # The pipe must be empty before the load, and the load complete before the first block.
            lines += (
                [(None, False, None)] * LATENCY + [(key, True, None)] + [(None, False, None)] * (LATENCY - 1)
            )
        for index, (before, after) in enumerate(pairs):
            while rng.random() < gap:
                lines.append((None, False, None))
            expected[len(lines) + LATENCY] = after
            first = index == 0 and KEYS == 1
            lines.append((key if first or KEYS == 2 else None, first, before))
        if KEYS == 1:
            first_block = next(i for i in range(start, len(lines)) if lines[i][1])
            while len(lines) - first_block < LATENCY:
                lines.append((None, False, None))
    return lines, expected


@cocotb.test(skip=DUT == "serpent_last_prekey")
async def known_answer(dut):
    bench = Bench(dut)
    await bench.reset()
    jobs = [(key, [(ct, pt) if OPEN else (pt, ct)], 0.0) for key, pt, ct in known_answers()]
    lines, expected = make_lines(random.Random(cocotb.RANDOM_SEED), jobs)
    assert await bench.play(lines) == expected


@cocotb.test(skip=DUT == "serpent_last_prekey")
async def random_keys_at_every_distance(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut)
    await bench.reset()
    jobs = []
    distances = {
        0: [3] * 4,
        1: [*range(33, 45), 1, 2, 5, 70],
        2: [1, 1, 1, 2, 1, 3, 1, 1, 17, 1, 40, 1],
    }[KEYS]
    for distance in distances:
        key = rng.randbytes(32)
        blocks = [rng.randbytes(16) for _ in range(distance)]
        pairs = [(block, serpent_model.encrypt(key, block)) for block in blocks]
        jobs.append((key, [pair[::-1] for pair in pairs] if OPEN else pairs, rng.choice([0.0, 0.0, 0.3])))
    lines, expected = make_lines(rng, jobs)
    assert await bench.play(lines) == expected


@cocotb.test(skip=DUT != "serpent_last_prekey")
async def last_prekey(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    dut.rst.value = 1
    dut.start.value = 0
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(5):
        key = rng.randbytes(32)
        dut.start.value = 1
        dut.key.value = int.from_bytes(key, "little")
        await RisingEdge(dut.clk)
        dut.start.value = 0
        clocks = 0
        await ReadOnly()
        while dut.done.value != 1:
            await RisingEdge(dut.clk)
            await ReadOnly()
            clocks += 1
        assert clocks == 33
        assert dut.last.value.to_unsigned().to_bytes(32, "little") == serpent_model.last_prekeys(key)
        await RisingEdge(dut.clk)
        await ReadOnly()
        assert dut.done.value == 0
        await Timer(1, "ns")
