# shellcheck shell=bash
# Checks of the Rust workspace: lint, tests, documentation, fuzzing, comparison with other libraries.

readonly PYTHON_SOURCES=(tools captures)
readonly LINK_RUFF=crates/sealcomb-link/tests/net/ruff.toml
readonly FUZZ_TARGETS=(capture packets sa frames macsec_sa answers differential streams control keysets types)
# Leaves out the crates that require headers of other libraries.
readonly NEED_HEADERS=(--exclude sealcomb-ipsec-mb --exclude sealcomb-peers --exclude sealcomb-provider --exclude sealcomb-fuzz)

word fuzz "MINUTES|FILE" fuzz \
    "Fuzz each target for this many minutes, with libFuzzer if a nightly Rust and cargo-fuzz are installed, otherwise with \
the built-in runner. With a file: run this input again."
word bench "[ARGUMENT...]" bench \
    "Compare with the other libraries that are installed, for every algorithm, length, batch size and direction; see \
\`./dev bench --help\`. \
IPSEC_MB=DIR selects a build of Intel's library."
word gate "REV [ARGUMENT...]" gate \
    "Compare the speed with that of an earlier commit, cell by cell and on every backend with vector instructions; takes \
five minutes after the build. Fails if a cell became slower. The arguments are those of \`./dev bench\`."

# cargo_tests ARGUMENT...: runs `cargo test` on the workspace. Every step that needs a command or test of the workspace
# uses it, so all share one build. `sealcomb-checks` is useful only in the release profile.
cargo_tests() { cargo test --workspace --all-features --exclude sealcomb-checks "$@"; }
build_tests() { cargo_tests --quiet --no-run; }

shell_sources() { git ls-files 'dev' '.ci/run' 'tools/dev/as-test-user' '*.sh'; }

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
    cargo clippy --quiet -p sealcomb --no-default-features --features "$(modes | tr ' ' ,)" -- -D warnings
    cargo clippy --quiet -p sealcomb -- -D warnings
    cargo clippy --quiet -p sealcomb-peers --no-default-features --bench matrix -- -D warnings
}

