#!/usr/bin/env python3
"""Check that all random bytes for secrets and nonces come from the crate sealcomb-random.

usage: check_randomness.py [--root FOLDER]

`fork` copies a random generator that a thread or a static variable holds, so two processes would draw equal
nonces. Outside sealcomb-random, code that users run must not have:

- a dependency on a crate that generates random numbers, in any Cargo.toml;
- the name of such a crate, of one of its generators, or of another crate's wrapper, in any Rust source;
- an import of a module that generates random numbers, in the Python package;
- the name of a class or function that generates random numbers, in the jar for Spark.

Tests, benchmarks and examples are exempt. EXCEPTIONS lists other code that draws neither secrets nor nonces,
with the reason. Prints one line per finding and exits with status 1.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import check_layers

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "crates/sealcomb-random"
CRATES = {
    "chacha20", "fastrand", "getrandom", "nanorand", "oorandom", "rand", "rand_chacha", "rand_core",
    "rand_pcg", "rand_xoshiro", "rand_xorshift", "rdrand", "turborand",
}  # fmt: skip
NAMES = CRATES | {
    "EphemeralSecret", "OsRng", "SysRng", "SystemRandom", "ThreadRng", "crypto_common",
    "make_rng", "new_v4", "thread_rng", "try_generate",
}  # fmt: skip
# Foreign functions such as RAND_bytes, and devices.
TEXT = re.compile(r"\bRAND_\w*bytes\b|/dev/u?random|\barc4random\w*|\bgetentropy\b")
PYTHON = re.compile(
    r"^\s*(?:from\s+|import\s+(?:[\w. ]+,\s*)*)(?:random|secrets|uuid)\b"
    r"|\bos\.(?:urandom|getrandom)\b|\bfrom\s+os\s+import\b.*random"
    r"|\b(?:np|numpy)\.random\b|\bimport_module\(.(?:random|secrets)",
    re.MULTILINE,
)
JAVA = re.compile(r"\b(?:\w*Random|RandomGenerator\w*|KeyGenerator|randomUUID)\b|\bMath\.random\b")
EXCEPTIONS = {
    "crates/sealcomb-checks": "a library of tests",
    "crates/sealcomb-cli/Cargo.toml": "sample messages, and the order of known answers",
    "crates/sealcomb-cli/src/study": "sample messages to measure with, under keys that protect nothing",
    "crates/sealcomb-cli/src/vectors": "the order of known answers",
    "crates/sealcomb-rtl": "simulated packets",
    "fuzz": "inputs of the fuzz targets",
    "python/bench": "values to measure with",
    "python/fuzz": "inputs of the fuzz targets",
}


def is_exempt(path: Path, root: Path) -> bool:
    """Returns whether the file belongs to sealcomb-random, to tests, or to an exception."""
    name = path.relative_to(root)
    if {"tests", "benches", "examples", "target"} & set(name.parts) or name.name == "tests.rs":
        return True
    return any(name.is_relative_to(place) for place in (SOURCE, *EXCEPTIONS))


def manifests(root: Path) -> Iterator[tuple[Path, str]]:
    """Yields dependencies of users' builds that generate random numbers."""
    for path in sorted([*root.glob("crates/*/Cargo.toml"), root / "python" / "Cargo.toml"]):
        if not path.exists() or is_exempt(path, root):
            continue
        manifest = tomllib.loads(path.read_text())
        tables = [manifest, *manifest.get("target", {}).values()]
        for name, value in (
            dependency
            for table in tables
            for kind in ("dependencies", "build-dependencies")
            for dependency in table.get(kind, {}).items()
        ):
            crate = value.get("package", name) if isinstance(value, dict) else name
            if crate in CRATES:
                yield path, f"depends on {crate}"


def rust(root: Path) -> Iterator[tuple[Path, str]]:
    """Yields names of generators in Rust sources."""
    for path in sorted([*root.glob("crates/*/src/**/*.rs"), *root.glob("python/src/**/*.rs")]):
        if is_exempt(path, root):
            continue
        source = path.read_text()
        for token, line in check_layers.without_tests(check_layers.tokens(source)):
            if token in NAMES:
                yield path, f"line {line} names {token}"
        for found in TEXT.finditer(source):
            yield path, f"line {source.count(chr(10), 0, found.start()) + 1} names {found[0]}"


def python(root: Path) -> Iterator[tuple[Path, str]]:
    """Yields imports of random modules in the Python package."""
    for path in sorted(root.glob("python/**/*.py")):
        if is_exempt(path, root):
            continue
        source = path.read_text()
        for found in PYTHON.finditer(source):
            yield path, f"line {source.count(chr(10), 0, found.start()) + 1} has {found[0].strip()!r}"


def java(root: Path) -> Iterator[tuple[Path, str]]:
    """Yields generators in the sources of the jar for Spark."""
    for path in sorted(root.glob("spark/src/main/**/*.java")):
        source = path.read_text()
        for found in JAVA.finditer(source):
            yield path, f"line {source.count(chr(10), 0, found.start()) + 1} names {found[0]}"


def main() -> int:
    """Check the whole tree."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root.resolve()
    findings = [*manifests(root), *rust(root), *python(root), *java(root)]
    for path, finding in findings:
        print(f"{path.relative_to(root)}: {finding}")

    if findings:
        print("use sealcomb-random for secrets and nonces: its output never repeats after a fork")
    else:
        print("randomness: crates/sealcomb-random is the only source")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
