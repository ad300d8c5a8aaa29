"""The command ``sealcomb-columns``: formats, errors, and atomic output."""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sealcomb import Keyset, _cli, _csv, _files, _work, seal_column, unseal_column

ROWS = 50_000
FORMATS = ("parquet", "arrow", "arrows", "csv")
BAD_INPUT, BAD_COMMAND, BAD_FILE, SOME_FORGED = 1, 2, 3, 4
NAMED = ("--context", "{column}")
BOTH = ("--column", "ssn", "--column", "note", *NAMED)


@pytest.fixture(scope="module")
def keysets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of keysets: one, its rotation, one of another policy, and one with unrelated keys."""
    folder = tmp_path_factory.mktemp("keysets")
    first = Keyset.generate("random")
    for name, keyset in {
        "keys": first,
        "rotated": first.rotated(),
        "deterministic": Keyset.generate("deterministic"),
        "unrelated": Keyset.generate("random"),
    }.items():
        file = folder / f"{name}.json"
        file.touch(mode=0o600)
        file.write_text(keyset.secret_tink_json())
    return folder


@pytest.fixture(scope="module")
def people() -> pa.Table:
    table = pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "ssn": [f"{row:09}" if row % 7 else None for row in range(ROWS)],
            "note": pa.array(['né, "x"\n' * (row % 5) for row in range(ROWS)], pa.large_string()),
            "kind": pa.array(["a", "b"] * (ROWS // 2)).dictionary_encode(),
            "price": pa.array([row / 4 for row in range(ROWS)]),
        }
    )
    return table.replace_schema_metadata({"made by": "us"})


@pytest.fixture
def work(tmp_path: Path, people: pa.Table) -> Path:
    """A folder with the table in each format."""
    pq.write_table(people, tmp_path / "people.parquet", row_group_size=20_000, compression="zstd")
    with pa.ipc.new_file(str(tmp_path / "people.arrow"), people.schema) as file:
        file.write_table(people, max_chunksize=20_000)
    with pa.ipc.new_stream(str(tmp_path / "people.arrows"), people.schema) as stream:
        stream.write_table(people, max_chunksize=20_000)
    pa.csv.write_csv(people, tmp_path / "people.csv")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Runs the command, and returns its exit status and everything that it printed."""
    try:
        status = _cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        status = int(str(end.code))
    printed = capsys.readouterr()
    return status, printed.out + printed.err


def load(path: Path) -> pa.Table:
    match path.suffix:
        case ".parquet":
            return pq.read_table(path)
        case ".arrow":
            return pa.ipc.open_file(str(path)).read_all()
        case ".arrows":
            return pa.ipc.open_stream(str(path)).read_all()
        case _:
            return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True))


