"""Generate and observe traffic for tests of a link.

usage: traffic.py echo                       echo TCP connections on port 5001
       traffic.py transfer ADDRESS BYTES [SEGMENT]
                                             send random bytes to `echo` and check that they are returned unchanged,
                                             in TCP segments of at most SEGMENT bytes
       traffic.py sink SECONDS [COUNT]       receive numbered datagrams on port 5002, and stop after COUNT of them;
                                             print counts as JSON
       traffic.py source ADDRESS COUNT RATE  send numbered datagrams, RATE per second
       traffic.py hole                       keep port 5002 open until killed, without reading
       traffic.py sniff INTERFACE            record frames until standard input ends; print a summary as JSON
"""

import json
import os
import selectors
import socket
import sys
import threading
import time
from collections import Counter

TCP_PORT, UDP_PORT = 5001, 5002
# Plaintext marker. It occurs in a sealed packet only with a probability of about 2^-120.
MARKER = b"never-in-the-clear"
ALL = 3  # ETH_P_ALL
ESP_PORT = 4500


def family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def echo() -> None:
    def serve(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(1 << 16):
                connection.sendall(data)

    with socket.create_server(("::", TCP_PORT), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        print("ready", flush=True)
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


def transfer(address: str, count: str, segment: str = "") -> None:
    data = os.urandom(int(count))
    with socket.socket(family(address), socket.SOCK_STREAM) as connection:
        if segment:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, int(segment))
        connection.settimeout(100)
        connection.connect((address, TCP_PORT))

        def send() -> None:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send)
        sender.start()
        back = bytearray()
        while more := connection.recv(1 << 16):
            back += more
        sender.join()
    assert bytes(back) == data, f"sent {len(data)} bytes; {len(back)} returned, or they differ"


def sink(seconds: str, count: str = "") -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sink_:
        sink_.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        sink_.bind(("::", UDP_PORT))
        print("ready", flush=True)
        seen: Counter[int] = Counter()
        foreign = 0
        end = time.monotonic() + float(seconds)
        while (left := end - time.monotonic()) > 0:
            sink_.settimeout(left)
            try:
                data = sink_.recv(65536)
            except TimeoutError:
                break
            number = int.from_bytes(data[:8])
            if data == payload(number, len(data)):
                seen[number] += 1
            else:
                foreign += 1
            if count and len(seen) == int(count):
                # Only copies can follow.
                end = min(end, time.monotonic() + 0.2)
        doubled = sum(count - 1 for count in seen.values())
        print(json.dumps({"numbers": len(seen), "doubled": doubled, "foreign": foreign}), flush=True)


def payload(number: int, length: int) -> bytes:
    return (number.to_bytes(8) + MARKER * (length // len(MARKER) + 1))[:length]


def source(address: str, count: str, rate: str) -> None:
    lengths = [26, 64, 200, 576, 1000, 1300]
    with socket.socket(family(address), socket.SOCK_DGRAM) as source_:
        source_.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        start = time.monotonic()
        for number in range(int(count)):
            wait = start + number / float(rate) - time.monotonic()
            if wait > 0.002:
                time.sleep(wait)
            source_.sendto(payload(number, lengths[number % len(lengths)]), (address, UDP_PORT))


def hole() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hole_:
        hole_.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        hole_.bind(("0.0.0.0", UDP_PORT))
        print("ready", flush=True)
        sys.stdin.read()


def sniff(interface: str) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL)) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        raw.bind((interface, 0))
        selector = selectors.DefaultSelector()
        selector.register(raw, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        print("ready", flush=True)
        counts: Counter[str] = Counter()
        nonces: Counter[bytes] = Counter()
        classes: Counter[int] = Counter()
        control: list[str] = []
        ended = False
        while not ended:
            for key, _ in selector.select():
                if key.fileobj is not raw:
                    ended = True
                    break
                frame = raw.recv(1 << 17)
                counts["frames"] += 1
                counts["clear"] += MARKER in frame
                if frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_UDP:
                    datagram = frame[14 + 4 * (frame[14] & 15) :]
                    if int.from_bytes(datagram[2:4]) == ESP_PORT and len(datagram) > 16:
                        if datagram[8:12] == bytes(4):
                            control.append(datagram[8:].hex())
                        else:
                            counts["esp"] += 1
                            # SPI, sequence number and IV determine the nonce under a key in counter modes.
                            nonces[frame[26:30] + datagram[8:24]] += 1
                            classes[frame[15]] += 1
        repeated = sum(count - 1 for count in nonces.values())
        print(json.dumps(counts | {"repeated": repeated, "classes": classes, "control": control}), flush=True)


if __name__ == "__main__":
    tools = {"echo": echo, "transfer": transfer, "sink": sink, "source": source, "hole": hole, "sniff": sniff}
    tools[sys.argv[1]](*sys.argv[2:])
