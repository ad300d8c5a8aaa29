"""Tests of macsec_transmit: every frame on the line is identical to the one that scapy seals."""

import os
import random
from pathlib import Path

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from macsec_bench import (
    CLEAR,
    EXCHANGED,
    FRAMES,
    NO_SCI,
    OFFSET,
    SCIS,
    VLAN_CLEAR,
    Association,
    Bench,
    Port,
    clocks_per_frame,
    key,
    pauses,
    port_key,
    sealed_by,
    some_frame,
    some_frames,
    some_vlan,
    with_vlan,
    write_capture,
)

SLOTS = 16

# Captures that run_macsec.py passes to `sealcomb macsec` and tshark.
FOLDER = Path(os.environ.get("MACSEC_FOLDER", "."))


def write_captures(name: str, plain: list[bytes], line: list[bytes]) -> None:
    write_capture(FOLDER / f"{name}plain.pcap", plain)
    write_capture(FOLDER / f"{name}line.pcap", line)


class Transmit(Bench):
    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.controlled = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
        self.uncontrolled = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_bypass"), dut.clk, dut.rst)
        self.line = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)

    async def send(self, channel: int, frame: bytes, user: int = 0) -> None:
        await self.controlled.send(AxiStreamFrame(frame, tid=channel, tuser=user))

    async def receive(self) -> AxiStreamFrame:
        return await with_timeout(self.line.recv(), 40, "us")

    async def expect_nothing(self) -> None:
        await ClockCycles(self.dut.clk, 200)
        assert self.line.empty()


