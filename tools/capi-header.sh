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
    compare_with_release
}

# Compares the ABI with that of the latest release; before the first release, with that of the previous commit. Additions
# are compatible.
compare_with_release() {
    local base
    base=$(git describe --tags --abbrev=0 2>/dev/null) || base=HEAD~1
    git show "$base:./$RECORD" >"$work/base.abi" 2>/dev/null || {
        echo "the ABI was not compared with $base, which is not in this clone"
        return
    }
    git show "$base:./$HEADER" | grep -E 'define SEALCOMB_VERSION_(MAJOR|MINOR)' >"$work/base.version"
    if ! grep -E 'define SEALCOMB_VERSION_(MAJOR|MINOR)' "$HEADER" | cmp -s - "$work/base.version"; then
        echo "the minor version differs from that of $base, so the ABI may differ"
        return
    fi
    abidiff --no-added-syms "$work/base.abi" "$work/stub.so" >"$work/changes" || {
        cat "$work/changes"
        echo "the ABI is not compatible with that of $base: keep it, or raise the minor version before 1.0, the major after" >&2
        return 1
    }
    echo "the ABI is compatible with that of $base"
}

case "${1:-}" in
    --check) check ;;
    --write) write ;;
    *)
        echo "usage: capi-header.sh --check|--write" >&2
        exit 2
        ;;
esac
