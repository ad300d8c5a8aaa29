#!/usr/bin/env bash
# Records captures/mixed.pcap and captures/cooked.pcapng: traffic of nginx, PostgreSQL and dnsmasq with curl, wrk,
# pgbench and dig over a pair of virtual Ethernet interfaces. Nothing leaves the machine.
#
# Requires root (for network namespaces) and, on Debian:
#   apt-get install nginx-light wrk curl postgresql postgresql-contrib dnsmasq-base bind9-dnsutils tcpdump tshark \
#                   ethtool iproute2 iputils-ping
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
packets=3100        # number of packets in the capture
seconds=3           # duration of the traffic
client=sealcomb-client
server=sealcomb-server
work=$(mktemp -d)
chmod 755 "$work"
export LC_ALL=C.UTF-8

at_client() { ip netns exec "$client" "$@"; }
at_server() { ip netns exec "$server" "$@"; }

clean_up() {
    local pid
    for pid in $(ip netns pids "$server" 2>/dev/null) $(ip netns pids "$client" 2>/dev/null); do
        kill "$pid" 2>/dev/null || true
    done
    ip netns del "$client" 2>/dev/null || true
    ip netns del "$server" 2>/dev/null || true
    sleep 1
    rm -rf "$work"
}
trap clean_up EXIT
trap 'echo "record: line $LINENO failed" >&2' ERR

# Connects two hosts by an Ethernet link with an MTU of 1500. Turns off segmentation and checksum offload, so that
# packets are captured as they would appear on a wire.
create_link() {
    ip netns add "$client"
    ip netns add "$server"
    ip -n "$client" link add eth0 mtu 1500 type veth peer name eth0 mtu 1500 netns "$server"
    local name host
    for name in "$client" "$server"; do
        host=$([ "$name" = "$client" ] && echo 2 || echo 1)
        ip netns exec "$name" ethtool -K eth0 tso off gso off gro off tx off rx off >/dev/null 2>&1
        ip -n "$name" address add "192.0.2.$host/24" dev eth0
        ip -n "$name" address add "2001:db8::$host/64" dev eth0 nodad
        ip -n "$name" link set lo up
        ip -n "$name" link set eth0 up
    done
}

start_nginx() {
    mkdir "$work/www" "$work/nginx"
    # Typical sizes of a web site's icon, style sheet, page, picture and download.
    local size
    for size in 150 900 4000 24000 180000; do
        # Not a pipe: `head` may end before base64 has written the rest, which would fail under pipefail.
        head -c "$size" <(base64 --wrap 76 <(head -c "$size" /dev/urandom)) >"$work/www/$size.txt"
    done
    cat >"$work/nginx.conf" <<CONF
worker_processes 1;
daemon off;
pid $work/nginx/pid;
error_log $work/nginx/error.log;
events {}
http {
    access_log off;
    default_type text/plain;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    limit_req_zone \$binary_remote_addr zone=calm:1m rate=80r/s;
    server {
        listen 192.0.2.1:80;
        listen [2001:db8::1]:80;
        root $work/www;
        # Limits wrk, which would fill the capture immediately.
        location = /900.txt { limit_req zone=calm burst=20; }
        location = /4000.txt { limit_req zone=calm burst=20; }
    }
}
CONF
    at_server nginx -c "$work/nginx.conf" &
}

