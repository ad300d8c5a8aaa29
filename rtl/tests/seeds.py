"""The seed of a test run, which determines all of its random choices, and the sample of its cases.

Each run uses a new seed unless one is given, so that repeated runs cover more cases. The seed is printed; a
run with the same seed repeats it.
"""

import argparse
import os
import random
from collections.abc import Sequence

VARIABLE = "SEALCOMB_SEED"


def add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=int,
        default=os.environ.get(VARIABLE) or None,
        help=f"repeat the run with this seed (default: ${VARIABLE}, else a random one)",
    )


def announced(seed: int | None) -> int:
    """Prints and returns the given seed, or a random one."""
    chosen = random.SystemRandom().randrange(2**31) if seed is None else seed
    print(f"seed {chosen}: repeat this run with --seed {chosen}", flush=True)
    return chosen


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, found {number}")
    return number


def add_sample(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--sample",
        type=positive,
        metavar="N",
        default=1,
        help=f"one {what} in N, drawn by the seed (default: all)",
    )


def sampled(cases: Sequence, one_in: int, seed: int) -> list:
    """Returns one in `one_in` of the cases, in their order, and at least one. Seeds with different remainders
    draw disjoint samples."""
    return list(cases[seed % min(one_in, len(cases)) :: one_in])
