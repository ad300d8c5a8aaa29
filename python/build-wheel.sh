#!/usr/bin/env bash
# Builds the wheel for a release: for Python 3.11 or newer, and Linux with glibc 2.17 or newer, using zig's linker.
# usage: python/build-wheel.sh FOLDER writes the wheel to FOLDER; tools and build files are in python/target.
set -euo pipefail
out=$(realpath -m "${1:?a folder for the wheel}")
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly TOOLS=target/wheel-tools

[[ -x $TOOLS/bin/maturin ]] || {
    python3 -m venv --clear "$TOOLS"
    "$TOOLS/bin/pip" install --quiet --disable-pip-version-check 'maturin[zig]==1.16.0'
}
PATH=$PWD/$TOOLS/bin:$PATH maturin build --release --locked --zig --compatibility manylinux2014 --out "$out"
