"""check_claims.py must find checks that SECURITY.md names and that do not exist."""

import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "check_claims.py"
PAGE = """# Security

## What is claimed

### One thing

It holds.

- `src/one.rs`: `that_is_so_in_every_case`; `./dev trace` too.
- `src/two.py`: `test_that_is_so_in_every_case`.

## What is not claimed

- `src/elsewhere.rs`: `nobody_looks_at_this_name`.
"""


def check(page: str, claim: str = "One thing") -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("src", "tools/dev", "tools/mutations"):
            (root / name).mkdir(parents=True)
        (root / "SECURITY.md").write_text(page)
        (root / "src/one.rs").write_text("#[test]\nfn that_is_so_in_every_case() {}\n")
        (root / "src/two.py").write_text("def test_that_is_so_in_every_case():\n    pass\n")
        (root / "tools/dev/machine.sh").write_text('word trace "" trace "Compare."\n')
        (root / "tools/mutations/fault.patch").write_text(f"Fault: it does not hold\nClaim: {claim}\n")
        return subprocess.run([CHECK, "--root", root], capture_output=True, text=True, check=False)


class Claims(unittest.TestCase):
    def test_checks_that_exist_pass(self):
        result = check(PAGE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_missing_file_test_or_command_is_reported(self):
        for old, new, problem in (
            ("src/one.rs", "src/three.rs", "src/three.rs does not exist"),
            ("`that_is_so_in_every_case`", "`that_is_so_in_no_case`", "defines that_is_so_in_no_case"),
            (
                "`test_that_is_so_in_every_case`",
                "`that_is_so_in_every_case`",
                "defines that_is_so_in_every_case",
            ),
            ("./dev trace", "./dev trade", "`./dev trade` does not exist"),
        ):
            result = check(PAGE.replace(old, new))
            self.assertEqual(result.returncode, 1, new)
            self.assertIn(problem, result.stderr)

    def test_a_claim_without_a_check_fails(self):
        result = check(PAGE.replace("### One thing", "### Another\n\nSo it is.\n\n### One thing"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("Another: names no check", result.stderr)

    def test_a_page_without_claims_fails(self):
        self.assertEqual(check(PAGE.replace("### One thing", "One thing")).returncode, 1)

    def test_a_fault_must_name_an_existing_claim(self):
        result = check(PAGE, "Another thing")
        self.assertEqual(result.returncode, 1)
        self.assertIn("fault.patch: claim Another thing is not in SECURITY.md", result.stderr)


if __name__ == "__main__":
    unittest.main()