check_repository() {
    tools/check_layers.py
    local crate
    for crate in crates/*/; do
        # The library's backends, the hardware models and C boundaries require `unsafe`. Clippy requires a reason for
        # each block.
        [[ $crate =~ ^crates/sealcomb(-rtl|-ipsec-mb|-capi|-provider|-columns|-jni|-duckdb)?/$ ]] ||
            tools/check_layers.py --root "${crate}src" --unsafe-only
    done
    tools/check_layers.py --root crates/sealcomb-columns/src --layers tools/layers-columns.toml
    tools/check_layers.py --root python/src --layers tools/layers-python.toml
    tools/check_randomness.py
    tools/check_dependencies.py
    tools/check_links.py
    tools/check_claims.py
    tools/check_glossary.py
    tools/check_prose.py
    tools/check_commits.py
    tools/study_tables.py --check
    .venv/bin/python -m unittest discover --quiet -s tools/tests
}

# Lets the Rust tests find the NIST vectors, which PyPI provides.
use_nist_vectors() {
    SEALCOMB_NIST_VECTORS=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    export SEALCOMB_NIST_VECTORS
}

# test_workspace ARGUMENT...: runs all tests of the workspace for which this machine has the headers.
test_workspace() {
    if [[ -n ${MISSING[openssl]:-}${MISSING[ipsec-mb]:-} ]]; then
        skip "tests against other libraries" "need the headers of OpenSSL and ipsec-mb"
        # Leaves out the features of these crates, too.
        cargo test --workspace --exclude sealcomb-checks "${NEED_HEADERS[@]}" \
            --features sealcomb/hazmat,sealcomb/research,sealcomb/unstable-reference,sealcomb/unstable-study "$@"
    else
        cargo_tests "$@"
    fi
}

# run_tests: runs the tests of the workspace, as the user SEALCOMB_TEST_USER if root has named one. Those that require
# root are in modules called `as_root`.
run_tests() {
    if [[ -n ${MISSING[.venv]:-} ]]; then
        skip "NIST's vectors" "need .venv"
    else
        use_nist_vectors
    fi
    if [[ -n ${SEALCOMB_TEST_USER:-} ]]; then
        test_workspace --no-run
        # The folders in which tests write.
        mkdir -p "$TARGET/tmp" fuzz/artifacts
        chown -R "$SEALCOMB_TEST_USER:" "$TARGET/tmp" fuzz/artifacts
        local runner
        runner=CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')_RUNNER
        (export "$runner=$PWD/tools/dev/as-test-user" && test_workspace --no-fail-fast)
        test_workspace --no-fail-fast --lib --bins --tests as_root
    else
        test_workspace --no-fail-fast
    fi
    # The library's Cargo.toml excludes its unit tests from the command above. They compile the library again, and do
    # little: without optimization, that takes a third of the time.
    cargo test -p sealcomb --lib --all-features --config 'profile.dev.package.sealcomb.opt-level=0'
}

check_docs() {
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --all-features --no-deps
    check_rust_record
}

check_msrv() {
    if has_toolchain; then
        cargo "+$MSRV" check --quiet -p sealcomb --all-features
        cargo "+$MSRV" check --quiet -p sealcomb-cli
        echo "builds with $(cargo "+$MSRV" --version)"
    else
        cargo clippy --quiet -p sealcomb -p sealcomb-cli -- -D clippy::incompatible_msrv
        echo "toolchain $MSRV is not installed: clippy checks the standard library's functions, and cargo's" \
            "resolver selects only dependencies that support $MSRV"
    fi
}

# modes: prints the features of the library that each add the algorithms of a mode.
modes() {
    sed -n 's/^default = \["std", \(.*\)\]$/\1/p' crates/sealcomb/Cargo.toml | tr -d '",'
}

# Each mode compiles alone, and one of them runs.
check_modes() {
    local mode all
    read -ra all < <(modes)
    for mode in "${all[@]}"; do
        cargo clippy --quiet -p sealcomb --no-default-features --features "$mode" -- -D warnings
    done
    mode=${all[$((SEALCOMB_SEED % ${#all[@]}))]}
    echo "mode that runs alone: $mode"
    cargo test --quiet -p sealcomb --no-default-features --features "std,$mode" --test modes \
        --config 'profile.dev.package.sealcomb.opt-level=0'
}

check_no_std() {
    if has_target "$BARE_TARGET"; then
        local all
        all=$(modes | tr ' ' ,)
        cargo check --quiet -p sealcomb --no-default-features --features "$all,rustcrypto-aead-05,rustcrypto-aead-06,rustcrypto-digest-011,hazmat,research" --target "$BARE_TARGET"
        echo "compiles for $BARE_TARGET, which has no standard library and is not x86"
    else
        grep -q '^#!\[no_std\]' crates/sealcomb/src/lib.rs
        echo "target $BARE_TARGET is not installed: the library declares no_std"
    fi
}

# The suite `long` also runs the tests, which require a separate build.
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
    cargo test --release -p sealcomb --lib --all-features
}

has_miri() { cargo +nightly miri --version >/dev/null 2>&1; }

install_miri() {
    timeout 300 rustup component add --toolchain nightly miri rust-src ||
        timeout 300 rustup toolchain install nightly --profile minimal --component miri,rust-src
}

# The portable backend exercises all `unsafe` code except intrinsics: the rows and spans that every backend reads.
check_miri() {
    has_miri || install_miri >"$NOTES/rustup.log" 2>&1 || true
    if has_miri; then
        SEALCOMB_BACKEND=portable MIRIFLAGS=-Zmiri-disable-isolation \
            cargo +nightly miri test -p sealcomb --lib --features unstable-reference --target-dir "$TARGET/miri"
    else
        skip Miri "rustup does not provide it for this machine"
    fi
}

# plant_faults [--sample N]: plants faults in a copy of the repository, starting from the test build. Only all faults
# include those of the Python package, whose packages `./dev python` may not have installed yet.
plant_faults() {
    build_tests
    (($#)) || setup_python
    tools/mutate.py "$@"
}

check_yanked() { tools/check_dependencies.py --yanked; }

# ---- fuzzing

# mutate ARGUMENT...: runs the built-in fuzzer from the test build.
mutate() { cargo_tests --quiet --test fuzz -- "$@"; }

# fuzz_sample MINUTES: fuzzes every target, starting from the seed of the sampled checks.
fuzz_sample() { mutate --minutes "$1" --seed "$SEALCOMB_SEED"; }

# libfuzz MINUTES: fuzzes every target with libFuzzer. A corpus in the build folder grows from run to run, in addition
# to the corpus in the repository.
libfuzz() {
    local name corpus seconds
    # For libFuzzer, 0 seconds are no limit.
    seconds=$(awk -v minutes="$1" 'BEGIN { seconds = int(60 * minutes); print (seconds > 0 ? seconds : 1) }')
    for name in "${FUZZ_TARGETS[@]}"; do
        corpus=$TARGET/fuzz-corpus/$name
        mkdir -p "$corpus" "fuzz/artifacts/$name"
        cargo +nightly fuzz run --fuzz-dir fuzz/libfuzzer "$name" "$corpus" "fuzz/corpus/$name" -- \
            -max_total_time="$seconds" -artifact_prefix="fuzz/artifacts/$name/" -print_final_stats=1
    done
}

# fuzz MINUTES|FILE: fuzzes every target, or runs one input again.
fuzz() {
    local what=${1:-1}
    if [[ -f $what ]]; then
        mutate --again "$(realpath "$what")"
    elif [[ ! $what =~ ^[0-9]*\.?[0-9]+$ ]]; then
        echo "./dev fuzz: \`$what\` is neither a number of minutes nor a file" >&2
        return 2
    elif cargo +nightly fuzz --version >/dev/null 2>&1; then
        libfuzz "$what"
    else
        mutate --minutes "$what" || or_name_missing $? cc openssl ipsec-mb
    fi
}

# bench ARGUMENT...: compares with those of the other libraries that are installed.
bench() {
    local need features=native
    or_name_missing 0 cc openssl ipsec-mb
    for need in openssl ipsec-mb; do
        if ${FOUND_BY[$need]} 2>"$NOTES/missing.log"; then features+=,$need; fi
    done
    cargo bench --quiet -p sealcomb-peers --no-default-features --features "$features" --bench matrix -- "$@"
}

# gate REV ARGUMENT...: builds a copy of this tree whose benchmark also links the library of REV, and runs it. On one CPU,
# because tracing a process on another one takes three times as long.
gate() {
    local revision copy=$PWD/target/gate/tree
    revision=$(git rev-parse --verify "${1:?expected the commit to compare with}^{commit}")
    shift
    rm -rf "$copy"
    mkdir -p "$copy"
    git ls-files -z --cached --others --exclude-standard |
        tar --null --files-from=- --ignore-failed-read --create 2>/dev/null | tar --extract --directory "$copy"
    cat >>"$copy/crates/sealcomb-peers/Cargo.toml" <<END

[dev-dependencies.earlier]
package = "sealcomb"
git = "file://$PWD"
rev = "$revision"
features = ["hazmat", "research", "unstable-study"]
END
    export CARGO_TARGET_DIR=$PWD/target/gate RUSTFLAGS="${RUSTFLAGS:-} --cfg earlier"
    local -a bench=(cargo bench --manifest-path "$copy/Cargo.toml" -p sealcomb-peers --no-default-features --bench matrix)
    "${bench[@]}" --no-run
    # On one CPU: to trace a process on another one takes three times as long.
    taskset --cpu-list "$(($(nproc) - 1))" "${bench[@]}" --quiet -- "$@"
}
