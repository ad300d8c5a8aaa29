"""Example tests to start from: a core against the Python package `cryptography`. Run by `run.py`."""

import os
import random

import cocotb
from cocotb.triggers import with_timeout
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESOCB3
from packet_driver import Engine, NotVerifiedError, Packet

CIPHER = AESGCM if os.environ["TOP"].startswith("gcm") else AESOCB3
LIMIT = (100, "us")


async def started(dut) -> Engine:
    engine = Engine(dut)
    await engine.reset()
    return engine


@cocotb.test()
async def seals_and_opens(dut):
    engine = await started(dut)
    key, nonce, header, message = bytes(range(16)), bytes(12), b"a header", b"a message of 27 bytes, sent"
    await engine.load(3, key)
    await engine.send(Packet(3, nonce, header, message))
    ciphertext, tag = await with_timeout(engine.receive_sealed(len(message)), *LIMIT)
    assert ciphertext + tag == CIPHER(key).encrypt(nonce, message, header)
    await engine.send(Packet(3, nonce, header, ciphertext, tag))
    assert await with_timeout(engine.receive_opened(len(message)), *LIMIT) == message


@cocotb.test()
async def marks_what_is_forged(dut):
    """A forged packet is marked bad, and the valid one after it is not."""
    engine = await started(dut)
    key, nonce, message = bytes(16), bytes(12), bytes(100)
    await engine.load(0, key)
    sealed = CIPHER(key).encrypt(nonce, message, b"")
    forged = bytes([sealed[0] ^ 1]) + sealed[1:]
    for packet in (forged, sealed):
        await engine.send(Packet(0, nonce, b"", packet[:-16], packet[-16:]))
    try:
        await with_timeout(engine.receive_opened(len(message)), *LIMIT)
    except NotVerifiedError:
        pass
    else:
        raise AssertionError("a forged packet was opened")
    assert await with_timeout(engine.receive_opened(len(message)), *LIMIT) == message


@cocotb.test()
async def packets_of_two_keys_back_to_back(dut):
    engine = await started(dut)
    rng = random.Random(1)
    keys = [rng.randbytes(16) for _ in range(2)]
    for slot, key in enumerate(keys):
        await engine.load(slot, key)
    packets = [
        Packet(
            slot, rng.randbytes(12), rng.randbytes(rng.randrange(40)), rng.randbytes(rng.randrange(1, 200))
        )
        for slot in (0, 1, 1, 0, 1, 0)
    ]
    for packet in packets:
        await engine.send(packet)
    for packet in packets:
        sealed = await with_timeout(engine.receive_sealed(len(packet.message)), *LIMIT)
        assert b"".join(sealed) == CIPHER(keys[packet.slot]).encrypt(packet.nonce, packet.message, packet.ad)
