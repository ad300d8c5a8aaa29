"""Arguments in any memory layout, and arguments that other threads change during the call."""

import array
import ctypes
import mmap
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest

import sealcomb

ROWS = 700
WIDTH = 33
CIPHERS = {
    "AESGCM": sealcomb.AESGCM(bytes(range(16))),
    "AESCCM": sealcomb.AESCCM(bytes(range(24)), 8),
    "AESOCB3": sealcomb.AESOCB3(bytes(range(32))),
    "AESGCMSIV": sealcomb.AESGCMSIV(bytes(range(32))),
}
SIV = sealcomb.AESSIV(bytes(range(64)))
each_cipher = pytest.mark.parametrize("cipher", CIPHERS.values(), ids=CIPHERS)


class Subclass(np.ndarray):
    """A subclass of arrays, as libraries define it."""


def spread(rows, steps, fill=0xA5):
    """Returns the rows as a view of a larger array, with gaps or reversed."""
    shape = [abs(step) * size + 3 for step, size in zip(steps, rows.shape, strict=True)]
    large = np.full(shape, fill, np.uint8)
    view = large[1:-2, 1:-2][tuple(slice(None, None, step) for step in steps)]
    view[:] = rows
    return view


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


# Functions that return a two-dimensional array with the same rows in another layout.
LAYOUTS = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "transposed": lambda rows: np.ascontiguousarray(rows.T).T,
    "transposed, with gaps": lambda rows: spread(rows.T, (2, 3)).T,
    "rows from the last to the first": lambda rows: spread(rows, (-1, 1)),
    "columns from the last to the first": lambda rows: spread(rows, (1, -1)),
    "all backwards": lambda rows: np.ascontiguousarray(rows[::-1, ::-1])[::-1, ::-1],
    "every other row": lambda rows: spread(rows, (2, 1)),
    "every other column": lambda rows: spread(rows, (1, 2)),
    "a part of a larger array": lambda rows: spread(rows, (1, 1)),
    "at an odd address": lambda rows: np.frombuffer(b"x" + rows.tobytes(), np.uint8)[1:].reshape(rows.shape),
    "read-only": read_only,
    "big-endian": lambda rows: rows.astype(">u1"),
    "from three dimensions": lambda rows: np.moveaxis(np.stack([rows, rows + 1], axis=1), 1, 0)[0],
    "a subclass": lambda rows: np.asfortranarray(rows).view(Subclass),
    "a matrix": lambda rows: rows.T.copy().T.view(np.matrix),
    "from a bytearray": lambda rows: np.ndarray(rows.shape, np.uint8, bytearray(rows.tobytes())),
}
each_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def rows_of(width, seed, rows=ROWS):
    return np.random.default_rng(seed).integers(0, 256, (rows, width), dtype=np.uint8)


NONCES, DATA, AADS = rows_of(12, 1), rows_of(WIDTH, 2), rows_of(5, 3)
ARGUMENTS = {"nonces": NONCES, "data": DATA, "associated_data": AADS}
each_argument = pytest.mark.parametrize("argument", ARGUMENTS)


def lists(arguments):
    return {name: [bytes(row) for row in rows] for name, rows in arguments.items()}


@each_layout
def test_layouts_preserve_the_rows(layout):
    for rows in ARGUMENTS.values():
        np.testing.assert_array_equal(layout(rows), rows)


@each_cipher
@each_argument
@each_layout
def test_an_array_in_any_layout_is_sealed_and_opened_as_a_list_of_its_rows(cipher, argument, layout):
    expected = cipher.encrypt_many(**lists(ARGUMENTS))
    sealed = cipher.encrypt_many(**{**ARGUMENTS, argument: layout(ARGUMENTS[argument])})
    assert list(map(bytes, sealed)) == expected
    closed = {**ARGUMENTS, "data": np.array(sealed)}
    closed[argument] = layout(closed[argument])
    np.testing.assert_array_equal(cipher.decrypt_many(**closed), DATA)
    assert cipher.decrypt_many(**closed, forged="none") == lists(ARGUMENTS)["data"]


@each_layout
def test_siv_accepts_arrays_in_any_layout(layout):
    sealed = SIV.encrypt_many(layout(DATA), [b"string"])
    assert list(map(bytes, sealed)) == SIV.encrypt_many(lists(ARGUMENTS)["data"], [b"string"])
    np.testing.assert_array_equal(SIV.decrypt_many(layout(sealed), [b"string"]), DATA)


