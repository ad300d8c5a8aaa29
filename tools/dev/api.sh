# shellcheck shell=bash
# The records of the public interfaces in docs/api. Steps of CI compare them.

word api "[SURFACE...]" write_api "Write the records of the public interfaces in docs/api, or only those of the surfaces \
rust, help, python, duckdb and spark. \`./dev capi-header\` writes those of the C library."

# The format of rustdoc that sealcomb-api reads.
readonly RUSTDOC_FORMAT=57

# describe_library NAME FEATURES: writes rustdoc's description of the library with these features to target/api/NAME.json.
describe_library() {
    # RUSTC_BOOTSTRAP enables the description on a stable compiler. Crates that look at it are compiled again, so the
    # folder is another one.
    RUSTC_BOOTSTRAP=1 cargo rustdoc --quiet -p sealcomb --lib --features "$2" --target-dir "$TARGET/api" -- \
        -Z unstable-options --output-format json
    mv "$TARGET/api/doc/sealcomb.json" "$TARGET/api/$1.json"
}

# stable_features: prints the features of the library whose items are stable.
stable_features() {
    sed -n '/^\[features\]/,/^$/s/^\([a-z0-9-]*\) = .*/\1/p' crates/sealcomb/Cargo.toml |
        grep -vE '^(default|unstable-.*)$' | paste -sd ,
}

# record_rust FILE: writes the public items of the library to a file, or skips it if this compiler has another format.
record_rust() {
    describe_library default std
    describe_library all "$(stable_features)"
    if grep -q "\"format_version\":$RUSTDOC_FORMAT\>" "$TARGET/api/all.json"; then
        cargo run --quiet -p sealcomb-api -- "$TARGET/api/default.json" "$TARGET/api/all.json" >"$1"
    else
        skip "record of the library's items" "rustdoc of $(rustc --version) has another format than Rust 1.95"
    fi
}

check_rust_record() {
    cp docs/api/rust.txt "$NOTES/rust.txt"
    record_rust "$NOTES/rust.txt"
    diff -u docs/api/rust.txt "$NOTES/rust.txt" || {
        echo "the library's public items differ from docs/api/rust.txt. If that is intended, run ./dev api rust, and add a" \
            "line to the changelog" >&2
        return 1
    }
}

# write_api SURFACE...: the tests that compare the other records write them if SEALCOMB_WRITE_DOCS is set.
write_api() {
    export SEALCOMB_WRITE_DOCS=1
    (($#)) || set -- rust help python duckdb spark
    if [[ " $* " == *" "@(help|python|duckdb|spark)" "* ]]; then
        setup_python
        build_wheel
    fi
    local surface
    for surface in "$@"; do
        case $surface in
            rust) record_rust docs/api/rust.txt ;;
            help)
                cargo_tests --quiet --test help_record
                pytest_wheel python/tests/test_records.py -k help
                ;;
            python) pytest_wheel python/tests/test_records.py -k names ;;
            duckdb)
                build_duckdb
                SEALCOMB_DUCKDB=$DUCKDB pytest_wheel python/tests/test_duckdb.py -k record
                ;;
            spark)
                build_spark_jar
                SEALCOMB_SPARK_JAR=$SPARK/build/sealcomb-spark.jar pytest_wheel python/tests/test_spark_jar.py -k record
                ;;
            *)
                echo "./dev api: unknown surface \`$surface\`; \`./dev help\` lists them" >&2
                return 2
                ;;
        esac
    done
}
