#!/usr/bin/env python3
"""Measures the clocks that frames take in the 512-bit engines (Verilator), and writes results/frames.json.

usage: run_frames.py [--check] [--ciphers] [--build FOLDER] [--output FILE] [ENGINE ...]

--check    compare with the file instead of writing it
--ciphers  use the real cipher lanes and multipliers. By default models of the same latency replace them,
           which changes no clock count and builds faster
ENGINE     only these

No stream pauses. A frame is a message, with or without additional data. Measurements must match the clock
counts in the modules' headers.
"""

import argparse
import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent
RTL = TESTS.parent

BEAT, BLOCK, TAG, GAP = 64, 16, 16, 20
SIZES = (64, 65, 128, 129, 256, 257, 576, 1500, 9000)
SHORTEST, LONGEST = 64, 9000
HEADER = 28  # bytes of additional data: two addresses, and a SecTAG with SCI
ONE, EACH = "one key, counter nonces", "another key for each frame, unordered nonces"
LOADS = "one key, counter nonces, and other slots' keys loaded all the time"


SCHEMA = "sealcomb-rtl-frames/2"
WHAT = (
    "Simulated, exact. frame_bytes: the message. mhz_for_100_gbit: the clock required for a 100 Gbit/s line "
    "full of such frames: ad_bytes, frame_bytes, a tag when opening, and 20 bytes of preamble and gap. It is "
    "not a measurement of a device. every_size: the worst of the frame sizes from 64 to 9000 bytes, and the "
    "clocks that suffice from given sizes up."
)


@dataclass(frozen=True)
class Engine:
    """A build of an engine."""

    top: str
    direction: int
    aux: int = 1
    tag_beside: int = 0
    split: int = 0
    key_bits: int = 128

    @property
    def is_ocb(self) -> bool:
        return self.top.startswith("ocb")

    @property
    def name(self) -> str:
        words = {
            ", 256-bit keys": self.key_bits == 256 and self.top.endswith("aes"),
            ", both": self.is_ocb and self.direction == 2,
            ", 4 cores": not self.aux,
            ", split": self.split,
            ", tag port": self.tag_beside,
        }
        return self.top + "".join(word for word, is_so in words.items() if is_so)

    @property
    def folder(self) -> str:
        return (
            f"{self.top}_{self.direction}_{self.aux}"
            + "_split" * self.split
            + "_beside" * self.tag_beside
            + "_256" * (self.key_bits == 256)
        )

    @property
    def ways(self) -> tuple[bool, ...]:
        return {0: (False,), 1: (True,), 2: (False, True)}[self.direction]


ENGINES = (
    Engine("ocb512_aes", 0),
    Engine("ocb512_aes", 0, aux=0),
    Engine("ocb512_aes", 1),
    Engine("ocb512_aes", 1, tag_beside=1),
    Engine("ocb512_aes", 2),
    Engine("ocb512_serpent", 0),
    Engine("ocb512_serpent", 1),
    Engine("gcm512_aes", 2),
    Engine("gcm512_aes", 2, tag_beside=1, split=1),
    Engine("gcm512_serpent", 2),
    Engine("ocb512_aes", 2, key_bits=256),
    Engine("gcm512_aes", 2, key_bits=256),
    Engine("gcm512_aes", 2, tag_beside=1, split=1, key_bits=256),
)


@dataclass(frozen=True)
class Case:
    opening: bool
    keys: str
    size: int
    ad: int = 0

    @property
    def beats(self) -> int:
        return beats(self.size) + beats(self.ad)

    @property
    def frames(self) -> tuple[int, int]:
        """Number of measured frames, and of the frames before them, which fill the engine. If a core falls
        behind with its calls, by one in 64 with counter nonces, it takes thousands of short frames until tags
        delay the following frames. Ktop is also computed up to 64 packets ahead."""
        if self.beats <= 4:
            return 12800, 10000
        return 32, 150

    def line(self) -> str:
        """The case as an input line of play.cpp."""
        flags = [self.opening, self.keys == EACH, self.keys == LOADS]
        return (
            " ".join(str(int(word)) for word in (*flags, self.size, self.ad, *reversed(self.frames))) + "\n"
        )


@dataclass(frozen=True)
class Found:
    clocks: float  # per frame
    keys: float  # loaded per clock
    to_first_beat: int  # from the command
    to_output: int
    to_tag: int