@each_layout
@pytest.mark.parametrize("shape", [(0, 7), (3, 0), (0, 0), (1, 1), (1, 40), (40, 1)])
def test_arrays_of_few_bytes_in_any_layout(layout, shape):
    cipher, rows = CIPHERS["AESGCM"], rows_of(shape[1], 4, shape[0])
    nonces = NONCES[: shape[0]]
    sealed = cipher.encrypt_many(nonces, layout(rows))
    assert sealed.shape == (shape[0], shape[1] + 16)
    assert list(map(bytes, sealed)) == cipher.encrypt_many(list(map(bytes, nonces)), list(map(bytes, rows)))
    np.testing.assert_array_equal(cipher.decrypt_many(nonces, layout(sealed)), rows)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["C order", "Fortran order", "all backwards", "a part of a larger array"])
def test_arrays_of_many_rounds_of_work(name, threads):
    """Arrays are copied in rounds, together with the matching rows of other arguments."""
    cipher, rows = CIPHERS["AESGCM"], rows_of(1000, 5, 12_000)
    nonces = np.arange(12_000, dtype=">u8").view(np.uint8).reshape(-1, 8)
    sealed = cipher.encrypt_many(LAYOUTS[name](nonces), LAYOUTS[name](rows), threads=threads)
    expected = cipher.encrypt_many([bytes(row) for row in nonces], [row.tobytes() for row in rows])
    assert sealed.tobytes() == b"".join(expected)
    opened = cipher.decrypt_many(nonces, LAYOUTS[name](sealed), threads=threads)
    np.testing.assert_array_equal(opened, rows)
    sealed[[3, 11_999], 5] ^= 1
    with pytest.raises(sealcomb.ForgedMessages) as caught:
        cipher.decrypt_many(nonces, LAYOUTS[name](sealed), threads=threads)
    assert caught.value.indices == (3, 11_999)


@each_cipher
def test_one_row_for_all_messages_may_be_broadcast(cipher):
    data, aads = (
        np.broadcast_to(ARGUMENTS[name][:1], ARGUMENTS[name].shape) for name in ("data", "associated_data")
    )
    sealed = cipher.encrypt_many(NONCES, data, aads)
    arguments = {"nonces": NONCES, "data": data, "associated_data": aads}
    assert list(map(bytes, sealed)) == cipher.encrypt_many(**lists(arguments))
    np.testing.assert_array_equal(cipher.decrypt_many(NONCES, sealed, aads), data)
    with pytest.raises(ValueError, match="messages 0 and 1 have the same nonce"):
        cipher.encrypt_many(np.broadcast_to(NONCES[:1], NONCES.shape), data)


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_repeated_nonces_are_refused_in_any_layout(argument):
    nonces = NONCES.copy()
    nonces[650] = nonces[20]
    for layout in LAYOUTS.values():
        with pytest.raises(ValueError, match="messages 20 and 650 have the same nonce"):
            CIPHERS["AESGCM"].encrypt_many(
                **{**ARGUMENTS, argument: layout(ARGUMENTS[argument])} | {"nonces": layout(nonces)}
            )


STRUCTURE = np.dtype([("a", np.uint8), ("b", np.uint8)])
NO_ROWS = {
    "no dimension": lambda rows: np.array(rows[0, 0]),
    "one dimension": lambda rows: rows.reshape(-1),
    "three dimensions": lambda rows: rows.reshape(*rows.shape, 1),
    "uint16": lambda rows: rows.astype(np.uint16),
    "big-endian uint16": lambda rows: rows.astype(">u2"),
    "int8": lambda rows: rows.view(np.int8),
    "bool": lambda rows: rows > 9,
    "float": lambda rows: rows.astype(float),
    "objects": lambda rows: rows.astype(object),
    "structures": lambda rows: np.zeros(rows.shape, STRUCTURE),
    "a field of structures": lambda rows: np.zeros(rows.shape, [("a", np.int8)])["a"],
    "bytes": lambda rows: np.full(rows.shape, b"x"),
    "voids": lambda rows: rows.view("V1"),
    "masked": lambda rows: np.ma.masked_array(rows, rows > 9),
}


