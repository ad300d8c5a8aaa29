"""mutate.py must report faults that no test catches, and patches that no longer apply."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutate  # noqa: E402

SOURCE = "one\ntwo\nthree\n"
HEADER = """\
Fault: two is three
Claim: Numbers
Run:   tests --test numbers
Fails: two_is_two
Cost:  cheap

"""
PATCH = """\
--- a/source
+++ b/source
@@ -1,3 +1,3 @@
 one
-two
+three
 three
"""


class Tree(mutate.Scratch):
    """A tree with one file, whose test passes if the file contains `two`."""

    def tests(self, *_: str) -> subprocess.CompletedProcess[str]:
        sound = "two" in (self.tree / "source").read_text()
        output = "test numbers::two_is_two ... " + ("ok" if sound else "FAILED")
        return subprocess.CompletedProcess((), 0 if sound else 101, output)


class Blind(Tree):
    def tests(self, *_: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess((), 0, "test numbers::two_is_two ... ok")


class Broken(Tree):
    def tests(self, *_: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess((), 101, "test numbers::two_is_two ... FAILED")


class Uncompiled(Tree):
    def tests(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        answer = super().tests(*arguments)
        return (
            answer
            if answer.returncode == 0
            else subprocess.CompletedProcess((), 101, "error: could not compile")
        )


class Planting(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name in ("tree", "faults", "original"):
            (self.root / name).mkdir()
        for name in ("tree", "original"):
            (self.root / name / "source").write_text(SOURCE)

    def plant(self, kind: type[Tree] = Tree, patch: str = PATCH, header: str = HEADER) -> None:
        (self.root / "faults/fault.patch").write_text(header + patch)
        [fault] = mutate.read_faults(self.root / "faults")
        mutate.plant(kind(self.root / "tree", self.root), self.root / "original", fault, set())

    def is_refused(self, words: str, *arguments, **named) -> None:
        with self.assertRaisesRegex(mutate.Refused, words):
            self.plant(*arguments, **named)
        self.assertEqual((self.root / "tree/source").read_text(), SOURCE)

    def test_a_caught_fault_passes_and_is_removed(self):
        self.plant()
        self.assertEqual((self.root / "tree/source").read_text(), SOURCE)

    def test_a_fault_that_no_test_catches_is_refused(self):
        self.is_refused("NOT CAUGHT", Blind)

    def test_a_test_that_fails_without_the_fault_is_refused(self):
        self.is_refused("fails without the fault", Broken)

    def test_a_fault_that_does_not_compile_is_refused(self):
        self.is_refused("two_is_two did not fail", Uncompiled)

    def test_a_failure_of_another_test_is_refused(self):
        self.is_refused("is_three did not fail", header=HEADER.replace("two_is_two", "is_three"))

    def test_a_patch_that_no_longer_applies_is_refused(self):
        self.is_refused("no longer applies", patch=PATCH.replace("-two", "-four"))
        self.is_refused("no longer applies", patch=PATCH.replace("source", "elsewhere"))

    def test_an_incomplete_header_is_refused(self):
        for field in mutate.FIELDS:
            lines = [line for line in HEADER.splitlines(keepends=True) if not line.startswith(field)]
            self.is_refused("header fields", header="".join(lines))
        self.is_refused("unknown kind of run", header=HEADER.replace("tests --test", "shell --test"))
        self.is_refused("expected cheap or slow", header=HEADER.replace("cheap", "nothing"))


class Faults(unittest.TestCase):
    def test_every_fault_applies_to_the_tree(self):
        faults = mutate.read_faults(mutate.FAULTS)
        self.assertGreaterEqual(len(faults), 15)
        for fault in faults:
            with self.subTest(fault.name):
                answer = subprocess.run(
                    ["git", "apply", "--check", fault.patch],
                    cwd=ROOT,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_a_sample_is_drawn_by_the_seed_from_the_cheap_ones(self):
        faults = mutate.read_faults(mutate.FAULTS)
        samples = [mutate.drawn(faults, 3, seed) for seed in range(200)]
        self.assertEqual(samples, [mutate.drawn(faults, 3, seed) for seed in range(200)])
        self.assertEqual({fault.cost for sample in samples for fault in sample}, {"cheap"})
        everything = {fault.name for fault in faults if fault.cost == "cheap"}
        self.assertEqual({fault.name for sample in samples for fault in sample}, everything)

    def test_an_unknown_name_is_refused(self):
        answer = subprocess.run(
            [ROOT / "tools/mutate.py", "nothing"], capture_output=True, text=True, check=False
        )
        self.assertEqual(answer.returncode, 2)
        self.assertIn("no such fault: nothing", answer.stderr)


if __name__ == "__main__":
    unittest.main()
