# shellcheck shell=bash
# Recipes for the workspace of Rust crates: lint, tests, documentation, fuzzing, comparison with other libraries.

readonly PYTHON_SOURCES=(tools captures)
readonly LINK_RUFF=crates/sealcomb-link/tests/net/ruff.toml
readonly FUZZ_TARGETS=(capture packets sa frames macsec_sa answers differential control)
# What needs the headers of other libraries.
readonly NEED_HEADERS=(--exclude sealcomb-ipsec-mb --exclude sealcomb-peers --exclude sealcomb-provider --exclude sealcomb-fuzz)

word fuzz "MINUTES|FILE" fuzz \
    "Run each fuzz target for so many minutes, with libFuzzer where there are a nightly Rust and cargo-fuzz, else with our \
own runner; or run one input that failed once more."
word bench "[ARGUMENT...]" bench \
    "Compare with other libraries in every cell: lengths, batch sizes, sealing and opening; see \`./dev bench --help\`."

# cargo_tests ARGUMENT...: cargo on the workspace as the tests build it, so that every step that needs a command or a
# test of it shares one build. `sealcomb-checks` is of use in the release profile only.
cargo_tests() { cargo test --workspace --all-features --exclude sealcomb-checks "$@"; }
build_tests() { cargo_tests --quiet --no-run; }

shell_sources() { git ls-files 'dev' '.ci/run' '*.sh'; }

check_format() {
    cargo fmt --all --check
    .venv/bin/ruff format --quiet --check --config tools/ruff.toml "${PYTHON_SOURCES[@]}"
    .venv/bin/ruff format --quiet --check --config "$LINK_RUFF" crates/sealcomb-link
}

check_lints() {
    .venv/bin/ruff check --quiet --config tools/ruff.toml "${PYTHON_SOURCES[@]}"
    .venv/bin/ruff check --quiet --config "$LINK_RUFF" crates/sealcomb-link
    local sources
    mapfile -t sources < <(shell_sources)
    .venv/bin/shellcheck "${sources[@]}"
    cargo clippy --quiet --workspace --all-targets --all-features -- -D warnings
    cargo clippy --quiet -p sealcomb --no-default-features -- -D warnings
    cargo clippy --quiet -p sealcomb -- -D warnings
}

