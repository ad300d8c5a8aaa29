#!/usr/bin/env python3
"""Check that tshark with sealcomb-link.lua names and verifies the golden control messages.

usage: test.py

Requires tshark. It runs as another user if this process is root, because Wireshark runs no scripts as root.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = json.loads((HERE.parent / "tests/vectors/control.json").read_text())
NOBODY = 65534
FIELDS = ["type", "verified", "sender", "count", "epoch", "why", "from"]


def udp_packet(payload: bytes, port: int) -> bytes:
    udp = struct.pack("!HHHH", port, port, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return header + udp


def capture(payloads: list[bytes], port: int) -> bytes:
    """Returns a pcap file of raw IPv4 packets."""
    packets = [udp_packet(payload, port) for payload in payloads]
    records = [struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet for packet in packets]
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + b"".join(records)


class Dissector(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o755)
        shutil.copy(HERE / "sealcomb-link.lua", self.folder)
        self.key = self.folder / "control.key"
        self.key.write_text(VECTORS["control-key"] + "\n")

    def tshark(self, payloads: list[bytes], *options: str, port: int = 4500) -> str:
        file = self.folder / "messages.pcap"
        file.write_bytes(capture(payloads, port))
        for path in self.folder.iterdir():
            path.chmod(0o644)
        done = subprocess.run(
            ["tshark", "-X", f"lua_script:{self.folder}/sealcomb-link.lua", "-r", str(file), *options],
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": str(self.folder)},
            user=NOBODY if os.getuid() == 0 else None,
            check=True,
        )
        self.assertNotIn("Lua", done.stderr)
        self.assertNotIn("Lua Error", done.stdout)
        return done.stdout

    def rows(self, payloads: list[bytes], *options: str, port: int = 4500) -> list[list[str]]:
        fields = [option for name in FIELDS for option in ("-e", f"sealcomb-link.{name}")]
        text = self.tshark(payloads, *options, "-T", "fields", "-E", "separator=|", *fields, port=port)
        return [line.split("|") for line in text.splitlines()]

    def with_key(self) -> list[str]:
        return ["-o", f"sealcomb-link.key_file:{self.key}"]

    def messages(self) -> list[bytes]:
        return [bytes.fromhex(message["datagram"]) for message in VECTORS["messages"]]

    def test_every_golden_message_is_named_and_verified(self) -> None:
        rows = self.rows(self.messages(), *self.with_key())
        self.assertEqual(len(rows), len(VECTORS["messages"]))
        for row, message in zip(rows, VECTORS["messages"], strict=True):
            text = json.loads(message["text"])
            (kind, said), *_ = text["say"].items()
            expected = [kind, "1", message["sender"], str(text["count"])]
            self.assertEqual(row[:4], expected)
            self.assertEqual(row[4:], [str(said.get("epoch", "")), said.get("why", ""), text["from"]])

    def test_messages_are_named_without_a_key(self) -> None:
        rows = self.rows(self.messages())
        self.assertEqual({row[1] for row in rows}, {""})
        self.assertEqual(rows[0][0], "hello")

    def test_each_changed_byte_is_noticed(self) -> None:
        good = self.messages()[2]
        changed = []
        for at in range(4, len(good), 13):
            bad = bytearray(good)
            bad[at] ^= 1
            if bad[36:37] == b"{":
                changed.append(bytes(bad))
        rows = self.rows(changed, *self.with_key())
        self.assertEqual({row[1] for row in rows}, {"0"})
        text = self.tshark(changed[:1], *self.with_key(), "-V")
        self.assertIn("does not verify under the control key", text)

    def test_another_key_verifies_nothing(self) -> None:
        self.key.write_text("ff" * 32)
        self.assertEqual({row[1] for row in self.rows(self.messages(), *self.with_key())}, {"0"})

    def test_a_malformed_key_file_is_reported(self) -> None:
        for text in ("", "xyz", "ab" * 31, "a" * 65):
            self.key.write_text(text)
            shown = self.tshark(self.messages()[:1], *self.with_key(), "-V")
            self.assertIn("expected at least 64 hex digits", shown)
        shown = self.tshark(self.messages()[:1], "-o", "sealcomb-link.key_file:/missing", "-V")
        self.assertIn("No such file", shown)

    def test_all_other_packets_stay_with_wireshark(self) -> None:
        esp = struct.pack("!II", 0x1001, 1) + bytes(48)
        isakmp = bytes(4) + bytes(range(1, 29)) + bytes(8)
        shown = self.tshark([esp, b"\xff", isakmp, bytes(4) + bytes(32)])
        lines = shown.splitlines()
        self.assertIn("ESP (SPI=0x00001001)", lines[0])
        self.assertIn("NAT-keepalive", lines[1])
        self.assertIn("ISAKMP", lines[2])
        self.assertNotIn("sealcomb-link", shown)

    def test_the_ports_of_all_workers_can_be_named(self) -> None:
        rows = self.rows(self.messages(), "-o", "sealcomb-link.ports:6000-6003", port=6002)
        self.assertEqual(rows[0][0], "hello")

    def test_unknown_types_are_shown_as_such(self) -> None:
        text = b'{"from":"00","say":{"later":{}}}'
        self.assertIn("The type of the message is unknown", self.tshark([bytes(36) + text], "-V"))


if __name__ == "__main__":
    unittest.main()
