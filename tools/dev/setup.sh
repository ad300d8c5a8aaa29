# shellcheck shell=bash
# The prerequisites of steps: how to detect them, and the Debian packages that provide them.

readonly MSRV=1.89
readonly BARE_TARGET=aarch64-unknown-none
readonly ARM_TARGET=aarch64-unknown-linux-gnu
readonly MAC_TARGET=aarch64-apple-darwin
readonly REQUIREMENTS=(tools/requirements.txt rtl/requirements.txt)

word setup "" setup_all "Install what the tests need: Debian packages (with root or sudo), Python packages in .venv, Rust \
toolchains."

PREREQUISITES=()
declare -A PACKAGES=() FOUND_BY=() MISSING=()

# prerequisite NAME PACKAGES COMMAND: declares a name for the NEEDS column of steps.table. It is installed if COMMAND
# succeeds.
prerequisite() {
    PREREQUISITES+=("$1")
    PACKAGES[$1]=$2
    FOUND_BY[$1]=$3
}

# has_all COMMAND...: whether all of these commands are installed.
has_all() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || return
    done
}

has_target() { [[ -d $(rustc --print target-libdir --target "$1" 2>/dev/null) ]]; }
has_toolchain() { cargo "+$MSRV" --version >/dev/null 2>&1; }
has_venv() { cmp -s <(cat "${REQUIREMENTS[@]}") .venv/installed.txt; }
has_ensurepip() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
# Debian has cryptsetup in /sbin, which the PATH of a user may lack.
has_disk_tools() { has_all nbdcopy nbdkit qemu-img && PATH=$PATH:/sbin:/usr/sbin has_all cryptsetup; }
# Where the compiler looks for headers, or in the folder IPSEC_MB.
has_ipsec_mb() { [[ -n ${IPSEC_MB:-} ]] || cc -E - <<<'#include <intel-ipsec-mb.h>' >/dev/null 2>&1; }
has_namespaces() { ((EUID == 0)) && has_all ip ping faketime && unshare --net true 2>/dev/null; }

prerequisite cc "binutils gcc g++ libc6-dev make pkg-config" "has_all cc c++ make objdump pkg-config"
prerequisite python3 python3 "has_all python3"
prerequisite openssl "libssl-dev pkg-config" "pkg-config --exists openssl"
prerequisite ipsec-mb libipsec-mb-dev has_ipsec_mb
prerequisite valgrind valgrind "has_all valgrind"
prerequisite bochs "bochs bochs-term" "has_all bochs"
prerequisite tshark tshark "has_all tshark"
prerequisite chromium "chromium fonts-dejavu-core" "has_all chromium"
prerequisite namespaces "curl faketime iproute2 iputils-ping nftables procps" has_namespaces
prerequisite arm "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static" \
    "has_all aarch64-linux-gnu-gcc qemu-aarch64-static"
prerequisite arm-rust "" "has_target $ARM_TARGET"
prerequisite iverilog iverilog "has_all iverilog"
prerequisite verilator verilator "has_all verilator"
prerequisite java default-jre-headless "has_all java"
prerequisite maven "default-jdk-headless maven" "has_all javac mvn"
prerequisite disk-tools "cryptsetup-bin libnbd-bin nbdkit qemu-utils" "has_disk_tools"
prerequisite c-tools "abigail-tools clang cmake libpcap-dev" "has_all abidiff clang cmake"
prerequisite .venv python3-venv has_venv
# The environment of the Python package, which its first step creates.
prerequisite python3-venv python3-venv has_ensurepip

# as_root COMMAND...: runs the command as root, with sudo if necessary.
as_root() {
    if ((EUID == 0)); then
        "$@"
    elif [[ -t 0 ]]; then
        sudo "$@"
    else
        sudo --non-interactive "$@"
    fi
}

can_install() {
    has_all apt-get dpkg-query && { ((EUID == 0)) || { has_all sudo && { [[ -t 0 ]] || sudo --non-interactive true 2>/dev/null; }; }; }
}

