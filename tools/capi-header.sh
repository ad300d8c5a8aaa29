#!/usr/bin/env bash
# Generates the C library's header from the comments in its sources, and the record of its ABI from the header.
# usage: capi-header.sh --check    fails if either is out of date
#        capi-header.sh --write    regenerates both
# Requires cbindgen in PATH, and for the record libabigail (abidw, abidiff) and a C compiler. --check skips the ABI if abidiff
# is missing, and says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../crates/sealcomb-capi"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly HEADER=include/sealcomb.h RECORD=abi/sealcomb.abi

# stub HEADER: compiles a library with the header's types and empty functions.
stub() {
    sed 's/);$/) {}/' "$1" >"$work/stub.c"
    cc -g -w -shared -fPIC -Wl,-soname,libsealcomb.so -o "$work/stub.so" "$work/stub.c"
}

write() {
    cbindgen --quiet --config cbindgen.toml --crate sealcomb-capi --output "$HEADER" .
    stub "$HEADER"
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed --type-id-style hash "$work/stub.so" |
        sed "s|path='[^']*stub.c'|path='sealcomb.h'|" >"$RECORD"
}

check() {
    cbindgen --quiet --config cbindgen.toml --crate sealcomb-capi --output "$work/sealcomb.h" .
    diff -u "$HEADER" "$work/sealcomb.h" || {
        echo "$HEADER is out of date: run ./dev capi-header" >&2
        return 1
    }
    if ! command -v abidiff >/dev/null; then
        echo "the header is up to date; its ABI was not compared, because abidiff (libabigail) is not installed"
        return
    fi
    stub "$HEADER"
    abidiff --harmless "$RECORD" "$work/stub.so" || {
        echo "the ABI differs from the record. If that is intended, run ./dev capi-header and add a line to the changelog;" \
            "if it breaks compiled programs, it also needs a new minor version before 1.0, a new major version after" >&2
        return 1
    }
    echo "the header and the record of its ABI are up to date"
}

case "${1:-}" in
    --check) check ;;
    --write) write ;;
    *)
        echo "usage: capi-header.sh --check|--write" >&2
        exit 2
        ;;
esac
