#!/usr/bin/env bash
# Runs an example as a user would: sealed files open to the original, and modified ones are rejected.
# usage: examples.sh NAME PROGRAM
set -euo pipefail

name=$1 program=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# fails STATUS COMMAND...: expects the command to exit with this status.
fails() {
    local expected=$1 status=0
    shift
    "$@" || status=$?
    ((status == expected)) || { echo "exit status $status, expected $expected: $*" >&2; exit 1; }
}

# change FILE OFFSET: flips a bit of one byte.
change() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059  # The format is the byte.
    printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

pcap_seal() {
    "$program" new-key key
    fails 2 "$program" new-key key
    "$program" seal key "$root/captures/mixed.pcap" sealed.pcap
    "$program" open key sealed.pcap opened.pcap
    # Compares timestamps, lengths, link type and packet bytes.
    tshark -r opened.pcap -x -t e >opened.txt 2>/dev/null
    tshark -r "$root/captures/mixed.pcap" -x -t e >original.txt 2>/dev/null
    cmp opened.txt original.txt
    if grep -qa 'HTTP/1.1' sealed.pcap; then echo "sealed.pcap contains plaintext" >&2; exit 1; fi
    # A byte of the first packet: after the file header, the packet header and the nonce.
    cp sealed.pcap changed.pcap
    change changed.pcap $((24 + 16 + 12 + 3))
    fails 1 "$program" open key changed.pcap less.pcap
    # A byte of the timestamp.
    cp sealed.pcap changed.pcap
    change changed.pcap 24
    fails 1 "$program" open key changed.pcap less.pcap
    "$program" new-key another
    fails 1 "$program" open another sealed.pcap none.pcap
    fails 2 "$program" seal key sealed.pcap twice.pcap
    fails 2 "$program" seal nowhere "$root/captures/mixed.pcap" x.pcap
    # After 2038, 32 bits of seconds have two meanings.
    editcap -t 1000000000 "$root/captures/mixed.pcap" late.pcapng
    "$program" seal key late.pcapng sealed.pcap
    "$program" open key sealed.pcap opened.pcap
    # The longest packet whose sealed form libpcap reads, and a longer one.
    long_packet '\xe4\xff\x03\x00' 262116
    "$program" seal key long.pcap sealed.pcap
    "$program" open key sealed.pcap opened.pcap
    cmp opened.pcap long.pcap
    long_packet '\xe5\xff\x03\x00' 262117
    fails 2 "$program" seal key long.pcap sealed.pcap
}

# long_packet ENCODED BYTES: writes long.pcap with one packet of this many bytes, whose encoded length is ENCODED.
long_packet() {
    {
        head -c 24 "$root/captures/mixed.pcap"
        # shellcheck disable=SC2059  # The format is the bytes.
        printf "\\x01\\x00\\x00\\x00\\x05\\x00\\x00\\x00$1$1"
        head -c "$2" /dev/zero
    } >long.pcap
}

seal_lines() {
    head -c 64 /dev/urandom >key
    # Many lines, some empty, and no newline at the end.
    { cat "$root"/docs/*.md "$root/README.md"; printf 'no end of line'; } >lines
    "$program" seal key lines sealed 1
    "$program" seal key lines again 4
    cmp sealed again
    "$program" open key sealed opened 3
    cmp lines opened
    : >empty
    "$program" seal key empty sealed-empty
    "$program" open key sealed-empty opened
    cmp empty opened
    cp sealed changed
    change changed 30
    fails 1 "$program" open key changed opened
    # A file without its last record is rejected.
    head -c -34 sealed >changed
    fails 1 "$program" open key changed opened
    head -c 32 key >short
    fails 1 "$program" seal short lines sealed
    fails 1 "$program" seal key lines sealed 0
}

"${name//-/_}"
echo "$name: passed"