start_postgres() {
    local bin
    bin=$(echo /usr/lib/postgresql/*/bin)
    install -d -o postgres "$work/pg"
    runuser -u postgres -- "$bin/initdb" --pgdata="$work/pg" --auth=trust >/dev/null
    echo "host all all 192.0.2.0/24 trust" >>"$work/pg/pg_hba.conf"
    echo "host all all 2001:db8::/64 trust" >>"$work/pg/pg_hba.conf"
    at_server runuser -u postgres -- "$bin/postgres" -D "$work/pg" -c listen_addresses='192.0.2.1,2001:db8::1' \
        -c unix_socket_directories= -c fsync=off >"$work/postgres.log" 2>&1 &
}

start_dns() {
    at_server dnsmasq --no-daemon --no-resolv --no-hosts --listen-address=192.0.2.1,2001:db8::1 --bind-interfaces \
        --user=root --pid-file= --conf-file=/dev/null --local=/example.test/ \
        --host-record=www.example.test,192.0.2.1,2001:db8::1 --host-record=db.example.test,192.0.2.1 \
        --cname=static.example.test,www.example.test --mx-host=example.test,mail.example.test,10 \
        --txt-record=example.test,"v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/64 -all" 2>"$work/dns.log" &
}

wait_for() {
    for _ in $(seq 100); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "record: 100 attempts failed: $*" >&2
    exit 1
}

query_dns() {
    local name
    for name in "www.example.test A" "www.example.test AAAA" "static.example.test A" "db.example.test A" \
        "example.test MX" "example.test TXT" "nowhere.example.test A"; do
        # shellcheck disable=SC2086
        at_client dig +tries=1 +time=1 "@$1" $name >/dev/null || true
    done
}

browse() {
    local path
    for path in 150 900 24000 150 4000; do
        at_client curl --silent --limit-rate 300K --output /dev/null "http://$1/$path.txt"
    done
    at_client curl --silent --limit-rate 150K --output /dev/null "http://$1/180000.txt"
}

query_postgres() { at_client pgbench --host="$1" --username=postgres --no-vacuum "${@:2}" postgres >/dev/null 2>&1; }

# Runs all clients concurrently.
run_clients() {
    browse 192.0.2.1 &
    local jobs=($!)
    browse '[2001:db8::1]' & jobs+=($!)
    at_client wrk --threads 1 --connections 3 --duration "${seconds}s" http://192.0.2.1/900.txt >/dev/null & jobs+=($!)
    at_client wrk --threads 1 --connections 2 --duration "${seconds}s" 'http://[2001:db8::1]/4000.txt' >/dev/null & jobs+=($!)
    query_postgres 192.0.2.1 --client=2 --rate=25 --time="$seconds" & jobs+=($!)
    query_postgres 2001:db8::1 --client=1 --rate=60 --time="$seconds" --select-only & jobs+=($!)
    (for _ in 1 2 3; do query_dns 192.0.2.1; query_dns 2001:db8::1; done) & jobs+=($!)
    at_client ping -q -c 4 -i 0.5 -s 120 192.0.2.1 >/dev/null & jobs+=($!)
    at_client ping -q -c 4 -i 0.5 -s 1200 2001:db8::1 >/dev/null & jobs+=($!)
    wait "${jobs[@]}"
}

create_link
start_nginx
start_postgres
start_dns
wait_for at_client curl --silent --fail http://192.0.2.1/150.txt
wait_for at_client curl --silent --fail 'http://[2001:db8::1]/150.txt'
wait_for at_client dig +tries=1 +time=1 @192.0.2.1 www.example.test
wait_for at_client psql --host=192.0.2.1 --username=postgres --command='select 1' postgres
query_postgres 192.0.2.1 --initialize --scale=1

# --snapshot-length 0 captures whole packets.
at_client tcpdump --interface eth0 --snapshot-length 0 -c "$packets" -Z root -w "$work/mixed.pcap" 2>"$work/tcpdump.log" &
tcpdump_pid=$!
# A second file format and link type: dumpcap writes pcapng, and the interface "any" has Linux cooked headers.
at_client dumpcap -q -i any -c 120 -w "$work/cooked.pcapng" >"$work/dumpcap.log" 2>&1 &
sleep 1
# Triggers ARP and neighbor discovery.
ip -n "$client" neighbour flush dev eth0
ip -n "$server" neighbour flush dev eth0
run_clients
sleep 0.5
kill -INT "$tcpdump_pid" 2>/dev/null || true
wait "$tcpdump_pid" || true

install -m 644 "$work/mixed.pcap" "$work/cooked.pcapng" "$here"
capinfos -c -s -u "$here/mixed.pcap" "$here/cooked.pcapng"
