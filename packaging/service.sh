#!/usr/bin/env bash
# Tests the unit of sealcomb-link under systemd, with systemd-resolved, polkit, and a program as the source of keys.
# `packaging/copy.sh --boot` runs it in a copy of this system.
#
# usage: packaging/copy.sh --boot packaging/service.sh FOLDER
set -euo pipefail
# shellcheck source=packaging/checks.sh
source /tmp/checks

FOLDER=$(realpath "$1")
readonly FOLDER
readonly KEYS=/usr/local/lib/sealcomb/keys
trap '(($? == 0)) || journalctl --no-pager --unit sealcomb-link >&2' EXIT

# until_true WHAT COMMAND...: waits up to ten seconds until the command succeeds.
until_true() {
    local tries
    for tries in {1..100}; do
        "${@:2}" >/tmp/outcome 2>&1 && return
        sleep 0.1
    done
    cat /tmp/outcome >&2
    fail "$1: not within $tries tries"
}

logs() { journalctl --no-pager --unit sealcomb-link --grep "$1"; }
status() { sealcomb-link status "/etc/sealcomb/$1.toml"; }
is_up() { prints "^$2, aes256-gcm, up for" status "$1"; }
main_pid() { systemctl show --property MainPID --value sealcomb-link; }
servers() { prints '10\.9\.0\.2' resolvectl dns seal0; }
domains() { prints 'example\.org' resolvectl domain seal0; }
key_changes() { sealcomb-link status --json "/etc/sealcomb/$1.toml" | grep -o '"key_changes": *[0-9]*' | grep -o '[0-9]*$'; }
more_key_changes() { (($(key_changes link) > $1)); }
ends() { ! systemctl --quiet is-active sealcomb-link; }

install_packages() {
    # Debian's packages come first, which the recipe downloaded if this system lacks them.
    find "$FOLDER/resolver" -name '*.deb' -exec dpkg --install {} + >/tmp/dpkg.log 2>&1 || fail "$(</tmp/dpkg.log)"
    dpkg --install "$FOLDER"/*.deb >/tmp/dpkg.log 2>&1 || fail "$(</tmp/dpkg.log)"
    systemctl start systemd-journald dbus polkit systemd-resolved
}

# The program of the service fails if it can do what the documentation excludes. That of the other end, which is no
# service, only derives keys from their IDs.
write_programs() {
    mkdir -p "$(dirname $KEYS)"
    cat >$KEYS <<'PROGRAM'
#!/bin/sh
[ "$(id -un)" = sealcomb ] || exit 10
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || exit 11
touch /etc/sealcomb/new /usr/new 2>/dev/null && exit 12
[ -z "$(ls -A /tmp)" ] || exit 13
ls /root >/dev/null 2>&1 && exit 14
head -c 0 /dev/other 2>/dev/null && exit 15
ip tuntap add seal9 mode tun 2>/dev/null && exit 16
exec "$0.other" "$@"
PROGRAM
    cat >$KEYS.other <<'PROGRAM'
#!/bin/sh
id=${3:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
echo "$id" "$(echo secret "$id" | sha256sum | cut -c1-64)"
PROGRAM
    chmod 755 $KEYS $KEYS.other
    # A device that all users may open, unless the unit keeps them from it.
    mknod --mode 666 /dev/other c 10 "$(awk '$2 == "cpu_dma_latency" { print $1 }' /proc/misc)"
    setpriv --reuid sealcomb --regid sealcomb --clear-groups head -c 0 /dev/other || fail "the kernel lacks the device"
}

# write_ends: both ends on this machine. The service is the master; the slave is a process of this script.
write_ends() {
    sealcomb-link keygen --user sealcomb /etc/sealcomb/control.key
    sed -e 's/192\.0\.2\./127.0.0./' -e 's/^# \(dns\|search\) /\1 /' -e 's,^file = .*,program = ["'$KEYS'"],' \
        -e 's/^\[keys\]/[keys.command]/' -e 's/^every = .*/every = "200ms"/' \
        /usr/share/doc/sealcomb-link/examples/link.toml >/etc/sealcomb/link.toml
    sed -e 's/master/slave/' -e 's/127\.0\.0\.1:4500/127.0.0.9:4500/' -e 's/127\.0\.0\.2:4500/127.0.0.1:4500/' \
        -e 's/127\.0\.0\.9/127.0.0.2/' -e "s,$KEYS,$KEYS.other," -e 's/9469/9470/' -e 's/seal0/seal1/' -e 's/^addresses.*//' \
        -e '/^\(dns\|search\) /d' /etc/sealcomb/link.toml >/etc/sealcomb/other.toml
}

check_start() {
    sealcomb-link run /etc/sealcomb/other.toml 2>/tmp/other.log &
    other=$!
    systemctl start sealcomb-link || fail "the service does not start"
    until_true "the link is up" is_up link master
    until_true "the other end is up" is_up other slave
    until_true "the program delivers keys" more_key_changes 5
    [[ $(ps -o user= -p "$(main_pid)") == sealcomb ]] || fail "the service runs as $(ps -o user= -p "$(main_pid)")"
}

check_name_servers() {
    until_true "the name servers are set" servers
    until_true "the search domains are set" domains
}

check_reload() {
    local before
    before=$(main_pid)
    systemctl reload sealcomb-link
    until_true "the reload is logged" logs "[Rr]eload"
    [[ $(main_pid) == "$before" ]] || fail "the reload restarted the service"
    until_true "keys change after the reload" more_key_changes "$(($(key_changes link) + 2))"
}

check_restart() {
    local before
    before=$(main_pid)
    kill -KILL "$before"
    until_true "the service restarts" eval "[[ \$(main_pid) != 0 && \$(main_pid) != $before ]]"
    until_true "the link is up again" is_up link master
    check_name_servers
}

check_stop() {
    systemctl stop sealcomb-link
    until_true "the service ends" ends
    [[ $(systemctl show --property Result --value sealcomb-link) == success ]] || fail "the service ends with a failure"
    logs "DNS reverted" >/tmp/reverted || fail "the name servers are not reverted"
    [[ ! -e /sys/class/net/seal0 ]] || fail "the interface is left"
    kill "$other"
    wait "$other" || fail "the other end: $(</tmp/other.log)"
}

install_packages
write_programs
write_ends
check_start
check_name_servers
check_reload
check_restart
check_stop
echo "service: started, reloaded, killed, restarted and stopped by systemd"
