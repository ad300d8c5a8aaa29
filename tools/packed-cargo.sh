#!/usr/bin/env bash
# Packages the library as `cargo publish` would, unpacks it outside of the repository, and runs Cargo there.
# usage: packed-cargo.sh COMMAND [ARGUMENT...]   for example: packed-cargo.sh test --release --all-features
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly ALLOWED='(Cargo\.(toml|toml\.orig|lock)|\.cargo_vcs_info\.json|README\.md|LICENSE-(APACHE|MIT)|(src|tests|examples)/.+\.rs)'
readonly REQUIRED=(Cargo.toml README.md LICENSE-APACHE LICENSE-MIT src/lib.rs)

TARGET=$(realpath -m "${CARGO_TARGET_DIR:-target}")
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT

# The folder must be empty, so that *.crate matches one file regardless of the version.
rm -rf "$TARGET/package"
cargo package --quiet --package sealcomb --no-verify --allow-dirty --target-dir "$TARGET"
tar --extract --strip-components 1 --directory "$FOLDER" --file "$TARGET"/package/*.crate

if (cd "$FOLDER" && find . -type f -printf '%P\n') | grep -Evx "$ALLOWED"; then
    echo "the packed crate contains unexpected files, listed above" >&2
    exit 1
fi
for file in "${REQUIRED[@]}"; do
    [[ -f $FOLDER/$file ]] || { echo "the packed crate lacks $file" >&2; exit 1; }
done
echo "$(find "$FOLDER" -type f | wc -l) files, $(du --bytes "$TARGET"/package/*.crate | cut -f 1) bytes packed"

# A separate target folder. The previously unpacked crate is removed from it, as its path has changed.
cd "$FOLDER"
export CARGO_TARGET_DIR=$TARGET/packed
[[ ! -d $CARGO_TARGET_DIR ]] || cargo clean --quiet --package sealcomb
cargo "$@"
