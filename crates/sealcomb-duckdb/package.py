#!/usr/bin/env python3
"""Append the footer that DuckDB requires to the extension's library.

usage: package.py LIBRARY FOLDER RELEASE

Writes FOLDER/vRELEASE/PLATFORM/sealcomb.duckdb_extension, which is where DuckDB looks for it if FOLDER is the
repository to install from.

The footer has 512 bytes: eight fields of 32 bytes, which end in zeros, and 256 bytes for a signature, here
zeros. The last five fields are the kind of API, the version of the extension, that of DuckDB, the platform,
and the version of the footer. Because the kind of API is unstable, DuckDB refuses the file unless its own
version is the one in the footer.
"""

import platform
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIELD, SIGNATURE = 32, 256
ARGUMENTS = 4
SYSTEMS = {"Linux": "linux", "Darwin": "osx"}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def footer(extension_version: str, release: str, target: str) -> bytes:
    """Returns the footer of an extension."""
    fields = ["", "", "", "C_STRUCT_UNSTABLE", extension_version, release, target, "4"]
    return b"".join(field.encode().ljust(FIELD, b"\0") for field in fields) + bytes(SIGNATURE)


def main() -> None:
    if len(sys.argv) != ARGUMENTS:
        sys.exit(__doc__)
    library, folder, release = Path(sys.argv[1]), Path(sys.argv[2]), f"v{sys.argv[3]}"
    target = f"{SYSTEMS[platform.system()]}_{MACHINES[platform.machine()]}"
    version = tomllib.loads((HERE / "Cargo.toml").read_text("utf-8"))["package"]["version"]
    extension = folder / release / target / "sealcomb.duckdb_extension"
    extension.parent.mkdir(parents=True, exist_ok=True)
    # A running process may have mapped the old file.
    new = extension.with_suffix(".part")
    new.write_bytes(library.read_bytes() + footer(f"v{version}", release, target))
    new.replace(extension)


if __name__ == "__main__":
    main()
