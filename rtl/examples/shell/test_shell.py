"""Tests of macsec_shell between a host and a MAC, with scapy's MACsec as the peer. Run by `run.py`."""

import logging
import os
import random

import cocotb
from cocotb.handle import HierarchyObject
from cocotbext.axi import AxiStreamFrame
from shell_driver import ADDRESSES, OKAY, RECEIVE, SLVERR, ZEROIZE, ZEROIZING, Association, Shell

logging.getLogger("scapy").setLevel(logging.ERROR)  # it warns about missing interfaces, which are not needed
from scapy.contrib.macsec import MACsecSA  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

OURS, THEIRS = (bytes.fromhex(f"0200000000{i:02x}0001") for i in (1, 2))
LONGEST_BYTES = 64 * int(os.environ["DEPTH"]) - 32
EAPOL, LLDP, MACSEC, IPV4 = b"\x88\x8e", b"\x88\xcc", b"\x88\xe5", b"\x08\x00"


def frame_of(rng: random.Random, sci: bytes, kind: bytes, data_bytes: int) -> bytes:
    return rng.randbytes(6) + sci[:6] + kind + rng.randbytes(data_bytes)


def other_end(association: Association) -> MACsecSA:
    return MACsecSA(
        sci=association.sci,
        an=association.an,
        pn=1,
        key=association.key,
        icvlen=16,
        encrypt=True,
        send_sci=True,
    )


async def started(dut: HierarchyObject) -> Shell:
    shell = Shell(dut)
    await shell.reset()
    return shell


@cocotb.test()
async def sealed_frames_make_a_round_trip(dut: HierarchyObject) -> None:
    """Host frames leave sealed, as scapy confirms, and reach the host again when looped back."""
    rng = random.Random(cocotb.RANDOM_SEED)
    shell = await started(dut)
    key = rng.randbytes(16)
    sends = Association(False, 0, 1, OURS, key)
    for association in (sends, Association(True, 2, 1, OURS, key)):
        await shell.load(association)
        await shell.use(association)
    end = other_end(sends)
    frames = [frame_of(rng, OURS, IPV4, data_bytes) for data_bytes in (46, 1, 80, LONGEST_BYTES - 14)]
    for tag, frame in enumerate(frames):
        await shell.host_sends(frame, 2 * tag)
    for tag, frame in enumerate(frames):
        line, user = await shell.next_of(shell.mac_tx)
        assert (line[12:14], user) == (MACSEC, 2 * tag)
        # A payload of one byte may occur in the line by chance.
        assert len(frame) == 15 or frame[14:] not in line
        assert bytes(end.decap(end.decrypt(Ether(line)))) == frame
        end.pn += 1
        await shell.mac_receives(line, time=1000 + tag)
    for tag, frame in enumerate(frames):
        assert await shell.next_of(shell.host_rx) == (frame, 2 * (1000 + tag))


