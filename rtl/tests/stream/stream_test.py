"""Tests of any top with the ports of rtl/README.md against files of known answers.

Keys, commands, packets, outputs and tags pause at random. Valid packets are mixed with ones that do not
verify, ones whose stream does not match the command, and illegal commands. The core is reset in the middle of
a packet. Expected values come only from the files. The environment contains TOP (see run_streams.py).
"""

import functools
import itertools
import json
import logging
import os
import random
from dataclasses import dataclass, replace
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.axi.stream import define_stream
from tops import TOPS, Top

TOP: Top = TOPS[os.environ["TOP"]]
PACKETS = int(os.environ.get("STREAM_PACKETS", "32"))  # answers per test
VECTORS = Path(__file__).resolve().parents[3] / "testvectors"
MESSAGE, AD, TAG = 0, 1, 2
LONGEST = 200  # bytes; Icarus is slow

KeyBus, KeyTransaction, KeySource, _, _ = define_stream(
    "Key",
    signals=["tvalid", "tready", "slot", "key"],
    valid_signal="tvalid",
    ready_signal="tready",
)
CommandBus, CommandTransaction, CommandSource, _, _ = define_stream(
    "Command",
    signals=["tvalid", "tready", "open", "slot", "nonce", "ad_bytes", "message_bytes", "padded"],
    valid_signal="tvalid",
    ready_signal="tready",
)


@dataclass
class Answer:
    """A known answer, with the flag separated from the ciphertext."""

    key: bytes
    nonce: bytes
    ad: bytes
    message: bytes
    ciphertext: bytes
    padded: bool
    tag: bytes | None


def read_answers() -> list[Answer]:
    answers = []
    for file in TOP.vectors:
        for test in json.loads((VECTORS / file).read_text())["tests"]:
            fields = ("key", "nonce", "aad", "tweak", "msg", "ct", "tag")
            parts = {name: bytes.fromhex(test[name]) for name in fields if name in test}
            ciphertext = parts["ct"]
            padded = TOP.flagged and ciphertext[-1] == 1
            nonce = parts.get("nonce", b"")
            ad = parts.get("aad", parts.get("tweak", b""))
            if TOP.nonce_bytes not in (None, len(nonce)) or len(parts["msg"]) > LONGEST or len(ad) > LONGEST:
                continue
            answers.append(
                Answer(
                    key=parts["key"],
                    nonce=nonce,
                    ad=ad,
                    message=parts["msg"],
                    ciphertext=ciphertext[:-1] if TOP.flagged else ciphertext,
                    padded=padded,
                    tag=parts.get("tag"),
                )
            )
    assert answers, f"no known answers of at most {LONGEST} bytes in {TOP.vectors}"
    return answers


@dataclass
class Packet:
    """A packet: inputs and expected outputs."""

    open: bool
    slot: int
    nonce: bytes
    ad: bytes
    message: bytes
    padded: bool
    tag: bytes | None
    fault: str | None = None
    # Expected outputs; only the verdict if the packet is not valid.
    output: bytes | None = None
    out_tag: bytes = bytes(16)
    user: int = 0


FORGED, ERROR, PADDED = 1, 2, 4


def sealing(answer: Answer, slot: int) -> Packet:
    return Packet(
        open=False,
        slot=slot,
        nonce=TOP.nonce(answer.nonce),
        ad=answer.ad,
        message=answer.message,
        padded=False,
        tag=None,
        output=answer.ciphertext,
        out_tag=answer.tag or bytes(16),
        user=PADDED if answer.padded else 0,
    )


def opening(answer: Answer, slot: int) -> Packet:
    return Packet(
        open=True,
        slot=slot,
        nonce=TOP.nonce(answer.nonce),
        ad=answer.ad,
        message=answer.ciphertext,
        padded=answer.padded,
        tag=answer.tag,
        output=answer.message,
    )


