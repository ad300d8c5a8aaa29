#!/usr/bin/env python3
"""Exchange MACsec frames (IEEE 802.1AE) between sealcomb and scapy.

usage: macsec.py [--sealcomb COMMAND] [--without-tshark]

sealcomb seals the frames of captures/mixed.pcap, some of them with other source addresses, under the
associations of captures/macsec.toml, one per cipher suite. Extended packet numbers cross from one high half
to the next. scapy opens the frames, and seals the same frames for sealcomb to open. Both must produce
identical frames. tshark must find a valid SecTAG in each.

Requires the Python packages scapy and cryptography and the Debian package tshark (`./dev setup` installs
them).
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

logging.getLogger("scapy").setLevel(logging.ERROR)  # suppresses warnings about network interfaces
try:
    from cryptography.exceptions import InvalidTag
    from scapy.contrib.macsec import MACsec, MACsecSA
    from scapy.layers.l2 import Ether
    from scapy.utils import RawPcapReader, RawPcapWriter
except ModuleNotFoundError:
    if not VENV.exists() or Path(sys.prefix) == VENV.parent.parent:
        sys.exit("macsec: the Python package scapy is missing; run ./dev setup")
    os.execv(VENV, [str(VENV), *sys.argv])

CAPTURE = ROOT / "captures/mixed.pcap"
ASSOCIATIONS = ROOT / "captures/macsec.toml"
LINKTYPE_ETHERNET = 1
ICV_BYTES = 16
VLAN_TAG = bytes.fromhex("81000005")
# Number of frames per association with extended packet numbers before the high half changes from 6 to 7.
BEFORE = 4
EXTENDED_START = 7 * 2**32 - BEFORE


def read(path: Path) -> list[bytes]:
    with RawPcapReader(str(path)) as reader:
        return [frame for frame, _ in reader]


def write(path: Path, frames: list[bytes]) -> None:
    with RawPcapWriter(str(path), linktype=LINKTYPE_ETHERNET) as writer:
        for frame in frames:
            writer.write(frame)


def frames_for_all_associations() -> list[bytes]:
    """Return the capture's frames, every third one with another source address.

    This gives each association some frames. Some of those whose VLAN tag stays in the clear have one.
    """
    others = [bytes.fromhex(f"02000000000{i}") for i in (3, 4, 5, 6)]
    frames = read(CAPTURE)
    for i in range(0, len(frames), 3):
        source = others[i % 4]
        tag = VLAN_TAG if source == others[-1] and i // 4 % 2 else b""
        frames[i] = frames[i][:6] + source + tag + frames[i][12:]
    return frames


def peer(sa: dict) -> MACsecSA:
    """Return the scapy object of an association."""
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


def split_vlan(sa: dict, frame: bytes) -> tuple[bytes, bytes]:
    """Return the VLAN tag that stays before the SecTAG, or nothing, and the frame without it."""
    if not sa.get("vlan-in-clear") or frame[12:14] != VLAN_TAG[:2]:
        return b"", frame
    return frame[12:16], frame[:12] + frame[16:]


def covered_bytes(end: MACsecSA, sa: dict, frame_bytes: int) -> int | None:
    """Return how many of a frame's bytes, without ICV, are not encrypted; None: scapy's default."""
    offset = sa.get("confidentiality-offset")
    header = 28 if end.send_sci else 20
    return min(header + offset, frame_bytes) if offset else None


def opened_by(end: MACsecSA, sa: dict, frame: bytes) -> bytes | None:
    """Return the original frame; None if the sealed one does not verify."""
    tag, frame = split_vlan(sa, frame)
    covered = covered_bytes(end, sa, len(frame) - ICV_BYTES)
    try:
        opened = bytes(end.decap(end.decrypt(Ether(frame), covered)))
    except InvalidTag:
        return None
    return opened[:12] + tag + opened[12:]


def sealed_by(end: MACsecSA, sa: dict, frame: bytes) -> bytes:
    tag, frame = split_vlan(sa, frame)
    packet = end.encap(Ether(frame))
    packet[MACsec].ES = int(not end.send_sci)
    sealed = bytes(end.encrypt(packet, covered_bytes(end, sa, len(packet))))
    return sealed[:12] + tag + sealed[12:]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sealcomb",
        type=shlex.split,
        default=[
            "cargo",
            "run",
            "--quiet",
            "--release",
            "--package",
            "sealcomb-cli",
            "--",
        ],
        help="the command to run (default: cargo run)",
    )
    parser.add_argument("--without-tshark", action="store_true", help="skip the checks with tshark")
    args = parser.parse_args()
    if not args.without_tshark and shutil.which("tshark") is None:
        sys.exit("macsec: tshark is missing; run ./dev setup, or skip it with --without-tshark")
    with tempfile.TemporaryDirectory() as folder:
        demonstrate(args, Path(folder))


def demonstrate(args: argparse.Namespace, folder: Path) -> None:
    macsec = [*args.sealcomb, "macsec"]
    sa_file = folder / "macsec.toml"
    sa_file.write_text(ASSOCIATIONS.read_text().replace("ssci", f"pn = {EXTENDED_START}\nssci"))
    associations = tomllib.loads(sa_file.read_text())["sa"]
    peers = [peer(sa) for sa in associations]

    plain_file, sealed_file = folder / "plain.pcap", folder / "sealed.pcap"
    plain = frames_for_all_associations()
    write(plain_file, plain)
    # Keeps packet numbers out of the user's state directories, and cargo in its own.
    tools = {f"{name.upper()}_HOME": str(Path.home() / f".{name}") for name in ("cargo", "rustup")}
    state = str(folder / "state")
    environment = {**tools, **os.environ, "XDG_STATE_HOME": state, "HOME": state}
    seal = [*macsec, "seal", plain_file, sealed_file, "--sa", sa_file]
    subprocess.run(seal, check=True, cwd=ROOT, env=environment)
    sealed = read(sealed_file)
    if len(sealed) != len(plain):
        sys.exit(f"macsec: {len(plain)} frames became {len(sealed)}")

    passed: Counter[str] = Counter()
    answer = []
    for ours, expected in zip(sealed, plain, strict=True):
        i = next(i for i, sa in enumerate(associations) if protects(sa, expected))
        end, sa = peers[i], associations[i]
        if opened_by(end, sa, ours) != expected:
            sys.exit(f"macsec: scapy does not open frame {passed[sa['sci']] + 1} of {sa['sci']}")
        theirs = sealed_by(end, sa, expected)
        if theirs != ours:
            sys.exit(f"macsec: scapy seals frame {passed[sa['sci']] + 1} of {sa['sci']} differently")
        answer.append(theirs)
        passed[sa["sci"]] += 1
        end.pn += 1
    if min(passed[sa["sci"]] for sa in associations) <= BEFORE:
        sys.exit("macsec: an association has too few frames to cross from one high half to the next")
    print(f"scapy: opened and identically sealed frames per SCI: {dict(passed)}")

    if not args.without_tshark:
        check_with_tshark(sealed_file, [sa["an"] for sa in associations])

    answer_file, opened_file = folder / "answer.pcap", folder / "opened.pcap"
    write(answer_file, answer)
    subprocess.run(
        [*macsec, "open", answer_file, opened_file, "--sa", sa_file],
        check=True,
        cwd=ROOT,
    )
    if read(opened_file) != plain:
        sys.exit("macsec: sealcomb opens scapy's frames to other frames")
    print(f"sealcomb: opened all {len(plain)} frames that scapy sealed")


def check_with_tshark(sealed: Path, numbers: list[int]) -> None:
    """Check that tshark finds a valid SecTAG in each frame. tshark 4.0 supports no MACsec keys."""
    fields = ["macsec.AN", "macsec.PN", "macsec.ICV", "_ws.malformed"]
    options = [option for field in fields for option in ("-e", field)]
    rows = subprocess.run(
        ["tshark", "-r", sealed, "-T", "fields", *options],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found = [row.split("\t") for row in rows]
    # tshark prints numbers in hexadecimal or decimal, depending on the field and the version.
    if {int(row[0], 0) for row in found} != set(numbers) or not all(row[1] and row[2] for row in found):
        sys.exit("macsec: tshark does not find all SecTAGs")
    if any(row[3:] != [""] for row in found):
        sys.exit("macsec: tshark reports malformed frames")
    print(f"tshark: {len(found)} frames with a SecTAG and an ICV")


if __name__ == "__main__":
    main()
