"""Driver for macsec_shell: host software and queues on one side, a MAC on the other."""

import tomllib
from dataclasses import dataclass
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

TABLE = tomllib.loads((Path(__file__).resolve().parents[2] / "macsec" / "registers.toml").read_text())
ADDRESSES = {register["name"]: register["address"] for register in TABLE["register"]} | {
    "key": 0x100,
    "load": 0x110,
    "key_status": 0x114,
    "tx_too_long": 0x118,
    "rx_refused": 0x11C,
    "rx_too_long": 0x120,
}
OKAY, SLVERR = 0, 2
RECEIVE = 1 << 8  # in `select` and `load`
ZEROIZING, IN_USE = 1 << 1, 1 << 2  # in `status`
SET_CHANNEL, SET_SA, ZEROIZE = 1, 2, 8  # in `command`


@dataclass(frozen=True)
class Association:
    """A key for one direction, with 32-bit packet numbers starting at 1."""

    receive: bool
    channel: int
    an: int
    sci: bytes
    key: bytes

    @property
    def select(self) -> int:
        return 4 * self.channel + self.an | RECEIVE * self.receive


class Shell:
    """The shell under test, with the streams host_tx, mac_tx, mac_rx and host_rx."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 4, unit="ns").start())
        self.registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)
        self.host_tx = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_tx"), dut.clk, dut.rst)
        self.mac_tx = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_tx"), dut.clk, dut.rst)
        self.mac_rx = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_rx"), dut.clk, dut.rst)
        self.host_rx = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_rx"), dut.clk, dut.rst)

    async def reset(self) -> None:
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)
        cocotb.start_soon(self._mac_runs_never_empty())

    async def _mac_runs_never_empty(self) -> None:
        within = False
        while True:
            await RisingEdge(self.dut.clk)
            valid = bool(self.dut.m_axis_tx_tvalid.value)
            assert valid or not within, "a pause within a frame"
            if valid:
                within = not (self.dut.m_axis_tx_tready.value and self.dut.m_axis_tx_tlast.value)

    # ---- Host software ----

    async def write(self, name: str, value: int) -> None:
        answer = await self.registers.write(ADDRESSES[name], value.to_bytes(4, "little"))
        assert answer.resp == OKAY, name

    async def read(self, name: str) -> int:
        answer = await self.registers.read(ADDRESSES[name], 4)
        assert answer.resp == OKAY, name
        return int.from_bytes(answer.data, "little")

    async def load(self, association: Association) -> None:
        """Loads the key of an association."""
        for at in range(0, 16, 4):
            answer = await self.registers.write(ADDRESSES["key"] + at, association.key[at : at + 4])
            assert answer.resp == OKAY
        await self.write("load", association.select)
        while await self.read("key_status"):
            pass

    async def use(self, association: Association) -> None:
        """Puts an association and its channel into use."""
        sci = int.from_bytes(association.sci)
        await self.write("select", association.select)
        await self.write("flags", 1)
        for name, value in (("sci", sci), ("pn", 1)):
            await self.write(f"{name}_high", value >> 32)
            await self.write(f"{name}_low", value & 0xFFFF_FFFF)
        for i, value in enumerate((sci >> 32, sci & 0xFFFF_FFFF, 0)):
            await self.write(f"base_{i}", value)
        await self.write("command", SET_CHANNEL | SET_SA)
        while await self.read("status") & 1:
            pass
        assert await self.read("status") & IN_USE

    # ---- Frames ----

    async def host_sends(self, frame: bytes, tag: int = 0) -> None:
        await self.host_tx.send(AxiStreamFrame(frame, tuser=tag))

    async def mac_receives(self, frame: bytes, time: int = 0, bad: bool = False) -> None:
        """Sends a frame from the MAC. The timestamp is in all beats, the error flag in the last byte."""
        users = [time << 1] * len(frame)
        users[-1] |= bad
        await self.mac_rx.send(AxiStreamFrame(frame, tuser=users))

    async def next_of(self, sink: AxiStreamSink) -> tuple[bytes, int]:
        """Returns the next frame and its tuser."""
        frame = await with_timeout(sink.recv(), 20, "us")
        return bytes(frame.tdata), frame.tuser

    async def expect_nothing(self) -> None:
        await ClockCycles(self.dut.clk, 100)
        assert self.mac_tx.empty()
        assert self.host_rx.empty()
