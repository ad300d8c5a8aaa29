# shellcheck shell=bash
# Recipes for the C library, tested as installed, and for the OpenSSL provider.

word capi "" "run_suite capi" \
    "Test the installed C library: C and C++ tests with two compilers, sanitizers and valgrind, examples, ABI, cost \
per call; then the OpenSSL provider."
word capi-header "" write_header "Write the C library's header and the record of its ABI."

readonly CAPI=$TARGET/capi
readonly CARGO_C=0.10.24 CBINDGEN=0.29.4
readonly CAPI_PREFIX=$CAPI/installed/usr/local

# install_tool CRATE VERSION: installs a command from crates.io, as a debug build because it runs only for a second.
install_tool() {
    local root=$CAPI/$1-$2
    [[ -e $root/.crates.toml ]] ||
        CARGO_TARGET_DIR=$CAPI/tool CARGO_PROFILE_DEV_DEBUG=false \
            cargo install --quiet --locked --debug --root "$root" --version "$2" "$1"
    rm -rf "$CAPI/tool"
    PATH=$root/bin:$PATH
}

check_header() {
    install_tool cbindgen "$CBINDGEN"
    tools/capi-header.sh --check
}

write_header() {
    install_packages abigail-tools
    install_tool cbindgen "$CBINDGEN"
    tools/capi-header.sh --write
}

setup_capi() {
    install_packages abigail-tools clang cmake libpcap-dev
    install_tool cbindgen "$CBINDGEN"
    install_tool cargo-c "$CARGO_C"
}

install_capi() {
    install_tool cargo-c "$CARGO_C"
    rm -rf "$CAPI/installed"
    cargo cinstall --release -p sealcomb-capi --prefix /usr/local --libdir lib --destdir "$CAPI/installed" >"$CAPI/install.log" 2>&1 || {
        cat "$CAPI/install.log"
        return 1
    }
    # The library must export exactly the header's functions, each with the library's version.
    diff <(sed -n 's/^[^*]*[ *]\(sealcomb_[a-z_]*\)(.*/\1@@libsealcomb.so.0.1/p' "$CAPI_PREFIX/include/sealcomb.h" | sort) \
        <(nm --dynamic --defined-only "$CAPI_PREFIX/lib/libsealcomb.so" | awk '$2 == "T" { print $3 }' | sort)
}

# test_capi NAME CC CXX OPTION...: builds the C tests and the examples with these compilers and CMake options, and
# runs them.
test_capi() {
    local build=$CAPI/tests/$1
    CC=$2 CXX=$3 cmake -S crates/sealcomb-capi/tests -B "$build" -DCMAKE_PREFIX_PATH="$CAPI_PREFIX" "${@:4}" >"$CAPI/cmake.log" || {
        cat "$CAPI/cmake.log"
        return 1
    }
    cmake --build "$build" --parallel "$(nproc)" >"$CAPI/cmake.log" 2>&1 || {
        cat "$CAPI/cmake.log"
        return 1
    }
    ctest --test-dir "$build" --output-on-failure
}

# Compiles and runs the C code of the manual with the command given there.
test_manual() {
    local flags
    # shellcheck disable=SC2016  # Backticks of the manual.
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md >"$CAPI/manual.c"
    flags=$(PKG_CONFIG_SYSROOT_DIR=$CAPI/installed PKG_CONFIG_PATH=$CAPI_PREFIX/lib/pkgconfig pkg-config --cflags --libs sealcomb)
    # shellcheck disable=SC2086  # Several words.
    gcc -Wall -Wextra -Werror "$CAPI/manual.c" $flags -o "$CAPI/manual"
    LD_LIBRARY_PATH=$CAPI_PREFIX/lib "$CAPI/manual"
}

bench_capi() { cargo bench --quiet -p sealcomb-capi --bench call; }

# Downloads OpenSSL's test vectors, which are not in this repository, from the distribution's source package.
fetch_evp_data() {
    local folder=$CAPI/openssl sources=/etc/apt/sources.list.d/debian.sources
    [[ -e $folder/data ]] && return
    mkdir -p "$folder/lists/partial"
    sed 's/^Types: deb$/Types: deb-src/' "$sources" >"$folder/src.sources" 2>/dev/null || return 1
    (cd "$folder" && apt-get -qq -o "Dir::Etc::sourcelist=$folder/src.sources" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::lists=$folder/lists" update && apt-get -qq -o "Dir::Etc::sourcelist=$folder/src.sources" \
        -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$folder/lists" source --download-only --tar-only openssl) \
        >"$folder/apt.log" 2>&1 || return 1
    mkdir "$folder/data"
    tar -xzf "$folder"/openssl_*.orig.tar.gz -C "$folder/data" --strip-components=4 --wildcards '*/30-test_evp_data/*'
}

