#!/usr/bin/env python3
"""Tests the MACsec cores and their C driver against scapy, pyca, tshark and the command `sealcomb macsec`, on
Verilator.

usage: run_macsec.py [--sealcomb COMMAND] [--tshark COMMAND] [--frames NUMBER] [--sample-variants NUMBER]
                     [--icarus] [--seed SEED] [--jobs JOBS] [--build FOLDER] [CORE ...]
       run_macsec.py --many NUMBER [--seed SEED] [--build FOLDER]

--sealcomb COMMAND  the command seals frames that macsec_receive must open, and opens those of macsec_transmit
--icarus            simulate with Icarus, which takes minutes longer
--many NUMBER       send only this many random frames through macsec100g and back (many_frames_test.py)
CORE                only these cores, or variants of macsec100g; all by default

tshark, if installed, reads the frames of macsec_transmit, and decrypts them from version 4.4.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from cases import BUILD, RTL, Case, add_jobs, listed, run_all  # noqa: E402
from icarus import ICARUS  # noqa: E402
from seeds import add_seed, announced  # noqa: E402
from verilated import verilated  # noqa: E402

BENCHES = RTL / "tests" / "macsec"
MODELS = RTL / "tests" / "blocks"
# The runner passes this search path on to the simulator.
sys.path[:0] = [str(BENCHES), str(MODELS)]

from macsec_bench import read_capture, sa_file, some_frames, write_capture  # noqa: E402
from tshark_reads import tshark_reads  # noqa: E402

VISIBLE = BENCHES / "visible.vlt"

CORES = ("macsec_transmit", "macsec_receive", "macsec100g")
# macsec100g with other parameters, longest first, for suites_test.py or, by name, driver_test.py,
# parity_test.py or many_frames_test.py.
VARIANTS = {
    "ocb3_serpent": {"SUITE": 3, "CHANNELS": 4},
    "gcm_serpent": {"SUITE": 2, "CHANNELS": 4},
    "gcm_aes256": {"SUITE": 4, "CHANNELS": 4},
    "gcm_either": {"SUITE": 5, "CHANNELS": 4},
    "driver_either": {"SUITE": 5, "CHANNELS": 4},
    "gcm_aes256_split": {"SUITE": 4, "CHANNELS": 4, "SPLIT": 1},
    "ocb3_aes": {"SUITE": 1, "CHANNELS": 4},
    "parity": {"SUITE": 5, "CHANNELS": 4, "PARITY": 1},
    "many_ocb3": {"SUITE": 1, "CHANNELS": 4, "DEPTH": 32},
    "many_2_channels": {"SUITE": 0, "CHANNELS": 2, "DEPTH": 32, "USER": 9},
    "64_channels": {"SUITE": 0, "CHANNELS": 64},
}


def case(core: str, frames: int, folder: Path, exchanges: bool) -> Case:
    environment = {"MACSEC_FRAMES": str(frames)}
    if exchanges:
        environment["MACSEC_FOLDER"] = str(folder)
    return Case(core, core, listed(f"{core}.f"), BENCHES / f"{core}_test.py", environment=environment)


def driver() -> Case:
    """Returns the case of the C driver, which shares the image of macsec100g."""
    return Case("driver", "macsec100g", listed("macsec100g.f"), BENCHES / "driver_test.py")


def variant(name: str) -> Case:
    parameters = VARIANTS[name]
    # The ports say how wide `USER` is, and the environment often who the user is.
    environment = {parameter: str(value) for parameter, value in parameters.items() if parameter != "USER"}
    tests = {"driver": "driver", "parity": "parity", "many": "many_frames"}
    own = next((test for start, test in tests.items() if name.startswith(start)), "suites")
    test = BENCHES / f"{own}_test.py"
    return Case(name, "macsec100g", listed("macsec100g.f"), test, parameters, environment)


def sealcomb(command: str, direction: str, source: Path, target: Path, folder: Path) -> None:
    associations = folder / "macsec.toml"
    associations.write_text(sa_file())
    # Packet numbers start at the values given in the associations.
    state = folder / "state"
    shutil.rmtree(state, ignore_errors=True)
    arguments = ["macsec", direction, source, target, "--sa", associations]
    environment = {**os.environ, "XDG_STATE_HOME": str(state.absolute()), "HOME": str(state.absolute())}
    subprocess.run([command, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)


def library_opens(command: str, folder: Path) -> bool:
    sealcomb(command, "open", folder / "line.pcap", folder / "opened.pcap", folder)
    good = read_capture(folder / "opened.pcap") == read_capture(folder / "plain.pcap")
    print(f"{'ok' if good else 'FAILED':6} the library opens what macsec_transmit sealed")
    return good


def many_frames(frames: int, build: Path, seed: int) -> int:
    case = Case(
        *("many_frames", "macsec100g", listed("macsec100g.f"), BENCHES / "many_frames_test.py"),
        environment={"MACSEC_FRAMES": str(frames)},
    )
    failed = run_all(verilated("-O1", VISIBLE), [case], build, 1, seed)
    print((case.folder(build) / "log").read_text()[-2000:])
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sealcomb", metavar="COMMAND", help="the command `sealcomb`")
    parser.add_argument("--tshark", metavar="COMMAND", default="tshark", help="(default: tshark)")
    parser.add_argument("--frames", type=int, default=40, help="random frames per test (default 40)")
    parser.add_argument(
        "--sample-variants",
        type=int,
        metavar="NUMBER",
        help="of macsec100g and its variants, run only this many, drawn by the seed",
    )
    parser.add_argument("--icarus", action="store_true")
    parser.add_argument("--many", type=int, metavar="NUMBER", help="only the long run, with this many frames")
    add_seed(parser)
    add_jobs(parser)
    parser.add_argument("--build", type=Path, default=BUILD / "rtl-macsec")
    parser.add_argument("cores", nargs="*", metavar="CORE", choices=[[], *CORES, *VARIANTS])
    arguments = parser.parse_args()
    seed = announced(arguments.seed)
    if arguments.many:
        return many_frames(arguments.many, arguments.build, seed)
    cores = arguments.cores or (*CORES, *VARIANTS)
    if arguments.sample_variants is not None:
        both_sides = [core for core in cores if core == "macsec100g" or core in VARIANTS]
        drawn = random.Random(seed).sample(both_sides, min(arguments.sample_variants, len(both_sides)))
        cores = [core for core in cores if core not in both_sides or core in drawn]
    folders = {core: (arguments.build / core).resolve() for core in cores if core in CORES}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    command = arguments.sealcomb
    if command and "macsec_receive" in cores:
        folder = folders["macsec_receive"]
        write_capture(folder / "plain.pcap", some_frames(arguments.frames, seed))
        sealcomb(command, "seal", folder / "plain.pcap", folder / "sealed.pcap", folder)
    cases = [variant(core) for core in cores if core in VARIANTS]
    cases += [case(core, arguments.frames, folder, bool(command)) for core, folder in folders.items()]
    if "macsec100g" in cores:
        cases.append(driver())
    simulator = ICARUS if arguments.icarus else verilated("-O0", VISIBLE)
    failed = run_all(simulator, cases, arguments.build, arguments.jobs, seed)
    if command and "macsec_transmit" in cores and not failed:
        failed += not library_opens(command, folders["macsec_transmit"])
    if "macsec_transmit" in cores and not failed:
        if shutil.which(arguments.tshark) is None:
            print(f"SKIPPED: {arguments.tshark} not found; it would read the frames of macsec_transmit")
        else:
            failed += not tshark_reads(arguments.tshark, folders["macsec_transmit"])
    print(f"{len(cores)} cores, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
