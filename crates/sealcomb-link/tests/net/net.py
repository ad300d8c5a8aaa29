"""Hosts, wires, links and KMEs in network namespaces, for tests, measurements and the demonstration."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

WIRE = {4: ("192.0.2.1", "192.0.2.2"), 6: ("2001:db8::1", "2001:db8::2")}
TUNNEL_V4 = ("10.99.0.1", "10.99.0.2")
TUNNEL_V6 = ("fd99::1", "fd99::2")
PATIENCE = 20.0


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def why_not() -> str | None:
    """Return the reason why network namespaces are unavailable, or None if they are available."""
    if os.geteuid() != 0:
        return "network namespaces require root"
    if not shutil.which("ip"):
        return "the command `ip` is missing (Debian package iproute2)"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun does not exist"
    name = f"sclink-{secrets.token_hex(3)}"
    try:
        ip("netns", "add", name)
        try:
            ip("-n", name, "tuntap", "add", "dev", "probe", "mode", "tun")
        finally:
            ip("netns", "del", name)
    except subprocess.CalledProcessError as error:
        return f"the kernel refuses network namespaces or TUN devices: {error.stderr.decode().strip()}"
    return None


def until(what: str, holds: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until a condition holds; raise AssertionError after `patience` seconds."""
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience:.0f} s: {what}")
        time.sleep(0.02)


class Host:
    """A network namespace and the processes started in it."""

    def __init__(self, number: int, letter: str = "") -> None:
        self.number = number
        self.name = f"sclink-{os.getpid()}-{secrets.token_hex(2)}-{letter or 'abr'[number]}"
        self.running: list[subprocess.Popen] = []
        ip("netns", "add", self.name)
        ip("-n", self.name, "link", "set", "lo", "up")

    def command(self, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.name, *words]

    def start(self, *words: str, **options: object) -> subprocess.Popen:
        process = subprocess.Popen(self.command(*words), **options)
        self.running.append(process)
        return process

    def run(self, *words: str, timeout: float = 60) -> str:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def end(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True, check=False)


@contextlib.contextmanager
def hosts(mtu: int = 1500) -> Iterator[tuple[Host, Host]]:
    """Create two hosts with a wire between them."""
    a = Host(0)
    try:
        b = Host(1)
        try:
            ip("link", "add", "wire", "mtu", str(mtu), "netns", a.name, "type", "veth",
               "peer", "name", "wire", "netns", b.name)  # fmt: skip
            ip("-n", b.name, "link", "set", "wire", "mtu", str(mtu))
            for host in (a, b):
                ip("-n", host.name, "addr", "add", f"{WIRE[4][host.number]}/24", "dev", "wire")
                ip("-n", host.name, "addr", "add", f"{WIRE[6][host.number]}/64", "dev", "wire", "nodad")
                ip("-n", host.name, "link", "set", "wire", "up")
            yield a, b
        finally:
            b.end()
    finally:
        a.end()


