# shellcheck shell=bash
# Recipes for the packages: Debian packages, a tarball of the commands and one of the library.

readonly PACKAGES_OUT=$TARGET/package
readonly CARGO_DEB=3.8.0

word package "" package "Build Debian packages and tarballs of the commands, the C library and the OpenSSL provider into \
target/package. Install, use, remove and purge them in a copy of this system without network, and run the link's service in \
another copy, under systemd (requires root). The first run builds cargo-deb."

install_cargo_deb() {
    [[ $("$TARGET/tools/bin/cargo-deb" --version 2>/dev/null) != "cargo-deb $CARGO_DEB" ]] || return 0
    echo "cargo-deb: building $CARGO_DEB"
    CARGO_TARGET_DIR=$TARGET/tools/build cargo install --quiet --locked --root "$TARGET/tools" \
        --version "$CARGO_DEB" cargo-deb
}

build_commands() {
    rm -rf "$PACKAGES_OUT"
    cargo build --quiet --release -p sealcomb-cli -p sealcomb-kme -p sealcomb-link -p sealcomb-manuals
    "$TARGET/release/sealcomb-manuals" "$PACKAGES_OUT"
    # The pages of `sealcomb` without those of `sealcomb-kme` and `sealcomb-link`.
    mkdir "$PACKAGES_OUT/sealcomb-man"
    find "$PACKAGES_OUT/man" -name 'sealcomb*.1' ! -name 'sealcomb-kme*' ! -name 'sealcomb-link*' \
        -exec cp -t "$PACKAGES_OUT/sealcomb-man" {} +
}

build_debian_packages() {
    local crate
    for crate in sealcomb-cli sealcomb-kme sealcomb-link; do
        "$TARGET/tools/bin/cargo-deb" --quiet --no-build --package "$crate" --output "$PACKAGES_OUT/"
    done
}

# pack FOLDER TREE OUT: packs a tree, as this folder, into a tarball in OUT. It requires the glibc of this system, or a
# newer one.
pack() {
    tar --create --gzip --file "$3/$1-$(uname -m)-linux.tar.gz" --sort=name --owner=0 --group=0 --numeric-owner \
        --transform "s,^\\.,$1," --directory "$2" .
}

# The tarball has the files of the packages, from bin to share.
build_tarball() {
    local tree=$PACKAGES_OUT/tree package version
    for package in "$PACKAGES_OUT"/*.deb; do
        dpkg-deb --extract "$package" "$tree"
    done
    version=$("$TARGET/release/sealcomb" --version | cut -d' ' -f2)
    pack "sealcomb-$version" "$tree/usr" "$PACKAGES_OUT"
    rm -r "$tree"
}

# Downloads the packages for the service's test that this system lacks.
download_resolver() {
    mkdir -p "$PACKAGES_OUT/resolver/partial"
    apt-get --quiet --quiet --yes --no-install-recommends --download-only \
        -o "Dir::Cache::archives=$PACKAGES_OUT/resolver" install dbus polkitd systemd-resolved >"$NOTES/resolver.log"
}

package() {
    install_cargo_deb
    build_commands
    build_debian_packages
    build_tarball
    packaging/copy.sh packaging/test.sh "$PACKAGES_OUT"
    download_resolver
    packaging/copy.sh --boot packaging/service.sh "$PACKAGES_OUT"
    package_library
    (cd "$PACKAGES_OUT" && ls -sh1 ./*.deb library/*.deb ./*.tar.gz library/*.tar.gz)
}
