"""An independent slave: the protocol of docs/link-protocol.md in Python, with scapy's ESP.

It shares no code with sealcomb.

usage: peer.py [--versions OLDEST NEWEST] MASTER_ADDRESS OUR_ADDRESS SUITE ESN CONTROL_KEY_FILE KEY_FILE

Answers ICMP echo requests that arrive through the link, under the newest confirmed key. At the end of standard input,
prints its counts in JSON.
"""

import contextlib
import hmac
import json
import secrets
import selectors
import socket
import sys
from collections import Counter
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.ipsec import ESP, SecurityAssociation

MARKER = bytes(4)
TAG = 32
PORT = 4500
LABEL = b"sealcomb-link"
VERSION = 1
VERSIONS: dict[str, int | str] = {"oldest": VERSION, "newest": VERSION, "release": "peer.py"}
# scapy's names of cipher and integrity algorithm, bytes of the cipher's key with salt, bytes of the integrity key.
SUITES = {
    "aes128-gcm": ("AES-GCM", "NULL", 20, 0),
    "aes256-gcm": ("AES-GCM", "NULL", 36, 0),
    "aes128-ccm": ("AES-CCM", "NULL", 19, 0),
    "aes256-ccm": ("AES-CCM", "NULL", 35, 0),
    "aes128-cbc-hmac-sha256": ("AES-CBC", "SHA2-256-128", 16, 32),
    "aes256-cbc-hmac-sha256": ("AES-CBC", "SHA2-256-128", 32, 32),
    "aes128-ctr-hmac-sha256": ("AES-CTR", "SHA2-256-128", 20, 32),
    "aes256-ctr-hmac-sha256": ("AES-CTR", "SHA2-256-128", 36, 32),
}


def extract(salt: bytes, secret: bytes) -> bytes:
    return hmac.digest(salt, secret, "sha256")


def expand(root: bytes, info: bytes, length: int = 32) -> bytes:
    return HKDFExpand(hashes.SHA256(), length, info).derive(root)


class Epoch:
    """The proofs and keys of an exchange."""

    def __init__(self, root: bytes, key: bytes, suite: str, boots: bytes, offer: dict, nonce: bytes, spi: int) -> None:
        epoch = extract(expand(root, b"mix"), key)

        def context(nonce: bytes, spi: int) -> bytes:
            return (
                VERSION.to_bytes(2)
                + suite.encode()
                + bytes([0, offer["esn"]])
                + boots
                + offer["epoch"].to_bytes(8)
                + bytes.fromhex(offer["nonce"])
                + nonce
                + offer["spi"].to_bytes(4)
                + spi.to_bytes(4)
                + offer["key"].encode()
            )

        agreed = context(nonce, spi)
        self.proofs = {
            m: expand(epoch, b"proof of " + m.encode() + b"\0" + agreed) for m in ("accept", "confirm", "done")
        }
        # The slave has not chosen its nonce and SPI when the master makes an offer.
        self.proofs["offer"] = expand(epoch, b"proof of offer\0" + context(bytes(32), 0))
        crypt, auth, crypt_bytes, auth_bytes = SUITES[suite]
        self.sas = {}
        for sender, receiver_spi in (("master", spi), ("slave", offer["spi"])):
            name = sender.encode() + b"\0" + agreed
            keymat = expand(epoch, b"keys of " + name, crypt_bytes + auth_bytes)
            self.sas[sender] = SecurityAssociation(
                ESP,
                spi=receiver_spi,
                crypt_algo=crypt,
                crypt_key=keymat[:crypt_bytes],
                auth_algo=auth,
                auth_key=keymat[crypt_bytes:] or None,
                tunnel_header=IP(src="192.0.2.2", dst="192.0.2.1"),
                nat_t_header=UDP(sport=PORT, dport=PORT),
                esn_en=offer["esn"],
            )