@contextlib.contextmanager
def routed_hosts(mtu: int) -> Iterator[tuple[Host, Host]]:
    """Create two hosts with a router between them. The wire from the router to the second host has this MTU."""
    with contextlib.ExitStack() as stack:
        a, b, router = [Host(number) for number in range(3)]
        for host in (a, b, router):
            stack.callback(host.end)
        for host, other, port, wire_mtu in ((a, b, "east", 1500), (b, a, "west", mtu)):
            ip("link", "add", "wire", "mtu", str(wire_mtu), "netns", host.name, "type", "veth",
               "peer", "name", port, "netns", router.name)  # fmt: skip
            ip("-n", router.name, "link", "set", port, "mtu", str(wire_mtu), "up")
            ip("-n", host.name, "link", "set", "wire", "up")
            for version, (width, gateway) in {4: (32, "192.0.2.254"), 6: (128, "2001:db8::fe")}.items():
                nodad = ("nodad",) * (version == 6)
                here, there = WIRE[version][host.number], WIRE[version][other.number]
                ip("-n", host.name, "addr", "add", f"{here}/{width}", "dev", "wire", *nodad)
                ip("-n", router.name, "addr", "add", f"{gateway}/{width}", "dev", port, *nodad)
                ip("-n", host.name, "route", "add", gateway, "dev", "wire")
                ip("-n", host.name, "route", "add", there, "via", gateway, "dev", "wire")
                ip("-n", router.name, "route", "add", here, "dev", port)
        router.run("sysctl", "-q", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        yield a, b


@contextlib.contextmanager
def nat_hosts() -> Iterator[tuple[Host, Host, Host]]:
    """Create two hosts and a router between them, which masquerades the second.

    Each new mapping has a random port. A mapping ends when the router's interface `east` goes down, or after a second
    without packets. Raises AssertionError if nftables is unavailable.
    """
    with contextlib.ExitStack() as stack:
        a, b, router = [Host(number) for number in range(3)]
        for host in (a, b, router):
            stack.callback(host.end)
        for host, port, near, far in ((a, "east", "192.0.2.1", "192.0.2.254"), (b, "west", "10.5.0.2", "10.5.0.1")):
            ip("link", "add", "wire", "netns", host.name, "type", "veth", "peer", "name", port, "netns", router.name)
            ip("-n", host.name, "addr", "add", f"{near}/24", "dev", "wire")
            ip("-n", router.name, "addr", "add", f"{far}/24", "dev", port)
            ip("-n", host.name, "link", "set", "wire", "up")
            ip("-n", router.name, "link", "set", port, "up")
        ip("-n", b.name, "route", "add", "default", "via", "10.5.0.1")
        rules = (
            "table ip nat { chain post { type nat hook postrouting priority 100; oifname east masquerade random; }; }"
        )
        router.run("nft", rules)
        router.run("sysctl", "-q", "net.ipv4.ip_forward=1", "net.netfilter.nf_conntrack_udp_timeout=1",
                   "net.netfilter.nf_conntrack_udp_timeout_stream=1")  # fmt: skip
        yield a, b, router


@contextlib.contextmanager
def star(count: int, *, nat: bool = False) -> Iterator[tuple[Host, list[Host]]]:
    """Create a hub and this many hosts around it, the number of which is 1.

    With `nat`, the ports of the hosts around it are masqueraded by random ones, different ones after each move.

    The hub loses about 1 % of the datagrams that arrive, and counts them as `lost` and, if they are control messages,
    `lost_control`.

    Host k, counted from 1, has the address 192.0.2.(k + 10). Raises AssertionError if nftables is unavailable.
    """
    with contextlib.ExitStack() as stack:
        hub = Host(0)
        stack.callback(hub.end)
        ip("-n", hub.name, "link", "add", "wire", "type", "bridge")
        ip("-n", hub.name, "addr", "add", "192.0.2.1/24", "dev", "wire")
        ip("-n", hub.name, "link", "set", "wire", "up")
        around = []
        for k in range(1, count + 1):
            host = Host(1, f"s{k}")
            stack.callback(host.end)
            ip("link", "add", "wire", "netns", host.name, "type", "veth", "peer", "name", f"port{k}", "netns", hub.name)
            # A datagram that the kernel has coalesced would be lost and counted as one.
            ip("-n", host.name, "link", "set", "wire", "gso_max_segs", "1", "up")
            ip("-n", host.name, "addr", "add", f"192.0.2.{k + 10}/24", "dev", "wire")
            ip("-n", hub.name, "link", "set", f"port{k}", "master", "wire", "up")
            around.append(host)
            if nat:
                host.run("nft", "table ip nat { chain post { type nat hook postrouting priority 100; "
                         "oifname wire meta l4proto udp masquerade to :1024-65535 random; }; }")  # fmt: skip
        loss = "numgen random mod 100 0 counter name"
        hub.run("nft", "table ip loss { counter lost { }; counter lost_control { }; "
                "chain in { type filter hook input priority 0; "
                f"udp dport 4500 @th,64,32 != 0 {loss} lost drop; udp dport 4500 @th,64,32 0 {loss} lost_control drop; "
                "}; }")  # fmt: skip
        yield hub, around


def lost(hub: Host) -> dict[str, int]:
    """Return the number of datagrams that the hub of a star has lost."""
    listed = json.loads(hub.run("nft", "-j", "list", "counters"))["nftables"]
    return {entry["counter"]["name"]: entry["counter"]["packets"] for entry in listed if "counter" in entry}


class Link:
    """One end of a link, on a host."""

    def __init__(self, binary: Path, host: Host, folder: Path, config: str, under: Sequence[str] = ()) -> None:
        """Write the configuration. `under` is a command prefix, such as `taskset -c 0`."""
        self.binary, self.host, self.under = binary, host, under
        name = host.name.rsplit("-", 1)[1]
        self.config = folder / f"link-{name}.toml"
        self.log = folder / f"link-{name}.log"
        self.config.write_text(config)
        self.process: subprocess.Popen | None = None

    def start(self) -> "Link":
        environment = os.environ | {"SEALCOMB_LOG": os.environ.get("SEALCOMB_LOG", "info")}
        with self.log.open("ab") as log:
            words = [*self.under, str(self.binary), "run", str(self.config)]
            self.process = self.host.start(*words, stderr=log, env=environment)
        return self

    def kill(self, number: int = signal.SIGKILL) -> None:
        assert self.process is not None
        # `ip netns exec` execs the command, so this is its process.
        self.process.send_signal(number)
        self.process.wait(PATIENCE)

    def status(self) -> dict:
        return json.loads(self.host.run(str(self.binary), "status", "--json", str(self.config)))

    def is_up(self) -> bool:
        with contextlib.suppress(AssertionError):
            return self.status()["sending"] is not None
        return False

    def counters(self) -> dict[str, int]:
        return self.status()["counters"]

    def resident(self) -> int:
        """Return the number of resident pages of the process."""
        assert self.process is not None
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])

    def peers(self) -> dict[str, dict]:
        """Return the status of each peer by its name."""
        return {peer["name"]: peer for peer in self.status()["peers"]}

    def has_peers(self) -> bool:
        """Return whether there is a key for every peer."""
        with contextlib.suppress(AssertionError):
            return all(peer["met"] and peer["sending"] for peer in self.peers().values())
        return False


