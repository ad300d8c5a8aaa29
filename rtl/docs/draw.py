#!/usr/bin/env python3
"""Draws the figures of the hardware documents: datapaths from NAME.txt and waveforms from NAME.json, as
NAME.svg.

usage: draw.py [--check] [FILE ...]

--check  write nothing; fail if a figure differs from its source
FILE     only these; by default all of rtl/docs/figures

A datapath has one item per line, in grid units:
    box NAME X Y W H LABEL       block with its top left corner at X Y; | starts a new line in a label
    pipe NAME X Y W H LABEL      block with pipeline stripes
    store NAME X Y W H LABEL     memory
    xor NAME X Y                 XOR centered at X Y
    mux NAME X Y LABEL           multiplexer centered at X Y
    pin NAME X Y LABEL           port
    wire A.SIDE B.SIDE [via N] [LABEL]   arrow between the middles of two sides (top, bottom, left, right),
                                 with bends as needed, at coordinate N if given; SIDE+N and SIDE-N shift an
                                 end along its side
    note X Y TEXT
    # comment

A waveform is the subset of WaveDrom's WaveJSON that these documents need:
{"signal": [{"name", "wave", "data"}], "foot"}, with p 0 1 x = 2 3 4 5 . | in waves.
"""

import argparse
import json
import sys
from html import escape
from pathlib import Path

FIGURES = Path(__file__).resolve().parent / "figures"
GRID = 12
STYLE = (
    "text{font:12px sans-serif;fill:#222}.s{font-size:10px;fill:#555}.b{fill:#fff;stroke:#222}"
    ".p{fill:#e8f0fa;stroke:#222}.m{fill:#f3efe2;stroke:#222}.w{fill:none;stroke:#222}.l{stroke:#9ab;fill:none}.g{stroke:#ddd;fill:none}"
    ".d2{fill:#fff;stroke:#222}.d3{fill:#e8f0fa;stroke:#222}.d4{fill:#f3efe2;stroke:#222}"
    ".d5{fill:#e6f2e6;stroke:#222}.dx{fill:#eee;stroke:#bbb}"
)


def text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{attribute}>{escape(words)}</text>'


def picture(width: float, height: float, parts: list[str]) -> str:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    arrow = (
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#222"/></marker></defs>'
    )
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", arrow, ground, *parts, "</svg>"]) + "\n"


