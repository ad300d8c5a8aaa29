"""The tables in testvectors/sealed: others seal the same bytes, and this package seals and opens them.

To write a table, the one of values under new keys:

    python python/tests/test_sealed.py testvectors/sealed/messages.json
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pyaegis
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import aead as pyca
from test_tink import POLICIES, TEMPLATES, Tink, json_of
from test_xaes import derived
from tink import new_keyset_handle

import sealcomb

VECTORS = Path(__file__).parents[2] / "testvectors"
MESSAGES, VALUES = VECTORS / "sealed/messages.json", VECTORS / "sealed/values.json"
CONTEXT, VALUE = "people.note", "naïve ☃"


def strings(nonce, aad):
    """Returns SIV's associated strings, the last of which is the nonce."""
    return [aad, nonce] if nonce else [aad]


def sealed_by_pyca(name):
    return "cryptography", lambda key, nonce, aad, msg: getattr(pyca, name)(key).encrypt(nonce, msg, aad)


# By mode: a package of PyPI, and how it seals.
PEERS = {
    "gcm": sealed_by_pyca("AESGCM"),
    "ccm": sealed_by_pyca("AESCCM"),
    "ocb3-t128": sealed_by_pyca("AESOCB3"),
    "gcm-siv": sealed_by_pyca("AESGCMSIV"),
    "siv": (
        "cryptography",
        lambda key, nonce, aad, msg: pyca.AESSIV(key).encrypt(msg, strings(nonce, aad)),
    ),
    "xaes256-gcm": (
        "cryptography",
        lambda key, nonce, aad, msg: derived(key, nonce).encrypt(nonce[12:], msg, aad),
    ),
    "aegis128l": (
        "pyaegis",
        lambda key, nonce, aad, msg: pyaegis.Aegis128L(tag_size=16).encrypt(key, nonce, msg, aad),
    ),
    "aegis256": (
        "pyaegis",
        lambda key, nonce, aad, msg: pyaegis.Aegis256(tag_size=16).encrypt(key, nonce, msg, aad),
    ),
}
OURS = {
    "gcm": sealcomb.AESGCM,
    "ccm": sealcomb.AESCCM,
    "ocb3-t128": sealcomb.AESOCB3,
    "gcm-siv": sealcomb.AESGCMSIV,
    "siv": sealcomb.AESSIV,
    "xaes256-gcm": sealcomb.XAES256GCM,
    "aegis128l": sealcomb.AEGIS128L,
    "aegis256": sealcomb.AEGIS256,
}
# The sizes of key and nonce in bytes, by algorithm.
SIZES = {
    **{
        f"aes{bits}-{mode}": (bits // 8, 12)
        for mode in ("gcm", "ccm", "ocb3-t128")
        for bits in (128, 192, 256)
    },
    **{f"aes{bits}-gcm-siv": (bits // 8, 12) for bits in (128, 256)},
    **{f"aes{bits}-siv": (bits // 4, 16) for bits in (128, 192, 256)},
    "xaes256-gcm": (32, 24),
    "aegis128l": (16, 16),
    "aegis256": (32, 32),
}


def mode_of(algorithm):
    return algorithm[7:] if algorithm[:7] in {"aes128-", "aes192-", "aes256-"} else algorithm


def sealed_by_peer(algorithm, sizes):
    """Returns a message with these sizes of nonce, additional data and text, sealed by another library."""
    package, seal = PEERS[mode_of(algorithm)]
    random, parts = hashlib.shake_256(f"{algorithm} {sizes}".encode()).digest(256), {}
    for name, size in zip(("key", "nonce", "aad", "msg"), (SIZES[algorithm][0], *sizes), strict=True):
        parts[name], random = random[:size], random[size:]
    parts["sealed"] = seal(*parts.values())
    return {"algorithm": algorithm, "source": f"PyPI {package}"} | {
        name: part.hex() for name, part in parts.items()
    }


def sealed_by_file(path):
    """Returns a message of a file of known answers. All modes without a peer here put the tag last."""
    file = json.loads(path.read_text())

    def suits(test):
        msg, ct, aad, nonce = (len(test[name]) // 2 for name in ("msg", "ct", "aad", "nonce"))
        # Single calls cannot open other messages of Julius.
        julius = file["algorithm"].endswith("julius-ecb")
        return (
            16 < msg < 80
            and 0 < aad < 60
            and nonce in (8, 12, 16)
            and (msg == ct if julius else msg % 16 > 0)
        )

    test = next(test for test in file["tests"] if suits(test))
    row = {"algorithm": file["algorithm"], "source": f"{path.name}, test {test['id']}"}
    row |= {name: test[name] for name in ("key", "nonce", "aad", "msg")}
    return row | {"sealed": test["ct"] + test["tag"]}


def messages():
    rows = []
    for algorithm, (_, nonce) in SIZES.items():
        for sizes in [(nonce, 20, 37), (nonce, 0, 0), *([(0, 5, 16)] if mode_of(algorithm) == "siv" else [])]:
            rows.append(sealed_by_peer(algorithm, sizes))
    for path in sorted(VECTORS.glob("*.json")):
        file = json.loads(path.read_text())
        if {"ct", "tag"} <= set().union(*file["tests"]) and mode_of(file["algorithm"]) not in PEERS:
            rows.append(sealed_by_file(path))
    return [{"id": i, **row} for i, row in enumerate(rows, 1)]


def values():
    rows = []
    for name, template in TEMPLATES.items():
        keyset = json_of(new_keyset_handle(template))
        sealed = Tink(keyset, name.endswith("256_SIV")).seal(VALUE.encode(), CONTEXT.encode())
        rows.append({"key": name, "keyset": json.loads(keyset), "sealed": sealed.hex()})
    return rows


def read(path):
    return json.loads(path.read_text())["tests"]


def test_others_seal_the_messages():
    assert read(MESSAGES) == messages()


def test_messages():
    rows = [row for row in read(MESSAGES) if mode_of(row["algorithm"]) in OURS]
    assert len(rows) == len(messages()) - sum(".json" in row["source"] for row in messages())
    for row in rows:
        mode, parts = mode_of(row["algorithm"]), ("key", "nonce", "aad", "msg", "sealed")
        key, nonce, aad, msg, sealed = (bytes.fromhex(row[part]) for part in parts)
        cipher, moved = OURS[mode](key), sealed[-16:] + sealed[:-16]
        # SIV's calls have no separate nonce, and its data comes first.
        around = ((), (strings(nonce, aad),)) if mode == "siv" else ((nonce,), (aad,))
        assert cipher.encrypt(*around[0], msg, *around[1]) == sealed, row
        assert cipher.decrypt(*around[0], sealed, *around[1]) == msg, row
        if msg:
            with pytest.raises(sealcomb.InvalidTag):
                cipher.decrypt(*around[0], moved, *around[1])


def test_values():
    rows = read(VALUES)
    assert [row["key"] for row in rows] == list(TEMPLATES)
    for row in rows:
        text, sealed = json.dumps(row["keyset"]), bytes.fromhex(row["sealed"])
        keyset = sealcomb.Keyset.from_tink_json(text)
        deterministic = keyset.policy == "deterministic"
        assert keyset.policy == POLICIES[row["key"].split("_", 1)[1]]
        assert Tink(text, deterministic).open(sealed, CONTEXT.encode()) == VALUE.encode()
        opened = sealcomb.unseal_column(pa.array([sealed]), keyset, context=CONTEXT.encode())
        assert opened.to_pylist() == [VALUE.encode()]
        if deterministic:
            again = sealcomb.seal_column(pa.array([VALUE]), keyset, context=CONTEXT.encode())
            assert again.to_pylist() == [sealed]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        file = {"tests": messages()}
        if Path(path).name == VALUES.name:
            file = {"context": CONTEXT, "value": VALUE.encode().hex(), "tests": values()}
        Path(path).write_text(json.dumps(file, indent=0) + "\n")
