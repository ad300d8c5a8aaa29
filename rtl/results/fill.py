#!/usr/bin/env python3
"""Writes the tables of rtl/README.md from results/*.json.

usage: fill.py [--check]

--check  change nothing; fail if the README differs from the generated tables

The tables are between `cores:begin` and `cores:end` and between `results:begin` and `results:end`. A missing
file or top leaves a gap that the README reports. This script holds the papers' values and the clock counts
that the tests assert.
"""

import argparse
import difflib
import json
import re
import statistics
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).resolve().parent
RTL = RESULTS.parent
README = RTL / "README.md"
GAP = "-"

KEYS = {0: "static key", 1: "key wavefront", 2: "key per block"}
SBOXES = {0: "", 1: "S-boxes in block RAM", 2: "Boyar-Peralta S-boxes"}


@dataclass(frozen=True)
class Paper:
    """A row of table I of the ELmD hardware paper: xc6vlx240t-2, ISE 13.4, placed and routed."""

    slices: int
    lut: int
    ff: int
    mhz: float
    gbit: str
    bram: int = 0
    latency: str = GAP


@dataclass(frozen=True)
class Core:
    name: str
    module: str
    parameters: tuple[
        tuple[str, int], ...
    ] = ()  # parameters that identify this core; a top without ROUNDS has 10
    paper: Paper | None = None
    # Modes only: asserted by the tests under crates/sealcomb-rtl/tests, for one register per round.
    latency: str = ""
    packet: str = ""
    test: str = ""


ROUNDS_10, ROUNDS_6 = (("ROUNDS", 10),), (("ROUNDS", 6),)

PIPES = (
    Core("AES encryption, 10 rounds", "aes_encrypt", ROUNDS_10, Paper(2023, 7301, 2824, 315.16, "38.47 [1]")),
    Core("AES decryption, 10 rounds", "aes_decrypt", ROUNDS_10, Paper(2360, 9020, 2693, 239.34, "30.63")),
    Core("AES encryption, 6 rounds", "aes_encrypt", ROUNDS_6, Paper(1635, 4523, 2329, 315.16, "38.47 [1]")),
    Core("AES decryption, 6 rounds", "aes_decrypt", ROUNDS_6, Paper(1639, 5353, 2400, 239.34, "30.63")),
    Core("Serpent encryption", "serpent_encrypt"),
    Core("Serpent decryption", "serpent_decrypt"),
    Core("GF(2^128) multiplication", "gf128_multiply"),
    Core("GHASH, one block per clock", "ghash"),
    Core("GHASH, four blocks per clock", "ghash4"),
)

MODES = (
    Core(
        "ELmD",
        "elmd",
        ROUNDS_10,
        Paper(5225, 16967, 5578, 234.64, "30.03", latency="35 + d"),
        "command → first block out: 28 + d (l ≥ 2)",
        "d + l + 2",
        "elmd",
    ),
    Core(
        "ELmD(6,6)",
        "elmd",
        ROUNDS_6,
        Paper(3150, 10783, 4018, 238.68, "30.55", latency="30 + d"),
        "command → first block out: 20 + d (l ≥ 2)",
        "d + l + 2",
        "elmd",
    ),
    Core(
        "COPA",
        "copa",
        (),
        Paper(10391, 32845, 8336, 230.87, "29.55", latency="61 + d"),
        "first beat in → first beat out: 41 + d (opening: l ≥ 2)",
        "d + l + 2; opening: at most d + l + 4",
        "copa",
    ),
    Core(
        "OCB3",
        "ocb3",
        (),
        Paper(5180, 16879, 5846, 234.87, "30.06", bram=4, latency="11 + d + Setup + Stretch"),
        "first beat in → first beat out, following another packet: 15 + d",
        "d + l + 1 (sealing, Ktop cached)",
        "ocb3",
    ),
    Core(
        "EME2",
        "eme2",
        (),
        Paper(10970, 33350, 9931, 230.56, "24.77"),
        "last beat in → first beat out: 45 for 16 bytes, 48 for 512, 67 for 4096",
        "a + l + 1; plus 1 per further group of 128 blocks; plus 2 with a partial block",
        "eme2",
    ),
    Core(
        "GCM",
        "gcm",
        (),
        None,
        "first beat in → first beat out: 14 + d",
        "d + l + 1",
        "gcm",
    ),
)