def beats(count: int) -> int:
    return -(-count // BEAT)


def build(engine: Engine, ciphers: bool, folder: Path) -> Path:
    folder = folder / engine.folder
    folder.mkdir(parents=True, exist_ok=True)
    sources = [RTL / file for file in (RTL / "filelists" / f"{engine.top}.f").read_text().split()]
    if not ciphers:
        stand_ins = {file.name: file for file in (TESTS / "frames").glob("*.sv")}
        sources = [stand_ins.get(file.name, file) for file in sources]
    model = f"V{engine.top}"
    command = [
        *("verilator", "--cc", "--exe", "--build", "-O3", "--x-initial", "unique", "-Wno-fatal", "-Wno-lint"),
        f"-GDIRECTION={engine.direction}",
        f"-GTAG_BESIDE={engine.tag_beside}",
        *([f"-GAUX={engine.aux}"] if engine.is_ocb else []),
        *(["-GSPLIT=1"] if engine.split else []),
        *(["-GKEY_BITS=256"] if engine.key_bits == 256 else []),
        *("--top-module", engine.top, "--Mdir", str(folder), "-o", "play"),
        *(
            "-CFLAGS",
            f'-O1 -std=c++17 -DMODEL={model} -DTAG_BESIDE={engine.tag_beside} -DHEADER=\\"{model}.h\\"',
        ),
        *map(str, sources),
        str(TESTS / "frames" / "play.cpp"),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        sys.exit(f"{engine.name} was not built:\n{(built.stdout + built.stderr)[-3000:]}")
    return folder / "play"


def play(program: Path, cases: list[Case]) -> list[Found]:
    lines = "".join(case.line() for case in cases)
    ran = subprocess.run([program], input=lines, capture_output=True, text=True, check=False)
    answers = [[int(word) for word in line.split()] for line in ran.stdout.splitlines()]
    if ran.returncode or len(answers) != len(cases):
        case = cases[min(len(answers), len(cases) - 1)]
        sys.exit(f"{program}: {case}: {ran.stderr}")
    return [
        Found(clocks / case.frames[0], loaded / total, *latencies)
        for case, (clocks, loaded, total, *latencies) in zip(cases, answers, strict=True)
    ]


def documented(engine: Engine, case: Case, keys: float) -> float:
    """Returns the clocks per frame according to the modules' headers, for this rate of key loads."""
    tag = int(case.opening and not engine.tag_beside)
    if not engine.is_ocb:
        whole = -(-case.size // BLOCK) % 4 == 0
        # While GHASH computes the powers of a key, one clock in nine is lost.
        return (case.beats + int(tag or whole)) * (9 / 8 if case.keys == LOADS else 1)
    # Calls in addition to the beats: tag and Ktop. Calls for a slot's constant take clocks from the frames.
    calls = 1 + (1 if case.keys == EACH else 1 / 64)
    if engine.direction == 1:
        # AD, one block per clock, and a partial block use the same core as the calls.
        ad_blocks = -(-case.ad // BLOCK)
        calls += ad_blocks + int(case.size % BLOCK != 0)
        return max(beats(case.size) + ad_blocks + tag, calls / (1 - keys))
    if engine.aux == 0:
        return (case.beats + calls) / (1 - keys)
    return max(case.beats + tag, calls / (1 - keys))


def check(engine: Engine, case: Case, found: Found) -> None:
    expected = documented(engine, case, found.keys)
    # Up to 64 queued tag calls, or one Ktop of a counter, fall outside the measured interval.
    slack = (64 if case.beats <= 4 else 1) / case.frames[0] if engine.is_ocb else 0
    if case.keys == LOADS:
        slack += 0.02 * expected
        if not found.keys:
            sys.exit(f"{engine.name}: {case}: no key was loaded")
    if abs(found.clocks - expected) > slack + 1e-9:
        sys.exit(f"{engine.name}: {case}: {found.clocks} clocks per frame; documented: {expected}")


def mhz(case: Case, clocks: float) -> float:
    """The clock in MHz for a 100 Gbit/s line full of such frames, with their tags when opening."""
    on_line = case.ad + case.size + (TAG if case.opening else 0) + GAP
    return 100e9 / (8 * on_line) * clocks / 1e6


def every_size() -> list[int]:
    """Returns the representative sizes. Sizes with equal numbers of beats and of blocks in the last beat, and
    a whole or a partial last block alike, take the same clocks. The shortest of them needs the fastest
    clock."""
    last = [rest for blocks in range(4) for rest in (BLOCK * blocks + 1, BLOCK * (blocks + 1))]
    sizes = [BEAT * full + rest for full in range(beats(LONGEST)) for rest in last]
    return [size for size in sizes if SHORTEST <= size <= LONGEST]


def representative(size: int) -> int:
    return size if size % BLOCK == 0 else size - size % BLOCK + 1


def sweep(engine: Engine, program: Path, opening: bool, keys: str) -> dict:
    """Measures all sizes. Returns the worst size, and the clocks that suffice from given sizes up."""
    cases = [Case(opening, keys, size) for size in every_size()]
    clocks = {}
    for case, found in zip(cases, play(program, cases), strict=True):
        check(engine, case, found)
        clocks[case.size] = found.clocks
    # Spot checks: other sizes take as many clocks as their representatives.
    some = [Case(opening, keys, random.randint(SHORTEST + 1, LONGEST)) for _ in range(40)]
    for case, found in zip(some, play(program, some), strict=True):
        check(engine, case, found)
        if abs(found.clocks - clocks[representative(case.size)]) > 1 / case.frames[0]:
            sys.exit(f"{engine.name}: {case} differs from {representative(case.size)} bytes")
    enough, steps = 0.0, []
    for case in reversed(cases):
        needed = mhz(case, clocks[case.size])
        if needed > enough:
            enough = needed
            steps.append([case.size, round(needed, 1)])
    # Drop steps that are hardly lower than the preceding one.
    reported = [steps[-1]]
    for size, needed in reversed(steps[:-1]):
        if needed < 0.99 * reported[-1][1]:
            reported.append([size, needed])
    return {
        "engine": engine.name,
        "direction": "open" if opening else "seal",
        "keys": keys,
        "worst_bytes": reported[0][0],
        "worst_mhz": reported[0][1],
        "mhz_from_bytes_on": reported,
    }


def measure(engine: Engine, program: Path) -> dict[str, list]:
    text: dict[str, list] = {"latencies": [], "results": [], "every_size": []}
    for opening in engine.ways:
        who = {"engine": engine.name, "direction": "open" if opening else "seal"}
        cases = [Case(opening, ONE, size) for size in SIZES]
        cases += [Case(opening, EACH, size) for size in SIZES[:4]]
        cases += [Case(opening, EACH, 64, HEADER), Case(opening, EACH, 1500, HEADER)]
        cases += [Case(opening, LOADS, size) for size in (64, 65, 256)]
        for case, found in zip(cases, play(program, cases), strict=True):
            check(engine, case, found)
            if case == cases[0]:
                text["latencies"].append(
                    who
                    | {
                        "clocks_to_first_beat": found.to_first_beat,
                        "clocks_to_output": found.to_output,
                        "clocks_to_tag": found.to_tag,
                    }
                )
            result = who | {
                "keys": case.keys,
                "ad_bytes": case.ad,
                "frame_bytes": case.size,
                "clocks_per_frame": round(found.clocks, 3),
                "frames_per_1000_clocks": round(1000 / found.clocks, 2),
                "mhz_for_100_gbit": round(mhz(case, found.clocks), 1),
            }
            if case.keys == LOADS:
                result["keys_per_1000_clocks"] = round(1000 * found.keys, 1)
            text["results"].append(result)
        text["every_size"] += [sweep(engine, program, opening, keys) for keys in (ONE, EACH)]
    return text


def is_of(row: dict, engine: Engine) -> bool:
    return row["engine"] == engine.name and (row["direction"] == "open") in engine.ways


def place(row: dict) -> int:
    """Position of a row, in the order of ENGINES."""
    return next(number for number, engine in enumerate(ENGINES) if is_of(row, engine))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--ciphers", action="store_true")
    parser.add_argument("--build", type=Path, default=RTL.parent / "target" / "rtl-frames")
    parser.add_argument("--output", type=Path, default=RTL / "results" / "frames.json")
    parser.add_argument("engines", nargs="*", metavar="ENGINE")
    arguments = parser.parse_args()
    random.seed(1)
    chosen = [
        engine
        for engine in ENGINES
        if not arguments.engines or any(word in engine.folder for word in arguments.engines)
    ]
    known = json.loads(arguments.output.read_text()) if arguments.output.exists() else {}
    same = True
    for engine in chosen:
        found = measure(engine, build(engine, arguments.ciphers, arguments.build))
        print(f"ok {engine.folder}", flush=True)
        same = same and all(row in known.get(name, []) for name, rows in found.items() for row in rows)
        for name, rows in found.items():
            others = [row for row in known.get(name, []) if not is_of(row, engine)]
            known[name] = sorted(others + rows, key=place)
        if not arguments.check:
            arguments.output.parent.mkdir(parents=True, exist_ok=True)
            arguments.output.write_text(json.dumps({"schema": SCHEMA, "what": WHAT} | known, indent=1) + "\n")
    if arguments.check:
        print(f"{arguments.output}: unchanged" if same else f"{arguments.output}: figures differ")
        return int(not same)
    return 0


if __name__ == "__main__":
    sys.exit(main())
