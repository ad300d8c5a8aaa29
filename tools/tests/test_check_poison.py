"""check_poison.py must reject leaks, accept public results, and require its controls."""

import subprocess
import tempfile
import unittest
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent.parent
CHECK = ROOT / "tools" / "check_poison.py"
LIBRARY = ROOT / "crates" / "sealcomb" / "src"
PROGRAM = ROOT / "crates" / "sealcomb-checks" / "src" / "bin" / "poison.rs"
ELSEWHERE = Path("/rustc/0/library/core/src/result.rs")

BRANCH, ADDRESS = "UninitCondition", "UninitValue"


def line_of(path: Path, text: str) -> int:
    """Returns the number of the line after the one that contains this text."""
    lines = path.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line) + 1


def error(kind: str, *frames: tuple[Path, int, str]) -> str:
    stack = "".join(
        f"<frame><fn>{escape(name)}</fn><dir>{path.parent}</dir><file>{path.name}</file>"
        f"<line>{line}</line></frame>"
        for path, line, name in frames
    )
    return f"<error><kind>{kind}</kind><what>what</what><stack>{stack}</stack></error>"


def within(kind: str, path: Path, head: str, name: str = "UnknownInlinedFun") -> str:
    return error(kind, (ELSEWHERE, 7, "branch<usize>"), (path, line_of(path, head), name))


BATCH = LIBRARY / "batch.rs"
NAMED = [
    within(BRANCH, PROGRAM, "fn leak_by_a_branch"),
    within(ADDRESS, PROGRAM, "fn leak_by_an_address"),
    error(BRANCH, (BATCH, 0, "sealcomb::batch::OpenJob::finish")),
    within(BRANCH, BATCH, "fn open_one"),
]


def check(errors: list[str]) -> subprocess.CompletedProcess[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(f"<valgrindoutput>{''.join(errors)}</valgrindoutput>")
        file.flush()
        return subprocess.run([CHECK, "--report", file.name], capture_output=True, text=True, check=False)


class Poison(unittest.TestCase):
    def test_verdicts_and_controls_pass(self):
        self.assertEqual(check(NAMED).returncode, 0)

    def test_a_missing_control_fails(self):
        for i in range(len(NAMED)):
            result = check(NAMED[:i] + NAMED[i + 1 :])
            self.assertEqual(result.returncode, 1)
            self.assertIn("missed a control", result.stderr)

    def test_the_verdict_is_public_in_the_function_that_jobs_and_bursts_share(self):
        [place] = [i for i, text in enumerate(NAMED) if "finish" in text]
        shared = within(BRANCH, BATCH, "pub(crate) fn verdict(")
        self.assertEqual(check([*NAMED[:place], shared, *NAMED[place + 1 :]]).returncode, 0)

    def test_the_comparison_within_a_verdict_is_not_public(self):
        leak = error(BRANCH, (BATCH, line_of(BATCH, "fn same("), "?"), (BATCH, 0, "finish"))
        result = check([*NAMED, leak])
        self.assertEqual(result.returncode, 1)
        self.assertIn("same (crates/sealcomb/src/batch.rs", result.stderr)

    def test_a_kernel_must_not_branch(self):
        counter = LIBRARY / "primitives" / "counter.rs"
        for kind in (BRANCH, ADDRESS):
            result = check([*NAMED, error(kind, (counter, 0, "carry<u8>"), (BATCH, 0, "finish"))])
            self.assertEqual(result.returncode, 1)
            self.assertIn("carry", result.stderr)

    def test_a_program_that_is_not_built_is_named_with_its_command(self):
        for words in ([], ["target/no-such-program", "gcm"]):
            result = subprocess.run([CHECK, *words], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 2)
            self.assertIn("cargo build --release -p sealcomb-checks", result.stderr)

    def test_other_complaints_fail_wherever_they_are(self):
        self.assertEqual(check([*NAMED, error("InvalidRead", (BATCH, 0, "finish"))]).returncode, 1)
        self.assertEqual(check([*NAMED, error(BRANCH, (ELSEWHERE, 7, "main"))]).returncode, 1)


if __name__ == "__main__":
    unittest.main()
