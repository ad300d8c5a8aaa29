#!/usr/bin/env bash
# Installs, uses, removes and purges the packages of the C library and the OpenSSL provider, and uses the tarball.
# `packaging/copy.sh` runs it in a copy of this system.
#
# usage: packaging/copy.sh packaging/library/test.sh FOLDER
set -euo pipefail
# shellcheck source=packaging/checks.sh
source /tmp/checks

readonly FOLDER=$1
readonly PACKAGES=(libsealcomb-dev libsealcomb0 sealcomb-provider)

knows_the_library() { prints 'libsealcomb\.so\.0\.[0-9]* ' ldconfig -p; }

check_installed() {
    local package file
    for package in "${PACKAGES[@]}"; do
        while read -r file; do
            [[ -e $file ]] || fail "$package lacks $file"
        done < <(files_of "$package")
        dpkg --verify "$package"
        files_of "$package" >"/tmp/$package.files"
    done
    # The trigger has run ldconfig.
    knows_the_library || fail "the loader does not know the library"
    prints '^\.SH SYNOPSIS' zcat /usr/share/man/man3/sealcomb_seal_burst.3.gz || fail "sealcomb_seal_burst has no manual page"
}

# compile_program OPTION...: compiles the manual's program with the shared and the static library, and runs it. The
# options go to the linker of the shared one.
compile_program() {
    # shellcheck disable=SC2046  # Several words.
    cc -std=c99 -Wall -Wextra -Werror "$FOLDER/manual.c" $(pkg-config --cflags --libs sealcomb) "$@" -o shared
    # shellcheck disable=SC2046  # Several words.
    cc -static "$FOLDER/manual.c" $(pkg-config --static --cflags --libs sealcomb) -o static
    prints ': third$' ./shared || fail "the program with the shared library prints something else"
    prints ': third$' ./static || fail "the program with the static library prints something else"
}

check_library() {
    cd /tmp
    compile_program
    mkdir -p debian
    printf 'Source: program\n\nPackage: program\nArchitecture: any\n' >debian/control
    prints 'libsealcomb0 (>= 0\.[0-9.]*), libsealcomb0 (<< 0\.' dpkg-shlibdeps -O shared ||
        fail "a program's dependencies lack the library: $(dpkg-shlibdeps -O shared)"
}

# encrypt PROPERTIES OPTION...: encrypts some bytes with OpenSSL.
encrypt() {
    head -c 100000 /dev/zero | openssl enc -aes-256-cbc -K "$(printf '%064d' 1)" -iv "$(printf '%032d' 2)" \
        -propquery "$1" "${@:2}" | sha256sum
}

# check_encryption OPTION...: the provider encrypts what OpenSSL encrypts.
check_encryption() {
    [[ $(encrypt provider=sealcomb "$@") == "$(encrypt provider=default)" ]] ||
        fail "the provider encrypts something else"
}

# check_provider FOLDER [MODULE]: uses the provider with the configuration in the folder, which is usr in the packages.
# MODULE is its file, unless that is in OpenSSL's folder of modules.
check_provider() {
    local configuration=/tmp/sealcomb.cnf
    cp "$1/share/doc/sealcomb-provider/examples/sealcomb.cnf" "$configuration"
    if (($# == 2)); then
        sed -i "s,^# module = .*,module = $2," "$configuration"
    else
        check_encryption -provider sealcomb -provider default
    fi
    OPENSSL_CONF=$configuration openssl list -providers >/tmp/providers
    grep -q '^  sealcomb$' /tmp/providers || fail "OpenSSL does not load the provider: $(</tmp/providers)"
    OPENSSL_CONF=$configuration check_encryption
    encrypt provider=sealcomb >/tmp/absent 2>&1 && fail "OpenSSL encrypts with a provider that is not loaded"
    OPENSSL_CONF=$configuration openssl list -providers -provider legacy >/tmp/providers 2>&1 ||
        fail "OpenSSL does not find its own modules: $(</tmp/providers)"
}

check_removed() {
    local file
    dpkg --remove libsealcomb0 2>/tmp/refused && fail "the library was removed although libsealcomb-dev needs it"
    dpkg --purge "${PACKAGES[@]}"
    while read -r file; do
        [[ ! -e $file ]] || fail "$file is left"
    done < <(cat /tmp/*.files)
    knows_the_library && fail "the loader still knows the library"
    return 0
}

# Uses the tarball in a folder that the system does not search, once the packages are gone.
check_tarball() {
    mkdir /tmp/unpacked
    tar --extract --file "$FOLDER"/libsealcomb-*.tar.gz --strip-components 1 --directory /tmp/unpacked
    cd /tmp
    rm shared static
    PKG_CONFIG_PATH=/tmp/unpacked/lib/pkgconfig compile_program -Wl,-rpath,/tmp/unpacked/lib
    prints '/tmp/unpacked/lib/libsealcomb' ldd shared || fail "the program has another library: $(ldd shared)"
    check_provider /tmp/unpacked /tmp/unpacked/lib/ossl-modules/sealcomb.so
    [[ -s /tmp/unpacked/share/doc/libsealcomb-dev/examples/esp-ring.c ]] || fail "the tarball has no examples"
    MANPATH=/tmp/unpacked/share/man man --where sealcomb_seal_burst >/tmp/manual || [[ ! -x $(command -v man) ]] ||
        fail "the tarball has no manual pages"
}

dpkg --install "$FOLDER"/*.deb
check_installed
check_library
check_provider /usr
check_removed
check_tarball
echo "packages of the library: installed, used and purged; tarball: used"
