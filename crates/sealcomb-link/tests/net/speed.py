#!/usr/bin/env python3
"""Measure sealcomb-link and other user-space tunnels in one run.

usage: speed.py [--binaries FOLDER] [--before FOLDER] [--peers FOLDER] [--rounds N] [--seconds N] [--only NAME]...
                [--cycles]

Every tunnel connects its own two network namespaces for the whole run; all but the one being measured are stopped
(SIGSTOP). Each round measures all tunnels in turn, and each result is the median of the rounds. The sending end and
the packet source share core 0. The receiving end has core 1. Nothing reads the delivered packets; the kernel counts
them as drops of the socket. The CPU time of both ends is measured, including kernel time on their behalf. The packet
rate of one core is the reciprocal of the time per packet of the busier end.

One of the tunnels of sealcomb-link has 100 peers that rekey every second; bursts of 64 packets go to each in turn.
--before names a folder with sealcomb-link of an earlier version, to be measured in the same run.

Compared are `boringtun-cli` and `wireguard` (wireguard-go) if the folder of peers contains them; OpenVPN and
strongSwan, both without kernel acceleration, if they are installed; socat, a tunnel without cryptography; and the
bare wire. TCP throughput is measured with iperf3. --cycles prints the distribution of CPU time with packets of 1400
bytes instead, from perf.
"""

import argparse
import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import net  # noqa: E402
import traffic  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey  # noqa: E402

LENGTHS = ("64", "576", "1400", "mix")
SOCAT = "socat, no cryptography"
WIRE = "no tunnel"


def pinned(core: int, *words: str) -> list[str]:
    return ["taskset", "-c", str(core % (os.cpu_count() or 1)), *words]


class Tunnel:
    """Two hosts, and the processes that are the two ends of the tunnel."""

    def __init__(
        self,
        hosts: tuple[net.Host, net.Host],
        ends: list[subprocess.Popen],
        addresses: Sequence[str] = (net.TUNNEL_V4[1],),
    ) -> None:
        """Describe a tunnel. The receiver has these inner addresses."""
        self.hosts, self.ends, self.addresses = hosts, ends, addresses
        self.hole = hosts[1].start(
            sys.executable, str(HERE / "traffic.py"), "hole", stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.hole.stdout is not None
        self.hole.stdout.readline()

    def signal(self, number: int) -> None:
        for end in self.ends:
            end.send_signal(number)

    def cpu_seconds(self) -> list[float]:
        """Return the CPU time of each end so far."""
        threads = [Path(f"/proc/{end.pid}/task").glob("*/schedstat") for end in self.ends]
        return [sum(int(thread.read_text().split()[0]) for thread in some) / 1e9 for some in threads]

    def delivered(self) -> int:
        """Return the number of datagrams that arrived at the port of `hole`, which never reads them."""
        port = f":{traffic.UDP_PORT:04X}"
        lines = Path(f"/proc/{self.hole.pid}/net/udp").read_text().splitlines()[1:]
        return next(int(line.split()[-1]) for line in lines if line.split()[1].endswith(port))


@contextlib.contextmanager
def sealcomb(binaries: Path, suite: str, every: str) -> Iterator[Tunnel]:
    with net.folder() as folder, net.hosts() as hosts:
        tables = f'[rekey]\nevery = "{every}"\n[limits]\nage = "10h"\n'
        links = []
        for i, host in enumerate(hosts):
            config = net.config(i, net.FILE_KEYS, suite=suite, tables=tables)
            links.append(net.Link(binaries / "sealcomb-link", host, folder, config, pinned(i)).start())
        for link in links:
            net.until("a key", link.is_up)
        yield Tunnel(hosts, [link.process for link in links])


@contextlib.contextmanager
def sealcomb_peers(binaries: Path, count: int) -> Iterator[Tunnel]:
    peers = range(1, count + 1)
    with net.folder() as folder, net.hosts() as hosts:
        net.peers_keys(folder, peers)
        tables = '[rekey]\nevery = "1s"\n[limits]\nage = "10h"\n'
        links = []
        for i, host in enumerate(hosts):
            config = net.peers_config(i, peers, tables=tables)
            links.append(net.Link(binaries / "sealcomb-link", host, folder, config, pinned(i)).start())
        for link in links:
            net.until("keys", link.has_peers, 60)
            net.peers_addresses(link.host, peers)
        yield Tunnel(hosts, [link.process for link in links], [net.inner(1, k) for k in peers])


def answers(name: str) -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"/var/run/wireguard/{name}.sock")
        return True
    return False


