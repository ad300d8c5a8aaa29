"""The command ``sealcomb-columns`` with folders, standard input and output, and keysets."""

from __future__ import annotations

import io
import json
import os
import resource
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sealcomb import Keyset, _cli, _work

COMMAND = (sys.executable, "-m", "sealcomb")
HOW = ("--column", "x", "--context", "people.{column}")
BAD_INPUT, BAD_COMMAND, BAD_FILE = 1, 2, 3


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    assert _cli.main(["keyset", "new", str(path)]) == 0
    return path


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """A partitioned data set, with the files that Spark adds to it."""
    folder = tmp_path / "sales"
    for year in (2024, 2025):
        (folder / f"year={year}" / "day=1").mkdir(parents=True)
        table = pa.table({"x": [f"{year}", None, "b"], "n": [1, 2, 3]})
        pq.write_table(table, folder / f"year={year}" / "day=1" / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "year=2024" / ".part-0.parquet.crc").touch()
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    try:
        status = _cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        status = int(str(end.code))
    printed = capsys.readouterr()
    return status, printed.out + printed.err


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


PARTS = ["year=2024/day=1/part-0.parquet", "year=2025/day=1/part-0.parquet"]

# ---- folders


def test_a_partitioned_data_set_keeps_its_layout(
    sales: Path, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed, opened = tmp_path / "sealed", tmp_path / "opened"
    assert run(capsys, "seal", sales, sealed, "--keyset", keys, *HOW) == (0, "")
    assert run(capsys, "unseal", sealed, opened, "--keyset", keys, *HOW) == (0, "")
    assert files(sealed) == files(opened) == PARTS
    assert pq.read_table(opened).equals(pq.read_table(sales))
    assert pq.read_table(sealed).column_names == ["x", "n", "year", "day"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in [opened, *opened.rglob("year*")]} == {0o700}
    status, shown = run(capsys, "inspect", sealed, "--keyset", keys)
    assert (status, "(primary): 4" in shown) == (0, True)


def test_what_cannot_be_sealed_is_found_before_the_first_file_is_written(
    sales: Path, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sealed"
    pq.write_table(pa.table({"y": [1]}), sales / "year=2025" / "other.parquet")
    status, shown = run(capsys, "seal", sales, out, "--keyset", keys, *HOW)
    assert (status, "other.parquet: no columns are named 'x'" in shown) == (BAD_INPUT, True)
    assert not out.exists()
    (sales / "year=2025" / "other.parquet").rename(sales / "notes.txt")
    status, shown = run(capsys, "seal", sales, out, "--keyset", keys, *HOW)
    assert (status, "notes.txt" in shown, out.exists()) == (BAD_COMMAND, True, False)
    (sales / "notes.txt").unlink()
    status, shown = run(capsys, "seal", sales, sales / "sealed", "--keyset", keys, *HOW)
    assert (status, "outside IN" in shown) == (BAD_COMMAND, True)
    (tmp_path / "empty").mkdir()
    status, shown = run(capsys, "seal", tmp_path / "empty", out, "--keyset", keys, *HOW)
    assert (status, "no file" in shown, out.exists()) == (BAD_INPUT, True, False)


def test_what_is_neither_left_out_nor_read_is_an_error(
    sales: Path, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sealed"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "part-0.parquet").touch()
    for name, target, problem in (
        ("year=2026", tmp_path / "elsewhere", "links to folders are not followed"),
        ("year=2026.parquet", tmp_path / "absent", "neither a file nor a folder"),
    ):
        link = sales / name
        link.symlink_to(target)
        for command in (("seal", sales, out, "--keyset", keys, *HOW), ("inspect", sales)):
            status, shown = run(capsys, *command)
            assert (status, f"{link}: {problem}" in shown, out.exists()) == (BAD_FILE, True, False), shown
        link.unlink()
        (sales / f".{name}").symlink_to(target)
    # A link to a file is like the file.
    (sales / "part.parquet").symlink_to(sales / PARTS[0])
    assert run(capsys, "seal", sales, out, "--keyset", keys, *HOW) == (0, "")
    assert files(out) == ["part.parquet", *PARTS]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_a_folder_that_cannot_be_read_is_an_error(
    sales: Path, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = sales / "year=2024"
    closed.chmod(0)
    try:
        status, shown = run(capsys, "seal", sales, tmp_path / "sealed", "--keyset", keys, *HOW)
    finally:
        closed.chmod(0o700)
    assert (status, f"{closed}: Permission denied" in shown) == (BAD_FILE, True)
    assert not (tmp_path / "sealed").exists()


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrows", "csv"])
def test_a_folder_can_have_more_files_than_a_process_may_open(form: str, keys: Path, tmp_path: Path) -> None:
    table = pa.table({"x": ["a"]})
    (tmp_path / "many").mkdir()
    for number in range(100):
        path = tmp_path / "many" / f"{number}.{form}"
        if form == "parquet":
            pq.write_table(table, path)
        elif form == "csv":
            path.write_text("x\na\n")
        else:
            make = pa.ipc.new_stream if form == "arrows" else pa.ipc.new_file
            with make(str(path), table.schema) as file:
                file.write_table(table)
    done = subprocess.run(
        [*COMMAND, "seal", "many", "sealed", "--keyset", keys, *HOW],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(files(tmp_path / "sealed")) == 100


def test_existing_files_are_replaced_only_with_force(
    sales: Path, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sealed"
    (out / PARTS[1]).parent.mkdir(parents=True)
    (out / PARTS[1]).write_text("mine")
    status, shown = run(capsys, "seal", sales, out, "--keyset", keys, *HOW)
    assert (status, "--force" in shown) == (BAD_FILE, True)
    assert files(out) == PARTS[1:]
    assert (out / PARTS[1]).read_text() == "mine"
    assert run(capsys, "seal", sales, out, "--keyset", keys, *HOW, "--force") == (0, "")
    assert files(out) == PARTS


@pytest.mark.parametrize("after", [0, 1])
def test_an_interrupted_run_leaves_only_complete_files(
    after: int,
    sales: Path,
    keys: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seal, out, sealed = _work.seal_column, tmp_path / "sealed", 0

    def interrupted(array: pa.Array, *arguments: object, **more: object) -> object:
        nonlocal sealed
        if len(array):
            sealed += 1
            if sealed > after:
                raise KeyboardInterrupt
        return seal(array, *arguments, **more)

    monkeypatch.setattr(_work, "seal_column", interrupted)
    assert run(capsys, "seal", sales, out, "--keyset", keys, *HOW)[0] == 130
    assert (files(out) if out.exists() else []) == PARTS[:after]
    assert out.exists() == bool(after)


def test_a_forged_file_is_reported_with_what_is_complete(
    sales: Path, keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed, out = tmp_path / "sealed", tmp_path / "opened"
    assert run(capsys, "seal", sales, sealed, "--keyset", keys, *HOW) == (0, "")
    table = pq.read_table(sealed / PARTS[1], partitioning=None)
    forged = pa.array([table["x"][2].as_py(), None, table["x"][2].as_py()[:-1] + b"?"], pa.binary())
    pq.write_table(table.set_column(0, table.schema.field("x"), forged), sealed / PARTS[1])
    status, shown = run(capsys, "unseal", sealed, out, "--keyset", keys, *HOW)
    assert status == BAD_INPUT
    assert f"{sealed / PARTS[1]}: row group 0, column 'x', row 2: " in shown
    assert f"1 of 2 files are complete in {out}" in shown
    assert files(out) == PARTS[:1]


# ---- standard input and output


def pipe(data: bytes, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, input=data, capture_output=True, check=False)


def stream_of(table: pa.Table, codec: str | None) -> bytes:
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_stream(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1000)
    return out.getvalue()


@pytest.mark.parametrize("codec", [None, "zstd"])
def test_arrow_streams_pass_through_pipes(codec: str | None, keys: Path) -> None:
    table = pa.table({"x": range(5000), "n": ["a"] * 5000})
    sealed = pipe(stream_of(table, codec), "seal", "-", "-", "--keyset", keys, *HOW)
    assert (sealed.returncode, sealed.stderr) == (0, b"")
    between = pa.ipc.open_stream(sealed.stdout).read_all()
    assert between.schema.field("x").type == pa.binary()
    opened = pipe(sealed.stdout, "unseal", "-", "-", "--keyset", keys, *HOW)
    assert (opened.returncode, opened.stderr) == (0, b"")
    assert pa.ipc.open_stream(opened.stdout).read_all().equals(table)
    assert opened.stdout == stream_of(table, codec)


def test_csv_passes_through_pipes_and_between_formats(keys: Path, tmp_path: Path) -> None:
    text = b'n,x\r\n1,"a ""b"""\r\n2,\r\n3,""\r\n'
    sealed = pipe(text, "seal", "-", "-", "--keyset", keys, *HOW)
    assert (sealed.returncode, sealed.stderr) == (0, b"")
    assert pipe(sealed.stdout, "unseal", "-", "-", "--keyset", keys, *HOW).stdout == text
    stream = pipe(sealed.stdout, "unseal", "-", "-", "--keyset", keys, *HOW, "--to", "arrows").stdout
    assert pa.ipc.open_stream(stream).read_all()["x"].to_pylist() == ['a "b"', None, ""]
    out = tmp_path / "sealed.parquet"
    assert pipe(text, "seal", "-", out, "--keyset", keys, *HOW).stderr == b""
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    opened = pipe(b"", "unseal", out, "-", "--keyset", keys, *HOW, "--to", "csv")
    assert opened.stdout.replace(b'"', b"").split() == b"n,x 1,a b 2, 3,".split()


def test_a_stream_that_does_not_open_is_cut_off_before_its_end(keys: Path) -> None:
    """A reader notices that the end is missing."""
    table = pa.table({"x": ["secret"] * 3000})
    sealed = pipe(stream_of(table, None), "seal", "-", "-", "--keyset", keys, *HOW).stdout
    forged = bytearray(sealed)
    forged[-100] ^= 1
    ended = pipe(bytes(forged), "unseal", "-", "-", "--keyset", keys, *HOW)
    assert ended.returncode == BAD_INPUT
    assert b"standard input: record batch 2, column 'x', row " in ended.stderr
    assert not ended.stdout.endswith(b"\xff\xff\xff\xff\0\0\0\0")
    assert b"Traceback" not in ended.stderr


def test_errors_of_standard_input_and_output(keys: Path, tmp_path: Path) -> None:
    assert pipe(b"", "seal", "-", "-", "--keyset", keys, *HOW).returncode == BAD_INPUT
    assert pipe(b"\xff\xff\xff\xff12", "seal", "-", "-", "--keyset", keys, *HOW).returncode == BAD_INPUT
    assert pipe(b"x\n1\n", "seal", "-", "-", "--keyset", "-", *HOW).returncode == BAD_COMMAND
    out = tmp_path / "out.csv"
    assert pipe(b"x\n1\n", "seal", "-", out, "--to", "csv", "--keyset", keys, *HOW).returncode == BAD_COMMAND
    ended = subprocess.run(
        f"{' '.join(COMMAND)} seal - - --keyset {keys} --column x --context x | head -c 10 > /dev/null; "
        "exit ${PIPESTATUS[0]}",
        shell=True, executable="/bin/bash", input=b"x\n" + b"abc\n" * 60_000, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (ended.returncode, b"Traceback" in ended.stderr) == (BAD_FILE, False), ended.stderr


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("seal in.csv - --keyset keys.json --column x --context c >&-", "standard output: it is closed"),
        ("seal - out.csv --keyset keys.json --column x --context c <&-", "standard input: it is closed"),
        ("seal in.csv out.csv --keyset - --column x --context c <&-", "standard input: it is closed"),
        ("inspect in.csv >&-", "standard output: it is closed"),
        ("inspect in.csv > /dev/full", "standard output: cannot be written: No space left on device"),
        ("keyset show keys.json > /dev/full", "standard output: cannot be written: No space left on device"),
        ("seal fifo.csv out.csv --keyset keys.json --column x --context c", "fifo.csv: not a regular file"),
    ],
)
def test_closed_and_full_outputs_and_pipes_with_names(
    arguments: str, name: str, keys: Path, tmp_path: Path
) -> None:
    assert keys == tmp_path / "keys.json"
    (tmp_path / "in.csv").write_text("x\n1\n")
    os.mkfifo(tmp_path / "fifo.csv")
    command = f"{' '.join(COMMAND)} {arguments}"
    ended = subprocess.run(
        command, shell=True, cwd=tmp_path, capture_output=True, check=False, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr.count("\n"), name in ended.stderr) == (BAD_FILE, 1, True), ended
    assert not (tmp_path / "out.csv").exists()


def test_arguments_that_cannot_be_meant_are_refused(
    keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("x\n1\n")
    seal = ("seal", "in.csv", "out.csv", "--keyset", keys, "--column", "x", "--context", "c")
    for arguments in (
        (*seal, "--threads", 1 << 31),
        (*seal, "--threads", 10**30),
        ("inspect", "-", "--keyset", "-"),
        ("keyset", "new", "-"),
        ("keyset", "rotate", keys, "-"),
    ):
        assert run(capsys, *arguments)[0] == BAD_COMMAND, arguments
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "keys.json"]


# ---- keysets


def test_a_keyset_is_created_rotated_and_disabled(
    keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Keyset.from_tink_json(keys.read_text())
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    rotated, disabled = tmp_path / "rotated.json", tmp_path / "disabled.json"
    assert run(capsys, "keyset", "rotate", keys, rotated) == (0, "")
    newer = Keyset.from_tink_json(rotated.read_text())
    assert set(newer.key_ids) == {first.primary, newer.primary}
    assert run(capsys, "keyset", "disable", rotated, disabled, "--key", first.primary) == (0, "")
    last = Keyset.from_tink_json(disabled.read_text())
    assert last.key_ids == [newer.primary]
    status, shown = run(capsys, "keyset", "show", disabled)
    assert status == 0
    assert f"{first.primary}: AesGcmSivKey, disabled, prefix TINK\n" in shown
    assert f"{newer.primary}: AesGcmSivKey, enabled, prefix TINK, primary\n" in shown
    for key in json.loads(disabled.read_text())["key"]:
        assert key["keyData"]["value"] not in shown
    status, shown = run(capsys, "keyset", "disable", rotated, tmp_path / "x", "--key", newer.primary)
    assert (status, "primary" in shown) == (BAD_INPUT, True)
    status, shown = run(capsys, "keyset", "disable", rotated, tmp_path / "x", "--key", 1)
    assert (status, "no key has the id 1" in shown) == (BAD_INPUT, True)
    assert not (tmp_path / "x").exists()


def test_a_destroyed_key_is_shown_and_stays_destroyed(
    keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(keys.read_text())
    content["key"].append({"status": "DESTROYED", "keyId": 5, "outputPrefixType": "TINK"})
    keys.write_text(json.dumps(content))
    status, shown = run(capsys, "keyset", "show", keys)
    assert (status, "\n5: no key data, destroyed, prefix TINK\n" in shown) == (0, True)
    status, shown = run(capsys, "keyset", "disable", keys, tmp_path / "x", "--key", 5)
    assert (status, "key 5 is destroyed" in shown) == (BAD_INPUT, True)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "command", [["keyset", "show", "-"], ["seal", "absent.csv", "out.csv", "--keyset", "-", *HOW]]
)
def test_a_keyset_from_standard_input_that_is_not_text_is_an_error(
    command: list[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [*COMMAND, *command], input=b"\xff\xfe", cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, b"standard input: not UTF-8 text" in done.stderr) == (BAD_INPUT, True), (
        done.stderr
    )


@pytest.mark.parametrize("policy", ["random", "deterministic", "xaes", "gcm"])
def test_a_new_keyset_has_the_policy(policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.json"
    assert run(capsys, "keyset", "new", path, "--policy", policy) == (0, "")
    assert Keyset.from_tink_json(path.read_text()).policy == policy
    assert f"policy: {policy}\n" in run(capsys, "keyset", "show", path)[1]


def test_a_keyset_is_never_overwritten_silently(
    keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = keys.read_text()
    for command in (("new", keys), ("rotate", keys, keys)):
        status, shown = run(capsys, "keyset", *command)
        assert (status, "--force" in shown) == (BAD_FILE, True)
        assert keys.read_text() == before
    keys.chmod(0o644)
    assert run(capsys, "keyset", "rotate", keys, keys, "--force")[0] == 0
    assert len(Keyset.from_tink_json(keys.read_text()).key_ids) == 2
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert run(capsys, "keyset", "new", tmp_path, "--force")[0] == BAD_FILE
    assert run(capsys, "keyset", "new", tmp_path / "absent" / "k.json")[0] == BAD_FILE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys.json"]


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"sealcomb-columns {version('sealcomb')}\n")


def test_messages_have_no_text_of_pyarrow(
    keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, data in (
        ("a.parquet", b"PAR1" * 9), ("a.arrow", b"ARROW1\0\0" * 9), ("a.arrows", b"\xff" * 40),
        ("a.csv", b"x\n\xff\n"), ("b.csv", b'x,y\n1,2\n"'),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        status, shown = run(capsys, "seal", tmp_path / name, tmp_path / "out.parquet", "--keyset", keys, *HOW)
        assert status == BAD_INPUT, name
        assert shown.startswith(f"sealcomb-columns: {tmp_path / name}: "), shown
        for word in ("Arrow", "Invalid", "IOError", "Parquet magic", "Expected"):
            assert word not in shown.replace("a.arrow", ""), shown
