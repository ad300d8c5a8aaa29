"""check_links.py must find broken links and accept all others."""

import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "check_links.py"


def check(text: str) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "docs/other.md").write_text("# Other things: a `list`\n\n## Twice\n\n## Twice\n")
        (root / "README.md").write_text(text)
        return subprocess.run([CHECK, "--root", root], capture_output=True, text=True, check=False)


class Links(unittest.TestCase):
    def test_good_links_pass(self):
        for text in (
            "[a](docs/other.md) [b](docs) [c](https://example.org/x) [d](mailto:a@example.org)",
            "[a](docs/other.md#other-things-a-list) [b](docs/other.md#twice-1)",
            "# Here\n[a](#here)\n\n[b][c]\n\n[c]: docs/other.md",
            "```\n[a](nowhere.md)\n```\nand `[b](nowhere.md)`",
        ):
            result = check(text)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_broken_links_fail(self):
        for text in (
            "[a](docs/nowhere.md)",
            "[![picture](nowhere.svg)](docs/other.md)",
            '<img src="nowhere.svg">',
            "[a][b]\n\n[b]: nowhere.md",
            "[a](docs/other.md#nothing)",
            "[a](#nothing)",
        ):
            self.assertEqual(check(text).returncode, 1, text)

    def test_the_line_is_reported(self):
        self.assertIn("README.md:3: nowhere.md", check("one\n\n[a](nowhere.md)").stderr)


if __name__ == "__main__":
    unittest.main()
