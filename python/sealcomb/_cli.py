"""The command ``sealcomb-columns``: seals and unseals columns of Parquet, Arrow and CSV files.

Files of any size are processed in pieces of some megabytes. The output is created atomically: it has no name
until it is complete, and nothing is left of it if the process ends earlier. In a folder, this holds for each
file.
"""

from __future__ import annotations

import argparse
import binascii
import contextlib
import os
import signal
import stat
import sys
from base64 import b64decode
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import NoReturn

import pyarrow as pa  # type: ignore[import-untyped]

from sealcomb import Keyset, _keysets, inspect_column
from sealcomb._convert import convert, csv_to_csv
from sealcomb._files import (
    BAD_COMMAND,
    BAD_FILE,
    BAD_INPUT,
    READERS,
    SOME_FORGED,
    CommandError,
    Source,
    Write,
    atomic_file,
    check_suffix,
    output_permissions,
    print_json,
    print_lines,
    read,
    read_stream,
    reports_output,
    standard_file,
)
from sealcomb._keysets import read_keyset
from sealcomb._nested import leaves, replaced
from sealcomb._parquet_change import parquet_to_parquet
from sealcomb._selection import SEVERAL, Selection
from sealcomb._streams import StandardOutput
from sealcomb._types import plain_values
from sealcomb._work import Work, type_named

EPILOG = """\
formats, by file suffix:
  .parquet, .arrow or .feather (Arrow file format), .arrows (Arrow stream format), .csv
  IN and OUT may have different formats. In CSV, every column is text, and sealed values are base64.
  If IN is a folder, OUT is a folder with the same files, such as those of a partitioned data set. Files and
  folders whose names begin with . or _ are left out. IN and OUT may be -, standard input and output, which
  are Arrow streams or CSV.
  Columns not named by --column are preserved. If that is impossible, the command names the column and
  writes nothing. The output of unseal is readable only by you, that of seal and reseal only by users who can
  read IN.

examples:
  sealcomb-columns keyset new keys.json
  sealcomb-columns seal people.parquet sealed.parquet --keyset keys.json \\
      --column ssn --column addr.street --context 'people.{column}'
  sealcomb-columns unseal sealed.parquet people.parquet --keyset keys.json \\
      --column ssn --column addr.street --context 'people.{column}'
  sealcomb-columns seal sales/ sealed/ --keyset keys.json --column 'customer.*' --context 'sales.{column}'
  sealcomb-columns seal people.csv sealed.csv --keyset keys.json --column ssn --context people.ssn --row-id id
  curl https://example.com/people.csv | sealcomb-columns seal - - --keyset keys.json --column ssn \\
      --context people.ssn > sealed.csv
  sealcomb-columns keyset rotate keys.json rotated.json
  sealcomb-columns reseal sealed.parquet fresh.parquet --keyset rotated.json --all --plain id \\
      --plain addr.zip --context 'people.{column}'
  sealcomb-columns inspect fresh.parquet --keyset rotated.json
  eval "$(sealcomb-columns completions bash)"

exit status:
  0  done
  1  failed: IN or the keyset is damaged, a value did not open, a column is missing or cannot be preserved
  2  invalid arguments or configuration: the command line, or a package is not installed
  3  cannot read or write: permission denied, disk full, OUT exists
  4  partly done: with --forged null, some values did not open
  129, 130, 143  ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM; OUT is unchanged
"""

STREAM = Path("-")
MOST_THREADS = 1 << 16
SHELLS = ("bash", "fish", "zsh")
# Arguments with these names are files.
FILES = ("IN", "OUT", "KEYSET", "FILE")
# An input file, and by column the number of values that did not open and are null in the output.
Nulled = tuple[Path, Counter[str]]
# Shows the progress of some work. The second argument is the share of the whole, from 0 to 1.
Show = Callable[[Iterable[float], float], None]

# ---- seal, unseal and reseal