# install_packages PACKAGE...: installs the packages that are missing, except those that this system does not have: they
# would keep apt-get from installing the others.
install_packages() {
    local missing=() available=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        echo "Debian packages: all installed"
        return
    fi
    as_root apt-get -qq -o DPkg::Lock::Timeout=300 update
    for package in "${missing[@]}"; do
        if apt-cache show "$package" >"$NOTES/apt-cache.log" 2>&1; then
            available+=("$package")
        else
            echo "Debian packages: this system has no package $package"
        fi
    done
    ((${#available[@]})) || return 0
    echo "Debian packages: installing ${available[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends "${available[@]}" >"$NOTES/apt.log" 2>&1 || {
        cat "$NOTES/apt.log" >&2
        return 1
    }
}

install_venv() {
    has_venv && return
    echo "Python packages: installing into .venv"
    python3 -m venv --clear .venv &&
        .venv/bin/pip install --quiet --disable-pip-version-check "${REQUIREMENTS[@]/#/--requirement=}" &&
        cat "${REQUIREMENTS[@]}" >.venv/installed.txt
}

install_toolchains() {
    if ! has_all cargo; then
        echo "Rust: not installed; install $MSRV or newer, for example with rustup (https://rustup.rs)"
        return
    elif ! has_all rustup; then
        echo "Rust: rustup is not installed; using the installed toolchain"
        return
    fi
    has_toolchain || timeout 300 rustup toolchain install "$MSRV" --profile minimal >"$NOTES/rustup.log" 2>&1 ||
        echo "Rust: toolchain $MSRV cannot be installed here"
    local target
    for target in "$BARE_TARGET" "$ARM_TARGET" "$MAC_TARGET"; do
        has_target "$target" || timeout 300 rustup target add "$target" >>"$NOTES/rustup.log" 2>&1 ||
            echo "Rust: target $target cannot be installed here"
    done
}

# can_bring NEED: whether set-up can install this prerequisite.
can_bring() {
    if [[ $1 == .venv ]] && has_ensurepip; then return; fi
    [[ -n ${PACKAGES[$1]} ]] && can_install
}

# find_missing PLAN NEED...: adds the missing prerequisites to MISSING, and prints one line for each. If PLAN is not
# empty, prerequisites that set-up can install count as installed.
find_missing() {
    local plan=$1 need
    shift
    for need in "${PREREQUISITES[@]}"; do
        [[ " $* " == *" $need "* && -z ${MISSING[$need]:-} ]] || continue
        ${FOUND_BY[$need]} && continue
        if [[ -n $plan ]] && can_bring "$need"; then
            echo "to be installed: $need"
        else
            MISSING[$need]=1
            echo "missing: $need${PACKAGES[$need]:+ (Debian: ${PACKAGES[$need]})}"
        fi
    done
}

# setup_for NEED...: installs missing prerequisites, as far as possible on this machine.
setup_for() {
    local need packages=()
    for need in "${PREREQUISITES[@]}"; do
        [[ " $* " == *" $need "* ]] || continue
        # Skip the Debian package of a tool that was installed in another way.
        if ${FOUND_BY[$need]} || { [[ $need == .venv ]] && has_ensurepip; }; then continue; fi
        read -ra packages <<<"${packages[*]} ${PACKAGES[$need]}"
    done
    if ((${#packages[@]} == 0)); then
        echo "Debian packages: all installed"
    elif can_install; then
        install_packages "${packages[@]}" || true
    else
        echo "Debian packages: installing ${packages[*]} requires apt-get, and root or sudo"
    fi
    if [[ " $* " == *" .venv "* ]]; then
        install_venv || echo "Python packages: installation into .venv failed"
    fi
    install_toolchains
}

# or_name_missing STATUS NEED...: fails with this status, and names the prerequisites that are missing. For commands that
# install nothing.
or_name_missing() {
    local status=$1 need missing=()
    for need in "${@:2}"; do
        ${FOUND_BY[$need]} 2>"$NOTES/missing.log" || missing+=("$need")
    done
    ((${#missing[@]} == 0)) || echo "./dev: missing: ${missing[*]}; \`./dev setup\` installs them" >&2
    return "$status"
}

setup_all() {
    step "set-up" setup_for "${PREREQUISITES[@]}"
    ((${#FAILED[@]} == 0))
}