def config(
    number: int,
    keys: str,
    *,
    version: int = 4,
    suite: str = "aes256-gcm",
    extra: str = "",
    tables: str = "",
    ports: tuple[int, int] = (4500, 4500),
    peer: str | None = None,
) -> str:
    """Return the configuration of an end. `keys` is its table [keys]."""
    ours, theirs = WIRE[version][number], peer or WIRE[version][1 - number]
    bracket = (lambda address: f"[{address}]") if version == 6 else (lambda address: address)
    role = "master" if number == 0 else "slave"
    return f"""role = "{role}"
local = "{bracket(ours)}:{ports[number]}"
peer = "{bracket(theirs)}:{ports[1 - number]}"
suite = "{suite}"
control-key = "control.key"
listen = "127.0.0.1:9469"
{extra}
[tun]
name = "seal"
addresses = ["{TUNNEL_V4[number]}/24", "{TUNNEL_V6[number]}/64"]
{keys}
{tables}
"""


def inner(end: int, peer: int) -> str:
    """Return the inner address of an end towards a peer, as `peers_config` describes it."""
    return f"10.{98 + end}.{peer}.1"


def peers_config(
    number: int, peers: Sequence[int], *, address: str | None = "", extra: str = "", tables: str = "",
    changed: dict[int, str] | None = None, keys: dict[int, str] | None = None,
) -> str:  # fmt: skip
    """Return the configuration of an end with several peers, which are numbered from 1 to 250.

    Their address is that of the other host, unless another one, or None, is given. Behind end i and peer k are the
    inner addresses 10.(98 + i).k.0/24. `changed` has further fields of some peers, and `keys` their tables of keys
    instead of files.
    """
    role = "master" if number == 0 else "slave"
    there = f'address = "{address or WIRE[4][1 - number]}:4500"' if address is not None else ""
    parts = [
        f'''role = "{role}"
local = "{WIRE[4][number]}:4500"
suite = "aes256-gcm"
listen = "127.0.0.1:9469"
{extra}
[tun]
name = "seal"
routes = ["10.{99 - number}.0.0/16"]
{tables}
'''
    ]
    for peer in peers:
        source = keys[peer] if keys else f'[peer.keys]\nfile = "link-{peer}.key"'
        parts.append(f"""
[[peer]]
name = "peer-{peer}"
{there}
control-key = "control-{peer}.key"
allowed = ["10.{99 - number}.{peer}.0/24"]
{(changed or {}).get(peer, "")}
{source}
""")
    return "".join(parts)