check_repository() {
    tools/check_layers.py
    local crate
    for crate in crates/*/; do
        # The library's backends, the hardware's models, and calls from C and into C need `unsafe`. Clippy wants a
        # reason for each.
        [[ $crate =~ ^crates/sealcomb(-rtl|-ipsec-mb|-capi|-provider)?/$ ]] ||
            tools/check_layers.py --root "${crate}src" --unsafe-only
    done
    tools/check_layers.py --root python/src --unsafe-only
    tools/check_randomness.py
    tools/check_dependencies.py
    tools/check_links.py
    tools/check_claims.py
    tools/study_tables.py --check
    .venv/bin/python -m unittest discover --quiet -s tools/tests
}

# Published vectors from PyPI, for the tests of the Rust crates.
use_nist_vectors() {
    SEALCOMB_NIST_VECTORS=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    export SEALCOMB_NIST_VECTORS
}

run_tests() {
    if [[ -n ${MISSING[.venv]:-} ]]; then
        skip "NIST's vectors" "need .venv"
    else
        use_nist_vectors
    fi
    if [[ -n ${MISSING[openssl]:-}${MISSING[ipsec-mb]:-} ]]; then
        skip "tests beside other libraries" "need the headers of OpenSSL and ipsec-mb"
        # Without their features, too.
        cargo test --workspace --exclude sealcomb-checks "${NEED_HEADERS[@]}" \
            --features sealcomb/hazmat,sealcomb/research,sealcomb/reference
    else
        cargo_tests
    fi
    # The library's unit tests, which its Cargo.toml leaves out of the first command.
    cargo test -p sealcomb --lib --features reference
}

check_docs() { RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --all-features --no-deps; }

check_msrv() {
    if has_toolchain; then
        cargo "+$MSRV" check --quiet -p sealcomb --all-features
        cargo "+$MSRV" check --quiet -p sealcomb-cli
        echo "builds with $(cargo "+$MSRV" --version)"
    else
        cargo clippy --quiet -p sealcomb -p sealcomb-cli -- -D clippy::incompatible_msrv
        echo "no toolchain $MSRV here: clippy finds no newer function of the standard library, and cargo's" \
            "resolver keeps to dependencies that declare $MSRV or older"
    fi
}

check_no_std() {
    if has_target "$BARE_TARGET"; then
        cargo check --quiet -p sealcomb --no-default-features --features aead,hazmat,research --target "$BARE_TARGET"
        echo "compiles for $BARE_TARGET, which has no standard library, and is not x86"
    else
        grep -q '^#!\[no_std\]' crates/sealcomb/src/lib.rs
        echo "no target $BARE_TARGET here: the library is declared no_std"
    fi
}

# Whether its tests pass as well is for `long`: they need a build of their own.
check_package() { tools/packed-cargo.sh check --quiet --all-features --tests; }
test_package() { tools/packed-cargo.sh test --release --all-features; }

demonstrate() {
    build_tests
    captures/demo.py --sealcomb "$TARGET/debug/sealcomb"
    captures/esn.py --sealcomb "$TARGET/debug/sealcomb"
    captures/macsec.py --sealcomb "$TARGET/debug/sealcomb"
}

# look_at_report [--sample N]
look_at_report() {
    build_tests
    .venv/bin/python tools/check_report.py --sealcomb "$TARGET/debug/sealcomb" "$@"
}

test_all_in_release_profile() {
    use_nist_vectors
    SEALCOMB_CHECKS_BATCHES=20 cargo test --release --workspace --all-features
    cargo test --release -p sealcomb --lib --features reference
}

has_miri() { cargo +nightly miri --version >/dev/null 2>&1; }

install_miri() {
    timeout 300 rustup component add --toolchain nightly miri rust-src ||
        timeout 300 rustup toolchain install nightly --profile minimal --component miri,rust-src
}

# The portable backend has all of the `unsafe` that is not intrinsics: the rows and spans that every backend reads.
check_miri() {
    has_miri || install_miri >"$NOTES/rustup.log" 2>&1 || true
    if has_miri; then
        SEALCOMB_BACKEND=portable MIRIFLAGS=-Zmiri-disable-isolation \
            cargo +nightly miri test -p sealcomb --lib --features reference --target-dir "$TARGET/miri"
    else
        skip Miri "rustup has none for this machine"
    fi
}

# plant_faults [--sample N]: the copy in which they are planted begins with the build of the tests.
plant_faults() {
    build_tests
    tools/mutate.py "$@"
}

check_yanked() { tools/check_dependencies.py --yanked; }

# ---- fuzzing

# mutate ARGUMENT...: our own runner, from the build of the tests.
mutate() { cargo_tests --quiet --test fuzz -- "$@"; }

# fuzz_sample MINUTES: every target, from the seed of the sampled checks.
fuzz_sample() { mutate --minutes "$1" --seed "$SEALCOMB_SEED"; }

# libfuzz MINUTES: every target with a corpus of its own that grows from run to run, beside the one in the tree.
libfuzz() {
    local name corpus
    for name in "${FUZZ_TARGETS[@]}"; do
        corpus=$TARGET/fuzz-corpus/$name
        mkdir -p "$corpus" "fuzz/artifacts/$name"
        cargo +nightly fuzz run --fuzz-dir fuzz/libfuzzer "$name" "$corpus" "fuzz/corpus/$name" -- \
            -max_total_time=$((60 * $1)) -artifact_prefix="fuzz/artifacts/$name/" -print_final_stats=1
    done
}

# fuzz MINUTES|FILE
fuzz() {
    local what=${1:-1}
    if [[ -f $what ]]; then
        mutate --again "$(realpath "$what")"
    elif cargo +nightly fuzz --version >/dev/null 2>&1; then
        libfuzz "$what"
    else
        mutate --minutes "$what"
    fi
}

bench() { cargo bench --quiet -p sealcomb-peers --bench matrix -- "$@"; }
