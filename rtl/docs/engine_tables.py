#!/usr/bin/env python3
"""Writes the tables of engines.md, between their markers, from results/frames.json and
results/engines_area.json."""

import json
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "results"
sys.dont_write_bytecode = True
sys.path.insert(0, str(RESULTS))

from fill import ENGINES, engine_name  # noqa: E402

SIZES = (64, 65, 128, 129, 257, 576, 1500, 9000)
ONE, EACH = "one key, counter nonces", "another key for each frame, unordered nonces"


def frames() -> str:
    measured = json.loads((RESULTS / "frames.json").read_text())
    results = [result for result in measured["results"] if not result.get("ad_bytes")]
    lines = [
        "Frames per 1000 clocks, and the clock required for 100 Gbit/s, with one key and counter nonces:",
        "",
        "| engine | " + " | ".join(f"{size} bytes" for size in SIZES) + " |",
        "|---|" + "---|" * len(SIZES),
    ]
    rows = {}
    for result in results:
        if result["keys"] == ONE:
            rows.setdefault((result["engine"], result["direction"]), {})[result["frame_bytes"]] = result
    for (engine, direction), row in rows.items():
        cells = [
            f"{row[size]['frames_per_1000_clocks']:.1f}, {row[size]['mhz_for_100_gbit']:.0f} MHz"
            if size in row
            else "-"
            for size in SIZES
        ]
        lines.append(f"| {engine_name(engine, direction)} | " + " | ".join(cells) + " |")
    lines += ["", "With a different key for each frame and unordered nonces, these figures change:", ""]
    by_key = {(r["engine"], r["direction"], r["frame_bytes"], r["keys"]): r for r in results}
    for (engine, direction, size, keys), result in by_key.items():
        if keys != EACH:
            continue
        same = by_key[(engine, direction, size, ONE)]
        if abs(result["clocks_per_frame"] - same["clocks_per_frame"]) > 0.02 * same["clocks_per_frame"]:
            lines.append(
                f"- {engine_name(engine, direction)}, {size} bytes: "
                f"{result['frames_per_1000_clocks']:.1f} frames, "
                f"{result['mhz_for_100_gbit']:.0f} MHz"
            )
    lines += [
        "",
        "Latency of a lone one-beat packet, in clocks:",
        "",
        "| engine | command → first beat in | first beat in → first beat out "
        "| last beat in → tag or verdict |",
        "|---|---|---|---|",
    ]
    for lone in measured["latencies"]:
        where = engine_name(lone["engine"], lone["direction"])
        first = lone.get("clocks_to_first_beat", "-")
        lines.append(f"| {where} | {first} | {lone['clocks_to_output']} | {lone['clocks_to_tag']} |")
    return "\n".join(lines)


def title(name: str) -> str:
    """Returns an engine of engines_area.json as module and build."""
    mode, cipher, build = name.split(" ", 2)
    return f"{ENGINES[f'{mode} {cipher}'][0]} {build}"


def part_name(name: str) -> str:
    """Returns a part of engines_area.json in words."""
    words = {
        "aes": "AES",
        "serpent": "Serpent",
        "encrypt": "encryption",
        "decrypt": "decryption",
        "keys": "key schedule",
        "multiplier": "GF(2^128) multiplier",
    }
    return " ".join(words.get(word, word) for word in name.split())


def area() -> str:
    found = json.loads((RESULTS / "engines_area.json").read_text())
    lines = [
        "| engine | ALM estimate | paper: ALM | 10 Kbit RAMs | paper: 9 Kbit RAMs | LUTs | registers |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, engine in found["engines"].items():
        luts = sum(engine[f"lut{inputs}"] for inputs in range(2, 7)) + engine["adder_bits"]
        paper = (engine["paper_alm"], engine["paper_m9k"]) if "seal" in name else ("-", "-")
        lines.append(
            f"| {title(name)} | {engine['alm_estimate']} | {paper[0]} | {engine['m10k']} | {paper[1]} "
            f"| {luts} | {engine['ff']} |"
        )
    lines += ["", "Parts:", "", "| part | ALM estimate | 10 Kbit RAMs | registers |", "|---|---|---|---|"]
    for name, part in found["parts"].items():
        if name not in found["engines"]:
            lines.append(f"| {part_name(name)} | {part['alm_estimate']} | {part['m10k']} | {part['ff']} |")
    return "\n".join(lines)


def main() -> None:
    page = DOCS / "engines.md"
    text = page.read_text()
    for name, table in (("frames", frames), ("area", area)):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = text.split(begin)
        after = rest.split(end)[1]
        text = before + begin + table() + "\n" + end + after
    page.write_text(text)


if __name__ == "__main__":
    main()
