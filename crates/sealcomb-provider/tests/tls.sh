#!/usr/bin/env bash
# TLS between OpenSSL's own server and client, where the provider seals, where it opens, and where it does both. In TLS 1.2, no explicit
# nonce comes twice, and a record of which a bit was changed is refused.
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

# through_proxy OPTION...: what follows goes by a proxy that looks at the records.
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

# The provider's nonces, and what it says of changed records.
look_at_records() {
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
    # 3 MB are nearly 200 records.
    [[ $(sed -n 's/ protected records to the client$//p' proxy.log) -gt 150 ]]
    serve "$of_server.cnf" "$@"
    through_proxy --change "$to"
    if fetch "$of_client.cnf" "$@" 2>/dev/null; then
        echo "$*: a changed record to the $to was taken" >&2
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

for suite in "-cipher ECDHE-RSA-AES128-GCM-SHA256" "-cipher AES256-GCM-SHA384" "-cipher AES128-CCM" "-cipher AES256-CCM8:@SECLEVEL=0"; do
    read -ra options <<<"-tls1_2 $suite"
    look_at_records ours theirs server "${options[@]}"
    look_at_records theirs ours client "${options[@]}"
    echo "${options[-1]}: nonces are unique, and changed records are refused"
done

# That it is the provider which does it: with a backend that nobody has, it has no keys, and there is no handshake.
serve theirs.cnf -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256
if SEALCOMB_BACKEND=none fetch ours.cnf -tls1_3 2>/dev/null; then
    echo "the provider was not used" >&2
    exit 1
fi
stop

echo "TLS by the provider"
