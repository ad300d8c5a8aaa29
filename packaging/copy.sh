#!/usr/bin/env bash
# Runs a script in a copy of this system without network.
#
# usage: packaging/copy.sh [--boot] SCRIPT FOLDER
#
# The script gets the folder, which the copy shares, as its argument, and can source /tmp/checks. The copy is an overlay of the root file system in
# new namespaces, so nothing else of this system changes. With --boot, systemd is process 1 of the copy, and the script
# is one of its services. Requires root.
set -euo pipefail

# make_devices FOLDER: creates the devices that the checks use, with the usual permissions.
make_devices() {
    mount -t tmpfs none "$1"
    mkdir "$1/net"
    mknod -m 666 "$1/null" c 1 3
    mknod -m 666 "$1/zero" c 1 5
    mknod -m 666 "$1/full" c 1 7
    mknod -m 666 "$1/random" c 1 8
    mknod -m 666 "$1/urandom" c 1 9
    mknod -m 666 "$1/tty" c 5 0
    mknod -m 666 "$1/ptmx" c 5 2
    mknod -m 666 "$1/net/tun" c 10 200
    ln -s /proc/self/fd "$1/fd"
}

# mount_copy: mounts the copy, and sets ROOT to its folder.
mount_copy() {
    local copy
    copy=$(mktemp --directory)
    ROOT=$copy/root
    mount -t tmpfs none "$copy"
    mkdir "$copy"/{changes,work,root}
    mount -t overlay overlay -o "lowerdir=/,upperdir=$copy/changes,workdir=$copy/work" "$ROOT"
    mount -t tmpfs none "$ROOT/tmp"
    mkdir -p "$ROOT$FOLDER" "$ROOT$PWD"
    mount --bind "$FOLDER" "$ROOT$FOLDER"
    mount -t proc proc "$ROOT/proc"
    make_devices "$ROOT/dev"
    cp "$SCRIPT" "$ROOT/tmp/script"
    cp "$(dirname "$0")/checks.sh" "$ROOT/tmp/checks"
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
    ip link set lo up
}

run_script() {
    mount_copy
    chroot "$ROOT" /bin/bash /tmp/script "$FOLDER"
}

# Starts systemd with the script as its only service. RESULTS gets its output and its exit status.
boot() {
    mount_copy
    mount -t tmpfs none "$ROOT/run"
    mount -t sysfs sysfs "$ROOT/sys"
    mount -t cgroup2 cgroup2 "$ROOT/sys/fs/cgroup"
    mkdir -p "$ROOT/results" "$ROOT/etc/systemd/system"
    mount --bind "$RESULTS" "$ROOT/results"
    ln -s /results/console "$ROOT/dev/console"
    cat >"$ROOT/etc/systemd/system/script.service" <<UNIT
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
Environment=DEBIAN_FRONTEND=noninteractive
ExecStart=/bin/bash -c '/bin/bash /tmp/script "$FOLDER"; echo \$\$? >/results/status'
StandardOutput=file:/results/output
StandardError=file:/results/output
ExecStopPost=/bin/systemctl --quiet --force --force poweroff
UNIT
    # In a chroot, systemd could not give services mount namespaces of their own.
    mkdir "$ROOT/before"
    cd "$ROOT"
    pivot_root . before
    umount --lazy /before
    export container=other
    exec /lib/systemd/systemd --system --unit=script.service --show-status=no --log-level=warning
}

boot_and_report() {
    local new=(unshare --mount --net --pid --uts --ipc --cgroup --fork --kill-child)
    touch "$RESULTS"/{console,output}
    # The end of process 1 is not that of the script.
    timeout --signal KILL 300 "${new[@]}" "$0" --boot-here "$SCRIPT" "$FOLDER" "$RESULTS" >"$RESULTS/boot" 2>&1 || true
    cat "$RESULTS/output"
    [[ -s $RESULTS/status ]] || {
        cat "$RESULTS"/{boot,console} >&2
        echo "copy: the script did not end within 300 seconds, or systemd did not start" >&2
        return 1
    }
    return "$(<"$RESULTS/status")"
}

step=--run
[[ $1 != --* ]] || { step=$1; shift; }
SCRIPT=$(realpath "$1")
FOLDER=$(realpath "$2")
readonly SCRIPT FOLDER
case $step in
    --run) exec unshare --mount --net --pid --fork "$0" --run-here "$SCRIPT" "$FOLDER" ;;
    --run-here) run_script ;;
    --boot)
        RESULTS=$(mktemp --directory)
        trap 'rm -r "$RESULTS"' EXIT
        boot_and_report
        ;;
    --boot-here)
        RESULTS=$3
        boot
        ;;
esac
