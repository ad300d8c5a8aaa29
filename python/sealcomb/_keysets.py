"""Keyset files of the command ``sealcomb-columns``."""

from __future__ import annotations

import json
import os
import stat
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from sealcomb import Keyset, KeysetError
from sealcomb._files import (
    BAD_COMMAND,
    BAD_FILE,
    CommandError,
    atomic_file,
    print_json,
    print_lines,
    standard_file,
)


def read_text(path: str) -> str:
    """Reads a keyset file; ``-`` is standard input. Warns if others can access the file."""
    if path == "-":
        data = standard_file(sys.stdin, named(path)).read()
    else:
        with open(path, "rb") as file:  # noqa: PTH123
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                print(
                    f"warning: {path}: other users can read or change these keys; run chmod 600 {path}",
                    file=sys.stderr,
                )
            data = file.read()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CommandError(f"{named(path)}: not UTF-8 text, so not a keyset in Tink's JSON format") from None


def named(path: str) -> str:
    return "standard input" if path == "-" else path


def read_keyset(path: str) -> Keyset:
    """Reads a Tink keyset in JSON; ``-`` is standard input."""
    text = read_text(path)
    try:
        return Keyset.from_tink_json(text)
    except KeysetError as error:
        raise CommandError(f"{named(path)}: {error}") from None


def write_keyset(path: Path, text: str, *, force: bool) -> None:
    """Writes a keyset file that only its owner can access, and replaces a file only with ``force``."""
    if str(path) == "-":
        raise CommandError("OUT is -, but a keyset is only written to a file", status=BAD_COMMAND)
    out = Path(os.path.realpath(path))
    if out.exists() and not (force and out.is_file()):
        hint = "use --force to replace it" if out.is_file() else "it is not a regular file"
        raise CommandError(f"{path}: exists; {hint}", status=BAD_FILE)
    try:
        with atomic_file(out, lambda _: 0o600) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror or error}", status=BAD_FILE) from None


# ---- the verbs


def new(options: Namespace) -> int:
    """Writes a keyset with one new key."""
    write_keyset(options.output, Keyset.generate(options.policy).secret_tink_json(), force=options.force)
    return 0


def rotate(options: Namespace) -> int:
    """Writes a keyset with a new primary key in addition to the keys of another one."""
    rotated = read_keyset(options.keyset).rotated()
    write_keyset(options.output, rotated.secret_tink_json(), force=options.force)
    return 0


def disable(options: Namespace) -> int:
    """Writes a keyset in which a key neither seals nor opens."""
    keyset = read_keyset(options.keyset)
    if options.key == keyset.primary:
        raise CommandError(f"{options.keyset}: key {options.key} is the primary; rotate the keyset first")
    content = content_of(keyset, options.keyset)
    found = [key for key in content["key"] if key["keyId"] == options.key]
    if not found:
        ids = ", ".join(str(key["keyId"]) for key in content["key"])
        raise CommandError(f"{options.keyset}: no key has the id {options.key}; the keyset has {ids}")
    left = [key for key in found if key["status"] != "DESTROYED"]
    if not left:
        raise CommandError(f"{options.keyset}: key {options.key} is destroyed, and opens nothing")
    for key in left:
        key["status"] = "DISABLED"
    write_keyset(options.output, json.dumps(content, indent=2) + "\n", force=options.force)
    return 0


def show(options: Namespace) -> int:
    """Prints the ids, types and status of the keys, but no key."""
    keyset = read_keyset(options.keyset)
    keys = content_of(keyset, options.keyset)["key"]
    if options.json:
        about = [dict(json_of(key), primary=key["keyId"] == keyset.primary) for key in keys]
        print_json({"schema": "sealcomb-keyset/1", "policy": keyset.policy, "keys": about})
        return 0
    print_lines([f"policy: {keyset.policy}", *(about_key(key, keyset.primary) for key in keys)])
    return 0


def content_of(keyset: Keyset, path: str) -> dict[str, Any]:
    try:
        return dict(json.loads(keyset.secret_tink_json()))
    except RecursionError:
        raise CommandError(f"{path}: the keyset's unknown fields are nested too deep") from None


def about_key(key: dict[str, Any], primary: int) -> str:
    notes = [type_of(key) or "no key data", str(key["status"]).lower(), f"prefix {key['outputPrefixType']}"]
    return f"{key['keyId']}: " + ", ".join(notes) + (", primary" if key["keyId"] == primary else "")


def json_of(key: dict[str, Any]) -> dict[str, Any]:
    """Returns what is known about a key, without the key."""
    return {
        "id": key["keyId"],
        "type": type_of(key),
        "status": str(key["status"]).lower(),
        "prefix": key["outputPrefixType"],
    }


def type_of(key: dict[str, Any]) -> str | None:
    """Returns the type of a key; ``None`` if it has no key data, as a destroyed key need not."""
    return str(key["keyData"]["typeUrl"]).rpartition(".")[2] if "keyData" in key else None