@cocotb.test()
async def only_eapol_and_lldp_pass_unsealed(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    shell = await started(dut)
    # Without a key only these frames pass, in both directions.
    past = [frame_of(rng, OURS, kind, data_bytes) for kind, data_bytes in ((EAPOL, 60), (LLDP, 200))]
    others = [frame_of(rng, OURS, kind, 60) for kind in (IPV4, MACSEC)]
    # A frame of only two addresses does not pass either, whatever follows its last byte.
    for source in (shell.host_tx, shell.mac_rx):
        await source.send(AxiStreamFrame(past[0][:14], tkeep=[1] * 12 + [0] * 2, tuser=0))
    for frame in (*others, *past):
        await shell.host_sends(frame, 6)
        await shell.mac_receives(frame, time=5)
    for frame in past:
        assert await shell.next_of(shell.mac_tx) == (frame, 6)
        assert await shell.next_of(shell.host_rx) == (frame, 10)
    # Frames marked bad by the MAC, and one that does not fit.
    long = frame_of(rng, OURS, LLDP, 4100)
    await shell.mac_receives(past[0], bad=True)
    await shell.mac_receives(others[0], bad=True)
    await shell.mac_receives(long)
    await shell.host_sends(long)
    await shell.expect_nothing()
    assert await shell.read("out_no_sa") == 3
    assert await shell.read("rx_refused") == 2
    assert await shell.read("rx_too_long") == 1
    assert await shell.read("tx_too_long") == 1
    # With a key they pass between other frames, and a forged one is dropped.
    association = Association(True, 0, 0, THEIRS, rng.randbytes(16))
    await shell.load(association)
    await shell.use(association)
    plain = frame_of(rng, THEIRS, IPV4, 100)
    sealed = bytes(other_end(association).encrypt(other_end(association).encap(Ether(plain))))
    await shell.mac_receives(sealed[:-1] + bytes([sealed[-1] ^ 1]))
    await shell.mac_receives(sealed)
    await shell.mac_receives(past[1])
    found = {(await shell.next_of(shell.host_rx))[0] for _ in range(2)}
    assert found == {plain, past[1]}
    await shell.expect_nothing()


@cocotb.test()
async def keys_go_in_whole_and_never_out(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    shell = await started(dut)
    key = rng.randbytes(16)

    async def refuses(address: int, value: int) -> bool:
        return (await shell.registers.write(address, value.to_bytes(4, "little"))).resp == SLVERR

    # A partial key, a partial word and a nonexistent slot are not loaded.
    for at in (0, 4, 8):
        assert (await shell.registers.write(ADDRESSES["key"] + at, key[at : at + 4])).resp == OKAY
    assert await refuses(ADDRESSES["load"], 0)
    assert (await shell.registers.write(ADDRESSES["key"] + 12, key[12:13])).resp == SLVERR
    assert await refuses(ADDRESSES["load"], 0)
    assert (await shell.registers.write(ADDRESSES["key"] + 12, key[12:])).resp == OKAY
    assert await refuses(ADDRESSES["load"], 16)
    assert int(dut.registers.m_key_key.value) == int.from_bytes(key, "little")
    await shell.write("load", 3)
    while await shell.read("key_status"):
        pass
    assert int(dut.registers.m_key_key.value) == 0
    # Each load requires a new key.
    assert await refuses(ADDRESSES["load"], 3 | RECEIVE)
    for at in (0, 4, 8, 12, 16):
        answer = await shell.registers.read(ADDRESSES["key"] + at, 4)
        assert (answer.resp, bytes(answer.data)) == (SLVERR, bytes(4))
    # Addresses beyond the registers are not aliases: `select` does not change.
    await shell.write("select", 5)
    for address in (ADDRESSES["select"] | 1 << bit for bit in range(9, 24)):
        assert await refuses(address, 9)
        assert (await shell.registers.read(address, 4)).resp == SLVERR
    assert await shell.read("select") == 5
    assert await shell.read("identity") == 0x4D41_4353


@cocotb.test()
async def zeroization_clears_keys_that_wait(dut: HierarchyObject) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    shell = await started(dut)
    key = rng.randbytes(16)

    async def write_words(*places: int) -> None:
        for at in places:
            assert (await shell.registers.write(ADDRESSES["key"] + at, key[at : at + 4])).resp == OKAY

    # A key whose last word is not written yet.
    await write_words(0, 4, 8)
    await shell.write("command", ZEROIZE)
    assert int(dut.registers.m_key_key.value) == 0
    await write_words(12)
    assert (await shell.registers.write(ADDRESSES["load"], bytes(4))).resp == SLVERR
    # A whole one, which waits while the core overwrites its keys.
    await write_words(0, 4, 8, 12)
    await shell.write("load", 0)
    assert await shell.read("status") & ZEROIZING
    assert await shell.read("key_status") == 1
    await shell.write("command", ZEROIZE)
    assert await shell.read("key_status") == 0
    assert int(dut.registers.m_key_key.value) == 0
