"""Builds and runs serpent_test.py on Icarus for every Serpent top and every way of changing keys."""

import os
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent
RTL = HERE.parents[1]
SOURCES = [
    RTL / name
    for name in (
        "common/bytes_pkg.sv",
        "serpent/serpent_pkg.sv",
        "serpent/serpent_round_keys.sv",
        "serpent/serpent_encrypt_lane.sv",
        "serpent/serpent_decrypt_lane.sv",
        "serpent/serpent_encrypt.sv",
        "serpent/serpent_decrypt.sv",
        "serpent/serpent_last_prekey.sv",
    )
]


def run(top: str, keys: int, build: Path) -> int:
    parameters = {} if top == "serpent_last_prekey" else {"KEYS": keys}
    runner = get_runner("icarus")
    runner.build(
        sources=SOURCES,
        hdl_toplevel=top,
        parameters=parameters,
        build_args=["-g2012"],
        build_dir=build,
        timescale=("1ns", "1ns"),
        always=True,
    )
    os.environ["PYTHONPATH"] = str(HERE)
    results = runner.test(
        hdl_toplevel=top,
        test_module="serpent_test",
        build_dir=build,
        test_dir=build,
        timescale=("1ns", "1ns"),
        extra_env={"KEYS": str(keys), "DUT": top, "COCOTB_LOG_LEVEL": "WARNING"},
    )
    tests, failed = get_results(results)
    print(f"{top} KEYS={keys}: {tests} tests, {failed} failed")
    return failed


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "build")
    failed = run("serpent_last_prekey", 0, build / "last_prekey")
    for top in ("serpent_encrypt", "serpent_decrypt"):
        for keys in (0, 1, 2):
            failed += run(top, keys, build / f"{top}{keys}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
