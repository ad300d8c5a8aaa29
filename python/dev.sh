# shellcheck shell=bash
# Recipes for the Python package.

readonly PYTHON=$TARGET/python

word python "" "run_suite python" \
    "Lint the Python package, check its types, build the wheel, and run its tests with Tink, Spark and the other engines."

setup_python() {
    if cmp -s python/tests/requirements.txt "$PYTHON/venv/installed.txt"; then
        echo "Python packages: already installed"
        return
    fi
    echo "Python packages: installing into $PYTHON/venv"
    python3 -m venv --clear "$PYTHON/venv"
    "$PYTHON/venv/bin/pip" install --quiet --disable-pip-version-check --requirement python/tests/requirements.txt
    cp python/tests/requirements.txt "$PYTHON/venv/installed.txt"
}

# cargo_python ARGUMENT...: runs cargo on the package's crate, which is not a member of the workspace.
cargo_python() { (cd python && CARGO_TARGET_DIR=$PYTHON cargo "$@"); }

lint_python() {
    "$PYTHON/venv/bin/ruff" check --quiet python
    "$PYTHON/venv/bin/ruff" format --quiet --check python
    (cd python && "$PYTHON/venv/bin/mypy")
    cargo_python fmt --check
    cargo_python clippy --quiet --release --all-targets -- -D warnings
}

# Builds and installs the wheel like `pip install ./python`, with the same tool, but with the tests' dependencies.
build_wheel() {
    rm -rf "$PYTHON/wheels"
    CARGO_TARGET_DIR=$PYTHON "$PYTHON/venv/bin/maturin" build --quiet --release --manifest-path python/Cargo.toml \
        --out "$PYTHON/wheels"
    "$PYTHON/venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$PYTHON"/wheels/*.whl
}

# pytest_wheel ARGUMENT...: runs pytest. -P excludes the sources from the path, so the wheel is imported.
pytest_wheel() { "$PYTHON/venv/bin/python" -P -m pytest --quiet --rootdir python "$@"; }

# Separate steps test disk images and the jar for Spark, because only they need its tools, and DuckDB's extension, which
# is built apart.
test_python() {
    # Each file runs in one process, since its tests share a Spark session.
    pytest_wheel --numprocesses "$(nproc)" --maxprocesses 4 --dist loadfile \
        --ignore python/tests/test_disk_images.py --ignore python/tests/test_spark_jar.py \
        --ignore python/tests/test_spark_queries.py --ignore python/tests/test_spark_connect.py \
        --ignore python/tests/test_spark_streams.py \
        --ignore-glob '*/test_duckdb*.py' python/tests
}

test_disk_images() { pytest_wheel python/tests/test_disk_images.py; }

# Builds the package with AddressSanitizer. It is not optimized, because that would take longer than the fuzzing.
build_sanitized() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    # RUSTC_BOOTSTRAP enables the flag of the sanitizer on a stable compiler.
    CARGO_PROFILE_DEV_OPT_LEVEL=0 RUSTC_BOOTSTRAP=1 \
        RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer" \
        cargo_python build --quiet --lib --target "$host" --target-dir "$PYTHON/sanitized"
    rm -rf "$PYTHON/sanitized/package"
    mkdir -p "$PYTHON/sanitized/package"
    cp -r python/sealcomb "$PYTHON/sanitized/package"
    cp "$PYTHON/sanitized/$host/debug/lib_sealcomb.so" "$PYTHON/sanitized/package/sealcomb/_sealcomb.abi3.so"
}

# fuzz_columns SECONDS: fuzzes each target for SECONDS, two targets at a time.
fuzz_columns() {
    build_sanitized
    local pair kind failed=
    for pair in "arrow parquet" "csv arrays"; do
        local -A running=()
        for kind in $pair; do
            fuzz_target "$kind" "$1" &
            running[$kind]=$!
        done
        for kind in "${!running[@]}"; do
            wait "${running[$kind]}" || failed+=" $kind"
        done
    done
    [[ -z $failed ]] || {
        echo "failed:$failed" >&2
        return 1
    }
}

# fuzz_target TARGET SECONDS: fuzzes one target.
fuzz_target() {
    local note=$NOTES/fuzz-$1
    rm -f "$note"
    # Python is not built with the sanitizer, so libasan is preloaded, with libstdc++, whose exceptions it intercepts.
    # All memory must come from malloc. Kernels that are not optimized, with the sanitizer's space between variables, need
    # more stack than threads have by default.
    RUST_MIN_STACK=$((16 << 20)) PYTHONPATH=$PYTHON/sanitized/package PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system \
        LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 FUZZ_NOTE=$note \
        "$PYTHON/venv/bin/python" -P python/fuzz/fuzz_columns.py "$1" "$2" || {
        echo "failed; repeat with: $(cat "$note")" >&2
        return 1
    }
}

# Installs the packages first, because `./dev long` can run without `./dev python`.
fuzz_columns_long() {
    setup_python
    fuzz_columns 600
}
