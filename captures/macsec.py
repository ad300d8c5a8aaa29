#!/usr/bin/env python3
"""MACsec (IEEE 802.1AE) with scapy at the other end.

usage: macsec.py [--sealcomb COMMAND] [--without-tshark]

The frames of captures/mixed.pcap, some of them with other source addresses, go through the associations of
captures/macsec.toml: each of the four cipher suites, with packet numbers that cross from one high half to
the next where they have one. scapy opens what sealcomb seals, and seals the same frames, bit for bit, for
sealcomb to open; tshark finds the fields of each SecTAG.

Needs the Python packages scapy and cryptography and the Debian package tshark (`./dev setup` installs them).
"""

import argparse
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv/bin/python"

logging.getLogger("scapy").setLevel(logging.ERROR)  # It warns of interfaces, of which it needs none.
try:
    from cryptography.exceptions import InvalidTag
    from scapy.contrib.macsec import MACsec, MACsecSA
    from scapy.layers.l2 import Ether
    from scapy.utils import RawPcapReader, RawPcapWriter
except ModuleNotFoundError:
    if not VENV.exists() or Path(sys.prefix) == VENV.parent.parent:
        sys.exit("macsec: the Python package scapy is missing: run ./dev setup")
    os.execv(VENV, [str(VENV), *sys.argv])

CAPTURE = ROOT / "captures/mixed.pcap"
ASSOCIATIONS = ROOT / "captures/macsec.toml"
LINKTYPE_ETHERNET = 1
ICV_BYTES = 16
# How many frames of each association with extended numbers come before the high half goes up, from 6 to 7.
BEFORE = 4
EXTENDED_START = 7 * 2**32 - BEFORE


def read(path: Path) -> list[bytes]:
    with RawPcapReader(str(path)) as reader:
        return [frame for frame, _ in reader]


def write(path: Path, frames: list[bytes]) -> None:
    with RawPcapWriter(str(path), linktype=LINKTYPE_ETHERNET) as writer:
        for frame in frames:
            writer.write(frame)


def frames_of_all() -> list[bytes]:
    """The capture's frames, every third from one of two other stations, so that each association has some."""
    others = [bytes.fromhex("020000000003"), bytes.fromhex("020000000004")]
    frames = read(CAPTURE)
    for i in range(0, len(frames), 3):
        frames[i] = frames[i][:6] + others[i % 2] + frames[i][12:]
    return frames


def other_end(sa: dict) -> MACsecSA:
    """The association as scapy knows it."""
    return MACsecSA(
        sci=bytes.fromhex(sa["sci"]),
        an=sa["an"],
        pn=sa.get("pn", 1),
        key=bytes.fromhex(sa["key"]),
        icvlen=ICV_BYTES,
        encrypt=sa.get("encrypt", True),
        send_sci=sa.get("send-sci", "always") == "always",
        xpn_en="ssci" in sa,
        ssci=sa.get("ssci"),
        salt=bytes.fromhex(sa.get("salt", "")),
    )


def protects(sa: dict, frame: bytes) -> bool:
    return "source" not in sa or frame[6:12].hex() == sa["source"]


def opened_by(end: MACsecSA, frame: bytes) -> bytes | None:
    """The frame in it, None if it does not verify."""
    try:
        return bytes(end.decap(end.decrypt(Ether(frame))))
    except InvalidTag:
        return None


def sealed_by(end: MACsecSA, frame: bytes) -> bytes:
    packet = end.encap(Ether(frame))
    packet[MACsec].ES = int(not end.send_sci)
    return bytes(end.encrypt(packet))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sealcomb",
        type=shlex.split,
        default=["cargo", "run", "--quiet", "--release", "--package", "sealcomb-cli", "--"],
        help="the command to run; default: what this repository's cargo builds",
    )
    parser.add_argument("--without-tshark", action="store_true", help="leave tshark out where there is none")
    args = parser.parse_args()
    if not args.without_tshark and shutil.which("tshark") is None:
        sys.exit("macsec: tshark is missing: run ./dev setup or leave it out with --without-tshark")
    with tempfile.TemporaryDirectory() as folder:
        demonstrate(args, Path(folder))


def demonstrate(args: argparse.Namespace, folder: Path) -> None:
    macsec = [*args.sealcomb, "macsec"]
    sa_file = folder / "macsec.toml"
    sa_file.write_text(ASSOCIATIONS.read_text().replace("ssci", f"pn = {EXTENDED_START}\nssci"))
    associations = tomllib.loads(sa_file.read_text())["sa"]
    ends = [other_end(sa) for sa in associations]

    plain_file, sealed_file = folder / "plain.pcap", folder / "sealed.pcap"
    plain = frames_of_all()
    write(plain_file, plain)
    # Packet numbers are kept here, so that the demonstration leaves nothing in the user's state folder.
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    seal = [*macsec, "seal", plain_file, sealed_file, "--sa", sa_file]
    subprocess.run(seal, check=True, cwd=ROOT, env=environment)
    sealed = read(sealed_file)
    if len(sealed) != len(plain):
        sys.exit(f"macsec: {len(plain)} frames became {len(sealed)}")

    passed: Counter[str] = Counter()
    answer = []
    for ours, expected in zip(sealed, plain, strict=True):
        i = next(i for i, sa in enumerate(associations) if protects(sa, expected))
        end, sa = ends[i], associations[i]
        if opened_by(end, ours) != expected:
            sys.exit(f"macsec: scapy does not open frame {passed[sa['sci']] + 1} of {sa['sci']}")
        theirs = sealed_by(end, expected)
        if theirs != ours:
            sys.exit(f"macsec: scapy seals frame {passed[sa['sci']] + 1} of {sa['sci']} otherwise")
        answer.append(theirs)
        passed[sa["sci"]] += 1
        end.pn += 1
    if min(passed[sa["sci"]] for sa in associations) <= BEFORE:
        sys.exit("macsec: an association has too few frames to cross from one high half to the next")
    print(f"scapy opens them, and seals them alike: {dict(passed)}")

    if not args.without_tshark:
        look_with_tshark(sealed_file, [sa["an"] for sa in associations])

    answer_file, opened_file = folder / "answer.pcap", folder / "opened.pcap"
    write(answer_file, answer)
    subprocess.run([*macsec, "open", answer_file, opened_file, "--sa", sa_file], check=True, cwd=ROOT)
    if read(opened_file) != plain:
        sys.exit("macsec: what scapy sealed opens to something else")
    print(f"sealcomb opens all {len(plain)} frames that scapy sealed")


def look_with_tshark(sealed: Path, numbers: list[int]) -> None:
    """tshark 4.0 has no keys of MACsec; it must find a SecTAG in each frame, and nothing wrong with it."""
    fields = ["macsec.AN", "macsec.PN", "macsec.ICV", "_ws.malformed"]
    options = [option for field in fields for option in ("-e", field)]
    rows = subprocess.run(
        ["tshark", "-r", sealed, "-T", "fields", *options], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found = [row.split("\t") for row in rows]
    # It shows numbers in hexadecimal or decimal, by the field and its version.
    if {int(row[0], 0) for row in found} != set(numbers) or not all(row[1] and row[2] for row in found):
        sys.exit("macsec: tshark does not find all SecTAGs")
    if any(row[3:] != [""] for row in found):
        sys.exit("macsec: tshark finds malformed frames")
    print(f"tshark: {len(found)} frames with a SecTAG and an ICV")


if __name__ == "__main__":
    main()