# Table I of the 100 Gbit/s paper: Stratix IV EP4S100G5F45, Quartus 11; four cores, sealing. MHz, Gbit/s.
ENGINES = {
    "ocb serpent": ("`ocb512_serpent`", "260", "133 [2]"),
    "ocb aes": ("`ocb512_aes`", "220", "112"),
    "gcm serpent": ("`gcm512_serpent`", "203", "104"),
    "gcm aes": ("`gcm512_aes`", "206", "105"),
}
SIZES = (64, 65, 128, 129, 257, 576, 1500, 9000)
ONE_KEY = "one key, counter nonces"
NEW_KEYS = "another key for each frame, unordered nonces"
LOADS = "one key, counter nonces, and other slots' keys loaded all the time"
# Bytes of AD and of message.
HARD = ((0, 64), (0, 65), (0, 128), (0, 129), (28, 64), (28, 1500))
LOADED = (64, 65, 256)

# How frames.json abbreviates the parameters of an engine. "both" is DIRECTION=2, the default.
OPTIONS = {"256-bit keys": "KEY_BITS=256", "4 cores": "AUX=0", "split": "SPLIT=1", "tag port": "TAG_BESIDE=1"}

# Tops that are engines: name in frames.json, build, and directions measured there.
BUILDS = {
    "ocb512_aes_seal": ("ocb512_aes", "seal, 5 cores", ("seal",)),
    "ocb512_aes_seal_4": ("ocb512_aes, 4 cores", "seal, 4 cores", ("seal",)),
    "ocb512_aes_open": ("ocb512_aes", "open", ("open",)),
    "ocb512_aes_both": ("ocb512_aes, both", "both", ("seal", "open")),
    "gcm512_aes": ("gcm512_aes", "both", ("seal", "open")),
    "gcm512_aes_split": ("gcm512_aes, split, tag port", "both, `SPLIT=1 TAG_BESIDE=1`", ("seal", "open")),
    "ocb512_aes256_both": ("ocb512_aes, 256-bit keys, both", "both, `KEY_BITS=256`", ("seal", "open")),
    "gcm512_aes256": ("gcm512_aes, 256-bit keys", "both, `KEY_BITS=256`", ("seal", "open")),
    "gcm512_aes256_split": (
        "gcm512_aes, 256-bit keys, split, tag port",
        "both, `KEY_BITS=256 SPLIT=1 TAG_BESIDE=1`",
        ("seal", "open"),
    ),
    # Keys of both sizes take the clocks of the larger one.
    "gcm512_aes_either": ("gcm512_aes, 256-bit keys", "both, `KEY_BITS=257`", ("seal", "open")),
    "gcm512_aes_either_split": (
        "gcm512_aes, 256-bit keys, split, tag port",
        "both, `KEY_BITS=257 SPLIT=1 TAG_BESIDE=1`",
        ("seal", "open"),
    ),
}