@dataclass(frozen=True)
class Job:
    """What to do with every input file."""

    verb: str
    selection: Selection
    keyset: Keyset
    threads: int | None
    forged: str

    def prepare(self, source: Source, suffix: str) -> tuple[Work, Write]:
        """Carries out all checks. Returns the work, and what writes the output."""
        work = Work(
            verb=self.verb,
            source=source,
            targets=self.selection.targets(source, self.verb),
            keyset=self.keyset,
            row_id=self.selection.row_id,
            row_id_type=self.selection.row_id_type,
            threads=self.threads,
            forged=self.forged,
        )
        if (source.suffix, suffix) == (".parquet", ".parquet"):
            return work, parquet_to_parquet(work)
        if (source.suffix, suffix) == (".csv", ".csv"):
            return work, csv_to_csv(work)
        return work, convert(work, suffix)


def change(options: argparse.Namespace) -> int:
    """Carries out ``seal``, ``unseal`` or ``reseal``. Returns the exit status."""
    check_options(options)
    keyset = read_keyset(options.keyset)
    job = Job(
        verb=options.verb,
        selection=Selection(
            names=options.columns or [],
            everything=options.all,
            context=options.context,
            row_id=options.row_id,
            types=[given_type(text, keyset) for text in options.as_type or []],
            plain=getattr(options, "plain", None) or [],
        ),
        keyset=keyset,
        threads=options.threads,
        forged=getattr(options, "forged", "fail"),
    )
    with progress_bar(options.verb) as show:
        if options.output == STREAM:
            done = [change_to_output(job, options, show)]
        elif options.input != STREAM and options.input.is_dir():
            done = change_folder(job, options, show)
        else:
            done = [change_file(job, options, options.input, options.output, show, 1.0)]
    return report(done, options.output)


def check_options(options: argparse.Namespace) -> None:
    """Raises ``CommandError`` for options that exclude each other."""
    if bool(options.columns) == options.all:
        raise CommandError("name columns with --column, or all of them with --all", BAD_COMMAND)
    if options.row_id is not None and options.row_id in (options.columns or ()):
        raise CommandError(
            f"--row-id {options.row_id}: the row ids must be in a column that is not named by --column",
            status=BAD_COMMAND,
        )
    several = len(set(options.columns or ())) > 1
    if several and "{column}" not in options.context:
        raise CommandError(SEVERAL, BAD_COMMAND)
    check_input(options)
    if options.to and options.output != STREAM:
        raise CommandError(
            "--to is only for the OUT -; otherwise the suffix of OUT is its format", BAD_COMMAND
        )


def check_input(options: argparse.Namespace) -> None:
    """Raises ``CommandError`` if standard input would be read twice."""
    if options.keyset == "-" and options.input == STREAM:
        raise CommandError("IN and the keyset cannot both be standard input", BAD_COMMAND)


def given_type(text: str, keyset: Keyset) -> tuple[str | None, pa.DataType]:
    """Reads the argument of ``--as-type``: a type, or a column and a type. Both can contain ``=``."""
    at = -1
    while (kind := type_named(text[at + 1 :], keyset)) is None:
        at = text.find("=", at + 1)
        if at < 0:
            raise CommandError(
                f"--as-type {text}: unknown type; use a name of pyarrow, Spark or SQL, such as int64, "
                "string, date, decimal(10, 2) or timestamp[us, tz=UTC]",
                BAD_COMMAND,
            )
    return None if at < 0 else text[:at], kind


def report(done: list[Nulled], out: Path) -> int:
    """Prints how many values did not open. Returns the exit status."""
    for path, nulled in done:
        for name, count in nulled.items():
            if count:
                print(
                    f"{path}: column {name!r}: {count} values did not open and are null in {out}",
                    file=sys.stderr,
                )
    return SOME_FORGED if any(nulled.total() for _, nulled in done) else 0


def change_to_output(job: Job, options: argparse.Namespace, show: Show) -> Nulled:
    """Writes to standard output, piece by piece. If this fails, a part has been written."""
    source = opened(options.input)
    suffix = f".{options.to}" if options.to else ".csv" if source.text else ".arrows"
    work, write_output = job.prepare(source, suffix)
    out = StandardOutput(standard_file(sys.stdout, "standard output"))
    with reports_output():
        show(write_output(out), 1.0)
        out.flush()
    return source.path, work.nulled


