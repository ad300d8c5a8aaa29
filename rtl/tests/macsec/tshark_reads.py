"""Checks with tshark the frames that macsec_transmit put on the line.

All versions dissect the 802.1Q tag before the SecTAG, the SecTAG, the data and the ICV. Data that are not
encrypted must be those that were sent. From 4.4 they also decrypt frames with an SCI, 32-bit packet numbers
and no confidentiality offset.
"""

import subprocess
from pathlib import Path

from macsec_bench import (
    ADDRESS_BYTES,
    CLEAR,
    EXCHANGED,
    ICV_BYTES,
    NO_SCI,
    OFFSET,
    VLAN_CLEAR,
    Association,
    read_capture,
    without_vlan,
)

# The captures: the start of their names, and their associations.
CAPTURES = {"": EXCHANGED, "no_sci_": NO_SCI, "clear_": CLEAR, "offset_": OFFSET, "vlan_": VLAN_CLEAR}
TCI_SC, TCI_E_C = 0b001000, 0b000011
SHORT_BYTES = 48  # fewer bytes of user data are encoded in the SecTAG
MACSEC_TYPE = 0x88E5
TYPE_BYTES = 2
# Fields of a frame, and their formats. Frames have at most one 802.1Q tag, of a customer or a provider.
NUMBERS = (
    *("eth.type", "vlan.priority", "vlan.dei", "vlan.id"),
    *("ieee8021ad.priority", "ieee8021ad.dei", "ieee8021ad.id"),
    *("macsec.TCI", "macsec.AN", "macsec.SL", "macsec.PN", "macsec.SCI.port_identifier", "macsec.etype"),
)
TEXTS = ("macsec.SCI.system_identifier", "macsec.ICV", "data.data", "_ws.malformed")
# The data are random, although their type is that of IP.
UNREAD = ("--disable-protocol", "ip")
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


def tag_fields(tag: bytes) -> list[int | None]:
    """Returns the expected fields up to ieee8021ad.id, for this 802.1Q tag before the SecTAG, or none."""
    if not tag:
        return [MACSEC_TYPE, *[None] * 6]
    kind, control = int.from_bytes(tag[:2]), int.from_bytes(tag[2:])
    fields = [control >> 13, control >> 12 & 1, control & 0xFFF]
    return [kind, *fields, *[None] * 3] if kind == 0x8100 else [kind, *[None] * 3, *fields]


def frame_fields(
    association: Association, nth: int, tag: bytes, plain: bytes, sealed: bytes
) -> list[int | str | None]:
    """Returns the expected fields of the association's nth frame. `plain` does not contain the tag."""
    sealed = sealed[len(tag) :]  # only what follows the EtherType of MACsec is read below
    octets = len(plain) - ADDRESS_BYTES
    data = sealed[association.other_end().header_bytes : -ICV_BYTES]
    sent = octets if not association.encrypt else min(octets, association.offset)
    # The start of the data is what was sent.
    data = plain[ADDRESS_BYTES:][:sent] + data[sent:]
    sci = None if association.no_sci else association.sci
    return [
        *tag_fields(tag),
        (0 if association.no_sci else TCI_SC) | (TCI_E_C if association.encrypt else 0),
        association.an,
        octets if octets < SHORT_BYTES else 0,
        (association.pn + nth) % 2**32,
        sci and int.from_bytes(sci[6:]),
        None if association.encrypt else int.from_bytes(data[:TYPE_BYTES]),
        sci[:6].hex(":") if sci else "",
        sealed[-ICV_BYTES:].hex(),
        (data if association.encrypt else data[TYPE_BYTES:]).hex(),
        "",
    ]


def found_fields(row: list[str]) -> list[int | str | None]:
    """Returns what tshark found in a frame, in the order of `frame_fields`."""
    numbers = [int(value, 0) if value else None for value in row[: len(NUMBERS)]]
    system, icv, data, malformed = row[len(NUMBERS) :]
    if not icv:
        # 4.0 does not separate the ICV from data that are not encrypted.
        data, icv = data[: -2 * ICV_BYTES], data[-2 * ICV_BYTES :]
    return [*numbers, system, icv, data, malformed]


def reads_capture(tshark: Tshark, folder: Path, name: str) -> bool:
    """Compares a capture of the line with the one of the frames that were sent."""
    associations = {association.sci[:6]: association for association in CAPTURES[name]}
    tagged = [
        without_vlan(frame) if name == "vlan_" else (b"", frame)
        for frame in read_capture(folder / f"{name}plain.pcap")
    ]
    sources = [plain[6:ADDRESS_BYTES] for _, plain in tagged]
    line = folder / f"{name}line.pcap"
    expected = [
        frame_fields(associations[sources[i]], sources[:i].count(sources[i]), tag, plain, sealed)
        for i, ((tag, plain), sealed) in enumerate(zip(tagged, read_capture(line), strict=True))
    ]
    found = [found_fields(row) for row in tshark.fields(line, (*NUMBERS, *TEXTS), *UNREAD)]
    good = found == expected
    for got, wanted in zip(found, expected, strict=False):
        if got != wanted:
            print(f"tshark found {got}, expected {wanted}")
            break
    summary = f"tshark {tshark.version} dissects {len(tagged)} frames of {name}line.pcap"
    for source, association in associations.items():
        usual = association.encrypt and not association.no_sci and association.offset == 0
        if tshark.decrypts and usual and association.ssci is None:
            data = [
                plain[ADDRESS_BYTES:].hex() if sources[i] == source else ""
                for i, (_, plain) in enumerate(tagged)
            ]
            rows = tshark.fields(line, (DECRYPTED,), *tshark.with_key(association.key))
            good = good and rows == [[octets] for octets in data]
            summary += f", decrypts {sum(map(bool, data))} of channel {association.channel}"
    print(f"{'ok' if good else 'FAILED':6} {summary}")
    return good


def tshark_reads(command: str, folder: Path) -> bool:
    tshark = Tshark(command)
    if not tshark.decrypts:
        print(f"tshark {tshark.version} does not decrypt; MACsec keys require 4.4")
    failed = [name for name in CAPTURES if not reads_capture(tshark, folder, name)]
    return not failed
