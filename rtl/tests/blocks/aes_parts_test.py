"""Tests of the parts of the AES pipes: S-boxes (exhaustive), MixColumns, the last round key.

The environment contains DUT, and INVERSE for the S-boxes.
"""

import os
import random

import aes_model
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

DUT = os.environ["DUT"]
INVERSE = int(os.environ.get("INVERSE", "0"))
ROUNDS = int(os.environ.get("ROUNDS", "10"))
TABLE = aes_model.INVERSE_SBOX if INVERSE else aes_model.SBOX
RANDOM = random.Random(cocotb.RANDOM_SEED)

# FIPS 197 figure 7 (row 5 of SubBytes) and figure 14 (row 5 of InvSubBytes).
ROW_5 = ("53d100ed20fcb15b6acbbe394a4c58cf", "6c704850fdedb9da5e154657a78d9d84")


@cocotb.test(skip=DUT != "aes_sbox")
async def every_byte(dut):
    row = bytearray()
    for x in range(256):
        getattr(dut, "in").value = x
        await Timer(1, "ns")
        assert dut.out.value.to_unsigned() == TABLE[x]
        if x >> 4 == 5:
            row.append(dut.out.value.to_unsigned())
    assert row.hex() == ROW_5[INVERSE]


@cocotb.test(skip=DUT != "aes_sbox_ram")
async def every_byte_on_both_ports(dut):
    Clock(dut.clk, 10, "ns").start()
    for x in range(256):
        await FallingEdge(dut.clk)
        dut.in_a.value = x
        dut.in_b.value = (x * 7 + 1) % 256
        await FallingEdge(dut.clk)
        assert dut.out_a.value.to_unsigned() == TABLE[x]
        assert dut.out_b.value.to_unsigned() == TABLE[(x * 7 + 1) % 256]


@cocotb.test(skip="mix" not in DUT)
async def columns(dut):
    row = (14, 11, 13, 9) if "inverse" in DUT else (2, 3, 1, 1)
    # Each single bit, then random columns: the map is linear.
    single = [(1 << bit).to_bytes(4, "big") for bit in range(32)]
    for column in single + [RANDOM.randbytes(4) for _ in range(300)]:
        key = RANDOM.randbytes(4)
        dut.column.value = int.from_bytes(column, "big")
        dut.key.value = int.from_bytes(key, "big")
        await Timer(1, "ns")
        wanted = aes_model.xor(aes_model.mixed(column + bytes(12), row)[:4], key)
        assert dut.mixed.value.to_unsigned().to_bytes(4, "big") == wanted


@cocotb.test(skip=DUT != "aes256_last_round_keys")
async def last_two_round_keys(dut):
    Clock(dut.clk, 10, "ns").start()
    dut.rst.value = 1
    dut.start.value = 0
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    # FIPS 197 appendix A.3: w[52] .. w[59].
    known = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    printed = "cafaaae3e4d59b349adf6acebd10190dfe4890d1e6188d0b046df344706c631e"
    for number in range(20):
        key = known if number == 0 else RANDOM.randbytes(32)
        # Occasionally a start that the next one interrupts.
        for cut in (RANDOM.randbytes(32), key) if number % 7 == 3 else (key,):
            dut.start.value = 1
            dut.key.value = int.from_bytes(cut, "big")
            await FallingEdge(dut.clk)
            dut.start.value = 0
            dut.key.value = RANDOM.getrandbits(256)
            if cut is not key:
                for _ in range(RANDOM.randrange(13)):
                    await FallingEdge(dut.clk)
        for _ in range(13):
            assert dut.done.value == 0
            await FallingEdge(dut.clk)
        assert dut.done.value == 1
        last = dut.last.value.to_unsigned().to_bytes(32, "big")
        assert last == b"".join(aes_model.round_keys(key, 14)[-2:])
        if number == 0:
            assert last.hex() == printed
        await FallingEdge(dut.clk)
        assert dut.done.value == 0
        assert dut.last.value.to_unsigned().to_bytes(32, "big") == last


@cocotb.test(skip=DUT != "aes_last_round_key")
async def last_round_keys(dut):
    Clock(dut.clk, 10, "ns").start()
    dut.rst.value = 1
    dut.start.value = 0
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    # FIPS 197 appendix A.1: w[40] .. w[43], and w[24] .. w[27].
    known = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    printed = {10: "d014f9a8c9ee2589e13f0cc8b6630ca6", 6: "6d88a37a110b3efddbf98641ca0093fd"}[ROUNDS]
    for number in range(60):
        key = known if number == 0 else RANDOM.randbytes(16)
        # Occasionally a start that the next one interrupts.
        for cut in (RANDOM.randbytes(16), key) if number % 7 == 3 else (key,):
            dut.start.value = 1
            dut.key.value = int.from_bytes(cut, "big")
            await FallingEdge(dut.clk)
            dut.start.value = 0
            dut.key.value = RANDOM.getrandbits(128)
            if cut is not key:
                for _ in range(RANDOM.randrange(ROUNDS)):
                    await FallingEdge(dut.clk)
        for _ in range(ROUNDS):
            assert dut.done.value == 0
            await FallingEdge(dut.clk)
        assert dut.done.value == 1
        last = dut.last.value.to_unsigned().to_bytes(16, "big")
        assert last == aes_model.round_keys(key, ROUNDS)[-1]
        if number == 0:
            assert last.hex() == printed
        for _ in range(RANDOM.randrange(3)):
            await FallingEdge(dut.clk)
            assert dut.done.value == 0
            assert dut.last.value.to_unsigned().to_bytes(16, "big") == last
