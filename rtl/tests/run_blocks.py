#!/usr/bin/env python3
"""Tests the building blocks of the hardware separately, on Icarus: AES pipes, lanes of AES-256, GF(2^128),
GHASH, Serpent, packet_front, and memories.

usage: run_blocks.py [--all] [--sample N] [--seed SEED] [--jobs JOBS] [--build FOLDER] [NAME ...]

NAME  run only the cases whose name contains one of these, e.g. `aes_decrypt`
"""

import argparse
import itertools
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from cases import BUILD, RTL, Case, add_jobs, build_once, listed, run_all  # noqa: E402
from icarus import ICARUS  # noqa: E402
from seeds import add_sample, add_seed, announced, sampled  # noqa: E402

TESTS = RTL / "tests"
BLOCKS = TESTS / "blocks"

# Parameters of the AES pipes. The short run covers all pairs of values, the long run all combinations.
PIPES = {
    "ROUNDS": (10, 6),
    "KEYS": (1, 0, 2),
    "SBOX": (0, 1, 2),
    "SPLIT": (0, 1),
}


def sources(top: str) -> tuple[Path, ...]:
    """Returns the sources, packages first; they may include unused ones."""
    if (TESTS / "tops" / f"{top}.sv").exists():
        return RTL / "gf128/gf128_pkg.sv", TESTS / "tops" / f"{top}.sv"
    if top == "cipher_lanes":
        return listed("ocb512_aes.f")
    if top.startswith(("serpent", "packet")):
        return listed(f"{top}.f")
    files = [
        *(RTL / ("aes" if top.startswith("aes") else "gf128")).glob("*.sv"),
        *(RTL / "common").glob("ram_*.sv"),
    ]
    return tuple(sorted(files, key=lambda file: (not file.stem.endswith("_pkg"), file.name)))


def case(top: str, test: str, **parameters: int) -> Case:
    words = [f"{key}={value}" for key, value in parameters.items()]
    environment = {key: str(value) for key, value in parameters.items()} | {"DUT": top}
    return Case(" ".join([top, *words]), top, sources(top), BLOCKS / f"{test}.py", parameters, environment)


def pairs(combination: tuple) -> set:
    """Returns all pairs of (position, value) in a combination."""
    return set(itertools.combinations(enumerate(combination), 2))


def covering(factors: tuple[tuple, ...]) -> list[tuple]:
    """Returns few combinations that cover all pairs of values, chosen greedily by the most new pairs."""
    combinations = list(itertools.product(*factors))
    missing = set().union(*map(pairs, combinations))
    chosen = []
    while missing:
        chosen.append(max(combinations, key=lambda combination: len(pairs(combination) & missing)))
        missing -= pairs(chosen[-1])
    return chosen


def lanes_of_aes256(everything: bool):
    """All combinations, or three in which each value occurs, and all with keys of both sizes."""
    directions = ((0, 0), (0, 1), (1, 0))
    sboxes = (0, 1, 2)
    combinations = (
        itertools.product(directions, sboxes) if everything else zip(directions, sboxes, strict=True)
    )
    for (inverse, split), sbox in combinations:
        lanes = {"CIPHER": 2, "LANES": 1, "INVERSE": inverse, "SBOX": sbox, "SPLIT": split}
        yield case("cipher_lanes", "aes256_lanes_test", **lanes)
    for split, sbox in itertools.product((0, 1), sboxes):
        lanes = {"CIPHER": 3, "LANES": 1, "INVERSE": 0, "SBOX": sbox, "SPLIT": split}
        yield case("cipher_lanes", "aes256_lanes_test", **lanes)


def cases(everything: bool):
    # Longest first.
    for stages in (2, 4) if everything else (4,):
        yield case("ghash4", "ghash_test", SLOTS=16, STAGES=stages)
    for stages, slots in ((1, 16), (2, 16), (3, 16), (4, 16), (4, 1)):
        yield case("ghash", "ghash_test", SLOTS=slots, STAGES=stages)
    factors = tuple(PIPES.values())
    for values in itertools.product(*factors) if everything else covering(factors):
        for top in ("aes_encrypt", "aes_decrypt"):
            pipe = case(top, "aes_pipe_test", **dict(zip(PIPES, values, strict=True)), USER=8)
            pipe.environment["BLOCKS"] = "80" if everything else "40"
            yield pipe
    for keys, split in itertools.product(PIPES["KEYS"], PIPES["SPLIT"]):
        ahead = {"ROUNDS": 10, "KEYS": keys, "AHEAD": 1, "SPLIT": split, "USER": 8}
        for top in ("aes_encrypt", "aes_decrypt"):
            yield case(top, "aes_pipe_test", **ahead)
    yield from lanes_of_aes256(everything)
    yield case("aes256_last_round_keys", "aes_parts_test")
    for keys in (0, 1, 2):
        yield case("serpent_encrypt", "serpent_test", KEYS=keys)
        yield case("serpent_decrypt", "serpent_test", KEYS=keys)
    yield case("serpent_last_prekey", "serpent_test")
    for stages in (1, 2, 3, 4):
        yield case("gf128_multiply", "gf128_test", STAGES=stages)
    yield case("gf128_functions", "gf128_test")
    yield case("packet_front", "packet_front_test", SLOTS=8)
    for top, parity in itertools.product(("ram_1r1w", "ram_lut"), (0, 1)):
        yield case(top, "ram_test", WIDTH=70, DEPTH=8, PARITY=parity)
    for inverse in (0, 1):
        for variant in (0, 2):
            yield case("aes_sbox", "aes_parts_test", INVERSE=inverse, VARIANT=variant)
        yield case("aes_sbox_ram", "aes_parts_test", INVERSE=inverse)
    yield case("aes_mix_column", "aes_parts_test")
    yield case("aes_inverse_mix_column", "aes_parts_test")
    for rounds in (10, 6):
        yield case("aes_last_round_key", "aes_parts_test", ROUNDS=rounds)


