"""Tests of the functions of gf128_pkg and of gf128_multiply against the field's definition.

The environment contains DUT and STAGES.
"""

import os
import random

import cocotb
import gf128_model
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

DUT = os.environ["DUT"]
STAGES = int(os.environ.get("STAGES", "4"))
RANDOM = random.Random(cocotb.RANDOM_SEED)
HALF = 2**127 ^ 0x43
assert gf128_model.multiply(2, HALF) == 1


def samples(count):
    return [
        0,
        1,
        2**127,
        2**128 - 1,
        *(1 << i for i in range(128)),
        *(RANDOM.getrandbits(128) for _ in range(count)),
    ]


def swapped(value: int) -> int:
    return int.from_bytes(value.to_bytes(16, "big"), "little")


@cocotb.test(skip=DUT != "gf128_functions")
async def constant_multiples(dut):
    multiply = gf128_model.multiply
    for value in samples(200):
        getattr(dut, "in").value = value
        await Timer(1, "ns")
        assert dut.double_be.value.to_unsigned() == multiply(2, value)
        assert dut.halve_be.value.to_unsigned() == multiply(HALF, value)
        assert dut.triple_be.value.to_unsigned() == multiply(3, value)
        assert dut.septuple_be.value.to_unsigned() == multiply(7, value)
        assert dut.double_le_bytes.value.to_unsigned() == swapped(multiply(2, swapped(value)))


@cocotb.test(skip=DUT != "gf128_multiply")
async def products(dut):
    """One product per clock, each exactly STAGES clocks after its operands."""
    Clock(dut.clk, 10, "ns").start()
    await FallingEdge(dut.clk)
    due = {}
    # Test case 2 of the GCM submission: H times the first block of ciphertext.
    pairs = [(0x66E94BD4EF8A2C3B884CFA59CA342B2E, 0x0388DACE60B6A392F328C2B971B2FE78)]
    known = {0: 0x5E2EC746917062882C85B0685353DEB7}
    single = [1 << i for i in range(128)]
    pairs += [(a, RANDOM.choice(single)) for a in single]
    pairs += [(RANDOM.choice(samples(9)), RANDOM.getrandbits(128)) for _ in range(200)]
    for clock in range(len(pairs) + STAGES):
        if clock < len(pairs):
            a, b = pairs[clock]
            wanted = gf128_model.gcm_multiply(a.to_bytes(16, "big"), b.to_bytes(16, "big"))
            due[clock + STAGES] = int.from_bytes(wanted, "big")
            assert known.get(clock, due[clock + STAGES]) == due[clock + STAGES]
            dut.a.value = a
            dut.b.value = b
        await FallingEdge(dut.clk)
        if clock + 1 in due:
            assert dut.product.value.to_unsigned() == due.pop(clock + 1)
    assert not due
