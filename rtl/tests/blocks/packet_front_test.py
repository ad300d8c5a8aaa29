"""Tests of packet_front: random commands, streams that match and streams that do not, pauses everywhere.

Expected: one command and one verdict for each command given, in order; the command's number of blocks; the
bytes of a stream that matches; an error for one that does not, with the next packet intact. Without pauses,
packets of two or more beats leave no idle clock.
"""

import random
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, Timer

BEAT = 16
LOADED = 0b0011_0111  # of eight slots
MESSAGE, AD, TAG = 0, 1, 2


@dataclass
class Packet:
    """A command, the beats sent for it, and the expected result."""

    open: bool
    slot: int
    nonce: bytes
    ad: bytes
    message: bytes
    beats: list = field(default_factory=list)  # (data, bytes kept, last, kind)
    illegal: bool = False
    error: bool = False
    blocks: list = field(default_factory=list)  # (data, bytes, kind, last)


def beats_of(data: bytes, kind: int) -> list:
    return [
        [data[at : at + BEAT], min(BEAT, len(data) - at), False, kind] for at in range(0, len(data), BEAT)
    ]


def random_packet(rng: random.Random, faults: bool, min_bytes: int = 0) -> Packet:
    lengths = [0, 1, 15, 16, 17, 63, 64, 65, rng.randrange(300)]
    packet = Packet(
        open=rng.random() < 0.5,
        slot=rng.choice([0, 1, 2, 4, 5]),
        nonce=rng.randbytes(16),
        ad=rng.randbytes(rng.choice(lengths)),
        message=rng.randbytes(max(min_bytes, rng.choice(lengths))),
    )
    beats = beats_of(packet.ad, AD) + beats_of(packet.message, MESSAGE)
    if packet.open:
        beats += beats_of(rng.randbytes(16), TAG)
    if beats:
        beats[-1][2] = True
    packet.blocks = [tuple(beat) for beat in beats]
    if faults and beats and rng.random() < 0.4:
        spoil(rng, packet, beats)
    if faults and rng.random() < 0.15:
        packet.slot = rng.choice([3, 6, 7, 8, 15])
        packet.illegal = packet.error = True
        packet.blocks = []
    packet.beats = beats
    return packet


def spoil(rng: random.Random, packet: Packet, beats: list) -> None:
    packet.error = True
    fault = rng.choice(["early", "late", "kind", "keep"])
    if fault == "early" and len(beats) > 1:
        del beats[rng.randrange(1, len(beats)) :]
        beats[-1][2] = True
    elif fault == "kind":
        beat = rng.choice(beats)
        beat[3] = (beat[3] + rng.randrange(1, 4)) % 4
    elif fault == "keep":
        beat = rng.choice(beats)
        beat[1] = rng.choice([n for n in range(BEAT + 1) if n != beat[1]])
    else:
        beats[-1][2] = False
        beats += beats_of(rng.randbytes(rng.randrange(1, 100)), rng.randrange(3))
        beats[-1][2] = True


def swap(data: bytes) -> int:
    """Returns a block in the order of the mode: byte 0 highest."""
    return int.from_bytes(data.ljust(BEAT, b"\0"), "big")


