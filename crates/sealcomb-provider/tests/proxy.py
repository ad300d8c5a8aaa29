#!/usr/bin/env python3
"""Stand between a client and a server of TLS 1.2, and look at the records that pass.

usage: proxy.py SERVER-PORT [--change TO]

Prints the port on which it takes one client. Ends with the connection, and prints how many
protected records went each way. Exit status 1 if two records of one way have the same explicit
nonce: with GCM and CCM the first 8 bytes of a record are the part of the nonce that must never come
twice. With --change, one bit of a record of application data to the `client` or to the `server` is
changed, in its text.
"""

import argparse
import socket
import sys
import threading

HEADER, EXPLICIT_NONCE = 5, 8
CHANGE_CIPHER_SPEC, APPLICATION_DATA = 20, 23


def read(source: socket.socket, count: int) -> bytes:
    """So many bytes, or fewer if the connection ends."""
    result = b""
    while len(result) < count:
        part = source.recv(count - len(result))
        if not part:
            break
        result += part
    return result


def forward(source: socket.socket, to: socket.socket, nonces: list[bytes], change: bool) -> None:
    """Passes records on until the connection ends, and notes the nonces of those that are protected."""
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
        # Whoever has found the change hangs up.
        pass


def main() -> int:
    parser = argparse.ArgumentParser(description="Look at the records of a connection of TLS 1.2.")
    parser.add_argument("port", type=int, help="the server's port")
    parser.add_argument("--change", choices=["client", "server"], help="who gets a changed record")
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
                f"{len(nonces) - len(set(nonces))} explicit nonces to the {to} came before", file=sys.stderr
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
