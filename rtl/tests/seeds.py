"""The seed of a run, from which all of its random choices follow.

Each run draws another seed unless it is given one, so that repeated runs cover more. A run prints its seed,
and a run with that seed repeats it.
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
    """The given seed or a random one, printed."""
    chosen = random.SystemRandom().randrange(2**31) if seed is None else seed
    print(f"seed {chosen}: repeat this run with --seed {chosen}", flush=True)
    return chosen
