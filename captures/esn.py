#!/usr/bin/env python3
"""Extended sequence numbers (RFC 4303, section 2.2.1) with scapy at the other end.

usage: esn.py [--sealcomb COMMAND]

The packets of captures/mixed.pcap go through the associations of captures/sa.toml, each with `esn = true` and
numbers that cross from one high half to the next. scapy opens what sealcomb seals, refuses it with another
high half, and seals the same packets for sealcomb to open.

Needs the Python packages scapy and cryptography (`./dev setup` installs both).
"""

import argparse
import logging
import os
import shlex
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
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.ipsec import ESP, IPSecIntegrityError, SecurityAssociation
    from scapy.packet import Packet
    from scapy.utils import RawPcapReader, RawPcapWriter
except ModuleNotFoundError:
    if not VENV.exists() or Path(sys.prefix) == VENV.parent.parent:
        sys.exit("esn: the Python package scapy is missing: run ./dev setup")
    os.execv(VENV, [str(VENV), *sys.argv])

CAPTURE = ROOT / "captures/mixed.pcap"
ASSOCIATIONS = ROOT / "captures/sa.toml"
ETHERNET_BYTES = 14
IP_ETHER_TYPES = {0x0800, 0x86DD}
IPV4 = 4
LINKTYPE_RAW = 101
# How many packets of each association come before the high half goes up, from 6 to 7.
BEFORE = 4
START = 7 * 2**32 - BEFORE
CIPHERS = {"aes-gcm": "AES-GCM", "aes-ccm": "AES-CCM", "aes-cbc": "AES-CBC", "aes-ctr": "AES-CTR"}
AUTHS = {None: "NULL", "hmac-sha-256-128": "SHA2-256-128", "aes-cmac-96": "AES-CMAC-96"}


def parsed(packet: bytes) -> Packet:
    return IP(packet) if packet[0] >> 4 == IPV4 else IPv6(packet)


def inner_packets() -> list[bytes]:
    """The IP packets of the capture."""
    with RawPcapReader(str(CAPTURE)) as reader:
        frames = [frame for frame, _ in reader]
    return [frame[ETHERNET_BYTES:] for frame in frames if int.from_bytes(frame[12:14]) in IP_ETHER_TYPES]


def read(path: Path) -> list[bytes]:
    with RawPcapReader(str(path)) as reader:
        return [packet for packet, _ in reader]


def write(path: Path, packets: list[bytes]) -> None:
    with RawPcapWriter(str(path), linktype=LINKTYPE_RAW) as writer:
        for packet in packets:
            writer.write(packet)


def other_end(sa: dict) -> SecurityAssociation:
    """The association as scapy knows it."""
    outer = (IPv6 if ":" in sa["source"] else IP)(src=sa["source"], dst=sa["destination"])
    return SecurityAssociation(
        ESP,
        spi=sa["spi"],
        crypt_algo=CIPHERS[sa["cipher"]],
        crypt_key=bytes.fromhex(sa["key"] + sa.get("salt", "")),
        crypt_icv_size=sa.get("icv"),
        auth_algo=AUTHS[sa.get("auth")],
        auth_key=bytes.fromhex(sa.get("auth-key", "")) or None,
        tunnel_header=outer,
        esn_en=True,
    )


def spi_of(packet: bytes) -> int:
    return parsed(packet)[ESP].spi


def opens(end: SecurityAssociation, packet: bytes, high: int) -> bytes | None:
    """The inner packet, None if the packet does not verify with this high half."""
    end.esn = high
    try:
        return bytes(end.decrypt(parsed(packet)))
    except IPSecIntegrityError:
        return None


def sealed_by(end: SecurityAssociation, packet: bytes, number: int) -> bytes:
    # Set, not given: a number of 0 that is given counts as none.
    end.seq_num, end.esn = number % 2**32, number >> 32
    return bytes(end.encrypt(parsed(packet)))


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
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demonstrate([*args.sealcomb, "esp"], Path(folder))


def demonstrate(esp: list[str], folder: Path) -> None:
    extended = folder / "sa.toml"
    extended.write_text(ASSOCIATIONS.read_text().replace("[[sa]]", "[[sa]]\nesn = true"))
    associations = {sa["spi"]: sa for sa in tomllib.loads(extended.read_text())["sa"]}
    ends = {spi: other_end(sa) for spi, sa in associations.items()}
    options = ["--sa", extended, "--start-sequence", str(START)]
    inner = inner_packets()

    sealed_file = folder / "sealed.pcap"
    subprocess.run([*esp, "seal", CAPTURE, sealed_file, *options], check=True, cwd=ROOT)
    sealed = read(sealed_file)
    if len(sealed) != len(inner):
        sys.exit(f"esn: {len(inner)} packets became {len(sealed)}")
    passed: Counter[int] = Counter()
    answer = []
    for packet, expected in zip(sealed, inner, strict=True):
        spi = spi_of(packet)
        number = START + passed[spi]
        high = number >> 32
        if opens(ends[spi], packet, high) != expected:
            sys.exit(f"esn: scapy does not open packet {passed[spi] + 1} of SA {spi:#x}")
        if opens(ends[spi], packet, high + 1) is not None:
            sys.exit(f"esn: packet {passed[spi] + 1} of SA {spi:#x} verifies with any high half")
        answer.append(sealed_by(ends[spi], expected, number))
        passed[spi] += 1
    if min(passed[spi] for spi in associations) <= BEFORE:
        sys.exit("esn: an association has too few packets to cross from one high half to the next")

    answer_file, opened_file = folder / "answer.pcap", folder / "opened.pcap"
    write(answer_file, answer)
    subprocess.run([*esp, "open", answer_file, opened_file, *options], check=True, cwd=ROOT)
    if read(opened_file) != inner:
        sys.exit("esn: sealcomb opens what scapy sealed to something else")
    for spi, sa in associations.items():
        names = " + ".join(name for name in (sa["cipher"], sa.get("auth")) if name)
        print(f"scapy: {passed[spi]} {names} packets with 64-bit sequence numbers, opened and sealed")


if __name__ == "__main__":
    main()