def forged(packet: Packet, rng: random.Random) -> Packet:
    at = rng.randrange(128)
    tag = bytearray(packet.tag)
    tag[at // 8] ^= 1 << (at % 8)
    return replace(packet, tag=bytes(tag), output=None, user=FORGED)


def faulty(packet: Packet, fault: str) -> Packet:
    return replace(packet, fault=fault, output=None, out_tag=bytes(16), user=ERROR)


@dataclass
class Beat:
    data: bytes
    keep: int
    kind: int


class Bench:
    """A top with drivers for all of its streams."""

    def __init__(self, dut, rng: random.Random):
        self.dut, self.rng = dut, rng
        cocotb.start_soon(Clock(dut.clk, 2, unit="ns").start())
        self.keys = KeySource(KeyBus.from_prefix(dut, "s_key"), dut.clk, dut.rst)
        self.commands = CommandSource(CommandBus.from_prefix(dut, "s_cmd"), dut.clk, dut.rst)
        self.input = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
        self.output = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
        self.tags = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_tag"), dut.clk, dut.rst)
        # Otherwise it prints each packet that a reset interrupts.
        self.input.log.setLevel(logging.ERROR)
        self.streams = (self.keys, self.commands, self.input, self.output, self.tags)
        self.width = len(dut.s_axis_tdata) // 8

    async def reset(self, clocks: int = 3) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, clocks)
        for stream in self.streams:
            stream.clear()
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)

    def pause(self, chance: float) -> None:
        for stream in self.streams:
            stream.set_pause_generator(self.pauses(chance * self.rng.random()))

    def pauses(self, chance: float):
        while True:
            if self.rng.random() < 0.01 * chance:
                yield from [True] * self.rng.randrange(60)
            yield self.rng.random() < chance

    async def load(self, keys: dict[bytes, int]) -> None:
        for key, slot in keys.items():
            number = int.from_bytes(TOP.key(key), "little")
            await self.keys.send(KeyTransaction(slot=slot, key=number))
        await with_timeout(self.keys.wait(), 20, "us")

    async def send(self, packet: Packet) -> None:
        await self.commands.send(
            CommandTransaction(
                open=packet.open,
                slot=packet.slot,
                nonce=int.from_bytes(packet.nonce, "little"),
                ad_bytes=len(packet.ad),
                message_bytes=len(packet.message),
                padded=packet.padded,
            )
        )
        beats = self.beats(packet)
        if beats:
            lanes = range(self.width)
            frame = AxiStreamFrame(
                tdata=b"".join(beat.data.ljust(self.width, b"\xa5") for beat in beats),
                tkeep=[beat.keep >> lane & 1 for beat in beats for lane in lanes],
                tuser=[beat.kind for beat in beats for _ in lanes],
            )
            await self.input.send(frame)

    def beats(self, packet: Packet) -> list[Beat]:
        beats = [
            Beat(part[at : at + self.width], (1 << len(part[at : at + self.width])) - 1, kind)
            for part, kind in ((packet.ad, AD), (packet.message, MESSAGE), (packet.tag or b"", TAG))
            for at in range(0, len(part), self.width)
        ]
        if packet.fault == "early":
            del beats[self.rng.randrange(1, len(beats)) :]
        elif packet.fault == "late":
            for _ in range(self.rng.randrange(1, 4)):
                beats.append(
                    Beat(self.rng.randbytes(self.width), (1 << self.width) - 1, self.rng.randrange(3))
                )
        elif packet.fault == "kind":
            beat = self.rng.choice(beats)
            beat.kind = (beat.kind + self.rng.randrange(1, 4)) % 4
        elif packet.fault == "keep":
            beat = self.rng.choice(beats)
            beat.keep ^= 1 << self.rng.randrange(self.width)
        return beats

    def has_beats(self, packet: Packet, min_beats: int = 1) -> bool:
        parts = (packet.ad, packet.message, packet.tag or b"")
        return sum(-(-len(part) // self.width) for part in parts) >= min_beats

    async def receive(self, packet: Packet) -> None:
        """Receives the verdict and output of a packet, and checks them."""
        what = f"{packet}"
        verdict = await with_timeout(self.tags.recv(), 60, "us")
        user = verdict.tuser if isinstance(verdict.tuser, int) else verdict.tuser[-1]
        if packet.user == ERROR:
            user &= ~FORGED
        assert user == packet.user, f"m_tag_tuser {user}: {what}"
        assert bytes(verdict.tdata) == packet.out_tag, f"m_tag_tdata {bytes(verdict.tdata).hex()}: {what}"
        if packet.output is None:
            # Output is optional. If present, it precedes the next packet's and is marked bad.
            return
        while packet.output:
            frame = await with_timeout(self.output.recv(compact=False), 60, "us")
            if frame.tuser[-1] == 0:
                break
            assert self.bad_packets > 0, f"marked as bad: {what}"
            self.bad_packets -= 1
        if packet.output:
            assert gather(frame, self.width) == packet.output, what
            # Earlier packets that did not verify have no further output.
            self.bad_packets = 0

    async def play(self, packets: list[Packet]) -> None:
        """Sends packets back to back, and checks all outputs."""
        for packet in packets:
            await self.send(packet)
        self.bad_packets = 0
        for packet in packets:
            if packet.output is None:
                self.bad_packets += 1
            await self.receive(packet)
        await self.rest()

    async def rest(self) -> None:
        """Checks that only ends of bad packets remain to be output."""
        for stream in (self.output, self.tags):
            stream.clear_pause_generator()
            stream.pause = False
        await ClockCycles(self.dut.clk, 150)
        assert self.tags.empty(), "more verdicts than packets"
        while not self.output.empty():
            frame = self.output.recv_nowait(compact=False)
            assert frame.tuser[-1] == 1 and self.bad_packets > 0, "more output than expected"
            self.bad_packets -= 1


def gather(frame: AxiStreamFrame, width: int) -> bytes:
    """Returns the bytes of a frame. All beats except the last must be full."""
    count = sum(frame.tkeep)
    assert frame.tkeep == [1] * count + [0] * (len(frame.tkeep) - count), "m_axis_tkeep has gaps"
    assert len(frame.tkeep) - count < width, "a beat without bytes on m_axis"
    return bytes(frame.tdata[:count])


def groups(answers: list[Answer], rng: random.Random, count: int, together: int):
    """Returns random answers with the slots of their keys. The last slot stays empty."""
    while count > 0:
        group = rng.choices(answers, k=min(count, together))
        keys = list(dict.fromkeys(answer.key for answer in group))
        slots = rng.sample(range(TOP.slots - 1), len(keys))
        yield group, dict(zip(keys, slots, strict=True))
        count -= len(group)


@cocotb.test()
async def valid_and_forged_packets(dut):
    """Back-to-back packets, with and without pauses on every stream."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, rng)
    await bench.reset()
    for number, (group, slots) in enumerate(groups(read_answers(), rng, PACKETS, together=4)):
        bench.pause(0.0 if number % 4 == 1 else 0.7)
        await bench.load(slots)
        packets = []
        for answer in group:
            packets.append(sealing(answer, slots[answer.key]))
            if answer.tag is not None and rng.random() < 0.5:
                packets.append(forged(opening(answer, slots[answer.key]), rng))
            packets.append(opening(answer, slots[answer.key]))
        await bench.play(packets)


def spoilt(answer: Answer, slot: int, fault: str, rng: random.Random) -> Packet:
    """Returns a packet made from the answer that the core must reject."""
    makes = [opening]
    # "early" drops one of an opened packet's two beats. Sealing an empty packet takes no beat, so neither
    # kind nor keep can be wrong, and excess beats belong to the next packet.
    has_beats = bool(answer.ad or answer.message)
    if fault != "early" and (has_beats or fault not in ("kind", "keep", "late")):
        makes.append(sealing)
    packet = rng.choice(makes)(answer, slot)
    if fault == "unloaded":
        packet.slot = TOP.slots - 1
    elif fault == "illegal":
        packet.open, ad, message = rng.choice(TOP.illegal)
        packet.ad, packet.message = rng.randbytes(ad), rng.randbytes(message)
        packet.tag = rng.randbytes(16) if packet.open and answer.tag is not None else None
    return faulty(packet, fault)


@cocotb.test(skip=TOP.same_streams)
async def errors(dut):
    """Each error is reported, and the next packet is correct."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, rng)
    await bench.reset()
    # At least two beats, so that one can be missing.
    answers = [answer for answer in read_answers() if bench.has_beats(opening(answer, 0), min_beats=2)]
    answers.sort(key=lambda answer: len(answer.message))
    faults = ["early", "late", "kind", "keep", "unloaded"] + ["illegal"] * bool(TOP.illegal)
    fault = itertools.cycle(faults)
    usual = answers[: max(8, len(answers) // 2)]
    for number, (group, slots) in enumerate(groups(usual, rng, max(len(faults), PACKETS), together=4)):
        bench.pause(0.0 if number % 2 else 0.6)
        await bench.load(slots)
        packets = []
        for answer in group:
            slot = slots[answer.key]
            packets.append(spoilt(answer, slot, next(fault), rng))
            packets.append(opening(answer, slot))
            packets.append(sealing(answer, slot))
        await bench.play(packets)


@cocotb.test(skip=TOP.same_streams)
async def reset_in_the_middle_of_a_packet(dut):
    """A reset discards all earlier inputs."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, rng)
    await bench.reset()
    for group, slots in groups(read_answers(), rng, PACKETS, together=2):
        bench.pause(0.4)
        await bench.load(slots)
        for answer in group:
            await bench.send(sealing(answer, slots[answer.key]))
            await bench.send(opening(answer, slots[answer.key]))
        await ClockCycles(dut.clk, rng.randrange(1, 100))
        await bench.reset(rng.randrange(1, 4))
        bench.pause(0.4)
        await bench.load(slots)
        await bench.play([opening(answer, slots[answer.key]) for answer in group])


@cocotb.test(skip=TOP.slots == 16)
async def key_for_a_slot_that_does_not_exist(dut):
    """Is discarded: each slot keeps its key, and there is none behind that number."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, rng)
    await bench.reset()
    answer = rng.choice([answer for answer in read_answers() if answer.message])
    slot = rng.randrange(TOP.slots)
    packets = [sealing(answer, slot), opening(answer, slot)]
    await bench.load({answer.key: slot})
    await bench.play(packets)
    beyond = slot + TOP.slots
    await bench.load({rng.randbytes(len(answer.key)): beyond})
    await bench.play([*packets, faulty(sealing(answer, beyond), "unloaded"), *packets])


@cocotb.test(skip=not TOP.keys)
async def damaged_key(dut):
    """With parity, packets under a key that changed in its memory are in error until it is loaded again."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, rng)
    await bench.reset()
    answer = rng.choice([answer for answer in read_answers() if answer.message])
    slot = rng.randrange(TOP.slots)
    packets = [sealing(answer, slot), opening(answer, slot)]
    await bench.load({answer.key: slot})
    await bench.play(packets)
    word = functools.reduce(getattr, TOP.keys.split("."), dut).memory[slot]
    word.value = int(word.value) ^ 1 << rng.randrange(len(word))
    await bench.play([faulty(packet, "key") for packet in packets])
    await bench.load({answer.key: slot})
    await bench.play(packets)
