"""check-licences must accept what we may ship with and nothing else."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "check-licences"


def check(licence: str | None) -> int:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"packages": [{"name": "some", "version": "1.0.0", "license": licence}]}, file)
        file.flush()
        command = [CHECK, "--metadata", file.name]
        return subprocess.run(command, capture_output=True, check=False).returncode


class Licences(unittest.TestCase):
    def test_permissive_expressions_pass(self):
        for licence in (
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-3.0-only OR MIT",
            "ISC AND (Apache-2.0 OR ISC)",
        ):
            self.assertEqual(check(licence), 0, licence)

    def test_others_fail(self):
        for licence in (
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT AND (GPL-3.0-only OR AGPL-3.0-only)",
            "Apache-2.0 WITH Surprise-exception",
            "Proprietary",
        ):
            self.assertEqual(check(licence), 1, licence)

    def test_unreadable_expressions_fail(self):
        for licence in ("MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "MIT, Apache-2.0", "", None):
            self.assertEqual(check(licence), 1, licence)


if __name__ == "__main__":
    unittest.main()
