"""check_dependencies.py must accept allowed dependencies and reject all others."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "check_dependencies.py"
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
ADVISORIES = """# a comment
fixed\tRUSTSEC-1\tvulnerability\t>= 1.2.3 | < 0.4
unfixed\tRUSTSEC-2\tunmaintained\t
branches\tRUSTSEC-3\tunsound\t>= 0.10.1 | < 0.10.0, >= 0.9.3 | ^0.8.6
wild\tRUSTSEC-4\tunsound\t> 2, <= 2.1 | =3.0.0-rc.1
"""


def check(
    name: str = "some", version: str = "1.0.0", licence: str | None = "MIT", source: str | None = CRATES_IO
):
    package = {"name": name, "version": version, "license": licence, "source": source}
    package["manifest_path"] = "/elsewhere/Cargo.toml"
    with tempfile.TemporaryDirectory() as folder:
        metadata, advisories = Path(folder) / "metadata.json", Path(folder) / "advisories.tsv"
        metadata.write_text(json.dumps({"packages": [package]}))
        advisories.write_text(ADVISORIES)
        command = [CHECK, "--metadata", metadata, "--advisories", advisories]
        return subprocess.run(command, capture_output=True, check=False).returncode


class Licenses(unittest.TestCase):
    def test_permissive_expressions_pass(self):
        for licence in (
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-3.0-only OR MIT",
            "ISC AND (Apache-2.0 OR ISC)",
        ):
            self.assertEqual(check(licence=licence), 0, licence)

    def test_others_fail(self):
        for licence in (
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT AND (GPL-3.0-only OR AGPL-3.0-only)",
            "Apache-2.0 WITH Surprise-exception",
            "Proprietary",
        ):
            self.assertEqual(check(licence=licence), 1, licence)

    def test_unreadable_expressions_fail(self):
        for licence in ("MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "MIT, Apache-2.0", "", None):
            self.assertEqual(check(licence=licence), 1, licence)


class Sources(unittest.TestCase):
    def test_only_crates_io_and_the_repository_pass(self):
        self.assertEqual(check(source=CRATES_IO), 0)
        for source in ("git+https://example.org/some.git#0123", "registry+https://example.org/index", None):
            self.assertEqual(check(source=source), 1, source)


class Advisories(unittest.TestCase):
    def test_affected_versions_fail(self):
        for name, version in (
            ("fixed", "1.2.2"),
            ("fixed", "0.4.0"),
            ("fixed", "1.2.3-rc.1"),
            ("unfixed", "99.0.0"),
            ("branches", "0.10.0"),
            ("branches", "0.9.2"),
            ("branches", "0.8.5"),
            ("wild", "2.0.0"),
            ("wild", "2.1.1"),
            ("wild", "3.0.0"),
        ):
            self.assertEqual(check(name, version), 1, f"{name} {version}")

    def test_other_versions_and_crates_pass(self):
        for name, version in (
            ("fixed", "1.2.3"),
            ("fixed", "1.2.10"),
            ("fixed", "0.3.9"),
            ("branches", "0.10.1"),
            ("branches", "0.9.3"),
            ("branches", "0.8.60+build.7"),
            ("wild", "2.0.1"),
            ("wild", "3.0.0-rc.1"),
            ("some", "1.0.0"),
        ):
            self.assertEqual(check(name, version), 0, f"{name} {version}")


if __name__ == "__main__":
    unittest.main()
