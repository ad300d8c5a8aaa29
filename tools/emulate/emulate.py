#!/usr/bin/env python3
"""Run a static x86-64 Linux program on an emulated CPU (Debian's Bochs); made to be a cargo runner.

usage: emulate.py PROGRAM [ARGUMENT...]

Exit status: the program's own; 132 an instruction that the CPU model lacks, 139 a bad memory
access, 128 + n signal n, 124 out of time, 125 the emulator's own trouble.

EMULATE_CPU    the Bochs CPU model (default tigerlake); `bochs -help cpu` lists them
EMULATE_SAVES  the vector registers that the operating system saves: fxsave (those of SSE, and
               the system knows no XSAVE), sse, avx, or all that the CPU has (the default)
EMULATE_HIDE   avx512: a CPU without it, as far as the program can see; that of SAVES goes too
EMULATE_ENV    names of the environment variables to hand on, separated by commas
EMULATE_LIMIT  seconds of real time (default 600)
EMULATE_BUILD  folder with rom.bin, as `make BUILD=...` filled it (default: build, beside this file)
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

# As in guest/machine.h.
PARAMETERS_MAGIC = 0x31424D4F434C4145
PARAMETERS_SIZE = 0x80000
MEMORY_MIB = 1024

# What the system sets in XCR0, of what the CPU has.
SAVED = {"fxsave": 0, "sse": 0b11, "avx": 0b111, "all": 0b1110_0111}
AVX = SAVED["avx"]

CPUID = b"\x0f\xa2"
# `int 0x20`, as guest/kernel.c serves it: what CPUID says, less AVX-512.
CPUID_WITHOUT_AVX512 = b"\xcd\x20"

TROUBLE = 125
OUT_OF_TIME = 124

# The guest console's control bytes, see guest/console.c.
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
    """The emulator, not the program, failed."""


def file_offset(image: bytes, address: int) -> int:
    """Where an ELF file has the byte that is loaded at an address."""
    (headers,) = struct.unpack_from("<Q", image, 0x20)
    size, count = struct.unpack_from("<2H", image, 0x36)
    for at in range(headers, headers + size * count, size):
        kind, _, offset, start, _, length = struct.unpack_from("<2I4Q", image, at)
        if kind == 1 and start <= address < start + length:
            return offset + address - start
    raise EmulatorError(f"nothing of the file is loaded at {address:#x}")


def without_avx512(program: Path) -> bytes:
    """The program with every CPUID instruction replaced by the interrupt that answers without AVX-512."""
    image = bytearray(program.read_bytes())
    command = ["objdump", "-d", "--no-show-raw-insn", program]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    addresses = re.findall(r"^ *([0-9a-f]+):\s+cpuid *$", listing, re.MULTILINE)
    if not addresses:
        raise EmulatorError(f"{program} has no CPUID instruction")
    for address in addresses:
        at = file_offset(image, int(address, 16))
        if image[at : at + 2] != CPUID:
            raise EmulatorError(f"objdump finds CPUID at {address}, the file doesn't")
        image[at : at + 2] = CPUID_WITHOUT_AVX512
    return bytes(image)


def choose(variable: str, default: str, choices: dict) -> object:
    name = os.environ.get(variable, default)
    if name not in choices:
        raise EmulatorError(f"{variable} is one of {', '.join(filter(None, choices))}, not {name!r}")
    return choices[name]


def build_disk(image: bytes, saved: int, arguments: list[str], environment: list[str]) -> bytes:
    """The parameter block that the guest kernel reads, then the program."""
    strings = b"".join(text.encode() + b"\0" for text in arguments + environment)
    numbers = (len(image), MEMORY_MIB << 20, len(arguments), len(environment), saved)
    block = struct.pack("<6Q", PARAMETERS_MAGIC, *numbers) + strings
    if len(block) > PARAMETERS_SIZE:
        raise EmulatorError("arguments and environment are too long")
    disk = block.ljust(PARAMETERS_SIZE, b"\0") + image
    return disk + bytes(-len(disk) % CYLINDER)


class Console:
    """Splits the guest's output into its two streams and finds the exit code."""

    def __init__(self) -> None:
        self.streams = {STDOUT: sys.stdout.buffer, STDERR: sys.stderr.buffer}
        self.stream = None
        self.before = b""  # what Bochs itself printed before the guest started
        self.rest = b""

    def take(self, chunk: bytes) -> int | None:
        """Pass a chunk on; the exit code once it is there."""
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


def own_network() -> list[str]:
    """Bochs' rfb display listens on the network: shut that in where the system lets us."""
    probe = subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL, check=False)
    return ["unshare", "-n"] if probe.returncode == 0 else []


def follow(process: subprocess.Popen, console: Console, seconds: float) -> int | None:
    """Pass output on until the program ends; None where Bochs ended without a result."""
    deadline = time.monotonic() + seconds
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    while True:
        if not selector.select(max(0, deadline - time.monotonic())):
            print(f"emulate: not done after {seconds:g} s", file=sys.stderr)
            return OUT_OF_TIME
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            return None
        code = console.take(chunk)
        if code is not None:
            return code


def run(program: Path, arguments: list[str]) -> int:
    rom = Path(os.environ.get("EMULATE_BUILD", HERE / "build")) / "rom.bin"
    if not rom.exists():
        raise EmulatorError(f"{rom} is missing: run make in {HERE}")
    if shutil.which("bochs") is None:
        raise EmulatorError("bochs is missing: install Debian's packages bochs and bochs-term")
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
        (folder / "commands").write_text("c\n")  # Debian's build starts in its debugger: continue
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
                own_network() + command,
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
            said = console.before.decode(errors="replace") + (folder / "errors").read_text(errors="replace")
            raise EmulatorError(f"Bochs ended without a result\n{said[-2000:]}\n{log[-2000:]}")
        return code


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else TROUBLE
    try:
        return run(Path(arguments[0]), arguments[1:])
    except (EmulatorError, OSError) as error:
        print(f"emulate: {error}", file=sys.stderr)
        return TROUBLE


if __name__ == "__main__":
    sys.exit(main())
