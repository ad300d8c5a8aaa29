"""Draws nonces and keys with every function that does so, in several processes or threads at once.

`draws.py WAY FOLDER` prints the number of values that each function drew in total, and how many of them are
distinct. With the variable DRAW_BEFORE, the process has drawn before it starts the others.
"""

import json
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import sealcomb
import sealcomb.spark
from sealcomb import Keyset

ROWS = {"one task": 5, "many tasks": 9_000}
KEYS = {"random": bytes(32), "xaes": bytes(32), "gcm": bytes(32), "deterministic": bytes(64)}
KEYSETS = {policy: Keyset.from_keys({7: key}, 7, policy) for policy, key in KEYS.items()}
# All other policies have nonces.
WITHOUT_NONCES = ("deterministic",)
RANDOM = [policy for policy in KEYS if policy not in WITHOUT_NONCES]
CLASSES = {
    "AESGCM": 128,
    "AESCCM": 192,
    "AESOCB3": 256,
    "AESGCMSIV": 128,
    "AESSIV": 512,
    "AESXTS": 256,
    "AESHCTR2": 128,
    "AEGIS128L": 128,
    "AEGIS256": 256,
    "XAES256GCM": 256,
}


def column(rows: int) -> pa.Array:
    return pa.array([b"value"] * rows)


def provider(name: str) -> Keyset:
    return KEYSETS[name]


def nonces(sealed: pa.Array | pa.ChunkedArray, start: int = 5) -> list[bytes]:
    """Returns the nonces of sealed values of equal length."""
    if isinstance(sealed, pa.ChunkedArray):
        sealed = sealed.combine_chunks()
    rows = np.frombuffer(b"".join(sealed.to_pylist()), np.uint8).reshape(len(sealed), -1)
    return [bytes(row) for row in rows[:, start : start + 12]]


def key_of(keyset: Keyset) -> bytes:
    keys = json.loads(keyset.secret_tink_json())["key"]
    return next(key["keyData"]["value"] for key in keys if key["keyId"] == keyset.primary).encode()


def by_spark(verb: str, policy: str, batch: pa.Array) -> pa.Array:
    """Processes a batch like a Spark worker."""
    work = sealcomb.spark.SealcombColumns(verb, (("c", policy),), pickle.dumps(provider), context="")
    (done,) = work(iter([pa.record_batch([batch], ["c"])]))
    return done.column("c")


def by_udf(policy: str, rows: int) -> pa.Array:
    return sealcomb.spark.SealcombValues(pickle.dumps(provider), policy, b"", policy).seal(column(rows))


def keys(make: Callable[[], bytes]) -> Callable[[int], list[bytes]]:
    return lambda rows: [make() for _ in range(min(rows, 10))]


# By function and policy or class: draws for a number of rows.
DRAWS: dict[tuple[str, str], Callable[[int], list[bytes]]] = {}
for _policy, _keyset in KEYSETS.items():
    DRAWS["Keyset.generate", _policy] = keys(lambda policy=_policy: key_of(Keyset.generate(policy)))
    DRAWS["Keyset.rotated", _policy] = keys(lambda keyset=_keyset: key_of(keyset.rotated()))
for _name, _bits in CLASSES.items():
    DRAWS[f"{_name}.generate_key", ""] = keys(
        lambda name=_name, bits=_bits: (
            getattr(sealcomb, name, None) or getattr(sealcomb.hazmat, name)
        ).generate_key(bits)
    )
for _policy in RANDOM:
    _keyset = KEYSETS[_policy]
    DRAWS["seal_column", _policy] = lambda rows, k=_keyset: nonces(
        sealcomb.seal_column(column(rows), k, context=b"")
    )
    DRAWS["seal_column, one thread", _policy] = lambda rows, k=_keyset: nonces(
        sealcomb.seal_column(column(rows), k, context=b"", threads=1)
    )
    DRAWS["seal_column, chunks", _policy] = lambda rows, k=_keyset: nonces(
        sealcomb.seal_column(pa.chunked_array([column(1)] * 3 + [column(rows)]), k, context=b"")
    )
    DRAWS["reseal_column", _policy] = lambda rows, k=_keyset: nonces(
        sealcomb.reseal_column(sealcomb.seal_column(column(rows), k, context=b""), k, context=b"")
    )
