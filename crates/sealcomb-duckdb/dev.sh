# shellcheck shell=bash
# Recipes for the DuckDB extension. Its tests are steps of the suite `python`, since they use the Python package.

readonly DUCKDB=$TARGET/duckdb
readonly DUCKDB_CRATE=crates/sealcomb-duckdb

word duckdb "" build_duckdb "Build the DuckDB extension: target/duckdb/sealcomb.duckdb_extension."

# cargo_duckdb ARGUMENT...: runs cargo on the extension's crate, which is not a member of the workspace. It shares the
# target directory of the Python package, and with it the optimized build of the library.
cargo_duckdb() { (cd "$DUCKDB_CRATE" && CARGO_TARGET_DIR=$TARGET/python cargo "$@"); }

build_duckdb() {
    cargo_duckdb build --quiet --release --locked
    "$DUCKDB_CRATE/package.py" "$TARGET/python/release/libsealcomb.so" "$DUCKDB/sealcomb.duckdb_extension"
}

lint_duckdb() {
    cargo_duckdb fmt --check
    cargo_duckdb clippy --quiet --release --all-targets --locked -- -D warnings
    local python=$TARGET/python/venv/bin/
    "${python}ruff" check --quiet --config tools/ruff.toml "$DUCKDB_CRATE/package.py"
    "${python}ruff" format --quiet --check --config tools/ruff.toml "$DUCKDB_CRATE/package.py"
}

test_duckdb() {
    SEALCOMB_DUCKDB=$DUCKDB/sealcomb.duckdb_extension pytest_wheel --numprocesses "$(nproc)" --maxprocesses 4 \
        --dist loadfile python/tests/test_duckdb*.py
}

# The suite `long` can run without `./dev python`.
test_duckdb_long() {
    setup_python
    build_wheel
    build_duckdb
    SEALCOMB_QUERIES=1000 SEALCOMB_DUCKDB=$DUCKDB/sealcomb.duckdb_extension pytest_wheel \
        python/tests/test_duckdb_queries.py -k drawn
}
