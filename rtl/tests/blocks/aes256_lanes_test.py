"""Tests of cipher_lanes with AES-256 or both key sizes: a block and another key in every clock, against pyca.

The environment contains CIPHER, INVERSE and SPLIT.
"""

import os
import random

import aes_model
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

BOTH = int(os.environ["CIPHER"]) == 3
INVERSE = int(os.environ["INVERSE"])
LATENCY = 29 if int(os.environ["SPLIT"]) else 15
# FIPS 197 appendices C.3 and C.1: key, plaintext, ciphertext.
KNOWN = (
    (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
    (
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ),
)
BLOCKS = 60


def port_key(key: bytes) -> int:
    """Returns the value of in_key: the key, or the last two round keys for decryption.

    Bit 256 names a key of AES-128.
    """
    if len(key) == 16:
        return 1 << 256 | int.from_bytes(key) << 128
    return int.from_bytes(b"".join(aes_model.round_keys(key, 14)[-2:]) if INVERSE else key)


def expected(key: bytes, block: bytes) -> bytes:
    cipher = Cipher(algorithms.AES(key), modes.ECB())
    return (cipher.decryptor() if INVERSE else cipher.encryptor()).update(block)


@cocotb.test()
async def a_key_for_each_block(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    pairs = []
    for known in KNOWN[: 1 + BOTH]:
        key, plaintext, ciphertext = map(bytes.fromhex, known)
        pairs.append((key, ciphertext if INVERSE else plaintext))
        assert expected(*pairs[-1]) == (plaintext if INVERSE else ciphertext)
    sizes = (16, 32) if BOTH else (32,)
    pairs += [(rng.randbytes(rng.choice(sizes)), rng.randbytes(16)) for _ in range(BLOCKS)]
    Clock(dut.clk, 10, "ns").start()
    await FallingEdge(dut.clk)
    # For decryption the key enters one clock before its block.
    for clock in range(len(pairs) + LATENCY + INVERSE):
        if clock < len(pairs):
            dut.in_key.value = port_key(pairs[clock][0])
        block = clock - INVERSE
        if 0 <= block < len(pairs):
            dut.in_blocks.value = int.from_bytes(pairs[block][1])
        await FallingEdge(dut.clk)
        done = block - LATENCY + 1
        if 0 <= done < len(pairs):
            assert dut.out_blocks.value.to_unsigned().to_bytes(16) == expected(*pairs[done]), done
