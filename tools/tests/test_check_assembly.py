"""check_assembly.py must accept a good kernel and catch each fault of fixtures/kernels.rs."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECK = HERE.parent / "check_assembly.py"
FLAGS = ["--edition=2024", "-O", "-Csymbol-mangling-version=v0"]

ARM = "aarch64-unknown-linux-gnu"
ARM_LIBRARIES = subprocess.check_output(
    ["rustc", "--print", "target-libdir", "--target", ARM], text=True
).strip()


def run(command: list) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Assembly(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.budget = self.folder / "budget.toml"

    def build(self, feature: str, *options: str) -> Path:
        library = self.folder / f"{feature}.rlib"
        source = HERE / "fixtures/kernels.rs"
        built = run(["rustc", *FLAGS, *options, f'--cfg=feature="{feature}"', source, "-o", library])
        self.assertEqual(built.returncode, 0, built.stderr)
        return library

    def check(self, library: Path, *options: str) -> subprocess.CompletedProcess:
        return run([CHECK, "--library", library, "--budget", self.budget, *options])

    def assert_caught(self, feature: str, words: str):
        library = self.build(feature)
        result = self.check(library, "--write-budget")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stderr)

    def test_a_good_kernel_passes(self):
        library = self.build("none")
        result = self.check(library, "--write-budget")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 entry points, 0 findings", result.stdout)

    def test_an_intrinsic_that_was_not_inlined_is_caught(self):
        self.assert_caught("leak", "_mm256_aesenc_epi128, used by sealcomb::leak")

    def test_kernel_code_outside_the_entry_points_is_caught(self):
        self.assert_caught("outside", "kernel code outside the entry points: <sealcomb::outside::Outside")

    def test_a_generic_function_outside_the_entry_points_is_caught(self):
        self.assert_caught("generic", "generic over a backend, outside the entry points: sealcomb::length::<")

    def test_spilling_over_the_budget_is_caught(self):
        library = self.build("spill")
        self.assertEqual(self.check(library, "--write-budget").returncode, 0)
        written = self.budget.read_text()
        for place in ("entry", "loops"):
            # Eight registers of state fit, twenty-four do not.
            tight = re.sub(rf'("Rounds<24>.*{place} =) \d+', r"\1 3", written)
            self.budget.write_text(tight)
            result = self.check(library)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertRegex(result.stderr, r"vaes256: Rounds<24> spills \d+ times, \d+ of them in loops")
            self.assertNotIn("Rounds<8>", result.stderr)

    def test_the_budget_lists_exactly_the_kernels(self):
        self.check(self.build("spill"), "--write-budget")
        fewer = self.check(self.build("none"))
        self.assertIn("Rounds<24> has a budget but does not exist", fewer.stderr)
        self.check(self.build("none"), "--write-budget")
        more = self.check(self.build("spill"))
        self.assertIn("it has no budget", more.stderr)

    def test_another_compiler_may_exceed_the_budget(self):
        self.check(self.build("none"), "--write-budget")
        text = self.budget.read_text().splitlines()
        self.budget.write_text(
            "\n".join('rust = "1.0"' if line.startswith("rust") else line for line in text)
        )
        result = self.check(self.build("spill"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("reported only", result.stdout)

    @unittest.skipUnless(Path(ARM_LIBRARIES).is_dir(), f"no target {ARM} here")
    def test_arm_code_is_checked_for_the_same_faults(self):
        good = self.check(self.build("none", "--target", ARM), "--write-budget", ARM)
        self.assertEqual((good.returncode, good.stderr), (0, ""), good.stdout)
        self.assertIn("1 entry points, 0 findings", good.stdout)
        outside = self.check(self.build("outside", "--target", ARM), ARM)
        self.assertIn("kernel code outside the entry points: <sealcomb::outside::Outside", outside.stderr)
        generic = self.check(self.build("generic", "--target", ARM), ARM)
        self.assertIn("outside the entry points: sealcomb::length::<", generic.stderr)
        spilling = self.check(self.build("spill", "--target", ARM), "--write-budget", ARM)
        self.assertEqual(spilling.returncode, 0, spilling.stderr)
        # More state than the 32 registers hold is allowed, but counted.
        self.assertRegex(self.budget.read_text(), r'"Rounds<48>" = \{ entry = [1-9]\d+, loops = [1-9]\d+ \}')

    def test_a_library_without_entry_points_fails(self):
        source = self.folder / "empty.rs"
        source.write_text("pub fn nothing() {}")
        library = self.folder / "empty.rlib"
        run(["rustc", "--crate-type=lib", *FLAGS, source, "-o", library])
        self.assertEqual(self.check(library, "--write-budget").returncode, 1)


if __name__ == "__main__":
    unittest.main()
