# shellcheck shell=bash
# Recipes for the DuckDB extension. Its tests are steps of the suite `python`, since they use the Python package.

readonly DUCKDB=$TARGET/duckdb
readonly DUCKDB_CRATE=crates/sealcomb-duckdb

# The releases that the extension is built for, the newest last. For another one, compare its list of functions as the
# crate's RELEASE says, and the declarations of those that the crate calls.
readonly DUCKDB_RELEASES=(2.0.0 2.0.1)

word duckdb "" build_duckdb "Build the DuckDB extension, for each release of DuckDB: target/duckdb."

# cargo_duckdb ARGUMENT...: runs cargo on the extension's crate, which is not a member of the workspace. It shares the
# target directory of the Python package, and with it the optimized build of the library.
cargo_duckdb() { (cd "$DUCKDB_CRATE" && CARGO_TARGET_DIR=$TARGET/python cargo "$@"); }

build_duckdb() {
    local release
    for release in "${DUCKDB_RELEASES[@]}"; do
        cargo_duckdb build --quiet --release --locked --features "$(duckdb_feature "$release")"
        "$DUCKDB_CRATE/package.py" "$TARGET/python/release/libsealcomb.so" "$DUCKDB" "$release"
    done
    cp "$DUCKDB/v${DUCKDB_RELEASES[-1]}"/*/sealcomb.duckdb_extension "$DUCKDB/sealcomb.duckdb_extension"
}

# The feature of the crate for a release; none for that of the bindings.
duckdb_feature() { [[ $1 == 2.0.0 ]] || echo "v${1//./_}"; }

lint_duckdb() {
    cargo_duckdb fmt --check
    cargo_duckdb clippy --quiet --release --all-targets --locked -- -D warnings
    local python=$TARGET/python/venv/bin/
    "${python}ruff" check --quiet --config tools/ruff.toml "$DUCKDB_CRATE/package.py"
    "${python}ruff" format --quiet --check --config tools/ruff.toml "$DUCKDB_CRATE/package.py"
}

test_duckdb() {
    cargo_duckdb test --quiet --release --locked --lib
    SEALCOMB_DUCKDB=$DUCKDB pytest_wheel --numprocesses "$(nproc)" --maxprocesses 4 --dist loadfile \
        python/tests/test_duckdb*.py
    # Whether the extension calls the right functions of the older releases.
    local release other
    for release in "${DUCKDB_RELEASES[@]::${#DUCKDB_RELEASES[@]}-1}"; do
        other=$TARGET/python/duckdb-$release
        [[ -d $other ]] || "$TARGET/python/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
            --target "$other" "duckdb==$release"
        PYTHONPATH=$other SEALCOMB_DUCKDB=$DUCKDB pytest_wheel python/tests/test_duckdb.py \
            -k "every_type or release or manual"
    done
}

# The suite `long` can run without `./dev python`.
test_duckdb_long() {
    setup_python
    build_wheel
    build_duckdb
    SEALCOMB_QUERIES=1000 SEALCOMB_DUCKDB=$DUCKDB pytest_wheel python/tests/test_duckdb_queries.py -k drawn
}
