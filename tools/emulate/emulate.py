#!/usr/bin/env python3
"""Run a static x86-64 Linux program on an emulated CPU (Debian's Bochs), for use as a Cargo runner.

usage: emulate.py PROGRAM [ARGUMENT...]

Exit status: that of the program; 132 for an illegal instruction, 139 for an invalid memory access,
128 + n for signal n, 124 after the time limit, 125 for an error of the emulator.

EMULATE_CPU    Bochs CPU model (default tigerlake); `bochs -help cpu` lists them
EMULATE_SAVES  vector registers that the operating system enables: fxsave (SSE, without XSAVE), sse,
               avx, or all (default)
EMULATE_HIDE   avx512: hides it from the program and disables its registers
EMULATE_ENV    names of the environment variables to pass on, separated by commas
EMULATE_LIMIT  time limit in seconds of real time (default 600)
EMULATE_BUILD  folder with rom.bin from `make BUILD=...` (default: build, next to this file)
"""

import os
import re
import selectors
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Must match guest/machine.h.
PARAMETERS_MAGIC = 0x31424D4F434C4145
PARAMETERS_SIZE = 0x80000
MEMORY_MIB = 1024

# Masks for XCR0.
SAVED = {"fxsave": 0, "sse": 0b11, "avx": 0b111, "all": 0b1110_0111}
AVX = SAVED["avx"]

CPUID = b"\x0f\xa2"
# `int 0x20`, handled by guest/cpuid.c: CPUID without AVX-512.
CPUID_WITHOUT_AVX512 = b"\xcd\x20"

EMULATOR_ERROR = 125
TIMED_OUT = 124

# Control bytes of the guest's console; see guest/console.c.
STDOUT, STDERR, EXIT = 0x1C, 0x1D, 0x1E
EXIT_DIGITS = 3

CYLINDER = 16 * 63 * 512

BOCHSRC = """\
plugin_ctrl: unmapped=1, biosdev=0, speaker=0, extfpuirq=0, parallel=0, serial=0, gameport=0, iodebug=0
display_library: rfb, options="timeout=0"
romimage: file={rom}
memory: guest={memory}, host={memory}
cpu: model={model}, count=1, ips=1000000000, reset_on_triple_fault=0
clock: sync=none, time0=1
port_e9_hack: enabled=1
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path={disk}, mode=flat, cylinders={cylinders}, heads=16, spt=63
log: {log}
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
"""


class EmulatorError(Exception):
    """An error of the emulator, not of the program."""


def file_offset(image: bytes, address: int) -> int:
    """Return the offset in an ELF file of the byte that is loaded at an address."""
    (headers,) = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<2H", image, 0x36)
    for at in range(headers, headers + size * count, size):
        kind, _, offset, start, _, length = struct.unpack_from("<2I4Q", image, at)
        if kind == 1 and start <= address < start + length:
            return offset + address - start
    raise EmulatorError(f"no segment of the program contains address {address:#x}")


def without_avx512(program: Path) -> bytes:
    """Return the program with CPUID instructions replaced by the interrupt that hides AVX-512."""
    image = bytearray(program.read_bytes())
    command = ["objdump", "-d", "--no-show-raw-insn", program]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    addresses = re.findall(r"^ *([0-9a-f]+):\s+cpuid *$", listing, re.MULTILINE)
    if not addresses:
        raise EmulatorError(f"{program}: no CPUID instruction found; cannot hide AVX-512")
    for address in addresses:
        at = file_offset(image, int(address, 16))
        if image[at : at + 2] != CPUID:
            raise EmulatorError(f"{program}: no CPUID at {address}, where objdump reports one")
        image[at : at + 2] = CPUID_WITHOUT_AVX512
    return bytes(image)


def choose(variable: str, default: str, choices: dict) -> object:
    name = os.environ.get(variable, default)
    if name not in choices:
        raise EmulatorError(f"{variable} is {name!r}; expected {', '.join(filter(None, choices))}")
    return choices[name]


def build_disk(image: bytes, saved: int, arguments: list[str], environment: list[str]) -> bytes:
    """Return the disk: the parameter block for the guest kernel, then the program."""
    strings = b"".join(text.encode() + b"\0" for text in arguments + environment)
    numbers = (len(image), MEMORY_MIB << 20, len(arguments), len(environment), saved)
    block = struct.pack("<6Q", PARAMETERS_MAGIC, *numbers) + strings
    if len(block) > PARAMETERS_SIZE:
        raise EmulatorError(
            f"arguments and environment of {len(block)} bytes; the maximum is {PARAMETERS_SIZE}"
        )
    disk = block.ljust(PARAMETERS_SIZE, b"\0") + image
    return disk + bytes(-len(disk) % CYLINDER)


