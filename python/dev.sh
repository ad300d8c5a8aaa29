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