def ask(name: str, settings: dict[str, object]) -> None:
    """Configure a user-space WireGuard over its UAPI socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"/var/run/wireguard/{name}.sock")
        lines = "".join(f"{key}={value}\n" for key, value in settings.items())
        connection.sendall(f"set=1\n{lines}\n".encode())
        answer = connection.recv(4096)
        assert b"errno=0" in answer, answer


@contextlib.contextmanager
def wireguard(command: list[str]) -> Iterator[Tunnel]:
    with net.hosts() as hosts:
        keys = [X25519PrivateKey.generate() for _ in hosts]
        secret = [key.private_bytes_raw().hex() for key in keys]
        public = [key.public_key().public_bytes_raw().hex() for key in keys]
        ends = []
        for i, host in enumerate(hosts):
            name = f"sc{secrets.token_hex(3)}"
            environment = os.environ | {"WG_THREADS": "1", "GOMAXPROCS": "1", "WG_LOG_LEVEL": "error"}
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            ends.append(host.start(*pinned(i, *command, name), env=environment, **quiet))
            net.until("its socket", lambda name=name: answers(name))
            ask(name, {"private_key": secret[i], "listen_port": 4500})
            ask(
                name,
                {
                    "public_key": public[1 - i],
                    "endpoint": f"{net.WIRE[4][1 - i]}:4500",
                    "allowed_ip": "0.0.0.0/0",
                },
            )
            host.run("ip", "addr", "add", f"{net.TUNNEL_V4[i]}/24", "dev", name)
            host.run("ip", "link", "set", name, "mtu", "1420", "txqueuelen", "2000", "up")
        yield Tunnel(hosts, ends)


def comes_through(tunnel: Tunnel) -> bool:
    with contextlib.suppress(AssertionError):
        tunnel.hosts[0].run("ping", "-q", "-c", "1", "-W", "1", net.TUNNEL_V4[1])
        return True
    return False


def certificate(folder: Path, name: str) -> str:
    """Create a key and a self-signed certificate; return the certificate's fingerprint."""
    made = folder / f"{name}.crt"
    request = ["openssl", "req", "-x509", "-nodes", "-subj", f"/CN={name}", "-days", "2", "-newkey", "ec", "-pkeyopt",
               "ec_paramgen_curve:P-256", "-keyout", str(folder / f"{name}.key"), "-out", str(made)]  # fmt: skip
    subprocess.run(request, check=True, capture_output=True)
    show = ["openssl", "x509", "-in", str(made), "-noout", "-fingerprint", "-sha256"]
    return subprocess.run(show, check=True, capture_output=True, text=True).stdout.strip().partition("=")[2]


@contextlib.contextmanager
def openvpn() -> Iterator[Tunnel]:
    """Start OpenVPN without its kernel module and without rekeying."""
    with net.folder() as folder, net.hosts() as hosts:
        fingerprints = [certificate(folder, name) for name in "ab"]
        ends = []
        for i, host in enumerate(hosts):
            ours, theirs = net.WIRE[4][i], net.WIRE[4][1 - i]
            options = {
                "dev": "tun",
                "proto": "udp4",
                "local": ours,
                "remote": theirs,
                "port": "4500",
                "ifconfig": f"{net.TUNNEL_V4[i]} {net.TUNNEL_V4[1 - i]}",
                "peer-fingerprint": fingerprints[1 - i],
                "cert": f"{folder}/{'ab'[i]}.crt",
                "key": f"{folder}/{'ab'[i]}.key",
                ("tls-server", "tls-client")[i]: "",
                "dh": "none",
                "data-ciphers": "AES-128-GCM",
                "reneg-sec": "0",
                "tun-mtu": "1420",
                "txqueuelen": "2000",
                "disable-dco": "",
                "fast-io": "",
                "verb": "1",
            }
            words = [word for name, value in options.items() for word in (f"--{name}", *value.split())]
            ends.append(host.start(*pinned(i, "openvpn", *words), stdout=subprocess.DEVNULL))
        tunnel = Tunnel(hosts, ends)
        net.until("OpenVPN's answer", lambda: comes_through(tunnel))
        yield tunnel


