#!/usr/bin/env bash
# The C library's header, made from the comments in its sources, and the record of its ABI, made from the header.
# usage: capi-header.sh --check    fails if either is not what it would be
#        capi-header.sh --write    makes both anew
# Takes cbindgen from PATH; libabigail (abidw, abidiff) and a C compiler for the record, without which it says that it is left.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../crates/sealcomb-capi"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readonly HEADER=include/sealcomb.h RECORD=abi/sealcomb.abi

# stub HEADER: a library with the header's functions and types, as a C compiler sees them.
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
        echo "$HEADER is not what cbindgen makes: ./dev capi-header" >&2
        return 1
    }
    if ! command -v abidiff >/dev/null; then
        echo "the header is current; its ABI was not compared, since libabigail is not here"
        return
    fi
    stub "$HEADER"
    abidiff --harmless "$RECORD" "$work/stub.so" || {
        echo "the ABI is not the one that is recorded. If that is meant: ./dev capi-header, and a line in the changelog;" \
            "where programs that were compiled before would break, a new minor version before 1.0, a new major one after" >&2
        return 1
    }
    echo "the header and the record of its ABI are current"
}

case "${1:-}" in
    --check) check ;;
    --write) write ;;
    *)
        echo "usage: capi-header.sh --check|--write" >&2
        exit 2
        ;;
esac
