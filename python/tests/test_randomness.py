"""No nonce or key is drawn twice, in any kind of process or thread, whatever was drawn before."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import draws
import pytest

import sealcomb
import sealcomb.spark
from sealcomb import Keyset

DRAWING = {"fork": 4, "forkserver": 4, "spawn": 4, "threads": 3, "forks": 5, "forks during threads": 4}

# Functions that do not draw nonces or keys: the caller passes them, or they are read.
DRAWS_NOTHING = {
    *(f"{name}.{method}" for name in draws.CLASSES for method in ("encrypt", "encrypt_into", "encrypt_many")),
    *(f"{name}.{method}" for name in draws.CLASSES for method in ("decrypt", "decrypt_into", "decrypt_many")),
    *(f"AESXTS.{method}" for method in ("decrypt_sectors", "encrypt_sectors")),
    *(f"CMAC.{method}" for method in ("copy", "finalize", "update", "verify")),
    *(
        f"Keyset.{method}"
        for method in ("from_keys", "from_tink_binary", "from_tink_json", "secret_tink_json")
    ),
    "inspect_column",
    "keys_from_env",
    "keys_from_file",
    "keys_from_wrapped",
    "unseal_column",
    "unseal_column_counted",
    "spark.unseal",
    "spark.unseal_aes_encrypt",
    "spark.unseal_udf",
}


def public():
    """Yields every public function, and every method of a class that has keys."""
    for module, name in ((each, name) for each in (sealcomb, sealcomb.hazmat) for name in each.__all__):
        each = getattr(module, name)
        if not isinstance(each, type):
            if callable(each):
                yield name
        elif name.startswith("keys_from"):
            yield name
        elif each.__module__ == module.__name__:
            methods = (method for method in dir(each) if not method.startswith("_"))
            yield from (f"{name}.{method}" for method in methods if callable(getattr(each, method)))
    yield from (f"spark.{name}" for name in sealcomb.spark.__all__)


def test_every_function_is_known_to_draw_or_not():
    drawing = {function.split(",")[0] for function, _ in draws.DRAWS}
    assert drawing == set(public()) - DRAWS_NOTHING
    assert set(public()) >= DRAWS_NOTHING


def test_every_policy_and_class_is_covered():
    with pytest.raises(ValueError, match="use") as caught:
        Keyset.generate("no such policy")
    policies = set(re.findall('"([a-z]+)"', str(caught.value)))
    assert policies == set(draws.KEYS)
    for function in ("Keyset.generate", "Keyset.rotated"):
        assert {policy for name, policy in draws.DRAWS if name == function} == policies
    for function in ("seal_column", "reseal_column"):
        assert {policy for name, policy in draws.DRAWS if name == function} == policies - set(
            draws.WITHOUT_NONCES
        )
    modules = (sealcomb, sealcomb.hazmat)
    generating = {
        name for each in modules for name in each.__all__ if hasattr(getattr(each, name), "generate_key")
    }
    assert generating == set(draws.CLASSES)


def test_a_policy_without_nonces_draws_nothing():
    for policy in draws.WITHOUT_NONCES:
        first, second = (
            sealcomb.seal_column(draws.column(3), draws.KEYSETS[policy], context=b"") for _ in range(2)
        )
        assert first == second
        assert len(set(first.to_pylist())) == 1


@pytest.mark.parametrize("before", ["", "1"], ids=["cold", "warm"])
@pytest.mark.parametrize("way", draws.WAYS)
def test_nothing_is_drawn_twice(way, before, tmp_path):
    program = Path(draws.__file__)
    done = subprocess.run(
        [sys.executable, str(program), way, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "DRAW_BEFORE": before},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["drawing"] == DRAWING[way]
    assert len(result["counts"]) == len(draws.DRAWS) * len(draws.ROWS)
    assert {name: counts for name, counts in result["counts"].items() if counts[0] != counts[1]} == {}
    assert all(counts[0] >= DRAWING[way] * min(draws.ROWS.values()) for counts in result["counts"].values())
