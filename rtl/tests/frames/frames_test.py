"""How many clocks a frame costs an engine, sustained, and how long a lone packet takes.

Every stream goes without a pause. A frame is a message without additional data. Checked against what the
modules' headers promise. The environment says what: ENGINE, AUX, DIRECTION (of the parameters); results go
to the file RESULTS.
"""

import json
import os
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, Timer

ENGINE = os.environ["ENGINE"]
SHARED = os.environ["AUX"] == "0"
DIRECTION = int(os.environ["DIRECTION"])
SIZES = (64, 128, 256, 576, 1500, 9000)
BEAT = 64
MESSAGE, TAG = 0, 2
ONE, EACH = "one key, counter nonces", "another key for each frame, unordered nonces"


class Bench:
    """An engine with senders that never pause and receivers that always take."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 2, unit="ns").start())

    async def reset(self):
        dut = self.dut
        dut.rst.value = 1
        for name in ("s_key_tvalid", "s_cmd_tvalid", "s_axis_tvalid", "s_cmd_ad_bytes", "s_cmd_padded"):
            getattr(dut, name).value = 0
        dut.m_axis_tready.value = 1
        dut.m_tag_tready.value = 1
        for _ in range(3):
            await RisingEdge(dut.clk)
        await Timer(1, "ps")
        dut.rst.value = 0

    async def load(self, slots: int):
        dut = self.dut
        for slot in range(slots):
            dut.s_key_tvalid.value = 1
            dut.s_key_slot.value = slot
            dut.s_key_key.value = random.getrandbits(128)
            await ReadOnly()
            while dut.s_key_tready.value != 1:
                await RisingEdge(dut.clk)
                await ReadOnly()
            await RisingEdge(dut.clk)
            await Timer(1, "ps")
        dut.s_key_tvalid.value = 0
        # Until the last slot is ready.
        await ReadOnly()
        while dut.s_key_tready.value != 1:
            await RisingEdge(dut.clk)
            await ReadOnly()
        await RisingEdge(dut.clk)
        await Timer(1, "ps")

    async def play(self, opening: bool, frames: list, size: int) -> list:
        """frames: (slot, nonce). For each the clocks of its first and last beat in, first out, and tag."""
        dut = self.dut
        beats = [(size - at, MESSAGE) for at in range(0, size, BEAT)] + ([(16, TAG)] if opening else [])
        times = [{} for _ in frames]
        command = frame = beat = out = tag = clock = 0
        first_out = True
        dut.s_cmd_open.value = int(opening)
        dut.s_cmd_message_bytes.value = size
        offered_command = offered_beat = None
        while tag < len(frames):
            if offered_command != command:
                offered_command = command
                dut.s_cmd_tvalid.value = int(command < len(frames))
                if command < len(frames):
                    dut.s_cmd_slot.value, dut.s_cmd_nonce.value = frames[command]
            if offered_beat != (frame, beat):
                offered_beat = (frame, beat)
                dut.s_axis_tvalid.value = int(frame < len(frames))
                left, kind = beats[beat]
                dut.s_axis_tdata.value = random.getrandbits(512)
                dut.s_axis_tkeep.value = (1 << min(left, BEAT)) - 1
                dut.s_axis_tuser.value = kind
                dut.s_axis_tlast.value = int(beat == len(beats) - 1)
            await ReadOnly()
            if command < len(frames) and dut.s_cmd_tready.value == 1:
                command += 1
            if frame < len(frames) and dut.s_axis_tready.value == 1:
                times[frame].setdefault("first_in", clock)
                times[frame]["last_in"] = clock
                beat += 1
                if beat == len(beats):
                    frame, beat = frame + 1, 0
            if dut.m_axis_tvalid.value == 1:
                if first_out:
                    times[out]["first_out"] = clock
                first_out = dut.m_axis_tlast.value == 1
                out += int(first_out)
            if dut.m_tag_tvalid.value == 1:
                times[tag]["tag"] = clock
                tag += 1
            await RisingEdge(dut.clk)
            await Timer(1, "ps")
            clock += 1
            assert clock < 20000, "stuck"
        assert out == len(frames)
        return times


def promised(opening: bool, keys: str, size: int) -> float:
    """What the modules' headers say that a frame costs."""
    beats = -(-size // BEAT)
    if opening:
        return beats + 1
    if ENGINE.startswith("gcm"):
        return beats + (1 if -(-size // 16) % 4 == 0 else 0)
    ktop = 1 / 64 if keys == ONE else 1
    return beats + 1 + ktop if SHARED else max(beats, 1 + ktop)


@cocotb.test()
async def frames(dut):
    random.seed(1)
    bench = Bench(dut)
    await bench.reset()
    await bench.load(15)
    results, latencies = [], []
    for opening in (False, True):
        if (0 if opening else 1) == DIRECTION:
            continue
        direction = "open" if opening else "seal"
        (lone,) = await bench.play(opening, [(3, random.getrandbits(96))], BEAT)
        latencies.append(
            {
                "engine": ENGINE + (", 4 cores" if SHARED else ""),
                "direction": direction,
                "clocks_to_output": lone["first_out"] - lone["first_in"],
                "clocks_to_tag": lone["tag"] - lone["last_in"],
            }
        )
        for keys in (ONE, EACH):
            # Long frames leave the fifth core idle, whatever their keys.
            for size in SIZES if keys == ONE else SIZES[:2]:
                beats = -(-size // BEAT)
                # Enough frames to fill the engine, and as many behind those measured, since it works ahead;
                # whole turns of the counter's low six bits, if frames are short.
                before = 150 if beats == 1 or keys == EACH else max(1, 150 // (beats * beats))
                measured = (256, 128, 64, 64)[beats - 1] if beats <= 4 else max(1, 128 // beats)
                if keys == ONE:
                    nonces = [
                        (3, int.from_bytes(number.to_bytes(12, "big"), "little")) for number in range(900)
                    ]
                else:
                    nonces = [(number % 15, random.getrandbits(96)) for number in range(900)]
                times = await bench.play(opening, nonces[: 2 * before + measured + 1], size)
                clocks = (times[before + measured]["first_in"] - times[before]["first_in"]) / measured
                expected = promised(opening, keys, size)
                # A Ktop more or less: a counter's are rare, made when there is time, in bursts.
                slack = 0.03 * expected + (1 / min(measured, 64) if ENGINE.startswith("ocb") else 0)
                assert abs(clocks - expected) <= slack, (ENGINE, direction, keys, size, clocks, expected)
                frames_a_second = 100e9 / (8 * (size + 20))
                results.append(
                    {
                        "engine": ENGINE + (", 4 cores" if SHARED else ""),
                        "direction": direction,
                        "keys": keys,
                        "frame_bytes": size,
                        "clocks_per_frame": round(clocks, 3),
                        "frames_per_1000_clocks": round(1000 / clocks, 2),
                        "mhz_for_100_gbit": round(frames_a_second * clocks / 1e6, 1),
                    }
                )
    Path(os.environ["RESULTS"]).write_text(json.dumps({"latencies": latencies, "results": results}))