CHARON = Path("/usr/lib/ipsec/charon")
LIBIPSEC = CHARON.parent / "plugins/libstrongswan-kernel-libipsec.so"


@contextlib.contextmanager
def strongswan() -> Iterator[Tunnel]:
    """Start strongSwan with its user-space ESP, libipsec."""
    with net.folder() as folder, net.hosts() as hosts:
        secret = secrets.token_hex(32)
        ends = []
        for i, host in enumerate(hosts):
            name, peer = "ab"[i], "ba"[i]
            vici = f"unix://{folder}/{name}.vici"
            settings = folder / f"{name}.strongswan.conf"
            settings.write_text(f"""charon {{
                load = random nonce openssl kdf socket-default kernel-libipsec kernel-netlink vici
                plugins {{ vici {{ socket = {vici} }} }}
                syslog {{ daemon {{ default = -1 }} }}
            }}""")
            connection = folder / f"{name}.swanctl.conf"
            connection.write_text(f"""connections {{ link {{
                version = 2
                local_addrs = {net.WIRE[4][i]}
                remote_addrs = {net.WIRE[4][1 - i]}
                proposals = aes128gcm16-prfsha256-x25519
                encap = yes
                mobike = no
                rekey_time = 0
                local {{ auth = psk
                    id = {name} }}
                remote {{ auth = psk
                    id = {peer} }}
                children {{ link {{
                    local_ts = {net.TUNNEL_V4[i]}/32
                    remote_ts = {net.TUNNEL_V4[1 - i]}/32
                    esp_proposals = aes128gcm16
                    rekey_time = 0
                }} }}
            }} }}
            secrets {{ ike {{ secret = 0x{secret} }} }}""")
            host.run("ip", "addr", "add", f"{net.TUNNEL_V4[i]}/32", "dev", "lo")
            # charon writes its PID file to /run, so each instance needs its own.
            command = " ".join(["mount -t tmpfs none /run && exec", *pinned(i, str(CHARON))])
            environment = os.environ | {"STRONGSWAN_CONF": str(settings)}
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            ends.append(host.start("sh", "-c", command, env=environment, **quiet))
            net.until("strongSwan's socket", (folder / f"{name}.vici").exists)
            host.run("swanctl", "--load-all", "--file", str(connection), "--uri", vici)
        vici = f"unix://{folder}/a.vici"
        hosts[0].run("swanctl", "--initiate", "--child", "link", "--uri", vici, timeout=net.PATIENCE)
        for host in hosts:
            # The MTU stays at its initial 1400 bytes, the longest packet that libipsec reads.
            host.run("ip", "link", "set", "ipsec0", "txqueuelen", "2000")
            assert not host.run("ip", "xfrm", "state"), "strongSwan uses the kernel's ESP"
        tunnel = Tunnel(hosts, ends)
        net.until("strongSwan's answer", lambda: comes_through(tunnel))
        yield tunnel


@contextlib.contextmanager
def socat() -> Iterator[Tunnel]:
    with net.hosts() as hosts:
        ends = []
        for i, host in enumerate(hosts):
            tun = f"TUN:{net.TUNNEL_V4[i]}/24,up,tun-name=plain"
            udp = f"UDP4-DATAGRAM:{net.WIRE[4][1 - i]}:4500,bind={net.WIRE[4][i]}:4500"
            ends.append(host.start(*pinned(i, "socat", "-b", "65536", tun, udp)))
        time.sleep(0.3)
        for host in hosts:
            host.run("ip", "link", "set", "plain", "mtu", "1420")
        yield Tunnel(hosts, ends)


