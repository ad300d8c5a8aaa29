"""Tests of macsec100g with each cipher suite, and with many channels: sealing, opening, rejecting.

The environment contains the core's SUITE and CHANNELS.
"""

import itertools
import os
import random

import aes_model
import cocotb
import serpent_model
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamFrame
from macsec100g_test import READINGS, SALT, Core
from macsec_bench import DATA, ICV_BYTES, Association, clocks_per_frame, flipped, some_frame
from suites import SUITES, wrong_answers

SUITE = int(os.environ["SUITE"])
OCB3_AES, OCB3_SERPENT = OCB3 = 1, 3
CHANNELS = int(os.environ["CHANNELS"])
SHORT_BYTES = 48
LENGTHS = (
    2,
    16,
    47,
    48,
    49,
    64,
    65,
    80,
    112,
    113,
    128,
    192,
    200,
)  # bytes of user data, around block and beat limits
MEASURED = 24  # frames
KNOWN_ANSWERS = 12


class End:
    """The peer of an association, according to the standard (9.3 to 9.9, 14.7) and the suite's model."""

    def __init__(self, association: Association) -> None:
        self.association = association
        self.pn = association.pn

    def sealed(self, frame: bytes) -> bytes:
        one = self.association
        data = frame[12:]
        # SC, E and C; the length of short frames.
        tag = b"\x88\xe5" + bytes([0x2C | one.an, len(data) if len(data) < SHORT_BYTES else 0])
        header = frame[:12] + tag + (self.pn & 0xFFFF_FFFF).to_bytes(4) + one.sci
        nonce = (one.base ^ self.pn).to_bytes(12)
        self.pn += 1
        return header + SUITES[SUITE].seal(one.key, nonce, header, data)


