"""macsec_receive: opens what scapy seals, gives nothing of what is forged, late, replayed or malformed."""

import os
import random
from pathlib import Path

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from macsec_bench import (
    DATA,
    EXCHANGED,
    FRAMES,
    PN,
    SCIS,
    SL,
    TCI,
    Association,
    Bench,
    Ether,
    clocks_a_frame,
    flipped,
    key,
    pauses,
    read_capture,
    sealed_by,
    some_frame,
)

FOLDER = os.environ.get("MACSEC_FOLDER")  # of what the command has sealed for run_macsec.py
SALT = bytes.fromhex("e630e81a48de86a21c66fa6d")


class Receive(Bench):
    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.line = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
        self.controlled = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
        self.uncontrolled = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_bypass"), dut.clk, dut.rst)

    async def send(self, frame: bytes, user: int = 0) -> None:
        """`user` has the bit of a bad frame lowest."""
        await self.line.send(AxiStreamFrame(frame, tuser=user))

    async def receive(self) -> AxiStreamFrame:
        return await with_timeout(self.controlled.recv(), 40, "us")

    async def expect_nothing(self) -> None:
        await self.line.wait()
        await ClockCycles(self.dut.clk, 200)
        assert self.controlled.empty()


@cocotb.test()
async def frames_of_all_lengths_open_and_forged_ones_do_not(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    associations = EXCHANGED
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.line.set_pause_generator(pauses(rng, 0.2))
    bench.controlled.set_pause_generator(pauses(rng, 0.3))
    expected = []
    good = [[0, 0] for _ in ends]
    forged = [0 for _ in ends]
    for _ in range(FRAMES):
        channel = rng.randrange(3)
        frame = some_frame(rng, associations[channel].sci[:6])
        user = rng.randrange(2)
        sealed = sealed_by(ends[channel], frame)
        if rng.random() < 0.3:
            # An address, user data, or the ICV.
            at = rng.choice(
                (rng.randrange(12), rng.randrange(DATA, len(sealed)), len(sealed) - 1 - rng.randrange(16))
            )
            sealed = flipped(sealed, at, rng.randrange(8))
            forged[channel] += 1
        else:
            expected.append((channel, user, frame))
            good[channel][0] += 1
            good[channel][1] += len(frame) - 12
        await bench.send(sealed, user << 1)
    for channel, user, frame in expected:
        got = await bench.receive()
        assert bytes(got.tdata).hex() == frame.hex()
        assert (got.tid, got.tuser) == (channel, user)
    await bench.expect_nothing()
    for association, (frames, octets), wrong in zip(associations, good, forged, strict=True):
        assert await bench.read(association.slot, "frames") == frames
        assert await bench.read(association.slot, "octets") == octets
        assert await bench.read(association.slot, "not_valid") == wrong
        assert await bench.read(association.slot, "late") == 0


@cocotb.test(skip=FOLDER is None)
async def what_the_library_seals_opens(dut: HierarchyObject) -> None:
    bench = Receive(dut)
    await bench.reset()
    for association in EXCHANGED:
        await bench.use(association)
    for frame in read_capture(Path(FOLDER) / "sealed.pcap"):
        await bench.send(frame)
    for frame in read_capture(Path(FOLDER) / "plain.pcap"):
        assert bytes((await bench.receive()).tdata) == frame


@cocotb.test()
async def a_number_comes_once_and_not_late(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0))
    await bench.use(association)
    end = association.other_end()
    plain = [some_frame(rng, SCIS[0][:6]) for _ in range(4)]
    sealed = [sealed_by(end, frame) for frame in plain]
    # Each twice in a row, so that the second comes before the first is verified; then the first again.
    for frame in sealed:
        await bench.send(frame)
        await bench.send(frame)
    await bench.send(sealed[0])
    for frame in plain:
        assert bytes((await bench.receive()).tdata) == frame
    await bench.expect_nothing()
    assert await bench.read(association.slot, "late") == 5
    assert await bench.read(association.slot, "pn") == 5
    # A forged number does not move the lowest.
    await bench.send(flipped(sealed_by(end, plain[0]), PN, 6))
    await bench.send(sealed_by(end, plain[1]))
    assert bytes((await bench.receive()).tdata) == plain[1]
    assert await bench.read(association.slot, "pn") == 7


