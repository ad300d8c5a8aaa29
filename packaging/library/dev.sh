# shellcheck shell=bash
# Recipes for the Debian packages and the tarball of the C library and the OpenSSL provider.

readonly LIBRARY_OUT=$PACKAGES_OUT/library

# Installs the library and the provider into one tree, from which the packages take their files.
build_library() {
    local triplet=$1 root=$2 modules
    DESTDIR=$root LIBDIR=lib/$triplet install_library /usr --features hazmat
    find "$root/usr/share/man" -name '*.3' -exec gzip -9n {} +
    cargo build --quiet --release -p sealcomb-provider
    modules=$root/usr/lib/$triplet/ossl-modules
    install -D -m 644 "$TARGET/release/libsealcomb_provider.so" "$modules/sealcomb.so"
    install -D -m 644 crates/sealcomb-provider/sealcomb-provider.7 -t "$root/usr/share/man/man7"
    gzip -9n "$root/usr/share/man/man7/sealcomb-provider.7"
    # The manual has the configuration.
    install -d "$root/usr/share/doc/sealcomb-provider/examples"
    awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md \
        >"$root/usr/share/doc/sealcomb-provider/examples/sealcomb.cnf"
    install -D -m 644 crates/sealcomb-capi/examples/* -t "$root/usr/share/doc/libsealcomb-dev/examples"
    strip --strip-unneeded "$root/usr/lib/$triplet"/libsealcomb.so.*.*.* "$modules/sealcomb.so"
    strip --strip-debug "$root/usr/lib/$triplet/libsealcomb.a"
}

# build_library_tarball VERSION TRIPLET: the same files for other distributions. The libraries are in lib, and pkg-config
# and CMake find them wherever the tarball is unpacked.
build_library_tarball() {
    local version=$1 triplet=$2 tree=$LIBRARY_OUT/tree
    cp -a "$LIBRARY_OUT/all/usr" "$tree"
    mv "$tree/lib" "$tree/architectures"
    mv "$tree/architectures/$triplet" "$tree/lib"
    rmdir "$tree/architectures"
    # shellcheck disable=SC2016  # A variable of pkg-config.
    sed -i -e 's,^prefix=.*,prefix=${pcfiledir}/../..,' -e "s,^libdir=.*,libdir=\${exec_prefix}/lib," "$tree/lib/pkgconfig/sealcomb.pc"
    install -m 644 LICENSE-APACHE LICENSE-MIT "$tree"
    pack "libsealcomb-$version" "$tree" "$LIBRARY_OUT"
    rm -r "$tree"
}

# take PACKAGE PATH...: moves files of the tree to the package's tree.
take() {
    local package=$1 path
    for path in "${@:2}"; do
        mkdir -p "$LIBRARY_OUT/$package/$(dirname "$path")"
        # shellcheck disable=SC2086  # A pattern.
        mv "$LIBRARY_OUT/all/"$path "$LIBRARY_OUT/$package/$(dirname "$path")/"
    done
}

# depends_of BINARY: the packages of the shared libraries that it needs.
depends_of() {
    mkdir -p "$LIBRARY_OUT/shlibdeps/debian"
    printf 'Source: sealcomb\n\nPackage: sealcomb\nArchitecture: any\n' >"$LIBRARY_OUT/shlibdeps/debian/control"
    (cd "$LIBRARY_OUT/shlibdeps" && dpkg-shlibdeps -O "$1" | sed 's/^shlibs:Depends=//')
}

# build_package PACKAGE VERSION TRIPLET DEPENDS: builds a package from its tree and its control file.
build_package() {
    local tree=$LIBRARY_OUT/$1 doc=$LIBRARY_OUT/$1/usr/share/doc/$1
    mkdir -p "$tree/DEBIAN" "$doc"
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
        printf 'Files: *\nCopyright: The sealcomb developers\nLicense: Apache-2.0 or MIT\n'
        printf ' The texts are /usr/share/common-licenses/Apache-2.0 and LICENSE-MIT in this folder.\n'
    } >"$doc/copyright"
    install -m 644 LICENSE-MIT "$doc"
    sed -e "s/@VERSION@/$2/" -e "s/@ARCHITECTURE@/$(dpkg --print-architecture)/" -e "s/@DEPENDS@/$4/" \
        -e "s/@SIZE@/$(du -ks --apparent-size "$tree/usr" | cut -f1)/" "packaging/library/$1.control" >"$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
    dpkg-deb --root-owner-group --build "$tree" "$LIBRARY_OUT/${1}_${2}_$(dpkg --print-architecture).deb" >"$NOTES/dpkg-deb.log"
}

# Programs linked with the library depend on this minor version of it: another one may be incompatible.
describe_shared_library() {
    local tree=$LIBRARY_OUT/libsealcomb0 version=$1 library=$2 minor
    minor=${version%.*}
    mkdir -p "$tree/DEBIAN"
    install -m 644 packaging/library/libsealcomb0.triggers "$tree/DEBIAN/triggers"
    printf 'libsealcomb %s libsealcomb0 (>= %s), libsealcomb0 (<< 0.%d~)\n' "$minor" "$version" $((${minor#0.} + 1)) \
        >"$tree/DEBIAN/shlibs"
    [[ $(objdump -p "$library" | sed -n 's/.*SONAME *//p') == "libsealcomb.so.$minor" ]]
}

build_library_packages() {
    local triplet version libraries
    triplet=$(gcc -print-multiarch)
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
    libraries=usr/lib/$triplet
    rm -rf "$LIBRARY_OUT"
    build_library "$triplet" "$LIBRARY_OUT/all"
    build_library_tarball "$version" "$triplet"
    take libsealcomb0 "$libraries/libsealcomb.so.*"
    take sealcomb-provider "$libraries/ossl-modules/sealcomb.so" usr/share/man/man7/sealcomb-provider.7.gz \
        usr/share/doc/sealcomb-provider
    take libsealcomb-dev usr/include/sealcomb.h "$libraries/libsealcomb.so" "$libraries/libsealcomb.a" "$libraries/pkgconfig" \
        usr/share/cmake usr/share/man/man3 usr/share/doc/libsealcomb-dev
    [[ -z $(find "$LIBRARY_OUT/all" -type f) ]] || { find "$LIBRARY_OUT/all" -type f; return 1; }
    # The program that the test compiles.
    awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/c.md >"$LIBRARY_OUT/manual.c"
    describe_shared_library "$version" "$LIBRARY_OUT/libsealcomb0/$libraries/libsealcomb.so.$version"
    build_package libsealcomb0 "$version" "$triplet" \
        "$(depends_of "$LIBRARY_OUT/libsealcomb0/$libraries/libsealcomb.so.$version")"
    build_package libsealcomb-dev "$version" "$triplet" "libsealcomb0 (= $version)"
    build_package sealcomb-provider "$version" "$triplet" \
        "$(depends_of "$LIBRARY_OUT/sealcomb-provider/$libraries/ossl-modules/sealcomb.so")"
}

package_library() {
    build_library_packages
    packaging/copy.sh packaging/library/test.sh "$LIBRARY_OUT"
}
