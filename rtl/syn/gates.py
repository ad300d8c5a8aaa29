#!/usr/bin/env python3
"""Simulates the netlists that the area flow makes of the cipher pipes, in Verilator, with models of the cells
(cells.v): known answers, and random blocks and keys against an independent model.

usage: gates.py [--blocks N] [NAME ...]

NAME  only tops of budgets.toml whose name contains one of these; by default all with `gates`, the name of a
      model
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import flow

sys.path.insert(0, str(flow.RTL / "tests" / "blocks"))
import aes_model
import serpent_model

# Key, plaintext, ciphertext of FIPS 197, appendices B and C.1; the state after round 6 of C.1.
AES_KNOWN = {
    10: [
        (
            "2b7e151628aed2a6abf7158809cf4f3c",
            "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32",
        ),
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a",
        ),
    ],
    6: [
        (
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
            "c62fe109f75eedc3cc79395d84f9cf5d",
        ),
    ],
}


class Aes:
    KEY_BYTES = 16

    def __init__(self, top: dict):
        parameters = {"ROUNDS": 10, "SPLIT": 0} | top.get("parameters", {})
        self.rounds = parameters["ROUNDS"]
        self.opening = top["module"] == "aes_decrypt"
        self.latency = (2 if parameters["SPLIT"] else 1) * self.rounds + 1
        self.between_keys = self.rounds
        self.known = [tuple(map(bytes.fromhex, answer)) for answer in AES_KNOWN[self.rounds]]

    def port_key(self, key: bytes) -> bytes:
        return aes_model.round_keys(key, self.rounds)[-1] if self.opening else key

    def encrypt(self, key: bytes, block: bytes) -> bytes:
        return aes_model.encrypt(key, block, self.rounds)


class Serpent:
    KEY_BYTES = 32
    VECTORS = flow.RTL.parent / "testvectors" / "serpent.json"

    def __init__(self, top: dict):
        self.opening = top["module"] == "serpent_decrypt"
        self.latency = 33
        self.between_keys = 33
        answers = json.loads(self.VECTORS.read_text())["tests"]
        self.known = [
            tuple(bytes.fromhex(answer[field]) for field in ("key", "pt", "ct")) for answer in answers
        ]

    def port_key(self, key: bytes) -> bytes:
        words = serpent_model.prekeys(key)
        return serpent_model.data(words[-8:] if self.opening else words[:8])[::-1]

    def encrypt(self, key: bytes, block: bytes) -> bytes:
        return serpent_model.encrypt(key, block)


MODELS = {"aes": Aes, "serpent": Serpent}


def hexadecimal(data: bytes) -> str:
    """Returns a value as 32-bit words, lowest first."""
    return " ".join(f"{int.from_bytes(data[i : i + 4], 'big'):x}" for i in range(len(data) - 4, -1, -4))


def stimulus(cipher: Aes | Serpent, keys: int, blocks: int, file: Path) -> None:
    """Writes the clocks of a run on a pipe whose keys change as for KEYS = `keys`."""
    rng = random.Random(f"{type(cipher).__name__} {keys} {cipher.latency} {cipher.opening}")
    inputs = []
    due = {}

    def clock(key=None, block=None, new_key=0, result=None, rst=0):
        user = rng.getrandbits(8)
        port_key = rng.randbytes(cipher.KEY_BYTES) if key is None else cipher.port_key(key)
        inputs.append((rst, int(block is not None), new_key, port_key, block or rng.randbytes(16), user))
        if result is not None:
            due[len(inputs) - 1 + cipher.latency - 1] = (result, user)

    def send(key, new_key, plain, secret):
        if keys == 0 and new_key:
            for _ in range(cipher.latency):
                clock()
            clock(key, new_key=1)
            for _ in range(cipher.latency - 1):
                clock()
            new_key = 0
        block, result = (secret, plain) if cipher.opening else (plain, secret)
        clock(key if new_key or keys == 2 else None, block, new_key, result)

    for _ in range(3):
        clock(rst=1)
    for key, plain, secret in cipher.known:
        send(key, 1, plain, secret)
        for _ in range(cipher.latency):
            clock()
    since_key = 1000
    key = b""
    for _ in range(blocks):
        chance = 0.05 if keys == 0 else 0.7
        new_key = since_key >= (1 if keys == 2 else cipher.between_keys) and rng.random() < chance
        if new_key or not key:
            key = rng.randbytes(cipher.KEY_BYTES)
            since_key = 0
        plain = rng.randbytes(16)
        send(key, int(since_key == 0), plain, cipher.encrypt(key, plain))
        since_key += 1
        if rng.random() < 0.05:
            clock()
            since_key += 1
    for _ in range(cipher.latency):
        clock()
    with file.open("w") as out:
        for number, (rst, valid, new_key, port_key, block, user) in enumerate(inputs):
            result, with_it = due.get(number, (bytes(16), 0))
            entry = f"{rst} {valid} {new_key} {hexadecimal(port_key)} {hexadecimal(block)} {user:x}"
            out.write(f"{entry} {int(number in due)} {hexadecimal(result)} {with_it:x}\n")


def run(name: str, top: dict, blocks: int) -> int:
    began = time.monotonic()
    netlist = flow.synthesize(name, top)
    verilog = flow.BUILD / f"{name}.gates.v"
    flow.run([f"read_json {netlist}", f"write_verilog -noattr {verilog}"], flow.BUILD / f"{name}.gates.log")
    cells = flow.count(flow.module_of(netlist))

    folder = flow.BUILD / f"{name}.gates"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cipher = MODELS[top["gates"]](top)
    stimulus(cipher, top.get("parameters", {}).get("KEYS", 1), blocks, folder / "stimulus")
    model = f"V{top['module']}"
    flags = f'-O0 -DMODEL={model} -DHEADER=\\"{model}.h\\" -DKEY_WORDS={cipher.KEY_BYTES // 4}'
    build = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        "-O3",
        "--x-initial",
        "unique",
        "-Wno-fatal",
        "-Wno-lint",
    ]
    build += ["-CFLAGS", flags, "--top-module", top["module"], "--Mdir", str(folder), "-o", "run"]
    build += [str(verilog), str(flow.SYN / "cells.v"), str(flow.SYN / "gates.cpp")]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    if built.returncode:
        print(f"FAILED {name}: {(built.stdout + built.stderr)[-3000:]}")
        return 1
    ran = subprocess.run([folder / "run", folder / "stimulus"], capture_output=True, text=True, check=False)
    state = "FAILED" if ran.returncode else "ok"
    answer = (ran.stdout + ran.stderr).strip()
    print(
        f"{state:6} {name} ({sum(cells.values())} cells; {answer}; {time.monotonic() - began:.0f} s)",
        flush=True,
    )
    return int(ran.returncode != 0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=2000)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    chosen = {name: top for name, top in flow.tops(arguments.names).items() if "gates" in top}
    if not chosen:
        sys.exit("none of these tops has `gates` in budgets.toml")
    return 1 if sum(run(name, top, arguments.blocks) for name, top in chosen.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
