"""Sends many random frames through macsec100g and back, with rekeys and line errors.

In each round every channel gets the key of its next AN while its frames are in flight: with or without
encryption, with each confidentiality offset; in half of the runs the first channel omits the SCI. Sent frames
return unchanged, modified, twice, late, with a bad SecTAG, for an unknown association, or marked bad by the
MAC. Others pass unsealed, or are as long as the frame stores. Between rounds the port's settings change: what
it validates, and where VLAN tags are.

The environment contains the core's parameters, as far as they are not the default ones.
"""

import os
import random
from collections import deque
from dataclasses import dataclass, field, replace

import cocotb
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.axi import AxiStreamFrame
from macsec100g_test import SALT, Core
from macsec_bench import (
    ADDRESS_BYTES,
    CHECK,
    DISABLED,
    FRAMES,
    ICV_BYTES,
    OFFSETS,
    PN,
    SCI,
    SL,
    STRICT,
    TCI,
    Association,
    End,
    Ether,
    Port,
    flipped,
    pauses,
    sealed_by,
    some_frame,
    some_vlan,
    with_vlan,
    without_vlan,
)
from suites import SUITES

SUITE = int(os.environ.get("SUITE", "0"))
CHANNELS = int(os.environ.get("CHANNELS", "4"))
DEPTH = int(os.environ.get("DEPTH", "256"))
AES_GCM = (0, 4, 5)  # suites that scapy knows
STORED_BYTES = 64 * DEPTH  # the longest frame, without a VLAN tag in the clear
ROUND = 200
LONG = 2.5 / DEPTH  # share of the frames whose length is around that of the store
PAST = 0.1  # share of the frames with which another one is sent that passes unsealed
RECENT = 12
COUNTERS = (
    *("in_bad_tag", "in_no_sci", "in_no_sa", "in_untagged", "in_unknown_sci", "in_unused_sa"),
    *("in_overrun", "out_too_long"),
)
# Counters of an association that do not depend on when a frame is found to be late.
EXACT = ("frames", "unchecked", "invalid", "delayed")
# Events on the line, and their weights.
EVENTS = {
    "nothing": 60,
    "forged": 10,
    "replayed": 6,
    "held": 6,
    "bad_tag": 6,
    "no_sci": 3,
    "no_sa": 3,
    "spoiled": 3,
    "untagged": 3,
}


@dataclass(frozen=True)
class Sealed:
    number: int
    frame: bytes
    sealed: bytes  # without the VLAN tag
    vlan: bytes


@dataclass
class Keyed:
    """An association, and its expected state at both ends."""

    association: Association
    window: int
    end: End
    lowest: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EXACT, 0))
    octets: int = 0
    sent: int = 0  # user data of the frames that were sealed
    refused: int = 0  # late or not valid, depending on the progress of earlier frames
    recent: deque[Sealed] = field(default_factory=lambda: deque(maxlen=RECENT))

    def opens(self, port: Port, number: int, octets: int, valid: bool = True) -> bool:
        """Returns whether a frame with this number is delivered next."""
        name, delivered = port.verdict(self.association.encrypt, valid, number < self.lowest)
        if not delivered:
            self.refused += 1
            return False
        self.counts[name] += 1
        validated = self.association.encrypt or port.validate != DISABLED
        if valid and validated:
            self.octets += octets
        if name == "frames":
            self.lowest = max(self.lowest, number + 1 - self.window)
        return True


def sealed_in_suite(end: End, frame: bytes) -> bytes:
    """Returns the frame sealed with the end's packet number, which is incremented: by scapy, if it knows the
    suite, otherwise in scapy's form by the suite's model."""
    if SUITE in AES_GCM:
        return sealed_by(end, frame)
    packet = end.encap(Ether(frame))
    whole = bytes(packet)
    covered = end.header_bytes + end.offset if end.do_encrypt else len(whole)
    nonce = end.make_iv(packet)
    end.pn += 1
    return whole[:covered] + SUITES[SUITE].seal(end.key, nonce, whole[:covered], whole[covered:])


def some_unsealed(rng: random.Random) -> bytes:
    return rng.randbytes(12) + b"\x88\x8e" + rng.randbytes(rng.randrange(1, 150))


