"""study_tables.py must write the study's figures, and reject other tables and other kernels."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import study_tables

HERE = Path(__file__).resolve().parent
TOOL = HERE.parent / "study_tables.py"
KERNEL = (
    '/// Adds.\nfn add() {\n    asm!("add"); // fast\n}\n\n#[cfg(test)]\nmod tests {\n    fn one() {}\n}\n'
)
README = "# Speed\n\n<!-- study:begin -->\nnothing\n<!-- study:end -->\n\nThe end.\n"
PERFORMANCE = (
    "# Reached\n\n<!-- reached:begin -->\n<!-- reached:end -->\n"
    "# Units\n\n<!-- units:begin -->\n<!-- units:end -->\n"
)


# The README's modes, another one, and a variant that is in no table.
MODES = ("gcm", "gcm-siv", "siv", "ccm", "eax", "ocb3-t128", "cmac", "gmac", "cbc", "ocb3-t96")


def study(fastest: float = 0.25) -> dict:
    """Returns a small version of the output of `sealcomb study --json-file`."""
    results = []
    for mode in MODES:
        for backend, cpb in (("portable", 12.0), ("aesni", 0.5), ("vaes512", fastest)):
            for lengths in (2048, "mix"):
                for schedule in ("single", "auto") if backend == "vaes512" else ("auto",):
                    result = {"algorithm": f"aes128-{mode}", "backend": backend, "lengths": lengths}
                    result |= {"schedule": schedule, "direction": "seal", "keys": 1, "bound_cpb": 0.2}
                    result["cpb"] = cpb * (10 if schedule == "single" else 1)
                    results.append(result)
                    results.append(result | {"direction": "open", "cpb": 99.0})
    units = [("aes", 2.5), ("loads", 2.0), ("front-end", 1.0)]
    rooflines = [
        {
            "algorithm": f"aes128-{mode}",
            "messages": 32,
            "bytes": 1024,
            "cycles": 4.0,
            "units": [{"unit": unit, "times": 9.0, "lanes": 9.0, "cycles": cycles} for unit, cycles in units],
        }
        for mode in MODES
    ]
    return {"machine": {"cpu": "A CPU", "backend": "vaes512"}, "results": results, "rooflines": rooflines}


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for part in ("backend", "primitives", "engine", "modes"):
            (self.root / "crates/sealcomb/src" / part).mkdir(parents=True)
            (self.root / "crates/sealcomb/src" / part / "mod.rs").write_text(KERNEL)
        (self.root / "docs").mkdir()
        (self.root / "README.md").write_text(README)
        (self.root / "docs/performance.md").write_text(PERFORMANCE)
        self.kernel = self.root / "crates/sealcomb/src/modes/mod.rs"

    def run_tool(
        self, *options: str, load: float = 0.0, fastest: float = 0.25, slow_studies: int = 0
    ) -> subprocess.CompletedProcess:
        """Runs the tool on a machine with this load, whose cargo writes the study above.

        In the root, the study has another `fastest` figure, which is twice that in the first `slow_studies`.
        """
        (self.root / "made.json").write_text(json.dumps(study()))
        (self.root / "new.json").write_text(json.dumps(study(fastest)))
        (self.root / "slow.json").write_text(json.dumps(study(2 * fastest)))
        (self.root / "studied").write_text("")
        cargo = self.root / "bin/cargo"
        cargo.parent.mkdir(exist_ok=True)
        cargo.write_text(
            '#!/bin/sh\n[ "$1 $2 $3 $4 $5" = "run --release -- study --full" ] || exit 9\n'
            '[ "$6 $7 $8 ${10}" = "--lengths 2048,mix --modes --json-file" ] || exit 9\n'
            "made=made\n"
            f'if [ "$PWD" = {self.root} ]; then\n'
            f'  made=new; echo "$9" >> {self.root}/studied\n'
            f"  [ $(wc -l < {self.root}/studied) -gt {slow_studies} ] || made=slow\n"
            "fi\n"
            f'cp {self.root}/$made.json "${{11}}"\n'
        )
        cargo.chmod(0o755)
        path = f"{cargo.parent}:{os.environ['PATH']}"
        run = f"import os, runpy, sys; os.getloadavg = lambda: ({load},) * 3; sys.argv = sys.argv[1:]; "
        run += f"sys.path.insert(0, {str(TOOL.parent)!r}); runpy.run_path(sys.argv[0], run_name='__main__')"
        command = [sys.executable, "-c", run, TOOL, "--root", self.root, *options]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
        )

    def measured(self):
        result = self.run_tool("--measure")
        self.assertEqual(result.returncode, 0, result.stderr)

    def assert_check(self, status: int, *words: str):
        result = self.run_tool("--check")
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_tables_have_the_studys_figures_and_their_origin(self):
        self.measured()
        readme = (self.root / "README.md").read_text()
        self.assertIn("| `aes128-gcm` | 12.0 (0.02) | 0.500 (0.40) | 0.250 (0.80) |", readme)
        self.assertIn("on this CPU: A CPU.", readme)
        self.assertEqual(readme.count("\n| `aes128-"), 8)
        self.assertNotIn("aes128-cbc", readme)
        self.assertRegex(readme, r"<!-- written by .* kernels [0-9a-f]{16} -->")
        self.assertTrue(readme.startswith("# Speed\n") and readme.endswith("\nThe end.\n"))
        performance = (self.root / "docs/performance.md").read_text()
        self.assertIn(
            "| `aes128-cbc` | 0.200 | 0.250 | 0.80 | 0.250 | 0.80 | 10.0 | 0.40, 0.40 |", performance
        )
        self.assertIn(
            "| algorithm | AES | loads | front end | bottleneck | measured | bottleneck / measured |",
            performance,
        )
        self.assertIn("| `aes128-cbc` | 2.50 | 2.00 | 1.00 | AES | 4.00 | 0.62 |", performance)
        self.assertNotIn("ocb3-t96", performance)
        self.assert_check(0)

    def test_a_number_that_was_edited_is_refused(self):
        self.measured()
        readme = self.root / "README.md"
        readme.write_text(readme.read_text().replace("0.250 (0.80)", "0.249 (0.80)", 1))
        self.assert_check(1, "README.md", "tools/study_tables.py")

    def test_a_study_that_was_edited_is_refused(self):
        self.measured()
        file = self.root / "docs/study.json"
        file.write_text(file.read_text().replace('"cpb": 0.25,', '"cpb": 0.15,', 1))
        self.assert_check(1, "README.md")

    def test_tables_of_other_kernels_are_refused_with_the_command_to_run(self):
        for old, new in (('"add"', '"sub"'), ("fn add", "fn sum"), ("}\n\n#", "} fn more() {}\n#")):
            with self.subTest(new):
                self.kernel.write_text(KERNEL)
                self.measured()
                self.kernel.write_text(KERNEL.replace(old, new, 1))
                self.assert_check(1, "kernels changed", "tools/study_tables.py --measure")

    def test_an_added_or_removed_kernel_file_is_noticed(self):
        self.measured()
        other = self.kernel.with_name("other.rs")
        other.write_text(KERNEL)
        self.assert_check(1, "kernels changed")
        other.unlink()
        self.assert_check(0)

    def test_comments_layout_and_tests_may_change(self):
        self.measured()
        for old, new in (("/// Adds.", '/// Sums // up: "it\'s"'), ("    ", " "), ("fn one", "fn two")):
            with self.subTest(new):
                self.kernel.write_text(KERNEL.replace(old, new))
                self.assert_check(0)

    def test_without_a_study_the_check_fails(self):
        self.assert_check(1, "tools/study_tables.py --measure")

    def test_a_busy_machine_is_not_measured(self):
        result = self.run_tool("--measure", load=2.5)
        self.assertEqual(result.returncode, 1)
        self.assertIn("idle machine", result.stderr)
        self.assertFalse((self.root / "docs/study.json").exists())

    # ---- comparisons

    def git(self, *words: str) -> str:
        command = [
            "git",
            "-C",
            self.root,
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "-c",
            "commit.gpgsign=false",
        ]
        return subprocess.run([*command, *words], check=True, capture_output=True, text=True).stdout

    def library(self):
        """Makes the script that builds the library, whose machine code depends on a word in a kernel."""
        script = self.root / "tools/static-cargo.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text(
            '#!/bin/sh\ncd "$(dirname "$0")/.." || exit\n'
            "feature=none\n"
            "! grep -q mul crates/sealcomb/src/modes/mod.rs || feature=spill\n"
            'rustc --edition=2024 -O -Csymbol-mangling-version=v0 --cfg "feature=\\"$feature\\"" \\\n'
            f"  {HERE}/fixtures/kernels.rs -o libsealcomb.rlib || exit\n"
            'artifact=\'"reason": "compiler-artifact", "target": {"name": "sealcomb"}\'\n'
            'echo "{$artifact, \\"filenames\\": [\\"$PWD/libsealcomb.rlib\\"]}"\n'
        )
        script.chmod(0o755)

    def changed(self):
        """Commits and measures the kernels, then changes one."""
        self.measured()
        self.git("init", "--quiet")
        self.library()
        self.git("add", "crates", "tools")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Kernels")
        self.kernel.write_text(KERNEL.replace('"add"', '"sub"'))

    def test_kernels_of_the_same_speed_keep_the_figures(self):
        for fastest in (0.25, 0.2, 0.26):
            with self.subTest(fastest):
                self.changed()
                tables = (self.root / "README.md").read_text()
                result = self.run_tool("--compare", "HEAD", fastest=fastest)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((self.root / "README.md").read_text(), tables)
                note = json.loads((self.root / "docs/study.json").read_text())["compared"]
                # The figures of the portable backend are the same in all studies.
                self.assertEqual(note["slowest"], max(1.0, fastest / 0.25))
                self.assertEqual(note["machine"], {"cpu": "A CPU", "backend": "vaes512"})
                self.assert_check(0)
                self.kernel.write_text(KERNEL)
                self.assert_check(0)
                self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)

    def test_kernels_that_only_seem_slower_are_studied_again(self):
        self.changed()
        result = self.run_tool("--compare", "HEAD", slow_studies=5)
        self.assertEqual(result.returncode, 0, result.stderr)
        # Three studies of all algorithms; then those of the ones that are not yet as fast, until they are.
        studied = (self.root / "studied").read_text().splitlines()
        self.assertEqual(studied[:3], ["aes128"] * 3)
        self.assertEqual(len(studied), 6)
        self.assertEqual({*studied[3:]}, {",".join(sorted(f"aes128-{mode}" for mode in MODES[:-1]))})
        self.assertEqual(json.loads((self.root / "docs/study.json").read_text())["compared"]["slowest"], 1.0)

    def test_slower_kernels_are_refused(self):
        self.changed()
        before = (self.root / "docs/study.json").read_text()
        result = self.run_tool("--compare", "HEAD", fastest=0.27)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len((self.root / "studied").read_text().splitlines()), 23)
        self.assertIn("more than 5% slower", result.stderr)
        self.assertIn("1.080 of the time of HEAD: aes128-gcm, vaes512, auto, 2048", result.stdout)
        self.assertEqual((self.root / "docs/study.json").read_text(), before)
        self.assert_check(1, "kernels changed", "--compare REV")

    def test_kernels_that_changed_after_the_comparison_are_refused(self):
        self.changed()
        self.assertEqual(self.run_tool("--compare", "HEAD").returncode, 0)
        self.kernel.write_text(KERNEL.replace('"add"', '"mul"'))
        self.assert_check(1, "kernels changed")

    def test_only_the_measured_kernels_are_compared_with(self):
        self.changed()
        self.git("commit", "--quiet", "--all", "--message", "Other kernels")
        for revision in ("HEAD", "no-such-commit"):
            result = self.run_tool("--compare", revision)
            self.assertNotEqual(result.returncode, 0)
            self.assertNotIn("compared", (self.root / "docs/study.json").read_text())
        self.assertIn("other kernels than those of HEAD", self.run_tool("--compare", "HEAD").stderr)
        self.assertEqual(self.run_tool("--compare", "HEAD~1").returncode, 0)
        self.assert_check(0)

    def test_a_new_measurement_replaces_the_comparison(self):
        self.changed()
        self.assertEqual(self.run_tool("--compare", "HEAD").returncode, 0)
        self.measured()
        self.assertNotIn("compared", (self.root / "docs/study.json").read_text())
        self.assert_check(0)

    def test_a_busy_machine_is_not_compared(self):
        self.changed()
        self.assertIn("idle machine", self.run_tool("--compare", "HEAD", load=2.5).stderr)
        self.assert_check(1, "kernels changed")

    # ---- the same machine code

    def test_kernels_with_the_same_machine_code_keep_the_figures(self):
        self.changed()
        tables = (self.root / "README.md").read_text()
        result = self.run_tool("--same", "HEAD", load=2.5)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 kernels have the machine code of HEAD, 0 nearly", result.stdout)
        self.assert_check(0)
        self.assertEqual((self.root / "README.md").read_text().splitlines()[4:], tables.splitlines()[4:])
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1)

    def test_a_comparison_stays_when_the_machine_code_does(self):
        self.changed()
        self.assertEqual(self.run_tool("--compare", "HEAD").returncode, 0)
        self.git("commit", "--quiet", "--all", "--message", "Other kernels")
        self.kernel.write_text(KERNEL.replace('"add"', '"xor"'))
        self.assertEqual(self.run_tool("--same", "HEAD").returncode, 0)
        self.assert_check(0)
        self.kernel.write_text(KERNEL)
        self.assert_check(0)

    def test_other_machine_code_is_refused(self):
        self.changed()
        before = (self.root / "docs/study.json").read_text()
        self.kernel.write_text(KERNEL.replace('"add"', '"mul"'))
        result = self.run_tool("--same", "HEAD")
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 of 2 kernels differ", result.stderr)
        self.assertEqual((self.root / "docs/study.json").read_text(), before)

    def test_one_kernel_of_twenty_may_change_by_a_hundredth(self):
        before = {f"kernel {n}": ["add"] * 100 for n in range(20)}
        self.assertEqual(study_tables.changed_kernels(before, dict(before)), set())
        for code in (["sub", *["add"] * 99], ["add"] * 101, ["add"] * 99):
            after = before | {"kernel 7": code}
            self.assertEqual(study_tables.changed_kernels(before, after), {"kernel 7"})
        two = before | {"kernel 7": ["sub"] * 100, "kernel 8": ["sub"] * 100}
        fewer = {name: code for name, code in before.items() if name != "kernel 7"}
        for after in (two, before | {"kernel 7": ["add"] * 102}, before | {"new": ["add"]}, fewer, {}):
            with self.assertRaisesRegex(SystemExit, "kernels differ"):
                study_tables.changed_kernels(before, after)

    def test_only_kernels_with_figures_are_the_same(self):
        self.changed()
        self.git("commit", "--quiet", "--all", "--message", "Other kernels")
        self.assertIn("no figures for the kernels of HEAD", self.run_tool("--same", "HEAD").stderr)


if __name__ == "__main__":
    unittest.main()