class Bench:
    def __init__(self, dut, rng: random.Random, pause: float):
        self.dut, self.rng, self.pause = dut, rng, pause
        self.commands, self.verdicts, self.given = [], [], []
        self.block_clocks = []
        self.clock = 0

    async def start(self):
        dut = self.dut
        for port in ("s_cmd_tvalid", "s_axis_tvalid", "command_ready", "block_ready", "verdict_ready"):
            getattr(dut, port).value = 0
        dut.slot_loaded.value = LOADED
        dut.rst.value = 1
        cocotb.start_soon(Clock(dut.clk, 2, unit="ns").start())
        for _ in range(3):
            await RisingEdge(dut.clk)
        await Timer(0.5, unit="ns")
        dut.rst.value = 0

    async def drive_commands(self, packets):
        dut = self.dut
        for packet in packets:
            await self.offer(
                "s_cmd",
                open=packet.open,
                slot=packet.slot,
                nonce=int.from_bytes(packet.nonce, "little"),
                ad_bytes=len(packet.ad),
                message_bytes=len(packet.message),
                padded=packet.nonce[0] & 1,
            )
        dut.s_cmd_tvalid.value = 0

    async def drive_stream(self, packets):
        for packet in packets:
            for data, data_bytes, last, kind in packet.beats:
                await self.offer(
                    "s_axis",
                    tdata=int.from_bytes(data, "little"),
                    tkeep=(1 << data_bytes) - 1,
                    tlast=last,
                    tuser=kind,
                )
        self.dut.s_axis_tvalid.value = 0

    async def offer(self, port, **values):
        dut = self.dut
        valid, ready = getattr(dut, f"{port}_tvalid"), getattr(dut, f"{port}_tready")
        while self.rng.random() < self.pause:
            valid.value = 0
            await RisingEdge(dut.clk)
            await Timer(0.5, unit="ns")
        valid.value = 1
        for name, value in values.items():
            getattr(dut, f"{port}_{name}").value = value
        while True:
            await ReadOnly()
            accepted = ready.value == 1
            await RisingEdge(dut.clk)
            await Timer(0.5, unit="ns")
            if accepted:
                return

    async def collect(self):
        dut = self.dut
        while True:
            for port in ("command_ready", "block_ready", "verdict_ready"):
                getattr(dut, port).value = self.rng.random() >= self.pause
            await ReadOnly()
            if dut.command_valid.value == 1 and dut.command_ready.value == 1:
                self.commands.append(
                    (
                        bool(dut.command_open.value),
                        int(dut.command_slot.value),
                        int(dut.command_nonce.value).to_bytes(16, "big"),
                        int(dut.command_ad_blocks.value),
                        int(dut.command_last_ad_bytes.value),
                        int(dut.command_message_blocks.value),
                        int(dut.command_last_message_bytes.value),
                        bool(dut.command_error.value),
                    )
                )
            if dut.block_valid.value == 1 and dut.block_ready.value == 1:
                self.block_clocks.append(self.clock)
                self.given.append(
                    (
                        int(dut.block.value),
                        int(dut.block_bytes.value),
                        bool(dut.block_last.value),
                        int(dut.block_kind.value),
                    )
                )
            if dut.verdict_valid.value == 1 and dut.verdict_ready.value == 1:
                self.verdicts.append((bool(dut.verdict_error.value), len(self.given)))
            await RisingEdge(dut.clk)
            self.clock += 1
            await Timer(0.5, unit="ns")

    async def play(self, packets):
        await self.start()
        cocotb.start_soon(self.collect())
        cocotb.start_soon(self.drive_commands(packets))
        cocotb.start_soon(self.drive_stream(packets))
        waited = 0
        while len(self.verdicts) < len(packets) and waited < 3000:
            seen = len(self.given), len(self.verdicts)
            await RisingEdge(self.dut.clk)
            waited = waited + 1 if seen == (len(self.given), len(self.verdicts)) else 0
        for _ in range(20):
            await RisingEdge(self.dut.clk)


def last_block(length: int) -> int:
    return 0 if length == 0 else (length - 1) % 16 + 1


def check(bench: Bench, packets) -> None:
    assert len(bench.commands) == len(bench.verdicts) == len(packets)
    at = 0
    for packet, command, (error, given_then) in zip(packets, bench.commands, bench.verdicts, strict=True):
        assert command == (
            packet.open,
            packet.slot,
            packet.nonce,
            (len(packet.ad) + 15) // 16,
            last_block(len(packet.ad)),
            (len(packet.message) + 15) // 16,
            last_block(len(packet.message)),
            packet.illegal,
        )
        assert error == packet.error, packet
        blocks = bench.given[at : at + len(packet.blocks)]
        at += len(packet.blocks)
        assert given_then >= at, "the verdict came before the last block"
        assert [block[1:] for block in blocks] == [block[1:] for block in packet.blocks]
        if not packet.error:
            assert [block[0] for block in blocks] == [swap(block[0]) for block in packet.blocks]
    assert at == len(bench.given)


@cocotb.test()
async def random_streams(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    packets = [random_packet(rng, faults=True) for _ in range(600)]
    bench = Bench(dut, rng, 0.3)
    await bench.play(packets)
    check(bench, packets)


@cocotb.test()
async def no_pauses_with_faults(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    packets = [random_packet(rng, faults=True) for _ in range(400)]
    bench = Bench(dut, rng, 0.0)
    await bench.play(packets)
    check(bench, packets)


@cocotb.test()
async def no_clock_lost(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    packets = [random_packet(rng, faults=False, min_bytes=BEAT + 1) for _ in range(100)]
    bench = Bench(dut, rng, 0.0)
    await bench.play(packets)
    check(bench, packets)
    assert bench.block_clocks[-1] - bench.block_clocks[0] + 1 == len(bench.block_clocks)