@each_argument
@pytest.mark.parametrize("other", NO_ROWS)
def test_other_arrays_are_refused(argument, other):
    arguments = {**ARGUMENTS, argument: NO_ROWS[other](ARGUMENTS[argument])}
    for call in (CIPHERS["AESGCM"].encrypt_many, CIPHERS["AESGCM"].decrypt_many):
        with pytest.raises(TypeError, match="array"):
            call(**arguments)
    if argument == "data":
        with pytest.raises(TypeError, match="array"):
            SIV.encrypt_many(arguments["data"])


@each_argument
def test_two_dimensional_buffers_equal_lists_of_their_rows(argument):
    """A two-dimensional buffer has one row per message. Only `data` cannot be one: arrays yield arrays."""
    for layout in LAYOUTS.values():
        other = {**ARGUMENTS, argument: memoryview(layout(ARGUMENTS[argument]))}
        if argument == "data":
            with pytest.raises(TypeError, match="data must be a list of bytes"):
                CIPHERS["AESGCM"].encrypt_many(**other)
        else:
            sealed = CIPHERS["AESGCM"].encrypt_many(**other)
            assert list(map(bytes, sealed)) == CIPHERS["AESGCM"].encrypt_many(**lists(ARGUMENTS))
    with pytest.raises(TypeError):
        CIPHERS["AESGCM"].encrypt_many(**{**ARGUMENTS, argument: memoryview(bytes(60)).cast("B", (5, 4, 3))})
    if argument != "data":
        with pytest.raises(ValueError, match="for 700 messages"):
            CIPHERS["AESGCM"].encrypt_many(**{**ARGUMENTS, argument: memoryview(ARGUMENTS[argument].T)})


def mapped(content):
    memory = mmap.mmap(-1, max(len(content), 1))
    memory[: len(content)] = content
    return memoryview(memory)[: len(content)]


def every_other(content):
    spaced = bytearray(2 * len(content))
    spaced[::2] = content
    return spaced[::2], memoryview(spaced)[::2]


