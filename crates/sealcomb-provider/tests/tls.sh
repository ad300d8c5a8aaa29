#!/usr/bin/env bash
# Tests TLS and DTLS between OpenSSL's s_server and s_client, with the provider in the server, the client, or both. In
# TLS 1.2, no explicit nonce may repeat, and a record with a flipped bit must be rejected.
# usage: tls.sh FOLDER-WITH-sealcomb.so
set -euo pipefail

OPENSSL_MODULES=$(realpath "$1")
export OPENSSL_MODULES
tests=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
manual=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../../docs/c.md")
folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

# The configuration in docs/c.md.
awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on' "$manual" >ours.cnf
: >theirs.cnf

openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null
head -c 3000000 /dev/urandom >file
seq 200 >lines
mkfifo input

# serve CONFIGURATION OPTION...: starts s_server on a free port. With DTLS, it prints what it receives, until its
# standard input ends.
serve() {
    local configuration=$1 i files=(-WWW)
    shift
    [[ $* != *-dtls* ]] || files=()
    : >server.log
    OPENSSL_CONF=$configuration openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem "${files[@]}" "$@" \
        <>input >server.log 2>&1 &
    server=$!
    for ((i = 0; i < 100; i++)); do
        port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' server.log)
        [[ -z $port ]] || return 0
        sleep 0.05
    done
    cat server.log >&2
    return 1
}

stop() {
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}

# fetch CONFIGURATION OPTION...: downloads the file with s_client and compares it.
fetch() {
    local configuration=$1
    shift
    printf 'GET /file HTTP/1.0\r\n\r\n' |
        OPENSSL_CONF=$configuration timeout 60 openssl s_client -quiet -ign_eof -connect "127.0.0.1:$port" -CAfile cert.pem \
            -verify_return_error "$@" 2>client.log | tail -c 3000000 | cmp - file
}

# send_datagrams CONFIGURATION OPTION...: sends lines with s_client by DTLS, and waits for the server to print them.
send_datagrams() {
    local configuration=$1 i
    shift
    { cat lines && sleep 0.2; } | OPENSSL_CONF=$configuration timeout 60 openssl s_client -connect "127.0.0.1:$port" \
        -CAfile cert.pem -verify_return_error "$@" >client.log 2>&1 || true
    for ((i = 0; i < 100; i++)); do
        ! grep -Fxq "$(tail -n 1 lines)" server.log || return 0
        sleep 0.05
    done
    cat client.log server.log >&2
    return 1
}

# connect_in_pairs CLIENT OPTION...: runs the function CLIENT with the provider at the server, at the client, and at both.
connect_in_pairs() {
    local client=$1 pair of_server of_client
    shift
    for pair in "ours theirs" "theirs ours" "ours ours"; do
        read -r of_server of_client <<<"$pair"
        serve "$of_server.cnf" "$@"
        "$client" "$of_client.cnf" "$@"
        stop
        echo "$1, ${*: -1}: server $of_server, client $of_client"
    done
}

# through_proxy OPTION...: starts the proxy in front of the server; later connections use it.
through_proxy() {
    local i
    : >proxy.log
    python3 "$tests/proxy.py" "$port" "$@" >proxy.log 2>&1 &
    proxy=$!
    for ((i = 0; i < 200; i++)); do
        port=$(sed -n '1s/^\([0-9]*\)$/\1/p' proxy.log)
        [[ -z $port ]] || return 0
        sleep 0.05
    done
    cat proxy.log >&2
    return 1
}

# check_records SERVER CLIENT RECEIVER OPTION...: checks the nonces, and that RECEIVER rejects a changed record.
check_records() {
    local of_server=$1 of_client=$2 to=$3
    shift 3
    serve "$of_server.cnf" "$@"
    through_proxy
    fetch "$of_client.cnf" "$@"
    stop
    if ! wait "$proxy"; then
        cat proxy.log >&2
        return 1
    fi
    # The 3 MB file takes nearly 200 records.
    [[ $(sed -n 's/ protected records to the client$//p' proxy.log) -gt 150 ]]
    serve "$of_server.cnf" "$@"
    through_proxy --change "$to"
    if fetch "$of_client.cnf" "$@" 2>/dev/null; then
        echo "$*: the $to accepted a changed record" >&2
        return 1
    fi
    sleep 0.2
    stop
    wait "$proxy" || true
    grep -q "bad record mac" "$([[ $to == client ]] && echo client.log || echo server.log)"
}

for suite in "-tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256" "-tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384" \
    "-tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256" "-tls1_3 -ciphersuites TLS_AES_128_CCM_8_SHA256" \
    "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256" "-tls1_2 -cipher AES256-GCM-SHA384" \
    "-tls1_2 -cipher AES128-CCM" "-tls1_2 -cipher DHE-RSA-AES256-CCM" "-tls1_2 -cipher AES256-CCM8:@SECLEVEL=0" \
    "-tls1_2 -cipher ECDHE-RSA-AES128-SHA256" "-tls1_2 -no_etm -cipher ECDHE-RSA-AES256-SHA384" \
    "-tls1 -cipher AES256-SHA:@SECLEVEL=0"; do
    read -ra options <<<"$suite"
    connect_in_pairs fetch "${options[@]}"
done

for suite in "-dtls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256" "-dtls1_2 -cipher AES128-CCM" \
    "-dtls1_2 -cipher ECDHE-RSA-AES128-SHA256" "-dtls1_2 -no_etm -cipher ECDHE-RSA-AES256-SHA384" \
    "-dtls1 -cipher AES256-SHA:@SECLEVEL=0"; do
    read -ra options <<<"$suite"
    connect_in_pairs send_datagrams "${options[@]}"
done

for suite in "-cipher ECDHE-RSA-AES128-GCM-SHA256" "-cipher AES256-GCM-SHA384" "-cipher AES128-CCM" "-cipher AES256-CCM8:@SECLEVEL=0" \
    "-cipher ECDHE-RSA-AES128-SHA256" "-no_etm -cipher ECDHE-RSA-AES256-SHA384"; do
    read -ra options <<<"-tls1_2 $suite"
    check_records ours theirs server "${options[@]}"
    check_records theirs ours client "${options[@]}"
    echo "${options[-1]}: nonces are unique, and changed records are rejected"
done

# With an unknown backend the provider cannot create keys, so the handshake must fail: this proves that it is in use.
serve theirs.cnf -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256
if SEALCOMB_BACKEND=none fetch ours.cnf -tls1_3 2>/dev/null; then
    echo "the provider was not used" >&2
    exit 1
fi
stop

echo "TLS: passed"
