"""A faulty wire: forwards datagrams between two ends, and drops, duplicates, delays, forges and replays some.

usage: relay.py OURS A_ADDRESS A_PORT B_ADDRESS B_PORT

Listens on port 4600 for A and 4601 for B. Reads commands from standard input, one JSON object per line, and answers
each with a line of the counts so far:

    {"loss": 0.01, "double": 0.01, "delay": 0.01}   set probabilities
    {"loss_control": 0.5}                           set the loss probability of control messages
    {"forge": 1000, "replay": 1000}                 send that many forged and replayed datagrams to each end
    {"replay_control": 1000}                        replay control messages of the whole run to their receivers
    {"withhold": 60}                                withhold the next 60 ESP packets
    {"release": 1}                                  send on that many of them, from the port 4602
    {}                                              only print the counts
"""

import json
import random
import selectors
import socket
import sys
from collections import Counter, deque

MAX_RECORDED = 4000
MARKER = bytes(4)
DELAYED = 16


class End:
    def __init__(self, ours: str, port: int, theirs: tuple[str, int]) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.bind((ours, port))
        self.socket.setblocking(False)
        self.theirs = theirs
        self.esp: deque[bytes] = deque(maxlen=MAX_RECORDED)
        self.control: list[bytes] = []
        self.held: deque[bytes] = deque()
        self.withheld: deque[bytes] = deque()

    def send(self, datagram: bytes) -> None:
        try:
            self.socket.sendto(datagram, self.theirs)
        except OSError:
            counts["refused"] += 1


counts: Counter[str] = Counter()
# Probabilities, and the number of packets to withhold.
chances = {"loss": 0.0, "double": 0.0, "delay": 0.0, "loss_control": 0.0, "withhold": 0}


def forward(datagram: bytes, to: End) -> None:
    is_control = datagram[:4] == MARKER
    counts["control" if is_control else "esp"] += 1
    (to.control if is_control else to.esp).append(datagram)
    if chances["withhold"] and not is_control:
        chances["withhold"] -= 1
        counts["withheld"] += 1
        to.withheld.append(datagram)
        return
    if random.random() < (chances["loss_control"] if is_control else chances["loss"]):
        counts["lost_control" if is_control else "lost"] += 1
        return
    if random.random() < chances["delay"]:
        counts["delayed"] += 1
        to.held.append(datagram)
        return
    to.send(datagram)
    if random.random() < chances["double"]:
        counts["doubled"] += 1
        to.send(datagram)
    if len(to.held) > DELAYED:
        to.send(to.held.popleft())


def forged(datagram: bytes) -> bytes:
    """Return a modified or random datagram."""
    kind = random.randrange(4)
    if kind == 0:
        return random.randbytes(random.randrange(1, 1400))
    changed = bytearray(datagram)
    if kind == 1:
        # A sequence number far ahead must not move the window.
        changed[4:8] = random.randbytes(4)
    elif kind == 2:
        del changed[random.randrange(len(changed)) :]
    at = random.randrange(len(changed)) if changed else 0
    if changed:
        changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)


def release(count: int, ends: tuple[End, End], elsewhere: socket.socket) -> None:
    for end in ends:
        for _ in range(min(count, len(end.withheld))):
            elsewhere.sendto(end.withheld.popleft(), end.theirs)
            counts["released"] += 1


def execute(command: dict, ends: tuple[End, End], elsewhere: socket.socket) -> None:
    for name, value in command.items():
        if name == "release":
            release(value, ends, elsewhere)
            continue
        if name in chances:
            chances[name] = value
            continue
        for end in ends:
            known = end.control if "control" in name else end.esp
            if not known:
                continue
            for _ in range(value):
                datagram = random.choice(known)
                counts[name] += 1
                end.send(forged(datagram) if "forge" in name else datagram)


def main() -> None:
    ours, a, a_port, b, b_port = sys.argv[1:]
    ends = End(ours, 4600, (a, int(a_port))), End(ours, 4601, (b, int(b_port)))
    elsewhere = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    elsewhere.bind((ours, 4602))
    selector = selectors.DefaultSelector()
    for here, there in (ends, ends[::-1]):
        selector.register(here.socket, selectors.EVENT_READ, (here, there))
    selector.register(sys.stdin, selectors.EVENT_READ)
    print("{}", flush=True)
    while True:
        for key, _ in selector.select(timeout=0.02):
            if key.data is None:
                line = sys.stdin.readline()
                if not line:
                    return
                execute(json.loads(line), ends, elsewhere)
                print(json.dumps(counts), flush=True)
                continue
            here, there = key.data
            for _ in range(256):
                try:
                    datagram = here.socket.recv(65536)
                except (BlockingIOError, ConnectionError):
                    break
                forward(datagram, there)
        for end in ends:
            while end.held and chances["delay"] == 0:
                end.send(end.held.popleft())


if __name__ == "__main__":
    main()