# Functions that return an object with the buffer protocol whose items, in index order, are the given bytes.
BUFFERS = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "memoryview of a part": lambda content: memoryview(b"ab" + content + b"c")[2:-1],
    "memoryview with gaps": lambda content: every_other(content)[1],
    "memoryview backwards": lambda content: memoryview(content[::-1])[::-1],
    "memoryview of two dimensions": lambda content: memoryview(content).cast("B", (1, len(content))),
    "memoryview of chars": lambda content: memoryview(content).cast("c"),
    "memoryview of signed": lambda content: memoryview(content).cast("b"),
    "memoryview of bools": lambda content: memoryview(content).cast("?"),
    "array.array": lambda content: array.array("B", content),
    "array.array of signed": lambda content: array.array("b", content),
    "array.array of shorts": lambda content: array.array("H", content * 2),
    "array.array of floats": lambda content: array.array("f", content * 4),
    "mmap": mapped,
    "ctypes": lambda content: (ctypes.c_ubyte * len(content)).from_buffer_copy(content),
    "ctypes chars": lambda content: (ctypes.c_char * len(content)).from_buffer_copy(content),
    "pyarrow buffer": pa.py_buffer,
    "numpy": lambda content: np.frombuffer(content, np.uint8),
    "numpy with gaps": lambda content: np.repeat(np.frombuffer(content, np.uint8), 2)[::2],
    "numpy backwards": lambda content: np.frombuffer(content[::-1], np.uint8)[::-1],
    "numpy of two dimensions": lambda content: np.frombuffer(content, np.uint8).reshape(4, -1),
    "numpy, Fortran order": lambda content: np.asfortranarray(
        np.frombuffer(content, np.uint8).reshape(4, -1)
    ),
    "numpy of three dimensions": lambda content: (
        np.frombuffer(content, np.uint8).reshape(2, 2, -1).T.copy().T
    ),
    "numpy of int8": lambda content: np.frombuffer(content, np.int8),
    "numpy of uint16": lambda content: np.frombuffer(content, ">u2"),
    "numpy of objects": lambda content: np.frombuffer(content, np.uint8).astype(object),
    "numpy of structures": lambda content: np.frombuffer(content, STRUCTURE),
    "numpy of voids": lambda content: np.frombuffer(content, f"V{len(content)}"),
    "numpy of bytes": lambda content: np.frombuffer(content, f"S{len(content)}"),
    "numpy of dates": lambda content: np.frombuffer(content.ljust(-(-len(content) // 8) * 8), "M8[s]"),
}
REFUSED = (TypeError, BufferError, ValueError)
CONTENT = bytes(range(16))
JSON = sealcomb.Keyset.from_keys({7: bytes(32)}, 7).secret_tink_json()
COLUMN = pa.array([b"value"])
FIXED = sealcomb.Keyset.from_keys({7: bytes(64)}, 7, "deterministic")


def cmac(data):
    mac = sealcomb.CMAC(sealcomb.algorithms.AES(bytes(16)))
    mac.update(data)
    return mac.finalize()


# Calls with one argument of 16 bytes, whose results depend on all of its bytes.
CALLS = {
    **{
        f"{name}.{call}": calls
        for name, cipher in CIPHERS.items()
        for call, calls in {
            "key": lambda key, name=name: getattr(sealcomb, name)(key).encrypt(bytes(12), b"m", None),
            "encrypt data": lambda data, cipher=cipher: cipher.encrypt(bytes(12), data, None),
            "encrypt associated_data": lambda aad, cipher=cipher: cipher.encrypt(bytes(12), b"m", aad),
            "decrypt data": lambda data, cipher=cipher: cipher.decrypt(bytes(12), data, None),
            "encrypt_many data": lambda data, cipher=cipher: cipher.encrypt_many([bytes(12)], [data]),
            "encrypt_many associated_data": lambda aad, cipher=cipher: cipher.encrypt_many(
                [bytes(12)], [b"m"], [aad]
            ),
            "encrypt_many one associated_data": lambda aad, cipher=cipher: cipher.encrypt_many(
                [bytes(12)], [b"m"], aad
            ),
        }.items()
    },
    "AESGCM.encrypt nonce": lambda nonce: CIPHERS["AESGCM"].encrypt(nonce, b"m", None),
    "AESGCM.decrypt nonce": lambda nonce: CIPHERS["AESGCM"].decrypt(
        nonce, CIPHERS["AESGCM"].encrypt(CONTENT, b"m", None), None
    ),
    "AESGCM.encrypt_many nonce": lambda nonce: CIPHERS["AESGCM"].encrypt_many([nonce], [b"m"]),
    "AEGIS128L.encrypt_many nonces": lambda nonces: sealcomb.AEGIS128L(CONTENT).encrypt_many(nonces, [b"m"]),
    "AESSIV.encrypt data": lambda data: SIV.encrypt(data, None),
    "AESSIV.encrypt string": lambda string: SIV.encrypt(b"m", [string]),
    "AESSIV.encrypt_many data": lambda data: SIV.encrypt_many([data]),
    "AESSIV.encrypt_many string": lambda string: SIV.encrypt_many([b"m"], [string]),
    "AESSIV.encrypt_many strings": lambda string: SIV.encrypt_many([b"m"], associated_data_each=[[string]]),
    "CMAC.update": cmac,
    "algorithms.AES": lambda key: sealcomb.CMAC(sealcomb.algorithms.AES(key)).finalize(),
    "Keyset.from_keys": lambda key: sealcomb.Keyset.from_keys({7: key}, 7).secret_tink_json(),
    "seal_column context": lambda context: sealcomb.seal_column(COLUMN, FIXED, context=context).to_pylist(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("buffer", BUFFERS)
def test_buffers_are_read_in_logical_order_or_refused(call, buffer):
    def outcome(argument):
        try:
            return CALLS[call](argument)
        except sealcomb.InvalidTag:
            return "forged"

    try:
        result = outcome(BUFFERS[buffer](CONTENT))
    except REFUSED:
        # A flat array is ambiguous: its items could be messages.
        flat = buffer == "numpy" and call.endswith(
            ("encrypt_many nonces", "encrypt_many one associated_data")
        )
        assert buffer not in ("bytes", "bytearray", "memoryview", "array.array", "mmap", "numpy") or flat
    else:
        assert result == outcome(CONTENT)


INTO = {
    **{name: cipher.encrypt_into for name, cipher in CIPHERS.items()},
    "AESSIV": lambda _, data, aad, buf: SIV.encrypt_into(data, aad, buf),
}


@pytest.mark.parametrize("name", INTO)
@pytest.mark.parametrize("buffer", BUFFERS)
def test_results_are_written_in_logical_order_or_not_at_all(name, buffer):
    expected = bytearray(16 + (8 if name == "AESCCM" else 16))
    INTO[name](bytes(12), CONTENT, None, expected)
    content = bytes(len(expected))
    target = BUFFERS[buffer](content)
    if isinstance(target, np.ndarray):
        target = (
            target.copy(order="K") if target.flags.c_contiguous else spread(target.reshape(1, -1), (1, 2))[0]
        )
    elif isinstance(target, memoryview):
        target = memoryview(bytearray(target.tobytes())).cast(target.format) if target.contiguous else target
    before = memoryview(target).tobytes() if buffer != "numpy of dates" else target.tobytes()
    try:
        INTO[name](bytes(12), CONTENT, None, target)
    except REFUSED:
        after = memoryview(target).tobytes() if buffer != "numpy of dates" else target.tobytes()
        assert after == before
        assert buffer not in ("bytearray", "array.array", "mmap", "numpy")
    else:
        assert memoryview(target).tobytes() == bytes(expected)


def run(code):
    """Runs a program that might crash."""
    program = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.strip()


CONCURRENTLY = """
    import threading, time
    import numpy as np, sealcomb
    cipher = sealcomb.AESGCM(bytes(16))
    rows = 60_000
    def concurrently(change, call):
        "Changes arrays repeatedly while a call uses them."
        ended = threading.Event()
        def repeat():
            while not ended.is_set():
                change()
        thread = threading.Thread(target=repeat)
        thread.start()
        try:
            return call()
        finally:
            ended.set()
            thread.join()
"""


def test_nonces_that_change_during_the_call_are_those_that_were_checked():
    code = textwrap.dedent(CONCURRENTLY) + textwrap.dedent("""
        good = np.zeros((rows, 12), np.uint8)
        good[:, :4] = np.arange(rows, dtype=">u4").view(np.uint8).reshape(-1, 4)
        nonces, data = good.copy(), np.zeros((rows, 64), np.uint8)
        def change():
            nonces[:] = 7
            nonces[:] = good
        sealed = refused = 0
        while sealed < 10:
            try:
                out = concurrently(change, lambda: cipher.encrypt_many(nonces, data, threads=2))
            except ValueError:
                refused += 1
                continue
            sealed += 1
            assert len(np.unique(out[:, :16].copy().view("V16"))) == rows, "one nonce for several messages"
        print("ok")
    """)
    assert run(code) == "ok"


def test_data_that_changes_during_the_call_is_sealed_consistently():
    code = textwrap.dedent(CONCURRENTLY) + textwrap.dedent("""
        nonces = np.arange(rows, dtype=">u8").view(np.uint8).reshape(-1, 8)
        for kind in (sealcomb.AESGCM, sealcomb.AESGCMSIV):
            cipher = kind(bytes(16))
            nonces = np.zeros((rows, 12), np.uint8)
            nonces[:, :4] = np.arange(rows, dtype=">u4").view(np.uint8).reshape(-1, 4)
            data = np.zeros((rows, 64), np.uint8)
            aads = np.zeros((rows, 20), np.uint8)
            def change():
                data[:] = 7
                aads[:] = 0
                data[:] = 0
            for _ in range(5):
                sealed = concurrently(change, lambda: cipher.encrypt_many(nonces, data, aads, threads=2))
                cipher.decrypt_many(nonces, sealed, aads)
                def spoil():
                    sealed[:, -1] ^= 1
                    sealed[:, -1] ^= 1
                opened = concurrently(spoil, lambda: cipher.decrypt_many(nonces, sealed, aads, forged="none"))
                assert all(each is None or set(each) <= {0, 7} for each in opened)
        print("ok")
    """)
    assert run(code) == "ok"


def test_freeing_an_array_during_the_first_call_is_harmless():
    """The first call imports parts of numpy, and releases the GIL in between."""
    code = """
        import builtins, sys, threading, time
        import numpy as np, sealcomb
        cipher = sealcomb.AESGCM(bytes(16))
        rows = 60_000
        nonces = np.zeros((rows, 12), np.uint8)
        nonces[:, :4] = np.arange(rows, dtype=">u4").view(np.uint8).reshape(-1, 4)
        state, now = (1, (0, 12), np.dtype("u1"), False, b""), threading.Lock()
        def free():
            with now:
                nonces.__setstate__(state)
        now.acquire()
        thread = threading.Thread(target=free)
        thread.start()
        left, original = {imports}, builtins.__import__
        def hook(*arguments, **named):
            global left
            left -= 1
            if left == -1:
                now.release()
                # The other thread wakes up, and waits for this one to release the GIL.
                end = time.perf_counter() + 0.005
                while time.perf_counter() < end:
                    pass
            return original(*arguments, **named)
        sys.setswitchinterval(10)
        builtins.__import__ = hook
        try:
            cipher.encrypt_many(nonces, [b""] * rows, None)
        except (RuntimeError, ValueError):
            pass
        builtins.__import__ = original
        if left >= 0:
            now.release()
        thread.join()
        print("freed" if left < 0 else "not freed")
    """
    imports = 0
    while run(code.format(imports=imports)) == "freed":
        imports += 1
    assert imports > 1


@pytest.mark.parametrize("argument", ["nonces", "data", "aads"])
@pytest.mark.parametrize(
    "free",
    [
        "each.resize((0, each.shape[1]), refcheck=False)",
        "each.__setstate__((1, (0, 12), np.dtype('u1'), False, b''))",
    ],
    ids=["resize", "setstate"],
)
def test_freeing_an_array_during_the_call_is_harmless(argument, free):
    """The memory is large enough to be returned to the OS, so reading it would crash."""
    code = textwrap.dedent(CONCURRENTLY) + textwrap.dedent(f"""
        class Arrays:
            pass
        for attempt in range(8):
            arrays = Arrays()
            arrays.nonces = np.zeros((rows, 12), np.uint8)
            arrays.nonces[:, :4] = np.arange(rows, dtype=">u4").view(np.uint8).reshape(-1, 4)
            arrays.data, arrays.aads = np.zeros((rows, 1024), np.uint8), np.zeros((rows, 20), np.uint8)
            each = arrays.{argument}
            started = threading.Event()
            def change():
                started.wait()
                time.sleep(0.003 * attempt)
                {free}
            thread = threading.Thread(target=change)
            thread.start()
            started.set()
            call = cipher.decrypt_many if attempt % 2 else cipher.encrypt_many
            try:
                call(arrays.nonces, arrays.data, arrays.aads, threads=2)
            except (RuntimeError, ValueError, sealcomb.InvalidTag):
                pass
            thread.join()
        print("ok")
    """)
    assert run(code) == "ok"


def test_results_are_not_written_to_freed_memory():
    code = textwrap.dedent(CONCURRENTLY) + textwrap.dedent("""
        data = bytes(64 << 20)
        for attempt in range(5):
            buffer = np.zeros(len(data) + 16, np.uint8)
            def change():
                time.sleep(0.004 * attempt)
                buffer.resize(0, refcheck=False)
            thread = threading.Thread(target=change)
            thread.start()
            try:
                cipher.encrypt_into(bytes(12), data, None, buffer)
            except ValueError as error:
                assert "buffer must be" in str(error)
            thread.join()
        print("ok")
    """)
    assert run(code) == "ok"


def test_a_bytearray_cannot_be_resized_during_the_call():
    code = textwrap.dedent(CONCURRENTLY) + textwrap.dedent("""
        data, buffer = bytes(64 << 20), bytearray((64 << 20) + 16)
        seen = []
        def change():
            try:
                buffer.append(1)
                buffer.pop()
            except BufferError:
                seen.append(1)
        while not seen:
            try:
                concurrently(change, lambda: cipher.encrypt_into(bytes(12), data, None, buffer))
            except ValueError:
                pass  # The buffer was resized before the call exported it.
        assert bytes(buffer) == cipher.encrypt(bytes(12), data, None)
        print("ok")
    """)
    assert run(code) == "ok"


def test_arrays_that_exceed_memory_are_refused():
    """A row that is broadcast to billions takes no memory until it is copied."""
    one = np.zeros((1, 1), np.uint8)
    for shape in [(1 << 20, 1 << 40), (1, 1 << 50), (1 << 40, 1 << 22)]:
        with pytest.raises((MemoryError, ValueError)):
            SIV.encrypt_many(np.broadcast_to(one, shape))
