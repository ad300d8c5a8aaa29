#!/usr/bin/env bash
# Cargo for the library and its checks alone, as static release binaries with readable symbols: what the emulator, valgrind
# and the tracer run, and what the check of the machine code reads, built once for all.
# usage: static-cargo.sh test --test NAME [ARGUMENT...]
#        static-cargo.sh build --example NAME [ARGUMENT...]
# With STATIC_TARGET=aarch64-unknown-linux-gnu it builds for Arm, with Debian's cross compiler, and runs under QEMU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command=$1
shift
# With STATIC_LINES=1 it says where in the sources an instruction comes from, and the build takes half as long again.
[[ -z ${STATIC_LINES:-} ]] || export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
target=${STATIC_TARGET:-x86_64-unknown-linux-gnu}
folder=${CARGO_TARGET_DIR:-target}/static
if [[ $target == aarch64-* ]]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER:-qemu-aarch64-static}
    # Valgrind's headers are the same everywhere, and the cross compiler does not look where they are.
    mkdir -p "$folder/include"
    ln -sfn /usr/include/valgrind "$folder/include/valgrind"
    export DEP_VALGRIND=$PWD/$folder/include
    [[ $folder != /* ]] || DEP_VALGRIND=$folder/include
fi
export RUSTFLAGS="-C target-feature=+crt-static -C symbol-mangling-version=v0"
# With --target the flags keep away from build scripts, and the runner for that target applies.
# Whatever the target, both packages: which are named decides about features, and so about what is built again.
exec cargo "$command" --quiet --release -p sealcomb -p sealcomb-checks --features sealcomb/hazmat,sealcomb/research \
    --target "$target" --target-dir "$folder" "$@"