# Unpacks Debian's nginx without installing it, as the installation starts a server.
unpack_nginx() {
    local folder=$CAPI/nginx
    [[ -x $folder/usr/sbin/nginx ]] && return
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && apt-get -qq download nginx) >"$CAPI/nginx.log" 2>&1 || {
        cat "$CAPI/nginx.log" >&2
        return 1
    }
    dpkg-deb --extract "$folder"/nginx_*.deb "$folder"
}

build_provider() {
    cargo build --quiet --release -p sealcomb-provider
    mkdir -p "$CAPI/modules"
    cp "$TARGET/release/libsealcomb_provider.so" "$CAPI/modules/sealcomb.so"
}

# Compares random sequences of calls with OpenSSL's default provider.
fuzz_provider() {
    gcc -O1 -g -Wall -Wextra -Werror crates/sealcomb-provider/tests/sequences.c -lcrypto -o "$CAPI/sequences"
    OPENSSL_MODULES=$CAPI/modules "$CAPI/sequences" "$1"
}

# `openssl dgst` duplicates the context of a MAC in progress.
compare_cmac() {
    local key=2b7e151628aed2a6abf7158809cf4f3c mac=(-mac cmac -macopt cipher:aes-128-cbc) ours theirs
    ours=$(OPENSSL_MODULES=$CAPI/modules openssl dgst "${mac[@]}" -macopt "hexkey:$key" -provider sealcomb -provider default \
        -propquery '?provider=sealcomb' "$CAPI/modules/sealcomb.so")
    theirs=$(openssl dgst "${mac[@]}" -macopt "hexkey:$key" "$CAPI/modules/sealcomb.so")
    [[ -n $ours && $ours == "$theirs" ]]
}

test_provider() {
    gcc -O1 -g -Wall -Wextra -Werror crates/sealcomb-provider/tests/evp.c -lcrypto -o "$CAPI/evp"
    if fetch_evp_data; then
        OPENSSL_MODULES=$CAPI/modules "$CAPI/evp" "$CAPI"/openssl/data/evp{ciph_aes_{common,ccm_cavs,ocb,siv},mac_common}.txt
    else
        echo "SKIPPED: OpenSSL's vectors: its source package cannot be downloaded"
    fi
    compare_cmac
    crates/sealcomb-provider/tests/tls.sh "$CAPI/modules"
    unpack_nginx
    crates/sealcomb-provider/tests/nginx.sh "$CAPI/nginx/usr/sbin/nginx" "$CAPI/modules"
}

# Builds the newest OpenSSL, once for each version of the crate that contains it.
readonly OPENSSL=$CAPI/openssl-$(sed -n 's/^openssl-src = "\(.*\)"/\1/p' crates/sealcomb-provider/tests/openssl/Cargo.toml)

build_openssl() {
    [[ -e $OPENSSL/install/lib/libcrypto.a ]] && return
    OPT_LEVEL=2 CARGO_TARGET_DIR=$CAPI/tool cargo run --quiet --locked \
        --manifest-path crates/sealcomb-provider/tests/openssl/Cargo.toml -- "$OPENSSL" >"$CAPI/openssl.log" 2>&1 || {
        tail -40 "$CAPI/openssl.log"
        return 1
    }
    rm -rf "$CAPI/tool"
}

# compile_with_newest PROGRAM: compiles a test program of the provider for the newest OpenSSL.
compile_with_newest() {
    gcc -O1 -g -Wall -Wextra -Werror "crates/sealcomb-provider/tests/$1.c" "-I$OPENSSL/install/include" \
        "$OPENSSL/install/lib/libcrypto.a" -ldl -lpthread -o "$CAPI/$1-newest"
}

# Tests the module that also serves OpenSSL 3.0 with the newest OpenSSL.
test_pipelines() {
    local program
    build_openssl
    for program in pipelines evp; do compile_with_newest "$program"; done
    # The manual's function compiles.
    # shellcheck disable=SC2016  # Backticks of the manual.
    awk '/^```c openssl$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md >"$CAPI/pipeline.c"
    gcc -c -Wall -Wextra -Werror "-I$OPENSSL/install/include" "$CAPI/pipeline.c" -o "$CAPI/pipeline.o"
    OPENSSL_MODULES=$CAPI/modules "$CAPI/pipelines-newest" 200
    if fetch_evp_data; then
        OPENSSL_MODULES=$CAPI/modules "$CAPI/evp-newest" "$CAPI"/openssl/data/evp{ciph_aes_{common,ccm_cavs,ocb,siv},mac_common}.txt
    else
        echo "SKIPPED: OpenSSL's vectors: its source package cannot be downloaded"
    fi
}

bench_pipelines() {
    build_openssl
    compile_with_newest pipeline-speed
    OPENSSL_MODULES=$CAPI/modules "$CAPI/pipeline-speed-newest"
}

bench_provider() {
    gcc -O1 -g -Wall -Wextra -Werror crates/sealcomb-provider/tests/speed.c -lcrypto -o "$CAPI/speed"
    OPENSSL_MODULES=$CAPI/modules "$CAPI/speed"
}
