#!/usr/bin/env bash
# Runs a script in a copy of this system without network.
#
# usage: packaging/copy.sh SCRIPT FOLDER
#
# The script gets the folder, which the copy shares, as its argument. The copy is an overlay of the root file system in
# new namespaces, so nothing else of this system changes. Requires root.
set -euo pipefail

SCRIPT=$(realpath "$1")
FOLDER=$(realpath "$2")
readonly SCRIPT FOLDER

# make_devices FOLDER: creates the devices that the checks use, with the usual permissions.
make_devices() {
    mount -t tmpfs none "$1"
    mkdir "$1/net"
    mknod -m 666 "$1/null" c 1 3
    mknod -m 666 "$1/zero" c 1 5
    mknod -m 666 "$1/random" c 1 8
    mknod -m 666 "$1/urandom" c 1 9
    mknod -m 666 "$1/net/tun" c 10 200
    ln -s /proc/self/fd "$1/fd"
}

# Mounts the copy, and runs the script there.
make_the_copy() {
    local copy
    copy=$(mktemp --directory)
    mount -t tmpfs none "$copy"
    mkdir "$copy"/{changes,work,root}
    mount -t overlay overlay -o "lowerdir=/,upperdir=$copy/changes,workdir=$copy/work" "$copy/root"
    mount -t tmpfs none "$copy/root/tmp"
    mkdir -p "$copy/root$FOLDER" "$copy/root$PWD"
    mount --bind "$FOLDER" "$copy/root$FOLDER"
    mount -t proc proc "$copy/root/proc"
    make_devices "$copy/root/dev"
    cp "$SCRIPT" "$copy/root/tmp/script"
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
    ip link set lo up
    chroot "$copy/root" /bin/bash /tmp/script "$FOLDER"
}

case ${3:-} in
    "") exec unshare --mount --net --pid --fork "$0" "$SCRIPT" "$FOLDER" --make-the-copy ;;
    --make-the-copy) make_the_copy ;;
esac