def opened(path: Path) -> Source:
    return read_stream(standard_file(sys.stdin, "standard input")) if path == STREAM else read(path)


def change_file(  # noqa: PLR0913, PLR0917
    job: Job, options: argparse.Namespace, path: Path, output: Path, show: Show, share: float
) -> Nulled:
    """Writes one file, completely or not at all."""
    out = Path(os.path.realpath(output))
    check_suffix(out)
    work, write_output = job.prepare(opened(path), out.suffix)
    permissions = output_permissions(None if path == STREAM else path, out, job.verb, force=options.force)
    try:
        with atomic_file(out, permissions) as part, pa.OSFile(str(part), "wb") as file:
            show(write_output(file), share)
    except OSError as error:
        raise CommandError(f"{out}: cannot be written: {error.strerror or error}", status=BAD_FILE) from None
    # Not the work: it keeps the input open.
    return work.source.path, work.nulled


# ---- folders


def files_below(folder: Path) -> list[Path]:
    """Returns the data files of a folder, relative to it."""

    def fail(error: OSError) -> NoReturn:
        raise error

    found = []
    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = filter(is_data, folders)
        for path in (Path(parent, name) for name in [*folders, *filter(is_data, names)]):
            if path.is_dir():
                if path.is_symlink():
                    raise CommandError(f"{path}: links to folders are not followed", status=BAD_FILE)
            elif path.is_file():
                check_suffix(path)
                found.append(path.relative_to(folder))
            else:
                raise CommandError(f"{path}: neither a file nor a folder", status=BAD_FILE)
    if not found:
        raise CommandError(
            f"{folder}: the folder contains no file with one of the suffixes {', '.join(READERS)}"
        )
    return sorted(found)


def is_data(name: str) -> bool:
    return not name.startswith((".", "_"))


def change_folder(job: Job, options: argparse.Namespace, show: Show) -> list[Nulled]:
    """Writes a file for each file of a folder. All checks on columns precede the first output."""
    folder, out = options.input, Path(os.path.realpath(options.output))
    if out.is_relative_to(os.path.realpath(folder)):
        raise CommandError(f"{options.output}: OUT must be outside IN, which is a folder", BAD_COMMAND)
    files = files_below(folder)
    for file in files:
        job.selection.targets(read(folder / file), job.verb)
        if (out / file).exists() and not options.force:
            raise CommandError(f"{out / file}: exists; use --force to replace it", status=BAD_FILE)
    total = sum(max(1, (folder / file).stat().st_size) for file in files)
    finished: list[Nulled] = []
    with new_folders() as create:
        for file in files:
            create(out / file.parent, folder / file.parent, job.verb)
            share = max(1, (folder / file).stat().st_size) / total
            try:
                finished.append(change_file(job, options, folder / file, out / file, show, share))
            except CommandError as error:
                done = f"; {len(finished)} of {len(files)} files are complete in {out}" if finished else ""
                raise CommandError(f"{error}{done}", error.status) from None
    return finished


@contextlib.contextmanager
def new_folders() -> Iterator[Callable[[Path, Path, str], None]]:
    """Yields a function that creates a folder like another one. If the block raises, removes empty ones."""
    created: list[Path] = []

    def create(path: Path, like: Path, verb: str) -> None:
        if path.is_dir():
            return
        create(path.parent, like.parent, verb)
        allowed = 0o700 if verb == "unseal" else 0o700 | stat.S_IMODE(like.stat().st_mode)
        path.mkdir(mode=allowed & 0o777)
        created.append(path)

    try:
        yield create
    except BaseException:
        for path in reversed(created):
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


# ---- inspect


