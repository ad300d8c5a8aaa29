"""Tests of macsec_receive: it opens frames sealed by scapy, and outputs nothing of forged, late, replayed or
malformed ones."""

import os
import random
from pathlib import Path

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from macsec_bench import (
    CHECK,
    DATA,
    DISABLED,
    EXCHANGED,
    FRAMES,
    PN,
    RESERVED,
    SCI,
    SCIS,
    SL,
    STRICT,
    TCI,
    Association,
    Bench,
    Ether,
    Port,
    clocks_per_frame,
    flipped,
    key,
    pauses,
    read_capture,
    sealed_by,
    some_frame,
    some_vlan,
    with_vlan,
)

FOLDER = os.environ.get("MACSEC_FOLDER")  # frames that `sealcomb macsec` sealed for run_macsec.py
SALT = bytes.fromhex("e630e81a48de86a21c66fa6d")


class Receive(Bench):
    def __init__(self, dut: HierarchyObject) -> None:
        super().__init__(dut)
        self.line = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
        self.controlled = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
        self.uncontrolled = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_bypass"), dut.clk, dut.rst)

    async def send(self, frame: bytes, user: int = 0) -> None:
        """Sends a frame. Bit 0 of `user` marks it as bad."""
        await self.line.send(AxiStreamFrame(frame, tuser=user))

    async def receive(self) -> AxiStreamFrame:
        return await with_timeout(self.controlled.recv(), 40, "us")

    async def expect_nothing(self) -> None:
        await self.line.wait()
        await ClockCycles(self.dut.clk, 200)
        assert self.controlled.empty()


@cocotb.test()
async def opens_all_lengths_and_rejects_forgeries(dut: HierarchyObject) -> None:
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
            # Address, user data or ICV.
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
async def opens_frames_sealed_by_the_library(dut: HierarchyObject) -> None:
    bench = Receive(dut)
    await bench.reset()
    for association in EXCHANGED:
        await bench.use(association)
    for frame in read_capture(Path(FOLDER) / "sealed.pcap"):
        await bench.send(frame)
    for frame in read_capture(Path(FOLDER) / "plain.pcap"):
        assert bytes((await bench.receive()).tdata) == frame


@cocotb.test()
async def rejects_replayed_and_late_numbers(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0))
    await bench.use(association)
    end = association.other_end()
    plain = [some_frame(rng, SCIS[0][:6]) for _ in range(4)]
    sealed = [sealed_by(end, frame) for frame in plain]
    # Each frame twice in a row: the second arrives before the first is verified. Then the first again.
    for frame in sealed:
        await bench.send(frame)
        await bench.send(frame)
    await bench.send(sealed[0])
    for frame in plain:
        assert bytes((await bench.receive()).tdata) == frame
    await bench.expect_nothing()
    assert await bench.read(association.slot, "late") == 5
    assert await bench.read(association.slot, "pn") == 5
    # A forged packet number does not raise the lowest acceptable one.
    await bench.send(flipped(sealed_by(end, plain[0]), PN, 6))
    await bench.send(sealed_by(end, plain[1]))
    assert bytes((await bench.receive()).tdata) == plain[1]
    assert await bench.read(association.slot, "pn") == 7


