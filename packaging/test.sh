#!/usr/bin/env bash
# Installs, starts, removes and purges the Debian packages in a folder. `packaging/copy.sh` runs it in a copy of this
# system.
#
# usage: packaging/copy.sh packaging/test.sh FOLDER
set -euo pipefail
# shellcheck source=packaging/checks.sh
source /tmp/checks

FOLDER=$(realpath "$1")
readonly FOLDER

check_installed() {
    local package file
    for package in sealcomb sealcomb-kme sealcomb-link; do
        while read -r file; do
            [[ -e $file ]] || fail "$package lacks $file"
        done < <(files_of "$package")
        prints "^$package [0-9]" "/usr/bin/$package" --version || fail "$package --version prints something else"
        prints '^.SH SYNOPSIS' zcat "/usr/share/man/man1/$package.1.gz" || fail "$package has no manual page"
        bash -c "source /usr/share/bash-completion/completions/$package && complete -p $package" >"/tmp/complete" ||
            fail "bash does not complete $package"
    done
    sealcomb list >/tmp/list
    grep -q aes256-gcm /tmp/list || fail "sealcomb list does not list the algorithms"
}

check_unit() {
    local unit=/usr/lib/systemd/system/sealcomb-link.service
    [[ -e $unit ]] || unit=/lib/systemd/system/sealcomb-link.service
    systemd-analyze verify "$unit" || fail "systemd refuses the unit"
    # The threshold is ten times the exposure.
    systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" >/tmp/security ||
        fail "the unit's exposure is above 2.0: $(tail -n 1 /tmp/security)"
    tail -n 1 /tmp/security
}

# as_the_unit COMMAND...: runs a command as the unit does: as the user `sealcomb`, with two capabilities.
as_the_unit() {
    exec setpriv --reuid sealcomb --regid sealcomb --clear-groups --no-new-privs \
        --inh-caps=-all,+net_admin,+net_bind_service --ambient-caps=-all,+net_admin,+net_bind_service \
        --bounding-set=-all,+net_admin,+net_bind_service "$@"
}

# Starts a link with the example's configuration, on addresses of this machine.
check_link() {
    local owner
    owner=$(stat -c '%U %G %a' /etc/sealcomb)
    [[ $owner == "root sealcomb 750" ]] || fail "/etc/sealcomb: $owner"
    sealcomb-link keygen --user sealcomb /etc/sealcomb/control.key /etc/sealcomb/link.key
    sed 's/192\.0\.2\./127.0.0./' /usr/share/doc/sealcomb-link/examples/link.toml >/etc/sealcomb/link.toml
    sealcomb-link check --strict /etc/sealcomb/link.toml
    as_the_unit sealcomb-link run /etc/sealcomb/link.toml 2>/tmp/link.log &
    local link=$! tries
    for tries in {1..100}; do
        sealcomb-link status /etc/sealcomb/link.toml >/tmp/status 2>&1 && break
        sleep 0.1
    done
    grep -q "^master, aes256-gcm, up for" /tmp/status || { cat /tmp/link.log /tmp/status >&2; fail "the link does not run after $tries tries"; }
    grep -E '^Cap(Inh|Prm|Eff|Amb):' "/proc/$link/status" | grep -v '\b0*$' && fail "the link keeps these capabilities"
    kill "$link"
    wait "$link" || fail "the link ends with status $?"
}

# The user of the unit can read the certificates that `sealcomb-kme` creates for it, at the start and at SIGHUP.
check_certificates() {
    local file config=/etc/sealcomb/kme.toml
    sealcomb-kme certificates /etc/sealcomb --kme kme-a --address kme-a.example --sae alice --user sealcomb
    for file in ca.pem:644 alice.pem:644 alice.key.pem:600; do
        [[ $(stat -c '%U %a' "/etc/sealcomb/${file%:*}") == "sealcomb ${file#*:}" ]] || fail "wrong mode: $file"
    done
    sed '/^\[keys\]/,/^file/d' /etc/sealcomb/link.toml >"$config"
    cat >>"$config" <<TOML
[keys.etsi014]
url = "https://kme-a.example:8443"
sae = "alice"
peer-sae = "bob"
ca = "ca.pem"
cert = "alice.pem"
key = "alice.key.pem"
TOML
    sealcomb-link check --strict "$config"
    (as_the_unit sealcomb-link check --strict "$config") || fail "the unit's user cannot read the certificates"
}

check_removed() {
    local package
    for package in sealcomb sealcomb-kme sealcomb-link; do
        files_of "$package" >"/tmp/$package.files"
    done
    dpkg --remove sealcomb sealcomb-kme sealcomb-link
    [[ -s /etc/sealcomb/link.key ]] || fail "removing deleted a key"
    dpkg --purge sealcomb sealcomb-kme sealcomb-link
    [[ -s /etc/sealcomb/link.key ]] || fail "purging deleted a key"
    while read -r file; do
        [[ ! -e $file ]] || fail "$file is left"
    done < <(cat /tmp/sealcomb*.files)
}

check_purged_without_keys() {
    rm /etc/sealcomb/*
    dpkg --install "$FOLDER"/*.deb
    dpkg --purge sealcomb sealcomb-kme sealcomb-link
    [[ ! -e /etc/sealcomb ]] || fail "purging left an empty /etc/sealcomb"
}

dpkg --install "$FOLDER"/*.deb
check_installed
check_unit
check_link
check_certificates
check_removed
check_purged_without_keys
echo "packages: installed, started, removed and purged"
