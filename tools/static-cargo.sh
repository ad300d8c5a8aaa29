#!/usr/bin/env bash
# Runs Cargo for the library and its checks, building static release binaries with readable symbols. The emulator,
# valgrind, the tracer and the machine code checks share this build.
# usage: static-cargo.sh test --test NAME [ARGUMENT...]
#        static-cargo.sh build --example NAME [ARGUMENT...]
# STATIC_TARGET=aarch64-unknown-linux-gnu builds for Arm with Debian's cross compiler and runs under QEMU.
# STATIC_LINES=1 adds line numbers; the build takes 1.5 times as long.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command=$1
shift
[[ -z ${STATIC_LINES:-} ]] || export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
target=${STATIC_TARGET:-x86_64-unknown-linux-gnu}
folder=${CARGO_TARGET_DIR:-target}/static
if [[ $target == aarch64-* ]]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER:-qemu-aarch64-static}
    # Valgrind's headers do not depend on the architecture, but the cross compiler does not search /usr/include.
    mkdir -p "$folder/include"
    ln -sfn /usr/include/valgrind "$folder/include/valgrind"
    export DEP_VALGRIND=$PWD/$folder/include
    [[ $folder != /* ]] || DEP_VALGRIND=$folder/include
fi
export RUSTFLAGS="-C target-feature=+crt-static -C symbol-mangling-version=v0"
# With --target, RUSTFLAGS do not apply to build scripts, and the target's runner is used.
# Always select both packages: the selection determines the features, and thus what is rebuilt.
exec cargo "$command" --quiet --release -p sealcomb -p sealcomb-checks --features sealcomb/hazmat,sealcomb/research,sealcomb/unstable-study \
    --target "$target" --target-dir "$folder" "$@"
