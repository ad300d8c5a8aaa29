#!/usr/bin/env python3
"""Check on an emulated Arm CPU that no branch of the library depends on a secret.

usage: check_branches.py [--program FILE] [--secrets N] [--extent quick|full] [ID...]

The library's example `traced` seals and opens with every algorithm, between markers, once for each of
several secrets. QEMU logs every translation block that it executes, which ends with a branch. The blocks
between two markers must be equal for all secrets. A deliberate branch on a secret must be detected. Data
addresses are not logged; on x86-64, sealcomb-trace compares these as well, in the same code above the
backends.
"""

import argparse
import os
import re
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile

HERE = Path(__file__).resolve().parent
TARGET = "aarch64-unknown-linux-gnu"
BACKENDS = ["neon", "neon-sha3"]
CONTROL = "control: a branch"

EXECUTED = re.compile(rb"Trace \d+: \S+ \[\w+/(\w+)/")


def build() -> Path:
    command = [HERE / "static-cargo.sh", "build", "--example", "traced"]
    subprocess.run(command, check=True, env=os.environ | {"STATIC_TARGET": TARGET})
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    return folder / "static" / TARGET / "release/examples/traced"


def address_of_mark(program: Path) -> bytes:
    symbols = subprocess.run(
        ["aarch64-linux-gnu-nm", "-C", program], capture_output=True, text=True, check=True
    )
    (address,) = re.findall(r"^(\w+) \w traced::traced::mark$", symbols.stdout, re.MULTILINE)
    return address.encode()


def traced(
    program: Path, backend: str, secret: int, extent: str, ids: list[str]
) -> list[tuple[str, int, bytes]]:
    """Returns each operation's name, the number of blocks it executes, and the hash of their addresses."""
    mark = address_of_mark(program)
    command = ["qemu-aarch64-static", "-d", "exec,nochain", program, backend, str(secret), extent, *ids]
    pieces: list[tuple[int, bytes]] = []
    with (
        TemporaryFile() as written,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=written, stderr=subprocess.PIPE) as running,
    ):
        assert running.stdin and running.stderr
        running.stdin.write(b"x")
        running.stdin.close()
        count, digest = 0, blake2b()
        for line in running.stderr:
            if not (found := EXECUTED.match(line)):
                continue
            if found[1] == mark:
                pieces.append((count, digest.digest()))
                count, digest = 0, blake2b()
            count += 1
            digest.update(found[1])
        written.seek(0)
        names = written.read().decode().splitlines()
        running.wait()
    if running.returncode != 0:
        raise subprocess.CalledProcessError(running.returncode, command)
    # The code before the first marker is no operation; then operations alternate with the code between them.
    operations = pieces[1::2]
    if len(operations) != len(names):
        raise ValueError(f"{len(names)} names for {len(operations)} operations")
    return [(name, *operation) for name, operation in zip(names, operations, strict=True)]


def check(program: Path, backend: str, arguments: argparse.Namespace) -> int:
    secrets = range(arguments.secrets)
    runs = [traced(program, backend, secret, arguments.extent, arguments.ids) for secret in secrets]
    differing, executed = [], 0
    for operation in zip(*runs, strict=True):
        executed += operation[0][1]
        if len(set(operation)) > 1:
            differing.append(operation[0][0])
    caught = CONTROL in differing
    if not caught:
        print(
            f"check_branches.py: {backend}: missed the deliberate branch on a secret",
            file=sys.stderr,
        )
    faults = [name for name in differing if name != CONTROL]
    for name in faults:
        print(f"check_branches.py: {backend}: branches depend on secrets: {name}", file=sys.stderr)
    print(
        f"{backend}: {len(runs[0])} operations with {len(runs)} secrets each, {executed} blocks executed, "
        f"{len(faults)} findings"
    )
    return 0 if caught and not faults else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=Path)
    parser.add_argument("--secrets", type=int, default=4)
    parser.add_argument("--extent", choices=["quick", "full"], default="quick")
    parser.add_argument("ids", nargs="*", metavar="ID")
    arguments = parser.parse_args()
    program = arguments.program or build()
    return max(check(program, backend, arguments) for backend in BACKENDS)


if __name__ == "__main__":
    sys.exit(main())