DRAWS["spark.seal", "random"] = lambda rows: nonces(by_spark("seal", "random", column(rows)))
DRAWS["spark.reseal", "random"] = lambda rows: nonces(
    by_spark("reseal", "random", sealcomb.seal_column(column(rows), KEYSETS["random"], context=b""))
)
DRAWS["spark.seal_udf", "random"] = lambda rows: nonces(by_udf("random", rows))
DRAWS["spark.seal_aes_encrypt", "gcm"] = lambda rows: nonces(
    by_spark("seal_aes_encrypt", "gcm", column(rows)), 0
)


def drawn() -> dict[str, list[bytes]]:
    return {
        " ".join((*function, size)): draw(rows)
        for function, draw in DRAWS.items()
        for size, rows in ROWS.items()
    }


def draw_to(folder: str) -> None:
    name = f"{os.getpid()}-{threading.get_ident()}-{os.urandom(4).hex()}"
    Path(folder, name).write_bytes(pickle.dumps(drawn()))


def start(processes: list) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def by_multiprocessing(method: str, folder: str) -> None:
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["draws"])
    start([context.Process(target=draw_to, args=(folder,)) for _ in range(3)])
    draw_to(folder)


def by_threads(folder: str) -> None:
    start([threading.Thread(target=draw_to, args=(folder,)) for _ in range(3)])


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def by_forks(folder: str) -> None:
    """Draws in children and grandchildren, forked one after another."""

    def child() -> None:
        os.waitpid(forked(lambda: draw_to(folder)), 0)
        draw_to(folder)

    for process in [forked(child) for _ in range(2)]:
        os.waitpid(process, 0)
    draw_to(folder)


def during_threads(folder: str) -> None:
    """Draws in children forked while other threads seal. The children lack those threads."""
    # On first use, pyarrow imports pandas and PyO3 interns names. Both hold locks meanwhile, which a child
    # would inherit locked. A deterministic column triggers both and draws nothing.
    sealcomb.seal_column(column(1), KEYSETS["deterministic"], context=b"")
    ended = threading.Event()

    def seal() -> None:
        while not ended.is_set():
            for keyset in KEYSETS.values():
                sealcomb.seal_column(column(50_000), keyset, context=b"", threads=2)

    threads = [threading.Thread(target=seal) for _ in range(2)]
    for thread in threads:
        thread.start()
    children = [forked(lambda: draw_to(folder)) for _ in range(3)]
    draw_to(folder)
    for child in children:
        os.waitpid(child, 0)
    ended.set()
    for thread in threads:
        thread.join()


WAYS: dict[str, Callable[[str], None]] = {
    "fork": lambda folder: by_multiprocessing("fork", folder),
    "forkserver": lambda folder: by_multiprocessing("forkserver", folder),
    "spawn": lambda folder: by_multiprocessing("spawn", folder),
    "threads": by_threads,
    "forks": by_forks,
    "forks during threads": during_threads,
}

if os.environ.get("DRAW_BEFORE"):
    drawn()  # The fork server imports this module and draws, too.

if __name__ == "__main__":
    way, folder = sys.argv[1:]
    WAYS[way](folder)
    all_drawn: dict[str, list[bytes]] = {}
    files = list(Path(folder).iterdir())
    for file in files:
        for name, strings in pickle.loads(file.read_bytes()).items():
            all_drawn.setdefault(name, []).extend(strings)
    counts = {name: [len(strings), len(set(strings))] for name, strings in all_drawn.items()}
    print(json.dumps({"drawing": len(files), "counts": counts}))
