#!/usr/bin/env python3
"""Exchange ESP packets with extended sequence numbers (RFC 4303, section 2.2.1) between sealcomb and scapy.

usage: esn.py [--sealcomb COMMAND]

sealcomb seals the packets of captures/mixed.pcap under the associations of captures/sa.toml, each with
`esn = true`. The numbers cross from one high half to the next. scapy opens the packets, rejects them with
another high half, and seals the same packets for sealcomb to open.

Requires the Python packages scapy and cryptography (`./dev setup` installs both).
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

logging.getLogger("scapy").setLevel(logging.ERROR)  # suppresses warnings about network interfaces
try:
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.ipsec import ESP, IPSecIntegrityError, SecurityAssociation
    from scapy.packet import Packet
    from scapy.utils import RawPcapReader, RawPcapWriter
except ModuleNotFoundError:
    if not VENV.exists() or Path(sys.prefix) == VENV.parent.parent:
        sys.exit("esn: the Python package scapy is missing; run ./dev setup")
    os.execv(VENV, [str(VENV), *sys.argv])

CAPTURE = ROOT / "captures/mixed.pcap"
ASSOCIATIONS = ROOT / "captures/sa.toml"
ETHERNET_BYTES = 14
IP_ETHER_TYPES = {0x0800, 0x86DD}
IPV4 = 4
LINKTYPE_RAW = 101
# Number of packets per association before the high half changes from 6 to 7.
BEFORE = 4
START = 7 * 2**32 - BEFORE
CIPHERS = {"aes-gcm": "AES-GCM", "aes-ccm": "AES-CCM", "aes-cbc": "AES-CBC", "aes-ctr": "AES-CTR"}
AUTHS = {None: "NULL", "hmac-sha-256-128": "SHA2-256-128", "aes-cmac-96": "AES-CMAC-96"}


def parsed(packet: bytes) -> Packet:
    return IP(packet) if packet[0] >> 4 == IPV4 else IPv6(packet)


def inner_packets() -> list[bytes]:
    """Return the IP packets of the capture."""
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


def peer(sa: dict) -> SecurityAssociation:
    """Return the scapy object of an association."""
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


def opened_by(end: SecurityAssociation, packet: bytes, high: int) -> bytes | None:
    """Return the inner packet; None if the packet does not verify with this high half."""
    end.esn = high
    try:
        return bytes(end.decrypt(parsed(packet)))
    except IPSecIntegrityError:
        return None


def sealed_by(end: SecurityAssociation, packet: bytes, number: int) -> bytes:
    # Sets attributes because scapy ignores a sequence number argument of 0.
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
        help="the command to run (default: cargo run)",
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demonstrate([*args.sealcomb, "esp"], Path(folder))


def demonstrate(esp: list[str], folder: Path) -> None:
    extended = folder / "sa.toml"
    extended.write_text(ASSOCIATIONS.read_text().replace("[[sa]]", "[[sa]]\nesn = true"))
    associations = {sa["spi"]: sa for sa in tomllib.loads(extended.read_text())["sa"]}
    peers = {spi: peer(sa) for spi, sa in associations.items()}
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
        if opened_by(peers[spi], packet, high) != expected:
            sys.exit(f"esn: scapy does not open packet {passed[spi] + 1} of SA {spi:#x}")
        if opened_by(peers[spi], packet, high + 1) is not None:
            sys.exit(f"esn: packet {passed[spi] + 1} of SA {spi:#x} verifies with a wrong high half")
        answer.append(sealed_by(peers[spi], expected, number))
        passed[spi] += 1
    if min(passed[spi] for spi in associations) <= BEFORE:
        sys.exit("esn: an association has too few packets to cross from one high half to the next")

    answer_file, opened_file = folder / "answer.pcap", folder / "opened.pcap"
    write(answer_file, answer)
    subprocess.run([*esp, "open", answer_file, opened_file, *options], check=True, cwd=ROOT)
    if read(opened_file) != inner:
        sys.exit("esn: sealcomb opens scapy's packets to other packets")
    for spi, sa in associations.items():
        names = " + ".join(name for name in (sa["cipher"], sa.get("auth")) if name)
        print(f"scapy: opened and sealed {passed[spi]} {names} packets with 64-bit sequence numbers")


if __name__ == "__main__":
    main()