# Name of the top in area.json and timing.json, algorithm, bits per clock, page.
OVERVIEW = (
    ("gcm", "AES-128-GCM", 128, "gcm"),
    ("ocb3", "AES-128-OCB3", 128, "ocb3"),
    ("elmd", "ELmD v2.0; ELmD(6,6) with `ROUNDS=6`", 128, "elmd"),
    ("copa", "AES-COPA v2", 128, "copa"),
    ("eme2", "EME2-AES: length-preserving, no tag", 128, "eme2"),
    ("gcm512_aes", "AES-128-GCM", 512, "engines"),
    ("gcm512_serpent", "Serpent-256-GCM", 512, "engines"),
    ("ocb512_aes_both", "AES-128-OCB3", 512, "engines"),
    ("ocb512_serpent", "Serpent-256-OCB3", 512, "engines"),
    ("macsec_transmit", "MACsec (IEEE 802.1AE), sending", 512, "macsec"),
    ("macsec_receive", "MACsec (IEEE 802.1AE), receiving", 512, "macsec"),
)
SERPENT_BUILDS = {"gcm512_serpent": "gcm serpent both", "ocb512_serpent": "ocb serpent both"}


def read(name: str) -> dict:
    path = RESULTS / name
    return json.loads(path.read_text()) if path.exists() else {}