@dataclass
class Count:
    """What a column contains. ``unsealed`` counts pieces that contain a value that is not sealed."""

    kind: pa.DataType
    rows: int = 0
    nulls: int = 0
    unsealed: int = 0
    keys: Counter[int] = field(default_factory=Counter)

    def sealed(self) -> str:
        if not self.keys:
            return "no"
        return "partly" if self.unsealed else "yes"

    def add(self, array: pa.Array, *, text: bool) -> None:
        self.rows += len(array)
        self.nulls += array.null_count
        array = plain_values(array)
        if text:
            array = pa.array(map(envelope_of, array.to_pylist()), pa.binary())
        keys = inspect_column(array)
        if keys is None:
            self.unsealed += 1
        else:
            self.keys.update(keys)


# By the name of a leaf, and the number of columns with the same name to the left of it.
Counts = dict[tuple[str, int], Count]


def inspect(options: argparse.Namespace) -> int:
    """Prints which columns appear to be sealed, and under which keys. Returns the exit status."""
    check_input(options)
    folder = options.input != STREAM and options.input.is_dir()
    paths = [options.input / file for file in files_below(options.input)] if folder else [options.input]
    keyset = read_keyset(options.keyset) if options.keyset else None
    counts: Counts = {}
    with progress_bar("inspect") as show:
        for path in paths:
            source = opened(path)
            for name in options.columns or ():
                if name not in (names := source.schema.names):
                    raise CommandError(
                        f"{source.path}: no column is named {name!r}; the file has {', '.join(names)}"
                    )
            show(count_values(source, options.columns, counts), 1 / len(paths))
    if options.json:
        print_json({"schema": "sealcomb-inspect/1", "columns": report_of(counts, keyset)})
        return 0
    header = ["column", "type", "values", "nulls", "sealed", "keys"]
    lines = [header] + [describe(name, count, keyset) for (name, _), count in counts.items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print_lines(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return 0


def count_values(source: Source, columns: Sequence[str] | None, counts: Counts) -> Iterator[float]:
    """Counts the values of the leaves of the named columns, or of all, and yields the progress."""
    names = source.schema.names
    found = []
    for at, name in enumerate(names):
        for path, leaf in leaves(source.schema.field(at)) if not columns or name in columns else ():
            key = ".".join((name, *path)), names[:at].count(name)
            found.append((at, path, counts.setdefault(key, Count(leaf.type))))
    for piece in source.pieces():
        for at, path, count in found:

            def add(array: pa.Array, *_: object, count: Count = count) -> pa.Array:
                count.add(array, text=source.text)
                return array

            try:
                replaced(piece.batch.column(at), path, None, add)
            except (ValueError, TypeError):
                where = f"{source.path}: {source.unit} {piece.group}, column {names[at]!r}"
                raise CommandError(f"{where}: values of this type cannot be inspected") from None
        yield piece.done


def envelope_of(text: str | None) -> bytes | None:
    """Decodes a CSV cell, or returns bytes that are not a sealed value."""
    try:
        return None if text is None else b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def describe(name: str, count: Count, keyset: Keyset | None) -> list[str]:
    notes = [f"{key}{key_note(key, keyset)}: {times}" for key, times in count.keys.most_common()]
    values = count.rows - count.nulls
    return [name, str(count.kind), str(values), str(count.nulls), count.sealed(), ", ".join(notes)]


def about_key(key: int, keyset: Keyset | None) -> dict[str, bool]:
    if keyset is None:
        return {}
    return {"primary": key == keyset.primary, "known": key in keyset.key_ids}


def report_of(counts: Counts, keyset: Keyset | None) -> list[dict[str, object]]:
    """Returns what ``--json`` prints of each leaf."""
    return [
        {
            "column": name,
            "type": str(count.kind),
            "values": count.rows - count.nulls,
            "nulls": count.nulls,
            "sealed": count.sealed(),
            "keys": [
                {"id": key, "values": values, **about_key(key, keyset)}
                for key, values in count.keys.most_common()
            ],
        }
        for (name, _), count in counts.items()
    ]


def key_note(key: int, keyset: Keyset | None) -> str:
    if keyset is None:
        return ""
    if key == keyset.primary:
        return " (primary)"
    return "" if key in keyset.key_ids else " (unknown)"


# ---- completions


def print_completions(options: argparse.Namespace) -> int:
    """Prints a script that completes the command in a shell. Returns the exit status."""
    try:
        import shtab  # noqa: PLC0415
    except ModuleNotFoundError:
        raise CommandError(
            "the package shtab is not installed; run pip install 'sealcomb[cli]'", BAD_COMMAND
        ) from None
    top = parser()
    for action in all_actions(top):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print_lines([shtab.complete(top, options.shell)])
    return 0


def all_actions(one: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yields the arguments of a parser and of the parsers of its verbs."""
    for action in one._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from all_actions(below)


# ---- the command


def drain(steps: Iterable[float], _share: float) -> None:
    """Carries out work without showing its progress."""
    deque(steps, maxlen=0)


@contextlib.contextmanager
def progress_bar(verb: str) -> Iterator[Show]:
    """Displays the progress if standard error is a terminal, and the package ``rich`` is installed."""
    try:
        if not sys.stderr.isatty():
            raise ImportError
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        yield drain
        return
    columns = (TextColumn(verb), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(verb, total=1.0)
        before = 0.0

        def show(steps: Iterable[float], share: float) -> None:
            nonlocal before
            for done in steps:
                bar.update(task, completed=before + share * done)
            before += share
            bar.update(task, completed=before)

        yield show


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="sealcomb-columns",
        description="Seals and unseals columns of Parquet, Arrow and CSV files. VERB --help lists options.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"sealcomb-columns {version('sealcomb')}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, does in (
        ("seal", "encrypts and authenticates columns"),
        ("unseal", "verifies and decrypts columns"),
        ("reseal", "moves sealed columns to the keyset's primary key"),
    ):
        one = verbs.add_parser(verb, help=does, description=f"Reads IN, {does}, and writes OUT.")
        one.set_defaults(do=change)
        add_change_options(one, verb)
    add_inspect(verbs)
    add_keyset(verbs)
    completions = verbs.add_parser(
        "completions",
        help="prints a script that completes this command in a shell",
        description="Prints a script that completes this command in a shell. It requires the package shtab.",
    )
    completions.set_defaults(do=print_completions)
    completions.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    return top


def add_change_options(one: argparse.ArgumentParser, verb: str) -> None:
    binds = "binds every value to" if verb == "seal" else "every value was bound to"
    every = (
        "all columns"
        if verb == "seal"
        else "all columns. Fails if one is not sealed, except for those of --plain"
    )
    typed = (
        "reads the cells of a CSV column as values of this type"
        if verb == "seal"
        else "opens values as this type"
    )
    one.add_argument("input", metavar="IN", type=Path, help="the input file or folder; - is standard input")
    one.add_argument(
        "output", metavar="OUT", type=Path, help="the output file or folder; - is standard output"
    )
    one.add_argument(
        "--keyset",
        metavar="FILE",
        required=True,
        help="the keyset in Tink's JSON format; - reads standard input",
    )
    one.add_argument(
        "--column",
        metavar="NAME",
        dest="columns",
        action="append",
        help="a column to process, a leaf of a nested one (addr.street), or a pattern with *, ? or [ ]; "
        "can be repeated",
    )
    one.add_argument("--all", action="store_true", help=f"process {every}")
    if verb != "seal":
        one.add_argument(
            "--plain",
            metavar="NAME",
            action="append",
            help="a column, or a leaf of one, that was never sealed, and stays as it is; can be repeated",
        )
    one.add_argument(
        "--context",
        metavar="TEXT",
        required=True,
        help=f"{binds} this text; {{column}} is the column's name. With '', to no column",
    )
    one.add_argument(
        "--row-id",
        metavar="NAME",
        help=f"a column of ids; {binds} the id in its row, too. In "
        "CSV, the ids are text, unless --as-type NAME=TYPE names their type",
    )
    one.add_argument(
        "--as-type",
        metavar="[NAME=]TYPE",
        action="append",
        help=f"{typed}, such as int64, date or decimal(10,2); can be repeated (default: "
        + (
            "text)"
            if verb == "seal"
            else "the type in the metadata of IN, and otherwise bytes or, in CSV, text)"
        ),
    )
    one.add_argument("--to", choices=("arrows", "csv"), help="the format of standard output (default: as IN)")
    one.add_argument(
        "--threads", metavar="N", type=threads, help="number of threads (default: all processors)"
    )
    one.add_argument("--force", action="store_true", help="replace OUT if it exists; OUT may be IN")
    if verb == "unseal":
        one.add_argument(
            "--forged",
            choices=("fail", "null"),
            default="fail",
            help="if a value does not open, fail (the default) or replace it by null",
        )


def add_inspect(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    inspector = verbs.add_parser(
        "inspect",
        help="shows which columns are sealed, and under which keys",
        description="Shows which columns appear to be sealed, and under which keys. Nothing is verified.",
    )
    inspector.set_defaults(do=inspect)
    inspector.add_argument("input", metavar="IN", type=Path, help="the file or folder to inspect")
    inspector.add_argument(
        "--keyset",
        metavar="FILE",
        help="marks this keyset's primary key, and keys that it does not have; - reads standard input",
    )
    inspector.add_argument(
        "--column",
        metavar="NAME",
        dest="columns",
        action="append",
        help="a column to inspect; can be repeated (default: all columns)",
    )
    add_json(inspector)


def add_json(one: argparse.ArgumentParser) -> None:
    one.add_argument("--json", action="store_true", help="print JSON")


def add_keyset(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    keyset = verbs.add_parser(
        "keyset",
        help="creates, rotates and shows keysets",
        description="Creates, rotates and shows keysets in Tink's JSON format, in files only you can access.",
    )
    does = keyset.add_subparsers(dest="keyset_verb", required=True, metavar="VERB")
    for name, run, text in (
        ("new", _keysets.new, "writes a keyset with one new key to OUT"),
        ("rotate", _keysets.rotate, "reads KEYSET, adds a new primary key, and writes OUT"),
        (
            "disable",
            _keysets.disable,
            "reads KEYSET, disables a key so that it no longer opens, and writes OUT",
        ),
        ("show", _keysets.show, "prints the ids, types and status of the keys, but no key"),
    ):
        one = does.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        one.set_defaults(do=run)
        if name != "new":
            one.add_argument("keyset", metavar="KEYSET", help="a keyset; - reads standard input")
        if name != "show":
            one.add_argument("output", metavar="OUT", type=Path, help="the file for the keyset")
            one.add_argument(
                "--force", action="store_true", help="replace OUT if it exists; OUT may be KEYSET"
            )
        if name == "show":
            add_json(one)
        if name == "new":
            one.add_argument(
                "--policy",
                choices=("random", "deterministic", "xaes", "gcm"),
                default="random",
                help="what the key is for: random hides which values are equal, deterministic allows joins "
                "(default: %(default)s)",
            )
        if name == "disable":
            one.add_argument("--key", metavar="ID", type=int, required=True, help="the id of the key")


def threads(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(f"invalid number of threads {text!r}; use 1 to {MOST_THREADS}")
    return int(text)


def terminate(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status.

    >>> main(["inspect", "absent.parquet"])
    3
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, terminate)
    options = parser().parse_args(arguments)
    if getattr(options, "threads", None):
        pa.set_cpu_count(options.threads)
    try:
        status: int = options.do(options)
    except CommandError as error:
        print(f"sealcomb-columns: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("sealcomb-columns: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"sealcomb-columns: {where}{error.strerror or error}", file=sys.stderr)
        return BAD_FILE
    except RecursionError:
        print(f"sealcomb-columns: {options.input}: a column is nested too deep", file=sys.stderr)
        return BAD_INPUT
    except (pa.ArrowException, UnicodeDecodeError):
        print(f"sealcomb-columns: {options.input}: the data cannot be read or converted", file=sys.stderr)
        return BAD_INPUT
    return status
