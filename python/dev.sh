# shellcheck shell=bash
# Recipes for the Python package.

readonly PYTHON=$TARGET/python

word python "" "run_suite python" \
    "The Python package: lint, types, the wheel, and its tests, among them those with Tink, Spark and the other engines."

setup_python() {
    if cmp -s python/tests/requirements.txt "$PYTHON/venv/installed.txt"; then
        echo "Python packages: all there"
        return
    fi
    echo "Python packages: installing into $PYTHON/venv"
    python3 -m venv --clear "$PYTHON/venv"
    "$PYTHON/venv/bin/pip" install --quiet --disable-pip-version-check --requirement python/tests/requirements.txt
    cp python/tests/requirements.txt "$PYTHON/venv/installed.txt"
}

# cargo_python ARGUMENT...: cargo on the package's crate, which is outside of the workspace.
cargo_python() { (cd python && CARGO_TARGET_DIR=$PYTHON cargo "$@"); }

lint_python() {
    "$PYTHON/venv/bin/ruff" check --quiet python
    "$PYTHON/venv/bin/ruff" format --quiet --check python
    (cd python && "$PYTHON/venv/bin/mypy")
    cargo_python fmt --check
    cargo_python clippy --quiet --release --all-targets -- -D warnings
}

# The wheel that `pip install ./python` makes, by the same tool, with the build dependencies of the tests.
build_wheel() {
    rm -rf "$PYTHON/wheels"
    CARGO_TARGET_DIR=$PYTHON "$PYTHON/venv/bin/maturin" build --quiet --release --manifest-path python/Cargo.toml \
        --out "$PYTHON/wheels"
    "$PYTHON/venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$PYTHON"/wheels/*.whl
}

# From a folder without the sources, so that the wheel is what is imported.
test_python() { "$PYTHON/venv/bin/python" -P -m pytest --quiet --rootdir python python/tests; }

# The package with an extension that checks its memory. It is not optimized, which would take longer than the fuzzing.
build_sanitized() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    # A stable compiler has the sanitizer and refuses the flag.
    CARGO_PROFILE_DEV_OPT_LEVEL=0 RUSTC_BOOTSTRAP=1 \
        RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer" \
        cargo_python build --quiet --lib --target "$host" --target-dir "$PYTHON/sanitized"
    rm -rf "$PYTHON/sanitized/package"
    mkdir -p "$PYTHON/sanitized/package"
    cp -r python/sealcomb "$PYTHON/sanitized/package"
    cp "$PYTHON/sanitized/$host/debug/lib_sealcomb.so" "$PYTHON/sanitized/package/sealcomb/_sealcomb.abi3.so"
}

# fuzz_columns SECONDS: mutated files and arrays, so long for each target, two targets at a time.
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

# fuzz_target TARGET SECONDS
fuzz_target() {
    local note=$NOTES/fuzz-$1
    rm -f "$note"
    # Python itself is not built with the sanitizer, so its library comes first, and the one whose exceptions it
    # looks for; and all memory is malloc's.
    PYTHONPATH=$PYTHON/sanitized/package PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system \
        LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)" \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 FUZZ_NOTE=$note \
        "$PYTHON/venv/bin/python" -P python/fuzz/fuzz_columns.py "$1" "$2" || {
        echo "failed; again with: $(cat "$note")" >&2
        return 1
    }
}

# `./dev long` may run on its own.
fuzz_columns_long() {
    setup_python
    fuzz_columns 600
}