def peers_keys(folder_: Path, peers: Sequence[int]) -> None:
    """Create the keys of these peers."""
    for peer in peers:
        for name in ("control", "link"):
            (folder_ / f"{name}-{peer}.key").write_text(secrets.token_hex(32))


def peers_addresses(host: Host, peers: Sequence[int]) -> None:
    """Give a host its inner addresses towards these peers."""
    lines = []
    for peer in peers:
        ours, theirs = inner(host.number, peer), inner(1 - host.number, peer)
        lines.append(f"addr replace {ours}/32 dev seal\nroute replace {theirs}/32 dev seal src {ours}\n")
    batch = ["ip", "-n", host.name, "-batch", "-"]
    subprocess.run(batch, input="".join(lines), text=True, check=True, capture_output=True)


FILE_KEYS = '[keys]\nfile = "link.key"\n'


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Create a temporary folder with a random control key and link key."""
    with tempfile.TemporaryDirectory(prefix="sclink-") as name:
        path = Path(name)
        (path / "control.key").write_text(secrets.token_hex(32))
        (path / "link.key").write_text(secrets.token_hex(32))
        yield path


class Kmes:
    """Two key management entities, one on each host, that share a key stream."""

    SAES = ("alice", "bob")

    def __init__(
        self, binary: Path, hosts_: tuple[Host, Host], path: Path, ports: tuple[int, int] = (8443, 8443)
    ) -> None:
        self.binary, self.hosts, self.path, self.ports = binary, hosts_, path, ports
        subprocess.run(
            [binary, "certificates", path, "--kme", "kme-a", "--kme", "kme-b", "--sae", "alice", "--sae", "bob",
             "--address", "127.0.0.1"],
            check=True,
        )  # fmt: skip
        (path / "stream.key").write_text(secrets.token_hex(32))
        self.processes: list[subprocess.Popen | None] = [None, None]

    def start(self, number: int, faults: str = "", stream: str = "stream.key", extra: str = "") -> None:
        letter, other = "ab"[number], "ba"[number]
        config_ = self.path / f"kme-{letter}.toml"
        config_.write_text(
            f'id = "kme-{letter}"\npeer-id = "kme-{other}"\nlisten = "127.0.0.1:{self.ports[number]}"\nca = "ca.pem"\n'
            f'cert = "kme-{letter}.pem"\nkey = "kme-{letter}.key.pem"\nstream = "{stream}"\n'
            f'saes = ["{self.SAES[number]}"]\npeer-saes = ["{self.SAES[1 - number]}"]\n{extra}\n[faults]\n{faults}\n'
        )
        process = self.hosts[number].start(str(self.binary), "run", str(config_), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("kme-"), "the KME did not start"
        self.processes[number] = process

    def kill(self, number: int) -> None:
        process = self.processes[number]
        assert process is not None
        process.kill()
        process.wait()

    def keys(self, number: int) -> str:
        """Return the table [keys] of a link's configuration."""
        sae, peer = self.SAES[number], self.SAES[1 - number]
        return f'[keys.etsi014]\nsae = "{sae}"\npeer-sae = "{peer}"\n{self.client(number)}'

    def skip_keys(self, number: int) -> str:
        """Return a table [keys] that uses the KMEs as key providers of SKIP."""
        letter, other = "ab"[number], "ba"[number]
        return f'[keys.skip]\nsystem = "kme-{letter}"\npeer-system = "kme-{other}"\n{self.client(number)}'

    def client(self, number: int) -> str:
        """Return the fields of a client of a KME."""
        sae, path = self.SAES[number], self.path
        return (
            f'url = "https://127.0.0.1:{self.ports[number]}"\nca = "{path}/ca.pem"\ncert = "{path}/{sae}.pem"\n'
            f'key = "{path}/{sae}.key.pem"\ntimeout = "1s"\n'
        )


def script(path: Path, text: str) -> Path:
    """Create a shell script that every user may run."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