@cocotb.test()
async def window_has_the_configured_length(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    start = 2**33 - 3  # crosses 2^32
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
async def invalid_sectags_are_dropped_and_counted(dut: HierarchyObject) -> None:
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
        flipped(sealed, TCI, 6),  # ES with SC
        flipped(sealed, TCI, 4),  # SCB with SC
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
    # A frame marked bad by the MAC, then the valid one, then a padded one.
    await bench.send(sealed, 1)
    await bench.send(sealed)
    assert bytes((await bench.receive()).tdata) == plain
    short = some_frame(rng, SCIS[0][:6], 9)
    await bench.send(sealed_by(end, short) + bytes(60 - len(short) - 32))
    assert bytes((await bench.receive()).tdata) == short
    assert bench.counts["count_bad_tag"] == len(bad)


@cocotb.test()
async def source_address_selects_the_channel_of_an_end_station(dut: HierarchyObject) -> None:
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
async def opens_frames_without_encryption_and_rejects_forgeries(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    associations = [
        Association(0, SCIS[0], 1, key(0), encrypt=False),
        Association(1, SCIS[1], 2, key(1), encrypt=False, no_sci=True),
        Association(2, SCIS[2], 0, key(2)),
    ]
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.line.set_pause_generator(pauses(rng, 0.2))
    bench.controlled.set_pause_generator(pauses(rng, 0.3))
    # Limits of beats with both headers, before the ICV and behind it.
    lengths = [
        2,
        19,
        20,
        21,
        27,
        28,
        29,
        35,
        36,
        37,
        43,
        44,
        45,
        47,
        48,
        49,
        83,
        84,
        85,
        91,
        92,
        93,
        100,
        6000,
    ]
    expected = []
    good = [[0, 0] for _ in ends]
    forged = [0 for _ in ends]
    for i in range(max(FRAMES, 4 * len(lengths))):
        channel = rng.choice((0, 0, 1, 1, 2)) if i >= 4 * len(lengths) else i % 2
        data_bytes = lengths[i // 4] if i < 4 * len(lengths) else None
        frame = some_frame(rng, associations[channel].sci[:6], data_bytes)
        sealed = sealed_by(ends[channel], frame)
        if i % 4 >= 2:
            header = 20 if associations[channel].no_sci else DATA
            at = rng.choice((rng.randrange(6), rng.randrange(header, len(sealed)), len(sealed) - 1))
            sealed = flipped(sealed, at, rng.randrange(8))
            forged[channel] += 1
        else:
            expected.append((channel, frame))
            good[channel][0] += 1
            good[channel][1] += len(frame) - 12
        # A MAC fills short frames.
        await bench.send(sealed.ljust(60, b"\0"))
    for channel, frame in expected:
        got = await bench.receive()
        assert (got.tid, bytes(got.tdata).hex()) == (channel, frame.hex())
    await bench.expect_nothing()
    for association, (frames, octets), wrong in zip(associations, good, forged, strict=True):
        assert await bench.read(association.slot, "frames") == frames
        assert await bench.read(association.slot, "octets") == (octets if association.encrypt else 0)
        assert await bench.read(association.slot, "validated") == (0 if association.encrypt else octets)
        assert await bench.read(association.slot, "not_valid") == wrong


@cocotb.test()
async def opens_frames_with_offsets_and_rejects_forgeries(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    bench.line.set_pause_generator(pauses(rng, 0.2))
    bench.controlled.set_pause_generator(pauses(rng, 0.3))
    # Encrypted bytes around the limits of beats, and of an ICV that needs the next beat or one more.
    encrypted = [
        *(-28, -3, -1, 0, 1, 6, 7, 14, 15, 34, 35, 42, 43, 47, 48, 49, 54, 55, 62, 63, 64, 65),
        *(118, 119, 126, 127, 128, 129, 3000),
    ]
    for offset in (30, 50):
        # Only one channel can receive frames without an SCI.
        associations = [
            Association(0, SCIS[0], 1, key(offset), offset=offset),
            Association(1, SCIS[1], 2, key(offset + 1), offset=offset, no_sci=True),
        ]
        for association in associations:
            await bench.use(association)
        ends = [association.other_end() for association in associations]
        expected = []
        octets = [0, 0]
        forged = [0, 0]
        for i in range(max(FRAMES, 2 * len(encrypted))):
            which, nth = i % 2, i // 2
            size = offset + encrypted[nth] if nth < len(encrypted) else None
            frame = some_frame(rng, associations[which].sci[:6], size)
            sealed = sealed_by(ends[which], frame)
            if rng.random() < 0.25:
                header = ends[which].header_bytes
                at = rng.choice((rng.randrange(6), rng.randrange(header, len(sealed)), len(sealed) - 1))
                await bench.send(flipped(sealed, at, rng.randrange(8)).ljust(60, b"\0"))
                forged[which] += 1
            expected.append((which, frame))
            octets[which] += len(frame) - 12
            await bench.send(sealed.ljust(60, b"\0"))
        for channel, frame in expected:
            got = await bench.receive()
            assert (got.tid, bytes(got.tdata).hex()) == (channel, frame.hex())
        await bench.expect_nothing()
        for which, association in enumerate(associations):
            assert await bench.read(association.slot, "frames") == len(expected) // 2
            assert await bench.read(association.slot, "octets") == octets[which]
            assert await bench.read(association.slot, "validated") == 0
            assert await bench.read(association.slot, "not_valid") == forged[which]
            await bench.set("sa", slot=association.slot, use=0)


@cocotb.test()
async def vlan_tag_before_the_sectag_stays_there(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    associations = [
        Association(0, SCIS[0], 1, key(0)),
        Association(1, SCIS[1], 2, key(1), encrypt=False, no_sci=True),
        Association(2, SCIS[2], 0, key(2), offset=30),
    ]
    for association in associations:
        await bench.use(association)
    ends = [association.other_end() for association in associations]
    bench.line.set_pause_generator(pauses(rng, 0.2))
    bench.controlled.set_pause_generator(pauses(rng, 0.3))
    lengths = [2, 16, 17, 20, 21, 44, 47, 48, 49, 50, 51, 52, 53, 64, 80, 81, 84, 85, 108, 112, 113, 3000]
    for vlan_clear in (True, False):
        dut.port.value = Port(vlan_clear=vlan_clear).value
        opened, others = [], []
        for i, data_bytes in enumerate(lengths):
            which = i % len(associations)
            frame = some_frame(rng, associations[which].sci[:6], data_bytes)
            sealed = sealed_by(ends[which], frame)
            tag = some_vlan(rng) if i % 4 else b""
            if vlan_clear or not tag:
                opened.append((which, with_vlan(tag, frame)))
            else:
                others.append(with_vlan(tag, sealed))
            await bench.send(with_vlan(tag, sealed))
            if tag and vlan_clear:
                # The tag does not make a bad frame good.
                await bench.send(with_vlan(tag, sealed), 1)
        for channel, frame in opened:
            got = await bench.receive()
            assert (got.tid, bytes(got.tdata).hex()) == (channel, frame.hex())
        await bench.expect_nothing()
        for frame in others:
            got = await with_timeout(bench.uncontrolled.recv(), 40, "us")
            assert bytes(got.tdata) == frame


@cocotb.test()
async def validation_follows_the_port(dut: HierarchyObject) -> None:
    """Valid, forged, late and unknown frames, with and without encryption, under each setting of the port."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    names = ("frames", "not_valid", "late", "unchecked", "invalid", "delayed")
    wants = dict.fromkeys(("no_sci", "no_sa", "unknown_sci", "unused_sa"), 0)
    settings = (
        *((STRICT, False), (CHECK, False), (DISABLED, True), (CHECK, True), (DISABLED, False)),
        *((STRICT, True), (RESERVED, False), (RESERVED, True)),
    )
    for an, (validate, late_passes) in enumerate(settings):
        port = Port(validate, late_passes)
        dut.port.value = port.value
        for encrypt in (False, True):
            association = Association(2, SCIS[2], an % 2, key(2 * an + encrypt), pn=10, encrypt=encrypt)
            await bench.use(association)
            end = association.other_end()
            counted = dict.fromkeys(names, 0)
            octets = 0
            lowest = 10
            for valid, late in ((True, False), (False, False), (True, True), (False, True)):
                end.pn = 3 if late else lowest
                frame = some_frame(rng, SCIS[2][:6])
                sealed = sealed_by(end, frame)
                sent = sealed if valid else flipped(sealed, len(sealed) - 1)
                name, delivered = port.verdict(encrypt, valid, late)
                counted[name] += 1
                if name == "frames":
                    lowest += 1
                if name in ("frames", "delayed") and not (validate == DISABLED and not encrypt):
                    octets += len(frame) - 12
                await bench.send(sent)
                if delivered:
                    got = await bench.receive()
                    assert (bytes(got.tdata).hex(), got.tid) == (frame.hex(), 2)
                else:
                    await bench.expect_nothing()
            # An unknown channel, and an AN that is not in use.
            for at, dropped, passed in ((SCI, "no_sci", "unknown_sci"), (TCI, "no_sa", "unused_sa")):
                end.pn = lowest
                frame = some_frame(rng, SCIS[2][:6], 70)
                await bench.send(flipped(sealed_by(end, frame), at, 1))
                if port.passes_unknown(encrypt):
                    wants[passed] += 1
                    got = await bench.receive()
                    assert (bytes(got.tdata), got.tid) == (frame, 2 if at == TCI else 0)
                else:
                    wants[dropped] += 1
                    await bench.expect_nothing()
            assert {name: await bench.read(association.slot, name) for name in names} == counted
            assert await bench.read(association.slot, "pn") == lowest
            assert await bench.read(association.slot, "octets" if encrypt else "validated") == octets
            assert await bench.read(association.slot, "validated" if encrypt else "octets") == 0
            await bench.set("sa", slot=association.slot, use=0)
    assert {name: bench.counts[f"count_{name}"] for name in wants} == wants


@cocotb.test()
async def key_waits_for_frames_that_are_not_validated(dut: HierarchyObject) -> None:
    """They are counted for the key that they came under, although no engine has them."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    dut.port.value = Port(DISABLED).value
    association = Association(1, SCIS[1], 0, key(1), encrypt=False)
    await bench.use(association)
    end = association.other_end()
    # More than the core can store behind the engine, but all of them pass the checks before the others leave.
    bench.controlled.pause = True
    frames = [some_frame(rng, SCIS[1][:6], 1000) for _ in range(26)]
    for frame in frames:
        await bench.send(sealed_by(end, frame))
    await bench.line.wait()
    await ClockCycles(dut.clk, 400)
    assert 0 < await bench.read(association.slot, "unchecked") < len(frames)
    await bench.set("sa", slot=association.slot, use=0)
    fresh = Association(1, SCIS[1], 0, key(2), encrypt=False)
    setting = cocotb.start_soon(bench.use(fresh))
    await ClockCycles(dut.clk, 200)
    assert not setting.done()
    bench.controlled.pause = False
    for frame in frames:
        assert bytes((await bench.receive()).tdata) == frame
    await with_timeout(setting, 40, "us")
    assert await bench.read(association.slot, "unchecked") == 0
    await bench.send(sealed_by(fresh.other_end(), frames[0]))
    assert bytes((await bench.receive()).tdata) == frames[0]
    assert await bench.read(association.slot, "unchecked") == 1


@cocotb.test()
async def frames_without_sci_belong_to_the_channel_set_for_them(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(2, SCIS[2], 1, key(2))
    await bench.use(association)
    end = association.other_end()
    plain = some_frame(rng, SCIS[0][:6])
    for no_sci in (False, True):
        association.no_sci = no_sci
        await bench.use(association, with_key=False)
        for send_sci in (False, True):
            end.send_sci = send_sci
            await bench.send(sealed_by(end, plain))
            if send_sci or no_sci:
                got = await bench.receive()
                assert (bytes(got.tdata), got.tid) == (plain, 2)
            else:
                await bench.expect_nothing()
    assert bench.counts["count_no_sci"] == 1


@cocotb.test()
async def other_protocols_leave_on_the_uncontrolled_port(dut: HierarchyObject) -> None:
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
    # Frames that the MAC marks bad leave with its mark, and are not counted.
    counted = len(others)
    for data_bytes in (2, 150):
        others.append(some_frame(rng, SCIS[3][:6], data_bytes))
        await bench.send(others[-1], 3)
    assert [bytes((await bench.receive()).tdata) for _ in plain] == plain
    got = [await with_timeout(bench.uncontrolled.recv(), 40, "us") for _ in others]
    assert [bytes(frame.tdata) for frame in got] == others
    assert [frame.tuser for frame in got] == [2] * counted + [3, 3]
    assert bench.counts["count_untagged"] == counted


@cocotb.test()
async def rekey_under_traffic_loses_no_frame(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    associations = [Association(2, SCIS[2], an, key(an)) for an in range(3)]
    # The receiver gets the next key before the sender uses it.
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
async def counters_start_at_0_with_each_key(dut: HierarchyObject) -> None:
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
        # Late on arrival, late at verification, and forged frames.
        for frame in (sealed[0], sealed[0], flipped(sealed[1], DATA), flipped(sealed[1], DATA, 1), sealed[1]):
            await bench.send(frame)
        for _ in sealed:
            await bench.receive()
        await bench.send(sealed[0])
        await bench.expect_nothing()
        # Counters remain readable after the use ends.
        await bench.set("sa", slot=association.slot, use=0)
        await bench.load(association.slot, key(7))
        assert [await bench.read(association.slot, name) for name in names] == [2, 200, 2, 2]
    assert [await bench.read(other.slot, name) for name in names] == [1, 60, 0, 0]


@cocotb.test()
async def late_frame_counts_for_the_key_it_arrived_under(dut: HierarchyObject) -> None:
    """Although it waits behind other frames until the association has its next key."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    association = Association(0, SCIS[0], 0, key(0), pn=5)
    await bench.use(association)
    late = Association(0, SCIS[0], 0, key(0)).other_end()
    # Frames with bad SecTAGs: while the first is dropped, the others queue, followed by the late frame.
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
    assert dut.judge.c_valid.value and not dut.judge.c_ready.value  # it is still waiting
    await ClockCycles(dut.clk, 400)
    assert await bench.read(association.slot, "late") == 0


@cocotb.test()
async def clocks_per_frame_match_the_header(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Receive(dut)
    await bench.reset()
    frames = 24
    # Whether user data are encrypted, the offset, and clocks by the bytes behind it.
    kinds = (
        (True, 0, ((48, 3), (49, 3), (64, 3), (65, 3), (128, 4), (129, 4))),
        (True, 30, ((64, 3), (65, 4), (128, 4), (129, 5))),
        (True, 50, ((1, 4), (64, 4), (65, 5))),
        (False, 0, ((100, 3), (101, 4))),
    )
    for an, (encrypt, offset, cases) in enumerate(kinds):
        association = Association(0, SCIS[0], an, key(an), encrypt=encrypt, offset=offset)
        await bench.use(association)
        end = association.other_end()
        for data_bytes, clocks in cases:
            for _ in range(frames):
                await bench.send(sealed_by(end, some_frame(rng, SCIS[0][:6], offset + data_bytes)))
            assert await clocks_per_frame(dut, frames) == clocks, (encrypt, offset, data_bytes)
