# shellcheck shell=bash
# Recipes for the C library, tested as installed, and for the OpenSSL provider.

word capi "" "run_suite capi" \
    "Test the installed C library: C and C++ tests with two compilers, sanitizers and valgrind, examples, ABI, cost \
per call; then the OpenSSL provider."
word capi-install "PREFIX [OPTION...]" install_library "Build the C library and install it into PREFIX, or into \
\$DESTDIR/PREFIX: the header, both libraries, the files for pkg-config and CMake, and manual pages. \$LIBDIR is the folder of \
the libraries in PREFIX, by default lib. Options go to cargo, such as --features hazmat."
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
}

# install_library PREFIX OPTION...
install_library() {
    if [[ ${1:-} != /* ]]; then
        echo "usage: ./dev capi-install PREFIX [OPTION...]: PREFIX is an absolute path, such as /usr/local" >&2
        return 2
    fi
    local prefix=${1%/} root=${DESTDIR:-}${1%/} lib=${LIBDIR:-lib} log=$NOTES/capi-install.log version private
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
    local soname=libsealcomb.so.${version%.*}
    # A forced link prints the system libraries that the static library needs.
    touch crates/sealcomb-capi/src/lib.rs
    cargo rustc --release -p sealcomb-capi --lib --crate-type cdylib,staticlib "${@:2}" -- \
        -C "link-arg=-Wl,-soname,$soname" --print native-static-libs 2>"$log" || {
        cat "$log" >&2
        return 1
    }
    # There is no static libgcc_s: libgcc_eh has its unwinder.
    private=$(sed -n 's/-lgcc_s/-lgcc_eh/; s/.*native-static-libs: //p' "$log")
    install -d "$root"/{include,"$lib/pkgconfig",share/cmake/sealcomb}
    install -m 644 crates/sealcomb-capi/include/sealcomb.h "$root/include"
    install -m 644 crates/sealcomb-capi/cmake/*.cmake "$root/share/cmake/sealcomb"
    install -m 644 "$TARGET/release/libsealcomb_capi.a" "$root/$lib/libsealcomb.a"
    install -m 755 "$TARGET/release/libsealcomb_capi.so" "$root/$lib/libsealcomb.so.$version"
    ln -sf "libsealcomb.so.$version" "$root/$lib/$soname"
    ln -sf "libsealcomb.so.$version" "$root/$lib/libsealcomb.so"
    cat >"$root/$lib/pkgconfig/sealcomb.pc" <<PC
prefix=$prefix
exec_prefix=\${prefix}
libdir=\${exec_prefix}/$lib
includedir=\${prefix}/include

Name: sealcomb
Description: AES-based authenticated encryption of many messages at once
Version: $version
Libs: -L\${libdir} -lsealcomb
Cflags: -I\${includedir}
Libs.private: $private
PC
    if command -v python3 >/dev/null; then
        tools/capi_man.py crates/sealcomb-capi/include/sealcomb.h "$root/share/man/man3" >"$log"
    else
        echo "no manual pages were installed: they require Python 3" >&2
    fi
}

# Compares the installed files and the soname with those of cargo-c.
compare_with_cargo_c() {
    install_tool cargo-c "$CARGO_C"
    rm -rf "$CAPI/cargo-c"
    cargo cinstall --release -p sealcomb-capi --prefix /usr/local --libdir lib --destdir "$CAPI/cargo-c" >"$CAPI/install.log" 2>&1 || {
        cat "$CAPI/install.log"
        return 1
    }
    # cargo-c has no manual pages.
    diff <(cd "$CAPI/installed" && find . -path '*/share/man*' -prune -o -printf '%y %p %l\n' | sort) <(cd "$CAPI/cargo-c" && find . -printf '%y %p %l\n' | sort)
    diff <(objdump -p "$CAPI_PREFIX/lib/libsealcomb.so" | grep SONAME) <(objdump -p "$CAPI/cargo-c/usr/local/lib/libsealcomb.so" | grep SONAME)
    # This library has no optional features.
    LD_LIBRARY_PATH=$CAPI/cargo-c/usr/local/lib "$CAPI/tests/gcc/streams-C" | grep -qx 'streams: not in this build, which has no hazmat'
}

install_capi() {
    rm -rf "$CAPI/installed"
    # With streams.
    DESTDIR=$CAPI/installed install_library /usr/local --features hazmat
    # The library must export exactly the header's functions, each with the library's version.
    diff <(sed -n 's/^[^*]*[ *]\(sealcomb_[a-z_]*\)(.*/\1@@libsealcomb.so.0.1/p' "$CAPI_PREFIX/include/sealcomb.h" | sort) \
        <(nm --dynamic --defined-only "$CAPI_PREFIX/lib/libsealcomb.so" | awk '$2 == "T" { print $3 }' | sort)
    check_cmake_package
}

# finds_package PREFIX: whether CMake finds the package in the folder, and a target in it.
finds_package() {
    rm -rf "$CAPI/find"
    mkdir -p "$CAPI/find"
    {
        printf 'cmake_minimum_required(VERSION 3.20)\nproject(find C)\nfind_package(sealcomb 0.1 REQUIRED)\n'
        printf 'if(NOT TARGET sealcomb::sealcomb AND NOT TARGET sealcomb::static)\nmessage(SEND_ERROR "no target")\nendif()\n'
    } >"$CAPI/find/CMakeLists.txt"
    cmake -S "$CAPI/find" -B "$CAPI/find/build" -DCMAKE_PREFIX_PATH="$1" >"$CAPI/find/log" 2>&1
}

# CMake must find the package with either library, and not without both.
check_cmake_package() {
    local part=$CAPI/part
    rm -rf "$part"
    mkdir -p "$part/lib"
    cp -R "$CAPI_PREFIX/include" "$CAPI_PREFIX/share" "$part"
    if finds_package "$part" || ! grep -q 'Could NOT find sealcomb' "$CAPI/find/log"; then
        echo "CMake finds a package without libraries" >&2
        return 1
    fi
    cp "$CAPI_PREFIX/lib/libsealcomb.a" "$part/lib"
    finds_package "$part" || { cat "$CAPI/find/log"; return 1; }
    mv "$part/lib/libsealcomb.a" "$part/lib/libsealcomb.so"
    finds_package "$part" || { cat "$CAPI/find/log"; return 1; }
}

# Type-checks the library for macOS, where it is not tested.
check_macos() {
    rustup target add aarch64-apple-darwin >"$CAPI/rustup.log" 2>&1 || {
        cat "$CAPI/rustup.log"
        return 1
    }
    cargo check --quiet --target aarch64-apple-darwin -p sealcomb-capi
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

# Compiles and runs the C code of the manual with the commands given there: as C99 and as C++17, with the shared and
# with the static library.
test_manual() {
    local language
    # shellcheck disable=SC2016  # Backticks of the manual.
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md >"$CAPI/manual.c"
    export PKG_CONFIG_SYSROOT_DIR=$CAPI/installed PKG_CONFIG_PATH=$CAPI_PREFIX/lib/pkgconfig
    for language in "gcc -std=c99" "g++ -std=c++17 -x c++"; do
        # shellcheck disable=SC2046,SC2086  # Several words.
        $language -pedantic -Wall -Wextra -Werror "$CAPI/manual.c" -x none $(pkg-config --cflags --libs sealcomb) -o "$CAPI/manual"
        LD_LIBRARY_PATH=$CAPI_PREFIX/lib "$CAPI/manual"
        # shellcheck disable=SC2046,SC2086  # Several words.
        $language -static "$CAPI/manual.c" -x none $(pkg-config --static --cflags --libs sealcomb) -o "$CAPI/manual"
        "$CAPI/manual"
    done
}

bench_capi() { cargo bench --quiet -p sealcomb-capi --bench call --bench burst; }

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
        OPENSSL_MODULES=$CAPI/modules "$CAPI/evp" 200 "$CAPI"/openssl/data/evp{ciph_aes_{common,ccm_cavs,ocb,siv},mac_common}.txt
    else
        echo "SKIPPED: OpenSSL's vectors: its source package cannot be downloaded"
    fi
    compare_cmac
    crates/sealcomb-provider/tests/tls.sh "$CAPI/modules"
    unpack_nginx
    crates/sealcomb-provider/tests/nginx.sh "$CAPI/nginx/usr/sbin/nginx" "$CAPI/modules"
}

readonly OPENSSL=$CAPI/openssl

# Builds the newest OpenSSL, once for each version of the crate that contains it.
build_openssl() {
    local lock=crates/sealcomb-provider/tests/openssl/Cargo.lock
    cmp -s "$lock" "$OPENSSL/Cargo.lock" && return
    rm -rf "$OPENSSL"
    OPT_LEVEL=2 CARGO_TARGET_DIR=$CAPI/tool cargo run --quiet --locked \
        --manifest-path crates/sealcomb-provider/tests/openssl/Cargo.toml -- "$OPENSSL" >"$CAPI/openssl.log" 2>&1 || {
        tail -40 "$CAPI/openssl.log"
        return 1
    }
    rm -rf "$CAPI/tool"
    cp "$lock" "$OPENSSL/"
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
    for program in pipelines pipelines-plain evp; do compile_with_newest "$program"; done
    # The manual's function compiles.
    # shellcheck disable=SC2016  # Backticks of the manual.
    awk '/^```c openssl$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md >"$CAPI/pipeline.c"
    gcc -c -Wall -Wextra -Werror "-I$OPENSSL/install/include" "$CAPI/pipeline.c" -o "$CAPI/pipeline.o"
    OPENSSL_MODULES=$CAPI/modules "$CAPI/pipelines-newest" 200
    OPENSSL_MODULES=$CAPI/modules "$CAPI/pipelines-plain-newest" 200
    if fetch_evp_data; then
        OPENSSL_MODULES=$CAPI/modules "$CAPI/evp-newest" 200 "$CAPI"/openssl/data/evp{ciph_aes_{common,ccm_cavs,ocb,siv},mac_common}.txt
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
