"""What works without the packages of the extras, and what says which extra to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sealcomb
from sealcomb import columns

MISSING = "import sys; sys.modules.update(dict.fromkeys({names!r}))\n"
ALL = ("arro3", "arro3.core", "pyarrow", "pandas", "polars", "numpy", "rich", "pyspark", "cryptography")


def run(program: str, *names: str) -> subprocess.CompletedProcess[str]:
    """Runs a program without some modules, as if they were not installed."""
    program = MISSING.format(names=names or ALL) + program
    return subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)


def test_messages_need_no_other_package() -> None:
    done = run(
        "import sealcomb, sealcomb.columns, sealcomb.exceptions, sealcomb.hazmat, sealcomb.keys\n"
        "from sealcomb import AESGCM, CMAC, InvalidTag, Keyset, algorithms\n"
        "cipher = AESGCM(AESGCM.generate_key(128))\n"
        "nonces = [bytes([at]) * 12 for at in range(3)]\n"
        "sealed = cipher.encrypt_many(nonces, [b'one', b'two', b'three'], b'header')\n"
        "assert cipher.decrypt_many(nonces, sealed, b'header') == [b'one', b'two', b'three']\n"
        "assert Keyset.generate().rotated().policy == 'random'\n"
        "assert len(CMAC(algorithms.AES(bytes(16))).finalize()) == 16\n"
        "print('done')\n"
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize("missing", ["pyarrow", "arro3"])
def test_the_command_says_what_to_install(missing: str) -> None:
    for begin in ("from sealcomb.__main__ import main; ", "import runpy; main = lambda arguments: 0; "):
        how = "sys.exit(main(['inspect', 'x.csv']))" if "__main__" in begin else ""
        module = "sys.argv = ['sealcomb']; runpy.run_module('sealcomb', run_name='__main__')"
        done = run(begin + (how or module), missing, f"{missing}.core")
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""
        assert done.stderr.startswith("sealcomb-columns: the package ")
        assert done.stderr.endswith("is not installed; run pip install 'sealcomb[cli]'\n")
        assert "Traceback" not in done.stderr


def test_spark_says_what_to_install() -> None:
    for missing in ("pyspark", "pyarrow"):
        done = run("import sealcomb.spark", missing)
        assert "ImportError: sealcomb.spark requires the module" in done.stderr
        assert "pip install 'sealcomb[spark]'" in done.stderr


COLUMN = """
from sealcomb import Keyset, columns
import arro3.core as core
class Other:
    def __init__(self, array): self.array = array
    def __arrow_c_array__(self, requested_schema=None): return self.array.__arrow_c_array__()
    def __arrow_c_schema__(self): return self.array.type.__arrow_c_schema__()
column = Other(core.Array([b"a"], core.DataType.binary()))
sys.modules["arro3.core"] = sys.modules["arro3"] = None
columns.seal(column, Keyset.generate(), context="c")
"""


def test_columns_say_what_to_install() -> None:
    done = run(COLUMN, "pyarrow")
    assert "ImportError: columns require the module arro3.core" in done.stderr
    assert "pip install 'sealcomb[columns]'" in done.stderr


def test_the_module_columns_has_the_functions_of_the_top_level() -> None:
    assert set(columns.__all__) == {"inspect", "reseal", "seal", "unseal", "unseal_counted"}
    for name in ("inspect", "reseal", "seal", "unseal"):
        assert getattr(columns, name) is getattr(sealcomb, f"{name}_column")
    assert columns.unseal_counted is sealcomb.unseal_column_counted
