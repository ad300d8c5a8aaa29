#!/usr/bin/env bash
# Builds the wheel that a release uploads: for every Python from 3.11 on, and every Linux with glibc 2.17 or newer, which
# takes a linker for that glibc, zig's. `python/build-wheel.sh FOLDER` leaves it there; tools and build stay in python/target.
set -euo pipefail
out=$(realpath -m "${1:?a folder for the wheel}")
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly TOOLS=target/wheel-tools

[[ -x $TOOLS/bin/maturin ]] || {
    python3 -m venv --clear "$TOOLS"
    "$TOOLS/bin/pip" install --quiet --disable-pip-version-check 'maturin[zig]==1.16.0'
}
PATH=$PWD/$TOOLS/bin:$PATH maturin build --release --locked --zig --compatibility manylinux2014 --out "$out"
