#!/usr/bin/env python3
"""Append the footer that DuckDB requires to the extension's library.

usage: package.py LIBRARY EXTENSION

The footer has 512 bytes: eight fields of 32 bytes, which end in zeros, and 256 bytes for a signature, here
zeros. The last five fields are the kind of API, the version of the extension, that of DuckDB, the platform,
and the version of the footer. Because the kind of API is unstable, DuckDB refuses the file unless its own
version is the one in the footer, which is that of the bindings in Cargo.lock.
"""

import platform
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIELD, SIGNATURE = 32, 256
ARGUMENTS = 3
SYSTEMS = {"Linux": "linux", "Darwin": "osx"}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def duckdb_version(lock: str) -> str:
    """Returns DuckDB's version from that of its bindings: 1.20103.x are the bindings of v2.1.3."""
    packages = tomllib.loads(lock)["package"]
    (version,) = (package["version"] for package in packages if package["name"] == "libduckdb-sys")
    found = re.fullmatch(r"1\.(\d+)(\d\d)(\d\d)\.\d+", version)
    if found is None:
        raise ValueError(f"libduckdb-sys {version}: expected 1.MAJOR_MINOR_PATCH.x")
    return "v" + ".".join(str(int(part)) for part in found.groups())


def footer(extension_version: str, engine_version: str, target: str) -> bytes:
    """Returns the footer of an extension."""
    fields = ["", "", "", "C_STRUCT_UNSTABLE", extension_version, engine_version, target, "4"]
    return b"".join(field.encode().ljust(FIELD, b"\0") for field in fields) + bytes(SIGNATURE)


def main() -> None:
    if len(sys.argv) != ARGUMENTS:
        sys.exit(__doc__)
    library, extension = map(Path, sys.argv[1:])
    target = f"{SYSTEMS[platform.system()]}_{MACHINES[platform.machine()]}"
    version = tomllib.loads((HERE / "Cargo.toml").read_text("utf-8"))["package"]["version"]
    engine = duckdb_version((HERE / "Cargo.lock").read_text("utf-8"))
    extension.parent.mkdir(parents=True, exist_ok=True)
    # A running process may have mapped the old file.
    new = extension.with_suffix(".part")
    new.write_bytes(library.read_bytes() + footer(f"v{version}", engine, target))
    new.replace(extension)


if __name__ == "__main__":
    main()
