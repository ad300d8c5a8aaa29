"""Calls in general: Ctrl-C, forks, concurrent threads, memory."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest


def run(code, timeout=120):
    """Runs a program, and returns its output."""
    program = textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


HUGE = """
    import numpy as np, pyarrow as pa, sealcomb
    value = pa.array([bytes(1 << 20)], pa.binary_view())
    views = np.tile(np.frombuffer(value.buffers()[1], np.uint8)[:16], 4000)
    column = pa.Array.from_buffers(pa.binary_view(), 4000, [None, pa.py_buffer(views), value.buffers()[2]])
    keyset = sealcomb.Keyset.generate("deterministic")
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_long_call(threads):
    """Sealing 4 GB takes seconds. The signal arrives after 0.3 s, and the call ends within 1 s."""
    code = textwrap.dedent(HUGE) + textwrap.dedent(f"""
        import os, signal, threading, time
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            sealcomb.seal_column(column, keyset, context=b'', threads={threads})
        except KeyboardInterrupt:
            print(time.monotonic() - start)
    """)
    assert float(run(code)) < 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")
def test_forked_processes_draw_different_nonces():
    code = """
        import os, pyarrow as pa, sealcomb
        column = pa.array([b"value"] * 50_000)
        keyset = sealcomb.Keyset.generate()
        sealcomb.seal_column(column, keyset, context=b'', threads=2)
        children = []
        for _ in range(3):
            end, out = os.pipe()
            if os.fork() == 0:
                sealed = sealcomb.seal_column(column, keyset, context=b'', threads=2)
                os.write(out, sealed[0].as_py()[5:17] + sealed[49_999].as_py()[5:17])
                os._exit(0)
            children.append(end)
        nonces = [os.read(end, 24) for end in children]
        sealed = sealcomb.seal_column(column, keyset, context=b'', threads=2)
        nonces.append(b"".join(sealed[row].as_py()[5:17] for row in (0, 49_999)))
        print(len({nonce for both in nonces for nonce in (both[:12], both[12:])}))
    """
    assert run(code) == "8"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_handler_may_fork_during_a_call(threads):
    """Parent and child finish the call, with different nonces for the remaining rows."""
    code = f"""
        import os, signal, numpy as np, pyarrow as pa, sealcomb
        rows = 3_000_000
        data = pa.py_buffer(bytes(64))
        view = pa.array([bytes(64)], pa.binary_view()).buffers()[1]
        views = np.tile(np.frombuffer(view, np.uint8)[:16], rows)
        column = pa.Array.from_buffers(pa.binary_view(), rows, [None, pa.py_buffer(views), data])
        keyset = sealcomb.Keyset.generate()
        sealcomb.seal_column(column.slice(0, 10), keyset, context=b'')
        end, out = os.pipe()
        child = None
        def fork(*_):
            global child
            if child is None:
                child = os.fork()
        signal.signal(signal.SIGALRM, fork)
        signal.setitimer(signal.ITIMER_REAL, 0.08)
        sealed = sealcomb.seal_column(column, keyset, context=b'', threads={threads})
        signal.setitimer(signal.ITIMER_REAL, 0)
        last = sealed[rows - 1].as_py()[5:17]
        if child == 0:
            os.write(out, last)
            os._exit(0)
        assert child is not None, "the call was over before the signal came"
        print(os.read(end, 12) != last, os.waitpid(child, 0)[1])
    """
    assert run(code, timeout=60) == "True 0"


def test_other_python_threads_run_during_a_call():
    code = textwrap.dedent(HUGE) + textwrap.dedent("""
        import threading, time
        ticks = []
        def tick():
            while not done:
                ticks.append(time.monotonic())
                time.sleep(0.001)
        done = False
        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        sealcomb.seal_column(column.slice(0, 1500), keyset, context=b'', threads=1)
        took = time.monotonic() - start
        done = True
        thread.join()
        gaps = [b - a for a, b in zip(ticks, ticks[1:])]
        print(max(gaps) / took)
    """)
    assert float(run(code)) < 0.5


def test_python_threads_can_seal_concurrently():
    import pyarrow as pa  # noqa: PLC0415

    import sealcomb  # noqa: PLC0415

    keyset = sealcomb.Keyset.generate("deterministic")
    column = pa.array([str(row).encode() for row in range(30_000)])
    expected = sealcomb.seal_column(column, keyset, context=b"")
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(sealcomb.seal_column(column, keyset, context=b"") == expected)
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 6


PEAK = """
    import resource, numpy as np, pyarrow as pa, sealcomb
    rows = 4_000_000
    offsets = np.arange(rows + 1, dtype=np.int32) * 64
    data = np.ones(rows * 64, np.uint8)
    column = pa.Array.from_buffers(pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    keyset = sealcomb.Keyset.generate("random")
    sealed = sealcomb.seal_column(column.slice(0, 10), keyset, context=b'')
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    before = peak()
    sealed = sealcomb.seal_column(column, keyset, context=b'')
    print(peak() - before - sum(buffer.size for buffer in sealed.buffers() if buffer))
    before = peak()
    opened = sealcomb.unseal_column(sealed, keyset, context=b'')
    print(peak() - before - sum(buffer.size for buffer in opened.buffers() if buffer))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is Linux's to tell")
def test_a_call_allocates_its_output_and_at_most_64_mb():
    assert all(int(more) < 64_000_000 for more in run(PEAK).split())


def test_works_without_cryptography_and_pyarrow():
    code = """
        import sys
        for missing in ("cryptography", "pyarrow", "numpy", "polars"):
            sys.modules[missing] = None
        import arro3.core
        import sealcomb
        cipher = sealcomb.AESGCM(bytes(16))
        try:
            cipher.decrypt(bytes(12), bytes(16), None)
        except sealcomb.InvalidTag:
            pass
        assert cipher.decrypt_many([bytes(12)], cipher.encrypt_many([bytes(12)], [b"m"])) == [b"m"]
        mac = sealcomb.CMAC(sealcomb.algorithms.AES(bytes(16)))
        mac.finalize()
        try:
            mac.finalize()
        except sealcomb.AlreadyFinalized:
            pass
        column = arro3.core.Array([b"value", None], arro3.core.DataType.binary())
        keyset = sealcomb.Keyset.generate()
        sealed = sealcomb.seal_column(column, keyset, context="c")
        print(sealcomb.unseal_column(sealed, keyset, context="c") == column)
    """
    assert run(code) == "True"
