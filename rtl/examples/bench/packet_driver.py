"""Driver for tops with the ports of rtl/README.md: 128 or 512 bits wide, any mode with a tag."""

from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from cocotbext.axi.stream import define_stream

MESSAGE, AD, TAG = 0, 1, 2
FORGED, ERROR = 1, 2

KeyBus, KeyBeat, KeySource, _, _ = define_stream(
    "Key", signals=["tvalid", "tready", "slot", "key"], valid_signal="tvalid", ready_signal="tready"
)
CommandBus, CommandBeat, CommandSource, _, _ = define_stream(
    "Command",
    signals=["tvalid", "tready", "open", "slot", "nonce", "ad_bytes", "message_bytes", "padded"],
    valid_signal="tvalid",
    ready_signal="tready",
)


@dataclass(frozen=True)
class Packet:
    """An input packet: opened if it has a tag, else sealed."""

    slot: int
    nonce: bytes
    ad: bytes
    message: bytes
    tag: bytes = b""


class NotVerifiedError(Exception):
    """The packet does not verify; its output is marked bad."""


class Engine:
    """Seals and opens packets. `send` does not wait; `receive_*` takes the next output in order."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        self.keys = KeySource(KeyBus.from_prefix(dut, "s_key"), dut.clk, dut.rst)
        self.commands = CommandSource(CommandBus.from_prefix(dut, "s_cmd"), dut.clk, dut.rst)
        self.input = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.clk, dut.rst)
        self.output = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst)
        self.tags = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_tag"), dut.clk, dut.rst)
        self.width = len(dut.s_axis_tdata) // 8

    async def reset(self) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 1)

    async def load(self, slot: int, key: bytes) -> None:
        """Loads a key. Commands for the slot may follow immediately; they wait until it is ready."""
        await self.keys.send(KeyBeat(slot=slot, key=int.from_bytes(key, "little")))
        await self.keys.wait()

    async def send(self, packet: Packet) -> None:
        await self.commands.send(
            CommandBeat(
                open=bool(packet.tag),
                slot=packet.slot,
                nonce=int.from_bytes(packet.nonce, "little"),
                ad_bytes=len(packet.ad),
                message_bytes=len(packet.message),
                padded=0,
            )
        )
        # Each part starts a new beat, and only its last beat may be partial.
        data, keep, kinds = bytearray(), [], []
        for part, kind in ((packet.ad, AD), (packet.message, MESSAGE), (packet.tag, TAG)):
            room = -len(part) % self.width
            data += part + bytes(room)
            keep += [1] * len(part) + [0] * room
            kinds += [kind] * (len(part) + room)
        if data:
            await self.input.send(AxiStreamFrame(tdata=data, tkeep=keep, tuser=kinds))

    async def receive_sealed(self, length: int) -> tuple[bytes, bytes]:
        """Returns ciphertext and tag of the next packet."""
        ciphertext = bytes((await self.output.recv()).tdata) if length else b""
        verdict = await self.tags.recv()
        if last(verdict.tuser) & ERROR:
            raise ValueError("the core refused the packet")
        return ciphertext, bytes(verdict.tdata)

    async def receive_opened(self, length: int) -> bytes:
        """Returns the message of the next packet, which has this many bytes."""
        frame = await self.output.recv() if length else None
        verdict = last((await self.tags.recv()).tuser)
        if verdict & ERROR:
            raise ValueError("the core refused the packet")
        if verdict & FORGED:
            assert frame is None or last(frame.tuser) == 1, "a bad packet must be marked with tlast"
            raise NotVerifiedError
        return bytes(frame.tdata) if frame else b""


def last(user: int | list[int]) -> int:
    return user if isinstance(user, int) else user[-1]
