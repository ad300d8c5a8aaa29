#!/usr/bin/env python3
"""Plant faults, one at a time, and require that the test named for each fault fails.

usage: mutate.py [--sample N] [--list] [NAME...]

Each file tools/mutations/NAME.patch is a fault. A header precedes the patch:

  Fault: the fault, in one sentence
  Claim: the claim of SECURITY.md that it breaks
  Run:   tests ARGUMENT...          `cargo test` on the workspace, with these arguments
         crate CRATE FILTER...      unit tests of the library, or of a crate that does not depend on it
         unit CRATE FILTER...       unit tests of another crate of the workspace
         python ARGUMENT...         `pytest` on the package, which is rebuilt
         duckdb ARGUMENT...         `pytest` on the DuckDB extension, which is rebuilt
         spark CLASS#METHOD         tests of the jar for Spark, which is rebuilt
         rtl TOP FILTER...          tests of the 512-bit engines, with the model of this top only
  Fails: the name of the test that must fail with the fault, and pass without it
  Cost:  cheap, or slow if much code is recompiled

Works on a copy of the working tree and of the test build, both in target/mutations. Without names, plants
every fault; with --sample, N of the cheap ones, drawn from SEALCOMB_SEED. Exits with status 1 if a test
passes despite its fault or fails without it, or if a patch no longer applies.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tools" / "mutations"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WORKSPACE = ("--workspace", "--all-features", "--exclude", "sealcomb-checks")
FIELDS = ("Fault", "Claim", "Run", "Fails", "Cost")
# Time limit for a build and its tests, in seconds.
TIMEOUT = 3600
KINDS = ("tests", "crate", "unit", "python", "duckdb", "spark", "rtl")


class Refused(Exception):  # noqa: N818
    """A fault that cannot be planted, or that its test did not catch."""


@dataclass(frozen=True)
class Fault:
    name: str
    fault: str
    claim: str
    run: tuple[str, ...]
    fails: str
    cost: str
    patch: Path

    @property
    def files(self) -> list[str]:
        return re.findall(r"^\+\+\+ b/(\S+)", self.patch.read_text(), re.MULTILINE)


def read_fault(path: Path) -> Fault:
    """Reads the fault in a patch, whose header must be complete."""
    header = path.read_text().split("\n--- a/", 1)[0]
    fields = dict(re.findall(r"^([A-Z][a-z]+): +(\S.*?) *$", header, re.MULTILINE))
    if tuple(fields) != FIELDS:
        raise Refused(f"{path.name}: header fields {', '.join(fields)}; expected {', '.join(FIELDS)}")
    run = tuple(fields["Run"].split())
    if run[0] not in KINDS:
        raise Refused(f"{path.name}: unknown kind of run `{run[0]}`; expected one of {', '.join(KINDS)}")
    if fields["Cost"] not in ("cheap", "slow"):
        raise Refused(f"{path.name}: cost {fields['Cost']}; expected cheap or slow")
    return Fault(path.stem, fields["Fault"], fields["Claim"], run, fields["Fails"], fields["Cost"], path)


def read_faults(folder: Path, names: Iterable[str] = ()) -> list[Fault]:
    known = {path.stem: path for path in sorted(folder.glob("*.patch"))}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Refused(f"no such fault: {', '.join(unknown)}; --list prints all")
    return [read_fault(known[name]) for name in names or known]


def drawn(faults: list[Fault], count: int, seed: int) -> list[Fault]:
    """Draws a sample of the cheap faults."""
    cheap = [fault for fault in faults if fault.cost == "cheap"]
    return random.Random(seed).sample(cheap, min(count, len(cheap)))


def apply(tree: Path, fault: Fault, *options: str) -> None:
    command = ["git", "apply", "--whitespace=nowarn", *options, fault.patch]
    # Hides the repository, because `git apply` would resolve paths from its root.
    clean = os.environ | {"GIT_CEILING_DIRECTORIES": str(tree.parent)}
    answer = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, env=clean)
    if answer.returncode != 0:
        raise Refused(f"{fault.name}: the patch no longer applies: {answer.stderr.strip()}")


@dataclass(frozen=True)
class Scratch:
    """A copy of the working tree, and its target folder."""

    tree: Path
    target: Path

    @classmethod
    def of(cls, root: Path, built: Path, *, with_build: bool) -> "Scratch":
        """Creates both. Files keep their modification times, so that cargo reuses the build."""
        folder = built / "mutations"
        shutil.rmtree(folder / "tree", ignore_errors=True)
        shutil.rmtree(folder / "debug", ignore_errors=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        for name in listed.stdout.split("\0"):
            if name and (root / name).is_file():
                (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / "tree" / name)
        if with_build and (built / "debug").is_dir():
            subprocess.run(["cp", "-a", "--reflink=auto", built / "debug", folder / "debug"], check=True)
        return cls(folder / "tree", folder)

    def restore(self, root: Path, names: list[str]) -> None:
        """Removes a fault. The files get new modification times, so cargo rebuilds what depends on them."""
        for name in names:
            shutil.copyfile(root / name, self.tree / name)

    def run(
        self, *command: str | Path, folder: str = ".", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in the tree. A command that exceeds the time limit counts as failed."""
        with subprocess.Popen(
            command,
            cwd=self.tree / folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            env=os.environ | {"CARGO_TARGET_DIR": str(self.target)} | environment,
        ) as running:
            try:
                output, _ = running.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                output, _ = running.communicate()
        return subprocess.CompletedProcess(command, running.returncode, output)

    def tests(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("cargo", "test", *WORKSPACE, "--no-fail-fast", *arguments)

    def crate(self, crate: str, *filters: str) -> subprocess.CompletedProcess[str]:
        # Without optimization, the library compiles in a third of the time.
        unoptimized = "profile.dev.package.sealcomb.opt-level=0"
        return self.run(
            "cargo", "test", "-p", crate, "--lib", "--all-features", "--config", unoptimized, "--", *filters
        )

    def unit(self, crate: str, *filters: str) -> subprocess.CompletedProcess[str]:
        """Runs the unit tests of a crate, from the build of all tests.

        Selecting only this crate would rebuild its dependencies with other features.
        """
        built = self.run("cargo", "test", *WORKSPACE, "--no-run")
        program = re.search(
            rf"Executable unittests src/\S+ \((\S*/{crate.replace('-', '_')}-[0-9a-f]+)\)", built.stdout
        )
        if built.returncode != 0 or program is None:
            return built
        return self.run(Path(self.tree, program[1]), *filters, folder=f"crates/{crate}")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        target = self.target / "python"
        built = self.run("cargo", "build", "--release", folder="python", CARGO_TARGET_DIR=str(target))
        if built.returncode != 0:
            return built
        shutil.copyfile(target / "release/lib_sealcomb.so", self.tree / "python/sealcomb/_sealcomb.abi3.so")
        return self.pytest(*arguments, PYTHONPATH=str(self.tree / "python"))

    def duckdb(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs tests of DuckDB's extension, with the installed package."""
        built = self.run("./dev", "duckdb")
        if built.returncode != 0:
            return built
        # The sources of the package lack the compiled module.
        return self.pytest(*arguments, PYTHONSAFEPATH="1", SEALCOMB_DUCKDB=str(self.target / "duckdb"))

    def spark(self, test: str) -> subprocess.CompletedProcess[str]:
        """Runs a test of the jar, with the native library and the downloads of `./dev spark`."""
        built = self.target / "spark"
        shutil.copytree(TARGET / "spark/resources", built / "resources", dirs_exist_ok=True)
        command = ("mvn", "--quiet", "--batch-mode", "--file", "spark/pom.xml", "test", f"-Dtest={test}")
        return self.run(*command, f"-Dmaven.repo.local={TARGET / 'maven'}", f"-Dsealcomb.target={built}")

    def pytest(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = (
            TARGET / "python/venv/bin/python",
            "-m",
            "pytest",
            "--quiet",
            "-p",
            "no:cacheprovider",
            "-rfE",
        )
        return self.run(*command, *arguments, folder="python", **environment)

    def rtl(self, top: str, *filters: str) -> subprocess.CompletedProcess[str]:
        """Runs tests of an engine's model, as many packets and as little optimized as in CI."""
        options = {
            "SEALCOMB_RTL_TOPS": top,
            "SEALCOMB_RTL_OPTIMIZE": "-O0",
            "SEALCOMB_RTL_PACKETS": "1000",
        }
        command = ("cargo", "test", "--test", "engines", "--", *filters)
        return self.run(*command, folder="crates/sealcomb-rtl", **options)


def has_failed(output: str, test: str) -> bool:
    """Returns whether this test failed, as opposed to the build."""
    name = re.escape(test)
    return (
        re.search(
            rf"^test (?:\S+::)?{name} \.\.\. FAILED|^FAILED \S*::{name}\b"
            rf"|^\[ERROR\] \S+\.{name}\b.* <<< (?:FAILURE|ERROR)!",
            output,
            re.MULTILINE,
        )
        is not None
    )


def plant(scratch: Scratch, root: Path, fault: Fault, passed: set[tuple[str, ...]]) -> None:
    """Runs the test with the fault, and once without it."""
    kind, *arguments = fault.run
    test = getattr(scratch, kind)
    if fault.run not in passed:
        sound = test(*arguments)
        if sound.returncode != 0:
            raise Refused(f"{fault.name}: the test fails without the fault:\n{sound.stdout[-4000:]}")
        passed.add(fault.run)
    apply(scratch.tree, fault)
    try:
        answer = test(*arguments)
    finally:
        scratch.restore(root, fault.files)
    if answer.returncode == 0:
        raise Refused(f"{fault.name}: NOT CAUGHT by {' '.join(fault.run)}: {fault.fault}")
    if not has_failed(answer.stdout, fault.fails):
        raise Refused(
            f"{fault.name}: {fault.fails} did not fail, something else did:\n{answer.stdout[-4000:]}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    try:
        faults = read_faults(FAULTS, options.names)
    except Refused as problem:
        print(f"mutate.py: {problem}", file=sys.stderr)
        return 2
    if options.sample is not None:
        faults = drawn(faults, options.sample, int(os.environ.get("SEALCOMB_SEED", "0")))
    if options.list:
        for fault in faults:
            print(f"{fault.name}: {fault.fault} ({fault.claim}); {fault.fails}")
        return 0
    with_build = any(fault.run[0] in ("tests", "unit") for fault in faults)
    scratch, passed, problems = Scratch.of(ROOT, TARGET, with_build=with_build), set(), []
    for fault in sorted(faults, key=lambda fault: (fault.cost, fault.run)):
        try:
            plant(scratch, ROOT, fault, passed)
            print(f"caught: {fault.name} by {fault.fails}", flush=True)
        except Refused as problem:
            problems.append(problem)
            print(problem, file=sys.stderr, flush=True)
    print(f"mutate.py: {len(faults)} faults, {len(problems)} not caught")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
