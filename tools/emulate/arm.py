#!/usr/bin/env python3
"""Run a static AArch64 Linux program on an emulated CPU.

usage: arm.py PROGRAM [ARGUMENT...]

EMULATE_CPU is one of QEMU's models, as `qemu-aarch64-static -cpu help` lists them: max by default.
EMULATE_HIDE names features, separated by commas, that the CPU is to lack. QEMU has no model without AES,
but there are such CPUs, and a program knows of a feature only what Linux tells it: a word beside the
arguments on its stack, from which the features' bits are taken before its first instruction. The
instructions themselves still work; that nothing outside the kernels has them is check_assembly.py's
business. The environment is the program's too, and its exit status is this one's.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QEMU = "qemu-aarch64-static"
# Bits of AT_HWCAP, from Linux's arch/arm64/include/uapi/asm/hwcap.h.
BITS = {"aes": 3, "pmull": 4, "sha1": 5, "sha2": 6, "sha3": 17, "sha512": 21}
AT_HWCAP = 16
STACK_POINTER = 31
PATIENCE = 60


class Debugger:
    """QEMU's gdb stub, as far as it is needed: https://sourceware.org/gdb/current/onlinedocs/gdb/Remote-Protocol.html"""

    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket.connect(str(path))
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def ask(self, command: str) -> str:
        self.socket.sendall(b"$%s#%02x" % (command.encode(), sum(command.encode()) % 256))
        answer = b""
        while not (found := re.search(rb"\$([^#]*)#..", answer)):
            piece = self.socket.recv(4096)
            if not piece:
                raise ConnectionError(f"QEMU hung up at {command}")
            answer += piece
        self.socket.sendall(b"+")
        if found[1].startswith(b"E"):
            raise ValueError(f"QEMU answers {found[1].decode()} to {command}")
        return found[1].decode()

    def detach(self) -> None:
        """Let the program run. QEMU would wait at its end for somebody who still listens."""
        self.ask("D")
        self.socket.close()

    def register(self, number: int) -> int:
        registers = bytes.fromhex(self.ask("g"))
        return int.from_bytes(registers[8 * number :][:8], "little")

    def word(self, address: int) -> int:
        return int.from_bytes(bytes.fromhex(self.ask(f"m{address:x},8")), "little")

    def set_word(self, address: int, value: int) -> None:
        self.ask(f"M{address:x},8:{value.to_bytes(8, 'little').hex()}")


def hide(debugger: Debugger, features: list[str]) -> None:
    """Take features out of the word of the auxiliary vector that tells of them."""
    stack = debugger.register(STACK_POINTER)
    arguments = debugger.word(stack)
    at = stack + 8 * (1 + arguments + 1)
    while debugger.word(at) != 0:  # the environment
        at += 8
    at += 8
    while debugger.word(at) != AT_HWCAP:
        if debugger.word(at) == 0:
            raise ValueError("the program is told nothing of its CPU")
        at += 16
    bits = debugger.word(at + 8)
    for feature in features:
        bits &= ~(1 << BITS[feature])
    debugger.set_word(at + 8, bits)


def main() -> int:
    program = sys.argv[1:]
    if not program or program[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if program else 2
    command = [QEMU, "-cpu", os.environ.get("EMULATE_CPU", "max")]
    features = [feature for feature in os.environ.get("EMULATE_HIDE", "").split(",") if feature]
    if unknown := [feature for feature in features if feature not in BITS]:
        print(f"arm: cannot hide {', '.join(unknown)}", file=sys.stderr)
        return 2
    if not features:
        return subprocess.run([*command, *program], check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gdb"
        running = subprocess.Popen([*command, "-g", path, *program])
        try:
            debugger = Debugger(path)
            hide(debugger, features)
            debugger.detach()
            return running.wait()
        finally:
            running.kill()


if __name__ == "__main__":
    status = main()
    # As a shell gives it, where a signal ended the program.
    sys.exit(status if status >= 0 else 128 - status)