class Console:
    """Splits the guest's output into stdout and stderr, and finds the exit code."""

    def __init__(self) -> None:
        self.streams = {STDOUT: sys.stdout.buffer, STDERR: sys.stderr.buffer}
        self.stream = None
        self.before = b""  # output of Bochs before the guest started
        self.rest = b""

    def take(self, chunk: bytes) -> int | None:
        """Forward a chunk. Returns the exit code once it has arrived."""
        chunk, self.rest = self.rest + chunk, b""
        at = 0
        while at < len(chunk):
            end = at
            while end < len(chunk) and chunk[end] not in (STDOUT, STDERR, EXIT):
                end += 1
            self.write(chunk[at:end])
            if end == len(chunk):
                return None
            if chunk[end] == EXIT and self.stream is not None:
                digits = chunk[end + 1 : end + 1 + EXIT_DIGITS]
                if len(digits) == EXIT_DIGITS:
                    return int(digits)
                self.rest = chunk[end:]
                return None
            self.stream = self.streams.get(chunk[end])
            at = end + 1
        return None

    def write(self, text: bytes) -> None:
        if self.stream is None:
            self.before += text
        elif text:
            self.stream.write(text)
            self.stream.flush()


def isolated_network() -> list[str]:
    """Return a command that isolates Bochs, whose display listens on the network; empty if not permitted."""
    probe = subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL, check=False)
    return ["unshare", "-n"] if probe.returncode == 0 else []


def follow(process: subprocess.Popen, console: Console, seconds: float) -> int | None:
    """Forward output until the program ends. Returns None if Bochs ended without an exit code."""
    deadline = time.monotonic() + seconds
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    while True:
        if not selector.select(max(0, deadline - time.monotonic())):
            print(f"emulate: time limit of {seconds:g} s exceeded (EMULATE_LIMIT)", file=sys.stderr)
            return TIMED_OUT
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            return None
        code = console.take(chunk)
        if code is not None:
            return code


def run(program: Path, arguments: list[str]) -> int:
    rom = Path(os.environ.get("EMULATE_BUILD", HERE / "build")) / "rom.bin"
    if not rom.exists():
        raise EmulatorError(f"{rom} not found: run make in {HERE}")
    if shutil.which("bochs") is None:
        raise EmulatorError("bochs not found: install Debian's packages bochs and bochs-term")
    names = [name for name in os.environ.get("EMULATE_ENV", "").split(",") if name in os.environ]
    environment = [f"{name}={os.environ[name]}" for name in names]
    saved = choose("EMULATE_SAVES", "all", SAVED)
    if choose("EMULATE_HIDE", "", {"": False, "avx512": True}):
        image, saved = without_avx512(program), saved & AVX
    else:
        image = program.read_bytes()
    disk = build_disk(image, saved, [str(program), *arguments], environment)
    with tempfile.TemporaryDirectory(prefix="emulate-") as name:
        folder = Path(name)
        (folder / "disk").write_bytes(disk)
        (folder / "commands").write_text("c\n")  # Debian's Bochs starts in its debugger: continue
        (folder / "bochsrc").write_text(
            BOCHSRC.format(
                rom=rom.resolve(),
                memory=MEMORY_MIB,
                model=os.environ.get("EMULATE_CPU", "tigerlake"),
                disk=folder / "disk",
                cylinders=len(disk) // CYLINDER,
                log=folder / "log",
            )
        )
        command = ["bochs", "-q", "-f", str(folder / "bochsrc"), "-rc", str(folder / "commands")]
        console = Console()
        with (folder / "errors").open("wb") as errors:
            process = subprocess.Popen(
                isolated_network() + command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
            )
        try:
            code = follow(process, console, float(os.environ.get("EMULATE_LIMIT", "600")))
        finally:
            process.kill()
            process.wait()
        if code is None:
            log = (folder / "log").read_text(errors="replace") if (folder / "log").exists() else ""
            output = console.before.decode(errors="replace") + (folder / "errors").read_text(errors="replace")
            raise EmulatorError(f"Bochs ended without an exit code\n{output[-2000:]}\n{log[-2000:]}")
        return code


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else EMULATOR_ERROR
    try:
        return run(Path(arguments[0]), arguments[1:])
    except (EmulatorError, OSError) as error:
        print(f"emulate: {error}", file=sys.stderr)
        return EMULATOR_ERROR


if __name__ == "__main__":
    sys.exit(main())
