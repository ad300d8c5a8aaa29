"""The seed of a test run, which determines all of its random choices.

Each run uses a new seed unless one is given, so that repeated runs cover more cases. The seed is printed; a
run with the same seed repeats it.
"""

import argparse
import os
import random

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
