#!/usr/bin/env python3
"""Seal captures/mixed.pcap as ESP, and open it with tshark and the Python package `cryptography`.

usage: demo.py [--sealcomb COMMAND] [--without-tshark]

tshark decrypts the AES-GCM, AES-CBC and AES-CTR packets. It supports no AES-CCM and does not report whether
ICVs are correct. `cryptography` verifies and decrypts every packet. Both results must be equal to the packets
of the capture. Finally, `sealcomb esp open` must restore them too.

Requires the Debian package tshark and the Python package cryptography (`./dev setup` installs both).
"""

import argparse
import ipaddress
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv/bin/python"

try:
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers import Cipher, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.cmac import CMAC
    from cryptography.hazmat.primitives.hmac import HMAC
except ModuleNotFoundError:
    if not VENV.exists() or Path(sys.prefix) == VENV.parent.parent:
        sys.exit("demo: the Python package cryptography is missing; run ./dev setup")
    os.execv(VENV, [str(VENV), *sys.argv])

CAPTURE = ROOT / "captures/mixed.pcap"
ASSOCIATIONS = ROOT / "captures/sa.toml"
ETHERNET_BYTES = 14
IP_ETHER_TYPES = {0x0800, 0x86DD}
IPV4 = 4
ESP = 50
CBC_IV_BYTES = 16
COUNTER_IV_BYTES = 8


def records(capture: Path) -> Iterator[bytes]:
    """Yield the frames of a little-endian pcap file."""
    data = capture.read_bytes()
    at = 24
    while at < len(data):
        captured, original = struct.unpack_from("<II", data, at + 8)
        assert captured == original, "a clipped packet"
        yield data[at + 16 : at + 16 + captured]
        at += 16 + captured


def is_ipv4(packet: bytes) -> bool:
    return packet[0] >> 4 == IPV4


def packet_bytes(packet: bytes) -> int:
    """Return the length declared by the IP header."""
    if is_ipv4(packet):
        return int.from_bytes(packet[2:4])
    return 40 + int.from_bytes(packet[4:6])


def inner_packets(capture: Path) -> list[bytes]:
    """Return the IP packets of an Ethernet capture."""
    frames = (frame for frame in records(capture) if int.from_bytes(frame[12:14]) in IP_ETHER_TYPES)
    payloads = (frame[ETHERNET_BYTES:] for frame in frames)
    return [payload[: packet_bytes(payload)] for payload in payloads]


def esp_of(packet: bytes) -> bytes:
    """Return the ESP packet after the outer header."""
    assert packet[9 if is_ipv4(packet) else 6] == ESP
    return packet[20 if is_ipv4(packet) else 40 : packet_bytes(packet)]


def spi_of(packet: bytes) -> int:
    return int.from_bytes(esp_of(packet)[:4])


def verified_body(sa: dict, esp: bytes) -> bytes:
    """Return the decrypted body of an ESP packet. Raise InvalidTag or InvalidSignature for a wrong ICV."""
    key = bytes.fromhex(sa["key"])
    salt = bytes.fromhex(sa.get("salt", ""))
    iv_bytes = CBC_IV_BYTES if sa["cipher"] == "aes-cbc" else COUNTER_IV_BYTES
    icv_bytes = {"aes-cmac-96": 12}.get(sa.get("auth"), sa.get("icv", 16))
    header, iv = esp[:8], esp[8 : 8 + iv_bytes]
    ciphertext, icv = esp[8 + iv_bytes : -icv_bytes], esp[-icv_bytes:]

    if sa["cipher"] == "aes-ccm":
        return AESCCM(key, icv_bytes).decrypt(salt + iv, ciphertext + icv, header)
    if sa["cipher"] == "aes-gcm":
        decryptor = Cipher(AES(key), modes.GCM(salt + iv, icv, min_tag_length=icv_bytes)).decryptor()
        decryptor.authenticate_additional_data(header)
    else:
        verify_icv(sa, esp[:-icv_bytes], icv)
        counter = salt + iv + (1).to_bytes(4)
        mode = modes.CBC(iv) if sa["cipher"] == "aes-cbc" else modes.CTR(counter)
        decryptor = Cipher(AES(key), mode).decryptor()
    return decryptor.update(ciphertext) + decryptor.finalize()


def verify_icv(sa: dict, covered: bytes, icv: bytes) -> None:
    key = bytes.fromhex(sa["auth-key"])
    mac = CMAC(AES(key)) if sa["auth"] == "aes-cmac-96" else HMAC(key, hashes.SHA256())
    mac.update(covered)
    if mac.finalize()[: len(icv)] != icv:
        raise InvalidSignature


def inner_of(body: bytes) -> bytes:
    """Return the packet in a decrypted body. Its padding must be 1, 2, 3, ...."""
    pad_bytes, next_header = body[-2:]
    payload, padding = body[: -2 - pad_bytes], body[-2 - pad_bytes : -2]
    assert padding == bytes(range(1, pad_bytes + 1)), "the padding is not 1, 2, 3, ..."
    assert next_header == (4 if is_ipv4(payload) else 41), "the next header does not match the inner packet"
    return payload


def opened_by_cryptography(sealed: list[bytes], associations: dict[int, dict]) -> list[bytes]:
    return [inner_of(verified_body(associations[spi_of(packet)], esp_of(packet))) for packet in sealed]


