#!/usr/bin/env bash
# TLS between OpenSSL's own server and client, where the provider seals, where it opens, and where it does both.
# usage: tls.sh FOLDER-WITH-sealcomb.so
set -euo pipefail

OPENSSL_MODULES=$(realpath "$1")
export OPENSSL_MODULES
manual=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../../docs/c.md")
folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

# The manual's configuration.
awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on' "$manual" >ours.cnf
: >theirs.cnf

openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null
head -c 3000000 /dev/urandom >file

# serve CONFIGURATION OPTION...: on a port that is free, for one test.
serve() {
    local configuration=$1 i
    shift
    : >server.log
    OPENSSL_CONF=$configuration openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -WWW "$@" >server.log 2>&1 &
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

# fetch CONFIGURATION OPTION...: the file, by s_client.
fetch() {
    local configuration=$1
    shift
    printf 'GET /file HTTP/1.0\r\n\r\n' |
        OPENSSL_CONF=$configuration timeout 60 openssl s_client -quiet -ign_eof -connect "127.0.0.1:$port" -CAfile cert.pem \
            -verify_return_error "$@" 2>client.log | tail -c 3000000 | cmp - file
}

for suite in "-tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256" "-tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384" \
    "-tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256" "-tls1_3 -ciphersuites TLS_AES_128_CCM_8_SHA256" \
    "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256" "-tls1_2 -cipher AES256-GCM-SHA384" \
    "-tls1_2 -cipher AES128-CCM" "-tls1_2 -cipher DHE-RSA-AES256-CCM" "-tls1_2 -cipher AES256-CCM8:@SECLEVEL=0"; do
    read -ra options <<<"$suite"
    for pair in "ours theirs" "theirs ours" "ours ours"; do
        read -r of_server of_client <<<"$pair"
        serve "$of_server.cnf" "${options[@]}"
        fetch "$of_client.cnf" "${options[@]}"
        stop
        echo "${options[-1]}: server $of_server, client $of_client"
    done
done

# That it is the provider which does it: with a backend that nobody has, it has no keys, and there is no handshake.
serve theirs.cnf -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256
if SEALCOMB_BACKEND=none fetch ours.cnf -tls1_3 2>/dev/null; then
    echo "the provider was not used" >&2
    exit 1
fi
stop

echo "TLS by the provider"
