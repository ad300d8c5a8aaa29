#!/usr/bin/env python3
"""Demonstrate sealcomb-link between two network namespaces on this machine, with a key management entity at each end.

usage: demo.py [--binaries FOLDER] [--seconds N]

    host a: 10.99.0.1 ── sealcomb-link ═══ ESP in UDP ═══ sealcomb-link ── 10.99.0.2 :host b
                              │           192.0.2.0/24           │
                         sealcomb-kme   (shared key stream)  sealcomb-kme

The link rekeys every second with keys from the KMEs. Requires root and `cargo build -p sealcomb-link -p sealcomb-kme`,
but no network access. Prints the reason and exits with status 0 if network namespaces are unavailable.
"""

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "tests/net"))
import net  # noqa: E402


def say(what: str) -> None:
    print(f"\n# {what}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--binaries",
        type=Path,
        default=HERE.parents[1] / "target/debug",
        metavar="FOLDER",
        help="folder of the commands (default: target/debug)",
    )
    parser.add_argument(
        "--seconds", type=float, default=3, metavar="N", help="pause between the two pings (default: 3)"
    )
    arguments = parser.parse_args()
    binaries = arguments.binaries.resolve()
    if reason := net.why_not():
        print(f"skipped: {reason}")
        return 0
    with net.folder() as folder, net.hosts() as hosts:
        a = hosts[0]
        say("create certificates and start two KMEs that share a key stream")
        kmes = net.Kmes(binaries / "sealcomb-kme", hosts, folder)
        for i in (0, 1):
            kmes.start(i)
        say("configuration of host a; that of host b mirrors it")
        tables = '[rekey]\nevery = "1s"'
        links = [
            net.Link(binaries / "sealcomb-link", host, folder, net.config(i, kmes.keys(i), tables=tables))
            for i, host in enumerate(hosts)
        ]
        print(links[0].config.read_text().strip())
        for link in links:
            link.start()
        for link in links:
            net.until("a key", link.is_up)
        say("ping through the tunnel")
        print(a.run("ping", "-c", "3", "-i", "0.3", net.TUNNEL_V4[1]).strip())
        say(f"ping again {arguments.seconds:g} seconds later, after further rekeys")
        time.sleep(arguments.seconds)
        print(a.run("ping", "-q", "-c", "3", "-i", "0.3", net.TUNNEL_V6[1]).strip())
        say("sealcomb-link status on host a")
        print(a.run(str(links[0].binary), "status", str(links[0].config)).strip())
        changes = links[0].status()["key_changes"]
        lost = links[0].counters()["out_sent"] - links[1].counters()["in_delivered"]
        print(f"\n{changes} keys used, {lost} packets lost")
        return 0 if changes > 1 and lost == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