def tshark_entry(sa: dict) -> str | None:
    """Return an association's line for tshark's table `esp_sa`; None if tshark lacks its algorithms."""
    cipher = {
        "aes-gcm": f"AES-GCM with {sa.get('icv', 16)} octet ICV [RFC4106]",
        "aes-cbc": "AES-CBC [RFC3602]",
        "aes-ctr": "AES-CTR [RFC3686]",
    }.get(sa["cipher"])
    if cipher is None:
        return None
    auth = {
        None: "NULL",
        "hmac-sha-256-128": "HMAC-SHA-256-128 [RFC4868]",
        "aes-cmac-96": "ANY 96 bit authentication [no checking]",
    }[sa.get("auth")]
    auth_key = f"0x{sa['auth-key']}" if "hmac" in auth.lower() else ""
    version = f"IPv{ipaddress.ip_address(sa['source']).version}"
    key = f"0x{sa['key']}{sa.get('salt', '')}"
    fields = [version, "*", "*", f"0x{sa['spi']:08x}", cipher, key, auth, auth_key]
    return "uat:esp_sa:" + ",".join(f'"{field}"' for field in fields)


def opened_by_tshark(capture: Path, entries: list[str]) -> dict[int, bytes]:
    """Return the packets that tshark decrypts, by packet number from 1."""
    options = [argument for entry in entries for argument in ("-o", entry)]
    options += ["-o", "esp.enable_encryption_decode:TRUE"]
    dump = subprocess.run(
        ["tshark", "-r", capture, "-x", *options], check=True, capture_output=True, text=True
    ).stdout
    # One paragraph per frame: a dump of its bytes, then titled dumps, such as that of the decrypted data.
    bodies: dict[int, bytes] = {}
    for number, paragraph in enumerate(dump.split("\n\n"), start=1):
        _, found, rest = paragraph.partition("\nDecrypted Data (")
        if found:
            bodies[number] = b"".join(first_dump(rest.splitlines()[1:]))
    return {number: inner_of(body) for number, body in bodies.items()}


def first_dump(lines: list[str]) -> Iterator[bytes]:
    """Yield the rows of a hex dump, up to the next title."""
    for line in lines:
        row = re.match(r"[0-9a-f]{4}  ((?:[0-9a-f]{2} ){1,16})", line)
        if row is None:
            return
        yield bytes.fromhex(row[1])


def must_be_equal(opener: str, sa: dict, found: list[bytes | None], expected: list[bytes]) -> None:
    if found != expected:
        wrong = sum(a != b for a, b in zip(found, expected, strict=True))
        sys.exit(f"demo: {opener} opens {wrong} of {len(expected)} {suite(sa)} packets to other packets")
    print(f"{opener}: all {len(expected)} {suite(sa)} packets equal to the capture's")


def suite(sa: dict) -> str:
    parts = [f"{sa['cipher']}-{len(sa['key']) * 4}", sa.get("auth")]
    return " + ".join(part for part in parts if part)


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
    parser.add_argument("--without-tshark", action="store_true", help="skip the checks with tshark")
    args = parser.parse_args()
    if not args.without_tshark and shutil.which("tshark") is None:
        sys.exit("demo: tshark is missing; run ./dev setup, or skip it with --without-tshark")

    associations = {sa["spi"]: sa for sa in tomllib.loads(ASSOCIATIONS.read_text())["sa"]}
    with tempfile.TemporaryDirectory() as folder:
        demonstrate(args, associations, Path(folder))


def demonstrate(args: argparse.Namespace, associations: dict[int, dict], folder: Path) -> None:
    sealed_file, opened_file = folder / "sealed.pcap", folder / "opened.pcap"
    esp = [*args.sealcomb, "esp"]
    # --start-sequence makes runs reproducible and leaves no state behind.
    seal = [*esp, "seal", CAPTURE, sealed_file, "--sa", ASSOCIATIONS, "--start-sequence", "1"]
    subprocess.run(seal, check=True, cwd=ROOT)

    inner = inner_packets(CAPTURE)
    sealed = list(records(sealed_file))
    if len(sealed) != len(inner):
        sys.exit(f"demo: {len(inner)} packets became {len(sealed)}")
    spis = [spi_of(packet) for packet in sealed]
    print("packets per SPI:", dict(sorted(Counter(map(hex, spis)).items())))

    try:
        by_cryptography = opened_by_cryptography(sealed, associations)
    except (InvalidTag, InvalidSignature):
        sys.exit("demo: cryptography reports a wrong ICV")
    entries = {spi: tshark_entry(sa) for spi, sa in associations.items()}
    by_tshark = {}
    if not args.without_tshark:
        by_tshark = opened_by_tshark(sealed_file, [entry for entry in entries.values() if entry])

    for spi, sa in associations.items():
        numbers = [number for number, other in enumerate(spis) if other == spi]
        expected = [inner[number] for number in numbers]
        must_be_equal("cryptography", sa, [by_cryptography[number] for number in numbers], expected)
        if entries[spi] and not args.without_tshark:
            must_be_equal("tshark", sa, [by_tshark.get(number + 1) for number in numbers], expected)

    subprocess.run([*esp, "open", sealed_file, opened_file, "--sa", ASSOCIATIONS], check=True, cwd=ROOT)
    if list(records(opened_file)) != inner:
        sys.exit("demo: sealcomb opens to other packets")
    print("sealcomb: all packets equal to the capture's")


if __name__ == "__main__":
    main()