class Line:
    """The line's peer, and the expected results."""

    def __init__(self, core: Core, rng: random.Random) -> None:
        self.core = core
        self.rng = rng
        self.port = Port(late_passes=rng.random() < 0.4)
        self.scis = [rng.randbytes(8) for _ in range(CHANNELS)]
        self.no_sci = rng.random() < 0.5  # of the first channel
        self.channels: list[dict[int, Keyed]] = [{} for _ in range(CHANNELS)]
        self.waiting: list[deque[tuple[int, bytes, bytes]]] = [deque() for _ in range(CHANNELS)]
        self.past: deque[tuple[int, int, bytes]] = deque()  # frames sent unsealed
        self.held: list[tuple[Keyed, int, Sealed]] = []
        self.opened: list[tuple[int, int, bytes]] = []
        self.untagged: list[tuple[int, bytes]] = []
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.events = dict.fromkeys(EVENTS, 0)
        self.users = 1 << len(core.dut.m_line_tuser)
        self.user = 0  # of the next frame on the line

    def keyed(self, channel: int, an: int) -> Keyed:
        rng = self.rng
        key = rng.randbytes(rng.choice(SUITES[SUITE].key_bytes))
        one = Association(channel, self.scis[channel], an, key, no_sci=self.no_sci and channel == 0)
        one.encrypt = rng.random() < 0.7
        one.offset = rng.choice(OFFSETS)
        if rng.random() < 0.5:
            one.ssci, one.salt = rng.randbytes(4), SALT
            one.pn = rng.randrange(1, 2**31) << 32
            # A late number from before a multiple of 2^32 is taken for one after it. Where it may pass, none
            # is crossed; elsewhere, one is soon.
            if self.port.late_passes or not one.encrypt:
                one.pn += rng.randrange(1, 2**31 - 10 * ROUND)
            else:
                one.pn -= rng.randrange(1, ROUND // CHANNELS)
        else:
            one.pn = rng.choice((1, rng.randrange(1, 2**32 - 10 * ROUND)))
        return Keyed(one, rng.choice((0, 0, 2, 5, 50)), one.other_end(), one.pn)

    def send(self) -> int:
        """Sends a frame on the controlled port, or also one on the other. Returns how many will be sealed."""
        rng = self.rng
        channel = rng.randrange(CHANNELS)
        user = rng.randrange(self.users)
        data_bytes = None
        if rng.random() < LONG:
            # Limits of the sending store, and of the receiving one with SecTAG and ICV, with and without SCI.
            around = rng.choice((-33, -32, -31, -25, -24, -23, -1, 0, 1, 60, 64))
            data_bytes = STORED_BYTES + around - ADDRESS_BYTES
        frame = some_frame(rng, self.scis[channel][:6], data_bytes)
        vlan = some_vlan(rng) if self.port.vlan_clear and rng.random() < 0.5 else b""
        source = AxiStreamFrame(with_vlan(vlan, frame), tid=channel, tuser=user)
        self.core.sources["controlled"].send_nowait(source)
        if rng.random() < PAST:
            self.past.append((rng.randrange(CHANNELS), rng.randrange(self.users), some_unsealed(rng)))
            channel_past, user_past, unsealed = self.past[-1]
            source = AxiStreamFrame(unsealed, tid=channel_past, tuser=user_past)
            self.core.sources["uncontrolled"].send_nowait(source)
        if len(frame) > STORED_BYTES:
            self.counters["out_too_long"] += 1
            return 0
        self.waiting[channel].append((user, vlan, frame))
        return 1

    async def put(self, frame: bytes, spoiled: bool = False) -> None:
        await self.core.sources["line"].send(AxiStreamFrame(frame, tuser=self.user << 1 | int(spoiled)))
        self.user = self.rng.randrange(self.users)

    async def put_sealed(self, one: Keyed, sealed: Sealed) -> None:
        if sealed.vlan and not self.port.vlan_clear:
            # Sealed when the port still took tags in the clear. Now the SecTAG is not where it looks for one.
            await self.put_untagged(with_vlan(sealed.vlan, sealed.sealed))
            return
        if one.opens(self.port, sealed.number, len(sealed.frame) - 12):
            self.delivers(one.association.channel, sealed.frame, sealed.vlan)
        await self.put(with_vlan(sealed.vlan, sealed.sealed))

    async def put_forged(self, one: Keyed, sealed: Sealed) -> None:
        rng, whole = self.rng, sealed.sealed
        data, icv = one.end.header_bytes, len(whole) - ICV_BYTES
        places = [(0, 6), (data, icv), (icv, len(whole))]
        if self.port.validate == STRICT or one.association.encrypt:
            places.append((PN, SCI))  # whatever the number, the frame is dropped
            forged = flipped(whole, rng.randrange(*rng.choice(places)), rng.randrange(8))
            if one.association.ssci is None and not any(forged[PN:SCI]):
                self.counters["in_bad_tag"] += 1  # zero is not a number
            else:
                one.refused += 1
        else:
            forged = flipped(whole, rng.randrange(*rng.choice(places)), rng.randrange(8))
            frame = forged[:12] + forged[data:icv]
            if one.opens(self.port, sealed.number, len(frame) - 12, valid=False):
                self.delivers(one.association.channel, frame, sealed.vlan)
        await self.put(with_vlan(sealed.vlan, forged))

    async def put_untagged(self, frame: bytes) -> None:
        self.counters["in_untagged"] += 1
        self.untagged.append((self.user << 1, frame))
        await self.put(frame)

    def delivers(self, channel: int, frame: bytes, vlan: bytes) -> None:
        """Expects a frame, before it is put on the line."""
        self.opened.append((channel, self.user, with_vlan(vlan, frame)))

    def unknown(self, one: Keyed, sealed: Sealed, channel: int, dropped: str, passed: str) -> None:
        """Expects a frame without an association."""
        if self.port.passes_unknown(one.association.encrypt):
            self.counters[passed] += 1
            self.delivers(channel, sealed.frame, sealed.vlan)
        else:
            self.counters[dropped] += 1

    async def release(self, now: int | None = None) -> None:
        """Sends the frames held back up to a point; by default all."""
        due = [entry for entry in self.held if now is None or entry[1] <= now]
        self.held = [entry for entry in self.held if entry not in due]
        for one, _, sealed in due:
            await self.put_sealed(one, sealed)

    async def turn(self, now: int) -> None:
        """Checks a sent frame, and returns something in response."""
        out = await with_timeout(self.core.sinks["line"].recv(), 80, "us")
        got = bytes(out.tdata)
        while got[12:14] == b"\x88\x8e":
            assert (out.tid, out.tuser, got) == self.past.popleft()
            out = await with_timeout(self.core.sinks["line"].recv(), 80, "us")
            got = bytes(out.tdata)
        _, bare = without_vlan(got)
        one = self.channels[out.tid][bare[TCI] & 3]
        number = one.end.pn
        user, vlan, frame = self.waiting[out.tid].popleft()
        sealed = sealed_in_suite(one.end, frame)
        assert got == with_vlan(vlan, sealed)
        assert out.tuser == user
        one.sent += len(frame) - 12
        await self.back(one, Sealed(number, frame, sealed, vlan), now)
        await self.release(now)

    async def back(self, one: Keyed, sealed: Sealed, now: int) -> None:
        rng, whole = self.rng, sealed.sealed
        if len(whole) > STORED_BYTES:
            self.counters["in_overrun"] += 1
            await self.put(with_vlan(sealed.vlan, whole), rng.random() < 0.5)
            return
        event = rng.choices(list(EVENTS), list(EVENTS.values()))[0]
        self.events[event] += 1
        names_sci = not one.association.no_sci
        if event == "held":
            self.held.append((one, now + rng.randrange(1, 30), sealed))
        elif event == "forged":
            await self.put_forged(one, sealed)
        elif event == "bad_tag":
            self.counters["in_bad_tag"] += 1
            changed = [flipped(whole, TCI, bit) for bit in ((7, 6, 4, 3, 2) if names_sci else (7, 3, 2))]
            shortest = one.end.header_bytes + ICV_BYTES
            changed += [flipped(whole, SL, 6), flipped(whole, SL, 7), whole[:14], whole[: shortest - 1]]
            await self.put(with_vlan(sealed.vlan, rng.choice(changed)))
        elif event == "no_sci":
            self.unknown(one, sealed, 0, "in_no_sci", "in_unknown_sci")
            # Without SCI: an end station's frame, of its source address and port 1.
            at, bit = (rng.randrange(SCI, SCI + 8), rng.randrange(8)) if names_sci else (TCI, 6)
            await self.put(with_vlan(sealed.vlan, flipped(whole, at, bit)))
        elif event == "no_sa":
            # Only the sender's AN, and the next or previous one, are in use.
            self.unknown(one, sealed, one.association.channel, "in_no_sa", "in_unused_sa")
            await self.put(with_vlan(sealed.vlan, flipped(whole, TCI, 1)))
        elif event == "spoiled":
            await self.put(with_vlan(sealed.vlan, whole), spoiled=True)
        elif event == "untagged":
            await self.put_untagged(some_unsealed(rng))
        else:
            await self.put_sealed(one, sealed)
            one.recent.append(sealed)
            if event == "replayed":
                await self.put_sealed(one, rng.choice(one.recent))


async def begin(core: Core, line: Line, one: Keyed) -> None:
    """Puts the next key into use, on the receiving side first, so that no frame is lost."""
    line.channels[one.association.channel][one.association.an] = one
    for receive in (True, False):
        await core.load(one.association, receive)
        await core.use(one.association, receive, one.window)


async def next_keys(core: Core, line: Line) -> None:
    for channel, known in enumerate(line.channels):
        (an,) = known
        await begin(core, line, line.keyed(channel, (an + 1) % 4))


async def end_oldest(core: Core, line: Line) -> None:
    """Takes the older association of each channel out of use, and checks its counters."""
    for known in line.channels:
        an = next(iter(known))
        one = known.pop(an)
        slot = one.association.slot
        count = await core.counted(slot, True)
        assert {name: count[name] for name in EXACT} == one.counts
        assert count["not_valid"] + count["late"] == one.refused
        assert count["pn"] == one.lowest
        octets, others = ("octets", "validated")[:: 1 if one.association.encrypt else -1]
        assert (count[octets], count[others]) == (one.octets, 0)
        sent = await core.counted(slot, False)
        frames = one.end.pn - one.association.pn
        assert (sent["pn"], sent["frames"], sent["octets"]) == (one.end.pn, frames, one.sent)
        for receive in (False, True):
            await core.end_use(slot, receive)


@cocotb.test()
async def many_frames(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    line = Line(core, rng)
    for channel in range(CHANNELS):
        await begin(core, line, line.keyed(channel, 0))
    for stream in (core.sources["line"], core.sinks["controlled"], core.sinks["line"]):
        stream.set_pause_generator(pauses(random.Random(rng.getrandbits(64)), 0.15))
    changes = 0
    for _ in range(-(-FRAMES // ROUND)):
        validate = rng.choice((STRICT, STRICT, CHECK, DISABLED))
        line.port = replace(line.port, validate=validate, vlan_clear=rng.random() < 0.5)
        await core.write("port", line.port.value)
        sealed = sum(line.send() for _ in range(ROUND))
        change = cocotb.start_soon(next_keys(core, line))
        for now in range(sealed):
            await line.turn(now)
        for expected in line.past:
            out = await with_timeout(core.sinks["line"].recv(), 80, "us")
            assert (out.tid, out.tuser, bytes(out.tdata)) == expected
        line.past.clear()
        await change
        changes += CHANNELS
        await line.release()
        for expected in line.opened:
            got = await with_timeout(core.sinks["controlled"].recv(), 80, "us")
            assert (got.tid, got.tuser, bytes(got.tdata)) == expected
        line.opened.clear()
        for expected in line.untagged:
            got = await with_timeout(core.sinks["uncontrolled"].recv(), 80, "us")
            assert (got.tuser, bytes(got.tdata)) == expected
        line.untagged.clear()
        await core.sources["line"].wait()
        await ClockCycles(dut.clk, 300)
        assert all(sink.empty() for sink in core.sinks.values())
        await end_oldest(core, line)
    for name, value in line.counters.items():
        assert await core.read(name) == value, name
    assert await core.read("status", "damaged") == 0
    dut._log.warning("%d rekeys; events: %s; %s", changes, line.events, line.counters)
