#!/usr/bin/env python3
"""Write the golden control messages of sealcomb-link with the independent implementation in peer.py.

usage: vectors.py FILE

The file contains one message of each type, as the JSON text and as the datagram on the wire, and an exchange with its
secrets: the source's key, the proofs, and the keys of both associations. All random values are fixed.
"""

import hmac
import json
import sys
from pathlib import Path

import peer

CONTROL_KEY = bytes(range(32))
SOURCE_KEY = bytes(range(100, 132))
MASTER, SLAVE = bytes([0xA1] * 16), bytes([0xB2] * 16)
NONCES = bytes([0xC3] * 32), bytes([0xD4] * 32)
SPIS = 0x1001, 0xFFFFFFFE
VERSIONS = {"oldest": 1, "newest": 1, "release": "0.1.0"}
SUITE = "aes256-gcm"


def messages() -> tuple[list[dict], peer.Epoch]:
    root = peer.extract(peer.LABEL, CONTROL_KEY)
    offer = {
        "epoch": 7,
        "key": "5a0c1b52-0e54-4a5b-9d0f-0123456789ab",
        "next-keys": ["one", "two"],
        "nonce": NONCES[0].hex(),
        "spi": SPIS[0],
        "suite": SUITE,
        "esn": True,
        "proof": "",
    }
    epoch = peer.Epoch(root, SOURCE_KEY, SUITE, MASTER + SLAVE, offer, NONCES[1], SPIS[1])
    offer["proof"] = epoch.proofs["offer"].hex()
    accept = {"epoch": 7, "nonce": NONCES[1].hex(), "spi": SPIS[1], "proof": epoch.proofs["accept"].hex()}
    challenge = bytes([0xE5] * 16).hex()
    said = [
        ("master", {"hello": {"challenge": challenge, "versions": VERSIONS}}),
        ("slave", {"welcome": {"challenge": challenge, "versions": VERSIONS}}),
        ("master", {"offer": offer}),
        ("slave", {"refuse": {"epoch": 6, "why": "no-key", "details": "dec_keys: the KME answered 400"}}),
        ("slave", {"refuse": {"epoch": 6, "why": "outdated"}}),
        ("slave", {"accept": accept}),
        ("master", {"confirm": {"epoch": 7, "proof": epoch.proofs["confirm"].hex()}}),
        ("slave", {"done": {"epoch": 7, "proof": epoch.proofs["done"].hex()}}),
        ("slave", {"worn": {"epoch": 7}}),
    ]
    written = []
    for count, (sender, say) in enumerate(said, 1):
        ours, theirs = (MASTER, SLAVE) if sender == "master" else (SLAVE, MASTER)
        to = bytes(16) if "hello" in say else theirs
        message = {"from": ours.hex(), "to": to.hex(), "count": count, "say": say}
        text = json.dumps(message, separators=(",", ":"))
        key = peer.expand(root, b"control " + sender.encode())
        tag = hmac.digest(key, text.encode(), "sha256")
        written.append({"sender": sender, "text": text, "datagram": (peer.MARKER + tag + text.encode()).hex()})
    return written, epoch


def vectors() -> str:
    written, epoch = messages()
    keymat = {sender: (sa.crypt_key + sa.crypt_salt).hex() for sender, sa in epoch.sas.items()}
    return (
        json.dumps(
            {
                "comment": "Written by tests/net/vectors.py with the independent implementation in peer.py.",
                "control-key": CONTROL_KEY.hex(),
                "source-key": SOURCE_KEY.hex(),
                "version": 1,
                "messages": written,
                "proofs": {name: proof.hex() for name, proof in epoch.proofs.items()},
                "keymat": keymat,
            },
            indent=2,
        )
        + "\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(vectors())
