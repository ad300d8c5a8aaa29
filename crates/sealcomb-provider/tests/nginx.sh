#!/usr/bin/env bash
# Tests the provider in Debian's unmodified nginx and curl, enabled only by OpenSSL's configuration: downloads and
# uploads a file by TLS 1.2 and 1.3 with each kind of cipher suite. With an unknown SEALCOMB_BACKEND every connection
# must fail, which proves that the provider is in use.
# usage: nginx.sh NGINX FOLDER-WITH-sealcomb.so
set -euo pipefail

nginx=$(realpath "$1")
OPENSSL_MODULES=$(realpath "$2")
export OPENSSL_MODULES
manual=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../../docs/c.md")
folder=$(mktemp -d)
stop() {
    local i
    [[ -e nginx.pid ]] || return 0
    kill -QUIT "$(cat nginx.pid)" 2>/dev/null || true
    for ((i = 0; i < 200; i++)); do
        [[ -e nginx.pid ]] || return 0
        sleep 0.05
    done
}

trap 'stop; rm -rf "$folder"' EXIT
cd "$folder"
mkdir logs www

# The configuration in docs/c.md.
awk '/^```ini$/ { on = 1; next } /^```$/ { on = 0 } on' "$manual" >openssl.cnf

openssl req -x509 -newkey rsa:2048 -nodes -keyout rsa.key -out rsa.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ec.key -out ec.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null
cat rsa.pem ec.pem >trusted.pem
head -c 3000000 /dev/urandom >www/file
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# nginx passes only listed environment variables to its workers. They run as the current user, who owns the folder.
cat >nginx.conf <<CONF
user $(id -un) $(id -gn);
worker_processes 2;
env SEALCOMB_BACKEND;
pid nginx.pid;
error_log logs/error.log;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    client_max_body_size 10m;
    server {
        listen 127.0.0.1:$port ssl;
        ssl_certificate rsa.pem;
        ssl_certificate_key rsa.key;
        ssl_certificate ec.pem;
        ssl_certificate_key ec.key;
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_ciphers ALL:@SECLEVEL=1;
        ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_CCM_SHA256;
        root www;
        dav_methods PUT;
    }
}
CONF

# The provider's other algorithms that nginx uses: CTR for random numbers, and CBC for session tickets.
{
    sed 's/^\[openssl_init\]$/&\nrandom = random/' openssl.cnf
    printf '[random]\nproperties = provider=default\n'
} >ciphers.cnf
sed 's/ listen .*/& ssl_session_tickets off;/' nginx.conf >ciphers.conf

# serve NAME [VARIABLE=VALUE...]: starts nginx with the configurations of this name. It listens once it has moved to the
# background.
serve() {
    local name=$1
    shift
    env OPENSSL_CONF="$folder/${name/nginx/openssl}.cnf" "$@" "$nginx" -p "$folder" -c "$name.conf" -e logs/error.log || {
        cat logs/error.log >&2
        return 1
    }
}

# get CONFIGURATION OPTION...: downloads the file and compares it.
get() {
    local configuration=$1
    shift
    OPENSSL_CONF=$configuration curl --silent --show-error --max-time 60 --cacert trusted.pem \
        --resolve "localhost:$port:127.0.0.1" "$@" "https://localhost:$port/file" 2>curl.log | cmp --silent - www/file
}

put() {
    OPENSSL_CONF=openssl.cnf curl --silent --show-error --fail --max-time 60 --cacert trusted.pem \
        --resolve "localhost:$port:127.0.0.1" "$@" --upload-file www/file "https://localhost:$port/uploaded" >/dev/null
    cmp www/uploaded www/file
    rm www/uploaded
}

readonly SUITES=(
    "--tlsv1.3 --tls13-ciphers TLS_AES_128_GCM_SHA256"
    "--tlsv1.3 --tls13-ciphers TLS_AES_256_GCM_SHA384"
    "--tlsv1.3 --tls13-ciphers TLS_AES_128_CCM_SHA256"
    "--tls-max 1.2 --ciphers ECDHE-RSA-AES128-GCM-SHA256"
    "--tls-max 1.2 --ciphers ECDHE-ECDSA-AES256-GCM-SHA384"
    "--tls-max 1.2 --ciphers ECDHE-ECDSA-AES128-CCM"
    "--tls-max 1.2 --ciphers ECDHE-ECDSA-AES256-CCM8"
    "--tls-max 1.2 --ciphers ECDHE-RSA-AES128-SHA256"
)

serve nginx
for suite in "${SUITES[@]}"; do
    read -ra options <<<"$suite"
    get openssl.cnf "${options[@]}" || { cat curl.log logs/error.log >&2; exit 1; }
    put "${options[@]}"
    # curl with OpenSSL's default provider.
    get /dev/null "${options[@]}" || { cat curl.log logs/error.log >&2; exit 1; }
    if SEALCOMB_BACKEND=none get openssl.cnf "${options[@]}"; then
        echo "${options[-1]}: curl did not use the provider" >&2
        exit 1
    fi
    echo "nginx: ${options[-1]}"
done
stop

if serve nginx SEALCOMB_BACKEND=none 2>/dev/null; then
    echo "nginx did not use the provider for random numbers" >&2
    exit 1
fi

# Cipher suites that the provider does not implement still work.
serve ciphers SEALCOMB_BACKEND=none
get /dev/null --tlsv1.2 --tls-max 1.2 --ciphers ECDHE-RSA-CHACHA20-POLY1305 || { cat curl.log logs/error.log >&2; exit 1; }
for suite in "${SUITES[@]}"; do
    read -ra options <<<"$suite"
    if get /dev/null "${options[@]}"; then
        echo "${options[-1]}: nginx did not use the provider" >&2
        exit 1
    fi
done
echo "nginx and curl use the provider for all tested cipher suites"
