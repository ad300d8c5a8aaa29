"""Every script of tools must answer --help with its usage and its whole description."""

import ast
import subprocess
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]


class Help(unittest.TestCase):
    def test_help_is_the_usage_and_the_description(self):
        scripts = [path for path in TOOLS.glob("*.py") if "argparse" in path.read_text()]
        self.assertTrue(scripts)
        for path in scripts:
            command = [sys.executable, "-B", path, "--help"]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertRegex(printed, r"usage: [\w-]+(\.py)? ", path.name)
            self.assertIn(ast.get_docstring(ast.parse(path.read_text())), printed, path.name)


if __name__ == "__main__":
    unittest.main()