def save(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    make = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with make(str(path), table.schema) as file:
        file.write_table(table)


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


# ---- formats


@pytest.mark.parametrize("form", FORMATS)
def test_sealed_values_round_trip(
    form: str, work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    source, sealed, opened = (work / f"{name}.{form}" for name in ("people", "sealed", "opened"))
    how = ("--keyset", keysets / "keys.json", *BOTH, "--context", "people.{column}", "--row-id", "id")
    assert run(capsys, "seal", source, sealed, *how) == (0, "")
    assert run(capsys, "unseal", sealed, opened, *how) == (0, "")
    assert load(opened).equals(load(source))
    if form != "csv":
        assert load(opened).schema.equals(people.schema, check_metadata=form != "parquet")
        assert load(sealed).schema.metadata == {b"made by": b"us"}
        assert load(sealed)["ssn"].null_count == people["ssn"].null_count
        assert load(sealed)["price"].equals(people["price"])
    text = sealed.read_bytes()
    assert b"000000001" not in text
    assert leftovers(work) == []


@pytest.mark.parametrize("form", FORMATS)
def test_formats_can_be_converted(
    form: str, work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = ("--keyset", keysets / "deterministic.json")
    sealed, opened = work / f"sealed.{form}", work / "opened.parquet"
    assert run(capsys, "seal", work / "people.parquet", sealed, *keys, *BOTH) == (0, "")
    assert run(capsys, "unseal", sealed, opened, *keys, *BOTH) == (0, "")
    for name in ("ssn", "note"):
        assert load(opened)[name].to_pylist() == people[name].to_pylist()


def test_the_library_opens_files_sealed_by_the_command(
    work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, sealed = keysets / "keys.json", work / "sealed.parquet"
    how = ("--keyset", keys, "--column", "ssn", "--context", "people.{column}")
    assert run(capsys, "seal", work / "people.parquet", sealed, *how) == (0, "")
    keyset = Keyset.from_tink_json(keys.read_text())
    opened = unseal_column(load(sealed)["ssn"], keyset, context=b"people.ssn", as_type="utf8")
    assert opened.to_pylist() == people["ssn"].to_pylist()


def test_the_default_context_is_the_name_of_the_column(
    work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    keys, sealed = keysets / "keys.json", work / "sealed.parquet"
    assert run(capsys, "seal", work / "people.parquet", sealed, "--keyset", keys, *BOTH)[0] == 0
    opened = unseal_column(load(sealed)["note"], Keyset.from_tink_json(keys.read_text()), context=b"note")
    assert opened[1].as_py() == people["note"][1].as_py().encode()


def test_row_groups_and_compression_are_preserved(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed, opened = work / "sealed.parquet", work / "opened.parquet"
    how = ("--keyset", keysets / "keys.json", *BOTH)
    assert run(capsys, "seal", work / "people.parquet", sealed, *how)[0] == 0
    assert run(capsys, "unseal", sealed, opened, *how)[0] == 0
    for path, ssn in ((sealed, "UNCOMPRESSED"), (opened, "ZSTD")):
        about = pq.ParquetFile(path).metadata
        assert [about.row_group(group).num_rows for group in range(about.num_row_groups)] == [
            20_000,
            20_000,
            10_000,
        ]
        codecs = {
            about.row_group(0).column(at).path_in_schema: about.row_group(0).column(at) for at in range(5)
        }
        assert codecs["ssn"].compression == ssn
        assert codecs["price"].compression == "ZSTD"


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_table(form: str, work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, sealed, opened = (work / f"{name}.{form}" for name in ("empty", "sealed", "opened"))
    empty = pa.table({"ssn": pa.array([], pa.string()), "n": pa.array([], pa.int8())})
    if form == "parquet":
        pq.write_table(empty, source)
    elif form == "csv":
        source.write_text("ssn,n\n")
    else:
        with (pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream)(str(source), empty.schema):
            pass
    how = ("--keyset", keysets / "keys.json", "--column", "ssn", *NAMED)
    assert run(capsys, "seal", source, sealed, *how) == (0, "")
    assert run(capsys, "unseal", sealed, opened, *how) == (0, "")
    assert run(capsys, "inspect", sealed)[0] == 0
    assert load(opened).schema.names == ["ssn", "n"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.binary(4),
        pa.string_view(),
        pa.binary_view(),
    ],
    ids=str,
)
def test_an_opened_column_has_its_original_type(
    kind: pa.DataType, tmp_path: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pa.table({"x": pa.array([b"abcd", None, b"efgh"]).cast(kind)})
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), table.schema) as file:
        file.write_table(table)
    how = ("--keyset", keysets / "keys.json", "--column", "x", *NAMED)
    assert run(capsys, "seal", tmp_path / "in.arrow", tmp_path / "sealed.arrow", *how) == (0, "")
    assert run(capsys, "unseal", tmp_path / "sealed.arrow", tmp_path / "out.arrow", *how) == (0, "")
    assert load(tmp_path / "out.arrow").equals(table)


def test_a_dictionary_column_is_sealed_by_value(
    work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("--keyset", keysets / "keys.json", "--column", "kind", *NAMED)
    assert run(capsys, "seal", work / "people.arrow", work / "sealed.arrow", *how) == (0, "")
    assert run(capsys, "unseal", work / "sealed.arrow", work / "opened.arrow", *how) == (0, "")
    assert load(work / "opened.arrow")["kind"].to_pylist() == people["kind"].to_pylist()


CSV_TEXTS = {
    "plain": 'zip,when,ssn\n00501,2026-01-02,"a ""b"""\n,,\n"","",""\n',
    "no line end": "zip,ssn\n007,1\n008,2",
    "carriage returns": 'zip,ssn\r\n"00,7","x\ny"\r\n\r\n008,2\r\n',
    "byte order mark": "\ufeffssn,zip\n1,007\n",
    "all quoted": '"zip","ssn"\n"007","1"\n"","",\n'.replace(",\n", "\n"),
    "one column with nulls": 'ssn\n1\n\n\n""\n2\n',
    "spaces": "zip, when ,ssn\n 007 , 1.50,  x  \n",
    "quotes inside": 'zip,ssn\na"b,cd\n',
    "old line ends": "zip,ssn\r1,2\r3,4\r",
    "no rows": "zip,ssn\n",
    "only a header": "ssn,zip",
}


@pytest.mark.parametrize("text", CSV_TEXTS.values(), ids=CSV_TEXTS)
def test_csv_text_is_preserved(
    text: str, tmp_path: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_bytes(text.encode())
    how = ("--keyset", keysets / "keys.json", "--column", "ssn", *NAMED)
    assert run(capsys, "seal", tmp_path / "in.csv", tmp_path / "sealed.csv", *how) == (0, "")
    assert run(capsys, "unseal", tmp_path / "sealed.csv", tmp_path / "out.csv", *how) == (0, "")
    assert (tmp_path / "out.csv").read_bytes() == text.encode()


def test_csv_with_any_bytes_and_sizes_round_trips(
    tmp_path: Path,
    keysets: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks end within cells, quotes and line endings."""
    rows = [
        (b"\xe9t\xe9", b'"a,""b"""', b"x" * (row % 40), b'"\r\n"' if row % 3 else b"") for row in range(300)
    ]
    text = b"k,ssn,note,z\r\n" + b"\r\n".join(b",".join(row) for row in rows)
    (tmp_path / "in.csv").write_bytes(text)
    how = ("--keyset", keysets / "keys.json", *BOTH)
    for size in (1, 2, 7, 64, 1 << 20):
        monkeypatch.setattr("sealcomb._csv.BLOCK", size)
        monkeypatch.setattr("sealcomb._csv.header", whole_header)
        assert run(capsys, "seal", tmp_path / "in.csv", tmp_path / "sealed.csv", *how, "--force") == (0, "")
        assert run(capsys, "unseal", tmp_path / "sealed.csv", tmp_path / "out.csv", *how, "--force") == (
            0,
            "",
        )
        assert (tmp_path / "out.csv").read_bytes() == text


def whole_header(_file: BinaryIO) -> _csv.Header:
    return _csv.Header(["k", "ssn", "note", "z"], [False] * 4, len(b"k,ssn,note,z\r\n"), is_all=False)


@pytest.mark.parametrize("text", ["a,ssn\n1\n", "a,ssn\n1,2,3\n", 'a,ssn\n1,"x"y\n', 'a,ssn\n1,"x\n', ""])
def test_invalid_csv_is_reported_by_row(
    text: str, tmp_path: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text(text)
    how = ("--keyset", keysets / "keys.json", "--column", "ssn", *NAMED)
    status, shown = run(capsys, "seal", tmp_path / "in.csv", tmp_path / "out.csv", *how)
    assert status == BAD_INPUT
    assert not text or "row 0" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


# ---- reseal and inspect


def test_reseal_moves_to_the_primary_key(
    work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = keysets / "keys.json", keysets / "rotated.json"
    sealed, fresh, opened = work / "sealed.parquet", work / "fresh.parquet", work / "opened.parquet"
    assert run(capsys, "seal", work / "people.parquet", sealed, "--keyset", old, *BOTH)[0] == 0
    assert run(capsys, "reseal", sealed, fresh, "--keyset", new, *BOTH) == (0, "")
    primary = Keyset.from_tink_json(new.read_text()).primary
    status, shown = run(capsys, "inspect", fresh, "--keyset", new)
    assert status == 0
    assert shown.count(f"{primary} (primary)") == BOTH.count("--column")
    status, shown = run(capsys, "unseal", fresh, opened, "--keyset", old, *BOTH)
    assert status == BAD_INPUT
    assert str(primary) in shown
    assert run(capsys, "unseal", fresh, opened, "--keyset", new, *BOTH) == (0, "")
    assert load(opened)["ssn"].equals(people["ssn"])


@pytest.mark.parametrize("form", FORMATS)
def test_inspect_shows_what_is_sealed_and_under_which_keys(
    form: str, work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed = work / f"sealed.{form}"
    assert (
        run(
            capsys,
            "seal",
            work / "people.parquet",
            sealed,
            "--keyset",
            keysets / "keys.json",
            "--column",
            "ssn",
            *NAMED,
        )[0]
        == 0
    )
    key = Keyset.from_tink_json((keysets / "keys.json").read_text()).primary
    for keyset, note in (("keys", " (primary)"), ("rotated", ""), ("unrelated", " (unknown)")):
        status, shown = run(capsys, "inspect", sealed, "--keyset", keysets / f"{keyset}.json")
        assert status == 0
        lines = {line.split()[0]: line.split()[2:] for line in shown.splitlines()}
        values = ROWS - (ROWS + 6) // 7
        assert " ".join(lines["ssn"]) == f"{values} {ROWS - values} yes {key}{note}: {values}"
        assert lines["note"] == [str(ROWS), "0", "no"]
        assert lines["id"] == [str(ROWS), "0", "no"]


@pytest.mark.parametrize("form", ["csv", "arrow"])
def test_inspect_distinguishes_columns_of_the_same_name(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"in.{form}"
    table = pa.Table.from_arrays([pa.array(["a", None]), pa.array(["b", "c"])], ["x", "x"])
    if form == "csv":
        pa.csv.write_csv(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    status, shown = run(capsys, "inspect", path)
    assert status == 0
    assert [line.split()[2] for line in shown.splitlines()[1:]] == ["1", "2"]


# ---- values that do not open


def test_a_forged_value_is_reported_by_file_group_column_and_row(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("--keyset", keysets / "keys.json", *BOTH)
    sealed, bad, opened = work / "sealed.parquet", work / "bad.parquet", work / "opened.parquet"
    assert run(capsys, "seal", work / "people.parquet", sealed, *how)[0] == 0
    table = load(sealed)
    values = table["note"].to_pylist()
    values[41_234] = values[41_234][:-1] + bytes([values[41_234][-1] ^ 1])
    table = table.set_column(2, table.schema.field("note"), pa.array(values, table.schema.field("note").type))
    pq.write_table(table, bad, row_group_size=20_000)
    status, shown = run(capsys, "unseal", bad, opened, *how)
    assert status == BAD_INPUT
    assert f"{bad}: row group 2, column 'note', row 1234: " in shown
    assert not opened.exists()
    assert leftovers(work) == []

    status, shown = run(capsys, "unseal", bad, opened, *how, "--forged", "null")
    assert status == SOME_FORGED
    assert "column 'note': 1 values did not open and are null" in shown
    assert load(opened)["note"][41_234].as_py() is None
    assert load(opened)["note"].null_count == 1


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("problem", ["forged", "of another type"])
def test_a_row_is_counted_from_the_first_of_its_group(
    problem: str,
    target: str,
    source: str,
    tmp_path: Path,
    keysets: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The number is that in the file, not in the piece of 1000 rows that is processed at once."""
    monkeypatch.setattr(_files, "PIECE_ROWS", 1000)
    keyset = Keyset.from_tink_json((keysets / "keys.json").read_text())
    values: list[bytes] = [b"12345678"] * 3500
    if problem == "of another type":
        values[3210] = b"123"
    sealed = seal_column(pa.array(values), keyset, context=b"").to_pylist()
    if problem == "forged":
        sealed[3210] = sealed[3210][:-1] + bytes([sealed[3210][-1] ^ 1])
    path = tmp_path / f"in.{source}"
    if source == "csv":
        path.write_bytes(b"x,y\n" + b"".join(base64.b64encode(value) + b",\n" for value in sealed))
        monkeypatch.setattr(_csv, "BLOCK", 10_000)
    else:
        save(pa.table({"x": pa.array(sealed), "y": [""] * 3500}), path)
    how = ("--keyset", keysets / "keys.json", "--column", "x", "--as-type", "int64", "--context", "")
    status, shown = run(capsys, "unseal", path, tmp_path / f"out.{target}", *how)
    assert status == BAD_INPUT
    unit = {"parquet": "row group 0, ", "csv": ""}.get(source, "record batch 0, ")
    reason = "the value did not verify" if problem == "forged" else "the value holds 3 bytes"
    assert f"{path}: {unit}column 'x', row 3210: {reason}" in shown


def test_another_context_row_or_column_does_not_open(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = ("--keyset", keysets / "keys.json", "--column", "ssn", *NAMED)
    sealed, opened = work / "sealed.parquet", work / "opened.parquet"
    how = ("--context", "people.{column}", "--row-id", "id")
    assert run(capsys, "seal", work / "people.parquet", sealed, *keys, *how)[0] == 0
    for other in (
        ("--row-id", "id"),
        ("--context", "people.{column}"),
        ("--context", "p.{column}", "--row-id", "id"),
    ):
        status, shown = run(capsys, "unseal", sealed, opened, *keys, *other)
        assert status == BAD_INPUT
        assert "row group 0, column 'ssn', row 1: " in shown
    table = load(sealed)
    order = [0, 2, 1, *range(3, ROWS)]
    pq.write_table(
        table.set_column(1, table.schema.field("ssn"), table["ssn"].take(order)), work / "swapped.parquet"
    )
    assert run(capsys, "unseal", work / "swapped.parquet", opened, *keys, *how)[0] == BAD_INPUT
    assert not opened.exists()


def test_a_missing_key_is_reported(work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sealed = work / "sealed.csv"
    assert run(capsys, "seal", work / "people.csv", sealed, "--keyset", keysets / "keys.json", *BOTH)[0] == 0
    status, shown = run(
        capsys, "unseal", sealed, work / "out.csv", "--keyset", keysets / "unrelated.json", *BOTH
    )
    assert status == BAD_INPUT
    assert str(Keyset.from_tink_json((keysets / "keys.json").read_text()).primary) in shown
    assert f"{sealed}: column 'ssn', row 1: " in shown


def test_csv_that_is_not_base64_is_reported_by_row(
    tmp_path: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text("ssn\n\n%%%\n")
    status, shown = run(
        capsys,
        "unseal",
        tmp_path / "in.csv",
        tmp_path / "o.csv",
        "--keyset",
        keysets / "keys.json",
        "--column",
        "ssn",
        *NAMED,
    )
    assert status == BAD_INPUT
    # The empty line is a null.
    assert "column 'ssn', row 1: not base64" in shown


# ---- invalid input


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrows"])
def test_a_file_cut_short_leaves_nothing(
    form: str, work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (work / f"people.{form}").read_bytes()
    cut, out = work / f"cut.{form}", work / f"out.{form}"
    for size in (0, 3, 100, len(whole) // 2, len(whole) - 9):
        cut.write_bytes(whole[:size])
        status, shown = run(capsys, "seal", cut, out, "--keyset", keysets / "keys.json", *BOTH)
        assert status == BAD_INPUT, size
        assert str(cut) in shown
        assert not out.exists()
        assert leftovers(work) == []


def test_a_damaged_row_group_is_reported_with_its_column(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = work / "people.parquet", work / "out.parquet"
    price = pq.ParquetFile(path).metadata.row_group(1).column(4)
    data = bytearray(path.read_bytes())
    at = price.dictionary_page_offset or price.data_page_offset
    data[at : at + price.total_compressed_size] = bytes(price.total_compressed_size)
    path.write_bytes(data)
    status, shown = run(capsys, "seal", path, out, "--keyset", keysets / "keys.json", *BOTH)
    assert status == BAD_INPUT
    assert f"{path}: row group 1, column 'price', row 0 or soon after cannot be read" in shown
    assert not out.exists()


def test_a_flipped_byte_in_an_output_is_detected(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed, out = work / "sealed.parquet", work / "out.parquet"
    how = ("--keyset", keysets / "keys.json", *BOTH)
    assert run(capsys, "seal", work / "people.parquet", sealed, *how)[0] == 0
    price = pq.ParquetFile(sealed).metadata.row_group(2).column(4)
    data = bytearray(sealed.read_bytes())
    data[price.data_page_offset + price.total_compressed_size // 4] ^= 1
    sealed.write_bytes(data)
    status, shown = run(capsys, "unseal", sealed, out, *how)
    assert status == BAD_INPUT
    assert "row group 2, column 'price'" in shown


def test_columns_that_cannot_be_sealed_are_refused(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = work / "people.parquet", work / "out.parquet"
    keys = ("--keyset", keysets / "keys.json")
    status, shown = run(capsys, "seal", source, out, *keys, "--column", "absent", *NAMED)
    assert (status, "'absent'" in shown, "id, ssn, note" in shown) == (BAD_INPUT, True, True)
    status, shown = run(capsys, "seal", source, out, *keys, "--column", "ssn", "--row-id", "absent", *NAMED)
    assert (status, "'absent'" in shown) == (BAD_INPUT, True)
    status, shown = run(capsys, "seal", source, out, *keys, "--column", "ssn", "--row-id", "ssn", *NAMED)
    assert status == BAD_COMMAND
    status, shown = run(capsys, "seal", source, out, *keys, *BOTH, "--context", "people")
    assert (status, "{column}" in shown) == (BAD_COMMAND, True)
    assert run(capsys, "seal", source, out, *keys, "--column", "ssn", *NAMED)[0] == 0
    status, shown = run(capsys, "seal", out, work / "twice.parquet", *keys, "--column", "ssn", *NAMED)
    assert (status, "already sealed" in shown) == (BAD_INPUT, True)


def test_an_invalid_keyset_is_refused(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = work / "keys.json"
    keys.touch(mode=0o600)
    for text in ("", "{}", "not json", json.dumps({"primaryKeyId": 1, "key": []})):
        keys.write_text(text)
        status, shown = run(capsys, "seal", work / "people.csv", work / "out.csv", "--keyset", keys, *BOTH)
        assert status == BAD_INPUT
        assert str(keys) in shown
        assert not (work / "out.csv").exists()


def test_the_command_line_is_checked(work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ("--keyset", keysets / "keys.json")
    assert run(capsys, "seal")[0] == BAD_COMMAND
    assert run(capsys, "seal", work / "people.parquet", work / "out.parquet", *keys)[0] == BAD_COMMAND
    assert run(capsys, "seal", work / "people.parquet", work / "out.txt", *keys, *BOTH)[0] == BAD_COMMAND
    assert (
        run(capsys, "seal", work / "people.parquet", work / "o.csv", *keys, *BOTH, "--threads", "0")[0]
        == BAD_COMMAND
    )
    status, shown = run(capsys, "--help")
    assert (status, "exit status:" in shown, "examples:" in shown) == (0, True, True)


def completed(script: str, *words: str) -> set[str]:
    """What bash offers for the last of some words."""
    ask = r"""
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        "$(complete -p sealcomb-columns | sed 's/.*-F //; s/ .*//')" "$1"
        printf '%s\n' "${COMPREPLY[@]}"
    """
    command = ["bash", "-c", f"{script}\n{ask}", "bash", "sealcomb-columns", *words]
    offered = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {word.strip() for word in offered.splitlines()}


def test_bash_completes_verbs_options_and_choices(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, script = run(capsys, "completions", "bash")
    assert status == 0
    assert completed(script, "se") == {"seal"}
    assert {"unseal", "reseal", "inspect", "keyset", "completions"} <= completed(script, "")
    assert completed(script, "keyset", "ro") == {"rotate"}
    assert completed(script, "unseal", "--for") == {"--force", "--forged"}
    assert completed(script, "keyset", "new", "--policy", "x") == {"xaes"}
    (tmp_path / "keys.json").touch()
    assert completed(script, "seal", "--keyset", f"{tmp_path}/ke") == {f"{tmp_path}/keys.json"}


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_other_shells_complete_every_verb(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    status, script = run(capsys, "completions", shell)
    assert status == 0
    for word in ("seal", "unseal", "reseal", "inspect", "keyset", "rotate", "completions", "forged"):
        assert word in script


def test_completions_name_the_package_that_they_need(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    status, shown = run(capsys, "completions", "bash")
    assert (status, "pip install 'sealcomb[cli]'" in shown) == (BAD_COMMAND, True)
    assert run(capsys, "completions", "tcsh")[0] == BAD_COMMAND


# ---- files


def test_an_existing_output_is_replaced_only_with_force(
    work: Path, keysets: Path, people: pa.Table, capsys: pytest.CaptureFixture[str]
) -> None:
    path, how = work / "people.parquet", ("--keyset", keysets / "keys.json", *BOTH)
    before = path.read_bytes()
    status, shown = run(capsys, "seal", path, path, *how)
    assert (status, "--force" in shown) == (BAD_FILE, True)
    assert path.read_bytes() == before
    path.chmod(0o640)
    assert run(capsys, "seal", path, path, *how, "--force") == (0, "")
    assert stat.filemode(path.stat().st_mode) == "-rw-r-----"
    assert run(capsys, "unseal", path, path, *how, "--force") == (0, "")
    assert load(path)["note"].equals(people["note"])
    (work / "folder.parquet").mkdir()
    assert run(capsys, "seal", path, work / "folder.parquet", *how, "--force")[0] == BAD_FILE


def test_a_symbolic_link_is_preserved(work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "real").mkdir()
    link = work / "out.parquet"
    link.symlink_to(work / "real" / "out.parquet")
    how = ("--keyset", keysets / "keys.json", *BOTH)
    assert run(capsys, "seal", work / "people.parquet", link, *how) == (0, "")
    assert link.is_symlink()
    assert load(link).num_rows == ROWS


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o777])
def test_what_is_opened_is_for_its_owner_alone(
    form: str, umask: int, work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("--keyset", keysets / "keys.json", *BOTH)
    sealed, opened = work / f"sealed.{form}", work / f"opened.{form}"
    (work / "people.parquet").chmod(0o644)
    before = os.umask(umask)
    try:
        assert run(capsys, "seal", work / "people.parquet", sealed, *how)[0] == 0
        assert stat.S_IMODE(sealed.stat().st_mode) == 0o644 & ~umask
        sealed.chmod(0o644)
        assert run(capsys, "unseal", sealed, opened, *how)[0] == 0
    finally:
        os.umask(before)
    assert stat.filemode(opened.stat().st_mode) == "-rw-------"


def a_file(path: Path) -> None:
    path.write_text("of others")
    path.chmod(0o666)


def a_link(path: Path) -> None:
    a_file(path.with_name("target.parquet"))
    path.symlink_to("target.parquet")


def a_hard_link(path: Path) -> None:
    a_file(path.with_name("other.parquet"))
    path.hardlink_to(path.with_name("other.parquet"))


def another_owner(path: Path) -> None:
    a_file(path)
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)


def set_user(path: Path) -> None:
    a_file(path)
    path.chmod(0o4777)


@pytest.mark.parametrize("there", [a_file, a_link, a_hard_link, another_owner, set_user])
def test_what_is_opened_is_for_its_owner_alone_whatever_it_replaces(
    there: Callable[[Path], None], work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ("--keyset", keysets / "keys.json", *BOTH)
    sealed, opened = work / "sealed.parquet", work / "opened.parquet"
    assert run(capsys, "seal", work / "people.parquet", sealed, *how)[0] == 0
    there(opened)
    assert run(capsys, "unseal", sealed, opened, *how, "--force") == (0, "")
    about = opened.stat()
    assert (stat.filemode(about.st_mode), about.st_uid) == ("-rw-------", os.geteuid())
    assert load(opened).num_rows == ROWS
    if there is a_hard_link:
        assert (work / "other.parquet").read_text() == "of others"


def test_sealed_files_are_no_more_accessible_than_their_input(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sealed file contains the other columns in plaintext."""
    how = ("--keyset", keysets / "keys.json", *BOTH)
    source, sealed = work / "people.parquet", work / "sealed.parquet"
    source.chmod(0o600)
    assert run(capsys, "seal", source, sealed, *how) == (0, "")
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o600
    sealed.chmod(0o666)
    assert run(capsys, "seal", source, sealed, *how, "--force") == (0, "")
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o600
    source.chmod(0o664)
    sealed.chmod(0o666)
    if os.geteuid() == 0:
        os.chown(source, -1, 12345)
        assert run(capsys, "seal", source, sealed, *how, "--force") == (0, "")
        assert stat.S_IMODE(sealed.stat().st_mode) == 0o644


@pytest.mark.parametrize("unnamed", [True, False])
def test_only_the_owner_can_access_the_output_during_writing(
    unnamed: bool,
    work: Path,
    keysets: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This includes file systems without unnamed files."""
    if not unnamed:
        monkeypatch.setattr(_files, "unnamed_file", lambda _: None)
    modes = []
    seal = _work.seal_column

    def watched(*arguments: object, **more: object) -> object:
        modes.extend(path.stat().st_mode for path in leftovers(work))
        return seal(*arguments, **more)

    monkeypatch.setattr(_work, "seal_column", watched)
    how = ("--keyset", keysets / "keys.json", *BOTH)
    umask = os.umask(0)
    try:
        assert run(capsys, "seal", work / "people.parquet", work / "out.parquet", *how) == (0, "")
    finally:
        os.umask(umask)
    assert {stat.S_IMODE(mode) for mode in modes} == (set() if unnamed else {0o600})
    assert leftovers(work) == []


def test_a_keyset_accessible_to_others_causes_a_warning(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = work / "keys.json"
    keys.write_text((keysets / "keys.json").read_text())
    keys.chmod(0o644)
    status, shown = run(capsys, "seal", work / "people.csv", work / "out.csv", "--keyset", keys, *BOTH)
    assert (status, "chmod 600" in shown) == (0, True)


def test_missing_files(work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ("--keyset", keysets / "keys.json")
    for form in FORMATS:
        status, shown = run(capsys, "seal", work / f"absent.{form}", work / "out.parquet", *keys, *BOTH)
        assert (status, "No such file" in shown) == (BAD_FILE, True)
    out = work / "absent" / "out.parquet"
    status, shown = run(capsys, "seal", work / "people.parquet", out, *keys, *BOTH)
    assert (status, "No such file" in shown) == (BAD_FILE, True)
    status, shown = run(
        capsys, "seal", work / "people.parquet", work / "o.csv", "--keyset", work / "absent", *BOTH
    )
    assert (status, "No such file" in shown) == (BAD_FILE, True)


# ---- in a separate process

COMMAND = (sys.executable, "-m", "sealcomb")


def seal_command(work: Path, keysets: Path, out: Path, *before: str) -> list[str]:
    keys = str(keysets / "keys.json")
    return [*(before or COMMAND), "seal", str(work / "people.parquet"), str(out), "--keyset", keys, *BOTH]


def without_privileges() -> tuple[str, ...]:
    """Root can read everything unless it drops its capabilities."""
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all", *COMMAND) if os.geteuid() == 0 else COMMAND


def test_no_permission(work: Path, keysets: Path) -> None:
    out = work / "locked" / "out.parquet"
    out.parent.mkdir(mode=0o500)
    ended = subprocess.run(
        seal_command(work, keysets, out, *without_privileges()), capture_output=True, text=True, check=False
    )
    assert (ended.returncode, "Permission denied" in ended.stderr) == (BAD_FILE, True), ended.stderr
    (work / "people.parquet").chmod(0)
    ended = subprocess.run(
        seal_command(work, keysets, work / "out.parquet", *without_privileges()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, "Permission denied" in ended.stderr) == (BAD_FILE, True), ended.stderr
    assert not (work / "out.parquet").exists()
    assert leftovers(work) == []


@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_leaves_nothing(form: str, work: Path, keysets: Path) -> None:
    out = work / f"out.{form}"

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    ended = subprocess.run(
        seal_command(work, keysets, out), capture_output=True, text=True, check=False, preexec_fn=small_files
    )
    assert (ended.returncode, str(out) in ended.stderr) == (BAD_FILE, True), ended.stderr
    assert "Traceback" not in ended.stderr
    assert not out.exists()
    assert leftovers(work) == []


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_leaves_nothing(sent: signal.Signals, status: int, work: Path, keysets: Path) -> None:
    """The signal arrives while a column is processed, at its seventh piece."""
    script = f"""
import itertools, os, sys
from sealcomb import _cli, _work
seal, calls = _work.seal_column, itertools.count()
def interrupted(*arguments, **more):
    if next(calls) == 6:
        os.kill(os.getpid(), {int(sent)})
    return seal(*arguments, **more)
_work.seal_column = interrupted
sys.exit(_cli.main())
"""
    out = work / "out.parquet"
    command = seal_command(work, keysets, out, sys.executable, "-c", script)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    assert "Traceback" not in ended.stderr
    assert not out.exists()
    assert leftovers(work) == []


def test_a_killed_process_leaves_nothing(work: Path, keysets: Path) -> None:
    if _files.unnamed_file(work) is None:
        pytest.skip("this file system does not support unnamed files")
    script = """
import itertools, os, signal, sys
from sealcomb import _cli, _work
seal, calls = _work.seal_column, itertools.count()
def killed(*arguments, **more):
    if next(calls) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return seal(*arguments, **more)
_work.seal_column = killed
sys.exit(_cli.main())
"""
    out = work / "out.parquet"
    ended = subprocess.run(seal_command(work, keysets, out, sys.executable, "-c", script), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists()
    assert leftovers(work) == []


def test_a_keyset_from_standard_input(work: Path, keysets: Path) -> None:
    out = work / "out.parquet"
    command = [*COMMAND, "seal", str(work / "people.parquet"), str(out), "--keyset", "-", *BOTH]
    ended = subprocess.run(
        command, input=(keysets / "keys.json").read_text(), capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert load(out).num_rows == ROWS


@pytest.mark.parametrize("terminal", [True, False])
def test_the_command_works_without_its_progress_bar(terminal: bool, work: Path, keysets: Path) -> None:
    program = (
        "import sys; sys.modules['rich'] = None; "
        f"sys.stderr.isatty = lambda: {terminal}; "
        "from sealcomb.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    sealing = seal_command(work, keysets, work / "out.parquet", sys.executable, "-P", "-c", program)
    done = subprocess.run(sealing, capture_output=True, text=True, check=False)
    assert (done.returncode, (work / "out.parquet").exists()) == (0, True), done.stderr


def test_json_is_printed_to_standard_output(
    work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealed = work / "sealed.parquet"
    keys = keysets / "keys.json"
    assert run(capsys, "seal", work / "people.parquet", sealed, "--keyset", keys, *BOTH)[0] == 0
    assert _cli.main(["inspect", str(sealed), "--keyset", str(keys), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "sealcomb-inspect/1"
    by_name = {column["column"]: column for column in report["columns"]}
    primary = Keyset.from_tink_json(keys.read_text()).primary
    ((key,), plain) = by_name["note"]["keys"], by_name["id"]
    assert (key["id"], key["primary"], key["known"]) == (primary, True, True)
    assert key["values"] == by_name["note"]["values"]
    assert (by_name["note"]["sealed"], plain["sealed"], plain["keys"]) == ("yes", "no", [])
    assert _cli.main(["inspect", str(sealed), "--json", "--column", "note"]) == 0
    (column,) = json.loads(capsys.readouterr().out)["columns"]
    assert column["keys"] == [{"id": primary, "values": column["values"]}]
    assert _cli.main(["keyset", "show", str(keys), "--json"]) == 0
    text = capsys.readouterr().out
    shown = json.loads(text)
    assert (shown["schema"], shown["policy"]) == ("sealcomb-keyset/1", "random")
    assert [(each["id"], each["status"], each["primary"]) for each in shown["keys"]] == [
        (primary, "enabled", True)
    ]
    assert set(shown["keys"][0]) == {"id", "type", "status", "prefix", "primary"}


def test_forged_takes_fail_or_null(work: Path, keysets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    how = ("--keyset", keysets / "keys.json", *BOTH, "--forged")
    status, shown = run(capsys, "unseal", work / "people.parquet", work / "out.parquet", *how, "raise")
    assert status == BAD_COMMAND
    assert "'fail', 'null'" in shown
