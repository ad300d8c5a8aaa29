#!/usr/bin/env python3
"""Forward a TLS 1.2 connection and check its records.

usage: proxy.py SERVER-PORT [--change TO]

Prints the port on which it accepts one client. When the connection ends, prints the number of
protected records in each direction. Exits with status 1 if two records in one direction have the
same explicit nonce: the first 8 bytes of a GCM or CCM record, which must never repeat. With
--change, flips one bit in the text of an application data record to the `client` or `server`.
"""

import argparse
import socket
import sys
import threading

HEADER, EXPLICIT_NONCE = 5, 8
CHANGE_CIPHER_SPEC, APPLICATION_DATA = 20, 23


def read(source: socket.socket, count: int) -> bytes:
    """Read `count` bytes, or fewer if the connection ends."""
    result = b""
    while len(result) < count:
        part = source.recv(count - len(result))
        if not part:
            break
        result += part
    return result


def forward(source: socket.socket, to: socket.socket, nonces: list[bytes], change: bool) -> None:
    """Forward records until the connection ends, and collect the nonces of protected ones."""
    protected = False
    try:
        while len(header := read(source, HEADER)) == HEADER:
            record = bytearray(read(source, int.from_bytes(header[3:], "big")))
            if protected:
                nonces.append(bytes(record[:EXPLICIT_NONCE]))
            if change and header[0] == APPLICATION_DATA:
                record[EXPLICIT_NONCE + 3] ^= 0x10
                change = False
            protected = protected or header[0] == CHANGE_CIPHER_SPEC
            to.sendall(header + record)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        # The peer that detects the changed record closes the connection.
        pass


def main() -> int:
    parser = argparse.ArgumentParser(description="Forward a TLS 1.2 connection and check its records.")
    parser.add_argument("port", type=int, help="port of the server")
    parser.add_argument("--change", choices=["client", "server"], help="receiver of a changed record")
    arguments = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)
    print(listener.getsockname()[1], flush=True)
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", arguments.port))
    ways: dict[str, list[bytes]] = {"server": [], "client": []}
    threads = [
        threading.Thread(target=forward, args=(client, server, ways["server"], arguments.change == "server")),
        threading.Thread(target=forward, args=(server, client, ways["client"], arguments.change == "client")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for to, nonces in ways.items():
        print(f"{len(nonces)} protected records to the {to}")
        if len(set(nonces)) < len(nonces):
            print(
                f"{len(nonces) - len(set(nonces))} repeated explicit nonces to the {to}", file=sys.stderr
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