@cocotb.test()
async def seals_all_lengths_like_scapy(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    associations = EXCHANGED
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.controlled.set_pause_generator(pauses(rng, 0.2))
    bench.line.set_pause_generator(pauses(rng, 0.3))
    expected = []
    counts = [[0, 0] for _ in ends]
    plain = some_frames(FRAMES, cocotb.RANDOM_SEED)
    for i, frame in enumerate(plain):
        channel = i % len(ends)
        user = rng.randrange(2)
        expected.append((channel, user, sealed_by(ends[channel], frame)))
        counts[channel][0] += 1
        counts[channel][1] += len(frame) - 12
        await bench.send(channel, frame, user)
    line = []
    for channel, user, frame in expected:
        got = await bench.receive()
        line.append(bytes(got.tdata))
        assert line[-1].hex() == frame.hex()
        assert (got.tid, got.tuser) == (channel, user)
    write_captures("", plain, line)
    for association, end, (frames, octets) in zip(associations, ends, counts, strict=True):
        assert await bench.read(association.slot, "pn") == end.pn
        assert await bench.read(association.slot, "frames") == frames
        assert await bench.read(association.slot, "octets") == octets


@cocotb.test()
async def omits_the_sci_like_scapy(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    # One of them always has an SCI, so that both forms follow each other.
    associations = NO_SCI
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.line.set_pause_generator(pauses(rng, 0.3))
    plain = []
    expected = []
    for i in range(FRAMES):
        which = i % 3 // 2
        frame = some_frame(rng, associations[which].sci[:6])
        plain.append(frame)
        expected.append(sealed_by(ends[which], frame))
        await bench.send(associations[which].channel, frame)
    line = [bytes((await bench.receive()).tdata) for _ in expected]
    assert [frame.hex() for frame in line] == [frame.hex() for frame in expected]
    write_captures("no_sci_", plain, line)


@cocotb.test()
async def protects_integrity_only_like_scapy(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    associations = CLEAR
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.controlled.set_pause_generator(pauses(rng, 0.2))
    bench.line.set_pause_generator(pauses(rng, 0.3))
    # Limits of beats with both headers, frames whose header is in their only beat, and one of many beats.
    lengths = [2, 19, 20, 21, 35, 36, 37, 43, 44, 45, 47, 48, 49, 99, 100, 101, 107, 108, 109, 6000]
    plain = []
    expected = []
    octets = [0 for _ in ends]
    for i in range(max(FRAMES, 2 * len(lengths))):
        which = rng.choice((0, 0, 1, 1, 2)) if i >= 2 * len(lengths) else i % 2
        data_bytes = lengths[i // 2] if i < 2 * len(lengths) else None
        frame = some_frame(rng, associations[which].sci[:6], data_bytes)
        octets[which] += len(frame) - 12
        plain.append(frame)
        expected.append((which, sealed_by(ends[which], frame)))
        await bench.send(which, frame)
    line = []
    for channel, frame in expected:
        got = await bench.receive()
        line.append(bytes(got.tdata))
        assert (got.tid, line[-1].hex()) == (channel, frame.hex())
    write_captures("clear_", plain, line)
    for association, end, total in zip(associations, ends, octets, strict=True):
        assert await bench.read(association.slot, "pn") == end.pn
        assert await bench.read(association.slot, "octets") == total


@cocotb.test()
async def leaves_the_offset_unencrypted_like_scapy(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    associations = OFFSET
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.controlled.set_pause_generator(pauses(rng, 0.2))
    bench.line.set_pause_generator(pauses(rng, 0.3))
    # Encrypted bytes around the limits of beats and of the ICV's room; from 0 down, all is within the offset.
    encrypted = [-28, -3, -1, 0, 1, 2, 3, 22, 23, 47, 48, 49, 63, 64, 65, 86, 87, 112, 113, 128, 129, 3000]
    plain = []
    expected = []
    octets = [0 for _ in ends]
    for i in range(max(FRAMES, len(associations) * len(encrypted))):
        which = i % len(associations)
        nth = i // len(associations)
        size = associations[which].offset + encrypted[nth] if nth < len(encrypted) else None
        frame = some_frame(rng, associations[which].sci[:6], size)
        octets[which] += len(frame) - 12
        plain.append(frame)
        expected.append((which, sealed_by(ends[which], frame)))
        await bench.send(which, frame)
    line = []
    for channel, frame in expected:
        got = await bench.receive()
        line.append(bytes(got.tdata))
        assert (got.tid, line[-1].hex()) == (channel, frame.hex())
    write_captures("offset_", plain, line)
    for association, end, total in zip(associations, ends, octets, strict=True):
        assert await bench.read(association.slot, "pn") == end.pn
        assert await bench.read(association.slot, "octets") == total


@cocotb.test()
async def vlan_tag_stays_before_the_sectag(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    associations = VLAN_CLEAR
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.controlled.set_pause_generator(pauses(rng, 0.2))
    bench.line.set_pause_generator(pauses(rng, 0.3))
    # Limits of beats before the tag is taken out, and after it is put in.
    lengths = [2, 16, 20, 44, 47, 48, 49, 50, 51, 52, 53, 56, 60, 61, 108, 112, 113, 116, 117, 176, 3000]
    for vlan_clear in (True, False):
        dut.port.value = Port(vlan_clear=vlan_clear).value
        plain = []
        expected = []
        for i, data_bytes in enumerate(lengths):
            which = i % len(associations)
            frame = some_frame(rng, associations[which].sci[:6], data_bytes)
            tag = some_vlan(rng) if i % 4 else b""
            if vlan_clear:
                expected.append((which, with_vlan(tag, sealed_by(ends[which], frame))))
            else:
                expected.append((which, sealed_by(ends[which], with_vlan(tag, frame))))
            plain.append(with_vlan(tag, frame))
            await bench.send(which, plain[-1])
        line = []
        for channel, frame in expected:
            got = await bench.receive()
            line.append(bytes(got.tdata))
            assert (got.tid, line[-1].hex()) == (channel, frame.hex())
        if vlan_clear:
            write_captures("vlan_", plain, line)


@cocotb.test()
async def use_waits_for_the_key_that_is_being_loaded(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    busy = Association(0, SCIS[0], 0, key(0))
    await bench.use(busy)
    end = busy.other_end()
    bench.line.pause = True
    frame = some_frame(rng, SCIS[0][:6], 200)
    for _ in range(3):
        await bench.send(0, frame)
    await RisingEdge(dut.m_axis_tvalid)
    # The key cannot be written before these frames are finished.
    fresh = Association(1, SCIS[1], 3, key(1))
    dut.s_key_slot.value = fresh.slot
    dut.s_key_key.value = port_key(dut, fresh.key)
    dut.s_key_tvalid.value = 1
    await RisingEdge(dut.clk)
    dut.s_key_tvalid.value = 0
    setting = cocotb.start_soon(bench.use(fresh, with_key=False))
    await ClockCycles(dut.clk, 100)
    assert not setting.done()
    assert not dut.set_ready.value
    bench.line.pause = False
    await with_timeout(setting, 40, "us")
    assert int(dut.in_use.value) >> fresh.slot & 1 == 1
    for _ in range(3):
        assert bytes((await bench.receive()).tdata) == sealed_by(end, frame)
    await bench.send(1, frame)
    assert bytes((await bench.receive()).tdata) == sealed_by(fresh.other_end(), frame)


@cocotb.test()
async def rekey_under_traffic_loses_no_frame(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    associations = [Association(1, SCIS[1], an, key(an)) for an in (0, 1, 2)]
    await bench.use(associations[0])
    bench.controlled.set_pause_generator(pauses(rng, 0.8))
    ends = [association.other_end() for association in associations]
    last = 0

    async def check(frame: bytes) -> None:
        nonlocal last
        got = bytes((await bench.receive()).tdata)
        an = got[14] & 3
        assert an in (last, last + 1)
        assert got.hex() == sealed_by(ends[an], frame).hex()
        last = an

    frames = [some_frame(rng, SCIS[1][:6], 100) for _ in range(60)]
    for frame in frames:
        await bench.send(1, frame)
    for i, frame in enumerate(frames):
        if i in (10, 30):
            cocotb.start_soon(bench.use(associations[1 + i // 30]))
        await check(frame)
    # Short frames may all have passed before the last key is in use.
    for frame in frames:
        await bench.send(1, frame)
        await check(frame)
    assert last == 2


@cocotb.test()
async def sends_nothing_without_association_or_numbers(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    frame = some_frame(rng, SCIS[0][:6], 200)
    await bench.send(0, frame)
    await bench.expect_nothing()
    assert bench.counts["count_no_sa"] == 1
    # Without a key it does not come into use.
    await bench.use(Association(0, SCIS[0], 0, key(0)), with_key=False)
    await bench.send(0, frame)
    await bench.expect_nothing()
    assert bench.counts["count_no_sa"] == 2
    # The last 32-bit packet number, and none after it.
    last = Association(0, SCIS[0], 0, key(0), pn=0xFFFF_FFFF)
    await bench.use(last)
    end = last.other_end()
    for _ in range(3):
        await bench.send(0, frame)
    assert bytes((await bench.receive()).tdata) == sealed_by(end, frame)
    await bench.expect_nothing()
    assert bench.counts["count_no_pn"] == 2
    # Shorter than an Ethernet header.
    await bench.use(Association(1, SCIS[1], 0, key(1)))
    await bench.send(1, frame[:13])
    await bench.expect_nothing()
    assert bench.counts["count_no_sa"] == 3


@cocotb.test()
async def uncontrolled_frames_pass_unchanged(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    association = Association(3, SCIS[3], 0, key(3))
    await bench.use(association)
    end = association.other_end()
    sealed = []
    bypass = []
    bench.line.set_pause_generator(pauses(rng, 0.3))
    for _ in range(10):
        frame = some_frame(rng, SCIS[3][:6])
        sealed.append(sealed_by(end, frame))
        await bench.send(3, frame)
        bypass.append(rng.randbytes(12) + b"\x88\x8e" + rng.randbytes(rng.randrange(1, 150)))
        await bench.uncontrolled.send(AxiStreamFrame(bypass[-1], tid=2, tuser=1))
    got = [await bench.receive() for _ in range(20)]
    assert [bytes(frame.tdata) for frame in got if frame.tid == 3] == sealed
    assert [bytes(frame.tdata) for frame in got if frame.tid == 2] == bypass


@cocotb.test()
async def slot_in_use_keeps_its_key(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0))
    await bench.use(association)
    end = association.other_end()
    await bench.load(association.slot, key(9))
    assert bench.counts["count_key_refused"] == 1
    frame = some_frame(rng, SCIS[0][:6])
    await bench.send(0, frame)
    assert bytes((await bench.receive()).tdata) == sealed_by(end, frame)


@cocotb.test()
async def key_comes_into_use_once(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0))
    await bench.use(association)
    end = association.other_end()
    frame = some_frame(rng, SCIS[0][:6])
    for _ in range(2):
        # Set again while in use: nothing changes.
        await bench.use(association, with_key=False)
        await bench.send(0, frame)
        assert bytes((await bench.receive()).tdata) == sealed_by(end, frame)
    await bench.set("sa", slot=association.slot, use=0)
    await bench.use(association, with_key=False)
    await bench.send(0, frame)
    await bench.expect_nothing()
    assert bench.counts["count_no_sa"] == 1


@cocotb.test()
async def counters_start_at_0_with_each_key(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    other = Association(2, SCIS[2], 3, key(9))
    await bench.use(other)
    await bench.send(2, some_frame(rng, SCIS[2][:6], 60))
    await bench.receive()
    for i in range(2):
        association = Association(0, SCIS[0], 0, key(i))
        await bench.use(association)
        assert await bench.read(association.slot, "frames") == 0
        assert await bench.read(association.slot, "octets") == 0
        for _ in range(3):
            await bench.send(0, some_frame(rng, SCIS[0][:6], 100))
            await bench.receive()
        # Counters remain readable after the use ends.
        await bench.set("sa", slot=association.slot, use=0)
        await bench.load(association.slot, key(7))
        assert await bench.read(association.slot, "frames") == 3
        assert await bench.read(association.slot, "octets") == 300
    assert await bench.read(other.slot, "frames") == 1
    assert await bench.read(other.slot, "octets") == 60


@cocotb.test()
async def counts_frames_that_follow_in_the_next_clock(dut: HierarchyObject) -> None:
    """A frame within its offset has one beat, behind which the head of the next frame follows at once."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    associations = [
        Association(0, SCIS[0], 1, key(0), offset=30),
        Association(1, SCIS[1], 2, key(1), offset=50, no_sci=True),
    ]
    counts = [[0, 0] for _ in associations]
    ends = [association.other_end() for association in associations]
    expected = []
    for association in associations:
        await bench.use(association)
    # Frames gather behind a line that pauses, so that each is there when the one before it ends.
    bench.line.pause = True
    for i in range(48):
        which = i // 4 % 2 if i < 24 else rng.randrange(2)
        association = associations[which]
        size = rng.randrange(2, association.offset + 1) if i % 2 == 0 else rng.randrange(51, 150)
        frame = some_frame(rng, association.sci[:6], size)
        expected.append(sealed_by(ends[which], frame))
        counts[which][0] += 1
        counts[which][1] += size
        await bench.send(association.channel, frame)
    await ClockCycles(dut.clk, 300)
    bench.line.pause = False
    for frame in expected:
        assert bytes((await bench.receive()).tdata) == frame
    for association, (frames, octets) in zip(associations, counts, strict=True):
        assert await bench.read(association.slot, "frames") == frames
        assert await bench.read(association.slot, "octets") == octets


@cocotb.test()
async def zeroization_leaves_no_key(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    association = Association(2, SCIS[2], 1, key(2))
    await bench.use(association)
    end = association.other_end()
    frame = some_frame(rng, SCIS[2][:6])
    for _ in range(5):
        await bench.send(2, frame)
    await RisingEdge(dut.m_axis_tvalid)
    dut.zeroize.value = 1
    await RisingEdge(dut.clk)
    dut.zeroize.value = 0
    await RisingEdge(dut.clk)
    while dut.zeroizing.value:
        await RisingEdge(dut.clk)
    # With the report all is overwritten: the key of every slot, and the powers of H that were made of it.
    engine = dut.engine.g_gcm.engine
    for slot in range(SLOTS):
        assert int(engine.lanes.keys.ram.memory[slot].value) == 0
    for lane in range(4):
        powers = engine.hash.ghash.four.g_power[lane].powers.g_block.ram.memory
        per_slot = len(powers) // SLOTS
        of_slots = [
            [str(powers[slot * per_slot + i].value) for i in range(per_slot)] for slot in range(SLOTS)
        ]
        assert of_slots[SLOTS - 1] == of_slots[0] == of_slots[association.slot]
    await ClockCycles(dut.clk, 100)
    # Frames in flight are sealed with their key; later frames are not sent.
    sealed = 0
    while not bench.line.empty():
        assert bytes(bench.line.recv_nowait().tdata) == sealed_by(end, frame)
        sealed += 1
    assert sealed > 0
    assert sealed + bench.counts["count_no_sa"] == 5
    assert int(dut.in_use.value) == 0
    # With a new key the slot works again.
    await bench.use(Association(2, SCIS[2], 1, key(8)))
    fresh = Association(2, SCIS[2], 1, key(8)).other_end()
    await bench.send(2, frame)
    assert bytes((await bench.receive()).tdata) == sealed_by(fresh, frame)


@cocotb.test()
async def clocks_per_frame_match_the_header(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Transmit(dut)
    await bench.reset()
    frames = 24
    # Whether user data are encrypted, the offset, and clocks by the bytes behind it.
    kinds = (
        (True, 0, ((48, 2), (49, 3), (64, 3), (65, 3), (112, 3), (113, 4))),
        (True, 30, ((48, 2), (49, 3), (65, 3))),
        (True, 50, ((34, 3), (35, 4), (49, 5), (50, 4), (65, 4))),
        (False, 0, ((99, 4), (100, 3), (101, 4))),
    )
    for an, (encrypt, offset, cases) in enumerate(kinds):
        await bench.use(Association(0, SCIS[0], an, key(an), encrypt=encrypt, offset=offset))
        for data_bytes, clocks in cases:
            for _ in range(frames):
                await bench.send(0, some_frame(rng, SCIS[0][:6], offset + data_bytes))
            assert await clocks_per_frame(dut, frames) == clocks, (encrypt, offset, data_bytes)
