"""Tests of macsec100g, set through its registers: its two sides interoperate with each other and with scapy,
and their counters match."""

import random
import tomllib
from collections.abc import Sequence
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)
from cocotbext.eth import EthMacFrame, EthMacRx
from cocotbext.eth.eth_mac import AxiStreamBus as MacBus
from macsec_bench import FRAMES, OFFSETS, PERIOD_NS, Association, pauses, port_key, sealed_by, some_frame

TABLE = tomllib.loads((Path(__file__).resolve().parents[2] / "macsec" / "registers.toml").read_text())
REGISTERS = {register["name"]: register for register in TABLE["register"]}
SALT = bytes.fromhex("e630e81a48de86a21c66fa6d")
SLVERR = 2
READINGS = ("pn", "frames", "octets", "validated", "not_valid", "late", "unchecked", "invalid", "delayed")
PORTS = ("controlled", "uncontrolled", "line")

# A 100G MAC with 512 bits at 322 MHz. Frames have no FCS here: its time is added to the gap.
MAC_PERIOD_PS = 3104
BITS_PER_PS = 0.1
BESIDE_BYTES = 8 + 4 + 12  # preamble, FCS and gap
LINE_FRAMES = max(FRAMES, 160)  # more beats than the core can store
FIRST_MEASURED = LINE_FRAMES // 4  # earlier frames fill the pipes
CALM_FRAMES = 24


class Core:
    def __init__(
        self, dut: HierarchyObject, ports: Sequence[str] = PORTS, period_ps: int = 1000 * PERIOD_NS
    ) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, period_ps, unit="ps").start())
        dut.s_key_tvalid.value = 0
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        source = {name: AxiStreamBus.from_prefix(dut, f"s_{name}") for name in ports}
        sink = {name: AxiStreamBus.from_prefix(dut, f"m_{name}") for name in ports}
        self.sources = {name: AxiStreamSource(bus, dut.clk, dut.rst) for name, bus in source.items()}
        self.sinks = {name: AxiStreamSink(bus, dut.clk, dut.rst) for name, bus in sink.items()}

    async def reset(self) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)

    async def write(self, name: str, value: int) -> None:
        await self.registers.write_dword(REGISTERS[name]["address"], value)

    async def read(self, name: str, field: str | None = None) -> int:
        register = REGISTERS[name]
        value = await self.registers.read_dword(register["address"])
        for low, bits, known, _ in register["fields"]:
            if known == field:
                return value >> low & (1 << bits) - 1
        assert field is None
        return value

    async def command(self, *names: str) -> None:
        fields = {name: low for low, _, name, _ in REGISTERS["command"]["fields"]}
        await self.write("command", sum(1 << fields[name] for name in names))
        while await self.read("status", "busy"):
            pass

    async def select(self, slot: int, receive: bool) -> None:
        await self.write("select", slot | int(receive) << 8)

    async def offer(self, association: Association, receive: bool) -> None:
        """Offers a key until it is taken."""
        self.dut.s_key_receive.value = int(receive)
        self.dut.s_key_slot.value = association.slot
        self.dut.s_key_key.value = port_key(self.dut, association.key)
        self.dut.s_key_tvalid.value = 1
        await RisingEdge(self.dut.clk)
        while not self.dut.s_key_tready.value:
            await RisingEdge(self.dut.clk)
        self.dut.s_key_tvalid.value = 0

    async def load(self, association: Association, receive: bool) -> None:
        """Loads a key, and returns once the next one would be taken."""
        await self.offer(association, receive)
        await ClockCycles(self.dut.clk, 1)
        while not self.dut.s_key_tready.value:
            await RisingEdge(self.dut.clk)

    async def use(self, association: Association, receive: bool, window: int = 0) -> None:
        await self.select(association.slot, receive)
        flags = (True, association.ssci is not None, association.no_sci, not association.encrypt)
        offset = OFFSETS.index(association.offset) << len(flags)
        await self.write("flags", offset | sum(flag << bit for bit, flag in enumerate(flags)))
        sci = int.from_bytes(association.sci)
        for name, value in (("sci", sci), ("pn", association.pn)):
            await self.write(f"{name}_high", value >> 32)
            await self.write(f"{name}_low", value & 0xFFFF_FFFF)
        await self.write("window", window)
        for i in range(3):
            await self.write(f"base_{i}", association.base >> 64 - 32 * i & 0xFFFF_FFFF)
        await self.command("set_channel", "set_sa")

    async def end_use(self, slot: int, receive: bool) -> None:
        await self.select(slot, receive)
        await self.write("flags", 0)
        await self.command("set_sa")

    async def counted(self, slot: int, receive: bool) -> dict[str, int]:
        """Returns all values that `read` copies."""
        await self.select(slot, receive)
        await self.command("read")
        return {
            name: await self.read(f"read_{name}_high") << 32 | await self.read(f"read_{name}_low")
            for name in READINGS
        }

    async def loop(self) -> None:
        """Loops the line back: the peer returns all frames."""
        while True:
            frame = await self.sinks["line"].recv()
            await self.sources["line"].send(AxiStreamFrame(bytes(frame.tdata), tuser=int(frame.tuser) << 1))