def associations(rng: random.Random) -> list[Association]:
    """Returns one association of the first, a middle and the last channel; one of them soon crosses 2^32.

    Their keys have the suite's sizes in turn.
    """
    key_bytes = itertools.cycle(SUITES[SUITE].key_bytes)
    made = [
        Association(channel, bytes([2, 0, 0, 0, 0, channel, 0, 1]), an, rng.randbytes(next(key_bytes)), pn)
        for channel, an, pn in ((0, 0, 1), (CHANNELS // 2 - 1, 1, 2**32 - 2), (CHANNELS - 1, 3, 0x1234_5678))
    ]
    made[1].ssci, made[1].salt = bytes([7, 0, 0, 1]), SALT
    return made


async def begun(dut: HierarchyObject, rng: random.Random) -> tuple[Core, list[Association]]:
    core = Core(dut)
    await core.reset()
    made = associations(rng)
    for association in made:
        for receive in (True, False):
            await core.load(association, receive)
            await core.use(association, receive)
            assert await core.read("status", "in_use") == 1
    return core, made


@cocotb.test()
async def seals_like_the_reference_and_rejects_forgeries(dut: HierarchyObject) -> None:
    assert wrong_answers(SUITES[SUITE], KNOWN_ANSWERS) == []
    rng = random.Random(cocotb.RANDOM_SEED)
    core, made = await begun(dut, rng)
    assert await core.read("shape", "channels") == CHANNELS
    assert await core.read("shape", "suite") == SUITE
    ends = [End(association) for association in made]
    expected = [dict.fromkeys(READINGS, 0) | {"pn": one.pn} for one in made]
    received = []
    for i, data_bytes in enumerate(LENGTHS):
        which = i % len(made)
        one = made[which]
        frame = some_frame(rng, one.sci[:6], data_bytes)
        await core.sources["controlled"].send(AxiStreamFrame(frame, tid=one.channel, tuser=0))
        got = await with_timeout(core.sinks["line"].recv(), 40, "us")
        sealed = bytes(got.tdata)
        assert sealed.hex() == ends[which].sealed(frame).hex()
        assert got.tid == one.channel
        # Address, user data or ICV, in rotation for each association.
        end = len(sealed) - ICV_BYTES
        places = (range(12), range(DATA, end), range(end, len(sealed)))
        forged = flipped(sealed, rng.choice(places[i // len(made) % 3]), rng.randrange(8))
        await core.sources["line"].send(AxiStreamFrame(forged, tuser=0))
        expected[which]["not_valid"] += 1
        await core.sources["line"].send(AxiStreamFrame(sealed, tuser=0))
        received.append((one.channel, frame))
        for name, more in (("pn", 1), ("frames", 1), ("octets", data_bytes)):
            expected[which][name] += more
    for channel, frame in received:
        got = await with_timeout(core.sinks["controlled"].recv(), 40, "us")
        assert (got.tid, bytes(got.tdata)) == (channel, frame)
    await ClockCycles(dut.clk, 300)
    assert core.sinks["controlled"].empty()
    for one, counts in zip(made, expected, strict=True):
        assert await core.counted(one.slot, True) == counts
        assert await core.counted(one.slot, False) == counts | {"not_valid": 0}


# Overwriting many slots takes Icarus an hour.
@cocotb.test(skip=CHANNELS > 4)
async def slot_takes_its_next_key_and_zeroization_leaves_none(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core, made = await begun(dut, rng)
    last = made[-1]
    # If the suite has keys of two sizes, each next key has the other size.
    key_bytes = itertools.cycle(reversed(SUITES[SUITE].key_bytes))
    for _ in range(1 + len(SUITES[SUITE].key_bytes)):
        end = End(last)
        frame = some_frame(rng, last.sci[:6], 100)
        await core.sources["controlled"].send(AxiStreamFrame(frame, tid=last.channel, tuser=0))
        sealed = bytes((await with_timeout(core.sinks["line"].recv(), 40, "us")).tdata)
        assert sealed.hex() == end.sealed(frame).hex()
        await core.sources["line"].send(AxiStreamFrame(sealed, tuser=0))
        assert bytes((await with_timeout(core.sinks["controlled"].recv(), 40, "us")).tdata) == frame
        last.key = rng.randbytes(next(key_bytes))
        for receive in (True, False):
            await core.end_use(last.slot, receive)
            await core.load(last, receive)
            await core.use(last, receive)
    await core.write("command", 8)
    while await core.read("status", "zeroizing"):
        pass
    zeros = bytes(len(last.key))
    if SUITE not in OCB3:
        kept = [
            (dut.transmit.engine.g_gcm.engine.lanes.keys, 0),
            (dut.receive.engine.g_gcm.engine.lanes.keys, 0),
        ]
    else:
        sealing, opening = dut.transmit.engine.g_ocb.engine.lanes, dut.receive.engine.g_ocb.engine.lanes
        kept = [(sealing.g_encrypt.keys, 0), (sealing.g_aux.keys, 0), (opening.g_aux.keys, 0)]
        # Start of decryption for the key of zeros.
        if SUITE == OCB3_SERPENT:
            first = int.from_bytes(serpent_model.last_prekeys(zeros), "little")
        else:
            first = int.from_bytes(aes_model.round_keys(zeros, 10)[-1])
        kept.append((opening.g_decrypt.keys, first))
    for keys, value in kept:
        for slot in range(4 * CHANNELS):
            assert int(keys.ram.memory[slot].value) == value
    assert int(dut.transmit.in_use.value) == int(dut.receive.in_use.value) == 0


@cocotb.test(skip=SUITE != OCB3_AES)
async def clocks_per_frame_match_the_headers(dut: HierarchyObject) -> None:
    """Clock counts of both sides, with sealed frames looped back. The sides' own tests cover GCM."""
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    sci = bytes.fromhex("0200000000000001")
    for an, (data_bytes, sending, receiving) in enumerate(((48, 2, 3), (65, 3, 4), (113, 4, 4))):
        # Packet numbers that differ only in the low six bits, so that OCB3 needs one Ktop.
        association = Association(0, sci, an, rng.randbytes(SUITES[SUITE].key_bytes[0]), 64)
        for receive in (True, False):
            await core.load(association, receive)
            await core.use(association, receive)
        for _ in range(MEASURED):
            frame = some_frame(rng, sci[:6], data_bytes)
            core.sources["controlled"].send_nowait(AxiStreamFrame(frame, tid=0, tuser=0))
        assert await clocks_per_frame(dut, MEASURED, "m_line") == sending, data_bytes
        for _ in range(MEASURED):
            sealed = await with_timeout(core.sinks["line"].recv(), 40, "us")
            core.sources["line"].send_nowait(AxiStreamFrame(bytes(sealed.tdata), tuser=0))
        assert await clocks_per_frame(dut, MEASURED, "m_controlled") == receiving, data_bytes
        for _ in range(MEASURED):
            await core.sinks["controlled"].recv()