class Peer:
    def __init__(self, ours: str, theirs: str, suite: str, esn: bool, control: bytes, key: bytes) -> None:
        self.suite, self.esn, self.key = suite, esn, key
        self.root = extract(LABEL, control)
        self.control = {role: expand(self.root, b"control " + role.encode()) for role in ("master", "slave")}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((ours, PORT))
        self.socket.connect((theirs, PORT))
        self.boot, self.master, self.challenge = secrets.token_bytes(16), bytes(16), secrets.token_bytes(16)
        self.count = 0
        self.receiving: dict[int, SecurityAssociation] = {}
        self.accepted: tuple[dict, dict, Epoch] | None = None
        self.sending: SecurityAssociation | None = None
        self.seen: Counter[str] = Counter()

    def say(self, to: bytes, what: dict) -> None:
        self.count += 1
        text = json.dumps({"from": self.boot.hex(), "to": to.hex(), "count": self.count, "say": what}).encode()
        tag = hmac.digest(self.control["slave"], text, "sha256")
        with contextlib.suppress(ConnectionError):
            self.socket.send(MARKER + tag + text)

    def hello(self) -> None:
        if self.master == bytes(16):
            self.say(bytes(16), {"hello": {"challenge": self.challenge.hex(), "versions": VERSIONS}})

    def hear(self, datagram: bytes) -> None:
        tag, text = datagram[4 : 4 + TAG], datagram[4 + TAG :]
        assert hmac.compare_digest(tag, hmac.digest(self.control["master"], text, "sha256"))
        message = json.loads(text)
        sender = bytes.fromhex(message["from"])
        ((kind, body),) = message["say"].items()
        if kind == "hello":
            self.say(sender, {"welcome": {"challenge": body["challenge"], "versions": VERSIONS}})
        elif kind == "welcome":
            if bytes.fromhex(body["challenge"]) == self.challenge:
                self.master = sender
        elif sender == self.master and bytes.fromhex(message["to"]) == self.boot:
            self.seen[kind] += 1
            {"offer": self.offered, "confirm": self.confirmed}[kind](body)

    def offered(self, offer: dict) -> None:
        assert (offer["suite"], offer["esn"]) == (self.suite, self.esn)
        if self.accepted and self.accepted[0]["epoch"] == offer["epoch"]:
            self.say(self.master, {"accept": self.accepted[1]})
            return
        nonce, spi = secrets.token_bytes(32), 256 + secrets.randbelow((1 << 32) - 256)
        epoch = Epoch(self.root, self.key, self.suite, self.master + self.boot, offer, nonce, spi)
        assert bytes.fromhex(offer["proof"]) == epoch.proofs["offer"]
        accept = {
            "epoch": offer["epoch"],
            "nonce": nonce.hex(),
            "spi": spi,
            "proof": epoch.proofs["accept"].hex(),
        }
        self.receiving[spi] = epoch.sas["master"]
        self.accepted = offer, accept, epoch
        self.say(self.master, {"accept": accept})

    def confirmed(self, confirm: dict) -> None:
        assert self.accepted is not None
        offer, _, epoch = self.accepted
        if offer["epoch"] == confirm["epoch"]:
            assert bytes.fromhex(confirm["proof"]) == epoch.proofs["confirm"]
            self.sending = epoch.sas["slave"]
            self.say(self.master, {"done": {"epoch": offer["epoch"], "proof": epoch.proofs["done"].hex()}})

    def open(self, datagram: bytes) -> None:
        packet = IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=PORT, dport=PORT) / ESP(datagram)
        sa = self.receiving[int.from_bytes(datagram[:4])]
        inner = sa.decrypt(IP(bytes(packet)))  # raises if the ICV is wrong
        self.seen["opened"] += 1
        if ICMP in inner and inner[ICMP].type == 8 and self.sending:
            answer = IP(src=inner.dst, dst=inner.src) / ICMP(bytes(inner[ICMP]))
            answer[ICMP].type, answer[ICMP].chksum = 0, None
            sealed = self.sending.encrypt(IP(bytes(answer)))
            self.socket.send(bytes(sealed[UDP].payload))
            self.seen["answered"] += 1


def keys_of(control: list[bytes], suite: str, control_key: bytes, key: bytes) -> dict[int, bytes]:
    """Derive the cipher keys by SPI from recorded control messages and the secrets."""
    root = extract(LABEL, control_key)
    offers, found = {}, {}
    for datagram in control:
        message = json.loads(datagram[4 + TAG :])
        ((kind, body),) = message["say"].items()
        if kind == "offer":
            offers[body["epoch"]] = message["from"], body
        elif kind == "accept" and body["epoch"] in offers:
            master, offer = offers[body["epoch"]]
            boots = bytes.fromhex(master) + bytes.fromhex(message["from"])
            epoch = Epoch(root, key, suite, boots, offer, bytes.fromhex(body["nonce"]), body["spi"])
            found |= {sa.spi: sa.crypt_key + sa.crypt_salt for sa in epoch.sas.values()}
    return found


def main() -> None:
    if sys.argv[1] == "--versions":
        VERSIONS["oldest"], VERSIONS["newest"] = int(sys.argv[2]), int(sys.argv[3])
        del sys.argv[1:4]
    theirs, ours, suite, esn, control, key = sys.argv[1:]
    read = lambda name: bytes.fromhex(Path(name).read_text().strip())  # noqa: E731
    peer = Peer(ours, theirs, suite, esn == "true", read(control), read(key))
    selector = selectors.DefaultSelector()
    selector.register(peer.socket, selectors.EVENT_READ, peer)
    selector.register(sys.stdin, selectors.EVENT_READ)
    while True:
        peer.hello()
        for key_, _ in selector.select(timeout=0.2):
            if key_.data is None:
                print(json.dumps(peer.seen), flush=True)
                return
            try:
                datagram = peer.socket.recv(65536)
            except ConnectionError:
                continue
            if datagram[:4] == MARKER:
                peer.hear(datagram)
            else:
                peer.open(datagram)


if __name__ == "__main__":
    main()