def table(head: list[str], rows: list[list[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines] + [""]


def paragraph(*parts: str) -> list[str]:
    return [*textwrap.wrap(" ".join(parts), 110, break_long_words=False, break_on_hyphens=False), ""]


def tops() -> dict[str, dict]:
    """Module, parameters, area and timing of each top."""
    area, timing = read("area.json").get("tops", {}), read("timing.json").get("tops", {})
    budgets = tomllib.loads((RTL / "syn" / "budgets.toml").read_text())["top"]
    found = {}
    for name in sorted({*area, *timing}):
        what = area.get(name) or budgets.get(name)
        if what is None:
            sys.exit(f"timing.json has {name}, which is in neither budgets.toml nor area.json")
        keyless = what["module"] in ("gf128_multiply", "ghash", "ghash4")
        default = {} if keyless else {"KEYS": 1}
        found[name] = area.get(name, {}) | timing.get(name, {})
        found[name] |= {"module": what["module"], "parameters": default | what.get("parameters", {})}
    return found


def builds_of(core: Core, known: dict[str, dict]) -> list[tuple[dict, dict]]:
    """(parameters, top) of every build of this core."""
    chosen = []
    for top in known.values():
        parameters = top["parameters"]
        if top["module"] == core.module and all(
            parameters.get(key, 10) == value for key, value in core.parameters
        ):
            chosen.append((parameters, top))
    return sorted(chosen, key=lambda pair: [pair[0].get(key, 0) for key in ("SBOX", "SPLIT", "KEYS")])


def configuration(parameters: dict) -> str:
    words = [KEYS[parameters["KEYS"]] if "KEYS" in parameters else "", SBOXES[parameters.get("SBOX", 0)]]
    if parameters.get("SPLIT"):
        words.append("two registers per round")
    others = {
        key: value
        for key, value in parameters.items()
        if key not in ("KEYS", "SBOX", "SPLIT", "USER", "ROUNDS")
    }
    words += [f"`{key}={value}`" for key, value in others.items()]
    return ", ".join(word for word in words if word) or "defaults"


def pipe_latency(core: Core, parameters: dict) -> str:
    if core.module in ("aes_encrypt", "aes_decrypt"):
        return str((2 if parameters.get("SPLIT") else 1) * parameters.get("ROUNDS", 10) + 1)
    if core.module.startswith("serpent"):
        return "33"
    stages = parameters.get("STAGES", 4)
    return f"{stages}" if core.module == "gf128_multiply" else f"{stages + 4} after the last block"


def area_rows(cores: tuple[Core, ...], known: dict[str, dict], latencies: bool) -> list[list[object]]:
    rows = []
    for core in cores:
        for parameters, top in builds_of(core, known) or [({}, {})]:
            row = [core.name, configuration(parameters) if top else "not in `area.json` yet"]
            if latencies:
                row.append(pipe_latency(core, parameters))
            row += [top.get(field, GAP) for field in ("lut", "ff", "bram", "alm_estimate")]
            row.append(f"{top['model_mhz']:.0f}" if "model_mhz" in top else GAP)
            # The paper's cores have their S-boxes in LUTs and one register per round.
            paper = core.paper if not parameters.get("SBOX") and not parameters.get("SPLIT") else None
            if paper:
                row += [paper.slices, paper.lut, paper.ff, paper.bram or GAP, paper.mhz, paper.gbit]
            else:
                row += [GAP] * 6
            rows.append(row)
    return rows


AREA_HEAD = [
    *("LUT", "FF", "BRAM", "ALM estimate", "model MHz"),
    *(f"paper: {measure}" for measure in ("slices", "LUT", "FF", "BRAM", "MHz", "Gbit/s")),
]


def share(known: dict[str, dict]) -> list[str]:
    """ELmD's share of COPA's LUTs, for builds with the same configuration."""
    elmd, copa = (core for core in MODES if core.name in ("ELmD", "COPA"))
    lines = []
    for parameters, top in builds_of(elmd, known):
        for others, other in builds_of(copa, known):
            same = all(
                parameters.get(key, d) == others.get(key, d)
                for key, d in (("KEYS", 1), ("SLOTS", 16), ("SBOX", 0))
            )
            if same and not parameters.get("SPLIT") and "lut" in top and "lut" in other:
                percent = 100 * top["lut"] / other["lut"]
                lines.append(f"- ELmD ({configuration(parameters)}) takes {percent:.1f} % of COPA's LUTs.")
    return [
        "ELmD compared with COPA, the subject of the paper:",
        "",
        *(lines or ["- Not in `area.json` yet."]),
        "- In the paper it takes 50.3 % of COPA's slices (5225 of 10391) and "
        f"{100 * 16967 / 32845:.1f} % of its LUTs (16967 of 32845).",
        "",
    ]


def parts() -> list[str]:
    """LUTs and registers of the single-key cores by part, compared with the paper."""
    found = read("parts.json").get("tops", {})
    rows = []
    for core in MODES:
        rounds = dict(core.parameters).get("ROUNDS", 10)
        top = f"{core.module}{'66' if rounds == 6 else ''}_single"
        if top not in found or not core.paper:
            continue
        # COPA and EME2 have two of each.
        pairs = 2 if core.module in ("copa", "eme2") else 1
        ciphers = [pipe.paper for pipe in PIPES if pipe.paper and pipe.parameters == (("ROUNDS", rounds),)]
        for what, measure in (("LUT", "lut"), ("FF", "ff")):
            places = found[top][measure]
            total = sum(places.values())
            pipes = sum(number for part, number in places.items() if is_pipe(part))
            rest = [
                f"{'top level' if part == '(its own)' else f'`{part}`'} {number}"
                for part, number in places.items()
                if not is_pipe(part)
            ]
            whole = getattr(core.paper, measure)
            alone = pairs * sum(getattr(cipher, measure) for cipher in ciphers)
            rows.append(
                [
                    *(core.name, what, total, whole, pipes, alone, total - pipes, whole - alone),
                    ", ".join(rest[:7]),
                ]
            )
    if not rows:
        return []
    return [
        "### Single-core modes: area by part",
        "",
        *paragraph(
            "LUTs and registers of the single-key cores. *Pipes*: the cipher pipes, with their round keys",
            "and the side-band data that is delayed alongside the blocks. The paper's pipe figures are",
            "those of pipes synthesized separately, taken twice for COPA and EME2. *Other*: everything",
            "else.",
        ),
        *paragraph(
            "The pipes here take 1 to 10 % fewer LUTs than the paper's, and the other logic takes 800 to",
            "5200 more. The other logic handles back-to-back packets of any length, with AD, in any order",
            "(`front`, padding, masks that are ready for the next packet, COPA's `schedule`); the paper's",
            "cores handle one packet of whole blocks. The other logic also handles backpressure (`out`,",
            "`fifo`, `results`, credits). The paper's flip-flop counts lack the state that a mode keeps",
            "outside its pipes (mask, chain, checksum, tag: 128 bits each): three of its cores have fewer",
            "flip-flops than their ciphers alone.",
        ),
        *paragraph(
            "Names in code font are instances. A LUT is attributed to an instance by what it drives, which",
            "is a heuristic. Totals can differ by a few LUTs from the table above, which is from another run",
            "of yosys.",
        ),
        *table(
            [
                *("core", "resource", "total", "paper: total", "pipes", "paper: pipes"),
                *("other", "paper: other", "largest other parts"),
            ],
            rows,
        ),
    ]


def is_pipe(instance: str) -> bool:
    return bool(re.search(r"crypt|pipe|^keys$", instance))


def engines() -> list[str]:
    found = read("engines_area.json").get("engines", {})
    lines = ["### 512-bit engines: area", ""]
    lines += paragraph(
        "Estimates, not placed: the sums of parts that yosys maps to Cyclone V. *4 cores*, *5 cores*:",
        "`AUX=0`, `AUX=1`.",
        "*Paper*: table I of the 100 Gbit/s paper (Stratix IV EP4S100G5F45, Quartus 11), whose engines",
        "seal whole blocks under one key, without additional data. Its RAMs hold two S-boxes each; yosys",
        "uses one RAM per S-box. See [the engines' page](docs/engines.md).",
    )
    if not found:
        return [*lines, "`engines_area.json` is missing.", ""]
    rows = []
    for name, engine in found.items():
        top, mhz, gbit = ENGINES[" ".join(name.split()[:2])]
        rows.append(
            [
                *(
                    top,
                    " ".join(name.split()[2:]),
                    engine["alm_estimate"],
                    engine["m10k"],
                    engine["ff"],
                ),
                *((engine["paper_alm"], engine["paper_m9k"], mhz, gbit) if "seal" in name else (GAP,) * 4),
            ]
        )
    head = ["engine", "build", "ALM estimate", "10 Kbit RAMs", "registers"]
    head += [f"paper: {measure}" for measure in ("ALM", "9 Kbit RAMs", "MHz", "Gbit/s")]
    lines += table(head, rows)
    missing = [
        top for name, (top, *_) in ENGINES.items() if not any(other.startswith(name) for other in found)
    ]
    return lines + ([f"Not measured: {', '.join(missing)}.", ""] if missing else [])


def engine_name(engine: str, direction: str) -> str:
    """Returns an engine of frames.json as module, non-default parameters, and measured direction."""
    module, *options = engine.split(", ")
    words = [module]
    # GCM's builds, and OCB3's that are called "both", have the default direction, 2.
    if module.startswith("ocb") and "both" not in options:
        words.append(f"DIRECTION={('seal', 'open').index(direction)}")
    words += [OPTIONS[option] for option in options if option in OPTIONS]
    return f"`{' '.join(words)}`, {direction}"


def mhz_needed(row: dict | None) -> str:
    return f"{row['frames_per_1000_clocks']:.1f}, {row['mhz_for_100_gbit']:.0f} MHz" if row else GAP


def frames() -> list[str]:
    found = read("frames.json")
    lines = ["### 512-bit engines: frames", ""]
    if not found:
        return [*lines, "`frames.json` is missing.", ""]
    lines += paragraph(
        "Frames per 1000 clocks, exact, from simulation, and the clock needed for 100 Gbit/s: a line full",
        "of such frames, with their tags when opening, and 20 bytes of preamble and gap after each. The",
        "clock is a requirement, not a measurement of any device. Within a frame an engine takes 512 bits",
        "per clock. All frames use one key and counter nonces. The last two columns are the latency of a",
        "lone packet in clocks: from its first beat in to its first beat out, and from its last beat in",
        "to its tag. Rows without `DIRECTION` are builds for both directions.",
    )
    known = {
        (row["engine"], row["direction"], row["keys"], row.get("ad_bytes", 0), row["frame_bytes"]): row
        for row in found["results"]
    }
    rows, hard = [], []
    for lone in found["latencies"]:
        who = (lone["engine"], lone["direction"])
        name = engine_name(*who)
        cells = [mhz_needed(known.get((*who, ONE_KEY, 0, size))) for size in SIZES]
        rows.append([name, *cells, lone["clocks_to_output"], lone["clocks_to_tag"]])
        cells = [mhz_needed(known.get((*who, NEW_KEYS, ad, size))) for ad, size in HARD]
        loads = [known.get((*who, LOADS, 0, size)) for size in LOADED]
        cells += [
            f"{row['frames_per_1000_clocks']:.1f}, {row['keys_per_1000_clocks']:.1f} keys" if row else GAP
            for row in loads
        ]
        hard.append([name, *cells])
    sizes = [f"{size} bytes" for size in SIZES]
    lines += table(["engine", *sizes, "clocks to output", "clocks to tag"], rows)
    lines += paragraph(
        "Hard cases. *New keys*: a different slot for each frame and unordered nonces, so that nothing",
        "can be reused from the previous frame. *28 + ...*: 28 bytes of additional data (two addresses",
        "and MACsec's SecTAG) before the message. *Loads*: keys are loaded into other slots continuously;",
        "the figures are frames and keys per 1000 clocks.",
    )
    words = [f"new keys, {f'{ad} + ' if ad else ''}{size} bytes" for ad, size in HARD]
    words += [f"loads, {size} bytes" for size in LOADED]
    return lines + table(["engine", *words], hard) + every_size(found.get("every_size", []))


def every_size(found: list[dict]) -> list[str]:
    """The worst frame size of each engine, and the clock that suffices from a given size up."""
    lines = paragraph(
        "All sizes from 64 to 9000 bytes, back to back: the worst size, and the clock that suffices for",
        "100 Gbit/s at every size from the given one up. Each part of a packet starts a new beat, so one",
        "byte more than a full beat costs a whole clock. With a new key for each frame, OCB3's shortest",
        "frames wait because one core computes both Ktop and the tag. *Keys*: one key, or a new one for",
        "each frame.",
    )
    steps = (64, 129, 257, 513, 1025, 2049)
    rows = []
    for row in found:
        keys = {ONE_KEY: "one", NEW_KEYS: "new"}[row["keys"]]
        enough = [f"{clock_from(row, size):.0f}" for size in steps]
        worst = f"{row['worst_bytes']} bytes, {row['worst_mhz']:.0f} MHz"
        rows.append([engine_name(row["engine"], row["direction"]), keys, worst, *enough])
    return lines + table(["engine", "keys", "worst size", *(f"MHz, ≥ {size} bytes" for size in steps)], rows)


def clock_from(row: dict, size: int) -> float:
    """The clock in MHz that suffices for frames of this size and longer."""
    known = row["mhz_from_bytes_on"]
    return next((needed for start, needed in reversed(known) if start <= size), known[0][1])


def builds(known: dict[str, dict]) -> list[str]:
    """Area, model clock and line rate of each build of an engine."""
    every = read("frames.json").get("every_size", [])
    lines = ["### 512-bit engines: area, clock and line rate by build", ""]
    lines += paragraph(
        "Area, model clock and frame rate of the same build. Cipher lanes and multipliers are synthesized",
        "separately and combined with the surrounding logic by the timing of their pins. *Surrounding*:",
        "the model clock of that logic alone. The last two columns describe a 100 Gbit/s line at the model",
        "clock (again a model, not a measurement): the throughput with frames of the worst size, and the",
        "size from which the line is full. They are for the slower direction, with a new key and a new",
        "nonce for each frame.",
    )
    rows = []
    for top, (engine, what, ways) in BUILDS.items():
        if top not in known or "model_mhz" not in known[top]:
            continue
        found = known[top]
        mine = [row for row in every if row["engine"] == engine and row["keys"] == NEW_KEYS]
        cells = [GAP, GAP]
        if mine := [row for row in mine if row["direction"] in ways]:
            mhz = found["model_mhz"]
            worst = max(mine, key=lambda row: row["worst_mhz"])
            enough = [[start for start, needed in row["mhz_from_bytes_on"] if needed <= mhz] for row in mine]
            cells[0] = (
                f"{min(100, 100 * mhz / worst['worst_mhz']):.0f} Gbit/s at {worst['worst_bytes']} bytes"
            )
            if worst["worst_mhz"] <= mhz:
                cells[1] = "every size"
            else:
                cells[1] = f"{max(starts[0] for starts in enough)} bytes" if all(enough) else "none"
        rows.append(
            [
                f"`{found['module']}`",
                what,
                *(found.get(field, GAP) for field in ("lut", "ff", "bram")),
                *(f"{found[field]:.0f}" for field in ("model_mhz", "around_mhz")),
                found["slowest"] if " " in found["slowest"] else f"`{found['slowest']}`",
                *cells,
            ]
        )
    head = ["engine", "build", "LUT", "FF", "BRAM", "model MHz", "surrounding", "critical path in"]
    return lines + table([*head, "at the worst size", "100 Gbit/s from"], rows)


def clocks() -> list[str]:
    rows = []
    for core in MODES:
        bits = 128 if core.module != "eme2" else "128 per pass; 126.5 over back-to-back 4096-byte messages"
        paper = core.paper.latency if core.paper else GAP
        test = RTL.parent / "crates" / "sealcomb-rtl" / "tests" / f"{core.test}.rs"
        if not test.exists():
            sys.exit(f"{test} is missing: it asserts the clock counts of {core.name}")
        page = f"[page](docs/{core.module}.md), [test](../crates/sealcomb-rtl/tests/{test.name})"
        rows.append([core.name, bits, core.latency, paper, core.packet, page])
    return [
        "### Single-core modes: latency and throughput",
        "",
        "Exact clock counts, asserted by tests. d: AD blocks; a: AD blocks, at least 1; l: message blocks.",
        "",
        *table(
            ["core", "bits per clock", "latency", "paper", "clocks per packet, back to back", "see"], rows
        ),
        *paragraph(
            "The paper's latencies include the reset and the computation of key-dependent values: 11 clocks",
            "for ELmD, 14 for ELmD(6,6), 12 for COPA. These cores compute those values when a key is loaded.",
            "Without them the paper's latencies are 24 + d, 16 + d and 49 + d, compared with 28 + d, 20 + d",
            "and 41 + d here. OCB3 computes Stretch, and Ktop, a part of the paper's Setup, while it",
            "processes the preceding packet ([details](docs/ocb3.md#latency-and-throughput)).",
        ),
    ]


def ecp5() -> list[str]:
    found = read("ecp5.json")
    lines = ["### ECP5, placed and routed", ""]
    if not found:
        return [*lines, "Not measured.", ""]
    rows = []
    for name, top in found["tops"].items():
        mhz = sorted(top["mhz_by_seed"].values())
        median = f"{statistics.median(mhz):.1f}" if len(mhz) > 2 else GAP
        rows.append([f"`{name}`", top["lut4"], top["ff"], top["ebr"], len(mhz), f"{mhz[-1]:.1f}", median])
    return [
        *lines,
        *paragraph(
            f"{found['tool']}. {found['device']}. Each core is placed between two shift registers, which",
            "are counted. Routing dominates the critical paths on this device, so the figures show that a",
            "core works on an open device, not how fast it would be on a large one. `gcm_bram` is a complete",
            "core, GCM with 16 slots and its S-boxes in block RAM; it was placed before GHASH got its",
            "current registers.",
        ),
        *table(["core", "LUT4", "FF", "EBR", "seeds", "best MHz", "median MHz"], rows),
    ]


def cores() -> str:
    """The table of cores at the top of the README: default parameters, area and model clock."""
    known = tops()
    estimates = read("engines_area.json").get("engines", {})
    rows = []
    for name, algorithm, bits, page in OVERVIEW:
        top = known.get(name, {})
        area = f"{top['lut']} LUT" if "lut" in top else GAP
        if area == GAP and name in SERPENT_BUILDS:
            area = f"{estimates[SERPENT_BUILDS[name]]['alm_estimate']} ALM (estimate)"
        clock = f"{top['model_mhz']:.0f}" if "model_mhz" in top else GAP
        module = top.get("module", name)
        rows.append([f"`{module}`", algorithm, bits, area, clock, f"[{page}](docs/{page}.md)"])
    return (
        "\n".join(table(["core", "algorithm", "bits per clock", "area", "model MHz", "page"], rows)[:-1])
        + "\n"
    )


def text() -> str:
    known = tops()
    tool = read("area.json").get("tool", "nothing measured")
    lines = [
        *paragraph(
            f"LUT, FF, BRAM (18 Kbit): {tool}. *ALM estimate*: counted, not placed. *Model MHz*: **model,",
            "W=300 ps, not P&R** (300 ps per net, 7-series pin delays). It ranks designs of this flow; do",
            "not compare it with the papers' MHz. *Paper*: table I of the ELmD hardware paper, Virtex-6",
            f"xc6vlx240t-2, ISE 13.4, placed and routed. `{GAP}`: not measured, or not in the paper.",
        ),
        *clocks(),
        "### Single-core modes: area",
        "",
        *table(["core", "configuration", *AREA_HEAD], area_rows(MODES, known, latencies=False)),
        *paragraph(
            "The paper's cores hold one key, take whole blocks, process one packet at a time and have no",
            "flow control; the core pages list what is added here. The paper's AES-GCM row is another",
            "group's core (Virtex-5, 4770 slices, 311 MHz, 36.92 Gbit/s [1]).",
        ),
        *paragraph(
            "Yosys maps for area, so the model clocks of equivalent sources differ by up to 5 %. EME2 with a",
            "static key was at 221 MHz before its signals became records. Its longest path is now from the",
            "side band of the pipes to the operand that accompanies the next block. With that decoded before",
            "the pipes, it is at 206 MHz, and the key wavefront gains 4 %.",
        ),
        *parts(),
        *share(known),
        "### Cipher pipes and building blocks",
        "",
        "128 bits per clock; `ghash4` takes 512. Key schedules are included, as in the paper.",
        "",
        *table(
            ["core", "configuration", "latency in clocks", *AREA_HEAD],
            area_rows(PIPES, known, latencies=True),
        ),
        *engines(),
        *builds(known),
        *frames(),
        *ecp5(),
        "### Errors in the papers",
        "",
        *paragraph(
            "[1] ELmD paper: AES encryption at 315.16 MHz is 40.34 Gbit/s at 128 bits per clock, not",
            "38.47; the quoted GCM at 311 MHz is 39.8, not 36.92.",
        ),
        *paragraph(
            "[2] 100 Gbit/s paper: AES alone at 252 MHz is 129 Gbit/s at 512 bits per clock, not 124. For",
            "OCB-Serpent the paper has 133 Gbit/s; its longer version (VLSI-SoC 2012) has 141 Gbit/s, 39",
            "kALM and 275 MHz.",
        ),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    readme = filled = README.read_text()
    for name, generated in (("cores", cores()), ("results", text())):
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
        before, rest = filled.split(begin)
        filled = before + begin + generated + end + rest.split(end)[1]
    if not arguments.check:
        README.write_text(filled)
        return 0
    difference = difflib.unified_diff(
        readme.splitlines(), filled.splitlines(), "README.md", "results", n=0, lineterm=""
    )
    lines = list(difference)
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