@cocotb.test()
async def both_sides_interoperate(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    assert await core.read("identity") == 0x4D41_4353
    assert await core.read("shape", "channels") == 4
    associations = [
        Association(0, bytes.fromhex("0200000000010001"), 1, rng.randbytes(16), pn=0xFFFF_FF00, offset=50),
        Association(
            2,
            bytes.fromhex("0200000000020002"),
            3,
            rng.randbytes(16),
            2**32 - 3,
            ssci=bytes([9, 0, 0, 3]),
            salt=SALT,
            no_sci=True,
            encrypt=False,
        ),
    ]
    for association in associations:
        for receive in (False, True):
            await core.load(association, receive)
            await core.use(association, receive)
            assert await core.read("status", "in_use") == 1
    cocotb.start_soon(core.loop())
    core.sinks["controlled"].set_pause_generator(pauses(rng, 0.2))
    plain = []
    octets = [0, 0]
    others = [rng.randbytes(12) + b"\x88\x8e" + rng.randbytes(50) for _ in range(4)]
    for i in range(16):
        which = i % 2
        frame = some_frame(rng, associations[which].sci[:6])
        octets[which] += len(frame) - 12
        plain.append((associations[which].channel, frame))
        await core.sources["controlled"].send(
            AxiStreamFrame(frame, tid=associations[which].channel, tuser=which)
        )
        if i % 4 == 0:
            await core.sources["uncontrolled"].send(AxiStreamFrame(others[i // 4], tid=0, tuser=0))
    for channel, frame in plain:
        got = await with_timeout(core.sinks["controlled"].recv(), 40, "us")
        assert (got.tid, bytes(got.tdata), got.tuser) == (channel, frame, channel // 2)
    for frame in others:
        assert bytes((await with_timeout(core.sinks["uncontrolled"].recv(), 40, "us")).tdata) == frame
    for association, many in zip(associations, octets, strict=True):
        for receive in (False, True):
            # The receiving side counts user data without encryption separately.
            validated = many if receive and not association.encrypt else 0
            expected = dict.fromkeys(READINGS, 0) | {"pn": association.pn + 8, "frames": 8}
            expected |= {"octets": many - validated, "validated": validated}
            assert await core.counted(association.slot, receive) == expected
    assert await core.read("in_untagged") == len(others)


@cocotb.test()
async def reset_in_the_middle_of_frames(dut: HierarchyObject) -> None:
    """A reset discards all earlier frames and ends the use of all associations."""
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    streams = (*core.sources.values(), *core.sinks.values())
    for stream in streams:
        stream.log.setLevel("ERROR")  # otherwise it prints each frame that a reset interrupts
    await core.reset()
    cocotb.start_soon(core.loop())
    kinds = [(encrypt, offset) for encrypt in (True, False) for offset in OFFSETS]
    for i, (encrypt, offset) in enumerate(kinds):
        sci = rng.randbytes(8)
        for stream in streams:
            stream.set_pause_generator(pauses(random.Random(rng.getrandbits(64)), 0.2))
        one = Association(rng.randrange(4), sci, rng.randrange(4), rng.randbytes(16))
        one.encrypt, one.offset = encrypt, offset
        for receive in (False, True):
            await core.load(one, receive)
            await core.use(one, receive)
        for _ in range(20):
            frame = some_frame(rng, sci[:6], rng.choice((None, 700)))
            core.sources["controlled"].send_nowait(AxiStreamFrame(frame, tid=one.channel, tuser=0))
        if i % 2:
            # The frames gather, and fill the stores.
            core.sinks["controlled"].clear_pause_generator()
            core.sinks["controlled"].pause = True
        await ClockCycles(dut.clk, rng.randrange(1, 300))
        dut.rst.value = 1
        await ClockCycles(dut.clk, rng.randrange(1, 4))
        for stream in streams:
            stream.clear_pause_generator()
            stream.pause = False
            stream.clear()
        dut.rst.value = 0
        await ClockCycles(dut.clk, 200)
        assert all(sink.empty() for sink in core.sinks.values())
        for receive in (False, True):
            counted = await core.counted(one.slot, receive)
            assert not any(counted[name] for name in READINGS if name != "pn")
        assert await core.read("status") == await core.read("in_bad_tag") == 0
        # The key is not known either.
        await core.use(one, False)
        assert (await core.read("status", "in_use"), await core.read("status", "no_key")) == (0, 1)


@cocotb.test()
async def registers_match_their_table(dut: HierarchyObject) -> None:
    core = Core(dut)
    await core.reset()
    for i, (name, register) in enumerate(REGISTERS.items()):
        if register["access"] == "rw":
            value = 0x0123_4567 * (i + 1) & 0xFFFF_FFFF
            await core.write(name, value)
            mask = sum((1 << bits) - 1 << low for low, bits, *_ in register["fields"])
            assert await core.read(name) == value & mask
            await core.registers.write_byte(register["address"], 0x5A)
            assert await core.read(name) == (value & ~0xFF | 0x5A) & mask
    assert (await core.registers.read(0xFC, 4)).resp == SLVERR
    assert (await core.registers.write(0x38, bytes(4))).resp == SLVERR
    assert await core.read("command") == 0


@cocotb.test()
async def zeroization_and_refused_keys_are_reported(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    association = Association(1, bytes.fromhex("0200000000010001"), 0, rng.randbytes(16))
    await core.load(association, False)
    await core.use(association, False)
    await core.load(association, False)
    assert await core.read("out_key_refused") == 1
    # A key in flight during zeroization is overwritten, too.
    dut.s_key_receive.value = 1
    dut.s_key_slot.value = 7
    dut.s_key_key.value = port_key(dut, association.key)
    dut.s_key_tvalid.value = 1
    await RisingEdge(dut.clk)
    await core.write("command", 8)
    dut.s_key_tvalid.value = 0
    assert await core.read("status", "zeroizing") == 1
    while await core.read("status", "zeroizing"):
        pass
    for side in (dut.transmit, dut.receive):
        assert int(side.in_use.value) == 0
        for slot in range(16):
            assert int(side.engine.g_gcm.engine.lanes.keys.ram.memory[slot].value) == 0
    # Without a new key no association comes into use, and nothing leaves.
    await core.use(association, False)
    assert await core.read("status", "in_use") == 0
    assert await core.read("status", "no_key") == 1
    frame = some_frame(rng, association.sci[:6])
    await core.sources["controlled"].send(AxiStreamFrame(frame, tid=1, tuser=0))
    await ClockCycles(dut.clk, 200)
    assert core.sinks["line"].empty()
    assert await core.read("out_no_sa") == 1
    await core.load(association, False)
    await core.use(association, False)
    assert await core.read("status", "no_key") == 0
    await core.sources["controlled"].send(AxiStreamFrame(frame, tid=1, tuser=0))
    got = await with_timeout(core.sinks["line"].recv(), 40, "us")
    assert bytes(got.tdata) == sealed_by(association.other_end(), frame)


@cocotb.test()
async def reaching_the_threshold_is_reported(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    associations = [
        Association(i, bytes.fromhex(f"02000000000{i}0001"), 2, rng.randbytes(16), pn)
        for i, pn in ((1, 1), (3, 0xC000_0000 - 2))
    ]
    for association in associations:
        await core.load(association, False)
        await core.use(association, False)
    await core.write("threshold_low", 0xC000_0000)
    for i in range(3):
        assert not dut.irq.value
        for association in associations:
            frame = some_frame(rng, association.sci[:6])
            await core.sources["controlled"].send(AxiStreamFrame(frame, tid=association.channel, tuser=0))
            await with_timeout(core.sinks["line"].recv(), 40, "us")
        assert await core.read("reached", "valid") == int(i == 2)
    assert dut.irq.value
    assert await core.read("reached", "slot") == associations[1].slot
    await core.command("clear_reached")
    assert not dut.irq.value


@cocotb.test()
async def last_extended_number_is_used_once(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    one = Association(
        2,
        bytes.fromhex("0200000000010001"),
        1,
        rng.randbytes(16),
        2**64 - 2,
        ssci=bytes([0, 0, 0, 7]),
        salt=SALT,
    )
    for receive in (False, True):
        await core.load(one, receive)
        await core.use(one, receive)
    for half in ("high", "low"):
        await core.write(f"threshold_{half}", 2**32 - 1)
    end = one.other_end()
    for reached in (0, 1):
        frame = some_frame(rng, one.sci[:6])
        await core.sources["controlled"].send(AxiStreamFrame(frame, tid=2, tuser=0))
        sealed = bytes((await with_timeout(core.sinks["line"].recv(), 40, "us")).tdata)
        assert sealed == sealed_by(end, frame)
        assert await core.read("reached", "valid") == reached
        await core.sources["line"].send(AxiStreamFrame(sealed, tuser=0))
        assert bytes((await with_timeout(core.sinks["controlled"].recv(), 40, "us")).tdata) == frame
    for _ in range(2):
        await core.sources["controlled"].send(AxiStreamFrame(some_frame(rng, one.sci[:6]), tid=2, tuser=0))
    await ClockCycles(dut.clk, 200)
    assert core.sinks["line"].empty()
    assert await core.read("out_no_pn") == 2
    # A number before it is a replay.
    end.pn = 2**64 - 2
    await core.sources["line"].send(AxiStreamFrame(sealed_by(end, frame), tuser=0))
    await ClockCycles(dut.clk, 200)
    assert core.sinks["controlled"].empty()
    assert (await core.counted(one.slot, True))["late"] == 1


@cocotb.test()
async def number_reached_while_the_report_is_cleared_is_reported(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut)
    await core.reset()
    associations = [
        Association(i, bytes.fromhex(f"02000000000{i}0001"), 0, rng.randbytes(16)) for i in (0, 1)
    ]
    for association in associations:
        await core.load(association, False)
        await core.use(association, False)
    await core.write("threshold_low", 1)
    coincided = 0

    async def watch() -> None:
        nonlocal coincided
        known = slot = 0
        while True:
            await RisingEdge(dut.clk)
            reached, clears = int(dut.reached.value), int(dut.command_clear_reached.value)
            assert int(dut.irq.value) == known
            assert not known or int(dut.first_slot.value) == slot
            if reached and (not known or clears):
                slot = int(dut.reached_slot.value)
            coincided += reached and clears
            known = int(reached or (known and not clears))

    watching = cocotb.start_soon(watch())
    while coincided < 5:
        for i in range(60):
            frame = some_frame(rng, associations[i % 2].sci[:6], 48)
            core.sources["controlled"].send_nowait(AxiStreamFrame(frame, tid=i % 2, tuser=0))
        for _ in range(12):
            await core.command("clear_reached")
        await core.sources["controlled"].wait()
    watching.cancel()


@cocotb.test()
async def line_rate_in_each_direction(dut: HierarchyObject) -> None:
    """At a MAC's clock, frames leave, and are accepted from a MAC, at 100 Gbit/s line rate."""
    rng = random.Random(cocotb.RANDOM_SEED)
    core = Core(dut, ("controlled", "uncontrolled"), MAC_PERIOD_PS)
    to_line = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_line"), dut.clk, dut.rst)
    from_line = EthMacRx(
        MacBus.from_prefix(dut, "s_line"), dut.clk, dut.rst, ifg=BESIDE_BYTES - 8, speed=BITS_PER_PS * 1e12
    )
    # The MAC model starts with X, and immediately reads the ready signal that depends on its outputs.
    dut.s_line_tdata.value = 0
    dut.s_line_tuser.value = 0
    await core.reset()
    association = Association(0, bytes.fromhex("0200000000010001"), 1, rng.randbytes(16))
    for receive in (False, True):
        await core.load(association, receive)
        await core.use(association, receive)
    # A measurement starts and ends with frames of equal size after others of that size, and so of equal
    # latency: frames soon after a long one wait until that one has left the frame store.
    sizes = [rng.choice([*range(48, 200), 576, 1502]) for _ in range(LINE_FRAMES)]
    for stop in (FIRST_MEASURED + 1, LINE_FRAMES):
        sizes[stop - CALM_FRAMES : stop] = [128] * CALM_FRAMES
    frames = [some_frame(rng, association.sci[:6], size) for size in sizes]
    for frame in frames:
        core.sources["controlled"].send_nowait(AxiStreamFrame(frame, tid=0, tuser=0))
    end = association.other_end()
    sent = [await with_timeout(to_line.recv(), 40, "us") for _ in frames]
    for frame, sealed in zip(frames, sent, strict=True):
        assert bytes(sealed.tdata) == sealed_by(end, frame)
    assert_full(sent, sent)

    for sealed in sent:
        from_line.queue.put_nowait(EthMacFrame.from_raw_payload(bytes(sealed.tdata)))
    received = [await with_timeout(core.sinks["controlled"].recv(), 40, "us") for _ in frames]
    for frame, got in zip(frames, received, strict=True):
        assert bytes(got.tdata) == frame
    assert_full(received, sent)


def assert_full(frames: list[AxiStreamFrame], on_line: list[AxiStreamFrame]) -> None:
    """Checks line rate from the first measured frame to the last frame."""
    took = frames[-1].sim_time_end - frames[FIRST_MEASURED].sim_time_end
    wanted = sum(len(frame) + BESIDE_BYTES for frame in on_line[FIRST_MEASURED + 1 :]) * 8 / BITS_PER_PS
    assert took <= wanted * 1.01, (took, wanted)