class Datapath:
    def __init__(self, source: str) -> None:
        self.boxes: dict[str, tuple[float, float, float, float]] = {}
        self.shapes: list[str] = []
        self.wires: list[str] = []
        self.extent = [0.0, 0.0]
        for number, line in enumerate(source.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            try:
                getattr(self, f"draw_{words[0]}")(*words[1:])
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise SystemExit(f"line {number}: {line}: {error}") from error

    def place(self, name: str, x: float, y: float, w: float, h: float) -> tuple[float, float, float, float]:
        box = (x * GRID, y * GRID, w * GRID, h * GRID)
        self.boxes[name] = box
        self.reach(box[0] + box[2], box[1] + box[3])
        return box

    def reach(self, x: float, y: float) -> None:
        self.extent = [max(self.extent[0], x), max(self.extent[1], y)]

    def label(self, box: tuple[float, float, float, float], words: tuple[str, ...]) -> None:
        x, y, w, h = box
        lines = [line.strip() for line in " ".join(words).split("|")]
        for i, line in enumerate(lines):
            at = y + h / 2 + 4 + 14 * (i - (len(lines) - 1) / 2)
            self.shapes.append(text(x + w / 2, at, line, kind="" if i == 0 else "s"))

    def block(self, kind: str, name: str, place: tuple[str, ...], words: tuple[str, ...]) -> None:
        x, y, w, h = (float(word) for word in place)
        box = self.place(name, x, y, w, h)
        self.shapes.append(
            f'<rect class="{kind}" x="{box[0]:g}" y="{box[1]:g}" width="{box[2]:g}" '
            f'height="{box[3]:g}" rx="2"/>'
        )
        if kind == "p":
            for i in range(1, 11):
                at = box[1] + box[3] * i / 11
                self.shapes.append(
                    f'<path class="l" d="M{box[0] + 1:g} {at:g}h4M{box[0] + box[2] - 5:g} {at:g}h4"/>'
                )
        self.label(box, words)

    def draw_box(self, name: str, x: str, y: str, w: str, h: str, *words: str) -> None:
        self.block("b", name, (x, y, w, h), words)

    def draw_pipe(self, name: str, x: str, y: str, w: str, h: str, *words: str) -> None:
        self.block("p", name, (x, y, w, h), words)

    def draw_store(self, name: str, x: str, y: str, w: str, h: str, *words: str) -> None:
        self.block("m", name, (x, y, w, h), words)

    def draw_xor(self, name: str, x: str, y: str) -> None:
        bx, by, w, h = self.place(name, float(x) - 0.7, float(y) - 0.7, 1.4, 1.4)
        cx, cy, r = bx + w / 2, by + h / 2, w / 2
        self.shapes.append(
            f'<circle class="b" cx="{cx:g}" cy="{cy:g}" r="{r:g}"/>'
            f'<path class="w" d="M{cx - r:g} {cy:g}h{w:g}M{cx:g} {cy - r:g}v{h:g}"/>'
        )

    def draw_mux(self, name: str, x: str, y: str, *words: str) -> None:
        bx, by, w, h = self.place(name, float(x) - 3, float(y) - 0.7, 6, 1.4)
        self.shapes.append(f'<path class="b" d="M{bx:g} {by:g}h{w:g}l-8 {h:g}h{16 - w:g}z"/>')
        self.label((bx, by, w, h), words)

    def draw_pin(self, name: str, x: str, y: str, *words: str) -> None:
        box = self.place(name, float(x) - 3, float(y) - 0.7, 6, 1.4)
        self.label(box, words)

    def draw_note(self, x: str, y: str, *words: str) -> None:
        self.shapes.append(text(float(x) * GRID, float(y) * GRID, " ".join(words), "start", "s"))
        self.reach(float(x) * GRID + 6 * len(" ".join(words)), float(y) * GRID)

    def end(self, where: str) -> tuple[float, float, bool]:
        """Returns the point of a wire's end, and whether the wire leaves it vertically."""
        name, side = where.split(".", 1)
        shift = 0.0
        for sign in "+-":
            if sign in side:
                side, by = side.split(sign)
                shift = float(sign + by) * GRID
        x, y, w, h = self.boxes[name]
        match side:
            case "top":
                return x + w / 2 + shift, y, True
            case "bottom":
                return x + w / 2 + shift, y + h, True
            case "left":
                return x, y + h / 2 + shift, False
            case "right":
                return x + w, y + h / 2 + shift, False
        raise ValueError(f"no side {side}")

    def draw_wire(self, start: str, stop: str, *words: str) -> None:
        (x1, y1, upright1), (x2, y2, upright2) = self.end(start), self.end(stop)
        path = f"M{x1:g} {y1:g}"
        via = None
        if words[:1] == ("via",):
            via, words = float(words[1]) * GRID, words[2:]
            if not upright1:
                self.reach(via, y1)
        if upright1 and upright2:
            middle = (y1 + y2) / 2 if via is None else via
            path += f"V{middle:g}H{x2:g}V{y2:g}"
        elif not upright1 and not upright2:
            middle = (x1 + x2) / 2 if via is None else via
            path += f"H{middle:g}V{y2:g}H{x2:g}"
        elif upright1:
            path += f"V{y2:g}H{x2:g}"
        else:
            path += f"H{x2:g}V{y2:g}"
        self.wires.append(f'<path class="w" d="{path}" marker-end="url(#a)"/>')
        if words:
            if upright1:
                self.wires.append(text(x1 + 4, y1 + 12, " ".join(words), "start", "s"))
            else:
                right = x2 >= x1
                self.wires.append(
                    text(x1 + (4 if right else -4), y1 - 4, " ".join(words), "start" if right else "end", "s")
                )
        self.reach(max(x1, x2), max(y1, y2))

    def svg(self) -> str:
        return picture(self.extent[0] + 2 * GRID, self.extent[1] + 2 * GRID, self.wires + self.shapes)


def timing(source: str) -> str:
    """Draws a waveform from WaveJSON."""
    drawing = json.loads(source)
    step, row, left, height = 26, 30, 110, 18
    parts: list[str] = []
    signals = drawing["signal"]
    clocks = max(len(signal["wave"]) for signal in signals)
    bottom = 14 + row * len(signals)
    for clock in range(clocks + 1):
        at = left + step * clock
        parts.append(f'<path class="g" d="M{at:g} 8V{bottom:g}"/>')
    for i, signal in enumerate(signals):
        top = 12 + row * i
        low = top + height
        parts.append(text(left - 8, top + 13, signal["name"], "end"))
        data = list(signal.get("data", []))
        wave = signal["wave"]
        clock = 0
        while clock < len(wave):
            state = wave[clock]
            stop = clock + 1
            while state not in "p|" and stop < len(wave) and wave[stop] == ".":
                stop += 1
            x1, x2 = left + step * clock, left + step * stop
            match state:
                case "p" | "." if state == "p" or "p" in wave[:clock]:
                    parts.append(
                        f'<path class="w" d="M{x1:g} {low:g}V{top:g}H{x1 + step / 2:g}V{low:g}H{x2:g}"/>'
                    )
                case "0" | "1":
                    level = top if state == "1" else low
                    before = wave[:clock].replace(".", "").replace("|", "")[-1:]
                    edge = (
                        f"M{x1:g} {top if before == '1' else low:g}V{level:g}"
                        if before in ("0", "1")
                        else f"M{x1:g} {level:g}"
                    )
                    parts.append(f'<path class="w" d="{edge}H{x2:g}"/>')
                case "|":
                    parts.append(text((x1 + x2) / 2, top + 13, "…"))
                case _:
                    kind = "dx" if state == "x" else "d2" if state == "=" else f"d{state}"
                    parts.append(
                        f'<path class="{kind}" d="M{x1:g} {(top + low) / 2:g}l4 {-height / 2:g}'
                        f'H{x2 - 4:g}l4 {height / 2:g}l-4 {height / 2:g}H{x1 + 4:g}z"/>'
                    )
                    if state != "x" and data:
                        parts.append(text((x1 + x2) / 2, top + 13, data.pop(0), kind="s"))
            clock = stop
    width = left + step * clocks + 16
    if "foot" in drawing:
        foot = drawing["foot"]["text"]
        parts.append(text(16, bottom + 16, foot, "start", "s"))
        width = max(width, 32 + 5.2 * len(foot))
    return picture(width, bottom + 28, parts)


def drawn(source: Path) -> str:
    content = source.read_text()
    return timing(content) if source.suffix == ".json" else Datapath(content).svg()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    sources = arguments.files or sorted([*FIGURES.glob("*.txt"), *FIGURES.glob("*.json")])
    stale = 0
    for source in sources:
        target = source.with_suffix(".svg")
        svg = drawn(source)
        if arguments.check:
            if not target.exists() or target.read_text() != svg:
                print(f"{target} differs from {source.name}: run {Path(__file__).name}")
                stale += 1
        else:
            target.write_text(svg)
            print(target)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