@contextlib.contextmanager
def wire() -> Iterator[Tunnel]:
    with net.hosts() as hosts:
        for i, host in enumerate(hosts):
            host.run("ip", "addr", "add", f"{net.TUNNEL_V4[i]}/24", "dev", "wire")
        yield Tunnel(hosts, [])


def flood(tunnel: Tunnel, binaries: Path, lengths: str, seconds: float) -> tuple[float, float, list[float]]:
    """Return packets per second received, mean packet size in bytes, and nanoseconds per packet of each end."""
    to = ",".join(f"{address}:{traffic.UDP_PORT}" for address in tunnel.addresses)
    before, used_before = tunnel.delivered(), tunnel.cpu_seconds()
    out = tunnel.hosts[0].run(*pinned(0, str(binaries / "examples/flood"), to, lengths, str(seconds)))
    time.sleep(0.05)
    count = tunnel.delivered() - before
    used = [after - before for after, before in zip(tunnel.cpu_seconds(), used_before, strict=True)]
    packets, length = map(int, out.split())
    return count / seconds, length / packets, [1e9 * seconds_ / count for seconds_ in used]


def measure(tunnel: Tunnel, binaries: Path, seconds: float) -> dict[str, float]:
    a, b = tunnel.hosts
    to = tunnel.addresses[0]
    a.run("ping", "-q", "-c", "2", "-i", "0.2", to)
    found = {}
    for lengths in LENGTHS:
        rate, length, costs = flood(tunnel, binaries, lengths, seconds)
        if costs:
            one_core = 1e9 / max(costs)
            found[f"{lengths}: 1000 packets/s per core"] = one_core / 1e3
            found[f"{lengths}: Gbit/s per core"] = one_core * length * 8 / 1e9
        for i, cost in enumerate(costs):
            found[f"{lengths}: ns per packet, {('sender', 'receiver')[i]}"] = cost
        found[f"{lengths}: 1000 packets/s received"] = rate / 1e3
    server = b.start(*pinned(1, "iperf3", "-s", "-1"), stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    client = pinned(0, "iperf3", "-J", "-c", to, "-t", str(max(1, round(seconds))))
    end = json.loads(a.run(*client, timeout=60))["end"]
    found["TCP, Gbit/s"] = end["sum_received"]["bits_per_second"] / 1e9
    server.wait(10)
    found["round trip, µs"] = round_trip(tunnel)
    return found


def round_trip(tunnel: Tunnel) -> float:
    """Return the median round-trip time of ping in microseconds, at low load."""
    out = tunnel.hosts[0].run(*pinned(0, "ping", "-c", "150", "-i", "0.002", tunnel.addresses[0]))
    return statistics.median(float(found) * 1000 for found in re.findall(r"time=([\d.]+)", out))


def where_time_goes(tunnel: Tunnel, binaries: Path, seconds: float) -> None:
    """Print the distribution of each end's CPU time, by the system call or the crate of each sample."""
    shares = ("cipher", "TUN", "UDP", "link", "waiting", "other")
    print("| end | " + " | ".join(shares) + " |\n|---|" + "---:|" * len(shares))
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{i}" for i in range(2)]
        perfs = [
            subprocess.Popen(
                ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-g", "-p", str(end.pid), "-o", file],
                stderr=subprocess.DEVNULL,
            )
            for end, file in zip(tunnel.ends, files, strict=True)
        ]
        time.sleep(0.5)
        flood(tunnel, binaries, "1400", seconds)
        for perf in perfs:
            perf.send_signal(signal.SIGINT)
            perf.wait()
        for name, file in zip(("sender", "receiver"), files, strict=True):
            script = subprocess.run(
                ["perf", "script", "-i", file, "-F", "ip,sym,dso"], capture_output=True, text=True, check=True
            )
            counts = Counter(share(sample) for sample in script.stdout.split("\n\n") if sample.strip())
            total = sum(counts.values())
            print(f"| {name} | " + " | ".join(f"{100 * counts[what] / total:.0f} %" for what in shares) + " |")


def share(sample: str) -> str:
    for call, what in (("sys_read", "TUN"), ("sys_write", "TUN"), ("sys_sendm", "UDP"), ("sys_recvm", "UDP"),
                       ("sys_poll", "waiting")):  # fmt: skip
        if call in sample:
            return what
    leaf = sample.strip().splitlines()[0]
    if "kernel" in leaf:
        return "other"
    return "cipher" if re.search(r"\bsealcomb::|\bsha2::|\bhmac::", leaf) else "link"


Maker = Callable[[], contextlib.AbstractContextManager[Tunnel]]


def others(peers: Path | None) -> dict[str, Maker]:
    """Return the available tunnels to compare with, by name."""
    tunnels: dict[str, Maker] = {}
    for name, options in (("boringtun-cli", ["-f", "--disable-drop-privileges"]), ("wireguard", ["-f"])):
        if peers and (binary := peers.resolve() / name).exists():
            tunnels[name] = lambda binary=binary, options=options: wireguard([str(binary), *options])
    if shutil.which("openvpn"):
        tunnels["OpenVPN, AES-128-GCM"] = openvpn
    if LIBIPSEC.exists() and shutil.which("swanctl"):
        tunnels["strongSwan, aes128gcm16"] = strongswan
    if shutil.which("socat"):
        tunnels[SOCAT] = socat
    tunnels[WIRE] = wire
    return tunnels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--binaries",
        type=Path,
        default=HERE.parents[3] / "target/release",
        metavar="FOLDER",
        help="folder of sealcomb-link and examples/flood (default: target/release)",
    )
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="folder of an earlier sealcomb-link")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="folder of boringtun-cli and wireguard")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds (default: 3)")
    parser.add_argument("--seconds", type=float, default=1, metavar="N", help="seconds per measurement (default: 1)")
    parser.add_argument("--only", action="append", metavar="NAME", help="measure only this tunnel; may be repeated")
    parser.add_argument("--cycles", action="store_true", help="print the distribution of CPU time instead")
    arguments = parser.parse_args()
    if reason := net.why_not():
        print(f"skipped: {reason}")
        return 0
    binaries = arguments.binaries.resolve()
    tunnels: dict[str, Maker] = {
        "sealcomb-link, aes256-gcm": lambda: sealcomb(binaries, "aes256-gcm", "1h"),
        "sealcomb-link, aes256-gcm, rekey every 100 ms": lambda: sealcomb(binaries, "aes256-gcm", "100ms"),
        "sealcomb-link, aes128-gcm": lambda: sealcomb(binaries, "aes128-gcm", "1h"),
        "sealcomb-link, aes128-ccm": lambda: sealcomb(binaries, "aes128-ccm", "1h"),
    }
    tunnels["sealcomb-link, aes256-gcm, 100 peers"] = lambda: sealcomb_peers(binaries, 100)
    if arguments.before:
        before = arguments.before.resolve()
        tunnels["sealcomb-link before, aes256-gcm"] = lambda: sealcomb(before, "aes256-gcm", "1h")
    tunnels |= others(arguments.peers)
    if arguments.only:
        if unknown := set(arguments.only) - set(tunnels):
            parser.error(f"no tunnel has the name {min(unknown)!r}; there are {', '.join(map(repr, tunnels))}")
        tunnels = {name: tunnels[name] for name in arguments.only}
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with contextlib.ExitStack() as stack:
        made = {name: stack.enter_context(tunnel()) for name, tunnel in tunnels.items()}
        if arguments.cycles:
            where_time_goes(next(iter(made.values())), binaries, arguments.seconds)
            return 0
        for tunnel in made.values():
            tunnel.signal(signal.SIGSTOP)
        for _ in range(arguments.rounds):
            for name, tunnel in made.items():
                tunnel.signal(signal.SIGCONT)
                for what, number in measure(tunnel, binaries, arguments.seconds).items():
                    found[name][what].append(number)
                tunnel.signal(signal.SIGSTOP)
        for tunnel in made.values():
            tunnel.signal(signal.SIGCONT)
    names = list(found)
    print("| | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
    for what in next(iter(found.values())):
        numbers = [found[name].get(what) for name in names]
        cells = [f"{statistics.median(some):#.3g}".rstrip(".") if some else "" for some in numbers]
        print(f"| {what} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