@cocotb.test()
async def the_window_is_as_long_as_it_is_set(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    start = 2**33 - 3  # across the border of the low half
    association = Association(1, SCIS[1], 0, key(1), pn=start, ssci=bytes([0, 0, 0, 7]), salt=SALT)
    await bench.use(association, window=8)
    end = association.other_end()
    plain = [some_frame(rng, SCIS[1][:6], 60) for _ in range(12)]
    sealed = [sealed_by(end, frame) for frame in plain]
    await bench.send(sealed[8])
    assert bytes((await bench.receive()).tdata) == plain[8]
    assert await bench.read(association.slot, "pn") == start + 1
    for i in (0, 1, 7):
        await bench.send(sealed[i])
    assert bytes((await bench.receive()).tdata) == plain[1]
    assert bytes((await bench.receive()).tdata) == plain[7]
    await bench.expect_nothing()
    assert await bench.read(association.slot, "late") == 1


@cocotb.test()
async def what_is_no_valid_sectag_is_dropped_and_counted(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 1, key(0))
    await bench.use(association)
    end = association.other_end()
    plain = some_frame(rng, SCIS[0][:6], 70)
    sealed = sealed_by(end, plain)
    bad = [
        flipped(sealed, TCI, 7),  # version
        flipped(sealed, TCI, 6),  # ES beside SC
        flipped(sealed, TCI, 4),  # SCB beside SC
        flipped(sealed, TCI, 3),  # C without E
        flipped(sealed, TCI, 2),  # E without C
        flipped(sealed, SL, 5),  # the length of a short frame
        flipped(sealed, SL, 7),
        sealed[: DATA + 47 + 16],  # too short without one
        sealed[:PN] + bytes(4) + sealed[PN + 4 :],
        sealed[:43],
        sealed[:14],
    ]
    for frame in bad:
        await bench.send(frame)
    await bench.expect_nothing()
    assert bench.counts["count_bad_tag"] == len(bad)
    await bench.send(flipped(sealed, 20))
    await bench.send(flipped(sealed, TCI, 1))
    await bench.expect_nothing()
    assert (bench.counts["count_no_sci"], bench.counts["count_no_sa"]) == (1, 1)
    # A frame that the MAC found bad, then the sound one, then a filled one.
    await bench.send(sealed, 1)
    await bench.send(sealed)
    assert bytes((await bench.receive()).tdata) == plain
    short = some_frame(rng, SCIS[0][:6], 9)
    await bench.send(sealed_by(end, short) + bytes(60 - len(short) - 32))
    assert bytes((await bench.receive()).tdata) == short
    assert bench.counts["count_bad_tag"] == len(bad)


@cocotb.test()
async def a_source_address_names_the_channel_of_an_end_station(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    for i, port in ((0, 1), (1, 0)):  # port 0: single copy broadcast
        sci = bytes.fromhex("0a0b0c0d0e0f") + port.to_bytes(2)
        association = Association(i, sci, 0, key(i))
        await bench.use(association)
        end = association.other_end()
        end.send_sci = False
        for data_bytes in (30, 70, 128):
            plain = some_frame(rng, sci[:6], data_bytes)
            packet = end.encap(Ether(plain))
            packet["MACsec"].ES, packet["MACsec"].SCB = int(port == 1), int(port == 0)
            await bench.send(bytes(end.encrypt(packet)))
            end.pn += 1
            got = await bench.receive()
            assert (bytes(got.tdata), got.tid) == (plain, i)


@cocotb.test()
async def other_protocols_go_to_the_uncontrolled_port(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(3, SCIS[3], 0, key(3))
    await bench.use(association)
    end = association.other_end()
    plain = []
    others = []
    for _ in range(8):
        plain.append(some_frame(rng, SCIS[3][:6]))
        await bench.send(sealed_by(end, plain[-1]))
        others.append(rng.randbytes(rng.choice((10, 12, 13))))
        others.append(rng.randbytes(12) + b"\x88\x8e" + rng.randbytes(rng.randrange(1, 150)))
        for frame in others[-2:]:
            await bench.send(frame, 2)
    assert [bytes((await bench.receive()).tdata) for _ in plain] == plain
    got = [await with_timeout(bench.uncontrolled.recv(), 40, "us") for _ in others]
    assert [bytes(frame.tdata) for frame in got] == others
    assert all(frame.tuser == 2 for frame in got)
    assert bench.counts["count_untagged"] == len(others)


@cocotb.test()
async def a_rekey_under_traffic_loses_no_frame(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    associations = [Association(2, SCIS[2], an, key(an)) for an in range(3)]
    # A receiver has the next key before the sender uses it.
    for association in associations[:2]:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.line.set_pause_generator(pauses(rng, 0.6))
    plain = [some_frame(rng, SCIS[2][:6], 100) for _ in range(45)]
    for i, frame in enumerate(plain):
        await bench.send(sealed_by(ends[i // 15], frame))
    for i, frame in enumerate(plain):
        if i == 5:
            cocotb.start_soon(bench.use(associations[2]))
        assert bytes((await bench.receive()).tdata) == frame


@cocotb.test()
async def counters_begin_at_0_under_each_key(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    names = ("frames", "octets", "not_valid", "late")
    other = Association(2, SCIS[2], 3, key(9))
    await bench.use(other)
    await bench.send(sealed_by(other.other_end(), some_frame(rng, SCIS[2][:6], 60)))
    await bench.receive()
    for i in range(2):
        association = Association(0, SCIS[0], 0, key(i))
        await bench.use(association)
        assert [await bench.read(association.slot, name) for name in names] == [0, 0, 0, 0]
        end = association.other_end()
        sealed = [sealed_by(end, some_frame(rng, SCIS[0][:6], 100)) for _ in range(2)]
        # Late when it comes, and late when it is verified; forged ones.
        for frame in (sealed[0], sealed[0], flipped(sealed[1], DATA), flipped(sealed[1], DATA, 1), sealed[1]):
            await bench.send(frame)
        for _ in sealed:
            await bench.receive()
        await bench.send(sealed[0])
        await bench.expect_nothing()
        # They stay when the use ends, so that they can be read then.
        await bench.set("sa", slot=association.slot, use=0)
        await bench.load(association.slot, key(7))
        assert [await bench.read(association.slot, name) for name in names] == [2, 200, 2, 2]
    assert [await bench.read(other.slot, name) for name in names] == [1, 60, 0, 0]


@cocotb.test()
async def a_late_frame_counts_for_the_key_that_it_came_under(dut: HierarchyObject) -> None:
    """Though it waits behind others until the association has its next key."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0), pn=5)
    await bench.use(association)
    late = Association(0, SCIS[0], 0, key(0)).other_end()
    # Bad SecTAGs: while the first one is being dropped no more wait behind it than these, and then ours.
    bad = 16
    for data_bytes in (200 * 64, *(50 for _ in range(bad - 1))):
        sealed = sealed_by(late, some_frame(rng, SCIS[0][:6], data_bytes))
        await bench.send(flipped(sealed, TCI, 7))
    late.pn = 1
    await bench.send(sealed_by(late, some_frame(rng, SCIS[0][:6], 50)))
    await bench.line.wait()
    while bench.counts["count_bad_tag"] < bad:
        await ClockCycles(dut.clk, 1)
    await ClockCycles(dut.clk, 4)
    await bench.set("sa", slot=association.slot, use=0)
    assert await bench.read(association.slot, "late") == 1
    await bench.use(Association(0, SCIS[0], 0, key(1)))
    assert dut.c_valid.value and not dut.c_ready.value  # it waits still
    await ClockCycles(dut.clk, 400)
    assert await bench.read(association.slot, "late") == 0


@cocotb.test()
async def a_frame_costs_the_clocks_that_the_header_says(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0))
    await bench.use(association)
    end = association.other_end()
    frames = 24
    for data_bytes, clocks in ((48, 3), (49, 3), (64, 3), (65, 3), (128, 4), (129, 4)):
        for _ in range(frames):
            await bench.send(sealed_by(end, some_frame(rng, SCIS[0][:6], data_bytes)))
        assert await clocks_a_frame(dut, frames) == clocks, data_bytes