def refused(build: Path) -> int:
    """Checks that unsupported parameters do not elaborate. Returns the number of failures."""
    failed = 0
    for bad in ("ROUNDS=8", "KEYS=3", "SBOX=3", "SPLIT=2"):
        command = ["iverilog", "-g2012", "-s", "aes_encrypt", f"-Paes_encrypt.{bad}"]
        command += ["-o", str(build / "refused"), *map(str, sources("aes_encrypt"))]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        good = answer.returncode != 0 and "this_aes_parameter_is_not_supported" in answer.stderr
        print(f"{'ok' if good else 'FAILED':6} aes_encrypt {bad} is refused", flush=True)
        failed += not good
    return failed


def broken(build: Path) -> int:
    """Checks that an assertion of the hardware ends each simulation that breaks a rule. Returns the number of
    failures."""
    files = ("stream_rules", "ram_lut", "ram_1r1w", "stream_fifo", "credit_counter")
    listed_files = [RTL / "common" / f"{name}.sv" for name in files]
    listed_files += [RTL / "engine/ram_fifo.sv", RTL / "modes/lut_queue.sv", TESTS / "tops/broken_rules.sv"]
    messages = (
        "no rule was broken",
        "stream: an offer was withdrawn",
        "stream: an offer changed",
        "fifo: an entry came without room",
        "wide_fifo: an entry came without room",
        "queue: an entry came without room",
        "queue: an entry was taken that is not there",
        "credits: a credit was taken that is not there",
        "credits: a credit was given that nobody took",
    )
    failed = 0
    program = build / "broken_rules"
    for rule, message in enumerate(messages):
        command = ["iverilog", "-g2012", "-s", "broken_rules", f"-Pbroken_rules.BROKEN={rule}", "-o", program]
        subprocess.run([*command, *listed_files], check=True)
        answer = subprocess.run(["vvp", program], capture_output=True, text=True, check=False)
        expected = message if rule == 0 else f"broken_rules.{message}"
        good = expected in answer.stdout and (answer.returncode == 0) == (rule == 0)
        print(f"{'ok' if good else 'FAILED':6} simulation ends with: {message}", flush=True)
        failed += not good
    return failed


def rebuilt(build: Path) -> int:
    """Checks that an image is rebuilt exactly when a source or option changes. Returns 1 on failure."""
    folder = build / "rebuilt"
    source = folder / "source.sv"
    (folder / "stamp").unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    changes = (("text", 1), ("text", 1), ("new text", 1), ("new text", 2), ("new text", 2))
    builds = []
    for text, option in changes:
        source.write_text(text)
        build_once(folder, (source,), option, lambda change=(text, option): builds.append(change))
    good = builds == list(dict.fromkeys(changes))
    print(
        f"{'ok' if good else 'FAILED':6} an image is rebuilt when its source or an option changes",
        flush=True,
    )
    return int(not good)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="all combinations of the AES pipes' parameters")
    add_sample(parser, "case")
    add_seed(parser)
    add_jobs(parser)
    parser.add_argument("--build", type=Path, default=BUILD / "rtl-blocks")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    names = arguments.names
    wanted = [
        one
        for one in cases(arguments.all or bool(names))
        if not names or any(name in one.name for name in names)
    ]
    seed = announced(arguments.seed)
    wanted = sampled(wanted, arguments.sample, seed) if wanted else []
    failed = run_all(ICARUS, wanted, arguments.build, arguments.jobs, seed)
    if not names:
        failed += refused(arguments.build) + broken(arguments.build) + rebuilt(arguments.build)
    print(f"{len(wanted)} cases, {failed} failed")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
