#!/usr/bin/env python3
"""Run a static AArch64 Linux program on an emulated CPU.

usage: arm.py PROGRAM [ARGUMENT...]

EMULATE_CPU   QEMU's CPU model (default max); `qemu-aarch64-static -cpu help` lists them
EMULATE_HIDE  features to hide, separated by commas: aes, pmull, sha1, sha2, sha3, sha512

QEMU has no CPU model without AES. Programs detect features by the word AT_HWCAP, which Linux puts on
their stack; before the program's first instruction, this script clears the hidden features' bits in
it. The instructions still execute: check_assembly.py checks that only kernels contain them.

The program inherits the environment, and its exit status is returned.
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
TIMEOUT_S = 60


class Debugger:
    """A client of QEMU's gdb stub: https://sourceware.org/gdb/current/onlinedocs/gdb/Remote-Protocol.html"""

    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        until = time.monotonic() + TIMEOUT_S
        while True:
            try:
                self.socket.connect(str(path))
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def request(self, command: str) -> str:
        self.socket.sendall(b"$%s#%02x" % (command.encode(), sum(command.encode()) % 256))
        answer = b""
        while not (found := re.search(rb"\$([^#]*)#..", answer)):
            piece = self.socket.recv(4096)
            if not piece:
                raise ConnectionError(f"QEMU closed the connection after the command {command}")
            answer += piece
        self.socket.sendall(b"+")
        if found[1].startswith(b"E"):
            raise ValueError(f"QEMU returned error {found[1].decode()} for the command {command}")
        return found[1].decode()

    def detach(self) -> None:
        """Let the program run. A debugger still attached would make QEMU wait when the program ends."""
        self.request("D")
        self.socket.close()

    def register(self, number: int) -> int:
        registers = bytes.fromhex(self.request("g"))
        return int.from_bytes(registers[8 * number :][:8], "little")

    def word(self, address: int) -> int:
        return int.from_bytes(bytes.fromhex(self.request(f"m{address:x},8")), "little")

    def set_word(self, address: int, value: int) -> None:
        self.request(f"M{address:x},8:{value.to_bytes(8, 'little').hex()}")


def hide(debugger: Debugger, features: list[str]) -> None:
    """Clear features in AT_HWCAP of the program's auxiliary vector."""
    stack = debugger.register(STACK_POINTER)
    arguments = debugger.word(stack)
    at = stack + 8 * (1 + arguments + 1)
    while debugger.word(at) != 0:  # the environment
        at += 8
    at += 8
    while debugger.word(at) != AT_HWCAP:
        if debugger.word(at) == 0:
            raise ValueError("the auxiliary vector has no AT_HWCAP")
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
        print(
            f"arm: EMULATE_HIDE: cannot hide {', '.join(unknown)}; expected {', '.join(BITS)}",
            file=sys.stderr,
        )
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
    # After a signal, the status that a shell would return.
    sys.exit(status if status >= 0 else 128 - status)
