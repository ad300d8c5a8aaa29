"""Runs a check on a small synthetic tree, for the tests of the checks."""

import subprocess
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent


def check_tree(script: str, files: dict[str, str], *options: str) -> subprocess.CompletedProcess:
    """Runs `tools/SCRIPT --root FOLDER OPTIONS` on a folder with these files, given by path and text."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        command = [TOOLS / script, "--root", folder, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)
