"""Checks with tshark the frames that macsec_transmit put on the line.

All versions dissect SecTAG and ICV. From 4.4 they also decrypt frames with 32-bit packet numbers.
"""

import subprocess
from pathlib import Path

from macsec_bench import EXCHANGED, ICV_BYTES, Association, read_capture

TCI_OF_ALL = 0b001011  # SC, E, C
SHORT_BYTES = 48  # fewer bytes of user data are encoded in the SecTAG
NUMBERS = ("TCI", "AN", "SL", "PN", "SCI.port_identifier")
SECTAG = (*(f"macsec.{name}" for name in NUMBERS), "macsec.SCI.system_identifier", "macsec.ICV")
DECRYPTED = "macsec.decrypted_data"


class Tshark:
    def __init__(self, command: str) -> None:
        self.command = command
        self.version = self._run("--version").split("(Wireshark) ")[1].split()[0].rstrip(".")
        self.decrypts = f"\t{DECRYPTED}\t" in self._run("-G", "fields")

    def _run(self, *arguments: str) -> str:
        answer = subprocess.run([self.command, *arguments], check=True, capture_output=True, text=True)
        return answer.stdout

    def fields(self, capture: Path, names: tuple[str, ...], *options: str) -> list[list[str]]:
        """Returns these fields, one row per frame."""
        wanted = [word for name in names for word in ("-e", name)]
        answer = self._run("-r", str(capture), *options, "-T", "fields", *wanted)
        return [row.split("\t") for row in answer.splitlines()]

    def with_key(self, key: bytes) -> tuple[str, str]:
        # 4.4 takes one key, later versions a table.
        one = "macsec.psk:" in self._run("-G", "currentprefs")
        return ("-o", f"macsec.psk:{key.hex()}" if one else f'uat:psk_config_data:{key.hex()},"sealcomb"')


def sectag(association: Association, nth: int, plain: bytes, sealed: bytes) -> list[int | str]:
    """Returns the expected SECTAG fields of the association's nth frame."""
    octets = len(plain) - 12
    return [
        TCI_OF_ALL,
        association.an,
        octets if octets < SHORT_BYTES else 0,
        (association.pn + nth) % 2**32,
        int.from_bytes(association.sci[6:]),
        association.sci[:6].hex(":"),
        sealed[-ICV_BYTES:].hex(),
    ]


def tshark_reads(command: str, folder: Path) -> bool:
    """Compares line.pcap, with its associations in rotation, with plain.pcap."""
    tshark = Tshark(command)
    line = folder / "line.pcap"
    plain = read_capture(folder / "plain.pcap")
    turns = len(EXCHANGED)
    expected = [
        sectag(EXCHANGED[i % turns], i // turns, *frames)
        for i, frames in enumerate(zip(plain, read_capture(line), strict=True))
    ]
    numbers = len(NUMBERS)
    found = [
        [*(int(value, 0) for value in row[:numbers]), *row[numbers:]] for row in tshark.fields(line, SECTAG)
    ]
    good = found == expected and tshark.fields(line, ("_ws.malformed",)) == [[""]] * len(plain)
    summary = f"tshark {tshark.version} dissects SecTAGs and ICVs of {len(plain)} frames"
    if not tshark.decrypts:
        summary += "; MACsec keys require 4.4"
    for channel, association in enumerate(EXCHANGED):
        if tshark.decrypts and association.ssci is None:
            data = [frame[12:].hex() if i % turns == channel else "" for i, frame in enumerate(plain)]
            rows = tshark.fields(line, (DECRYPTED,), *tshark.with_key(association.key))
            good = good and rows == [[octets] for octets in data]
            summary += f", decrypts {sum(map(bool, data))} of channel {channel}"
    print(f"{'ok' if good else 'FAILED':6} {summary}")
    return good
