"""Tests of aes_encrypt and aes_decrypt: known answers, and random blocks and keys against a model.

Blocks enter with and without pauses. Keys change at every distance that KEYS allows, most often the smallest.
Each result must leave exactly LATENCY clocks after its block, with its side-band data.

The environment contains DUT, ROUNDS, KEYS, AHEAD and SPLIT. With AHEAD=1 a key enters one clock before its
block.
"""

import os
import random

import aes_model
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ROUNDS = int(os.environ.get("ROUNDS", "10"))
KEYS = int(os.environ.get("KEYS", "1"))
AHEAD = int(os.environ.get("AHEAD", "0"))
SPLIT = int(os.environ.get("SPLIT", "0"))
BLOCKS = int(os.environ.get("BLOCKS", "80"))
OPEN = os.environ.get("DUT") == "aes_decrypt"
LATENCY = (2 if SPLIT else 1) * ROUNDS + 1 + AHEAD  # from the clock of the key

# FIPS 197 appendices B and C.1: key, plaintext, ciphertext, and the printed state after round 6.
KNOWN = [
    (
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3243f6a8885a308d313198a2e0370734",
        {10: "3925841d02dc09fbdc118597196a0b32"},
    ),
    (
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        {10: "69c4e0d86a7b0430d8cdb78070b4c55a", 6: "c62fe109f75eedc3cc79395d84f9cf5d"},
    ),
]


def expected(key: bytes, block: bytes) -> bytes:
    if ROUNDS == 10:
        cipher = Cipher(algorithms.AES(key), modes.ECB())
        context = cipher.decryptor() if OPEN else cipher.encryptor()
        return context.update(block)
    return (aes_model.decrypt if OPEN else aes_model.encrypt)(key, block, ROUNDS)


def port_key(key: bytes) -> int:
    """Returns the value of in_key: the key, or the last round key for decryption."""
    return int.from_bytes(aes_model.round_keys(key, ROUNDS)[-1] if OPEN else key, "big")


class Pipe:
    """Drives the pipe clock by clock and checks every output against the one due in that clock."""

    def __init__(self, dut):
        self.dut = dut
        self.clocks = 0
        self.due = {}
        self.checked = 0
        self.key = None
        self.waiting = (0, 0, 0)  # enters one clock after its key
        self.random = random.Random(f"{cocotb.RANDOM_SEED} {OPEN} {ROUNDS} {KEYS} {SPLIT}")

    async def start(self):
        Clock(self.dut.clk, 10, "ns").start()
        self.dut.rst.value = 1
        await self.clock(valid=1, new_key=1)
        await self.clock(valid=1)
        self.dut.rst.value = 0
        self.forget()

    def forget(self):
        """Resets the pipe: inputs before the end of the reset must not come out."""
        self.due.clear()
        self.waiting = (0, 0, 0)

    async def clock(self, block=None, key=None, valid=None, new_key=0, result=None):
        """Advances one clock. Unused inputs are random."""
        rng = self.random
        dut = self.dut
        user = rng.getrandbits(8)
        data = (
            int(block is not None) if valid is None else valid,
            rng.getrandbits(128) if block is None else int.from_bytes(block, "big"),
            user,
        )
        if AHEAD:
            data, self.waiting = self.waiting, data
        dut.in_valid.value, dut.in_block.value, dut.in_user.value = data
        dut.in_new_key.value = new_key if KEYS < 2 else rng.getrandbits(1)
        dut.in_key.value = rng.getrandbits(128) if key is None else port_key(key)
        if block is not None:
            self.due[self.clocks + LATENCY] = (expected(self.key, block) if result is None else result, user)
        await FallingEdge(dut.clk)
        self.clocks += 1
        if not dut.rst.value:
            self.check()

    def check(self):
        dut = self.dut
        due = self.due.pop(self.clocks, None)
        assert dut.out_valid.value == int(due is not None), f"clock {self.clocks}"
        if due is not None:
            block, user = due
            assert dut.out_block.value.to_unsigned().to_bytes(16, "big") == block
            assert dut.out_user.value.to_unsigned() == user
            self.checked += 1

    async def drain(self):
        for _ in range(LATENCY):
            await self.clock()
        assert not self.due

    async def send(self, block, key=None, result=None):
        """Enters a block, with a new key if one is given."""
        if key is not None:
            self.key = key
        if KEYS == 0 and key is not None:
            await self.drain()
            await self.clock(key=key, new_key=1)
            for _ in range(LATENCY - 1):
                await self.clock()
            await self.clock(block, result=result)
        elif KEYS == 2:
            await self.clock(block, self.key, result=result)
        else:
            await self.clock(block, key, new_key=int(key is not None), result=result)


@cocotb.test()
async def known_answers(dut):
    pipe = Pipe(dut)
    await pipe.start()
    checked = 0
    for key, plain, ciphers in KNOWN:
        if ROUNDS in ciphers:
            pair = (bytes.fromhex(plain), bytes.fromhex(ciphers[ROUNDS]))
            await pipe.send(pair[OPEN], bytes.fromhex(key), result=pair[not OPEN])
            await pipe.drain()
            checked += 1
    assert pipe.checked == checked > 0


@cocotb.test()
async def random_blocks(dut):
    pipe = Pipe(dut)
    await pipe.start()
    rng = pipe.random
    since_key = None
    sent = 0
    while sent < BLOCKS:
        pauses = rng.choice((0.0, 0.0, 0.2))
        new_key = since_key is None or KEYS == 2
        if KEYS == 0 and since_key is not None:
            new_key = rng.random() < 0.03
        if KEYS == 1 and since_key is not None and since_key >= ROUNDS:
            new_key = rng.random() < 0.7
        key = rng.randbytes(16) if new_key else None
        if KEYS == 1 and new_key and rng.random() < 0.2:
            # A new key without a block.
            pipe.key = key
            await pipe.clock(key=key, new_key=1)
            since_key = 1
        elif not new_key and rng.random() < pauses:
            await pipe.clock()
            since_key += 1
        else:
            await pipe.send(rng.randbytes(16), key)
            since_key = 1 if new_key else since_key + 1
            sent += 1
    await pipe.drain()
    assert pipe.checked == BLOCKS


@cocotb.test(skip=KEYS != 1)
async def every_key_distance(dut):
    """Blocks without pauses, and key changes at each distance up to that with a single key in the pipe."""
    pipe = Pipe(dut)
    await pipe.start()
    for distance in (ROUNDS, ROUNDS, ROUNDS, *range(ROUNDS, LATENCY + 2)):
        for i in range(distance):
            await pipe.send(pipe.random.randbytes(16), pipe.random.randbytes(16) if i == 0 else None)
    await pipe.drain()


@cocotb.test()
async def reset_drops_what_is_in_flight(dut):
    pipe = Pipe(dut)
    await pipe.start()
    await pipe.send(pipe.random.randbytes(16), pipe.random.randbytes(16))
    await pipe.send(pipe.random.randbytes(16))
    dut.rst.value = 1
    await pipe.clock()
    dut.rst.value = 0
    pipe.forget()
    await pipe.drain()
    await pipe.send(pipe.random.randbytes(16), pipe.random.randbytes(16))
    await pipe.drain()
